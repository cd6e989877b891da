"""Base of every program: named cvxpy objects, and a solution whose interval is evaluated in closed form; who was asked."""

from __future__ import annotations

import functools
import inspect
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, ParamSpec, TypeGuard, TypeVar

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize_scalar

from cvxcertify.errors import brief
from cvxcertify.intervals import interval_text, text_above, text_below
from cvxcertify.solvers import Attempt, usable
from cvxcertify.talking import talking
from dalenius.errors import DaleniusError, InputError
from dalenius.exact import is_number
from dalenius.information.arrays import Floats
from dalenius.outcome import SolverUse, Termination
from dalenius.programs.polish import polished
from dalenius.programs.solvers import OWN, attempt, ladder
from dalenius.programs.standard_form import StandardForm, standard_form
from dalenius.search import need_gap

Named = dict[str, Floats]
Given = ParamSpec("Given")
Made = TypeVar("Made")
CONIC = 300  # bytes that the conic form takes for a number of its data that multiplies a variable
ROUNDING = 1e-12  # outward, relative to 1 + |value|: what evaluating a closed form in doubles may lose


@dataclass(frozen=True)
class BlockSolution:
    """An interval for the optimal value of one program, and what proves it.

    Attributes
    ----------
    point : dict of name -> array
        Feasible after repair; its value is one end of the interval.
    multipliers : dict of name -> array
        Their closed-form bound is the other end, for every feasible point.
    lower, upper : float
        In nats (or in units of distortion), rounded outward by 1e-12 (1 + |value|).
    termination : Termination
    attempts : tuple of Attempt
        Diagnostics: what each solver said. Evidence of nothing.
    found_by : dict of "point", "multipliers" -> name
        Whose they are: a solver's, `own`, or `start` where nobody found better ones than those that need no solver.
    """

    point: Mapping[str, Floats]
    multipliers: Mapping[str, Floats]
    lower: float
    upper: float
    termination: Termination
    seconds: float
    attempts: tuple[Attempt, ...] = ()
    found_by: Mapping[str, str] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """upper - lower."""
        return self.upper - self.lower

    def __repr__(self) -> str:
        by = ", ".join(f"{what} by {name}" for what, name in self.found_by.items())
        ends = interval_text(self.lower, self.upper)
        return f"<BlockSolution: {', '.join(filter(None, (ends, self.termination.value, by)))}>"


def _stating(data: Callable[Given, Made]) -> Callable[Given, Made]:
    """The same function of new data, which says what it takes where what comes is none of it."""

    @functools.wraps(data)
    def given(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        try:
            return data(*args, **kwargs)
        except (TypeError, ValueError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            names = ", ".join([*inspect.signature(data).parameters][1:])
            raise InputError(f"set: {error}; expected numbers and arrays of them: set({names})") from None

    return given


class Program(ABC):
    """A DCP model of one subproblem. Subclasses are DPP in their parameters, so that solving again does not canonicalise again.

    Attributes
    ----------
    name : str
        Its place in the registry.
    maximises : bool
    problem : cvxpy.Problem
    variables, parameters, constraints : dict of name -> cvxpy object
    wanted, deadline : float
        The relative gap that `solve` was asked for, and the `time.monotonic()` at which it wants to be done: our own methods look.
    room : float
        Bytes that a method of our own, or the conic form, may take.
    stopped : callable
        Whether what it is solved for was stopped meanwhile: our own methods ask between steps.
    negligible : float
        A width of the interval that counts as none, whatever its ends are.
    unit : float
        The size of the objective: solvers are given shares of it.
    """

    name: ClassVar[str]
    maximises: ClassVar[bool]
    problem: cp.Problem
    variables: dict[str, cp.Variable]
    parameters: Mapping[str, cp.Parameter] = MappingProxyType({})
    constraints: dict[str, cp.Constraint]
    wanted: float = 1e-8
    deadline: float = math.inf
    room: float = math.inf
    stopped: Callable[[], bool] = staticmethod(lambda: False)
    negligible: float = 0.0
    unit: float = 1.0

    def __init__(self) -> None:
        self.make()

    def __init_subclass__(cls) -> None:
        if "set" in vars(cls):
            cls.set = _stating(cls.set)

    def __repr__(self) -> str:
        goal = "maximises" if self.maximises else "minimises"
        parameters = f"; parameters {_shapes(self.parameters)}" if self.parameters else ""
        return f"<{type(self).__name__}: {goal} over {_shapes(self.variables)}{parameters}>"

    def make(self) -> None:
        """Make the cvxpy objects, parameters set."""
        goal = (cp.Maximize if self.maximises else cp.Minimize)(self.build())
        self.problem = cp.Problem(goal, list(self.constraints.values()))
        self.write()

    def write(self) -> None:
        """Give the model its data, once there is one."""
        for name, value in self.data().items() if self.parameters else ():
            self.parameters[name].value = value

    @abstractmethod
    def build(self) -> cp.Expression:
        """Make the cvxpy objects; the objective."""

    def data(self) -> Mapping[str, Any]:
        """The values of the parameters, if there are any."""
        return {}

    @abstractmethod
    def start(self) -> tuple[Named, Named]:
        """A feasible point and multipliers that need no solver."""

    @abstractmethod
    def repair(self, raw: Mapping[str, Floats]) -> Named | None:
        """A feasible point near a solver's, exactly feasible up to rounding; None if nothing can be made of it."""

    @abstractmethod
    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        """Valid multipliers near a solver's; None if nothing can be made of them."""

    @abstractmethod
    def value(self, point: Mapping[str, Floats]) -> float:
        """The objective at a feasible point."""

    @abstractmethod
    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        """A bound on the objective over all feasible points, in closed form, whatever the multipliers."""

    def improve(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """A better pair made from a repaired one with at most a search in one number, or a climb; by default the same."""
        return point, multipliers

    def own(self, point: Named, multipliers: Named) -> tuple[Named, Named] | None:
        """A better pair by a method of our own, without any conic solver; None, as by default, if there is no such method."""
        return None

    @property
    def conic_bytes(self) -> float:
        """Memory of the conic form, where that may be more than there is room for; by default nothing to speak of."""
        return 0.0

    def affordable(self, name: str) -> bool:
        """True if there is room for what this solver needs."""
        return name == OWN or self.conic_bytes <= self.room

    def solve(
        self,
        *,
        solver: str | Sequence[str] = "auto",
        gap: float = 1e-8,
        time_limit: float | None = 60.0,
        verbose: bool = False,
    ) -> BlockSolution:
        """Try solvers in turn until the interval is at most `gap` wide, relative to its larger end.

        Parameters
        ----------
        solver : str or sequence of str
            Of `SOLVERS`; several are tried in turn. ``"own"`` is the program's own method, without cvxpy.
        gap : float
        time_limit : float or None
            Seconds.
        verbose : bool
            Whether the solvers' own logs are shown, and a line after each, on standard output.

        Raises
        ------
        InputError
            If an argument is invalid, a solver asked for by name is not there, or the program has no method of its own.
        """
        limit = checked(gap, time_limit)
        started = time.monotonic()
        self.wanted, self.deadline = gap, started + limit
        best = _Best(self)
        attempts: list[Attempt] = []
        for name, settings in ladder(solver):
            left = limit - (time.monotonic() - started)
            if best.gap <= gap or left <= 0.0:
                break
            if not self.affordable(name):
                continue
            if name != OWN:
                with talking(verbose):
                    attempts.append(best.offer(self.attempt_with(name, settings, left)))
            elif (made := best.own()) is not None:
                attempts.append(made)
            elif solver == OWN:
                raise InputError(
                    f"solver: the program {self.name} has no method of our own; choose 'auto', or a solver"
                )
        seconds = time.monotonic() - started
        late = seconds >= limit or any(made.hung for made in attempts)
        termination = Termination.TIME_LIMIT if late else Termination.STALLED
        return best.solution(Termination.GAP_REACHED if best.gap <= gap else termination, seconds, tuple(attempts))

    def certify(
        self, point: Mapping[str, object], duals: Mapping[str, object] | None = None, *, gap: float = 1e-8
    ) -> BlockSolution:
        """The interval that somebody else's solution proves; nothing of ours solves the program.

        The point is repaired and the multipliers are projected, as those of `solve`'s solvers are, with at most a search in one number
        or a climb from the point; what is better is kept, each side by itself. So the interval is valid whatever is handed in, and at
        worst that of `start`.

        Parameters
        ----------
        point : mapping of name -> array
            Values of `variables`, as many as there are. What has another shape, or numbers beyond 1e100, is ignored.
        duals : mapping of name -> array, optional
            Multipliers of `constraints` in the dual cones: at least 0 for inequalities; (3, ...) for exponential cones, in the
            model's order.
        gap : float
            What counts as `GAP_REACHED`.

        Raises
        ------
        InputError
            If the gap is no number of at least 0, or what is given is no mapping.
        """
        checked(gap, None)
        for what, value in (("point", point), ("duals", duals)):
            if not isinstance(value, Mapping) and not (value is None and what == "duals"):
                raise InputError(f"{self.name}: {what}: expected arrays by their names, got {brief(value)}")
        given = {name: (value, self.variables[name].shape) for name, value in point.items() if name in self.variables}
        prices = {k: (v, self.constraints[k].shape) for k, v in (duals or {}).items() if k in self.constraints}
        started, best = time.monotonic(), _Best(self)
        noted = best.offer(Attempt("given", "given", None, 0.0, usable(given), usable(prices)))
        termination = Termination.GAP_REACHED if best.gap <= gap else Termination.STALLED
        return best.solution(termination, time.monotonic() - started, (noted,))

    def standard_form(self) -> StandardForm:
        """The model with its present data as c, A, b and cones, with names: for other people's solvers (`dalenius.export`)."""
        return standard_form(self.name, self.problem, self.variables, self.constraints)

    def attempt_with(self, name: str, settings: dict[str, Any], left: float) -> Attempt:
        """One attempt; if its thread may still be running, it keeps the old cvxpy objects and the program makes new ones."""
        running, problem, goal = True, self.problem, self.problem.objective
        if self.unit != 1.0:
            problem = cp.Problem(type(goal)(goal.expr / self.unit), problem.constraints)
        try:
            limit = left if math.isfinite(left) else None
            made = attempt(problem, self.variables, self.constraints, name, settings, time_limit=limit)
            running = made.hung
        finally:  # Ctrl-C, too
            if running:
                self.make()
        return replace(made, duals={name: self.unit * dual for name, dual in made.duals.items()})

    def candidates(self, made: Attempt) -> tuple[Attempt, Named | None, Named | None]:
        """The attempt, with a note on what garbage raised, and what could be made of it: a feasible point, and valid multipliers."""
        notes: list[str] = []
        point = _tried(notes, self.repair, made.point) if made.point else None
        multipliers = _tried(notes, self.project, made.duals) if made.duals else None
        return _noted(made, notes), point, multipliers


def _shapes(named: Mapping[str, cp.Variable | cp.Parameter]) -> str:
    return ", ".join(f"{name} {thing.shape}" for name, thing in named.items())


def _noted(made: Attempt, notes: list[str]) -> Attempt:
    return replace(made, status="; ".join([made.status, *dict.fromkeys(notes)]))


def _tried(notes: list[str], function: Callable[Given, Made], *given: Given.args, **named: Given.kwargs) -> Made | None:
    """Apply a function to the answer of a solver, which may be anything; None, and a note, if it cannot handle it."""
    try:
        with np.errstate(all="ignore"):
            return function(*given, **named)
    except Exception as error:  # noqa: BLE001  (an answer may be bad, a crash may not be)
        notes.append(f"{function.__name__}: {type(error).__name__}")
        return None


class _Best:
    """The best pair so far, judged by the closed forms alone."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sign = 1.0 if program.maximises else -1.0
        self.point, self.multipliers = program.start()
        self.value, self.bound = program.value(self.point), program.bound(self.multipliers)
        self.found_by = {"point": "start", "multipliers": "start"}

    @property
    def gap(self) -> float:
        """Width over the larger end's size."""
        width = self.sign * (self.bound - self.value) - self.program.negligible
        return max(width, 0.0) / max(abs(self.bound), abs(self.value), 1e-9) if math.isfinite(width) else math.inf

    def offer(self, made: Attempt) -> Attempt:
        """Take what is better, each side by itself; pairs are improved together. What garbage raised is noted in the status."""
        made, point, multipliers = self.program.candidates(made)
        notes: list[str] = []
        pair = (point or self.point, multipliers or self.multipliers)
        by = made.solver if point or multipliers else "start"  # it sent nothing: what is improved is not its
        for p, m in (pair, _tried(notes, self.program.improve, *pair) or pair):
            self._take(by, p, m, notes)
        return _noted(made, notes)

    def own(self) -> Attempt | None:
        """Take what the program's own method makes of the best pair; None if it has no such method."""
        started, notes = time.monotonic(), list[str]()
        pair = _tried(notes, self.program.own, self.point, self.multipliers)
        if pair is None and not notes:
            return None
        if pair is not None:
            self._take(OWN, *pair, notes)
        return _noted(Attempt(OWN, "done", None, time.monotonic() - started, {}, {}), notes)

    def _take(self, solver: str, p: Named, m: Named, notes: list[str]) -> None:
        value, bound = _tried(notes, self.program.value, p), _tried(notes, self.program.bound, m)
        if _better(value, self.value, self.sign):
            self.point, self.value, self.found_by["point"] = p, value, solver
        if _better(bound, self.bound, -self.sign):
            self.multipliers, self.bound, self.found_by["multipliers"] = m, bound, solver

    def solution(self, termination: Termination, seconds: float, attempts: tuple[Attempt, ...]) -> BlockSolution:
        low, high = (self.value, self.bound) if self.sign > 0 else (self.bound, self.value)
        if low - high > 1e-9 * (1.0 + abs(high)):
            raise DaleniusError(
                f"{self.program.name}: the bound {text_below(high, 17)} is on the wrong side of {text_above(low, 17)}; this is a "
                "bug, please report it"
            )
        low, high = min(low, high), max(low, high)  # they may cross by rounding
        return BlockSolution(
            point=self.point,
            multipliers=self.multipliers,
            lower=low - ROUNDING * (1.0 + abs(low)),
            upper=high + ROUNDING * (1.0 + abs(high)),
            termination=termination,
            seconds=seconds,
            attempts=attempts,
            found_by=self.found_by,
        )


def _better(new: object, old: float, sign: float) -> TypeGuard[float]:
    return isinstance(new, float) and math.isfinite(new) and sign * new > sign * old


def checked(gap: float, time_limit: float | None) -> float:
    """The time limit as a number; InputError if either is none of at least 0."""
    need_gap(gap)
    limit = math.inf if time_limit is None else time_limit
    if not (is_number(limit) and limit >= 0):
        raise InputError(f"time_limit: expected a number of at least 0, got {brief(limit)}")
    return float(limit)


LEAST = 1e-9  # multipliers are looked for between this and its inverse


class OneMultiplier(Program):
    """A program with a constraint `entropy` and a bound in closed form for every multiplier mu >= 0 of it."""

    @abstractmethod
    def bound_at(self, mu: float) -> float:
        """The bound for mu >= 0, convex in mu."""

    @abstractmethod
    def point_at(self, mu: float) -> Named:
        """Point where the bound for mu is attained, made feasible."""

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        return self.bound_at(float(multipliers["mu"]))

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        mu = duals.get("entropy")
        return None if mu is None or mu.size != 1 else {"mu": np.maximum(mu.reshape(()), 0.0)}

    def improve(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """A search for the multiplier near the given one, and the maximiser that belongs to it."""
        mu = polished(self.bound_at, float(multipliers["mu"]))
        return self.point_at(mu), {"mu": np.array(mu)}

    def own(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """The same search among all multipliers: the bound is convex in one number, and its least value is the maximum."""
        ends = math.log(LEAST), -math.log(LEAST)
        found = minimize_scalar(lambda t: self.bound_at(math.exp(t)), bounds=ends, method="bounded")
        return self.improve(point, {"mu": np.array(math.exp(found.x))})


class Tally:
    """Counts the solves of programs by solver.

    >>> import numpy as np
    >>> from dalenius.programs import MarginalUpdate
    >>> tally = Tally()
    >>> tally.add("marginal", MarginalUpdate(np.array([[0.9, 0.1], [0.2, 0.8]]), np.zeros(2), 0.5).solve(solver="clarabel"))
    >>> [(use.block, use.solver, use.solves, use.ends) for use in tally.uses({"lower": ("marginal", "CLARABEL")})]
    [('marginal', 'clarabel', 1, ('lower',))]
    """

    def __init__(self) -> None:
        self._spent: dict[tuple[str, str], tuple[int, float]] = {}

    def add(self, block: str, solution: BlockSolution) -> None:
        """Count what was tried for one solution."""
        for made in solution.attempts:
            solves, seconds = self._spent.get((block, made.solver), (0, 0.0))
            self._spent[block, made.solver] = solves + 1, seconds + made.seconds

    def uses(self, ends: Mapping[str, tuple[str, str]]) -> tuple[SolverUse, ...]:
        """One entry a block and solver; `ends` says of an interval's ends whose answers they rest on."""
        return tuple(
            SolverUse(block, solver.lower(), *spent, tuple(end for end, by in ends.items() if by == (block, solver)))
            for (block, solver), spent in self._spent.items()
        )
