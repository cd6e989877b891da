"""Datasets, queries, and what a table tells of a dataset."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from second_reader.exact import TooLargeError

Table = dict[str, Any]
Data = tuple[int, ...]
MOST_DATASETS = 256


def told(table: Table, x: Data, alphabets: Sequence[int]) -> Any:
    """The value of a dataset: of a `[query]`, of a table of a secret."""
    kind = table["kind"]
    if kind == "parity":
        return sum(x) % 2
    if kind == "modular_sum":
        return sum(x) % table["modulus"]
    if kind == "count":
        return sum(letter in table.get("letters", [1]) for letter in x)
    if kind == "sum":
        weights = table.get("weights")
        if weights is None:
            return sum(x)
        own = isinstance(weights[0], list)
        return sum(int((weights[i] if own else weights)[letter]) for i, letter in enumerate(x))
    if kind == "histogram":
        return tuple(x.count(letter) for letter in range(alphabets[0]))
    if kind == "margins":
        return tuple(counted(table["attributes"], margin, x) for margin in table["tables"])
    if kind == "joint":
        return tuple(told(query, x, alphabets) for query in table["queries"])
    if kind == "threshold":
        return int(sum(x) >= table["at"])
    if kind in ("table", "identity"):
        index = 0
        for letter, size in zip(x, alphabets, strict=True):
            index = index * size + letter
        return table["values"][index] if kind == "table" else index
    if kind == "letters":
        records = table["records"] if "records" in table else [i for i in range(len(x)) if i not in table["others"]]
        groups = table.get("groups")
        names = {letter: g for g, group in enumerate(groups or ()) for letter in group}
        return tuple(names[x[i]] if groups else x[i] for i in records)
    raise KeyError(kind)


def counted(sizes: Sequence[int], margin: Sequence[int], x: Data) -> tuple[int, ...]:
    """How many records have each combination of the values of these attributes; a letter's digits are its values."""
    combinations = list(itertools.product(*map(range, sizes)))
    own = [tuple(combinations[letter][j] for j in margin) for letter in x]
    return tuple(own.count(cell) for cell in itertools.product(*(range(sizes[j]) for j in margin)))


def values(table: Table, data: Sequence[Data], alphabets: Sequence[int]) -> list[Any]:
    """The query's values, listed."""
    kind = table["kind"]
    listed = {
        "parity": range(2),
        "threshold": range(2),
        "modular_sum": range(table.get("modulus", 0)),
        "count": range(len(alphabets) + 1),
    }.get(kind)
    return list(listed) if listed is not None else sorted({told(table, x, alphabets) for x in data})


def every(alphabets: Sequence[int]) -> list[Data]:
    """The datasets, record 0 slowest."""
    if math.prod(alphabets) > MOST_DATASETS:
        raise TooLargeError("datasets")
    return list(itertools.product(*map(range, alphabets)))
