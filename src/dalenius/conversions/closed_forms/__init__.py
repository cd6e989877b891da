"""Theorems with several numbers in them: priors with a floor, noise on a count, thresholds, privacy profiles, tests, utility."""

from dalenius.conversions.closed_forms.attributes import mixture_min_entropy, mixture_threshold
from dalenius.conversions.closed_forms.excluded_values import copies_threshold, excluding_channel, excluding_threshold
from dalenius.conversions.closed_forms.floored_priors import (
    conditional_leakage_with_floor,
    correlated_record_leakage,
    dataset_leakage_with_floor,
    record_leakage_with_floor,
)
from dalenius.conversions.closed_forms.laplace_counts import (
    laplace_count_leakage,
    laplace_count_scale,
    laplace_count_tails,
    laplace_dataset_leakage,
)
from dalenius.conversions.closed_forms.privacy_profile import PrivacyProfile
from dalenius.conversions.closed_forms.thresholds import ThresholdDisclosure
from dalenius.conversions.closed_forms.trade_off import largest_power
from dalenius.conversions.closed_forms.utility import PrivateUtility

__all__ = [
    "PrivacyProfile",
    "PrivateUtility",
    "ThresholdDisclosure",
    "conditional_leakage_with_floor",
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
