"""Leakage against what the adversary knows: one problem, many entropy bounds, and one proof that bounds the whole curve at each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dalenius._solve import need_way, solve
from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction, as_integer
from dalenius.model import EntropyAtLeast, MaximalLeakage, Problem, audited
from dalenius.results import Result
from dalenius.search.clock import Progress
from dalenius.studies.leakage_curve import LeakageCurve

__all__ = ["CurvePoint", "at_share", "curve_of", "entropy_curve"]

Solved = Callable[[MaximalLeakage, Result | None, Sequence[Fraction]], Result]
POINTS = 11
DENSE = 24  # witnesses on either side of a point, at entropy bounds between it and its neighbours


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
    neighbours. `LeakageCurve` has the band. A point starts from the proof for no more entropy that says most
    about it, so that the upper ends fall, too.

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
    need_way(at_share(problem, Fraction(0)), method, solver)

    def solved(there: MaximalLeakage, known: Result | None, between: Sequence[Fraction]) -> Result:
        return solve(
            there,
            gap=gap,
            time_limit=time_limit,
            method=method,
            solver=solver,
            progress=progress,
            known=known,
            curve=between,
        )

    if shares is None:
        return _chosen(problem, as_integer(points, "points", at_least=2), gap, solved)
    exact = [as_fraction(share, "share") for share in shares]
    if any(not 0 <= share <= 1 for share in exact):
        raise InputError(f"shares of the largest entropy lie between 0 and 1, got {list(shares)}")
    return _listed(problem, exact, solved)


def at_share(problem: Problem, share: Fraction) -> MaximalLeakage:
    """The problem with an entropy bound of this share of log |X|.

    Raises
    ------
    InputError
        If it is no audit, or its adversary has no entropy bound to vary.
    """
    problem = audited(problem)
    if not isinstance(problem.adversary, EntropyAtLeast):
        raise InputError(
            f"a sweep varies the adversary's entropy bound, and {problem.adversary.kind} has none; give the model "
            "entropy_at_least = 0 (or solve it as it is)"
        )
    return dataclasses.replace(problem, adversary=EntropyAtLeast(share, "max"))


def curve_of(points: Sequence[CurvePoint]) -> LeakageCurve:
    """The band that the points' proofs leave of the whole curve; at least one point."""
    return LeakageCurve.of(*((point.problem, point.result) for point in points))


def _listed(problem: Problem, shares: list[Fraction], solved: Solved) -> Iterator[CurvePoint]:
    done = list[CurvePoint]()
    for share in shares:
        done.append(_point(problem, share, _between(share, shares), done, solved))
        yield done[-1]


def _chosen(problem: Problem, most: int, gap: float, solved: Solved) -> Iterator[CurvePoint]:
    """The ends, then where the band is widest."""
    done = list[CurvePoint]()
    share: Fraction | None = Fraction(0)
    while share is not None and len(done) < most:
        around = [Fraction(0), Fraction(1), *(point.share for point in done)]
        done.append(_point(problem, share, _between(share, around), done, solved))
        yield done[-1]
        share = Fraction(1) if len(done) == 1 else curve_of(done).widest(gap)


def _point(
    problem: Problem, share: Fraction, between: Sequence[Fraction], done: Sequence[CurvePoint], solved: Solved
) -> CurvePoint:
    there = at_share(problem, share)
    earlier = [point for point in done if point.share <= share]
    best = min(earlier, key=lambda point: curve_of([point]).upper(EntropyAtLeast(share, "max")), default=None)
    return CurvePoint(share, there, solved(there, None if best is None else best.result, between))


def _between(share: Fraction, shares: Sequence[Fraction]) -> list[Fraction]:
    """Shares between this one and its neighbours on either side, evenly spread."""
    left = max((other for other in shares if other < share), default=share)
    right = min((other for other in shares if other > share), default=share)
    places = [Fraction(j, DENSE + 1) for j in range(1, DENSE + 1)]
    below = [left + (share - left) * place for place in places if left < share]
    return below + [share + (right - share) * place for place in places if share < right]
