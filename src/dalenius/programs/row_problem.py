"""The row problem in closed form: I(A; Y) in one letter's law of the class, its bounds on boxes, and steps that climb it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dalenius.errors import InputError
from dalenius.information import entropy, log_sum_exp, mutual_information, x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.secants import box_price, intercept, secant, tighten
from dalenius.information.tilt import largest_score
from dalenius.programs.base import Named
from dalenius.programs.pairs import EPS, NOTHING, Pairs, mixed, rounding
from dalenius.programs.polish import polished
from dalenius.search import Clock
from dalenius.search.boxes import BoxCut, halves
from dalenius.search.tree import Branch, Leaf, Tree

LEAST = 1e-9  # the least multiplier of the entropy bound in a leaf with lines
STEPS = 50  # convex-concave steps from one start


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
        """Needed contribution of the letter's law, and entropy that it has to spare, rounded downward and upward."""
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
        """Maximise <scores, w> over H(w) >= h."""
        bound = max(self.h, -1e6) - self.most
        p, _ = largest_score(scores[None, None], self.own.log_uniform, bound, np.array([0.1]), Clock())
        return self.feasible(p[0, 0])


NEWTON_STEPS = 25  # of Newton's method for each smoothing
RIDGE = 1e-12  # added to the scaled Hessian
BACK = 10  # times that a step is shortened
SMOOTHING = tuple(0.2**k for k in range(11))  # times the first
NEAR = 0.5  # the multiplier of the entropy bound that is begun with, times what the scores differ by
FALL = 0.5  # the share of that multiplier that one step may take away


class BoxDuals:
    """For boxes low <= K <= high of a row problem: slopes kappa and multipliers mu with a small bound (`RowProblem.bound`).

    With kappa = s + nu, s the secants' slopes, the bound is, up to what nu and mu do not change,

        price(nu) + mu log sum_k u_k exp( (R (s + nu))_k / mu ) + mu slack,    price(nu) = sum_y max(-nu low, -nu high)(y),

    u the law of the largest entropy: convex in (nu, mu). With |nu| smoothed, and a barrier for mu > 0, it has two derivatives;
    both fade, and Newton's method follows.
    """

    def __init__(self, row: RowProblem) -> None:
        self.rows = row.rows[row.own.index]
        self.log_law = row.own.log_uniform_given_letter[0, row.own.index]
        self.slack, self.secant = row.slack, row.secant

    def __call__(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """(kappa, mu, w) for boxes (boxes, outputs); w is where the relaxation attains its bound."""
        slope = self.secant(low, high)
        scores = slope @ self.rows.T
        mu = NEAR * np.maximum(np.ptp(scores, axis=1), 1e-6)
        size, barrier = np.maximum(np.ptp(slope, axis=1), 1e-6)[:, None], mu * max(self.slack, 1e-12)
        nu = np.zeros_like(slope)
        for factor in SMOOTHING:
            nu, mu = _Smoothed(self, slope, low, high, factor * size, factor * barrier).settled(nu, mu)
        return slope + nu, mu, self.law(slope + nu, mu).w

    def law(self, kappa: Floats, mu: Floats) -> _Law:
        """At lines of these slopes and this multiplier."""
        x = kappa @ self.rows.T / mu[:, None]
        total = log_sum_exp(self.log_law + x)
        return _Law(x, total, np.exp(self.log_law + x - total[:, None]))


@dataclass(frozen=True)
class _Law:
    """x = R kappa / mu (boxes, classes), log sum u exp(x), and w ~ u exp(x)."""

    x: Floats
    total: Floats
    w: Floats


@dataclass(frozen=True)
class _Smoothed:
    """The dual with |nu| smoothed and - barrier log(mu) added."""

    duals: BoxDuals
    slope: Floats
    low: Floats
    high: Floats
    smoothing: Floats
    barrier: Floats

    def settled(self, nu: Floats, mu: Floats) -> tuple[Floats, Floats]:
        """Its minimum, as far as a few damped Newton steps from (nu, mu) go."""
        value, law = self.value(nu, mu), self.duals.law(self.slope + nu, mu)
        for _ in range(NEWTON_STEPS):
            step, before = self.direction(nu, mu, law), value
            length = np.minimum(1.0, FALL / np.maximum(-step[:, -1] / mu, FALL))
            for _ in range(BACK):
                to_nu, to_mu = nu + length[:, None] * step[:, :-1], mu + length * step[:, -1]
                trial = self.value(to_nu, to_mu)
                better = trial < value
                kept = better[:, None]
                nu, mu, value = np.where(kept, to_nu, nu), np.where(better, to_mu, mu), np.where(better, trial, value)
                if better.all():
                    break
                length = np.where(better, 0.0, 0.3 * length)
            law = self.duals.law(self.slope + nu, mu)
            if np.all(before - value < 1e-3 * self.barrier + 1e-13):
                break
        return nu, mu

    def value(self, nu: Floats, mu: Floats) -> Floats:
        total = self.duals.law(self.slope + nu, mu).total
        price = box_price(nu, self.low, self.high, self.smoothing)[0].sum(axis=1)
        return price + mu * (total + self.duals.slack) - self.barrier * np.log(mu)

    def direction(self, nu: Floats, mu: Floats, law: _Law) -> Floats:
        """Newton's direction in (nu, mu): the Hessian of the logarithm is the covariance of (R, -x) under w, over mu."""
        rows = self.duals.rows
        _, first, second = box_price(nu, self.low, self.high, self.smoothing)
        features = np.concatenate(
            [np.broadcast_to(rows, (len(mu), *rows.shape)), -law.x[:, :, None]], axis=2
        )  # (boxes, classes, outputs + 1)
        mean = np.einsum("bk,bkf->bf", law.w, features)
        centred = features - mean[:, None, :]
        hessian = (centred * law.w[:, :, None]).swapaxes(1, 2) @ centred / mu[:, None, None]
        outputs = range(rows.shape[1])
        hessian[:, outputs, outputs] += second
        hessian[:, -1, -1] += self.barrier / mu**2
        gradient = mean.copy()
        gradient[:, :-1] += first
        gradient[:, -1] += law.total + self.duals.slack - self.barrier / mu
        scale = np.sqrt(np.maximum(np.diagonal(hessian, axis1=1, axis2=2), 1e-30))
        hessian = hessian / (scale[:, :, None] * scale[:, None, :]) + RIDGE * np.eye(len(rows[0]) + 1)
        return -np.linalg.solve(hessian, (gradient / scale)[:, :, None])[:, :, 0] / scale


@dataclass(frozen=True, slots=True)
class RowBox:
    """A box, the multiplier and slopes that prove its bound, and for how many generations they were no better than the parent's."""

    low: Floats
    high: Floats
    mu: float
    kappa: Floats
    failures: int = 0


RowLeaf: TypeAlias = Leaf[RowBox, BoxCut]
RowTree: TypeAlias = Tree[RowBox, BoxCut]


def as_multipliers(tree: RowTree, free: float) -> Named:
    """`branch` (nodes, 2), output and threshold or (-1, 0) at a leaf; `mu` (leaves,), 0 where the bound is `free`; `kappa`."""
    nodes = list(tree.preorder())
    leaves = [node for node in nodes if isinstance(node, Leaf)]
    return {
        "branch": np.array([list(node.cut) if isinstance(node, Branch) else [-1, 0.0] for node in nodes], dtype=float),
        "mu": np.array([leaf.content.mu if leaf.bound < free else 0.0 for leaf in leaves]),
        "kappa": np.array([leaf.content.kappa for leaf in leaves]),
    }


def leaf_boxes(branch: Floats, low: Floats, high: Floats) -> list[tuple[Floats, Floats]]:
    """The boxes of the leaves of a tree in preorder, rows (coordinate or -1, threshold); none if it is no tree.

    >>> len(leaf_boxes(np.array([[0, 0.5], [-1, 0], [-1, 0]]), np.zeros(1), np.ones(1)))
    2
    """
    stack, leaves = [(low, high)], []
    for coordinate, threshold in branch:
        if not stack or coordinate >= len(low):
            return []
        ends = stack.pop()
        if coordinate < 0:
            leaves.append(ends)
        else:
            stack += halves(*ends, int(coordinate), float(threshold))[::-1]
    return [] if stack else leaves
