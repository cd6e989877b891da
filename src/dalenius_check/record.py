"""One record's channel: which inputs its letters lead to, and how often."""

from __future__ import annotations

from copy import copy
from itertools import islice

from .allowance import BALL
from .arithmetic import arb
from .channel import Channel
from .counts import Pairs
from .numbers import once


class Record:
    """One record's channel: for letter a the inputs k with N(a, k) > 0 and the logarithms of these counts."""

    def __init__(self, channel: Channel, pairs: list[Pairs]) -> None:
        self.channel = channel
        self.pairs = pairs
        self.inputs = [[k for k, _ in row] for row in pairs]
        logs = iter(once((n for row in pairs for _, n in row), lambda n: arb(n).log()))
        self.logs = [list(islice(logs, len(row))) for row in pairs]
        self.size = sum(map(len, pairs)) * BALL  # bytes of a ball for each pair
        self.everything = {k for inputs in self.inputs for k in inputs}
        self.exchanges = set[object]()  # of letters, which were found to leave the channel as it is

    def through(self, channel: Channel) -> Record:
        """The same record, released through another channel with the same inputs."""
        other = copy(self)
        other.channel = channel
        other.exchanges = set()
        return other
