"""What a mechanism tells about a record under each of several priors, and what it tells at least, in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError

__all__ = ["Leakages"]

Floats = NDArray[np.float64]
LEAST = -700.0  # no posterior is smaller than e to this: its logarithm has to be a number
SUM = 1e-9


class Leakages:
    """I_s(Q) = I(A; Y) under masses p_s(a,x) on (letter, input), for s = 0, 1, ...; letters of all priors stand in one list of rows.

    Parameters
    ----------
    name : str
        The program's, for error messages.
    priors : sequence of (letters, inputs)
        Masses with sum 1; the numbers of letters may differ. Letters without mass are dropped.
    inputs : int

    Attributes
    ----------
    masses : (rows, inputs)
    owner : (rows,)
        s of a row.
    log_pi : (rows,)

    Raises
    ------
    InputError
        If there is no prior, or one does not fit or is no law.

    >>> fair = Leakages("example", [np.array([[0.5, 0.0], [0.0, 0.5]])], 2)
    >>> fair.values(np.eye(2)).round(4).tolist(), fair.values(np.full((2, 2), 0.5)).tolist()
    ([0.6931], [0.0])
    """

    def __init__(self, name: str, priors: Sequence[Floats], inputs: int) -> None:
        if not len(priors):
            raise InputError(f"{name}: expected at least one prior")
        kept = [self._prior(f"{name}: prior {s}", prior, inputs) for s, prior in enumerate(priors)]
        self.count, self.masses = len(kept), np.concatenate(kept)
        self.owner = np.repeat(np.arange(self.count), [len(p) for p in kept])
        self.first = np.flatnonzero(np.diff(self.owner, prepend=-1))
        self.log_pi = np.log(self.masses.sum(axis=1))

    @staticmethod
    def _prior(name: str, prior: Floats, inputs: int) -> Floats:
        p = np.asarray(prior, dtype=float)
        if p.ndim != 2 or p.shape[1] != inputs or not len(p):
            raise InputError(f"{name}: expected masses (letters, {inputs}), got shape {p.shape}")
        if not (np.all(p >= 0.0) and abs(p.sum() - 1.0) <= SUM):
            raise InputError(f"{name}: expected numbers of at least 0 with sum 1; normalise it")
        return np.asarray(p[p.sum(axis=1) > 0.0] / p.sum())

    def letter_entropies(self) -> Floats:
        """H(pi_s), (priors,)."""
        return -self.sums(np.exp(self.log_pi) * self.log_pi)

    def values(self, Q: Floats) -> Floats:
        """I_s(Q) = sum u log u - sum pi log pi - sum r log r, at least 0, (priors,)."""
        u = self.masses @ Q
        r = np.add.reduceat(u, self.first, axis=0)
        ratio = np.where(u > 0.0, u, 1.0) / np.where(u > 0.0, r[self.owner], 1.0)
        return np.maximum(self.sums(np.sum(u * np.log(ratio), axis=1)) + self.letter_entropies(), 0.0)

    def posteriors(self, Q: Floats) -> Floats:
        """log of u/r, (rows, outputs); log pi at outputs that never occur."""
        u = self.masses @ Q
        r = np.add.reduceat(u, self.first, axis=0)[self.owner]
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.normalised(np.where(r > 0.0, np.log(u) - np.log(r), self.log_pi[:, None]))

    def normalised(self, log_phi: Floats) -> Floats:
        """Logarithms of laws of the letter, for every prior and output, from any numbers: log pi where they are none."""
        usable = np.where(np.isfinite(log_phi) | (log_phi == -np.inf), log_phi, self.log_pi[:, None])
        top = np.maximum.reduceat(usable, self.first, axis=0)[self.owner]
        clipped = np.maximum(usable - np.where(np.isfinite(top), top, 0.0), LEAST)
        return clipped - np.log(np.add.reduceat(np.exp(clipped), self.first, axis=0))[self.owner]

    def scores(self, weights: Floats, log_phi: Floats) -> Floats:
        """G(x,y) = sum_s weights_s sum_a p_s(a,x) log(phi_s(a|y)/pi_s(a)): sum Q G <= sum_s weights_s I_s(Q) for every mechanism Q."""
        return np.asarray((weights[self.owner, None] * self.masses).T @ (log_phi - self.log_pi[:, None]))

    def sums(self, rows: Floats) -> Floats:
        """Sums over the rows of each prior."""
        return np.add.reduceat(rows, self.first, axis=0)
