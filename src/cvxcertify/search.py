"""The search for an interval: what each solver says, and the best multipliers and the best point that were made of it."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import fmpq
from scipy.linalg import qr

from cvxcertify.derive import Derived
from cvxcertify.dual import Trimmed, bound, proposals, refutation
from cvxcertify.geometry import Geometry, matrix_of
from cvxcertify.instance import CONES, Floats, Instance, Nonnegative, Terms, Zero, as_float, cones_of, exactly, triangle
from cvxcertify.linear import made_up
from cvxcertify.parts import Part
from cvxcertify.proof import Lower, Upper
from cvxcertify.ranges import RangeState, outward, propagated
from cvxcertify.solvers import Answer, Attempt, Stop, ask

# Faces of cones that have every feasible point, where none is strictly inside: multipliers that expose them.
#
# If z (A x + b) = 0 for every x, then what a feasible point has in a cone is orthogonal to what z has there, and so in a face of it.
# Faces are made from a solver's multipliers, with short fractions, so that a point in them can be exact. Nothing here is evidence,
# for whether the point is in the cones is decided afterwards (Borwein, Wolkowicz, Journal of the Australian Mathematical Society 30,
# 1981).


TIGHT, NOISE = 1e-3, 1e-9  # of the largest multiplier, and of their sum, which is 1: what is smaller exposes nothing
NEAR = 1e-4  # relative: multipliers that are as near to the boundary of their dual cone count as on it
DENOMINATOR = 1000  # denominator of a face's numbers
ONE = fmpq(1)
Face = list[tuple[str, list[Terms]]]  # cones, and their members as combinations of those of the whole one


def faced(instance: Instance, z: Floats, kinds: Collection[str]) -> Instance | None:
    """The instance with the faces of these kinds of cones that multipliers expose in their place; None if they expose none."""
    sizes = {rows: float(np.abs(z[list(rows)]).max()) for kind, rows in instance.units if kind in kinds}
    least = max(NOISE, TIGHT * max(sizes.values(), default=0.0))
    if not any(size > least for size in sizes.values()):
        return None
    found: Face = []
    for kind, rows in instance.units:
        exposed = sizes.get(rows, 0.0) > least
        face = FACES[kind](z[list(rows)]) if exposed else [(kind, [{k: ONE} for k in range(len(rows))])]
        found += [(each, [{rows[k]: x for k, x in form.items() if x} for form in forms]) for each, forms in face]
    found.sort(key=lambda face: CONES.index(face[0]))
    forms = [form for _, listed in found for form in listed]
    return replace(
        instance,
        rows=tuple(_combined(instance, form) for form in forms),
        b=tuple(sum((x * instance.b[row] for row, x in form.items()), fmpq(0)) for form in forms),
        cones=cones_of(found),
    )


def _combined(instance: Instance, form: Terms) -> Terms:
    row: Terms = {}
    for i, x in form.items():
        for j, a in instance.rows[i].items():
            row[j] = row.get(j, fmpq(0)) + x * a
    return {j: a for j, a in row.items() if a}


def _tip(z: Floats) -> Face:
    return [("zero", [{k: ONE} for k in range(len(z))])]


def _second_order(z: Floats) -> Face:
    """The tip, or the ray of (1, -u/|u|)."""
    length = float(np.linalg.norm(z[1:]))
    if z[0] - length > NEAR * z[0]:
        return _tip(z)
    return [("zero", [{k: ONE, 0: _short(z[k] / length)} for k in range(1, len(z))]), ("nonnegative", [{0: ONE}])]


def _exponential(z: Floats) -> Face:
    """Where y = 0, that face or what z leaves of it; else the tip, or the one ray that has short numbers, (0, 1, 1)."""
    u, v, w = z / np.abs(z).max()
    if u > -NEAR:
        flat = [{1: ONE}, {2: ONE}] if w > NEAR else [{1: ONE}]
        return [("zero", flat), ("nonnegative", [{0: -ONE}] if w > NEAR else [{0: -ONE}, {2: ONE}])]
    if w + u * np.exp(v / u - 1.0) > NEAR or abs(np.log(-u / w)) > NEAR:
        return _tip(z)
    return [("zero", [{0: ONE}, {1: ONE, 2: -ONE}]), ("nonnegative", [{1: ONE}])]


def _semidefinite(z: Floats) -> Face:
    """M W M' for the principal part W of some rows, M the identity there: the columns of M span what z sends to 0."""
    order = (math.isqrt(8 * len(z) + 1) - 1) // 2
    values, vectors = np.linalg.eigh(matrix_of(order, z, 0.5))
    kept = vectors[:, values <= NEAR * values[-1]]
    if not kept.size:
        return _tip(z)
    own = np.sort(qr(kept.T, mode="r", pivoting=True)[1][: kept.shape[1]])
    M = [[_short(x) for x in row] for row in (kept @ np.linalg.inv(kept[own])).tolist()]
    at = {place: k for k, place in enumerate(triangle(order))}
    equations: list[Terms] = []
    for (i, j), k in at.items():
        form: Terms = {k: ONE}
        for a, b in np.ndindex(len(own), len(own)):
            place = at[int(min(own[a], own[b])), int(max(own[a], own[b]))]
            form[place] = form.get(place, fmpq(0)) - M[i][a] * M[j][b]
        equations.append(form)
    return [("zero", equations), ("semidefinite", [{at[own[i], own[j]]: ONE} for i, j in triangle(len(own))])]


def _short(x: float) -> fmpq:
    """The fraction of a small denominator that is nearest."""
    return fmpq(*Fraction(x).limit_denominator(DENOMINATOR).as_integer_ratio())


FACES: dict[str, Callable[[Floats], Face]] = {
    "nonnegative": _tip,
    "second-order": _second_order,
    "exponential": _exponential,
    "semidefinite": _semidefinite,
}


# The upper end: a point whose feasibility is decided in exact numbers.
#
# A solver's point is nearly feasible. It is mixed with one that is strictly inside all cones, as little as is needed; what the
# equations then lack is made up for exactly; and the members of A x + b are looked at in rationals, exponentials in balls.


FUZZ = 1e-15  # what doubles may lose in a sum, relative to its summands
SHARES = (*(m * 10.0**-k for k in range(13, 0, -1) for m in (1.0, 3.0)), 1.0)  # of the strictly feasible point


@dataclass(frozen=True, eq=False)
class Point:
    """A feasible point and its value, exactly."""

    x: list[fmpq]
    value: fmpq


def feasible(instance: Instance, x: Floats, ranges: RangeState, face: Instance | None = None) -> Point | None:
    """The feasible point that this one becomes when equations are made to hold; None if it is none then.

    They are those of `face`, if given: the same with faces of its cones (`faced`). A column whose range is one number is that number.
    """
    face = face or instance
    ends = zip(ranges.low, ranges.high, strict=True)
    x = np.array(
        [old if low is None or low != high else as_float(low) for old, (low, high) in zip(x, ends, strict=True)]
    )
    _, A, b = face.doubles
    if not Geometry(face).contains(A @ x + b, FUZZ * (abs(A) @ abs(x) + abs(b))):
        return None
    exact = [exactly(value) for value in x.tolist()]
    rows = face.rows_in(Zero)
    lacks = [-face.activity(exact, row) for row in rows]
    change = made_up([face.rows[row] for row in rows], lacks, _room(instance, x, ranges))
    if change is None:
        return None
    for j, step in change.items():
        exact[j] += step
    cells = (
        instance.cells if face is not instance else [cell for cell in instance.cells if not isinstance(cell[0], Zero)]
    )
    if not all(cone.contains([instance.activity(exact, row) for row in places]) for cone, places in cells):
        return None
    return Point(exact, instance.value(exact))


def _room(instance: Instance, x: Floats, ranges: RangeState) -> Floats:
    """Distance of each column from the ends of its range."""
    sides = []
    for ends, sign in ((ranges.low, 1.0), (ranges.high, -1.0)):
        known = np.array([np.nan if end is None else float(end.p) / float(end.q) for end in ends])
        sides.append(np.where(np.isnan(known), 1.0, sign * (x - known)))
    return np.clip(np.minimum(*sides), 1e-12, 1.0)


def mixed(instance: Instance, x: Floats, inner: Floats, ranges: RangeState, face: Instance) -> Point | None:
    """The feasible point nearest to x on the way to a strictly feasible one, if there is any."""
    for share in SHARES:
        found = feasible(instance, (1.0 - share) * x + share * inner, ranges, face)
        if found is not None:
            return found
    return None


def inner_instance(instance: Instance, ranges: RangeState, most: fmpq | None = None) -> Instance:
    """Find x as far inside the cones as may be: minimise t over A x + b + t e in the cones, t >= -1, e inside the cones.

    With `most`, among points whose value is at most that.

    Members that can only be 0, because their columns are fixed, are left alone. The value is not positive if there
    is a feasible point, and negative if one is strictly inside.
    """
    rows = [dict(row) for row in instance.rows]
    t = len(instance.c)
    for cone, places in instance.cells:
        for row, factor in zip(places, cone.inner(partial(_fixed, instance, ranges, places)), strict=True):
            if factor:
                rows[row][t] = fmpq(factor)
    more, ends = [{t: fmpq(1)}], [fmpq(1)]
    if most is not None:
        more.append({j: -c for j, c in enumerate(instance.c) if c})
        ends.append(most - instance.offset)
    return replace(
        instance,
        c=(*([fmpq(0)] * t), fmpq(1)),
        offset=fmpq(0),
        rows=(*rows, *more),
        b=(*instance.b, *ends),
        cones=(*instance.cones, Nonnegative(len(ends))),
        names=(*instance.names, "t"),
    )


def _fixed(instance: Instance, ranges: RangeState, places: range, k: int) -> bool:
    """True if the ranges leave nothing but 0 to a member."""
    low, high = ranges.ends(instance.rows[places[k]], instance.b[places[k]])
    return high is not None and high <= 0 and low is not None and low >= 0


ROOM = 0.1  # how far beyond the value at hand the cutoff is, relative to 1 + |value|
ROUNDS = 3  # how often faces are looked for at most
SIGNS = (Nonnegative.kind,)
INSIDE = 1e-9  # how far inside the cones a point counts as strictly inside
LARGEST = 1e100  # of a value that says something
SMALL = 1e-6  # of the largest multiplier: what a proof of infeasibility can do without
SMALLEST = 1e-9  # of the larger end, in relative gaps


@dataclass(eq=False)
class Search:
    """State of the minimisation.

    Attributes
    ----------
    model : Derived
    wanted, deadline : float
        The relative gap at which the search is done, and the `time.monotonic()` at which it ends.
    stop : callable
        Whether somebody wants it to end.
    lower, upper : Lower, Upper or None
        The best evidence of either end.
    inner, strict : array or None, bool
        A point inside the cones, as far as doubles can tell, and whether it is strictly.
    face : Instance
        The instance with faces of its cones for those that no feasible point is strictly inside.
    attempts : list of Attempt
    unpaid : tuple of int
        Columns because of which multipliers proved nothing.
    """

    model: Derived
    wanted: float
    deadline: float
    stop: Stop
    lower: Lower | None = None
    upper: Upper | None = None
    inner: Floats | None = None
    attempts: list[Attempt] = field(default_factory=list)
    unpaid: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.instance = self.model.instance
        self.free = propagated(self.instance)
        self.known: RangeState | None = None
        self.face, self.strict = self.instance, False
        if self.free.empty:
            self.lower = Lower(None, None, tuple(self.free.steps), None, True, "ranges")

    @property
    def done(self) -> bool:
        """True if more attempts are pointless, or there is no time for them."""
        certain = self.infeasible or (self.upper is not None and self.upper.value is None)
        return certain or self.gap <= self.wanted or self.ended

    @property
    def infeasible(self) -> bool:
        """True if it is proved that there is no feasible point."""
        return self.lower is not None and self.lower.value is None

    @property
    def ended(self) -> bool:
        """True if there is no time left, or somebody wants it to end."""
        return time.monotonic() >= self.deadline or self.stop()

    @property
    def gap(self) -> float:
        if self.lower is None or self.upper is None or self.lower.value is None or self.upper.value is None:
            return math.inf
        low, high = self.lower.value, self.upper.value
        return as_float(high - low) / max(abs(as_float(low)), abs(as_float(high)), SMALLEST)

    def ask(self, instance: Instance, solver: str, settings: dict[str, Any]) -> Answer:
        left = self.deadline - time.monotonic()
        answer = ask(instance, solver, settings, max(left, 0.0) if math.isfinite(left) else None, self.stop)
        self.attempts.append(answer.attempt)
        return answer

    def attempt(self, solver: str, settings: dict[str, Any], given: Answer | None = None) -> None:
        """A solver's point and multipliers, and what can be made of them."""
        self._guarded(solver, lambda: self._attempt(solver, settings, given))

    def _guarded(self, solver: str, work: Callable[[], None]) -> None:
        """Do this, and note what garbage raises in the last attempt's status."""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                work()
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
        self._mix(answer)
        if answer.z is not None and not self.done:
            self._take_multipliers(answer, by)
        if not self.done and (self.upper is None or not self.strict):
            self.face = self.instance
            self._look_inside(solver, settings, None, FACES)
            self._mix(answer)
        if self.lower is None and self.upper is not None and not self.done:
            self._look_down(solver, settings)

    def _mix(self, answer: Answer) -> None:
        """The nearest point to a solver's that is feasible, on the way to the one inside."""
        if answer.x is not None and self.inner is not None:
            found = mixed(self.instance, answer.x, self.inner, self.free, self.face)
            self._take_point(found, answer.attempt.solver)

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

    def _look_inside(
        self, solver: str, settings: dict[str, Any], x: Floats | None, kinds: Collection[str] = SIGNS
    ) -> None:
        """A point strictly inside the cones, or a proof that there is none at all.

        Where no point is strictly inside, multipliers tell which faces of the cones, of these kinds, have all of them.
        """
        value = math.inf if x is None else self._value(x)
        most = outward(exactly(value + 1.0 + abs(value)), True) if abs(value) < LARGEST else None
        for _ in range(ROUNDS):
            if self.done:
                return
            answer = self.ask(inner_instance(self.face, self.free, most), solver, settings)
            if answer.x is not None:
                self.inner, self.strict = answer.x[:-1], answer.x[-1] < -INSIDE
                self._take_point(feasible(self.instance, self.inner, self.free, self.face), solver)
            if answer.z is None or (self.upper is not None and answer.x is not None and self.strict):
                return
            if most is None and self.face is self.instance:
                self._take_refutation(answer.z[:-1], solver)
            smaller = faced(self.face, answer.z[: len(self.face.b)], kinds)
            if smaller is None:
                return
            self.face = smaller

    def _take_refutation(self, z: Floats, solver: str) -> None:
        """Multipliers that show that there is no feasible point."""
        exact = None if self.upper is not None else refutation(self.instance, z, self.free)
        if exact is not None:
            self.lower = Lower(None, None, tuple(self.free.steps), exact, False, solver)

    def name_conflict(self, solver: str, settings: dict[str, Any]) -> None:
        """Of a proof of infeasibility without ranges that needs each of the parts that it uses, if one can be had."""
        self._guarded(solver, lambda: self._name_conflict(solver, settings))

    def _name_conflict(self, solver: str, settings: dict[str, Any]) -> None:
        needed = list(self.model.parts)
        for part in (None, *self.model.parts):
            if self.ended or (part is not None and part not in needed):
                continue
            z = self._refuted([each for each in needed if each is not part], solver, settings)
            if z is not None:
                needed = [each for each in needed if any(z[row] for row in each.rows + each.atoms)]
                self.lower = Lower(None, None, (), z, False, solver)
            elif part is None:
                return

    def _refuted(self, parts: Sequence[Part], solver: str, settings: dict[str, Any]) -> list[fmpq] | None:
        """Multipliers of hardly more rows than are needed that show, without ranges, that no point satisfies these parts."""
        whole = Trimmed.keeping(self.instance, {row for part in parts for row in part.rows + part.atoms})
        answer = self.ask(inner_instance(whole.instance, RangeState(whole.instance)), solver, settings)
        if answer.z is None:
            return None
        z = np.zeros(whole.size)
        z[whole.rows] = answer.z[: len(whole.rows)]
        large = {row for row in whole.rows if abs(z[row]) > SMALL * np.abs(z).max()}
        bounds = {row for row in whole.rows if len(self.instance.rows[row]) == 1} - large
        for rows, unused in ((large, []), (large | bounds, list(bounds)), (whole.rows, [])):
            smaller, z[unused] = Trimmed.keeping(self.instance, rows), 0.0
            exact = refutation(smaller.instance, smaller.restricted(z), RangeState(smaller.instance))
            if exact is not None:
                return smaller.lifted(exact)
        return None

    def _look_down(self, solver: str, settings: dict[str, Any]) -> None:
        """A direction that leads down for ever."""
        assert self.upper is not None
        homogeneous = self.instance.homogeneous()
        boxed = _boxed(homogeneous)
        answer = self.ask(boxed, solver, settings)
        if answer.x is None:
            return
        for direction in (np.round(answer.x, 4), answer.x):  # exactly 0 where it is nearly, if it can be
            point = feasible(homogeneous, direction, propagated(homogeneous))
            if point is not None and point.value < 0:
                self.upper = Upper(None, self.upper.x, point.x, solver)
                return


def _boxed(instance: Instance) -> Instance:
    """With every column between -1 and 1."""
    sides = [{j: fmpq(sign)} for j in range(len(instance.c)) for sign in (1, -1)]
    return replace(
        instance,
        rows=(*instance.rows, *sides),
        b=(*instance.b, *[fmpq(1)] * len(sides)),
        cones=(*instance.cones, Nonnegative(len(sides))),
    )
