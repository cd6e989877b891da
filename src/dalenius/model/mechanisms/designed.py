"""The mechanism that is handed out: an exact matrix with names for its inputs and outputs, which samples and goes into a file."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, Rows, as_integer, as_list, exact_sum, fraction_text, over_common_denominator
from dalenius.files import MAX_INPUT, write_whole
from dalenius.information.arrays import Floats, Integers
from dalenius.model.fields import Given, declared, keep
from dalenius.model.mechanisms.matrix import Channel
from dalenius.model.mechanisms.sampling import Random, drawn_below, need_random
from dalenius.model.shelf import check_keys

FORMAT = "dalenius-mechanism/1"
KEYS = ("inputs", "values", "outputs", "rows")
MAX_LABEL = 2**63 - 1
MAX_TEXT = 400  # characters of an output's label
MAX_BITS = 65_536  # of a row's common denominator; `exact_sum` has refused more
SHOWN = (12, 8)  # rows and outputs of the table that `str` draws

Label = int | str
Ladder = tuple[list[int], int]


@declared(repr=False)
class DesignedMechanism(Channel):
    """A mechanism to release with: ``rows[v][y]`` is exactly the probability of output y on input v.

    It is a `Channel`, audited as such (``dl.WorstCaseLeakage(mechanism=...)``; in a model file its kind is ``matrix``), that knows the
    inputs its rows belong to and refuses a query with other values, knows the names of its outputs, and samples.

    Parameters
    ----------
    rows : sequence of sequences of numbers
        Exact numbers (see `dalenius.exact.as_fraction`); a row's sum is 1 *exactly*, there is no tolerance.
    inputs : {"query", "dataset"}
        What the rows are indexed by.
    values : sequence of int, optional
        The query's values that the rows belong to, ascending; where `inputs` is ``"dataset"`` the datasets' indices 0, 1, ..., in
        lexicographic order with record 0 slowest. Left out: 0, 1, ...
    outputs : sequence of int or str, optional
        The names of the outputs, which `sample` returns, all different; left out: 0, 1, ...

    Raises
    ------
    InputError
        If an entry is negative or no number, a row does not sum to 1 exactly, or values or names do not fit the rows.

    Notes
    -----
    `sample` draws an integer r uniformly from 0, ..., D - 1, D the common denominator of the row, and returns the output y with
    sum_{z<y} Q(v,z) <= r/D < sum_{z<=y} Q(v,z). So output y has exactly D Q(v,y) of the D integers: its probability is the rational
    Q(v,y) that was audited.

    *What this protects against*: the bias of a sampler in floating point, whose outputs have other probabilities than the mechanism on
    paper, down to outputs that only one input can produce and that give it away (I. Mironov, "On significance of the least significant
    bits for differential privacy", CCS 2012). *What it does not protect against*: who sees how long sampling takes or what the memory
    holds (neither the search for y nor integers of Python take constant time); a source of randomness that can be predicted, so leave
    `rng` out, except in simulations; repeated releases, each of which adds to what is learnt; any adversary other than the one that
    was audited. The guarantee is about one release.

    >>> mechanism = DesignedMechanism([["2/3", "1/3"], [0.1, 0.9]], outputs=["no", "yes"])
    >>> print(mechanism)
    query value       no       yes
              0  0.666667  0.333333
              1       0.1       0.9
    >>> mechanism.sample(1) in ("no", "yes")
    True
    >>> mechanism.sample_many([0, 1, 1], np.random.default_rng(2))
    ['no', 'yes', 'yes']
    """

    values: tuple[int, ...] = ()
    outputs: tuple[Label, ...] = ()

    def __init__(
        self,
        rows: Rows,
        inputs: str = "query",
        values: Sequence[Integer] | Integers | None = None,
        outputs: Sequence[Label] | None = None,
    ) -> None:
        super().__init__(rows, inputs)
        for v, row in enumerate(self.rows):
            total = exact_sum(row, f"mechanism: rows[{v}]")
            if total != 1:
                raise InputError(
                    f"mechanism: rows[{v}] must sum to 1 exactly, got {brief(total)}; divide it by its exact sum"
                )
        count, width = len(self.rows), len(self.rows[0])
        keep(self, values=_values(values, count, inputs), outputs=_outputs(outputs, width))

    # ------------------------------------------------------------ as a channel

    def channel(self, values: Integers) -> Floats:
        self.check_values(values.tolist())
        return np.array(self.matrix)

    def check_values(self, values: Sequence[int]) -> None:
        """Raise `InputError` unless the rows belong to these inputs, the query's values or the datasets' indices."""
        if self.values == tuple(values):
            return
        message = f"mechanism: its rows belong to {_named(self.values, self.inputs)}, the model has {_named(values, self.inputs)}"
        if len(values) == len(self.rows):
            mine, other = next(pair for pair in zip(self.values, values, strict=True) if pair[0] != pair[1])
            message += f"; the first that differ are {mine} and {other}"
        raise InputError(message)

    @cached_property
    def matrix(self) -> Floats:
        """The rows in doubles, each entry correctly rounded: (inputs, outputs)."""
        matrix = np.array([[float(entry) for entry in row] for row in self.rows])
        matrix.flags.writeable = False
        return matrix

    def output_labels(self, values: Integers) -> list[str]:
        return [str(label) for label in self.outputs]

    @classmethod
    def file_fields(cls) -> dict[str, Given[Any, Any]]:
        """The keys of a matrix: a model file does not know names."""
        return Channel.file_fields()

    # ------------------------------------------------------------ sampling

    def sample(self, value: Integer, rng: Random | None = None) -> Label:
        """One output for this input, with exactly the probabilities of its row; see the class for what that is worth.

        Parameters
        ----------
        value : int
            The query's value, or the dataset's index.
        rng : random.Random or numpy.random.Generator, optional
            For simulations, whose outputs anybody can repeat; they are exact, too, for uniform bits. By default the operating system's
            entropy, through `secrets`: never give anything else for a release.

        Raises
        ------
        InputError
            If the mechanism has no such input, which the message does not repeat, or `rng` is something else.
        """
        return self.sample_many([value], rng)[0]

    def sample_many(self, values: Iterable[Integer], rng: Random | None = None) -> list[Label]:
        """An output for each of these inputs, independently; as `sample`. For simulations: every release leaks.

        Raises
        ------
        InputError
            As in `sample`.
        """
        need_random(rng)
        found = []
        for value in values:
            steps, below = self._ladder(value)
            found.append(self.outputs[bisect_right(steps, drawn_below(below, rng))])
        return found

    def _ladder(self, value: Integer) -> Ladder:
        """The sums D (Q(v,0) + ... + Q(v,y)) for every y, and D, the common denominator of the row."""
        v = self._row_of.get(int(value)) if isinstance(value, int | np.integer) else None
        if v is None or isinstance(value, bool):
            raise InputError(f"value: expected one of the mechanism's inputs, {_named(self.values, self.inputs)}")
        if v not in self._ladders:
            weights, common = over_common_denominator(self.rows[v], f"mechanism: rows[{v}]", most_bits=MAX_BITS)
            self._ladders[v] = list(accumulate(weights)), common
        return self._ladders[v]

    @cached_property
    def _row_of(self) -> dict[int, int]:
        return {value: v for v, value in enumerate(self.values)}

    @cached_property
    def _ladders(self) -> dict[int, Ladder]:
        return {}

    # ------------------------------------------------------------ files

    def save(self, path: str | Path) -> Path:
        """Write the mechanism to a JSON file, whole or not at all; `dalenius.mechanisms.Mechanism.load` reads it (docs/release.md).

        Raises
        ------
        InputError
            If the file cannot be written, or would have more than 64 MiB.
        """
        return write_whole(path, self.text())

    def text(self) -> str:
        """Text that `save` writes; `InputError` if it would have more than 64 MiB."""
        text = "".join(self._lines())
        if len(text) > MAX_INPUT:
            raise InputError(f"a mechanism's file has at most {MAX_INPUT} bytes, this one would have {len(text)}")
        return text

    def _lines(self) -> Iterator[str]:
        """One row a line; all of it ASCII."""
        yield f'{{"format": {json.dumps(FORMAT)},\n "inputs": {json.dumps(self.inputs)},\n'
        yield f' "values": {json.dumps(self.values)},\n "outputs": {json.dumps(self.outputs)},\n "rows": ['
        for v, row in enumerate(self.rows):
            yield ("," if v else "") + "\n  " + json.dumps([fraction_text(entry) for entry in row])
        yield "]}\n"

    @classmethod
    def from_file(cls, table: Mapping[str, Any]) -> DesignedMechanism:
        """Build from the object in a file, without its `format`."""
        check_keys(table, KEYS, "mechanism")
        for key in KEYS:
            if key not in table:
                raise InputError(f"mechanism: missing {key}")
            if key != "inputs" and not isinstance(table[key], list):
                raise InputError(f"mechanism: {key} must be a list, got {brief(table[key])}")
        for v, row in enumerate(table["rows"]):
            if not isinstance(row, list) or not all(isinstance(entry, str) for entry in row):
                raise InputError(f'mechanism: rows[{v}] must be a list of texts such as "1/3" or "0.25"')
        return cls(table["rows"], table["inputs"], table["values"], table["outputs"])

    # ------------------------------------------------------------ how it looks

    def __repr__(self) -> str:
        return f"<DesignedMechanism of {len(self.rows)} rows by {self.inputs} and {len(self.outputs)} outputs>"

    def __str__(self) -> str:
        """A table of the rows to six digits, cut to a size fit for a page."""
        rows, width = min(len(self.rows), SHOWN[0]), min(len(self.outputs), SHOWN[1])
        what = "query value" if self.inputs == "query" else "dataset"
        cells = [[what, *(brief(label) if isinstance(label, int) else label[:20] for label in self.outputs[:width])]]
        cells += [[str(self.values[v]), *(f"{x:.6g}" for x in self.matrix[v, :width])] for v in range(rows)]
        wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(cell.rjust(size) for cell, size in zip(line, wide, strict=True)) for line in cells]
        if (rows, width) != (len(self.rows), len(self.outputs)):
            lines.append(f"... {len(self.rows)} rows, {len(self.outputs)} outputs")
        return "\n".join(lines)


def _values(given: Any, count: int, inputs: str) -> tuple[int, ...]:
    """The inputs that the rows belong to."""
    if given is None:
        return tuple(range(count))
    listed = as_list(given, "mechanism: values")
    values = tuple(as_integer(value, "mechanism: values", at_least=-MAX_LABEL, at_most=MAX_LABEL) for value in listed)
    if len(values) != count:
        raise InputError(f"mechanism: values must list one input for each of the {count} rows, got {len(values)}")
    if any(first >= second for first, second in pairwise(values)):
        raise InputError(f"mechanism: values must be ascending, each larger than the one before, got {brief(values)}")
    if inputs == "dataset" and values != tuple(range(count)):
        raise InputError(f"mechanism: values of datasets are their indices 0 to {count - 1}, got {brief(values)}")
    return values


def _outputs(given: Any, count: int) -> tuple[Label, ...]:
    """The names of the outputs."""
    if given is None:
        return tuple(range(count))
    labels = tuple(_label(label, y) for y, label in enumerate(as_list(given, "mechanism: outputs")))
    if len(labels) != count:
        raise InputError(
            f"mechanism: outputs must list one name for each of the {count} columns of the rows, got {len(labels)}"
        )
    if len(set(map(str, labels))) < count:
        raise InputError(f"mechanism: outputs must be different names, got {brief(labels)}")
    return labels


def _label(label: Any, y: int) -> Label:
    what = f"mechanism: outputs[{y}]"
    if not isinstance(label, str):
        return as_integer(label, what, at_least=-MAX_LABEL, at_most=MAX_LABEL)
    if not label.isprintable() or not label.strip() or len(label) > MAX_TEXT:
        raise InputError(
            f"{what}: expected an integer or a printable text of at most {MAX_TEXT} characters, got {brief(label)}"
        )
    return label


def _named(values: Sequence[int], inputs: str) -> str:
    """Number and kind of the inputs, and from where to where they run."""
    what = "query values" if inputs == "query" else "datasets"
    return f"{len(values)} {what} from {values[0]} to {values[-1]}"
