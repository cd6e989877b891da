"""How much of a campaign runs: a fixed thin draw of it every day (`make test`), the whole with `--thorough` (`make test-all`)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

THOROUGH = False  # set by conftest.py, before any test module is read


def draws(thin: int, full: int) -> int:
    """How many draws a test makes."""
    return full if THOROUGH else thin


def thinned(cases: Iterable[object], every: int) -> list[object]:
    """Cases to parametrize with: each `every`-th runs daily, the others belong to the whole campaign. A tuple is several arguments."""
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*row, marks=[pytest.mark.thorough] if k % every else []) for k, row in enumerate(rows)]
