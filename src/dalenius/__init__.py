"""dalenius: certified information leakage of privacy mechanisms against entropy-bounded adversaries."""

from dalenius.audit import Progress
from dalenius.certify import Certificate
from dalenius.compare import Comparison, compare
from dalenius.errors import DaleniusError, GapNotReachedError, InputError
from dalenius.frontier import FrontierPoint, frontier
from dalenius.library import LibraryModel, library, load
from dalenius.outcome import Scope, Termination
from dalenius.problems import (
    Adversary,
    AnyPrior,
    DesignProblem,
    EntropyAtLeast,
    FixedPrior,
    MaximalLeakage,
    MinDistortion,
    MinLeakage,
    PriorSet,
    Problem,
    ProductPriors,
    Records,
    dumps,
    loads,
)
from dalenius.problems.distortions import Absolute, Distortion, DistortionMatrix, Hamming, Squared
from dalenius.problems.laws import Iid, Law, Uniform, law_from_csv
from dalenius.problems.mechanisms import (
    Channel,
    DesignedMechanism,
    Mechanism,
    exponential,
    geometric,
    laplace_threshold,
    randomized_response,
    symmetric,
)
from dalenius.problems.privacy import LocalDP, PointwiseMaximalLeakage, Privacy
from dalenius.problems.queries import Count, Identity, ModularSum, Parity, Query, Sum, Table, Threshold
from dalenius.result import DesignResult, RecordProof, Result, Witness
from dalenius.solve import solve
from dalenius.verify import verify

__all__ = [
    "Absolute",
    "Adversary",
    "AnyPrior",
    "Certificate",
    "Channel",
    "Comparison",
    "Count",
    "DaleniusError",
    "DesignProblem",
    "DesignResult",
    "DesignedMechanism",
    "Distortion",
    "DistortionMatrix",
    "EntropyAtLeast",
    "FixedPrior",
    "FrontierPoint",
    "GapNotReachedError",
    "Hamming",
    "Identity",
    "Iid",
    "InputError",
    "Law",
    "LibraryModel",
    "LocalDP",
    "MaximalLeakage",
    "Mechanism",
    "MinDistortion",
    "MinLeakage",
    "ModularSum",
    "Parity",
    "PointwiseMaximalLeakage",
    "PriorSet",
    "Privacy",
    "Problem",
    "ProductPriors",
    "Progress",
    "Query",
    "RecordProof",
    "Records",
    "Result",
    "Scope",
    "Squared",
    "Sum",
    "Table",
    "Termination",
    "Threshold",
    "Uniform",
    "Witness",
    "compare",
    "dumps",
    "exponential",
    "frontier",
    "geometric",
    "laplace_threshold",
    "law_from_csv",
    "library",
    "load",
    "loads",
    "randomized_response",
    "solve",
    "symmetric",
    "verify",
]
