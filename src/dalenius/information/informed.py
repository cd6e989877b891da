"""Leakage about a letter to an adversary who is told all other records, when these may know only so much of each other.

I(X;Y) <= I(X;X') + I(X;Y | X'), X' the other records. The first term, iota, is at most log |X| - b, what the adversary knows.
Where the noise is only shifted by the others, the second is at most g + lambda H(X | X'), g the largest I(pi) - lambda H(pi) of all
laws pi of the letter, and H(X | X') = H(X) - iota (docs/theory.md, "Told all others").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dalenius.information.arrays import Floats
from dalenius.information.capacity import capacity
from dalenius.information.entropies import binary_entropy, mutual_information, relative_entropy

NUMBERS, GRID = 4_000_000, 2001  # numbers, and laws of two letters, that are looked at at once
FINE = 1e-5  # of a bound, up to which its stretches are halved
MOST = 400  # stretches
DECIMALS = 9
LEAST = 1e-30


@dataclass(frozen=True)
class InformedBound:
    """A bound of I(X;Y) in nats, and what proves it.

    Attributes
    ----------
    upper : float
        (1 - share) knowledge + share log(letters) + g.
    share : float
        lambda.
    ends : (stretches,)
        Where each stretch of the second letter's probability ends; the last is 1.
    laws : (stretches, outputs)
        The output laws that stand for the laws of each stretch.
    """

    upper: float
    share: float
    ends: Floats
    laws: Floats


def informed_bound(rows: Floats, knowledge: float) -> InformedBound:
    """The best such bound for a letter with these rows (letters, outputs) and an adversary who knows at most so many nats.

    Of two letters lambda is chosen; of others it is 0, and g the capacity.

    >>> flip = np.array([[0.6, 0.4], [0.4, 0.6]])
    >>> found = informed_bound(flip, 0.1)
    >>> round(found.upper, 4), bool(found.upper < 0.1 + capacity(flip).upper)
    (0.1172, True)
    """
    letters = len(rows)
    if letters != 2:
        law = np.maximum(capacity(rows, gap=1e-12).input_law @ rows, LEAST)
        most = float(relative_entropy(rows, law / law.sum()).max())
        return InformedBound(knowledge + most, 0.0, np.ones(1), law[None])
    # the lambda of the least bound: convex in it, as g is a maximum of linear functions
    told, unknown = _on_a_grid(rows)
    low, high = 0.0, 1.0
    for _ in range(60):
        a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
        bounds = [x * (np.log(2.0) - knowledge) + float((told - x * unknown).max()) for x in (a, b)]
        low, high = (low, b) if bounds[0] <= bounds[1] else (a, high)
    share = float(np.round(0.5 * (low + high), DECIMALS))
    base = (1.0 - share) * knowledge + share * math.log(2.0)
    ends, laws, most = _stretches(rows, share, FINE * base)
    return InformedBound(float(base) + most, share, ends, laws)


def _stretches(rows: Floats, share: float, room: float) -> tuple[Floats, Floats, float]:
    """Stretches of t, halved until none has a bound that is more than `room` above what is attained inside, their laws, and g."""
    told, unknown = _on_a_grid(rows)
    floor = float((told - share * unknown).max())
    cuts = np.array([0.0, 1.0])
    while True:
        low, high = cuts[:-1], cuts[1:]
        middle = 0.5 * (low + high)
        laws = np.stack([1.0 - middle, middle], axis=1) @ rows
        far = relative_entropy(rows, laws[:, None, :])
        bounds = np.maximum(*((1.0 - x) * far[:, 0] + x * far[:, 1] - share * binary_entropy(x) for x in (low, high)))
        loose = bounds > floor + room
        if not loose.any() or len(cuts) + loose.sum() > MOST:
            return high, laws, float(bounds.max())
        cuts = np.sort(np.concatenate([cuts, middle[loose]]))


def _on_a_grid(rows: Floats) -> tuple[Floats, Floats]:
    """Informations and entropies of laws of two letters."""
    t = np.linspace(0.0, 1.0, int(np.clip(NUMBERS // rows.size, 65, GRID)))
    return mutual_information(np.stack([1.0 - t, t], axis=1)[..., None] * rows), binary_entropy(t)
