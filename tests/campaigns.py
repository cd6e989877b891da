"""How much of a campaign runs: a fixed thin draw every day (`make test`), the whole with `--thorough` (`make test-all`), hours of it
with `--campaigns` (`make campaigns`).

`@pytest.mark.campaign(minutes=20)` says that `make campaigns` runs a test, and how many minutes of one processor that takes. The other
two run it as well, with fewer `draws`; they leave it out where the mark says `only=True`.
"""

from collections.abc import Iterable

import pytest

THOROUGH = False  # set by conftest.py, before any test module is read; with --campaigns, too
CAMPAIGNS = False


def draws(thin: int, full: int, campaign: int | None = None) -> int:
    """How many draws a test makes."""
    if CAMPAIGNS and campaign is not None:
        return campaign
    return full if THOROUGH else thin


def thinned(cases: Iterable[object], every: int, full: int = 1) -> list[object]:
    """Cases to parametrize with: each `every`-th daily, each `full`-th with --thorough, all of them with --campaigns.

    A tuple is several arguments. The others are not made at all: tens of thousands of tests that every process makes, only to leave
    them out, take seconds.
    """
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    step = 1 if CAMPAIGNS else full if THOROUGH else every
    return [pytest.param(*row) for row in rows[::step]]
