"""Exact requirements on a design's mechanisms, on the orbits of its inputs: rows and cones, its budget, its privacy notion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dalenius.errors import DaleniusError
from dalenius.exact import sum_of_ratios
from dalenius.information.arrays import Integers
from dalenius.model import DesignProblem
from dalenius.model.constraints import (
    RowConstraint,
    Rows,
    SecondOrderCone,
)
from dalenius.model.constraints.base import Affine
from dalenius.model.constraints.privacy import as_limit

BUDGET, PRIVACY = -1, -2  # numbers of what is no constraint of the model's list
MAX_TERMS = 2**19  # that can be handled exactly

Terms = dict[int, Fraction]
Member = tuple[int, int]  # a constraint's number and the row's index in it


@dataclass(frozen=True, eq=False)
class Row:
    """sum of terms[i] q_i <= end, or = end, over the entries q of a mechanism's variable on orbits.

    Attributes
    ----------
    members : list of (constraint, row)
        The rows of the problem that it stands for: those that are alike on orbits.
    """

    terms: Terms
    end: Fraction
    equal: bool
    members: list[Member] = field(default_factory=list)

    def excess(self, q: Sequence[Fraction]) -> Fraction:
        """By how much the left side is above the right one."""
        used = ((c, q[i]) for i, c in self.terms.items() if q[i])
        return sum_of_ratios((c.numerator * x.numerator, c.denominator * x.denominator) for c, x in used) - self.end

    def is_idle(self, outputs: int) -> bool:
        """True if every mechanism meets it: at most the largest factor of each of its laws is on the left side."""
        by_law = dict[int, list[Fraction]]()
        for i, c in self.terms.items():
            by_law.setdefault(i // outputs, []).append(c)
        most = sum((max(c) if len(c) == outputs else max(*c, Fraction(0)) for c in by_law.values()), Fraction(0))
        return not self.equal and most <= self.end


@dataclass(frozen=True, eq=False)
class Cone:
    """The norm of parts 1, 2, ... is at most part 0; each part has terms and a constant."""

    number: int
    parts: tuple[tuple[Terms, Fraction], ...]

    def values(self, q: Sequence[Fraction]) -> list[Fraction]:
        return [sum((c * q[i] for i, c in terms.items()), constant) for terms, constant in self.parts]

    def met_by(self, q: Sequence[Fraction]) -> bool:
        """Exactly."""
        bound, *members = self.values(q)
        return bound >= 0 and sum((value**2 for value in members), Fraction(0)) <= bound**2


@dataclass(frozen=True, eq=False)
class Folding:
    """Entry of the variable on orbits that an input and an output share: numbers[orbit[x], y]."""

    orbit: Integers
    numbers: Integers

    @property
    def outputs(self) -> int:
        """Number of entries of a law."""
        return self.numbers.shape[1]

    def terms(self, listed: Mapping[tuple[int, int], Fraction]) -> Terms:
        """Terms of inputs and outputs, summed where they are one entry."""
        found: Terms = {}
        for (x, y), c in listed.items():
            i = int(self.numbers[self.orbit[x], y])
            found[i] = found[i] + c if i in found else c
        return {i: c for i, c in found.items() if c}


def numbered_rows(problem: DesignProblem) -> dict[int, Rows]:
    """The rows of the problem's constraints by number; those of its privacy notion; its budget of distortion.

    Raises
    ------
    DaleniusError
        If they have more terms than can be handled exactly.
    """
    with_rows: dict[int, RowConstraint] = problem.numbered(RowConstraint)
    if problem.privacy is not None:
        limit = as_limit(problem.privacy)
        if limit is None:
            raise DaleniusError(
                "constraints: beside a privacy notion of your own no constraints can be handled; state it as constraints"
            )
        with_rows[PRIVACY] = limit
    terms = sum(constraint.size(problem.space)[1] for constraint in with_rows.values())
    if terms > MAX_TERMS:
        raise DaleniusError(
            f"nothing can be computed about this design: its constraints have {terms} terms, at most {MAX_TERMS} are handled exactly; "
            "coarsen the query, or list fewer pairs"
        )
    found = {j: constraint.rows(problem.space) for j, constraint in with_rows.items()}
    if problem.distortion_budget is not None:
        cost = problem.exact_cost()
        listed = tuple((x, y, p * d) for x, p in enumerate(problem.exact_input_law()) for y, d in enumerate(cost[x]))
        found[BUDGET] = Rows((problem.distortion_budget,), False, (listed,))
    return found


def rows_of(numbered: Mapping[int, Rows], folding: Folding) -> list[Row]:
    """All rows on orbits, those that are alike as one; without those that every mechanism meets."""
    found: dict[tuple[object, ...], Row] = {}
    for j, rows in numbered.items():
        for r, (listed, end) in enumerate(zip(rows.below, rows.ends, strict=True)):
            row = Row(folding.terms(listed), end, rows.equal)
            key = rows.equal, end, frozenset(row.terms.items())
            found.setdefault(key, row).members.append((j, r))
    return [row for row in found.values() if not row.is_idle(folding.outputs)]


def cones_of(problem: DesignProblem, folding: Folding) -> list[Cone]:
    """The second-order cones on orbits."""
    return [
        Cone(j, tuple(_part(part, folding) for part in (constraint.bound, *constraint.norm)))
        for j, constraint in problem.numbered(SecondOrderCone).items()
    ]


def _part(part: Affine, folding: Folding) -> tuple[Terms, Fraction]:
    return folding.terms(part.summed), part.constant
