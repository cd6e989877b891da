"""Markov chains: the largest leakage of a record over a box of transition probabilities, by branch and bound on the box.

*Why*: with few records I(X_i; Y) and its derivatives are enclosed on a box, and a mean value bounds it there; with many, X_i is nearly
like any other record of a long window, so that it tells what the share of ones in the window does (docs/theory.md, Markov chains).
*From below*: the best point that was met.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

import numpy as np

from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.audits.chain_trees import Content, Cut, checked_bounds, expansion_seconds, tree_lines, tree_method
from dalenius.evidence import Upper
from dalenius.evidence.lower import UNIFORM, ChainPoint, LowerLine
from dalenius.evidence.upper import (
    AfterLeaf,
    BlocksLeaf,
    ExpansionLeaf,
    LettersLine,
    ProofLine,
    RecordLine,
    SlopeLeaf,
    WindowLeaf,
)
from dalenius.exact import between, fraction_text
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.information.chain_tilts import Tilted, count_law, tilted
from dalenius.information.chains import (
    Chain,
    after_bound,
    blocks_bound,
    joint_law,
    letters_bound,
    slopes_of,
    window_bound,
)
from dalenius.information.letter_chains import LetterChain, tangents
from dalenius.model import MarkovChain
from dalenius.model.problems.chains import inputs_by_ones, noise_of
from dalenius.results import RecordProof
from dalenius.search.tree import Leaf, Tree

SHARE = 0.9  # of the gap that bounds may use up: the rest is for rounding
BATCH = 32  # boxes that are halved at once
SLACK = 0.02  # of what slopes add: a checker's enclosures may be a little wider
CHECKED = (1.2e-3, 3e-4, 1.8e-5)  # seconds that checking a leaf takes: for itself, a record, and a pair of records
PATIENCE = 4.0  # leaves by derivatives that there must be time to check
CLOSE = 1e-4  # beside what a window proves of a single point
GRID = 3  # points of each parameter that are tried where no box gives any

Point = tuple[Fraction, ...]
Bound = tuple[float, ProofLine, int | None]  # of a box, with its leaf, and which parameter it is wide in


@dataclass(frozen=True)
class Box:
    """A box of the parameters, exactly."""

    low: Point
    high: Point

    def halves(self, parameter: int) -> tuple[Fraction, Box, Box]:
        """Where it is halved, and both halves."""
        middle = between(self.low[parameter], self.high[parameter])
        return (
            middle,
            Box(self.low, _with(self.high, parameter, middle)),
            Box(_with(self.low, parameter, middle), self.high),
        )

    @property
    def ends(self) -> tuple[Floats, Floats]:
        return _doubles(self.low), _doubles(self.high)

    @property
    def middle(self) -> Point:
        return tuple(between(lo, hi) for lo, hi in zip(self.low, self.high, strict=True))


_Leaf = Leaf[Content[Box], Cut]
ChainTree = Tree[Content[Box], Cut]


@dataclass(frozen=True, kw_only=True)
class _AtPoint(Exposure):
    """What a record is exposed to at a point of the box."""

    point: Point
    tilts: tuple[float, float] | None

    @property
    def lines(self) -> tuple[LowerLine, ...]:
        tilts = None if self.tilts is None else tuple(fraction_text(Fraction(t)) for t in self.tilts)
        return (ChainPoint(self.record, _texts(self.point), tilts),)


@dataclass
class _Record:
    """The search about one record: its tree, and the best point that it met."""

    chain: Chain
    tree: ChainTree
    point: Point
    leakage: float = 0.0
    tilts: tuple[float, float] | None = None
    floor: float = 0.0  # what closed forms say of the lowest corner: they say no less of any box
    known: dict[Point, float] = field(default_factory=dict)


@dataclass
class ChainAudit(Audit):
    """A running audit against `MarkovChain`: a tree over the box of parameters for each record that is asked about."""

    kinds: list[_Record] = field(default_factory=list, init=False)
    checking: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        problem, adversary = self.problem, self.problem.adversary
        assert isinstance(adversary, MarkovChain)
        self.count, self.short = len(problem.records), problem.is_written_out
        if self.short and noise_of(problem.query, problem.mechanism) is not None:
            self.short = PATIENCE * self._checked <= self.clock.left  # what has a closed form need not be written out
        if self.short:
            self.rows = problem.channel[inputs_by_ones(problem.query, problem.records)]
        ends = tuple(zip(*adversary.box, strict=True))
        whole = Box(ends[0], ends[1])
        for record in adversary.records_of(problem.records):
            chain = Chain(self.count, record, adversary.stationary)
            leaf: _Leaf = Leaf(Content(whole, LettersLine()), letters_bound(chain, *whole.ends), None)
            self.kinds.append(_Record(chain, Tree(leaf), whole.low))
        self.whole = whole

    @property
    def lower(self) -> float:
        return max((kind.leakage for kind in self.kinds), default=0.0)

    @property
    def upper(self) -> float:
        return max((kind.tree.upper for kind in self.kinds), default=0.0)

    @property
    def enough(self) -> float:
        """No leaf needs a smaller bound, or none can have one: where bounds are windows, no box has a smaller one than its points."""
        wanted = self.lower / (1.0 - SHARE * self.gap) if self.gap < 1.0 else math.inf
        return max(wanted, (1.0 + CLOSE) * max((kind.floor for kind in self.kinds), default=0.0))

    def run(self) -> None:
        """A first look at every record; then the record with the largest bound, again and again."""
        for kind in sorted(self.kinds, key=lambda each: -each.chain.room):
            self._begin(kind)
        while not self.clock.expired and self.upper > self.enough:
            kind = max(self.kinds, key=lambda each: each.tree.upper)
            if kind.tree.leaves >= self.search.limits.nodes or self.checking > self.clock.left:
                break
            if not kind.tree.grow(partial(self._halved, kind), BATCH, above=self.enough):
                break
            self.clock.tell("chain", self.lower, self.upper, self._leaves, record=kind.chain.record)
        self.out_of_time = self.clock.expired or self.checking > self.clock.left
        self.out_of_room = any(kind.tree.leaves >= self.search.limits.nodes for kind in self.kinds)
        self.clock.tell("proving", self.lower, self.upper, self._leaves, now=True)

    @property
    def _leaves(self) -> int:
        return sum(kind.tree.leaves for kind in self.kinds)

    def _begin(self, kind: _Record) -> None:
        """Points of a grid, where no box is evaluated at one, and the first leaf."""
        if self.clock.expired:
            return
        if not self.short:
            corner = _doubles(self.whole.low)
            kind.floor = _in_closed_form(kind.chain, corner, corner)[0]
        best = [self._best.point] if self.lower > 0.0 else self._grid()  # the same chain tells most about most records
        for point in best if not self.short else (self.whole.low, self.whole.high):
            self._try(kind, point)
        kind.tree.renew(self._leaves_of(kind, [self.whole], math.inf)[0])

    def _grid(self) -> list[Point]:
        """Of long chains; from any start the stationary one is tried."""
        axes = [
            [lo + (hi - lo) * k / (GRID - 1) for k in range(GRID)]
            for lo, hi in zip(self.whole.low, self.whole.high, strict=True)
        ]
        points = dict.fromkeys((x, y) for x in axes[0] for y in axes[1])
        return [(x, y) if len(axes) == 2 else (x, y, x / (x + y)) for x, y in points]

    def _try(self, kind: _Record, point: Point) -> float:
        """The leakage at a point, which is kept if it is the record's best."""
        if point in kind.known:
            return kind.known[point]
        tilts = None
        if self.short:
            leakage = float(mutual_information(joint_law(kind.chain, _doubles(point)) @ self.rows))
        else:
            found = self._tilted(kind, point)
            leakage, tilts = found.leakage, found.tilts
        kind.known[point] = leakage
        if leakage > kind.leakage:
            kind.leakage, kind.point, kind.tilts = leakage, point, tilts
        return leakage

    def _tilted(self, kind: _Record, point: Point) -> Tilted:
        noise = noise_of(self.problem.query, self.problem.mechanism)
        assert noise is not None
        return tilted(self.count, kind.chain.record, _doubles(point), float(noise.epsilon))

    def _halved(self, kind: _Record, leaves: Sequence[_Leaf]) -> list[list[_Leaf]]:
        """The halves of each leaf."""
        boxes = list[Box]()
        for leaf in leaves:
            assert leaf.cut is not None
            boxes += leaf.content.box.halves(leaf.cut[0])[1:]
        most = [leaf.bound for leaf in leaves for _ in (0, 1)]
        found = self._leaves_of(kind, boxes, np.array(most))
        old, new = (sum(isinstance(leaf.content.line, ExpansionLeaf) for leaf in some) for some in (leaves, found))
        self.checking += self._cost(len(leaves)) + (new - old) * self._expansion(kind)
        return [found[j : j + 2] for j in range(0, len(found), 2)]

    def _leaves_of(self, kind: _Record, boxes: Sequence[Box], most: Floats | float) -> list[_Leaf]:
        """The boxes with their least bounds; a part's is no larger than that of the whole, whose proof it inherits."""
        nothing: Bound = (math.inf, LettersLine(), None)
        slopes: list[Bound] = self._by_slopes(kind, boxes) if self.short else [nothing] * len(boxes)
        self._expanded(kind, boxes, slopes)
        found = list[_Leaf]()
        for box, (bound, line, parameter) in zip(boxes, slopes, strict=True):
            known, without = _in_closed_form(kind.chain, *box.ends)
            if not bound < known:
                bound, line = known, without
            if parameter is None:
                parameter = _wide(box, 3 if self.short else 2)
            cut = None if parameter is None else (parameter, box.halves(parameter)[0])
            found.append(Leaf(Content(box, line), bound, cut))
        return found

    def _by_slopes(self, kind: _Record, boxes: Sequence[Box]) -> list[Bound]:
        """Of each box the bound by derivatives, its leaf, and which parameter it is wide in."""
        low, high = np.array([box.ends[0] for box in boxes]), np.array([box.ends[1] for box in boxes])
        slopes = slopes_of(kind.chain, self.rows, low, high).slopes
        found = list[Bound]()
        for box, least, most, lo, hi in zip(boxes, slopes.low, slopes.high, low, high, strict=True):
            if not np.all(np.isfinite(least + most)):
                found.append((math.inf, LettersLine(), _wide(box)))
                continue
            point = tuple(
                a if a == b or g1 <= 0.0 else b if g0 >= 0.0 else between(a, b)
                for a, b, g0, g1 in zip(box.low, box.high, least, most, strict=True)
            )
            at = _doubles(point)
            ends = np.stack([least * (lo - at), least * (hi - at), most * (lo - at), most * (hi - at)])
            added = np.maximum(ends.max(axis=0), 0.0)
            loose = added + (most - least) * (hi - lo)
            bound = self._try(kind, point) + (1.0 + SLACK) * float(added.sum())
            found.append((bound, SlopeLeaf(_texts(point)), int(np.argmax(loose)) if loose.max() > 0.0 else None))
        return found

    def _expanded(self, kind: _Record, boxes: Sequence[Box], found: list[Bound]) -> None:
        """Bounds of the chain as one of letters where a derivative has no end, if there is time to check them."""
        middles = {j: boxes[j].middle for j, (bound, _, _) in enumerate(found) if bound == math.inf and self.short}
        points = {j: point for j, point in middles.items() if _are_doubles(x for p in point for x in (p, 1 - p))}
        if not (points and self.checking + len(points) * self._expansion(kind) <= self.clock.left):
            return
        low, high, at = [boxes[j].low for j in points], [boxes[j].high for j in points], list(points.values())
        chain, groups = self._lettered(kind.chain), (_pairs(low, high), _pairs(high, low), _pairs(at, at))
        expansions = tangents(chain, self.rows, *groups)
        for (j, point), bound, bases in zip(points.items(), checked_bounds(expansions), expansions.bases, strict=True):
            self._try(kind, point)
            found[j] = float(bound), ExpansionLeaf(_texts(point), tuple(bases.tolist())), found[j][2]

    def _expansion(self, kind: _Record) -> float:
        """Seconds that checking an expansion takes, predicted."""
        if not self.short:
            return 0.0  # there are none
        return self.clock.pace * expansion_seconds(self._lettered(kind.chain), self.rows.shape[1])

    def _lettered(self, chain: Chain) -> LetterChain:
        return LetterChain(chain.count, chain.record, (0, 1), chain.stationary)

    def _cost(self, leaves: int) -> float:
        """Seconds that checking so many more leaves takes, predicted."""
        return leaves * self.clock.pace * self._checked

    @property
    def _checked(self) -> float:
        """Seconds that checking a leaf takes where nothing else is done."""
        of = CHECKED if self.short else CHECKED[:1]
        return sum(each * self.count**k for k, each in enumerate(of))

    # ------------------------------------------------------------ what is proposed

    @property
    def _best(self) -> _Record:
        return max(self.kinds, key=lambda kind: kind.leakage)

    @property
    def exposed(self) -> int | None:
        return self._best.chain.record

    def exposure(self, slack: float) -> Exposure | None:
        best = self._best
        if best.leakage <= 0.0:
            return None
        point = _doubles(best.point)
        law = joint_law(best.chain, point) if self.short else count_law(self.count, best.chain.record, point)
        masses = np.zeros((2, len(self._input_values)))
        np.add.at(masses.T, inputs_by_ones(self.problem.query, self.problem.records), law.T)
        return _AtPoint(best.chain.record, best.leakage, masses, UNIFORM, point=best.point, tilts=best.tilts)

    @property
    def _input_values(self) -> tuple[int, ...]:
        return tuple(self.problem.query.values(self.problem.records).tolist())

    def uppers(self) -> Iterator[Upper]:
        """As of all audits; what no letter exceeds is claimed as the double above it."""
        most = math.nextafter(math.log(2.0), 1.0)
        for end in super().uppers():
            yield replace(end, value=Fraction(most)) if (end.rounded or 0.0) > most else end

    def proof(self) -> UpperProof:
        return tuple(line for kind in self.kinds for line in (RecordLine(kind.chain.record), *tree_lines(kind.tree)))

    def certain(self) -> tuple[float, UpperProof]:
        """A leakage is at most the entropy of the letter."""
        upper = max(letters_bound(kind.chain, *self.whole.ends) for kind in self.kinds)
        return upper, tuple(line for kind in self.kinds for line in (RecordLine(kind.chain.record), LettersLine()))

    def record_proofs(self) -> tuple[RecordProof, ...]:
        return tuple(
            RecordProof(kind.chain.record, self._times(kind), tree_method(kind.tree), kind.tree.leaves)
            for kind in self.kinds
        )

    def _times(self, kind: _Record) -> int:
        adversary = self.problem.adversary
        assert isinstance(adversary, MarkovChain)
        mirrored = adversary.record is None and adversary.stationary and 2 * kind.chain.record != self.count - 1
        return 2 if mirrored else 1


def _in_closed_form(chain: Chain, low: Floats, high: Floats) -> tuple[float, ProofLine]:
    """The least bound that needs no derivatives, and its leaf."""
    window, left_out = window_bound(chain, low, high)
    blocks, count = blocks_bound(chain, low, high)
    after, within, margin = after_bound(chain, low, high)
    found: list[tuple[float, ProofLine]] = [
        (letters_bound(chain, low, high), LettersLine()),
        (window, WindowLeaf(left_out)),
        (blocks, BlocksLeaf(count)),
        (after, AfterLeaf(within, margin)),
    ]
    return min(found, key=lambda one: one[0])


def _wide(box: Box, of: int = 3) -> int | None:
    """Of the first parameters the one whose range is widest beside its least value; None where the box is a point."""
    widths = [float(hi - lo) / max(float(lo), 1e-3) for lo, hi in zip(box.low[:of], box.high[:of], strict=True)]
    return int(np.argmax(widths)) if max(widths) > 0.0 else None


def _with(point: Point, place: int, value: Fraction) -> Point:
    return (*point[:place], value, *point[place + 1 :])


def _pairs(first: Sequence[Point], second: Sequence[Point]) -> Floats:
    """The least probabilities of both letters, (boxes, groups, letters), of the ends of parameters; the largest of these in turn.

    What 1 exceeds them by is that of the exact numbers: next to 1 it may be less than doubles there are apart.
    """
    ends = np.array(
        [[(float(1 - b), float(a)) for a, b in zip(*both, strict=True)] for both in zip(first, second, strict=True)]
    )
    ends[:, 1] = ends[:, 1, ::-1].copy()
    return ends


def _are_doubles(numbers: Iterable[Fraction]) -> bool:
    """Whether the doubles of these numbers are 0 only where they are: else they do not tell what is possible."""
    return all(x == 0 or float(x) != 0.0 for x in numbers)


def _doubles(point: Point) -> Floats:
    return np.array([float(x) for x in point])


def _texts(point: Point) -> tuple[str, ...]:
    return tuple(map(fraction_text, point))
