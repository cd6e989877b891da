"""What the two design problems share: which mechanisms there are, what they distort, and the law that this is averaged over."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.exact import as_law, as_list
from dalenius.model.distortions import DISTORTIONS, Distortion
from dalenius.model.distortions.base import Whole
from dalenius.model.input_law import check_size, value_weights
from dalenius.model.laws import LAWS, CsvLaw, Law, Uniform
from dalenius.model.maximal_leakage import MaximalLeakage
from dalenius.model.mechanism_classes import MECHANISM_CLASSES, MechanismClass, Oblivious, TiedEntries, mechanism_class
from dalenius.model.mechanisms import Channel, DesignedMechanism
from dalenius.model.mechanisms.base import MAX_ENTRIES
from dalenius.model.problem import Problem
from dalenius.model.queries.base import Integers
from dalenius.model.shelf import check_keys, read_shelved

__all__ = ["DesignProblem"]

CEILING = 10**300  # of costs in doubles

Floats = NDArray[np.float64]
Rows = Sequence[Sequence[Any]]
D = TypeVar("D", bound="DesignProblem")


@dataclass(frozen=True, kw_only=True)
class DesignProblem(Problem):
    """Which mechanism of a class leaks least, or distorts least? `MinLeakage` and `MinDistortion` say which, and within which budget.

    The expected distortion of a mechanism Q is E(Q) = sum_x p(x) sum_y Q(x,y) d(x,y), p the law of its inputs x. Rows of mechanisms
    are lists of exact numbers (see `dalenius.exact.as_fraction`), taken *exactly divided by their exact sum*, which may differ from 1
    by at most 1e-9; in the class "additive" the one row q stands for Q(v,y) = q((y - v) mod V).

    Parameters
    ----------
    records : Records
    query : Query
    distortion : Hamming, Absolute, Squared or DistortionMatrix
    law : Uniform or Iid
        The law of the true data, which distortion is averaged over; the adversary's priors have nothing to do with it.
    adversary : EntropyAtLeast, ProductPriors or PriorSet
    mechanism : {"oblivious", "full", "additive"} or MechanismClass
        The class: any matrix from the query's values, any matrix from the datasets, or noise added modulo V. Kept as a
        `MechanismClass`.
    title, source : str, optional
        Free text, carried along.

    Raises
    ------
    InputError
        If the parts do not fit together: a distortion of the wrong size, a law of other letters, a class that the query does not have,
        numbers beyond the limits of docs/model-format.md.
    """

    parts: ClassVar[dict[str, type]] = {**Problem.parts, "distortion": Distortion, "law": Law}
    budget_key: ClassVar[str]
    distortion: Distortion
    law: Law = field(default_factory=Uniform)
    mechanism: MechanismClass | str = field(default_factory=Oblivious)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mechanism", mechanism_class(self.mechanism))
        super().__post_init__()
        self.law.check(self.records)
        check_size(self.query, self.records, self.law)
        self.distortion.check(self._values)
        self.mechanism_class.check(self.query, self.records, self.output_count)
        if self.input_count * self.output_count > MAX_ENTRIES:
            raise InputError(
                f"mechanism: a channel has at most {MAX_ENTRIES} entries; {self.input_count} inputs and {self.output_count} outputs "
                'make more. Use the class "oblivious", or coarsen the query'
            )

    # ------------------------------------------------------------ what a mechanism is

    @property
    def mechanism_class(self) -> MechanismClass:
        """`mechanism`, which is kept as a class."""
        assert isinstance(self.mechanism, MechanismClass)
        return self.mechanism

    @property
    def inputs(self) -> str:
        """What a mechanism's rows belong to: ``"query"`` values or ``"dataset"`` indices (class full)."""
        return self.mechanism_class.inputs

    @property
    def input_count(self) -> int:
        """How many inputs a mechanism has; class additive: V, though one law q stands for all its rows."""
        return int(self._input_values.size)

    @property
    def output_count(self) -> int:
        """How many outputs a mechanism has."""
        return self.distortion.outputs(self._values)

    @cached_property
    def tied(self) -> TiedEntries:
        """Which entries of a mechanism are one number."""
        return self.mechanism_class.tied(self.input_count, self.output_count)

    @cached_property
    def _values(self) -> Integers:
        return self.query.values(self.records)

    @cached_property
    def _input_values(self) -> Integers:
        """What the inputs are called: the query's values, or the datasets' indices."""
        return self.query_of_inputs.values(self.records)

    @cached_property
    def _value_of_input(self) -> Integers:
        """Index among the query's values of what an input is charged for."""
        return self.mechanism_class.value_of_input(self.query, self.records)

    # ------------------------------------------------------------ what it costs

    @cached_property
    def cost(self) -> Floats:
        """d(x,y) of every input and output, in doubles: (inputs, outputs), in units of the distortion."""
        whole, denominator = self._whole
        cost = np.asarray(np.minimum(whole, CEILING * denominator) / denominator, dtype=float)[self._value_of_input]
        cost.flags.writeable = False
        return cost

    @cached_property
    def input_law(self) -> Floats:
        """p(x), the probability of every input, in doubles: (inputs,), each entry correctly rounded."""
        weights = self._input_weights
        total = sum(weights)
        law = np.array([weight / total for weight in weights])
        law.flags.writeable = False
        return law

    def exact_cost(self) -> list[tuple[Fraction, ...]]:
        """d(x,y) exactly, a row for every input."""
        whole, denominator = self._whole
        known = {number: Fraction(number, denominator) for number in set(whole.ravel().tolist())}
        rows = [tuple(known[number] for number in row) for row in whole.tolist()]
        return [rows[v] for v in self._value_of_input.tolist()]

    def exact_input_law(self) -> list[Fraction]:
        """p(x) exactly, the probability of every input."""
        total = sum(self._input_weights)
        return [Fraction(weight, total) for weight in self._input_weights]

    @cached_property
    def _whole(self) -> tuple[Whole, int]:
        """The distortion by values, as whole numbers over one denominator."""
        return self.distortion.whole(self._values)

    @cached_property
    def _input_weights(self) -> list[int]:
        return value_weights(self.query_of_inputs, self.records, self.law)

    @cached_property
    def _whole_costs(self) -> Whole:
        """sum of w(x) d(x,y) over the entries that are one number: (rows, outputs), times the denominators."""
        return self.tied.sums(
            np.array(self._input_weights, dtype=object)[:, None] * self._whole[0][self._value_of_input]
        )

    def exact_costs(self) -> list[list[Fraction]]:
        """sum of p(x) d(x,y) over the entries that are one number, exactly: a row for every row that describes a mechanism."""
        return [[self._averaged(cost) for cost in row] for row in self._whole_costs.tolist()]

    def _averaged(self, total: int | Fraction) -> Fraction:
        """A sum of weights times whole costs as the average that it stands for."""
        return Fraction(total) / (sum(self._input_weights) * self._whole[1])

    @cached_property
    def least_distortion(self) -> Fraction:
        """The least E(Q) of the class, with no regard to leakage: sum_x p(x) min_y d(x,y), or that of the best shift."""
        return self._averaged(sum(self._whole_costs.min(axis=1).tolist()))

    @cached_property
    def constant_distortion(self) -> Fraction:
        """The least E(Q) of a mechanism that releases nothing: always the best output; class additive: the uniform law q."""
        return self._distortion(self.constant)

    @property
    def constant(self) -> list[list[Fraction]]:
        """The rows of the mechanism of least distortion that releases nothing."""
        return self.tied.constant(self._whole_costs)

    def _distortion(self, rows: Rows) -> Fraction:
        return self._averaged(
            sum((_dot(row, costs) for row, costs in zip(rows, self._whole_costs, strict=True)), Fraction(0))
        )

    def expected_distortion(self, rows: Rows) -> Fraction:
        """E(Q) exactly.

        Parameters
        ----------
        rows : (inputs, outputs)
            A mechanism of the class; class additive: the one row q, or all V of them.

        Raises
        ------
        InputError
            If there are not as many rows and entries as inputs and outputs, a row is no law, or the rows are not of the class.
        """
        return self._distortion(self._laws(rows))

    def expand(self, rows: Rows) -> list[tuple[Fraction, ...]]:
        """The mechanism's matrix by inputs: in the class additive V rows Q(v,y) = q((y - v) mod V) from the one row q.

        Raises
        ------
        InputError
            As in `expected_distortion`.
        """
        return self.tied.expand_rows(self._laws(rows))

    def _laws(self, rows: Rows) -> list[tuple[Fraction, ...]]:
        """The rows as exact laws, as many as describe a mechanism; class additive: the law q alone."""
        laws = [_law(row, v, self.output_count) for v, row in enumerate(as_list(rows, "mechanism: rows"))]
        return self.mechanism_class.rows_of_variable(laws, self.input_count)

    # ------------------------------------------------------------ what it leaks

    def release(self, rows: Rows) -> MaximalLeakage:
        """The audit of one mechanism of the class: how much it leaks to the same adversary.

        Raises
        ------
        InputError
            As in `expected_distortion`, or if an entry cannot be written with 400 characters.
        """
        return MaximalLeakage(
            records=self.records,
            query=self.query,
            mechanism=Channel(self.expand(rows), inputs=self.inputs),
            adversary=self.against("the audit of a mechanism"),
            title=self.title,
        )

    # ------------------------------------------------------------ what is handed out

    def designed(self, rows: Rows) -> DesignedMechanism:
        """The mechanism with these rows, to be handed out: it samples, and can be saved.

        Raises
        ------
        InputError
            As in `release`.
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
        for label, wanted in zip(mechanism.labels, self.distortion.labels(self._values), strict=True):
            if isinstance(label, int) and label != wanted:
                raise InputError(
                    f"mechanism: its outputs are not those of the model's distortion: expected {wanted}, got {label}"
                )

    # ------------------------------------------------------------ the budget

    @property
    @abstractmethod
    def budget(self) -> Fraction:
        """The bound on what is not minimised, as written."""

    @property
    @abstractmethod
    def feasible(self) -> bool:
        """Whether some mechanism of the class meets the budget; decided exactly."""

    # ------------------------------------------------------------ model files

    @classmethod
    def from_model(cls: type[D], model: Mapping[str, Any], folder: str | Path = "") -> D:
        """Build from the tables of a model file (docs/model-format.md); a csv file's path is relative to `folder`."""
        tables = ("records", "query", "distortion", "law", "mechanism", *cls.more_tables(model))
        check_keys(model, ("problem", "title", "source", cls.budget_key, *tables), "model")
        cls.need_tables(model, *tables)
        check_keys(model["mechanism"], ("class",), "[mechanism]")
        if "class" not in model["mechanism"]:
            raise InputError(f"[mechanism]: missing class, one of {', '.join(MECHANISM_CLASSES)}")
        return cls(
            distortion=read_shelved(DISTORTIONS, model["distortion"], "[distortion]"),
            law=_law_of_table(model["law"], folder),
            mechanism=model["mechanism"]["class"],
            **cls.goal(model),
            **cls.common_parts(model),
        )

    @classmethod
    def more_tables(cls, model: Mapping[str, Any]) -> tuple[str, ...]:
        """The tables of such a model file besides those of every design."""
        return ("adversary",)

    @classmethod
    def goal(cls, model: Mapping[str, Any]) -> dict[str, Any]:
        """What a mechanism must meet, from a model file: the budget."""
        if cls.budget_key not in model:
            raise InputError(f"model: missing {cls.budget_key}, the budget of {cls.kind}; it stands above the tables")
        return {cls.budget_key: model[cls.budget_key]}

    def tables(self) -> dict[str, Any]:
        return {
            self.budget_key: getattr(self, self.budget_key),
            "distortion": {"kind": self.distortion.kind, **self.distortion.to_table()},
            "law": {"kind": self.law.kind, **self.law.to_table()},
            "mechanism": {"class": self.mechanism_class.kind},
        }


def _law_of_table(table: Mapping[str, Any], folder: str | Path) -> Law:
    if table.get("kind") == CsvLaw.kind:
        return read_shelved({CsvLaw.kind: CsvLaw}, table, "[law]").read(folder)
    kinds: dict[str, Any] = {**LAWS, CsvLaw.kind: CsvLaw}  # for the message that lists them
    law: Law = read_shelved(kinds, table, "[law]")
    return law


def _law(row: Any, v: int, outputs: int) -> tuple[Fraction, ...]:
    """One row, divided by its exact sum."""
    law = as_law(row, f"mechanism: rows[{v}]")
    if len(law) != outputs:
        raise InputError(f"mechanism: rows[{v}] must have an entry for each of the {outputs} outputs, got {len(law)}")
    total = sum(law, Fraction(0))
    return law if total == 1 else tuple(entry / total for entry in law)


def _dot(law: Sequence[Fraction], costs: Whole) -> Fraction:
    return sum((q * int(d) for q, d in zip(law, costs.tolist(), strict=True) if q and d), Fraction(0))
