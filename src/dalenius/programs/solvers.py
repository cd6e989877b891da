"""One attempt of a conic solver at a cvxpy problem, whatever it does: fail, hang, lie, or die of what is no Exception.

Nothing a solver says is evidence. What an attempt brings back are candidates for a point and for multipliers; a program repairs them
and evaluates both sides of its interval in closed form.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.search import stop_requested

__all__ = ["SOLVERS", "Attempt", "attempt", "ladder", "usable"]

SOLVERS = ("auto", "CLARABEL", "SCS", "ECOS", "MOSEK", "QICS")
GRACE = 2.0  # seconds beyond its own time limit after which a solver counts as hung
LOOK = 0.05  # seconds between two looks whether somebody wants to stop
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    # full steps stall on rate-distortion problems (8 of 20 at 100 x 100 fail at the default); shorter ones do not
    "CLARABEL": (
        {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10},
        {"max_step_fraction": 0.9, "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11},
    ),
    "SCS": ({"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 50_000},),
    "ECOS": ({"abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10},),
    "MOSEK": ({},),
    "QICS": ({},),
}
TIME_SETTING = {"CLARABEL": "time_limit", "SCS": "time_limit_secs", "UNO": "time_limit"}
LARGEST = 1e100  # no honest answer has larger entries, and squares of these do not overflow


@dataclass(frozen=True)
class Attempt:
    """What one solver call brought back: diagnostics, and candidates by name (absent where there is no usable array)."""

    solver: str
    status: str
    value: float | None
    seconds: float
    point: Mapping[str, Floats]
    duals: Mapping[str, Floats]
    hung: bool = False


def ladder(solver: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The solvers and settings to try in turn: all settings of the named solver, or (auto) Clarabel, then others that are installed.

    Raises
    ------
    InputError
        If the name is unknown, the solver is not installed, or it is MOSEK without a working licence.
    """
    if solver not in SOLVERS:
        raise InputError(f"solver: expected one of {', '.join(SOLVERS)}; got {solver!r}")
    installed = cp.installed_solvers()
    licensed = solver in ("auto", "MOSEK") and "MOSEK" in installed and _mosek_licensed()
    if solver != "auto":
        if solver not in installed:
            raise InputError(f"solver: {solver} is not installed; install it, or choose solver='auto'")
        if solver == "MOSEK" and not licensed:
            raise InputError("solver: MOSEK is installed, but no licence works; choose solver='auto'")
        names = [solver]
    else:
        names = ["CLARABEL", *(["MOSEK"] if licensed else []), *(name for name in ("QICS", "SCS") if name in installed)]
    for name in names:
        for settings in SETTINGS[name]:
            yield name, dict(settings)


def attempt(
    problem: cp.Problem,
    variables: Mapping[str, cp.Variable],
    constraints: Mapping[str, cp.Constraint],
    solver: str,
    settings: dict[str, Any],
    *,
    time_limit: float | None = None,
) -> Attempt:
    """Run one solver in a thread of its own and wait at most a little longer than its time limit, or until somebody wants to stop.

    A thread that hangs is left behind: it keeps the problem, so that a caller must build another one.
    """
    if time_limit is not None and solver in TIME_SETTING:
        settings = settings | {TIME_SETTING[solver]: time_limit}
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
        while thread.is_alive() and not stop_requested():
            left = LOOK if time_limit is None else time_limit + GRACE - (time.monotonic() - started)
            if left <= 0.0:
                break
            thread.join(min(left, LOOK))
        seconds = time.monotonic() - started
        if failed or not said:  # the values, if any, are those of an earlier solve, or still being written
            return Attempt(solver, failed[0] if failed else "hung", None, seconds, {}, {}, hung=not failed)
        point = usable({name: (variable.value, variable.shape) for name, variable in variables.items()})
        duals = usable({name: (constraint.dual_value, constraint.shape) for name, constraint in constraints.items()})
    value = problem.value if isinstance(problem.value, float | int) and np.isfinite(problem.value) else None
    return Attempt(solver, said[0], value, seconds, point, duals)


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


def _mosek_licensed() -> bool:
    """Whether MOSEK can be imported and a licence can be checked out."""
    try:
        import mosek
    except (ImportError, OSError):
        return False
    try:
        with mosek.Env() as environment:
            environment.checkoutlicense(mosek.feature.pton)
    except mosek.Error:
        return False
    return True
