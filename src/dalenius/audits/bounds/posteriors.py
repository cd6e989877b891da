"""Problem 1 from above: branch and bound on the posterior phi(a|y) with column secants (docs/theory.md).

I = H(pi) + sum_y r(y) sum_a phi log phi. On a box low <= phi <= high the inner term lies below its secant, which makes the second
term linear in the prior. With slopes sigma of the lines (a secant's plus a multiplier nu of the box), their intercepts A, and a
multiplier mu of the entropy bound the maximum over priors is the closed form

    c(a,k) = sum_y R(k,y) [ sum_a' A(a',y) + sigma(a,y) ],
    I <= max over p of <c,p> + H(pi) + mu (H(p) - b)                                  (see dalenius.information.tilt).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.bounds.box_slopes import LEAST_MU, MOST_MU, SlopeProgram
from dalenius.audits.bounds.output_groups import FEW
from dalenius.audits.bounds.posterior_groups import MOST_MULTIPLIERS, PosteriorGroups, of_log_odds
from dalenius.information import mutual_information, x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline
from dalenius.information.secants import intercept, secant, tighten
from dalenius.information.tilt import Tilt, entropy_of, tilt
from dalenius.reduction import RecordChannel, RecordSymmetries, Triple
from dalenius.search.boxes import Box, BoxCut, BoxLeaf, BoxTree, End, Relaxed, cuts, stacked
from dalenius.search.clock import Clock
from dalenius.search.decimals import short, short_on, shortened
from dalenius.search.tree import Leaf, Runner, Sprout

BATCH, LARGEST_BATCH = 64, 1024  # boxes that are halved together, in a small tree and in one of thousands of leaves
LEAST_TOLERANCE = 1e-12  # nats: closer to its optimum no relaxation is solved
NO_ERROR = 1e-26
A_LITTLE = 1e-3  # of its error in the middle of a range counts in any case: the maximiser may lie outside the box
MU_LEAVES = 0.9  # of the room for rounding, to the slopes
SMALLEST_WIDTH = 1e-7  # a range that is no wider is not halved where its secant does not err
NEARLY = 1.0 - 1e-5  # times the mean of a posterior no letter of the other half has more
TOO_COARSE = 0.6  # of the room between a prior's leakage and the target: groups that lose more there are refined
TOGETHER, WORK = 16, 1 << 17  # boxes that lose their ends together; pairs times outputs of all of them
COORDINATES = 6  # at which they do, before they are halved
SHARES = (0.7, 0.3)  # of the way from an end to a box's point, in log odds
WORTH = 0.1  # of the largest error: where secants err less nothing is cut off
NARROW = 1e-3  # log odds: less is not cut off
ASKED, CLOSED = 128, 0.4  # ends after which boxes are halved at once, unless so many of them, as a share, were closed
SURE = 1e-6  # probabilities nearer to 0 or 1 count as this where ends are chosen

Part: TypeAlias = BoxLeaf | Sprout[Box, BoxCut]


@dataclass(frozen=True)
class PosteriorHalf:
    """phi(letter|output) >= threshold, with triples that take (letter, output) to every other letter at that output.

    *Bound because* the images of a prior leak as much, and as phi(.|output) sums to 1 one of them has at least its mean there.
    """

    letter: int
    output: int
    threshold: float
    triples: tuple[Triple, ...]

    @classmethod
    def of(cls, symmetries: RecordSymmetries, letter: int, weights: Floats) -> PosteriorHalf | None:
        """At the output of the largest weight where there is one; None where the symmetries leave no output with all letters.

        >>> import dalenius as dl
        >>> from dalenius.reduction import record_channels
        >>> problem = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Count(), mechanism=dl.geometric("0.5"),
        ...     adversary=dl.EntropyAtLeast("0.9 max"))
        >>> symmetries = RecordSymmetries.of(problem, record_channels(problem)[0])
        >>> half = PosteriorHalf.of(symmetries, 1, np.ones(5))
        >>> half.letter, half.output, half.threshold
        (1, 2, 0.499995)
        """
        letters = len(symmetries.rows)
        for output in np.argsort(-weights, kind="stable").tolist():
            orbit, triples = symmetries.orbit(letter, output, len(weights))
            if orbit[:, output].all():
                return cls(letter, output, float(short(np.array(NEARLY / letters), 7)), triples)
        return None


class Looks(NamedTuple):
    """Boxes: bounds and hints; where secants err, and the posteriors at which; narrowed ranges. All by coordinate but for bounds."""

    bounds: Floats
    hints: Floats
    errors: Floats
    points: Floats
    low: Floats
    high: Floats


class PosteriorRelaxation:
    """Upper bounds of the leakage on boxes of the posterior.

    A box is a flat vector over (boxed letters, outputs or their groups). With two letters only the posterior of letter 1 is boxed,
    that of letter 0 follows; with more, all are. A hint is the slopes of the lines above phi log phi for every letter, flat, then mu:
    a child that keeps its parent's slopes has lines no higher on its box, so its bound is no worse. Where the letter law `pi` is
    given, the maximum is over priors that have it. With a `multiplier` every hint has that mu: then the bounds are lines of one
    slope in the entropy bound. Once the `clock` has expired hints are as good as they are by then.
    """

    def __init__(
        self,
        channel: RecordChannel,
        *,
        decimals: int = 9,
        pi: Floats | None = None,
        multiplier: float | None = None,
        groups: PosteriorGroups | None = None,
        clock: Deadline | None = None,
    ) -> None:
        self.channel, self.decimals, self.pi, self.multiplier, self.clock = channel, decimals, pi, multiplier, clock
        self.groups, self.rows = groups, channel.rows if groups is None else groups.rows
        self.log_uniform, self.max_knowledge = channel.log_uniform, channel.max_knowledge
        self.letters, self.outputs = channel.letters, self.rows.shape[1]
        self.boxed = [1] if self.letters == 2 else list(range(self.letters))
        self.size = len(self.boxed) * self.outputs
        self.improves = self.size <= MOST_MULTIPLIERS
        self.most = np.tile(self.rows.max(axis=0), len(self.boxed))  # the largest probability of each output
        self.select = np.eye(self.letters)[:, self.boxed]  # (letters, boxed letters)
        self.target = -np.inf  # a bound below it is good enough
        self.point: Floats | None = None  # the maximiser in the box of the last batch with the largest bound

    def __getstate__(self) -> dict[str, object]:
        """In another process: its clock stays here."""
        return {**self.__dict__, "clock": None}

    @cached_property
    def program(self) -> SlopeProgram:
        """Program that finds multipliers; its arrays have a row for every boxed letter with an output, so only where it `improves`."""
        fixed = self.multiplier is not None
        return SlopeProgram(self.rows, self.log_uniform, self.max_knowledge, self.boxed, fixed, self.pi)

    def regrouped(self, groups: PosteriorGroups) -> PosteriorRelaxation:
        """The same of other groups."""
        return self._of(self.channel, groups, self.clock)

    def of_channel(self, channel: RecordChannel, p: Floats, clock: Deadline | None) -> PosteriorRelaxation:
        """The same of another channel with these outputs, in the same groups, which lose little at masses p."""
        old = self.groups
        groups = None if old is None else old.given(channel, (p,), old.most, old.alone, old.members)
        return self._of(channel, groups, clock)

    def _of(
        self, channel: RecordChannel, groups: PosteriorGroups | None, clock: Deadline | None
    ) -> PosteriorRelaxation:
        return PosteriorRelaxation(
            channel, decimals=self.decimals, pi=self.pi, multiplier=self.multiplier, groups=groups, clock=clock
        )

    def root(self, mu: float) -> tuple[Floats, Floats, Floats]:
        """The box [0, 1] and hints to start with."""
        slopes = np.zeros(self.letters * self.outputs)
        mu = max(mu, 1e-3) if self.multiplier is None else self.multiplier
        return np.zeros(self.size), np.ones(self.size), np.append(slopes, mu)

    def __call__(self, low: Floats, high: Floats, hints: Floats) -> Relaxed:
        looks = self.look(low, high, hints)
        return Relaxed(looks.bounds, looks.hints, *self.branch(looks))

    def look(self, low: Floats, high: Floats, hints: Floats) -> Looks:
        """Bounds, and where they may be too high."""
        full_low, full_high = self._all_letters(low, high)
        low, high = (x[:, self.boxed].reshape(low.shape) for x in (full_low, full_high))
        at_zero, slope = secant(full_low, full_high)
        empty = np.any(full_low > full_high, axis=(1, 2))
        point, bounds = self._bound(hints, full_low, full_high)
        p, hints = point.p, hints.copy()
        rest = np.flatnonzero(~empty & (bounds >= self.target))  # what the parents' hints leave open
        if len(rest):
            trial, found = self._optimal(*(x[rest] for x in (at_zero, slope, low, high, hints)))
            point, value = self._bound(trial, full_low[rest], full_high[rest])
            hints[rest] = np.where((value < bounds[rest])[:, None], trial, hints[rest])
            bounds[rest] = np.minimum(value, bounds[rest])
            p[rest] = np.where(np.all(np.isfinite(found), axis=(1, 2), keepdims=True), found, point.p)
        bounds = np.where(empty, -np.inf, bounds)
        self.point = p[np.argmax(bounds)]
        return Looks(bounds, hints, *self._errors(p, full_low, full_high, at_zero, slope), low, high)

    def shortened(self, low: Floats, high: Floats, hints: Floats, level: float) -> Floats:
        """Hints with few digits that prove bounds of at most a level wherever the given ones do."""
        full_low, full_high = self._all_letters(low, high)
        r = (self._bound(hints, full_low, full_high)[0].p @ self.rows).sum(axis=1)
        costs = ((full_high - full_low) * r[:, None, :]).reshape(len(low), -1)
        mu = hints[:, -1:]
        if self.multiplier is None:
            mu = self._shortest_mu(hints, full_low, full_high, level)

        def bound(slopes: Floats) -> Floats:
            return self._bound(np.concatenate([slopes, mu], axis=1), full_low, full_high)[1]

        slopes = shortened(hints[:, :-1], costs, level, self.decimals, bound)
        return np.concatenate([slopes, mu], axis=1)

    def _shortest_mu(self, hints: Floats, low: Floats, high: Floats, level: float) -> Floats:
        """Multipliers of fewer digits where that takes little of the room that there is: the bound is level in them."""
        mu, room = hints[:, -1:], level - self._bound(hints, low, high)[1]
        for digits in (5, 4, 3, 2):
            trial = short(hints[:, -1:], digits)
            value = self._bound(np.concatenate([hints[:, :-1], trial], axis=1), low, high)[1]
            mu = np.where((level - value >= MU_LEAVES * room)[:, None] & (room > 0.0)[:, None], trial, mu)
        return mu

    def _optimal(
        self, at_zero: Floats, slope: Floats, low: Floats, high: Floats, hints: Floats
    ) -> tuple[Floats, Floats]:
        """Hints that are nearly the best for these boxes, and the relaxation's maximisers (not finite if they are not known)."""
        mu = hints[:, -1]
        plain = np.concatenate([np.zeros_like(low), mu[:, None]], axis=1)
        scores = self._scores(at_zero.sum(axis=1)[:, None, :] + slope)
        tolerance = max(10.0**-self.decimals, LEAST_TOLERANCE)
        known = hints[:, :-1].reshape(slope.shape) - slope
        nu = (known[:, 1:] - known[:, :1] if self.letters == 2 else known).reshape(low.shape)
        found = self.program.solve(scores, low, high, nu, mu, target=self.target, tolerance=tolerance, clock=self.clock)
        x = np.concatenate([found.nu, np.clip(found.mu, LEAST_MU, MOST_MU)], axis=1)
        x = np.where(np.all(np.isfinite(x), axis=1, keepdims=True), x, plain)
        return self._slopes(slope, x), found.p

    def _slopes(self, slope: Floats, x: Floats) -> Floats:
        """Multipliers (nu, mu) as hints: slopes of every letter's lines, and mu, rounded short."""
        nu = x[:, :-1].reshape(len(x), len(self.boxed), self.outputs)
        slopes = np.round(slope + self.select @ nu, self.decimals).reshape(len(x), -1)
        mu = short(x[:, -1:], 7) if self.multiplier is None else np.full((len(x), 1), self.multiplier)
        return np.concatenate([slopes, mu], axis=1)

    def _scores(self, gain: Floats) -> Floats:
        """Scores that gains (boxes, letters, outputs) give each class, with the groups' costs."""
        scores = gain @ self.rows.T
        return scores if self.groups is None else scores + self.groups.costs

    def _bound(self, hints: Floats, low: Floats, high: Floats) -> tuple[Tilt, Floats]:
        """The maximiser, and the bound that these hints prove; inf where numbers are too large to tell."""
        sigma, mu = hints[:, :-1].reshape(low.shape), hints[:, -1]
        point = tilt(
            self._scores(intercept(sigma, low, high).sum(axis=1)[:, None, :] + sigma), self.log_uniform, mu, pi=self.pi
        )
        value = point.value + mu * self.max_knowledge
        return point, np.where(np.isnan(value), np.inf, value)

    def _errors(self, p: Floats, low: Floats, high: Floats, at_zero: Floats, slope: Floats) -> tuple[Floats, Floats]:
        """By how much secants err, at each output those of all letters, and the posteriors at which, of masses p; by coordinate.

        An error counts as the geometric mean of what it is at p and in the middle of the range: where the two differ much, a cut at p
        leaves a part that is nearly as wide as before.
        """
        u = p @ self.rows
        r = u.sum(axis=1)
        phi = np.clip(u / np.maximum(r, 1e-300)[:, None, :], low, high)
        middle = 0.5 * (low + high)
        here, there = (np.maximum(at_zero + slope * v - x_log_x(v), 0.0) for v in (phi, middle))
        error = r[:, None, :] * (np.sqrt(here * there) + A_LITTLE * there)
        flat = error.sum(axis=1)
        if len(self.boxed) > 1:
            flat = (flat[:, None, :] * (1e-9 + error[:, self.boxed])).reshape(len(u), -1)
        return flat, phi[:, self.boxed].reshape(len(u), -1)

    def branch(self, looks: Looks) -> tuple[NDArray[np.int64], Floats]:
        """The output whose secants err most, and there the letter that errs most; if none errs, the widest range."""
        width = looks.high - looks.low
        wide = np.where(width > SMALLEST_WIDTH, width * self.most, 0.0)
        errs = looks.errors.max(axis=1, keepdims=True) > NO_ERROR
        return cuts(np.where(errs, looks.errors, wide), looks.points, looks.low, looks.high)

    def _all_letters(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The boxes of every letter, tightened with sum_a phi(a|y) = 1 and by their neighbours: (boxes, letters, outputs)."""
        low, high = low.reshape(-1, len(self.boxed), self.outputs), high.reshape(-1, len(self.boxed), self.outputs)
        if self.letters == 2:
            low, high = np.concatenate([1.0 - high, low], axis=1), np.concatenate([1.0 - low, high], axis=1)
        else:
            low, high = tighten(low, high, axis=1)
        if self.groups is None:
            return low, high
        return tighten(*self.groups.narrowed(low, high), axis=1)


class PosteriorBoxes(BoxTree):
    """Boxes that lose their ends before they are halved, where they have many coordinates.

    At the coordinate where the relaxation errs most a share of the way from either end to the box's own point is cut off if that part
    is closed by its own bound, then at the next such coordinate of what is left. Each part is a leaf by itself. Where many priors are
    nearly the worst, as of the best mechanism there is, few ends are closed, and boxes are halved at once.
    """

    _relaxation: PosteriorRelaxation
    _asked, _closed = 0, 0  # ends, and those that were closed

    def branch(self, batch: int, *, above: float) -> bool:
        """Take the leaves with the largest bounds apart, only those above a level, which is what cuts are to reach; False if none."""
        spread = self._asked >= ASKED and self._closed < CLOSED * self._asked
        halves = len(self.root.low) <= FEW or spread or not np.isfinite(above)
        if halves:
            return super().branch(batch, above=above)
        together = max(1, min(TOGETHER, WORK // (self._relaxation.log_uniform.size * self._relaxation.outputs)))
        return self.grow(partial(self._cut_off, target=above), together, above=above)

    def _cut_off(self, leaves: list[BoxLeaf], target: float) -> list[Part]:
        low, high, hints = stacked([leaf.content for leaf in leaves], "low", "high", "hints")
        looks = self._relaxation.look(low, high, hints)
        ends: list[list[End[BoxLeaf]]] = [[] for _ in leaves]
        tried, boxes = np.zeros(low.shape, dtype=np.bool_), np.arange(len(leaves))
        for _ in range(COORDINATES):
            errors = np.where(tried, -1.0, looks.errors)
            coordinate = np.argmax(errors, axis=1)
            going = (looks.bounds > target) & (errors[boxes, coordinate] >= WORTH * looks.errors.max(axis=1))
            if not going.any():
                break
            for near in (-1, 0, 1):
                tried[boxes, np.clip(coordinate + near, 0, low.shape[1] - 1)] = True
            closed = self._closed_ends(low, high, looks, coordinate, np.flatnonzero(going), target)
            self._asked, self._closed = self._asked + 2 * int(going.sum()), self._closed + len(closed)
            for box, end in closed:
                ends[box].append(end)
                (high if end.above else low)[box, end.coordinate] = end.threshold
            some = np.unique([box for box, _ in closed]).astype(np.int64)
            if len(some):
                anew = self._relaxation.look(low[some], high[some], looks.hints[some])
                for known, new in zip(looks, anew, strict=True):
                    known[some] = new
        return self._apart(leaves, low, high, looks, ends, target)

    def _closed_ends(
        self,
        low: Floats,
        high: Floats,
        looks: Looks,
        coordinate: NDArray[np.int64],
        boxes: NDArray[np.int64],
        target: float,
    ) -> list[tuple[int, End[BoxLeaf]]]:
        """Of each of some boxes the largest share of either end of a coordinate that is closed."""
        owners, sides = np.repeat(boxes, 2), np.tile([False, True], len(boxes))
        places = coordinate[owners]
        least, most, point = (x[owners, places] for x in (looks.low, looks.high, looks.points))
        end = _log_odds(np.where(sides, most, least))
        way, found = _log_odds(point) - end, list[tuple[int, End[BoxLeaf]]]()
        pending = np.arange(len(owners))
        for share in SHARES:
            thresholds = short_on(of_log_odds(end + share * way), least, most)
            inside = (share * np.abs(way) > NARROW) & (thresholds > least) & (thresholds < most)
            pending = pending[inside[pending]]
            if not len(pending):
                break
            owner, place, above, threshold = (x[pending] for x in (owners, places, sides, thresholds))
            lows, highs, row = low[owner], high[owner], np.arange(len(owner))
            lows[row, place] = np.where(above, threshold, lows[row, place])
            highs[row, place] = np.where(above, highs[row, place], threshold)
            tried = self._relaxation.look(lows, highs, looks.hints[owner])
            shut = tried.bounds <= target
            for j in np.flatnonzero(shut).tolist():
                leaf: BoxLeaf = Leaf(Box(lows[j], highs[j], tried.hints[j]), float(tried.bounds[j]), None)
                found.append((int(owner[j]), End(int(place[j]), float(threshold[j]), bool(above[j]), leaf)))
            pending = pending[~shut]
        return found

    def _apart(
        self,
        leaves: list[BoxLeaf],
        low: Floats,
        high: Floats,
        looks: Looks,
        ends: list[list[End[BoxLeaf]]],
        target: float,
    ) -> list[Part]:
        """Rests of boxes, halved where it is open, below the cuts that led to it."""
        bounds = np.minimum(looks.bounds, [leaf.bound for leaf in leaves])
        where = zip(*(x.tolist() for x in self._relaxation.branch(looks)), strict=True)
        rests = [
            Leaf(Box(*box), float(bound), cut if cut[0] >= 0 else leaf.cut)
            for leaf, bound, cut, *box in zip(leaves, bounds, where, low, high, looks.hints, strict=True)
        ]
        halved = [j for j, rest in enumerate(rests) if rest.bound > target]
        parts = iter(self._halved([rests[j] for j in halved]) if halved else [])
        whole: list[Part] = [_halves(rest, next(parts)) if j in halved else rest for j, rest in enumerate(rests)]
        return [_chain(mine, part) for mine, part in zip(ends, whole, strict=True)]


def _log_odds(x: Floats) -> Floats:
    x = np.clip(x, SURE, 1.0 - SURE)
    return np.asarray(np.log(x) - np.log1p(-x))


def _halves(leaf: BoxLeaf, parts: list[BoxLeaf]) -> Sprout[Box, BoxCut]:
    assert leaf.cut is not None
    return Sprout(leaf.cut, tuple(parts))


def _chain(ends: list[End[BoxLeaf]], rest: Part) -> Part:
    """Cuts one after another: on one side of each what is closed, on the other the next cut, or what is left."""
    for end in reversed(ends):
        parts = (rest, end.leaf) if end.above else (end.leaf, rest)
        rest = Sprout((end.coordinate, end.threshold), parts)
    return rest


class PosteriorTree(Runner):
    """The tree over boxes of the posterior."""

    name = "posterior"
    tree: PosteriorBoxes

    def __init__(
        self, relaxation: PosteriorRelaxation, mu: float, *, target: float, half: PosteriorHalf | None = None
    ) -> None:
        """Of the whole box, or of one part of it that stands for all others, of which `half` says why."""
        self.target, self.half, self.mu = target, half, mu
        self._begin(relaxation)

    def _begin(self, relaxation: PosteriorRelaxation) -> None:
        self.relaxation, groups = relaxation, relaxation.groups
        relaxation.target = self.target
        low, high, hints = relaxation.root(self.mu)
        if self.half is not None:
            output = self.half.output if groups is None else groups.members.index((self.half.output,))
            low[relaxation.boxed.index(self.half.letter) * relaxation.outputs + output] = self.half.threshold
        self.tree = PosteriorBoxes(relaxation, low, high, hints)
        self.point = relaxation.point
        self.grouped = 1.0 if groups is None else relaxation.outputs / len(groups.shares)
        self.ranges = 0 if groups is None else relaxation.size
        self.finest = groups is None

    def of_channel(
        self, channel: RecordChannel, p: Floats, half: PosteriorHalf | None, target: float, clock: Deadline
    ) -> Self:
        """The tree of another channel with these outputs: the same boxes with their hints, bounded anew.

        *Bound because* boxes that cover all posteriors do so of any channel, and hints prove what they prove.
        """
        other = type(self)(self.relaxation.of_channel(channel, p, clock), self.mu, target=target, half=half)
        other.tree.follow(self.tree)
        return other

    @property
    def coarse(self) -> bool:
        """True if it is the groups of outputs that keep the bound up, and there may be more of them.

        No box about a prior, small as it is, has a bound below its leakage with what groups lose there, but for what its entropy
        lacks, times mu. That they lose much of what a bound is above the target says less: small boxes' points are others.
        """
        groups = self.relaxation.groups
        if self.finest or groups is None or self.point is None or self.tree.lends or self.upper <= self.target:
            return False
        p, channel = self.point / self.point.sum(), groups.channel
        lacks = max(-float(entropy_of(p, channel.log_uniform)) - channel.max_knowledge, 0.0)
        room = self.target - float(mutual_information(p @ channel.rows)) + self.mu * lacks
        return groups.lost(p) > TOO_COARSE * room

    def refine(self) -> bool:
        """Begin anew with groups that lose little where the bound is largest; False if there are none."""
        groups = self.relaxation.groups
        assert groups is not None
        assert self.point is not None
        finer = groups.finer(self.point / self.point.sum())
        if finer is None:
            self.finest = True
            return False
        self._begin(self.relaxation.regrouped(finer))
        return True

    def leaf_bytes(self) -> int:
        return self.tree.leaf_bytes()

    @property
    def common(self) -> list[tuple[object, str]]:
        return [(self, "relaxation"), *self.tree.common]

    @property
    def told(self) -> int:
        return len(self.tree.told)

    def grow(self, clock: Clock) -> bool:
        self.relaxation.target = self.target
        grown = self.tree.branch(min(max(BATCH, self.tree.leaves // 16), LARGEST_BATCH), above=self.target)
        self.point = self.relaxation.point
        return grown
