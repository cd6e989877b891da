"""The same as `dalenius`: python -m dalenius_command."""

from dalenius_command import main

if __name__ == "__main__":
    main()
