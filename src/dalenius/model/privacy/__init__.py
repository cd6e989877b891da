"""The shelf of privacy notions that need no adversary: one small file each; `NOTIONS` maps the model file's `kind` to the class."""

from dalenius.model.privacy.base import Privacy, Reference
from dalenius.model.privacy.local_dp import LocalDP
from dalenius.model.privacy.pointwise_maximal_leakage import PointwiseMaximalLeakage

__all__ = ["NOTIONS", "LocalDP", "PointwiseMaximalLeakage", "Privacy", "Reference"]

NOTIONS: dict[str, type[Privacy]] = {notion.kind: notion for notion in (LocalDP, PointwiseMaximalLeakage)}
