"""What data that nobody learned from say about a sanitizer: confidence bounds, valid for finitely many samples, and never a proof.

Each holds with the stated probability over the draw of the held-out samples, whatever was learned before from others.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from dalenius.errors import InputError

__all__ = ["chi_square_below", "mean_bound", "proportion_below", "root_chi_square_of_guesses"]

Values = NDArray[np.float64]


def proportion_below(successes: int, count: int, confidence: float = 0.95) -> float:
    """A lower confidence bound of a probability, from independent trials (Clopper and Pearson 1934).

    The p at which that many successes or more have the probability 1 - confidence.

    >>> round(proportion_below(8, 10), 4), proportion_below(0, 10)
    (0.4931, 0.0)
    """
    _need_share(confidence)
    if not 0 <= successes <= count or count < 1:
        raise InputError(f"expected successes from 0 to the number of trials, got {successes} of {count}")
    return 0.0 if successes == 0 else float(betaincinv(successes, count - successes + 1, 1 - confidence))


def root_chi_square_of_guesses(accuracy: float, largest_share: float) -> float:
    """How large the root of chi2(S; Y) must be at least if somebody guesses S from Y with this accuracy.

    sqrt chi2 >= sum |p(s,s') - p(s) p(s')| >= 2 (P(S' = S) - sum_s p(s) P(S' = s)) >= 2 (accuracy - max_s p(s)), S' the guess:
    by data processing and by Cauchy and Schwarz.

    >>> round(root_chi_square_of_guesses(0.6393, 0.5), 4)  # where the budget was 0.2
    0.2786
    """
    return max(0.0, 2 * (accuracy - largest_share))


def mean_bound(values: Values, least: float, most: float, error: float) -> float:
    """How far the mean of independent values in [least, most] is above (or below) its expectation, but with probability `error`.

    sqrt(2 v log(2/error) / m) + 7 (most - least) log(2/error) / (3 (m - 1)), v the sample variance (A. Maurer and M. Pontil,
    Empirical Bernstein bounds, COLT 2009, theorem 4).

    >>> round(mean_bound(np.array([0.0, 1.0] * 500), 0.0, 1.0, 0.05), 4)
    0.0516
    """
    count = len(values)
    if count < 2:
        raise InputError(f"expected at least two values, got {count}")
    odds = math.log(2 / error)
    spread = math.sqrt(2 * float(np.var(values, ddof=1)) * odds / count)
    return spread + 7 * (most - least) * odds / (3 * (count - 1))


def chi_square_below(
    joint: Values, product: Values, product_squares: Values, *, bound: float, confidence: float = 0.95
) -> float:
    """A lower confidence bound of chi2(p || q), from the values of one critic g with |g| <= bound.

    chi2 >= (E_p g - E_q g)^2 / E_q g^2 for every g (eq. (20) of the f-divergence paper): each expectation is replaced by the end
    of its interval
    (`mean_bound`) that makes the quotient smaller, each with a third of the error.

    Parameters
    ----------
    joint : array
        g(s_i, y_i) of independent draws from p.
    product, product_squares : array
        Independent values with the expectations E_q g and E_q g^2: g and g^2 of draws from q = p(s) p(y), or their means over s
        under
        p(s) at independent draws of y.
    bound : float
        The largest |g| possible.

    Raises
    ------
    InputError
        If values are beyond the bound, or the confidence is not between 0 and 1.

    >>> rng = np.random.default_rng(0)
    >>> s, y = rng.integers(0, 2, 40_000), rng.random(40_000) < 0.3
    >>> seen = (s ^ y)  # a binary symmetric channel of flip 0.3: chi2 = 0.16
    >>> g = np.where(s == seen, 1.0, -1.0)[:20_000]
    >>> 0.1 < chi_square_below(g, np.zeros(20_000), np.ones(20_000), bound=1.0) < 0.16
    True
    """
    _need_share(confidence)
    if max(np.abs(joint).max(), np.abs(product).max(), np.sqrt(product_squares.max())) > bound:
        raise InputError(f"the critic has values beyond its bound of {bound}; clip it")
    error = (1 - confidence) / 3
    apart = abs(float(joint.mean()) - float(product.mean()))
    apart -= mean_bound(joint, -bound, bound, error / 2) + mean_bound(product, -bound, bound, error / 2)
    square = float(product_squares.mean()) + mean_bound(product_squares, 0.0, bound * bound, error)
    return max(0.0, apart) ** 2 / square if square > 0 else 0.0


def _need_share(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise InputError(f"confidence: expected a number between 0 and 1, got {confidence}")
