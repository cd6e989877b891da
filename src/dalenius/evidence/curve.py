"""What a certificate claims of the whole curve of leakage against the entropy bound: lines from above, steps from below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from dalenius.errors import InputError
from dalenius.evidence.lines import Number, WitnessLine

__all__ = ["CurveClaim", "CurveStep", "Pair"]

Pair = tuple[Number, Number]


@dataclass(frozen=True)
class CurveStep:
    """A witness for another entropy bound than the model's: it is told at least `low` nats, at every bound up to `entropy`."""

    entropy: str
    low: Number
    witness: WitnessLine


@dataclass(frozen=True)
class CurveClaim:
    """With L(b) the leakage to adversaries of entropy at least b nats: L(b) <= max_j c_j - m_j b, and L(b) >= low for b <= entropy.

    Attributes
    ----------
    above : tuple of pairs
        (c, m) of each line, as numbers are written.
    below : tuple of pairs
        (entropy, low): an entropy bound in the normal form of `entropy_at_least`, and nats.
    """

    above: tuple[Pair, ...]
    below: tuple[Pair, ...] = ()

    def encode(self) -> dict[str, tuple[Pair, ...]]:
        """As the header has it."""
        return {"above": self.above, "below": self.below}

    @classmethod
    def decode(cls, value: object) -> Self:
        """What a header has; `InputError` if it is something else.

        >>> CurveClaim.decode({"above": [["0.5", "0.1"]], "below": [["4/5 max", "0.2"]]}).above
        (('0.5', '0.1'),)
        """
        if isinstance(value, dict) and value.keys() == {"above", "below"}:
            above, below = map(_pairs, (value["above"], value["below"]))
            if above and below is not None:
                return cls(above, below)
        raise InputError(
            "not a certificate: curve must hold two lists of pairs of texts, above and below (docs/certificate-format.md)"
        )


def _pairs(value: object) -> tuple[Pair, ...] | None:
    if not isinstance(value, list):
        return None
    pairs = list[Pair]()
    for pair in value:
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
            return None
        pairs.append((pair[0], pair[1]))
    return tuple(pairs)
