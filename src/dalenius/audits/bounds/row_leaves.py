"""The dual bound U(r, beta) of closed forms of the row problems: of a node's row leaves, or of tangents at local maxima.

For given closed forms it is convex in (-log r, beta); with its maxima over them smoothed it has two derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.bounds.row_multipliers import newton
from dalenius.audits.bounds.row_search import Row
from dalenius.information import entropy, log_sum_exp, x_log_x
from dalenius.information.arrays import Floats, Integers
from dalenius.information.secants import intercept, tighten
from dalenius.reduction import RecordChannel
from dalenius.search.boxes import stacked


@dataclass(frozen=True)
class ChosenLaw:
    """The adversary chooses it: beta log sum_a exp(psi_a / beta).

    Attributes
    ----------
    count : (groups,)
        Letters of each group.
    """

    count: Floats

    def value(self, psi: Floats, beta: float) -> float:
        """max of <psi, pi> + beta H(pi) over what pi may be; -inf where a letter that has mass has no law left."""
        return beta * float(log_sum_exp(psi / beta + np.log(self.count))) if np.all(np.isfinite(psi)) else -np.inf

    def masses(self, psi: Floats, beta: float) -> Floats:
        """Of the groups, at the maximum."""
        score = psi / beta + np.log(self.count)
        return np.exp(score - log_sum_exp(score))

    def entropy(self, masses: Floats) -> float:
        """H(pi) of the letters, at these masses of the groups."""
        return float(masses @ np.log(self.count) - np.sum(x_log_x(masses)))

    def curvature(self, slopes: Floats, masses: Floats, beta: float) -> Floats:
        """The second derivative of `value` that is due to the masses, where psi / beta has these slopes (groups, variables)."""
        centred = slopes - masses @ slopes
        return (centred * masses[:, None]).T @ centred / beta

    def share(self, letter: int, group: int) -> float:
        """Of its group's mass."""
        return 1.0 / float(self.count[group])


@dataclass(frozen=True)
class GivenLaw:
    """The letter law is pi: sum_a pi_a psi_a + beta H(pi).

    Attributes
    ----------
    pi : (letters,)
    group : (letters,)
        The group of each letter.
    """

    pi: Floats
    group: NDArray[np.int64]

    def value(self, psi: Floats, beta: float) -> float:
        q = self.masses(psi, beta)
        if not np.all(np.isfinite(psi[q > 0.0])):
            return -np.inf
        return float(q @ np.where(q > 0.0, psi, 0.0)) + beta * float(entropy(self.pi))

    def masses(self, psi: Floats, beta: float) -> Floats:
        return np.asarray(np.bincount(self.group, weights=self.pi, minlength=len(psi)), dtype=float)

    def entropy(self, masses: Floats) -> float:
        return float(entropy(self.pi))

    def curvature(self, slopes: Floats, masses: Floats, beta: float) -> Floats:
        return np.zeros((slopes.shape[1], slopes.shape[1]))

    def share(self, letter: int, group: int) -> float:
        mass = float(np.sum(self.pi[self.group == group]))
        return float(self.pi[letter]) / mass if mass > 0.0 else 0.0


# Of letters in groups that share their bounds psi (groups,); entropies are relative to the uniform prior.
LetterLaw: TypeAlias = ChosenLaw | GivenLaw


class SmoothBound:
    """Closed forms of the letters' row problems, some of each group of letters, and the dual bound that they make.

    At an output law ~ usual exp(-lam) and beta that of a leaf is, lam being shifted so that the law sums to 1,

        constant + beta log sum_k N(k) exp( (scores + columns lam)(k) / beta ).

    Parameters
    ----------
    columns : (classes, variables)
    usual : (variables,)
    granted : float
        What the bound has times beta.
    law : LetterLaw
        What the groups' bounds come to.
    groups : int

    Attributes
    ----------
    group, constant : (leaves,)
    log_masses, scores : (leaves, classes)
        log N of the leaf's letter.
    """

    def __init__(self, columns: Floats, usual: Floats, granted: float, law: LetterLaw, groups: int) -> None:
        self.columns, self.usual, self.granted, self.law, self.groups = columns, usual, granted, law, groups
        self.group, self.constant = np.empty(0, dtype=np.int64), np.empty(0)
        self.log_masses = self.scores = np.empty((0, len(columns)))

    def values(self, lam: Floats, beta: float) -> tuple[Floats, Floats]:
        """psi of every leaf, and its maximiser w (leaves, classes)."""
        lam = lam + log_sum_exp(np.log(self.usual) - lam)
        weight = self.log_masses + (self.scores + self.columns @ lam) / beta
        total = log_sum_exp(weight)
        return self.constant + beta * total, np.exp(weight - total[:, None])

    def maxima(self, values: Floats, temperature: float) -> tuple[Floats, Floats]:
        """The smoothed maximum over each group's leaves, and the leaves' shares in it."""
        top = np.full(self.groups, -np.inf)
        np.maximum.at(top, self.group, values)
        if temperature == 0.0:
            return top, (values == top[self.group]).astype(float)
        shifted = np.exp((values - np.where(np.isfinite(top), top, 0.0)[self.group]) / temperature)
        total = np.zeros(self.groups)
        np.add.at(total, self.group, shifted)
        share = shifted / np.where(total > 0.0, total, 1.0)[self.group]
        with np.errstate(divide="ignore"):
            return top + temperature * np.log(total), share

    def bound(self, lam: Floats, beta: float, temperature: float = 0.0) -> float:
        """U(r, beta), its maxima smoothed at a temperature; -inf where a letter has no box left."""
        psi = self.maxima(self.values(lam, beta)[0], temperature)[0]
        return self.law.value(psi, beta) + beta * self.granted

    def sums(self, weights: Floats, x: Floats) -> Floats:
        """Sums of weights x over the leaves of each group, (groups, ...)."""
        sums = np.zeros((self.groups, x.shape[1]))
        np.add.at(sums, self.group, weights[:, None] * x)
        return sums

    def direction(
        self, lam: Floats, beta: float, temperature: float, orbit: Integers | None = None, *, fixed: bool = False
    ) -> Floats:
        """Newton's direction in (lam, beta), with beta `fixed` in lam alone, for the smoothed bound; lam stays constant on orbits."""
        values, w = self.values(lam, beta)
        psi, share = self.maxima(values, temperature)
        q = self.law.masses(psi, beta)
        law = self.usual * np.exp(-lam)
        law /= law.sum()
        K = w @ self.columns
        surprise = np.where(np.isfinite(self.log_masses), self.log_masses, 0.0) - np.log(np.maximum(w, 1e-300))
        entropy = np.sum(w * surprise, axis=1)
        feature = np.concatenate([K - law, entropy[:, None]], axis=1)
        weight = q[self.group] * share
        mean = self.sums(share, feature)
        centred = feature - mean[self.group]
        hessian = (centred * weight[:, None]).T @ centred / temperature
        slopes = mean.copy()
        slopes[:, -1] -= psi / beta
        hessian += self.law.curvature(slopes, q, beta)
        hessian += self._within_leaves(weight, w, K, surprise, entropy) / beta
        hessian[:-1, :-1] += np.diag(law) - np.outer(law, law)
        gradient = q @ mean
        gradient[-1] += self.law.entropy(q) + self.granted
        if fixed:
            gradient[-1] = hessian[-1, :-1] = hessian[:-1, -1] = 0.0
        orbit = np.arange(len(lam)) if orbit is None else orbit
        fold = np.eye(orbit.max() + 2)[np.append(orbit, orbit.max() + 1)]
        gradient, hessian = gradient @ fold, fold.T @ hessian @ fold
        size = len(gradient)
        hessian[np.arange(size), np.arange(size)] += 1e-9 * np.trace(hessian) / size
        return fold @ newton(gradient[None], hessian[None])[0]

    def descended(
        self,
        lam: Floats,
        beta: float,
        temperature: float,
        near: Callable[[Floats, float, Floats], tuple[Floats, float]],
        *,
        steps: int,
        shortest: float,
        close: float,
        **how: Any,
    ) -> tuple[Floats, float]:
        """(lam, beta) after Newton steps, each shortened until the smoothed bound falls, down to a share of the whole step.

        Parameters
        ----------
        near : callable
            Where a step from (lam, beta) leads that stays where steps may go.
        close : float
            A step that gains less than this share of the temperature is the last.
        how
            As for `direction`.
        """
        value = self.bound(lam, beta, temperature)
        for _ in range(steps):
            step, length = self.direction(lam, beta, temperature, **how), 1.0
            while not (lower := self.bound(*(trial := near(lam, beta, length * step)), temperature)) < value:
                length *= 0.3
                if length <= shortest:
                    return lam, beta
            gained, value, (lam, beta) = value - lower, lower, trial
            if gained < close * temperature:
                break
        return lam, beta

    def _within_leaves(self, weight: Floats, w: Floats, K: Floats, surprise: Floats, entropy: Floats) -> Floats:
        """The covariance of (row, surprise) under the leaves' own maximisers, weighted."""
        joint, size = weight[:, None] * w, K.shape[1] + 1
        inner = np.zeros((size, size))
        inner[:-1, :-1] = (self.columns * joint.sum(axis=0)[:, None]).T @ self.columns - (K * weight[:, None]).T @ K
        inner[:-1, -1] = (joint * surprise).sum(axis=0) @ self.columns - (weight * entropy) @ K
        inner[-1, :-1] = inner[:-1, -1]
        inner[-1, -1] = np.sum(joint * surprise**2) - weight @ entropy**2
        return inner


class RowLeaves(SmoothBound):
    """Row leaves of all letters; letters that share a row tree (equal counts, equal boxes) are one group.

    Parameters
    ----------
    channel : RecordChannel
    trees : sequence of Row
        A letter each.
    pi : (letters,), optional
        The letter law, where the adversary does not choose it.

    Attributes
    ----------
    first : (groups,)
        One letter of each group.
    items : list of Row
    low, high, kappa : (leaves, outputs)
    constant : (leaves,)
        The sum of the lines' intercepts; -inf for an empty box.
    """

    def __init__(self, channel: RecordChannel, trees: Sequence[Row], pi: Floats | None = None) -> None:
        identity = [id(tree) for tree in trees]
        self.first = np.array(sorted(identity.index(i) for i in set(identity)))
        firsts = [identity[a] for a in self.first]
        law: LetterLaw = ChosenLaw(np.array([float(identity.count(i)) for i in firsts]))
        if pi is not None:
            law = GivenLaw(pi, np.array([firsts.index(i) for i in identity]))
        outputs = channel.rows.shape[1]
        super().__init__(channel.rows, np.ones(outputs), channel.granted, law, len(firsts))
        self._log_uniform = channel.log_uniform
        self.items: list[Row] = []
        self.low = self.high = self.kappa = np.empty((0, outputs))
        for g, a in enumerate(self.first):
            leaves = list(trees[a].leaves())
            self.append(leaves, np.full(len(leaves), g))

    def append(self, leaves: list[Row], group: NDArray[np.int64]) -> None:
        """More leaves, and the groups that they belong to."""
        low, high, kappa = stacked(leaves, "low", "high", "kappa")
        low, high = tighten(low, high, axis=1)
        constant = np.where((low > high).any(axis=1), -np.inf, intercept(kappa, low, high).sum(axis=1))
        self.items += leaves
        self.group = np.concatenate([self.group, group])
        self.low, self.high = np.concatenate([self.low, low]), np.concatenate([self.high, high])
        self.kappa = np.concatenate([self.kappa, kappa])
        self.constant = np.concatenate([self.constant, constant])
        self.scores = np.concatenate([self.scores, kappa @ self.columns.T])
        self.log_masses = self._log_uniform[self.first[self.group]]

    def drop(self, numbers: list[int]) -> None:
        """Without these leaves; `append` must follow."""
        kept = np.ones(len(self.items), dtype=np.bool_)
        kept[numbers] = False
        self.items = [item for item, keep in zip(self.items, kept.tolist(), strict=True) if keep]
        self.group, self.low, self.high = self.group[kept], self.low[kept], self.high[kept]
        self.kappa, self.constant, self.scores = self.kappa[kept], self.constant[kept], self.scores[kept]
