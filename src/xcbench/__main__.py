"""``python -m xcbench`` is the console script ``xcbench``."""

from xcbench.cli.main import main

if __name__ == "__main__":
    main()
