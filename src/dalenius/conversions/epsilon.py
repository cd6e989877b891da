"""The epsilon that a delta belongs to, exactly: a rational, or a multiple of the logarithm of one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dalenius.errors import InputError
from dalenius.exact import Number, fraction_text
from dalenius.information.balls import ball
from dalenius.model.epsilons import read_epsilon

__all__ = ["ZERO", "Epsilon"]


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
        """Whether it is certainly at least the other.

        >>> Epsilon.read("log 3").at_least(Epsilon.read(1)), ZERO.at_least(ZERO)
        (True, True)
        """
        return self == other or bool(self.ball() >= other.ball())

    def __str__(self) -> str:
        if self.base is None:
            return fraction_text(self.factor)
        return f"{'' if self.factor == 1 else fraction_text(self.factor) + ' '}log {fraction_text(self.base)}"


ZERO = Epsilon(Fraction(0))
