"""Releases of many numbers: runs with data drawn at random, and what they say about the information revealed about one record."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, as_integer
from dalenius.information.arrays import Floats, Integers
from dalenius.statistics.counts import SampledLeakage, confidence_of, mean_error
from dalenius.units import lower_in, unit_size

# Critics: bounded functions of a secret's number and a release's numbers whose means bound their mutual information from below.
#
# For every bounded function f,  I(A; B)  >=  E f(A, B)  -  log E exp f(A', B'),  with A' and B' independent and of the same laws
# (Donsker and Varadhan 1983): a critic that was fitted badly makes a bound weak, never wrong.


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


LEAST_RUNS = 40
NEURONS = 32
CRITICS = ("bins", "neurons")
SIDES = 2  # means that are bounded


@dataclass(frozen=True)
class _Slice:
    """One number of the record, and one of the release, with one of the others where they are told."""

    secret: Floats
    release: Floats

    def part(self, runs: slice) -> _Slice:
        return _Slice(self.secret[runs], self.release[runs])


@dataclass(frozen=True)
class _Fitted:
    """A slice with its critic, and what the samples for fitting promise."""

    critic: Critic
    place: int
    promise: float


def audit_samples(
    records: ArrayLike,
    outputs: ArrayLike,
    *,
    confidence: float = 0.95,
    given_others: bool = False,
    slices: Integer = 16,
    average: bool = False,
    critic: str = "bins",
    bins: Integer = 6,
    seed: int = 0,
    units: str = "bits",
) -> SampledLeakage:
    """A lower confidence bound on what a black box reveals about one record of the data it was run on. Statistical, never a proof.

    Draw data at random, run the black box on them, and do that again and again: each run with new, independent data and new noise.

    Parameters
    ----------
    records : (runs, records) or (runs, records, numbers)
        The data of each run.
    outputs : (runs,) or (runs, numbers)
        What the black box answered.
    confidence : float
        Of the answer, for all records together (Bonferroni).
    given_others : bool
        Bound I(X_i; Y | all others) instead of I(X_i; Y); the records must then have been drawn independently of one another.
    slices : int
        How many random directions are tried where the record or the release has several numbers (sliced mutual information).
    average : bool
        Bound the average of the drawn slices, as the source does, instead of the best of them: weaker, by data processing.
    critic : {"bins", "neurons"}
        What bounds the information of a slice: a table of bins, or a shallow network whose outer weights are a concave program.
    bins : int
        A number of the slice.
    seed : int
        Of the directions and of the inner weights.
    units : {"nats", "bits"}

    Returns
    -------
    SampledLeakage
        About the record for which most is shown.

    Raises
    ------
    InputError
        If the arrays do not fit, or there are fewer than 40 runs.

    Notes
    -----
    The first half of the runs chooses directions, bins and critic f; the second half, which knows nothing of that, bounds

        I(X_i; Y)  >=  I(theta . X_i; phi . Y)  >=  E f  -  log E exp f   (the second mean under the product of the two laws)

    with an empirical Bernstein bound for each mean (`mean_error`). *Bound because* of data processing and of Donsker and Varadhan's
    formula; the confidence holds for every number of runs, if the runs are independent. With `average`, over slices s, it is
    mean_s E f_s - log mean_s E exp f_s, which is at most the average of the slices' information by Jensen's inequality.

    Source: T. Nuradha, Z. Goldfeld, "Pufferfish privacy: an information-theoretic study" (IEEE Trans. Inf. Theory 2023), section VI;
    its propositions 3 and 4 have a constant without a value, so that the test as printed cannot be run (docs/errors-in-the-papers.md).

    >>> random = np.random.default_rng(1)
    >>> data = random.normal(size=(40_000, 3))
    >>> found = audit_samples(data, data.sum(axis=1) + 0.5 * random.normal(size=40_000))
    >>> 0.1 < found.lower < 0.265                        # the truth is 0.26526 bits
    True
    >>> print(found)
    I(record 1; output) >= 0.16... bits with a confidence of 95 %, from 40000 runs (statistical, never a proof)
    """
    data, released = _checked(records, outputs)
    alpha = (1.0 - confidence_of(confidence)) / data.shape[1]
    unit_size(units)
    tried, many = (
        as_integer(slices, "slices", at_least=1, at_most=10_000),
        as_integer(bins, "bins", at_least=2, at_most=1000),
    )
    if critic not in CRITICS:
        raise InputError(f"critic: expected one of {', '.join(CRITICS)}, got {brief(critic)}")
    random = np.random.default_rng(as_integer(seed, "seed", at_least=0))
    best, about = 0.0, 0
    for i in range(data.shape[1]):
        # directions that are uniform on spheres; one slice where there is only one
        others = np.delete(data, i, axis=1).reshape(len(data), -1) if given_others else np.empty((len(data), 0))
        sides = [data[:, i], released, *([others] if others.size else [])]
        count = tried if any(side.shape[1] > 1 for side in sides) else 1
        found = []
        for _ in range(count):
            secret, *release = (side @ _direction(side.shape[1], random) for side in sides)
            found.append(_Slice(secret, np.column_stack(release)))
        drawn = found
        fitted = [_fit(one, place, critic, many, alpha, random) for place, one in enumerate(drawn)]
        chosen = fitted if average else [max(fitted, key=lambda one: one.promise)]
        lower = _held_out(drawn, chosen, alpha)
        best, about = max((best, about), (lower, i))
    given = " | all others" if given_others else ""
    how = "the average of" if average else "the best of"
    return SampledLeakage(
        lower=lower_in(best, units),
        confidence=float(confidence),
        units=units,
        about=f"I(record {about}; output{given})",
        record=about,
        runs=len(data),
        method=f"{how} {len(drawn)} slices, critic: {critic}; Donsker-Varadhan on held-out runs",
    )


def _checked(records: ArrayLike, outputs: ArrayLike) -> tuple[Floats, Floats]:
    """The data as (runs, records, numbers), and the outputs as (runs, numbers)."""
    try:
        data, released = np.asarray(records, dtype=float), np.asarray(outputs, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            "records, outputs: expected arrays of numbers; write 0, 1, ... for words, or count with audit_counts"
        ) from None
    if data.ndim not in (2, 3) or released.ndim not in (1, 2):
        raise InputError(
            f"expected records (runs, records) or (runs, records, numbers) and outputs (runs,) or (runs, numbers), got shapes "
            f"{data.shape} and {released.shape}"
        )
    data = data.reshape(*data.shape[:2], -1)
    released = released.reshape(len(released), -1)
    if len(data) != len(released) or len(data) < LEAST_RUNS or not data.size or not released.size:
        raise InputError(
            f"expected as many outputs as datasets, from {LEAST_RUNS} runs or more, got {len(released)} and {len(data)}"
        )
    if not (np.isfinite(data).all() and np.isfinite(released).all()):
        raise InputError(
            "records, outputs: expected finite numbers; leave a run that failed out only if that cannot depend on the data"
        )
    return data, released


def _direction(numbers: int, random: np.random.Generator) -> Floats:
    drawn = random.normal(size=numbers)
    return np.ones(1) if numbers == 1 else drawn / np.linalg.norm(drawn)


def _fit(one: _Slice, place: int, critic: str, bins: int, alpha: float, random: np.random.Generator) -> _Fitted:
    """A critic from the first half of the runs: fitted to one half of these, and its cap chosen by the other."""
    runs = len(one.secret) // 2
    fit, choose = one.part(slice(0, runs // 2)), one.part(slice(runs // 2, runs))
    found: Critic
    if critic == "bins":
        found = BinCritic.fitted(fit.secret, fit.release, bins)
    else:
        found = NeuronCritic.fitted(fit.secret, fit.release, NEURONS, random)
    critics = [found.capped(cap) for cap in CAPS]
    promises = [_bound([choose], [c], alpha) for c in critics]
    top = int(np.argmax(promises))
    return _Fitted(critics[top], place, promises[top])


def _held_out(drawn: Sequence[_Slice], chosen: Sequence[_Fitted], alpha: float) -> float:
    """The bound from the second half of the runs, for the slices that were chosen, on average."""
    half = slice(len(drawn[0].secret) // 2, None)
    parts = [drawn[one.place].part(half) for one in chosen]
    return _bound(parts, [one.critic for one in chosen], alpha)


def _bound(parts: Sequence[_Slice], critics: Sequence[Critic], alpha: float) -> float:
    """mean_s E f_s - log mean_s E exp f_s, from below but for a probability alpha, half of it for each mean; nats."""
    cap = max(critic.cap for critic in critics)
    together = np.mean([f(part.secret, part.release) for f, part in zip(critics, parts, strict=True)], axis=0)
    apart = np.mean(
        [np.exp(f(*pairs_apart(part.secret, part.release))) for f, part in zip(critics, parts, strict=True)], axis=0
    )
    first = float(np.mean(together)) - mean_error(together, 2.0 * cap, alpha / SIDES)
    second = float(np.mean(apart)) + mean_error(apart, math.exp(cap) - math.exp(-cap), alpha / SIDES)
    return first - math.log(second)
