"""Rivals: every method to compare with, its settings, and what each attains by itself."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from dalenius._solve import solve
from dalenius.baselines import (
    CvxpyNlp,
    DesignRun,
    DesignSettings,
    Family,
    LeakageRun,
    LeakageSettings,
    Maingo,
    Optimiser,
    Scip,
    Slsqp,
    TrustConstr,
    aggregated,
    design_run,
    full_joint,
    leakage_run,
    optimised_run,
)
from dalenius.baselines.funnels import FUNNEL_RIVALS, FunnelRival, Released
from dalenius.errors import InputError, brief, hint
from dalenius.model import DesignProblem, MaxInformation, Problem, WorstCaseLeakage
from dalenius.results import DesignResult, Result
from dalenius.search import Clock, Limits, stopped_by_interrupt
from dalenius.studies.points import Prior, with_mechanism

# The methods that are compared: what they are, which laws they search, and what they are run with.


Comparable = WorstCaseLeakage | DesignProblem
Contested = Comparable | MaxInformation
R = TypeVar("R", LeakageRun, DesignRun)
Settings = LeakageSettings | DesignSettings | Optimiser
CERTIFIED = "certified"


@dataclass(frozen=True)
class Rival:
    """A method to compare with.

    Attributes
    ----------
    what : str
        In words.
    family : callable
        From a problem to the laws that it searches; `InputError` where there are too many.
    audit : LeakageSettings or Optimiser
        What it is run with on Problem 1, unless told otherwise.
    design : DesignSettings or None
        The same on Problems 2 and 3; None if it audits only.
    once : bool
        A global solver: it needs no second start.
    """

    what: str
    family: Callable[[Comparable], Family]
    audit: LeakageSettings | Optimiser
    design: DesignSettings | None = None
    once: bool = False

    def settings(self, problem: Comparable) -> Settings | None:
        """Settings on this problem unless told otherwise; None if the method is not made for it."""
        return self.audit if problem.task == "audit" else self.design

    def audited(self, family: Family, seed: int, settings: Settings, clock: Clock) -> LeakageRun:
        """Problem 1 from one start: the paper's uniform one for seed 0, else a random one."""
        rng = np.random.default_rng(seed) if seed else None
        law = None if rng is None else family.random(rng)
        if isinstance(settings, LeakageSettings):
            return leakage_run(family, law, settings=settings, clock=clock, rng=rng)
        assert not isinstance(settings, DesignSettings)
        return optimised_run(family, law, optimiser=settings, clock=clock)

    def designed(
        self, problem: DesignProblem, family: Family, seed: int, settings: Settings, clock: Clock
    ) -> DesignRun:
        """Problem 2 or 3 from one start."""
        assert isinstance(settings, DesignSettings)
        rng = np.random.default_rng(seed) if seed else None
        return design_run(problem, family, rng, settings=settings, clock=clock)


RIVALS: Mapping[str, Rival] = {
    "paper-full": Rival(
        "the source paper's algorithms on the full joint law of the datasets",
        full_joint,
        LeakageSettings(),
        DesignSettings(),
    ),
    "paper-aggregated": Rival(
        "the same code on the aggregated problem", aggregated, LeakageSettings(), DesignSettings()
    ),
    "slsqp": Rival("scipy's SLSQP on the aggregated problem, analytic gradients (audits only)", aggregated, Slsqp()),
    "trust-constr": Rival(
        "scipy's trust-constr on the aggregated problem, analytic gradients and Hessians (audits only)",
        aggregated,
        TrustConstr(),
    ),
    "cvxpy-nlp-full": Rival(
        "Problem 1 as written in cvxpy's nonlinear mode, solver UNO, full joint law (audits only; extra: rivals)",
        full_joint,
        CvxpyNlp(),
    ),
    "cvxpy-nlp-aggregated": Rival(
        "the same on the aggregated problem (audits only; extra: rivals)", aggregated, CvxpyNlp()
    ),
    "scip": Rival(
        "the global solver SCIP on the aggregated problem (audits only; extra: rivals)", aggregated, Scip(), once=True
    ),
    "maingo": Rival(
        "the global solver MAiNGO on the aggregated problem (audits only; extra: rivals)",
        aggregated,
        Maingo(),
        once=True,
    ),
}
METHODS = {
    CERTIFIED: "this package: bounds from both sides, proved by the independent checker",
    **{name: rival.what for name, rival in RIVALS.items()},
}


def settings_from_text(problem: Contested, texts: Iterable[str]) -> dict[str, Settings]:
    """Settings by method, out of texts ``METHOD.NAME=VALUE``; names of settings inside settings have dots.

    Raises
    ------
    InputError
        If a text is not of this form, or there is no such method or setting, or the value is none of it.

    >>> import dalenius as dl
    >>> problem = dl.load("parity/laplace-n4")
    >>> found = settings_from_text(problem, ["paper-full.conditional.step=0.1", "slsqp.iterations=50"])
    >>> found["paper-full"].conditional.step, found["slsqp"]
    (0.1, Slsqp(tolerance=1e-10, iterations=50))
    """
    found = dict[str, Settings]()
    for text in texts:
        path, equals, value = text.partition("=")
        method, *names = path.split(".")
        if not equals or not names:
            raise InputError(f"settings: expected METHOD.NAME=VALUE, got {brief(text)}")
        if method not in RIVALS:
            raise InputError(f"settings: expected one of {', '.join(RIVALS)} before the dot, got {brief(method)}")
        known = None if isinstance(problem, MaxInformation) else RIVALS[method].settings(problem)
        settings = found.get(method) or known
        if settings is None:
            raise InputError(f"settings: {method} audits a mechanism, it does not design one")
        found[method] = _changed(settings, names, value, path)
    return found


def _changed(settings: Any, names: list[str], text: str, path: str) -> Any:
    """Frozen settings with one of them, perhaps inside another, read from a text."""
    name, *inner = names
    known = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    nested = {key for key, value in known.items() if dataclasses.is_dataclass(value)}
    if name not in known or (name in nested) != bool(inner):
        listed = [f"{key}.NAME" if key in nested else key for key in known]
        raise InputError(f"settings: {path}: expected one of {', '.join(listed)}; got {brief(name)}{hint(name, known)}")
    value = _changed(known[name], inner, text, path) if inner else _read(known[name], text)
    try:
        return dataclasses.replace(settings, **{name: value})
    except InputError as error:
        raise error if inner else InputError(f"settings: {path}: {error}") from None


def _read(before: object, text: str) -> object:
    """A number where there was one, as far as the text is one; what it may be is for the settings to say."""
    if isinstance(before, str):
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


Families = dict[Callable[[Comparable], Family], Family]


@dataclass(frozen=True)
class Contestant:
    """A rival with the laws that it searches and what it is run with."""

    method: str
    rival: Rival
    family: Family
    settings: Settings

    def attained(self, problem: Comparable, seeds: int, budget: float, gap: float) -> Attained:
        """Results of its starts, one after the other; a global solver has one."""
        clock, starts = Clock(budget), 1 if self.rival.once else seeds
        with stopped_by_interrupt(clock):
            if isinstance(problem, DesignProblem):
                return _designed(self, problem, starts, clock, gap)
            return _audited(self, starts, clock)


@dataclass(frozen=True)
class FunnelContestant:
    """A rival on a problem of most information within a limit."""

    method: str
    run: FunnelRival
    released: Released
    once: bool

    def attained(self, problem: Problem, seeds: int, budget: float, gap: float) -> Attained:
        """Results of its starts, one after the other; a mechanism that breaks the limit is mixed with a silent one."""
        clock, values, missed, trace = Clock(budget), list[float](), 0.0, list[tuple[float, float]]()
        starts = 1 if self.once else seeds
        with stopped_by_interrupt(clock):
            for seed in range(starts):
                own = Clock(clock.remaining / (starts - seed))
                Q = self.run(self.released, np.random.default_rng(seed) if seed else None, own)
                missed = max(missed, float(self.released.secret.of(Q.T).sum()) - self.released.limit)
                values.append(float(self.released.useful.of(self.released.kept(Q).T).sum()))
                trace.append((clock.seconds, max(values)))
                if clock.expired:
                    break
        best = max(values)
        return Attained(
            self.method, len(values), best, best, values[0], missed, len(values), 0, clock.seconds, None, tuple(trace)
        )


@dataclass(frozen=True)
class Attained:
    """Result of a method, before anybody knows how good that is (`dalenius.studies.compare.MethodOutcome` has the rest).

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
    problem: Contested, methods: Sequence[str] | None, settings: Mapping[str, Settings]
) -> dict[str, Contestant | FunnelContestant]:
    """The rivals asked, ready to run; without `methods` all that fit. `InputError` where one asked does not, or settings do not."""
    if isinstance(problem, MaxInformation):
        return _funnel_contestants(problem, methods, settings)
    if unknown := [method for method in settings if method not in RIVALS]:
        raise InputError(f"settings: expected some of {', '.join(RIVALS)}; got {brief(unknown[0])}")
    built, found = Families(), dict[str, Contestant | FunnelContestant]()
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
            if problem.task == "audit":  # refuses what does not fit, and imports what takes long to
                rival.audited(contestant.family, 0, given, Clock(0.0))
        except InputError:
            if methods is not None:
                raise
            continue
        found[method] = contestant
    return found


def _funnel_contestants(
    problem: MaxInformation, methods: Sequence[str] | None, settings: Mapping[str, Settings]
) -> dict[str, Contestant | FunnelContestant]:
    """Those of a problem with a limit, which have no settings."""
    if settings:
        raise InputError(f"settings: the rivals of a {problem.kind} model have none; got {', '.join(settings)}")
    released, found = Released.of(problem), dict[str, Contestant | FunnelContestant]()
    for method in FUNNEL_RIVALS if methods is None else [name for name in methods if name != CERTIFIED]:
        _, run, once = FUNNEL_RIVALS[method]
        try:
            run(released, None, Clock(0.0))
        except InputError:
            if methods is not None:
                raise
            continue
        found[method] = FunnelContestant(method, run, released, once)
    return found


def maximises(result: Result | DesignResult) -> bool:
    """True if larger values are better: of audits, and of the most information."""
    return isinstance(result, Result) or result.largest


def certified(result: Result | DesignResult) -> Attained:
    """Result of the certified solver by itself: the end of its interval that a point attains."""
    audit = maximises(result)
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
    runs = list(_runs(contestant, contestant.rival.audited, seeds, clock))
    best = max(runs, key=lambda run: run.value)
    return _attained(
        contestant,
        runs,
        value=best.value,
        claimed=max(run.value if run.claimed is None else run.claimed for run in runs),
        first=runs[0].value,
        violation=best.violation,
        seconds=clock.seconds,
        bound=min((run.bound for run in runs if run.bound is not None), default=None),
        trace=_trace(runs, max),
        prior=Prior(best.masses, None if contestant.family.shared else best.record),
    )


def _designed(contestant: Contestant, problem: DesignProblem, seeds: int, clock: Clock, gap: float) -> Attained:
    """A rival on Problem 2 or 3: every start's mechanism is audited and proved, and the best one counts."""
    runs = list(_runs(contestant, partial(contestant.rival.designed, problem), seeds, clock))
    seconds = clock.seconds
    judged = [_judged(problem, run, gap, clock.time_limit / len(runs)) for run in runs]
    design, violation = min(judged, key=lambda found: found[0].upper)
    return _attained(
        contestant,
        runs,
        value=design.upper,
        claimed=min(run.value for run in runs),
        first=judged[0][0].upper,
        violation=violation,
        seconds=seconds,
        bound=None,
        trace=_trace(runs, min),
        design=design,
    )


def _runs(contestant: Contestant, run: Callable[..., R], seeds: int, clock: Clock) -> Iterator[R]:
    """The starts one after the other, each with an even share of the time that is left."""
    for seed in range(seeds):
        turn = clock.slice(clock.remaining / (seeds - seed))
        yield run(contestant.family, seed, contestant.settings, turn)
        if clock.expired:
            return


def _attained(contestant: Contestant, runs: Sequence[LeakageRun] | Sequence[DesignRun], **best: Any) -> Attained:
    iterations, evaluations = sum(run.iterations for run in runs), sum(run.evaluations for run in runs)
    return Attained(contestant.method, len(runs), iterations=iterations, evaluations=evaluations, **best)


def _judged(problem: DesignProblem, run: DesignRun, gap: float, seconds: float) -> tuple[DesignResult, float]:
    """The proved design that a run's mechanism is, and by how much the mechanism broke its budget as it came."""
    leakage, violation = run.leakage, run.violation
    if problem.leakage_budget is not None:
        audit = solve(problem.release(run.rows.tolist()), gap=0.1 * gap, time_limit=seconds)
        leakage, violation = audit.upper, max(audit.lower - problem.leakage_budget, 0.0)
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
