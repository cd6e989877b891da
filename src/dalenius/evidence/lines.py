"""The lines of a certificate as typed data: evidence for the two ends of an interval (docs/certificate-format.md).

Numbers are kept as they are written, as texts, and are taken exactly: a line that was read and one that was made are the same thing.
A proof by branch and bound is the tuple of its lines in preorder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Union

from dalenius.evidence.chain_lines import AfterLeaf, BlocksLeaf, ChainPoint, ExpansionLeaf, Halve, SlopeLeaf, WindowLeaf
from dalenius.evidence.output_laws import (
    HistogramLine,
    How,
    LawOfClass,
    LawOfSelections,
    LettersLine,
    MixtureLeaf,
    MixtureOfClass,
    MixtureOfSelections,
    OutputLawLeaf,
)
from dalenius.evidence.row_lines import (
    GroupedRowLeaf,
    ImageRow,
    Indices,
    Moves,
    RowChamber,
    RowCut,
    RowGroups,
    RowLeaf,
    SameRow,
    SeparateRow,
)
from dalenius.evidence.sections import (
    AdversaryLine,
    CellSection,
    MeanLine,
    PieceSection,
    RecordLine,
    SecretSection,
    TermSection,
)
from dalenius.evidence.wide_lines import EndsLeaf, InformedLeaf, WindowOfWitness

__all__ = [
    "UNIFORM",
    "About",
    "AdversaryLine",
    "AfterLeaf",
    "AlsoLine",
    "BlocksLeaf",
    "BranchLine",
    "CellSection",
    "ChainPoint",
    "ClassPart",
    "ConeLine",
    "Cut",
    "DualLine",
    "EndsLeaf",
    "ExpansionLeaf",
    "GroupedRowLeaf",
    "Halve",
    "Hint",
    "HistogramLine",
    "How",
    "ImageRow",
    "InformedLeaf",
    "InputLaw",
    "JointLeaf",
    "LawOfClass",
    "LawOfSelections",
    "LettersLine",
    "Line",
    "LowerLine",
    "Matrix",
    "MeanLine",
    "MixtureLeaf",
    "MixtureOfClass",
    "MixtureOfSelections",
    "Moves",
    "MultiplierLine",
    "Number",
    "OrbitCut",
    "OrbitSplit",
    "OutputLawLeaf",
    "PieceOfWitness",
    "PiecePrior",
    "PieceSection",
    "PotentialLine",
    "PriorLine",
    "ProductLaw",
    "ProofLine",
    "ProtocolPrior",
    "RatioLine",
    "RecordLine",
    "RowChamber",
    "RowCut",
    "RowGroups",
    "RowLeaf",
    "SameRow",
    "SecretSection",
    "SelectionLine",
    "SelectionPrior",
    "SeparateRow",
    "SlopeLeaf",
    "SparseLaw",
    "Split",
    "TangentLine",
    "TermLine",
    "TermSection",
    "UniformLeaf",
    "UpperLine",
    "Vector",
    "VerticesLeaf",
    "WeightLine",
    "WeightsOf",
    "WindowLeaf",
    "WindowOfWitness",
    "WitnessLine",
]

Index = int
Number = str  # a decimal or a fraction, taken exactly
Vector = tuple[Number, ...]
Matrix = tuple[Vector, ...]
Slopes = tuple[Vector | None, ...]  # by letter; None stands for zeros
SelectionPrior = tuple[Index, Vector]  # of independent records: a selection, and a law on the letters
ProtocolPrior = tuple[Index, Vector, How]  # the same with a channel in closed form
PiecePrior = tuple[Number, Matrix | Number]  # of independent blocks: what the others add up to, and the block's prior
SparseLaw = tuple[tuple[Index, Number], ...]  # weights of some datasets, or of some places
ProductLaw = tuple[Literal["product"], Matrix]  # of each record, for each of its letters, a weight
SparseLaws = tuple[SparseLaw, ...]  # the latter by letter
InputLaw = (  # masses; of a selection; a block; datasets; places; vertices; a listed prior's number; scores of a histogram; UNIFORM
    Matrix
    | SelectionPrior
    | ProtocolPrior
    | PiecePrior
    | SparseLaw
    | SparseLaws
    | ProductLaw
    | Vector
    | Index
    | tuple[Index, ...]
    | Number
)
UNIFORM: Number = "uniform"


# ------------------------------------------------------------ for the lower end


@dataclass(frozen=True, slots=True)
class WitnessLine:
    """A prior that is told at least the lower end about a record; of nobody where that end is 0 and needs no prior."""

    word: ClassVar[str] = "witness"
    record: Index | None
    prior: InputLaw | None


@dataclass(frozen=True, slots=True)
class PieceOfWitness:
    """Of independent blocks: the witness is about this block by itself, where the others' contributions add up to this total."""

    word: ClassVar[str] = "at"
    block: Index
    total: Number | None


@dataclass(frozen=True, slots=True)
class DualLine:
    """A design's bound from below: the multiplier of its budget; the priors or ratios follow. None where the lower end is 0."""

    word: ClassVar[str] = "dual"
    budget: Number | None


@dataclass(frozen=True, slots=True)
class PriorLine:
    """One of the adversary's priors, with its weight in the bound and the posteriors phi(a|y) that make it linear."""

    word: ClassVar[str] = "prior"
    weight: Number
    record: Index
    prior: InputLaw
    posteriors: Matrix


@dataclass(frozen=True, slots=True)
class RatioLine:
    """Multipliers of a privacy notion at one output: of entries above and of entries below, or the listed law that averages them."""

    word: ClassVar[str] = "ratio"
    output: Index
    below: WeightsOf
    above: Vector


WeightsOf = Index | Vector  # the number of a listed law, or multipliers by input


@dataclass(frozen=True, slots=True)
class MultiplierLine:
    """Multipliers of a constraint's rows: its number among the model's constraints, and the rows that have one."""

    word: ClassVar[str] = "multiplier"
    constraint: Index
    rows: Priced


Priced = tuple[tuple[Index, Number], ...]  # rows, ascending, with their multipliers


@dataclass(frozen=True, slots=True)
class ConeLine:
    """The multiplier of a second-order cone: of its bound, and of each member of its norm; itself in the cone."""

    word: ClassVar[str] = "cone"
    constraint: Index
    bound: Number
    members: Vector


@dataclass(frozen=True, slots=True)
class AlsoLine:
    """A prior of the adversary of a limit of leakage, as in a prior line."""

    word: ClassVar[str] = "also"
    constraint: Index
    weight: Number
    record: Index
    prior: InputLaw
    posteriors: Matrix


@dataclass(frozen=True, slots=True)
class TangentLine:
    """A tangent of a limit about a secret: of which of its laws, its weight, what it is about, and the numbers that choose it."""

    word: ClassVar[str] = "tangent"
    constraint: Index
    law: Index
    weight: Number
    about: About
    hint: Hint


@dataclass(frozen=True, slots=True)
class SelectionLine:
    """A law on one input for each of some values of a secret, where the same is given, and posteriors of these values."""

    word: ClassVar[str] = "selection"
    constraint: Index
    weight: Number
    given: Index
    chosen: Selection
    posteriors: Matrix


Selection = tuple[tuple[Index, Index, Number], ...]  # values of the secret, inputs, and weights
About = Index | Vector | tuple[Index | None, ...] | None  # a letter; a function of the letters; two letters; nothing
Hint = Vector | Matrix


@dataclass(frozen=True, slots=True)
class WeightLine:
    """The weight of a term of the objective that is a distortion."""

    word: ClassVar[str] = "weight"
    term: Index
    weight: Number


@dataclass(frozen=True, slots=True)
class TermLine:
    """A prior of the adversary of a term of the objective, as in a prior line."""

    word: ClassVar[str] = "term"
    term: Index
    weight: Number
    record: Index
    prior: InputLaw
    posteriors: Matrix


# ------------------------------------------------------------ for the upper end


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


Side = str  # above or below


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


LowerLine = (
    WitnessLine
    | ChainPoint
    | PieceOfWitness
    | WindowOfWitness
    | DualLine
    | PriorLine
    | RatioLine
    | MultiplierLine
    | ConeLine
    | AlsoLine
    | TangentLine
    | SelectionLine
    | WeightLine
    | TermLine
)
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
