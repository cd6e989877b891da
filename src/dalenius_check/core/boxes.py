"""Places in a proof's tree: boxes of ranges, and outputs merged into groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from typing import Any

from .allowance import BALL, NUMBER, PAIR, POINTER, Allowance, lemma
from .arithmetic import arb, arb_vec, fmpq
from .bounds import Ranges, Record, point
from .channel import Channel, log_weights
from .numbers import Kept, height, need, normalised, once, summed, take_entries, total, xlogx
from .read import alike, entries, integer, nonnegative

Number = tuple[int, int]  # a family, and a place in it
KEPT = 1 << 26  # bytes of ranges that are kept to be used again; not more than a quarter of what is allowed


class Box:
    """Families of ranges by their numbers j, those of the root where nothing was cut."""

    def __init__(self, root: Callable[[int], Ranges], allowance: Allowance) -> None:
        self._root = root
        self._allowance = allowance
        self._ends: dict[int, tuple[list[fmpq], list[fmpq]]] = {}
        self._cuts: list[tuple[int, int, fmpq, fmpq]] = []
        self._known = dict[int, Ranges]()
        self._before = dict[int, Ranges]()
        self._kept = 0
        self._held = 0
        self._most = min(KEPT, allowance.memory * 2**18)
        self._curve = Kept(point, 1 << 10)  # boxes that are met one after the other have most ends in common

    def __getitem__(self, j: int) -> Ranges:
        """The ranges of family j, not yet tightened."""
        if j in self._known:
            return self._known[j]
        if j not in self._ends:
            return self._root(j)
        ranges = Ranges(*self._ends[j], self._curve)
        if self._kept + ranges.size > self._most:
            self._known.clear()
            self._before.clear()
            self._keep(-self._kept)
        self._keep(ranges.size)
        self._known[j] = ranges
        return ranges

    def _take(self, size: int) -> None:
        self._allowance.take(size)
        self._held += size

    def close(self) -> None:
        """Give back what was taken."""
        self._take(-self._held)

    def _keep(self, size: int) -> None:
        self._take(size)
        self._kept += size

    @property
    def empty(self) -> bool:
        """True if some family has no member."""
        return not all(self[j].ends for j in self._ends)

    @property
    def depth(self) -> int:
        """Number of cuts that lead here, to go `back` to."""
        return len(self._cuts)

    def halve(self, j: int, place: int, t: fmpq) -> Callable[[], None]:
        """Go to the half where number `place` of family j is at most t, and return the way to where it is at least t.

        Together they cover the box.
        """
        return self.part([(j, place)], [(j, place)], t)

    def part(self, below: Iterable[Number], above: Iterable[Number], t: fmpq) -> Callable[[], None]:
        """Go to where all numbers of one list are at most t, and return the way to where all of the other are at least t."""
        depth = self.depth
        for j, place in below:
            _, his = self._cut(j, place)
            his[place] = min(his[place], t)

        def other() -> None:
            self.back(depth)
            for j, place in above:
                los, _ = self._cut(j, place)
                los[place] = max(los[place], t)

        return other

    def _cut(self, j: int, place: int) -> tuple[list[fmpq], list[fmpq]]:
        """The ends of family j, of which those of one number may now be changed."""
        if j not in self._ends:
            root = self._root(j)
            self._take(2 * len(root.los) * POINTER + PAIR)
            self._ends[j] = list(root.los), list(root.his)
        self._take(PAIR + NUMBER)
        los, his = self._ends[j]
        if j in self._known:
            self._before[self.depth] = self._known.pop(j)
        self._cuts.append((j, place, los[place], his[place]))
        return los, his

    def back(self, depth: int) -> None:
        """Undo the cuts that go deeper."""
        while self.depth > depth:
            j, place, lo, hi = self._cuts.pop()
            self._take(-PAIR - NUMBER)
            self._ends[j][0][place], self._ends[j][1][place] = lo, hi
            if j in self._known:
                self._keep(-self._known.pop(j).size)
            if self.depth in self._before:
                self._known[j] = self._before.pop(self.depth)


Partition = tuple[tuple[int, ...], ...]


def singles(size: int) -> Partition:
    """Every output by itself."""
    return tuple((y,) for y in range(size))


def partition(value: Any, size: int) -> Partition:
    """Lists of outputs, none empty, each output in one of them."""
    listed = [entries(group, "a group") for group in entries(value, "the groups")]
    found = tuple(tuple(sorted(integer(y, "a grouped output", 0, size - 1) for y in group)) for group in listed)
    need(all(found), "a group is empty")
    need(sorted(chain(*found)) == list(range(size)), f"each of {size} outputs must be in exactly one group")
    return found


def joined(groups: Partition, of: Partition) -> Partition:
    """Groups of groups, as groups of what the latter are made of."""
    return tuple(tuple(sorted(chain(*(of[g] for g in group)))) for group in groups)


def within(value: Any, groups: Partition, record: Record) -> list[fmpq]:
    """s(y|g) for each output, zero only where the channel is."""
    channel = record.channel
    law = dict[int, fmpq]()
    weights = alike(entries(value, "s", channel.outputs), lambda x: nonnegative(x, "s"), {})
    for group in groups:
        shares = normalised([weights[y] for y in group], "a group's s", channel.allowance)
        law.update(zip(group, shares, strict=True))
    need_support([law[y] for y in range(channel.outputs)], channel, record.everything)
    return [law[y] for y in range(channel.outputs)]


def need_support(law: Sequence[fmpq], channel: Channel, inputs: Collection[int]) -> None:
    """Refuse a zero where the channel is not zero, for these inputs."""
    for y, q in enumerate(law):
        need(q > 0 or channel.vanishes(y, inputs), f"the law is zero at output {y}, where the channel is not")


def merged(own: Ranges, before: Ranges, groups: Partition, of: Partition) -> Ranges:
    """The ranges of groups' probabilities: their own, and what those of other groups of the same outputs say of them.

    Bound because a group has at most what all those have that it meets, and at least what all those have that it contains.
    """
    home = {y: j for j, group in enumerate(of) for y in group}
    meets = [Counter(home[y] for y in group) for group in groups]
    inside = [[j for j, count in met.items() if count == len(of[j])] for met in meets]
    los = [max(lo, total(before.los[j] for j in some)) for lo, some in zip(own.los, inside, strict=True)]
    his = [min(hi, total(before.his[j] for j in met)) for hi, met in zip(own.his, meets, strict=True)]
    return Ranges(los, his)


def home_of(groups: Partition, of: Partition) -> list[int] | None:
    """For each group the one of others that contains it; None unless there is one for each."""
    home = {y: j for j, group in enumerate(of) for y in group}
    found = [{home[y] for y in group} for group in groups]
    return [j for js in found for j in js] if all(len(js) == 1 for js in found) else None


def own_ranges(channel: Channel, inputs: list[int]) -> Ranges:
    """Ranges of the mixtures of the rows of these inputs."""
    los, his = zip(*channel.ranges(inputs), strict=True)
    return Ranges(los, his)


Column = tuple[list[Any], list[arb]]


class Grouping:
    """The channels that tell only the groups of a channel's outputs; kept to be used again while they take little memory."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._known = dict[Partition, Channel]()
        self._columns = dict[tuple[int, ...], Column]()  # by group: partitions have many of them in common
        self._most = min(KEPT, channel.allowance.memory * 2**18)
        self._size = self._shared = 0  # bytes of the channels, and of the columns, that are kept

    def resumed(self, allowance: Allowance) -> Grouping:
        """The same in another check."""
        allowance.take(self._size + self._shared)
        for channel in self._known.values():
            channel.allowance = allowance
        return self

    def of(self, groups: Partition) -> tuple[Channel, int]:
        """The channel, and the bytes that whoever asked has taken and must give back: none, if it is kept here."""
        if groups in self._known:
            return self._known[groups], 0
        allowance = self.channel.allowance
        before = allowance.held - self._shared
        found = self._made(groups)
        size = allowance.held - self._shared - before
        if self._size + size > self._most:
            return found, size
        self._known[groups], self._size = found, self._size + size
        return found, 0

    def _made(self, groups: Partition) -> Channel:
        """R(k, g), the sum of R(k, y) over the outputs of g."""
        channel = self.channel
        allowance = channel.allowance
        take_entries(len(channel.rows), len(groups), allowance, POINTER)
        allowance.take(channel.outputs * POINTER + len(groups) * PAIR)
        sums, logs = zip(*map(self._column, groups), strict=True)
        rows = list(map(list, zip(*sums, strict=True)))
        return channel.grouped(rows, list(map(summed, zip(*logs, strict=True))))

    def _column(self, group: tuple[int, ...]) -> Column:
        """Probabilities of a group for all inputs, and x log x of these."""
        if group in self._columns:
            return self._columns[group]
        exact, rows, allowance = self.channel.exact, self.channel.rows, self.channel.allowance
        allowance.look()
        add = total if exact else summed
        sums: list[Any] = [row[group[0]] if len(group) == 1 else add(row[y] for y in group) for row in rows]
        found = sums, once(sums, lambda x: xlogx(arb(x)))
        size = len(rows) * (BALL + (NUMBER if exact else BALL)) + (sum(map(height, sums)) // 4 if exact else 0)
        allowance.take(size)
        if self._shared + size <= self._most:
            self._columns[group], self._shared = found, self._shared + size
        return found


class Level:
    """A tree's boxes below a line `group`, or at the root: ranges of phi(.|g) at g, of K_a at outputs + a, g one of the groups.

    `costs` are what a joint leaf adds to s(a, k) for each letter's inputs k, if there is any such line; of `size` bytes are those that
    were taken for the record's channel.
    """

    def __init__(self, record: Record, groups: Partition, before: Level | None = None, size: int = 0) -> None:
        self.record = record
        self.groups = groups
        self.outputs = len(groups)
        self.top = before is None
        self.costs: list[arb_vec] | None = None
        self.neighbours: Any = None
        self.allowance = record.channel.allowance
        self._size = size
        letters = len(record.inputs)
        self._simplex = Ranges([fmpq(0)] * letters, [fmpq(1)] * letters)
        self._roots = dict[int, Ranges]()
        self.box = Box(self._root, self.allowance)
        if before:
            self._inherit(before)

    def _inherit(self, before: Level) -> None:
        """The ranges below a line `group`, from those before it; whether or not they are asked for, since lines may be many."""
        self._take((self.outputs + len(self.record.inputs)) * PAIR)
        same = {group: j for j, group in enumerate(before.groups)}
        for g, group in enumerate(self.groups):
            self._roots[g] = before.box[same[group]] if group in same else self._simplex
        for a in range(len(self.record.inputs)):
            self.allowance.look()
            own = self._own(a)
            self._roots[self.outputs + a] = merged(own, before.conditional(a), self.groups, before.groups)

    def _take(self, size: int) -> None:
        self.allowance.take(size)
        self._size += size

    def close(self) -> None:
        """Give back what was taken."""
        self.box.close()
        self._take(-self._size)

    def _own(self, a: int) -> Ranges:
        """Ranges of K_a by the rows."""
        self._take(self.outputs * BALL)
        return own_ranges(self.record.channel, self.record.inputs[a])

    def _root(self, j: int) -> Ranges:
        """Ranges that nothing was cut from since this line."""
        if j not in self._roots:
            self._roots[j] = self._simplex if j < self.outputs else self._own(j - self.outputs)
        return self._roots[j]

    def number(self, posterior: bool, place: tuple[int, int]) -> Number:
        """Number of the box's entry phi(a|g), or K_a(g), at a place (a, g)."""
        a, g = place
        return (g, a) if posterior else (self.outputs + a, g)

    def conditional(self, a: int) -> Ranges:
        """The ranges of K_a, not yet tightened."""
        return self.box[self.outputs + a]

    def uncut(self, a: int) -> Ranges:
        """The ranges of K_a of which nothing was cut off."""
        return self._root(self.outputs + a)

    @property
    def empty(self) -> bool:
        """True if no prior is in the box: some family of ranges has no member."""
        families = () if self.top else range(self.outputs + len(self.record.inputs))
        return self.box.empty or not all(self.box[j].ends for j in families)

    def narrow(self) -> None:
        """Let the posteriors of neighbouring groups narrow each other, where a leaf is about nothing else."""
        self._take(4 * self.outputs * len(self.record.inputs) * (NUMBER + BALL))
        self.neighbours = lemma("neighbours").Neighbours(self.record)

    def below(self, groups: Partition, law: list[fmpq], base: Grouping) -> Level:
        """The level of a line `group` with these groups and s.

        Bound because I(X; Y) = I(X; Y_G) + I(X; Y | Y_G), and the latter is at most the mean of e(a, k).
        """
        channel, size = base.of(groups)
        level = Level(self.record.through(channel), groups, self, size)
        level._take(len(channel.rows) * BALL + len(law) * NUMBER)
        own = base.channel.negentropies
        turns = base.channel.turned(arb_vec(log_weights(law))).entries()
        costs = [x - y - z for x, y, z in zip(own, channel.negentropies, turns, strict=True)]
        level.costs = [arb_vec([costs[k] for k in inputs]) for inputs in self.record.inputs]
        return level
