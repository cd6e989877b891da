"""A secret S on a chain S - X - Y, of which the mechanism sees X alone: what limits about it are given, and its laws exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from flint import fmpq, fmpq_mat

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_list, as_nonnegative, exact_sum
from dalenius.exact import Rows as WrittenRows
from dalenius.model.constraints.base import Constraint, MechanismSpace, Rows
from dalenius.model.fields import Given
from dalenius.model.privacy import LocalDP, PointwiseMaximalLeakage

MAX_NUMBERS = 2**22
SUM = Fraction(1, 10**9)  # by which the sum of a law may differ from 1

Matrices: TypeAlias = tuple[tuple[tuple[Fraction, ...], ...], ...]  # joint laws as written
Priors: TypeAlias = tuple[tuple[Fraction, ...], ...]
Secret: TypeAlias = Sequence[Sequence[Number]] | Sequence[Sequence[Sequence[Number]]]  # one joint law, or several


@dataclass(frozen=True, eq=False)
class JointLaw:
    """P(s,x), a law on the letters of a secret and the inputs of a mechanism, exactly.

    >>> law = JointLaw(((Fraction(1, 2), Fraction(0)), (Fraction(1, 4), Fraction(1, 4))))
    >>> law.letters, law.pi[1], law.inputs[0], law.given(1)
    ((0, 1), Fraction(1, 2), Fraction(3, 4), {0: Fraction(1, 2), 1: Fraction(1, 2)})
    """

    masses: tuple[tuple[Fraction, ...], ...]

    @classmethod
    def of(cls, rows: Sequence[Sequence[Fraction]]) -> JointLaw:
        """The rows divided by their exact sum."""
        total = sum((p for row in rows for p in row), Fraction(0))
        return cls(tuple(tuple(p / total for p in row) for row in rows))

    @cached_property
    def pi(self) -> tuple[Fraction, ...]:
        """pi(s), the law of the secret."""
        return tuple(sum(row, Fraction(0)) for row in self.masses)

    @cached_property
    def inputs(self) -> tuple[Fraction, ...]:
        """P(x), the law of the inputs."""
        return tuple(sum(column, Fraction(0)) for column in zip(*self.masses, strict=True))

    @cached_property
    def letters(self) -> tuple[int, ...]:
        """The letters with pi(s) > 0: others do not exist."""
        return tuple(s for s, p in enumerate(self.pi) if p)

    @cached_property
    def support(self) -> dict[int, Fraction]:
        """P(x) where it is more than 0."""
        return {x: p for x, p in enumerate(self.inputs) if p}

    @cached_property
    def drifts(self) -> dict[int, list[fmpq]]:
        """P(s,x) - pi(s) P(x) by letters, where P(x) is more than 0: what an input says of the secret, all 0 if it says nothing."""
        return {
            x: [
                fmpq(p.numerator, p.denominator)
                for p in (row[x] - pi * mass for row, pi in zip(self.masses, self.pi, strict=True))
            ]
            for x, mass in self.support.items()
        }

    @cached_property
    def rank(self) -> int:
        """The rank of the drifts: 0 where the inputs are independent of the secret.

        >>> JointLaw(((Fraction(1, 2), Fraction(0)), (Fraction(1, 4), Fraction(1, 4)))).rank
        1
        """
        return int(fmpq_mat([*self.drifts.values()]).rank())

    def given(self, s: int) -> dict[int, Fraction]:
        """P(x|s) where it is more than 0."""
        return {x: p / self.pi[s] for x, p in enumerate(self.masses[s]) if p}


def as_secret(value: Secret, what: str) -> Matrices:
    """Joint laws as written: one matrix, or a list of at least one; None where nothing is given.

    >>> as_secret([[0.5, 0.25], [0, 0.25]], "secret")
    (((Fraction(1, 2), Fraction(1, 4)), (Fraction(0, 1), Fraction(1, 4))),)
    """
    listed = [as_list(law, f"{what}[{n}]") for n, law in enumerate(as_list(value, what))]
    if listed and all(law and not _is_list(law[0]) for law in listed):
        listed = [listed]
    if not listed:
        raise InputError(f"{what}: expected a joint law, a row for each letter of the secret, or a list of them")
    return tuple(as_joint(law, f"{what}[{n}]") for n, law in enumerate(listed))


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def as_joint(value: Sequence[Any], what: str, of: str = "the secret") -> tuple[tuple[Fraction, ...], ...]:
    """One joint law as written; `InputError` if it is none.

    >>> as_joint([[0.5, 0.25], [0, 0.25]], "useful")
    ((Fraction(1, 2), Fraction(1, 4)), (Fraction(0, 1), Fraction(1, 4)))
    """
    rows = tuple(as_nonnegative(row, f"{what}[{s}]", noun="a probability") for s, row in enumerate(value))
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
        raise InputError(f"{what}: expected a row for each letter of {of}, with a number for each input, all as long")
    total = exact_sum([p for row in rows for p in row], what)
    if abs(total - 1) > SUM:
        raise InputError(f"{what}: the numbers of a joint law must sum to 1 (within 1e-9), got {float(total):.12g}")
    return rows


def as_private(value: Number, what: str) -> str:
    """A privacy parameter that some mechanism has, as a text."""
    notion = LocalDP(value)
    if not notion.feasible:
        raise InputError(f"{what} must be at least 0, got {brief(value)}")
    return notion.epsilon


Private: TypeAlias = Given[Number, str]
SecretOrNone: TypeAlias = Given[Secret | None, Matrices | None]
PriorsOrNone: TypeAlias = Given[WrittenRows | None, Priors | None]


def check_secret(secret: Matrices | None, priors: Priors | None, space: MechanismSpace, what: str) -> None:
    """Raise `InputError` if laws have not as many columns as there are inputs, or mass where no dataset is, or are too many."""
    if priors is not None:
        try:
            PointwiseMaximalLeakage(0, priors).check(space.possible, space.inputs)
        except InputError as error:
            raise InputError(f"{what}: {str(error).removeprefix('privacy: ')}") from None
    numbers = sum(len(law) * len(law[0]) for law in secret or ())
    cells = max((len(law) for law in secret or ()), default=space.inputs) * space.outputs
    if numbers > MAX_NUMBERS or cells > MAX_NUMBERS:
        raise InputError(
            f"{what}: at most {MAX_NUMBERS} numbers in a constraint's laws, and letters times outputs of one"
        )
    impossible = set(range(space.inputs)) - set(space.possible)
    for n, law in enumerate(secret or ()):
        if len(law[0]) != space.inputs:
            raise InputError(
                f"{what}: secret[{n}] has rows of {len(law[0])} numbers, and the mechanism has {space.inputs} inputs; give one "
                "number for each"
            )
        for x in sorted(impossible):
            if any(row[x] for row in law):
                raise InputError(f"{what}: secret[{n}] has mass at input {x}, whose value no dataset has")


def laws_of(secret: Matrices | None, priors: Priors | None, space: MechanismSpace) -> list[JointLaw]:
    """The laws, exactly: each divided by its sum; of the input itself where no joint law is given."""
    if secret is not None:
        return [JointLaw.of(law) for law in secret]
    weights = [space.law] if priors is None else [tuple(p / sum(prior) for p in prior) for prior in priors]
    return [
        JointLaw(tuple(tuple(p if x == s else Fraction(0) for x in range(len(law))) for s, p in enumerate(law)))
        for law in weights
    ]


class AboutSecret(Constraint):
    """Constraint about a secret of joint laws, or about the input itself, which then has priors, or the law under the model's own."""

    secret: SecretOrNone
    priors: PriorsOrNone

    def __post_init__(self) -> None:
        if self.secret is not None and self.priors is not None:
            raise InputError(f"constraints: {self.kind}: expected secret or priors, got both")

    @property
    def about_the_law(self) -> bool:
        """True if the secret is the input itself, under the model's own law."""
        return self.secret is None and self.priors is None

    def laws(self, space: MechanismSpace) -> list[JointLaw]:
        """The laws that it is about, exactly."""
        return laws_of(self.secret, self.priors, space)


def ratio_rows(pairs: Sequence[tuple[dict[int, Fraction], dict[int, Fraction], int]], epsilon: Number) -> Rows:
    """Rows sum a(x) Q(x,y) - e^epsilon sum b(x) Q(x,y) <= 0, for each triple (a, b, y)."""
    terms = tuple(tuple((x, y, c) for x, c in above.items()) for above, _, y in pairs)
    scaled = tuple(tuple((x, y, -c) for x, c in below.items()) for _, below, y in pairs)
    return Rows((Fraction(0),) * len(pairs), False, terms, scaled, LocalDP(epsilon).factor())
