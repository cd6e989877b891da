"""A rival that is not the paper's: sequential quadratic programming (scipy's SLSQP) with analytic gradients, aggregated Problem 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.audit import Clock
from dalenius.baselines.family import Family, View
from dalenius.baselines.maximal_leakage import concluded
from dalenius.baselines.run import LeakageRun, Log, Rest, need_positive
from dalenius.errors import InputError
from dalenius.information import mutual_information, x_log_x

__all__ = ["MAX_CELLS", "SlsqpSettings", "slsqp_run"]

Floats = NDArray[np.float64]
MAX_CELLS = 600  # its steps cost the cube of this
FLOOR = 1e-13


class _OutOfTimeError(Exception):
    """Raised inside scipy to get out of it."""


@dataclass(frozen=True)
class SlsqpSettings:
    """`tolerance` and `iterations` are scipy's ``ftol`` and ``maxiter``."""

    tolerance: float = 1e-10
    iterations: int = 500

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "iterations")


class _Problem:
    """max I(p) over p >= 0, sum p = 1, sum p log(N/(|X| p)) >= -deficit, for one record; p flat over its cells."""

    def __init__(self, family: Family, view: View, log: Log) -> None:
        self.family, self.log = family, log
        self.letter = np.concatenate([np.full(len(cells), a) for a, cells in enumerate(view.cells)])
        self.shares = np.concatenate(view.log_shares)
        self.given = family.channel[np.concatenate(view.inputs)]
        self.letters = view.letters
        self.best: tuple[float, Floats] = (-np.inf, np.exp(self.shares))

    def value(self, p: Floats) -> tuple[float, Floats]:
        """-I and its gradient: dI/dp(a,k) = sum_y Q(y|k) log(u(a,y)/(pi_a r(y))) - 1, by Theorem 8 and the chain rule."""
        if self.log.clock.expired:
            raise _OutOfTimeError
        self.log.evaluations += 1
        p = np.maximum(p, FLOOR)
        u = np.zeros((self.letters, self.given.shape[1]))
        np.add.at(u, self.letter, p[:, None] * self.given)
        pi, r = u.sum(axis=1), u.sum(axis=0)
        ratio = np.log(np.maximum(u, 1e-300)) - np.log(np.maximum(pi[:, None] * r, 1e-300))
        law = p / p.sum()
        found = float(mutual_information(u / p.sum()))
        if found > self.best[0] and self.spare(law) >= -1e-9:
            self.best = found, law
            self.log.note(self.log.evaluations, found)
        return -float(np.sum(u * ratio)), -(np.sum(self.given * ratio[self.letter], axis=1) - 1.0)

    def spare(self, p: Floats) -> float:
        """H(p) - b."""
        return float(p @ self.shares - x_log_x(np.maximum(p, FLOOR)).sum()) + self.family.deficit

    def spare_slope(self, p: Floats) -> Floats:
        """Theorem 9.1 with counts."""
        return self.shares - np.log(np.maximum(p, FLOOR)) - 1.0


def slsqp_run(
    family: Family,
    start: Floats | None = None,
    *,
    settings: SlsqpSettings | None = None,
    clock: Clock | None = None,
) -> LeakageRun:
    """SLSQP from one start, for every kind of record in turn; the best point that it visited, repaired and judged.

    Parameters
    ----------
    family : Family
        `aggregated(problem)`.
    start : (size of the family,), optional
        The first law; from the uniform one, a stationary point of many problems, it may not move.
    settings : SlsqpSettings, optional
    clock : Clock, optional

    Raises
    ------
    InputError
        If the family is the full joint one, or a record has more than 600 cells.

    >>> import dalenius as dl
    >>> from dalenius.baselines import aggregated
    >>> family = aggregated(dl.MaximalLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast(1.0)))
    >>> round(slsqp_run(family, family.random(np.random.default_rng(0))).value, 5)
    0.07954
    """
    from scipy.optimize import minimize  # takes long to import

    if family.shared or max(sum(map(len, view.cells)) for view in family.views) > MAX_CELLS:
        raise InputError(
            f"slsqp: expected an aggregated family with at most {MAX_CELLS} cells a record; its steps are dense"
        )
    settings, log = settings or SlsqpSettings(), Log(Clock() if clock is None else clock)
    law = family.uniform.copy() if start is None else family.repaired(start)
    iterations, rest = 0, Rest.TOLERANCE
    for view in family.views:
        cells, problem = np.concatenate(view.cells), _Problem(family, view, log)
        try:
            found = minimize(
                problem.value,
                law[cells],
                jac=True,
                method="SLSQP",
                bounds=[(FLOOR, 1.0)] * len(cells),
                constraints=[
                    {"type": "eq", "fun": lambda p: p.sum() - 1.0, "jac": np.ones_like},
                    {"type": "ineq", "fun": problem.spare, "jac": problem.spare_slope},
                ],
                options={"ftol": settings.tolerance, "maxiter": int(settings.iterations)},
            )
            iterations += int(found.nit)
            if found.nit >= settings.iterations:
                rest = Rest.ITERATIONS
        except _OutOfTimeError:
            rest = Rest.TIME
        if np.isfinite(problem.best[0]):
            law[cells] = problem.best[1]
    return concluded("slsqp", family, law, iterations, rest, log)
