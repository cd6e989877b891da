"""What converting answers: a number on the safe side, the rules that give it, and whether anything better is possible."""

from __future__ import annotations

from dataclasses import dataclass

from dalenius.conversions.notions import notion_of
from dalenius.intervals import text_above, text_below
from dalenius.notebook import grid

__all__ = ["Conversion", "Step"]


@dataclass(frozen=True)
class Step:
    """One rule of a chain.

    Attributes
    ----------
    rule, theorem, formula, conditions : str
    source, target : str
        Names, with the epsilon where the notion has one.
    value : float
        What follows, rounded to the safe side, in `units`.
    units : str
    attained : str
        The mechanism with which no smaller number would be true; empty if none is known.
    """

    rule: str
    theorem: str
    formula: str
    conditions: str
    source: str
    target: str
    value: float
    units: str
    attained: str

    def __str__(self) -> str:
        return f"{self.target} {_amount(self.target, self.value, self.units)}  [{self.rule}: {self.formula}]"


@dataclass(frozen=True)
class Conversion:
    """What follows from a guarantee.

    Attributes
    ----------
    source : str
        The guarantee, as it was given: ``"local_dp <= 1"``.
    target : str
        The notion that was asked for.
    value : float or None
        The number: an upper bound, or a lower one for notions of which more is more privacy; rounded to the safe side. None if nothing
        follows.
    units : str
        ``"nats"``, ``"bits"``, ``"probability"`` or ``"number"``.
    steps : tuple of Step
        The chain of rules; empty if `value` holds of every mechanism, or is None.
    better : str
        Whether anything better is possible, or why there is no rule.
    """

    source: str
    target: str
    value: float | None
    units: str
    steps: tuple[Step, ...]
    better: str

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions of all rules, without repetition."""
        return tuple(dict.fromkeys(step.conditions for step in self.steps if step.conditions))

    @property
    def amount(self) -> str:
        """The number with its direction and units, with six digits, rounded to the safe side."""
        return "nothing" if self.value is None else _amount(self.target, self.value, self.units)

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = [(step.rule, step.target, f"{step.value:.6g} {step.units}", step.theorem) for step in self.steps]
        return grid(f"{self.source}: {self.target} {self.amount}", ("rule", "gives", "number", "theorem"), rows)

    def __str__(self) -> str:
        lines = [f"{self.source}  =>  {self.target} {self.amount}"]
        for step in self.steps:
            lines += [f"  {step}", f"    {step.theorem}"]
            lines += [f"    if {step.conditions}"] * bool(step.conditions)
        return "\n".join([*lines, f"  {self.better}"])


def _amount(target: str, value: float, units: str) -> str:
    notion = notion_of(target.partition("(")[0])
    text = text_below(value) if notion.at_least else text_above(value)
    return f"{notion.sign} {text}" + (f" {units}" if units in ("nats", "bits") else "")
