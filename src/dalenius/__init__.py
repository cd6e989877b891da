"""dalenius: certified information leakage of privacy mechanisms against entropy-bounded adversaries."""

from dalenius._solve import solve
from dalenius._verify import verify
from dalenius.catalogue.models import LibraryModel, library, load
from dalenius.errors import DaleniusError, GapNotReachedError, InputError
from dalenius.evidence import Certificate
from dalenius.model import (
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
from dalenius.model.distortions import Absolute, Distortion, DistortionMatrix, Hamming, Squared
from dalenius.model.laws import Iid, Law, Uniform, law_from_csv
from dalenius.model.mechanisms import (
    Channel,
    DesignedMechanism,
    Mechanism,
    exponential,
    geometric,
    laplace_threshold,
    randomized_response,
    symmetric,
)
from dalenius.model.privacy import LocalDP, PointwiseMaximalLeakage, Privacy
from dalenius.model.queries import Count, Identity, ModularSum, Parity, Query, Sum, Table, Threshold
from dalenius.outcome import ProofRefusedWarning, Refusal, Scope, Termination
from dalenius.results import DesignResult, RecordProof, Result, Witness
from dalenius.search.clock import Progress
from dalenius.studies.compare import Comparison, compare
from dalenius.studies.frontier import FrontierPoint, frontier

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
    "ProofRefusedWarning",
    "Query",
    "RecordProof",
    "Records",
    "Refusal",
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
