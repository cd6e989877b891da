"""The pairs (letter, class) of a record channel as a vector, and the closed forms that bound every program on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalenius.errors import InputError
from dalenius.information import above_tangent, log_sum_exp, x_log_x
from dalenius.information.arrays import Floats

EPS = 4.0 * float(np.finfo(float).eps)
NOTHING = 1e-28  # of entropy: laws this near to that of the largest entropy differ from it by 1e-14, as doubles do


def log_mean_exp(log_weights: Floats, x: Floats) -> Floats:
    """log sum exp(log_weights + x) along the last axis, to full relative accuracy for small x; 0 where there is no weight.

    Weights sum to 1, or are all absent (-inf).

    >>> bool(np.isclose(log_mean_exp(np.log([0.5, 0.5]), np.array([1e-20, 3e-20])), 2e-20, atol=0.0))
    True
    """
    used = np.isfinite(log_weights)
    x = np.where(used, x, 0.0)
    small = np.abs(x).max(axis=-1, initial=0.0) <= 0.5
    near = np.log1p(np.sum(np.exp(log_weights) * np.expm1(np.where(small[..., None], x, 0.0)), axis=-1))
    return np.where(small, near, log_sum_exp(np.where(used, log_weights + x, -np.inf)))


def divergence(p: Floats, best: Floats, log_best: Floats) -> Floats:
    """D(p || best) along the last axis, rounded upward: the entropy that p lacks where `best` has the largest. 0 for p = best.

    Near `best` it is of second order in p - best, and so is its rounding: sum best phi(p/best), phi(x) = x log x - x + 1 >= 0. A
    difference of two entropies would err by 1e-16, and 1e-16 of entropy are worth 1e-8 of information.

    >>> half, log_half = np.array([0.5, 0.5]), np.log([0.5, 0.5])
    >>> bool(2e-18 < divergence(half + [1e-9, -1e-9], half, log_half) < 2.1e-18), float(divergence(half, half, log_half))
    (True, 0.0)
    """
    more = p - best
    near = np.abs(more) <= 0.5 * best
    x = np.where(near & (best > 0.0), more / np.where(best > 0.0, best, 1.0), 0.0)
    far = np.where(near, 0.0, x_log_x(p)), np.where(near, 0.0, p * np.where(np.isfinite(log_best), log_best, 0.0))
    terms = np.where(near, best * above_tangent(x), far[0] - far[1] - more)
    lost = np.abs(more) + np.abs(far[0]) + np.abs(far[1])
    return np.maximum(terms.sum(axis=-1), 0.0) + EPS * lost.sum(axis=-1)


def mixed(point: Floats, best: Floats, missing: Callable[[Floats], float], allowed: float) -> Floats:
    """The point, moved towards `best` until no more entropy is missing than is allowed; `best`, where nothing is missing, at worst.

    What is missing is convex, so below its chords; near `best` it falls with the square.
    """
    much = missing(point)
    if much <= allowed:
        return point
    for share in (np.sqrt(allowed / much), allowed / much):
        moved = best + share * (1.0 - 1e-9) * (point - best)
        if missing(moved) <= allowed:
            return moved
    return best


def slack(most: float, bound: float, *terms: Floats) -> float:
    """The entropy to spare, most - bound, at least 0 and rounded up: what a unit of multiplier adds to an upper bound.

    `terms` are what `most` is the sum of, as far as they are larger than it.
    """
    return max(most - bound, 0.0) + EPS * (1.0 + abs(most) + abs(bound)) + rounding(*terms)


def room(most: float, bound: float, *terms: Floats) -> float:
    """The entropy to spare, rounded down: what a point may lack. At least 1e-28, which is worth 1e-14 of information at most.

    >>> room(1.0, 0.5) < 0.5 < slack(1.0, 0.5), room(1.0, 1.0), room(1.0, 1.0 - 1e-16)
    (True, 1e-28, 1e-28)
    """
    return max(most - bound - EPS * (1.0 + abs(most) + abs(bound)) - rounding(*terms), NOTHING)


def rounding(*terms: Floats) -> float:
    """Largest loss of sums of these terms by rounding: a bound that holds for multipliers of any size adds it.

    >>> 1.0 + rounding(np.array([1e16, -1e16])) > 10.0
    True
    """
    return EPS * sum(float(np.abs(term).sum()) for term in terms)


class Pairs:
    """The pairs (letter a, class k) with N(a,k) > 0: masses and scores are matrices (letters, classes), variables vectors (pairs,).

    Entropies are in nats and count a class's members: H(p) = -sum p log p + sum p log N. Handing in log(N/|X|) for log N and
    b - log |X| for b changes nothing but the rounding: nothing of the size of log |X| is then subtracted (`RecordChannel.log_uniform`
    and minus its `max_knowledge` are these numbers).

    Parameters
    ----------
    name : str
        The program's, for error messages.
    rows : (classes, outputs)
        R(k,y), row-stochastic; sums that differ from 1 by rounding are made 1.
    log_counts : (letters, classes)
        log N(a,k), or log(N(a,k)/|X|); -inf where a pair does not exist.

    Attributes
    ----------
    totals : (letters,)
        log sum_k N(a,k): the largest H(w_a); -inf where a letter has no pair.
    largest : float
        log sum N: the largest H(p).
    uniform_given_letter : (letters, classes)
        N(a,k) / sum_k N(a,k): the conditionals of the largest entropy.

    Raises
    ------
    InputError
        If shapes do not fit, rows are not stochastic, a count is NaN or infinite, or there is no pair.

    >>> pairs = Pairs("example", np.eye(2), np.log([[1.0, 3.0], [1.0, 1.0]]))
    >>> pairs.letter.tolist(), pairs.totals.round(3).tolist(), round(pairs.largest, 3)
    ([0, 0, 1, 1], [1.386, 0.693], 1.792)
    """

    def __init__(self, name: str, rows: Floats, log_counts: Floats) -> None:
        self.name = name
        self.rows, self.log_counts = np.asarray(rows, dtype=float), np.asarray(log_counts, dtype=float)
        self._check()
        self.rows = self.rows / self.rows.sum(axis=1, keepdims=True)
        self.exists = np.isfinite(self.log_counts)
        self.letter, self.index = np.nonzero(self.exists)
        self.live = self.exists.any(axis=1)
        self.totals = log_sum_exp(self.log_counts)
        self.largest = float(log_sum_exp(self.totals))
        self.finite_counts = np.where(self.exists, self.log_counts, 0.0)
        self.log_uniform_given_letter = self.log_counts - self.finite_totals[:, None]
        self.uniform_given_letter = np.exp(self.log_uniform_given_letter)
        self.log_uniform = self.log_counts - self.largest
        self.uniform = np.exp(self.log_uniform)
        self.terms = self.uniform * self.finite_counts

    def _check(self) -> None:
        R, N = self.rows, self.log_counts
        if R.ndim != 2 or N.ndim != 2 or N.shape[1] != len(R):
            raise InputError(
                f"{self.name}: expected rows (classes, outputs) and log counts (letters, classes), got {R.shape}, {N.shape}"
            )
        if not (np.all(R >= 0.0) and np.allclose(R.sum(axis=1), 1.0, rtol=0.0, atol=1e-9)):
            raise InputError(f"{self.name}: expected rows of numbers of at least 0 with sum 1; normalise the channel")
        if np.any(np.isnan(N) | np.isposinf(N)) or not np.isfinite(N).any():
            raise InputError(
                f"{self.name}: expected log counts that are finite, or -inf where there is no pair, and at least one pair"
            )

    def flat(self, matrix: Floats) -> Floats:
        """The entries of the pairs, (pairs,)."""
        return matrix[self.letter, self.index]

    def spread(self, vector: Floats) -> Floats:
        """The matrix with these entries, 0 where there is no pair."""
        matrix = np.zeros(self.log_counts.shape)
        matrix[self.letter, self.index] = vector
        return matrix

    def members(self) -> Floats:
        """(letters with a pair, pairs): 1 where the pair is the letter's."""
        return np.asarray(np.flatnonzero(self.live)[:, None] == self.letter[None, :], dtype=float)

    def letter_law(self, marginal: Floats) -> Floats:
        """A law of the letter, normalised; InputError if it is none."""
        pi = np.asarray(marginal, dtype=float)
        if pi.shape != self.live.shape or not np.all(pi >= 0.0) or abs(pi.sum() - 1.0) > 1e-9:
            raise InputError(
                f"{self.name}: expected a law of {self.live.size} letters with sum 1, got shape {pi.shape}"
            )
        if np.any(pi[~self.live] > 0.0):
            raise InputError(f"{self.name}: a letter of positive mass has no class; give it mass 0")
        return pi / pi.sum()

    def conditionals(self, raw: Floats) -> Floats:
        """Laws of the class: clipped, dropped where no pair is, normalised; the largest entropy's where nothing is left."""
        w = np.asarray(raw, dtype=float)
        if w.shape != self.log_counts.shape or not np.all(np.isfinite(w)):
            raise InputError(f"{self.name}: expected finite conditionals {self.log_counts.shape}, got shape {w.shape}")
        w = np.where(self.exists, np.maximum(w, 0.0), 0.0)
        total = w.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, w / np.where(total > 0.0, total, 1.0), self.uniform_given_letter)

    def masses(self, raw: Floats | None) -> Floats | None:
        """A solver's masses (pairs,) as a matrix, clipped and normalised; None if nothing can be made of them."""
        if raw is None or raw.shape != self.letter.shape or np.maximum(raw, 0.0).sum() <= 0.0:
            return None
        return self.spread(np.maximum(raw, 0.0) / np.maximum(raw, 0.0).sum())

    def entropies(self, w: Floats) -> Floats:
        """H(w_a) for every letter, (letters,)."""
        return np.sum(w * self.finite_counts, axis=1) - np.sum(x_log_x(w), axis=1)

    def entropy(self, p: Floats) -> float:
        """H(p)."""
        return float(np.sum(p * self.finite_counts) - np.sum(x_log_x(p)))

    def missing(self, p: Floats) -> float:
        """The largest entropy less H(p), rounded upward."""
        return float(np.sum(divergence(p, self.uniform, self.log_uniform)))

    def allowed(self, bound: float) -> float:
        """Shortfall that is allowed where H(p) >= bound, rounded downward."""
        return room(self.largest, bound, self.terms)

    def enough(self, p: Floats, bound: float) -> Floats:
        """Masses, moved towards those of the largest entropy until H(p) >= bound, whatever doubles round."""
        return mixed(p, self.uniform, self.missing, self.allowed(bound))

    @property
    def finite_totals(self) -> Floats:
        """The totals, 0 for letters without a pair."""
        return np.where(self.live, self.totals, 0.0)

    def tilted(self, scores: Floats, mu: float) -> Floats:
        """The maximisers of `gains`: w_a ~ N exp(scores/mu), for mu = 0 the best class; 0 for letters without a pair."""
        top = np.where(self.exists, scores, -np.inf).max(axis=1, keepdims=True, initial=-1e300)
        if mu <= 0.0:
            w = np.where(self.exists & (scores >= top), self.uniform_given_letter, 0.0)
        else:
            weight = np.where(self.exists, self.log_uniform_given_letter + (scores - top) / mu, -np.inf)
            w = np.exp(weight - np.where(self.live, log_sum_exp(weight), 0.0)[:, None])
        return w / np.where(self.live, w.sum(axis=1), 1.0)[:, None]

    def gains(self, scores: Floats, mu: float) -> Floats:
        """max over w of <scores_a, w> + mu (H(w) - totals_a) for every letter: mu log sum_k u_k exp(scores/mu); max_k if mu = 0."""
        if mu <= 0.0:
            return np.where(self.live, np.where(self.exists, scores, -np.inf).max(axis=1), 0.0)
        return mu * log_mean_exp(self.log_uniform_given_letter, scores / mu)

    def maximum(self, gains: Floats, share: float, mu: float, bound: float) -> float:
        """max over pi of sum pi_a (gains_a + mu totals_a) + (share + mu) H(pi) - mu b: with tau = share + mu,

        tau log sum_a exp((gains_a + mu totals_a)/tau) - mu b, and max_a gains_a for tau = 0; here without cancellation for large mu.
        """
        if mu <= 0.0:
            psi = gains[self.live]
            return share * float(log_sum_exp(psi / share)) if share > 0.0 else float(psi.max())
        tau = share + mu
        mean = log_mean_exp(self.totals - self.largest, (gains - share * self.finite_totals) / tau)
        return share * self.largest + tau * float(mean) + mu * slack(self.largest, bound, self.terms)
