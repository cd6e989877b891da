"""The shelf of constraints on a design's mechanisms; `CONSTRAINTS` maps the model file's `kind` to the class."""

from dalenius.model.constraints.base import (
    Affine,
    Constraint,
    Linear,
    MechanismSpace,
    RowConstraint,
    Rows,
    SecondOrderCone,
)
from dalenius.model.constraints.budgets import DistortionBudget, LeakageLimit, SecretLeakageLimit
from dalenius.model.constraints.outputs import Band, ErrorCap, Monotone, Unbiased, ZeroEntries
from dalenius.model.constraints.privacy import (
    InformationPrivacy,
    LocalDPBetween,
    LocalInformationPrivacy,
    PointwiseLeakageLimit,
)
from dalenius.model.constraints.secret import JointLaw
from dalenius.model.constraints.secret_limits import (
    KL,
    ChiSquare,
    LocalDPDelta,
    LocalInformationPrivacyDelta,
    MaximalCorrelation,
    MutualInformation,
    SecretLimit,
    TotalVariation,
)

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

CONSTRAINTS = Constraint.shelf
CONSTRAINTS.update(
    (constraint.kind, constraint)
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
)
