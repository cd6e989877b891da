"""What a mechanism must meet besides being one, as data in doubles: linear rows, second-order cones, entries that are 0."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix

from dalenius.information.arrays import Floats
from dalenius.programs.secrets import Secrets

__all__ = ["ConeRows", "Demands", "LinearRows"]

SINGULAR = 1e-11  # relative size of eigenvalues that count as 0: equations that say the same


@dataclass(frozen=True, eq=False)
class LinearRows:
    """A q <= h, and B q = e, for the entries q of the variable counted row by row.

    Attributes
    ----------
    matrix : (rows, entries), sparse
    ends : (rows,)
    equal : (rows,) of bool
        Whether a row is an equation.
    """

    matrix: csr_matrix
    ends: Floats
    equal: np.ndarray

    @classmethod
    def none(cls, entries: int) -> LinearRows:
        """No rows."""
        return cls(csr_matrix((0, entries)), np.zeros(0), np.zeros(0, dtype=bool))

    def excess(self, q: Floats) -> Floats:
        """A q - h, (rows,)."""
        return np.asarray(self.matrix @ q.reshape(-1) - self.ends)

    def priced(self, prices: Floats) -> Floats:
        """What multipliers add to every entry."""
        return np.asarray(self.matrix.T @ prices)

    def sizes(self, prices: Floats) -> Floats:
        """The size of what is summed there."""
        return np.asarray(abs(self.matrix).T @ abs(prices))


@dataclass(frozen=True, eq=False)
class ConeRows:
    """The norm of rows 1, 2, ... of F q + f is at most its row 0.

    Attributes
    ----------
    matrix : (1 + members, entries)
    offset : (1 + members,)
    """

    matrix: Floats
    offset: Floats

    def room(self, q: Floats) -> float:
        """How much the norm may grow; negative where it is too large."""
        parts = self.matrix @ q.reshape(-1) + self.offset
        return float(parts[0] - np.linalg.norm(parts[1:]))


@dataclass(frozen=True, eq=False)
class Demands:
    """All of it, with a mechanism that meets it.

    Attributes
    ----------
    rows : LinearRows
    cones : tuple of ConeRows
    support : (rows of q, outputs) of bool
        Entries that need not be 0.
    anchor : (rows of q, outputs)
        Meets everything, with room where there is any: what is on the wrong side is mixed with it.
    tight : (rows of `rows`,) of bool, optional
        Rows that hold with equality in every mechanism; by default the equations.
    secrets : Secrets
        Limits of what the output tells about secrets.
    """

    rows: LinearRows
    support: np.ndarray
    anchor: Floats
    cones: tuple[ConeRows, ...] = ()
    tight: np.ndarray | None = None
    secrets: Secrets = field(default_factory=Secrets)

    def met_by(self, q: Floats) -> Floats:
        """A mechanism near q that meets everything up to rounding: on the equations, then mixed with the anchor as far as need be."""
        near = self._on_equations(np.where(self.support, q, 0.0))
        have, spare = self._excess(near), np.maximum(-self._excess(self.anchor), 0.0)
        broken = have > 0.0
        share = float(np.max(have[broken] / (have[broken] + spare[broken]), initial=0.0))
        mixed = (1.0 - share) * near + share * self.anchor
        while share < 1.0 and any(cone.room(mixed) < 0.0 for cone in self.cones):
            share = min(2.0 * share + 1e-12, 1.0)
            mixed = (1.0 - share) * near + share * self.anchor
        return np.maximum(mixed, 0.0)

    def _excess(self, q: Floats) -> Floats:
        """By how much inequalities and signs are broken."""
        return np.concatenate([self.rows.excess(q)[~self._held], -q[self.support]])

    @property
    def _held(self) -> np.ndarray:
        return self.rows.equal if self.tight is None else self.tight

    def _on_equations(self, q: Floats) -> Floats:
        """The nearest point on which rows are laws and equations hold."""
        moved, (matrix, ends, inverse) = q[self.support], self._equations
        for _ in range(2):
            moved = moved + matrix.T @ (inverse @ (ends - matrix @ moved))
        found = np.zeros(q.shape)
        found[self.support] = moved
        return found

    @cached_property
    def _equations(self) -> tuple[Floats, Floats, Floats]:
        """The equations of the supported entries, each scaled to length 1, their right sides, and the inverse of their products."""
        count, outputs = self.support.shape
        sums = np.kron(np.eye(count), np.ones(outputs))
        matrix = np.concatenate([sums, self.rows.matrix[self._held].toarray()])[:, self.support.reshape(-1)]
        ends = np.concatenate([np.ones(count), self.rows.ends[self._held]])
        length = np.linalg.norm(matrix, axis=1)
        used = length > 0.0
        matrix, ends = matrix[used] / length[used, None], ends[used] / length[used]
        return matrix, ends, np.linalg.pinv(matrix @ matrix.T, rcond=SINGULAR, hermitian=True)
