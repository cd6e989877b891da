"""Independent blocks behind several releases: pieces that are put together from those of every release alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from .arithmetic import arb, fmpq
from .blocks import Blocks, Shape
from .model import Model, model_of
from .noise import noise_of
from .numbers import need
from .routes import sizes_of

_ALONE = ("count", "sum", "parity", "modular_sum")
_KNOWN = (
    "independent_blocks: several_releases need counts, sums, parities or modular sums, of records of one alphabet if they are "
    "several, and parts that would be known alone with every sum of the others"
)


class Releases(Blocks):
    """The blocks of a model, of which it does not matter what the other records add.

    Bound because, given the data, parts are independent: what is merged or named otherwise of one part's outputs multiplies columns
    by a constant, or renames outputs.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.allowance = model.allowance
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
        self.sizes = sizes_of(model)
        self._starts = [0, *accumulate(self.sizes)]

    @property
    def alone(self) -> bool:
        """It does not matter what the other records add."""
        return True

    @cached_property
    def shapes(self) -> list[Shape]:
        """The distinct ones."""
        found = dict[Shape, None]()
        for j in self.parts[0].places if all(part.alike for part in self.parts) else range(len(self.sizes)):
            self.allowance.look()
            found[self.shape(j)] = None
        return list(found)

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
        """What the other records add: it does not matter."""
        return (0,)

    def key(self, shape: Shape, t: int) -> Any:
        """The same for pieces that are the same model."""
        return shape

    def told(self, shape: Shape) -> Sequence[int]:
        """0 where a block may tell anything."""
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
        free = model_of(
            {
                "problem": self.model.problem,
                "records": {"alphabets": list(shape.alphabets)},
                "query": query,
                "mechanism": {"kind": "several_releases", "parts": tables},
                "adversary": {"entropy_at_least": fmpq(0)},
            },
            self.allowance,
        )
        return free.against({"entropy_at_least": (self.model.entropy, self.model.unit)})
