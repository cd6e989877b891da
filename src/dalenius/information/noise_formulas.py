"""Noise scales that suffice for a leakage of at most epsilon nats by closed forms, each with its theorem and its conditions.

The theorems are those of T. Nuradha and Z. Goldfeld, "Pufferfish privacy: an information-theoretic study", numbered as printed, in
nats; where one is wrong or loose as printed, it is said so (docs/errors-in-the-papers.md). f has d coordinates, and "what is known" is
w(X), in differential privacy the other records. All is in doubles, but for what is rounded up, and nothing here is proved by a
checker: `dalenius.least_noise` finds the least scale with a certificate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy
from flint import arb

from dalenius.errors import InputError, brief
from dalenius.information.arrays import Floats
from dalenius.information.balls import above


def laplace_capacity(distance: float) -> float:
    """C of Laplace noise of scale 1 between two inputs at this distance t, in nats.

    C = log 2 - log(1 + e^-t) - e^(-t/2) (arctan e^(t/2) - arctan e^(-t/2)).

    >>> round(laplace_capacity(1.0), 11)
    0.0885196402
    """
    root = math.exp(0.5 * distance)
    return math.log(2.0) - math.log1p(math.exp(-distance)) - (math.atan(root) - math.atan(1.0 / root)) / root


def laplace_scale(epsilon: float, deviations: float, *, coordinates: int = 1) -> float:
    """Theorem 3: Laplace noise of the scale b = S / (d (e^(epsilon/d) - 1)) on every coordinate.

    Parameters
    ----------
    epsilon : float
        The leakage in nats, above 0.
    deviations : float
        S, the largest sum over the coordinates of the mean standard deviation of f_j given what is known, or of its mean absolute
        deviation from its median, which is never more. A coordinate within an interval of length D has a deviation of at most D/2; a
        mean of n independent numbers of variance s, of which all but one are known, sqrt(s)/n (Remark 9).
    coordinates : int
        d.

    *Bound because* I <= d log(1 + S/(d b)): of all laws with E |M - m| <= a the Laplace law has the most entropy, log(2 e a), and an
    output's mean distance from the median m of f is at most the deviation and b. That deviations from medians will do is ours.

    >>> round(laplace_scale(0.5, 1.0), 12)
    1.541494082537
    """
    d, needed = _needed(epsilon, coordinates)
    return _at_least(deviations, "deviations") / (d * needed)


def laplace_scale_by_radius(epsilon: float, sensitivity: float, *, coordinates: int = 1) -> float:
    """In place of Corollary 2, which is proved for d <= 2 only: b = D_1 d / ((d + 1) h(epsilon)), h the inverse of t - 1 + e^-t.

    Parameters
    ----------
    epsilon : float
        The leakage in nats, above 0.
    sensitivity : float
        D_1, the largest l1 distance of two values of f that one record decides between.
    coordinates : int
        d.

    *Bound because* values at l1 distances of at most D_1 are within D_1 d/(d + 1) of some point c (Bohnenblust 1938), and the leakage
    is at most the divergence from the noise around c: the sum of g(|f_j - c_j|/b), g(t) = t - 1 + e^-t, which is convex with g(0) = 0.

    >>> round(laplace_scale_by_radius(0.5, 1.0), 11)
    0.41726111169
    """
    d, _ = _needed(epsilon, coordinates)
    inverse = 1.0 + epsilon + float(scipy.special.lambertw(-math.exp(-1.0 - epsilon)).real)
    return _at_least(sensitivity, "sensitivity") * d / ((d + 1) * inverse)


def gaussian_variance(epsilon: float, variances: float, *, coordinates: int = 1) -> float:
    """Theorem 4: Gaussian noise of the variance V / (d (e^(2 epsilon/d) - 1)) on every coordinate.

    Parameters
    ----------
    epsilon : float
        The leakage in nats, above 0.
    variances : float
        V, the largest sum over the coordinates of the mean variance of f_j given what is known.
    coordinates : int
        d.

    *Bound because* I <= (d/2) log(1 + V/(d sigma^2)): the Gaussian law has the largest entropy of its covariance.

    >>> round(gaussian_variance(0.5, 1.0), 13)
    0.5819767068693
    """
    d, needed = _needed(2.0 * epsilon, coordinates)
    return _at_least(variances, "variances") / (d * needed)


def gaussian_variance_of_sensitivity(epsilon: float, sensitivity: float, *, coordinates: int = 1) -> float:
    """Corollary 3, with the best constant for every d: D_2^2 / (2 (d + 1) (e^(2 epsilon/d) - 1)).

    Printed is D_2^2 / (2 d (...)), and half of it for d = 1, which this is.

    Parameters
    ----------
    epsilon : float
        The leakage in nats, above 0.
    sensitivity : float
        D_2, the largest Euclidean distance of two values of f that one record decides between.
    coordinates : int
        d.

    *Bound because* such values are within D_2 sqrt(d/(2(d + 1))) of some point (Jung 1901), so that V <= D_2^2 d/(2(d + 1)).

    >>> round(gaussian_variance_of_sensitivity(0.5, 1.0, coordinates=2), 10)
    0.2569156804
    """
    d, _ = _needed(epsilon, coordinates)
    return gaussian_variance(
        epsilon, _at_least(sensitivity, "sensitivity") ** 2 * d / (2 * (d + 1)), coordinates=coordinates
    )


def log_det_variance(epsilon: float, eigenvalues: Sequence[float]) -> float:
    """The least sigma^2 with (1/2) sum_j log(1 + s_j/sigma^2) <= epsilon, s the eigenvalues of the one covariance of f given the rest.

    *Bound because* Theorem 4 bounds this sum by its concavity; for Gaussian data it is the leakage.

    >>> round(4 * log_det_variance(0.5, [4, 1, 1, 0.25]), 11)
    20.02959712615
    """
    s = _spectrum(eigenvalues)
    _needed(epsilon, 1)
    most = gaussian_variance(epsilon, float(s.sum()), coordinates=len(s))
    return _root(lambda variance: 0.5 * float(np.log1p(s / variance).sum()) - epsilon, most) if most else 0.0


def anisotropic_gaussian(epsilon: float, eigenvalues: Sequence[float]) -> list[float]:
    """The variances k_j along the eigenvectors of the covariance with the least sum for which (1/2) sum log(1 + s_j/k_j) <= epsilon.

    k_j = (sqrt(s_j^2 + 4 m s_j) - s_j)/2 for one multiplier m.

    *Bound because* the leakage is at most (1/2) log det(1 + K^-1 Sigma), which is convex in K.

    >>> [round(k, 8) for k in anisotropic_gaussian(0.5, [4, 1, 1, 0.25])]
    [7.17925105, 4.00717899, 4.00717899, 2.11816531]
    """
    s = _spectrum(eigenvalues)
    _needed(epsilon, 1)
    moved = s > 0.0
    if not moved.any():
        return [0.0] * len(s)

    def variances(multiplier: float) -> Floats:
        return 2.0 * multiplier * s / (s + np.sqrt(s**2 + 4.0 * multiplier * s) + ~moved)

    def excess(multiplier: float) -> float:
        return 0.5 * float(np.log1p(s[moved] / variances(multiplier)[moved]).sum()) - epsilon

    return [float(k) for k in variances(_root(excess))]


def scale_by_ratios(epsilon: float, sensitivity: float) -> float:
    """Laplace, discrete Laplace or geometric noise by its ratios of likelihoods alone.

    b = D_1/e, where c - 1 - log c = epsilon, c = e/(1 - e^-e).

    Parameters
    ----------
    epsilon : float
        The leakage in nats, above 0.
    sensitivity : float
        D_1, the largest l1 distance of two values of f that one record decides between.

    *Bound because* noise of the scale D_1/e has likelihood ratios of at most e^e; so, for each output, the likelihoods divided by
    their mean lie in some [t, e^e t], with the mean 1: the mean of r log r is largest for a law on the two ends, and the best t gives
    c - 1 - log c. A secret of any number of values; in place of min(e, e^2/2) of Theorem 1.

    >>> round(1 / scale_by_ratios(0.1233015614822, 1.0), 9)
    1.0
    """
    _needed(epsilon, 1)

    def excess(scale: float) -> float:
        ratio = 1.0 / scale
        c = ratio / -math.expm1(-ratio)
        return c - 1.0 - math.log(c) - epsilon

    return _at_least(sensitivity, "sensitivity") * _root(excess)


def classical_gaussian_variance(epsilon: float, delta: float, sensitivity: float, *, variance: float = 0.0) -> float:
    """Section III-A: (epsilon, delta)-Pufferfish privacy by sigma^2 = 2 (D/epsilon)^2 log(1.25/delta) - Var(f | g, w), or 0.

    For f that is Gaussian given the secret with one variance, which data without randomness have 0 of, and epsilon <= 1. This is about
    ratios of likelihoods, not about mutual information.

    >>> round(classical_gaussian_variance(0.5, 1e-5, 1.0, variance=0.25), 11)
    93.63855213028
    """
    _needed(epsilon, 1)
    if epsilon > 1.0 or not 0.0 < delta < 1.0:
        raise InputError(
            f"expected epsilon at most 1 and 0 < delta < 1, got epsilon {brief(epsilon)} and delta {brief(delta)}"
        )
    noise = 2.0 * (_at_least(sensitivity, "sensitivity") / epsilon) ** 2 * math.log(1.25 / delta)
    return max(noise - _at_least(variance, "variance"), 0.0)


def classical_laplace_scale(epsilon: float, delta: float, sensitivity: float) -> float:
    """(epsilon, delta)-differential privacy by Laplace noise of the scale b = D_1/(epsilon - log(1-delta)); D_1/epsilon for delta 0.

    Parameters
    ----------
    epsilon, delta : float
        Above 0; at least 0 and below 1. This is about ratios of likelihoods, not about mutual information.
    sensitivity : float
        D_1, the largest l1 distance of two values of f that one record decides between.

    *Bound because* such noise has ratios of at most u/(1-delta), u = e^epsilon, and with these no event gains more than
    delta u/(u + 1 - delta) <= delta beyond u times its probability.

    >>> round(classical_laplace_scale(0.5, 0.1, 1.0), 6), classical_laplace_scale(0.5, 0.0, 1.0)
    (1.651908, 2.0)
    """
    _needed(epsilon, 1)
    if not 0.0 <= delta < 1.0:
        raise InputError(f"delta: expected a number of at least 0 and below 1, got {brief(delta)}")
    return _at_least(sensitivity, "sensitivity") / (epsilon - math.log1p(-delta))


def eta_of_outputs(sizes: Sequence[int]) -> float:
    """Largest information of releases with so many possible outputs about each other: sum of log over all but the largest; nats, up.

    This bounds the `eta` of `dalenius.composition`, whatever the laws of the data.

    *Bound because* eta is the sum over i > 1 of I(M_i; M_1, ..., M_(i-1) | g, w), the same in every order, and a term is at most the
    entropy of M_i (Remark 5).

    >>> eta_of_outputs([2, 2]) > math.log(2), round(eta_of_outputs([2, 5, 3]), 9)
    (True, 1.791759469)
    """
    counts = np.asarray(sizes)
    if counts.ndim != 1 or not counts.size or counts.dtype.kind != "i" or counts.min() < 1:
        raise InputError(f"sizes: expected a list of numbers of outputs, at least 1 each, got {brief(sizes)}")
    return above(arb(math.prod(sorted(counts.tolist())[:-1])).log())


def eta_of_noise(ratios: Sequence[float], *, noise: str = "log_concave") -> float:
    """Largest information of noisy real numbers about each other: half the sum of log(K r_i) over all but the largest; in nats, up.

    This bounds the `eta` of `dalenius.composition`.

    Parameters
    ----------
    ratios : list of float
        For each release the largest mean variance of its output given secret and what is known, in variances of its noise; at least 1.
    noise : str
        ``"gaussian"``, K = 1; ``"laplace"``, pi/e; ``"symmetric"``, any log-concave noise that is symmetric, pi e/6;
        ``"log_concave"``, any, 2 pi/e.

    *Bound because* I(M_i; the others | g, w) <= h(M_i | g, w) - h(noise): the first is at most half the log of 2 pi e times the
    variance, and the second at least that of the noise less half of log K (Remark 5, where K = pi e/4 is too small for noise that is
    not symmetric; Melbourne, Nayar and Roberto 2023 for any, Madiman, Nayar and Tkocz 2021 for symmetric noise). As eta is the same in
    every order, the largest term is left out.

    >>> round(eta_of_noise([401, 500]), 9), round(eta_of_noise([401, 1], noise="gaussian"), 9)
    (3.415919247, 0.0)
    """
    shares = np.sort(_spectrum(ratios, "ratios"))
    if shares[0] < 1.0:
        raise InputError(f"ratios: expected at least 1 each, for the noise is part of the output, got {brief(ratios)}")
    pi, e = arb.pi(), arb.const_e()
    constants = {"gaussian": arb(1), "laplace": pi / e, "symmetric": pi * e / 6, "log_concave": 2 * pi / e}
    if noise not in constants:
        raise InputError(f"noise: expected one of {', '.join(constants)}, got {brief(noise)}")
    return above(sum(((constants[noise] * arb(float(share))).log() / 2 for share in shares[:-1]), arb(0)))


def largest_classical_epsilon(epsilon: float, *, coordinates: int = 1) -> float:
    """Remark 11: below this epsilon', Corollary 3 as printed adds less noise than classical (epsilon', sqrt(2 epsilon))-privacy.

    epsilon' < 2 sqrt(d (e^(2 epsilon/d) - 1) log(1.25/sqrt(2 epsilon))), for epsilon < 1/2, and epsilon' <= 1 for the
    classical noise. (The total variation of that noise is far below sqrt(2 epsilon).)

    >>> round(largest_classical_epsilon(0.1, coordinates=30), 12)
    0.908315514518
    """
    d, needed = _needed(2.0 * epsilon, coordinates)
    if epsilon > 0.5:
        raise InputError(f"expected epsilon at most 1/2, where sqrt(2 epsilon) is at most 1, got {brief(epsilon)}")
    return 2.0 * math.sqrt(d * needed * math.log(1.25 / math.sqrt(2.0 * epsilon)))


def projected_gaussian_variance(
    epsilon: float, covariance: Sequence[Sequence[float]], directions: Sequence[Sequence[float]]
) -> float:
    """Theorem 5, part 1, in its sharper form (22): noise on l fixed projections phi_j of f.

    sigma^2 = sum_j phi_j' Sigma phi_j / (l (e^(2 epsilon/l) - 1)), Sigma the covariance of f given the rest.

    >>> round(projected_gaussian_variance(0.5, np.diag([4, 1, 1, 0.25]), np.eye(4)[:2]), 11)
    3.85373520634
    """
    sigma, phi = np.asarray(covariance, dtype=float), np.asarray(directions, dtype=float)
    return gaussian_variance(epsilon, float(np.einsum("ji,ik,jk->", phi, sigma, phi)), coordinates=len(phi))


def randomly_projected_gaussian_variance(
    epsilon: float, covariance: Sequence[Sequence[float]], *, projections: int, isotropic: bool = False
) -> float:
    """Theorem 5, part 2, without its needless mean: noise on l random projections of f, directions of length 1, known to all.

    sigma^2 = |Sigma|_op / (e^(2 epsilon/l) - 1), or tr(Sigma)/d in the place of the norm where E Phi Phi' = 1/d (`isotropic`).

    *Bound because* I(g; M | w) <= I(g; M | w, Phi), and what given directions leak is concave in their phi' Sigma phi. As printed,
    |mu|^2 is added to the norm.

    >>> round(randomly_projected_gaussian_variance(0.5, np.diag([4, 1, 1, 0.25]), projections=2, isotropic=True), 12)
    2.408584503964
    """
    sigma = np.asarray(covariance, dtype=float)
    seen = float(np.trace(sigma)) / len(sigma) if isotropic else float(np.linalg.eigvalsh(sigma)[-1])
    return gaussian_variance(epsilon, projections * seen, coordinates=projections)


def gaussian_variance_beside_data(epsilon: float, variances: float, power: float, *, coordinates: int = 1) -> float:
    """Theorem 6: what the secret leaves unknown of f is noise, too.

    sigma^2 = (A - d e^(2 epsilon/d) B) / (d (e^(2 epsilon/d) - 1)), or 0 where that is negative.

    Parameters
    ----------
    epsilon : float
        The leakage in nats, above 0.
    variances : float
        A, the largest sum over the coordinates of the mean variance of f_j given what is known.
    power : float
        B, the least entropy power of f given the secret and what is known, e^(2 h/d) / (2 pi e): of a Gaussian law with equal
        variances that variance; 0 for a law on finitely many values, which leaves Theorem 4.
    coordinates : int
        d.

    *Bound because* I = h(M | w) - h(M | g, w), the first entropy is at most the Gaussian one, and the second at least what the entropy
    power inequality leaves. Corollary 4, jointly Gaussian f and secret with correlation rho and d = 1: B = (1 - rho^2) Var f, and then
    it is exact; no noise is needed for rho <= sqrt(1 - e^(-2 epsilon)).

    >>> round(gaussian_variance_beside_data(0.1, 1.0, 1.0 - 0.9**2), 12)
    3.468491008563
    """
    d, needed = _needed(2.0 * epsilon, coordinates)
    hidden = d * (needed + 1.0) * _at_least(power, "power")
    return max((_at_least(variances, "variances") - hidden) / (d * needed), 0.0)


def _needed(epsilon: float, coordinates: int) -> tuple[int, float]:
    """d, and e^(epsilon/d) - 1."""
    if not (isinstance(coordinates, int) and coordinates >= 1):
        raise InputError(f"coordinates: expected a whole number of at least 1, got {brief(coordinates)}")
    if not 0.0 < epsilon < math.inf:
        raise InputError(f"epsilon: expected a leakage above 0 in nats, got {brief(epsilon)}")
    return coordinates, math.expm1(epsilon / coordinates)


def _at_least(value: float, name: str) -> float:
    if not 0.0 <= value < math.inf:
        raise InputError(f"{name}: expected a number of at least 0, got {brief(value)}")
    return value


def _spectrum(eigenvalues: Sequence[float], name: str = "eigenvalues") -> Floats:
    s = np.asarray(eigenvalues, dtype=float)
    if s.ndim != 1 or not s.size or not np.all(np.isfinite(s) & (s >= 0.0)):
        raise InputError(f"{name}: expected a list of numbers of at least 0, got {brief(eigenvalues)}")
    return s


def _root(falling: Callable[[float], float], most: float = 1.0) -> float:
    """Root: the least double at which it is at most 0, up to `most` or four times that as often as need be."""
    low, high = 0.0, most
    while falling(high) > 0.0:
        high *= 4.0
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (low, middle) if falling(middle) <= 0.0 else (middle, high)
    return high
