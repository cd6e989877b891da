"""A design's limits about secrets: their laws as parts of its programs, exactly for what is handed out, and how tangents are written.

*Why selections*: I( g(X); Y | w(X) ) is the mean over the values of w of informations that are convex in the law within each cell, so
that its largest value is the capacity of the rows of one input for each value of g (docs/theory.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from dalenius.evidence import vector_text
from dalenius.evidence.lower import SelectionLine, TangentLine, Vector
from dalenius.evidence.upper import AdversaryLine, CellSection, ClassPart, OutputLawLeaf, UpperLine
from dalenius.information.arrays import Floats
from dalenius.information.balls import ball, rational
from dalenius.information.capacity import capacity
from dalenius.model.constraints import JointLaw, SecretLeakageLimit, SecretLimit
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.model.secret import Family
from dalenius.programs.secret_parts import PARTS
from dalenius.programs.secrets import NEAREST, RARELY, SecretPart, SelectionPart, Told

BITS = 192
HALF_SPARE = 0.5e-10  # share of a limit that is left to what rounded output laws prove
DECIMALS = 18  # of an output law's weights


@dataclass(frozen=True, eq=False)
class ToldLaw(ABC):
    """One of the convex measures that a constraint limits.

    Attributes
    ----------
    number : int
        The constraint's, among the model's.
    limit : SecretLimit or SecretLeakageLimit
    """

    number: int
    limit: SecretLimit | SecretLeakageLimit

    @property
    @abstractmethod
    def masses(self) -> Sequence[Sequence[Fraction]]:
        """P(s,x) of the letters that parts have rows for, or what stands for it."""

    @property
    @abstractmethod
    def part(self) -> SecretPart:
        """For programs."""

    @abstractmethod
    def line(self, i: int, weight: str, hint: Vector) -> TangentLine | SelectionLine:
        """A tangent of the part, as a certificate has it; its weight and its hint are given as texts."""

    @cached_property
    def _exactly(self) -> fmpq_mat:
        return as_matrix(self.masses)

    @cached_property
    def _pi(self) -> list[fmpq]:
        return [rational(sum(row, Fraction(0))) for row in self.masses]

    def met_by(self, mechanism: fmpq_mat) -> bool:
        """True if a mechanism keeps the limit; where logarithms are in it, certainly so."""
        told = Told((self._exactly * mechanism).tolist(), self._pi)
        if all(row == told.given[0] for row in told.given):
            return True  # independent: all of them are 0
        amount, units = self.limit.limit
        with ctx.workprec(BITS):
            nats = ball(amount) * (arb(2).log() if units == "bits" else arb(1))
            return self.part.kept(told, nats if units else rational(amount))


@dataclass(frozen=True, eq=False)
class SecretLaw(ToldLaw):
    """One law of a limit about a secret: number `law` of it."""

    law: int
    joint: JointLaw

    @property
    def masses(self) -> Sequence[Sequence[Fraction]]:
        return [self.joint.masses[s] for s in self.joint.letters]

    @cached_property
    def part(self) -> SecretPart:
        assert isinstance(self.limit, SecretLimit)
        return PARTS[self.limit.kind](np.array(self.masses, dtype=float), self.limit.limit_in_doubles, self.limit)

    def line(self, i: int, weight: str, hint: Vector) -> TangentLine:
        about, written = self.part.written(i, hint, self.joint.letters, len(self.joint.pi))
        return TangentLine(self.number, self.law, weight, about, written)


@dataclass(frozen=True, eq=False)
class SelectionLaw(ToldLaw):
    """One selection, where a value is given: an input for each of some values of the secret, (value, input); inputs differ."""

    limit: SecretLeakageLimit
    given: int
    chosen: tuple[tuple[int, int], ...]
    inputs: int  # of the mechanism

    @property
    def masses(self) -> Sequence[Sequence[Fraction]]:
        return [[Fraction(int(x == k)) for x in range(self.inputs)] for _, k in self.chosen]

    @cached_property
    def part(self) -> SecretPart:
        return SelectionPart(np.array(self.masses, dtype=float), self.limit.nats)

    def line(self, i: int, weight: str, hint: Vector) -> SelectionLine:
        letters = len(self.chosen)
        triples = tuple((a, k, v) for (a, k), v in zip(self.chosen, hint[:letters], strict=True))
        outputs = len(hint) // letters - 1
        phi = tuple(hint[letters + s * outputs : letters + (s + 1) * outputs] for s in range(letters))
        return SelectionLine(self.number, weight, self.given, triples, phi)


def told_laws(problem: DesignProblem) -> list[ToldLaw]:
    """Every law of every limit about a secret on which the inputs depend, then every selection that no other one contains."""
    found = list[ToldLaw]()
    for j, limit in problem.numbered(SecretLimit).items():
        found += [SecretLaw(j, limit, n, law) for n, law in enumerate(limit.laws(problem.space)) if _tells(law)]
    for j, most in problem.numbered(SecretLeakageLimit).items():
        found += [SelectionLaw(j, most, *each, problem.input_count) for each in problem.told[j].selections]
    return found


def _tells(law: JointLaw) -> bool:
    """True if the inputs depend on the secret: where they do not, no output reveals of it, and every limit holds exactly."""
    first, *others = law.letters
    return any(law.given(s) != law.given(first) for s in others)


def as_matrix(rows: Sequence[Sequence[Fraction]]) -> fmpq_mat:
    """An exact mechanism for `ToldLaw.met_by`."""
    return fmpq_mat([[rational(q) for q in row] for row in rows])


def limit_sections(
    problem: DesignProblem, number: int, limit: SecretLeakageLimit, Q: Floats | None
) -> Iterator[UpperLine]:
    """The proof that a mechanism (inputs, outputs) keeps such a limit, as lines; for None, whose rows are all one, the heading.

    A tree halves the set of inputs of one value until an output law is near enough to all that are left.
    """
    yield AdversaryLine(number)
    if Q is None:
        return
    most, seen = limit.nats * (1.0 - HALF_SPARE), set[Family]()
    for given, family in enumerate(problem.told[number].families):
        key = tuple(sorted(family))
        if len(family) < 2 or len({k for cell in family for k in cell}) < 2 or key in seen:
            continue
        seen.add(key)
        yield CellSection(0, given)
        yield from _tree(family, Q, most)


def _tree(family: Family, Q: Floats, most: float) -> Iterator[UpperLine]:
    """In preorder."""
    found = capacity(Q[sorted({k for cell in family for k in cell})], gap=NEAREST)
    longest = max(range(len(family)), key=lambda i: len(family[i]))
    if found.upper <= most or len(family[longest]) == 1:
        law = np.maximum(found.output_law.round(DECIMALS), RARELY)
        yield OutputLawLeaf(vector_text(law))
        return
    members = family[longest]
    half = len(members) // 2
    yield ClassPart(longest, members[:half])
    for kept in (members[:half], members[half:]):
        yield from _tree((*family[:longest], kept, *family[longest + 1 :]), Q, most)
