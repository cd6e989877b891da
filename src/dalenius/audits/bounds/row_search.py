"""Branch and bound for one letter's row problem: cuts that close at once, finer groups, halves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np

from dalenius.audits.bounds.output_groups import Groups
from dalenius.audits.bounds.row_boxes import Bounded, Plan, Refinement, RowBox, RowLeaf, RowProblem, shrunk
from dalenius.evidence.upper import ProofLine
from dalenius.information import x_log_x
from dalenius.information.arrays import Floats
from dalenius.information.secants import secant
from dalenius.reduction import Chamber, RowSymmetry
from dalenius.search.boxes import BoxCut, BoxTree, halves
from dalenius.search.decimals import branching_point
from dalenius.search.tree import Branch, Leaf, Sprout, Tree, preorder

GAINS = 0.1  # cuts that make secants err less by this share are made again before anything else
PARTITION = 0.25  # of a leaf with slopes for all outputs: what a partition takes to be checked when it is met first
_NOTHING = np.empty(0)
PART: RowLeaf = Leaf(
    RowBox((), _NOTHING, _NOTHING, _NOTHING), -np.inf, None
)  # of a closed part that is a leaf by itself
FINER = 1.0  # groups are split where they lose more than this share of what secants lose


class RowTree(Tree[RowBox, Plan]):
    """Best-first tree of one letter's row problem. A bound at most `target` is enough: that is what cuts are made for.

    `room` is by how much that is more than the problem attains: groups are at first so fine that they lose no more. Closed leaves may
    be told, as they are written; from then on they prove the target, and no less.

    The parts of a branch are those that its cuts close, in their order, then what is left: both halves, or one part.
    """

    def __init__(self, problem: RowProblem, target: float, room: float) -> None:
        self.problem, self.target = problem, target
        (root,) = problem.bounded([problem.root(room)])
        self.root, self._slopes = root.box, len(root.box.slopes)
        self.told = dict[int, Floats]()  # slopes of closed leaves
        self.lines = dict[int, ProofLine]()  # as they were written
        self.untold = list[int]()  # the numbers of those that were not told
        self._above = dict[int, int]()  # the numbers of parts' branches
        self._partitions = {root.box.groups} - {problem.groups.singles}
        super().__init__(self._planned(root))

    @property
    def grouped(self) -> float:
        """Mean number of slopes of a leaf, as a share of the number of outputs, and of partitions."""
        return (self._slopes / self.problem.groups.rows.shape[1] + PARTITION * len(self._partitions)) / self.leaves

    def branch(self, batch: int, *, above: float) -> bool:
        """Take boxes with the largest bounds apart, at most `batch`, only those above a level, and above the target; False if none."""
        return self.grow(self._taken_apart, batch, above=max(above, self.target))

    @property
    def upper(self) -> float:
        return max(super().upper, self.target) if self.told else super().upper

    def tell(self) -> dict[int, tuple[RowBox, Floats]]:
        """Tell the closed leaves that were not told: their boxes and slopes, by their numbers."""
        self.shorten()
        boxes = {number: self._leaf(number).content for number in self.untold}
        found = {number: (box, box.short) for number, box in boxes.items() if box.short is not None}  # so have all
        self.told |= {number: slopes for number, (_, slopes) in found.items()}
        self.untold = []
        return found

    def shorten(self) -> None:
        """Find the slopes of closed leaves that were not told as they will be written."""
        boxes = {n: leaf.content for n in self.untold if (leaf := self._leaf(n)).content.short is None}
        slopes = self.problem.shortened(list(boxes.values()), self.target)
        for (number, box), short in zip(boxes.items(), slopes, strict=True):
            self.nodes[number] = Leaf(replace(box, short=short), self._leaf(number).bound, None)

    @property
    def common(self) -> list[tuple[object, str]]:
        return [(self, "problem")]

    def above(self, numbers: Iterable[int]) -> set[int]:
        """The numbers of the branches above these nodes."""
        found = set[int]()
        for number in numbers:
            while number and (number := self._above[number]) not in found:
                found.add(number)
        return found

    def proof(self) -> dict[int, tuple[RowBox, Floats]]:
        """The boxes that prove the tree's bound, by their numbers, with slopes of as few digits as it allows; none below another."""
        boxes, stack, upper = dict[int, RowBox](), [0], self.upper
        while stack:
            number = stack.pop()
            node = self.nodes[number]
            leaf = node if isinstance(node, Leaf) else node.cut.whole
            if leaf is not None and leaf.bound <= upper:
                boxes[number] = leaf.content
            elif isinstance(node, Branch):
                stack += node.parts
        new = {number: box for number, box in boxes.items() if number not in self.told}
        slopes = self.told | dict(zip(new, self.problem.shortened(list(new.values()), upper), strict=True))
        return {number: (box, slopes[number]) for number, box in boxes.items()}

    def lent(self, numbers: Sequence[int]) -> Self:
        own, self.untold = self.untold, []
        other = super().lent(numbers)
        other.told, other.lines, other._above, self.untold = {}, {}, {}, own
        other._slopes, other._partitions = _slopes(other.nodes.values()), set(self._partitions)
        return other

    def graft(self, numbers: Sequence[int], nodes: Mapping[int, Branch[Plan] | RowLeaf]) -> None:
        self._slopes += _slopes(nodes.values()) - _slopes(self.nodes[number] for number in numbers)
        self._partitions |= {node.content.groups for node in nodes.values() if isinstance(node, Leaf)}
        super().graft(numbers, nodes)

    def _branch(self, number: int, cut: Plan, parts: tuple[int, ...]) -> None:
        super()._branch(number, cut, parts)
        self._above.update(dict.fromkeys(parts, number))

    def _put(self, number: int, leaf: RowLeaf) -> None:
        super()._put(number, leaf)
        if leaf.bound <= self.target:
            self.untold.append(number)

    def leaf_bytes(self) -> int:
        """About how much memory a leaf takes."""
        return 1200 + 24 * min(2 * self.problem.groups.rows.shape[1], 64)

    def _taken_apart(self, leaves: list[RowLeaf]) -> list[Sprout[RowBox, Plan]]:
        families, boxes, owner = list[list[RowLeaf]](), list[RowBox](), list[int]()
        for j, leaf in enumerate(leaves):
            assert leaf.cut is not None
            families.append([part.leaf for part in leaf.cut.closed])
            parts = _rest(self.problem, leaf.content.less(leaf.cut.closed), leaf.cut.rest)
            boxes += parts
            owner += [j] * len(parts)
        self._partitions |= {box.groups for box in boxes} - {self.problem.groups.singles}
        for j, bounded in zip(owner, self.problem.bounded(boxes), strict=True):
            families[j].append(self._planned(bounded))
        self._slopes += sum(map(_slopes, families)) - _slopes(leaves)
        return list(map(_sprout, leaves, families))

    def _planned(self, bounded: Bounded) -> RowLeaf:
        return Leaf(bounded.box, bounded.bound, self._plan(bounded) if bounded.bound > self.target else None)

    def _plan(self, bounded: Bounded) -> Plan | None:
        """Cuts; if they gain little, finer groups where groups lose more than secants, else halves."""
        box, groups = bounded.box, self.problem.groups
        which = np.array(box.groups)
        low, high = (ends[: len(which)] for ends in box.all_ranges())
        K = np.clip(bounded.w @ groups.columns[:, which], low, high)
        at_zero, slope = secant(low, high)
        errors = np.where(low < high, np.maximum(at_zero + slope * K - x_log_x(K), 0.0), 0.0)
        left, closed, gained = shrunk(self.problem, bounded, errors, self.target)
        if gained > GAINS and closed:
            return Plan(closed, None)
        losses = groups.lost(which, bounded.w)
        if losses.sum() > FINER * errors.sum():
            lossy = [g for _, g in sorted(zip(-losses, box.groups, strict=True)) if groups.halves[g]]
            count = max(1, len(which) // 2)
            chosen = {g for g in lossy[:count] if losses[box.groups.index(g)] > 0.02 * losses.sum()}
            if chosen:
                return Plan(closed, Refinement(tuple(groups.refined(list(box.groups), chosen))))
        low, high = np.maximum(low, left.low), np.minimum(high, left.high)
        score = errors if errors.max() > 0.0 else high - low
        place = int(np.argmax(np.where(high > low, score, -1.0)))
        threshold = float(branching_point(K[place], low[place], high[place]))
        if low[place] < threshold < high[place]:
            return Plan(closed, (place, threshold))
        return Plan(closed, None) if closed else None


def _sprout(leaf: RowLeaf, parts: Sequence[RowLeaf]) -> Sprout[RowBox, Plan]:
    """A leaf's parts, whose bounds are no larger than its own: that one is kept where they would be."""
    assert leaf.cut is not None
    worse = any(part.bound > leaf.bound for part in parts)
    whole: RowLeaf | None = Leaf(leaf.content, leaf.bound, None) if worse else None
    capped = (replace(part, bound=min(part.bound, leaf.bound)) for part in parts)
    closed = tuple(replace(end, leaf=PART) for end in leaf.cut.closed)
    return Sprout(replace(leaf.cut, closed=closed, whole=whole), tuple(capped))


def _slopes(nodes: Iterable[Branch[Plan] | RowLeaf]) -> int:
    """Number of slopes of all leaves."""
    return sum(len(node.content.slopes) for node in nodes if isinstance(node, Leaf))


def _rest(problem: RowProblem, box: RowBox, step: BoxCut | Refinement | None) -> list[RowBox]:
    if step is None:
        return [box]
    if isinstance(step, Refinement):
        return [_finer(problem, box, step.groups)]
    return [replace(box, low=low, high=high) for low, high in halves(box.low, box.high, *step)]


def _finer(problem: RowProblem, box: RowBox, groups: Groups) -> RowBox:
    """The same laws in finer groups: a part is at most its group, and groups that were split keep their ranges and their slopes."""
    low, high = problem.low[list(groups)].copy(), problem.high[list(groups)].copy()
    tight_low, tight_high = box.all_ranges()
    count, size = len(box.groups), len(groups)
    place = {g: j for j, g in enumerate(groups)}
    slopes = np.zeros(size)
    split = list[int]()
    for j, g in enumerate(box.groups):
        parts = (g,) if g in place else problem.groups.halves[g] or ()
        for part in parts:
            high[place[part]] = min(high[place[part]], box.high[j])
            slopes[place[part]] = box.slopes[j]
        if g in place:
            low[place[g]] = max(low[place[g]], box.low[j])
        else:
            split.append(j)
    now = max(box.since, default=-1) + 1
    return RowBox(
        groups,
        low,
        high,
        np.concatenate([slopes, box.slopes[count:], np.zeros(len(split))]),
        (*box.coarser, *(box.groups[j] for j in split)),
        (*box.since, *[now] * len(split)),
        np.concatenate([box.coarser_low, tight_low[split]]),
        np.concatenate([box.coarser_high, tight_high[split]]),
    )


_Flat: TypeAlias = tuple[dict[str, Any], int]


@dataclass(eq=False)
class Row:
    """A node of a row tree: a box of one letter's conditional and the slopes of its lines.

    `coordinate` and `threshold` say how it is, or would be, branched (K(y) <= threshold, then K(y) >= threshold). Letters of equal
    counts and equal boxes share a tree. Of the laws in the box those in the chamber matter; it takes from the box what they miss.
    """

    low: Floats
    high: Floats
    kappa: Floats
    chamber: Chamber
    coordinate: int = -1
    threshold: float = 0.0
    parts: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        self.low, self.high = self.chamber.close(self.low, self.high)

    def __reduce__(self) -> tuple[Callable[[list[_Flat]], Row], tuple[list[_Flat]]]:
        """Flatten the tree for another process, as trees may be deeper than copying can follow."""
        flat = [({**vars(row), "parts": ()}, len(row.parts)) for row in self.preorder()]
        return _nested, (flat,)

    def preorder(self) -> Iterator[Row]:
        """The nodes from here on, each before its parts."""
        return preorder(self, _parts)

    def leaves(self) -> Iterator[Row]:
        """The leaves below, from left to right."""
        return (row for row in self.preorder() if not row.parts)

    def within(self, low: Floats, high: Floats, chamber: Chamber | None = None) -> Row:
        """A copy for a smaller box, and perhaps a smaller chamber; branches that miss the box are left out."""
        chamber = chamber or self.chamber
        if not self.parts:
            low, high = np.maximum(self.low, low), np.minimum(self.high, high)
            return Row(low, high, self.kappa, chamber, self.coordinate, self.threshold)
        if high[self.coordinate] <= self.threshold:
            return self.parts[0].within(low, high, chamber)
        if low[self.coordinate] >= self.threshold:
            return self.parts[1].within(low, high, chamber)
        parts = tuple(part.within(low, high, chamber) for part in self.parts)
        return Row(self.low, self.high, self.kappa, chamber, self.coordinate, self.threshold, parts)

    def seen_by(self, move: RowSymmetry, chamber: Chamber | None = None) -> Row:
        """A copy where outputs were moved."""
        chamber = chamber or self.chamber.seen_by(move)
        back = np.argsort(move.kept)
        y = int(move.kept[self.coordinate]) if self.coordinate >= 0 else -1
        parts = tuple(part.seen_by(move, chamber) for part in self.parts)
        return Row(self.low[back], self.high[back], self.kappa[back], chamber, y, self.threshold, parts)

    def halve(self) -> bool:
        """Give a leaf two parts with its own slopes, unless it is a point; its widest side is cut where its own cut misses it."""
        y, t = self.coordinate, self.threshold
        if not self.low[y] < t < self.high[y]:
            y = int(np.argmax(self.high - self.low))
            t = float(0.5 * (self.low[y] + self.high[y]))
            if not self.low[y] < t < self.high[y]:
                return False
        self.coordinate, self.threshold = y, t
        self.parts = tuple(Row(*ends, self.kappa, self.chamber) for ends in halves(self.low, self.high, y, t))
        return True


def _nested(flat: list[_Flat]) -> Row:
    """A tree from its nodes in preorder, each with the number of its parts."""
    done: list[Row] = []
    for attributes, count in reversed(flat):
        attributes["parts"] = tuple(done.pop() for _ in range(count))
        row = Row.__new__(Row)
        row.__dict__.update(attributes)
        done.append(row)
    return done[0]


def _parts(row: Row) -> tuple[Row, ...]:
    return row.parts


def rows_of(trees: Sequence[BoxTree | RowTree], chambers: Sequence[Chamber]) -> list[Row]:
    """Trees of the dual bound as row trees, in their chambers; letters that share one keep sharing it. Of one with cuts: its root."""
    known = {id(tree): _grown_on(tree, chamber) for tree, chamber in zip(trees, chambers, strict=True)}
    return [known[id(tree)] for tree in trees]


def _grown_on(tree: BoxTree | RowTree, chamber: Chamber) -> Row:
    if isinstance(tree, RowTree):
        singles = list(tree.problem.groups.singles)
        return Row(tree.problem.low[singles], tree.problem.high[singles], np.zeros(len(singles)), chamber)
    done: list[Row] = []
    for node in reversed(list(tree.preorder())):  # parts come before their branch, the first of them last
        if isinstance(node, Branch):
            parts = done.pop(), done.pop()
            done.append(Row(tree.root.low, tree.root.high, parts[0].kappa, chamber, *node.cut, parts))
        else:
            box, cut = node.content, node.cut or (-1, 0.0)
            done.append(Row(box.low, box.high, box.hints, chamber, *cut))
    return done[0]
