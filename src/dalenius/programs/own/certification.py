"""A rigorous interval for the optimal value of any DCP model, from any solver's numbers."""

from __future__ import annotations

import logging
import math
import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import cvxpy as cp
import numpy as np
from flint import fmpq
from numpy.typing import ArrayLike

from dalenius._verify import verify_interval
from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.outcome import ProofRefusedWarning, Termination
from dalenius.programs.base import checked
from dalenius.programs.own.derive import Derived, Ranges, derived
from dalenius.programs.own.dual import bound, proposals
from dalenius.programs.own.instance import Cone, Instance, as_bound, as_float, exactly
from dalenius.programs.own.interval import CertifiedInterval, Standing
from dalenius.programs.own.point import Point, feasible, inner_instance, mixed
from dalenius.programs.own.proof import Lower, Upper, proof_text
from dalenius.programs.own.ranges import RangeState, outward, propagated
from dalenius.programs.own.solving import Answer, ask
from dalenius.programs.own.vacuous import Trimmed
from dalenius.programs.solvers import Attempt, ladder, usable
from dalenius.search import stop_requested

__all__ = ["certify"]

logger = logging.getLogger("dalenius")
ROOM = 0.1  # how far beyond the value at hand the cutoff is, relative to 1 + |value|
PINNINGS = 3  # how often inequalities are pinned at most
INSIDE = 1e-9  # how far inside the cones a point counts as strictly inside
TIGHT = 1e-3  # of the largest multiplier: an inequality with such a one is tight
LARGEST = 1e100  # of a value that says something
SMALLEST = 1e-9  # of the larger end, in relative gaps


def certify(
    problem: cp.Problem,
    *,
    solver: str = "auto",
    gap: float = 1e-8,
    time_limit: float | None = 60.0,
    ranges: Ranges | None = None,
    x: ArrayLike | None = None,
    z: ArrayLike | None = None,
) -> CertifiedInterval:
    """An interval that contains the optimal value of a convex model, whatever its solver did.

    The bound holds by weak duality for any multipliers z in the dual cones of the conic form, minimise c x over A x + b in K:
    c x >= -b z + sum_j min((c - A'z)_j x_j), the minimum over the range of each column. So a solver's z is moved into the dual cones,
    polished until c - A'z nearly vanishes, and what is left is paid for. The other end is the value of a point whose feasibility is
    decided in rationals. The independent checker has proved both before they are returned (docs/own-models.md).

    Parameters
    ----------
    problem : cvxpy.Problem
        DCP, over real continuous variables. Its variables are read, and left as they are. Cones: zero, nonnegative, second-order,
        exponential, positive semidefinite.
    solver : str
        One of `dalenius.programs.SOLVERS`; ``"auto"`` tries several.
    gap : float
        (upper - lower) over the larger end's size, at which the work stops.
    time_limit : float or None
        Seconds for the solvers.
    ranges : mapping of cvxpy.Variable -> (low, high), optional
        Bounds of variables, numbers or arrays, as if they were constraints of the problem. Bounds that the model's constraints imply
        are found without.
    x, z : (columns,) and (rows,) arrays, optional
        What a solver of one's own says of the instance that `dalenius.export.export` writes: a point, and multipliers in the dual
        cones with c = A' z for a minimum and c = -A' z for a maximum. Then nothing solves the problem itself; `solver` only looks for
        a point inside the cones. Entries may be anything.

    Returns
    -------
    CertifiedInterval
        Valid always; narrow if a solver came near the optimum. A variable without bounds is no obstacle in itself, but where the bound
        fails because of one, `advice` names it.

    Raises
    ------
    InputError
        If the problem is not DCP, has integer or complex variables, none at all, a parameter without a value, or needs another cone;
        if x or z has another length, another argument is invalid, or a solver asked for by name is not there.

    Warns
    -----
    ProofRefusedWarning
        If the checker does not prove an end, which is then infinite: a defect, or a limit of the checker.

    >>> x = cp.Variable(3, nonneg=True)
    >>> model = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, x[0] <= 0.2])
    >>> found = certify(model)
    >>> found.lower <= 0.2 * math.log(5) + 0.8 * math.log(2.5) <= found.upper, found.gap <= 1e-8, found.claim.value
    (True, True, 'model')
    """
    limit = checked(gap, time_limit)
    started = time.monotonic()
    rungs = list(ladder(solver))
    model = derived(problem, ranges)
    search = _Search(model, gap, started + limit)
    if x is not None or z is not None:
        search.attempt(*rungs[0], _given(model.instance, x, z))
        rungs = []
    for name, settings in rungs:
        if search.done:
            break
        search.attempt(name, settings)
    return _answer(search, time.monotonic() - started)


def _given(instance: Instance, x: ArrayLike | None, z: ArrayLike | None) -> Answer:
    """Somebody else's numbers, as if a solver had said them."""
    said: list[Floats | None] = []
    for name, value, size in (("x", x, len(instance.c)), ("z", z, len(instance.b))):
        if value is not None and np.shape(value) != (size,):
            raise InputError(f"{name}: expected {size} numbers, got shape {np.shape(value)}")
        said.append(None if value is None else usable({name: (value, (size,))}).get(name))
    return Answer(Attempt("given", "given", None, 0.0, {}, {}), *said)


@dataclass(eq=False)
class _Search:
    """What is known so far of the minimisation."""

    model: Derived
    wanted: float
    deadline: float
    lower: Lower | None = None
    upper: Upper | None = None
    inner: Floats | None = None
    pinned: frozenset[int] = frozenset()
    attempts: list[Attempt] = field(default_factory=list)
    unpaid: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.instance = self.model.instance
        self.free = propagated(self.instance)
        self.known: RangeState | None = None
        pairs = zip(self.instance.cones, self.instance.places, strict=True)
        self.signs = [row for cone, places in pairs if cone.kind == "nonnegative" for row in places]
        if self.free.empty:
            self.lower = Lower(None, None, tuple(self.free.steps), None, True, "none")

    @property
    def done(self) -> bool:
        """Whether more attempts are pointless, or there is no time for them."""
        certain = (self.lower is not None and self.lower.value is None) or (
            self.upper is not None and self.upper.value is None
        )
        return certain or self.gap <= self.wanted or time.monotonic() >= self.deadline or stop_requested()

    @property
    def gap(self) -> float:
        if self.lower is None or self.upper is None or self.lower.value is None or self.upper.value is None:
            return math.inf
        low, high = self.lower.value, self.upper.value
        return as_float(high - low) / max(abs(as_float(low)), abs(as_float(high)), SMALLEST)

    def ask(self, instance: Instance, solver: str, settings: dict[str, Any]) -> Answer:
        left = self.deadline - time.monotonic()
        answer = ask(instance, solver, settings, max(left, 0.0) if math.isfinite(left) else None)
        self.attempts.append(answer.attempt)
        return answer

    def attempt(self, solver: str, settings: dict[str, Any], given: Answer | None = None) -> None:
        """A solver's point and multipliers, and what can be made of them; what garbage raises is noted in the attempt's status."""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._attempt(solver, settings, given)
        except Exception as error:  # noqa: BLE001  (an answer may be bad, a crash may not be)
            made = self.attempts.pop() if self.attempts else Attempt(solver, "no answer", None, 0.0, {}, {})
            self.attempts.append(replace(made, status=f"{made.status}; {type(error).__name__}: {error}"[:200]))

    def _attempt(self, solver: str, settings: dict[str, Any], given: Answer | None) -> None:
        if given is not None:
            self.attempts.append(given.attempt)
        answer = given or self.ask(self.instance, solver, settings)
        by = answer.attempt.solver
        if answer.x is not None:
            self._take_point(feasible(self.instance, answer.x, self.free), by)
        if self.inner is None and (answer.x is None or self.upper is None):
            self._look_inside(solver, settings, answer.x)
        if self.upper is None and answer.x is not None:
            self._look_inside(solver, settings, None)
        if answer.x is not None and self.inner is not None:
            self._take_point(mixed(self.instance, answer.x, self.inner, self.free, self.pinned), by)
        if answer.z is not None and not self.done:
            self._take_multipliers(answer, by)
        if self.lower is None and self.upper is not None and not self.done:
            self._look_down(solver, settings)

    def _take_point(self, point: Point | None, solver: str) -> None:
        if point is not None and (
            self.upper is None or (self.upper.value is not None and point.value < self.upper.value)
        ):
            self.upper = Upper(point.value, point.x, None, solver)

    def _take_multipliers(self, answer: Answer, solver: str) -> None:
        assert answer.z is not None
        ranges = self._ranges(answer.x)
        steps = tuple(ranges.steps)
        smaller = Trimmed.of(self.instance, ranges)
        for z in map(smaller.lifted, proposals(smaller.instance, smaller.restricted(answer.z), ranges)):
            found = bound(self.instance, z, ranges)
            if found.value is None:
                self.unpaid = found.unpaid
                continue
            value = found.value if ranges.cutoff is None else min(found.value, ranges.cutoff)
            if self.lower is None or (self.lower.value is not None and value > self.lower.value):
                self.lower = Lower(value, ranges.cutoff, steps, z, True, solver)
            if self.done:
                return

    def _ranges(self, x: Floats | None) -> RangeState:
        """Of all points that are not much worse than the one at hand: the bound is then the lesser one of theirs and the cutoff."""
        heard = [] if x is None else [self._value(x)]
        heard += [] if self.upper is None or self.upper.value is None else [as_float(self.upper.value)]
        values = [value for value in heard if abs(value) < LARGEST]
        if not values:
            return self.free
        value = min(values)
        room = ROOM * (1.0 + abs(value))
        known = None if self.known is None or self.known.cutoff is None else as_float(self.known.cutoff)
        if self.known is None or known is None or not value < known <= value + 3.0 * room:
            self.known = propagated(self.instance, outward(exactly(value + room), True))
        return self.known

    def _value(self, x: Floats) -> float:
        return float(self.instance.doubles[0] @ x) + as_float(self.instance.offset)

    def _look_inside(self, solver: str, settings: dict[str, Any], x: Floats | None) -> None:
        """A point strictly inside the cones, or a proof that there is none at all.

        Where no point is strictly inside, the multipliers tell inequalities that none satisfies strictly: these are pinned.
        """
        value = math.inf if x is None else self._value(x)
        most = outward(exactly(value + 1.0 + abs(value)), True) if abs(value) < LARGEST else None
        for _ in range(PINNINGS):
            if self.done:
                return
            answer = self.ask(inner_instance(self.instance, self.free, self.pinned, most), solver, settings)
            if answer.x is not None:
                self.inner = answer.x[:-1]
                self._take_point(feasible(self.instance, self.inner, self.free, self.pinned), solver)
            if answer.z is None or (self.upper is not None and answer.x is not None and answer.x[-1] < -INSIDE):
                return
            if most is None:
                self._take_refutation(answer.z[:-1], solver)
            prices = np.array([answer.z[row] for row in self.signs])
            tight = {
                row for row, price in zip(self.signs, prices, strict=True) if price > TIGHT * prices.max(initial=0.0)
            }
            if tight <= self.pinned:
                return
            self.pinned |= tight

    def _take_refutation(self, z: Floats, solver: str) -> None:
        """Multipliers that show that there is no feasible point."""
        if self.upper is not None:
            return
        for exact in proposals(self.instance, z, self.free, cost=False):
            found = bound(self.instance, exact, self.free, cost=False)
            if found.value is not None and found.value > 0:
                self.lower = Lower(None, None, tuple(self.free.steps), exact, False, solver)
                return

    def _look_down(self, solver: str, settings: dict[str, Any]) -> None:
        """A direction that leads down for ever."""
        assert self.upper is not None
        homogeneous = self.instance.homogeneous()
        boxed = _boxed(homogeneous)
        answer = self.ask(boxed, solver, settings)
        if answer.x is None:
            return
        for direction in (answer.x, np.round(answer.x, 4)):  # exactly 0 where it is nearly
            point = feasible(homogeneous, direction, propagated(homogeneous))
            if point is not None and point.value < 0:
                self.upper = Upper(None, self.upper.x, point.x, solver)
                return


def _boxed(instance: Instance) -> Instance:
    """With every column between -1 and 1."""
    columns = range(len(instance.c))
    return Instance(
        c=instance.c,
        offset=instance.offset,
        rows=(*instance.rows, *({j: fmpq(sign)} for j in columns for sign in (1, -1))),
        b=(*instance.b, *(fmpq(1) for _ in columns for _ in range(2))),
        cones=(*instance.cones, Cone("nonnegative", 2 * len(columns))),
        names=instance.names,
    )


# ---------------------------------------------------------------- the answer


def _answer(search: _Search, seconds: float) -> CertifiedInterval:
    proof, lower, upper = _proved(search.model, search.lower, search.upper)
    infeasible = lower is not None and lower.value is None
    unbounded = upper is not None and upper.value is None
    low = (
        -math.inf
        if lower is None or unbounded
        else math.inf
        if lower.value is None
        else as_bound(lower.value, upper=False)
    )
    high = (
        math.inf
        if upper is None or infeasible
        else -math.inf
        if upper.value is None
        else as_bound(upper.value, upper=True)
    )
    status = _standing(lower, upper)
    termination = _termination(search, status)
    return CertifiedInterval(
        lower=-high if search.model.maximises else low,
        upper=-low if search.model.maximises else high,
        status=status,
        termination=termination,
        claim=search.model.claim,
        rounded=search.model.rounded,
        values={} if upper is None else search.model.values(np.array([as_float(x) for x in upper.x])),
        multipliers=None if lower is None or lower.z is None else np.array([as_float(x) for x in lower.z]),
        bound_by=None if lower is None else lower.solver,
        point_by=None if upper is None else upper.solver,
        proof=proof,
        advice=_advice(search, status),
        attempts=tuple(search.attempts),
        seconds=seconds,
    )


def _proved(model: Derived, lower: Lower | None, upper: Upper | None) -> tuple[str, Lower | None, Upper | None]:
    """The ends that the checker proves, with the file that it proves them from."""
    choices = [(lower, upper), (lower, None), (None, upper)] if lower and upper else [(lower, upper)]
    for low, high in choices:
        if low is None and high is None:
            break
        text = proof_text(model, low, high)
        verdict = verify_interval(text)
        if verdict.proved:
            return text, low, high
        logger.warning("certify: refused: %s", verdict.reason)
        warnings.warn(f"the checker refused a proof: {verdict.reason}", ProofRefusedWarning, stacklevel=4)
    return proof_text(model, None, None), None, None


def _standing(lower: Lower | None, upper: Upper | None) -> Standing:
    if lower is not None and lower.value is None:
        return Standing.INFEASIBLE
    if upper is not None and upper.value is None:
        return Standing.UNBOUNDED
    if lower is None:
        return Standing.NOTHING if upper is None else Standing.POINT_ONLY
    return Standing.BOUND_ONLY if upper is None else Standing.INTERVAL


def _termination(search: _Search, status: Standing) -> Termination:
    if status is Standing.INFEASIBLE:
        return Termination.INFEASIBLE
    if status is Standing.UNBOUNDED or search.gap <= search.wanted:
        return Termination.GAP_REACHED
    if stop_requested():
        return Termination.INTERRUPTED
    late = time.monotonic() >= search.deadline or any(made.hung for made in search.attempts)
    return Termination.TIME_LIMIT if late else Termination.STALLED


def _advice(search: _Search, status: Standing) -> str:
    """What can be done about a missing end."""
    if status in (Standing.POINT_ONLY, Standing.NOTHING) and search.unpaid:
        model, ranges = search.model, search.known or search.free
        own = [j for j in range(len(search.instance.c)) if model.own(j) and ranges.is_open(j)]
        own = sorted(own, key=lambda j: j not in search.unpaid)  # the likeliest first
        names = ", ".join(search.instance.names[j] for j in (own or search.unpaid)[:5])
        return f"no range is known of {names}: give bounds, in the model or by ranges={{variable: (low, high)}}"
    if status is Standing.BOUND_ONLY:
        return (
            "no point was proved feasible: there may be no inner one; loosen an inequality, or write equalities as such"
        )
    if status is Standing.NOTHING:
        return "no solver brought anything usable (attempts say what each said); try another solver=, or a longer time_limit"
    return ""
