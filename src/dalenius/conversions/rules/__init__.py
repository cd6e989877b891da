"""The shelf: a file for each kind of guarantee, a rule for each theorem."""

from dalenius.conversions.rule import Rule
from dalenius.conversions.rules import curves, differential_privacy, distances, inference, lifts, orders, releases

RULES: tuple[Rule, ...] = (
    *differential_privacy.RULES,
    *curves.RULES,
    *lifts.RULES,
    *distances.RULES,
    *orders.RULES,
    *inference.RULES,
    *releases.RULES,
)
