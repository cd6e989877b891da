"""Who takes part in a comparison, and what each method attains by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dalenius._solve import solve
from dalenius.baselines import DesignRun, Family, LeakageRun
from dalenius.errors import InputError
from dalenius.exact import brief
from dalenius.model import DesignProblem, MaximalLeakage, MinDistortion, Problem
from dalenius.results import DesignResult, Result
from dalenius.search import Clock, Limits, stopped_by_interrupt
from dalenius.studies.methods import CERTIFIED, RIVALS, Rival, Settings
from dalenius.studies.points import Prior, with_mechanism

__all__ = ["Attained", "Contestant", "certified", "contestants"]

Families = dict[Callable[[MaximalLeakage | DesignProblem], Family], Family]


@dataclass(frozen=True)
class Contestant:
    """A rival with the laws that it searches and what it is run with."""

    method: str
    rival: Rival
    family: Family
    settings: Settings

    def attained(self, problem: Problem, seeds: int, budget: float, gap: float) -> Attained:
        """What it attains, its starts one after the other; a global solver has one."""
        clock, starts = Clock(budget), 1 if self.rival.once else seeds
        with stopped_by_interrupt(clock):
            if isinstance(problem, MaximalLeakage):
                return _audited(self, starts, clock)
            assert isinstance(problem, DesignProblem)
            return _designed(self, problem, starts, clock, gap)


@dataclass(frozen=True)
class Attained:
    """What a method came to, before anybody knows how good that is (`dalenius.studies.compare.MethodOutcome` says what is what).

    Attributes
    ----------
    prior : Prior or None
        A rival's best prior, to be offered to the checker.
    design : DesignResult or None
        What a rival's best mechanism proves.
    """

    method: str
    seeds: int
    value: float
    claimed: float
    first: float
    violation: float
    iterations: int
    evaluations: int
    seconds: float
    bound: float | None
    trace: tuple[tuple[float, float], ...]
    prior: Prior | None = None
    design: DesignResult | None = None


def contestants(
    problem: Problem, methods: Sequence[str] | None, settings: Mapping[str, Settings]
) -> dict[str, Contestant]:
    """The rivals asked, ready to run; without `methods` all that fit. `InputError` where one asked does not, or settings do not."""
    assert isinstance(problem, MaximalLeakage | DesignProblem)
    if unknown := [method for method in settings if method not in RIVALS]:
        raise InputError(f"settings: expected some of {', '.join(RIVALS)}; got {brief(unknown[0])}")
    built, found = Families(), dict[str, Contestant]()
    for method in RIVALS if methods is None else methods:
        if method == CERTIFIED:
            continue
        rival = RIVALS[method]
        own = rival.settings(problem)
        given = settings.get(method, own)
        if own is not None and type(given) is not type(own):
            raise InputError(f"settings: {method} takes {type(own).__name__} on this problem, got {brief(given)}")
        try:
            if given is None or own is None:
                raise InputError(f"methods: {method} audits a mechanism, it does not design one")
            built[rival.family] = built.get(rival.family) or rival.family(problem)
            contestant = Contestant(method, rival, built[rival.family], given)
            if isinstance(problem, MaximalLeakage):  # refuses what does not fit, and imports what takes long to
                rival.audited(contestant.family, 0, given, Clock(0.0))
        except InputError:
            if methods is not None:
                raise
            continue
        found[method] = contestant
    return found


def certified(result: Result | DesignResult) -> Attained:
    """What the certified solver attained by itself: the end of its interval that a point attains."""
    audit = isinstance(result, Result)
    value, bound = (result.lower, result.upper) if audit else (result.upper, result.lower)
    rounds = result.rounds if isinstance(result, DesignResult) else 0
    seen = [moment.lower if audit else moment.upper for moment in result.trace]
    so_far = np.maximum.accumulate(seen) if audit else np.minimum.accumulate(seen)
    proved = np.minimum(so_far, value) if audit else np.maximum(so_far, value)
    return Attained(
        method=CERTIFIED,
        seeds=1,
        value=value,
        claimed=value,
        first=math.nan,
        violation=0.0,
        iterations=rounds,
        evaluations=0,
        seconds=result.seconds,
        bound=bound,
        trace=tuple(zip((moment.seconds for moment in result.trace), proved.tolist(), strict=True)),
    )


def _audited(contestant: Contestant, seeds: int, clock: Clock) -> Attained:
    """A rival on Problem 1: the best of its starts."""
    runs = list[LeakageRun]()
    for seed in range(seeds):
        turn = clock.slice(clock.remaining / (seeds - seed))
        runs.append(contestant.rival.audited(contestant.family, seed, contestant.settings, turn))
        if clock.expired:
            break
    best = max(runs, key=lambda run: run.value)
    return Attained(
        method=contestant.method,
        seeds=len(runs),
        value=best.value,
        claimed=max(run.value if run.claimed is None else run.claimed for run in runs),
        first=runs[0].value,
        violation=best.violation,
        iterations=sum(run.iterations for run in runs),
        evaluations=sum(run.evaluations for run in runs),
        seconds=clock.seconds,
        bound=min((run.bound for run in runs if run.bound is not None), default=None),
        trace=_trace(runs, max),
        prior=Prior(best.masses, None if contestant.family.shared else best.record),
    )


def _designed(contestant: Contestant, problem: DesignProblem, seeds: int, clock: Clock, gap: float) -> Attained:
    """A rival on Problem 2 or 3: every start's mechanism is audited and proved, and the best one counts."""
    runs = list[DesignRun]()
    for seed in range(seeds):
        turn = clock.slice(clock.remaining / (seeds - seed))
        runs.append(contestant.rival.designed(problem, contestant.family, seed, contestant.settings, turn))
        if clock.expired:
            break
    seconds = clock.seconds
    judged = [_judged(problem, run, gap, clock.time_limit / len(runs)) for run in runs]
    design, violation = min(judged, key=lambda found: found[0].upper)
    return Attained(
        method=contestant.method,
        seeds=len(runs),
        value=design.upper,
        claimed=min(run.value for run in runs),
        first=judged[0][0].upper,
        violation=violation,
        iterations=sum(run.iterations for run in runs),
        evaluations=sum(run.evaluations for run in runs),
        seconds=seconds,
        bound=None,
        trace=_trace(runs, min),
        design=design,
    )


def _judged(problem: DesignProblem, run: DesignRun, gap: float, seconds: float) -> tuple[DesignResult, float]:
    """The proved design that a run's mechanism is, and by how much the mechanism broke its budget as it came."""
    leakage, violation = run.leakage, run.violation
    if isinstance(problem, MinDistortion):
        audit = solve(problem.release(run.rows.tolist()), gap=0.1 * gap, time_limit=seconds)
        leakage, violation = audit.upper, max(audit.lower - problem.max_leakage_nats, 0.0)
    return with_mechanism(problem, run.rows, leakage, Limits(gap=gap, time_limit=seconds)), violation


def _trace(
    runs: Sequence[LeakageRun] | Sequence[DesignRun], better: Callable[[float, float], float]
) -> tuple[tuple[float, float], ...]:
    """(seconds, best value so far) of all starts one after the other."""
    trace: list[tuple[float, float]] = []
    for run in runs:
        for moment in run.trace:
            trace.append((moment.seconds, better(trace[-1][1], moment.value) if trace else moment.value))
    return tuple(trace)
