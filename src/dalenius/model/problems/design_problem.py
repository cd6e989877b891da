"""Base of the two design problems: a class of mechanisms, their distortion, and the law that this is averaged over."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any, ClassVar, TypeVar

import numpy as np

from dalenius.errors import InputError, brief, naming
from dalenius.exact import Rows, as_law, as_list, divided, fraction_text
from dalenius.information.arrays import Floats, Integers
from dalenius.model.adversaries import Adversary, EntropyAtLeast, IndependentBlocks
from dalenius.model.adversaries.independent_blocks import as_blocks
from dalenius.model.constraints import (
    Constraint,
    LeakageLimit,
    MechanismSpace,
    SecretLeakageLimit,
)
from dalenius.model.constraints.privacy import as_limit
from dalenius.model.costs import ENTRY, PRIORS, WEIGHT, Costs, audit_costs, reading
from dalenius.model.distortions import Distortion, ExpectedDistortion
from dalenius.model.fields import Given, declared, part
from dalenius.model.in_words import stated
from dalenius.model.laws import Law, Uniform, check_size, value_weights
from dalenius.model.mechanism_classes import MECHANISM_CLASSES, MechanismClass, Oblivious, TiedEntries, mechanism_class
from dalenius.model.mechanisms import Channel, DesignedMechanism
from dalenius.model.mechanisms.base import MAX_ENTRIES
from dalenius.model.objectives import DistortionTerm, Objective, read_objective
from dalenius.model.privacy import Privacy
from dalenius.model.problem import Problem
from dalenius.model.problems.pieces import placed_blocks
from dalenius.model.problems.worst_case_leakage import WorstCaseLeakage
from dalenius.model.secret import Told
from dalenius.model.shelf import check_keys
from dalenius.model.sums import attained_values
from dalenius.units import Quantity

D = TypeVar("D", bound="DesignProblem")
C = TypeVar("C")
MAX_CONSTRAINTS = 1000
SMALLEST, LARGEST = Fraction(1, 10**6), Fraction(10**300)  # of the largest distortion: tolerances are absolute


def as_constraints(value: Sequence[Constraint | Privacy], what: str) -> tuple[Constraint, ...]:
    """Constraints, also from privacy notions that stand for some."""
    listed = as_list(value, what)
    if len(listed) > MAX_CONSTRAINTS:
        raise InputError(f"{what}: at most {MAX_CONSTRAINTS} can be handled, got {len(listed)}")
    found = list[Constraint]()
    for j, member in enumerate(listed):
        constraint = member if isinstance(member, Constraint) else as_limit(member)
        if constraint is None:
            raise InputError(
                f"{what}[{j}]: expected a constraint such as dl.constraints.Unbiased(), got {brief(member)}; an inequality of your "
                "own is dl.constraints.Linear"
            )
        found.append(constraint)
    return tuple(found)


def constraints_of_tables(tables: Any, where: str) -> tuple[Constraint, ...]:
    """Of a model file, which lists them as [[constraints]]."""
    if not isinstance(tables, list):
        raise InputError(f"model: constraints are tables [{where}], one for each; got {brief(tables)}")
    return tuple(Constraint.of_kind(table, f"constraints[{j}]") for j, table in enumerate(tables))


def _class_of_table(table: Mapping[str, Any], where: str) -> str:
    check_keys(table, ("class",), where)
    if "class" not in table:
        raise InputError(f"{where}: missing class, one of {', '.join(MECHANISM_CLASSES)}")
    word: str = table["class"]
    return word


@declared(kw_only=True)
class DesignProblem(Problem):
    """Question for the mechanism of a class that leaks least, or distorts least; `MinLeakage` and `MinDistortion` give the budget.

    Rows of mechanisms are lists of exact numbers (see `dalenius.exact.as_fraction`), taken *exactly divided by their exact sum*, which
    may differ from 1 by at most 1e-9; in the class "additive" the one row q stands for Q(v,y) = q((y - v) mod V).

    The expected distortion of a mechanism Q is E(Q) = sum_x p(x) sum_y Q(x,y) d(x,y), p the law of its inputs x.

    Parameters
    ----------
    records, query, title, source
        As `Problem` says.
    distortion : Hamming, Absolute, Squared or DistortionMatrix
        It says which outputs there are.
    mechanism : {"oblivious", "full", "additive"} or MechanismClass
        The class: any matrix from the query's values, any matrix from the datasets, or noise added modulo V. Kept as a
        `MechanismClass`.
    law : Uniform or Iid
        The law of the true data, which distortion is averaged over; the adversary's priors have nothing to do with it.
    adversary : EntropyAtLeast, ProductPriors, PriorSet, IndependentBlocks or a class of laws (KLBallPriors, ...)
        Against `IndependentBlocks`: the class "oblivious" or "additive", no objective, no `LeakageLimit` or `SecretLeakageLimit`.
    constraints : sequence of Constraint, optional
        What every mechanism must meet besides the budget: `Unbiased`, `ErrorCap`, `Band`, `ZeroEntries`, `Monotone`, `Linear`,
        `DistortionBudget`, `SecondOrderCone`, `LeakageLimit`, `LocalDPBetween`, `PointwiseLeakageLimit`; `LocalDP` and
        `PointwiseMaximalLeakage` stand for the last two. At most 1000.
    objective : WeightedSum or WeightedMaximum, optional
        What is minimised instead of the leakage or the distortion alone: it and further ones, weighted.

    Raises
    ------
    InputError
        If the parts do not fit together: a distortion of the wrong size, a law of other letters, a class that the query does not
        have, a constraint on inputs or a term of the objective on outputs that there are not, numbers beyond the limits of
        docs/model-format.md.
    """

    budget_key: ClassVar[str]
    distortion: Given[Distortion, Distortion] = Given(stated(Distortion), tables=Distortion.of_kind)
    mechanism: Given[MechanismClass | str, MechanismClass] = Given(
        mechanism_class, default=Oblivious(), tables=_class_of_table
    )
    law: Given[Law, Law] = Given(stated(Law), default=Uniform(), tables=Law.of_kind)
    constraints: Given[Sequence[Constraint | Privacy], tuple[Constraint, ...]] = Given(
        as_constraints, default=(), tables=constraints_of_tables
    )
    objective: Given[Objective | None, Objective | None] = Given(
        part(Objective, "Objective"), default=None, tables=read_objective
    )

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._above = (cls.budget_key,)
        own = ("distortion", "law", "mechanism", "constraints", "objective", "privacy")
        cls.in_files = ("records", "query", cls.budget_key, *own, "adversary")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.distortion.check(self._values)
        self.mechanism_class.check(self.query, self.records, self.output_count)
        if self.input_count * self.output_count > MAX_ENTRIES:
            raise InputError(
                f"mechanism: a channel has at most {MAX_ENTRIES} entries; {self.input_count} inputs and {self.output_count} outputs "
                'make more. Use the class "oblivious", or coarsen the query'
            )
        self.law.check(self.records)
        check_size(self.query, self.records, self.law)
        for j, constraint in enumerate(self.own_constraints):
            try:
                constraint.check(self.space)
            except InputError as error:
                raise InputError(f"constraints[{j}]: {str(error).removeprefix('constraints: ')}") from None
        for j, told in self.told.items():
            with naming(f"constraints[{j}]: {SecretLeakageLimit.kind}"):
                _ = told.selections
        if self.objective is not None:
            self.objective.check(self.space)
        self._need_workable()

    def _need_workable(self) -> None:
        """`InputError` if distortions, or what they weigh, are beyond what doubles can work with."""
        objective = self.objective
        terms = () if objective is None else objective.terms
        further = [self.expected(term.distortion) for term in terms if isinstance(term, DistortionTerm)]
        largest = [each.largest for each in (self.distortions, *further)]
        least = SMALLEST
        if self.adversary is None and not self.own_constraints and (objective is None or objective.is_linear):
            weights = [Fraction(1)] if objective is None else objective.weights
            largest, least = [sum(map(mul, weights, largest), Fraction(0))], Fraction(0)  # solved in exact numbers
        elif objective is not None:
            objective.need_workable()
        if not all(least < size < LARGEST for size in largest if size):
            raise InputError(
                f"distortion: the largest should be between {float(least):g} and {float(LARGEST):g}, also where it is that of a term; "
                "measure distortion, and its budget, in another unit"
            )

    def _resolve(self) -> None:
        """Against blocks no value of the query is listed."""
        if self._blocks is None:
            super()._resolve()

    def _check_adversary(self) -> None:
        if self.adversary is not None:
            self.adversary.check_design(self.records)
        if self._blocks is None:
            return
        what, instead = "a design against independent_blocks", "audit the mechanism that it hands out"
        if self.objective is not None:
            self.need_plain(what, instead)
        for j, limit in enumerate(self.constraints):
            if isinstance(limit, LeakageLimit | SecretLeakageLimit):
                raise InputError(f"constraints[{j}]: {what} knows no limit of {limit.kind}; {instead}, or leave it out")
        if self.inputs != "query":
            raise InputError(
                'mechanism: a design against independent_blocks is of the class "oblivious" or "additive", got '
                f"{self.mechanism_class.kind}"
            )
        if not placed_blocks(self.query, self.records, self._blocks):
            raise InputError(
                "adversary: no letter of any record changes the query's value, so there is nothing to hide"
            )

    @property
    def _blocks(self) -> IndependentBlocks | None:
        """The adversary, if it is one about blocks."""
        return as_blocks(self.adversary) if self.adversary and self.adversary.in_blocks else None

    # ------------------------------------------------------------ the class of mechanisms

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

    # ------------------------------------------------------------ what is minimised

    @property
    def quantity(self) -> Quantity:
        """The quantity that an answer bounds: a leakage, a distortion, or an objective of several."""
        return self._own_quantity if self.objective is None else Quantity.OBJECTIVE

    @property
    def along(self) -> tuple[str, ...]:
        return () if self.adversary is None else (self.budget_key, f"adversary.{EntropyAtLeast.kind}")

    @property
    def place(self) -> float | None:
        return None if self.adversary is None or self.objective is not None else float(self.budget)

    def anywhere(self) -> DesignProblem:
        return self if self.place is None else self.with_budget(Fraction(1))

    # ------------------------------------------------------------ what it must meet

    @property
    def own_constraints(self) -> tuple[Constraint, ...]:
        """`constraints`, which are kept as such."""
        return self.constraints

    def numbered(self, kind: Callable[..., C]) -> dict[int, C]:
        """Those of one kind, by their numbers; the kind is a class, perhaps an abstract one."""
        kinds: Any = kind
        return {j: limit for j, limit in enumerate(self.own_constraints) if isinstance(limit, kinds)}

    @property
    def plain(self) -> bool:
        """True if it has neither constraints nor an objective of its own."""
        return not self.constraints and self.objective is None

    def need_plain(self, what: str, instead: str = "solve it") -> None:
        """`InputError` for a design with constraints, or with an objective of its own: `what` knows neither."""
        if self.objective is not None:
            raise InputError(
                f"{what}: expected a design without an objective of several terms; {instead}, or leave the objective out"
            )
        if self.constraints:
            raise InputError(
                f"{what}: expected a design without constraints, got {len(self.constraints)}; {instead}, or leave them out"
            )

    @cached_property
    def space(self) -> MechanismSpace:
        """Meaning of the inputs and outputs of the mechanisms."""
        return MechanismSpace(
            records=self.records,
            values=tuple(self._values[self._value_of_input].tolist()),
            possible=self.possible_inputs,
            law=tuple(self.exact_input_law()),
            outputs=self.output_count,
            numbers=self.output_numbers,
            costs=self.expected,
            distortion=self.distortion,
        )

    @cached_property
    def told(self) -> dict[int, Told]:
        """The secrets of which only so much may be revealed under all laws, by the numbers of their constraints."""
        limits = self.numbered(SecretLeakageLimit)
        inputs = self.query_of_inputs.index_of_dataset(self.records) if limits else np.zeros(0, dtype=np.int64)
        return {j: Told(*limit.secret.values(self.records), inputs) for j, limit in limits.items()}

    @cached_property
    def possible_inputs(self) -> tuple[int, ...]:
        """The inputs that some dataset has."""
        return tuple(attained_values(self.query_of_inputs, self.records).tolist())

    # ------------------------------------------------------------ what it distorts

    @cached_property
    def distortions(self) -> ExpectedDistortion:
        """E(Q) as a function of the rows that describe a mechanism."""
        return self.expected(self.distortion)

    def expected(self, distortion: Distortion) -> ExpectedDistortion:
        """The same with another distortion on the query's values; `InputError` if it does not fit them."""
        distortion.check(self._values)
        whole, denominator = distortion.whole(self._values)
        tied = self.tied if whole.shape[1] == self.output_count else TiedEntries.free(self.input_count, whole.shape[1])
        return ExpectedDistortion(whole[self._value_of_input], denominator, self._weights, tied)

    @cached_property
    def _weights(self) -> tuple[int, ...]:
        """Proportional to p(x)."""
        return tuple(value_weights(self.query_of_inputs, self.records, self.law))

    @property
    def cost(self) -> Floats:
        """d(x,y) of every input and output, in doubles: (inputs, outputs), in units of the distortion."""
        return self.distortions.cost

    @property
    def input_law(self) -> Floats:
        """p(x), the probability of every input, in doubles: (inputs,), each entry correctly rounded."""
        return self.distortions.input_law

    def exact_cost(self) -> list[tuple[Fraction, ...]]:
        """d(x,y) exactly, a row for every input."""
        return self.distortions.exact_cost()

    def exact_input_law(self) -> list[Fraction]:
        """p(x) exactly, the probability of every input."""
        return self.distortions.exact_input_law()

    @property
    def least_distortion(self) -> Fraction:
        """The least E(Q) of the class, with no regard to leakage: sum_x p(x) min_y d(x,y), or that of the best shift."""
        return self.distortions.least

    @property
    def constant_distortion(self) -> Fraction:
        """The least E(Q) of a mechanism that releases nothing: always the best output; class additive: the uniform law q."""
        return self.distortions.of_constant

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
        return self.distortions.of(self._laws(rows))

    # ------------------------------------------------------------ what it leaks

    def release(self, rows: Rows, adversary: Adversary | None = None) -> WorstCaseLeakage:
        """The audit of one mechanism of the class: how much it leaks to the same adversary, or to another one.

        Raises
        ------
        InputError
            As in `expected_distortion`, or if an entry cannot be written with 400 characters.
        """
        return WorstCaseLeakage(
            records=self.records,
            query=self.query,
            mechanism=Channel(self.expand(rows), inputs=self.inputs),
            adversary=self.against("the audit of a mechanism") if adversary is None else adversary,
            title=self.title,
        )

    @cached_property
    def costs(self) -> Costs:
        """Of the mechanism's audits, for themselves and again as parts of the design, and of priors or multipliers."""
        audit, (inputs, outputs) = self.costs_against(self.adversary), self.cost.shape
        more, letters = audit.leaf + audit.witness + audit.whole, max(self.records.alphabets)
        if self.adversary is None:
            more = WEIGHT.times(2 * inputs * outputs)
        else:
            more += (WEIGHT.times(letters * (inputs + outputs)) + ENTRY.times(inputs * outputs)).times(PRIORS)
        terms = () if self.objective is None else self.objective.terms
        for further in [*(each.leaks_to for each in self.own_constraints), *(term.leaks_to for term in terms)]:
            if further is not None:
                more += self.costs_against(further).whole.times(2)
        return Costs(audit.certain, more)

    def costs_against(self, adversary: Adversary | None) -> Costs:
        """Costs of proving an audit of one of the mechanisms."""
        inputs, outputs = self.cost.shape
        read = reading(self.query, self.records, self.adversary, (inputs, outputs))
        return audit_costs(self.query_of_inputs, self.records, (inputs, outputs), adversary, read)

    def released_by(self, mechanism: DesignedMechanism) -> WorstCaseLeakage:
        """The audit of a release by this mechanism; `InputError` unless it is one of the class."""
        self.check_designed(mechanism)
        return self.release(mechanism.rows)

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

    # ------------------------------------------------------------ the budget

    @property
    @abstractmethod
    def budget(self) -> Fraction:
        """The bound on what is not minimised, as written."""

    def with_budget(self: D, amount: Fraction) -> D:
        """The problem with this budget, in the unit of its own."""
        changes: dict[str, Any] = {self.budget_key: self.written_budget(amount)}
        return replace(self, **changes)

    def written_budget(self, amount: Fraction) -> str:
        """Text of such a budget in a model file."""
        return fraction_text(amount)

    @property
    def budget_units(self) -> str:
        """Those of the budget as written: nats or bits, or that of distortions."""
        return Quantity.DISTORTION.units

    @property
    def privacy(self) -> Privacy | None:
        """The notion that limits the mechanism in an adversary's place, if one does."""
        return None

    @property
    @abstractmethod
    def feasible(self) -> bool:
        """True if some mechanism of the class meets the budget; decided exactly."""

    # ------------------------------------------------------------ model files

    @classmethod
    def _model_keys(cls, model: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        more = cls.more_tables(model)
        budget = (cls.budget_key,) if "adversary" in more else ()
        tables = ("records", "query", "distortion", *more)
        return (*budget, *tables), ("title", "source", "law", "mechanism", "constraints", "objective")

    @classmethod
    def more_tables(cls, model: Mapping[str, Any]) -> tuple[str, ...]:
        """The tables of such a model file besides those of every design."""
        return ("adversary",)

    @classmethod
    def _need(cls, model: Mapping[str, Any], key: str) -> None:
        if key != cls.budget_key:
            super()._need(model, key)
        elif key not in model:
            raise InputError(f"model: missing {key}, the budget of {cls.kind}; it stands above the tables")


def _law(row: Any, v: int, outputs: int) -> tuple[Fraction, ...]:
    """One row, divided by its exact sum."""
    law = as_law(row, f"mechanism: rows[{v}]")
    if len(law) != outputs:
        raise InputError(f"mechanism: rows[{v}] must have an entry for each of the {outputs} outputs, got {len(law)}")
    return divided(law, f"mechanism: rows[{v}]")
