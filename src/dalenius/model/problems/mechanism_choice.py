"""A question about all mechanisms of a class: which there are, and what they are called when they are handed out."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from dalenius.errors import InputError
from dalenius.exact import Rows, as_law, as_list, exact_sum
from dalenius.information.arrays import Integers
from dalenius.model.distortions import Distortion
from dalenius.model.fields import Given, declared
from dalenius.model.in_words import stated
from dalenius.model.mechanism_classes import MECHANISM_CLASSES, MechanismClass, Oblivious, TiedEntries, mechanism_class
from dalenius.model.mechanisms import DesignedMechanism
from dalenius.model.mechanisms.base import MAX_ENTRIES
from dalenius.model.problem import Problem
from dalenius.model.shelf import check_keys


def _class_of_table(table: Mapping[str, Any], where: str) -> str:
    check_keys(table, ("class",), where)
    if "class" not in table:
        raise InputError(f"{where}: missing class, one of {', '.join(MECHANISM_CLASSES)}")
    word: str = table["class"]
    return word


@declared(kw_only=True)
class MechanismChoice(Problem):
    """A problem whose mechanism is to be found.

    Rows of mechanisms are lists of exact numbers (see `dalenius.exact.as_fraction`), taken *exactly divided by their exact sum*, which
    may differ from 1 by at most 1e-9; in the class "additive" the one row q stands for Q(v,y) = q((y - v) mod V).

    Parameters
    ----------
    records, query, title, source
        As `Problem` says.
    distortion : Hamming, Absolute, Squared or DistortionMatrix
        It says which outputs there are.
    mechanism : {"oblivious", "full", "additive"} or MechanismClass
        The class: any matrix from the query's values, any matrix from the datasets, or noise added modulo V. Kept as a
        `MechanismClass`.

    Raises
    ------
    InputError
        If the parts do not fit together.
    """

    distortion: Given[Distortion, Distortion] = Given(stated(Distortion), tables=Distortion.of_kind)
    mechanism: Given[MechanismClass | str, MechanismClass] = Given(
        mechanism_class, default=Oblivious(), tables=_class_of_table
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.distortion.check(self._values)
        self.mechanism_class.check(self.query, self.records, self.output_count)
        if self.input_count * self.output_count > MAX_ENTRIES:
            raise InputError(
                f"mechanism: a channel has at most {MAX_ENTRIES} entries; {self.input_count} inputs and {self.output_count} outputs "
                'make more. Use the class "oblivious", or coarsen the query'
            )

    def _check_adversary(self) -> None:
        if self.adversary is not None:
            self.adversary.check_design(self.records)

    @property
    def mechanism_class(self) -> MechanismClass:
        """`mechanism`, which is kept as a class."""
        return self.mechanism

    @property
    def inputs(self) -> str:
        """Index of a mechanism's rows: ``"query"`` values or ``"dataset"`` indices (class full)."""
        return self.mechanism_class.inputs

    @property
    def input_count(self) -> int:
        """Number of inputs of a mechanism; class additive: V, though one law q stands for all its rows."""
        return int(self._input_values.size)

    @property
    def output_count(self) -> int:
        """Number of outputs of a mechanism."""
        return self.distortion.output_count(self._values)

    @property
    def shape(self) -> tuple[int, int]:
        return self.input_count, self.output_count

    @cached_property
    def tied(self) -> TiedEntries:
        """Variable of each entry of a mechanism."""
        return self.mechanism_class.tied(self.input_count, self.output_count)

    @cached_property
    def _values(self) -> Integers:
        return self.query.values(self.records)

    @property
    def output_numbers(self) -> tuple[Fraction, ...] | None:
        """The numbers that the outputs stand for: the query's values, or what the distortion says; None where that is nothing."""
        return self.distortion.numbers(self._values)

    @cached_property
    def _input_values(self) -> Integers:
        """Names of the inputs: the query's values, or the datasets' indices."""
        return self.query_of_inputs.values(self.records)

    @cached_property
    def _value_of_input(self) -> Integers:
        """Index among the query's values of what an input is charged for."""
        return self.mechanism_class.value_of_input(self.query, self.records)

    def expand(self, rows: Rows) -> list[tuple[Fraction, ...]]:
        """The mechanism's matrix by inputs: in the class additive V rows Q(v,y) = q((y - v) mod V) from the one row q.

        Raises
        ------
        InputError
            If there are not as many rows and entries as inputs and outputs, a row is no law, or the rows are not of the class.
        """
        return self.tied.expand_rows(self._laws(rows))

    def _laws(self, rows: Rows) -> list[tuple[Fraction, ...]]:
        """The rows as exact laws, as many as describe a mechanism; class additive: the law q alone."""
        laws = [_law(row, v, self.output_count) for v, row in enumerate(as_list(rows, "mechanism: rows"))]
        return self.mechanism_class.rows_of_variable(laws, self.input_count)

    # ------------------------------------------------------------ what is handed out

    def designed(self, rows: Rows) -> DesignedMechanism:
        """The mechanism with these rows, to be handed out: it samples, and can be saved.

        Raises
        ------
        InputError
            As in `expand`, or if an entry cannot be written with 400 characters.
        """
        labels = self.distortion.labels(self._values)
        return DesignedMechanism(self.expand(rows), self.inputs, self._input_values.tolist(), labels)

    def check_designed(self, mechanism: DesignedMechanism) -> None:
        """Raise `InputError` unless this is a mechanism of the class: its inputs, its outputs, and for "additive" its form.

        Names of outputs that are texts may be anything; whole numbers must be those that the distortion is about.
        """
        if mechanism.inputs != self.inputs:
            raise InputError(
                f"mechanism: its rows belong to {mechanism.inputs} inputs, but the model's class {self.mechanism_class.kind} has "
                f"{self.inputs} inputs"
            )
        mechanism.check_values(self._input_values.tolist())
        self.expand(mechanism.rows)
        for label, wanted in zip(mechanism.outputs, self.distortion.labels(self._values), strict=True):
            if isinstance(label, int) and label != wanted:
                raise InputError(
                    f"mechanism: its outputs are not those of the model's distortion: expected {wanted}, got {label}"
                )


def _law(row: Any, v: int, outputs: int) -> tuple[Fraction, ...]:
    """One row, divided by its exact sum."""
    law = as_law(row, f"mechanism: rows[{v}]")
    if len(law) != outputs:
        raise InputError(f"mechanism: rows[{v}] must have an entry for each of the {outputs} outputs, got {len(law)}")
    total = exact_sum(law, f"mechanism: rows[{v}]")
    return law if total == 1 else tuple(entry / total for entry in law)
