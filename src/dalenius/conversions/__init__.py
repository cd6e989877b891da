"""From one notion of privacy to another: rules with their theorems, and the search for the best chain of them.

`convert` is the door; `RULES` the shelf, a theorem a file in `rules/`; `NOTIONS` what there is to convert between.
"""

from dalenius.conversions.answer import Conversion, Step
from dalenius.conversions.closed_forms import (
    PrivacyProfile,
    PrivateUtility,
    ThresholdDisclosure,
    conditional_leakage_with_floor,
    copies_threshold,
    correlated_record_leakage,
    dataset_leakage_with_floor,
    excluding_channel,
    excluding_threshold,
    laplace_count_leakage,
    laplace_count_scale,
    laplace_count_tails,
    laplace_dataset_leakage,
    largest_power,
    mixture_min_entropy,
    mixture_threshold,
    record_leakage_with_floor,
)
from dalenius.conversions.door import convert
from dalenius.conversions.facts import Facts
from dalenius.conversions.notions import NOTIONS, Notion
from dalenius.conversions.rule import Given, Rule
from dalenius.conversions.rules import RULES

__all__ = [
    "NOTIONS",
    "RULES",
    "Conversion",
    "Facts",
    "Given",
    "Notion",
    "PrivacyProfile",
    "PrivateUtility",
    "Rule",
    "Step",
    "ThresholdDisclosure",
    "conditional_leakage_with_floor",
    "convert",
    "copies_threshold",
    "correlated_record_leakage",
    "dataset_leakage_with_floor",
    "excluding_channel",
    "excluding_threshold",
    "laplace_count_leakage",
    "laplace_count_scale",
    "laplace_count_tails",
    "laplace_dataset_leakage",
    "largest_power",
    "mixture_min_entropy",
    "mixture_threshold",
    "record_leakage_with_floor",
]
