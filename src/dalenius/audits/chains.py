"""Markov chains of several letters: the largest leakage of a record over transition matrices in ranges, by branch and bound.

There is a tree over the ranges for each record, and the record with the largest bound is first. *Why*: on a box the leakage is at most
a bound that is exact to first order at one of its points (docs/theory.md, Markov chains of several letters). *From below*: the best
matrix that was met, at such points and at the corners that their slopes point to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from dalenius.audits.audit import RETREAT, Exposure, RecordsAudit, UpperProof
from dalenius.evidence.lower import UNIFORM, ChainPoint, LowerLine
from dalenius.evidence.upper import ExpansionLeaf, Halve, LettersLine, ProofLine, RecordLine
from dalenius.exact import between, few_digits, fraction_text, is_writable
from dalenius.information.arrays import Floats, Integers
from dalenius.information.entropies import mutual_information
from dalenius.information.letter_chains import LetterChain, doubles, stationary_laws, tangents
from dalenius.model import FiniteChain
from dalenius.model.adversaries.chains import inputs_by_total, what_letters_add
from dalenius.results import RecordProof
from dalenius.search.tree import Branch, Leaf, Tree

LATER = 1.25  # times the leaves that the last proof had which was kept: so keeping takes no longer than searching
SHARE = 0.9  # of the gap that bounds may use up: the rest is for rounding
SLACK = 0.02, 1e-9  # of what a bound adds, and of itself: a checker's enclosures may be a little wider
MEAN = 9e-7  # seconds that a checker takes for a product of an upper mean, measured on leaves of 5 to 60 records
LAW = 1.5e-7  # the same for a product of a law at a point
NUMBERS = 2**23  # that are held at once
ROOM = 1.2  # times what checking is predicted to take
DIGITS = 10  # of a leaf's point
NARROW = 2.0**-40  # a range that is never halved

Range = tuple[Fraction, Fraction]
Law = tuple[Fraction, ...]
Point = tuple[Law, ...]
Cut = tuple[int, Fraction]  # a parameter, and where its range is halved


@dataclass(frozen=True)
class Box:
    """Ranges of the rows of transitions and, where the start is not stationary, of the first record's law.

    Each group is tightened: no range has an end that no law of the group has.

    Attributes
    ----------
    groups : of ranges, a letter each
    places : of (group, letter)
        Of the parameters, in their order.
    """

    groups: tuple[tuple[Range, ...], ...]
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, groups: Sequence[Sequence[Range]]) -> Self:
        """The box of these ranges, each of them a parameter."""
        places = tuple((g, b) for g, group in enumerate(groups) for b in range(len(group)))
        return cls(tuple(map(_tightened, groups)), places)

    def halves(self, parameter: int) -> tuple[Fraction, Self, Self]:
        """Place where it is halved, and both halves."""
        group, letter = self.places[parameter]
        low, high = self.groups[group][letter]
        middle = between(low, high)
        return middle, self._with(group, letter, (low, middle)), self._with(group, letter, (middle, high))

    def _with(self, group: int, letter: int, ends: Range) -> Self:
        row, groups = list(self.groups[group]), list(self.groups)
        row[letter] = ends
        groups[group] = _tightened(row)
        return replace(self, groups=tuple(groups))

    def numbers(self, point: Point) -> Law:
        """The parameters at a point."""
        return tuple(point[group][letter] for group, letter in self.places)

    @property
    def middle(self) -> Point:
        """A point well inside."""
        return tuple(map(_middle, self.groups))

    def corner(self, slopes: Floats) -> Point:
        """Corner where a linear function with these slopes, (groups, letters), is largest."""
        return tuple(_corner(group, each) for group, each in zip(self.groups, slopes, strict=True))


class Content(NamedTuple):
    """A leaf's box, and what it is proved by."""

    box: Box
    line: ProofLine


class Bound(NamedTuple):
    """A bound of a box in nats, its leaf, and the parameter that it is best halved in; None where it is not halved."""

    value: float
    line: ProofLine
    parameter: int | None = None


ChainLeaf = Leaf[Content, Cut]


@dataclass(frozen=True, kw_only=True)
class _AtPoint(Exposure):
    """Exposure of a record at a point of the box."""

    point: tuple[str, ...]
    tilts: tuple[str, ...] | None

    @property
    def lines(self) -> tuple[LowerLine, ...]:
        return (ChainPoint(self.record, self.point, self.tilts),)


@dataclass
class Kind:
    """The search about one record: its tree, and the best point that it met."""

    chain: LetterChain
    tree: Tree[Content, Cut]
    point: Point
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
        """Lines that prove the tree's bound, in preorder."""
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


K = TypeVar("K", bound=Kind)


@dataclass
class ChainAudit(RecordsAudit[K], Generic[K]):
    """A running audit of a chain: a tree over its parameters for each record that is asked about.

    On the way it keeps the last bound whose proof is short: what is left where there is no time for the whole one.

    Attributes
    ----------
    whole : Box
        All that the parameters may be.
    inputs : (totals,)
        The channel's input of each total of the records.
    rows : (totals, outputs)
        The release's law at each total.
    checking : float
        Seconds that checking the trees takes, predicted.
    """

    checking: float = field(default=0.0, init=False)
    whole: Box = field(init=False)
    inputs: Integers = field(init=False)
    rows: Floats = field(init=False)
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
        boxes = list[Box]()
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

    def _by_letters(self, chain: LetterChain) -> Tree[Content, Cut]:
        """A tree without a search: a leakage is at most the entropy of the letter."""
        return Tree(Leaf(Content(self.whole, LettersLine()), self._letters(chain, self.whole), None))

    # ------------------------------------------------------------ time

    def _batch(self, kind: K) -> int:
        """Number of boxes that are halved at once; 0 where there is no time to check more leaves."""
        k, outputs = kind.chain.letters, self.rows.shape[1]
        held = 2 * k * kind.chain.totals * max(k * outputs, k * k * k)
        return min(int(np.clip(NUMBERS // (2 * held), 1, 16)), self._affords(kind))

    def _affords(self, kind: K) -> int:
        """Number of leaves more that can be checked in the time that is left."""
        left = self.clock.left / ROOM - self.checking
        return int(np.clip(left / max(self._expansion(kind), 1e-9), 0, 2**30))

    def _cost(self, kind: K, leaves: Sequence[ChainLeaf]) -> float:
        """Seconds that checking these leaves takes, predicted."""
        return len(leaves) * self._expansion(kind)

    def _expansion(self, kind: K) -> float:
        """Seconds that checking an expansion takes, by the products of its means; where nothing moves it is one law."""
        chain, outputs = kind.chain, self.rows.shape[1]
        k, count = chain.letters, chain.count
        before, products = (chain.record / count) ** 2, 0.5 * count * chain.totals * k * k
        if all(low == high for group in self.whole.groups for low, high in group):
            return self.clock.pace * LAW * products * (k * (1 - before) + before)
        lists = 2 * outputs * (1 - before + k * before) + 2 * k * (k - 1) * (k * (1 - before) + before)
        return self.clock.pace * MEAN * products * lists

    # ------------------------------------------------------------ leaves

    def _begin(self, kind: K) -> None:
        """A first look at a record: a point, and a bound of the whole box."""
        self._try(kind, [self.whole.middle])
        if self._affords(kind):
            kind.tree.renew(self._leaves_of(kind, [self.whole], [kind.tree.upper])[0])
            self.checking += self._expansion(kind)

    def _leaves_of(self, kind: K, boxes: Sequence[Any], most: Sequence[float]) -> list[ChainLeaf]:
        """The boxes with their bounds, which are wanted to be less than those known, and where each is best halved."""
        leaves = list[ChainLeaf]()
        for box, bound in zip(boxes, self._expanded(kind, boxes), strict=True):
            letters = Bound(self._letters(kind.chain, box), LettersLine(), bound.parameter)
            leaves.append(leaf_of(box, bound if bound.value < letters.value else letters))
        return leaves

    def _expanded(self, kind: K, boxes: Sequence[Box]) -> list[Bound]:
        """Bounds that are exact to first order about a point of each box; infinite where that has too many digits."""
        points = [box.middle for box in boxes]
        low, high = np.moveaxis(np.array([box.groups for box in boxes], dtype=object), -1, 0)
        found = tangents(kind.chain, self.rows, low, high, np.array(points, dtype=object))
        self._try(kind, points + [box.corner(g) for box, g in zip(boxes, found.slopes.mean(axis=0), strict=True)])
        added, weights = found.bounds - found.leakages, _weights(kind.chain, _doubles(points))
        bounds = list[Bound]()
        for j, (box, point) in enumerate(zip(boxes, points, strict=True)):
            widths, worth = (high[j] - low[j]).astype(np.float64), np.nan_to_num(found.slopes[:, j])
            score = widths * (np.abs(worth).max(axis=0) + worth[1] - worth[0])
            shares = widths * weights[j]
            second = max(float(np.nan_to_num(found.remainders[j], posinf=1.0)), 1e-12)
            score += shares * (second / max(shares.max(), 1e-300))
            parameter = int(np.argmax([score[place] for place in box.places]))
            cuts = widths.max() > NARROW and added[j] > 0.0
            value = float(
                found.bounds[j] + SLACK[0] * added[j] + SLACK[1] * found.bounds[j]
            )  # what a checker is asked for
            written = texts(box, point) if all(map(is_writable, box.numbers(point))) else None
            line = LettersLine() if written is None else ExpansionLeaf(written, tuple(found.bases[j].tolist()))
            bounds.append(Bound(math.inf if written is None else value, line, parameter if cuts else None))
        return bounds

    def _try(self, kind: K, points: Sequence[Point]) -> None:
        """Keep the best of these points, if it is the record's best."""
        points = [point for point in points if all(map(is_writable, self.whole.numbers(point)))]
        if points and kind.chain.stationary:
            known = np.isfinite(stationary_laws(_doubles(points))).min(axis=1)
            points = [point for point, there in zip(points, known.tolist(), strict=True) if there]
        if points:
            leakages = mutual_information(kind.chain.joint_laws(_doubles(points)) @ self.rows)
            best = int(np.argmax(leakages))
            if leakages[best] > kind.lower:
                kind.lower, kind.point = float(leakages[best]), points[best]

    def _letters(self, chain: LetterChain, box: Box) -> float:
        """Largest entropy of the letter on a box, as far as that is known at once: of the letters that it can have."""
        free = chain.stationary or chain.record > 0
        return math.log(chain.letters if free else sum(most > 0 for _, most in box.groups[-1]))

    # ------------------------------------------------------------ what is proposed

    def _law(self, kind: K) -> Floats:
        """The joint law of the letter and the total at the best point, (letters, totals)."""
        return kind.chain.joint_laws(_doubles([kind.point]))[0]

    def exposure(self, slack: float) -> Exposure | None:
        best = self.best
        if best is None or best.lower <= 0.0:
            return None
        law = self._law(best)
        masses = np.zeros((len(law), self.problem.shape[0]))
        np.add.at(masses.T, self.inputs, law.T)
        tilts = None if best.tilts is None else tuple(fraction_text(Fraction(tilt)) for tilt in best.tilts)
        point = texts(self.whole, best.point)
        return _AtPoint(best.record, best.lower, masses, UNIFORM, point=point, tilts=tilts)

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


@dataclass
class FiniteChainAudit(ChainAudit[Kind]):
    """A running audit against `FiniteChain`."""

    def __post_init__(self) -> None:
        problem, adversary = self.problem, self.problem.adversary
        assert isinstance(adversary, FiniteChain)
        adds = what_letters_add(problem.query, adversary.letters)
        count, self.whole = len(problem.records), Box.of(adversary.box)
        self.inputs = inputs_by_total(problem.query, problem.records, np.arange(count * max(adds) + 1))
        self.rows = problem.channel[self.inputs]
        for record in adversary.records_of(problem.records):
            chain = LetterChain(count, record, adds, adversary.stationary)
            self.records.append(Kind(chain, self._by_letters(chain), self.whole.middle))


def is_expanded(leaf: ChainLeaf) -> bool:
    """True if it is bounded to first order about a point."""
    return isinstance(leaf.content.line, ExpansionLeaf)


def leaf_of(box: Box, bound: Bound) -> ChainLeaf:
    """A box with its bound, halved where that can be written."""
    middle = None if bound.parameter is None else box.halves(bound.parameter)[0]
    cut = None if bound.parameter is None or middle is None or not is_writable(middle) else (bound.parameter, middle)
    return Leaf(Content(box, bound.line), bound.value, cut)


def texts(box: Box, point: Point) -> tuple[str, ...]:
    """The numbers of a point as a certificate has them."""
    return tuple(map(fraction_text, box.numbers(point)))


def _weights(chain: LetterChain, points: Floats) -> Floats:
    """Weight of each parameter, (points, groups, letters), one number for each group."""
    first = chain.first_law(points)[:, :, None]
    if not chain.stationary:
        first = np.concatenate([first * 0.0 + 1.0 / chain.letters, first[:, :1] * 0.0 + 1.0], axis=1)
    return np.broadcast_to(first, points.shape)


def _tightened(group: Sequence[Range]) -> tuple[Range, ...]:
    """The same ranges without the ends that no law in them has."""
    low, high = sum(ends[0] for ends in group), sum(ends[1] for ends in group)
    return tuple((max(lo, 1 - (high - hi)), min(hi, 1 - (low - lo))) for lo, hi in group)


def _middle(group: Sequence[Range]) -> Law:
    """A law as far between the ends in one range as in all others; with few digits where these leave room."""
    low, high = sum((ends[0] for ends in group), Fraction(0)), sum((ends[1] for ends in group), Fraction(0))
    if low == high:
        return tuple(lo for lo, _ in group)
    share = (1 - low) / (high - low)
    law = [lo + share * (hi - lo) for lo, hi in group]
    widest = max(range(len(group)), key=lambda b: group[b][1] - group[b][0])
    for rounded in (round, few_digits):
        short = [p if lo == hi else rounded(p, DIGITS) for p, (lo, hi) in zip(law, group, strict=True)]
        short[widest] += 1 - sum(short)
        if all(lo < p < hi or lo == p == hi for p, (lo, hi) in zip(short, group, strict=True)):
            return tuple(short)
    return tuple(law)


def _corner(group: Sequence[Range], slopes: Floats) -> Law:
    """Of these laws the one with the largest mean slope."""
    law = [lo for lo, _ in group]
    left = 1 - sum(law, Fraction(0))
    for b in np.argsort(-slopes):
        more = min(left, group[b][1] - group[b][0])
        law[b] += more
        left -= more
    return tuple(law)


def _doubles(points: Sequence[Point]) -> Floats:
    return doubles(np.array(points, dtype=object))
