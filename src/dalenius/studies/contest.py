"""Rivals: every method to compare with, its settings, and what each attains by itself."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Any, ClassVar, TypeVar

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
from dalenius.baselines.designs import DESIGN_RIVALS, Game, game_run
from dalenius.baselines.funnels import FUNNEL_RIVALS, FunnelRival, Released
from dalenius.errors import InputError, brief, hint
from dalenius.model import DesignProblem, MaxInformation, WorstCaseLeakage
from dalenius.results import DesignResult, Result
from dalenius.search import Clock, Limits
from dalenius.studies.points import Prior, limits_of, rows_broken, with_mechanism

# The methods that are compared: what they are, which laws they search, and what they are run with.


Comparable = WorstCaseLeakage | DesignProblem
Contested = Comparable | MaxInformation
R = TypeVar("R")
Settings = LeakageSettings | DesignSettings | Optimiser
CERTIFIED = "certified"
HALVES = 6  # mechanisms on the way that are judged, after 1/64, 1/32, ... of the time


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

    def audited(self, family: Family, settings: Settings, seed: int, clock: Clock) -> LeakageRun:
        """Problem 1 from one start: the paper's uniform one for seed 0, else a random one."""
        rng = np.random.default_rng(seed) if seed else None
        law = None if rng is None else family.random(rng)
        if isinstance(settings, LeakageSettings):
            return leakage_run(family, law, settings=settings, clock=clock, rng=rng)
        assert not isinstance(settings, DesignSettings)
        return optimised_run(family, law, optimiser=settings, clock=clock)

    def designed(
        self, problem: DesignProblem, family: Family, settings: Settings, seed: int, clock: Clock
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
    "slsqp": Rival(
        "scipy's SLSQP on the aggregated problem, or on a design's epigraph, analytic gradients", aggregated, Slsqp()
    ),
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
    **{name: f"{what} (designs only)" for name, (what, _) in DESIGN_RIVALS.items() if name not in RIVALS},
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
        settings = found.get(method) or field_of(problem).settings(method)
        if settings is None:
            raise InputError(f"settings: {method} has none on this problem")
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
    return text if isinstance(before, str) else number_or_text(text)


def number_or_text(text: str) -> int | float | str:
    """The number that a text states, or else the text."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


@dataclass(frozen=True, kw_only=True)
class MethodOutcome:
    """Outcome of one method.

    Attributes
    ----------
    method : str
    seeds : int
        How many starts there was time for; the first one is the paper's uniform start. A global solver has one.
    value : float
        The best value over the starts, of a feasible point, judged by the house. Audit: the leakage to the prior found. Design: the
        proved upper end that its mechanism gives, made exact: what it leaks (`MinLeakage`), or its distortion after mixing with
        a silent mechanism until the proved leakage meets the budget (`MinDistortion`).
    claimed : float
        The best value that the method itself believed in; for designs it rests on the method's own search for the adversary.
    first : float
        The value from the paper's uniform start alone, judged as `value` is; nan for the certified solver.
    shortfall, shortfall_at_most : float
        By how much the value misses the optimum at least, and at most, relative to the larger of the two: (lower - value) / lower and
        (upper - value) / upper for an audit, (value - upper) / value and (value - lower) / value for a design, with the proved
        interval of the comparison. The first is 0 only for the best point there is, and for those that rounding cannot tell from it.
    violation, violation_at_most : float
        By how much the method's own point breaks its budget after its own repair, at least and at most: nats of entropy; of a design,
        the worst of its budget and constraints, distortion and rows in exact numbers, leakage by the certified audit.
    iterations, evaluations : int
        Over all starts.
    seconds : float
        Over all starts, without the judging, on the wall.
    reached : float or None
        Seconds until the value was within the gap of the best proved one; None if never. A rival's designs are judged now and then.
    bound : float or None
        What a global solver claims that nothing passes; of the certified solver its proved end. None of the others.
    trace : tuple of (seconds, best value so far)
        Of a rival's design what was proved of mechanisms on its way, after 1/64, 1/32, ... of its time.
    """

    method: str
    seeds: int
    value: float
    claimed: float
    first: float
    shortfall: float = math.nan
    shortfall_at_most: float = math.nan
    violation: float
    iterations: int
    evaluations: int
    seconds: float
    reached: float | None = None
    violation_at_most: float | None = None
    bound: float | None = None
    trace: tuple[tuple[float, float], ...] = field(default=(), repr=False)


@dataclass(frozen=True, kw_only=True)
class Attained(MethodOutcome):
    """The same before anybody knows how good it is.

    Attributes
    ----------
    prior : Prior or None
        A rival's best prior, to be offered to the checker.
    design : DesignResult or None
        What a rival's best mechanism proves.
    """

    prior: Prior | None = None
    design: DesignResult | None = None


# Fields, one for each kind of problem: who is in it, and how each is made ready.


Ready = Callable[[int, Clock, float], Attained]  # from the number of starts, the clock and the gap


@dataclass
class AuditField:
    """Rivals for Problem 1.

    Attributes
    ----------
    known : what may be asked for by name
    turns : how many times its own a rival may take, with the audits of its mechanisms
    """

    problem: Any
    known: ClassVar[Sequence[str]] = tuple(METHODS)
    turns: ClassVar[int] = 1
    built: dict[Callable[[Comparable], Family], Family] = field(default_factory=dict)

    def check(self) -> None:
        """`InputError` where nobody fits."""
        adversary = self.problem.against("compare")
        if self.problem.bound is None:
            raise InputError(
                f"compare: the baselines know adversaries with entropy_at_least only, got {adversary.kind}"
            )

    def settings(self, method: str) -> Settings | None:
        """Settings of a rival unless told otherwise; None where it has none, or is not made for this."""
        return RIVALS[method].audit if method in RIVALS else None

    def meant(self, method: str) -> bool:
        """True if it is said of a rival that does not fit why it does not."""
        return False

    def family(self, method: str) -> Family:
        """The laws that a rival searches, which some share."""
        make = RIVALS[method].family
        self.built[make] = self.built.get(make) or make(self.problem)
        return self.built[make]

    def ready(self, method: str, settings: Settings | None) -> Ready:
        """A rival, tried without any time; `InputError` where it does not fit."""
        if settings is None:
            raise InputError(f"methods: {method} designs a mechanism, it does not audit one")
        run = partial(RIVALS[method].audited, self.family(method), settings)
        run(0, Clock(0.0))  # imports what takes long to
        return partial(_audited, method, self.family(method), run)


class DesignField(AuditField):
    """Rivals for Problems 2 and 3, the source paper's and those on the min-max."""

    turns = 2

    def check(self) -> None:
        self.problem.against("compare")
        if self.problem.objective is not None:
            self.problem.need_plain("compare")

    def settings(self, method: str) -> Settings | None:
        return RIVALS[method].design if method in RIVALS else None

    def meant(self, method: str) -> bool:
        return method in DESIGN_RIVALS or self.settings(method) is not None

    def ready(self, method: str, settings: Settings | None) -> Ready:
        if settings is not None:
            self.problem.need_plain("methods", "ask other rivals")
            return self._of(method, partial(RIVALS[method].designed, self.problem, self.family(method), settings))
        if method not in DESIGN_RIVALS:
            raise InputError(f"methods: {method} audits a mechanism, it does not design one")
        next(DESIGN_RIVALS[method][1](Game.of(self.problem, 0, Clock(0.0))))
        return self._of(method, lambda seed, clock: game_run(method, Game.of(self.problem, seed, clock)))

    def _of(self, method: str, run: Callable[[int, Clock], DesignRun]) -> Ready:
        return partial(_designed, method, self.problem, run)


class FunnelField(AuditField):
    """Rivals for the most information within a limit about a secret."""

    known = (CERTIFIED, *FUNNEL_RIVALS)

    def check(self) -> None:
        Released.of(self.problem)

    def settings(self, method: str) -> None:
        return None

    def ready(self, method: str, settings: Settings | None) -> Ready:
        _, run, once = FUNNEL_RIVALS[method]
        released = Released.of(self.problem)
        run(released, None, Clock(0.0))
        return partial(_released, method, run, released, once)


def field_of(problem: Contested) -> AuditField:
    """The field of a problem's kind."""
    if isinstance(problem, WorstCaseLeakage):
        return AuditField(problem)
    return DesignField(problem) if isinstance(problem, DesignProblem) else FunnelField(problem)


def contestants(
    own: AuditField, methods: Sequence[str] | None, settings: Mapping[str, Settings]
) -> tuple[dict[str, Ready], dict[str, str]]:
    """The rivals asked, ready to run; and of those that are left out, without `methods`, why, where they are meant for such problems.

    `InputError` where one that is asked by name does not fit, or settings do not.
    """
    if unknown := [method for method in settings if method not in RIVALS]:
        raise InputError(f"settings: expected some of {', '.join(RIVALS)}; got {brief(unknown[0])}")
    for method, given in settings.items():
        if type(given) is not type(default := own.settings(method)):
            takes = "none" if default is None else type(default).__name__
            raise InputError(f"settings: {method} takes {takes} on this problem, got {brief(given)}")
    found, reasons = dict[str, Ready](), dict[str, str]()
    for method in own.known if methods is None else methods:
        if method == CERTIFIED:
            continue
        try:
            found[method] = own.ready(method, settings.get(method, own.settings(method)))
        except InputError as error:
            if methods is not None:
                raise
            if own.meant(method):
                reasons[method] = str(error).partition(": ")[2]
    return found, reasons


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


def _audited(
    method: str, family: Family, run: Callable[[int, Clock], LeakageRun], seeds: int, clock: Clock, gap: float
) -> Attained:
    """A rival on Problem 1: the best of its starts, of which a global solver has one."""
    runs = list(_runs(run, 1 if RIVALS[method].once else seeds, clock))
    best = max(runs, key=lambda run: run.value)
    return _attained(
        method,
        runs,
        value=best.value,
        claimed=max(run.value if run.claimed is None else run.claimed for run in runs),
        first=runs[0].value,
        violation=best.violation,
        seconds=clock.seconds,
        bound=min((run.bound for run in runs if run.bound is not None), default=None),
        trace=_trace(runs),
        prior=Prior(best.masses, None if family.shared else best.record),
    )


def _released(
    method: str, run: FunnelRival, released: Released, once: bool, seeds: int, clock: Clock, gap: float
) -> Attained:
    """A rival within a limit: the best of its starts; a mechanism that breaks the limit is mixed with a silent one."""

    def one(seed: int, own: Clock) -> tuple[float, float, float]:
        Q = run(released, np.random.default_rng(seed) if seed else None, own)
        missed = float(released.secret.of(Q.T).sum()) - released.limit
        return clock.seconds, float(released.useful.of(released.kept(Q).T).sum()), missed

    seconds, values, missed = zip(*_runs(one, 1 if once else seeds, clock), strict=True)
    return Attained(
        method=method,
        seeds=len(values),
        value=max(values),
        claimed=max(values),
        first=values[0],
        violation=max(0.0, *missed),
        iterations=len(values),
        evaluations=0,
        seconds=clock.seconds,
        trace=tuple(zip(seconds, accumulate(values, max), strict=True)),
    )


def _designed(
    method: str, problem: DesignProblem, run: Callable[[int, Clock], DesignRun], seeds: int, clock: Clock, gap: float
) -> Attained:
    """A rival on Problem 2 or 3: every start's mechanism is audited and proved, and the best one counts, with some on its way."""
    runs = list(_runs(run, seeds, clock))
    seconds, late = clock.seconds, Clock(clock.time_limit)
    judged = [_judged(problem, run, gap, late.remaining / (len(runs) - k)) for k, run in enumerate(runs)]
    best = min(range(len(runs)), key=lambda k: judged[k][0].upper)
    design, violation, at_most = judged[best]
    return _attained(
        method,
        runs,
        value=design.upper,
        claimed=min(run.value for run in runs),
        first=judged[0][0].upper,
        violation=violation,
        violation_at_most=at_most,
        seconds=seconds,
        bound=None,
        trace=(*_on_the_way(problem, runs[best], gap, late), (runs[best].trace[-1].seconds, design.upper)),
        design=design,
    )


def _on_the_way(problem: DesignProblem, run: DesignRun, gap: float, clock: Clock) -> Iterator[tuple[float, float]]:
    """(seconds, proved value) of mechanisms that a run had come to after 1/64, 1/32, ... of its time, while there is time to judge."""
    known, best = dict(run.shown), math.inf
    for k in range(HALVES, 0, -1):
        at = max((at for at in known if at <= run.shown[-1][0] * 0.5**k), default=None)
        if at is not None and not clock.expired:
            limits = Limits(gap=gap, time_limit=clock.remaining / k)
            best = min(best, with_mechanism(problem, known.pop(at), run.leakage, limits).upper)
            yield at, best


def _runs(run: Callable[[int, Clock], R], seeds: int, clock: Clock) -> Iterator[R]:
    """The starts one after the other, each with an even share of the time that is left."""
    for seed in range(seeds):
        yield run(seed, clock.slice(clock.remaining / (seeds - seed)))
        if clock.expired:
            return


def _attained(method: str, runs: Sequence[LeakageRun] | Sequence[DesignRun], **best: Any) -> Attained:
    iterations, evaluations = sum(run.iterations for run in runs), sum(run.evaluations for run in runs)
    return Attained(method=method, seeds=len(runs), iterations=iterations, evaluations=evaluations, **best)


def _judged(problem: DesignProblem, run: DesignRun, gap: float, seconds: float) -> tuple[DesignResult, float, float]:
    """The proved design that a run's mechanism is, and by how much at least and at most it broke what it must meet, as it came."""
    over, leakage = [float(rows_broken(problem, run.rows))] * 2, run.leakage
    for adversary, limit in limits_of(problem):
        audit = solve(problem.release(run.rows.tolist(), adversary), gap=0.1 * gap, time_limit=seconds)
        over = [max(have, end - limit) for have, end in zip(over, (audit.lower, audit.upper), strict=True)]
        leakage = audit.upper if adversary is problem.adversary else leakage
    return with_mechanism(problem, run.rows, leakage, Limits(gap=gap, time_limit=seconds)), over[0], over[1]


def _trace(runs: Sequence[LeakageRun]) -> tuple[tuple[float, float], ...]:
    """(seconds, best value so far) of all starts one after the other."""
    moments = [moment for run in runs for moment in run.trace]
    so_far = accumulate((moment.value for moment in moments), max)
    return tuple(zip((moment.seconds for moment in moments), so_far, strict=True))
