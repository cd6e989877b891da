"""Rivals side by side: the certified solver and the baselines on one problem, judged by one evaluator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from dalenius._solve import solve
from dalenius.baselines import DesignRun, Family, LeakageRun, design_run, within_budget
from dalenius.errors import DaleniusError, InputError
from dalenius.exact import as_integer, brief, is_number
from dalenius.information.arrays import Floats
from dalenius.intervals import text_above, text_below
from dalenius.model import DesignProblem, EntropyAtLeast, MaximalLeakage, MinDistortion, Problem
from dalenius.outcome import Termination
from dalenius.results import DesignResult, Result
from dalenius.search import Clock, hearing, stopped_by_interrupt
from dalenius.studies.methods import AUDITS, CERTIFIED, DESIGNS, FAMILIES, METHODS
from dalenius.units import Quantity

__all__ = ["METHODS", "Comparison", "MethodOutcome", "compare", "methods_for"]

EVALUATION = 1e-9, 1e-12  # relative and absolute: what evaluating a value in doubles may lose


@dataclass(frozen=True)
class MethodOutcome:
    """What one method attained.

    Attributes
    ----------
    method : str
    seeds : int
        How many starts there was time for; the first one is the paper's uniform start.
    value : float
        The best value over the starts, of a feasible point, judged by the house. Audit: the leakage to the prior found. `MinLeakage`:
        the certified upper bound of what the mechanism leaks. `MinDistortion`: the distortion, after mixing with a silent mechanism
        until the certified leakage meets the budget.
    claimed : float
        The best value that the method itself believed in; for designs it rests on the method's own search for the adversary.
    first : float
        The value from the paper's uniform start alone, judged as `value` is; nan for the certified solver.
    shortfall : float
        By how much the value misses the certified interval, relative to its upper end: (lower - value) / upper for an audit,
        (value - upper) / value for a design, 0 inside.
    violation : float
        By how much the method's own point breaks its budget after its own repair: nats of entropy, distortion, or nats of leakage
        (`MinDistortion`, by the certified audit).
    iterations, evaluations : int
        Over all starts.
    seconds : float
        Over all starts, without the judging.
    reached : float or None
        Seconds until the value was within the gap of the certified one; None if never. Designs: judged at the end only.
    trace : tuple of (seconds, best value so far)
        Of a rival's design what the method believed in; never better than what was proved in the end, for the certified solver.
    """

    method: str
    seeds: int
    value: float
    claimed: float
    first: float
    shortfall: float
    violation: float
    iterations: int
    evaluations: int
    seconds: float
    reached: float | None
    trace: tuple[tuple[float, float], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Comparison:
    """One problem, its certified interval ``lower <= optimum <= upper`` in `units`, and what every method attained.

    `unfinished` are the methods that were asked and not done when somebody interrupted; `entries` has the others.
    """

    problem: Problem
    lower: float
    upper: float
    units: str
    gap: float
    termination: Termination
    entries: tuple[MethodOutcome, ...]
    unfinished: tuple[str, ...] = ()

    @property
    def quantity(self) -> Quantity:
        """What the values measure: leakages, or distortions."""
        return self.problem.quantity

    @property
    def maximises(self) -> bool:
        """Whether larger values are better: an audit looks for the worst adversary, a design for the best mechanism."""
        return isinstance(self.problem, MaximalLeakage)

    def value_text(self, value: float, digits: int = 17) -> str:
        """An attained value as a decimal, rounded so that no more is said than was attained; empty where there is none."""
        return "" if math.isnan(value) else text_below(value, digits) if self.maximises else text_above(value, digits)

    def entry(self, method: str) -> MethodOutcome:
        """What a method attained; `KeyError` if it was not asked."""
        return {entry.method: entry for entry in self.entries}[method]


def methods_for(problem: Problem) -> list[str]:
    """The methods that can be asked about a problem: all of `METHODS` that fit its kind and its size and are installed.

    >>> import dalenius as dl
    >>> methods_for(dl.MaximalLeakage(records=dl.Records(1000, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("0.5 max")))[:4]
    ['certified', 'paper-aggregated', 'slsqp', 'trust-constr']
    """
    return [CERTIFIED, *_rivals(problem, None)]


def compare(
    problem: Problem,
    *,
    methods: Sequence[str] | None = None,
    seeds: int = 5,
    budget: float = 10.0,
    gap: float = 1e-3,
) -> Comparison:
    """The certified solver and its rivals on one problem. The first Ctrl-C ends it with what is done.

    Parameters
    ----------
    problem : MaximalLeakage, MinLeakage or MinDistortion
        With an `EntropyAtLeast` adversary.
    methods : sequence of str, optional
        Of `METHODS`; all that fit the problem unless given. The certified solver runs in any case: it is the yardstick.
    seeds : int
        Starts of each rival: the paper's uniform one, then random ones with seeds 1, 2, ...
    budget : float
        Seconds for each method, all its starts together; none may take more than an even share of what is left. Auditing the
        mechanisms of a design's rivals may take as long again.
    gap : float
        The relative gap that the certified solver stops at, and within which a rival counts as having arrived.

    Raises
    ------
    InputError
        If an argument is invalid, the adversary has no entropy bound, a method does not fit, or no mechanism meets the budget.
    DaleniusError
        If a method ends on the wrong side of the certified interval: then one of the two is wrong.

    >>> import dalenius as dl
    >>> problem = dl.MaximalLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast(2.0))
    >>> comparison = compare(problem, methods=["certified", "paper-full"], seeds=1)
    >>> entry = comparison.entry("paper-full")
    >>> round(comparison.lower, 4), entry.value, round(entry.shortfall, 3), entry.reached
    (0.0795, 0.0, 1.0, None)
    """
    _check(problem, methods, seeds, budget, gap)
    rivals = _rivals(problem, methods)
    asked = [CERTIFIED, *rivals] if methods is None else list(dict.fromkeys(methods))
    with hearing() as stop, stop.heard_by(Clock()):  # also between two methods
        result = solve(problem, gap=gap, time_limit=budget)
        if isinstance(result, DesignResult) and not result.feasible:
            raise InputError(
                "compare: no mechanism of the class meets the budget (proved); there is nothing to compare"
            )
        entries = dict[str, MethodOutcome]()
        for method in asked:
            if method == CERTIFIED:
                entries[method] = _certified(result)
            elif not stop.requested:
                entry = _rival(problem, rivals[method], method, seeds, budget, gap, result)
                if not stop.requested:  # else it had less than its budget
                    entries[method] = entry
    unfinished = tuple(method for method in asked if method not in entries)
    ends = result.lower, result.upper, result.units
    return Comparison(problem, *ends, gap, result.termination, tuple(entries.values()), unfinished)


def _rival(
    problem: Problem,
    family: Family,
    method: str,
    seeds: int,
    budget: float,
    gap: float,
    result: Result | DesignResult,
) -> MethodOutcome:
    """What a rival attains."""
    clock = Clock(budget)
    with stopped_by_interrupt(clock):
        if isinstance(problem, MaximalLeakage):
            return _audited(family, method, seeds, clock, gap, result)
        assert isinstance(problem, DesignProblem)
        return _designed(problem, family, method, seeds, clock, gap, result)


def _check(problem: object, methods: Sequence[str] | None, seeds: object, budget: object, gap: object) -> None:
    """`InputError` for whatever cannot be used."""
    if not isinstance(problem, MaximalLeakage | DesignProblem):
        raise InputError(f"problem: expected a MaximalLeakage, MinLeakage or MinDistortion, got {brief(problem)}")
    adversary = problem.against("compare")
    if isinstance(problem, DesignProblem):
        problem.without_constraints("compare")
    if not isinstance(adversary, EntropyAtLeast):
        raise InputError(f"compare: the baselines know adversaries with entropy_at_least only, got {adversary.kind}")
    as_integer(seeds, "seeds", at_least=1)
    for name, number in (("budget", budget), ("gap", gap)):
        if not is_number(number) or not 0 < number < math.inf:
            raise InputError(f"{name}: expected a number above 0, got {brief(number)}")
    if methods is not None and (isinstance(methods, str) or not methods or any(m not in METHODS for m in methods)):
        raise InputError(f"methods: expected some of {', '.join(METHODS)}; got {brief(methods)}")


def _rivals(problem: Problem, methods: Sequence[str] | None) -> dict[str, Family]:
    """The rivals asked, with the laws that each searches; without `methods` all that fit. `InputError` where one asked does not."""
    assert isinstance(problem, MaximalLeakage | DesignProblem)
    built: dict[Callable[[MaximalLeakage | DesignProblem], Family], Family] = {}
    found = {}
    for method in AUDITS if methods is None else methods:
        if method == CERTIFIED:
            continue
        try:
            if method not in DESIGNS and not isinstance(problem, MaximalLeakage):
                raise InputError(f"methods: {method} audits a mechanism, it does not design one")
            build = FAMILIES[method]
            built[build] = built.get(build) or build(problem)
            if method not in DESIGNS:
                AUDITS[method](
                    built[build], clock=Clock(0.0)
                )  # refuses what does not fit, and imports what takes long to
        except InputError:
            if methods is not None:
                raise
            continue
        found[method] = built[build]
    return found


def _certified(result: Result | DesignResult) -> MethodOutcome:
    """What the yardstick attained: its value is the end of the interval that a point attains."""
    audit = isinstance(result, Result)
    value = result.lower if audit else result.upper
    rounds = result.rounds if isinstance(result, DesignResult) else 0
    seen = [moment.lower if audit else moment.upper for moment in result.trace]
    so_far = np.maximum.accumulate(seen) if audit else np.minimum.accumulate(seen)
    proved = np.minimum(so_far, value) if audit else np.maximum(so_far, value)
    return MethodOutcome(
        method=CERTIFIED,
        seeds=1,
        value=value,
        claimed=value,
        first=math.nan,
        shortfall=0.0,
        violation=0.0,
        iterations=rounds,
        evaluations=0,
        seconds=result.seconds,
        reached=result.seconds if result.termination is Termination.GAP_REACHED else None,
        trace=tuple(zip((moment.seconds for moment in result.trace), proved.tolist(), strict=True)),
    )


# ---------------------------------------------------------------- audits


def _audited(
    family: Family, method: str, seeds: int, clock: Clock, gap: float, result: Result | DesignResult
) -> MethodOutcome:
    """A rival on Problem 1: the best of its starts."""
    runs = list[LeakageRun]()
    for seed, law in enumerate(_starts(family, seeds)):
        runs.append(AUDITS[method](family, law, clock=clock.slice(clock.remaining / (seeds - seed))))
        if clock.expired:
            break
    best = max(runs, key=lambda found: found.value)
    seconds = clock.seconds
    if best.value > result.upper * (1.0 + EVALUATION[0]) + EVALUATION[1]:
        raise DaleniusError(
            f"{method} attains {text_below(best.value, 17)} nats, more than the certified upper bound {text_above(result.upper, 17)}: "
            "one of the two is wrong; please report this with the model"
        )
    trace = _trace(runs, max)
    return MethodOutcome(
        method=method,
        seeds=len(runs),
        value=best.value,
        claimed=best.value,
        first=runs[0].value,
        shortfall=max(result.lower - best.value, 0.0) / result.upper if result.upper > 0.0 else 0.0,
        violation=best.violation,
        iterations=sum(found.iterations for found in runs),
        evaluations=sum(found.evaluations for found in runs),
        seconds=seconds,
        reached=next((at for at, value in trace if value >= result.lower * (1.0 - gap)), None),
        trace=trace,
    )


def _starts(family: Family, seeds: int) -> Iterator[Floats]:
    """The uniform start, and the first random one of each of the seeds 1, 2, ..."""
    yield family.uniform
    for seed in range(1, seeds):
        yield family.random(np.random.default_rng(seed))


def _trace(
    runs: Sequence[LeakageRun] | Sequence[DesignRun], better: Callable[[float, float], float]
) -> tuple[tuple[float, float], ...]:
    """(seconds, best value so far) of all starts one after the other."""
    trace: list[tuple[float, float]] = []
    for run in runs:
        for moment in run.trace:
            trace.append((moment.seconds, better(trace[-1][1], moment.value) if trace else moment.value))
    return tuple(trace)


# ---------------------------------------------------------------- designs


def _designed(
    problem: DesignProblem,
    family: Family,
    method: str,
    seeds: int,
    clock: Clock,
    gap: float,
    result: Result | DesignResult,
) -> MethodOutcome:
    """A rival on Problem 2 or 3: every start's mechanism is audited, and the best one counts."""
    runs = list[DesignRun]()
    for seed in range(seeds):
        turn = clock.slice(clock.remaining / (seeds - seed))
        runs.append(design_run(problem, family, np.random.default_rng(seed) if seed else None, clock=turn))
        if clock.expired:
            break
    seconds = clock.seconds
    judged = [_judged(problem, run, gap, clock.time_limit / len(runs)) for run in runs]
    best = int(np.argmin([value for value, _ in judged]))
    value, violation = judged[best]
    if value < result.lower * (1.0 - EVALUATION[0]) - EVALUATION[1]:
        raise DaleniusError(
            f"{method} attains {text_above(value, 17)}, less than the certified lower bound {text_below(result.lower, 17)}: "
            "one of the two is wrong; please report this with the model"
        )
    return MethodOutcome(
        method=method,
        seeds=len(runs),
        value=value,
        claimed=min(run.value for run in runs),
        first=judged[0][0],
        shortfall=max(value - result.upper, 0.0) / value if value > 0.0 else 0.0,
        violation=violation,
        iterations=sum(run.iterations for run in runs),
        evaluations=sum(run.evaluations for run in runs),
        seconds=seconds,
        reached=seconds if value <= result.upper * (1.0 + gap) else None,
        trace=_trace(runs, min),
    )


def _judged(problem: DesignProblem, run: DesignRun, gap: float, seconds: float) -> tuple[float, float]:
    """The value of a run's mechanism by the house, and by how much it broke its budget as it came."""
    audit = solve(problem.release(run.rows.tolist()), gap=0.1 * gap, time_limit=seconds)
    if not isinstance(problem, MinDistortion):
        return audit.upper, run.violation
    rows = within_budget(problem, run.rows, audit.upper)
    return float(problem.expected_distortion(rows.tolist())), max(audit.lower - problem.max_leakage_nats, 0.0)
