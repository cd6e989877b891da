"""Records that are correlated within households only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from numbers import Real
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, Number, as_integer, as_list
from dalenius.information.arrays import Integers
from dalenius.model.adversaries.base import Adversary
from dalenius.model.adversaries.entropy_at_least import EntropyAtLeast
from dalenius.model.records import MAX_RECORDS, Records
from dalenius.model.shelf import check_keys


def told_apart(entries: list[Any], what: str) -> list[Hashable]:
    """The entries, if equal ones are surely the same: Python takes True for 1, and cannot look up a list at all."""
    for entry in entries:
        try:
            hash(entry)
        except TypeError:
            raise InputError(f"{what}: expected texts, numbers or truth values, got a {type(entry).__name__}") from None
    truths = {entry for entry in entries if isinstance(entry, bool | np.bool_)}
    if truths and not truths.isdisjoint(entry for entry in entries if not isinstance(entry, bool | np.bool_)):
        raise InputError(
            f"{what}: expected truth values or numbers, got both (True and 1, or False and 0); write them alike"
        )
    return entries


def is_missing(entry: Any) -> bool:
    """None, NaN, or NaT or NA of pandas, which says of nothing whether it is equal."""
    try:
        return entry is None or bool(entry != entry)
    except TypeError:
        return True


def by_size(entry: Hashable) -> tuple[bool, float, str]:
    """The order of entries: numbers by their size, then all others by their texts.

    >>> sorted([10, "b", 9, "a"], key=by_size)
    [9, 10, 'a', 'b']
    """
    number = isinstance(entry, Real | np.bool_)
    return not number, float(entry) if number else 0.0, str(entry)  # type: ignore[arg-type]


class BlockKind(NamedTuple):
    """Blocks that nobody can tell apart: the first one, its first record, how many there are, and the records of one."""

    block: int
    first: int
    times: int
    records: Records


@dataclass(frozen=True)
class IndependentBlocks(Adversary):
    """Every prior under which blocks of records (households) are independent of one another; within a block anything goes.

    P(x) = prod_j P_j(x_block j). Where `entropy_at_least` is given, the law of the block of the record that is asked about has that
    entropy or more; the other blocks are unrestricted.

    Parameters
    ----------
    size : int, optional
        Every block has so many records, consecutive ones; the last block what is left.
    sizes : sequence of int, optional
        The sizes of consecutive blocks, whose sum is the number of records; instead of `size`.
    entropy_at_least : number or str, optional
        Of the own block: nats, or a text such as ``"2 bits"`` or ``"0.6 max"``, a share of the block's own log |X|.

    Raises
    ------
    InputError
        If neither or both of `size` and `sizes` are given, or one is no positive integer; `check` raises it where the sizes do not add
        up to the number of records, or a block cannot have so much entropy.

    Notes
    -----
    I(X_i; Y) is convex in the channel from the own block to the release, which is a mixture over what the other records can be: the
    worst of them are known. So the leakage is that of an audit of one block for each total of the others, and where noise is added
    to a sum all totals are the same audit (docs/theory.md, independent blocks). `size` 1 is `ProductPriors`.

    >>> IndependentBlocks(4).sizes_of(Records(10, alphabet=2))
    [(4, 2), (2, 1)]
    """

    kind: ClassVar[str] = "independent_blocks"
    size: int | None = None
    sizes: tuple[int, ...] | None = None
    entropy_at_least: EntropyAtLeast | None = None

    def __init__(
        self,
        size: Integer | None = None,
        *,
        sizes: Sequence[Integer] | Integers | None = None,
        entropy_at_least: Number | EntropyAtLeast | None = None,
    ) -> None:
        if (size is None) == (sizes is None):
            raise InputError("adversary: independent_blocks needs either size, or sizes (one a block)")
        if isinstance(size, list | tuple):
            raise InputError(f"adversary: size is one number; give the sizes of the blocks as sizes={brief(size)}")
        if size is not None:
            object.__setattr__(self, "size", _size(size, "adversary: size"))
        else:
            listed = as_list(sizes, "adversary: sizes")
            if not 1 <= len(listed) <= MAX_RECORDS:
                raise InputError(f"adversary: sizes must list from 1 to {MAX_RECORDS} blocks, got {len(listed)}")
            object.__setattr__(
                self, "sizes", tuple(_size(size, f"adversary: sizes[{j}]") for j, size in enumerate(listed))
            )
        if entropy_at_least is not None and not isinstance(entropy_at_least, EntropyAtLeast):
            entropy_at_least = EntropyAtLeast(entropy_at_least)
        object.__setattr__(self, "entropy_at_least", entropy_at_least)

    @classmethod
    def of_column(cls, households: Iterable[Hashable], *, entropy_at_least: Number | None = None) -> Self:
        """The blocks of a table's household column: the sizes of its groups, in the order of their first rows.

        Blocks are consecutive records: sort the table by household first, unless all records are alike (one alphabet, one weight a
        letter), where it makes no difference who is in which block. A household that is missing, or cannot be told from others, is an
        `InputError`.

        >>> IndependentBlocks.of_column(["north", "south", "north"]).sizes
        (2, 1)
        """
        homes = told_apart(list(households), "adversary: households")
        if missing := sum(map(is_missing, homes)):
            raise InputError(
                f"adversary: {missing} of {len(homes)} rows have no household; give everybody one, of their own if need be"
            )
        return cls(sizes=list(Counter(homes).values()), entropy_at_least=entropy_at_least)

    @property
    def own(self) -> EntropyAtLeast:
        """What is asked of the own block."""
        return self.entropy_at_least or EntropyAtLeast(0)

    def sizes_of(self, records: Records) -> list[tuple[int, int]]:
        """Runs of consecutive blocks of one size, as (size, times)."""
        if self.sizes is not None:
            return [(size, len(list(run))) for size, run in groupby(self.sizes)]
        assert self.size is not None
        times, left = divmod(len(records), self.size)
        return [run for run in ((self.size, times), (left, 1)) if all(run)]

    def check(self, records: Records) -> None:
        total = sum(size * times for size, times in self.sizes_of(records))
        if total != len(records):
            raise InputError(f"adversary: the sizes add up to {total} records, but there are {len(records)}")
        for kind in self.kinds_of(records):
            try:
                self.own.check(kind.records)
            except InputError as error:
                raise InputError(f"{error} (a block of {len(kind.records)})") from None

    def check_further(self, records: Records) -> NoReturn:
        raise InputError(
            "adversary: independent_blocks is a design's own adversary, and stands in no limit or term; audit the mechanism that is "
            "handed out against it, problem.release(rows, adversary)"
        )

    def kinds_of(self, records: Records, about: Callable[[int, int], Hashable] | None = None) -> list[BlockKind]:
        """The blocks that agree in their alphabets, and in what `about` says of a block by its first record and its size.

        >>> IndependentBlocks(4).kinds_of(Records(1_000_000, alphabet=2))
        [BlockKind(block=0, first=0, times=250000, records=Records(4, alphabet=2))]
        """
        found: dict[tuple[tuple[int, ...], Hashable], BlockKind] = {}
        block = start = 0
        alike = about is None and len(records.runs) == 1
        for size, times in self.sizes_of(records):
            more = times if alike else 1
            for _ in range(times // more):
                key = records.alphabets[start : start + size], about(start, size) if about else None
                known = found.get(key) or BlockKind(block, start, 0, Records(alphabets=key[0]))
                found[key] = known._replace(times=known.times + more)
                block, start = block + more, start + more * size
        return list(found.values())

    def in_words(self) -> str:
        bound = self.entropy_at_least
        own = "" if bound is None or not bound.amount else f", the own one's law having {_words(bound)}"
        if self.size == 1:
            return f"to whom the records are independent of one another{own}"
        size = f"of {self.size}" if self.size else f"of 1 to {max(self.sizes or (1,))}"
        return f"to whom blocks {size} records are independent of one another{own}"

    def to_table(self) -> dict[str, Any]:
        bound = None if self.entropy_at_least is None else self.entropy_at_least.text()
        return {"size": self.size, "sizes": self.sizes, "entropy_at_least": bound}

    def normal_form(self) -> dict[str, Any]:
        bound = self.entropy_at_least
        amount = None if bound is None else bound.normal_form()[EntropyAtLeast.kind]
        return {**self.to_model(), "entropy_at_least": amount}

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> IndependentBlocks:
        """Build from a table without `kind`."""
        check_keys(table, ("size", "sizes", "entropy_at_least"), where)
        if "sizes" in table and not isinstance(table["sizes"], list | tuple):
            raise InputError(f"{where}: sizes must be a list of integers, one a block, got {brief(table['sizes'])}")
        return cls(**table)


def _size(value: Integer, what: str) -> int:
    return as_integer(value, what, at_least=1, at_most=MAX_RECORDS)


def _words(bound: EntropyAtLeast) -> str:
    return f"an entropy of at least {bound.shown('its largest entropy')}"
