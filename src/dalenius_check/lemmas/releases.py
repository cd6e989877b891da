"""Theorem R1: releases that are independent given the data are one, with product rows; sequences with the same numbers of outputs
merge.

Hypotheses, each a line that refuses: parts are on a query that is there (`part_rows`); every sequence of a type is counted
(`_sequences`); against blocks each part is known alone, whatever the others add (`Releases`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, product
from math import comb, prod
from typing import Any

from ..core.allowance import PAIR, Allowance, rests_on
from ..core.arithmetic import arb, is_rational
from ..core.channel import Channel
from ..core.counts import places
from ..core.model import Model
from ..core.noise import noise_of
from ..core.numbers import BLOCK, MAX_ENTRIES, need
from ..core.verdict import Subject
from .adaptive import Rows, Step, part_rows, product_rows
from .households import about
from .households.blocks import Blocks, Shape

_ALONE = ("count", "sum", "parity", "modular_sum")
_KNOWN = (
    "independent_blocks: several_releases need counts, sums, parities or modular sums, of records of one alphabet if they are "
    "several, and parts that would be known alone with every sum of the others"
)


def together(parts: Sequence[tuple[Rows, int]], inputs: int, allowance: Allowance) -> Rows:
    """The outputs of all parts, each of which is released so many times: of each which of its outputs came how often.

    Bound because sequences of one type have equal probabilities, so that their columns are proportional, and merging them leaves
    every information as it is.
    """
    many = [_many(times, len(rows[0])) for rows, times in parts]
    allowance.room(sum(many) * 16 * PAIR)
    types = list[list[tuple[list[Step], int]]]()
    for place, (rows, times) in enumerate(parts):
        types.append([])
        for counts in _types(times, len(rows[0])):
            allowance.look()
            types[-1].append(([((place, y), count) for y, count in counts], _sequences(times, counts)))

    def paths() -> Iterable[tuple[list[Step], int]]:
        for chosen in product(*types):
            yield list(chain(*(steps for steps, _ in chosen))), prod(ways for _, ways in chosen)

    longest = sum(times for _, times in parts)
    alone = types[0] if len(types) == 1 else None
    return product_rows([rows for rows, _ in parts], lambda: alone or paths(), longest, (inputs, prod(many)), allowance)


def _many(times: int, outputs: int) -> int:
    """Number of types; beyond what a channel may have, any number that is."""
    found = 1
    for j in range(1, outputs):
        found = found * (times + j) // j
        if found > MAX_ENTRIES:
            break
    return found


def _types(times: int, outputs: int, first: int = 0) -> Iterator[tuple[tuple[int, int], ...]]:
    """Types, the numbers of times that outputs came, in reverse lexicographic order of all counts."""
    if times == 0:
        yield ()
    for y in range(first, outputs if times else 0):
        for count in range(times, 0, -1) if y < outputs - 1 else (times,):
            for rest in _types(times - count, outputs, y + 1):
                yield (y, count), *rest


def _sequences(times: int, counts: Sequence[tuple[int, int]]) -> int:
    """Number of sequences of this type."""
    ways = 1
    for _, count in counts:
        ways *= comb(times, count)
        times -= count
    return ways


def channel(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    """That of what is released together."""
    parts = list(_parts(model, mechanism, inputs))
    outputs = prod(_many(times, len(rows[0])) for rows, times in parts)
    rests_on(model.allowance, "R1")
    need(len(inputs) * outputs <= MAX_ENTRIES, f"the channel has more than {MAX_ENTRIES} entries")
    return _Together(parts, outputs, inputs, model.allowance)


class _Together(Channel):
    """A channel of releases together, whose rows are made once one is asked for: what needs none is proved without."""

    def __init__(
        self, parts: Sequence[tuple[Rows, int]], outputs: int, inputs: list[int], allowance: Allowance
    ) -> None:
        super().__init__([], inputs, allowance)
        del self.rows
        self.exact, self.outputs = all(is_rational(rows[0][0]) for rows, _ in parts), outputs
        self._together = max(1, BLOCK // outputs)
        self._released = parts

    @cached_property
    def rows(self) -> Rows:  # type: ignore[override]
        before = self.allowance.held
        rows = together(self._released, len(self.values), self.allowance)
        self.held = self.allowance.held - before
        return rows


def _parts(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Iterator[tuple[list[list[Any]], int]]:
    """The channels of what is released together, and how often each is."""
    where = places(model, inputs)
    for part in mechanism["parts"]:
        yield part_rows(model, part, part.get("on", 0), where), part["times"]


class Releases(Blocks):
    """The blocks of a model, of which it does not matter what the other records add.

    Bound because, given the data, parts are independent: what is merged or named otherwise of one part's outputs multiplies columns
    by a constant, or renames outputs.
    """

    def __init__(self, model: Model) -> None:
        self._divide(model)
        rests_on(self.allowance, "R1")
        self.queries: list[dict[str, Any]] = model.query.get("queries", [model.query])
        several = len(self.queries) > 1
        parts = model.mechanism["parts"]
        known = all(query["kind"] in _ALONE for query in self.queries)
        need(known and not (several and len(set(model.alphabets)) > 1), _KNOWN)
        need(all(part.get("on", 0) < len(self.queries) for part in parts), "mechanism: a part is on no query")
        plain = [{key: item for key, item in part.items() if key not in ("times", "on")} for part in parts]
        asked = [self.queries[part.get("on", 0)] for part in parts]
        need(not any(noise_of(table).endless for table in plain), _KNOWN)
        pairs = zip(asked, plain, strict=True)
        self.parts = [Blocks(replace(model, query=query, mechanism=table)) for query, table in pairs]
        need(all(part.alone for part in self.parts), _KNOWN)

    @property
    def alone(self) -> bool:
        """It does not matter what the other records add."""
        return True

    @cached_property
    def places(self) -> Sequence[int]:
        """The same, where all parts find records alike."""
        return self.parts[0].places if all(part.alike for part in self.parts) else range(len(self.sizes))

    def shape(self, j: int) -> Shape:
        """That of block j."""
        place = slice(self._starts[j], self._starts[j + 1])
        alphabets = tuple(self.model.alphabets[place])
        return Shape(alphabets, None, tuple(part.shape(j) for part in self.parts), tuple(self._queries(place)))

    def _queries(self, place: slice) -> list[str]:
        """The queries of some records, as text."""
        found = list[str]()
        most = max(self.model.alphabets[place])
        for query in self.queries:
            table = {key: item for key, item in query.items() if item is not None}
            weights = query.get("weights")
            if weights:
                table["weights"] = weights[place] if isinstance(weights[0], list) else weights[:most]
            found.append(json.dumps(table))
        return found

    def others(self, shape: Shape) -> Sequence[int]:
        """Contribution of the other records, which does not matter."""
        return (0,)

    def key(self, shape: Shape, t: int) -> Any:
        """The same for pieces that are the same model."""
        return shape

    def told(self, shape: Shape) -> Sequence[int]:
        """0 where a block may reveal anything."""
        pairs = zip(self.parts, shape.parts, strict=True)
        return (0,) if any(part.told(own) for part, own in pairs) else ()

    def lost(self, shape: Shape) -> arb:
        """Nothing is clamped."""
        return arb(0)

    def piece(self, shape: Shape, t: int) -> Model:
        """The model about one block."""
        tables = list[dict[str, Any]]()
        for part, blocks, own in zip(self.model.mechanism["parts"], self.parts, shape.parts, strict=True):
            mechanism = blocks.piece(own, 0).mechanism
            kept = {key: item for key, item in mechanism.items() if item is not None}
            tables.append({**kept, **{key: part[key] for key in ("times", "on") if key in part}})
        queries = list(map(json.loads, shape.queries))
        query = {"kind": "joint", "queries": queries} if len(queries) > 1 else queries[0]
        return self._about(shape, query, {"kind": "several_releases", "parts": tables})


def subject(model: Model) -> Subject:
    """That of several releases against blocks."""
    return about(Releases(model))
