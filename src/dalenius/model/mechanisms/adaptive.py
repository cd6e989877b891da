"""Releases that depend on what earlier ones gave: a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, as_integer, as_list
from dalenius.information.arrays import Integers
from dalenius.model.mechanisms.base import MAX_ENTRIES, ExactEntries, Floats, Mechanism, OfQueries
from dalenius.model.mechanisms.several_releases import PARTS
from dalenius.model.shelf import check_keys, read_shelved

__all__ = ["Adaptive", "adaptive"]

DEEPEST = 16


@dataclass(frozen=True, init=False)
class Adaptive(OfQueries):
    """A release, and for each of its outputs what is released then: another such tree, or nothing more.

    An output of the whole is a path through the tree. Its probability is the product of those of the outputs on the path, each given
    the true value: W(y_1, y_2, ... | v) = W_1(y_1 | v) W_(y_1)(y_2 | v) ...

    Parameters
    ----------
    mechanism : Mechanism
        A matrix by query values, or a built-in mechanism but a local protocol.
    then : sequence of Mechanism, Adaptive or None, optional
        One for each of its outputs, in their order; None: nothing more. Left out, nothing more for any.
    on : int, optional
        Of a `Joint` query: which of its queries is released, counted from 0.

    Raises
    ------
    InputError
        If a mechanism cannot be a stage, or the tree is more than 16 deep; `channel` raises it where there are not as many
        continuations as outputs, or more than 2^24 entries.

    >>> import numpy as np
    >>> from dalenius.model.mechanisms.symmetric import symmetric
    >>> again = adaptive(symmetric("0.2"), then=[None, symmetric("0.1")])  # a second, better look where the first says 1
    >>> again.channel(np.arange(2)).round(2).tolist()
    [[0.8, 0.18, 0.02], [0.2, 0.08, 0.72]]
    """

    kind: ClassVar[str] = "adaptive"
    mechanism: Mechanism
    then: tuple[Adaptive | None, ...] | None = None
    on: int = 0

    def __init__(
        self, mechanism: Mechanism, *, then: Sequence[Mechanism | None] | None = None, on: Integer = 0
    ) -> None:
        if not isinstance(mechanism, tuple(PARTS.values())):
            raise InputError(f"mechanism: adaptive knows {', '.join(PARTS)}; got {brief(mechanism)}")
        if mechanism.indexed_by() != "query":
            raise InputError("mechanism: adaptive needs matrices whose rows are the query's values")
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "on", as_integer(on, "mechanism: on", at_least=0))
        stages = None if then is None else tuple(map(_stage, as_list(then, "mechanism: then")))
        object.__setattr__(self, "then", None if stages is None or not any(stages) else stages)
        object.__setattr__(self, "vectors", None)
        if self._depth > DEEPEST:
            raise InputError(f"mechanism: a tree of releases is at most {DEEPEST} deep, got {self._depth}")

    @property
    def _depth(self) -> int:
        return 1 + max((stage._depth for stage in self.then or () if stage is not None), default=0)

    def channel(self, values: Integers) -> Floats:
        listed, places = self._own(self.on, values)
        rows = self.mechanism.channel(listed)[places]
        columns = list[Floats]()
        for y, stage in self._stages(rows.shape[1]):
            own = rows[:, y : y + 1]
            columns.append(own if stage is None else own * stage.channel(values))
            if sum(column.size for column in columns) > MAX_ENTRIES:
                raise InputError(f"mechanism: the channel of all releases would have more than {MAX_ENTRIES} entries")
        return np.hstack(columns)

    def exact_entries(self, values: Integers) -> ExactEntries:
        listed, places = self._own(self.on, values)
        rows = self.mechanism.exact_entries(listed)
        numbers, parts = list[fmpq | arb](), list[Integers]()
        for y, stage in self._stages(rows.index.shape[1]):
            own = rows.index[places, y : y + 1]
            more = ExactEntries([fmpq(1)], np.zeros_like(own)) if stage is None else stage.exact_entries(values)
            used, index = np.unique(own * len(more.numbers) + more.index, return_inverse=True)
            parts.append(index.reshape(more.index.shape) + len(numbers))
            numbers += [
                rows.numbers[k // len(more.numbers)] * more.numbers[k % len(more.numbers)] for k in used.tolist()
            ]
        return _told_apart(numbers, np.hstack(parts))

    def output_labels(self, values: Integers) -> list[str]:
        labels = self.mechanism.output_labels(self._own(self.on, values)[0])
        return [
            label if more is None else f"{label}; {more}"
            for y, stage in self._stages(len(labels))
            for label in [labels[y]]
            for more in ([None] if stage is None else stage.output_labels(values))
        ]

    def _stages(self, outputs: int) -> Iterator[tuple[int, Adaptive | None]]:
        """What follows each output, told which vectors there are."""
        then = self.then or (None,) * outputs
        if len(then) != outputs:
            raise InputError(f"mechanism: then must have one entry for each of {outputs} outputs, got {len(then)}")
        for y, stage in enumerate(then):
            yield y, stage if stage is None or self.vectors is None else stage.on_vectors(self.vectors)

    def to_table(self) -> dict[str, Any]:
        return {
            "mechanism": {"kind": self.mechanism.kind, **self.mechanism.to_table()},
            "on": self.on,
            "then": None if self.then is None else [{} if stage is None else stage.to_table() for stage in self.then],
        }

    def normal_table(self) -> dict[str, Any]:
        return {
            "mechanism": {"kind": self.mechanism.kind, **self.mechanism.normal_table()},
            "on": self.on,
            "then": None if self.then is None else [stage and stage.normal_table() for stage in self.then],
        }

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Adaptive:
        """Build from a table without `kind`."""
        return cls._read(table, where, 1)

    @classmethod
    def _read(cls, table: Mapping[str, Any], where: str, depth: int) -> Adaptive:
        check_keys(table, ("mechanism", "then", "on"), where)
        if depth > DEEPEST:
            raise InputError(f"{where}: a tree of releases is at most {DEEPEST} deep")
        if "mechanism" not in table:
            raise InputError(f"{where}: missing mechanism")
        mechanism, then = read_shelved(PARTS, table["mechanism"], f"{where}: mechanism"), table.get("then")
        stages = list[Adaptive | None]()
        for y, stage in enumerate([] if then is None else as_list(then, f"{where}: then")):
            if not isinstance(stage, Mapping):
                raise InputError(
                    f"{where}: then[{y}]: expected a table, empty where nothing follows, got {brief(stage)}"
                )
            stages.append(cls._read(stage, f"{where}: then[{y}]", depth + 1) if stage else None)
        made = cls(mechanism, on=table.get("on", 0))
        object.__setattr__(made, "then", None if then is None else tuple(stages))
        return made


adaptive = Adaptive


def _stage(given: Mechanism | None) -> Adaptive | None:
    return given if given is None or isinstance(given, Adaptive) else Adaptive(given)


def _told_apart(numbers: Sequence[fmpq | arb], index: Integers) -> ExactEntries:
    """The same entries, equal rationals being one number."""
    place: dict[object, int] = {}
    first = [place.setdefault((int(x.p), int(x.q)) if isinstance(x, fmpq) else j, j) for j, x in enumerate(numbers)]
    return ExactEntries(numbers, np.array(first, dtype=np.int64)[index])
