"""Designs: least leakage within a budget of distortion, least distortion within one of leakage or privacy, most utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol

from dalenius.errors import InputError, brief
from dalenius.exact import Number, Rows, as_fraction, as_list, as_quantity, fraction_text
from dalenius.model.adversaries import Adversary
from dalenius.model.distortions import Distortion, DistortionMatrix
from dalenius.model.fields import Exact, Given, amount_text, amount_with_unit, declared, keep, normal_amount, number
from dalenius.model.in_words import stated
from dalenius.model.privacy import Privacy, Reference
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.units import UNITS, Quantity, in_nats


@declared(kw_only=True)
class MinLeakage(DesignProblem):
    """min over the mechanisms Q of a class with E(Q) <= max_distortion of L(Q), the worst-case leakage of one record, in nats.

    Parameters
    ----------
    records, query, distortion, law, adversary, mechanism, constraints, objective, title, source
        As `DesignProblem` says.
    max_distortion : number
        The budget, in units of the distortion; exact: 0.1 is 1/10. One that no mechanism meets makes the problem infeasible.

    Raises
    ------
    InputError
        If the parts do not fit together, or the budget is no number.

    >>> import dalenius as dl
    >>> problem = dl.MinLeakage(
    ...     records=dl.Records(4, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0.1,
    ...     law=dl.Iid([0.3, 0.7]), adversary=dl.EntropyAtLeast("2.2 nats"))
    >>> problem.exact_input_law(), problem.feasible, problem.constant_distortion
    ([Fraction(641, 1250), Fraction(609, 1250)], True, Fraction(609, 1250))
    >>> rows = [[0.9, 0.1], [0.1, 0.9]]
    >>> problem.expected_distortion(rows), problem.release(rows).channel.tolist()
    (Fraction(1, 10), [[0.9, 0.1], [0.1, 0.9]])
    """

    kind: ClassVar[str] = "min_leakage"
    budget_key: ClassVar[str] = "max_distortion"
    adversary: Given[Adversary, Adversary] = Given(stated(Adversary), tables=Adversary.of_kind)
    max_distortion: Exact = Given(number())

    @property
    def budget(self) -> Fraction:
        """The largest expected distortion allowed."""
        return self.max_distortion

    @property
    def distortion_budget(self) -> Fraction:
        return self.budget

    @property
    def feasible(self) -> bool:
        """True if some mechanism of the class distorts no more than the budget; decided exactly."""
        return self.least_distortion <= self.budget


@declared(kw_only=True)
class MinDistortion(DesignProblem):
    """min over the mechanisms Q of a class of E(Q), the expected distortion: over those with L(Q) <= max_leakage, or the private ones.

    Give `adversary` and `max_leakage`, or `privacy`, or `constraints` alone: then over those that meet them.

    Parameters
    ----------
    records, query, distortion, law, adversary, mechanism, constraints, objective, title, source
        As `DesignProblem` says.
    max_leakage : number or str
        The budget: a text of a number and a unit, ``"0.05 nats"``, ``"0.05 bits"``; exact, and kept as such a text; 0 needs
        no unit. A negative one makes the problem infeasible.
    privacy : LocalDP or PointwiseMaximalLeakage
        A bound on what outputs reveal about the mechanism's whole input (the query's value; the dataset, for the class "full"), to
        whomever. The design is a linear program then.

    Raises
    ------
    InputError
        If the parts do not fit together, or the budget cannot be read.

    >>> import dalenius as dl
    >>> problem = dl.MinDistortion(
    ...     records=dl.Records(4, alphabet=2), query=dl.Count(), distortion=dl.Absolute(), max_leakage="0.05 bits",
    ...     adversary=dl.EntropyAtLeast("0.8 max"))
    >>> problem.budget, round(problem.max_leakage_nats, 6), problem.constant_distortion
    (Fraction(1, 20), 0.034657, Fraction(3, 4))
    >>> private = dl.MinDistortion(
    ...     records=dl.Records(1, alphabet=2), query=dl.Identity(), distortion=dl.Hamming(), privacy=dl.LocalDP("log 3"))
    >>> private.exp_epsilon([[0.75, 0.25], [0.25, 0.75]]), private.exp_epsilon([[1, 0], [0.5, 0.5]])
    (Fraction(3, 1), None)
    """

    kind: ClassVar[str] = "min_distortion"
    budget_key: ClassVar[str] = "max_leakage"
    _own_quantity: ClassVar[Quantity] = Quantity.DISTORTION
    adversary: Given[Adversary | None, Adversary | None] = Given(
        stated(Adversary), default=None, tables=Adversary.of_kind
    )
    max_leakage: Given[Number | None, str | None] = Given(
        amount_with_unit, default=None, tables=amount_text, normal=normal_amount
    )
    privacy: Given[Privacy | None, Privacy | None] = Given(stated(Privacy), default=None, tables=Privacy.of_kind)

    def __post_init__(self) -> None:
        given = [name for name in ("adversary", "max_leakage", "privacy") if getattr(self, name) is not None]
        if given not in (["adversary", "max_leakage"], ["privacy"]) and (given or not self.constraints):
            raise InputError(
                "min_distortion: expected an adversary and max_leakage, or privacy, or constraints alone; got "
                + (" and ".join(given) if given else "none of them")
            )
        super().__post_init__()
        if self.privacy is not None:
            self.privacy.check(self.possible_inputs, self.input_count)

    # ------------------------------------------------------------ a budget of leakage

    @property
    def budget(self) -> Fraction:
        """The largest leakage allowed, as written: a number of `budget_units`; `InputError` where there is `privacy` instead."""
        return self._amount[0]

    @property
    def budget_units(self) -> str:
        return self._amount[1]

    def written_budget(self, amount: Fraction) -> str:
        return f"{fraction_text(amount)} {self.budget_units}"

    @property
    def leakage_budget(self) -> float | None:
        return None if self.max_leakage is None else self.max_leakage_nats

    @property
    def leakage_allowed(self) -> tuple[Fraction, str] | None:
        return None if self.max_leakage is None else self._amount

    @property
    def max_leakage_nats(self) -> float:
        """The budget in nats, as a double."""
        return in_nats(*self._amount)

    @property
    def feasible(self) -> bool:
        """True if some mechanism of the class meets budget or privacy: a constant one leaks 0, and is private for epsilon >= 0."""
        if self.privacy is not None:
            return self.privacy.feasible
        return self.adversary is None or self.budget >= 0

    @property
    def _amount(self) -> tuple[Fraction, str]:
        if self.max_leakage is None:
            self.against("a budget of leakage")
        return as_quantity(self.max_leakage, "max_leakage", known=UNITS)

    # ------------------------------------------------------------ privacy

    @cached_property
    def references(self) -> list[Reference]:
        """Entries that the privacy notion compares with; `InputError` without one."""
        return self._notion.references(self.possible_inputs, self.exact_input_law())

    def exp_epsilon(self, rows: Rows) -> Fraction | None:
        """The least e^epsilon for which a mechanism of the class is private, exactly; None if none is large enough.

        Raises
        ------
        InputError
            As in `expected_distortion`, or if the problem has an adversary instead of `privacy`.
        """
        return self._notion.exp_epsilon(self.expand(rows), self.references)

    @property
    def _notion(self) -> Privacy:
        if self.privacy is None:
            raise InputError("privacy: this design has an adversary and a budget of leakage; expected one with privacy")
        return self.privacy

    # ------------------------------------------------------------ model files

    @classmethod
    def more_tables(cls, model: Mapping[str, Any]) -> tuple[str, ...]:
        if "privacy" in model:
            given = [key for key in ("adversary", "max_leakage") if key in model]
            if given:
                raise InputError(
                    f"model: expected either [adversary] and max_leakage, or [privacy]; got {brief(given)} too"
                )
            return ("privacy",)
        if not {"adversary", cls.budget_key} & model.keys() and not model.get("constraints"):
            raise InputError(
                f"model: {cls.kind}: expected [adversary] and {cls.budget_key}, or [privacy], or [[constraints]] alone; got none of "
                "them"
            )
        return ("adversary",) if "adversary" in model or cls.budget_key in model or not model.get("constraints") else ()


class HasEnds(Protocol):
    """An answer with two ends."""

    @property
    def lower(self) -> float: ...

    @property
    def upper(self) -> float: ...


def _as_utility(value: Sequence[Sequence[Number]], what: str) -> tuple[tuple[Fraction, ...], ...]:
    rows = tuple(
        tuple(as_fraction(u, f"{what}[{v}][{y}]") for y, u in enumerate(as_list(row, f"{what}[{v}]")))
        for v, row in enumerate(as_list(value, what))
    )
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
        raise InputError(
            f"{what}: expected a row for each of the query's values, with a number for each output, all as long"
        )
    return rows


@declared(kw_only=True)
class MaxUtility(MinDistortion):
    """max over the mechanisms Q of a class of sum_x p(x) sum_y Q(x,y) U(x,y), under a budget of leakage, privacy, or constraints.

    It *is* the `MinDistortion` with d = top - U, top the largest entry of U, so that everything works with it that works with that:
    its model file, certificates and answers speak of the distortion, and `utilities` translates an answer back.

    Parameters
    ----------
    utility : matrix of numbers
        U, a row for each of the query's values and a column for each output, of any sign; exact.
    records, query, law, adversary, max_leakage, privacy, mechanism, constraints, objective, title, source
        As of `MinDistortion`.

    Raises
    ------
    InputError
        If the utility is no matrix of numbers, or as `MinDistortion`.

    Two letters, and a gain for each that is told:

    >>> import dalenius as dl
    >>> problem = dl.MaxUtility(records=dl.Records(1, alphabet=2), query=dl.Identity(), utility=[[1, 0], [0, 3]],
    ...     privacy=dl.LocalDP("log 3"))
    >>> answer = dl.solve(problem)
    >>> low, high = problem.utilities(answer)
    >>> low == problem.utility_of(answer.mechanism.rows) == Fraction(3, 2), high >= low
    (True, True)
    """

    utility: Given[Sequence[Sequence[Number]], tuple[tuple[Fraction, ...], ...]] = Given(_as_utility)
    distortion: Distortion = field(init=False)

    def __post_init__(self) -> None:
        keep(self, distortion=DistortionMatrix([[self.top - u for u in row] for row in self.utility]))
        try:
            super().__post_init__()
        except InputError as error:  # what is said of the rows of the distortion is true of those that were given
            text = str(error)
            raise InputError(text.replace("distortion: rows", "utility: rows", 1)) from None

    @property
    def top(self) -> Fraction:
        """The largest entry of the utility."""
        return max(u for row in self.utility for u in row)

    def utility_of(self, rows: Sequence[Sequence[Number]]) -> Fraction:
        """The expected utility of a mechanism, exactly; errors as of `expected_distortion`."""
        return self.top - self.expected_distortion(rows)

    def utilities(self, answer: HasEnds) -> tuple[Fraction, Fraction]:
        """The interval of the largest expected utility, from the answer about the least distortion: exact, of the ends as they are.

        The lower end is attained by the answer's mechanism.
        """
        return self.top - Fraction(answer.upper), self.top - Fraction(answer.lower)
