"""Private estimation of a mean by the median of noisy means: Algorithm 1 of Nuradha and Goldfeld's Pufferfish paper, corrected.

Its privacy is a theorem, not a certificate, and about *independent* records of one law with E |X - mu|^2 <= c: about each record the
output reveals at most epsilon nats, even to somebody who knows the others. It says nothing about records that are correlated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dalenius.errors import InputError, brief
from dalenius.information.arrays import Floats

FAILING = 0.2  # the probability with which one noisy mean may be off, in Lemma 2
ROUNDS = 200.0  # groups for each log(1/beta)
STEPS = 10_000


@dataclass(frozen=True)
class MeanPlan:
    """Number of groups, and noise: sigma^2 = c/(2 k^2 epsilon) on every coordinate of the mean of each group of k records.

    Attributes
    ----------
    records, groups, size : int
        n, m = ceil(200 log(1/beta)), and k = floor(n/m).
    variance : float
        Of the noise, on every coordinate.
    deviation : float
        What each of Lemma 2's conditions holds of k: with probability 0.8 a noisy mean is at most so far from mu.
    accuracy : float
        With probability 1 - beta the estimate is at most so far from mu: C times `deviation` (Minsker 2015, Theorem 3.1).

    Notes
    -----
    As printed the algorithm has sigma^2 = d m^2/(2 n^2 epsilon): without c, which the proof uses, and with m/n for 1/k, which is less
    where m does not divide n. d is not needed: the variances of all coordinates add up to at most c, so that Theorem 4 asks for
    c/(k^2 d (e^(2 epsilon/d) - 1)), which is less than this. And its accuracy takes C = 1.04, for which the probability is
    beta^0.06; m = 200 log(1/beta) groups give beta with C = 1.0546.
    """

    records: int
    groups: int
    size: int
    variance: float
    deviation: float
    accuracy: float

    @classmethod
    def of(cls, records: int, dimension: int, second_moment: float, epsilon: float, beta: float) -> MeanPlan:
        """The plan for n records of d coordinates with E |X - mu|^2 <= c.

        Raises
        ------
        InputError
            If a number is out of its range, or there are fewer records than groups.

        >>> plan = MeanPlan.of(46_100, 2, 1.0, epsilon=0.1, beta=0.1)
        >>> plan.groups, plan.size, round(plan.variance, 6)
        (461, 100, 0.0005)
        """
        for name, value in (("second_moment", second_moment), ("epsilon", epsilon)):
            if not 0.0 < value < math.inf:
                raise InputError(f"{name}: expected a number above 0, got {brief(value)}")
        if not 0.0 < beta < 1.0:
            raise InputError(f"beta: expected a probability between 0 and 1, got {brief(beta)}")
        groups = math.ceil(ROUNDS * math.log(1.0 / beta))
        if records < groups:
            raise InputError(f"data: at least {groups} records are needed for beta {brief(beta)}, here are {records}")
        size = records // groups
        variance = second_moment / (2.0 * size**2 * epsilon)
        deviation = max(
            math.sqrt(4.0 * second_moment / (0.5 * FAILING * size)),
            2.0 * math.sqrt(dimension * second_moment * math.log(20.0) / epsilon) / size,
        )
        return cls(records, groups, size, variance, deviation, _boost(groups / math.log(1.0 / beta)) * deviation)


def private_mean(
    data: ArrayLike, *, second_moment: float, epsilon: float, beta: float, rng: np.random.Generator | None = None
) -> Floats:
    """An estimate of the mean that reveals at most epsilon nats about any one record: the geometric median of noisy means of groups.

    Parameters
    ----------
    data : (records, coordinates), or (records,)
        Independent records of one law.
    second_moment : float
        c, at least E |X - mu|^2 of that law. It must not be computed from the data.
    epsilon : float
        In nats.
    beta : float
        With which probability the estimate may be farther from the mean than `MeanPlan.accuracy`.
    rng : numpy Generator, optional
        One that is seeded makes the noise predictable: for simulations only.

    Returns
    -------
    (coordinates,)
        Records beyond m k are not used.

    Notes
    -----
    *Private because* a group's noisy mean reveals of a record in it, the others known, at most (d/2) log(1 + c/(d k^2 sigma^2)) <=
    c/(2 k^2 sigma^2) = epsilon (Theorem 4), other groups reveal nothing about it, and the median is computed from these. Noise is made
    in doubles, whose last digits reveal more than real numbers would.

    >>> data = np.random.default_rng(0).normal(size=(46_100, 2))
    >>> found = private_mean(data, second_moment=2.0, epsilon=0.1, beta=0.1, rng=np.random.default_rng(1))
    >>> bool(np.abs(found).max() < 0.02)
    True
    """
    points = _points(data)
    plan = MeanPlan.of(len(points), points.shape[1], second_moment, epsilon, beta)
    rng = np.random.default_rng() if rng is None else rng
    means = points[: plan.groups * plan.size].reshape(plan.groups, plan.size, -1).mean(axis=1)
    return geometric_median(means + rng.normal(scale=math.sqrt(plan.variance), size=means.shape))


def geometric_median(points: ArrayLike, *, gap: float = 1e-13) -> Floats:
    """The point with the least sum of distances to these points, by Weiszfeld's steps (Vardi and Zhang 2000).

    They stop when the sum is at most `gap`, in shares, above a bound from below: the dual of the second-order cone program,
    max sum <u_i, x_i> over vectors of length at most 1 that add up to 0.

    Parameters
    ----------
    points : (points, coordinates), or (points,)
    gap : float

    >>> geometric_median([[0, 0], [1, 0], [0, 1]]).round(9).tolist()
    [0.211324865, 0.211324865]
    >>> geometric_median([1.0, 2.0, 7.0]).tolist()
    [2.0]
    """
    x = _points(points)
    if x.shape[1] == 1:
        return np.median(x, axis=0)
    y = x.mean(axis=0)
    for _ in range(STEPS):
        distances = np.linalg.norm(x - y, axis=1)
        away = distances > 0.0
        pulls = (x[away] - y) / distances[away, None]
        total, here = pulls.sum(axis=0), float(np.count_nonzero(~away))
        force = float(np.linalg.norm(total))
        if force <= here or distances.sum() - _dual(x - y, pulls, away) <= gap * distances.sum():
            break
        step = total / (1.0 / distances[away]).sum()
        y = y + (1.0 - min(here / force, 1.0)) * step
    return y


def _dual(offsets: Floats, pulls: Floats, away: Floats) -> float:
    """A bound of the least sum of distances from below: of vectors that add up to 0, made of the pulls.

    *Bound because* |x_i - z| >= <u_i, x_i - z> for every z, and the sum of u_i is 0.
    """
    u = np.zeros_like(offsets)
    u[away] = pulls
    u = u - u.mean(axis=0)
    u /= max(float(np.linalg.norm(u, axis=1).max()), 1.0)
    return float((u * offsets).sum())


def _boost(rounds: float) -> float:
    """C_a = (1 - a) / sqrt(1 - 2a), where the divergence of a coin a from one of FAILING is one over the rounds a log(1/beta)."""
    low, high = FAILING, 0.5
    while low < (a := 0.5 * (low + high)) < high:
        enough = a * math.log(a / FAILING) + (1.0 - a) * math.log((1.0 - a) / (1.0 - FAILING)) >= 1.0 / rounds
        low, high = (low, a) if enough else (a, high)
    return (1.0 - high) / math.sqrt(1.0 - 2.0 * high)


def _points(data: ArrayLike) -> Floats:
    x = np.asarray(data, dtype=float)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or not x.size or not np.all(np.isfinite(x)):
        raise InputError(f"data: expected finite numbers, a row a record, got an array of shape {np.shape(data)}")
    return x
