"""Leakage against what the adversary knows: one problem, many entropy bounds, and one proof that bounds the whole curve at each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dalenius._solve import need_way
from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction, as_integer
from dalenius.model import EntropyAtLeast, MaximalLeakage, Problem, audited
from dalenius.results import Result
from dalenius.search import Progress
from dalenius.studies.engine import Engine, told_to
from dalenius.studies.grid import ENTROPY, with_value
from dalenius.studies.keeping import Memory
from dalenius.studies.leakage_curve import LeakageCurve
from dalenius.studies.plan import Plan, Point, Settings, ancestors, between, key_of, share_of
from dalenius.studies.record import Answer

POINTS = 11


@dataclass(frozen=True)
class CurvePoint:
    """The certified interval at one entropy bound, `share` of log |X|; its certificate bounds the whole curve (`LeakageCurve`)."""

    share: Fraction
    problem: MaximalLeakage
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
    problem : MaximalLeakage
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
    >>> problem = dl.MaximalLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(),
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
    return _listed(problem, exact, engine)


def at_share(problem: Problem, share: Fraction) -> MaximalLeakage:
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
    share = share_of(problem)
    assert share is not None
    assert isinstance(result, Result)
    return CurvePoint(share, problem, result)


def _listed(problem: Problem, shares: list[Fraction], engine: Engine) -> Iterator[CurvePoint]:
    points = [
        Point(
            index=place,
            name="",
            model="",
            at={},
            problem=at_share(problem, share),
            before=tuple(other for other in ancestors(place) if shares[other] <= share),
            between=between(share, shares),
        )
        for place, share in enumerate(shares)
    ]
    yield from _answered(points, engine)


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
        found = list(_answered([point], engine))
        if not found:
            return
        done += found
        yield found[0]
        share = Fraction(1) if len(done) == 1 else curve_of(done).widest(engine.settings.gap)


def _answered(points: Sequence[Point], engine: Engine) -> Iterator[CurvePoint]:
    asked = {point.index: point.problem for point in points}
    for point in points:
        if (record := engine.keep.find(point)) is not None:
            yield curve_point(point.problem, engine.answer(record))
    for record in engine.run(points):
        yield curve_point(asked[record.index], engine.answer(record))
