"""Run cells of the benchmark, e.g. ``python run.py -m method=ove,umax dataset=digits``."""

from xcbench.app import main

if __name__ == "__main__":
    main()
