"""What a distortion is: the cost of releasing output y where the query's value is v."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, brief
from dalenius.exact import Numbers, as_fraction, as_list, fraction_text, over_common_denominator
from dalenius.model.queries.base import Integers
from dalenius.model.shelf import Shelved

__all__ = ["MAX_ENTRIES", "Distortion", "ErrorDistortion", "Whole", "as_outputs", "differences", "label_of"]

Whole = NDArray[np.object_]  # Python integers of any size
MAX_ENTRIES = 2**22
MAX_BITS = 2**16  # of the outputs' common denominator


@dataclass(frozen=True)
class Distortion(Shelved):
    """A matrix d(v, y) >= 0 from the query's values to outputs.

    There is an output for each of the query's values, which it stands for, unless the distortion says otherwise.
    """

    @abstractmethod
    def whole(self, values: Integers) -> tuple[Whole, int]:
        """The exact matrix, (values, outputs), as whole numbers over one denominator: d(v, y) = whole[v, y] / denominator."""

    def output_count(self, values: Integers) -> int:
        """How many outputs there are."""
        return int(values.size)

    def numbers(self, values: Integers) -> tuple[Fraction, ...] | None:
        """The numbers o_y that the outputs stand for, by default the query's values; None where they stand for nothing."""
        return tuple(map(Fraction, values.tolist()))

    def labels(self, values: Integers) -> list[int | str]:
        """What the outputs are called: the numbers that they stand for, or 0, 1, ..."""
        numbers = self.numbers(values)
        return list(range(self.output_count(values))) if numbers is None else [label_of(number) for number in numbers]

    def described(self) -> dict[str, Any]:
        """The table of a model file with its kind; a field left out is not in it."""
        return {"kind": self.kind, **{key: value for key, value in self.to_table().items() if value is not None}}

    def check(self, values: Integers) -> None:
        """Raise `InputError` if the distortion does not fit these values, or its matrix is too large."""
        outputs = self.output_count(values)
        if values.size * outputs > MAX_ENTRIES:
            raise InputError(
                f"distortion: a matrix has at most {MAX_ENTRIES} entries; {values.size} values and {outputs} outputs make "
                f"{values.size * outputs}. Coarsen the query"
            )


@dataclass(frozen=True)
class ErrorDistortion(Distortion):
    """A function of v - o_y, o_y the numbers that the outputs stand for: those given, else the query's values."""

    outputs: tuple[Fraction, ...] | None = None

    def __init__(self, outputs: Numbers | None = None) -> None:
        object.__setattr__(self, "outputs", as_outputs(outputs))

    def output_count(self, values: Integers) -> int:
        return super().output_count(values) if self.outputs is None else len(self.outputs)

    def numbers(self, values: Integers) -> tuple[Fraction, ...] | None:
        return super().numbers(values) if self.outputs is None else self.outputs


def as_outputs(given: Numbers | None, what: str = "distortion: outputs") -> tuple[Fraction, ...] | None:
    """The numbers that outputs stand for: at least one, strictly ascending; None where none are given.

    >>> as_outputs([-1, 0, 0.5])
    (Fraction(-1, 1), Fraction(0, 1), Fraction(1, 2))
    """
    if given is None:
        return None
    numbers = tuple(as_fraction(number, f"{what}[{y}]") for y, number in enumerate(as_list(given, what)))
    if not numbers or any(low >= high for low, high in pairwise(numbers)):
        raise InputError(f"{what}: expected at least one number, each larger than the one before, got {brief(given)}")
    return numbers


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
