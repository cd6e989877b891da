"""Black boxes: what samples of a release say about its leakage, with a confidence. Statistical, never a proof."""

from dalenius.statistics.bounds import SampledLeakage
from dalenius.statistics.counts import audit_counts
from dalenius.statistics.samples import audit_samples

__all__ = ["SampledLeakage", "audit_counts", "audit_samples"]
