"""Black boxes: what samples of a release say about its leakage, with a confidence. Statistical, never a proof."""

from dalenius.statistics.counts import SampledLeakage, audit_counts
from dalenius.statistics.samples import audit_samples

__all__ = ["SampledLeakage", "audit_counts", "audit_samples"]
