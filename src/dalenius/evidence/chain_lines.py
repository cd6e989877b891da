"""The lines of certificates about Markov chains (docs/certificate-format.md): points and boxes of their parameters, and leaves.

`Vector`, `Indices` and the others are spelled as in `dalenius.evidence.lines`, and mean the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

__all__ = ["AfterLeaf", "BlocksLeaf", "ChainPoint", "ExpansionLeaf", "Halve", "SlopeLeaf", "WindowLeaf"]

Index = int
Indices = tuple[Index, ...]
Number = str
Vector = tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class ChainPoint:
    """Parameters of a chain that tell the lower end about a record; with two tilts, by a closed form."""

    word: ClassVar[str] = "path"
    record: Index
    point: Vector
    tilts: Vector | None


@dataclass(frozen=True, slots=True)
class Halve:
    """A branching on a parameter: at most the threshold, then at least it."""

    word: ClassVar[str] = "halve"
    parameter: Index
    threshold: Number


@dataclass(frozen=True, slots=True)
class SlopeLeaf:
    """A leaf: the leakage at a point of the box, and derivatives on all of it."""

    word: ClassVar[str] = "slope"
    point: Vector


@dataclass(frozen=True, slots=True)
class WindowLeaf:
    """A leaf: the share of ones around the record, so many records left out on either side."""

    word: ClassVar[str] = "window"
    left_out: Index


@dataclass(frozen=True, slots=True)
class ExpansionLeaf:
    """A leaf of a chain of several letters: a bound that is exact to first order at a point; rows beside these letters."""

    word: ClassVar[str] = "expansion"
    point: Vector
    bases: Indices


@dataclass(frozen=True, slots=True)
class BlocksLeaf:
    """A leaf: the record as one of so many that begin alike, of which none is known from the others by the sum."""

    word: ClassVar[str] = "blocks"
    count: Index


@dataclass(frozen=True, slots=True)
class AfterLeaf:
    """A leaf about a chain from any start: the window of what follows its first block, of at most `within` records."""

    word: ClassVar[str] = "after"
    within: Index
    left_out: Index
