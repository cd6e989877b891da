"""The linear program of limits of ratios: every sum of a column is a variable of its own, so that rows have two terms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import lcm

import numpy as np
from scipy.optimize import OptimizeResult
from scipy.sparse import csr_matrix, vstack

from dalenius._prove import Proved
from dalenius.designs.claims import (
    NOTHING,
    DesignProposer,
    MadeUpper,
    Rows,
    distortion_unit,
    dual_lines,
    rounded_lowers,
)
from dalenius.designs.lp import minimised
from dalenius.designs.rational import DENOMINATOR, rational_rows, weight_texts
from dalenius.evidence import CERTAIN, Lower, short_text
from dalenius.information.arrays import Floats
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
from dalenius.outcome import ConstraintPrice
from dalenius.results import DesignResult
from dalenius.search import Clock, Run

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
    if problem.adversary is not None or problem.privacy is not None:
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


FINE = 10**18  # steps that what is added to a column is rounded in
USED = 1e-12  # share of the largest multiplier below which one is 0

Weights = list[list[int]]


@dataclass(frozen=True, eq=False)
class Solved:
    """What a solver's answer is worth.

    Attributes
    ----------
    weights : a mechanism that meets everything exactly, as whole weights
    bound : float
        Of the optimum, with the multipliers `prices` of rows, by (block, side): (outputs,).
    size : float
        Of what is summed in it.
    """

    weights: Weights
    bound: float
    prices: dict[tuple[int, int], Floats]
    size: float


class RatioProgram:
    """Minimise sum p(x) d(x,y) Q(x,y) over mechanisms Q with one(y) <= c other(y) for every output y and every block.

    Every block is about one column at a time and homogeneous, so the columns that meet all of them are a convex cone, which constant
    columns are inside of. So a mechanism that misses rows a little is repaired column by column: a constant is added to the column,
    and then all columns are divided by one number.

    Parameters
    ----------
    problem : MinDistortion
        With limits of ratios alone (`has_only_ratios`).
    """

    def __init__(self, problem: MinDistortion) -> None:
        self.problem, self.blocks = problem, blocks_of(problem)
        self.inputs, self.outputs = problem.input_count, problem.output_count
        self.cost = problem.input_law[:, None] * problem.cost
        forms = {form: None for block in self.blocks for form in (block.one, block.other)}
        self.forms: list[Form] = list(forms)
        self.place = {form: k for k, form in enumerate(self.forms)}

    @cached_property
    def matrix(self) -> csr_matrix:
        """The forms in doubles: (forms, inputs)."""
        entries = [(k, x, float(c)) for k, form in enumerate(self.forms) for x, c in form]
        k, x, c = zip(*entries, strict=True)
        return csr_matrix((c, (k, x)), shape=(len(self.forms), self.inputs))

    # ------------------------------------------------------------ in doubles

    def solve(self, clock: Clock) -> Solved | None:
        """A mechanism and a bound; None if no solver answered in time."""
        found = self._asked(clock)
        if found is None:
            return None
        q = np.maximum(found.x[: self.cost.size].reshape(self.cost.shape), 0.0)
        multipliers = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0) * self._scale
        prices, start = dict[tuple[int, int], Floats](), 0
        least = USED * multipliers.max(initial=0.0)
        for k, block in enumerate(self.blocks):
            for side, _, _ in block.pairs():
                own = multipliers[start : start + self.outputs]
                prices[k, side] = np.where(own > least, own, 0.0)
                start += self.outputs
        priced = self.priced(prices)
        size = float(np.abs(priced - self.cost).max(initial=0.0)) * self.inputs
        return Solved(self.repaired(q), float((self.cost + priced).min(axis=1).sum()), prices, size)

    @property
    def _scale(self) -> float:
        """A power of 2 of the size of the largest cost."""
        largest = float(self.cost.max())
        return math.ldexp(1.0, math.frexp(largest)[1]) if largest else 1.0

    def _asked(self, clock: Clock) -> OptimizeResult | None:
        """Variables: the entries row by row, then the forms' values, form by form."""
        n, m, k = self.inputs, self.outputs, len(self.forms)
        entries = np.arange(n * m).reshape(n, m)
        sums = csr_matrix((np.ones(n * m), (np.arange(n * m) // m, np.arange(n * m))), shape=(n, n * m + k * m))
        form, x = self.matrix.nonzero()
        factors = np.asarray(self.matrix[form, x]).reshape(-1)
        rows = (form[:, None] * m + np.arange(m)).reshape(-1)
        values = csr_matrix(
            (
                np.concatenate([np.repeat(factors, m), -np.ones(k * m)]),
                (
                    np.concatenate([rows, np.arange(k * m)]),
                    np.concatenate([entries[x].reshape(-1), n * m + np.arange(k * m)]),
                ),
            ),
            shape=(k * m, n * m + k * m),
        )
        given = {
            "A_ub": self._rows(n * m + k * m),
            "b_ub": np.zeros(sum(block.sides for block in self.blocks) * m),
            "A_eq": vstack([sums, values]).tocsr(),
            "b_eq": np.concatenate([np.ones(n), np.zeros(k * m)]),
        }
        costs = np.concatenate([self.cost.reshape(-1) / self._scale, np.zeros(k * m)])
        return minimised(costs, clock, **given)

    def _rows(self, width: int) -> csr_matrix:
        m, first = self.outputs, self.cost.size
        ones, others, factors = [], [], []
        for block in self.blocks:
            for _, one, other in block.pairs():
                ones.append(self.place[one])
                others.append(self.place[other])
                factors.append(float(block.above))
        count = len(ones) * m
        columns = (first + np.array([ones, others])[:, :, None] * m + np.arange(m)).reshape(-1)
        values = np.concatenate([np.ones(count), np.repeat(-np.array(factors), m)])
        return csr_matrix((values, (np.tile(np.arange(count), 2), columns)), shape=(count, width))

    def priced(self, prices: dict[tuple[int, int], Floats]) -> Floats:
        """What multipliers add to every entry: (inputs, outputs)."""
        by_form = np.zeros((len(self.forms), self.outputs))
        for k, block in enumerate(self.blocks):
            for side, one, other in block.pairs():
                by_form[self.place[one]] += prices[k, side]
                by_form[self.place[other]] -= float(block.above) * prices[k, side]
        return np.asarray(self.matrix.T @ by_form)

    # ------------------------------------------------------------ exactly

    def repaired(self, q: Floats) -> Weights:
        """A mechanism near q that meets everything: whole weights, as many in each row."""
        whole = [[int(entry * DENOMINATOR) for entry in row] for row in rational_rows(q)]
        missing, unit = [Fraction(0)] * self.outputs, FINE // DENOMINATOR
        for block, excesses in self._excesses(whole):
            for y, excess in enumerate(excesses):
                if excess > 0:  # a constant t more in a column is room of (c - 1) t more
                    missing[y] = max(missing[y], excess / (block.below - 1))
        added = [math.ceil(more * FINE) for more in missing]
        return [[entry * unit + more for entry, more in zip(row, added, strict=True)] for row in whole]

    def slack(self, weights: Weights) -> dict[int, Fraction]:
        """The least room that a mechanism leaves in the rows of each constraint."""
        least = dict[int, Fraction]()
        for block, excesses in self._excesses(weights):
            room = -max(excesses)
            least[block.constraint] = min(least.get(block.constraint, room), room)
        return least

    def _excesses(self, weights: Weights) -> Iterator[tuple[Block, list[Fraction]]]:
        """Of each block and side by how much one(y) is above c other(y), for every output."""
        values = [self._values(form, weights) for form in self.forms]
        for block in self.blocks:
            for _, one, other in block.pairs():
                pairs = zip(values[self.place[one]], values[self.place[other]], strict=True)
                yield block, [a - block.below * b for a, b in pairs]

    def _values(self, form: Form, weights: Weights) -> list[Fraction]:
        """A form of each column, exactly: whole numbers are summed, over one denominator."""
        common = math.lcm(*(c.denominator for _, c in form))
        factors = [(x, c.numerator * (common // c.denominator)) for x, c in form]
        sums = [sum(f * weights[x][y] for x, f in factors) for y in range(self.outputs)]
        return [Fraction(total, common * sum(weights[0])) for total in sums]


# Designs under limits of ratios alone as a proposer: multipliers from below, a repaired mechanism from above.


TINY = 1e-6  # share of the largest price below which one counts as none


class RatioDesign(DesignProposer[MadeUpper]):
    """A running design that `has_only_ratios`: a linear program in doubles, whose ends are repaired.

    Parameters
    ----------
    problem : MinDistortion
    search : Run
    """

    problem: MinDistortion

    def __init__(self, problem: DesignProblem, search: Run) -> None:
        assert isinstance(problem, MinDistortion)
        self.problem, self.search, self.program = problem, search, RatioProgram(problem)
        self.solved: Solved | None = None

    def run(self) -> None:
        """Solve."""
        self.solved = self.program.solve(self.search.clock)
        if self.solved is not None:
            self.rounds, upper = 1, float(self.problem.distortions.of(self._rows(self.solved)))
            rows = sum(map(len, self._prices.values()))
            self.search.clock.tell("ratios", max(self.solved.bound, 0.0), upper, rows, rounds=1, now=True)

    @staticmethod
    def _rows(solved: Solved) -> Rows:
        return [[Fraction(weight, sum(row)) for weight in row] for row in solved.weights]

    @cached_property
    def _prices(self) -> Mapping[int, Mapping[int, float]]:
        """By constraint and row, those that are not 0."""
        found: dict[int, dict[int, float]] = {}
        for (k, side), own in {} if self.solved is None else self.solved.prices.items():
            block = self.program.blocks[k]
            of_rows = {block.row(y, side): float(own[y]) for y in np.flatnonzero(own).tolist()}
            found.setdefault(block.constraint, {}).update(of_rows)
        return found

    # ------------------------------------------------------------ what is proposed

    def lowers(self) -> Iterator[Lower]:
        """The bound of the multipliers, rounded downward ever further; at last 0."""
        found, size = (0.0, 0.0) if self.solved is None else (max(self.solved.bound, 0.0), self.solved.size)
        prices = {j: {r: short_text(x) for r, x in rows.items()} for j, rows in self._prices.items() if rows}
        yield from rounded_lowers(self.problem, found, dual_lines(prices=prices) if found > 0.0 else NOTHING, size)

    def uppers(self) -> Iterator[MadeUpper]:
        """What the mechanism distorts; at last what one that releases nothing does."""
        if self.solved is not None:
            yield self._upper(self._rows(self.solved), 0)
        yield self._upper(self.problem.distortions.constant, CERTAIN)

    def _upper(self, rows: Rows, candidate: int) -> MadeUpper:
        end, unit = self.problem.distortions.of(rows), distortion_unit(self.problem)
        return MadeUpper(value=end, unit=unit, candidate=candidate, lines=(), mechanism=weight_texts(rows), rows=rows)

    def result(self, proved: Proved[Lower, MadeUpper]) -> DesignResult:
        """The mechanism, the proved interval, and what each constraint costs."""
        rows = proved.upper_end.rows
        assert rows is not None
        prices = {} if proved.lower_end.candidate == CERTAIN else self._prices
        return self.answer(proved, rows, constraints=tuple(self._of_constraints(prices, rows)))

    def _of_constraints(self, prices: Mapping[int, Mapping[int, float]], rows: Rows) -> Iterator[ConstraintPrice]:
        """One entry a constraint."""
        common = lcm(*(entry.denominator for row in rows for entry in row))
        slack = self.program.slack([[int(entry * common) for entry in row] for row in rows])
        totals = {j: sum(own.values()) for j, own in prices.items()}
        least = TINY * max(totals.values(), default=0.0)
        for j, limit in enumerate(self.problem.own_constraints):
            total, own = totals.get(j, 0.0), prices.get(j, {})
            kept = tuple(sorted(pair for pair in own.items() if pair[1] > least))
            yield ConstraintPrice(j, limit.kind, total if total > least else 0.0, slack[j], kept)
