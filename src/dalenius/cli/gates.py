"""Gates that an answer must pass for the command to end well: --require-gap and --at-most."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import typer

from dalenius.cli.answers import Ends
from dalenius.cli.shared import err
from dalenius.cli.statuses import ExitStatus
from dalenius.errors import InputError
from dalenius.evidence import exact_fraction_above
from dalenius.exact import as_quantity, fraction_text, need_unit
from dalenius.intervals import gap_text, text_above, text_below
from dalenius.outcome import Status
from dalenius.results import DesignResult, Result, SecretResult, budget_text, is_all, most_of
from dalenius.units import UNITS, amount_text, is_at_least_log, is_at_most, lower_in, upper_in


@dataclass(frozen=True)
class Budget:
    """The budget of --at-most: an exact number and its unit, without which it is an epsilon, or no logarithm at all."""

    amount: Fraction
    units: str | None

    @classmethod
    def of(cls, text: str | None, *, of_information: bool = True) -> Budget | None:
        """The budget of the option, in which an information must have its unit; None without one.

        >>> Budget.of("0.3 bits")
        Budget(amount=Fraction(3, 10), units='bits')
        """
        if text is None:
            return None
        amount, units = as_quantity(text, "--at-most", known=["", *UNITS], units="")
        budget = cls(amount, units or None)
        return budget.with_unit() if of_information else budget

    def with_unit(self) -> Budget:
        """The same; `InputError` if nobody said its unit.

        >>> Budget.of("0.3")
        Traceback (most recent call last):
            ...
        dalenius.errors.InputError: --at-most: '0.3' of what? expected '0.3 bits' or '0.3 nats'
        """
        if self.units is None:
            need_unit(fraction_text(self.amount), "--at-most")
        return self

    def allows(self, amount: float | Fraction, units: str) -> bool:
        """True if an amount is within it, exactly.

        >>> Budget.of("1 bits").allows(0.6931, "nats"), Budget.of("0.1 nats").allows(Fraction(1, 10), "nats")
        (True, True)
        """
        if units in UNITS:
            return is_at_most(amount, units, self.amount, self.units or "nats")
        if self.units is not None:
            raise InputError(f"--at-most: expected a number, not {self.units}; this is a {units}")
        return amount <= self.amount

    def allows_all(self, values: int | None) -> bool:
        """True if it is all there is to know about one of so many values, or more: exactly, however ends were rounded.

        >>> Budget.of("1 bits").allows_all(2), Budget.of("1 bits").allows_all(3), Budget.of("1 bits").allows_all(None)
        (True, False, False)
        """
        return values is not None and is_at_least_log(self.amount, self.units or "nats", values)

    def met(self, proved: Iterable[Ends]) -> bool:
        """True if every upper end is within it; without a proof it is not met.

        >>> Budget.of("1 bits").met([Ends("audit", None, 0.6931, "nats")]), Budget.of("1 bits").met([Ends("audit", 0.0, None, "nats")])
        (True, False)
        """
        return all(
            ends.upper is not None and (self.allows(ends.upper, ends.units) or self.allows_all(ends.values))
            for ends in proved
        )

    def said_of(self, units: str) -> str:
        """As it is shown back beside a number in these units.

        >>> budgets = Budget.of("0.3 nats"), Budget.of("0.05", of_information=False)
        >>> budgets[0].said_of("bits"), budgets[1].said_of("probability")
        ('0.3 nats = 0.4329 bits', '0.05')
        """
        return budget_text(self.amount, self.units or "nats", None) if units in UNITS else fraction_text(self.amount)


def at_most_met(budget: Budget | None, proved: Iterable[Ends]) -> dict[str, bool | None]:
    """The key of an answer in JSON that says so; null without --at-most."""
    return {"at_most_met": None if budget is None else budget.met(proved)}


def require(gap: float, asked: float | None) -> None:
    """Leave with status 5 if the gap is larger than what was asked for with --require-gap."""
    if asked is not None and gap > asked:
        err.print(f"dalenius: the relative gap is {gap_text(gap)}, and --require-gap asks for {asked:g}")
        raise typer.Exit(ExitStatus.NOT_REACHED)


def require_at_most(budget: Budget | None, proved: Iterable[Ends], known: str = "is proved") -> None:
    """Leave with status 6 if an upper end is above the budget, or nothing is known; say so if a lower end is above it, too."""
    if budget is None:
        return
    above = [ends for ends in proved if not budget.met([ends])]
    for ends in above:
        err.print(
            f"dalenius: {ends.of}: {_exceeding(budget, ends, known)}, and --at-most allows {budget.said_of(ends.units)}"
        )
    if above:
        raise typer.Exit(ExitStatus.EXCEEDED)


def gate_of(budget: Budget | None, ends: Ends) -> str:
    """The same in a sentence for a page; empty without a budget.

    >>> gate_of(Budget.of("0.1 bits"), Ends("audit", 0.0, 0.25, "nats"))
    'NOT MET: at most 0.360674 bits is proved, and at most 0.1 bits was asked for.'
    >>> all_there_is = Ends("audit", 0.0, 0.6931471805600468, "nats", 2)
    >>> gate_of(Budget.of("0.9 bits"), all_there_is), gate_of(Budget.of("1 bits"), all_there_is)
    ('NOT MET: at most 1 bit is proved, and at most 0.9 bits was asked for.', 'Met: at most 1 bit was asked for.')
    """
    if budget is None:
        return ""
    asked = f"at most {budget.said_of(ends.units)} was asked for."
    return f"Met: {asked}" if budget.met([ends]) else f"NOT MET: {_exceeding(budget, ends)}, and {asked}"


def _exceeding(budget: Budget, ends: Ends, known: str = "is proved") -> str:
    """Words for what is known where the budget is not met."""
    if ends.lower is not None and not budget.allows(ends.lower, ends.units):
        return f"certainly more, at least {_amount(budget, ends.lower, ends, above=False)} {known}"
    return "nothing is proved" if ends.upper is None else f"at most {_amount(budget, ends.upper, ends)} {known}"


def _amount(budget: Budget, end: float | Fraction, ends: Ends, *, above: bool = True) -> str:
    """An end in its own units, nats also in bits, or in the budget's bits alone, rounded to its side; no more bits than there are."""
    text, into = (text_above, upper_in) if above else (text_below, lower_in)
    told = amount_text(text(end), ends.units)
    if ends.units != "nats" or math.isinf(end):
        return told
    double = exact_fraction_above(Fraction(end)) if above else -exact_fraction_above(-Fraction(end))
    bits = into(double, "bits")
    if above and ends.values is not None and is_all(end, ends.units, ends.values):
        bits = most_of(ends.values, "bits")
    in_bits = amount_text(text(bits), "bits")
    return in_bits if budget.units == "bits" else f"{told} = {in_bits}"


def leakage_ends(of: str, result: Result | SecretResult | DesignResult) -> list[Ends]:
    """The interval that --at-most compares: an audit's, or a design's mechanism's; nothing if no mechanism meets the budget."""
    if not isinstance(result, DesignResult):
        return [Ends(of, *result.exact_ends, result.units, result.values)]
    if result.status is Status.INFEASIBLE:
        return []
    lower, upper = result.leakage or (None, None)
    if result.audit is None:
        return [Ends(of, lower, upper, "nats")]
    return [Ends(of, lower, upper, result.audit.units, result.audit.values)]
