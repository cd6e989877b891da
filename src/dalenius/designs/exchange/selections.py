"""A design's limits of what is told about a secret under all laws: the selections of inputs whose capacity is limited, and proofs.

*Why selections*: I( g(X); Y | w(X) ) is the mean over the values of w of informations that are convex in the law within each cell, so
that its largest value is the capacity of the rows of one input for each value of g (docs/theory.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from dalenius.designs.exchange.secrets import ToldLaw
from dalenius.evidence import vector_text
from dalenius.evidence.lower import SelectionLine, Vector
from dalenius.evidence.upper import AdversaryLine, CellSection, ClassPart, OutputLawLeaf, UpperLine
from dalenius.information.arrays import Floats
from dalenius.information.balls import ball, rational
from dalenius.information.capacity import capacity
from dalenius.model.constraints import SecretLeakageLimit
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.model.problems.selections import Family
from dalenius.programs.secrets import SelectionPart

SPARE = Fraction(
    1, 10**10
)  # share of a limit that a mechanism leaves, so that rounded output laws prove that it is kept
HALF_SPARE = 0.5e-10  # and the share that is left once they are rounded
BITS = 192
APART = 1e-15  # nats between the ends of a capacity
DECIMALS, LEAST = 18, 1e-20  # of an output law's weights


@dataclass(frozen=True, eq=False)
class SelectionLaw(ToldLaw):
    """One selection: an input for each of some values of the secret.

    Attributes
    ----------
    number : int
        The constraint's number among the model's.
    limit : SecretLeakageLimit
    given : int
        The value of what is given.
    chosen : tuple of (value of the secret, input)
        Inputs that differ.
    inputs : int
        Of the mechanism.
    """

    number: int
    limit: SecretLeakageLimit
    given: int
    chosen: tuple[tuple[int, int], ...]
    inputs: int

    @property
    def letters(self) -> tuple[int, ...]:
        return tuple(range(len(self.chosen)))

    @cached_property
    def part(self) -> SelectionPart:
        masses = np.zeros((len(self.chosen), self.inputs))
        masses[np.arange(len(self.chosen)), [k for _, k in self.chosen]] = 1.0
        return SelectionPart(masses, self.limit.nats)

    def met_by(self, mechanism: fmpq_mat) -> bool:
        """Whether an output law proves it, with a little room."""
        listed = mechanism.tolist()
        rows = [listed[k] for _, k in self.chosen]
        if all(row == rows[0] for row in rows):
            return True
        doubles = np.array([[float(q.p) / float(q.q) for q in row] for row in rows])
        law = [rational(float(x)) for x in _law(doubles)]
        amount, units = self.limit.limit
        most = amount * (1 - SPARE)
        with ctx.workprec(BITS):
            nats = ball(most) * (arb(2).log() if units == "bits" else arb(1))
            total = sum(law, fmpq(0))
            return all(_divergence(row, law, total) <= nats for row in rows)

    def line(self, i: int, weight: str, hint: Vector) -> SelectionLine:
        letters = len(self.chosen)
        triples = tuple((a, k, v) for (a, k), v in zip(self.chosen, hint[:letters], strict=True))
        outputs = len(hint) // letters - 1
        phi = tuple(hint[letters + s * outputs : letters + (s + 1) * outputs] for s in range(letters))
        return SelectionLine(self.number, weight, self.given, triples, phi)


def selection_laws(problem: DesignProblem) -> list[SelectionLaw]:
    """Every selection of every limit that no other one of its constraint contains."""
    limits = {j: limit for j, limit in enumerate(problem.own_constraints) if isinstance(limit, SecretLeakageLimit)}
    return [
        SelectionLaw(j, limits[j], given, chosen, problem.input_count)
        for j, told in problem.told.items()
        for given, chosen in told.selections
    ]


def limit_sections(problem: DesignProblem, number: int, Q: Floats | None) -> Iterator[UpperLine]:
    """The proof that a mechanism (inputs, outputs) keeps such a limit, as lines; for None, whose rows are all one, the heading.

    A tree halves the set of inputs of one value until an output law is near enough to all that are left.
    """
    constraint = problem.own_constraints[number]
    assert isinstance(constraint, SecretLeakageLimit)
    yield AdversaryLine(number)
    if Q is None:
        return
    most, seen = constraint.nats * (1.0 - HALF_SPARE), set[Family]()
    for given, family in enumerate(problem.told[number].families):
        key = tuple(sorted(family))
        if len(family) < 2 or len({k for cell in family for k in cell}) < 2 or key in seen:
            continue
        seen.add(key)
        yield CellSection(0, given)
        yield from _tree(family, Q, most)


def _tree(family: Family, Q: Floats, most: float) -> Iterator[UpperLine]:
    """In preorder."""
    found = capacity(Q[sorted({k for cell in family for k in cell})], gap=APART)
    longest = max(range(len(family)), key=lambda i: len(family[i]))
    if found.upper <= most or len(family[longest]) == 1:
        law = np.maximum(found.output_law.round(DECIMALS), LEAST)
        yield OutputLawLeaf(vector_text(law))
        return
    members = family[longest]
    half = len(members) // 2
    yield ClassPart(longest, members[:half])
    for kept in (members[:half], members[half:]):
        yield from _tree((*family[:longest], kept, *family[longest + 1 :]), Q, most)


def _law(rows: Floats) -> Floats:
    return np.maximum(capacity(rows, gap=APART).output_law, LEAST)


def _divergence(row: list[fmpq], law: list[fmpq], total: fmpq) -> arb:
    """D( row || law / total ) in balls."""
    pairs = [(q, r) for q, r in zip(row, law, strict=True) if q]
    return sum((arb(q) * arb(q * total / r).log() for q, r in pairs), arb(0))
