"""Problem 1 from above: the dual bound, with its output law and multiplier chosen anew on boxes of the conditionals.

On a box of the conditionals K_a the dual bound (docs/theory.md)

    U(r, beta) = beta log sum_a exp(psi_a / beta) - beta b,   psi_a = max over w with K_a in the box of D(wR || r) + beta H(w)

allows a letter to be split into copies with different w; that is all it loses at the best (r, beta). A joint tree halves the box of
the letter that is split most, and so forbids the split. The psi_a are bounded by row trees (`bounds.rows`), which children
inherit. For given row leaves, U is convex in (-log r, beta) and minimised by Newton's method on a smoothed maximum.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.bounds.dual import DualBound
from dalenius.audits.bounds.rows import RowRelaxation
from dalenius.information import log_sum_exp, x_log_x
from dalenius.information.secants import intercept, newton, tighten
from dalenius.reduction import RecordChannel
from dalenius.search.box_tree import BoxTree, short
from dalenius.search.clock import Clock

__all__ = ["DualNode", "DualTree", "Row"]

Floats = NDArray[np.float64]
REFINED = 32  # row leaves branched at once
ROUNDS = 60


@dataclass
class Row:
    """A node of a row tree: a box of one letter's conditional and the slopes of its lines.

    `coordinate` and `threshold` say how it is, or would be, branched (K(y) <= threshold, then K(y) >= threshold).
    """

    low: Floats
    high: Floats
    kappa: Floats
    coordinate: int = -1
    threshold: float = 0.0
    parts: tuple[Row, Row] | None = None

    def leaves(self) -> Iterator[Row]:
        """The leaves below, from left to right."""
        stack = [self]
        while stack:
            row = stack.pop()
            if row.parts is None:
                yield row
            else:
                stack += row.parts[::-1]

    def within(self, low: Floats, high: Floats) -> Row:
        """A copy for a smaller box; branches that miss it are left out."""
        if self.parts is None:
            low, high = np.maximum(self.low, low), np.minimum(self.high, high)
            return Row(low, high, self.kappa, self.coordinate, self.threshold)
        if high[self.coordinate] <= self.threshold:
            return self.parts[0].within(low, high)
        if low[self.coordinate] >= self.threshold:
            return self.parts[1].within(low, high)
        parts = self.parts[0].within(low, high), self.parts[1].within(low, high)
        return Row(self.low, self.high, self.kappa, self.coordinate, self.threshold, parts)


@dataclass
class DualNode:
    """A box of the conditionals (letters, outputs), a row tree a letter, (law, beta), the bound they prove, and the next branching.

    It is `unfinished` as long as the bound is above the target for other reasons than splitting.
    """

    low: Floats
    high: Floats
    trees: list[Row]
    law: Floats
    beta: float
    upper: float = np.inf
    branch: tuple[int, int, float] | None = None
    unfinished: bool = True


class DualTree:
    """Best-first tree; `upper` is valid at any time. At first it is the dual bound itself.

    Parameters
    ----------
    start : DualBound
        The dual bound of a witness, with its row trees.
    target : float
        A node whose bound is at most this is left alone.
    wanted : float
        The width (nats) that matters: half of it may be lost to smoothing and unfinished row trees.
    """

    name = "dual tree"

    def __init__(
        self, channel: RecordChannel, start: DualBound, *, target: float, wanted: float, decimals: int
    ) -> None:
        self.channel, self.target, self.wanted, self.decimals = channel, target, wanted, decimals
        self.point: Floats | None = None
        boxes = [tree.root for tree in start.trees]
        trees = _row_trees(start.trees)
        low, high = (np.array([box[side] for box in boxes]) for side in (0, 1))
        law = np.maximum(start.output_law, 1e-9)
        self.nodes = [DualNode(low, high, trees, law / law.sum(), max(start.beta, 1e-6))]
        self.branches: dict[int, tuple[int, int, float, int, int]] = {}
        self.nodes[0].upper = start.upper
        self._open: list[tuple[float, int]] = [(-start.upper, 0)]
        self._row_leaves = _size(self.nodes[0])

    @property
    def upper(self) -> float:
        """The largest bound of a leaf."""
        return -self._open[0][0]

    @property
    def leaves(self) -> int:
        """Leaves of the joint tree and of all row trees."""
        return len(self.branches) + 1 + self._row_leaves

    def leaf_bytes(self) -> int:
        """About how much memory a row leaf takes."""
        return 1200 + 24 * self.channel.rows.shape[1]

    def grow(self, clock: Clock) -> bool:
        """Bound or branch the leaf with the largest bound; False if nothing can be done about it."""
        index = self._open[0][1]
        node = self.nodes[index]
        if node.unfinished:
            heapq.heappop(self._open)
            self._bound(index, clock)
            return True
        if node.branch is None:
            return False
        heapq.heappop(self._open)
        a, y, threshold = node.branch
        self.branches[index] = (a, y, threshold, len(self.nodes), len(self.nodes) + 1)
        self._row_leaves -= _size(node)
        for below in (True, False):
            low, high = node.low.copy(), node.high.copy()
            (high if below else low)[a, y] = threshold
            copies = {id(tree): tree.within(low[b], high[b]) for b, tree in enumerate(node.trees) if b != a}
            trees = [copies.get(id(tree)) or tree for tree in node.trees]
            trees[a] = node.trees[a].within(low[a], high[a])
            self.nodes.append(DualNode(low, high, trees, node.law, node.beta))
            self._row_leaves += _size(self.nodes[-1])
            self._bound(len(self.nodes) - 1, clock)
        node.trees = []
        return True

    def _bound(self, index: int, clock: Clock) -> None:
        node = self.nodes[index]
        self._row_leaves -= _size(node)
        bounding = _Bounding(self, node, clock)
        bounding.run()
        self.point = bounding.point()
        self._row_leaves += _size(node)
        heapq.heappush(self._open, (-node.upper, index))


def _row_trees(trees: Sequence[BoxTree]) -> list[Row]:
    """Row trees to be grown on; letters that share one keep sharing it."""
    known: dict[int, Row] = {}
    for tree in trees:
        if id(tree) not in known:
            done: dict[int, Row] = {}
            for node in sorted([*tree.branches, *tree.hints], reverse=True):  # children have larger numbers
                if node in tree.branches:
                    coordinate, threshold, left, right = tree.branches[node]
                    parts = done.pop(left), done.pop(right)
                    done[node] = Row(*tree.root, parts[0].kappa, coordinate, threshold, parts)
                else:
                    done[node] = Row(*tree.boxes[node], tree.hints[node], *tree.next[node])
            known[id(tree)] = done[0]
    return [known[id(tree)] for tree in trees]


def _size(node: DualNode) -> int:
    return sum(1 for tree in {id(tree): tree for tree in node.trees}.values() for _ in tree.leaves())


class _Bounding:
    """The work on one node: minimise over (law, beta), refine the row leaves that matter, until only splitting is left."""

    def __init__(self, owner: DualTree, node: DualNode, clock: Clock) -> None:
        self.owner, self.node, self.clock = owner, node, clock
        self.rows, self.log_shares = owner.channel.rows, owner.channel.log_shares
        self.deficit = owner.channel.deficit
        self.products = (self.rows[:, :, None] * self.rows[:, None, :]).reshape(len(self.rows), -1)
        self.lam, self.beta = -np.log(node.law), node.beta
        self._gather()

    def run(self) -> None:
        """Until the bound is at most the target, or splitting is what is left (then the node gets a branching), or time is up."""
        owner, node = self.owner, self.node
        self._record()
        before = node.upper
        for _ in range(ROUNDS):
            if node.upper <= owner.target or self.clock.expired:
                return
            self._minimise()
            self._record()
            excess = node.upper - owner.target
            split = self.weights @ self.errors < 0.3 * excess and before - node.upper < 0.1 * excess
            before = node.upper
            if excess <= 0.0:
                return
            if split or not self._refine(excess):
                break
            self._record()
        node.branch, node.unfinished = self._branching(), False

    def point(self) -> Floats | None:
        """The maximiser, every letter's copies merged: masses (letters, classes); None in an empty box."""
        if not self.weights.any():
            return None
        p = np.zeros_like(self.log_shares)
        w = self._values(self.lam, self.beta)[1]
        for a, tree in enumerate(self.node.trees):
            g = int(np.flatnonzero([self.node.trees[first] is tree for first in self.first])[0])
            mine = self.group == g
            p[a] = self.weights[mine] @ w[mine] / self.count[g]
        return p

    # -- the leaves as arrays

    def _gather(self) -> None:
        """Letters that share a row tree (equal counts, equal boxes) are one group of `count` letters, `first` is one of them."""
        identity = [id(tree) for tree in self.node.trees]
        self.first = np.array(sorted(identity.index(i) for i in set(identity)))
        self.count = np.array([identity.count(identity[a]) for a in self.first])
        self.items: list[Row] = []
        self.group = np.empty(0, dtype=np.int64)
        self.low = self.high = self.kappa = np.empty((0, self.rows.shape[1]))
        self.constant = np.empty(0)
        for g, a in enumerate(self.first):
            leaves = list(self.node.trees[a].leaves())
            self._append(leaves, np.full(len(leaves), g))

    def _append(self, leaves: list[Row], group: NDArray[np.int64]) -> None:
        low, high = (np.array([getattr(leaf, name) for leaf in leaves]) for name in ("low", "high"))
        low, high = tighten(low, high, axis=1)
        kappa = np.array([leaf.kappa for leaf in leaves])
        constant = np.where((low > high).any(axis=1), -np.inf, intercept(kappa, low, high).sum(axis=1))
        self.items += leaves
        self.group = np.concatenate([self.group, group])
        self.low, self.high = np.concatenate([self.low, low]), np.concatenate([self.high, high])
        self.kappa = np.concatenate([self.kappa, kappa])
        self.constant = np.concatenate([self.constant, constant])
        self.shares = self.log_shares[self.first[self.group]]

    def _drop(self, numbers: list[int]) -> None:
        kept = np.ones(len(self.items), dtype=np.bool_)
        kept[numbers] = False
        self.items = [item for item, keep in zip(self.items, kept.tolist(), strict=True) if keep]
        self.group, self.low, self.high = self.group[kept], self.low[kept], self.high[kept]
        self.kappa, self.constant = self.kappa[kept], self.constant[kept]

    def _values(self, lam: Floats, beta: float) -> tuple[Floats, Floats]:
        """psi of every leaf, and its maximiser w (leaves, classes); exp(-lam) is normalised."""
        lam = lam + log_sum_exp(-lam)
        weight = self.shares + (self.kappa + lam) @ self.rows.T / beta
        total = log_sum_exp(weight)
        return self.constant + beta * total, np.exp(weight - total[:, None])

    def _groups(self, values: Floats, temperature: float) -> tuple[Floats, Floats]:
        """The smoothed maximum over each group's leaves, and the leaves' shares in it."""
        groups = len(self.first)
        top = np.full(groups, -np.inf)
        np.maximum.at(top, self.group, values)
        if temperature == 0.0:
            return top, (values == top[self.group]).astype(float)
        shifted = np.exp((values - np.where(np.isfinite(top), top, 0.0)[self.group]) / temperature)
        total = np.zeros(groups)
        np.add.at(total, self.group, shifted)
        share = shifted / np.where(total > 0.0, total, 1.0)[self.group]
        with np.errstate(divide="ignore"):
            return top + temperature * np.log(total), share

    def _total(self, lam: Floats, beta: float, temperature: float) -> float:
        psi = self._groups(self._values(lam, beta)[0], temperature)[0]
        if not np.all(np.isfinite(psi)):
            return -np.inf
        return beta * (float(log_sum_exp(psi / beta + np.log(self.count))) + self.deficit)

    def _masses(self, psi: Floats, beta: float) -> Floats:
        """The letters' masses at the maximum, summed over each group."""
        score = psi / beta + np.log(self.count)
        return np.asarray(np.exp(score - log_sum_exp(score)))

    # -- the minimisation over (law, beta)

    def _minimise(self) -> None:
        """Newton's method on the bound with a maximum smoothed at a small share of what the bound is too high."""
        excess = self._total(self.lam, self.beta, 0.0) - self.owner.target
        if not np.isfinite(excess):
            return
        last = max(0.02 * excess, 0.02 * self.owner.wanted)
        for temperature in (8.0 * last, last):
            value = self._total(self.lam, self.beta, temperature)
            for _ in range(20):
                step = self._direction(temperature)
                length = 1.0
                while length > 1e-3:
                    lam = self.lam + np.clip(length * step[:-1], -1.0, 1.0)
                    beta = float(np.clip(self.beta + length * step[-1], 0.3 * self.beta, 3.0 * self.beta))
                    trial = self._total(lam, beta, temperature)
                    if trial < value:
                        break
                    length *= 0.3
                else:
                    break
                gained, value = value - trial, trial
                self.lam, self.beta = lam + log_sum_exp(-lam), beta
                if gained < 0.1 * temperature:
                    break

    def _direction(self, temperature: float) -> Floats:
        beta = self.beta
        values, w = self._values(self.lam, beta)
        psi, share = self._groups(values, temperature)
        q = self._masses(psi, beta)
        law = np.exp(-self.lam)
        law /= law.sum()
        K = w @ self.rows
        surprise = np.where(np.isfinite(self.shares), self.shares, 0.0) - np.log(np.maximum(w, 1e-300))
        entropy = np.sum(w * surprise, axis=1)
        feature = np.concatenate([K - law, entropy[:, None]], axis=1)
        weight = q[self.group] * share
        size = len(law) + 1
        mean = np.zeros((len(q), size))
        np.add.at(mean, self.group, share[:, None] * feature)
        centred = feature - mean[self.group]
        hessian = (centred * weight[:, None]).T @ centred / temperature
        outer = mean.copy()
        outer[:, -1] -= psi / beta
        outer -= q @ outer
        hessian += (outer * q[:, None]).T @ outer / beta
        joint = weight[:, None] * w
        inner = np.zeros((size, size))
        inner[:-1, :-1] = (joint.sum(axis=0) @ self.products).reshape(size - 1, -1) - (K * weight[:, None]).T @ K
        inner[:-1, -1] = (joint * surprise).sum(axis=0) @ self.rows - (weight * entropy) @ K
        inner[-1, :-1] = inner[:-1, -1]
        inner[-1, -1] = np.sum(joint * surprise**2) - weight @ entropy**2
        hessian += inner / beta
        hessian[:-1, :-1] += np.diag(law) - np.outer(law, law)
        gradient = q @ mean
        gradient[-1] += q @ np.log(self.count) - np.sum(x_log_x(q)) + self.deficit
        hessian[np.arange(size), np.arange(size)] += 1e-9 * np.trace(hessian) / size
        return newton(gradient[None], hessian[None])[0]

    # -- what is kept

    def _record(self) -> None:
        """Round (law, beta), evaluate the bound they prove, and keep them if it is the best so far."""
        law = np.maximum(np.round(np.exp(-self.lam), self.owner.decimals + 2), 10.0 ** -(self.owner.decimals + 2))
        beta = float(short(self.beta, 12))
        lam = -np.log(law / law.sum())
        values, w = self._values(lam, beta)
        upper = self._total(lam, beta, 0.0)
        if upper < self.node.upper:
            self.node.upper, self.node.law, self.node.beta = upper, law, beta
        psi, share = self._groups(values, max(0.02 * (upper - self.owner.target), 0.02 * self.owner.wanted))
        if not np.all(np.isfinite(psi)):
            self.weights = self.errors = np.zeros(len(values))
            self.q, self.values, self.K = np.zeros(len(psi)), values, w @ self.rows
            self.stale: NDArray[np.bool_] = np.zeros(len(values), dtype=np.bool_)
            return
        self.q = self._masses(psi, beta)
        self.weights = self.q[self.group] * share
        self.values = values
        K = w @ self.rows
        self.K = np.clip(K, self.low, np.maximum(self.low, self.high))
        error = intercept(self.kappa, self.low, self.high) + self.kappa * K - x_log_x(self.K)
        outside = np.maximum(K - self.high, self.low - K) - 0.05 * (self.high - self.low)
        self.stale = np.any(outside > 1e-12, axis=1)  # the slopes were chosen for another (law, beta) or a larger box
        self.errors = np.maximum(error.sum(axis=1), 0.0)
        self.errors[self.stale] = np.maximum(self.errors[self.stale], np.abs(upper - self.owner.target))

    def _refine(self, excess: float) -> bool:
        """Branch the row leaves that lose most, of those that keep the bound above the target, at the present (law, beta)."""
        share = self._groups(self.values, max(0.3 * excess, 0.02 * self.owner.wanted))[1]
        error = self.q[self.group] * share * self.errors
        chosen = [int(j) for j in np.argsort(-error)[: max(REFINED, len(error) // 10)] if error[j] > 1e-4 * error.sum()]
        law = self.node.law / self.node.law.sum()
        stale = [j for j in chosen if self.stale[j] or self.items[j].coordinate < 0]
        halved = [j for j in chosen if j not in set(stale) and self._halve(self.items[j])]
        boxes = [self.items[j] for j in stale] + [part for j in halved for part in self.items[j].parts or ()]
        if not boxes:
            return False
        parents = stale + [j for j in halved for _ in (0, 1)]
        group = self.group[parents]
        self._find_slopes(boxes, parents, law)
        self._drop(stale + halved)
        self._append(boxes, group)
        return True

    @staticmethod
    def _halve(leaf: Row) -> bool:
        """Give a leaf two parts, unless it is a point."""
        y, t = leaf.coordinate, leaf.threshold
        if not leaf.low[y] < t < leaf.high[y]:
            y = int(np.argmax(leaf.high - leaf.low))
            t = float(0.5 * (leaf.low[y] + leaf.high[y]))
            if not leaf.low[y] < t < leaf.high[y]:
                return False
        below, above = leaf.high.copy(), leaf.low.copy()
        below[y] = above[y] = t
        leaf.coordinate, leaf.threshold = y, t
        leaf.parts = Row(leaf.low, below, leaf.kappa), Row(above, leaf.high, leaf.kappa)
        return True

    def _find_slopes(self, boxes: list[Row], parents: list[int], law: Floats) -> None:
        """The best slopes at the present (law, beta), and where to branch next."""
        relaxation = RowRelaxation(self.rows, self.shares[parents], law, self.node.beta, decimals=self.owner.decimals)
        low, high = np.array([row.low for row in boxes]), np.array([row.high for row in boxes])
        relaxed = relaxation(low, high, self.kappa[parents])
        for row, kappa, y, t in zip(boxes, relaxed.hints, relaxed.coordinate, relaxed.threshold, strict=True):
            row.kappa, row.threshold = kappa, float(t)
            row.coordinate = int(y) if y >= 0 else int(np.argmax(row.high - row.low))

    def _branching(self) -> tuple[int, int, float] | None:
        """The letter and output where the copies of a letter differ most."""
        node = self.node
        groups = len(self.first)
        total = np.zeros(groups)
        np.add.at(total, self.group, self.weights)
        mean = np.zeros((groups, self.rows.shape[1]))
        np.add.at(mean, self.group, self.weights[:, None] * self.K)
        mean /= np.maximum(total, 1e-300)[:, None]
        spread = np.zeros_like(mean)
        np.add.at(spread, self.group, self.weights[:, None] * (self.K - mean[self.group]) ** 2)
        spread /= np.maximum(mean, 1e-12)
        width = (node.high - node.low)[self.first]
        score = spread + 1e-9 * total[:, None] * width
        g, y = np.unravel_index(int(np.argmax(score)), score.shape)
        a = self.first[g]
        low, high = float(node.low[a, y]), float(node.high[a, y])
        t = float(np.clip(mean[g, y], low + 0.05 * (high - low), high - 0.05 * (high - low)))
        digits = 10.0 ** np.clip(np.ceil(2.0 - np.log10(max(high - low, 1e-13))), 1, 16)
        t = float(np.round(t * digits) / digits)
        return (int(a), int(y), t) if low < t < high else None
