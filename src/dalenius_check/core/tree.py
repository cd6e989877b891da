"""The trees of a record's proof: of classes of inputs, and of boxes, for all priors with an entropy bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, ClassVar

from .allowance import BALL, NUMBER, PAIR, Allowance, lemma
from .arithmetic import arb, fmpq
from .bounds import Joint, Record, uniform_information
from .boxes import Grouping, Level, need_support, partition, singles, within
from .certificate import Lines, Sizes
from .channel import Channel
from .known import Leaf, Walked
from .model import Model
from .numbers import largest, need, summed
from .proof import Ceiling
from .read import decimal, entries, integer, law_of, nonnegative
from .rowtree import RowTree, Slopes
from .symmetries import Stated, exchange, orbit, symmetry


class Classes:
    """The sets of inputs that the letters have left in a tree of classes; on the way each input is put aside once."""

    def __init__(self, inputs: list[list[int]], allowance: Allowance) -> None:
        self.sets = [frozenset(listed) for listed in inputs]
        self._allowance = allowance
        self._aside: list[tuple[int, frozenset[int]]] = []
        allowance.take(2 * sum(map(len, inputs)) * PAIR)

    def halve(self, a: int, chosen: set[int]) -> Callable[[], None]:
        """Leave letter a the chosen inputs only, and return the way to leaving it the others only."""
        depth = len(self._aside)
        self._keep(a, self.sets[a] & chosen, self.sets[a] - chosen)

        def other() -> None:
            others = self._aside[depth][1]
            while len(self._aside) > depth:
                letter, aside = self._aside.pop()
                self._allowance.take(-PAIR)
                self.sets[letter] |= aside
            self._keep(a, others, self.sets[a] - others)

        return other

    def _keep(self, a: int, kept: frozenset[int], aside: frozenset[int]) -> None:
        self._allowance.take(PAIR)
        self.sets[a] = kept
        self._aside.append((a, aside))


def output_law(value: Any, channel: Channel, inputs: Collection[int]) -> list[fmpq]:
    """A law r^ on the outputs, zero only where the channel is, for these inputs."""
    law = law_of(value, channel.outputs, "r", channel.allowance)
    need_support(law, channel, inputs)
    return law


def mixture(channel: Channel, weights: Any, how: Any, used: Collection[int]) -> dict[int, arb]:
    """The divergences, from above, of these inputs' outputs from a mixture of all inputs' outputs."""
    protocol = channel.protocol
    need(protocol is not None, "this channel has no closed form for mixtures")
    assert protocol is not None
    far = protocol.divergences(law_of(weights, protocol.inputs, "weights", channel.allowance), how, above=True)
    return {k: far[k] for k in used}


def mixed_information(channel: Channel, masses: Sequence[Sequence[tuple[int, fmpq]]], how: Any) -> arb:
    """The information, from below, about letters that have one input each."""
    protocol = channel.protocol
    assert protocol is not None
    held = [[(k, p) for k, p in row if p] for row in masses]
    need(all(len(row) <= 1 for row in held), "a letter has weight on several inputs")
    law = [fmpq(0)] * protocol.inputs
    for k, p in chain(*held):
        law[k] += p
    far = protocol.divergences(law, how, above=False)
    return summed(arb(p) * far[k] for k, p in chain(*held))


def divergences(lines: Lines, channel: Channel, inputs: list[list[int]], tally: Counter[str]) -> Iterator[arb]:
    """Numbers to bound: of each leaf the divergences of all rows that its letters have left.

    Bound because the information is convex in each letter's conditional law, hence largest where each has one input, and then at
    most the largest divergence of these rows from any law; or at most the logarithm of the number of letters.
    """
    classes = Classes(inputs, channel.allowance)
    leaf = {"letters": 1, **({"law": 2} if channel.rows else {"mixture": 3})}
    for item in lines.tree("a part or law", {"part": 3, **leaf}, partial(_part, classes, len(channel.values))):
        used = frozenset[int]().union(*classes.sets) if all(classes.sets) else frozenset()
        if item[0] == "letters":
            yield arb(len(classes.sets)).log()
        elif channel.rows:
            yield from channel.divergences(output_law(item[1], channel, used), used).values()
        else:
            yield from mixture(channel, item[1], item[2], used).values()
        tally[item[0]] += 1


def _part(classes: Classes, width: int, item: list[Any]) -> Callable[[], None]:
    """To the inputs of a letter that are listed; the others come second."""
    a = integer(item[1], "the letter", 0, len(classes.sets) - 1)
    chosen = {integer(k, "a listed input", 0, width - 1) for k in entries(item[2], "the listed inputs")}
    return classes.halve(a, chosen)


Bounds = tuple[list[arb], fmpq]  # at an entropy bound of 0, and how much they fall for each nat
_ORBITS = ("orbit", "orbit-split")
_NODES: dict[str, int | tuple[int, ...]] = {
    "split": 4,
    "cut": 4,
    "orbit": 6,
    "orbit-split": 6,
    "group": (3, 4),
    "joint": 5,
    "vertices": 1,
    "uniform": 1,
}
_NODES |= {"informed": 3, "ends": 1}
_OTHERS = Counter(
    ("vertices", "uniform", "informed", "ends")
)  # leaves that are long, or not about channel and counts alone


def _is_one_line(item: list[Any]) -> bool:
    """True if this is a joint leaf without row trees."""
    return item[0] == "joint" and not (nonnegative(item[1], "theta") and nonnegative(item[2], "mu"))


class Section:
    """The tree of one record: the boxes of the outputs, then those of their groups."""

    nodes: ClassVar[Sizes] = _NODES

    def __init__(self, lines: Lines, model: Model, record: Record, tally: Counter[str], i: int) -> None:
        self.lines = lines
        self.model = model
        self.record = record
        self.tally = tally
        self.number = i
        self.channel = record.channel
        self.letters = len(record.inputs)
        self.allowance = record.channel.allowance
        self.slopes = Slopes()
        self.grouping = lines.known.grouping(self.channel) if lines.known else Grouping(self.channel)
        self.levels = [Level(record, singles(self.channel.outputs))]

    def run(self, ceiling: Ceiling) -> None:
        """Walk the tree; of one that was walked before, judge again what its leaves came to."""
        lines, known = self.lines, self.lines.known
        start, first = lines.position, lines.number
        root = known.section(self.channel, self.record.pairs) if known else None
        if known and lines.alone and (walked := known.tree(root, lines.data, start)):
            for line, last, bounds, slope in walked.leaves:
                lines.number = self.allowance.line = first + last
                self.allowance.look()
                ceiling.need_all_above(bounds, slope, f"line {first + line}'s joint leaf")
            lines.behind(walked.text, first + walked.lines)
            self.allowance.theorems |= walked.theorems
            self.tally.update(walked.tally)
            return
        everybody, self.tally, leaves = self.tally, Counter[str](), list[Leaf]()
        with self.allowance.resting() as theorems:
            joint = self._walk(ceiling, root, leaves)
        everybody.update(self.tally)
        text = lines.data[start : lines.position]
        if known and lines.alone and joint and text.endswith(b"\n"):
            known.keep(root, Walked(text, lines.number - first, leaves, self.tally, theorems))

    def _walk(self, ceiling: Ceiling, root: int | None, leaves: list[Leaf]) -> bool:
        """Go through splits, cuts, groups and leaves, and list what these come to.

        True if all are joint leaves, which are about the channel and the counts, and nothing else of a model.
        """
        kinds = {"joint": self._joint, "vertices": self._vertices, "uniform": self._uniform}
        kinds |= dict.fromkeys(("informed", "ends"), self._told)
        first, joint = self.lines.number, True

        def judge(item: list[Any], number: int, one_line: bool) -> bool:
            vacuous = self.levels[-1].empty
            need(ceiling.one or item[0] != "uniform", "a uniform leaf says nothing of other entropy bounds")
            work = partial(kinds[item[0]], item, vacuous)
            results, slope = self.lines.leaf(self.lines.place, work) if one_line else work()
            bounds = [] if vacuous else results
            if self.lines.known:
                leaves.append((number - first, self.lines.number - first, bounds, slope))
            ceiling.need_all_above(bounds, slope, f"line {number}'s {item[0]} leaf")
            return vacuous or (one_line and not results)

        for item in self.lines.tree("a split, cut or leaf", self.nodes, self._step, root):
            number, one_line = self.lines.number, _is_one_line(item)
            work = partial(judge, item, number, one_line)
            vacuous = self.lines.shares.leaf(number, work) if one_line else work()
            self.tally["empty" if vacuous else item[0]] += 1
            joint = joint and item[0] == "joint"
        return joint

    @cached_property
    def _alone(self) -> Any:
        return lemma("alone").Alone(self.model, self.number)

    def _told(self, item: list[Any], *_: Any) -> Bounds:
        """Bound and slope of a leaf about the record by itself."""
        bound, slope = self._alone.leaf(item)
        return [bound], slope

    def _letter(self, value: Any) -> int:
        return integer(value, "the letter", 0, self.letters - 1)

    def _step(self, item: list[Any]) -> Callable[[], None] | None:
        """To the first half of a split or cut, or to groups of outputs."""
        level = self.levels[-1]
        if item[0] == "group":
            groups = partition(item[1], self.channel.outputs)
            self.levels.append(level.below(groups, within(item[2], groups, self.record), self.grouping))
            if len(item) > 3:
                need(item[3] == "neighbours", f"what follows s is 'neighbours', not {item[3]!a}")
                self.levels[-1].narrow()
            return None
        halve = self._orbit(item) if item[0] in _ORBITS else self._halve(item)
        depth = len(self.levels)

        def other() -> None:
            while len(self.levels) > depth:
                self.levels.pop().close()
            halve()

        return other

    def _halve(self, item: list[Any]) -> Callable[[], None]:
        level = self.levels[-1]
        a = self._letter(item[1])
        g = integer(item[2], "the output", 0, level.outputs - 1)
        t = decimal(item[3], "the point")
        return level.box.halve(*level.number(item[0] == "split", (a, g)), t)

    def _orbit(self, item: list[Any]) -> Callable[[], None]:
        """To the first part of a cut, or of a split, of which one part stands for its images.

        Bound because a prior of the box has all K (or all phi) of the orbit on one side of t, or one of its images has K_a(y)
        (or phi(a|y)) on the other.
        """
        level = self.levels[-1]
        side = item[1]
        a = self._letter(item[2])
        t = decimal(item[4], "the point")
        need(side in ("above", "below"), "the side of an orbit must be 'above' or 'below'")
        y = integer(item[3], "the output", 0, level.outputs - 1)
        inputs = len(self.channel.rows)
        listed = [symmetry(value, self.letters, inputs, level.outputs) for value in entries(item[5], "the symmetries")]
        for one in listed:
            one.need_symmetry(level)
        self.allowance.room(self.letters * level.outputs * PAIR)
        own, *others = [level.number(item[0] == "orbit-split", place) for place in orbit((a, y), listed)]
        whole = [own, *others]
        return level.box.part(whole, [own], t) if side == "above" else level.box.part([own], whole, t)

    def _joint(self, item: list[Any], vacuous: bool) -> Bounds:
        level = self.levels[-1]
        channel = self.levels[-1].record.channel
        leaf = Joint(level.record, nonnegative(item[1], "theta"), nonnegative(item[2], "mu"))
        need(leaf.theta <= 1, "theta must be at most 1")
        rows = [None] * self.letters if item[3] is None else entries(item[3], "sigma", self.letters)
        slopes = self.slopes.of_letters(rows, level.outputs)
        need((item[4] is None) == (leaf.theta == 0), "r must be null exactly where theta is 0")
        law = None if item[4] is None else output_law(item[4], channel, self.record.everything)
        size = len(set(map(id, slopes))) * (len(channel.rows) + level.outputs) * BALL + self.record.size
        self.allowance.take(size)
        phi = level.box.__getitem__
        if level.neighbours and not (leaf.theta or vacuous):
            self.allowance.room(4 * level.outputs * self.letters * NUMBER)
            narrowed = level.neighbours.narrowed(map(phi, range(level.outputs)))
            phi, vacuous = narrowed.__getitem__, not all(ranges.ends for ranges in narrowed)
        scores = [] if vacuous else leaf.scores(phi, slopes, law)
        if level.costs and scores:
            scores = [row + costs for row, costs in zip(scores, level.costs, strict=True)]
        psi = list[list[arb]]()
        place, text = self.lines.place, self.lines.text
        stated = Stated(leaf, level, rows, law)
        for a in range(self.letters if leaf.theta and leaf.mu else 0):
            known = partial(self._known, psi, stated, a)
            tree = RowTree(self.lines, stated, a, scores[a] if scores else None, known)
            psi.append(tree.run(self.grouping, self.slopes, self.tally, self.lines.below(place, a, text)))
        self.allowance.take(-size)
        psi = psi or leaf.free(scores)
        whole = bool(psi and scores and all(psi)) and (self.lines.shares.whole or not (leaf.theta and leaf.mu))
        return [leaf.bound(list(map(largest, psi)))] if whole else [], leaf.mu

    def _known(self, psi: list[list[arb]], stated: Stated, a: int, value: Any, *images: Any) -> list[arb]:
        """psi of an earlier letter: with the slopes, the counts and the ranges of K of letter a, or those that are mapped to them."""
        b = self._letter(value)
        level = stated.level
        rows = stated.sigma
        if images:
            need(b < a, f"letter {b} does not come before letter {a}")
            exchange(list(images), len(level.record.channel.rows), level.outputs).need_image(stated, b, a)
            return psi[b]
        own, other = level.conditional(a), level.conditional(b)
        like = b < a and rows[b] == rows[a] and self.record.pairs[b] == self.record.pairs[a]
        need(like and (other.los, other.his) == (own.los, own.his), f"letter {b} is not known to be like letter {a}")
        return psi[b]

    def _uniform(self, *_: Any) -> Bounds:
        need(self.model.is_uniform(), "a uniform leaf needs an entropy bound equal to log |X|")
        return [uniform_information(self.record)], fmpq(0)

    def _vertices(self, *_: Any) -> Bounds:
        return list(divergences(self.lines, self.channel, self.record.inputs, self.tally)), fmpq(0)
