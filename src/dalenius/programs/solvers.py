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
from importlib.util import find_spec
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError

__all__ = ["SOLVERS", "Attempt", "attempt", "ladder"]

Floats = NDArray[np.float64]
SOLVERS = ("auto", "CLARABEL", "SCS", "ECOS", "MOSEK", "QICS")
GRACE = 2.0  # seconds beyond its own time limit after which a solver counts as hung
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
TIME_SETTING = {"CLARABEL": "time_limit", "SCS": "time_limit_secs"}


@dataclass(frozen=True)
class Attempt:
    """What one solver call brought back: diagnostics, and candidates by name (absent where there is no finite value)."""

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
    if solver != "auto":
        if solver not in cp.installed_solvers():
            raise InputError(f"solver: {solver} is not installed; install it, or choose solver='auto'")
        if solver == "MOSEK" and not _mosek_licensed():
            raise InputError("solver: MOSEK is installed, but no licence works; choose solver='auto'")
        names = [solver]
    else:
        names = ["CLARABEL", *(name for name in ("QICS", "SCS") if name in cp.installed_solvers())]
        if _mosek_licensed():
            names.insert(1, "MOSEK")
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
    """Run one solver in a thread of its own and wait at most a little longer than its time limit."""
    if time_limit is not None and solver in TIME_SETTING:
        settings = settings | {TIME_SETTING[solver]: time_limit}
    outcome: dict[str, Any] = {"status": "hung"}

    def work() -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                problem.solve(solver=solver, **settings)
            outcome["status"] = str(problem.status)
        except BaseException as error:  # noqa: BLE001  (Clarabel's panic is no Exception)
            outcome["status"] = f"{type(error).__name__}: {error}"[:200]

    started = time.monotonic()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(None if time_limit is None else time_limit + GRACE)
    seconds = time.monotonic() - started
    if thread.is_alive():
        return Attempt(solver, "hung", None, seconds, {}, {}, hung=True)
    value = problem.value if isinstance(problem.value, float | int) and np.isfinite(problem.value) else None
    point = {name: variable.value for name, variable in variables.items()}
    duals = {name: constraint.dual_value for name, constraint in constraints.items()}
    return Attempt(solver, outcome["status"], value, seconds, _finite(point), _finite(duals))


def _finite(values: Mapping[str, Any]) -> dict[str, Floats]:
    """The entries that are arrays of finite numbers."""
    result = {}
    for name, value in values.items():
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            continue
        if value is not None and np.all(np.isfinite(array)):
            result[name] = array
    return result


def _mosek_licensed() -> bool:
    """Whether MOSEK is installed and a licence can be checked out."""
    if find_spec("mosek") is None:
        return False
    import mosek

    try:
        with mosek.Env() as environment:
            environment.checkoutlicense(mosek.feature.pton)
    except mosek.Error:
        return False
    return True
