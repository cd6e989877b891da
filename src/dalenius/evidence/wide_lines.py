"""The lines of certificates about very many records (docs/certificate-format.md): what tells the others, and where a witness looks.

`Vector` and the others are spelled as in `dalenius.evidence.lines`, and mean the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

__all__ = ["EndsLeaf", "InformedLeaf", "WindowOfWitness"]

Index = int
Number = str
Vector = tuple[Number, ...]
Stretches = tuple[tuple[Number, Vector], ...]  # of a letter's probability, each to its end, with an output law


@dataclass(frozen=True, slots=True)
class InformedLeaf:
    """A leaf: the other records are told, with such a share of what the letter's own entropy may still tell."""

    word: ClassVar[str] = "informed"
    share: Number
    stretches: Stretches


@dataclass(frozen=True, slots=True)
class EndsLeaf:
    """A leaf: two letters tell no more than the two farthest values."""

    word: ClassVar[str] = "ends"


@dataclass(frozen=True, slots=True)
class WindowOfWitness:
    """Of a wide count: the witness is on the counts `least`, `least` + `step`, ..., of which the last is number `last`."""

    word: ClassVar[str] = "window"
    least: Index
    step: Index
    last: Index
