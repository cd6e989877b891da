"""How much of a campaign runs: a fixed thin draw of it every day (`make test`), the whole with `--thorough` (`make test-all`)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

THOROUGH = False  # set by conftest.py, before any test module is read


def draws(thin: int, full: int) -> int:
    """How many draws a test makes."""
    return full if THOROUGH else thin


def thinned(cases: Iterable[object], every: int) -> list[object]:
    """Cases to parametrize with: each `every`-th daily, all of them in the whole campaign. A tuple is several arguments.

    The others are not made at all: tens of thousands of tests that every process makes, only to leave them out, take seconds.
    """
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*row) for row in (rows if THOROUGH else rows[::every])]
