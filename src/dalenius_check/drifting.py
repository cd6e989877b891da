"""Independent blocks behind exponential noise: its law depends on where in the range a value is; a piece for each total."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from .allowance import NUMBER, limit
from .arithmetic import arb, fmpq
from .blocks import Blocks, Shape
from .channel import Channel, build
from .counts import values
from .model import Model
from .noise import power
from .numbers import need
from .sizes import take_entries

_MOST = 1 << 16


def drifts(model: Model) -> bool:
    """Whether this is a count or a sum behind exponential noise."""
    return model.query["kind"] in ("count", "sum") and model.mechanism["kind"] == "exponential"


class Drifting(Blocks):
    """Pieces (j, t), whose noise has the range that is left of the model's."""

    def key(self, shape: Shape, t: int) -> Any:
        """The same for pieces that are the same model."""
        return shape, t

    def told(self, shape: Shape) -> Collection[int]:
        """Every t with which a block may tell anything."""
        found = self.others(shape) if super().told(shape) else ()
        limit(len(found) <= _MOST, f"more than {_MOST} totals of the other records")
        return found

    def piece(self, shape: Shape, t: int) -> Model:
        """The model about one block: exponential noise in the same range, counted from t."""
        ends = self.model.mechanism["range"] or self._span
        mechanism = {**self.model.mechanism, "range": [end - t for end in ends]}
        return replace(super().piece(shape, t), mechanism=mechanism)

    @property
    def _span(self) -> list[int]:
        """The least and the greatest of the values that the query lists."""
        if self.model.query["kind"] == "count":
            return [0, len(self.model.alphabets)]
        return [sum(end(c) * times for c, times in self.added.items()) for end in (min, max)]


def channel_of(piece: Model) -> Channel:
    """The channel of a piece; of one that drifts the outputs beyond its values are merged.

    Bound because the columns of the outputs up to the least value are proportional, and those from the greatest one on.
    """
    if not drifts(piece):
        channel = build(piece)
        assert channel is not None
        return channel
    listed = values(piece)
    mechanism = piece.mechanism
    (low, high), rate = mechanism["range"], mechanism["epsilon"] / (2 * mechanism["sensitivity"])
    first, last = listed[0], listed[-1]
    need(low <= first and last <= high, "mechanism.range must contain every value of the piece's query")
    take_entries(len(listed), last - first + 1, piece.allowance, NUMBER)
    if first == last:
        return Channel([[fmpq(1)]] * len(listed), listed, piece.allowance)
    rows = list[list[Any]]()
    for v in listed:
        piece.allowance.look()
        whole = _series(rate, v - low) + _series(rate, high - v) - 1
        own = [power(rate * abs(y - v)) for y in range(first, last + 1)]
        own[0], own[-1] = own[0] * _series(rate, first - low), own[-1] * _series(rate, high - last)
        rows.append([x / whole for x in own])
    return Channel(rows, listed, piece.allowance)


def _series(rate: fmpq, n: int) -> Any:
    """The sum of e^(-rate j) for j = 0, ..., n."""
    return fmpq(n + 1) if rate == 0 else arb(-rate * (n + 1)).expm1() / arb(-rate).expm1()
