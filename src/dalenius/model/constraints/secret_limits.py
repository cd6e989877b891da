"""Limits of convex leakage measures of a secret: its laws, how the number that limits is read, and the measures."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from dalenius.errors import InputError, brief
from dalenius.exact import Number, Rows, as_fraction, as_list, as_quantity
from dalenius.model.constraints.base import Limit, MechanismSpace
from dalenius.model.constraints.budgets import AmountLimit
from dalenius.model.constraints.secret import (
    AboutSecret,
    JointLaw,
    PriorsOrNone,
    Private,
    SecretOrNone,
    as_private,
    as_secret,
    check_secret,
)
from dalenius.model.fields import (
    Exact,
    ExactOrNone,
    Given,
    amount_text,
    declared,
    flag,
    normal_amount,
    normal_epsilon,
    number,
)
from dalenius.model.privacy import LocalDP, as_priors
from dalenius.units import UNITS, unit_size


def _joint_laws(value: Any, where: str) -> Any:
    """Those of a file, which has a list of them."""
    if isinstance(value, list) and not all(
        isinstance(law, list) and all(isinstance(r, list) for r in law) for law in value
    ):
        raise InputError(f"{where}: expected a list of joint laws, each a list of rows; put one law into brackets")
    return value


def _as_amount(value: Number, what: str) -> str:
    _ = at_least_zero(as_quantity(value, what, known=UNITS)[0], what)
    return amount_text(value, what)


at_least_zero = number(at_least=0)
GUESSING = "guessing"
MOST_LINES = 64
Lines: TypeAlias = tuple[tuple[Fraction, Fraction], ...]  # a and b of a t + b


def as_lines(value: Sequence[Sequence[Number]], what: str) -> Lines:
    """The lines whose largest is a convex function that is 0 at t = 1.

    >>> as_lines([[1, -1.5], [0, 0]], "measure")
    ((Fraction(1, 1), Fraction(-3, 2)), (Fraction(0, 1), Fraction(0, 1)))
    """
    lines = [[as_fraction(x, what) for x in as_list(line, what)] for line in as_list(value, what)]
    if not 1 <= len(lines) <= MOST_LINES or any(len(line) != 2 for line in lines):
        raise InputError(f"{what}: expected from 1 to {MOST_LINES} lines [a, b] of a function max(a t + b)")
    if at_one := max(a + b for a, b in lines):
        raise InputError(f"{what}: expected lines whose largest is 0 at t = 1, where nothing is revealed; got {at_one}")
    return tuple((a, b) for a, b in lines)


def _as_measure(value: str | Sequence[Sequence[Number]], what: str) -> str | Lines:
    if isinstance(value, str) and value != GUESSING:
        raise InputError(
            f"{what}: expected guessing, or lines [[a, b], ...] of a function max(a t + b), got {brief(value)}; mutual "
            "information, chi-square and total variation have kinds of their own"
        )
    return GUESSING if isinstance(value, str) else as_lines(value, what)


@declared
class SecretLimit(AboutSecret, Limit):
    """A convex measure of what the output reveals about a secret S on a chain S - X - Y is at most so much, for each of some laws.

    P(s,x) is the law of the secret and the input, pi(s) and P(x) are its margins; u(s,y) = sum_x P(s,x) Q(x,y), r(y) = sum_s u(s,y)
    and W(s,y) = u(s,y)/pi(s) are those of the output. All kinds have these two parameters, after those that say how much; left out,
    the secret is the input itself, under the model's law of the data.

    Parameters
    ----------
    secret : joint law P(s,x), or list of them, optional
        A row for each letter of the secret, a column for each of the mechanism's inputs, with sum 1 (within 1e-9; exactly divided by
        it). Every one of them must keep the limit.
    priors : list of laws of the inputs, optional
        The secret is then the input itself.

    Raises
    ------
    InputError
        If a law is none, both are given, or a number cannot be read or is negative; a design raises it where a law does not fit.
    """

    secret: SecretOrNone = Given(as_secret, default=None, tables=_joint_laws)
    priors: PriorsOrNone = Given(as_priors, default=None)

    def check_laws(self, space: MechanismSpace) -> None:
        """Raise `InputError` if its laws do not fit the mechanisms."""
        check_secret(self.secret, self.priors, space, f"constraints: {self.kind}")

    def check(self, space: MechanismSpace) -> None:
        self.check_laws(space)
        if not self.limit[0]:
            raise InputError(
                f"constraints: {self.kind}: a limit of 0 is met on its boundary only; ask for {self.at_zero} in its place, "
                "which says the same in rows and is solved exactly"
            )

    @property
    def at_zero(self) -> str:
        """The constraint of rows that says the same as a limit of 0: independence, for most kinds; empty where none does."""
        return "local_information_privacy (dl.constraints.LocalInformationPrivacy) with epsilon 0"

    @property
    def limit_in_doubles(self) -> float:
        """The number that is not to be passed; in nats where it is an amount of information."""
        amount, units = self.limit
        return float(amount) * (unit_size(units) if units else 1.0)


# How much: fields of these classes come before those of a secret, which is why they are further bases.


@declared
class Information(AmountLimit):
    """An amount of information: nats or bits."""

    at_most: Given[Number, str] = Given(_as_amount, normal=normal_amount)


@declared
class StrongInformation(Information):
    """The same, of all letters together or of each."""

    strong: Given[bool, bool] = Given(flag, default=False)


@declared
class Divergence(Limit):
    """A number without unit, of all letters together or of each."""

    at_most: Exact = Given(at_least_zero)
    strong: Given[bool, bool] = Given(flag, default=False)


@declared
class Measured(Limit):
    """A number without unit, of a measure that is said."""

    measure: Given[str | Sequence[Sequence[Number]], str | Lines] = Given(_as_measure)
    at_most: Exact = Given(at_least_zero)


@declared
class HockeyStick(Limit):
    """sum_y max(A(y) - e^epsilon B(y), 0) of certain laws A and B is at most so much."""

    epsilon: Private = Given(as_private, normal=normal_epsilon)
    at_most: Exact = Given(at_least_zero)

    def factor(self) -> tuple[Fraction, Fraction]:
        """Rationals c- <= e^epsilon <= c+."""
        return LocalDP(self.epsilon).factor()


@declared
class Correlation(Limit):
    """A correlation, or its square."""

    at_most: ExactOrNone = Given(at_least_zero, default=None)
    square_at_most: ExactOrNone = Given(at_least_zero, default=None)


@declared
class MutualInformation(SecretLimit, Information):
    """I(S;Y) = sum_sy u log( u / (pi r) ) is at most so much.

    Parameters
    ----------
    at_most : number or str
        Nats, or a text of a number and a unit, ``"0.1 bits"``; exact, at least 0.
    secret, priors : optional
        As of `SecretLimit`.

    >>> MutualInformation("0.1 bits").limit
    (Fraction(1, 10), 'bits')
    """

    kind: ClassVar[str] = "mutual_information"


@declared
class KL(SecretLimit, StrongInformation):
    """The KL divergence of u from pi r, which is I(S;Y), is at most so much; or, if strong, sum_y r log(r/W(s,.)) for every s.

    Parameters
    ----------
    at_most : number or str
        As of `MutualInformation`.
    strong : bool
    secret, priors : optional
        As of `SecretLimit`.

    >>> KL(0.1, strong=True).limit_in_doubles
    0.1
    """

    kind: ClassVar[str] = "kl"


@declared
class ChiSquare(SecretLimit, Divergence):
    """sum_sy u^2/(pi r) - 1 is at most so much; or, if strong, sum_y r(y)^2/W(s,y) - 1 for every s.

    Parameters
    ----------
    at_most : number
        At least 0.
    strong : bool
    secret, priors : optional
        As of `SecretLimit`.

    >>> ChiSquare(0.1, strong=True).strong
    True
    """

    kind: ClassVar[str] = "chi_square"


@declared
class TotalVariation(SecretLimit, Divergence):
    """sum_sy |u - pi r|, from 0 to 2, is at most so much; or, if strong, sum_y |W(s,y) - r(y)| for every s.

    Parameters
    ----------
    at_most : number
        At least 0.
    strong : bool
    secret, priors : optional
        As of `SecretLimit`.

    >>> TotalVariation(0.1).limit
    (Fraction(1, 10), '')
    """

    kind: ClassVar[str] = "total_variation"


@declared
class MeasureLimit(SecretLimit, Measured):
    """By how much Y raises the probability of the best guess of S, or an f-divergence of u from pi r, is at most so much.

    Of a `MaxInformation` problem alone.

    Parameters
    ----------
    measure : str or list of (a, b)
        ``"guessing"``, sum_y max_s u(s,y) - max_s pi(s); or the lines of a convex function max(a t + b) that is 0 at t = 1, for
        sum_sy max(a u + b pi r).
    at_most : number
        At least 0.
    secret, priors : optional
        As of `SecretLimit`.

    >>> MeasureLimit("guessing", 0.1).limit
    (Fraction(1, 10), '')
    """

    kind: ClassVar[str] = "measure"

    @property
    def at_zero(self) -> str:
        return ""

    def check(self, space: MechanismSpace) -> None:
        raise InputError(
            f"constraints: {self.kind}: limits what a max_information problem tells (dl.PrivacyFunnel, dl.MaxInformation), and no "
            "other design; give one a limit of total_variation, chi_square or mutual_information"
        )

    def taken(self, law: JointLaw, rows: Rows) -> Fraction:
        """Leakage of a mechanism with these rows about a secret, exactly.

        >>> half = Fraction(1, 2)
        >>> MeasureLimit("guessing", 1).taken(JointLaw(((half, 0), (0, half))), [[1, 0], [half, half]])
        Fraction(1, 4)
        """
        found = Fraction(0)
        for column in zip(*rows, strict=True):
            masses = [sum((p * q for p, q in zip(row, column, strict=True)), Fraction(0)) for row in law.masses]
            r = sum(masses, Fraction(0))
            if isinstance(self.measure, str):
                found += max(masses) - max(law.pi) * r
            else:
                pairs = zip(masses, law.pi, strict=True)
                found += sum(max(a * m + b * p * r for a, b in self.measure) for m, p in pairs)
        return found


@declared
class MaximalCorrelation(SecretLimit, Correlation):
    """The largest correlation E f(S) g(Y) of functions with mean 0 and variance 1, or its square, is at most so much.

    Parameters
    ----------
    at_most, square_at_most : number
        One of them, at least 0: of the correlation, or of its square.
    secret, priors : optional
        As of `SecretLimit`.

    >>> MaximalCorrelation(0.5).limit, MaximalCorrelation(square_at_most=0.1).limit
    ((Fraction(1, 4), ''), (Fraction(1, 10), ''))
    """

    kind: ClassVar[str] = "maximal_correlation"

    def __post_init__(self) -> None:
        if (self.at_most is None) == (self.square_at_most is None):
            raise InputError(
                f"constraints: {self.kind}: expected one of at_most and square_at_most, got "
                f"{'neither' if self.at_most is None else 'both'}"
            )
        super().__post_init__()

    @property
    def limit(self) -> tuple[Fraction, str]:
        """That of the square."""
        if self.at_most is not None:
            return self.at_most**2, ""
        assert self.square_at_most is not None
        return self.square_at_most, ""


@declared
class LocalDPDelta(SecretLimit, HockeyStick):
    """sum_y max(W(s,y) - e^epsilon W(s',y), 0) is at most so much for all letters s and s': (epsilon, delta) local privacy.

    Parameters
    ----------
    epsilon : number or str
        As of `LocalDP`, at least 0.
    at_most : number
        delta, at least 0.
    secret, priors : optional
        As of `SecretLimit`.

    >>> LocalDPDelta("log 3", 0.05).limit
    (Fraction(1, 20), '')
    """

    kind: ClassVar[str] = "local_dp_delta"

    @property
    def at_zero(self) -> str:
        return f"local_dp (dl.constraints.LocalDPBetween) with epsilon {self.epsilon}"


@declared
class LocalInformationPrivacyDelta(SecretLimit, HockeyStick):
    """sum_y max(r - e^epsilon W(s,.), 0) and e^-epsilon sum_y max(W(s,.) - e^epsilon r, 0) are at most so much for every letter s.

    Parameters
    ----------
    epsilon : number or str
    at_most : number
    secret, priors : optional
        As of `SecretLimit`.

    >>> LocalInformationPrivacyDelta(1, 0.05).factor()[0] > 2
    True
    """

    kind: ClassVar[str] = "local_information_privacy_delta"

    @property
    def at_zero(self) -> str:
        return f"local_information_privacy (dl.constraints.LocalInformationPrivacy) with epsilon {self.epsilon}"
