"""What an answer must reach for the command to end well: --require-gap and --at-most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import typer

import dalenius as dl
from dalenius.cli.shared import err
from dalenius.cli.statuses import ExitStatus
from dalenius.evidence import double_above
from dalenius.exact import as_quantity, fraction_text
from dalenius.intervals import gap_text, text_above
from dalenius.units import UNITS, nats_above, upper_in

__all__ = ["AtMostOption", "Budget", "End", "RequireGapOption", "leakage_ends", "require", "require_at_most"]

RequireGapOption = Annotated[
    float | None, typer.Option("--require-gap", help="Exit with status 5 if the relative gap is larger than this.")
]
AtMostOption = Annotated[
    str | None,
    typer.Option(
        "--at-most", metavar="BUDGET", help="Exit with status 6 if the upper end is larger: nats, or '0.3 bits'."
    ),
]

End = tuple[
    str, float | Fraction | None, str
]  # an upper end: of what, how large (None: nothing is proved), in which units


@dataclass(frozen=True)
class Budget:
    """What --at-most allows: an exact number, of a leakage in nats where no unit is said."""

    amount: Fraction
    units: str | None

    @classmethod
    def of(cls, text: str | None) -> Budget | None:
        """The budget of the option; None without one.

        >>> Budget.of("0.3 bits")
        Budget(amount=Fraction(3, 10), units='bits')
        """
        if text is None:
            return None
        amount, units = as_quantity(text, "--at-most", known=["", *UNITS], units="")
        return cls(amount, units or None)

    def allows(self, upper: float | Fraction, units: str) -> bool:
        """Whether an upper end is within it: exactly in its own units, and rounded upward into these from others.

        >>> Budget.of("1 bits").allows(0.6931, "nats"), Budget.of("0.1").allows(Fraction(1, 10), "nats")
        (True, True)
        """
        if units not in UNITS:
            if self.units is not None:
                raise dl.InputError(f"--at-most: expected a number, not {self.units}; this is a {units}")
            return upper <= self.amount
        upper = double_above(upper) if isinstance(upper, Fraction) and self.units == "bits" else upper
        if units == "nats":
            return (upper_in(float(upper), "bits") if self.units == "bits" else upper) <= self.amount
        return (upper if self.units == "bits" else nats_above(float(upper), "bits")) <= self.amount

    def said_of(self, units: str) -> str:
        """As it is shown back beside a number in these units.

        >>> Budget.of("0.3").said_of("bits"), Budget.of("0.05").said_of("probability")
        ('0.3 nats', '0.05')
        """
        return fraction_text(self.amount) + (f" {self.units or 'nats'}" if units in UNITS else "")


def require(gap: float, asked: float | None) -> None:
    """Leave with status 5 if the gap is larger than what was asked for with --require-gap."""
    if asked is not None and gap > asked:
        err.print(f"dalenius: the relative gap is {gap_text(gap)}, and --require-gap asks for {asked:g}", markup=False)
        raise typer.Exit(ExitStatus.NOT_REACHED)


def require_at_most(budget: Budget | None, ends: Iterable[End]) -> None:
    """Leave with status 6 if an upper end is above the budget, or nothing is proved."""
    if budget is None:
        return
    above = False
    for what, upper, units in ends:
        if upper is not None and budget.allows(upper, units):
            continue
        above, proved = True, "nothing is proved" if upper is None else f"at most {text_above(upper)} {units} is proved"
        err.print(f"dalenius: {what}: {proved}, and --at-most allows {budget.said_of(units)}", markup=False)
    if above:
        raise typer.Exit(ExitStatus.EXCEEDED)


def leakage_ends(what: str, result: dl.Result | dl.SecretResult | dl.DesignResult) -> list[End]:
    """What --at-most is about: of an audit its upper end, of a design that of its mechanism's audit; nothing without a mechanism."""
    if not isinstance(result, dl.DesignResult):
        return [(what, result.exact_ends[1], result.units)]
    return [] if result.audit is None or result.leakage is None else [(what, result.leakage[1], result.audit.units)]
