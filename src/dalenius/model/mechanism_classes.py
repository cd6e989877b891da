"""The classes of mechanisms that a design may look among, and the words that name them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dalenius.errors import InputError, brief, hint
from dalenius.information.arrays import Floats, Integers
from dalenius.model.fields import keep
from dalenius.model.queries import ModularSum, Parity, Query
from dalenius.model.records import Records

X = TypeVar("X")


@dataclass(frozen=True, eq=False)
class TiedEntries:
    """A mechanism Q (inputs, outputs) has the entries Q(x,y) = q[numbers(x,y)] of a matrix q (rows, outputs), counted row by row.

    Every row of Q holds one row of q, perhaps in another order, so that Q is a mechanism where the rows of q are laws.

    Parameters
    ----------
    numbers : (inputs, outputs) of int

    Raises
    ------
    InputError
        Unless every row of `numbers` numbers the entries of one row of q, each once, and every row of q occurs.

    >>> shifted = TiedEntries([[0, 1, 2], [2, 0, 1], [1, 2, 0]])
    >>> shifted.rows, shifted.expand(np.array([[0.5, 0.3, 0.2]])).tolist()
    (1, [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])
    >>> shifted.sums(np.eye(3)).tolist(), shifted.constant(np.ones((1, 3)))
    ([[3.0, 0.0, 0.0]], [[Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]])
    """

    numbers: Integers

    def __init__(self, numbers: ArrayLike) -> None:
        numbers = np.asarray(numbers)
        whole = numbers.ndim == 2 and numbers.size > 0 and np.issubdtype(numbers.dtype, np.integer)
        outputs = numbers.shape[1] if whole else 1
        listed = np.sort(numbers, axis=1) if whole else np.full((1, outputs), -1)
        rows = np.unique(owner := listed[:, 0] // outputs)
        in_order = np.array_equal(listed, owner[:, None] * outputs + np.arange(outputs))
        if not in_order or not np.array_equal(rows, np.arange(rows.size)):
            raise InputError(
                f"tied entries: expected every row to number the entries of one row of the variable, each once: {outputs} k to "
                f"{outputs} k + {outputs - 1} for a k; and every k from 0 up to the largest"
            )
        keep(self, numbers=numbers)

    @classmethod
    def free(cls, inputs: int, outputs: int) -> TiedEntries:
        """Every entry is a variable of its own."""
        return cls(np.arange(inputs * outputs).reshape(inputs, outputs))

    @property
    def outputs(self) -> int:
        return int(self.numbers.shape[1])

    @cached_property
    def rows(self) -> int:
        """Number of rows of q."""
        return int(self.numbers.max()) // self.outputs + 1

    @cached_property
    def across_outputs(self) -> bool:
        """True if entries of different outputs are one variable, so that no mechanism has one output always."""
        return not np.array_equal(
            self.numbers % self.outputs, np.broadcast_to(np.arange(self.outputs), self.numbers.shape)
        )

    # ------------------------------------------------------------ there and back

    def expand(self, q: Floats) -> Floats:
        """Q (inputs, outputs) of q (rows, outputs)."""
        return np.asarray(q.reshape(-1)[self.numbers], dtype=float)

    def expand_rows(self, rows: Sequence[Sequence[X]]) -> list[tuple[X, ...]]:
        """The same for rows of numbers of any kind."""
        flat = [entry for row in rows for entry in row]
        return [tuple(flat[number] for number in row) for row in self.numbers.tolist()]

    def variable(self, Q: Floats) -> Floats:
        """q (rows, outputs) of a mechanism with such entries."""
        q = np.empty(self.rows * self.outputs)
        q[self.numbers] = Q
        return q.reshape(self.rows, -1)

    def moved(self, inputs: Integers, outputs: Integers) -> Integers | None:
        """Images of the entries of q if inputs and outputs of Q go there; None if mechanisms with such entries do not stay such.

        >>> shifted, reverse = TiedEntries([[0, 1, 2], [2, 0, 1], [1, 2, 0]]), np.array([2, 1, 0])
        >>> shifted.moved(reverse, reverse).tolist(), shifted.moved(np.arange(3), reverse)
        ([0, 2, 1], None)
        """
        images = np.empty(self.rows * self.outputs, dtype=np.int64)
        images[self.numbers] = moved = self.numbers[np.ix_(inputs, outputs)]
        return images if np.array_equal(images[self.numbers], moved) else None

    def is_constant(self, rows: Sequence[Sequence[Any]]) -> bool:
        """True if all rows of Q are one row."""
        expanded = self.expand_rows(rows)
        return all(row == expanded[0] for row in expanded)

    # ------------------------------------------------------------ costs

    def sums(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Sums of a matrix over the entries that one entry of q stands for: (rows, outputs); exact for exact numbers.

        sum_xy Q(x,y) c(x,y) is the sum of q times the sums of c.
        """
        sums = np.zeros(self.rows * self.outputs, dtype=matrix.dtype)
        np.add.at(sums, self.numbers, matrix)
        return sums.reshape(self.rows, -1)

    def constant(self, costs: NDArray[Any]) -> list[list[Fraction]]:
        """q of the constant mechanism that costs least: one output always; or the uniform law, where no other is constant."""
        if self.across_outputs:
            return [[Fraction(1, self.outputs)] * self.outputs] * self.rows
        best = costs.sum(axis=0).argmin()
        return [[Fraction(int(y == best)) for y in range(self.outputs)]] * self.rows

    def cheapest(self, costs: Floats, near: Floats | None = None, within: float = 0.0) -> Floats:
        """q of least cost: one output a row; or, where several cost as little (`within` a relative error), near's masses on them."""
        q = np.eye(self.outputs)[costs.argmin(axis=1)]
        if near is not None:
            masses = np.where(costs <= costs.min(axis=1, keepdims=True) * (1.0 + within), near, 0.0)
            some = masses.sum(axis=1) > 0.0
            q[some] = masses[some] / masses[some].sum(axis=1, keepdims=True)
        return q


Law = tuple[Fraction, ...]


@dataclass(frozen=True)
class MechanismClass(ABC):
    """The mechanisms among which a design looks for the best one. A model file names the class by its `kind`.

    Attributes
    ----------
    kind, words : str
        Its name, and what its mechanisms are.
    inputs : {"query", "dataset"}
        What the rows of a mechanism belong to: the query's values, or the datasets' indices.
    """

    kind: ClassVar[str]
    words: ClassVar[str]
    inputs: ClassVar[str] = "query"

    def to_model(self) -> dict[str, str]:
        """The table of a model file, and of its normal form."""
        return {"class": self.kind}

    normal_form = to_model

    @abstractmethod
    def check(self, query: Query, records: Records, outputs: int) -> None:
        """Raise `InputError` if there are no mechanisms of this class for the query, with so many outputs."""

    def value_of_input(self, query: Query, records: Records) -> Integers:
        """The index among the query's values of what each input is charged for: (inputs,)."""
        return np.arange(query.values(records).size)

    def tied(self, inputs: int, outputs: int) -> TiedEntries:
        """Variable of each entry of a matrix of this size; by default each is its own."""
        return TiedEntries.free(inputs, outputs)

    def rows_of_variable(self, laws: Sequence[Law], inputs: int) -> list[Law]:
        """The rows that stand for the mechanism that these rows describe: by default all of them, one for each input.

        Raises
        ------
        InputError
            If they are not as many as they should be, or no mechanism of the class has them.
        """
        if len(laws) != inputs:
            raise InputError(f"mechanism: expected {self.wanted_rows(inputs)}, got {len(laws)} rows")
        return list(laws)

    def wanted_rows(self, inputs: int) -> str:
        """Description of the rows that a mechanism needs."""
        return f"one row for each of the {inputs} inputs"


@dataclass(frozen=True)
class Additive(MechanismClass):
    """Q(v,y) = q((y - v) mod V) for one law q of the noise: every row is the one before, moved along by one entry.

    >>> Additive().tied(3, 3).numbers.tolist()
    [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    """

    kind: ClassVar[str] = "additive"
    words: ClassVar[str] = "noise of one distribution is added to the query's value, modulo the number of values"

    def check(self, query: Query, records: Records, outputs: int) -> None:
        if not isinstance(query, Parity | ModularSum):
            raise InputError(
                f"mechanism: class additive adds noise modulo V, so the query must be parity or modular_sum, got {query.kind}; "
                'use the class "oblivious"'
            )
        if outputs != (values := query.values(records).size):
            raise InputError(
                f"mechanism: class additive has as many outputs as values; expected {values} columns in the distortion, got {outputs}"
            )

    def tied(self, inputs: int, outputs: int) -> TiedEntries:
        return TiedEntries((np.arange(outputs) - np.arange(inputs)[:, None]) % outputs)

    def rows_of_variable(self, laws: Sequence[Law], inputs: int) -> list[Law]:
        """The one row q, from itself or from all V rows."""
        if len(laws) != 1:
            laws = super().rows_of_variable(laws, inputs)
            if list(laws) != self.tied(inputs, len(laws[0])).expand_rows(laws[:1]):
                raise InputError(
                    "mechanism: rows of the class additive must be row 0 moved along by one entry a row; give the one row q"
                )
        return list(laws[:1])

    def wanted_rows(self, inputs: int) -> str:
        return f"one row q, or {super().wanted_rows(inputs)}"


@dataclass(frozen=True)
class Full(MechanismClass):
    """The output depends on the whole data; a row for every dataset, which is charged for the value of the query that it has."""

    kind: ClassVar[str] = "full"
    words: ClassVar[str] = "the output may depend on the whole data"
    inputs: ClassVar[str] = "dataset"

    def check(self, query: Query, records: Records, outputs: int) -> None:
        records.enumerable("mechanism: class full", 'Use the class "oblivious"')

    def value_of_input(self, query: Query, records: Records) -> Integers:
        return query.index_of_dataset(records)


@dataclass(frozen=True)
class Oblivious(MechanismClass):
    """The output depends on the data through the query's value alone; a row for every value."""

    kind: ClassVar[str] = "oblivious"
    words: ClassVar[str] = "the output depends on the query's value alone"

    def check(self, query: Query, records: Records, outputs: int) -> None:
        """Every query has such mechanisms, with any number of outputs."""


MECHANISM_CLASSES: dict[str, type[MechanismClass]] = {cls.kind: cls for cls in (Oblivious, Full, Additive)}


def mechanism_class(word: MechanismClass | str, what: str = "mechanism") -> MechanismClass:
    """The class that a word names, or the class itself.

    Raises
    ------
    InputError
        If there is no such class.

    >>> mechanism_class("additive")
    Additive()
    """
    if isinstance(word, MechanismClass):
        return word
    if not isinstance(word, str) or word not in MECHANISM_CLASSES:
        raise InputError(
            f"{what}: class must be one of {', '.join(MECHANISM_CLASSES)}; got {brief(word)}{hint(word, MECHANISM_CLASSES)}"
        )
    return MECHANISM_CLASSES[word]()
