"""Rivals side by side: the certified solver and the baselines on one problem, everybody measured against what is proved."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields

from cvxcertify.talking import say, talking
from dalenius._solve import need_way, solve
from dalenius.errors import DaleniusError, InputError, brief
from dalenius.exact import as_integer, is_number
from dalenius.intervals import percent_text, text_above, text_below
from dalenius.model import Problem, audited
from dalenius.notebook import aligned, grid, in_brief
from dalenius.outcome import Termination
from dalenius.results import DesignResult, Result
from dalenius.search import Clock, hearing, need_solver, stopped_by_interrupt
from dalenius.studies.contest import (
    CERTIFIED,
    Attained,
    Contested,
    MethodOutcome,
    Settings,
    certified,
    contestants,
    field_of,
    maximises,
)
from dalenius.studies.points import better_of, with_prior
from dalenius.units import Quantity

SHOWN = (
    "method",
    "starts",
    "value",
    "falls short by",
    "could be lower by",
    "budget",
    "seconds",
)  # with times to come near
SHARES = ("1", "0.1", "0.01")  # per cent of the best proved value that a table has times for
LEAST = 1e-3  # seconds that the certified solver has in any case
EVALUATION = 1e-9, 1e-12  # relative and absolute: what evaluating a value in doubles may lose


@dataclass(frozen=True)
class Comparison:
    """One problem, the proved answer after the comparison, and what every method attained.

    Attributes
    ----------
    problem : Problem
    result : Result or DesignResult
        The certified solver's answer. Where a rival's point is better, the end that a point attains is that one's, proved.
    gap : float
        What counts as having arrived.
    entries : tuple of MethodOutcome
    best : str
        The method whose point is the one in `result`.
    unfinished : tuple of str
        The methods that were asked and not done when somebody interrupted, or the time was up.
    left_out : dict of method -> why it does not know such a design
    cut_off : dict of method -> seconds
        Those that used up their time, the budget or their share of the time limit, and might do better with more.
    """

    __repr__ = in_brief

    problem: Problem
    result: Result | DesignResult
    gap: float
    entries: tuple[MethodOutcome, ...]
    best: str = CERTIFIED
    unfinished: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    cut_off: Mapping[str, float] = field(default_factory=dict)

    @property
    def lower(self) -> float:
        """No optimum is below; proved."""
        return self.result.lower

    @property
    def upper(self) -> float:
        """No optimum is above; proved."""
        return self.result.upper

    @property
    def units(self) -> str:
        """Of both ends and of all values."""
        return self.result.units

    @property
    def violation_units(self) -> str:
        """Of the violations: those of the budget, or of the adversary's entropy."""
        return "distortion" if self.quantity is Quantity.LEAKAGE and not self.maximises else "nats"

    @property
    def termination(self) -> Termination:
        """Why the certified solver stopped; or that a rival's point closed the gap."""
        return self.result.termination

    @property
    def quantity(self) -> Quantity:
        """Quantity of the values: leakages, or distortions."""
        return self.problem.quantity

    @property
    def maximises(self) -> bool:
        """True if larger values are better: an audit looks for the worst adversary, a design for the best mechanism."""
        return maximises(self.result)

    def value_text(self, value: float, digits: int = 17) -> str:
        """An attained value as a decimal, rounded so that no more is said than was attained; empty where there is none."""
        return "" if math.isnan(value) else text_below(value, digits) if self.maximises else text_above(value, digits)

    def bound_text(self, bound: float, digits: int = 17) -> str:
        """Bound of a method as a decimal, rounded so that no more is said."""
        return text_above(bound, digits) if self.maximises else text_below(bound, digits)

    def seconds_to(self, entry: MethodOutcome, share: float) -> float | None:
        """Return when a value was within this share of the best proved one, if ever; a rival's designs are judged now and then."""
        return _when(entry, self.result, share)

    def cells(self, entry: MethodOutcome) -> dict[str, str]:
        """Cells of a method's row, as texts below their heads."""
        unit, bound = self.units, entry.bound
        times = {f"seconds to {share} % of best": self.seconds_to(entry, float(share) / 100.0) for share in SHARES}
        return {
            "method": entry.method,
            "starts": str(entry.seeds),
            f"value, {unit}": self.value_text(entry.value, 8),
            f"uniform start, {unit}": self.value_text(entry.first, 8) or "-",
            "falls short by" if self.maximises else "could be lower by": percent_text(
                entry.shortfall, entry.shortfall_at_most
            ),
            f"no {'more' if self.maximises else 'less'} than, {unit}": "-"
            if bound is None
            else self.bound_text(bound, 8),
            "budget": self._kept(entry),
            f"violation, {self.violation_units}": f"{entry.violation:.1e}",
            "iterations": str(entry.iterations) if entry.iterations else "-",
            "evaluations": str(entry.evaluations) if entry.evaluations else "-",
            "seconds": f"{entry.seconds:.2f}",
            **{head: "never" if at is None else f"{at:.2f}" for head, at in times.items()},
        }

    def _kept(self, entry: MethodOutcome) -> str:
        """Words for whether a method's own point meets its budget."""
        most = entry.violation if entry.violation_at_most is None else entry.violation_at_most
        if entry.violation > EVALUATION[0]:
            return f"broken by {entry.violation:.1e} {self.violation_units}"
        if most > EVALUATION[0]:
            return f"within {most:.1e} {self.violation_units} of it: not decided"
        return "met" if most <= 0.0 else f"met but for {most:.0e}"

    @property
    def table(self) -> list[list[str]]:
        """A head, and a row a method: value, what it misses of the proved end, whether its budget is met, how soon it came near."""
        rows = [self.cells(entry) for entry in self.entries]
        heads = [
            head
            for head in (rows[0] if rows else {})
            if head.partition(",")[0] in SHOWN or head.startswith("seconds to ")
        ]
        return [heads, *([row[head] for head in heads] for row in rows)]

    @property
    def notes(self) -> list[str]:
        """Notes on the proved interval, whose point it rests on, and who was left out."""
        found = [f"certified  {self.result.interval}; {self.termination.advice}"]
        if self.best != CERTIFIED:
            found.append(
                f"the {'lower' if self.maximises else 'upper'} end is the point that {self.best} found, brought within what is asked "
                "if it was not, and proved here"
            )
        for reason in dict.fromkeys(self.left_out.values()):
            found.append(f"{', '.join(method for method, why in self.left_out.items() if why == reason)}: {reason}")
        if self.cut_off:
            had = ", ".join(f"{method} after {text_below(seconds, 2)} s" for method, seconds in self.cut_off.items())
            found.append(f"cut off by the budget or a share of the time limit, more time may find better: {had}")
        if self.unfinished:
            found.append(f"interrupted, or out of time: {', '.join(self.unfinished)} left out")
        return found

    def __str__(self) -> str:
        return "\n".join([*self.notes, *([aligned(self.table)] if self.entries else [])])

    def _repr_html_(self) -> str:
        head, *rows = self.table
        return grid("; ".join(self.notes), head, rows)

    def entry(self, method: str) -> MethodOutcome:
        """Outcome of a method; `KeyError` if it was not asked."""
        return {entry.method: entry for entry in self.entries}[method]


def methods_for(problem: Problem) -> list[str]:
    """The methods that can be asked about a problem: all of `METHODS` that fit its kind and its size and are installed.

    >>> import dalenius as dl
    >>> methods_for(dl.WorstCaseLeakage(records=dl.Records(1000, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("0.5 max")))[:4]
    ['certified', 'paper-aggregated', 'slsqp', 'trust-constr']
    """
    assert isinstance(problem, Contested)
    return [CERTIFIED, *contestants(field_of(problem), None, {})[0]]


def compare(
    problem: Problem,
    *,
    methods: Sequence[str] | None = None,
    seeds: int = 5,
    budget: float = 10.0,
    time_limit: float | None = None,
    gap: float = 1e-3,
    settings: Mapping[str, Settings] | None = None,
    solver: str = "auto",
    progress: Callable[[str], None] | None = None,
    verbose: bool = False,
) -> Comparison:
    """The certified solver and its rivals on one problem. The first Ctrl-C ends it with what is done.

    Nobody is the yardstick: everybody, the certified solver included, is measured against the proved interval. A rival's point that
    is better than ours is handed to the checker, and if it is proved it is the end of that interval.

    Parameters
    ----------
    problem : WorstCaseLeakage, MinLeakage, MinDistortion or MaxInformation
        The first with an `EntropyAtLeast` adversary; a design with any, and with constraints, for those rivals that know them
        (`Comparison.left_out`); the last within a limit, a funnel or a bottleneck.
    methods : sequence of str, optional
        Of `METHODS`; all that fit the problem unless given. The certified solver runs in any case: it proves the other end.
    seeds : int
        Starts of each rival: the paper's uniform one, then random ones with seeds 1, 2, ...
    budget : float
        Seconds for each method, all its starts together; none may take more than an even share of what is left. Auditing the
        mechanisms of a design's rivals may take as long again.
    time_limit : float, optional
        Seconds for everything: no method gets more than an even share of what is left, and those for which nothing is are left out.
    gap : float
        The relative gap that the certified solver stops at, and within which a rival counts as having arrived.
    settings : mapping of method -> settings, optional
        What rivals are run with, instead of their defaults: `LeakageSettings` or (designs) `DesignSettings` of the paper's algorithms,
        `Slsqp`, `TrustConstr`, `CvxpyNlp`, `Scip`, `Maingo`, all in `dalenius.baselines`.
    solver : str
        As in `solve`: who solves the certified solver's own programs of a design.
    progress : callable, optional
        Called with a method's name before it begins: ``progress=print`` shows that something goes on, which without a `time_limit`
        takes up to `budget` seconds a method, and on designs twice as many.
    verbose : bool
        As in `solve`, with a line before every method.

    Raises
    ------
    InputError
        If an argument is invalid, the adversary has no entropy bound, a method does not fit, or no mechanism meets the budget.
    DaleniusError
        If a method ends on the wrong side of the certified interval: then one of the two is wrong.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast("2.0 nats"))
    >>> comparison = compare(problem, methods=["certified", "paper-full"], seeds=1)
    >>> entry = comparison.entry("paper-full")
    >>> round(comparison.lower, 4), entry.value, round(entry.shortfall, 3), entry.reached
    (0.0795, 0.0, 1.0, None)
    """
    problem = need_comparable(problem, methods, seeds, budget, gap, time_limit)
    if problem.task == "audit" and need_solver(solver) not in ("auto", "own"):
        raise InputError(f'compare: of an audit there is no program to solve; leave solver out, got "{solver}"')
    need_way(problem, None, solver)
    rivals, left_out = contestants(field_of(problem), methods, settings or {})
    asked = [CERTIFIED, *rivals] if methods is None else list(dict.fromkeys(methods))
    clock = Clock(math.inf if time_limit is None else time_limit)
    turns = field_of(problem).turns

    def tell(method: str) -> None:
        say(f"method: {method}")
        if progress is not None:
            progress(method)

    with talking(verbose), hearing() as stop, stop.heard_by(clock):  # also between two methods
        tell(CERTIFIED)
        alone = max(min(budget, clock.remaining / (1 + turns * len(rivals))), LEAST)
        result = first = solve(problem, gap=gap, time_limit=alone, solver=solver)
        if isinstance(result, DesignResult) and not result.feasible:
            raise InputError(f"compare: {result}; there is nothing to compare")
        best, attained, waiting = CERTIFIED, dict[str, Attained](), len(rivals)
        cut_off = {CERTIFIED: alone} if first.termination is Termination.TIME_LIMIT else {}
        for method in asked:
            if method == CERTIFIED:
                attained[method] = certified(first)
                continue
            own, waiting = min(budget, clock.remaining / (turns * waiting)), waiting - 1
            if not stop.requested and own > 0.0:
                tell(method)
                turn = Clock(own)
                with stopped_by_interrupt(turn):
                    found = rivals[method](seeds, turn, gap)
                if not stop.requested:  # else it had less than its budget
                    _need_possible(found, result)
                    attained[method] = found
                    if found.seconds >= own:
                        cut_off[method] = own
                    better = _improved(problem, result, found, gap)
                    result, best = better, best if better is result else method
    unfinished = tuple(method for method in asked if method not in attained)
    entries = tuple(_measured(found, result, first, gap) for found in attained.values())
    return Comparison(problem, result, gap, entries, best, unfinished, left_out, cut_off)


def need_comparable(
    problem: object,
    methods: Sequence[str] | None,
    seeds: object,
    budget: object,
    gap: object,
    time_limit: object = None,
) -> Contested:
    """The problem; `InputError` for whatever cannot be used."""
    if not isinstance(problem, Contested):
        raise InputError(
            f"problem: expected a WorstCaseLeakage, MinLeakage, MinDistortion or MaxInformation, got {brief(problem)}"
        )
    own = field_of(problem)
    own.check()
    as_integer(seeds, "seeds", at_least=1)
    limit = 1.0 if time_limit is None else time_limit
    for name, number in (("budget", budget), ("gap", gap), ("time_limit", limit)):
        if not is_number(number) or not 0 < number < math.inf:
            raise InputError(f"{name}: expected a number above 0, got {brief(number)}")
    if methods is not None and (isinstance(methods, str) or not methods or any(m not in own.known for m in methods)):
        raise InputError(f"methods: expected some of {', '.join(own.known)}; got {brief(methods)}")
    return problem


def _need_possible(found: Attained, result: Result | DesignResult) -> None:
    """`DaleniusError` if a value is on the wrong side of what is proved."""
    if maximises(result):
        wrong = found.value > result.upper * (1.0 + EVALUATION[0]) + EVALUATION[1]
        what = f"{text_below(found.value, 17)} nats, more than the certified upper bound {text_above(result.upper, 17)}"
    else:
        wrong = found.value < result.lower * (1.0 - EVALUATION[0]) - EVALUATION[1]
        what = f"{text_above(found.value, 17)}, less than the certified lower bound {text_below(result.lower, 17)}"
    if wrong:
        raise DaleniusError(
            f"{found.method} attains {what}: one of the two is wrong; please report this with the model"
        )


def _improved(problem: Problem, result: Result | DesignResult, found: Attained, gap: float) -> Result | DesignResult:
    """The proved answer, with a rival's point where that is better, not by rounding only, and the checker proves it."""
    if isinstance(result, Result):
        if found.prior is None or found.value <= result.lower * (1.0 + EVALUATION[0]) + EVALUATION[1]:
            return result
        return better_of(problem, result, with_prior(audited(problem), found.prior), gap)
    if found.design is None or found.design.upper >= result.upper * (1.0 - EVALUATION[0]) - EVALUATION[1]:
        return result
    return better_of(problem, result, found.design, gap)


def _measured(
    found: Attained, result: Result | DesignResult, first: Result | DesignResult, gap: float
) -> MethodOutcome:
    """Outcome of a method, beside the proved interval; `first` is the certified solver's own."""
    audit = maximises(result)
    near, far = (result.lower, result.upper) if audit else (result.upper, result.lower)
    short, at_most = (_short(found.value, end) if audit else _short(end, found.value) for end in (near, far))
    if found.method == CERTIFIED:
        reached = first.seconds if first.termination is Termination.GAP_REACHED else None
    else:
        reached = _when(found, result, gap)
    own = {part.name: getattr(found, part.name) for part in fields(MethodOutcome)}
    missed = short if short > EVALUATION[0] else 0.0
    return MethodOutcome(**own | {"shortfall": missed, "shortfall_at_most": at_most, "reached": reached})


def _when(entry: MethodOutcome, result: Result | DesignResult, share: float) -> float | None:
    """Seconds until a value was within a share of the proved end that a point attains; None if never."""
    audit = maximises(result)
    enough = result.lower * (1.0 - share) if audit else result.upper * (1.0 + share)
    return next((at for at, value in entry.trace if (value >= enough if audit else value <= enough)), None)


def _short(smaller: float, larger: float) -> float:
    """(larger - smaller) / larger; 0 where rounding has them the other way round, all where no mechanism was proved."""
    if math.isinf(larger):
        return 1.0
    return (larger - smaller) / larger if larger > max(smaller, 0.0) else 0.0
