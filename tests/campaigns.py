"""How much of a campaign runs: a fixed thin draw every day (`make test`), the whole with `--thorough` (`make test-all`), hours of it
with `--campaigns` (`make campaigns`).

`@pytest.mark.campaign(minutes=20)` says that `make campaigns` runs a test, and how many minutes of one processor that takes. The other
two run it as well, with fewer `draws`; they leave it out where the mark says `only=True`.
"""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

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
    return [pytest.param(*row) for row in rows[:: _step(every, full)]]


def _step(every: int, full: int) -> int:
    return 1 if CAMPAIGNS else full if THOROUGH else every


def each(
    names: str, *cases: Any, every: int = 1, full: int = 1
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make one test of a table, as `pytest.mark.parametrize` makes one of every row: the row that fails is named.

    For rows that take milliseconds, of which pytest needs several for every test, and whose fixtures are made once for many tests.
    Several names take tuples; `every` and `full` are those of `thinned`. A row that is skipped leaves the others: all of them have to
    be, for the test to be skipped.
    """
    keys = names.split(", ")
    kept = cases[:: _step(every, full)]
    rows = [case.values if hasattr(case, "marks") else case if len(keys) > 1 else (case,) for case in kept]
    assert rows, "a table has rows"

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: object) -> None:
            skipped = []
            for row in rows:
                try:
                    test(**dict(zip(keys, row, strict=True)), **fixtures)
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except BaseException as error:
                    error.add_note(f"in the row {row!r}")
                    raise
            if len(skipped) == len(rows):
                raise skipped[0]

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorated
