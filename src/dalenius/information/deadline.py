"""Deadlines: all that a closed form needs to know of a clock."""

from __future__ import annotations

from typing import Protocol


class Deadline(Protocol):
    """Asked between steps; once it has expired, the best numbers so far are returned."""

    @property
    def expired(self) -> bool: ...

    @property
    def remaining(self) -> float: ...  # seconds


class TimeIsOverError(Exception):
    """Time is over before work was finished that is of no use in part."""


def need_time(clock: Deadline | None) -> None:
    """Raise `TimeIsOverError` once the clock, if there is one, has expired: between steps that are of use only together."""
    if clock is not None and clock.expired:
        raise TimeIsOverError
