"""Channels given entry by entry, and those that are right or wrong alike: k-ary symmetric ones and randomised response."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from dalenius.errors import InputError
from dalenius.exact import Rows, as_laws, divided, fraction_text
from dalenius.information.arrays import Floats, Integers
from dalenius.information.balls import rational
from dalenius.model.fields import Exact, Given, WholeOrNone, declared, number, one_of, whole
from dalenius.model.mechanisms.base import (
    MAX_ENTRIES,
    ByKind,
    Calibrated,
    ExactEntries,
    Mechanism,
    exp_ball,
    symmetric_channel,
    symmetric_entries,
)

ROWS = "mechanism: rows"  # of messages


def _as_rows(value: Rows, what: str) -> tuple[tuple[Fraction, ...], ...]:
    laws = as_laws(value, what)
    if not laws or len({len(row) for row in laws}) != 1:
        raise InputError(f"{what} must be a non-empty list of lists of equal length")
    if len(laws) * len(laws[0]) > MAX_ENTRIES:
        raise InputError(f"mechanism: a channel has at most {MAX_ENTRIES} entries")
    return laws


@declared
class Channel(Mechanism):
    """A row-stochastic matrix: ``rows[v][y]`` is the probability of output y on input v.

    The channel is *exactly* each row divided by its exact sum; a sum may differ from 1 by at most 1e-9.

    Parameters
    ----------
    rows : matrix of numbers, as lists or as an array
        One row per query value, ascending, or one per dataset, in lexicographic order with record 0 slowest. Entries are exact
        (see `dalenius.exact.as_fraction`): 0.1 is 1/10, ``"1/3"`` is a third.
    inputs : {"query", "dataset"}
        What the rows are indexed by.

    Raises
    ------
    InputError
        If an entry is negative or no number, rows differ in length, or a row does not sum to 1.

    >>> import numpy as np
    >>> Channel([[0.9, 0.1], ["1/3", "2/3"]]).channel(np.arange(2))[1].round(6).tolist()
    [0.333333, 0.666667]
    """

    kind: ClassVar[str] = "matrix"
    listed: ClassVar[bool] = True
    by_number: ClassVar[bool] = True
    words: ClassVar[str] = "a table of probabilities"
    rows: Given[Rows, tuple[tuple[Fraction, ...], ...]] = Given(_as_rows)
    inputs: Given[str, Literal["query", "dataset"]] = Given(one_of("query", "dataset"), default="query")

    def indexed_by(self) -> str:
        return self.inputs

    @property
    def by_value(self) -> bool:
        return self.inputs == "query"

    def written(self, channel: Callable[[], Floats]) -> tuple[int, int]:
        return channel().size, np.unique(channel()).size

    def of_rows(self, inputs: Sequence[int]) -> Channel:
        return Channel([self.rows[k] for k in inputs])

    def channel(self, values: Integers) -> Floats:
        if len(self.rows) != values.size:
            what = "query value" if self.inputs == "query" else "dataset"
            raise InputError(
                f"mechanism: expected one row for each of the {values.size} {what}s, got {len(self.rows)} rows"
            )
        return np.array([[float(entry) for entry in divided(row, ROWS)] for row in self.rows])

    def exact_entries(self, values: Integers) -> ExactEntries:
        _ = self.channel(values)
        return ExactEntries.of_rows([divided(row, ROWS) for row in self.rows])

    def constant_row(self, inputs: Integers, outputs: int) -> tuple[Fraction, ...] | None:
        rows = (divided(self.rows[x], ROWS) for x in inputs.tolist())
        first = next(rows)
        return first if all(row == first for row in rows) else None


@declared
class Symmetric(ByKind):
    """The (generalised) binary symmetric channel of the source paper's experiments.

    It keeps the value with probability 1 - flip; otherwise it moves to one of the k - 1 others, each with probability flip/(k-1).

    Parameters
    ----------
    flip : number in [0, 1]
        Probability of leaving the value.
    k : int, optional
        Number of values and outputs; left out, it is the query's.

    Raises
    ------
    InputError
        If `flip` is no probability, `k` is below 2, or `k` is not given by name.

    >>> import numpy as np
    >>> symmetric(0.2, k=3).channel(np.arange(3))[0].tolist()
    [0.8, 0.1, 0.1]
    >>> symmetric(3, 0.2)
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: mechanism: too many positional arguments; expected symmetric(flip, k=...)
    """

    kind: ClassVar[str] = "symmetric"
    by_number: ClassVar[bool] = True
    words: ClassVar[str] = "a symmetric channel, which tells the truth or any other value alike"
    alike: ClassVar[bool] = True
    on_a_bit: ClassVar[bool] = True
    flip: Exact = Given(number(at_least=0, at_most=1, words="is a probability, expected 0 to 1"))
    k: WholeOrNone = Given(whole(at_least=2), default=None, kw_only=True)

    def of_each_answer(self) -> str:
        return f"randomized_count flip = {fraction_text(self.flip)}"

    def channel(self, values: Integers) -> Floats:
        return symmetric_channel(values, self.k, float(1 - self.flip), float(self.flip / max(values.size - 1, 1)))

    def exact_entries(self, values: Integers) -> ExactEntries:
        change = self.flip / max(values.size - 1, 1)
        return symmetric_entries(values, self.k, rational(1 - self.flip), rational(change))

    def constant_row(self, inputs: Integers, outputs: int) -> tuple[Fraction, ...] | None:
        others = self.flip / (outputs - 1)
        if inputs.size > 1 and others != 1 - self.flip:
            return None
        return tuple(1 - self.flip if y == inputs[0] else others for y in range(outputs))


symmetric = Symmetric


@declared
class RandomizedResponse(Calibrated):
    """k-ary randomised response on the query's value (Warner 1965; Kairouz, Oh, Viswanath 2014).

    It reveals the value with probability e^epsilon/(e^epsilon + k - 1), each other value with 1/(e^epsilon + k - 1).

    Parameters
    ----------
    epsilon : number in [0, 1000]
        Privacy parameter, in nats.
    k : int, optional
        Number of values and outputs; left out, it is the query's.

    Raises
    ------
    InputError
        If `epsilon` is out of range, `k` is below 2, or `k` is not given by name.

    >>> import numpy as np
    >>> randomized_response(0, k=2).channel(np.arange(2)).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    kind: ClassVar[str] = "randomized_response"
    by_number: ClassVar[bool] = True
    words: ClassVar[str] = "randomised response"
    alike: ClassVar[bool] = True
    on_a_bit: ClassVar[bool] = True
    k: WholeOrNone = Given(whole(at_least=2), default=None, kw_only=True)

    def of_each_answer(self) -> str:
        return f"randomized_count {fraction_text(self.epsilon)}"

    def channel(self, values: Integers) -> Floats:
        weight = math.exp(-self.epsilon)
        total = 1.0 + weight * (values.size - 1)
        return symmetric_channel(values, self.k, 1.0 / total, weight / total)

    def exact_entries(self, values: Integers) -> ExactEntries:
        weight = exp_ball(-self.epsilon)
        total = 1 + weight * (values.size - 1)
        return symmetric_entries(values, self.k, 1 / total, weight / total)


randomized_response = RandomizedResponse
