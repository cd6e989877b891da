"""The shelf of constraints on a design's mechanisms: one small file each; `CONSTRAINTS` maps the model file's `kind` to the class."""

from dalenius.model.constraints.band import Band
from dalenius.model.constraints.base import Constraint, MechanismSpace, RowConstraint, Rows
from dalenius.model.constraints.chi_square import ChiSquare
from dalenius.model.constraints.cone import Affine, SecondOrderCone
from dalenius.model.constraints.distortion import DistortionBudget
from dalenius.model.constraints.error import ErrorCap
from dalenius.model.constraints.information_privacy import InformationPrivacy
from dalenius.model.constraints.kl import KL
from dalenius.model.constraints.leakage import LeakageLimit
from dalenius.model.constraints.linear import Linear
from dalenius.model.constraints.local_dp import LocalDPBetween
from dalenius.model.constraints.local_dp_delta import LocalDPDelta
from dalenius.model.constraints.local_information_privacy import LocalInformationPrivacy
from dalenius.model.constraints.local_information_privacy_delta import LocalInformationPrivacyDelta
from dalenius.model.constraints.maximal_correlation import MaximalCorrelation
from dalenius.model.constraints.monotone import Monotone
from dalenius.model.constraints.mutual_information import MutualInformation
from dalenius.model.constraints.pointwise_maximal_leakage import PointwiseLeakageLimit
from dalenius.model.constraints.secret import JointLaw
from dalenius.model.constraints.secret_leakage import SecretLeakageLimit
from dalenius.model.constraints.secret_limits import SecretLimit
from dalenius.model.constraints.total_variation import TotalVariation
from dalenius.model.constraints.unbiased import Unbiased
from dalenius.model.constraints.zero import ZeroEntries

__all__ = [
    "CONSTRAINTS",
    "KL",
    "Affine",
    "Band",
    "ChiSquare",
    "Constraint",
    "DistortionBudget",
    "ErrorCap",
    "InformationPrivacy",
    "JointLaw",
    "LeakageLimit",
    "Linear",
    "LocalDPBetween",
    "LocalDPDelta",
    "LocalInformationPrivacy",
    "LocalInformationPrivacyDelta",
    "MaximalCorrelation",
    "MechanismSpace",
    "Monotone",
    "MutualInformation",
    "PointwiseLeakageLimit",
    "RowConstraint",
    "Rows",
    "SecondOrderCone",
    "SecretLeakageLimit",
    "SecretLimit",
    "TotalVariation",
    "Unbiased",
    "ZeroEntries",
]

CONSTRAINTS: dict[str, type[Constraint]] = {
    constraint.kind: constraint
    for constraint in (
        Linear,
        ZeroEntries,
        Band,
        Unbiased,
        ErrorCap,
        DistortionBudget,
        Monotone,
        LocalDPBetween,
        PointwiseLeakageLimit,
        SecondOrderCone,
        LeakageLimit,
        SecretLeakageLimit,
        LocalInformationPrivacy,
        InformationPrivacy,
        MutualInformation,
        KL,
        TotalVariation,
        ChiSquare,
        MaximalCorrelation,
        LocalDPDelta,
        LocalInformationPrivacyDelta,
    )
}
