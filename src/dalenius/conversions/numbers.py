"""Functions of balls that rules share; each gives a ball around the value, so that nothing has to be said about rounding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction, fraction_text
from dalenius.information.balls import ball
from dalenius.model.fields import read_epsilon

BITS = 160  # of the balls


def number_ball(value: Number | arb, what: str, *, above: int | None = None) -> arb:
    """A ball around a number that a user gives, or the ball that they give.

    Raises
    ------
    InputError
        If it is no number, or not `above` what it must be.

    >>> number_ball("0.5", "epsilon") == 0.5
    True
    """
    found = value if isinstance(value, arb) else ball(as_fraction(value, what))
    if above is not None and not found > above:
        raise InputError(f"{what}: expected a number above {above}, got {brief(value)}")
    return found


def entropy_term(p: arb) -> arb:
    """-p log p, 0 at 0.

    >>> entropy_term(arb(0)) == 0, float(entropy_term(arb(1)))
    (True, 0.0)
    """
    return arb(0) if p == 0 else -p * p.log()


def binary_entropy(p: arb) -> arb:
    """-p log p - (1-p) log(1-p) in nats.

    >>> import math
    >>> float(binary_entropy(arb(0.5))) == math.log(2)
    True
    """
    return entropy_term(p) + entropy_term(1 - p)


def positive(x: arb) -> arb:
    """max(x, 0)."""
    return arb(x).max(arb(0))


def bernoulli_divergence(p: arb, q: arb) -> arb:
    """d(p || q) in nats, for numbers from 0 to 1.

    >>> round(float(bernoulli_divergence(arb(0), arb(0.5))), 12)
    0.69314718056
    """
    if q == 1:
        return arb(0) if p == 1 else arb("inf")
    first = p * (p / q).log() if p > 0 else arb(0)
    return first + ((1 - p) * ((1 - p) / (1 - q)).log() if p < 1 else 0)


# The epsilon that a delta belongs to, exactly: a rational, or a multiple of the logarithm of one.


@dataclass(frozen=True)
class Epsilon:
    """`factor`, or `factor` log `base`."""

    factor: Fraction
    base: Fraction | None = None

    @classmethod
    def read(cls, written: Number, what: str = "epsilon") -> Epsilon:
        """As people write it: 0.5, ``"1 bits"``, ``"log 3"``.

        Raises
        ------
        InputError
            If it cannot be read, or is negative.

        >>> Epsilon.read("log 3"), Epsilon.read(0.5)
        (Epsilon(factor=Fraction(1, 1), base=Fraction(3, 1)), Epsilon(factor=Fraction(1, 2), base=None))
        """
        amount, unit = read_epsilon(written, what)
        if amount < (1 if unit == "log" else 0):
            raise InputError(f"{what}: expected a number of at least 0, got {written}")
        if unit == "log":
            return ZERO if amount == 1 else cls(Fraction(1), amount)
        return cls(amount) if unit == "nats" or not amount else cls(amount, Fraction(2))

    def times(self, share: Fraction | int) -> Epsilon:
        """A multiple of it."""
        return Epsilon(self.factor * share, self.base)

    def ball(self) -> arb:
        """A ball around it, at the precision that is set."""
        return ball(self.factor) * (arb(1) if self.base is None else ball(self.base).log())

    def at_least(self, other: Epsilon) -> bool:
        """True if it is certainly at least the other.

        >>> Epsilon.read("log 3").at_least(Epsilon.read(1)), ZERO.at_least(ZERO)
        (True, True)
        """
        return self == other or bool(self.ball() >= other.ball())

    def __str__(self) -> str:
        if self.base is None:
            return fraction_text(self.factor)
        return f"{'' if self.factor == 1 else fraction_text(self.factor) + ' '}log {fraction_text(self.base)}"


ZERO = Epsilon(Fraction(0))
