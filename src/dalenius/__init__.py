"""dalenius: certified information leakage of privacy mechanisms against entropy-bounded adversaries."""

from dalenius.audit import Progress
from dalenius.certify import Certificate
from dalenius.errors import DaleniusError, GapNotReachedError, InputError
from dalenius.outcome import Scope, Termination
from dalenius.problems import (
    Adversary,
    AnyPrior,
    EntropyAtLeast,
    FixedPrior,
    MaximalLeakage,
    PriorSet,
    ProductPriors,
    Records,
    dumps,
    load,
    loads,
)
from dalenius.problems.mechanisms import (
    Channel,
    Mechanism,
    exponential,
    geometric,
    laplace_threshold,
    randomized_response,
    symmetric,
)
from dalenius.problems.queries import Count, Identity, ModularSum, Parity, Query, Sum, Table, Threshold
from dalenius.result import RecordProof, Result, Witness
from dalenius.solve import solve
from dalenius.verify import verify

__all__ = [
    "Adversary",
    "AnyPrior",
    "Certificate",
    "Channel",
    "Count",
    "DaleniusError",
    "EntropyAtLeast",
    "FixedPrior",
    "GapNotReachedError",
    "Identity",
    "InputError",
    "MaximalLeakage",
    "Mechanism",
    "ModularSum",
    "Parity",
    "PriorSet",
    "ProductPriors",
    "Progress",
    "Query",
    "RecordProof",
    "Records",
    "Result",
    "Scope",
    "Sum",
    "Table",
    "Termination",
    "Threshold",
    "Witness",
    "dumps",
    "exponential",
    "geometric",
    "laplace_threshold",
    "load",
    "loads",
    "randomized_response",
    "solve",
    "symmetric",
    "verify",
]
