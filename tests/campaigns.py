"""How much of a campaign runs: a fixed thin draw of it every day (`make test`), the whole with `--thorough` (`make test-all`)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

THOROUGH = False  # set by conftest.py, before any test module is read


def draws(thin: int, full: int) -> int:
    """How many draws a test makes."""
    return full if THOROUGH else thin


def thinned(cases: Iterable[object], every: int) -> list[object]:
    """Cases to parametrize with: each `every`-th runs daily, the others belong to the whole campaign."""
    return [case if k % every == 0 else pytest.param(case, marks=pytest.mark.thorough) for k, case in enumerate(cases)]
