"""When to stop: all that a closed form needs to know of a clock."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Deadline"]


class Deadline(Protocol):
    """Asked between steps; once it has expired, the best numbers so far are returned."""

    @property
    def expired(self) -> bool: ...

    @property
    def remaining(self) -> float: ...  # seconds
