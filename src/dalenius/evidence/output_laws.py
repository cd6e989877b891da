"""The lines of a certificate that are about laws of the outputs: everything that a leaf is far from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Union

__all__ = [
    "HistogramLine",
    "How",
    "LawOfClass",
    "LawOfSelections",
    "LettersLine",
    "MixtureLeaf",
    "MixtureOfClass",
    "MixtureOfSelections",
    "OutputLawLeaf",
]

Index = int
Indices = tuple[Index, ...]
Vector = tuple[str, ...]  # of numbers, as they are written
Patterns = tuple[tuple[Indices, str], ...]  # how a block is spread over cells, each way with its weight
How = Union["tuple[Index | How, ...]", None]  # over which numbers of members a closed form is summed


@dataclass(frozen=True, slots=True)
class OutputLawLeaf:
    """A leaf of a tree over classes: an output law, close to all rows that are left."""

    word: ClassVar[str] = "law"
    law: Vector


@dataclass(frozen=True, slots=True)
class MixtureLeaf:
    """The same of noise on the real line: the output law under these weights of the inputs."""

    word: ClassVar[str] = "mixture"
    weights: Vector
    how: How


@dataclass(frozen=True, slots=True)
class LawOfSelections:
    """Of independent records: an output law that is close to the rows of each of these selections."""

    word: ClassVar[str] = "law"
    selections: Indices
    law: Vector


@dataclass(frozen=True, slots=True)
class LawOfClass:
    """Of a class of laws: an output law for these selections, and the multipliers that bound the largest mean over the class."""

    word: ClassVar[str] = "law"
    selections: Indices
    law: Vector
    multipliers: Vector | None


@dataclass(frozen=True, slots=True)
class MixtureOfSelections:
    """Of independent records and a channel in closed form: the output law under these weights of the inputs."""

    word: ClassVar[str] = "mixture"
    selections: Indices
    weights: Vector
    how: How


@dataclass(frozen=True, slots=True)
class MixtureOfClass:
    """The same of a class of laws, with the multipliers that bound the largest mean over it."""

    word: ClassVar[str] = "mixture"
    selections: Indices
    weights: Vector
    multipliers: Vector | None
    how: How


@dataclass(frozen=True, slots=True)
class HistogramLine:
    """Of a histogram: the output law of a mixture of patterns, seen through the sum of the scores of the cells' outputs."""

    word: ClassVar[str] = "histogram"
    scores: Indices
    weights: Patterns


@dataclass(frozen=True, slots=True)
class LettersLine:
    """Nothing tells more of a record than its entropy: of a histogram the logarithm of its letters, of a Markov chain on a box."""

    word: ClassVar[str] = "letters"
