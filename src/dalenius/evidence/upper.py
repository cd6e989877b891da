"""The lines of a certificate that prove the upper end, as typed data (docs/certificate-format.md): sections, branchings, leaves.

A proof by branch and bound is the tuple of its lines in preorder. Entries are spelled as those of lines for the lower end.
"""

from __future__ import annotations

from typing import Literal, Union

from dalenius.evidence.lower import How, Index, Indices, LowerLine, Number, Slopes, SparseLaw, Stated, Vector, line

Moves = tuple[tuple[tuple[Index, ...], ...], ...]  # of each move the images of all that it moves
Partition = tuple[tuple[Index, ...], ...]
Patterns = tuple[tuple[Indices, str], ...]  # how a block is spread over cells, each way with its weight
Stretches = tuple[tuple[Number, Vector], ...]  # of a letter's probability, each to its end, with an output law
Pieces = tuple[tuple[Number, Number], ...]  # of a large weight, each to its end, with a multiplier
Side = Literal["above", "below"]
Over = Literal["inputs", "useful"]  # where cells are
Narrowed = Literal["neighbours"]  # by which ranges are narrowed


@line("open")
class OpenLine(Stated):
    """Of a draft alone: a part of a tree that is not there yet."""


# What the lines after them are about.


@line("record")
class RecordLine(Stated):
    """The proof about this record follows, and about all records like it."""

    record: Index


@line("block")
class PieceSection(Stated):
    """Of independent blocks: what follows is about this block by itself, where the others' contributions add up to this total."""

    block: Index
    total: Number | None


@line("adversary")
class AdversaryLine(Stated):
    """The proof follows that the mechanism keeps the limit of leakage with this number."""

    constraint: Index


@line("term")
class TermSection(Stated):
    """The proof follows that the mechanism leaks at most its end to the adversary of this term of the objective."""

    term: Index


@line("cell")
class CellSection(Stated):
    """The proof follows that this secret is told no more about where this value is given, under whatever law."""

    secret: Index
    given: Index


@line("secret")
class SecretSection(Stated):
    """The proof about this secret follows: output laws for all values of what is given, and what the class of laws makes of them."""

    secret: Index


@line("mean")
class MeanLine(Stated):
    """The end of a secret's section: the multipliers that bound the largest mean over the class of laws."""

    multipliers: Vector | None


# Prices, branchings, and leaves of every audit.


@line("potential")
class PotentialLine(Stated):
    """Of the most information: a price of every input, which no extreme ray of private columns reveals more than it costs."""

    prices: Vector


@line("envelope")
class EnvelopeLine(Stated):
    """Of the most information within a limit: no column reveals more of use than its price, and `price` times what is limited."""

    over: Over
    price: Number
    prices: Vector


@line("split")
class Split(Stated):
    """A branching on the posterior: phi(letter | output) at most the threshold, then at least it."""

    letter: Index
    output: Index
    threshold: Number


@line("cut")
class Cut(Stated):
    """A branching on a conditional output law: K_letter(output) at most the threshold, then at least it."""

    letter: Index
    output: Index
    threshold: Number


@line("orbit")
class OrbitCut(Stated):
    """A branching on a conditional output law of which the part `side`, above or below, stands for its images.

    The triples are where letters, inputs and outputs go; the other part is cut at the whole orbit of (letter, output).
    """

    side: Side
    letter: Index
    output: Index
    threshold: Number
    moves: Moves


@line("orbit-split")
class OrbitSplit(OrbitCut):
    """The same on the posterior."""


@line("joint")
class JointLeaf(Stated):
    """A leaf: the share theta of the dual bound, the entropy's multiplier, slopes above phi log phi, an output law."""

    share: Number
    entropy: Number
    slopes: Slopes | None
    law: Vector | None


@line("group")
class JointGroups(Stated):
    """The boxes below are about groups of outputs, with the weights of outputs within them; neighbours narrow each other's ranges."""

    groups: Partition
    weights: Vector
    ranges: Narrowed


@line("vertices")
class VerticesLeaf(Stated):
    """A leaf that drops the entropy bound: a tree over sets of classes follows."""


@line("part")
class ClassPart(Stated):
    """A branching on a letter's channel inputs: these, then the others."""

    letter: Index
    inputs: Indices


@line("uniform")
class UniformLeaf(Stated):
    """A leaf where the uniform prior is the only one."""


# The row problem of one letter: its tree, and letters that share it.


@line("cut")
class RowCut(Stated):
    """A branching of one letter's row problem: K(output) at most the threshold, then at least it."""

    output: Index
    threshold: Number


@line("row")
class RowLeaf(Stated):
    """A leaf of a row problem: slopes above K log K; None for zeros."""

    slopes: Vector | None


@line("group")
class RowGroups(Stated):
    """The row problem goes on about groups of outputs, each output in one of them."""

    groups: Partition


@line("row")
class GroupedRowLeaf(Stated):
    """A leaf of a row problem below lines of groups: slopes, and multipliers of the ranges that stood before each of these lines."""

    slopes: Vector | None
    earlier: Slopes


@line("chamber")
class RowChamber(Stated):
    """In the one row subtree below only laws with K(output) >= K(tau(output)) count, for all moves (pi, tau) of inputs and outputs."""

    output: Index
    moves: Moves


@line("separate")
class SeparateRow(Stated):
    """A row problem of a channel that is right or wrong alike, one output at a time: the multiplier of the sum of the weights."""

    weight: Number


@line("separate")
class PiecewiseRow(Stated):
    """The same with one large weight at most: the multiplier where there is none, then for each piece of what it may be."""

    weight: Number
    pieces: Pieces


@line("as")
class SameRow(Stated):
    """The row problem of an earlier letter, which is this letter's, too."""

    letter: Index


@line("as")
class ImageRow(Stated):
    """The row problem of an earlier letter, of which this letter's is the image under moves of inputs and outputs."""

    letter: Index
    inputs: Indices
    outputs: Indices


# Laws of the outputs: everything that a leaf is far from.


@line("law")
class OutputLawLeaf(Stated):
    """A leaf of a tree over classes: an output law, close to all rows that are left."""

    law: Vector


@line("mixture")
class MixtureLeaf(Stated):
    """The same of noise on the real line: the output law under these weights of the inputs."""

    weights: Vector
    how: How


@line("law")
class LawOfSelections(Stated):
    """Of independent records: an output law that is close to the rows of each of these selections."""

    selections: Indices
    law: Vector


@line("law")
class LawOfClass(Stated):
    """Of a class of laws: an output law for these selections, and the multipliers that bound the largest mean over the class."""

    selections: Indices
    law: Vector
    multipliers: Vector | None


@line("mixture")
class MixtureOfSelections(Stated):
    """Of independent records and a channel in closed form: the output law under these weights of the inputs."""

    selections: Indices
    weights: Vector
    how: How


@line("mixture")
class MixtureOfClass(Stated):
    """The same of a class of laws, with the multipliers that bound the largest mean over it."""

    selections: Indices
    weights: Vector
    multipliers: Vector | None
    how: How


@line("histogram")
class HistogramLine(Stated):
    """Of a kind of tables: the output law of a mixture of patterns, seen through the sum of the scores of the cells' outputs.

    None where a block has no more histograms than the bound needs.
    """

    scores: Indices | None
    weights: Patterns | None


@line("letters")
class LettersLine(Stated):
    """Nothing reveals more of a record than its entropy: of a histogram the logarithm of its letters, of a Markov chain on a box."""


@line("sums")
class SumsLine(Stated):
    """Of a block whose records add up to many values: weights of some of these, from whose mixture no value's row is farther.

    None where a record's letters are bound enough.
    """

    weights: SparseLaw | None


# Boxes of the parameters of Markov chains, and leaves about them.


@line("halve")
class Halve(Stated):
    """A branching on a parameter: at most the threshold, then at least it."""

    parameter: Index
    threshold: Number


@line("slope")
class SlopeLeaf(Stated):
    """A leaf: the leakage at a point of the box, and derivatives on all of it."""

    point: Vector


@line("window")
class WindowLeaf(Stated):
    """A leaf: the share of ones around the record, so many records left out on either side."""

    left_out: Index


@line("expansion")
class ExpansionLeaf(Stated):
    """A leaf of a chain of several letters: a bound that is exact to first order at a point; rows beside these letters."""

    point: Vector
    bases: Indices


@line("blocks")
class BlocksLeaf(Stated):
    """A leaf: the record as one of so many that begin alike, of which none is known from the others by the sum."""

    count: Index


@line("after")
class AfterLeaf(Stated):
    """A leaf about a chain from any start: the window of what follows its first block, of at most `within` records."""

    within: Index
    left_out: Index


# Very many records.


@line("informed")
class InformedLeaf(Stated):
    """A leaf: the other records are told, with such a share of what the letter's own entropy may still tell."""

    share: Number
    stretches: Stretches


@line("grid")
class GridLine(Stated):
    """The proof is about the count rounded at random to a multiple of the step."""

    step: Index


@line("ends")
class EndsLeaf(Stated):
    """A leaf: two letters reveal no more than the two farthest values."""


BranchLine = (
    OpenLine | Split | Cut | Halve | OrbitCut | OrbitSplit | JointGroups | RowCut | RowGroups | RowChamber | ClassPart
)
RowEnd = RowLeaf | GroupedRowLeaf | SeparateRow | PiecewiseRow | SameRow | ImageRow
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
    | SumsLine
)
WideLeaf = InformedLeaf | EndsLeaf | GridLine
ProofLine = Union[BranchLine, JointLeaf, RowEnd, VerticesLeaf, OutputLaw, UniformLeaf, ChainLeaf, WideLeaf]  # noqa: UP007
Section = RecordLine | AdversaryLine | TermSection | PieceSection | CellSection | SecretSection
UpperLine = Union[Section, PotentialLine, EnvelopeLine, MeanLine, ProofLine]  # noqa: UP007
Line = LowerLine | UpperLine
