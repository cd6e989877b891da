"""Curves between proved bounds: leakage against what the adversary knows, and the frontier of a design for every budget."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dalenius._solve import need_way, solve
from dalenius.errors import InputError, brief
from dalenius.evidence import exact_fraction_above
from dalenius.evidence.lower import DualLine, PriorLine
from dalenius.exact import Number, as_fraction, as_integer
from dalenius.model import DesignProblem, EntropyAtLeast, MinLeakage, Problem, WorstCaseLeakage, audited
from dalenius.notebook import in_brief
from dalenius.outcome import Termination
from dalenius.results import DesignResult, Result
from dalenius.search import Progress
from dalenius.studies.engine import Engine, told_to
from dalenius.studies.keeping import Memory
from dalenius.studies.leakage_curve import LeakageCurve
from dalenius.studies.plan import ENTROPY, Plan, Point, Settings, between, chained, key_of, with_value
from dalenius.studies.record import Answer

# Leakage against what the adversary knows: one problem, many entropy bounds, and one proof that bounds the whole curve at each.


POINTS = 11


@dataclass(frozen=True)
class CurvePoint:
    """The certified interval at one entropy bound, `share` of log |X|; its certificate bounds the whole curve (`LeakageCurve`)."""

    __repr__ = in_brief

    share: Fraction
    problem: WorstCaseLeakage
    result: Result


def entropy_curve(
    problem: Problem,
    shares: Sequence[Number] | None = None,
    *,
    points: int = POINTS,
    gap: float = 1e-3,
    time_limit: float | None = 20.0,
    method: str | None = None,
    solver: str = "auto",
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[CurvePoint]:
    """Certified intervals of the leakage for entropy bounds at shares of log |X|, one after the other.

    L_b falls as b grows, and every proof bounds the whole curve: from above by lines, from below by witnesses between a point and its
    neighbours. `LeakageCurve` has the band. A point starts from the proof for no more entropy that says most about it, of those that a
    sweep has there (`dalenius.studies.plan.ancestors`). `dalenius.sweep` does the same with records, in a folder, and by many.

    Parameters
    ----------
    problem : WorstCaseLeakage
        Its own entropy bound is not used.
    shares : sequence of numbers in [0, 1], optional
        In this order. Left out, they are chosen: 0 and 1, then one after the other where the band is widest.
    points : int
        How many are chosen at most; fewer if the band is nowhere wider than the gap, or no wider than at the points.
    gap, time_limit, method, solver, progress
        As in `solve`, for each point.

    Raises
    ------
    InputError
        If a share lies outside [0, 1], the adversary has no entropy bound to vary, or `method` or `solver` is not for it.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast(0))
    >>> [round(point.result.upper, 3) for point in dl.entropy_curve(problem, [0, 0.5, 1])]
    [0.368, 0.368, 0.0]
    """
    settings = Settings(gap=gap, time_limit=time_limit, method=method, solver=solver)
    need_way(at_share(problem, Fraction(0)), method, solver)
    engine = Engine(settings, Memory(), strict=True, progress=told_to(progress))
    if shares is None:
        return chosen_points(problem, as_integer(points, "points", at_least=2), engine)
    exact = [as_fraction(share, "share") for share in shares]
    if any(not 0 <= share <= 1 for share in exact):
        raise InputError(f"shares of the largest entropy lie between 0 and 1, got {list(shares)}")
    listed = _in_a_row([at_share(problem, share) for share in exact], ENTROPY)
    asked = [dataclasses.replace(point, between=point.between or ()) for point in listed]
    return (curve_point(*pair) for pair in _answered(asked, engine))


def at_share(problem: Problem, share: Fraction) -> WorstCaseLeakage:
    """The problem with an entropy bound of this share of log |X|.

    Raises
    ------
    InputError
        If it is no audit, or its adversary has no entropy bound to vary.
    """
    return audited(with_value(audited(problem), ENTROPY, EntropyAtLeast(share, "max").text()))


def curve_of(points: Sequence[CurvePoint]) -> LeakageCurve:
    """The band that the points' proofs leave of the whole curve; at least one point."""
    return LeakageCurve.of(*((point.problem, point.result) for point in points))


def curve_point(problem: Problem, result: Answer) -> CurvePoint:
    """The point of a curve that an answer of a sweep is."""
    problem = audited(problem)
    share = problem.share
    assert share is not None
    assert isinstance(result, Result)
    return CurvePoint(share, problem, result)


def _in_a_row(problems: Sequence[Problem], path: str) -> list[Point]:
    """Points of one curve, or of one frontier, that are chained as those of a sweep along this key are."""
    return chained([Point(place, "", "", {path: str(place)}, problem) for place, problem in enumerate(problems)])


def chosen_points(problem: Problem, most: int, engine: Engine, *, model: str = "") -> Iterator[CurvePoint]:
    """The ends of the curve, then one point after the other where the band is widest; at most so many.

    Fewer if it is nowhere wider than the gap, or no wider than at the points. A point may begin with all before it.
    """
    done = list[CurvePoint]()
    share: Fraction | None = Fraction(0)
    keys = list[str]()
    while share is not None and len(done) < most:
        around = [Fraction(0), Fraction(1), *(point.share for point in done)]
        at = {ENTROPY: EntropyAtLeast(share, "max").text()}
        before = tuple(j for j, point in enumerate(done) if point.share <= share)
        name = Plan.name(model, len(done))
        point = Point(len(done), name, model, at, at_share(problem, share), before, between(share, around))
        point = dataclasses.replace(point, key=key_of(point, engine.settings, keys))
        keys.append(point.key)
        found = [curve_point(*pair) for pair in _answered([point], engine)]
        if not found:
            return
        done += found
        yield found[0]
        share = Fraction(1) if len(done) == 1 else curve_of(done).widest(engine.settings.gap)


def _answered(points: Sequence[Point], engine: Engine) -> Iterator[tuple[Problem, Answer]]:
    """Questions with their answers, those first that are there."""
    asked = {point.index: point.problem for point in points}
    for point in points:
        if (record := engine.keep.find(point)) is not None:
            yield point.problem, engine.answer(record)
    for record in engine.run(points):
        yield asked[record.index], engine.answer(record)


DIGITS = 9  # of spread budgets
LOG_2 = Fraction(math.nextafter(math.log(2.0), 0.0)), Fraction(math.nextafter(math.log(2.0), 1.0))  # it lies between

Corner = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class FrontierPoint:
    """The certified answer at one budget, in the unit of the problem's own budget."""

    __repr__ = in_brief

    budget: Fraction
    problem: DesignProblem
    result: DesignResult


def frontier(
    problem: DesignProblem,
    budgets: Sequence[float | str | Fraction],
    *,
    gap: float = 1e-3,
    time_limit: float | None = 30.0,
    seed: int = 0,
    method: str | None = None,
    solver: str = "auto",
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[FrontierPoint]:
    """The best mechanism for each of these budgets, one after the other; each starts from the priors of a proof before it.

    The optimum falls as the budget grows, and is convex in it. Each point keeps the interval that its own certificate proves; `Band`
    is what all of them prove together, at every budget.

    Parameters
    ----------
    problem : MinLeakage or MinDistortion
        Its own budget is not used, but the budget's unit is (`MinDistortion` in nats or bits).
    budgets : sequence of numbers
        Exact, in the order in which they are to be solved.
    gap, time_limit, seed, method, solver, progress
        As in `solve`, for each point.

    Raises
    ------
    InputError
        If the problem is no design, has [privacy] instead of a budget, a budget is no number, or `method` or `solver` cannot be used.

    >>> import dalenius as dl
    >>> problem = dl.MinLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0,
    ...     adversary=dl.EntropyAtLeast("0.5 max"))
    >>> points = list(dl.frontier(problem, [0.1, 0.3, 0.5]))
    >>> [round(point.result.upper, 4) for point in points]
    [0.3681, 0.0823, 0.0]
    >>> from dalenius.studies.curves import Band
    >>> band = Band(points)
    >>> band.lower(0.2) <= 0.1927 <= band.upper(0.2)              # log 2 - h(0.2)
    True
    """
    if not isinstance(problem, DesignProblem):
        raise InputError(f"problem: expected a MinLeakage or MinDistortion, got {brief(problem)}")
    problem.against("a frontier")
    need_way(problem, method, solver)
    exact = [as_fraction(budget, f"budgets[{j}]") for j, budget in enumerate(budgets)]
    settings = Settings(gap=gap, time_limit=time_limit, seed=seed, method=method, solver=solver)
    return _points(problem, exact, Engine(settings, Memory(), strict=True, progress=told_to(progress)))


def _points(problem: DesignProblem, budgets: list[Fraction], engine: Engine) -> Iterator[FrontierPoint]:
    points = _in_a_row([problem.with_budget(budget) for budget in budgets], problem.budget_key)
    yield from (frontier_point(*pair) for pair in _answered(points, engine))


def frontier_point(problem: Problem, result: Answer) -> FrontierPoint:
    """The point of a frontier that an answer of a sweep is."""
    assert isinstance(problem, DesignProblem)
    assert isinstance(result, DesignResult)
    return FrontierPoint(problem.budget, problem, result)


def spread_budgets(
    problem: DesignProblem,
    points: int,
    *,
    gap: float = 1e-3,
    time_limit: float | None = 30.0,
    solver: str = "auto",
    progress: Callable[[Progress], None] | None = None,
) -> list[Fraction]:
    """Budgets from one end of the frontier to the other, evenly spread and rounded upward to nine digits.

    `MinLeakage`: from the least distortion that any mechanism has to that of a constant one. `MinDistortion`: from 0 to what must leak
    where nothing may be distorted more than least, which takes a design of its own to find (`gap` to `progress` are about that one).

    Raises
    ------
    InputError
        If `points` is less than 2, or the problem has [privacy] instead of a budget, constraints, or an objective of several terms.
    KeyboardInterrupt
        If that design is interrupted.

    >>> import dalenius as dl
    >>> problem = dl.MinLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0,
    ...     adversary=dl.EntropyAtLeast("0.5 max"))
    >>> [float(budget) for budget in spread_budgets(problem, 3)]
    [0.0, 0.25, 0.5]
    """
    problem.against("a frontier")
    steps = as_integer(points, "points", at_least=2) - 1
    low, high = problem.least_distortion, problem.constant_distortion
    problem.need_plain("frontier: spread budgets", "list budgets")
    if problem.leakage_budget is not None:
        names = {field.name for field in dataclasses.fields(MinLeakage) if field.init} - {"max_distortion"}
        fields = {name: getattr(problem, name) for name in names}
        exact = MinLeakage(**fields, max_distortion=low)
        end = solve(exact, gap=gap, time_limit=time_limit, solver=solver, progress=progress)
        if end.termination is Termination.INTERRUPTED:
            raise KeyboardInterrupt
        low, high = Fraction(0), Fraction(end.upper) / _nats_per_unit(problem)[0]
    spread = (low + (high - low) * Fraction(j, steps) for j in range(points))
    return sorted({Fraction(math.ceil(budget * 10**DIGITS), 10**DIGITS) for budget in spread})


def _nats_per_unit(problem: DesignProblem) -> Corner:
    """Worth of one of the budget's units in the unit of the multiplier: two numbers that it lies between."""
    return LOG_2 if problem.budget_units == "bits" else (Fraction(1), Fraction(1))


class Band:
    """Bounds on the optimum at all budgets from certificates at some.

    *From below*: the multiplier that a certificate gives the budget (nu, or in `MinDistortion` the sum of the weights) is the slope of
    a line that its priors prove at once for every budget: lower(x') = lower + slope (x - x'). *From above*: the mixture of two
    mechanisms with shares t and 1 - t distorts and leaks at most the mixture of what they do (leakage is convex), so chords between
    points hold; and what meets a budget meets a larger one. Both are evaluated exactly and rounded outward.

    Parameters
    ----------
    points : sequence of FrontierPoint
        Of one problem.
    """

    def __init__(self, points: Sequence[FrontierPoint]) -> None:
        self._feasible = [point for point in points if point.result.feasible]
        self._unit = _nats_per_unit(points[0].problem) if points else LOG_2

    @cached_property
    def _lines(self) -> list[tuple[Fraction, Fraction, Fraction]]:
        """Budget, lower bound there, slope."""
        return [(point.budget, Fraction(point.result.lower), _slope(point)) for point in self._feasible]

    @cached_property
    def _corners(self) -> list[Corner]:
        """The lower convex hull of the points' upper ends, by budget, as far as it falls."""
        best: dict[Fraction, Fraction] = {}
        for point in self._feasible:
            upper = Fraction(point.result.upper)
            best[point.budget] = min(upper, best.get(point.budget, upper))
        hull = list[Corner]()
        for corner in sorted(best.items()):
            while len(hull) > 1 and _above(hull[-1], hull[-2], corner):
                hull.pop()
            if not hull or corner[1] < hull[-1][1]:
                hull.append(corner)
        return hull

    def lower(self, budget: float | str | Fraction) -> float:
        """No mechanism that meets this budget is better."""
        x, found = as_fraction(budget, "budget"), Fraction(0)
        for at, lower, slope in self._lines:
            unit = self._unit[0] if at > x else self._unit[1]
            found = max(found, lower + slope * unit * (at - x))
        return 0.0 - exact_fraction_above(-found)

    def upper(self, budget: float | str | Fraction) -> float:
        """A mixture of two of the mechanisms meets this budget, and is at least as good; infinite below all budgets."""
        x = as_fraction(budget, "budget")
        left = [corner for corner in self._corners if corner[0] <= x]
        right = self._corners[len(left) :]
        if not left:
            return math.inf
        (a, u), (b, v) = left[-1], right[0] if right else (x + 1, left[-1][1])
        return exact_fraction_above(u + (v - u) * (x - a) / (b - a))


def _slope(point: FrontierPoint) -> Fraction:
    """The multiplier of the budget in the proof of a lower bound."""
    lines = point.result.certificate.lower_lines()
    if point.problem.leakage_budget is not None:
        return sum((Fraction(line.weight) for line in lines if isinstance(line, PriorLine)), Fraction(0))
    budgets = [Fraction(line.budget) for line in lines if isinstance(line, DualLine) and line.budget is not None]
    return budgets[0] if budgets else Fraction(0)


def _above(middle: Corner, left: Corner, right: Corner) -> bool:
    """True if a point lies on or above the chord of its neighbours."""
    return (middle[1] - left[1]) * (right[0] - left[0]) >= (right[1] - left[1]) * (middle[0] - left[0])
