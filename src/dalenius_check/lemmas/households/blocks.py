"""Independent blocks of records: a model about them comes down to its pieces, models about one block where the others are known."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from ...core.allowance import PAIR, POINTER, limit, rests_on
from ...core.arithmetic import arb, fmpq
from ...core.counts import Groups, contributions
from ...core.model import Model, model_of
from ...core.noise import noise_of
from ...core.numbers import need
from .routes import KNOWN, alone, changed, need_fitting, reached, route, sizes_of

_MOST = 1 << 24


class Shape(NamedTuple):
    """A block's alphabets, and its records' weights where every record has its own; of releases the shapes, and the queries."""

    alphabets: tuple[int, ...]
    weights: tuple[tuple[int, ...], ...] | None
    parts: tuple[Any, ...] = ()
    queries: tuple[str, ...] = ()


class Blocks:
    """The blocks of a model, and its pieces (j, t): block j, where the contributions of all other records add up to t."""

    route = ""  # how pieces are made

    def __init__(self, model: Model) -> None:
        self._divide(model)
        self.route, self.noise = route(model), noise_of(model.mechanism)
        need(self.route != "", f"independent_blocks: the query and the mechanism must be {KNOWN}")
        if self.alone:
            rests_on(self.allowance, "B2")
        self.allowance.take(4 * len(model.alphabets) * POINTER)
        weights = model.query.get("weights")
        self._own = weights if weights and isinstance(weights[0], list) else None
        self.alike = self._own is None and len(set(model.alphabets)) == 1
        self._sums = dict[Shape, Sequence[int]]()
        self._values = dict[Shape, Sequence[int]]()
        self._need_valid()

    def _divide(self, model: Model) -> None:
        """Into the blocks of its adversary."""
        self.model = model
        self.allowance = model.allowance
        self.sizes = sizes_of(model)
        size, whole = model.held["size"], len(model.alphabets)
        self._starts: Sequence[int] = range(0, whole + size, size) if size else [0, *accumulate(self.sizes)]

    @property
    def _matrices(self) -> list[dict[str, Any]]:
        """The mechanism, or those of a tree of releases."""
        return alone(self.model.mechanism)

    @property
    def alone(self) -> bool:
        """True if the contribution of the other records does not matter."""
        return self.route in ("noise", "shift")

    @property
    def by_sum(self) -> bool:
        """True if the sum of a block's records reveals all, behind noise that is clamped beyond, and nothing is known of the block."""
        return self.route == "noise" and (self.noise.clamps or self.noise.real) and self.model.entropy == 0

    @cached_property
    def modulus(self) -> int:
        """Modulus of the sums; 0 if there is none."""
        kinds = {"parity": 2, "modular_sum": self.model.query.get("modulus", 0)}
        return int(kinds.get(self.model.query["kind"], 0))

    @cached_property
    def places(self) -> Sequence[int]:
        """Blocks among which every shape occurs: where records are alike, one a size."""
        return list(map(self.sizes.index, dict.fromkeys(self.sizes))) if self.alike else range(len(self.sizes))

    @cached_property
    def shapes(self) -> list[Shape]:
        """The distinct ones."""
        found = dict[Shape, None]()
        for j in self.places:
            self.allowance.look()
            found[self.shape(j)] = None
        self.allowance.take(sum(len(shape.alphabets) * 2 * PAIR for shape in found))
        return list(found)

    def shape(self, j: int) -> Shape:
        """That of block j."""
        place = slice(self._starts[j], self._starts[j + 1])
        return Shape(tuple(self.model.alphabets[place]), tuple(map(tuple, self._own[place])) if self._own else None)

    def block(self, i: int) -> tuple[int, int]:
        """The block of a record, and its place there."""
        j = bisect_right(self._starts, i) - 1
        return j, i - self._starts[j]

    def inputs(self, shape: Shape, t: int) -> list[int]:
        """Inputs of the model's matrix that a piece's values stand for."""
        return [0, 1] if self.route == "threshold" else self._rows(shape, t)

    def _need_feasible(self) -> None:
        """Refuse an entropy beyond a block's."""
        for counted in {frozenset(Counter(shape.alphabets).items()) for shape in self.shapes}:
            normal = {"records": [[str(size), str(times)] for size, times in counted]}
            replace(self.model, normal=normal).need_feasible()

    def _need_valid(self) -> None:
        """Refuse what is said of the mechanism that does not fit the query."""
        self._need_feasible()
        mechanism = self.model.mechanism
        for part in self._matrices if self.route != "noise" else ():
            need_fitting(part, len(self.values) if self.route == "rows" else self.modulus or 2)
        if mechanism.get("range"):
            low, high = mechanism["range"]
            ends = [sum(end(c) * times for c, times in self.added.items()) for end in (min, max)]
            need(
                low <= ends[0] and ends[1] <= high,
                "mechanism.range must contain every sum of the records' contributions",
            )

    @cached_property
    def added(self) -> Groups:
        """Contributions of the letters of all records."""
        return self._contributions(Shape(tuple(self.model.alphabets), self._own and tuple(map(tuple, self._own))))

    def _contributions(self, shape: Shape) -> Groups:
        """Contributions of the letters of some records to the query's sum, with the number of records of each."""
        found = Groups()
        for group, times in Counter[Any](shape.weights or shape.alphabets).items():
            found[contributions(self.model, group)] += times
        return found

    @cached_property
    def values(self) -> Sequence[int]:
        """The values of the model's own query."""
        return self._listed(self.added, len(self.model.alphabets))

    def _listed(self, parts: Groups, records: int) -> Sequence[int]:
        """The values that a query lists of so many records."""
        if self.modulus:
            return range(self.modulus)
        return range(records + 1) if self.model.query["kind"] == "count" else reached(parts, 0, self.allowance)

    def listed(self, shape: Shape) -> Sequence[int]:
        """The values that a piece's query lists."""
        return self._listed(self._contributions(shape), len(shape.alphabets))

    def beside(self, shape: Shape, i: int) -> tuple[Sequence[int], Sequence[int]]:
        """Contributions of a record's letters, and the sums that the other records of its block can have."""
        own = contributions(self.model, (shape.weights or shape.alphabets)[i])
        return own, reached(self._contributions(shape) - Groups([own]), self.modulus, self.allowance)

    def others(self, shape: Shape) -> Sequence[int]:
        """Every t of a block: the sums that the contributions of all other records can have."""
        if shape not in self._sums:
            if self.route == "threshold":
                most = sum(self.model.alphabets) - len(self.model.alphabets) - self._top(shape)
                self._sums[shape] = range(most + 1)
            else:
                self._sums[shape] = reached(self.added - self._contributions(shape), self.modulus, self.allowance)
                self.allowance.take(len(self._sums[shape]) * POINTER)
        return self._sums[shape]

    def _top(self, shape: Shape) -> int:
        """The largest sum of a block's letters."""
        return sum(shape.alphabets) - len(shape.alphabets)

    def _rows(self, shape: Shape, t: int) -> list[int]:
        """Rows of the model's matrix of a piece, one for each of its own values."""
        if shape not in self._values:
            self._values[shape] = self.listed(shape)
        if self.modulus or self.model.query["kind"] == "count":
            return [(t + v) % len(self.values) for v in self._values[shape]]
        return [self._places[t + v] for v in self._values[shape]]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {value: k for k, value in enumerate(self.values)}

    @cached_property
    def _same(self) -> list[int]:
        """For each row of the matrix the first one that is written alike."""
        first = dict[Any, int]()
        rows = zip(*(part["rows"] for part in self._matrices), strict=True)
        return [first.setdefault(tuple(map(tuple, row)), k) for k, row in enumerate(rows)]

    def key(self, shape: Shape, t: int) -> Any:
        """The same for pieces that are the same model."""
        if self.route == "rows":
            return shape, tuple(self._same[k] for k in self._rows(shape, t))
        return shape, self.model.query["at"] - t if self.route == "threshold" else 0

    def told(self, shape: Shape) -> Collection[int]:
        """Every t with which a block may reveal anything; 0 where t does not matter."""
        if self.route == "threshold":
            at = self.model.query["at"]
            return range(max(0, at - self._top(shape)), min(len(self.others(shape)), at))
        if all(len({x % self.modulus if self.modulus else x for x in c}) == 1 for c in self._contributions(shape)):
            return ()
        if self.route != "rows":
            return (0,)
        found = self.others(shape)
        limit(len(found) * (len(shape.alphabets) + 1) <= _MOST, f"more than {_MOST} values in a block's pieces")
        return found

    def lost(self, shape: Shape) -> arb:
        """Leakage by which the piece may fall short of the block, because its noise is clamped."""
        return self.noise.lost(max(shape.alphabets))

    def piece(self, shape: Shape, t: int) -> Model:
        """The model about one block."""
        query = {key: item for key, item in self.model.query.items() if item is not None}
        mechanism = self.model.mechanism
        if "weights" in query:
            query["weights"] = (
                list(map(list, shape.weights)) if shape.weights else query["weights"][: max(shape.alphabets)]
            )
        if self.route == "threshold":
            query["at"] -= t
        if self.route == "noise":
            mechanism = self.noise.alone(self.listed(shape))
        rows = self._rows(shape, t) if self.route == "rows" else ()
        mechanism = changed(mechanism, lambda part: {**part, "rows": [part["rows"][k] for k in rows]} if rows else part)
        return self._about(shape, query, mechanism)

    def _about(self, shape: Shape, query: dict[str, Any], mechanism: dict[str, Any]) -> Model:
        """A model of a block's records, with the entropy of a block."""
        tables = {"records": {"alphabets": list(shape.alphabets)}, "query": query, "mechanism": mechanism}
        whole = {"problem": self.model.problem, **tables, "adversary": {"entropy_at_least": fmpq(0)}}
        held = {"entropy_at_least": (self.model.entropy, self.model.unit)}
        return model_of(whole, self.allowance).against(held)


def single(model: Model) -> Blocks:
    """Every record a block."""
    blocks = {"kind": "independent_blocks", "size": 1, "sizes": None, "entropy_at_least": None}
    return Blocks(model.against(blocks))
