"""Nats inside, bits at the door: the conversion of *directed* numbers, rounded so that a bound stays a bound."""

from __future__ import annotations

import math

from dalenius.errors import InputError

__all__ = ["UNITS", "lower_in", "unit_size", "upper_in"]

UNITS = ("nats", "bits")


def unit_size(units: str) -> float:
    """Nats in one unit.

    >>> unit_size("nats")
    1.0
    >>> round(unit_size("bits"), 6)
    0.693147
    """
    if units not in UNITS:
        raise InputError(f"units must be one of {', '.join(UNITS)}; got {units!r}")
    return 1.0 if units == "nats" else math.log(2.0)


def lower_in(nats: float, units: str) -> float:
    """A lower bound in nats, rounded downward into `units`.

    log 2 and the quotient are each off by at most one part in 2^53; three steps of one double cover both.

    >>> lower_in(math.log(2.0), "bits") <= 1.0
    True
    """
    return nats if unit_size(units) == 1.0 else max(_step(nats / math.log(2.0), -math.inf), min(nats, 0.0))


def upper_in(nats: float, units: str) -> float:
    """An upper bound in nats, rounded upward into `units`.

    >>> upper_in(math.log(2.0), "bits") >= 1.0
    True
    >>> upper_in(0.0, "bits")
    0.0
    """
    return nats if unit_size(units) == 1.0 or nats == 0.0 else _step(nats / math.log(2.0), math.inf)


def _step(value: float, towards: float, steps: int = 3) -> float:
    for _ in range(steps):
        value = math.nextafter(value, towards)
    return value
