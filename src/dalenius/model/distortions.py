"""Distortions: what it costs to release y where the value is v, by itself and on average. `DISTORTIONS` maps kinds to classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, brief
from dalenius.exact import Numbers, Rows, as_fractions, as_list, as_nonnegative, fraction_text, over_common_denominator
from dalenius.information.arrays import Floats, Integers
from dalenius.model.fields import Given, declared
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.model.shelf import Shelved

Whole = NDArray[np.object_]  # Python integers of any size
MAX_ENTRIES = 2**22
MAX_BITS = 2**16  # of the outputs' common denominator


class Distortion(Shelved):
    """A matrix d(v, y) >= 0 from the query's values to outputs.

    There is an output for each of the query's values, which it stands for, unless the distortion says otherwise.
    """

    room: ClassVar[str] = "distortion"
    shelf: ClassVar[dict[str, type[Any]]] = {}

    @abstractmethod
    def whole(self, values: Integers) -> tuple[Whole, int]:
        """The exact matrix, (values, outputs), as whole numbers over one denominator: d(v, y) = whole[v, y] / denominator."""

    def output_count(self, values: Integers) -> int:
        """Number of outputs."""
        return int(values.size)

    def numbers(self, values: Integers) -> tuple[Fraction, ...] | None:
        """The numbers o_y that the outputs stand for, by default the query's values; None where they stand for nothing."""
        return tuple(map(Fraction, values.tolist()))

    def labels(self, values: Integers) -> list[int | str]:
        """Names of the outputs: the numbers that they stand for, or 0, 1, ..."""
        numbers = self.numbers(values)
        return list(range(self.output_count(values))) if numbers is None else [label_of(number) for number in numbers]

    def to_model(self) -> dict[str, Any]:
        """The table of a model file; what is not given is left out."""
        return {key: value for key, value in super().to_model().items() if value is not None}

    def normal_form(self) -> dict[str, Any]:
        return self.to_model()

    def check(self, values: Integers) -> None:
        """Raise `InputError` if the distortion does not fit these values, or its matrix is too large."""
        outputs = self.output_count(values)
        if values.size * outputs > MAX_ENTRIES:
            raise InputError(
                f"distortion: a matrix has at most {MAX_ENTRIES} entries; {values.size} values and {outputs} outputs make "
                f"{values.size * outputs}. Coarsen the query"
            )


def as_outputs(value: Numbers, what: str = "distortion: outputs") -> tuple[Fraction, ...]:
    """The numbers that outputs stand for: at least one, strictly ascending; None where none are value.

    >>> as_outputs([-1, 0, 0.5])
    (Fraction(-1, 1), Fraction(0, 1), Fraction(1, 2))
    """
    numbers = as_fractions(value, what)
    if not numbers or any(low >= high for low, high in pairwise(numbers)):
        raise InputError(f"{what}: expected at least one number, each larger than the one before, got {brief(value)}")
    return numbers


@declared
class ErrorDistortion(Distortion):
    """A function of v - o_y, o_y the numbers that the outputs stand for: those given, else the query's values."""

    outputs: Given[Numbers | None, tuple[Fraction, ...] | None] = Given(as_outputs, default=None)

    def output_count(self, values: Integers) -> int:
        return super().output_count(values) if self.outputs is None else len(self.outputs)

    def numbers(self, values: Integers) -> tuple[Fraction, ...] | None:
        return super().numbers(values) if self.outputs is None else self.outputs


def label_of(number: Fraction) -> int | str:
    """A whole number as itself, any other as the text of a model file.

    >>> label_of(Fraction(-1)), label_of(Fraction(1, 2))
    (-1, '0.5')
    """
    return int(number) if number.denominator == 1 else fraction_text(number)


def differences(values: Integers, outputs: tuple[Fraction, ...] | None = None) -> tuple[Whole, int]:
    """v - o_y for every value v and every output y, which is a value unless given: whole numbers over one denominator.

    >>> import numpy as np
    >>> whole, denominator = differences(np.array([0, 3]), (Fraction(1, 2), Fraction(4)))
    >>> whole.tolist(), denominator, differences(np.array([0, 3]))[0].tolist()
    ([[-1, -8], [5, -2]], 2, [[0, -3], [3, 0]])
    """
    if outputs is None:
        return np.subtract.outer(values, values).astype(object), 1
    numerators, common = over_common_denominator(outputs, "distortion: outputs", most_bits=MAX_BITS)
    scaled = np.array([int(value) * common for value in values.tolist()], dtype=object)
    return np.subtract.outer(scaled, np.array(numerators, dtype=object)), common


class Absolute(ErrorDistortion):
    """d(v, y) = |v - o_y|, in units of the query's values.

    Parameters
    ----------
    outputs : list of numbers, optional
        o_0 < o_1 < ..., what the outputs stand for, exact; left out: the query's values.

    Raises
    ------
    InputError
        If the outputs are no ascending numbers.

    >>> import numpy as np
    >>> Absolute().whole(np.array([0, 5, 7]))[0].tolist()
    [[0, 5, 7], [5, 0, 2], [7, 2, 0]]
    >>> Absolute(outputs=[-1, 0.5]).whole(np.array([0, 1]))
    (array([[2, 1],
           [4, 1]], dtype=object), 2)
    """

    kind: ClassVar[str] = "absolute"

    def whole(self, values: Integers) -> tuple[Whole, int]:
        whole, common = differences(values, self.outputs)
        return abs(whole), common


class Hamming(Distortion):
    """d(v, y) = 0 if y is the index of v, else 1: the expected distortion is the probability of an error.

    >>> import numpy as np
    >>> Hamming().whole(np.array([0, 5]))[0].tolist()
    [[0, 1], [1, 0]]
    """

    kind: ClassVar[str] = "hamming"

    def whole(self, values: Integers) -> tuple[Whole, int]:
        return 1 - np.eye(values.size, dtype=np.int64).astype(object), 1


MATRIX_BITS = 2**30  # of all entries over their common denominator


def _as_costs(value: Rows, what: str) -> tuple[tuple[Fraction, ...], ...]:
    listed = [as_list(row, f"{what}[{v}]") for v, row in enumerate(as_list(value, what))]
    if not listed or not listed[0] or len({len(row) for row in listed}) != 1:
        raise InputError(f"{what} must be a non-empty list of lists of one length of at least 1")
    if len(listed) * len(listed[0]) > MAX_ENTRIES:
        raise InputError(f"distortion: a matrix has at most {MAX_ENTRIES} entries")
    return tuple(as_nonnegative(row, f"{what}[{v}]", noun="a distortion") for v, row in enumerate(listed))


@declared
class DistortionMatrix(Distortion):
    """Any costs: ``rows[v][y]`` is the distortion of output y on the v-th value of the query, in any unit.

    Parameters
    ----------
    rows : matrix of numbers, as lists or as an array
        One row per query value, ascending; as many outputs as a row is long. Entries are at least 0 and exact (see
        `dalenius.exact.as_fraction`): 0.1 is 1/10, ``"1/3"`` is a third.
    outputs : list of numbers, optional
        o_0 < o_1 < ..., what the outputs stand for, as many as a row is long; left out: they stand for nothing.

    Raises
    ------
    InputError
        If an entry is negative or no number, rows are empty or differ in length, the outputs are not as many, or there are more
        than 2^22 entries or 2^30 bits of entries over their common denominator; `check` raises it where there is not one row a value.

    >>> import numpy as np
    >>> whole, denominator = DistortionMatrix([[0, 1, "1/2"], [4, 0, "1/3"]]).whole(np.arange(2))
    >>> whole.tolist(), denominator
    ([[0, 6, 3], [24, 0, 2]], 6)
    """

    kind: ClassVar[str] = "matrix"
    rows: Given[Rows, tuple[tuple[Fraction, ...], ...]] = Given(_as_costs)
    outputs: Given[Numbers | None, tuple[Fraction, ...] | None] = Given(as_outputs, default=None)

    def __post_init__(self) -> None:
        if self.outputs is not None and len(self.outputs) != len(self.rows[0]):
            raise InputError(
                f"distortion: outputs must list one number for each of the {len(self.rows[0])} columns of the rows, "
                f"got {len(self.outputs)}"
            )
        _ = self._whole

    @cached_property
    def _whole(self) -> tuple[Whole, int]:
        shape = (len(self.rows), len(self.rows[0]))
        entries = [entry for row in self.rows for entry in row]
        numerators, common = over_common_denominator(
            entries, "distortion: rows", most_bits=max(MATRIX_BITS // len(entries), 1)
        )
        return np.array(numerators, dtype=object).reshape(shape), common

    def output_count(self, values: Integers) -> int:
        return len(self.rows[0])

    def numbers(self, values: Integers) -> tuple[Fraction, ...] | None:
        return self.outputs

    def check(self, values: Integers) -> None:
        if len(self.rows) != values.size:
            raise InputError(
                f"distortion: rows must list one row for each of the query's {values.size} values, got {len(self.rows)} rows"
            )

    def whole(self, values: Integers) -> tuple[Whole, int]:
        self.check(values)
        return self._whole


class Squared(ErrorDistortion):
    """d(v, y) = (v - o_y)^2, in squared units of the query's values.

    Parameters
    ----------
    outputs : list of numbers, optional
        o_0 < o_1 < ..., what the outputs stand for, exact; left out: the query's values.

    Raises
    ------
    InputError
        If the outputs are no ascending numbers.

    >>> import numpy as np
    >>> Squared().whole(np.array([0, 5, 7]))[0].tolist()
    [[0, 25, 49], [25, 0, 4], [49, 4, 0]]
    """

    kind: ClassVar[str] = "squared"

    def whole(self, values: Integers) -> tuple[Whole, int]:
        whole, common = differences(values, self.outputs)
        return whole**2, common**2


DISTORTIONS = Distortion.shelf
DISTORTIONS.update((distortion.kind, distortion) for distortion in (Hamming, Absolute, Squared, DistortionMatrix))


CEILING = 10**300  # of costs in doubles


@dataclass(frozen=True, eq=False)
class ExpectedDistortion:
    """The expected distortion of the mechanisms of a class, as a function of the rows that describe one.

    Parameters
    ----------
    whole : (inputs, outputs)
        d(x,y) = whole(x,y) / denominator, whole numbers.
    denominator : int
    weights : (inputs,)
        Whole numbers proportional to p(x).
    tied : TiedEntries
        Which entries of a mechanism are one number.

    >>> from dalenius.model.mechanism_classes import Additive
    >>> flips = np.array([[0, 1], [1, 0]], dtype=object)
    >>> free, noise = (ExpectedDistortion(flips, 1, (3, 1), tied) for tied in (TiedEntries.free(2, 2), Additive().tied(2, 2)))
    >>> free.of([[Fraction(1), Fraction(0)]] * 2), free.of_constant, noise.of_constant
    (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
    """

    whole: Whole
    denominator: int
    weights: tuple[int, ...]
    tied: TiedEntries

    # ------------------------------------------------------------ what it is made of

    @cached_property
    def cost(self) -> Floats:
        """d(x,y) in doubles: (inputs, outputs)."""
        whole = np.minimum(self.whole, CEILING * self.denominator)
        cost = np.asarray(whole / self.denominator, dtype=float)
        cost.flags.writeable = False
        return cost

    @cached_property
    def input_law(self) -> Floats:
        """p(x) in doubles: (inputs,), each entry correctly rounded."""
        total = sum(self.weights)
        law = np.array([weight / total for weight in self.weights])
        law.flags.writeable = False
        return law

    @property
    def largest(self) -> Fraction:
        """The largest d(x,y)."""
        return Fraction(int(self.whole.max()), self.denominator)

    def exact_cost(self) -> list[tuple[Fraction, ...]]:
        """d(x,y), a row for every input."""
        known = {number: Fraction(number, self.denominator) for number in set(self.whole.ravel().tolist())}
        return [tuple(known[number] for number in row) for row in self.whole.tolist()]

    def exact_input_law(self) -> list[Fraction]:
        """p(x), for every input."""
        total = sum(self.weights)
        return [Fraction(weight, total) for weight in self.weights]

    # ------------------------------------------------------------ what it comes to

    @cached_property
    def _costs(self) -> Whole:
        """sum of w(x) d(x,y) over the entries that are one number, times the denominator: (rows, outputs)."""
        return self.tied.sums(np.array(self.weights, dtype=object)[:, None] * self.whole)

    def _averaged(self, total: int | Fraction) -> Fraction:
        """A sum of weights times whole costs as the average that it stands for."""
        return Fraction(total) / (sum(self.weights) * self.denominator)

    def costs(self) -> list[list[Fraction]]:
        """sum of p(x) d(x,y) over the entries that are one number: a row for every row that describes a mechanism."""
        return [[self._averaged(cost) for cost in row] for row in self._costs.tolist()]

    def of(self, rows: Sequence[Sequence[Fraction]]) -> Fraction:
        """E of the mechanism that these laws describe."""
        pairs = zip(rows, self._costs.tolist(), strict=True)
        return self._averaged(
            sum((q * d for row, costs in pairs for q, d in zip(row, costs, strict=True) if q and d), Fraction(0))
        )

    @cached_property
    def least(self) -> Fraction:
        """The least of all mechanisms: every row's mass at its best output."""
        return self._averaged(sum(self._costs.min(axis=1).tolist()))

    @property
    def constant(self) -> list[list[Fraction]]:
        """The rows of the constant mechanism of least distortion."""
        return self.tied.constant(self._costs)

    @cached_property
    def of_constant(self) -> Fraction:
        """The least of constant mechanisms."""
        return self.of(self.constant)
