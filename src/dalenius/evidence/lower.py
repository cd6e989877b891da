"""The lines of a certificate that prove the lower end, as typed data (docs/certificate-format.md), and how their entries are spelled.

Numbers are kept as they are written, as texts, and are taken exactly: a line that was read and one that was made are the same thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar, Union, dataclass_transform

Index = int
Indices = tuple[Index, ...]
Number = str  # a decimal or a fraction, taken exactly
Vector = tuple[Number, ...]
Matrix = tuple[Vector, ...]
Slopes = tuple[Vector | None, ...]  # by letter; None stands for zeros
How = Union["tuple[Index | How, ...]", None]  # over which numbers of members a closed form is summed
SelectionPrior = tuple[Index, Vector]  # of independent records: a selection, and a law on the letters
ProtocolPrior = tuple[Index, Vector, How]  # the same with a channel in closed form
Uniform = Literal["uniform"]
PiecePrior = tuple[Number, Matrix | Uniform]  # of independent blocks: what the others add up to, and the block's prior
SparseLaw = tuple[tuple[Index, Number], ...]  # weights of some datasets, or of some places
ProductLaw = tuple[
    Literal["product"], tuple[Vector | Indices, ...]
]  # of each record, for each of its letters, a weight
SparseLaws = tuple[SparseLaw, ...]  # the latter by letter
InputLaw = (  # masses; of a selection; a block; datasets; places; vertices; a prior's number; scores, also of tables; UNIFORM
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
    | tuple[Indices | None, ...]
    | Uniform
)
UNIFORM: Uniform = "uniform"
WeightsOf = Index | Vector  # the number of a listed law, or multipliers by input
Priced = tuple[tuple[Index, Number], ...]  # rows, ascending, with their multipliers
Selection = tuple[tuple[Index, Index, Number], ...]  # values of the secret, inputs, and weights
About = Index | Vector | tuple[Index | None, ...] | None  # a letter; a function of the letters; two letters; nothing
Hint = Vector | Matrix


class Stated:
    """Frozen data that a line of a certificate states, behind the word that it begins with."""

    __slots__ = ()
    word: ClassVar[str]


L = TypeVar("L", bound=Stated)


@dataclass_transform(frozen_default=True)
def line(word: str) -> Callable[[type[L]], type[L]]:
    """A class of lines that begin with this word; its fields are the entries, in their order."""

    def made(cls: type[L]) -> type[L]:
        cls.word = word
        return dataclass(frozen=True, slots=True)(cls)

    return made


@line("witness")
class WitnessLine(Stated):
    """A prior that is told at least the lower end about a record; of nobody where that end is 0 and needs no prior."""

    record: Index | None
    prior: InputLaw | None


@line("sums")
class SumsOfLetters(WitnessLine):
    """The same about a sum of many values, of a block of which nothing is known: for each letter a value and its probability."""


@line("path")
class ChainPoint(Stated):
    """Parameters of a chain that tell the lower end about a record; with two tilts, by a closed form."""

    record: Index
    point: Vector
    tilts: Vector | None


@line("at")
class PieceOfWitness(Stated):
    """Of independent blocks: the witness is about this block by itself, where the others' contributions add up to this total."""

    block: Index
    total: Number | None


@line("window")
class WindowOfWitness(Stated):
    """Of a wide count: the witness is on the counts `least`, `least` + `step`, ..., of which the last is number `last`."""

    least: Index
    step: Index
    last: Index


@line("dual")
class DualLine(Stated):
    """A design's bound from below: the multiplier of its budget; the priors or ratios follow. None where the lower end is 0."""

    budget: Number | None


@line("prior")
class PriorLine(Stated):
    """One of the adversary's priors, with its weight in the bound and the posteriors phi(a|y) that make it linear."""

    weight: Number
    record: Index
    prior: InputLaw
    posteriors: Matrix


@line("ratio")
class RatioLine(Stated):
    """Multipliers of a privacy notion at one output: of entries above and of entries below, or the listed law that averages them."""

    output: Index
    below: WeightsOf
    above: Vector


@line("multiplier")
class MultiplierLine(Stated):
    """Multipliers of a constraint's rows: its number among the model's constraints, and the rows that have one."""

    constraint: Index
    rows: Priced


@line("cone")
class ConeLine(Stated):
    """The multiplier of a second-order cone: of its bound, and of each member of its norm; itself in the cone."""

    constraint: Index
    bound: Number
    members: Vector


@line("also")
class AlsoLine(Stated):
    """A prior of the adversary of a limit of leakage, as in a prior line."""

    constraint: Index
    weight: Number
    record: Index
    prior: InputLaw
    posteriors: Matrix


@line("tangent")
class TangentLine(Stated):
    """A tangent of a limit about a secret: of which of its laws, its weight, what it is about, and the numbers that choose it."""

    constraint: Index
    law: Index
    weight: Number
    about: About
    hint: Hint


@line("selection")
class SelectionLine(Stated):
    """A law on one input for each of some values of a secret, where the same is given, and posteriors of these values."""

    constraint: Index
    weight: Number
    given: Index
    chosen: Selection
    posteriors: Matrix


@line("weight")
class WeightLine(Stated):
    """The weight of a term of the objective that is a distortion."""

    term: Index
    weight: Number


@line("term")
class TermLine(Stated):
    """A prior of the adversary of a term of the objective, as in a prior line."""

    term: Index
    weight: Number
    record: Index
    prior: InputLaw
    posteriors: Matrix


LowerLine = (
    WitnessLine
    | SumsOfLetters
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
