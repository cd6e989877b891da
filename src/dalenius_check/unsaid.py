"""Limits of what a design's mechanisms may tell about a secret, whatever the law of the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from .arithmetic import arb, fmpq
from .certificate import Lines, Sizes
from .channel import Channel
from .informed import Informed, need_few
from .model import Model
from .numbers import in_nats, need, normalised
from .proof import AFTER, Masses
from .read import decimal, entries, integer
from .told import Told


class Revealed(Informed):
    """What a mechanism tells, given value by given value; what bounds it is no adversary's, but every law."""

    names: ClassVar[Sizes] = {"cell": 3}
    after: ClassVar[Sizes] = AFTER


class Unsaid:
    """At most so many nats or bits about one secret, under every law of the dataset."""

    def __init__(self, model: Model, table: dict[str, Any]) -> None:
        every = model.against({"entropy_at_least": (fmpq(0), "nats")})
        self._told = Told(replace(every, secrets=[{key: table[key] for key in ("of", "given")}]))
        self.most, self._unit = table["at_most"]
        self._cells = list[dict[int, frozenset[int]]]()

    @property
    def ball(self) -> arb:
        """A ball around the limit in nats."""
        return in_nats(self.most, self._unit)

    def proof(self, lines: Lines, channel: Channel) -> Revealed:
        """The lines that prove what a mechanism tells."""
        return Revealed(lines, self._told, channel)

    def masses(self, channel: Channel, given: Any, selection: Any) -> Masses:
        """For some values of the secret the input that a line selects, with its probability.

        Bound because a law on one dataset of each, all of which have one given value, is a law of the data.
        """
        if not self._cells:
            self._cells = self._told.secrets(channel)[
                0
            ].cells  # the same for every mechanism: inputs are what the model says
        cells = self._cells[integer(given, "the given value", 0, len(self._cells) - 1)]
        need(len(entries(selection, "the selection")) > 1, "a selection must have at least two values of the secret")
        need_few(len(selection), channel)
        inputs = list[int]()
        weights = list[fmpq]()
        before = -1
        for triple in selection:
            value, place, hint = entries(triple, "a value, an input and a weight", 3)
            before = integer(value, "the secret's value, in ascending order,", before + 1)
            k = integer(place, "the input")
            v = decimal(hint, "a weight")
            need(k in cells.get(before, ()), f"no dataset with value {before} of the secret has input {k} there")
            need(v > 0, "a weight must be positive")
            inputs.append(k)
            weights.append(v)
        law = normalised(weights, "the weights", channel.allowance)
        return [[pair] for pair in zip(inputs, law, strict=True)]
