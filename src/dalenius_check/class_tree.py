"""Trees over classes: sets of inputs of which each letter uses one, and laws of the outputs at their leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

from .arithmetic import arb, fmpq
from .box import Classes
from .certificate import Lines
from .channel import Channel
from .groups import need_support
from .read import entries, integer, law_of


def output_law(value: Any, channel: Channel, inputs: Collection[int]) -> list[fmpq]:
    """A law r^ on the outputs, zero only where the channel is, for these inputs."""
    law = law_of(value, channel.outputs, "r", channel.allowance)
    need_support(law, channel, inputs)
    return law


def divergences(lines: Lines, channel: Channel, inputs: list[list[int]], tally: Counter[str]) -> Iterator[arb]:
    """What must be bounded: of each leaf the divergences of all rows that its letters have left.

    Bound because the information is convex in each letter's conditional law, hence largest where each has one input, and then at
    most the largest divergence of these rows from any law.
    """
    classes = Classes(inputs, channel.allowance)
    for item in lines.tree("a part or law", {"part": 3, "law": 2}, partial(_part, classes, len(channel.rows))):
        used = frozenset[int]().union(*classes.sets) if all(classes.sets) else frozenset()
        yield from channel.divergences(output_law(item[1], channel, used), used).values()
        tally["law"] += 1


def _part(classes: Classes, width: int, item: list[Any]) -> Callable[[], None]:
    """To the inputs of a letter that are listed; the others come second."""
    a = integer(item[1], "the letter", 0, len(classes.sets) - 1)
    chosen = {integer(k, "a listed input", 0, width - 1) for k in entries(item[2], "the listed inputs")}
    return classes.halve(a, chosen)
