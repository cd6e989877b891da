"""The source paper's Algorithms 7, 8, 10 and 11: the mechanism for known priors, by a smooth penalty and exponentiated gradients.

Algorithms 7 and 8 lower the leakage within a budget of distortion, Algorithms 10 and 11 the distortion within a budget of leakage:
one program with the two functions changing places,

    F(Q) = f(Q) + m phi(v),     v = g(Q) - budget,     p = s log(1 + exp(v/s)).

The penalty's formula is lost. What the text says of it differs from place to place: smooth, with the sigmoid in its derivative, in
both problems; *quadratic* in the proof of Theorem 6 (Problem 2); *exact* for large m in that of Theorem 7 (Problem 3), which a square
is not. We took phi = p^2 / (2 budget) with the derivative p sigmoid(v/s) / budget for Problem 2, and phi = p, the softplus, with the
derivative sigmoid(v/s) for Problem 3; either can be had for both (`MechanismSettings.shape`). s is a small share of the budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dalenius.baselines.family import Log, Turn, need_one_of, need_positive, need_share
from dalenius.baselines.gradients import channel_gradient
from dalenius.information import log_sum_exp, mutual_information
from dalenius.information.arrays import Floats
from dalenius.model import DesignProblem
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.units import LARGEST_IN_DOUBLES

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
    shape : {"text", "softplus", "quadratic"}
        The penalty phi; as the text has it: quadratic for Problem 2, softplus for Problem 3.
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
    shape: Literal["text", "softplus", "quadratic"] = "text"
    smoothing: float = 1e-3
    violation: float = 1e-4

    def __post_init__(self) -> None:
        need_positive(
            self, "tolerance", "iterations", "step", "halvings", "penalty", "rounds", "smoothing", "violation"
        )
        need_share(self, "backtrack", "armijo", "clip")
        need_positive(self, "growth")
        need_one_of(self, "shape", "text", "softplus", "quadratic")


def budget_of(problem: DesignProblem) -> float:
    """The budget as a double: of distortion, or of leakage in nats."""
    if problem.leakage_budget is not None:
        return problem.leakage_budget
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


def _penalised(
    f: Function, g: Function, budget: float, multiplier: float, smooth: float, square: float | None = None
) -> Function:
    """F of the module's docstring; phi is p^2 / (2 square) if that is given, else p."""

    def function(Q: Floats) -> tuple[float, Floats]:
        (value, gradient), (used, slope) = f(Q), g(Q)
        v = (used - budget) / smooth
        softplus = float(np.logaddexp(0.0, v))
        p, sigmoid = smooth * softplus, float(np.exp(v - softplus))
        penalty, rise = (p, sigmoid) if square is None else (0.5 * p * p / square, p * sigmoid / square)
        return value + multiplier * penalty, gradient + multiplier * rise * slope

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
    return rows / rows.sum(axis=1, keepdims=True)


class PenaltyProgram:
    """Problem 2 or 3 for known priors: f within a budget of g: the largest leakage to these priors and the distortion.

    Parameters
    ----------
    problem : MinLeakage or MinDistortion
    masses : (records, letters, inputs)
        As in `worst_leakage`.
    settings : MechanismSettings

    Attributes
    ----------
    first : float
        The first multiplier.
    """

    def __init__(self, problem: DesignProblem, masses: Floats, settings: MechanismSettings) -> None:
        self.settings, self.tied, self.budget = settings, problem.tied, budget_of(problem)
        slope = problem.input_law[:, None] * problem.cost

        def distortion(Q: Floats) -> tuple[float, Floats]:
            return float(np.sum(slope * Q)), slope

        self.distortion, self.leakage = distortion, worst_leakage(masses)
        self.f, self.g = self.leakage, self.distortion
        unit = max(float(min(problem.constant_distortion, LARGEST_IN_DOUBLES)), 1e-12)
        distorts_least = problem.distortion_budget is None
        if distorts_least:
            self.f, self.g = self.g, self.f
        else:
            unit = 1.0 / unit
        self.scale, self.first = max(self.budget, 1e-6), settings.penalty * unit
        as_text = "softplus" if distorts_least else "quadratic"
        self._quadratic = (as_text if settings.shape == "text" else settings.shape) == "quadratic"

    def descended(self, Q: Floats, multiplier: float, log: Log) -> Floats:
        """Algorithm 8 or 11 with one multiplier, from a mechanism (inputs, outputs); noted as a turn."""
        free = np.maximum(self.tied.variable(Q), self.settings.clip)
        smooth, square = self.settings.smoothing * self.scale, self.scale if self._quadratic else None
        function = _penalised(self.f, self.g, self.budget, multiplier, smooth, square)
        free = free / free.sum(axis=1, keepdims=True)
        now = self.tied.expand(exponentiated_gradient(function, free, self.tied, self.settings, log))
        log.turns.append(Turn(multiplier, self.distortion(now)[0], self.leakage(now)[0]))
        return now

    def breach(self, Q: Floats) -> float:
        """By how much the budget is broken, as a share of it; negative where it is not used up."""
        return (self.g(Q)[0] - self.budget) / self.scale


def penalty_method(problem: DesignProblem, masses: Floats, Q: Floats, settings: MechanismSettings, log: Log) -> Floats:
    """Algorithms 7 (`MinLeakage`) and 10 (`MinDistortion`): the best mechanism for these priors, up to a small breach of the budget.

    The multiplier grows by a factor while the budget is broken, and falls a little while it is not used up ("adaptively").

    Parameters
    ----------
    masses : (records, letters, inputs)
        As in `worst_leakage`.
    Q : (inputs, outputs)
        The start.
    """
    program = PenaltyProgram(problem, masses, settings)
    multiplier, now = program.first, Q
    best, least = Q, np.inf
    for _ in range(int(settings.rounds)):
        now = program.descended(now, multiplier, log)
        breach, value = program.breach(now), program.f(now)[0]
        if breach <= settings.violation:
            if value >= least * (1.0 - 1e-6):
                break
            best, least = now, value
            if breach > -10.0 * settings.smoothing:
                break
            multiplier /= settings.growth**0.5
        else:
            multiplier *= settings.growth
            if not np.isfinite(least):
                best = now
        if log.clock.expired:
            break
    return best
