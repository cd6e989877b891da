"""What the two design problems share: which mechanisms there are, what they distort, and the law that this is averaged over."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from dalenius.errors import InputError
from dalenius.exact import Rows
from dalenius.information.arrays import Floats
from dalenius.model.distortions import DISTORTIONS
from dalenius.model.expected_distortion import ExpectedDistortion
from dalenius.model.input_law import check_size, value_weights
from dalenius.model.laws import LAWS, CsvLaw, Law, Uniform
from dalenius.model.maximal_leakage import MaximalLeakage
from dalenius.model.mechanism_choice import MechanismChoice
from dalenius.model.mechanism_classes import MECHANISM_CLASSES
from dalenius.model.mechanisms import Channel
from dalenius.model.shelf import check_keys, read_shelved

__all__ = ["DesignProblem"]

D = TypeVar("D", bound="DesignProblem")


@dataclass(frozen=True, kw_only=True)
class DesignProblem(MechanismChoice):
    """Which mechanism of a class leaks least, or distorts least? `MinLeakage` and `MinDistortion` say which, and within which budget.

    The expected distortion of a mechanism Q is E(Q) = sum_x p(x) sum_y Q(x,y) d(x,y), p the law of its inputs x.

    Parameters
    ----------
    records, query, distortion, mechanism, title, source
        As `MechanismChoice` says.
    law : Uniform or Iid
        The law of the true data, which distortion is averaged over; the adversary's priors have nothing to do with it.
    adversary : EntropyAtLeast, ProductPriors or PriorSet

    Raises
    ------
    InputError
        If the parts do not fit together: a distortion of the wrong size, a law of other letters, a class that the query does not have,
        numbers beyond the limits of docs/model-format.md.
    """

    parts: ClassVar[dict[str, type]] = {**MechanismChoice.parts, "law": Law}
    budget_key: ClassVar[str]
    law: Law = field(default_factory=Uniform)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.law.check(self.records)
        check_size(self.query, self.records, self.law)

    # ------------------------------------------------------------ what it distorts

    @cached_property
    def distortions(self) -> ExpectedDistortion:
        """E(Q) as a function of the rows that describe a mechanism."""
        whole, denominator = self.distortion.whole(self._values)
        weights = value_weights(self.query_of_inputs, self.records, self.law)
        return ExpectedDistortion(whole[self._value_of_input], denominator, tuple(weights), self.tied)

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
