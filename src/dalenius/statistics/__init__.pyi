from dalenius.statistics.counts import SampledLeakage as SampledLeakage
from dalenius.statistics.counts import audit_counts as audit_counts
from dalenius.statistics.samples import audit_samples as audit_samples
