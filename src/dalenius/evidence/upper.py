"""The lines of a certificate that prove the upper end, as typed data (docs/certificate-format.md): sections, branchings, leaves.

A proof by branch and bound is the tuple of its lines in preorder. Entries are spelled as those of lines for the lower end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Union

from dalenius.evidence.lower import How, Index, Indices, LowerLine, Number, Slopes, Vector

Moves = tuple[tuple[tuple[Index, ...], ...], ...]  # of each move the images of all that it moves
Partition = tuple[tuple[Index, ...], ...]
Patterns = tuple[tuple[Indices, str], ...]  # how a block is spread over cells, each way with its weight
Stretches = tuple[tuple[Number, Vector], ...]  # of a letter's probability, each to its end, with an output law
Side = str  # above or below


# What the lines after them are about.


@dataclass(frozen=True, slots=True)
class RecordLine:
    """The proof about this record follows, and about all records like it."""

    word: ClassVar[str] = "record"
    record: Index


@dataclass(frozen=True, slots=True)
class PieceSection:
    """Of independent blocks: what follows is about this block by itself, where the others' contributions add up to this total."""

    word: ClassVar[str] = "block"
    block: Index
    total: Number | None


@dataclass(frozen=True, slots=True)
class AdversaryLine:
    """The proof follows that the mechanism keeps the limit of leakage with this number."""

    word: ClassVar[str] = "adversary"
    constraint: Index


@dataclass(frozen=True, slots=True)
class TermSection:
    """The proof follows that the mechanism leaks at most its end to the adversary of this term of the objective."""

    word: ClassVar[str] = "term"
    term: Index


@dataclass(frozen=True, slots=True)
class CellSection:
    """The proof follows that this secret is told no more about where this value is given, under whatever law."""

    word: ClassVar[str] = "cell"
    secret: Index
    given: Index


@dataclass(frozen=True, slots=True)
class SecretSection:
    """The proof about this secret follows: output laws for all values of what is given, and what the class of laws makes of them."""

    word: ClassVar[str] = "secret"
    secret: Index


@dataclass(frozen=True, slots=True)
class MeanLine:
    """The end of a secret's section: the multipliers that bound the largest mean over the class of laws."""

    word: ClassVar[str] = "mean"
    multipliers: Vector | None


# Prices, branchings, and leaves of every audit.


@dataclass(frozen=True, slots=True)
class PotentialLine:
    """Of the most information: a price of every input, which no extreme ray of private columns tells more than it costs."""

    word: ClassVar[str] = "potential"
    prices: Vector


@dataclass(frozen=True, slots=True)
class Split:
    """A branching on the posterior: phi(letter | output) at most the threshold, then at least it."""

    word: ClassVar[str] = "split"
    letter: Index
    output: Index
    threshold: Number


@dataclass(frozen=True, slots=True)
class Cut:
    """A branching on a conditional output law: K_letter(output) at most the threshold, then at least it."""

    word: ClassVar[str] = "cut"
    letter: Index
    output: Index
    threshold: Number


@dataclass(frozen=True, slots=True)
class OrbitCut:
    """A branching on a conditional output law of which the part `side`, above or below, stands for its images.

    The triples are where letters, inputs and outputs go; the other part is cut at the whole orbit of (letter, output).
    """

    word: ClassVar[str] = "orbit"
    side: Side
    letter: Index
    output: Index
    threshold: Number
    moves: Moves


@dataclass(frozen=True, slots=True)
class OrbitSplit(OrbitCut):
    """The same on the posterior."""

    word: ClassVar[str] = "orbit-split"


@dataclass(frozen=True, slots=True)
class JointLeaf:
    """A leaf: the share theta of the dual bound, the entropy's multiplier, slopes above phi log phi, an output law."""

    word: ClassVar[str] = "joint"
    share: Number
    entropy: Number
    slopes: Slopes | None
    law: Vector | None


@dataclass(frozen=True, slots=True)
class VerticesLeaf:
    """A leaf that drops the entropy bound: a tree over sets of classes follows."""

    word: ClassVar[str] = "vertices"


@dataclass(frozen=True, slots=True)
class ClassPart:
    """A branching on a letter's channel inputs: these, then the others."""

    word: ClassVar[str] = "part"
    letter: Index
    inputs: Indices


@dataclass(frozen=True, slots=True)
class UniformLeaf:
    """A leaf where the uniform prior is the only one."""

    word: ClassVar[str] = "uniform"


# The row problem of one letter: its tree, and letters that share it.


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


# Laws of the outputs: everything that a leaf is far from.


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


# Boxes of the parameters of Markov chains, and leaves about them.


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


# Very many records.


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


BranchLine = Split | Cut | Halve | OrbitCut | OrbitSplit | RowCut | RowGroups | RowChamber | ClassPart
RowEnd = RowLeaf | GroupedRowLeaf | SeparateRow | SameRow | ImageRow
ChainLeaf = SlopeLeaf | WindowLeaf | BlocksLeaf | AfterLeaf | ExpansionLeaf
OutputLaw = (
    OutputLawLeaf
    | LawOfSelections
    | LawOfClass
    | MixtureLeaf
    | MixtureOfSelections
    | MixtureOfClass
    | HistogramLine
    | LettersLine
)
WideLeaf = InformedLeaf | EndsLeaf
ProofLine = Union[BranchLine, JointLeaf, RowEnd, VerticesLeaf, OutputLaw, UniformLeaf, ChainLeaf, WideLeaf]  # noqa: UP007
Section = RecordLine | AdversaryLine | TermSection | PieceSection | CellSection | SecretSection
UpperLine = Union[Section, PotentialLine, MeanLine, ProofLine]  # noqa: UP007
Line = LowerLine | UpperLine
