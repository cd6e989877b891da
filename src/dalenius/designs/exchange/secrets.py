"""A design's limits about secrets: as parts of its programs, exactly for what is handed out, and how tangents are written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from dalenius.evidence.lower import About, Matrix, SelectionLine, TangentLine, Vector
from dalenius.information.balls import rational
from dalenius.model.constraints import (
    KL,
    ChiSquare,
    Constraint,
    JointLaw,
    LocalDPDelta,
    LocalInformationPrivacyDelta,
    MaximalCorrelation,
    SecretLimit,
    TotalVariation,
)
from dalenius.model.constraints.secret_limits import HockeyStick
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.programs.secret_parts import (
    ChiSquarePart,
    CorrelationPart,
    HockeyStickPart,
    InformationPart,
    StrongKLPart,
    VariationPart,
)
from dalenius.programs.secrets import SecretPart


class ToldLaw(ABC):
    """One of the convex measures that a constraint limits.

    Attributes
    ----------
    number : int
        The constraint's, among the model's.
    limit : Constraint
    """

    number: int
    limit: Constraint

    @property
    @abstractmethod
    def part(self) -> SecretPart:
        """For programs."""

    @property
    @abstractmethod
    def letters(self) -> tuple[int, ...]:
        """Those that parts have rows for."""

    @abstractmethod
    def met_by(self, mechanism: fmpq_mat) -> bool:
        """Whether a mechanism keeps the limit; where logarithms are in it, certainly so."""

    @abstractmethod
    def line(self, i: int, weight: str, hint: Vector) -> TangentLine | SelectionLine:
        """A tangent of the part, as a certificate has it; its weight and its hint are given as texts."""


T = TypeVar("T")
BITS = 192
PIVOTS = 256  # bits of the balls that a matrix is eliminated in
Exact = Sequence[Sequence[Fraction]]
Letters = tuple[int | None, int | None]  # None stands for the output's own law


@dataclass(frozen=True, eq=False)
class SecretLaw(ToldLaw):
    """One law of a limit about a secret.

    Attributes
    ----------
    number, law : int
        The constraint's number among the model's, and the law's in it.
    limit : SecretLimit
    joint : JointLaw
    """

    number: int
    law: int
    limit: SecretLimit
    joint: JointLaw

    # ------------------------------------------------------------ in doubles

    @property
    def letters(self) -> tuple[int, ...]:
        """Those with mass, which parts have rows for."""
        return self.joint.letters

    @cached_property
    def part(self) -> SecretPart:
        """For programs."""
        masses = np.array([[float(p) for p in self.joint.masses[s]] for s in self.letters])
        most, limit = self.limit.limit_in_doubles, self.limit
        match limit:
            case TotalVariation():
                return VariationPart(masses, most, limit.strong)
            case ChiSquare():
                return ChiSquarePart(masses, most, limit.strong)
            case MaximalCorrelation():
                return CorrelationPart(masses, most)
            case HockeyStick():
                return HockeyStickPart(masses, most, self.pairs, float(limit.factor()[1]))
            case KL(strong=True):
                return StrongKLPart(masses, most)
        return InformationPart(masses, most)

    @cached_property
    def pairs(self) -> list[Letters]:
        """Of a hockey-stick divergence, by rows of the part."""
        rows = range(len(self.letters))
        if isinstance(self.limit, LocalDPDelta):
            return [(a, b) for a in rows for b in rows if a != b]
        assert isinstance(self.limit, LocalInformationPrivacyDelta)
        return [pair for a in rows for pair in ((a, None), (None, a))]

    # ------------------------------------------------------------ as it is written

    def line(self, i: int, weight: str, hint: Vector) -> TangentLine:
        return TangentLine(self.number, self.law, weight, self._about(i, hint), self._hint(hint))

    def _about(self, i: int, hint: Vector) -> About:
        """What a tangent's line is about, besides the law."""
        part, s = self.part, self.letters
        if isinstance(part, CorrelationPart):
            return self._at_letters(hint[: part.letters], "0")
        if isinstance(part, HockeyStickPart):
            return tuple(None if row is None else s[row] for row in part.pairs[i])
        return s[i] if self._of_each else None

    def _hint(self, hint: Vector) -> Vector | Matrix:
        """A hint as a tangent's line has it."""
        part = self.part
        if isinstance(part, CorrelationPart):
            return hint[part.letters :]
        if isinstance(part, HockeyStickPart) or self._of_each:
            return hint
        outputs = len(hint) // part.letters
        rows = [hint[k * outputs : (k + 1) * outputs] for k in range(part.letters)]
        return self._at_letters(rows, ("0",) * outputs)

    @property
    def _of_each(self) -> bool:
        """Whether the limit is one of each letter."""
        return bool(getattr(self.limit, "strong", False))

    def _at_letters(self, listed: Sequence[T], absent: T) -> tuple[T, ...]:
        """By letters, those without mass too."""
        found = dict(zip(self.letters, listed, strict=True))
        return tuple(found.get(s, absent) for s in range(len(self.joint.pi)))

    # ------------------------------------------------------------ exactly

    @cached_property
    def _masses(self) -> fmpq_mat:
        rows = [[rational(p) for p in self.joint.masses[s]] for s in self.letters]
        return fmpq_mat(rows)

    @cached_property
    def _pi(self) -> list[fmpq]:
        return [rational(self.joint.pi[s]) for s in self.letters]

    def met_by(self, mechanism: fmpq_mat) -> bool:
        """Whether a mechanism keeps the limit; where logarithms are in it, certainly so."""
        u = (self._masses * mechanism).tolist()
        r = [sum(column, fmpq(0)) for column in zip(*u, strict=True)]
        given = [[x / p for x in row] for p, row in zip(self._pi, u, strict=True)]
        if all(row == r for row in given):
            return True  # independent: all of them are 0
        if isinstance(self.limit, MaximalCorrelation):
            return self._is_semidefinite(u, r)
        return self._measured(u, r, given)

    def _measured(self, u: list[list[fmpq]], r: list[fmpq], given: list[list[fmpq]]) -> bool:
        amount, units = self.limit.limit
        most = rational(amount)
        match self.limit:
            case TotalVariation(strong=True):
                return all(_sum(abs(a - b) for a, b in zip(row, r, strict=True)) <= most for row in given)
            case TotalVariation():
                each = (_sum(abs(a - b) for a, b in zip(row, r, strict=True)) for row in given)
                return bool(_sum(p * x for p, x in zip(self._pi, each, strict=True)) <= most)
            case ChiSquare(strong=True):
                return all(_over(r, row, lambda a, b: a * a / b, most + 1) for row in given)
            case ChiSquare():
                columns = zip(*u, strict=True)
                sums = [_sum(x * x / p for x, p in zip(column, self._pi, strict=True)) for column in columns]
                return _over(sums, r, lambda a, b: a / b, most + 1)
            case HockeyStick():
                c = rational(self.limit.factor()[0])
                rows = [
                    (r if a is None else given[a], *((r, c) if b is None else (given[b], 1))) for a, b in self.pairs
                ]
                return all(
                    _sum(max(x - c * y, fmpq(0)) for x, y in zip(above, below, strict=True)) <= share * most
                    for above, below, share in rows
                )
        with ctx.workprec(BITS):
            most_nats = arb(most) * (arb(2).log() if units == "bits" else arb(1))
            if isinstance(self.limit, KL) and self.limit.strong:
                return all(_certainly(_divergence(r, row), most_nats) for row in given)
            pairs = zip(self._pi, given, strict=True)
            return _certainly(sum((arb(p) * _divergence(row, r) for p, row in pairs), arb(0)), most_nats)

    def _is_semidefinite(self, u: list[list[fmpq]], r: list[fmpq]) -> bool:
        """Whether b (diag pi - pi pi') - (M - pi pi'), M(s,s') = sum_y u u'/r, has no negative eigenvalue, by elimination.

        In balls first: where all pivots are positive for certain that is so, and exact numbers, which grow with every letter, are not
        needed.
        """
        with ctx.workprec(PIVOTS):
            if _pivots([[arb(x) for x in row] for row in u], list(map(arb, r)), list(map(arb, self._pi)), self._square):
                return True
        return _pivots(u, r, self._pi, self._square)

    @property
    def _square(self) -> fmpq:
        """b, the largest square of the correlation."""
        return rational(self.limit.limit[0])


def secret_laws(problem: DesignProblem) -> list[SecretLaw]:
    """Every law of every limit about a secret on which the inputs depend."""
    return [
        SecretLaw(j, n, constraint, law)
        for j, constraint in enumerate(problem.own_constraints)
        if isinstance(constraint, SecretLimit)
        for n, law in enumerate(constraint.laws(problem.space))
        if _tells(law)
    ]


def _tells(law: JointLaw) -> bool:
    """Whether the inputs depend on the secret: where they do not, no output tells of it, and every limit holds exactly."""
    first, *others = law.letters
    return any(law.given(s) != law.given(first) for s in others)


def _pivots(u: Sequence[Sequence[Any]], r: Sequence[Any], pi: Sequence[Any], b: fmpq) -> bool:
    """Whether elimination meets no pivot that is negative, nor 0 beside what is not; of balls, none that may be either."""
    size = len(pi) - 1  # one letter may be left out
    columns = [(x, total) for x, total in zip(zip(*u, strict=True), r, strict=True) if total != 0]
    A = [
        [
            (b * p if s == z else 0) - (b - 1) * p * pi[z] - _sum(x[s] * x[z] / total for x, total in columns)
            for z in range(size)
        ]
        for s, p in enumerate(pi[:size])
    ]
    for k in range(size):
        pivot = A[k][k]
        if not pivot > 0 and not (pivot == 0 and all(A[k][z] == 0 for z in range(k + 1, size))):
            return False
        for s in range(k + 1, size) if pivot > 0 else ():
            share = A[s][k] / pivot
            for z in range(k + 1, size):
                A[s][z] -= share * A[k][z]
    return True


def _sum(terms: Iterator[Any]) -> Any:
    """Pairwise, so that large denominators come late."""
    listed = list(terms)
    while len(listed) > 1:
        listed = [a + b for a, b in zip(listed[::2], listed[1::2], strict=False)] + listed[len(listed) & ~1 :]
    return listed[0] if listed else fmpq(0)


def _over(tops: Sequence[fmpq], bottoms: Sequence[fmpq], term: Callable[[fmpq, fmpq], fmpq], most: fmpq) -> bool:
    """Whether the sum of terms a, b is at most so much, 0 where a is 0, infinite where b alone is."""
    pairs = [(a, b) for a, b in zip(tops, bottoms, strict=True) if a]
    return all(b != 0 for _, b in pairs) and _sum(term(a, b) for a, b in pairs) <= most


def _divergence(p: Sequence[fmpq], q: Sequence[fmpq]) -> arb:
    """D(p || q) in balls; infinite where q alone is 0."""
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a]
    if any(b == 0 for _, b in pairs):
        return arb("inf")
    return sum((arb(a) * arb(a / b).log() for a, b in pairs), arb(0))


def _certainly(value: arb, most: arb) -> bool:
    return bool(value.is_finite() and value <= most)


def as_matrix(rows: Exact) -> fmpq_mat:
    """An exact mechanism for `SecretLaw.met_by`."""
    return fmpq_mat([[rational(q) for q in row] for row in rows])
