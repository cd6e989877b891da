"""Several releases of one value: all of their outputs together."""

from __future__ import annotations

import copy
import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, as_integer, as_list
from dalenius.information.arrays import Floats, Integers
from dalenius.model.fields import declared, keep
from dalenius.model.mechanisms.base import MAX_ENTRIES, ExactEntries, Mechanism, OfQueries, Part
from dalenius.model.queries.histogram import histograms
from dalenius.model.shelf import check_keys, read_shelved

PARTS: dict[str, type[Mechanism]] = {}  # by kind, in the order of the shelf, which enters them
MOST = 10**6  # releases
APART = "ask about each release alone, and bound them together by dl.composition (dalenius compose)"
ALONE = (
    ". T releases of one query with gaussian noise reveal what one with its scale over the root of T reveals; where another part is "
    f"not known, {APART}"
)


@declared
class SeveralReleases(OfQueries):
    """Independent releases of the same dataset, looked at together: the product of their channels.

    Of T releases by one mechanism only how often each output came matters, its *type*: all sequences of a type have the same
    probability on every input, so they are merged without loss, and T releases of k outputs have C(T+k-1, k-1) outputs, not k^T.

    Parameters
    ----------
    *mechanisms : Mechanism
        Matrices by query values, or built-in ones but local protocols. Equal ones are counted together.
    times : int, optional
        All of them are released so many times.
    on : sequence of int, optional
        Of a `Joint` query: which of its queries each mechanism releases, counted from 0; `dl.together` fills it in.

    Raises
    ------
    InputError
        If there is no mechanism, or one that cannot be repeated; `channel` raises it where there are more than 2^24 entries.

    >>> from dalenius.model.mechanisms.matrix import randomized_response
    >>> import numpy as np
    >>> four = several_releases(randomized_response(3), times=4)
    >>> four.channel(np.arange(3)).shape, four.output_labels(np.arange(3))[:3]
    ((3, 15), ['4 x 0', '3 x 0, 1 x 1', '3 x 0, 1 x 2'])
    """

    kind: ClassVar[str] = "several_releases"
    words: ClassVar[str] = "several releases, each with noise of its own"
    example: ClassVar[str] = 'several_releases parts = [{kind = "geometric", epsilon = 1, times = 2}]'
    parts: tuple[Part, ...]

    def __init__(self, *mechanisms: Mechanism, times: Integer = 1, on: Sequence[Integer] = ()) -> None:
        each = as_integer(times, "mechanism: times", at_least=1, at_most=MOST)
        queries = [as_integer(j, "mechanism: on", at_least=0) for j in on] or [0] * len(mechanisms)
        if len(queries) != len(mechanisms):
            raise InputError(f"mechanism: on must say of each of the {len(mechanisms)} mechanisms which query it is on")
        for mechanism in mechanisms:
            if not isinstance(mechanism, tuple(PARTS.values())):
                raise InputError(f"mechanism: several_releases knows {', '.join(PARTS)}; got {brief(mechanism)}{ALONE}")
            if mechanism.indexed_by() != "query":
                raise InputError("mechanism: several_releases needs matrices whose rows are the query's values")
        if not mechanisms:
            raise InputError("mechanism: several_releases needs at least one mechanism")
        counted = Counter(zip(mechanisms, queries, strict=True))
        parts = tuple(Part(mechanism, each * count, j) for (mechanism, j), count in counted.items())
        keep(self, parts=parts, vectors=None)

    def channel(self, values: Integers) -> Floats:
        factors = []
        for mechanism, times, on in self._within(values):
            listed, places = self._own(on, values)
            factors.append(_repeated(mechanism.channel(listed), times)[places])
        found = factors[0]
        for factor in factors[1:]:
            found = (found[:, :, None] * factor[:, None, :]).reshape(len(found), -1)
        return found / found.sum(axis=1, keepdims=True)

    def exact_entries(self, values: Integers) -> ExactEntries:
        found: ExactEntries | None = None
        for mechanism, times, on in self._within(values):
            listed, places = self._own(on, values)
            own = _repeated_exactly(mechanism.exact_entries(listed), times)
            own = ExactEntries(own.numbers, own.index[places])
            found = own if found is None else _product(found, own)
        assert found is not None
        return found

    def output_labels(self, values: Integers) -> list[str]:
        names = []
        for mechanism, times, on in self._within(values):
            labels = mechanism.output_labels(self._own(on, values)[0])
            types = _types(len(labels), times).tolist()
            names.append([_name(kind, labels) if times > 1 else labels[int(np.argmax(kind))] for kind in types])
        return ["; ".join(chosen) for chosen in itertools.product(*names)]

    @property
    def independent(self) -> tuple[Part, ...]:
        return self.parts

    def alone(self) -> Mechanism:
        return self.of_each(lambda part: part.alone())

    def of_each(self, change: Callable[[Mechanism], Mechanism]) -> SeveralReleases:
        """The same releases of mechanisms that are changed, of the same queries."""
        made = copy.copy(self)
        keep(made, parts=tuple(part._replace(mechanism=change(part.mechanism)) for part in self.parts))
        return made

    def to_table(self) -> dict[str, Any]:
        return {"parts": [{**one.to_model(), **_more(times, on)} for one, times, on in self.parts]}

    def normal_table(self) -> dict[str, Any]:
        return {"parts": [{**one.normal_form(), **_more(times, on)} for one, times, on in self.parts]}

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> SeveralReleases:
        """Build from a table without `kind`; parts stay as they are listed."""
        check_keys(table, ("parts",), where)
        read = []
        for j, part in enumerate(as_list(table.get("parts", ()), f"{where}: parts")):
            place = f"{where}: parts[{j}]"
            if not isinstance(part, Mapping):
                raise InputError(f"{place}: expected a table, got {brief(part)}")
            rest = {key: value for key, value in part.items() if key not in ("times", "on")}
            on = as_integer(part.get("on", 0), f"{place}: on", at_least=0)
            times = as_integer(part.get("times", 1), f"{place}: times", at_least=1, at_most=MOST)
            read.append(Part(read_shelved(PARTS, rest, place, ALONE), times, on))
        made = cls(*(part.mechanism for part in read))
        keep(made, parts=tuple(read))
        return made

    def _within(self, values: Integers) -> tuple[Part, ...]:
        """The parts; `InputError` if their channel would be too large."""
        outputs = 1
        for mechanism, times, on in self.parts:
            width = mechanism.channel(self._own(on, values)[0]).shape[1]
            outputs *= math.comb(times + width - 1, width - 1)
            if outputs * values.size > MAX_ENTRIES:
                raise InputError(
                    f"mechanism: the channel of all releases would have more than {MAX_ENTRIES} entries; merge outputs, or ask about "
                    "fewer releases"
                )
        return self.parts


several_releases = SeveralReleases


def _more(times: int, on: int) -> dict[str, int]:
    """Keys of a part's table besides its mechanism's."""
    return {"times": times, **({"on": on} if on else {})}


def _types(width: int, times: int) -> Integers:
    """Counts of each of `width` outputs among so many releases; in reverse lexicographic order.

    >>> _types(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    return histograms(times, width)[::-1]


def _coefficients(types: Integers) -> list[int]:
    """In how many orders the outputs of each type can come."""
    factorials = [math.factorial(c) for c in range(int(types.sum(axis=1).max()) + 1)]
    return [factorials[sum(kind)] // math.prod(factorials[c] for c in kind) for kind in types.tolist()]


def _repeated(channel: Floats, times: int) -> Floats:
    """The channel of the types."""
    types = _types(channel.shape[1], times)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(types[:, None, :] > 0, types[:, None, :] * np.log(channel)[None], 0.0).sum(axis=2)
    sizes = np.array([math.log(c) for c in _coefficients(types)])
    return np.exp(logs + sizes[:, None]).T


def _repeated_exactly(entries: ExactEntries, times: int) -> ExactEntries:
    """The same in exact numbers; numbers are one where they are the same product of the same numbers."""
    types = _types(entries.index.shape[1], times)
    coefficients = _coefficients(types)
    place: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
    numbers = list[fmpq | arb]()
    powers: dict[tuple[int, int], fmpq | arb] = {}
    index = np.empty((len(entries.index), len(types)), dtype=np.int64)
    for x, row in enumerate(entries.index.tolist()):
        for y, (kind, ways) in enumerate(zip(types.tolist(), coefficients, strict=True)):
            exponents = Counter[int]()
            for number, count in zip(row, kind, strict=True):
                exponents[number] += count
            key = ways, tuple(sorted((number, count) for number, count in exponents.items() if count))
            if key not in place:
                place[key] = len(numbers)
                factors = (powers.setdefault(pair, entries.numbers[pair[0]] ** pair[1]) for pair in key[1])
                numbers.append(math.prod(factors, start=fmpq(ways)))
            index[x, y] = place[key]
    return ExactEntries(numbers, index)


def _product(first: ExactEntries, second: ExactEntries) -> ExactEntries:
    """Of two independent releases."""
    pairs = first.index[:, :, None] * len(second.numbers) + second.index[:, None, :]
    used, index = np.unique(pairs.reshape(len(pairs), -1), return_inverse=True)
    numbers = [first.numbers[k // len(second.numbers)] * second.numbers[k % len(second.numbers)] for k in used.tolist()]
    return ExactEntries(numbers, index.reshape(len(pairs), -1))


def _name(kind: list[int], labels: list[str]) -> str:
    return ", ".join(f"{count} x {label}" for count, label in zip(kind, labels, strict=True) if count)
