"""Which browser the tests of pages drive: `python tests/browser.py` says so where there is none."""

import os
import shutil
import sys
from importlib.util import find_spec

NAMES = ("chromium", "chromium-browser", "google-chrome")
ADVICE = "make browser installs Debian's chromium"


def browser() -> str | None:
    """The program, where it and playwright are installed; DALENIUS_BROWSER names another one than these."""
    if find_spec("playwright") is None:
        return None
    named = os.environ.get("DALENIUS_BROWSER")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


if __name__ == "__main__":
    if browser() is None:
        sys.stdout.write(f"no browser was found: the tests of reports in one are skipped; {ADVICE}\n")
