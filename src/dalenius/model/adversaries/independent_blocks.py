"""Records that are correlated within households only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import groupby
from numbers import Real
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, Number, as_integer, as_list
from dalenius.information.arrays import Integers
from dalenius.information.measures import AllPriors, PriorClass
from dalenius.model.adversaries.base import Adversary, EntropyAtLeast
from dalenius.model.fields import Given, WholeOrNone, declared, listed
from dalenius.model.records import MAX_RECORDS, Records


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


def _as_size(value: Integer, what: str) -> int:
    if isinstance(value, list | tuple):
        raise InputError(f"{what} is one number; give the sizes of the blocks as sizes={brief(value)}")
    return as_integer(value, what, at_least=1, at_most=MAX_RECORDS)


def _as_sizes(value: Sequence[Integer] | Integers, what: str) -> tuple[int, ...]:
    entries = as_list(value, what)
    if not 1 <= len(entries) <= MAX_RECORDS:
        raise InputError(f"{what} must list from 1 to {MAX_RECORDS} blocks, got {len(entries)}")
    return tuple(as_integer(size, f"{what}[{j}]", at_least=1, at_most=MAX_RECORDS) for j, size in enumerate(entries))


def _in_files(value: Any, where: str) -> EntropyAtLeast:
    return EntropyAtLeast(value, "nats")


def _as_entropy(value: Number | EntropyAtLeast, what: str) -> EntropyAtLeast:
    return value if isinstance(value, EntropyAtLeast) else EntropyAtLeast(value)


@declared
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
        Of the own block: a text such as ``"2 bits"`` or ``"0.6 max"``, a share of the block's own log |X|.

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
    in_blocks: ClassVar[bool] = True
    about_records: ClassVar[str] = "ask about secrets of one household"
    no_program: ClassVar[str] = "what a household's noise or histogram reveals is no matrix, and goes by closed forms"
    size: WholeOrNone = Given(_as_size, default=None)
    sizes: Given[Sequence[Integer] | Integers | None, tuple[int, ...] | None] = Given(
        _as_sizes, default=None, kw_only=True, tables=listed("a list of integers, one a block")
    )
    entropy_at_least: Given[Number | EntropyAtLeast | None, EntropyAtLeast | None] = Given(
        _as_entropy, default=None, kw_only=True, tables=_in_files
    )

    def __post_init__(self) -> None:
        if (self.size is None) == (self.sizes is None):
            raise InputError("adversary: independent_blocks needs either size, or sizes (one a block)")

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
        """The question about the own block."""
        return self.entropy_at_least or EntropyAtLeast(0)

    @property
    def written(self) -> tuple[int, int]:
        return len(self.sizes or ()), len(set(self.sizes or ()))

    def sizes_of(self, records: Records) -> list[tuple[int, int]]:
        """Runs of consecutive blocks of one size, as (size, times)."""
        if self.sizes is not None:
            return [(size, len(list(run))) for size, run in groupby(self.sizes)]
        assert self.size is not None
        times, left = divmod(len(records), self.size)
        return [run for run in ((self.size, times), (left, 1)) if all(run)]

    def largest_of(self, records: Records) -> int:
        """Size of the largest block."""
        return max((size for size, _ in self.sizes_of(records)), default=1)

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
        sizes = sorted({self.size} if self.size else set(self.sizes or ()))
        size = f"{sizes[0]} to {sizes[-1]}" if sizes[1:] else f"{sizes[0]}"
        return f"to whom blocks of {size} records are independent of one another{own}"

    def to_table(self) -> dict[str, Any]:
        return {**super().to_table(), **(self.entropy_at_least.to_model() if self.entropy_at_least else {})}

    def normal_table(self) -> dict[str, Any]:
        return {**super().normal_table(), **(self.entropy_at_least.normal_form() if self.entropy_at_least else {})}


class ProductPriors(Adversary):
    """Every prior under which the records are independent: P(x) = P_0(x_0) P_1(x_1) ... P_{n-1}(x_{n-1}), with any P_i.

    This is the adversary of differential privacy, who may know all records but one. For epsilon-differentially private mechanisms on
    binary records L <= log 2 - h(1/(1 + e^epsilon)), with equality for randomised response.

    Notes
    -----
    I(X_i; Y) is convex in the law of every other record, so the worst others are known: L is the largest Shannon capacity of the rows
    that the letters of record i select, over the records i and the settings of the others (docs/theory.md).

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.ProductPriors())
    >>> dl.loads(dl.dumps(problem)).adversary
    ProductPriors()
    """

    kind: ClassVar[str] = "product_priors"
    all_products: ClassVar[bool] = True

    @property
    def record_laws(self) -> PriorClass:
        return AllPriors()

    def in_words(self) -> str:
        return "to whom the records are independent"

    def check(self, records: Records) -> None:
        """Every set of records has product priors."""


def as_blocks(adversary: Adversary | None) -> IndependentBlocks | None:
    """The adversary, if it is one about blocks: to whom records are independent, they are blocks of one.

    >>> as_blocks(ProductPriors()).size
    1
    """
    if isinstance(adversary, ProductPriors):
        return IndependentBlocks(1)
    return adversary if isinstance(adversary, IndependentBlocks) else None


def _words(bound: EntropyAtLeast) -> str:
    return f"an entropy of at least {bound.shown('its largest entropy')}"
