"""Run cells of the benchmark, e.g. ``python run.py -m method=ove,umax dataset=digits``."""

import sys

from xcbench.cli import usage

if __name__ == "__main__":
    text = usage.asked(["run", *sys.argv[1:]])
    if text:
        print(text, end="")
    else:
        try:  # imports take a second or two
            from xcbench.cli.launch import main
        except KeyboardInterrupt:
            sys.exit(130)
        main()
