"""Trees over classes: sets of inputs of which each letter uses one, and laws of the outputs at their leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from .arithmetic import arb, fmpq
from .box import Classes
from .certificate import Lines
from .groups import need_support
from .matrix import Channel
from .numbers import need
from .read import entries, integer, law_of


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
    return sum((arb(p) * far[k] for k, p in chain(*held)), arb(0))


def divergences(lines: Lines, channel: Channel, inputs: list[list[int]], tally: Counter[str]) -> Iterator[arb]:
    """What must be bounded: of each leaf the divergences of all rows that its letters have left.

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
