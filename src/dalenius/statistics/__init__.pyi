from dalenius.statistics.counts import SampledLeakage as SampledLeakage
from dalenius.statistics.samples import audit_samples as audit_samples
