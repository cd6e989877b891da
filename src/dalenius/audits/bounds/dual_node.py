"""The work on one node of the dual tree: its output law, multiplier and row leaves, until only splitting letters is left."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.bounds.row_leaves import RowLeaves
from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.audits.bounds.row_search import Row, rows_of
from dalenius.audits.bounds.rows import Multipliers, RowRelaxation
from dalenius.evidence.upper import Side
from dalenius.information import log_sum_exp, x_log_x
from dalenius.information.arrays import Floats, Integers
from dalenius.information.deadline import Deadline
from dalenius.information.secants import intercept
from dalenius.reduction import Chamber, RecordChannel, RecordSymmetries, Source, Triple
from dalenius.search.boxes import BoxTree
from dalenius.search.decimals import short, short_on

REFINED = 32  # row leaves branched at once
ROUNDS = 60
NEAR = 0.3  # of the distance between two clusters of copies: how far from their middle an end of a box may be that parts them
MUCH = 0.2  # of the width that matters: row leaves that lose less than this are not why a bound is above the target
SOME = 1e-3  # weight of a leaf above which it says where to split: with slopes of its own box
ANEW = 64  # leaves that a row tree begins with


@dataclass(frozen=True)
class ConditionalCut:
    """K_letter(output) <= threshold, then K_letter(output) >= threshold.

    The part `side` of the cell stands for its images under the triples: on the other side the whole `orbit` (letters, outputs) is cut.
    """

    letter: int
    output: int
    threshold: float
    side: Side
    orbit: NDArray[np.bool_]
    triples: tuple[Triple, ...]


@dataclass(frozen=True)
class Aim:
    """Aim of a node's bound: at most `target` is enough; `wanted` is the width (nats) that matters; hints get `decimals`.

    A node has at most `most` row leaves. The letter law is `pi`, where the adversary does not choose it. A `fixed` multiplier stays as
    it is: only the output law is chosen. `multipliers` finds those of the row problems.
    """

    channel: RecordChannel
    target: float
    wanted: float
    decimals: int
    most: float
    pi: Floats | None = None
    fixed: bool = False
    multipliers: Multipliers = row_multipliers


@dataclass(eq=False)
class DualNode:
    """A box of the conditionals (letters, outputs), a row tree a letter, (law, beta), the bound they prove, and the next branching.

    A letter's row tree may be that of its source, moved. The law is constant on the orbits of the symmetries that leave the box as it
    is: the best one for these trees is.

    It is `unfinished` as long as the bound is above the target for other reasons than splitting. The ends of the whole channel's
    ranges, `uncut`, stand for exact numbers that no threshold can say.
    """

    low: Floats
    high: Floats
    uncut: Floats
    trees: list[Row]
    law: Floats
    beta: float
    symmetries: RecordSymmetries
    sources: tuple[Source, ...]
    upper: float = np.inf
    cut: ConditionalCut | None = None
    unfinished: bool = True

    @property
    def row_leaves(self) -> int:
        """Leaves of all row trees, shared ones counted once."""
        return sum(1 for tree in {id(tree): tree for tree in self.trees}.values() for _ in tree.leaves())

    def short_slopes(self, channel: RecordChannel, a: int, room: float) -> Floats:
        """The slopes (leaves, outputs) of a letter's row tree with few digits, where the bound may be so much higher.

        It is that much higher where every letter's maximum is: the bound is a soft maximum of these, or a mean.
        """
        relaxation = RowRelaxation(channel.rows, channel.log_uniform[a], self.law / self.law.sum(), self.beta)
        leaves = list(self.trees[a].leaves())
        low, high, kappa = (np.array([getattr(row, name) for row in leaves]) for name in ("low", "high", "kappa"))
        return relaxation.shortened(low, high, kappa, relaxation.largest(low, high, kappa) + room)

    def part(self, channel: RecordChannel, every: RecordSymmetries, cut: ConditionalCut, *, below: bool) -> DualNode:
        """The part of the box on one side of a cut; row trees leave out what it misses, or begin anew where it has lost a symmetry.

        `every` are those of the whole record: a part may have one that its box has not.
        """
        low, high = self.low.copy(), self.high.copy()
        whole = below is (cut.side == "above")
        cells = cut.orbit if whole else (cut.letter, cut.output)
        if below:
            high[cells] = np.minimum(high[cells], cut.threshold)
        else:
            low[cells] = np.maximum(low[cells], cut.threshold)
        symmetries = every.within(low, high)
        sources, orbit = symmetries.sources(low, high), symmetries.outputs(len(self.law))
        rows = {first: self._row(channel, first, low[first], high[first], symmetries, orbit) for first, _ in sources}
        trees = [rows[first] for first, _ in sources]
        return DualNode(low, high, self.uncut, trees, self.law, self.beta, symmetries, sources)

    def _row(
        self, channel: RecordChannel, a: int, low: Floats, high: Floats, symmetries: RecordSymmetries, orbit: Integers
    ) -> Row:
        """The row tree of a letter on a part of the box: what is left of its own, unless that was of more symmetry than is left."""
        tree, move = self.trees[a], self.sources[a][1]
        if move is not None:
            tree = tree.seen_by(move)
        chamber = Chamber.of(symmetries.rows[a], low, high, orbit)
        if tree.chamber.covers(chamber):
            return tree.within(low, high, chamber)
        if tree.chamber.holds(low, high, orbit):
            return tree.within(low, high)
        return self._anew(channel, a, low, high, chamber)

    def _anew(self, channel: RecordChannel, a: int, low: Floats, high: Floats, chamber: Chamber) -> Row:
        """A row tree of a few leaves."""
        law = self.law / self.law.sum()
        relaxation = RowRelaxation(channel.rows, channel.log_uniform[a], law, self.beta)
        tree = BoxTree(relaxation, low, high, np.zeros(law.size), chamber.close)
        while tree.leaves < ANEW and tree.branch(REFINED, above=-np.inf):
            pass
        return rows_of([tree], [chamber])[0]


@dataclass(frozen=True)
class Judged:
    """The row leaves at one (law, beta): what each is worth there.

    Attributes
    ----------
    q : (copies of letters,)
        Their masses.
    weights, values, errors : (leaves,)
        The mass of a leaf, its value, and how much its lines are above the curve.
    K : (leaves, outputs)
        Where each attains its value.
    stale : (leaves,) of bool
        Whether its slopes were chosen for another (law, beta) or a larger box.
    """

    q: Floats
    weights: Floats
    values: Floats
    errors: Floats
    K: Floats
    stale: NDArray[np.bool_]


class NodeWork:
    """Minimise over (law, beta), refine the row leaves that matter, until only splitting is left."""

    def __init__(self, aim: Aim, node: DualNode, clock: Deadline) -> None:
        self.aim, self.node, self.clock = aim, node, clock
        self.rows = aim.channel.rows
        self.lam, self.beta = -np.log(node.law), node.beta
        self.orbit = node.symmetries.outputs(self.rows.shape[1])
        self.leaves = RowLeaves(aim.channel, node.trees, aim.pi)
        self.judged = self._judge()

    def run(self) -> None:
        """Until the bound is at most the target, or splitting is what is left (then the node gets a branching), or time is up."""
        aim, node = self.aim, self.node
        before = node.upper
        for _ in range(ROUNDS):
            if node.upper <= aim.target or self.clock.expired:
                return
            self._minimise()
            self.judged = now = self._judge()
            excess = node.upper - aim.target
            large = max(excess, MUCH * aim.wanted)
            split = now.weights @ now.errors < 0.3 * large and before - node.upper < 0.1 * large
            split &= not np.any(now.stale & (now.weights > SOME))
            before = node.upper
            if excess <= 0.0:
                return
            full = len(self.leaves.items) + REFINED > aim.most
            if split or full or not self._refine(excess):
                break
            self.judged = self._judge()
        node.cut, node.unfinished = self._branching(), False

    def point(self) -> Floats | None:
        """The maximiser, every letter's copies merged: masses (letters, classes); None in an empty box."""
        leaves, trees, weights = self.leaves, self.node.trees, self.judged.weights
        if not weights.any():
            return None
        p = np.zeros_like(self.aim.channel.log_uniform)
        w = leaves.values(self.lam, self.beta)[1]
        for a, tree in enumerate(trees):
            g = int(np.flatnonzero([trees[first] is tree for first in leaves.first])[0])
            mine = leaves.group == g
            p[a] = weights[mine] @ w[mine] * leaves.law.share(a, g)
            if (move := self.node.sources[a][1]) is not None:
                p[a, move.classes] = p[a].copy()
        return p

    def _minimise(self) -> None:
        """Newton's method on the bound with a maximum smoothed at a small share of what the bound is too high."""
        excess = self.leaves.bound(self.lam, self.beta) - self.aim.target
        if not np.isfinite(excess):
            return
        last = max(0.02 * excess, 0.02 * self.aim.wanted)
        how = {"orbit": self.orbit, "fixed": self.aim.fixed}
        for temperature in (8.0 * last, last):
            self.lam, self.beta = self.leaves.descended(
                self.lam, self.beta, temperature, _near, steps=20, shortest=1e-3, close=0.1, **how
            )

    def _judge(self) -> Judged:
        """Round (law, beta), evaluate the bound they prove, and keep them if it is the best so far; what is there, or at the best."""
        aim, leaves = self.aim, self.leaves
        law = np.maximum(np.round(np.exp(-self.lam), aim.decimals + 2), 10.0 ** -(aim.decimals + 2))
        law = law[np.unique(self.orbit, return_index=True)[1]][self.orbit]
        beta = float(short(self.beta, 12))
        lam = -np.log(law / law.sum())
        upper = leaves.bound(lam, beta)
        if upper < self.node.upper:
            self.node.upper, self.node.law, self.node.beta = upper, law, beta
        elif upper > self.node.upper:  # smoothing led astray: back to the best, where the leaves are judged
            lam, beta = -np.log(self.node.law / self.node.law.sum()), self.node.beta
            self.lam, self.beta, upper = lam, beta, leaves.bound(lam, beta)
        values, w = leaves.values(lam, beta)
        psi, share = leaves.maxima(values, max(0.02 * (upper - aim.target), 0.02 * aim.wanted))
        if not np.all(np.isfinite(psi)):
            nothing = np.zeros(len(values))
            return Judged(np.zeros(len(psi)), nothing, values, nothing, w @ self.rows, nothing.astype(np.bool_))
        q, K = leaves.law.masses(psi, beta), w @ self.rows
        inside = np.clip(K, leaves.low, np.maximum(leaves.low, leaves.high))
        error = intercept(leaves.kappa, leaves.low, leaves.high) + leaves.kappa * K - x_log_x(inside)
        outside = np.maximum(K - leaves.high, leaves.low - K) - 0.05 * (leaves.high - leaves.low)
        stale, errors = np.any(outside > 1e-12, axis=1), np.maximum(error.sum(axis=1), 0.0)
        errors[stale] = np.maximum(errors[stale], np.abs(upper - aim.target))
        return Judged(q, q[leaves.group] * share, values, errors, inside, stale)

    def _refine(self, excess: float) -> bool:
        """Branch the row leaves that lose most, of those that keep the bound above the target, at the present (law, beta)."""
        leaves, now = self.leaves, self.judged
        share = leaves.maxima(now.values, max(0.3 * excess, 0.02 * self.aim.wanted))[1]
        error = now.q[leaves.group] * share * now.errors
        chosen = [int(j) for j in np.argsort(-error)[: max(REFINED, len(error) // 10)] if error[j] > 1e-4 * error.sum()]
        stale = [j for j in chosen if now.stale[j] or leaves.items[j].coordinate < 0]
        halved = [j for j in chosen if j not in set(stale) and leaves.items[j].halve()]
        boxes = [leaves.items[j] for j in stale] + [part for j in halved for part in leaves.items[j].parts]
        if not boxes:
            return False
        parents = stale + [j for j in halved for _ in (0, 1)]
        group = leaves.group[parents]
        self._find_slopes(boxes, parents)
        leaves.drop(stale + halved)
        leaves.append(boxes, group)
        return True

    def _find_slopes(self, boxes: list[Row], parents: list[int]) -> None:
        """The best slopes at the best (law, beta) so far, and where to branch next."""
        law, leaves = self.node.law / self.node.law.sum(), self.leaves
        relaxation = RowRelaxation(
            self.rows,
            leaves.log_masses[parents],
            law,
            self.node.beta,
            decimals=self.aim.decimals,
            multipliers=self.aim.multipliers,
        )
        low, high = np.array([row.low for row in boxes]), np.array([row.high for row in boxes])
        relaxed = relaxation(low, high, leaves.kappa[parents])
        for row, kappa, y, t in zip(boxes, relaxed.hints, relaxed.coordinate, relaxed.threshold, strict=True):
            row.kappa, row.threshold = kappa, float(t)
            row.coordinate = int(y) if y >= 0 else int(np.argmax(row.high - row.low))

    def _branching(self) -> ConditionalCut | None:
        """The letter and output where the copies of a letter differ most."""
        node, leaves, weights, K = self.node, self.leaves, self.judged.weights, self.judged.K
        total = leaves.sums(weights, np.ones((len(weights), 1)))[:, 0]
        mean = leaves.sums(weights, K) / np.maximum(total, 1e-300)[:, None]
        spread = leaves.sums(weights, (K - mean[leaves.group]) ** 2) / np.maximum(mean, 1e-12)
        width = (node.high - node.low)[leaves.first]
        score = spread + 1e-9 * total[:, None] * width
        g, y = np.unravel_index(int(np.argmax(score)), score.shape)
        a = leaves.first[g]
        low, high = float(node.low[a, y]), float(node.high[a, y])
        mine = leaves.group == g
        t = self._threshold(low, high, *clusters(K[mine, y], weights[mine]))
        if not low < t < high:
            return None
        orbit, triples = node.symmetries.orbit(int(a), int(y), len(node.law))
        side: Side = "below" if node.trees[a].chamber.above[y].sum() > 1 else "above"
        return ConditionalCut(int(a), int(y), t, side, orbit, triples)

    def _threshold(self, low: float, high: float, less: float, more: float) -> float:
        """Between two clusters of copies, inside a range; where the box was cut elsewhere, if that will do: it may keep a symmetry."""
        t = float(
            short_on(np.clip(0.5 * (less + more), low + 0.05 * (high - low), high - 0.05 * (high - low)), low, high)
        )
        cuts = np.setdiff1d([self.node.low, self.node.high], self.node.uncut)
        cuts = cuts[(cuts > low) & (cuts < high)]
        nearest = min(map(float, cuts), key=lambda cut: abs(cut - t), default=math.inf)
        if abs(nearest - t) <= NEAR * (more - less):
            return nearest
        return math.nextafter(t, high) if t in self.node.uncut else t


def _near(lam: Floats, beta: float, step: Floats) -> tuple[Floats, float]:
    """Take a step that is not too long; the law sums to 1."""
    lam = lam + np.clip(step[:-1], -1.0, 1.0)
    return lam + log_sum_exp(-lam), float(np.clip(beta + step[-1], 0.3 * beta, 3.0 * beta))


def clusters(values: Floats, weights: Floats) -> tuple[float, float]:
    """The means of two clusters, below and above the point that leaves least variance within them."""
    order = np.argsort(values)
    x, w = values[order], weights[order]
    mass, moment = np.cumsum(w), np.cumsum(w * x)
    total, whole = max(mass[-1], 1e-300), moment[-1]
    less, more = np.maximum(mass, 1e-300), np.maximum(total - mass, 1e-300)
    between = np.where((mass > 0.0) & (mass < total), moment**2 / less + (whole - moment) ** 2 / more, -np.inf)
    j = int(np.argmax(between))
    return float(moment[j] / less[j]), float((whole - moment[j]) / more[j]) if mass[j] < total else float(x[-1])
