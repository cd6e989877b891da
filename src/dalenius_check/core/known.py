"""Values of leaves in earlier checks, so that a proof that grows is checked leaf by leaf, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from .allowance import BALL, PAIR
from .arithmetic import arb, chosen, fmpq
from .boxes import Grouping
from .channel import Channel, build
from .counts import Pairs
from .model import Model

T = TypeVar("T")
Leaf = tuple[int, int, list[arb], fmpq]  # first and last line in its tree, its bound or none, and how that falls
MOST = 1 << 28  # bytes
_TREES = 4  # at a place
_FEW = 1 << 16  # entries of a channel that is known again by them


@dataclass(frozen=True)
class Walked:
    """A whole tree as it is written, what its joint leaves came to, and the theorems that these rest on."""

    text: bytes
    lines: int
    leaves: list[Leaf]
    tally: Counter[str]
    theorems: set[str]

    @property
    def size(self) -> int:
        """The bytes."""
        return len(self.text) + (BALL + PAIR) * len(self.leaves)


class Known:
    """Leaves by all that they are made of: the channel, a record's counts, the lines that lead there, and its own line.

    Texts are compared as they are written, all else as it is read. A check that is given this proves what it proves without: a leaf
    is found here only where its own evaluation would begin with the same numbers and take the same steps.
    """

    def __init__(self, most: int = MOST) -> None:
        self._left = most
        self._places = dict[Hashable, int]()
        self._leaves = dict[tuple[int, bytes], Any]()
        self._trees = dict[int, list[Walked]]()  # the last ones at each place, of several adversaries
        self._channel: tuple[Hashable, Channel, int, set[str]] | None = None
        self._grouping: Grouping | None = None  # of that channel

    def channel(self, model: Model, made: Callable[[Model], Channel | None] = build, *more: Hashable) -> Channel | None:
        """A model's own channel, the last one that was asked for as it was left; the check rests on what it was made by.

        Or another that is made of the model and `more`.
        """
        if model.foreign:
            return made(model)
        key, allowance = (*_kind(), model.digest, *more), model.allowance
        if self._channel is None or self._channel[0] != key:
            self._channel, before = None, allowance.held
            with allowance.resting() as theorems:
                channel = made(model)
            assert channel is not None
            self._channel, self._grouping = (key, channel, allowance.held - before, theorems), None
            return channel
        _, channel, held, theorems = self._channel
        allowance.take(held + channel.held)
        allowance.theorems |= theorems
        channel.allowance = allowance
        if channel.protocol:
            channel.protocol.allowance = allowance
        return channel

    def grouping(self, channel: Channel) -> Grouping:
        """The channels that tell groups of its outputs."""
        if self._channel is None or channel is not self._channel[1]:
            return Grouping(channel)
        if self._grouping is None:
            self._grouping = Grouping(channel)
            return self._grouping
        return self._grouping.resumed(channel.allowance)

    def section(self, channel: Channel, counts: list[Pairs]) -> int | None:
        """Place where the tree of a record begins; None if it cannot be found again."""
        if channel.exact and len(channel.rows) * channel.outputs <= _FEW:
            about: Hashable = tuple(map(tuple, channel.rows)), channel.diagonal
        elif self._channel is not None and channel is self._channel[1]:
            about = self._channel[0]
        else:
            return None
        return self.place(*_kind(), about, tuple(map(tuple, counts)))

    def place(self, *lead: Hashable) -> int | None:
        """The number of the place that these lead to; None where there is no room for more."""
        if lead not in self._places and self._takes(len(lead) * PAIR):
            self._places[lead] = len(self._places)
        return self._places.get(lead)

    def leaf(self, place: int | None, line: bytes, work: Callable[[], T]) -> T:
        """Value of the leaf on a line."""
        if place is None:
            return work()
        found: T | None = self._leaves.get((place, line))
        if found is None:
            found = work()
            if self._takes(2 * PAIR + len(line)):
                self._leaves[place, line] = found
        return found

    def tree(self, root: int | None, data: bytes, position: int) -> Walked | None:
        """The tree that begins at a place and at a position in a file, if it was walked before.

        Where a tree ends is said by its own lines, so that whatever comes behind them is no part of it.
        """
        found = [] if root is None else self._trees.get(root, [])
        return next((walked for walked in found if data.startswith(walked.text, position)), None)

    def keep(self, root: int | None, walked: Walked) -> None:
        """Keep a tree that was walked; the one before the last ones is forgotten."""
        if root is not None and self._takes(walked.size):
            trees = self._trees.setdefault(root, [])
            trees.append(walked)
            for before in trees[:-_TREES]:
                self._left += before.size
            del trees[:-_TREES]

    def _takes(self, size: int) -> bool:
        self._left -= size
        return self._left >= 0


def _kind() -> tuple[Hashable, ...]:
    """Kind of the numbers."""
    return chosen().words, chosen().precision()
