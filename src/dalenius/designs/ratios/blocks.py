"""Limits of ratios as data: for every output one(y) <= c other(y), both sums of a column of the mechanism, and perhaps the reverse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from dalenius.model import DesignProblem, MinDistortion
from dalenius.model.constraints import (
    Constraint,
    LocalDPBetween,
    LocalInformationPrivacy,
    MechanismSpace,
    PointwiseLeakageLimit,
)
from dalenius.model.constraints.secret import JointLaw, laws_of
from dalenius.model.mechanism_classes import Additive
from dalenius.model.privacy import PointwiseMaximalLeakage

__all__ = ["Block", "Form", "blocks_of", "has_only_ratios"]

Form = tuple[tuple[int, Fraction], ...]  # inputs and factors: what sum of a column it is
Ratios = LocalInformationPrivacy | LocalDPBetween | PointwiseLeakageLimit
EXACT, DENSE = 3000, 2**17  # entries of a mechanism, and terms of rows, up to which exact vertices are looked for
ROOM = Fraction(1, 10**6)  # e^epsilon - 1, without which columns have no room to be repaired in


@dataclass(frozen=True, eq=False)
class Block:
    """For every output y the row one(y) - c other(y) <= 0 of a constraint, and where it has two sides other(y) - c one(y) <= 0.

    Attributes
    ----------
    constraint : int
        Its number; the row of output y and a side is number first + sides y + side of it.
    first, sides : int
    one, other : Form
    below, above : Fraction
        Rationals around c = e^epsilon.
    """

    constraint: int
    first: int
    sides: int
    one: Form
    other: Form
    below: Fraction
    above: Fraction

    def row(self, output: int, side: int) -> int:
        """The number of a row among those of the constraint."""
        return self.first + self.sides * output + side

    def pairs(self) -> Iterator[tuple[int, Form, Form]]:
        """The sides, each with what is at most c times what."""
        yield 0, self.one, self.other
        if self.sides == 2:
            yield 1, self.other, self.one


def has_only_ratios(problem: DesignProblem) -> bool:
    """Whether a large problem asks for limits of ratios alone: the columns that keep them are a cone, which must have room."""
    if not isinstance(problem, MinDistortion) or problem.adversary is not None or problem.privacy is not None:
        return False
    limits = problem.own_constraints
    if problem.objective is not None or isinstance(problem.mechanism_class, Additive):
        return False
    if not all(isinstance(limit, Ratios) for limit in limits):
        return False
    if not all(PointwiseMaximalLeakage(limit.epsilon).factor()[0] >= 1 + ROOM for limit in _ratios(limits)):
        return False
    terms = sum(limit.size(problem.space)[1] for limit in _ratios(limits))
    return problem.input_count * problem.output_count > EXACT or terms > DENSE


def _ratios(limits: tuple[Constraint, ...]) -> list[Ratios]:
    return [limit for limit in limits if isinstance(limit, Ratios)]


def blocks_of(problem: DesignProblem) -> list[Block]:
    """All rows of the problem's constraints, in the order of docs/model-format.md."""
    return [
        block
        for number, limit in enumerate(_ratios(problem.own_constraints))
        for block in _blocks(number, limit, problem.space)
    ]


def _blocks(number: int, limit: Ratios, space: MechanismSpace) -> Iterator[Block]:
    sides = 1 if isinstance(limit, PointwiseLeakageLimit) else 2
    factor = PointwiseMaximalLeakage(limit.epsilon).factor()
    for k, (one, other) in enumerate(_heads(limit, space)):
        yield Block(number, k * sides * space.outputs, sides, one, other, *factor)


def _heads(limit: Ratios, space: MechanismSpace) -> Iterator[tuple[Form, Form]]:
    """What is compared with what, whatever the output."""
    if isinstance(limit, LocalDPBetween) and limit.secret is None:
        pairs = combinations(space.possible, 2) if limit.pairs is None else limit.pairs
        yield from ((_alone(a), _alone(b)) for a, b in pairs)
    elif isinstance(limit, PointwiseLeakageLimit) and limit.secret is None:
        for reference in PointwiseMaximalLeakage(limit.epsilon, limit.priors).references(space.possible, space.law):
            assert reference.law is not None
            other = tuple(zip(reference.inputs, reference.law, strict=True))
            yield from ((_alone(x), other) for x in reference.inputs)
    else:
        priors = limit.priors if isinstance(limit, LocalInformationPrivacy) else None
        for law in laws_of(limit.secret, priors, space):
            yield from _of_secret(law, pairwise=isinstance(limit, LocalDPBetween))


def _of_secret(law: JointLaw, *, pairwise: bool) -> Iterator[tuple[Form, Form]]:
    given = [_form(law.given(s)) for s in law.letters]
    if pairwise:
        yield from combinations(given, 2)
    else:
        own = _form(law.support)
        yield from ((each, own) for each in given)


def _form(factors: Mapping[int, Fraction]) -> Form:
    return tuple(factors.items())


def _alone(x: int) -> Form:
    return ((x, Fraction(1)),)
