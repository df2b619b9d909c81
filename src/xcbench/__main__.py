"""``python -m xcbench`` is the console script ``xcbench``."""

import sys

from xcbench.cli import usage


def main() -> None:
    """Print a help text, or import the commands, which takes a second or two, then obey."""
    text = usage.asked(sys.argv[1:])
    if text:
        print(text, end="")
        return
    try:
        from xcbench.cli.main import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
