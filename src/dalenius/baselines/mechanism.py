"""The source paper's Algorithms 7, 8, 10 and 11: the mechanism for known priors, by a smooth penalty and exponentiated gradients.

Algorithms 7 and 8 lower the leakage within a budget of distortion, Algorithms 10 and 11 the distortion within a budget of leakage:
one program with the two functions changing places,

    F(Q) = f(Q) + m phi(g(Q) - budget),     phi(v) = s log(1 + exp(v/s)),     grad F = grad f + m sigmoid(v/s) grad g.

The penalty's formula is lost in the text, which calls it smooth, its derivative a sigmoid and the penalty exact for large m: we took
the softplus. s is a small share of the budget. The multiplier m grows by a factor while the budget is broken, and falls a little
while it is not used up ("adaptively").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dalenius.baselines.gradients import channel_gradient
from dalenius.baselines.run import Log, Turn, need_positive, need_share
from dalenius.information import log_sum_exp, mutual_information
from dalenius.information.arrays import Floats
from dalenius.model.design_problem import DesignProblem
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.model.min_distortion import MinDistortion
from dalenius.model.min_leakage import MinLeakage

__all__ = ["MechanismSettings", "budget_of", "exponentiated_gradient", "penalty_method", "worst_leakage"]

LARGEST_IN_DOUBLES = Fraction(10**300)  # budgets beyond count as this
Function = Callable[[Floats], tuple[float, Floats]]  # value and gradient at a mechanism (inputs, outputs)


@dataclass(frozen=True)
class MechanismSettings:
    """Of Algorithms 7, 8, 10 and 11. Of the paper's numbers only the backtracking factor 0.5 is left; the others are ours.

    Attributes
    ----------
    tolerance : float
        Algorithms 8 and 11 stop when a step gains less than this, relative to the objective.
    iterations : int
        Of Algorithms 8 and 11, for one multiplier.
    step, backtrack, halvings, armijo
        First step, factor on a rejected step, how often, and the share of what the gradient promises that a step must gain. After
        an accepted step a longer one is tried.
    clip : float
        Probabilities are kept above this.
    penalty : float
        The first multiplier, per unit of objective and budget.
    growth : float
        Factor on the multiplier while the budget is broken.
    rounds : int
        How many multipliers at most.
    smoothing : float
        s as a share of the budget.
    violation : float
        The budget may be broken by this share of itself.
    """

    tolerance: float = 1e-8
    iterations: int = 400
    step: float = 4.0
    backtrack: float = 0.5
    halvings: int = 30
    armijo: float = 1e-4
    clip: float = 1e-12
    penalty: float = 1.0
    growth: float = 2.0
    rounds: int = 20
    smoothing: float = 1e-3
    violation: float = 1e-4

    def __post_init__(self) -> None:
        need_positive(
            self, "tolerance", "iterations", "step", "halvings", "penalty", "rounds", "smoothing", "violation"
        )
        need_share(self, "backtrack", "armijo", "clip")
        need_positive(self, "growth")


def budget_of(problem: DesignProblem) -> float:
    """The budget as a double: of distortion, or of leakage in nats."""
    if isinstance(problem, MinDistortion):
        return problem.max_leakage_nats
    return float(min(problem.budget, LARGEST_IN_DOUBLES))


def worst_leakage(masses: Floats) -> Function:
    """max over the listed (record, prior) of I(X_i; Y), and its gradient at the record that leaks most: Theorem 8.1, equation (24).

    Parameters
    ----------
    masses : (records, letters, inputs)
        P(letter, input) of the prior, as each record sees it; letters that a record does not have are rows of zeros.
    """

    def function(Q: Floats) -> tuple[float, Floats]:
        told = mutual_information(masses @ Q)
        worst = int(np.argmax(told))
        return float(told[worst]), channel_gradient(masses[worst], Q)

    return function


def _penalised(f: Function, g: Function, budget: float, multiplier: float, smooth: float) -> Function:
    """F of the module's docstring."""

    def function(Q: Floats) -> tuple[float, Floats]:
        (value, gradient), (used, slope) = f(Q), g(Q)
        v = (used - budget) / smooth
        softplus = float(np.logaddexp(0.0, v))
        return value + multiplier * smooth * softplus, gradient + multiplier * float(np.exp(v - softplus)) * slope

    return function


def exponentiated_gradient(
    function: Function, free: Floats, tied: TiedEntries, settings: MechanismSettings, log: Log
) -> Floats:
    """Algorithms 8 and 11: Q <- Q exp(-step grad F) / normalisation, with Armijo backtracking, in logarithms, clipped below.

    Armijo's condition, equation (30): F(new) <= F(old) + c <grad F, new - old>. F never rises.

    Parameters
    ----------
    function
        F and its gradient at a mechanism (inputs, outputs).
    free : (free rows, outputs)
        The start, positive.
    """
    value, gradient = function(tied.expand(free))
    gradient, step = tied.sums(gradient), settings.step
    for _ in range(int(settings.iterations)):
        found = None
        centred = gradient - np.sum(free * gradient, axis=1, keepdims=True)
        for _ in range(int(settings.halvings)):
            if log.clock.expired:
                return free
            new = _moved(free, step * centred, settings.clip)
            now, slope = function(tied.expand(new))
            log.evaluations += 1
            if now <= value + settings.armijo * float(np.sum(centred * (new - free))):
                found = now, slope, new
                break
            step *= settings.backtrack
        if found is None:
            break
        gained, value, free = value - found[0], found[0], found[2]
        gradient, step = tied.sums(found[1]), step / settings.backtrack
        if gained <= settings.tolerance * abs(value):
            break
    return free


def _moved(free: Floats, move: Floats, clip: float) -> Floats:
    logs = np.log(free) - move
    rows = np.maximum(np.exp(logs - log_sum_exp(logs)[:, None]), clip)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def penalty_method(problem: DesignProblem, masses: Floats, Q: Floats, settings: MechanismSettings, log: Log) -> Floats:
    """Algorithms 7 (`MinLeakage`) and 10 (`MinDistortion`): the best mechanism for these priors, up to a small breach of the budget.

    Parameters
    ----------
    masses : (records, letters, inputs)
        As in `worst_leakage`.
    Q : (inputs, outputs)
        The start.
    """
    tied = problem.tied
    slope = problem.input_law[:, None] * problem.cost

    def distortion(Q: Floats) -> tuple[float, Floats]:
        return float(np.sum(slope * Q)), slope

    leakage = worst_leakage(masses)
    f, g = leakage, distortion
    unit, budget = max(float(min(problem.constant_distortion, LARGEST_IN_DOUBLES)), 1e-12), budget_of(problem)
    if isinstance(problem, MinLeakage):
        unit = 1.0 / unit
    else:
        f, g = g, f
    scale = max(budget, 1e-6)
    multiplier, free = settings.penalty * unit, tied.variable(Q)
    free = np.maximum(free, settings.clip)
    best, least = Q, np.inf
    for _ in range(int(settings.rounds)):
        function = _penalised(f, g, budget, multiplier, settings.smoothing * scale)
        free = exponentiated_gradient(function, free / free.sum(axis=1, keepdims=True), tied, settings, log)
        now = tied.expand(free)
        log.turns.append(Turn(multiplier, distortion(now)[0], leakage(now)[0]))
        breach, value = g(now)[0] - budget, f(now)[0]
        if breach <= settings.violation * scale:
            if value >= least * (1.0 - 1e-6):
                break
            best, least = now, value
            if breach > -10.0 * settings.smoothing * scale:
                break
            multiplier /= settings.growth**0.5
        else:
            multiplier *= settings.growth
            if not np.isfinite(least):
                best = now
        if log.clock.expired:
            break
    return best
