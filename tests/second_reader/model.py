"""Model files: datasets, queries, channels."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from second_reader import mechanisms
from second_reader.exact import TooLargeError
from second_reader.queries import every, told, values

MOST_CELLS = 6_000


class Model:
    """What a file says, with every dataset listed."""

    def __init__(self, text: str) -> None:
        self.table: dict[str, Any] = tomllib.loads(text, parse_float=lambda number: Fraction(number.replace("_", "")))
        self.problem = self.table["problem"].replace("worst_case_leakage", "maximal_leakage")
        records = self.table["records"]
        self.alphabets: list[int] = records.get("alphabets") or [records["alphabet"]] * records["count"]
        self.data = every(self.alphabets)
        self.query = self.table.get("query", {"kind": "identity"})
        self.values = values(self.query, self.data, self.alphabets)
        self.index = [self.values.index(told(self.query, x, self.alphabets)) for x in self.data]

    @property
    def approximate(self) -> bool:
        """Whether outputs are real numbers, and sums over them integrals."""
        return self.table["mechanism"]["kind"] in ("gaussian", "laplace")

    @cached_property
    def inputs(self) -> list[int]:
        """The channel input of each dataset, of an audit."""
        return list(range(len(self.data))) if self.table["mechanism"].get("inputs") == "dataset" else self.index

    @cached_property
    def channel(self) -> np.ndarray:
        """The probabilities of the outputs, a row for each dataset."""
        rows = mechanisms.rows(self.table["mechanism"], self)
        if len(self.data) * len(rows[0]) > MOST_CELLS:
            raise TooLargeError("cells")
        return rows[self.inputs]
