"""Theorem R2: a tree of releases has a row entry for each path, the product of its steps'; paths with the same steps merge.

Hypotheses, each a line that refuses: a list `then` has a stage, or none, for each output (`_paths`); alike paths are counted
(`Tree`); parts are on a query that is there (`part_rows`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from ..core.allowance import BALL, PAIR, POINTER, Allowance, rests_on
from ..core.arithmetic import arb, fmpq, is_rational
from ..core.channel import Channel, build
from ..core.counts import places
from ..core.model import Model
from ..core.numbers import height, need, powers, take_entries
from ..core.read import normal

_MOST_PATHS = 1 << 20
Table = dict[str, Any]
Step = tuple[tuple[int, int], int]  # a mechanism by its number, and its output, with how often it is taken
Steps = frozenset[Step]
Rows = list[list[Any]]


class Tree:
    """The classes of alike paths, in the order of their first paths, with how many there are of each.

    Bound because alike paths have one probability on every input, so that their columns are equal, and may be merged.
    """

    def __init__(self, first: Table, number: Callable[[Table], tuple[int, int]], allowance: Allowance) -> None:
        self._number = number
        self.allowance = allowance
        rests_on(allowance, "R2")
        self.classes = dict[Steps, int]()
        for paths, steps in enumerate(self._paths(first), 1):
            allowance.look()
            need(paths <= _MOST_PATHS, f"mechanism: a tree of releases has more than {_MOST_PATHS} paths")
            if steps not in self.classes:
                allowance.take(2 * PAIR * (1 + len(steps)))
            self.classes[steps] = self.classes.get(steps, 0) + 1

    def _paths(self, stage: Table, before: tuple[tuple[int, int], ...] = ()) -> Iterator[Steps]:
        """Depth first."""
        place, outputs = self._number(stage)
        following = stage["then"] or [None] * outputs
        need(len(following) == outputs, f"mechanism: a list 'then' must have {outputs} tables, one for each output")
        for y, further in enumerate(following):
            taken = (*before, (place, y))
            if further:
                yield from self._paths(further, taken)
            else:
                yield frozenset(Counter(taken).items())

    def rows(self, parts: Sequence[Rows], inputs: int) -> Rows:
        """The channel, from those of the mechanisms by number."""
        longest = max(sum(count for _, count in steps) for steps in self.classes)
        size = inputs, len(self.classes)
        return product_rows(parts, self.classes.items, longest, size, self.allowance)


def product_rows(
    parts: Sequence[Rows],
    paths: Callable[[], Iterable[tuple[Iterable[Step], int]]],
    longest: int,
    size: tuple[int, int],
    allowance: Allowance,
) -> Rows:
    """Rows of so many inputs and classes of alike paths: of each the product of its steps' entries, times how many paths there are.

    Entries that are made from the same numbers are one object.
    """
    exact = all(is_rational(rows[0][0]) for rows in parts)
    values = {id(x): x for rows in parts for row in rows for x in row}
    outputs = max(len(rows[0]) for rows in parts)
    bits = longest * (max(height(x) if exact else 1 for x in values.values()) + outputs.bit_length())
    take_entries(*size, allowance, BALL + PAIR + bits // 2)
    allowance.room(len(values) * (longest + 1) * (BALL + (bits // 4 if exact else 0)))
    number: Callable[[Any], Any] = fmpq if exact else arb
    raised = {place: powers(number(x), longest) for place, x in values.items()}
    found = Rows()
    known = dict[Any, Any]()
    for v in range(size[0]):
        found.append([])
        places = [list(map(id, rows[v])) for rows in parts]
        for steps, often in paths():
            allowance.look()
            factors = dict[int, int]()
            for (place, y), count in steps:
                x = places[place][y]
                factors[x] = factors.get(x, 0) + count
            key = often, frozenset(factors.items())
            if key not in known:
                known[key] = prod((raised[x][count] for x, count in factors.items()), start=number(often))
            found[-1].append(known[key])
    return found


def part_rows(model: Model, part: dict[str, Any], on: int, where: list[list[int]]) -> list[list[Any]]:
    """The rows of one mechanism, about one of the queries, for all inputs."""
    queries = model.query.get("queries", [model.query])
    need(on < len(queries), f"mechanism: a part is on query {on}, of {len(queries)}")
    found = build(replace(model, query=queries[on]), part)
    assert found is not None
    model.allowance.take(len(where[on]) * POINTER)
    return [found.rows[k] for k in where[on]]


def channel(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    """A tree of releases: mechanisms that are written alike, about one query, are one."""
    where = places(model, inputs)
    parts = list[list[list[Any]]]()
    known = dict[tuple[str, int], int]()

    def number(stage: dict[str, Any]) -> tuple[int, int]:
        key = json.dumps(normal(stage["mechanism"]), sort_keys=True), stage["on"]
        if key not in known:
            known[key] = len(parts)
            parts.append(part_rows(model, stage["mechanism"], stage["on"], where))
        return known[key], len(parts[known[key]][0])

    tree = Tree(mechanism, number, model.allowance)
    return Channel(tree.rows(parts, len(inputs)), inputs, model.allowance)
