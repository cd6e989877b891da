"""The same as `dalenius`: python -m dalenius.cli.

Python imports all of `dalenius` before it comes here, so that Ctrl-C in that second is Python's own answer;
`python -m dalenius_command` listens from its first instruction on.
"""

from dalenius.cli import main

if __name__ == "__main__":
    main()
