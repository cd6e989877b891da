"""The row problem of the dual bound: max over laws w on one letter's classes of D(w R || r) + beta H(w).

K = w R enters through sum K log K, convex, plus a concave rest. On a box low <= K <= high the convex part lies below its
line of any slope kappa, with intercept B; what remains has the closed form

    sum_y B(y) + beta log sum_k N(k) exp( sum_y R(k,y) (kappa - log r)(y) / beta ).

The best slope is the secant's plus a multiplier nu of the box.
"""

from __future__ import annotations

import logging
import math
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.information import log_sum_exp, x_log_x
from dalenius.information.arrays import Floats, Integers
from dalenius.information.deadline import Deadline
from dalenius.information.secants import secant, tighten
from dalenius.search.boxes import Relaxed, cuts
from dalenius.search.clock import ended_with
from dalenius.search.decimals import shortened

MOST_OUTPUTS = 96  # above this the multipliers stay zero: a Newton step would cost more than it gains


@dataclass(eq=False)
class Lines:
    """Lines above K log K on boxes of K = w columns, and above 0 where a column is not curved.

    Attributes
    ----------
    columns : (classes, columns)
        Of which the first `curved` are curved.
    base : (classes,) or (boxes, classes)
        Log weights of the classes where all slopes are 0.
    low, high : (boxes, columns)
        Tightened; a box with no number between them is empty.
    multipliers : callable or None
        Who finds those of boxes; None where they stay zero.
    at_zero, slope : (boxes, columns)
        Of the secants.
    """

    columns: Floats
    curved: int
    base: Floats
    beta: float
    low: Floats
    high: Floats
    decimals: int
    multipliers: Multipliers | None

    def __post_init__(self) -> None:
        curved, ends = np.arange(self.low.shape[1]) < self.curved, (self.low, self.high)
        self._at_ends = [np.where(curved, x_log_x(np.maximum(end, 0.0)), 0.0) for end in ends]
        self.at_zero, self.slope = (np.where(curved, x, 0.0) for x in secant(*ends))
        self.empty: NDArray[np.bool_] = np.any(self.low > self.high, axis=1)

    def best(self, hints: Floats, enough: float = -np.inf) -> tuple[Floats, Floats, Floats]:
        """Bounds that are no worse than what hints prove (-inf: empty), the slopes that prove them, and their maximisers w.

        Once a bound is `enough` it is left as it is.
        """
        steeper: list[Floats] = [self.slope]
        if self.multipliers is not None:
            rest = enough - self.at_zero.sum(axis=1) - 10.0**-self.decimals
            nu = self.multipliers(self.columns, self.base, self.slope, self.low, self.high, self.beta, rest)
            steeper.append(self.slope + nu)
        slopes, (value, w) = hints, self.value(hints)
        bounds = np.fmin(np.inf, value)
        for raw in steeper:
            trial = np.round(raw, self.decimals)
            value, w_trial = self.value(trial)
            better = (value < bounds)[:, None]
            slopes, w, bounds = np.where(better, trial, slopes), np.where(better, w_trial, w), np.fmin(bounds, value)
        return np.where(self.empty, -np.inf, bounds), slopes, w

    def shortened(self, slopes: Floats, level: float) -> Floats:
        """Slopes with few digits that prove bounds of at most a level wherever the given ones do; zeros for empty boxes."""
        K = self.value(slopes)[1] @ self.columns
        costs = np.maximum(self.high - K, K - self.low)
        found = shortened(slopes, costs, level, self.decimals, lambda trial: self.value(trial)[0])
        return np.where(self.empty[:, None], 0.0, found)

    def value(self, slopes: Floats) -> tuple[Floats, Floats]:
        """The bounds that slopes prove, and their maximisers."""
        weight = self.base + slopes @ self.columns.T / self.beta
        total = log_sum_exp(weight)
        at_low, at_high = self._at_ends
        above = np.maximum(at_low - slopes * self.low, at_high - slopes * self.high)
        return self.beta * total + above.sum(axis=1), np.exp(weight - total[:, None])


class RowRelaxation:
    """Upper bounds of the row problem on boxes of K; entropies relative to the uniform prior.

    Once a bound is `enough` it is left as it is. A hint is the slopes kappa = slope + nu of the lines above K log K: inherited, they
    give a child a bound no worse.
    """

    def __init__(
        self,
        rows: Floats,
        log_uniform: Floats,
        output_law: Floats,
        beta: float,
        *,
        decimals: int = 9,
        enough: float = -np.inf,
        multipliers: Multipliers = row_multipliers,
    ) -> None:
        self.rows, self.beta, self.decimals, self.enough = rows, beta, decimals, enough
        self.multipliers = multipliers if rows.shape[1] <= MOST_OUTPUTS else None
        self.base = log_uniform - rows @ np.log(output_law) / beta

    def __call__(self, low: Floats, high: Floats, hints: Floats) -> Relaxed:
        low, high = tighten(low, high, axis=1)
        lines = self._lines(low, high)
        bounds, kappa, w = lines.best(hints, self.enough)
        K = w @ self.rows
        error = np.where((low < K) & (high > K), lines.at_zero + lines.slope * K - x_log_x(K), 0.0)
        return Relaxed(bounds, kappa, *cuts(error, K, low, high))

    def shortened(self, low: Floats, high: Floats, hints: Floats, level: float) -> Floats:
        """Slopes with few digits that prove bounds of at most a level wherever the given ones do; zeros for empty boxes."""
        return self._lines(*tighten(low, high, axis=1)).shortened(hints, level)

    def largest(self, low: Floats, high: Floats, hints: Floats) -> float:
        """The largest bound that slopes prove of these boxes; -inf if all are empty."""
        lines = self._lines(*tighten(low, high, axis=1))
        return float(np.max(lines.value(hints)[0], initial=-np.inf, where=~lines.empty))

    def _lines(self, low: Floats, high: Floats) -> Lines:
        curved = self.rows.shape[1]
        return Lines(self.rows, curved, self.base, self.beta, low, high, self.decimals, self.multipliers)


def relaxation_bytes(rows: Floats, letters: int) -> int:
    """Memory of the relaxations of so many letters at once, those of a record's rows (classes, outputs)."""
    classes, outputs = rows.shape
    return 8 * classes * outputs * (letters + (outputs if outputs <= MOST_OUTPUTS else 0))


def row_starts(laws: Floats, log_uniform: Floats, vertices: Integers) -> Floats:
    """Starting points of climbs, (starts, classes): conditional laws, up to their masses, the uniform one, and near some vertices."""
    uniform = np.exp(log_uniform - log_sum_exp(log_uniform))
    used = laws[laws.sum(axis=1) > 0.0]
    near = 0.999 * np.eye(len(uniform))[vertices] + 0.001 * uniform
    return np.vstack([used / used.sum(axis=1, keepdims=True), uniform, near])


def climbed(
    rows: Floats,
    log_uniform: Floats,
    lam: Floats,
    beta: float,
    w: Floats,
    *,
    steps: int,
    clock: Deadline | None = None,
) -> tuple[Floats, Floats]:
    """The row problem from below: where convex-concave steps w ~ N exp(R (log K + lam) / beta) lead, lam = -log r, and its values."""
    for _ in range(steps):
        weight = log_uniform + (np.log(np.maximum(w @ rows, 1e-300)) + lam) @ rows.T / beta
        new = np.exp(weight - log_sum_exp(weight)[:, None])
        moved = np.max(np.abs(new - w))
        w = new
        if moved < 1e-13 or (clock is not None and clock.expired):
            break
    K = w @ rows
    entropy = w @ np.where(np.isfinite(log_uniform), log_uniform, 0.0) - x_log_x(w).sum(axis=1)
    return w, x_log_x(K).sum(axis=1) + K @ lam + beta * entropy


# Who finds the multipliers of an audit's row problems: numpy at first, and what numba has compiled once loading that will have paid.
#
# Both give the same multipliers up to rounding. The change comes after a certain amount of work, so that an audit goes the same way
# whenever it is repeated, once they are compiled: the first long audit has another process do that meanwhile. Without numba (the
# optional extra `fast`) it never comes.


LOADING, COMPILING = 0.5, 6.0  # seconds that it takes to load numba and what it has compiled, and to compile it
AT_ONCE = 0.1  # seconds of work between two looks at the clock
KEPT = "compiled._all_boxes*.nbi"  # what numba calls that
logger = logging.getLogger("dalenius")


# What `row_multipliers` does, of its arguments in their order.
Multipliers: TypeAlias = Callable[[Floats, Floats, Floats, Floats, Floats, float, Floats | None], Floats]


@dataclass
class RowSolver:
    """`row_multipliers` for one audit.

    Attributes
    ----------
    worked : float
        About the seconds that numpy has worked.
    solve : callable
        Who is at work.
    clock : Deadline or None
        Boxes that it leaves no time for have no multipliers, which are as valid as any.
    """

    worked: float = 0.0
    solve: Multipliers = row_multipliers
    clock: Deadline | None = None

    def __getstate__(self) -> dict[str, object]:
        """In another process: what is sent to one is worth what loading takes."""
        return {"worked": COMPILING, "solve": row_multipliers, "clock": None}

    def __call__(
        self,
        rows: Floats,
        log_masses: Floats,
        base: Floats,
        low: Floats,
        high: Floats,
        beta: float,
        enough: Floats | None = None,
    ) -> Floats:
        if self.solve is row_multipliers:
            self.worked += len(base) * _seconds(*rows.shape)
            if self.worked > LOADING:
                self._change()
        nu = np.zeros_like(base)
        some = max(1, int(AT_ONCE / _seconds(*rows.shape)))
        for first in range(0, len(base), some):
            if first and self.clock is not None and self.clock.expired:
                break
            part = slice(first, first + some)
            masses = log_masses if log_masses.ndim == 1 else log_masses[part]
            wanted = None if enough is None else enough[part]
            nu[part] = self.solve(rows, masses, base[part], low[part], high[part], beta, wanted)
        return nu

    def _change(self) -> None:
        """Compiled multipliers from now on, if there is time for it and nothing waits but to load them.

        This process compiles them only if another one did and could not keep them.
        """
        needed = LOADING if _kept() else COMPILING
        pays = self.worked > needed and (self.clock is None or self.clock.remaining > needed)
        if pays and (needed == LOADING or _builder()() is not None):
            self.solve, self.worked = _compiled(self.clock), -math.inf


def prepared() -> None:
    """Load what was compiled before, in a process that will work on trees."""
    RowSolver(COMPILING)._change()


def _seconds(classes: int, outputs: int) -> float:
    """About what numpy takes for a box."""
    return 7e-5 + classes * outputs * (5e-7 + 1e-8 * outputs)


def _kept() -> bool:
    """True if it was compiled before."""
    return any((Path(__file__).parent / "__pycache__").glob(KEPT))


@cache
def _builder() -> Callable[[], int | None]:
    """Start another process that compiles them, once, and say how to ask whether it has ended, or could not begin."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import _compiled; _compiled(None)"
    silent: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    try:
        return subprocess.Popen([sys.executable, "-c", code], start_new_session=True, **silent).poll
    except OSError:
        return lambda: 0


def _compiled(clock: Deadline | None) -> Multipliers:
    """The compiled one, tried on a small problem; numpy's where that fails, whatever the reason: numba is picky about versions, and
    it may take longer than there is.
    """
    try:
        with ended_with(clock) if clock is not None else nullcontext():
            from dalenius.audits.bounds import compiled

            box = np.zeros((1, 2)), np.ones((1, 2))
            compiled.row_multipliers(np.full((2, 2), 0.5), np.log([0.5, 0.5]), np.zeros((1, 2)), *box, 1.0)
    except ImportError:
        return row_multipliers
    except Exception as error:  # noqa: BLE001
        logger.info("numba is not used: %s", error)
        return row_multipliers
    return compiled.row_multipliers
