"""The posterior update: the best prior for fixed posteriors, under the entropy bound: half a step of joint Blahut-Arimoto."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np

from dalenius.atoms import concave_entropy
from dalenius.errors import InputError
from dalenius.information import entropy, log_sum_exp
from dalenius.information.arrays import Floats
from dalenius.programs.base import Named, OneMultiplier
from dalenius.programs.pairs import Pairs


class PosteriorUpdate(OneMultiplier):
    """Maximise <c, p> + H(pi), c(a,k) = sum_y R(k,y) log phi(a|y), over masses p(a,k) with H(p) = -sum p log p + sum p log N >= b.

    The value at p is at most I(A; Y) at p, with equality where phi are the posteriors of p. All in nats.

    *Convex because* H(pi) and H(p) are concave and c is fixed. *DPP because* c and b enter affinely; N is part of the model.
    *Bound because* mu (H(p) - b) >= 0 is added for any mu >= 0; what remains is largest at w_a ~ N exp(c/mu), pi_a ~ exp(G_a/(1+mu)):

        (1+mu) log sum_a exp(G_a/(1+mu)) - mu b,    G_a = mu log sum_k N(a,k) exp(c(a,k)/mu)  (max_k c(a,k) for mu = 0).

    Pairs with c = -inf carry no mass and are left out of the model; when that pattern changes, the model is built anew.

    Parameters
    ----------
    rows : (classes, outputs)
        R, row-stochastic.
    log_counts : (letters, classes)
        log N(a,k), or log(N(a,k)/|X|) with b - log |X| for b, which avoids cancellation; -inf where a pair does not exist.
    posteriors : (letters, outputs)
        phi(a|y), from 0 to 1.
    entropy_bound : float
        b in nats.

    Raises
    ------
    InputError
        If shapes do not fit, or no prior that phi allows has this entropy.

    Notes
    -----
    Source: docs/theory.md, "From below": half a step of Blahut (1972) and Arimoto (1972), with an entropy bound.

    >>> flip = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> answer = PosteriorUpdate(flip, np.zeros((2, 2)), flip, 1.0).solve()
    >>> bool(answer.lower <= answer.upper), answer.gap < 1e-8
    (True, True)
    """

    name: ClassVar[str] = "posterior"
    maximises: ClassVar[bool] = True
    pairs: Pairs

    def __init__(self, rows: Floats, log_counts: Floats, posteriors: Floats, entropy_bound: float) -> None:
        self.channel = Pairs(self.name, rows, log_counts)
        self.set(posteriors, entropy_bound)
        super().__init__()

    def set(self, posteriors: Floats, entropy_bound: float) -> None:
        """Other posteriors and bound; solving again does not canonicalise again, unless other pairs are left out."""
        scores = self._scores(np.asarray(posteriors, dtype=float))
        pairs = Pairs(self.name, self.channel.rows, np.where(np.isfinite(scores), self.channel.log_counts, -np.inf))
        if not pairs.largest >= entropy_bound - 1e-12 * (1.0 + abs(entropy_bound)):
            raise InputError(
                f"posterior: no prior that the posteriors allow has entropy {entropy_bound:.6g}; the largest is {pairs.largest:.6g}"
            )
        others = bool(self.parameters) and not np.array_equal(pairs.exists, self.pairs.exists)
        self.pairs, self.c, self.b = pairs, np.where(pairs.exists, scores, 0.0), float(entropy_bound)
        (self.make if others else self.write)()

    def _scores(self, phi: Floats) -> Floats:
        """c(a,k), -inf where phi(a|y) = 0 < R(k,y)."""
        rows, shape = self.channel.rows, (len(self.channel.live), self.channel.rows.shape[1])
        if phi.shape != shape or not np.all((phi >= 0.0) & (phi <= 1.0 + 1e-9)):
            raise InputError(f"posterior: expected posteriors {shape}, numbers from 0 to 1, got shape {phi.shape}")
        never = np.asarray(phi == 0.0, dtype=float) @ rows.T > 0.0
        if not np.any(self.channel.exists & ~never):
            raise InputError("posterior: the posteriors are zero wherever a pair exists; make them positive")
        return np.where(never, -np.inf, np.log(np.where(phi > 0.0, phi, 1.0)) @ rows.T)

    def build(self) -> cp.Expression:
        size = self.pairs.letter.size
        p, c, b = cp.Variable(size, nonneg=True, name="p"), cp.Parameter(size, name="c"), cp.Parameter(name="b")
        self.variables = {"p": p}
        self.parameters = {"scores": c, "entropy_bound": b}
        counts = self.pairs.flat(self.pairs.log_counts)
        self.constraints = {"total": cp.sum(p) == 1, "entropy": concave_entropy(p, log_counts=counts) >= b}
        objective = c @ p + concave_entropy(self.pairs.members() @ p)
        return objective

    def data(self) -> Mapping[str, Any]:
        return {"scores": self.pairs.flat(self.c), "entropy_bound": self.b}

    def start(self) -> tuple[Named, Named]:
        """The prior of the largest entropy, and no multiplier."""
        return {"p": self.pairs.uniform}, {"mu": np.array(0.0)}

    def repair(self, raw: Mapping[str, Floats]) -> Named | None:
        """Clip, normalise, and mix with the prior of the largest entropy until the bound holds."""
        p = self.pairs.masses(raw.get("p"))
        return None if p is None else {"p": self.pairs.enough(p, self.b)}

    def value(self, point: Mapping[str, Floats]) -> float:
        p = point["p"]
        return float(np.sum(self.c * p) + entropy(p.sum(axis=1)))

    def point_at(self, mu: float) -> Named:
        gains = self.pairs.gains(self.c, mu)
        weight = (gains + mu * self.pairs.finite_totals) / (1.0 + mu)
        pi = np.where(self.pairs.live, np.exp(weight - log_sum_exp(weight[self.pairs.live])), 0.0)
        p = pi[:, None] * self.pairs.tilted(self.c, mu)
        return {"p": self.pairs.enough(p / p.sum(), self.b)}

    def bound_at(self, mu: float) -> float:
        return self.pairs.maximum(self.pairs.gains(self.c, mu), 1.0, mu, self.b)
