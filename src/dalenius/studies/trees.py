"""Designs of two releases, of which the second one's noise may depend on the first answer (docs/theory.md, theorem of trees)."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from dalenius._solve import solve
from dalenius.alternating import AlternatingResult, Block, Settings, Step, alternate
from dalenius.alternation import Alternation
from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction
from dalenius.information.arrays import Floats
from dalenius.intervals import interval_text
from dalenius.model import MinLeakage
from dalenius.model.adversaries import Adversary
from dalenius.model.constraints import Constraint, DistortionBudget, Linear
from dalenius.model.distortions import Distortion, DistortionMatrix
from dalenius.model.in_words import as_part
from dalenius.model.laws import Law, Uniform
from dalenius.model.mechanisms import Adaptive, Channel
from dalenius.model.problems.design_problem import MAX_CONSTRAINTS
from dalenius.model.queries import Joint, Query, Sum
from dalenius.model.records import Records
from dalenius.notebook import in_brief
from dalenius.outcome import Scope
from dalenius.results import DesignResult
from dalenius.search import Clock

Rows = list[list[Fraction]]
# of each value of the first query the ends of each answer's probability
_Box = tuple[tuple[tuple[Fraction, Fraction], ...], ...]
DIGITS = 10**12  # denominator of what one stage is given of the other
TINY = Fraction(1, 10**5)  # probabilities that equations are badly conditioned by
MOVED = 1e-3  # by which a stage must differ to be taken where it is as good
SIDEWAYS = 4  # such steps at most
SWEEPS = 40


@dataclass(frozen=True)
class Stage:
    """A release of a tree: its query, and how wrong it may be on average.

    Parameters
    ----------
    query : Count, Sum, Parity, ModularSum or Threshold
    distortion : Distortion
        On the query's values; it says which outputs there are.
    max_distortion : number or str
        Bound on its expectation.
    """

    query: Query | str
    distortion: Distortion | str
    max_distortion: Number


@dataclass(frozen=True, kw_only=True)
class TreeDesign:
    """Two releases that leak little together, and a bound on what any such two leak at least.

    Attributes
    ----------
    lower : float
        Every tree within the budgets leaks at least so much, in nats, by the certificates of `bounds`.
    upper : float
        This one leaks at most so much, by the certificate of `found`.
    query : Joint
    mechanism : Adaptive
        For `WorstCaseLeakage` with this query, and exactly the mechanism of `found`.
    scope : Scope
        GLOBAL where the interval is as narrow as was asked; BLOCKWISE where no stage alone can gain more than the gap; or FEASIBLE.
    bounds : tuple of (MinLeakage, DesignResult)
        Convex designs, one for each box of first stages, to be verified one by one: no tree leaks less than the least of them.
    found : DesignResult
        The design of the stage that moved last, with the proof of what it leaks.
    alternation : Alternation or None
        The turns of both stages; None where none was needed.
    """

    __repr__ = in_brief

    lower: float
    upper: float
    query: Joint
    mechanism: Adaptive
    scope: Scope
    bounds: tuple[tuple[MinLeakage, DesignResult], ...] = field(repr=False)
    found: DesignResult = field(repr=False)
    alternation: Alternation | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / self.upper if self.upper else 0.0

    def __str__(self) -> str:
        return f"{interval_text(self.lower, self.upper)} nats, least leakage of two releases ({self.scope.value})"


def design_tree(
    records: Records,
    first: Stage,
    second: Stage,
    adversary: Adversary | str,
    *,
    law: Law | None = None,
    adaptive: bool = True,
    gap: float = 2e-3,
    boxes: int = 1,
    time_limit: float | None = 120.0,
) -> TreeDesign:
    """Design a release, and for each of its answers the noise of a second one, that leak least together.

    W(y_1, y_2 | x) = Q_1(y_1 | f_1(x)) Q_2(y_2 | f_2(x), y_1) is to have the least max over records and priors of I(X_i; Y_1, Y_2),
    with E d_1(f_1, Y_1) and E d_2(f_2, Y_2) within their budgets. Given one stage, the other is a convex design with linear equations,
    so that both take turns (`dalenius.alternating`). All W whose first answer depends on f_1 alone are one convex design, too, which
    bounds every tree; where f_1 is a function of f_2 it is the best tree itself.

    Parameters
    ----------
    records : Records
    first, second : Stage
    adversary : Adversary or str
        As in `MinLeakage`: an entropy bound, independent records, households, listed priors, classes of laws.
    law : Law, optional
        Of the true data, over which distortions are averaged; uniform by default.
    adaptive : bool
        False: the second release's noise does not depend on the first answer.
    gap, time_limit
        Of every design, as in `solve`; seconds in all.
    boxes : int
        Into how many boxes of first stages to cut what bounds the trees from below, until the gap is closed. Where f_1 is a function
        of f_2, and the noise may depend on the answer, one is enough.

    Returns
    -------
    TreeDesign

    Raises
    ------
    InputError
        If the parts do not fit, a budget is negative, or there are more than 1000 equations.

    >>> import dalenius as dl
    >>> anybody = Stage("threshold 1", "hamming", "1/10")
    >>> how_many = Stage("count", "absolute", "2/5")
    >>> print(design_tree(dl.Records(2, alphabet=2), anybody, how_many, "product_priors"))
    0.2742... .. 0.2742... nats, least leakage of two releases (global)
    """
    scheme = _Scheme(
        records, (first, second), as_part(Adversary, adversary, "adversary"), law, adaptive, gap, time_limit
    )
    bound = scheme.best(scheme.any_tree(), scheme.budget)
    if bound.mechanism is None:
        raise InputError(f"max_distortion: expected budgets that two releases can meet: {bound}")
    if scheme.exact:
        return scheme.answer((bound,), bound.lower, _Trees(*scheme.stages(bound), bound), None)
    result = scheme.alternated(scheme.turn("second", *scheme.stages(bound)))
    search = _Boxes(scheme, bound, result.state)
    search.run(boxes)
    if search.state is not result.state:
        result = scheme.alternated(search.state)
    return scheme.answer(search.bounds, search.lower, result.state, result.summary())


@dataclass(frozen=True)
class _Trees:
    """Both stages, and the design that has them.

    Attributes
    ----------
    first : (values of f_1, outputs)
    second : (outputs of the first, values of f_2, outputs)
    """

    first: Rows
    second: list[Rows]
    found: DesignResult


class _Scheme:
    """Trees of two releases, cut into their stages. Mechanisms are matrices from a sum that says both queries' values."""

    monotone, maximises = True, False
    needed: Collection[str] = ("first", "second")

    def __init__(
        self,
        records: Records,
        stages: tuple[Stage, Stage],
        adversary: Adversary,
        law: Law | None,
        adaptive: bool,
        gap: float,
        time_limit: float | None,
    ) -> None:
        self.records, self.adversary, self.law = records, adversary, law or Uniform()
        self.adaptive, self.gap = adaptive, gap
        self.asked = dict[int, tuple[MinLeakage, DesignResult]]()
        self.clock = Clock(math.inf if time_limit is None else time_limit)
        queries = [as_part(Query, stage.query, "query") for stage in stages]
        self.query = Joint(*queries).of_records(records)
        self.query.check(records)
        self.query.check_values(records)
        self.codes = Sum([list(self.query.contribution(i, size)) for i, size in enumerate(records.alphabets)])
        self.values = [query.values(records) for query in queries]
        self.at = self.query._places(self.codes.values(records)).tolist()
        distortions = [as_part(Distortion, stage.distortion, "distortion") for stage in stages]
        self.costs = [_costs(distortion, values) for distortion, values in zip(distortions, self.values, strict=True)]
        self.limits = [as_fraction(stage.max_distortion, "max_distortion") for stage in stages]
        if min(self.limits) < 0:
            raise InputError(f"max_distortion: expected at least 0, got {min(self.limits)}")
        self.outputs = [len(costs[0]) for costs in self.costs]
        self.pairs = list(itertools.product(*map(range, self.outputs)))
        self.blocks: Sequence[Block[_Trees]] = [_Block("first", self), _Block("second", self)]

    @property
    def exact(self) -> bool:
        """True if the first query's value is a function of the second's, and the noise may depend on it."""
        return self.adaptive and len({b for _, b in self.at}) == len({(a, b) for a, b in self.at})

    # ------------------------------------------------------------ designs with equations

    def best(self, equations: Iterator[Constraint], *more: Constraint) -> DesignResult:
        """The best mechanism with these equations and within the budgets; its answer."""
        constraints = [*equations, *more]
        if len(constraints) > MAX_CONSTRAINTS:
            raise InputError(
                f"stages: {len(self.at)} values of both queries and {len(self.pairs)} pairs of outputs make {len(constraints)} "
                f"equations; at most {MAX_CONSTRAINTS} can be handled: coarsen the queries, or the outputs"
            )
        asked = MinLeakage(
            records=self.records,
            query=self.codes,
            distortion=DistortionMatrix([[self.costs[1][b][y] for _, y in self.pairs] for _, b in self.at]),
            max_distortion=self.limits[1],
            adversary=self.adversary,
            law=self.law,
            constraints=constraints,
        )
        left = self.clock.remaining
        found = solve(asked, gap=self.gap, time_limit=None if math.isinf(left) else max(left, 1e-2))
        assert isinstance(found, DesignResult)
        self.asked[id(found)] = asked, found
        return found

    @cached_property
    def budget(self) -> DistortionBudget:
        """The first stage's."""
        costs = DistortionMatrix([[self.costs[0][a][y] for y, _ in self.pairs] for a, _ in self.at])
        return DistortionBudget(costs, self.limits[0])

    def _of(self, first: int) -> list[int]:
        """The pairs with this answer of the first release."""
        return [first * self.outputs[1] + y for y in range(self.outputs[1])]

    def _tied(
        self, x: int, other: int, outputs: Sequence[int], times: Fraction, of_other: Fraction, others: Sequence[int]
    ) -> Linear:
        """`times` W(x, outputs) is as much as `of_other` W(other, others)."""
        return Linear([*((x, y, times) for y in outputs), *((other, y, -of_other) for y in others)], equals=0)

    def any_tree(self) -> Iterator[Constraint]:
        """Equations of every tree: the first answer depends on its query alone, not adaptive the second, too, and both on both."""
        known = dict[tuple[str, object], int]()
        one = Fraction(1)
        margins = [("first", [self._of(y) for y in range(self.outputs[0] - 1)])]
        if not self.adaptive:
            seconds = [list(range(y, len(self.pairs), self.outputs[1])) for y in range(self.outputs[1] - 1)]
            margins.append(("second", seconds))
        margins.append(("both", [[k] for k in range(len(self.pairs) - 1)]))
        for x, place in enumerate(self.at):
            for (name, groups), key in zip(margins, (*place[: len(margins) - 1], tuple(place)), strict=True):
                if (other := known.setdefault((name, key), x)) != x:
                    yield from (self._tied(x, other, group, one, one, group) for group in groups)

    def inside(self, box: _Box) -> Iterator[Constraint]:
        """Inequalities of every tree whose first stage is in a box: W is an entry of it, times a factor that other entries share."""
        for x, (a, b) in enumerate(self.at):
            others = [other for other, (_, c) in enumerate(self.at) if c == b and other != x]
            for y, (low, high) in enumerate(box[a]):
                yield Linear([(x, k, 1) for k in self._of(y)], at_most=high)
                yield Linear([(x, k, -1) for k in self._of(y)], at_most=-low)
                for z, k in enumerate(self._of(y)):
                    if self.adaptive:
                        for other in others if low else ():
                            above = box[self.at[other][0]][y][1]
                            yield Linear([(other, k, low), (x, k, -above)], at_most=0)
                    else:
                        answers = range(z, len(self.pairs), self.outputs[1])
                        yield Linear([(x, j, low - (j == k)) for j in answers], at_most=0)
                        yield Linear([(x, j, (j == k) - high) for j in answers], at_most=0)

    def given_first(self, rows: Rows) -> Iterator[Constraint]:
        """The first stage is this one, and the second depends on its query and the answer alone."""
        known = dict[object, tuple[int, int]]()
        for x, (a, b) in enumerate(self.at):
            for y in range(self.outputs[0] - 1):
                yield Linear([(x, k, 1) for k in self._of(y)], equals=rows[a][y])
            for y in (y for y in range(self.outputs[0]) if rows[a][y]):
                other, z = known.setdefault((b, y) if self.adaptive else b, (x, y))
                if (other, z) != (x, y):
                    pairs = zip(self._of(y)[:-1], self._of(z)[:-1], strict=True)
                    share, mine = rows[self.at[other][0]][z], rows[a][y]
                    yield from (self._tied(x, other, [k], share, mine, [there]) for k, there in pairs)

    def given_second(self, rows: list[Rows]) -> Iterator[Constraint]:
        """The second stage is this one, and the first depends on its query alone."""
        known = dict[int, int]()
        for x, (a, b) in enumerate(self.at):
            if (other := known.setdefault(a, x)) != x:
                groups = [self._of(y) for y in range(self.outputs[0] - 1)]
                yield from (self._tied(x, other, group, Fraction(1), Fraction(1), group) for group in groups)
            for y, z in itertools.product(range(self.outputs[0]), range(self.outputs[1] - 1)):
                terms = [(x, k, int(w == z) - rows[y][b][z]) for w, k in enumerate(self._of(y))]
                if terms := [term for term in terms if term[2]]:
                    yield Linear(terms, equals=0)

    # ------------------------------------------------------------ stages

    def stages(self, found: DesignResult) -> tuple[Rows, list[Rows]]:
        """Both stages of a mechanism that is a tree, exactly; what never happens has the cheapest output."""
        assert found.mechanism is not None
        first, second = ([_cheapest(costs) for costs in self.costs[s]] for s in (0, 1))
        after = [[list(row) for row in second] for _ in range(self.outputs[0])]
        for (a, b), row in zip(self.at, found.mechanism.rows, strict=True):
            parts = [[row[k] for k in self._of(y)] for y in range(self.outputs[0])]
            first[a] = [sum(part, Fraction(0)) for part in parts]
            for y, (part, total) in enumerate(zip(parts, first[a], strict=True)):
                for told in (y,) if self.adaptive else range(self.outputs[0]):
                    if total:
                        after[told][b] = [p / total for p in part]
        return first, after

    def alternated(self, state: _Trees) -> AlternatingResult[_Trees]:
        """Stages in turn, from here."""
        return alternate(self, Settings(gap=self.gap, sweeps=SWEEPS), clock=self.clock, start=state)

    def turn(self, name: str, first: Rows, second: list[Rows]) -> _Trees:
        """The best stage for the other one, which is rounded within its budget."""
        if name == "second":
            kept = [_rounded(law, costs) for law, costs in zip(first, self.costs[0], strict=True)]
            found = self.best(self.given_first(kept))
        else:
            laws = [[_rounded(law, costs) for law, costs in zip(rows, self.costs[1], strict=True)] for rows in second]
            found = self.best(self.given_second(laws), self.budget)
        return _Trees(first, second, found) if found.mechanism is None else _Trees(*self.stages(found), found)

    def answer(
        self, bounds: tuple[DesignResult, ...], lower: float, state: _Trees, alternation: Alternation | None
    ) -> TreeDesign:
        upper = state.found.upper
        scope = Scope.FEASIBLE if alternation is None else alternation.scope
        return TreeDesign(
            lower=min(lower, upper),
            upper=upper,
            query=Joint(*self.query.queries),
            mechanism=Adaptive(Channel(state.first), then=[Adaptive(Channel(rows), on=1) for rows in state.second]),
            scope=Scope.GLOBAL if upper - lower <= self.gap * upper else scope,
            bounds=tuple(self.asked[id(one)] for one in bounds),
            found=state.found,
            alternation=alternation,
        )

    # ------------------------------------------------------------ a scheme of `dalenius.alternating`

    def start(self, rng: np.random.Generator) -> _Trees:
        return self.turn("second", *self.stages(self.best(self.any_tree(), self.budget)))

    def value(self, state: _Trees) -> float:
        return state.found.upper

    def key(self, state: _Trees) -> Floats:
        return np.array([float(p) for rows in (state.first, *state.second) for row in rows for p in row])


class _Boxes:
    """A search over boxes of first stages, the one with the least bound first."""

    def __init__(self, scheme: _Scheme, bound: DesignResult, state: _Trees) -> None:
        self.scheme, self.state, self.closed = scheme, state, list[DesignResult]()
        whole: _Box = tuple(((Fraction(0), Fraction(1)),) * scheme.outputs[0] for _ in scheme.values[0])
        self.open = [(bound.lower, 0, whole, bound)]

    @property
    def lower(self) -> float:
        upper = self.scheme.value(self.state)
        return min(self.open[0][0], upper) if self.open else upper

    @property
    def bounds(self) -> tuple[DesignResult, ...]:
        return (*self.closed, *(found for *_, found in self.open))

    def run(self, most: int) -> None:
        """Halve boxes until the gap is closed, and look for better trees where they may be."""
        scheme = self.scheme
        while len(self.bounds) < most and self.open and not scheme.clock.expired:
            upper = scheme.value(self.state)
            if self.open[0][0] >= (1.0 - scheme.gap) * upper:
                return
            before, _, box, _ = heapq.heappop(self.open)
            for part in _halves(box):
                found = scheme.best(itertools.chain(scheme.any_tree(), scheme.inside(part)), scheme.budget)
                if found.feasible is False:
                    self.closed.append(found)
                    continue
                heapq.heappush(self.open, (max(before, found.lower), len(self.bounds), part, found))
                if found.mechanism is not None and found.lower < upper:
                    new = scheme.turn("second", *scheme.stages(found))
                    if scheme.value(new) < (1.0 - scheme.gap / 10.0) * scheme.value(self.state):
                        self.state = new


class _Block:
    """A stage, given the other one."""

    costly = False

    def __init__(self, name: str, scheme: _Scheme) -> None:
        self.name, self.scheme, self.sideways = name, scheme, SIDEWAYS

    def step(self, state: _Trees) -> Step[_Trees]:
        scheme, now = self.scheme, self.scheme.value(state)
        new = scheme.turn(self.name, state.first, state.second)
        value, ends = scheme.value(new), (new.found.lower, new.found.upper)
        better, as_good = value < now * (1.0 - scheme.gap / 10.0), value <= now * (1.0 + scheme.gap / 10.0)
        moved = bool(np.abs(scheme.key(new) - scheme.key(state)).max() > MOVED)
        aside = as_good and moved and self.sideways > 0 and not better
        self.sideways -= aside
        return Step(new, value, max(now - ends[0], 0.0), interval=ends, taken=better or aside)


def _halves(box: _Box) -> list[_Box]:
    """The box cut in two where a probability is least known; that of the last answer is what the others leave."""
    places = [(a, y) for a, ends in enumerate(box) for y in range(len(ends) - 1)]
    a, y = max(places, key=lambda place: box[place[0]][place[1]][1] - box[place[0]][place[1]][0])
    (low, high), parts = box[a][y], list[_Box]()
    for ends in ((low, (low + high) / 2), ((low + high) / 2, high)):
        free = (*box[a][:y], ends, *box[a][y + 1 : -1])
        least, most = (sum((one[side] for one in free), Fraction(0)) for side in (0, 1))
        last = max(box[a][-1][0], 1 - most), min(box[a][-1][1], 1 - least)
        if last[0] <= last[1]:
            parts.append((*box[:a], (*free, last), *box[a + 1 :]))
    return parts


def _costs(distortion: Distortion, values: np.ndarray) -> list[list[Fraction]]:
    """d(v, y) of every value and output."""
    distortion.check(values)
    whole, denominator = distortion.whole(values)
    return [[Fraction(int(cost), denominator) for cost in row] for row in whole]


def _cheapest(costs: Sequence[Fraction]) -> list[Fraction]:
    best = min(range(len(costs)), key=costs.__getitem__)
    return [Fraction(int(y == best)) for y in range(len(costs))]


def _rounded(law: Sequence[Fraction], costs: Sequence[Fraction]) -> list[Fraction]:
    """The law in few digits, without what is next to nothing; all that goes to the cheapest of what is left, which costs no more."""
    common = min(cost for p, cost in zip(law, costs, strict=True) if p >= TINY)
    kept = [p if p >= TINY or cost < common else Fraction(0) for p, cost in zip(law, costs, strict=True)]
    rounded = [Fraction(int(p * DIGITS), DIGITS) for p in kept]
    rounded[min((y for y, p in enumerate(kept) if p), key=costs.__getitem__)] += 1 - sum(rounded)
    return rounded
