"""The shelf: every file is a theorem, and offers its rules as `RULES`."""

from __future__ import annotations

from dalenius.conversions.rule import Rule
from dalenius.conversions.rules.attacks import RULES as ATTACKS
from dalenius.conversions.rules.capacity_to_delta import RULES as CAPACITY_TO_DELTA
from dalenius.conversions.rules.correlation import RULES as CORRELATION
from dalenius.conversions.rules.datasets_to_records import RULES as DATASETS_TO_RECORDS
from dalenius.conversions.rules.delta_to_capacity import RULES as DELTA_TO_CAPACITY
from dalenius.conversions.rules.delta_to_maximal_leakage import RULES as DELTA_TO_MAXIMAL_LEAKAGE
from dalenius.conversions.rules.disclosure import RULES as DISCLOSURE
from dalenius.conversions.rules.distances import RULES as DISTANCES
from dalenius.conversions.rules.distances_to_lifts import RULES as DISTANCES_TO_LIFTS
from dalenius.conversions.rules.information_to_inputs import RULES as INFORMATION_TO_INPUTS
from dalenius.conversions.rules.lifts_to_distances import RULES as LIFTS_TO_DISTANCES
from dalenius.conversions.rules.lifts_to_local_dp import RULES as LIFTS_TO_LOCAL_DP
from dalenius.conversions.rules.likely_lifts_to_distances import RULES as LIKELY_LIFTS_TO_DISTANCES
from dalenius.conversions.rules.likely_lifts_to_inference import RULES as LIKELY_LIFTS_TO_INFERENCE
from dalenius.conversions.rules.local_dp_to_capacity import RULES as LOCAL_DP_TO_CAPACITY
from dalenius.conversions.rules.local_dp_to_delta import RULES as LOCAL_DP_TO_DELTA
from dalenius.conversions.rules.local_dp_to_divergence import RULES as LOCAL_DP_TO_DIVERGENCE
from dalenius.conversions.rules.local_dp_to_lifts import RULES as LOCAL_DP_TO_LIFTS
from dalenius.conversions.rules.local_dp_to_maximal_leakage import RULES as LOCAL_DP_TO_MAXIMAL_LEAKAGE
from dalenius.conversions.rules.orders import RULES as ORDERS
from dalenius.conversions.rules.pml_to_distances import RULES as PML_TO_DISTANCES
from dalenius.conversions.rules.pml_to_lifts import RULES as PML_TO_LIFTS
from dalenius.conversions.rules.releases import RULES as RELEASES
from dalenius.conversions.rules.strong_distances import RULES as STRONG_DISTANCES

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = (
    *DATASETS_TO_RECORDS,
    *LOCAL_DP_TO_LIFTS,
    *LOCAL_DP_TO_DIVERGENCE,
    *LOCAL_DP_TO_CAPACITY,
    *LOCAL_DP_TO_MAXIMAL_LEAKAGE,
    *LOCAL_DP_TO_DELTA,
    *CAPACITY_TO_DELTA,
    *DELTA_TO_CAPACITY,
    *DELTA_TO_MAXIMAL_LEAKAGE,
    *PML_TO_LIFTS,
    *PML_TO_DISTANCES,
    *LIFTS_TO_LOCAL_DP,
    *LIFTS_TO_DISTANCES,
    *LIKELY_LIFTS_TO_DISTANCES,
    *DISTANCES,
    *DISTANCES_TO_LIFTS,
    *STRONG_DISTANCES,
    *INFORMATION_TO_INPUTS,
    *CORRELATION,
    *ORDERS,
    *ATTACKS,
    *LIKELY_LIFTS_TO_INFERENCE,
    *DISCLOSURE,
    *RELEASES,
)
