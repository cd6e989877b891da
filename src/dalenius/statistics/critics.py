"""Critics: bounded functions of a secret's number and a release's numbers whose means bound their mutual information from below.

For every bounded function f,  I(A; B)  >=  E f(A, B)  -  log E exp f(A', B'),  with A' and B' independent and of the same laws
(Donsker and Varadhan 1983): a critic that was fitted badly makes a bound weak, never wrong.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from dalenius.information.arrays import Floats, Integers

__all__ = ["BinCritic", "Critic", "NeuronCritic", "pairs_apart"]

CAPS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of critics, in nats: which fits, the samples for fitting say
WEIGHT = 10.0  # largest weight of a neuron; 1 in the paper's class, which is too small to see anything


class Critic(ABC):
    """A function of the two sides, between -cap and cap; fitted to samples that are used for nothing else."""

    cap: float

    @abstractmethod
    def capped(self, cap: float) -> Critic:
        """The same with another cap."""

    @abstractmethod
    def __call__(self, secret: Floats, release: Floats) -> Floats:
        """f of each sample; `secret` is (m,), `release` (m, numbers)."""


@dataclass(frozen=True)
class BinCritic(Critic):
    """The log-likelihood ratio of a table of bins: f(a, b) = log P(a, b) / (P(a) P(b)), estimated, and cut off at the cap.

    Attributes
    ----------
    edges : sequence of arrays
        Of the bins of each number, the secret's first; equally many samples for fitting in each.
    table : (bins of the secret, bins of the release)
    cap : float
    """

    edges: Sequence[Floats]
    table: Floats
    cap: float

    @classmethod
    def fitted(cls, secret: Floats, release: Floats, bins: int) -> BinCritic:
        """Quantiles as edges; half a sample is added to each cell, so that no ratio is infinite."""
        edges = [_edges(column, bins) for column in (secret, *release.T)]
        sizes = [edge.size + 1 for edge in edges]
        a, b = _places(edges, secret, release)
        cells = np.full((sizes[0], int(np.prod(sizes[1:]))), 0.5)
        np.add.at(cells, (a, b), 1.0)
        joint = cells / cells.sum()
        return cls(edges, np.log(joint / (joint.sum(axis=1, keepdims=True) * joint.sum(axis=0))), np.inf)

    def capped(self, cap: float) -> BinCritic:
        return replace(self, cap=cap)

    def __call__(self, secret: Floats, release: Floats) -> Floats:
        values: Floats = np.clip(self.table[_places(self.edges, secret, release)], -self.cap, self.cap)
        return values


@dataclass(frozen=True)
class NeuronCritic(Critic):
    """A shallow network of the paper's class, f = sum_k beta_k relu(w_k . x + b_k) + w_0 . x + b_0, cut off at the cap.

    The inner weights are drawn and frozen (|w_k|_1 <= 1, |b_k| <= 1), so that the fit of beta, w_0 and b_0, each at most `WEIGHT` in
    size, is a concave program: mean f - log mean exp f.

    Attributes
    ----------
    inner : (1 + numbers + 1, neurons)
        w_k and b_k, of numbers that are scaled to [-1, 1].
    outer : (neurons + numbers + 1,)
    middle, scale : (numbers,)
    cap : float
    """

    inner: Floats
    outer: Floats
    middle: Floats
    scale: Floats
    cap: float

    @classmethod
    def fitted(
        cls, secret: Floats, release: Floats, neurons: int, random: np.random.Generator, weight: float = WEIGHT
    ) -> NeuronCritic:
        """By L-BFGS-B, which may end anywhere; no outer weight is larger than `weight`."""
        from scipy.optimize import minimize

        together = np.column_stack([secret, release])
        middle = np.median(together, axis=0)
        scale = np.maximum(np.quantile(np.abs(together - middle), 0.99, axis=0), 1e-300)
        inner = random.laplace(size=(together.shape[1] + 1, neurons))
        inner[:-1] /= np.abs(inner[:-1]).sum(axis=0)
        inner[-1] = random.uniform(-1.0, 1.0, neurons)
        start = cls(inner, np.zeros(neurons + inner.shape[0]), middle, scale, np.inf)
        joint = start._features(secret, release)
        apart = start._features(secret, np.roll(release, 1, axis=0))
        mean = joint.mean(axis=0)

        def loss(outer: Floats) -> tuple[float, Floats]:
            values = apart @ outer
            total = logsumexp(values)
            slope: Floats = np.exp(values - total) @ apart - mean
            return float(total - np.log(len(apart)) - mean @ outer), slope

        bounds = [(-weight, weight)] * start.outer.size
        found = minimize(loss, start.outer, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200})
        outer = found.x.copy()
        outer[-1] -= logsumexp(apart @ outer) - np.log(len(apart))  # a constant changes nothing, until the cap cuts off
        return replace(start, outer=outer)

    def capped(self, cap: float) -> NeuronCritic:
        return replace(self, cap=cap)

    def __call__(self, secret: Floats, release: Floats) -> Floats:
        values: Floats = np.clip(self._features(secret, release) @ self.outer, -self.cap, self.cap)
        return values

    def _features(self, secret: Floats, release: Floats) -> Floats:
        x = np.clip((np.column_stack([secret, release]) - self.middle) / self.scale, -1.0, 1.0)
        neurons = np.maximum(x @ self.inner[:-1] + self.inner[-1], 0.0)
        return np.column_stack([neurons, x, np.ones(len(x))])


def pairs_apart(secret: Floats, release: Floats) -> tuple[Floats, Floats]:
    """Samples of the product of the two laws, independent of one another: the secret of every even run, the release of the next."""
    even = len(secret) // 2 * 2
    return secret[0:even:2], release[1:even:2]


def _edges(column: Floats, bins: int) -> Floats:
    """Between bins of about equally many samples; fewer where many samples are one number."""
    inner: Floats = np.unique(np.quantile(column, np.arange(1, bins) / bins))
    return inner


def _places(edges: Sequence[Floats], secret: Floats, release: Floats) -> tuple[Integers, Integers]:
    """The cell of each sample, numbered in each of the two sides."""
    a = np.searchsorted(edges[0], secret, side="right")
    sizes = [edge.size + 1 for edge in edges[1:]]
    b = np.ravel_multi_index(
        [np.searchsorted(edge, column, side="right") for edge, column in zip(edges[1:], release.T, strict=True)], sizes
    )
    return a, np.asarray(b, dtype=np.int64)
