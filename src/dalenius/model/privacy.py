"""Privacy notions that need no adversary: entries against averages of their columns. `NOTIONS` maps kinds to classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from flint import arb, ctx

from dalenius.errors import InputError
from dalenius.exact import Number, Rows, as_laws, exact_sum, magnitude
from dalenius.information.balls import ball, exactly
from dalenius.model.fields import Given, declared, epsilon_text, normal_epsilon, read_epsilon
from dalenius.model.shelf import Shelved

ExactRows = Sequence[Sequence[Fraction]]
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


@declared
class Privacy(Shelved):
    """A bound on what an output reveals about the input: Q(x,y) <= e^epsilon sum_x' beta(x') Q(x',y) for all y and all references.

    Parameters
    ----------
    epsilon : number or str
        Nats; or a text of a number and a unit, ``"0.5 nats"``, ``"1 bits"``, at most 1000; or ``"log q"`` with q > 0, for which
        e^epsilon is exactly q. Kept as such a text. A negative one makes a design infeasible.
    """

    room: ClassVar[str] = "privacy"
    shelf: ClassVar[dict[str, type[Any]]] = {}
    epsilon: Given[Number, str] = Given(epsilon_text, normal=normal_epsilon)

    @property
    def feasible(self) -> bool:
        """True if epsilon >= 0: a mechanism that ignores its input is private then."""
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
            low, high = (exactly(end) for end in (factor.lower(), factor.upper()))
        return max(_rounded(low, -1), Fraction(1)), _rounded(high, 1)

    def exp_epsilon(self, rows: ExactRows, references: Sequence[Reference]) -> Fraction | None:
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
        """Laws that entries are compared with, for the inputs that have datasets, and the law of all inputs."""


def _rounded(x: Fraction, sign: int) -> Fraction:
    """x > 0 to as many bits, downward or upward."""
    shift = PRECISION - magnitude(x)
    scaled = x * Fraction(2) ** shift
    whole = scaled.numerator // scaled.denominator if sign < 0 else -(-scaled.numerator // scaled.denominator)
    return Fraction(whole) / Fraction(2) ** shift


class LocalDP(Privacy):
    """Q(x,y) <= e^epsilon Q(x',y) for all outputs y and all inputs x, x' that datasets have.

    Parameters
    ----------
    epsilon : number or str
        Nats, or ``"1 bits"``, or ``"log 3"``; see `Privacy`.

    Raises
    ------
    InputError
        If epsilon cannot be read, or is above 1000.

    Notes
    -----
    Source: P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", JMLR 17 (2016): k-ary randomised
    response, right with probability e^epsilon / (e^epsilon + k - 1), is the best for Hamming distortion and a uniform law.

    >>> import dalenius as dl
    >>> problem = dl.MinDistortion(records=dl.Records(1, alphabet=3), query=dl.Identity(), distortion=dl.Hamming(),
    ...     privacy=dl.LocalDP("log 2"))
    >>> result = dl.solve(problem)
    >>> result.distortion, result.exp_epsilon, result.lower <= 0.5 <= result.upper
    (Fraction(1, 2), Fraction(2, 1), True)
    """

    kind: ClassVar[str] = "local_dp"

    def check(self, possible: Sequence[int], inputs: int) -> None:
        """It fits all mechanisms."""

    def references(self, possible: Sequence[int], law: Sequence[Fraction]) -> list[Reference]:
        return [Reference(tuple(possible))]


MAX_NUMBERS = 2**22


def as_priors(value: Rows, what: str) -> tuple[tuple[Fraction, ...], ...]:
    """Laws of the inputs as written, at least one."""
    priors = as_laws(value, what)
    if not priors:
        raise InputError(f"{what} must list at least one prior; leave it out for the law of the inputs")
    return priors


@declared
class PointwiseMaximalLeakage(Privacy):
    """Q(x,y) <= e^epsilon sum_x' P(x') Q(x',y) for all outputs y, every prior P and all inputs x with P(x) > 0.

    The pointwise maximal leakage of an output y is max_x log( Q(x,y) / P_Y(y) ): by how much y can raise anybody's chance to guess
    anything about the input, whatever is guessed.

    Parameters
    ----------
    epsilon : number or str
        Nats, or ``"1 bits"``, or ``"log 3"``; see `Privacy`.
    priors : matrix of numbers, as lists or as an array, optional
        Laws on the mechanism's inputs, each *exactly* its weights divided by their exact sum, which may differ from 1 by at most 1e-9.
        Left out: the law of the inputs under the model's law of the data.

    Raises
    ------
    InputError
        If epsilon cannot be read or is above 1000, there is no prior, or one is no law; `check` raises it for a prior of another
        length, or with mass on a value that no dataset has, and for more than 2^22 weights.

    Notes
    -----
    Source: S. Saeidian, G. Cervia, T. J. Oechtering, M. Skoglund, "Pointwise maximal leakage", IEEE Trans. Inf. Theory 69 (2023).
    From epsilon >= log(1 / min P) on every mechanism is private.

    >>> import dalenius as dl
    >>> problem = dl.MinDistortion(records=dl.Records(1, alphabet=3), query=dl.Identity(), distortion=dl.Hamming(),
    ...     law=dl.Iid([0.5, 0.3, 0.2]), privacy=dl.PointwiseMaximalLeakage("log 2"))
    >>> result = dl.solve(problem)
    >>> result.distortion, result.exp_epsilon, result.lower <= 0.2 <= result.upper
    (Fraction(1, 5), Fraction(2, 1), True)
    """

    kind: ClassVar[str] = "pointwise_maximal_leakage"
    priors: Given[Rows | None, tuple[tuple[Fraction, ...], ...] | None] = Given(as_priors, default=None)

    def check(self, possible: Sequence[int], inputs: int) -> None:
        listed = self.priors or ()
        if len(listed) * inputs > MAX_NUMBERS:
            raise InputError(f"privacy: at most {MAX_NUMBERS} weights, got {len(listed)} priors on {inputs} inputs")
        impossible = set(range(inputs)) - set(possible)
        for j, prior in enumerate(listed):
            if len(prior) != inputs:
                raise InputError(
                    f"privacy: priors[{j}] must have one weight for each of the mechanism's {inputs} inputs, got {len(prior)}"
                )
            for x in sorted(impossible):
                if prior[x]:
                    raise InputError(f"privacy: priors[{j}][{x}] must be 0, because no dataset has this input's value")

    def references(self, possible: Sequence[int], law: Sequence[Fraction]) -> list[Reference]:
        if self.priors is None:
            return [_reference(law, Fraction(1))]
        return [_reference(prior, exact_sum(prior, "privacy: priors")) for prior in self.priors]


def _reference(weights: Sequence[Fraction], total: Fraction) -> Reference:
    """The inputs of positive weight, with the weights divided by their sum."""
    support = [x for x, weight in enumerate(weights) if weight]
    return Reference(tuple(support), tuple(weights[x] / total for x in support))


NOTIONS = Privacy.shelf
NOTIONS.update((notion.kind, notion) for notion in (LocalDP, PointwiseMaximalLeakage))
