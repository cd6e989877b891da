"""What a privacy notion is: every entry of a mechanism is at most e^epsilon times an average of its column, for certain averages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from dalenius.exact import Number
from dalenius.information.balls import ball
from dalenius.model.epsilons import epsilon_text, normal_epsilon, read_epsilon
from dalenius.model.shelf import Shelved

__all__ = ["Privacy", "Reference"]

Rows = Sequence[Sequence[Fraction]]
EPSILON = "privacy: epsilon"
PRECISION = 112  # bits of the rationals around an irrational e^epsilon: a checker with 128 bits tells them from it


@dataclass(frozen=True)
class Reference:
    """Inputs whose entries Q(x,y) are compared with sum_x' beta(x') Q(x',y), beta a law on these inputs.

    `law` has a probability above 0 for each of `inputs`. Where it is None, beta is any law on them, so that the least entry counts.
    """

    inputs: tuple[int, ...]
    law: tuple[Fraction, ...] | None = None

    def average(self, column: Sequence[Fraction]) -> Fraction:
        """The least sum_x' beta(x') Q(x',y), for the entries of `inputs`."""
        if self.law is None:
            return min(column)
        return sum((p * q for p, q in zip(self.law, column, strict=True) if q), Fraction(0))


@dataclass(frozen=True)
class Privacy(Shelved):
    """A bound on what an output tells about the input: Q(x,y) <= e^epsilon sum_x' beta(x') Q(x',y) for all y and all references.

    Parameters
    ----------
    epsilon : number or str
        Nats; or a text of a number and a unit, ``"0.5 nats"``, ``"1 bits"``, at most 1000; or ``"log q"`` with q > 0, for which
        e^epsilon is exactly q. Kept as such a text. A negative one makes a design infeasible.
    """

    epsilon: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", epsilon_text(self.epsilon, EPSILON))

    @property
    def feasible(self) -> bool:
        """Whether epsilon >= 0: a mechanism that ignores its input is private then."""
        amount, unit = read_epsilon(self.epsilon, EPSILON)
        return amount >= (1 if unit == "log" else 0)

    def factor(self) -> tuple[Fraction, Fraction]:
        """Rationals c- <= e^epsilon <= c+: equal where it is rational, else 2^-110 of it apart at most; epsilon >= 0.

        >>> from dalenius.model.privacy import LocalDP
        >>> LocalDP("log 3/2").factor(), LocalDP("2 bits").factor()
        ((Fraction(3, 2), Fraction(3, 2)), (Fraction(4, 1), Fraction(4, 1)))
        >>> low, high = LocalDP(1).factor()
        >>> low < high, float(low)
        (True, 2.718281828459045)
        """
        amount, unit = read_epsilon(self.epsilon, EPSILON)
        if unit == "log":
            return amount, amount
        if not amount or (unit == "bits" and amount.denominator == 1):
            return Fraction(2**amount.numerator), Fraction(2**amount.numerator)
        with ctx.workprec(PRECISION + 32):
            factor = (ball(amount) * (arb(2).log() if unit == "bits" else 1)).exp()
            low, high = (_exact(end) for end in (factor.lower(), factor.upper()))
        return max(_rounded(low, -1), Fraction(1)), _rounded(high, 1)

    def normal_table(self) -> dict[str, Any]:
        """The table of the normal form (docs/model-format.md)."""
        return {"kind": self.kind, **self.to_table(), "epsilon": normal_epsilon(self.epsilon, EPSILON)}

    def exp_epsilon(self, rows: Rows, references: Sequence[Reference]) -> Fraction | None:
        """The least e^epsilon for which this mechanism is private; None if none is large enough.

        Parameters
        ----------
        rows : (inputs, outputs)
            Exact.
        references : sequence of Reference
            What `references` says for the model.
        """
        ratio = Fraction(1)
        for reference in references:
            for column in zip(*(rows[x] for x in reference.inputs), strict=True):
                most, average = max(column), reference.average(column)
                if most and not average:
                    return None
                if most > ratio * average:
                    ratio = most / average
        return ratio

    @abstractmethod
    def check(self, possible: Sequence[int], inputs: int) -> None:
        """Raise `InputError` if the notion does not fit mechanisms with so many inputs, of which these have datasets."""

    @abstractmethod
    def references(self, possible: Sequence[int], law: Sequence[Fraction]) -> list[Reference]:
        """What entries are compared with, for the inputs that have datasets, and the law of all inputs."""


def _exact(end: arb) -> Fraction:
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _rounded(x: Fraction, sign: int) -> Fraction:
    """x > 0 to as many bits, downward or upward."""
    shift = PRECISION - (x.numerator.bit_length() - x.denominator.bit_length())
    scaled = x * Fraction(2) ** shift
    whole = scaled.numerator // scaled.denominator if sign < 0 else -(-scaled.numerator // scaled.denominator)
    return Fraction(whole) / Fraction(2) ** shift
