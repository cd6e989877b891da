"""Mechanisms: row-stochastic channels from query values (or datasets) to outputs."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, Self, TypeAlias, TypeVar

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from dalenius.errors import InputError, brief, hint, naming
from dalenius.exact import Integer, as_integer, as_list
from dalenius.files import MAX_INPUT, read_text
from dalenius.information.arrays import Floats, Integers
from dalenius.information.balls import rational
from dalenius.information.measures.numbers import rationals
from dalenius.model.fields import Exact, Given, declared, keep, number
from dalenius.model.mechanisms.known_others import KnownOthers
from dalenius.model.mechanisms.sampling import Random
from dalenius.model.queries.base import MAX_INTEGER
from dalenius.model.records import Records
from dalenius.model.shelf import Shelved, Stated
from dalenius.strict_json import parse_object

M = TypeVar("M", bound="Mechanism")
MAX_ENTRIES = 2**24
MAX_EPSILON = 1000


@dataclass(frozen=True, eq=False)
class ExactEntries:
    """A matrix, as its different numbers and where each of them stands.

    Attributes
    ----------
    numbers : (numbers,) of fmpq or arb
    index : (inputs, outputs)
        Equal only where two entries are one number, exactly.
    """

    numbers: Sequence[fmpq | arb]
    index: Integers

    @property
    def matrix(self) -> NDArray[Any]:
        """The entries, dtype object."""
        return np.array(self.numbers, dtype=object)[self.index]

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[Fraction]]) -> Self:
        """Of rationals.

        >>> half, third = Fraction(1, 2), Fraction(1, 3)
        >>> entries = ExactEntries.of_rows([[half, half], [third, 1 - third]])
        >>> entries.index.tolist(), entries.matrix.tolist()
        ([[0, 0], [1, 2]], [[1/2, 1/2], [1/3, 2/3]])
        """
        number: dict[Fraction, int] = {}
        index = np.array([[number.setdefault(x, len(number)) for x in row] for row in rows], dtype=np.int64)
        return cls([rational(x) for x in number], index)


class Part(NamedTuple):
    """A mechanism, how many independent releases there are of it, and of which query, counted from 0."""

    mechanism: Mechanism
    times: int
    on: int = 0


class WholeNoise(NamedTuple):
    """Noise with a `law` that reveals no less of whole numbers, and noise that reveals no more (docs/theory.md, Theorem B6).

    Of the logarithm of the letters the former may reveal less by the share `lost`. What the latter tells by a prior on values with an
    entropy H is told `factor` times, less (factor - 1) H, and less the share `off` of the logarithm of the letters.
    """

    above: Mechanism
    below: Mechanism
    factor: float = 1.0
    lost: float = 0.0
    off: float = 0.0


class Mechanism(Shelved):
    """A randomised release: a subclass is a frozen dataclass with a `kind` and a `channel` (docs/release-noise.md has an example).

    `inputs` says what the rows of the channel are: the query's values, or whole datasets.

    A class of your own is audited like the built-in ones. The checker does not know how its channel is computed, so
    the certificate carries the resolved matrix, and the verdict says that it is about that matrix.
    """

    room: ClassVar[str] = "mechanism"
    shelf: ClassVar[dict[str, type[Any]]] = {}
    words: ClassVar[str] = ""  # what it is called in a report, where that is not its kind
    for_epsilon: ClassVar[str] = ""  # what says an epsilon where no key does
    against_blocks: ClassVar[str] = ""  # what to write instead where independent blocks do not know it
    repeated: ClassVar[bool] = True  # whether `several_releases` and `adaptive` are made of it
    alike: ClassVar[bool] = False  # whether it keeps a value, or gives any other, all as likely: rows have two numbers
    adds: ClassVar[bool] = False  # whether it is noise with a `law` that is added to the value
    on_a_line: ClassVar[bool] = False  # whether outputs are real numbers, so that there is no matrix
    by_number: ClassVar[bool] = False  # whether rows are told by their numbers, whatever the inputs are
    by_letter: ClassVar[bool] = False  # whether letters are randomised before they are counted
    in_closed_form: ClassVar[bool] = (
        False  # whether divergences from an output law are, so that no channel need be written out
    )
    listed: ClassVar[bool] = False  # whether rows or continuations are, one for each input or output
    of_queries: ClassVar[bool] = False  # whether it is made of parts, each on one query
    ranged: ClassVar[bool] = (
        False  # whether what is revealed of some records depends on where in its range their values lie
    )

    @property
    def is_own(self) -> bool:
        """True if it is of a kind of one's own, which no other program knows."""
        return self.kind not in self.shelf

    @property
    def is_shipped(self) -> bool:
        """True if it is one of the library's, and of no subclass."""
        return type(self) is self.shelf.get(self.kind)

    @property
    def by_value(self) -> bool:
        """True if it is a table whose rows are the query's values."""
        return False

    @property
    def independent(self) -> tuple[Part, ...]:
        """The independent releases that it is made of, if it is."""
        return ()

    @property
    def sampler(self) -> Callable[[Random | None], int] | None:
        """Sampler of noise with exactly the probabilities of the formula, before anything clamps it; None where there is none."""
        return None

    @property
    def epsilon_per_step(self) -> Fraction | None:
        """The log of the largest likelihood ratio of neighbouring values that noise makes; None where there is none."""
        return None

    def of_each_answer(self) -> str:
        """Noise that counts answers of which each is randomised like this, in a line; empty of noise that is added to a value."""
        return ""

    def clamping(self, least: int, largest: int) -> tuple[int, int] | None:
        """Ends that a release with noise is clamped to, where values are from `least` to `largest`; None where nothing cuts it off."""
        return None

    def stages(self) -> Iterator[Mechanism]:
        """The mechanisms of all stages: itself, where there is one."""
        yield self

    def of_each(self, change: Callable[[Mechanism], Mechanism]) -> Mechanism:
        """The same releases of mechanisms that are changed, of the same queries: itself changed, where there is one release."""
        return change(self)

    def of_rows(self, inputs: Sequence[int]) -> Mechanism:
        """A table, or a tree of such, with these rows alone."""
        raise NotImplementedError

    def at_total(self, total: int, values: Integers, ends: tuple[int, int]) -> Mechanism:
        """Mechanism as some records with these values see it where the others add up to a total, at the ends of the query's values.

        Raises
        ------
        InputError
            If the range does not have all of them.
        """
        raise NotImplementedError

    def of_records(self, records: Records) -> Mechanism:
        """The same of the letters of these records, where it is `by_letter`."""
        return self

    @property
    def leaves_others(self) -> bool:
        """True if it is `by_letter`, and it is left open how many others have each letter."""
        return False

    def known_others(self, size: int, others: int, letters: int) -> KnownOthers:
        """Numbers of others that may have each letter, as far as audits of so many records need to know."""
        raise NotImplementedError

    def with_others(self, others: Sequence[int]) -> Mechanism:
        """The same with so many further people of each letter."""
        return self

    @property
    def shifts(self) -> bool:
        """True if it adds noise that nothing cuts off to the query's value: the total of all others only shifts what is seen."""
        return False

    @property
    def on_a_bit(self) -> bool:
        """True if it treats the two values of a query alike."""
        return False

    @property
    def two_sided(self) -> Fraction | None:
        """Epsilon, where it adds two-sided geometric noise: each step away is less likely by e^-epsilon, beyond all values, too."""
        return None

    @property
    def tail(self) -> float:
        """At least the probability of what `clamped` cuts off; 0 where it cuts nothing off."""
        return 0.0

    def hidden(self, letters: int) -> float:
        """At most the nats about a record of so many letters that `clamped` noise does not reveal: 2 tail log(letters).

        Bound because the clamped output says what was clamped unless it is an end of the range (docs/theory.md, independent blocks).
        """
        return 2.0 * self.tail * math.log(letters)

    def clamped(self, values: Integers) -> Mechanism:
        """The same noise where what is far beyond these values is one output; itself where there is a matrix without that."""
        return self

    def alone(self) -> Mechanism:
        """Of noise that shifts: what whoever knows all others sees of some records, whatever ends the range has."""
        return self

    def on_whole_numbers(self) -> WholeNoise:
        """Of noise that `adds`: what stands in its place where values are whole numbers."""
        return WholeNoise(self, self)

    def law(self, span: int) -> tuple[Floats, int]:
        """Of noise that `adds`: its probabilities from -D to D, the ends with all beyond them, and D - span.

        Clamped so far beyond values that lie within `span` it reveals of them all there is to reveal, or next to that.

        >>> from dalenius.model.mechanisms import geometric
        >>> geometric(1).law(1)[0].round(3).tolist(), geometric(1).law(1)[1]
        ([0.269, 0.462, 0.269], 0)
        """
        raise NotImplementedError

    def span(self, values: Integers) -> tuple[int, int]:
        """The least and the greatest output of noise on whole numbers: the ends of its range, else of the values."""
        return getattr(self, "range", None) or (int(values[0]), int(values[-1]))

    def written(self, channel: Callable[[], Floats]) -> tuple[int, int]:
        """Numbers of its channel in a model file, and how many of them differ: none where there is a formula."""
        if not self.is_own:
            return 0, 0
        return channel().size, np.unique(channel()).size

    def steps(self, records: Records) -> float:
        """Number of entries that are worked out person by person; 0 where letters are not randomised."""
        return 0.0

    def terms(self, outputs: float) -> float:
        """Number of terms of the law in the sum for a row of so many outputs; 0 where rows are in closed form."""
        return 0.0

    def normal_form(self) -> dict[str, Any]:
        """Of a mechanism of an unknown kind no defaults are known: a key left out is not there."""
        return {key: value for key, value in super().normal_form().items() if value is not None or not self.is_own}

    def indexed_by(self) -> str:
        """Index of the channel's rows: ``"query"`` values or ``"dataset"`` indices."""
        return "query"

    @abstractmethod
    def channel(self, values: Integers) -> Floats:
        """The matrix W[v, y] = P(output y on the v-th input), rows summing to 1; `InputError` if it does not fit."""

    def exact_entries(self, values: Integers) -> ExactEntries:
        """The matrix in exact numbers, or in balls around them of the precision that is set, and which of its entries are one number.

        Of a class of one's own, whose numbers only `channel` knows, it is that matrix, each row divided by its exact sum.
        """
        rows = [[Fraction(entry) for entry in row] for row in np.asarray(self.channel(values), dtype=float).tolist()]
        return ExactEntries.of_rows([[entry / sum(row) for entry in row] for row in rows])

    def on_vectors(self, vectors: Vectors) -> Self:
        """The same where the inputs are the vectors of a joint query's values."""
        return self

    def exact_channel(self, values: Integers) -> NDArray[Any]:
        """The matrix of `exact_entries`, dtype object."""
        return self.exact_entries(values).matrix

    def output_count(self, inputs: int) -> int:
        """Number of outputs of a mechanism in closed form, on so many inputs."""
        raise NotImplementedError

    def written_out(self, inputs: int) -> bool:
        """True if the channel is small enough to be written out."""
        return True

    def quadrature(self, values: Integers) -> Floats:
        """Of noise on the real line a channel (values, nodes) with its divergences, up to rounding; `InputError` where it has none."""
        raise NotImplementedError

    def constant_row(self, inputs: Integers, outputs: int) -> tuple[Fraction, ...] | None:
        """The probabilities of so many outputs, exactly, where they are the same on these inputs and the kind knows it; else None."""
        return None

    def output_labels(self, values: Integers) -> list[str]:
        """Names of the outputs in a report."""
        return [str(y) for y in range(np.shape(self.channel(values))[1])]

    @classmethod
    def load(cls: type[M], path: str | Path) -> M:
        """Read the file of a mechanism that is handed out: a `DesignedMechanism`, as its `save` wrote it (docs/release.md).

        Raises
        ------
        InputError
            If the file cannot be read, has more than 64 MiB, or states no valid mechanism of this class; the message names the file.
        """
        text = read_text(path, "a mechanism", at_most=MAX_INPUT)
        with naming(f"{path}: not a mechanism"):
            table = parse_object(text, number=_no_float)
        written = table.pop("format", None)
        if not isinstance(written, str) or written not in READERS:
            raise InputError(
                f"{path}: format must be {' or '.join(READERS)}, got {brief(written)}{hint(written, READERS)}"
            )
        with naming(path):
            mechanism = READERS[written](table)
        if not isinstance(mechanism, cls):
            raise InputError(f"{path}: expected a {cls.__name__}, got a {type(mechanism).__name__}")
        return mechanism


READERS: dict[
    str, Callable[[Mapping[str, Any]], Mechanism]
] = {}  # by the format that a file names; classes enter themselves


def _no_float(text: str) -> NoReturn:
    raise InputError(f'the number {text[:60]} is not exact; write an integer, or a text such as "1/3" or "0.25"')


class _ByKind(Stated):
    """Of classes that answer arguments which do not fit with the call that does: what was once ``symmetric(2, 0.1)``, k first."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        signature = cls.called
        asked = sorted(
            signature.parameters.values(), key=lambda p: p.kind is p.KEYWORD_ONLY and p.default is not p.empty
        )
        names = [p.name if p.kind is not p.KEYWORD_ONLY else f"{p.name}=..." for p in asked]
        call = f"{cls.kind}({', '.join(names)})"  # type: ignore[attr-defined]
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InputError(f"mechanism: {error}; expected {call}") from None
        try:
            return super().__call__(*args, **kwargs)
        except InputError as error:
            raise (InputError(f"{error}; expected {call}") if args else error) from None


class ByKind(Mechanism, metaclass=_ByKind):
    """A mechanism that is called by the name of its kind, ``symmetric(0.1, k=2)``."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """The inputs of releases of several queries.

    Attributes
    ----------
    lists : one a query
        The values that it has by itself.
    places : (inputs, queries)
        Where the inputs' values stand in these lists.
    """

    lists: tuple[Integers, ...]
    places: Integers


@declared
class OfQueries(Mechanism):
    """A mechanism of parts, each on one query: of the values of a query, on query 0; of vectors once it is told which these are."""

    repeated: ClassVar[bool] = False
    of_queries: ClassVar[bool] = True
    vectors: Vectors | None = field(default=None, init=False, compare=False, repr=False)

    def on_vectors(self, vectors: Vectors) -> Self:
        """The same on the inputs of a joint query."""
        made = copy.copy(self)
        keep(made, vectors=vectors)
        return made

    def _own(self, on: int, values: Integers) -> tuple[Integers, Integers]:
        """Inputs of a part: a list of values, and the place in it of each input."""
        if self.vectors is None and on == 0:
            return values, np.arange(values.size)
        if self.vectors is None or on >= len(self.vectors.lists):
            known = 1 if self.vectors is None else len(self.vectors.lists)
            raise InputError(f"mechanism: a part is on query {on}, but there are {known}; count queries from 0")
        return self.vectors.lists[on], self.vectors.places[:, on]


as_epsilon = number(at_least=0, at_most=MAX_EPSILON, words=f"must be at least 0 and at most {MAX_EPSILON}")
above_zero = number(above=0, at_most=MAX_EPSILON)
as_share = number(at_least=0, at_most=1)


@declared
class Calibrated(ByKind):
    """A mechanism whose probabilities fall with the distance from the true value at a rate that epsilon sets."""

    epsilon: Exact = Given(as_epsilon)

    def constant_row(self, inputs: Integers, outputs: int) -> tuple[Fraction, ...] | None:
        """The row at epsilon 0, where all outputs are equally likely."""
        return (Fraction(1, outputs),) * outputs if self.epsilon == 0 else None


def need_one(made: Mechanism, first: str, second: str) -> None:
    """Raise `InputError` unless one of two fields is given, and the other is not."""
    if (getattr(made, first) is None) == (getattr(made, second) is None):
        raise InputError(f"mechanism: {made.kind} needs either {first} or {second}")


def as_range(value: Integer | Sequence[Integer], what: str) -> tuple[int, int]:
    """A range of outputs (lo, hi) with lo < hi; an integer hi means (0, hi)."""
    pair = as_list(value, what) if hasattr(value, "__len__") else [0, value]
    if len(pair) != 2:
        raise InputError(f"{what} must be an integer or a pair [lo, hi], got {brief(value)}")
    lo, hi = (as_integer(end, what, at_least=-MAX_INTEGER, at_most=MAX_INTEGER) for end in pair)
    if lo >= hi:
        raise InputError(f"{what} [lo, hi] needs lo < hi, got [{lo}, {hi}]")
    return lo, hi


Span: TypeAlias = Given[Integer | Sequence[Integer] | None, tuple[int, int] | None]


def distances(values: Integers, span: tuple[int, int] | None) -> NDArray[np.int64]:
    """|y - v| for every value v and every output y of the range (by default, of the values)."""
    lo, hi = span if span is not None else (int(values[0]), int(values[-1]))
    if lo >= hi:
        raise InputError(f"mechanism: the query has the single value {lo}; give a range [lo, hi] with lo < hi")
    if values[0] < lo or values[-1] > hi:
        raise InputError(
            f"mechanism: the query's values run from {values[0]} to {values[-1]}, outside the range [{lo}, {hi}]; widen it"
        )
    if (hi - lo + 1) * values.size > MAX_ENTRIES:
        raise InputError(
            f"mechanism: the channel would have more than {MAX_ENTRIES} entries; narrow the range, or ask against independent_blocks "
            "(of size 1: independent records), or about a count with geometric or discrete_laplace noise, which needs no channel"
        )
    return np.abs(np.arange(lo, hi + 1)[None, :] - values[:, None])


def exact_rows(rows: Sequence[Sequence[Fraction]]) -> NDArray[Any]:
    """A matrix of rationals, dtype object.

    >>> exact_rows([[Fraction(1, 3), Fraction(2, 3)]]).tolist()
    [[1/3, 2/3]]
    """
    return np.array([rationals(row) for row in rows], dtype=object)


def exp_ball(exponent: Fraction) -> arb | fmpq:
    """A ball around e^x, of the precision that is set; exact where x = 0.

    >>> exp_ball(Fraction(0)), bool(exp_ball(Fraction(1)) > 2)
    (1, True)
    """
    return arb(rational(exponent)).exp() if exponent else fmpq(1)


def symmetric_entries(values: Integers, k: int | None, stay: fmpq | arb, change: fmpq | arb) -> ExactEntries:
    """The same channel in exact numbers."""
    return ExactEntries([change, stay], symmetric_channel(values, k, 1, 0))


def symmetric_channel(values: Integers, k: int | None, stay: Any, change: Any) -> NDArray[Any]:
    """The k-ary channel that keeps its input with probability `stay` and moves to each other with `change`."""
    size = values.size
    if size < 2 or size**2 > MAX_ENTRIES:
        raise InputError(
            f"mechanism: a symmetric channel needs 2 to {int(MAX_ENTRIES**0.5)} inputs, the query has {size}"
        )
    if k is not None and k != size:
        raise InputError(f"mechanism: k is {k}, but the query has {size} values; leave k out or make them equal")
    return np.where(np.eye(size, dtype=bool), stay, change)
