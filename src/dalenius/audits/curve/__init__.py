"""One proof bounds the whole curve of leakage against the entropy bound: lines from above, witnesses at many bounds from below."""

from dalenius.audits.curve.lines import bound_at
from dalenius.audits.curve.whole import WholeCurve

__all__ = ["WholeCurve", "bound_at"]
