"""The two Gaussians of the f-divergence paper: data that show a secret and a label, each through noise, in a random mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction, as_fractions, as_law, as_list
from dalenius.information.balls import ball
from dalenius.model.fields import keep
from dalenius.sanitizers.converse_bound import Converse, converse
from dalenius.sanitizers.settings import Samples

SIGNS = (-1, 1)
GRID = 2**48  # masses of atoms are multiples of 1/GRID
ENDS = Fraction(16, 5)  # beyond it an observation is replaced by the truth


@dataclass(frozen=True)
class TwoGaussians:
    """S and U in {-1, 1} with the law p(s,u), S' ~ N(S, 1), U' ~ N(U, 1), X = A (S'^2, U'^2, S'U', S', U')^T.

    The experiment of section V-A of W. Wang and W. P. Tay's paper on f-divergence privacy; A has independent standard normal
    entries
    ("randomly generated" there), and is invertible with probability 1, so that X is (S', U') in other words.

    Parameters
    ----------
    law : 2 x 2 table of numbers
        p(s,u), rows s = -1, 1, columns u = -1, 1; exact. `independent()` and `correlated()` are the paper's two.
    seed : int
        Draws A.

    Raises
    ------
    InputError
        If the law is none.

    >>> TwoGaussians.correlated().law[0]
    (Fraction(2, 5), Fraction(1, 10))
    """

    law: Sequence[Sequence[Number]]
    seed: int = 0
    mixing: NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows = [as_fractions(row, f"law[{s}]") for s, row in enumerate(as_list(self.law, "law"))]
        if [len(row) for row in rows] != [2, 2]:
            raise InputError("law: expected p(s,u) as two rows of two numbers, rows the secret, columns the label")
        as_law([p for row in rows for p in row], "law")
        keep(self, law=tuple(rows))
        keep(self, mixing=np.random.default_rng(self.seed).standard_normal((5, 5)))

    @classmethod
    def independent(cls, seed: int = 0) -> TwoGaussians:
        """Secret and label independent and fair: in principle privacy costs nothing."""
        return cls([["1/4", "1/4"], ["1/4", "1/4"]], seed)

    @classmethod
    def correlated(cls, seed: int = 0) -> TwoGaussians:
        """They agree with probability 4/5."""
        return cls([["2/5", "1/10"], ["1/10", "2/5"]], seed)

    @property
    def rows(self) -> list[list[Fraction]]:
        """p(s,u), exactly."""
        return [[as_fraction(p, "law") for p in row] for row in self.law]

    def sample(self, count: int, seed: int) -> Samples:
        """Independent draws of (X, S, U), the same for the same seed; S and U as 0 and 1."""
        rng = np.random.default_rng(seed)
        cells = rng.choice(4, size=count, p=[float(p) for row in self.rows for p in row])
        secret, label = np.divmod(cells, 2)
        s, u = (2.0 * sign - 1.0 + rng.standard_normal(count) for sign in (secret, label))
        return Samples(np.stack([s * s, u * u, s * u, s, u], axis=1) @ self.mixing.T, secret, label)

    def converse(self, budget: Number, *, points: int = 24, gap: float = 1e-6) -> Converse:
        """Upper bound for every sanitizer of X: the accuracy about U of all with chi2(S; Y) <= budget.

        X is made more telling first, so that it has finitely many values (`atoms`), exactly; then `converse`. Its upper end is
        the bound; its lower end belongs to the more telling data, not to X. More `points` make it tighter: 24 by about 0.0006.

        >>> bound = TwoGaussians.correlated().converse("0.01", points=6)  # the truth is 0.715173
        >>> 0.715173 < float(bound.upper) < 0.75
        True
        """
        observed = atoms(points)
        joint = [
            [[p * a * b for a in observed[s] for b in observed[u]] for u, p in enumerate(row)]
            for s, row in enumerate(self.rows)
        ]
        return converse(joint, budget, gap=gap)


def atoms(points: int) -> list[list[Fraction]]:
    """Laws, given s = -1 and s = 1, of an observation with finitely many values from which N(s, 1) can be made.

    Between two neighbours a < b of the given points every likelihood pair (e^-x, e^x) is a mixture of those at a and b, so that
    a draw x
    is what is left of one of them; the weights follow from the masses of [a, b] under both signs. Beyond the points it is a
    mixture of
    the last pair and of the truth. Masses are enclosed in balls and taken *downward*; what is missing goes to the truth, which
    can be made into anything.

    Returns
    -------
    list of two lists of points + 2 Fractions, each with sum 1.

    >>> low, high = atoms(3)
    >>> sum(low) == sum(high) == 1, low[0] > 0 == high[0], low[1] > high[1]
    (True, True, True)
    """
    if points < 2:
        raise InputError(f"points: expected at least 2, got {points}")
    grid = [-ENDS + 2 * ENDS * Fraction(k, points - 1) for k in range(points)]
    before = ctx.prec
    ctx.prec = 128
    try:
        rays = [(arb(1), arb(0)), *(((-t).exp(), t.exp()) for t in map(ball, grid)), (arb(0), arb(1))]
        below = [[(1 + ((ball(t) - sign) / arb(2).sqrt()).erf()) / 2 for t in grid] for sign in SIGNS]
        masses = [[arb(0)] * (points + 2) for _ in SIGNS]
        for k in range(points + 1):
            inside = [(row[k] if k < points else arb(1)) - (row[k - 1] if k else arb(0)) for row in below]
            (a, b), (c, d) = rays[k], rays[k + 1]
            weights = (
                (inside[0] * d - inside[1] * c) / (a * d - b * c),
                (inside[1] * a - inside[0] * b) / (a * d - b * c),
            )
            for w, ray, at in zip(weights, rays[k : k + 2], (k, k + 1), strict=True):
                for s in (0, 1):
                    masses[s][at] += w * ray[s]
        laws = [[max(_floor(m), Fraction(0)) for m in row] for row in masses]
    finally:
        ctx.prec = before
    for law, at in zip(laws, (0, -1), strict=True):
        law[at] += 1 - sum(law)
    return laws


def _floor(x: arb) -> Fraction:
    """A multiple of 1/GRID that is at most x."""
    return Fraction(int((x * GRID).lower().floor().unique_fmpz() or 0), GRID)
