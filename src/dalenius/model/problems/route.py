"""What an audit works with, resolved once."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from dalenius.information.arrays import Floats
from dalenius.model.mechanisms import Mechanism
from dalenius.model.problems.large import Cells, WideCount
from dalenius.model.problems.pieces import Piece


@dataclass(frozen=True, eq=False)
class Route:
    """What an audit works with, and which one it is.

    Attributes
    ----------
    audit : str
        The adversary's, or the name of what stands in a channel's place.
    mechanism : Mechanism
        The one whose matrix is worked with; of discrete Gaussian noise that nothing cuts off the same, clamped far beyond the
        query's values.
    slack : float
        Nats that the leakage may be above that of `mechanism`; 0 where that is the question's own.
    whole : bool
        Whether the whole channel is worked with: not of blocks, cells, a closed form, a long Markov chain or a wide count.
    shape : (inputs, outputs), or None
        Of the mechanism where it is not that of the whole channel: of a closed form more than any array may have, against blocks the
        largest, of a histogram that of one cell, as far as the largest block has a say in its count, of real noise its nodes.
    held : int
        Bytes of what is held in the whole channel's place.
    rows : (inputs, nodes), or None
        Of noise on the real line a channel with its divergences, up to rounding.
    pieces
        Of a question that audits of single blocks answer, these; else None.
    cells, wide
        What is known of a histogram, or of a count of very many people.

    >>> import dalenius as dl
    >>> 0 < dl.WorstCaseLeakage(records=dl.Records(9, alphabet=2), query=dl.Count(), mechanism=dl.discrete_gaussian(scale=2),
    ...     adversary=dl.EntropyAtLeast("6 bits")).route.slack < 1e-21
    True
    """

    audit: str
    mechanism: Mechanism
    _: KW_ONLY
    slack: float = 0.0
    whole: bool = False
    shape: tuple[int, ...] | None = None
    held: int = 0
    rows: Floats | None = None
    pieces: tuple[tuple[Piece, Any], ...] | None = None
    cells: Cells | None = None
    wide: WideCount | None = None
