"""The row problem in closed form: I(A; Y) in one letter's law of the class, its bounds on boxes, and steps that climb it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from dalenius.errors import InputError
from dalenius.information import entropy, mutual_information, x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.secants import intercept, secant, tighten
from dalenius.programs.pairs import EPS, NOTHING, Pairs, mixed, polished, rounding
from dalenius.search.boxes import BoxCut

__all__ = ["LEAST", "RowProblem"]

LEAST = 1e-9  # the least multiplier of the entropy bound in a leaf with lines
STEPS = 50  # convex-concave steps from one start
SPREAD = 25.0  # the multiplier of a step is looked for between exp(-25) and exp(25)


class RowProblem:
    """I = constant + sum_y f_y(K(y)), K = wR, over laws w (classes,) of one letter's class with H(w) >= h; everything else is fixed.

    f_y(x) = share x log x - (share x + rest(y)) log(share x + rest(y)) is convex in x; see `RowUpdate`, which has the parameters, too.

    Attributes
    ----------
    share : float
        pi_a.
    rest : (outputs,)
        The mass that the other letters give to each output.
    h : float
        The entropy in nats that the letter's law needs, at most what it can have; -inf for a letter without mass.
    low, high : (outputs,)
        Ranges of K over all laws with that entropy.
    """

    def __init__(self, pairs: Pairs, letter: int, marginal: Floats, conditionals: Floats, entropy_bound: float) -> None:
        pi, w = pairs.letter_law(marginal), pairs.conditionals(conditionals)
        others = np.arange(len(pi)) != letter
        self.own, self.letter = Pairs(pairs.name, pairs.rows, pairs.log_counts[[letter]]), letter
        self.rows, self.best, self.most = self.own.rows, self.own.uniform_given_letter[0], float(self.own.totals[0])
        self.share, self.w0 = float(pi[letter]), w[letter]
        self.fixed = np.where(others, pi, 0.0)[:, None] * (w @ pairs.rows)
        self.rest = self.fixed.sum(axis=0)
        self.constant = float(pi[others] @ np.sum(x_log_x(w[others] @ pairs.rows), axis=1))
        self._need(entropy_bound, float(entropy(pi)), pi[others] * pairs.entropies(w)[others])
        self.low, self.high = self._ranges()

    def _need(self, bound: float, letters: float, others: Floats) -> None:
        """What the letter's law has to contribute, and the entropy that it has to spare, rounded downward and upward."""
        missing = bound - letters - float(others.sum())
        if not self.share * self.most >= missing - 1e-12 * (1.0 + abs(bound)):
            needs = missing / self.share if self.share > 0.0 else np.inf
            raise InputError(
                f"row: the letter's law needs entropy {needs:.6g}, the largest is {self.most:.6g}; "
                "lower the bound or change the other laws"
            )
        if self.share <= 0.0:
            self.h, self.allowed, self.slack = -np.inf, np.inf, np.inf
            return
        self.h = min(missing / self.share, self.most)
        lost = EPS * (1.0 + abs(bound) + letters) + rounding(others, self.share * self.own.terms)
        spare = self.share * self.most - missing
        self.allowed, self.slack = max((spare - lost) / self.share, NOTHING), (max(spare, 0.0) + lost) / self.share

    def _ranges(self) -> tuple[Floats, Floats]:
        """From the closed form for one output at a time; those of the rows if every class has enough entropy by itself."""
        used = self.rows[self.own.index]
        low, high = used.min(axis=0), used.max(axis=0)
        if self.h <= self.own.flat(self.own.log_counts).min():
            return low, high
        low = np.maximum(low, [-self._largest(-scores) for scores in self.rows.T])
        return low, np.maximum(np.minimum(high, [self._largest(scores) for scores in self.rows.T]), low)

    def _largest(self, scores: Floats) -> float:
        """An upper bound of <scores, w>, close to the maximum."""
        return self.tilted_bound(scores, polished(lambda mu: self.tilted_bound(scores, mu), 0.1, LEAST))

    def tilted_bound(self, scores: Floats, mu: float) -> float:
        """max <scores, w> over H(w) >= h is at most mu log sum N exp(scores/mu) - mu h, for every mu > 0."""
        return float(self.own.gains(scores[None], mu)[0]) + mu * self.slack

    def entropy(self, w: Floats) -> float:
        """H(w)."""
        return self.own.entropy(w[None])

    def information(self, w: Floats) -> float:
        """I(A; Y)."""
        joint = self.fixed.copy()
        joint[self.letter] = self.share * (w @ self.rows)
        return float(mutual_information(joint))

    def feasible(self, w: Floats) -> Floats:
        """Mixed with the law of the largest entropy until there is enough."""
        return mixed(w, self.best, lambda w: self.own.missing(w[None]), self.allowed)

    def starts(self) -> list[Floats]:
        """Every class, the given law, and that of the largest entropy, made feasible."""
        classes = np.eye(len(self.rows))[self.own.index]
        return [self.feasible(w) for w in (*classes, self.w0, self.best)]

    def f(self, x: Floats) -> Floats:
        """f_y(x(y))."""
        return self.share * x_log_x(x) - x_log_x(self.share * x + self.rest)

    def secant(self, low: Floats, high: Floats) -> Floats:
        """Slopes of the secants of f_y on [low(y), high(y)]."""
        return secant(low, high, self.f)[1]

    def intercepts(self, kappa: Floats, low: Floats, high: Floats) -> Floats:
        """The least B with f_y(x) <= B(y) + kappa(y) x on the box: a convex function less a line is largest at an end."""
        return intercept(kappa, low, high, self.f)

    def bound(self, low: Floats, high: Floats, mu: float, kappa: Floats) -> float:
        """An upper bound of I on a box, -inf where it is empty; without lines and entropy (the best class) for mu = 0."""
        low, high = tighten(low, high, 0)
        if np.any(low > high):
            return -np.inf
        if mu <= 0.0:
            return self.constant + float(self.f(self.rows[self.own.index]).sum(axis=1).max())
        B = self.intercepts(kappa, low, high)
        return self.constant + float(B.sum()) + self.tilted_bound(self.rows @ kappa, mu) + rounding(B, kappa)

    def branching(self, w: Floats, low: Floats, high: Floats) -> BoxCut | None:
        """The output whose secant errs most at w, and a threshold between w and the middle; None where none errs."""
        K, slope = np.clip(w @ self.rows, low, high), self.secant(low, high)
        error = self.intercepts(slope, low, high) + slope * K - self.f(K)
        y = int(np.argmax(error))
        threshold = float(0.7 * K[y] + 0.15 * (low[y] + high[y]))
        return (y, threshold) if error[y] > 1e-15 and low[y] < threshold < high[y] else None

    def climbed(self, w: Floats) -> Floats:
        """Convex-concave steps: maximise the linearisation of I at w, again and again; I never falls."""
        best = self.information(w)
        for _ in range(STEPS):
            K = np.maximum(w @ self.rows, 1e-300)
            slope = self.share * (np.log(K) - np.log(np.maximum(self.share * K + self.rest, 1e-300)))
            trial = self._linear_best(self.rows @ slope)
            value = self.information(trial)
            if value <= best + 1e-14:
                break
            w, best = trial, value
        return w

    def _linear_best(self, scores: Floats) -> Floats:
        """Maximise <scores, w>: w ~ N exp(scores/mu), mu from the scalar equation H(w) = h."""

        def law(t: float) -> Floats:
            return self.own.tilted(scores[None], float(np.exp(t)))[0]

        def excess(t: float) -> float:
            return self.entropy(law(t)) - self.h

        if excess(-SPREAD) >= 0.0:
            return self.feasible(law(-SPREAD))
        return self.feasible(law(SPREAD if excess(SPREAD) <= 0.0 else brentq(excess, -SPREAD, SPREAD, xtol=1e-13)))
