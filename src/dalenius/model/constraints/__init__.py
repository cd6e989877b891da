"""The shelf of constraints on a design's mechanisms; `CONSTRAINTS` maps the model file's `kind` to the class."""

from cvxcertify.faces import lazily
from dalenius.model.constraints.base import Constraint, Linear, SecondOrderCone
from dalenius.model.constraints.budgets import DistortionBudget, LeakageLimit, SecretLeakageLimit
from dalenius.model.constraints.outputs import Band, ErrorCap, Monotone, Unbiased, ZeroEntries
from dalenius.model.constraints.privacy import (
    InformationPrivacy,
    LocalDPBetween,
    LocalInformationPrivacy,
    PointwiseLeakageLimit,
)
from dalenius.model.constraints.secret_limits import (
    KL,
    ChiSquare,
    LocalDPDelta,
    LocalInformationPrivacyDelta,
    MaximalCorrelation,
    MeasureLimit,
    MutualInformation,
    TotalVariation,
)

__getattr__, __dir__ = lazily(__name__, __file__)
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
        MeasureLimit,
    )
)
