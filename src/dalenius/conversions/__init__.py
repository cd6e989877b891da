"""From one notion of privacy to another: rules with their theorems, and the search for the best chain of them.

`convert` is the door; `RULES` the shelf, a theorem each; `NOTIONS` what there is to convert between.
"""

from dalenius.conversions.closed_forms.pointwise import (
    conditional_leakage_with_floor,
    correlated_record_leakage,
    dataset_leakage_with_floor,
    laplace_count_leakage,
    laplace_count_scale,
    laplace_count_tails,
    laplace_dataset_leakage,
    record_leakage_with_floor,
)
from dalenius.conversions.closed_forms.profiles import PrivacyProfile, largest_power
from dalenius.conversions.closed_forms.thresholds import (
    ThresholdDisclosure,
    copies_threshold,
    excluding_channel,
    excluding_threshold,
    mixture_min_entropy,
    mixture_threshold,
)
from dalenius.conversions.closed_forms.utility import PrivateUtility
from dalenius.conversions.door import Conversion, Step, convert
from dalenius.conversions.rule import NOTIONS, Facts, Given, Notion, Rule
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
