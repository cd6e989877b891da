"""Quantities of certified numbers, and their units: conversions of *directed* numbers, rounded so that a bound stays a bound."""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction

from flint import arb, ctx, fmpq

from dalenius.errors import InputError

UNITS = ("nats", "bits")

LARGEST_IN_DOUBLES = Fraction(10**300)  # amounts beyond count as this where they are doubles


class Quantity(Enum):
    """Quantity of an interval: the information that a release leaks, the distortion that a mechanism causes, or several at once.

    Or how useful a mechanism is by a measure that is no information: a number without unit.
    """

    LEAKAGE = "leakage"
    DISTORTION = "distortion"
    OBJECTIVE = "objective"
    USEFULNESS = "usefulness"

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

    @property
    def largest(self) -> str:
        """Name of the largest one, where much of it is wanted, of mechanisms that reveal something useful."""
        return f"largest {'information' if self is Quantity.LEAKAGE else self.value}"

    @classmethod
    def of(cls, units: str) -> Quantity:
        """Quantity in these units.

        >>> Quantity.of("bits").value
        'leakage'
        """
        return next((one for one in cls if one.units == units), cls.LEAKAGE)


def amount_text(text: str, units: str) -> str:
    """A number with its unit.

    >>> amount_text("1", "bits"), amount_text("0.3", "bits"), amount_text("1", "nats")
    ('1 bit', '0.3 bits', '1 nat')
    """
    return f"{text} {units[:-1] if text == '1' and units in UNITS else units}"


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


def in_nats(amount: Fraction, units: str) -> float:
    """An amount of nats or bits in nats, as a double, however large.

    >>> in_nats(Fraction(1, 2), "nats"), in_nats(-(Fraction(10) ** 400), "nats")
    (0.5, -1e+300)
    """
    return float(max(min(amount, LARGEST_IN_DOUBLES), -LARGEST_IN_DOUBLES)) * unit_size(units)


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


def is_at_most(amount: float | Fraction, units: str, bound: Fraction, bound_units: str) -> bool:
    """True if an amount is at most a bound, each in its own units: exactly, a double being the binary number that it is.

    Nats are bits times log 2, which is no fraction, so that enough of its digits decide unless both numbers are 0.

    >>> is_at_most(0.6931471805599453, "nats", Fraction(1), "bits"), is_at_most(0.6931471805599454, "nats", Fraction(1), "bits")
    (True, False)
    """
    if units == bound_units or not amount or math.isinf(amount):
        return amount <= bound
    exact, precision = Fraction(amount), 64
    while True:
        with ctx.workprec(precision):
            room = _nats(bound, bound_units) - _nats(exact, units)
            if room != 0:
                return bool(room > 0)
        precision *= 2


def is_at_least_log(amount: float | Fraction, units: str, values: int) -> bool:
    """True if an amount is at least the logarithm of a number of values: exactly, as in `is_at_most`.

    >>> is_at_least_log(1.0, "bits", 2), is_at_least_log(1.0986122886681098, "nats", 3), is_at_least_log(0.69, "nats", 2)
    (True, True, False)
    """
    whole = values.bit_length() - 1
    if math.isinf(amount) or values == 1 or (units == "bits" and values == 1 << whole):
        return amount >= (whole if units == "bits" else 0)
    exact, precision = Fraction(amount), 64
    while True:  # a logarithm of such a number of values is no fraction
        with ctx.workprec(precision):
            above = _nats(exact, units) - arb(values).log()
            if above != 0:
                return bool(above > 0)
        precision *= 2


def _nats(amount: Fraction, units: str) -> arb:
    exact = fmpq(amount.numerator, amount.denominator)
    return arb(exact) if units == "nats" else exact * arb(2).log()


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


def _step(value: float, towards: float) -> float:
    for _ in range(3):
        value = math.nextafter(value, towards)
    return value
