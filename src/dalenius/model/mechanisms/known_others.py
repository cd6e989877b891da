"""Numbers of others with each letter, where letters are randomised and counted: those that a household's audit needs.

Every histogram of the others is an audit of its own, but for the names of the letters. Fewer others reveal more, so that few of these
audits bound all of them: whatever N others of k letters are, floor(t_a / s) of each letter add up to at least (N - k (s - 1)) / s
(docs/certificate-format.md, randomised histograms).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

MOST_AUDITS = 256
MOST_STEPS = (
    2**18
)  # of working out the channels of all of them: one is a third of a microsecond, a letter, for the checker

Counts: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class KnownOthers:
    """Numbers of others with each letter, in descending order.

    Attributes
    ----------
    above : sequence
        Those whose audits together bound a block's leakage from above.
    below : sequence
        Those that so many others can have, whose audits bound it from below; the same ones where all are listed.
    """

    above: tuple[Counts, ...]
    below: tuple[Counts, ...]

    @classmethod
    def of(cls, size: int, others: int, letters: int) -> KnownOthers:
        """For a block of so many records, and so many others: all of them if they are few, else fewer people.

        >>> KnownOthers.of(size=1, others=3, letters=2)
        KnownOthers(above=((3, 0), (2, 1)), below=((3, 0), (2, 1)))
        >>> KnownOthers.of(size=2, others=10**6, letters=3).above
        ((0, 0, 0),)
        """
        most = MOST_STEPS // channel_steps(size, others, letters)
        if (listed := _few(others, letters, most)) is not None:
            return cls(listed, listed)
        below = ((others,) + (0,) * (letters - 1),) if most else ()
        return cls(_fewer(size, others, letters), below)


def sorted_histograms(total: int, cells: int, most: int | None = None) -> Iterator[Counts]:
    """All ways to write a total as so many numbers in descending order, the largest first number first.

    >>> list(sorted_histograms(4, 2))
    [(4, 0), (3, 1), (2, 2)]
    """
    if cells == 1:
        if most is None or total <= most:
            yield (total,)
        return
    for first in range(total if most is None else min(total, most), -(-total // cells) - 1, -1):
        for rest in sorted_histograms(total - first, cells - 1, first):
            yield (first, *rest)


def _few(total: int, cells: int, most: int) -> tuple[Counts, ...] | None:
    """All of them; None where there are more than so many."""
    most = min(most, MOST_AUDITS)
    found = tuple(itertools.islice(sorted_histograms(total, cells), most + 1))
    return found if len(found) <= most else None


def _fewer(size: int, others: int, letters: int) -> tuple[Counts, ...]:
    """With the least step for which all are few; nobody, where there is none."""
    step = 2
    while (number := -(-(others - letters * (step - 1)) // step)) > 0:
        listed = _few(number, letters, MOST_STEPS // channel_steps(size, step * number, letters))
        if listed is not None:
            return tuple(tuple(step * c for c in counts) for counts in listed)
        step += max(1, step // 16)
    return ((0,) * letters,)


def channel_steps(size: int, others: int, letters: int) -> int:
    """Entries of the channels of the others, one more at a time, and then of a block's people with all of them.

    >>> channel_steps(1, 2, 2)
    14
    """
    alone = math.comb(others + letters, letters)
    inputs = (math.comb(people + letters - 1, letters - 1) for people in range(1, size + 1))
    return alone + sum(
        held * math.comb(people + others + letters - 1, letters - 1) for people, held in enumerate(inputs, 1)
    )
