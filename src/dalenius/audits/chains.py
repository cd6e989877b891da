"""Markov chains: the largest leakage of a record over a box of transition probabilities, by branch and bound on the box.

*Why*: with few records I(X_i; Y) and its derivatives are enclosed on a box, and a mean value bounds it there; with many, X_i is nearly
like any other record of a long window, so that it tells what the share of ones in the window does (docs/theory.md, Markov chains).
*From below*: the best point that was met.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from dalenius.audits.chain_trees import (
    ChainLeaf,
    ChainTrees,
    Content,
    Kind,
    checked_bounds,
    expansion_seconds,
    is_expanded,
    texts,
)
from dalenius.evidence import Upper
from dalenius.evidence.upper import (
    AfterLeaf,
    BlocksLeaf,
    ExpansionLeaf,
    LettersLine,
    ProofLine,
    SlopeLeaf,
    WindowLeaf,
)
from dalenius.exact import between
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
from dalenius.information.letter_chains import LetterChain, Numbers, tangents
from dalenius.model import MarkovChain
from dalenius.model.adversaries.chains import inputs_by_ones, two_sided
from dalenius.search.tree import Leaf

BATCH, BOXES = 32, 960  # boxes that are halved at once: so many at most, and of longer chains so many records together
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


@dataclass
class _Record(Kind[Chain]):
    """With the leakages of the points that were met."""

    floor: float = 0.0  # what closed forms say of the lowest corner: they say no less of any box
    known: dict[Point, float] = field(default_factory=dict)


@dataclass
class ChainAudit(ChainTrees[_Record]):
    """A running audit against `MarkovChain`."""

    def __post_init__(self) -> None:
        problem, adversary = self.problem, self.problem.adversary
        assert isinstance(adversary, MarkovChain)
        self.count, self.short = len(problem.records), problem.route.whole
        if self.short and two_sided(problem.query, problem.mechanism) is not None:
            self.short = PATIENCE * self._checked <= self.clock.left  # what has a closed form need not be written out
        self.inputs = inputs_by_ones(problem.query, problem.records)
        if self.short:
            self.rows = problem.channel[self.inputs]
        ends = tuple(zip(*adversary.box, strict=True))
        self.whole = Box(ends[0], ends[1])
        for record in adversary.records_of(problem.records):
            chain = Chain(self.count, record, adversary.stationary)
            mirrored = adversary.record is None and adversary.stationary and 2 * record != self.count - 1
            times = 2 if mirrored else 1
            self.records.append(_Record(chain, self._by_letters(chain), self.whole.low, times=times))

    @property
    def enough(self) -> float:
        """No leaf needs a smaller bound, or none can have one: where bounds are windows, no box has a smaller one than its points."""
        return max(super().enough, (1.0 + CLOSE) * max((kind.floor for kind in self.records), default=0.0))

    def _in_order(self) -> list[_Record]:
        return sorted(self.records, key=lambda each: -each.chain.room)

    def _batch(self, kind: _Record) -> int:
        """Of long chains fewer at once: what they take grows with the length, and nobody looks at the clock meanwhile."""
        return int(np.clip(BOXES // self.count, 1, BATCH)) if self.checking <= self.clock.left else 0

    def _begin(self, kind: _Record) -> None:
        """Points of a grid, where no box is evaluated at one, and the first leaf."""
        if not self.short:
            corner = _doubles(self.whole.low)
            kind.floor = _in_closed_form(kind.chain, corner, corner)[0]
        known = self.best  # the same chain tells most about most records
        best = [known.point] if known is not None and known.lower > 0.0 else self._grid()
        self._try(kind, best if not self.short else (self.whole.low, self.whole.high))
        leaves = self._leaves_of(kind, [self.whole], [kind.tree.upper])
        self.checking += self._cost(kind, leaves)
        kind.tree.renew(leaves[0])

    def _grid(self) -> list[Point]:
        """Of long chains; from any start the stationary one is tried."""
        axes = [
            [lo + (hi - lo) * k / (GRID - 1) for k in range(GRID)]
            for lo, hi in zip(self.whole.low, self.whole.high, strict=True)
        ]
        points = dict.fromkeys((x, y) for x in axes[0] for y in axes[1])
        return [(x, y) if len(axes) == 2 else (x, y, x / (x + y)) for x, y in points]

    def _try(self, kind: _Record, points: Sequence[Point]) -> None:
        """The leakages at these points, of which the best is kept if it is the record's best."""
        new = [point for point in dict.fromkeys(points) if point not in kind.known]
        for point, (leakage, tilts) in zip(new, self._told(kind, new), strict=True):
            kind.known[point] = leakage
            if leakage > kind.lower:
                kind.lower, kind.point, kind.tilts = leakage, point, tilts

    def _told(self, kind: _Record, points: Sequence[Point]) -> Iterator[tuple[float, tuple[float, float] | None]]:
        """The leakage at each point, and the tilts of a release that is not written out."""
        if self.short and points:
            laws = joint_law(kind.chain, np.array([_doubles(point) for point in points]))
            yield from ((float(leakage), None) for leakage in mutual_information(laws @ self.rows))
        elif points:
            yield from ((found.leakage, found.tilts) for found in (self._tilted(kind, point) for point in points))

    def _tilted(self, kind: _Record, point: Point) -> Tilted:
        epsilon = two_sided(self.problem.query, self.problem.mechanism)
        assert epsilon is not None
        return tilted(self.count, kind.chain.record, _doubles(point), float(epsilon))

    def _leaves_of(self, kind: _Record, boxes: Sequence[Box], most: Sequence[float]) -> list[ChainLeaf]:
        nothing: Bound = (math.inf, LettersLine(), None)
        slopes: list[Bound] = self._by_slopes(kind, boxes) if self.short else [nothing] * len(boxes)
        self._expanded(kind, boxes, most, slopes)
        found = list[ChainLeaf]()
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
        found: list[Bound] = [(math.inf, LettersLine(), _wide(box)) for box in boxes]
        points = dict[int, Point]()
        known = np.all(np.isfinite(slopes.low) & np.isfinite(slopes.high), axis=1)
        for j in np.flatnonzero(known).tolist():
            points[j] = tuple(
                a if a == b or g1 <= 0.0 else b if g0 >= 0.0 else between(a, b)
                for a, b, g0, g1 in zip(boxes[j].low, boxes[j].high, slopes.low[j], slopes.high[j], strict=True)
            )
        self._try(kind, [*points.values()])
        for j, point in points.items():
            least, most, lo, hi, at = slopes.low[j], slopes.high[j], low[j], high[j], _doubles(point)
            ends = np.stack([least * (lo - at), least * (hi - at), most * (lo - at), most * (hi - at)])
            added = np.maximum(ends.max(axis=0), 0.0)
            loose = added + (most - least) * (hi - lo)
            bound = kind.known[point] + (1.0 + SLACK) * float(added.sum())
            found[j] = (bound, SlopeLeaf(texts(point)), int(np.argmax(loose)) if loose.max() > 0.0 else None)
        return found

    def _expanded(self, kind: _Record, boxes: Sequence[Box], most: Sequence[float], found: list[Bound]) -> None:
        """Bounds of the chain as one of letters where derivatives have no end, or say nothing, if there is time to check them."""
        points = {j: box.middle for j, box in enumerate(boxes) if self.short and not found[j][0] < most[j]}
        if not points:
            return
        if self.checking + len(points) * self._expansion(kind) > self.clock.left:
            self.out_of_time = True
            return
        low, high, at = [boxes[j].low for j in points], [boxes[j].high for j in points], list(points.values())
        groups = _pairs(low, high), _pairs(high, low), _pairs(at, at)
        expansions = tangents(self._lettered(kind.chain), self.rows, *groups)
        self._try(kind, [*points.values()])
        for (j, point), bound, bases in zip(points.items(), checked_bounds(expansions), expansions.bases, strict=True):
            if bound < found[j][0]:
                found[j] = float(bound), ExpansionLeaf(texts(point), tuple(bases.tolist())), found[j][2]

    def _expansion(self, kind: _Record) -> float:
        """Seconds that checking an expansion takes, predicted."""
        if not self.short:
            return 0.0  # there are none
        return self.clock.pace * expansion_seconds(self._lettered(kind.chain), self.rows.shape[1])

    def _lettered(self, chain: Chain) -> LetterChain:
        return LetterChain(chain.count, chain.record, (0, 1), chain.stationary)

    def _cost(self, kind: _Record, leaves: Sequence[ChainLeaf]) -> float:
        expansions = sum(map(is_expanded, leaves))
        return len(leaves) * self.clock.pace * self._checked + expansions * self._expansion(kind)

    @property
    def _checked(self) -> float:
        """Seconds that checking a leaf takes where nothing else is done."""
        of = CHECKED if self.short else CHECKED[:1]
        return sum(each * self.count**k for k, each in enumerate(of))

    # ------------------------------------------------------------ what is proposed

    def _law(self, kind: _Record) -> Floats:
        point = _doubles(kind.point)
        return joint_law(kind.chain, point) if self.short else count_law(self.count, kind.chain.record, point)

    def _letters(self, chain: Chain, box: Box) -> float:
        return letters_bound(chain, *box.ends)

    def uppers(self) -> Iterator[Upper]:
        """As of all audits; what no letter exceeds is claimed as the double above it."""
        most = math.nextafter(math.log(2.0), 1.0)
        for end in super().uppers():
            yield replace(end, value=Fraction(most)) if (end.rounded or 0.0) > most else end


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


def _pairs(first: Sequence[Point], second: Sequence[Point]) -> Numbers:
    """The least probabilities of both letters, (boxes, groups, letters), of the ends of parameters; the largest of these in turn."""
    ends = np.array(
        [[(1 - b, a) for a, b in zip(*both, strict=True)] for both in zip(first, second, strict=True)], dtype=object
    )
    ends[:, 1] = ends[:, 1, ::-1].copy()
    return ends


def _doubles(point: Point) -> Floats:
    return np.array([float(x) for x in point])
