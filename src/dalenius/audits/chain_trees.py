"""Chains: trees over ranges of their parameters, a tree a record, the record with the largest bound first."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from dalenius.audits.audit import RETREAT, Exposure, RecordsAudit, UpperProof
from dalenius.evidence.lower import UNIFORM, ChainPoint, LowerLine
from dalenius.evidence.upper import ExpansionLeaf, Halve, LettersLine, ProofLine, RecordLine
from dalenius.exact import fraction_text
from dalenius.information.arrays import Floats, Integers
from dalenius.information.chains import Chain
from dalenius.information.letter_chains import LetterChain, Tangents
from dalenius.results import RecordProof
from dalenius.search.tree import Branch, Leaf, Tree

LATER = 1.25  # times the leaves that the last proof had which was kept: so keeping takes no longer than searching
SHARE = 0.9  # of the gap that bounds may use up: the rest is for rounding
SLACK = 0.02, 1e-9  # of what a bound adds, and of itself: a checker's enclosures may be a little wider
MEAN = 9e-7  # seconds that a checker takes for a product of an upper mean, measured on leaves of 5 to 60 records
LAW = 1.5e-7  # the same for a product of a law at a point


C = TypeVar("C", Chain, LetterChain)
Cut = tuple[int, Fraction]  # a parameter, and where its range is halved


@dataclass(frozen=True)
class Content:
    """A leaf's box, which says where a parameter is halved, and both halves; and what it is proved by."""

    box: Any
    line: ProofLine


ChainLeaf = Leaf[Content, Cut]


@dataclass(frozen=True, kw_only=True)
class _AtPoint(Exposure):
    """What a record is exposed to at a point of the box."""

    point: tuple[str, ...]
    tilts: tuple[str, ...] | None

    @property
    def lines(self) -> tuple[LowerLine, ...]:
        return (ChainPoint(self.record, self.point, self.tilts),)


@dataclass
class Kind(Generic[C]):
    """The search about one record: its tree, and the best point that it met."""

    chain: C
    tree: Tree[Content, Cut]
    point: Any
    lower: float = 0.0
    times: int = 1  # how many records are alike
    tilts: tuple[float, float] | None = None  # where there is no matrix

    @property
    def record(self) -> int:
        return self.chain.record

    @property
    def upper(self) -> float:
        return self.tree.upper

    @property
    def section(self) -> UpperProof:
        """What proves the tree's bound, in preorder."""
        nodes: Iterator[ProofLine] = (
            Halve(node.cut[0], fraction_text(node.cut[1])) if isinstance(node, Branch) else node.content.line
            for node in self.tree.preorder()
        )
        return RecordLine(self.record), *nodes

    @property
    def record_proof(self) -> RecordProof:
        """With what most leaves are proved by."""
        lines = [node.content.line.word for node in self.tree.preorder() if isinstance(node, Leaf)]
        return RecordProof(self.record, self.times, max(set(lines), key=lines.count), self.tree.leaves)


K = TypeVar("K", bound=Kind[Any])


@dataclass
class ChainTrees(RecordsAudit[K], Generic[K]):
    """A running audit of a chain: a tree over its parameters for each record that is asked about.

    On the way it keeps the last bound whose proof is short: what is left where there is no time for the whole one.

    Attributes
    ----------
    whole : box
        All that the parameters may be.
    inputs : (counts,)
        The channel's input of each total of the records.
    checking : float
        Seconds that checking the trees takes, predicted.
    """

    checking: float = field(default=0.0, init=False)
    whole: Any = field(init=False)
    inputs: Integers = field(init=False)
    _kept: tuple[float, UpperProof] | None = field(default=None, init=False)
    _kept_leaves: int = field(default=0, init=False)

    @property
    def enough(self) -> float:
        """No leaf needs a smaller bound."""
        return self.lower / (1.0 - SHARE * self.gap) if self.gap < 1.0 else math.inf

    def run(self) -> None:
        """A first look at every record; then the record with the largest bound, again and again."""
        for kind in self._in_order():
            if self.clock.expired:
                break
            self._begin(kind)
        self._keep()
        while not self.clock.expired and self.upper > self.enough:
            kind = max(self.records, key=lambda each: each.upper)
            batch = self._batch(kind)
            if kind.tree.leaves >= self.search.limits.nodes or not batch:
                break
            if not kind.tree.grow(partial(self._halved, kind), batch, above=self.enough):
                break
            self._keep()
            self.report("chain", kind.record)
        self.out_of_time |= self.clock.expired or not all(map(self._batch, self.records))
        self.out_of_room = any(kind.tree.leaves >= self.search.limits.nodes for kind in self.records)
        self.report("proving", now=True)

    def _in_order(self) -> Sequence[K]:
        """The records as they are looked at first."""
        return self.records

    @property
    def pieces(self) -> int:
        return sum(kind.tree.leaves for kind in self.records)

    def _keep(self) -> None:
        """Keep the bound that there is; a later one only as long as checking its proof is predicted to take little."""
        late = self.checking > RETREAT * self.search.limits.seconds
        if self._kept is None or not (late or self.pieces < LATER * self._kept_leaves):
            self._kept, self._kept_leaves = (self.upper, self.proof()), self.pieces

    def _halved(self, kind: K, leaves: Sequence[ChainLeaf]) -> list[list[ChainLeaf] | ChainLeaf]:
        """The halves of each leaf, or itself where there is no time to bound them as well."""
        boxes = list[Any]()
        for leaf in leaves:
            assert leaf.cut is not None
            boxes += leaf.content.box.halves(leaf.cut[0])[1:]
        found = self._leaves_of(kind, boxes, [leaf.bound for leaf in leaves for _ in (0, 1)])
        families = list[list[ChainLeaf] | ChainLeaf]()
        for leaf, *halves in zip(leaves, found[::2], found[1::2], strict=True):
            if self.out_of_time and is_expanded(leaf) and max(half.bound for half in halves) > leaf.bound:
                families.append(replace(leaf, cut=None))
            else:
                families.append(halves)
                self.checking += self._cost(kind, halves) - self._cost(kind, [leaf])
        return families

    def _by_letters(self, chain: Any) -> Tree[Content, Cut]:
        """A tree without a search: a leakage is at most the entropy of the letter."""
        return Tree(Leaf(Content(self.whole, LettersLine()), self._letters(chain, self.whole), None))

    # ------------------------------------------------------------ what depends on the chain

    @abstractmethod
    def _begin(self, kind: K) -> None:
        """A first look at a record: a point, and a bound of the whole box."""

    @abstractmethod
    def _batch(self, kind: K) -> int:
        """How many boxes are halved at once; 0 where there is no time to check more leaves."""

    @abstractmethod
    def _leaves_of(self, kind: K, boxes: Sequence[Any], most: Sequence[float]) -> list[ChainLeaf]:
        """The boxes with their bounds, which are wanted to be less than those known, and where each is best halved."""

    @abstractmethod
    def _cost(self, kind: K, leaves: Sequence[ChainLeaf]) -> float:
        """Seconds that checking these leaves takes, predicted."""

    @abstractmethod
    def _letters(self, chain: Any, box: Any) -> float:
        """What the letter's entropy is at most on a box, as far as that is known at once."""

    @abstractmethod
    def _law(self, kind: K) -> Floats:
        """The joint law of the letter and the total at the best point, (letters, counts)."""

    # ------------------------------------------------------------ what is proposed

    def exposure(self, slack: float) -> Exposure | None:
        best = self.best
        if best is None or best.lower <= 0.0:
            return None
        law = self._law(best)
        masses = np.zeros((len(law), self.problem.shape[0]))
        np.add.at(masses.T, self.inputs, law.T)
        tilts = None if best.tilts is None else texts(map(Fraction, best.tilts))
        return _AtPoint(best.record, best.lower, masses, UNIFORM, point=texts(best.point), tilts=tilts)

    @property
    def _proved(self) -> list[K]:
        """The records with what is proved of each; a tree that says no more than the entropy of a letter is left out."""
        upper = self.upper
        return [
            kind if upper < self._letters(kind.chain, self.whole) else begun
            for kind, begun in zip(self.records, self.begun(), strict=True)
        ]

    def quick(self) -> tuple[float, UpperProof]:
        return self._kept or self.certain()

    def proof(self) -> UpperProof:
        return tuple(line for kind in self._proved for line in kind.section)

    def begun(self) -> list[K]:
        """A leakage is at most the entropy of the letter."""
        return [replace(kind, tree=self._by_letters(kind.chain)) for kind in self.records]

    def record_proofs(self) -> tuple[RecordProof, ...]:
        return tuple(kind.record_proof for kind in self._proved)


def is_expanded(leaf: ChainLeaf) -> bool:
    """Whether it is bounded to first order about a point, as a chain of letters."""
    return isinstance(leaf.content.line, ExpansionLeaf)


def texts(point: Iterable[Any]) -> tuple[str, ...]:
    """The numbers of a point, those of one law after another, as a certificate has them."""
    return tuple(map(fraction_text, np.array(list(point), dtype=object).reshape(-1)))


def checked_bounds(found: Tangents) -> Floats:
    """What a checker is asked to prove of expansions."""
    return found.bounds + SLACK[0] * (found.bounds - found.leakages) + SLACK[1] * found.bounds


def expansion_seconds(chain: LetterChain, outputs: int, *, moves: bool = True) -> float:
    """Seconds that checking an expansion takes, by the products of its means; where nothing moves it is one law."""
    k, count = chain.letters, chain.count
    before, products = (chain.record / count) ** 2, 0.5 * count * chain.totals * k * k
    if not moves:
        return LAW * products * (k * (1 - before) + before)
    lists = 2 * outputs * (1 - before + k * before) + 2 * k * (k - 1) * (k * (1 - before) + before)
    return MEAN * products * lists
