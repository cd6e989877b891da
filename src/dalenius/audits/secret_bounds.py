"""Bounds on the leakage about a secret: from below by an ascent over independent records, from above by trees over selections."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dalenius.audits.bounds.vertices import VertexTree
from dalenius.evidence import short_text, vector_text
from dalenius.evidence.lower import ProductLaw, SparseLaw
from dalenius.evidence.upper import CellSection, ClassPart, LettersLine, OutputLawLeaf, ProofLine
from dalenius.information import relative_entropy
from dalenius.information.arrays import Floats
from dalenius.model import Records
from dalenius.model.secret import Family
from dalenius.reduction import RecordChannel, SecretCells, distinct_rows
from dalenius.search import Clock
from dalenius.search.tree import Branch

# What a secret is told of under laws of independent records, from below: an ascent, one record's law after another.
#
# I(g; Y | w) is neither concave nor convex in a record's law, the others' fixed, so that a better law may be missed: what is found is
# attained, and nothing else is claimed.


STARTS = 4  # random ones of either kind
ROUNDS, STALLED = 40, 1e-7  # of all records, and the least relative gain of one
LONGEST, SHORTEST = 2.0**20, 2.0**-20  # steps
NOTHING = 1e-15  # a probability that is left out


@dataclass
class SecretProducts:
    """One secret against all laws of independent records; `lower` is in nats.

    Attributes
    ----------
    cells : SecretCells
    rows : (inputs, outputs)
    records : Records
    factors : list of (letters,) or None
        The records' laws of the best law found.
    """

    cells: SecretCells
    rows: Floats
    records: Records
    lower: float = 0.0
    factors: list[Floats] | None = field(default=None, repr=False)

    def run(self, clock: Clock, rng: np.random.Generator) -> None:
        """Climb from uniform laws, and from random ones, also near to the faces."""
        for start in self._starts(rng):
            if clock.expired:
                break
            self.climb(start, clock)

    def _starts(self, rng: np.random.Generator) -> Iterator[list[Floats]]:
        sizes = self.records.alphabets
        yield [np.full(size, 1.0 / size) for size in sizes]
        for spread in (1.0, 0.1):
            for _ in range(STARTS):
                yield [rng.dirichlet(np.full(size, spread)) for size in sizes]

    def near(self, law: Floats) -> list[Floats]:
        """The records' own laws under a law on the datasets: that law itself, if its records are independent."""
        table = law.reshape(self.records.alphabets)
        return [table.sum(axis=tuple(k for k in range(table.ndim) if k != j)) for j in range(table.ndim)]

    def climb(self, start: list[Floats], clock: Clock) -> None:
        """Up from these laws of the records, then to a single letter of each record for which that is better, and up again."""
        factors, told = self._ascend([_cleaned(q) for q in start], clock)
        factors, told = self._ascend(self._corners(factors, told, clock), clock)
        if told > self.lower:
            self.lower, self.factors = told, factors

    def _ascend(self, factors: list[Floats], clock: Clock) -> tuple[list[Floats], float]:
        """Each record's law in turn times e^(step x its slope), the step halved until more is revealed."""
        told, steps = self._told(factors), [1.0] * len(factors)
        for _ in range(ROUNDS):
            before = told
            for j in range(len(factors)):
                if clock.expired or np.count_nonzero(factors[j]) == 1:
                    continue
                slope, step, better = self._slope(factors, j), min(8.0 * steps[j], LONGEST), told
                while step >= SHORTEST and better <= told:
                    step /= 2.0
                    moved = _tilted(factors[j], step * slope)
                    better = self._told([*factors[:j], moved, *factors[j + 1 :]])
                steps[j] = step
                if better > told:
                    factors, told = [*factors[:j], moved, *factors[j + 1 :]], better
            if clock.expired or told <= before * (1.0 + STALLED):
                break
        return factors, told

    def _corners(self, factors: list[Floats], told: float, clock: Clock) -> list[Floats]:
        """With a record's law on one letter, wherever no less is revealed."""
        for j, size in enumerate(self.records.alphabets):
            for letter in np.eye(size):
                moved = [*factors[:j], letter, *factors[j + 1 :]]
                if not clock.expired and (better := self._told(moved)) >= told:
                    factors, told = moved, better
        return factors

    upper: ClassVar[float] = 0.0  # nothing is known from above

    def found(self) -> tuple[Floats, ProductLaw] | None:
        """The best law found, of the datasets, and how a certificate writes it."""
        if self.factors is None:
            return None
        return _product(self.factors), ("product", tuple(vector_text(q) for q in self.factors))

    def _told(self, factors: list[Floats]) -> float:
        return self.cells.information(_product(factors), self.rows)

    def _slope(self, factors: list[Floats], record: int) -> Floats:
        """The derivative of what is revealed by each probability of this record's law."""
        sizes = self.records.alphabets
        others = _product(
            [np.ones(size) if j == record else q for j, (q, size) in enumerate(zip(factors, sizes, strict=True))]
        )
        terms = (others * self.cells.slope(_product(factors), self.rows)).reshape(sizes)
        return terms.sum(axis=tuple(k for k in range(terms.ndim) if k != record))


def _product(factors: list[Floats]) -> Floats:
    """P(x) = product of q_j(x_j), in lexicographic order of the datasets."""
    law = np.ones(1)
    for q in factors:
        law = np.multiply.outer(law, q).reshape(-1)
    return law


def _tilted(law: Floats, exponents: Floats) -> Floats:
    """The law times e^exponents."""
    known = law > 0.0
    weights = np.where(known, law * np.exp(np.where(known, exponents - exponents[known].max(), 0.0)), 0.0)
    return _cleaned(weights)


def _cleaned(weights: Floats) -> Floats:
    """A law without probabilities that are rounding errors."""
    law = weights / weights.sum()
    law = np.where(law > NOTHING, law, 0.0)
    return law / law.sum()


# What a secret's value is told of at most under any law: trees over selections of one dataset in each cell.
#
# *Why*: I(g; Y | w) is the mean over the values of w of informations that are convex in the law within each cell, so that the worst
# law sits on one dataset a cell, for one value of w (docs/certificate-format.md, Secrets). What is left is the tree of `vertices`.


MOST_LISTED = 2**20  # inputs in the lines of a tree
DECIMALS, LEAST = 18, 1e-20  # of an output law's weights

SecretLines = Iterator[CellSection | ProofLine]


@dataclass
class SecretTree:
    """The cells of one secret with one value of what is given, and of all that have the same sets of inputs.

    Attributes
    ----------
    cells, given : the secret, and the value
    family : the inputs of its cells
    rows : (inputs, outputs)
        Of the whole channel.
    law, plain : (outputs,), float
        One output law for all selections, and the bound in nats that it gives, or that the values' entropy does.
    tree : VertexTree or None
        Once it was begun.
    """

    cells: SecretCells
    given: int
    family: Family
    rows: Floats
    law: Floats = field(init=False)
    plain: float = field(init=False)
    tree: VertexTree | None = None

    def __post_init__(self) -> None:
        self.union = sorted({k for cell in self.family for k in cell})
        own = self.rows[self.union]
        self.law = np.maximum(own.mean(axis=0).round(DECIMALS), LEAST)
        by_law = max(float(relative_entropy(own, self.law / self.law.sum()).max()), 0.0)
        self.plain = min(by_law, math.log(len(self.family)))
        self._by_letters = self.plain < by_law
        first = {cell: j for j, cell in reversed(list(enumerate(self.family)))}  # a value with one input, once
        self._letters = [j for j, cell in enumerate(self.family) if len(cell) > 1 or first[cell] == j]
        self._distinct, self._class_of = distinct_rows(own)

    @property
    def upper(self) -> float:
        """In nats, for every law."""
        return self.plain if self.tree is None else min(self.plain, self.tree.upper)

    @property
    def lower(self) -> float:
        """Leakage of the best selection found."""
        return 0.0 if self.tree is None else max(self.tree.floor, 0.0)

    @property
    def leaves(self) -> int:
        """Output laws of its proof."""
        return 1 if self.tree is None else self.tree.leaves

    @property
    def full(self) -> bool:
        """True if its proof lists as many inputs as one should."""
        return self.leaves * len(self.union) > MOST_LISTED

    def begin(self, clock: Clock) -> None:
        """The root of its tree: the capacity of all its rows, and of one selection of them."""
        members = np.full((len(self._letters), len(self._distinct)), -np.inf)
        for letter, cell in enumerate(self._letters):
            members[letter, self._class_of[np.searchsorted(self.union, self.family[cell])]] = 0.0
        channel = RecordChannel(record=0, times=1, log_uniform=members, rows=self._distinct, max_knowledge=0.0)
        self.tree = VertexTree(channel, clock, target=0.0)

    def found(self) -> tuple[Floats, SparseLaw] | None:
        """The law of the best selection found, of the datasets, and how a certificate writes it."""
        if self.tree is None or self.tree.point is None:
            return None
        law = np.zeros(self.cells.inputs.size)
        for cell, place in zip(*np.nonzero(self.tree.point), strict=True):
            own = self._letters[cell]
            chosen = next(k for k in self.family[own] if self._class_of[np.searchsorted(self.union, k)] == place)
            law[self.cells.dataset(self.given, own, chosen)] = float(self.tree.point[cell, place])
        return law, tuple((x, short_text(float(law[x]))) for x in np.flatnonzero(law > 0.0).tolist())

    def lines(self, *, certain: bool = False) -> SecretLines:
        """The section that proves `upper`, or what needs no search."""
        yield CellSection(self.cells.secret, self.given)
        if certain or self.tree is None or self.plain <= self.tree.upper:
            yield LettersLine() if self._by_letters else OutputLawLeaf(vector_text(self.law))
            return
        for node in self.tree.tree.preorder():
            if isinstance(node, Branch):
                own = self._letters[node.cut.letter]
                members = np.array(self.family[own])
                kept = np.isin(self._class_of[np.searchsorted(self.union, members)], node.cut.kept)
                yield ClassPart(own, tuple(members[kept].tolist()))
            else:
                yield OutputLawLeaf(vector_text(node.content.law))


def family_key(family: Family) -> Family:
    """Key of all that one proof is about: the sets of inputs, in any order."""
    return tuple(sorted(family))


def trees_of_secrets(secrets: Iterable[SecretCells], rows: Floats) -> dict[Family, SecretTree]:
    """One for each different list of sets of inputs that can tell anything: what is given tells the rest apart from none of them."""
    found = dict[Family, SecretTree]()
    for cells in secrets:
        for given, family in enumerate(cells.families):
            key = family_key(family)
            if len(family) > 1 and len({k for cell in family for k in cell}) > 1 and key not in found:
                found[key] = SecretTree(cells, given, family, rows)
    return found
