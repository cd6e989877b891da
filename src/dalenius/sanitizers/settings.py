"""Settings and data of a sanitizer, and its measures on held-out data: estimates and confidence bounds, never a proof."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dalenius.errors import InputError
from dalenius.statistics.counts import clopper_pearson, confidence_of, mean_error

Values = NDArray[np.float64]


def proportion_below(successes: int, count: int, confidence: float = 0.95) -> float:
    """A lower confidence bound of a probability, from independent trials (Clopper and Pearson 1934).

    The p at which that many successes or more have the probability 1 - confidence.

    >>> round(proportion_below(8, 10), 4), proportion_below(0, 10)
    (0.4931, 0.0)
    """
    if not 0 <= successes <= count or count < 1:
        raise InputError(f"expected successes from 0 to the number of trials, got {successes} of {count}")
    lower, _ = clopper_pearson(np.array([successes]), np.array([count]), 2 * (1 - confidence_of(confidence)))
    return float(lower[0])


def root_chi_square_of_guesses(accuracy: float, largest_share: float) -> float:
    """Least root of chi2(S; Y) if S is guessed from Y with this accuracy.

    sqrt chi2 >= sum |p(s,s') - p(s) p(s')| >= 2 (P(S' = S) - sum_s p(s) P(S' = s)) >= 2 (accuracy - max_s p(s)), S' the guess:
    by data processing and by Cauchy and Schwarz.

    >>> round(root_chi_square_of_guesses(0.6393, 0.5), 4)  # where the budget was 0.2
    0.2786
    """
    return max(0.0, 2 * (accuracy - largest_share))


def chi_square_below(
    joint: Values, product: Values, product_squares: Values, *, bound: float, confidence: float = 0.95
) -> float:
    """A lower confidence bound of chi2(p || q), from the values of one critic g with |g| <= bound.

    chi2 >= (E_p g - E_q g)^2 / E_q g^2 for every g (eq. (20) of the f-divergence paper): each expectation is replaced by the end
    of its interval
    (`dalenius.statistics.counts.mean_error`) that makes the quotient smaller, each with a third of the error.

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
    error = (1 - confidence_of(confidence)) / 3
    if max(np.abs(joint).max(), np.abs(product).max(), np.sqrt(product_squares.max())) > bound:
        raise InputError(f"the critic has values beyond its bound of {bound}; clip it")
    apart = abs(float(joint.mean()) - float(product.mean()))
    apart -= mean_error(joint, 2 * bound, error / 2) + mean_error(product, 2 * bound, error / 2)
    square = float(product_squares.mean()) + mean_error(product_squares, bound * bound, error)
    return max(0.0, apart) ** 2 / square if square > 0 else 0.0


# Chi-square divergence from samples: what a critic's values are worth, and the closed form of linear features.


FORMS = ("paper", "scaled", "centred")


def variational(p: ArrayLike, q: ArrayLike, critic: ArrayLike, form: str = "centred") -> float:
    """Lower bound that a critic g shows on chi2(p || q) = sum p^2/q - 1, from below.

    "paper": E_p g - E_q (g + g^2/4), eq. (19) of W. Wang and W. P. Tay; "scaled": (E_p g - E_q g)^2 / E_q g^2, eq. (20), the
    best of the first over all multiples of g; "centred": the same with the variance of g under q, the best over all constants that
    are added, too (ours).
    (19) <= (20) <= centred <= chi2.

    Parameters
    ----------
    p, q, critic : arrays of one length
        Two laws and the values of g.

    Raises
    ------
    InputError
        If the form is unknown.

    >>> p, q = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]  # chi2 = 0.63
    >>> [round(variational(p, q, [1, 0, -1], form), 10) for form in FORMS]
    [0.425, 0.5142857143, 0.5901639344]
    """
    if form not in FORMS:
        raise InputError(f"form: expected one of {', '.join(FORMS)}, got {form!r}")
    first, second, g = (np.asarray(a, dtype=float) for a in (p, q, critic))
    shift, square = float((first - second) @ g), float(second @ (g * g))
    if form == "paper":
        return shift - square / 4
    size = square - (float(second @ g) ** 2 if form == "centred" else 0.0)
    return shift * shift / size if size > 0 else 0.0


def from_features(shift: ArrayLike, covariance: ArrayLike, ridge: float = 0.0) -> float:
    """The largest centred value over all linear combinations of features: shift' (covariance + ridge)^-1 shift.

    Parameters
    ----------
    shift : array of d numbers
        E_p phi - E_q phi.
    covariance : d x d array
        Of phi under q.
    ridge : float
        Added to its diagonal.

    Hermite polynomials up to degree 3 for N(0.8, 1) against N(0, 1), where chi2 = e^0.64 - 1 = 0.8965:

    >>> round(from_features([0.8, 0.64, 0.512], np.diag([1.0, 2.0, 6.0])), 10)
    0.8884906667
    """
    step = np.asarray(shift, dtype=float)
    matrix = np.asarray(covariance, dtype=float) + ridge * np.eye(len(step))
    return float(step @ np.linalg.solve(matrix, step))


STEPS, DIGIT_STEPS = 900, 3000  # of a sanitizer: images come back worse after fewer


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of Algorithm 1. The paper says samples, batch and depth; all else it leaves open, and the defaults are ours.

    Attributes
    ----------
    root_budget : float
        sqrt(eta), what the root of the chi-square divergence may be.
    weight : float
        lambda, what an excess costs.
    ridge : float
        lambda_m, added to E_q g^2 in the critic's value, eq. (21).
    width, depth : int
        Of every network.
    noise : int
        Dimension of the sanitizer's noise N.
    samples, batch : int
        Draws to learn from, and how many of them a step sees.
    steps, inner_steps, warm_up : int
        Steps of the sanitizer (`DIGIT_STEPS`, 3000, are what images want); of critic and classifier for each of them; of the
        critic before the first.
    starts : int
        Sanitizers that are begun: the best after a quarter of the steps goes on.
    rate : float
        Adam's step size; that of the sanitizer falls linearly to 0 (without that the last steps oscillate about the budget).
    tests : int
        Draws held out: as many again teach a fresh attack.
    confidence : float
        Of every bound from held-out samples.
    seed : int
        Of everything random.

    Raises
    ------
    InputError
        If a number is out of range.
    """

    root_budget: float
    weight: float = 2.0
    ridge: float = 1e-3
    width: int = 64
    depth: int = 5
    noise: int = 5
    samples: int = 4000
    batch: int = 500
    steps: int = STEPS
    inner_steps: int = 5
    warm_up: int = 300
    starts: int = 1
    rate: float = 1e-3
    tests: int = 20_000
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        for one in dataclasses.fields(self):
            value, least = getattr(self, one.name), 0 if one.name in ("seed", "warm_up", "ridge", "weight") else None
            whole = one.type == "int"
            if (
                isinstance(value, bool)
                or not isinstance(value, int if whole else int | float)
                or not math.isfinite(value)
            ):
                raise InputError(f"{one.name}: expected {'an integer' if whole else 'a number'}, got {value!r}")
            if value < 0 or (value == 0 and least is None):
                raise InputError(
                    f"{one.name}: expected a {'nonnegative' if least == 0 else 'positive'} number, got {value!r}"
                )
        if not self.confidence < 1:
            raise InputError(f"confidence: expected a number between 0 and 1, got {self.confidence!r}")
        if self.batch > self.samples:
            raise InputError(f"batch: expected at most the {self.samples} samples, got {self.batch}")


@dataclass(frozen=True)
class Samples:
    """Draws of the data, and of what is secret and what is useful about each.

    Attributes
    ----------
    data : array of doubles, m x d
    secret, label : arrays of m integers
        From 0 on.
    """

    data: NDArray[np.float64]
    secret: NDArray[np.int64]
    label: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.data)

    def take(self, rows: NDArray[np.int64] | slice) -> Samples:
        """Some of them."""
        return Samples(self.data[rows], self.secret[rows], self.label[rows])


@dataclass(frozen=True)
class Attack:
    """Accuracy of a fresh network's guesses.

    Attributes
    ----------
    accuracy, loss : float
        On held-out draws: the share of right guesses, and the mean cross-entropy in nats.
    at_least : float
        A lower confidence bound of the accuracy.
    """

    accuracy: float
    loss: float
    at_least: float


@dataclass(frozen=True)
class Outcome:
    """A sanitizer, audited.

    Attributes
    ----------
    attack, utility : Attack
        Networks that learned S, and U, from releases, after the sanitizer was done.
    critic : float
        A fresh critic's estimate of sqrt chi2(S; Y), from below but for chance.
    root_chi_square_at_least : float
        A lower confidence bound of sqrt chi2(S; Y), from attack and critic, whichever is larger (each with its own confidence).
    error : float or None
        The mean squared error of what an autoencoder makes of its releases.
    """

    attack: Attack
    utility: Attack
    critic: float
    root_chi_square_at_least: float
    error: float | None = None
