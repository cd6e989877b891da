"""The cones in doubles, all at once: how far inside multipliers are, how they are moved inside, and how far they may go from there.

Nothing here is evidence; what the cones themselves say is (`instance`).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import block_diag, csr_array, diags_array

from cvxcertify.instance import Exponential, Floats, Instance, Nonnegative, SecondOrder, Semidefinite, Zero, triangle

MOST_EXPONENT = 600.0
FREE = 1e2  # times the largest multiplier: how far those of zero cones may go


class Geometry:
    """The rows of an instance, sorted by the cones that they are in."""

    def __init__(self, instance: Instance) -> None:
        self.size = len(instance.b)
        rows = (np.array(instance.rows_in(kind), dtype=np.int64) for kind in (Zero, Nonnegative, Exponential))
        self.zero, self.signs, exponential = rows
        self.exponential = exponential.reshape(-1, 3)
        self.second_order = [np.array(places) for cone, places in instance.cells if isinstance(cone, SecondOrder)]
        self.semidefinite = [
            (cone.order, np.array(places)) for cone, places in instance.cells if isinstance(cone, Semidefinite)
        ]

    def inward(self, z: Floats, margin: float) -> Floats:
        """Multipliers inside the dual cones by about `margin`, not far from these."""
        z = z.copy()
        z[self.signs] = np.maximum(z[self.signs], margin)
        for places in self.second_order:
            z[places[0]] = max(z[places[0]], float(np.linalg.norm(z[places[1:]])) * (1.0 + 1e-15) + margin)
        if self.exponential.size:
            z[self.exponential] = _inward_exponential(z[self.exponential], margin)
        for order, places in self.semidefinite:
            values, vectors = np.linalg.eigh(matrix_of(order, z[places], 0.5))
            z[places] = _entries(vectors * np.maximum(values, margin) @ vectors.T, 2.0)
        return z

    def inside(self, z: Floats) -> bool:
        """True if multipliers are inside the dual cones, as far as doubles can tell."""
        u, v, w = z[self.exponential].T
        with np.errstate(all="ignore"):
            exponential = (u < 0.0) & (w > 0.0) & (u - v < -u * np.log(w / -u))
        return bool(
            np.all(z[self.signs] > 0.0)
            and np.all(exponential)
            and all(z[places[0]] > np.linalg.norm(z[places[1:]]) for places in self.second_order)
            and all(
                np.linalg.eigvalsh(matrix_of(order, z[places], 0.5))[0] > 0.0 for order, places in self.semidefinite
            )
        )

    def contains(self, s: Floats, fuzz: Floats) -> bool:
        """True if members are in the cones, or nearly in a face of them; `fuzz` is what rounding may have changed in each."""
        x, y, z = s[self.exponential].T
        _, near_y, near_z = fuzz[self.exponential].T
        with np.errstate(all="ignore"):
            inside = (y > 0.0) & (z > 0.0) & (x < y * np.log(z / y))
        face = (abs(y) <= near_y) & (x <= 0.0) & (z >= -near_z)
        return bool(
            np.all(s[self.signs] >= -fuzz[self.signs])
            and np.all(inside | face)
            and all(s[rows[0]] + fuzz[rows[0]] >= np.linalg.norm(s[rows[1:]]) for rows in self.second_order)
            and all(
                np.linalg.eigvalsh(matrix_of(order, s[rows], 1.0))[0] >= -order * fuzz[rows].max()
                for order, rows in self.semidefinite
            )
        )

    def reach(self, z: Floats) -> csr_array:
        """F such that z + F d is inside the dual cones for every d shorter than 1.

        F F' is the inverse Hessian of a self-concordant barrier of the dual cones (Nesterov and Nemirovskii, 1994); of zero cones,
        whose multipliers are free, a large multiple of the identity.
        """
        scale = max(1.0, float(np.abs(z).max(initial=0.0)))
        blocks: list[object] = [diags_array(np.concatenate([np.full(self.zero.size, FREE * scale), z[self.signs]]))]
        order = [self.zero, self.signs]
        for places in self.second_order:
            blocks.append(_second_order_reach(z[places]))
            order.append(places)
        blocks += list(_exponential_reach(z[self.exponential]))
        order += list(self.exponential)
        for size, places in self.semidefinite:
            blocks.append(_semidefinite_reach(matrix_of(size, z[places], 0.5)))
            order.append(places)
        where = np.argsort(np.concatenate(order))
        return csr_array(block_diag(blocks, format="csr"))[where]


def matrix_of(order: int, entries: Floats, beside: float) -> Floats:
    """The symmetric matrix of the entries on and above the diagonal, of those beside it this share."""
    matrix = np.zeros((order, order))
    rows, columns = np.array(triangle(order)).T
    matrix[rows, columns] = matrix[columns, rows] = np.where(rows == columns, 1.0, beside) * entries
    return matrix


def _entries(matrix: Floats, beside: float) -> Floats:
    rows, columns = np.array(triangle(len(matrix))).T
    return np.where(rows == columns, 1.0, beside) * matrix[rows, columns]


def _inward_exponential(z: Floats, margin: float) -> Floats:
    """The third member is raised, or the second where the third would be far too large."""
    u, v, w = z.T
    u, w = np.minimum(u, -margin), np.maximum(w, margin)
    needed = -u * np.exp(np.minimum(v / u - 1.0, MOST_EXPONENT))
    raised = u * (1.0 + np.log(w / -u))
    cheap = needed - w <= raised - v
    w = np.where(cheap, np.maximum(w, needed * (1.0 + 1e-15) + margin), w)
    return np.stack([u, np.where(cheap, v, np.maximum(v, raised + margin)), w], axis=1)


def _second_order_reach(z: Floats) -> Floats:
    """The quadratic representation of the root of z, by root 2."""
    size = float(np.linalg.norm(z[1:]))
    more, less = np.sqrt(z[0] + size), np.sqrt(max(z[0] - size, 0.0))
    root = np.concatenate([[0.5 * (more + less)], 0.5 * (more - less) / max(size, 1e-300) * z[1:]])
    mirror = np.diag(np.where(np.arange(z.size) == 0, 1.0, -1.0))
    return (2.0 * np.outer(root, root) - more * less * mirror) / np.sqrt(2.0)


def _exponential_reach(z: Floats) -> Floats:
    """By the cone's barrier -log(f) - log y - log z, f = y log(z/y) - x, at (u - v, -u, w), which is in the cone itself.

    In df, dy and dz its Hessian is 1/f^2 beside two by two numbers, whose inverse has a triangular root without differences.
    """
    u, v, w = z.T
    x, y = u - v, -u
    slack = np.maximum(y * np.log(w / y) - x, 1e-16 * (np.abs(x) + y))
    root = np.zeros((len(z), 3, 3))
    root[:, 0, 0] = slack
    root[:, 1, 1] = y * np.sqrt((y + slack) / (2.0 * y + slack))
    root[:, 2, 1] = y * w / np.sqrt((2.0 * y + slack) * (y + slack))
    root[:, 2, 2] = w * np.sqrt(slack / (y + slack))
    back = np.zeros((len(z), 3, 3))  # dx = (log(w/y) - 1) dy + (y/w) dz - df, then u = -y and v = -y - x
    back[:, 0, 1] = -1.0
    back[:, 1, 0], back[:, 1, 1], back[:, 1, 2] = 1.0, -np.log(w / y), -y / w
    back[:, 2, 2] = 1.0
    return back @ root


def _semidefinite_reach(matrix: Floats) -> Floats:
    """X -> R X R for the root R of the matrix, X in an orthonormal basis."""
    values, vectors = np.linalg.eigh(matrix)
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    rows, columns = np.array(triangle(len(matrix))).T
    crossed = root[np.ix_(rows, rows)] * root[np.ix_(columns, columns)]
    crossed += root[np.ix_(rows, columns)] * root[np.ix_(columns, rows)]
    return np.where(rows == columns, 1.0, 2.0)[:, None] * crossed * np.where(rows == columns, 0.5, np.sqrt(0.5))
