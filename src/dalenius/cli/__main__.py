"""The same as `dalenius`: python -m dalenius.cli."""

from dalenius.cli import main

if __name__ == "__main__":
    main()
