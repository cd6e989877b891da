"""Ground of a design model's mechanisms: inputs and outputs, exactly as the model's tables say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from ...core.allowance import NUMBER, Allowance, limit
from ...core.arithmetic import fmpq
from ...core.channel import Channel
from ...core.counts import MODULAR, datasets, law, values
from ...core.model import Model
from ...core.numbers import height, need, total
from ...core.read import law_of

_MAX_CELLS = 1 << 22
Costs = list[list[fmpq]]
Term = Sequence[Any]  # an input x, an output y and a rational c, of which c Q(x, y) is meant
Part = Callable[[bool], Iterable[Term]]  # at the hard end of e^epsilon or the other
BEHIND = -1  # in the place of an input: what is subtracted of all
_MEASURES: dict[str, Callable[[Any], Any]] = {
    "hamming": lambda d: int(d != 0),
    "absolute": abs,
    "squared": lambda d: d * d,
}


class Inputs:
    """A mechanism's inputs, query values, with their law; and how many outputs there are, one more where no more are of use."""

    def __init__(self, model: Model) -> None:
        self.allowance = model.allowance
        self._data, self.inputs = model, values(model)
        self.outputs = len(self.inputs) + 1
        self.law = law(model, self.inputs)

    @cached_property
    def held(self) -> list[bool]:
        """True where some dataset has the input."""
        even = replace(self._data, design={"law": {}})
        return [p != 0 for p in law(even, self.inputs)]

    def need_priors(self, priors: Costs, what: str) -> None:
        """Refuse priors that are not on the inputs that some dataset has."""
        size = len(self.inputs)
        for prior in priors:
            need(len(prior) == size, f"each of {what}.priors must list {size} numbers, one for each input")
            fits = all(held or not p for p, held in zip(prior, self.held, strict=True))
            need(fits, f"{what}.priors has mass on a value that no dataset has")

    def channel(self, rows: list[Any], outputs: int, dataset: bool = False, shifted: bool = False) -> Channel:
        """The mechanism of a certificate; the rows of an additive one are its law, shifted."""
        size = len(self.inputs)
        wanted = 1 if shifted else size
        need(len(rows) == wanted, f"{len(rows)} rows of the mechanism where {wanted} are needed")
        self.allowance.take(len(rows) * outputs * NUMBER)
        exact = [law_of(row, outputs, "a row of the mechanism", self.allowance) for row in rows]
        if shifted:
            exact = [[exact[0][(y - v) % size] for y in range(size)] for v in range(size)]
        return Channel(exact, self.inputs, self.allowance, dataset)


class Ground(Inputs):
    """The inputs, query values or whole datasets, with d(x, y) in `costs`; and how many outputs there are."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.allowance = model.allowance
        self.group = model.mechanism["class"]
        self.listed = values(model)
        own = model.design["distortion"]
        need(model.states() >= 0 or self.group != "full", "a full mechanism needs at most 65536 datasets")
        costs = _distortions(own, self.listed, model.allowance)
        self.outputs = len(costs[0])
        fits = model.query["kind"] in MODULAR and self.outputs == len(self.listed)
        need(fits or self.group != "additive", "an additive mechanism needs parity or modular_sum, and V outputs")
        self._data, self.inputs, self.costs = model, self.listed, costs
        self._place: Sequence[int] = range(len(self.listed))
        if self.group == "full":
            limit(model.states() * self.outputs <= _MAX_CELLS, "too many datasets and outputs")
            self._data = replace(model, query={"kind": "identity"})
            self.inputs = list(range(model.states()))
            self._place = datasets(model, self.listed)
            self.costs = [costs[k] for k in self._place]
        self.law = law(self._data, self.inputs)

    @property
    def used(self) -> list[int]:
        """X, the inputs that some dataset has."""
        return [x for x, held in enumerate(self.held) if held]

    @cached_property
    def values(self) -> list[int]:
        """v(x), the query's value."""
        return [self.listed[k] for k in self._place]

    def points(self, what: str) -> list[fmpq]:
        """The numbers that the outputs stand for."""
        own = self.model.design["distortion"]
        need("outputs" in own or own["kind"] != "matrix", f"{what}: the outputs stand for no numbers")
        return list(map(fmpq, own.get("outputs", self.listed)))

    def measure(self, table: dict[str, Any], what: str) -> Costs:
        """The distortions d(x, y) of another table."""
        costs = _distortions(table, self.listed, self.allowance)
        need(len(costs[0]) == self.outputs, f"the distortion of {what} must have {self.outputs} outputs")
        return [costs[k] for k in self._place]

    def weighted(self) -> Costs:
        """p(x) d(x, y)."""
        return [[p * d for d in costs] for p, costs in zip(self.law, self.costs, strict=True)]

    def expected(self, laws: Sequence[Sequence[fmpq]], costs: Costs) -> fmpq:
        """The sum of p(x) Q(x, y) d(x, y)."""
        pairs = zip(self.law, laws, costs, strict=True)
        return total(p * total(q * d for q, d in zip(row, ds, strict=True)) for p, row, ds in pairs if p)

    def need_cells(self, cells: Iterable[Term], what: str) -> None:
        """Refuse entries [x, y, ...] that are none of a mechanism's."""
        inside = all(cell[0] < len(self.law) and cell[1] < self.outputs for cell in cells)
        need(inside, f"{what}: an index is no input or output, of {len(self.law)} and {self.outputs}")

    def need_inputs(self, inputs: Iterable[int], what: str) -> None:
        """Refuse indices that are no inputs."""
        need(all(x < len(self.law) for x in inputs), f"{what}: an index is no input, of {len(self.law)}")


def _distortions(table: dict[str, Any], listed: list[int], allowance: Allowance) -> Costs:
    """d(v, y) by value and output."""
    rows: Costs = table.get("rows", [])
    points: list[Any] = table.get("outputs", listed)
    size = len(listed)
    kind = table["kind"]
    need("rows" not in table or len(rows) == size, f"distortion.rows must be {size} lists, one for each value")
    width = len(rows[0]) if rows else len(points)
    need(size * width <= _MAX_CELLS, f"the distortion has more than {_MAX_CELLS} entries")
    need("outputs" not in table or width == len(points), f"distortion.outputs must be {width} numbers")
    if rows:
        return rows
    allowance.take(size * sum(NUMBER + height(fmpq(o)) // 2 for o in points))
    return [[fmpq(_MEASURES[kind](v - o)) for o in points] for v in listed]
