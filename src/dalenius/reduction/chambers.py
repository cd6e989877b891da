"""Chambers: where moves of outputs leave a letter's row problem as it is, one of each law's images is enough.

If (pi, tau) leaves the row problem alone, a law w and its image w'(pi(k)) = w(k) have the same value, and K'(tau(y)) = K(y). So only
laws need a bound for which K(y) >= K(tau(y)) for all tau of a list: one of the images under the group of the list has the largest
K(y). What maps these orders onto each other is left to do the same with another output. Exchanges of any two outputs leave the laws
with K(0) >= K(1) >= ..., one of m!; shifts those whose K(0) is the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.information.arrays import Floats, Integers
from dalenius.reduction.record_symmetry import RowSymmetry

Step = tuple[int, tuple[RowSymmetry, ...]]  # K(y) >= K(tau(y)) for each of them


@dataclass(frozen=True, eq=False)
class Chamber:
    """Orders of K that may be taken for granted.

    Attributes
    ----------
    steps : tuple of (output, moves)
        Each is allowed by those before it; outputs are those of the record channel.
    above : (outputs, outputs)
        Whether K(z) >= K(y) follows, at [y, z]; true on the diagonal.

    >>> exchange = RowSymmetry(*[np.array([1, 0])] * 4)
    >>> chamber = Chamber.of([exchange], np.zeros(2), np.ones(2), np.zeros(2, dtype=int))
    >>> [x.tolist() for x in chamber.close(np.array([0.1, 0.2]), np.array([0.5, 0.9]))]
    [[0.2, 0.2], [0.5, 0.5]]
    """

    steps: tuple[Step, ...]
    above: NDArray[np.bool_]

    @classmethod
    def whole(cls, outputs: int) -> Chamber:
        """No order at all."""
        return cls((), np.eye(outputs, dtype=np.bool_))

    @classmethod
    def of(cls, moves: Sequence[RowSymmetry], low: Floats, high: Floats, orbit: Integers) -> Chamber:
        """That of the moves which leave a box of K, and an output law that is constant on orbits, as they are."""
        left = [move for move in moves if _keeps(move, low, high, orbit)]
        steps, above = list[Step](), np.zeros((len(low), len(low)), dtype=np.bool_)
        while left:
            images = np.zeros_like(above)
            for move in left:
                images[np.arange(len(low)), move.kept] = True
            np.fill_diagonal(images, False)
            y = int(np.argmax(images.sum(axis=1)))
            if not images[y].any():
                break
            first = {int(move.kept[y]): move for move in reversed(left) if move.kept[y] != y}
            steps.append((y, tuple(first[z] for z in sorted(first))))
            above[sorted(first), y] = True
            left = [move for move in left if np.all(above[np.ix_(move.kept, move.kept)] >= above)]
        return cls(tuple(steps), _closed(above)) if steps else cls.whole(len(low))

    def close(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Ranges (..., outputs) narrowed by the orders: no K exceeds what is above it."""
        if not self.steps:
            return low, high
        most = np.where(self.above, high[..., None, :], np.inf).min(axis=-1)
        return np.where(self.above.T, low[..., None, :], -np.inf).max(axis=-1), most

    def covers(self, other: Chamber) -> bool:
        """True if every law of the other chamber is in this one."""
        return bool(np.all(other.above >= self.above))

    def holds(self, low: Floats, high: Floats, orbit: Integers) -> bool:
        """True if its moves leave a box of K, and an output law that is constant on orbits, as they are."""
        return all(_keeps(move, low, high, orbit) for _, moves in self.steps for move in moves)

    def seen_by(self, move: RowSymmetry) -> Chamber:
        """The same chamber where everything was moved."""
        steps = ((int(move.kept[y]), tuple(own.seen_by(move) for own in moves)) for y, moves in self.steps)
        above = np.empty_like(self.above)
        above[np.ix_(move.kept, move.kept)] = self.above
        return Chamber(tuple(steps), above)


def _keeps(move: RowSymmetry, low: Floats, high: Floats, orbit: Integers) -> bool:
    same_law = np.array_equal(orbit[move.kept], orbit)
    return same_law and np.array_equal(low[move.kept], low) and np.array_equal(high[move.kept], high)


def _closed(above: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Orders with all that follow from them."""
    closed = above | np.eye(len(above), dtype=np.bool_)
    while not np.array_equal(longer := closed @ closed, closed):
        closed = longer
    return closed
