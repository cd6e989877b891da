"""The lines of a certificate that are about the row problem of one letter: its tree, and letters that share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

__all__ = [
    "GroupedRowLeaf",
    "ImageRow",
    "Indices",
    "Moves",
    "RowChamber",
    "RowCut",
    "RowGroups",
    "RowLeaf",
    "SameRow",
    "SeparateRow",
]

Index = int
Indices = tuple[Index, ...]
Number = str  # a decimal or a fraction, taken exactly
Vector = tuple[Number, ...]
Slopes = tuple[Vector | None, ...]  # by letter; None stands for zeros
Moves = tuple[tuple[tuple[Index, ...], ...], ...]  # of each move the images of all that it moves


@dataclass(frozen=True, slots=True)
class RowCut:
    """A branching of one letter's row problem: K(output) at most the threshold, then at least it."""

    word: ClassVar[str] = "cut"
    output: Index
    threshold: Number


@dataclass(frozen=True, slots=True)
class RowLeaf:
    """A leaf of a row problem: slopes above K log K; None for zeros."""

    word: ClassVar[str] = "row"
    slopes: Vector | None


@dataclass(frozen=True, slots=True)
class RowGroups:
    """The row problem goes on about groups of outputs, each output in one of them."""

    word: ClassVar[str] = "group"
    groups: Partition


Partition = tuple[tuple[Index, ...], ...]


@dataclass(frozen=True, slots=True)
class GroupedRowLeaf:
    """A leaf of a row problem below lines of groups: slopes, and multipliers of the ranges that stood before each of these lines."""

    word: ClassVar[str] = "row"
    slopes: Vector | None
    earlier: Slopes


@dataclass(frozen=True, slots=True)
class RowChamber:
    """In the one row subtree below only laws with K(output) >= K(tau(output)) count, for all moves (pi, tau) of inputs and outputs."""

    word: ClassVar[str] = "chamber"
    output: Index
    moves: Moves


@dataclass(frozen=True, slots=True)
class SeparateRow:
    """A row problem of a channel that is right or wrong alike, one output at a time: the multiplier of the sum of the weights."""

    word: ClassVar[str] = "separate"
    weight: Number


@dataclass(frozen=True, slots=True)
class SameRow:
    """The row problem of an earlier letter, which is this letter's, too."""

    word: ClassVar[str] = "as"
    letter: Index


@dataclass(frozen=True, slots=True)
class ImageRow:
    """The row problem of an earlier letter, of which this letter's is the image under moves of inputs and outputs."""

    word: ClassVar[str] = "as"
    letter: Index
    inputs: Indices
    outputs: Indices
