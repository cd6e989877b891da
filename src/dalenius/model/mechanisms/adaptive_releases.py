"""Releases that depend on what earlier ones gave: a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from flint import arb, fmpq

from dalenius.errors import InputError, brief
from dalenius.exact import as_list
from dalenius.information.arrays import Floats, Integers
from dalenius.model.fields import Given, Whole, declared, whole
from dalenius.model.mechanisms.base import MAX_ENTRIES, ExactEntries, Mechanism, OfQueries
from dalenius.model.mechanisms.independent_releases import PARTS
from dalenius.model.shelf import check_keys, read_shelved

DEEPEST = 16
MOST_STAGES = 2**16
MOST_PATHS = 2**18
AT_ONCE = 2**22  # numbers of all steps of some outputs


def _as_release(value: Mechanism, what: str) -> Mechanism:
    if not isinstance(value, tuple(PARTS.values())):
        raise InputError(f"mechanism: adaptive knows {', '.join(PARTS)}; got {brief(value)}")
    if value.indexed_by() != "query":
        raise InputError("mechanism: adaptive needs matrices whose rows are the query's values")
    return value


def _as_stages(value: Sequence[Mechanism | None], what: str) -> tuple[Adaptive | None, ...]:
    return tuple(
        each if each is None or isinstance(each, Adaptive) else Adaptive(each) for each in as_list(value, what)
    )


@declared
class Adaptive(OfQueries):
    """A release, and for each of its outputs what is released then: another such tree, or nothing more.

    An output of the whole is a path through the tree. Its probability is the product of those of the outputs on the path, each given
    the true value: W(y_1, y_2, ... | v) = W_1(y_1 | v) W_(y_1)(y_2 | v) ... Paths with the same outputs of the same mechanisms, in
    whatever order, have the same probability on every value, and are merged without loss.

    Parameters
    ----------
    mechanism : Mechanism
        A matrix by query values, or a built-in mechanism but a local protocol or noise on the real line.
    then : sequence of Mechanism, Adaptive or None, optional
        One for each of its outputs, in their order; None: nothing more. Left out, nothing more for any. Noise on a sum that has no
        range has one output for each of the query's values: what falls beyond the least or the largest of them is one output with it.
    on : int, optional
        Of a `Joint` query: which of its queries is released, counted from 0.

    Raises
    ------
    InputError
        If a mechanism cannot be a stage, or the tree is more than 16 stages deep or has more than 65,536 of them; `channel` raises it
        where there are not as many continuations as outputs, more than 2^18 paths, or more than 2^24 entries.

    >>> import numpy as np
    >>> from dalenius.model.mechanisms.matrix import symmetric
    >>> again = adaptive(symmetric("0.2"), then=[None, symmetric("0.1")])  # a second, better look where the first says 1
    >>> again.channel(np.arange(2)).round(2).tolist()
    [[0.8, 0.18, 0.02], [0.2, 0.08, 0.72]]

    A count of three, and then a sum, with more noise where the count came out small:

    >>> from dalenius.model.mechanisms.noise import discrete_laplace
    >>> discrete_laplace(0.5).output_labels(np.arange(4))
    ['at most 0', '1', '2', 'at least 3']
    >>> coarse, fine = (adaptive(discrete_laplace(epsilon), on=1) for epsilon in (0.2, 1))
    >>> count_then_sum = adaptive(discrete_laplace(0.5), then=[coarse, coarse, fine, fine])
    """

    kind: ClassVar[str] = "adaptive"
    example: ClassVar[str] = 'adaptive mechanism = {kind = "randomized_response", epsilon = 1}'
    listed: ClassVar[bool] = True
    words: ClassVar[str] = "releases that depend on what earlier ones gave"
    mechanism: Given[Mechanism, Mechanism] = Given(_as_release)
    then: Given[Sequence[Mechanism | None] | None, tuple[Adaptive | None, ...] | None] = Given(
        _as_stages, default=None, kw_only=True
    )
    on: Whole = Given(whole(at_least=0), default=0, kw_only=True)

    def __post_init__(self) -> None:
        if self._depth > DEEPEST:
            raise InputError(f"mechanism: a tree of releases is at most {DEEPEST} stages deep, got {self._depth}")
        if self._size > MOST_STAGES:
            raise InputError(f"mechanism: a tree of releases has at most {MOST_STAGES} stages, got {self._size}")

    @property
    def _after(self) -> Iterator[Adaptive]:
        return (stage for stage in self.then or () if stage is not None)

    @cached_property
    def _depth(self) -> int:
        return 1 + max((stage._depth for stage in self._after), default=0)

    @cached_property
    def _size(self) -> int:
        """Number of stages of a tree that is written out."""
        return 1 + sum(stage._size for stage in self._after)

    def stages(self) -> Iterator[Mechanism]:
        yield self.mechanism
        for stage in self._after:
            yield from stage.stages()

    def of_rows(self, inputs: Sequence[int]) -> Adaptive:
        return self.of_each(lambda one: one.of_rows(inputs))

    def of_each(self, change: Callable[[Mechanism], Mechanism]) -> Adaptive:
        """The same tree of mechanisms that are changed, but keep their outputs."""
        then = None if self.then is None else [stage and stage.of_each(change) for stage in self.then]
        return Adaptive(change(self.mechanism), then=then, on=self.on)

    def channel(self, values: Integers) -> Floats:
        paths = self._paths(values)
        columns = [np.ones((values.size, 1))]
        for mechanism, on in paths.releases:
            listed, places = self._own(on, values)
            columns.append(mechanism.channel(listed)[places])
        of_steps, found = np.hstack(columns), np.tile(paths.ways.astype(float), (values.size, 1))
        for steps in paths.steps.T:
            found *= of_steps[:, steps]
        return found / found.sum(axis=1, keepdims=True)

    def exact_entries(self, values: Integers) -> ExactEntries:
        paths = self._paths(values)
        numbers, columns = list[fmpq | arb]([fmpq(1)]), [np.zeros((values.size, 1), dtype=np.int64)]
        for mechanism, on in paths.releases:
            listed, places = self._own(on, values)
            own = mechanism.exact_entries(listed)
            columns.append(own.index[places] + len(numbers))
            numbers += own.numbers
        of_steps = _told_apart(ExactEntries(numbers, np.hstack(columns)))
        products, parts = _Products(of_steps.numbers), list[Integers]()
        size = max(1, AT_ONCE // max(values.size * paths.steps.shape[1], 1))
        for start in range(0, len(paths.ways), size):
            chosen = of_steps.index[:, paths.steps[start : start + size]]
            parts.append(products.of(np.sort(chosen, axis=2), paths.ways[start : start + size]))
        return _told_apart(ExactEntries(products.numbers, np.hstack(parts)))

    def output_labels(self, values: Integers) -> list[str]:
        paths, labels = self._paths(values), [""]
        for mechanism, on in paths.releases:
            labels += mechanism.output_labels(self._own(on, values)[0])
        named = ("; ".join(labels[step] for step in steps if step) for steps in paths.steps.tolist())
        return [f"{name}, in any order" if ways > 1 else name for name, ways in zip(named, paths.ways, strict=True)]

    def _paths(self, values: Integers) -> _Paths:
        """The classes of alike paths; `InputError` where there are too many, before anything large is made."""
        known = _Releases(self, values)
        if (count := known.paths(self)) > MOST_PATHS:
            raise InputError(f"mechanism: a tree of releases has at most {MOST_PATHS} paths, got {count}")
        first, ways = dict[tuple[int, ...], tuple[int, ...]](), dict[tuple[int, ...], int]()
        for path in known.walk(self, ()):
            alike = tuple(sorted(path))
            first.setdefault(alike, path)
            ways[alike] = ways.get(alike, 0) + 1
        if len(ways) * values.size > MAX_ENTRIES:
            raise InputError(
                f"mechanism: the channel of all releases would have more than {MAX_ENTRIES} entries; merge outputs, or cut the tree"
            )
        longest = max(map(len, first.values()))
        steps = np.array([path + (0,) * (longest - len(path)) for path in first.values()], dtype=np.int64)
        return _Paths(tuple(known.listed), steps, np.array(list(ways.values()), dtype=np.int64))

    def to_table(self) -> dict[str, Any]:
        return self._table("to_model", lambda stage: {} if stage is None else stage.to_table())

    def normal_table(self) -> dict[str, Any]:
        return self._table("normal_form", lambda stage: stage and stage.normal_table())

    def _table(self, form: str, of: Callable[[Adaptive | None], Any]) -> dict[str, Any]:
        then = None if self.then is None else [of(stage) for stage in self.then]
        return {"mechanism": getattr(self.mechanism, form)(), "on": self.on, "then": then}

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Adaptive:
        """Build from a table without `kind`."""
        return cls._read(table, where, 1)

    @classmethod
    def _read(cls, table: Mapping[str, Any], where: str, depth: int) -> Adaptive:
        check_keys(table, ("mechanism", "then", "on"), where)
        if depth > DEEPEST:
            raise InputError(f"{where}: a tree of releases is at most {DEEPEST} stages deep")
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
        return cls(mechanism, then=None if then is None else stages, on=table.get("on", 0))


adaptive = Adaptive


class _Paths(NamedTuple):
    """Classes of alike paths.

    Attributes
    ----------
    releases : sequence of (mechanism, on)
        What is released anywhere in the tree. Steps are numbered: 0 is none, then come the outputs of one release after another.
    steps : (classes, longest path)
        Of the first path of each class, filled up with 0.
    ways : (classes,)
        How many paths there are in each.
    """

    releases: Sequence[tuple[Mechanism, int]]
    steps: Integers
    ways: Integers


class _Releases:
    """Releases anywhere in a tree, with the numbers of its outputs as steps."""

    def __init__(self, tree: Adaptive, values: Integers) -> None:
        self._tree, self._values, self._steps = tree, values, 1
        self._known = dict[tuple[int, int], tuple[int, int]]()  # by object: a large matrix is compared once
        self._alike = dict[tuple[str, str, int], tuple[int, int]]()  # by normal form
        self.listed = list[tuple[Mechanism, int]]()

    def _of(self, stage: Adaptive) -> tuple[int, int]:
        """The first step of a stage, and how many outputs it has."""
        key = id(stage.mechanism), stage.on
        if key not in self._known:
            self._known[key] = self._new(stage.mechanism, stage.on)
        first, outputs = self._known[key]
        if stage.then is not None and len(stage.then) != outputs:
            raise InputError(
                f"mechanism: then must have one entry for each of {outputs} outputs, got {len(stage.then)}"
            )
        return first, outputs

    def _new(self, mechanism: Mechanism, on: int) -> tuple[int, int]:
        key = mechanism.kind, repr(mechanism.normal_table()), on
        if key not in self._alike:
            outputs = mechanism.channel(self._tree._own(on, self._values)[0]).shape[1]
            self._alike[key] = self._steps, outputs
            self._steps += outputs
            self.listed.append((mechanism, on))
        return self._alike[key]

    def paths(self, stage: Adaptive) -> int:
        _, outputs = self._of(stage)
        return outputs if stage.then is None else sum(1 if more is None else self.paths(more) for more in stage.then)

    def walk(self, stage: Adaptive, path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """The steps of all paths that begin with these, depth first."""
        first, outputs = self._of(stage)
        for y, more in enumerate(stage.then or (None,) * outputs):
            if more is None:
                yield (*path, first + y)
            else:
                yield from self.walk(more, (*path, first + y))


class _Products:
    """Products of numbers; those of the same numbers, so many times, are one."""

    def __init__(self, factors: Sequence[fmpq | arb]) -> None:
        self._factors, self._place, self.numbers = factors, dict[tuple[int, ...], int](), list[fmpq | arb]()

    def of(self, chosen: Integers, ways: Integers) -> Integers:
        """Places among `numbers`, of factors (inputs, outputs, steps) in ascending order."""
        spread = np.broadcast_to(ways[None, :, None], (*chosen.shape[:2], 1))
        rows = np.concatenate([spread, chosen], axis=2).reshape(-1, chosen.shape[2] + 1)
        used, index = np.unique(rows, axis=0, return_inverse=True)
        places = [self._placed(tuple(row)) for row in used.tolist()]
        return np.array(places, dtype=np.int64)[index.reshape(chosen.shape[:2])]

    def _placed(self, row: tuple[int, ...]) -> int:
        if row not in self._place:
            self._place[row] = len(self.numbers)
            product: fmpq | arb = fmpq(row[0])
            for factor in row[1:]:
                product = product * self._factors[factor]
            self.numbers.append(product)
        return self._place[row]


def _told_apart(entries: ExactEntries) -> ExactEntries:
    """The same entries, equal rationals being one number; beside an epsilon they are balls as all others, and equal by what they are
    made of alone.
    """
    if not all(isinstance(x, fmpq) for x in entries.numbers):
        return ExactEntries([arb(x) for x in entries.numbers], entries.index)
    place: dict[object, int] = {}
    first = [
        place.setdefault((int(x.p), int(x.q)) if isinstance(x, fmpq) else j, j) for j, x in enumerate(entries.numbers)
    ]
    return ExactEntries(entries.numbers, np.array(first, dtype=np.int64)[entries.index])
