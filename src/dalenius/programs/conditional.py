"""The conditional update: better laws of the other records for a fixed letter law, under the entropy bound: a convex-concave step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np

from dalenius.atoms import concave_entropy
from dalenius.errors import InputError
from dalenius.information import entropy, mutual_information
from dalenius.information.arrays import Floats
from dalenius.programs.base import Named, OneMultiplier
from dalenius.programs.pairs import Pairs, divergence, mixed, room, slack

INSIDE = (
    1e-9  # the share of the conditionals of the largest entropy at which I is linearised, so that no slope is infinite
)


class ConditionalUpdate(OneMultiplier):
    """Maximise I, linearised at w0, over conditional laws w_a of the class with sum_a pi_a H(w_a) + H(pi) >= b.

    Here H(w) = -sum w log w + sum w log N. I is convex in w and homogeneous in the joint law. With K0_a = w0_a R and r0 = pi K0
    its linearisation at w0 is

        sum_a pi_a <g_a, w_a> <= I(w),    g(a,k) = sum_y R(k,y) log(K0_a(y) / r0(y)),    with equality at w0,

    so a step raises I by at least what it raises this value. The exact problem maximises a convex function: see `RowUpdate`. In nats.

    *Convex because* the objective is linear and every H(w_a) is concave. *DPP because* pi_a >= 0 multiplies concave functions that
    have no parameters, and the rest is affine.
    *Bound because* mu (sum_a pi_a H(w_a) + H(pi) - b) >= 0 is added for any mu >= 0, and what remains is largest at w_a ~ N exp(g/mu):

        mu sum_a pi_a log sum_k N(a,k) exp(g(a,k)/mu) + mu (H(pi) - b),    and sum_a pi_a max_k g(a,k) for mu = 0.

    Parameters
    ----------
    rows : (classes, outputs)
        R, row-stochastic.
    log_counts : (letters, classes)
        log N(a,k), or log(N(a,k)/|X|) with b - log |X| for b, which avoids cancellation; -inf where a pair does not exist.
    marginal : (letters,)
        pi.
    conditionals : (letters, classes)
        w0, feasible or not. Mass where no pair exists is dropped, and the rest normalised; where nothing is left, w0_a ~ N.
    entropy_bound : float
        b in nats.

    Raises
    ------
    InputError
        If shapes do not fit, a letter of positive mass has no class, or no conditionals have this entropy.

    Notes
    -----
    Source: docs/theory.md; the exact problem is (16) of the source paper, which climbs it by projected gradients (Algorithm 3).

    >>> flip = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> step = ConditionalUpdate(flip, np.zeros((2, 2)), np.array([0.5, 0.5]), np.array([[0.7, 0.3], [0.3, 0.7]]), 1.0)
    >>> answer = step.solve()
    >>> bool(answer.lower <= answer.upper <= step.information(answer.point)), answer.gap < 1e-8
    (True, True)
    """

    name: ClassVar[str] = "conditional"
    maximises: ClassVar[bool] = True

    def __init__(
        self, rows: Floats, log_counts: Floats, marginal: Floats, conditionals: Floats, entropy_bound: float
    ) -> None:
        self.pairs = Pairs(self.name, rows, log_counts)
        self.set(marginal, conditionals, entropy_bound)
        super().__init__()

    def set(self, marginal: Floats, conditionals: Floats, entropy_bound: float) -> None:
        """Another letter law, point and bound for the same channel; solving again does not canonicalise again."""
        self.pi, self.b = self.pairs.letter_law(marginal), float(entropy_bound)
        self.w0, self.g = self.pairs.conditionals(conditionals), self._slopes(self.pairs.conditionals(conditionals))
        self.terms = (
            self.pi * self.pairs.finite_totals,
            self.pi[:, None] * self.pairs.uniform_given_letter * self.pairs.finite_counts,
        )
        self.most = float(entropy(self.pi) + self.terms[0].sum())
        if not self.most >= self.b - 1e-12 * (1.0 + abs(self.b)):
            raise InputError(f"conditional: no conditionals have entropy {self.b:.6g}; the largest is {self.most:.6g}")
        self.write()

    def _slopes(self, w0: Floats) -> Floats:
        """g(a,k), finite; 0 for letters without mass."""
        K = ((1.0 - INSIDE) * w0 + INSIDE * self.pairs.uniform_given_letter) @ self.pairs.rows
        r = self.pi @ K
        used = (self.pi[:, None] > 0.0) & (r > 0.0)
        log_ratio = np.where(used, np.log(np.maximum(K, 1e-300)) - np.log(np.where(r > 0.0, r, 1.0)), 0.0)
        return log_ratio @ self.pairs.rows.T

    def build(self) -> cp.Expression:
        size, members = self.pairs.letter.size, self.pairs.members()
        w, b = cp.Variable(size, nonneg=True, name="w"), cp.Parameter(name="b")
        gains, weights = cp.Parameter(size), cp.Parameter(size, nonneg=True)
        self.variables = {"w": w}
        self.parameters = {"gains": gains, "weights": weights, "entropy_bound": b}
        spent = concave_entropy(w, log_counts=self.pairs.flat(self.pairs.log_counts), weights=weights)
        self.constraints = {"totals": members @ w == 1, "entropy": spent >= b}
        return gains @ w

    def data(self) -> Mapping[str, Any]:
        weights = self.pi[self.pairs.letter]
        bound = self.b - float(entropy(self.pi))
        return {"gains": weights * self.pairs.flat(self.g), "weights": weights, "entropy_bound": bound}

    def start(self) -> tuple[Named, Named]:
        """w0, mixed with the conditionals of the largest entropy if it has too little, and no multiplier."""
        return {"w": self._enough(self.w0)}, {"mu": np.array(0.0)}

    def repair(self, raw: Mapping[str, Floats]) -> Named | None:
        """Clip, normalise, and mix with the conditionals of the largest entropy until the bound holds."""
        w = raw.get("w")
        if w is None or w.shape != self.pairs.letter.shape:
            return None
        return {"w": self._enough(self.pairs.conditionals(self.pairs.spread(w)))}

    def _enough(self, w: Floats) -> Floats:
        """Conditionals, moved towards those of the largest entropy until the bound holds, whatever doubles round."""
        return mixed(w, self.pairs.uniform_given_letter, self._missing, room(self.most, self.b, *self.terms))

    def _missing(self, w: Floats) -> float:
        """The largest entropy less that of the conditionals."""
        return float(self.pi @ divergence(w, self.pairs.uniform_given_letter, self.pairs.log_uniform_given_letter))

    def value(self, point: Mapping[str, Floats]) -> float:
        return float(self.pi @ np.sum(self.g * point["w"], axis=1))

    def information(self, point: Mapping[str, Floats]) -> float:
        """I itself at a point: at least its value."""
        return float(mutual_information(self.pi[:, None] * (point["w"] @ self.pairs.rows)))

    def point_at(self, mu: float) -> Named:
        return {"w": self._enough(self.pairs.tilted(self.g, mu))}

    def bound_at(self, mu: float) -> float:
        gain = float(self.pi @ self.pairs.gains(self.g, mu))
        return gain + mu * slack(self.most, self.b, *self.terms) if mu > 0.0 else gain
