"""The lines of a certificate that say what the lines after them are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

__all__ = ["AdversaryLine", "CellSection", "MeanLine", "PieceSection", "RecordLine", "SecretSection", "TermSection"]

Index = int
Number = str  # a decimal or a fraction, taken exactly
Vector = tuple[Number, ...]


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
