"""Leakage against what the adversary knows: one problem, many entropy bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dalenius._solve import need_way, solve
from dalenius.errors import InputError
from dalenius.exact import as_fraction
from dalenius.model import EntropyAtLeast, MaximalLeakage, Problem, audited
from dalenius.results import Result
from dalenius.search.clock import Progress

__all__ = ["CurvePoint", "at_share", "entropy_curve"]


@dataclass(frozen=True)
class CurvePoint:
    """The certified interval at one entropy bound, `share` of log |X|."""

    share: Fraction
    problem: MaximalLeakage
    result: Result


def entropy_curve(
    problem: Problem,
    shares: Sequence[float | str | Fraction],
    *,
    gap: float = 1e-3,
    time_limit: float | None = 20.0,
    method: str | None = None,
    solver: str = "auto",
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[CurvePoint]:
    """Certified intervals of the leakage for entropy bounds at the given shares of log |X|, one after the other.

    L_b falls as b grows, so the true curve lies between the lower ends and the upper ends, and is monotone; a point starts from
    the proof of the one before it if its share is no smaller, so that the upper ends fall, too.

    Parameters
    ----------
    problem : MaximalLeakage
        Its own entropy bound is not used.
    shares : sequence of numbers in [0, 1]
    gap, time_limit, method, solver, progress
        As in `solve`, for each point.

    Raises
    ------
    InputError
        If a share lies outside [0, 1], the adversary has no entropy bound to vary, or `method` or `solver` is not for it.

    >>> import dalenius as dl
    >>> from dalenius.studies.sweep import entropy_curve
    >>> problem = dl.MaximalLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast(0))
    >>> [round(point.result.upper, 3) for point in entropy_curve(problem, [0, 0.5, 1])]
    [0.368, 0.368, 0.0]
    """
    need_way(at_share(problem, Fraction(0)), method, solver)
    exact = [as_fraction(share, "share") for share in shares]
    if any(not 0 <= share <= 1 for share in exact):
        raise InputError(f"shares of the largest entropy lie between 0 and 1, got {list(shares)}")

    def solved(there: MaximalLeakage, known: Result | None) -> Result:
        return solve(
            there, gap=gap, time_limit=time_limit, method=method, solver=solver, progress=progress, known=known
        )

    return _curve(problem, exact, solved)


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


def _curve(
    problem: Problem,
    shares: list[Fraction],
    solved: Callable[[MaximalLeakage, Result | None], Result],
) -> Iterator[CurvePoint]:
    earlier: CurvePoint | None = None
    for share in shares:
        there = at_share(problem, share)
        known = earlier.result if earlier is not None and earlier.share <= share else None
        earlier = CurvePoint(share, there, solved(there, known))
        yield earlier
