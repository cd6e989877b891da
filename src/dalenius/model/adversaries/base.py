"""Adversaries as sets of priors on datasets that they may hold; and the first of them, a lower bound on their entropy."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import fmpq

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_quantity, fraction_text
from dalenius.information.balls import rational
from dalenius.information.measures import AllPriors, EntropyFloor, PriorClass
from dalenius.intervals import text_below
from dalenius.model.fields import keep
from dalenius.model.mechanisms import Mechanism
from dalenius.model.queries import Query
from dalenius.model.records import Records
from dalenius.model.shelf import Shelved, check_keys
from dalenius.units import amount_text, lower_in, unit_size

BOUND = "entropy_at_least"
ANY = "any_prior"  # as people look for `AnyPrior` in files


class Adversary(Shelved):
    """A set of priors on datasets; the leakage is the largest over them."""

    room: ClassVar[str] = "adversary"
    shelf: ClassVar[dict[str, type[Any]]] = {}
    all_products: ClassVar[bool] = False  # whether it has all priors under which records are independent, and no others
    in_blocks: ClassVar[bool] = False  # whether it is about blocks of records that are independent of one another
    is_chain: ClassVar[bool] = False  # whether it is about records that are a Markov chain
    about_records: ClassVar[str] = (
        ""  # of a set that is no class of laws of the dataset what can be asked instead about secrets
    )
    no_program: ClassVar[str] = ""  # why an audit against it has no convex program to hand out, where it has none
    audit: ClassVar[
        str
    ]  # which one answers, where nothing else about the question asks for another one; its kind, unless said

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls) and not hasattr(cls, "audit"):
            cls.audit = cls.kind

    @classmethod
    def of_kind(cls, table: Any, where: str) -> Any:
        """The adversary that a model file's table describes: an entropy bound, or a kind."""
        if not isinstance(table, Mapping):
            raise InputError(f"{where}: expected a table, got {brief(table)}")
        has_both = [kind for kind, adversary in cls.shelf.items() if BOUND in adversary.file_fields()]
        if "kind" in table and BOUND in table and table["kind"] not in has_both:
            raise InputError(f"{where}: give either {BOUND} or a kind, not both")
        if ("kind", BOUND) in table.items():
            raise InputError(f'{where}: {BOUND} is a key, not a kind: write {BOUND} = "2 bits"')
        if ("kind", ANY) in table.items():
            raise InputError(f"{where}: every prior at all is no kind: write {BOUND} = 0")
        if "kind" in table:
            return super().of_kind(table, where)
        check_keys(table, (BOUND, "kind"), where)
        if BOUND not in table:
            raise InputError(
                f'{where}: missing {BOUND}, a number of nats or a text such as "2 bits", "0.8 max"; or a kind '
                f"of {', '.join(cls.shelf)}"
            )
        return EntropyAtLeast(table[BOUND], "nats")

    @property
    def bound(self) -> EntropyAtLeast | None:
        """Itself, where the set is that of all priors with so much entropy."""
        return None

    @property
    def unlimited(self) -> bool:
        """True if every prior is in the set."""
        return False

    @property
    def record_laws(self) -> PriorClass | None:
        """The laws that a record may have, where the others are independent of it and any; None where the set is no such one."""
        return None

    @property
    def listed(self) -> tuple[tuple[Fraction, ...], ...]:
        """The priors, where they are listed: each has weights in lexicographic order of the datasets; none of another set."""
        return ()

    @property
    def written(self) -> tuple[int, int]:
        """Numbers that a model file lists of it, and how many of them differ, where they may be many."""
        return 0, 0

    def laws(self, records: Records) -> PriorClass:
        """The laws that datasets may have, in exact numbers, for few datasets; all, where those of the set are no class."""
        return AllPriors()

    def moves(self, records: Records) -> int:
        """Of a chain how many pairs of records are looked at where its leakage is evaluated, if that takes long."""
        return 0

    def check_release(self, query: Query, records: Records, mechanism: Mechanism) -> None:
        """Raise `InputError` where it is not known what such a release reveals; where that is known of all, nothing."""

    def check_laws(self, records: Records) -> None:
        """Raise `InputError` if the set does not fit the datasets of these records, of which there are few."""
        self.check(records)

    @abstractmethod
    def check(self, records: Records) -> None:
        """Raise `InputError` if the set does not fit these records."""

    def check_design(self, records: Records) -> None:
        """The same, where a mechanism is to be designed against it; `InputError` where no design knows it, too."""
        self.check(records)

    def check_further(self, records: Records) -> None:
        """The same, where it is named by a limit or a term of a design, besides the design's own adversary."""
        self.check_design(records)

    def of_dataset_in_words(self) -> str:
        """The same as `in_words` about secrets, where its laws are those of the whole dataset."""
        return self.in_words()

    def in_words(self) -> str:
        """The adversary in words, as the end of the sentence "the leakage to any adversary ..."."""
        return f"in the set {self.kind}"


SCALES = ("nats", "bits", "max")
DIGITS = 1000
FINE = 60  # decimals of an enclosure
FINE_SHARE = 10**6  # the largest denominator of a share of the largest entropy, where it is not stated as one


@dataclass(frozen=True)
class EntropyAtLeast(Adversary):
    """Every prior P on datasets with Shannon entropy H(P) >= b; records may be correlated in any way.

    Parameters
    ----------
    amount : number or str
        The bound b: a text of a number and a unit, ``"1.5 nats"``, ``"2 bits"``, ``"0.8 max"``, or a number whose unit `units` says;
        0 needs none.
    units : {"nats", "bits", "max"}
        Unit of a bare number; ``max`` is the share of log |X|, the entropy of the uniform prior.

    Raises
    ------
    InputError
        If the bound is negative or unreadable, or its unit is not said; `check` raises it for a bound above log |X|.

    >>> EntropyAtLeast("2 bits") == EntropyAtLeast(2, units="bits")
    True
    >>> round(EntropyAtLeast("0.5 max").nats(Records(4, alphabet=2)), 6)
    1.386294
    """

    kind: ClassVar[str] = BOUND
    amount: Fraction
    units: str = "nats"

    def __init__(self, amount: Number, units: str = "") -> None:
        bound, units = as_quantity(amount, "adversary: entropy_at_least", known=SCALES, units=units)
        if bound < 0:
            raise InputError(f"adversary: entropy_at_least must be at least 0, got {brief(amount)}")
        keep(self, amount=bound, units=units)

    @property
    def bound(self) -> EntropyAtLeast:
        return self

    @property
    def unlimited(self) -> bool:
        return not self.amount

    def text(self) -> str:
        """The model file's spelling."""
        return f"{fraction_text(self.amount)} {self.units}"

    line = text

    def in_words(self) -> str:
        if not self.amount:
            return "whatsoever"
        return f"whose prior on the datasets has an entropy of at least {self.shown('the largest possible entropy')}"

    def shown(self, largest: str) -> str:
        """The amount for people, nats also in bits, rounded downward; `largest` says of what it is a share.

        >>> EntropyAtLeast("5 nats").shown("the largest"), EntropyAtLeast("1 bits").shown("the largest")
        ('5 nats = 7.213 bits', '1 bit')
        """
        text = fraction_text(self.amount)
        if self.units == "max":
            return f"{text} times {largest}"
        if self.units == "bits":
            return amount_text(text, "bits")
        below = lower_in(min(float(self.amount), math.nextafter(float(self.amount), 0.0)), "bits")
        return f"{amount_text(text, 'nats')} = {amount_text(text_below(below, 4), 'bits')}"

    def to_model(self) -> dict[str, Any]:
        return {self.kind: self.text()}

    def normal_form(self) -> dict[str, Any]:
        return {self.kind: f"{self.amount} {self.units}"}

    def nats(self, records: Records) -> float:
        """b in nats, as a double."""
        size = records.log_datasets if self.units == "max" else unit_size(self.units)
        return min(float(min(self.amount, Fraction(10**300))) * size, 1e300)

    def enclosure(self, records: Records) -> tuple[Fraction, Fraction]:
        """b in nats, between two rationals: equal where it is one, else some 1e-60 apart.

        >>> low, high = EntropyAtLeast("2 bits").enclosure(Records(4, alphabet=2))
        >>> float(low), 0 < high - low < Fraction(1, 10**59)
        (1.3862943611198906, True)
        """
        if self.units == "nats" or not self.amount:
            return self.amount, self.amount
        with localcontext(prec=DIGITS):
            unit = _log(2) if self.units == "bits" else _largest(records)
            scaled = Decimal(self.amount.numerator) / Decimal(self.amount.denominator) * unit * 10**FINE
        return Fraction(math.floor(scaled), 10**FINE), Fraction(math.floor(scaled) + 1, 10**FINE)

    def laws(self, records: Records) -> PriorClass:
        """The same class of laws on the datasets in exact numbers; for few datasets.

        >>> EntropyAtLeast("1 bits").laws(Records(2, alphabet=2)).support(4).tolist()
        [True, True, True, True]
        """
        if not self.amount:
            return AllPriors()
        (low, high), (least, most) = (each.enclosure(records) for each in (EntropyAtLeast("1 max"), self))
        maximal = self.is_maximal(records)
        known = (Fraction(0), Fraction(0)) if maximal else (max(low - most, Fraction(0)), high - least)
        uniform = np.full(records.datasets, fmpq(1, records.datasets), dtype=object)
        return EntropyFloor(uniform, *map(rational, known))

    def is_maximal(self, records: Records) -> bool:
        """True if b equals log |X| exactly, so that the uniform prior is the only one."""
        sizes = records.runs
        if all(size == 1 for size, _ in sizes):
            return self.units == "max" or self.amount == 0
        if self.units == "bits":  # |X| is a power of 2 where every alphabet is
            powers = all(size & (size - 1) == 0 for size, _ in sizes)
            return powers and self.amount == sum((size.bit_length() - 1) * times for size, times in sizes)
        return self.units == "max" and self.amount == 1

    def at_most(self, other: EntropyAtLeast, records: Records) -> bool:
        """True if this bound is certainly no larger."""
        if self.units == other.units:
            return self.amount <= other.amount
        return self.enclosure(records)[1] <= other.enclosure(records)[0]

    def share(self, records: Records) -> Fraction:
        """The bound as a share of the largest entropy, roughly where it is stated otherwise."""
        if self.units == "max":
            return self.amount
        largest = records.log_datasets
        share = Fraction(self.nats(records) / largest).limit_denominator(FINE_SHARE) if largest > 0.0 else Fraction(1)
        return min(share, Fraction(1))

    def max_knowledge(self, records: Records) -> float:
        """log |X| - b in nats, without cancellation: what the adversary may know at most. 0 exactly where b = log |X|."""
        return 0.0 if self.is_maximal(records) else float(self._max_knowledge(records))

    def check(self, records: Records) -> None:
        """Raise `InputError` if no prior on these records has this entropy."""
        if not self.is_maximal(records) and self._max_knowledge(records) <= 0:
            raise InputError(
                f"adversary: entropy_at_least is {brief(self.text())}, {self.nats(records):.6g} nats, above the largest possible "
                f'entropy log |X| = {records.log_datasets:.6g} nats; lower it, or give a share such as "0.8 max"'
            )

    def _max_knowledge(self, records: Records) -> Decimal:
        """log |X| - b to `DIGITS` digits; equality, which digits cannot decide, is settled by `is_maximal`."""
        with localcontext(prec=DIGITS):
            largest = _largest(records)
            unit = {"nats": Decimal(1), "bits": _log(2), "max": largest}[self.units]
            return largest - Decimal(self.amount.numerator) / Decimal(self.amount.denominator) * unit


def _largest(records: Records) -> Decimal:
    """log |X| to `DIGITS` digits, of which the last few are rounding."""
    times = Counter[int]()
    for size, run in records.runs:
        times[size] += run
    with localcontext(prec=DIGITS):
        return sum((n * _log(size) for size, n in times.items()), Decimal(0))


@functools.cache
def _log(size: int) -> Decimal:
    """Its logarithm to `DIGITS` digits, which takes milliseconds, for alphabets that come again and again."""
    with localcontext(prec=DIGITS):
        return Decimal(size).ln()


def AnyPrior() -> EntropyAtLeast:  # noqa: N802 - reads like the adversaries that are classes
    """Every prior whatsoever, known ones included: `EntropyAtLeast` of 0, which is also how a model file says it.

    >>> AnyPrior()
    EntropyAtLeast(amount=Fraction(0, 1), units='nats')
    """
    return EntropyAtLeast(0)
