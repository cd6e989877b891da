"""Solvers in the order in which they are tried, and one attempt of a conic solver, whatever it does: fail, hang, lie, or die.

Nothing a solver says is evidence. What an attempt brings back are candidates for a point and for multipliers; a program repairs them
and evaluates both sides of its interval in closed form.
"""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np

from cvxcertify.errors import InputError, brief
from cvxcertify.geometry import Geometry
from cvxcertify.instance import Floats, Instance, Integers, triangle
from cvxcertify.talking import heard, say

Stop = Callable[[], bool]
Rung = tuple[str, dict[str, Any]]  # a solver and its settings

GRACE = 2.0  # seconds beyond its own time limit after which a solver counts as hung
FIRST_LOOK, LOOK = 0.002, 0.05  # seconds between two looks whether somebody wants to stop
MOSEK_TOLERANCES = {
    "MSK_DPAR_INTPNT_CO_TOL_REL_GAP": 1e-10,
    "MSK_DPAR_INTPNT_CO_TOL_PFEAS": 1e-10,
    "MSK_DPAR_INTPNT_CO_TOL_DFEAS": 1e-10,
    "MSK_DPAR_INTPNT_CO_TOL_MU_RED": 1e-10,
}
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    # full steps stall on rate-distortion problems (8 of 20 at 100 x 100 fail at the default); shorter ones do not
    "CLARABEL": (
        {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10},
        {"max_step_fraction": 0.9, "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11},
    ),
    "SCS": ({"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 50_000},),
    "ECOS": ({"abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10},),
    "MOSEK": ({"accept_unknown": True, "mosek_params": MOSEK_TOLERANCES},),
    "QICS": ({},),
}
TIME_SETTING = {"CLARABEL": "time_limit", "SCS": "time_limit_secs", "UNO": "time_limit"}
MOSEK_TIME = "MSK_DPAR_OPTIMIZER_MAX_TIME"
LARGEST = 1e100  # no honest answer has larger entries, and squares of these do not overflow


@dataclass(frozen=True)
class Attempt:
    """Result of one solver call: diagnostics, and candidates by name (absent where there is no usable array)."""

    solver: str
    status: str
    value: float | None
    seconds: float
    point: Mapping[str, Floats] = field(repr=False)
    duals: Mapping[str, Floats] = field(repr=False)
    hung: bool = False


def ladder(solver: str | Sequence[str] = "auto") -> list[Rung]:
    """The solvers and settings to try in turn: all settings of the named solvers, or of those that are there.

    `auto` is MOSEK if it is installed and licensed, Clarabel, Clarabel with shorter steps, then QICS and SCS if they are installed.
    Names may be written in small letters.

    Raises
    ------
    InputError
        If a name is unknown, the solver is not installed, or it is MOSEK without a working licence.
    """
    if isinstance(solver, str) and solver.lower() == "auto":
        names = [] if mosek_refusal() else ["MOSEK"]
        names += ["CLARABEL", *(name for name in ("QICS", "SCS") if name in installed())]
    else:
        names = [named(name) for name in (solver if isinstance(solver, tuple | list) else [solver])]
    return [(name, dict(settings)) for name in names for settings in SETTINGS[name]]


def named(solver: object, *, others: Sequence[str] = ()) -> str:
    """A solver's name as it is written here, or one of the others; InputError if it is unknown, not installed or not licensed."""
    names = (*others, *SETTINGS)
    name = {name.lower(): name for name in names}.get(solver.lower()) if isinstance(solver, str) else None
    if name is None:
        raise InputError(f"solver: expected one of {', '.join(('auto', *names))}; got {brief(solver)}")
    if name in others:
        return name
    if name not in installed():
        raise InputError(f"solver: {name} is not installed; pip install {name.lower()}, or choose solver='auto'")
    if name == "MOSEK" and (reason := mosek_refusal()):
        raise InputError(f"solver: {reason}; get a licence, or choose solver='auto'")
    return name


def attempt(
    problem: cp.Problem,
    variables: Mapping[str, cp.Variable],
    constraints: Mapping[str, cp.Constraint],
    solver: str,
    settings: dict[str, Any],
    *,
    time_limit: float | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Attempt:
    """Run one solver in a thread of its own and wait at most a little longer than its time limit, or until `stop` says so.

    A thread that hangs is left behind: it keeps the problem, so that a caller must build another one.
    """
    settings = _limited(solver, settings, time_limit) | ({"verbose": True} if heard() else {})
    said: list[str] = []
    failed: list[str] = []

    def work() -> None:
        try:
            problem.solve(solver=solver, **settings)
            said.append(str(problem.status))
        except BaseException as error:  # noqa: BLE001  (Clarabel's panic is no Exception)
            failed.append(f"{type(error).__name__}: {error}"[:200])

    started = time.monotonic()
    thread = threading.Thread(target=work, daemon=True)
    with warnings.catch_warnings():  # out here, because a thread that hangs would never restore them
        warnings.simplefilter("ignore")
        thread.start()
        look = FIRST_LOOK
        while thread.is_alive() and not stop():
            left = LOOK if time_limit is None else time_limit + GRACE - (time.monotonic() - started)
            if left <= 0.0:
                break
            thread.join(min(left, look))
            look = min(2.0 * look, LOOK)
            _hear_interrupts()
        seconds = time.monotonic() - started
        say(f"{solver}: {(said or failed or ['hung'])[0]} after {seconds:.3f} s")
        if failed or not said:  # the values, if any, are those of an earlier solve, or still being written
            return Attempt(solver, failed[0] if failed else "hung", None, seconds, {}, {}, hung=not failed)
        point = usable({name: (variable.value, variable.shape) for name, variable in variables.items()})
        duals = usable({name: (constraint.dual_value, constraint.shape) for name, constraint in constraints.items()})
    value = float(problem.value) if isinstance(problem.value, float | int) and np.isfinite(problem.value) else None
    return Attempt(solver, said[0], value, seconds, point, duals)


def _hear_interrupts() -> None:
    """Python's own handler of Ctrl-C again: SCS puts one in its place that swallows the signal and writes to standard output."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is threading.main_thread() and callable(handler):
        signal.signal(signal.SIGINT, handler)


def _limited(solver: str, settings: dict[str, Any], time_limit: float | None) -> dict[str, Any]:
    """The settings with the time limit, where the solver has one."""
    if time_limit is None:
        return settings
    if solver == "MOSEK":
        return settings | {"mosek_params": settings.get("mosek_params", {}) | {MOSEK_TIME: time_limit}}
    return settings | ({TIME_SETTING[solver]: time_limit} if solver in TIME_SETTING else {})


def usable(values: Mapping[str, tuple[object, tuple[int, ...]]]) -> dict[str, Floats]:
    """Copies of the values that are finite numbers of sane size, as many as asked for, in the shape asked for."""
    result = {}
    for name, (value, shape) in values.items():
        try:
            result[name] = np.array(value, dtype=float).reshape(shape)
        except (TypeError, ValueError):
            continue
        if not np.all(np.abs(result[name]) <= LARGEST):
            del result[name]
    return result


@cache
def installed() -> frozenset[str]:
    """The solvers that cvxpy finds: it looks for each of some twenty packages in every folder, which takes as long as a small solve.

    >>> "CLARABEL" in installed()
    True
    """
    return frozenset(cp.installed_solvers())


def mosek_refusal() -> str:
    """Why MOSEK cannot be chosen: not installed, not importable, or no licence can be checked out; empty if it can."""
    if "MOSEK" not in installed():
        return "MOSEK is not installed"
    try:
        import mosek
    except (ImportError, OSError) as error:
        return f"MOSEK cannot be imported ({_one_line(error)})"
    try:
        with mosek.Env() as environment:
            environment.checkoutlicense(mosek.feature.pton)
    except mosek.Error as error:
        return f"MOSEK is installed, but no licence works ({_one_line(error)})"
    return ""


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


# An instance handed to any of them, and what it says: candidates for a point and for multipliers.


Part = tuple[Any, tuple[Integers, float]]


@dataclass(frozen=True, eq=False)
class Answer:
    """Numbers of a solver, of the right size, or None. Evidence of nothing."""

    attempt: Attempt
    x: Floats | None
    z: Floats | None


def ask(instance: Instance, solver: str, settings: dict[str, Any], time_limit: float | None, stop: Stop) -> Answer:
    """One attempt of a solver; both parts of the answer are None if it fails."""
    c, A, b = instance.doubles
    x = cp.Variable(c.size)
    parts = _constraints(Geometry(instance), lambda places: A[places] @ x + b[places])
    problem = cp.Problem(cp.Minimize(c @ x), [constraint for constraint, _ in parts])
    made = attempt(problem, {"x": x}, {}, solver, settings, time_limit=time_limit, stop=stop)
    if made.hung or "x" not in made.point:
        return Answer(made, None, None)
    z = np.zeros(b.size)
    for constraint, (places, sign) in parts:
        said = _multipliers(constraint, places)
        if said is None:
            return Answer(made, made.point["x"], None)
        z[places] = sign * said
    return Answer(made, made.point["x"], z)


def _constraints(geometry: Geometry, s: Callable[[Integers], cp.Expression]) -> list[Part]:
    """Constraints, each with the rows that its multipliers belong to, in their order, and their sign."""
    found: list[Part] = []
    if geometry.zero.size:
        found.append((s(geometry.zero) == 0, (geometry.zero, -1.0)))
    if geometry.signs.size:
        found.append((s(geometry.signs) >= 0, (geometry.signs, 1.0)))
    for size in sorted({places.size for places in geometry.second_order}):
        places = np.array([rows for rows in geometry.second_order if rows.size == size])
        X = cp.reshape(s(places[:, 1:].reshape(-1)), (size - 1, len(places)), order="F")
        found.append((cp.SOC(s(places[:, 0]), X, axis=0), (places, 1.0)))
    if geometry.exponential.size:
        triples = geometry.exponential
        found.append((cp.ExpCone(*(s(triples[:, k]) for k in range(3))), (triples, 1.0)))
    for order, rows in geometry.semidefinite:
        at = {place: k for k, place in enumerate(triangle(order))}
        whole = np.array([rows[at[min(i, j), max(i, j)]] for j in range(order) for i in range(order)])
        found.append((cp.reshape(s(whole), (order, order), order="F") >> 0, (rows, 1.0)))
    return found


def _multipliers(constraint: Any, places: Any) -> Floats | None:
    """Multipliers of these rows that a solver left, whatever they are; None if they are unusable."""
    raw = {str(k): (variable.value, variable.shape) for k, variable in enumerate(constraint.dual_variables)}
    said = usable(raw)
    if len(said) != len(raw):
        return None
    if isinstance(constraint, cp.constraints.PSD):
        whole = said["0"] + said["0"].T
        return np.array([whole[i, j] * (0.5 if i == j else 1.0) for i, j in triangle(len(whole))])
    columns = [np.atleast_2d(part).T if part.ndim == 1 else part.T for part in said.values()]
    return np.hstack(columns) if places.ndim > 1 else columns[0][:, 0]
