"""``python -m xcbench`` is the console script ``xcbench``."""

import sys


def main() -> None:
    """Import the commands, which takes a second or two, then obey."""
    try:
        from xcbench.cli.main import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
