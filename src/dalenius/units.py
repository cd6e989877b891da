"""What a certified number measures, and in which units: conversions of *directed* numbers, rounded so that a bound stays a bound."""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction

from dalenius.errors import InputError

__all__ = ["UNITS", "Quantity", "log_above", "lower_in", "nats_above", "unit_size", "upper_in"]

UNITS = ("nats", "bits")


class Quantity(Enum):
    """What an interval is about: the information that a release leaks, the distortion that a mechanism causes, or several at once."""

    LEAKAGE = "leakage"
    DISTORTION = "distortion"
    OBJECTIVE = "objective"

    @property
    def units(self) -> str:
        """The units that it is computed in: nats for leakage; a distortion counts in the units of its own table of costs.

        An objective counts weighted nats and weighted distortions together.
        """
        return "nats" if self is Quantity.LEAKAGE else self.value

    def shown_in(self, units: str) -> str:
        """The units to show it in where leakages are shown in `units`.

        >>> Quantity.LEAKAGE.shown_in("bits"), Quantity.DISTORTION.shown_in("bits")
        ('bits', 'distortion')
        """
        unit_size(units)
        return units if self is Quantity.LEAKAGE else self.units

    @property
    def with_article(self) -> str:
        """For sentences: a leakage, a distortion, an objective."""
        return f"{'an' if self is Quantity.OBJECTIVE else 'a'} {self.value}"

    @classmethod
    def of(cls, units: str) -> Quantity:
        """What is measured in these units.

        >>> Quantity.of("bits").value
        'leakage'
        """
        return next((one for one in (cls.DISTORTION, cls.OBJECTIVE) if one.units == units), cls.LEAKAGE)


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
    """A lower bound in nats, rounded downward into `units`; infinite (nothing is feasible) it stays.

    log 2 and the quotient are each off by at most one part in 2^53; three steps of one double cover both.

    >>> lower_in(math.log(2.0), "bits") <= 1.0
    True
    """
    if unit_size(units) == 1.0 or math.isinf(nats):
        return nats
    return max(_step(nats / math.log(2.0), -math.inf), min(nats, 0.0))


def upper_in(nats: float, units: str) -> float:
    """An upper bound in nats, rounded upward into `units`.

    >>> upper_in(math.log(2.0), "bits") >= 1.0
    True
    >>> upper_in(0.0, "bits")
    0.0
    """
    return nats if unit_size(units) == 1.0 or nats == 0.0 else _step(nats / math.log(2.0), math.inf)


def nats_above(amount: float, units: str) -> float:
    """An upper bound in `units`, rounded upward into nats: log 2 and the product are each off by at most one part in 2^53.

    >>> nats_above(1.0, "bits") >= math.log(2.0), nats_above(1.0, "nats")
    (True, 1.0)
    """
    return amount if unit_size(units) == 1.0 or amount == 0.0 else _step(amount * math.log(2.0), math.inf)


def log_above(x: Fraction) -> float:
    """A double that is at least log x, for x of at least 1: what is rounded is off by a few parts in 2^53, and nothing cancels.

    >>> log_above(Fraction(1)), log_above(Fraction(3)) > 1.0986122886681098, 2763.1 < log_above(Fraction(10) ** 1200) < 2763.2
    (0.0, True, True)
    """
    if x == 1:
        return 0.0
    twos = max(x.numerator.bit_length() - x.denominator.bit_length() - 1000, 0)
    rest = _step(float(x / 2**twos - 1), math.inf)
    return _step(math.log1p(rest) + twos * math.log(2.0), math.inf)


def _step(value: float, towards: float, steps: int = 3) -> float:
    for _ in range(steps):
        value = math.nextafter(value, towards)
    return value
