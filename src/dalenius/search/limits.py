"""When a search stops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypedDict

from dalenius.errors import InputError
from dalenius.exact import brief, is_number

__all__ = ["LimitOptions", "Limits", "need_gap"]

LEAST_SECONDS = 1.0  # what can be proved in a second and 64 MiB is proved, however low the limits are
LEAST_BYTES = 2.0**26


def need_gap(gap: object, what: str = "gap") -> None:
    """`InputError` unless this is a relative gap that can be asked for."""
    if not (is_number(gap) and 0 <= gap < math.inf):
        raise InputError(f"{what}: expected a finite number of at least 0, got {brief(gap)}")


class LimitOptions(TypedDict, total=False):
    """The fields of `Limits` as keyword arguments."""

    gap: float
    time_limit: float | None
    node_limit: int | None
    memory_limit: float | None


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a search stops, and what its proof may take; None where there is no limit.

    Parameters
    ----------
    gap : float
        Stop when (upper - lower) / upper is at most this; finite.
    time_limit : float or None
        Seconds for everything, the proof included. What can be proved within a second is proved, however low the limit is.
    node_limit : int or None
        Leaves that the trees of one kind of record may have.
    memory_limit : float or None
        Mebibytes for everything from the call on, the proof included, as far as they can be predicted. What can be proved in 64 is
        proved, however low the limit is.

    Raises
    ------
    InputError
        If one of them is no such number.

    >>> Limits(time_limit=None).seconds, Limits(memory_limit=2).bytes
    (inf, 2097152.0)
    """

    gap: float = 1e-4
    time_limit: float | None = 60.0
    node_limit: int | None = 1_000_000
    memory_limit: float | None = 4096.0

    def __post_init__(self) -> None:
        need_gap(self.gap)
        for name, what in (("time_limit", "seconds"), ("node_limit", "leaves"), ("memory_limit", "mebibytes")):
            limit = getattr(self, name)
            if limit is not None and not (is_number(limit) and limit > 0):
                raise InputError(f"{name}: expected a number of {what} above 0, or None, got {brief(limit)}")
        if self.node_limit is not None and self.node_limit % 1:
            raise InputError(f"node_limit: expected a whole number of leaves, or None, got {brief(self.node_limit)}")

    @property
    def seconds(self) -> float:
        return math.inf if self.time_limit is None else float(self.time_limit)

    @property
    def least(self) -> tuple[float, float]:
        """The limits in seconds and bytes, and at least what any proof may take, however low they are."""
        return max(self.seconds, LEAST_SECONDS), max(self.bytes, LEAST_BYTES)

    @property
    def nodes(self) -> float:
        return math.inf if self.node_limit is None else float(self.node_limit)

    @property
    def bytes(self) -> float:
        return math.inf if self.memory_limit is None else float(self.memory_limit) * 2**20
