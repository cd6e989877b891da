"""The shelf of mechanisms; `MECHANISMS` maps the model file's `kind` to the class.

`DesignedMechanism` has no kind of its own: in a model file it is the `matrix` of its rows. Models are made with the lower-case
functions.
"""

from dalenius.model.mechanisms.adaptive_releases import Adaptive, adaptive
from dalenius.model.mechanisms.base import Mechanism, OfQueries, Vectors
from dalenius.model.mechanisms.designed import DesignedMechanism
from dalenius.model.mechanisms.exponential_mechanism import Exponential, exponential
from dalenius.model.mechanisms.independent_releases import PARTS, SeveralReleases, several_releases
from dalenius.model.mechanisms.matrix import Channel, RandomizedResponse, Symmetric, randomized_response, symmetric
from dalenius.model.mechanisms.noise import (
    AddedNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    LaplaceThreshold,
    ScaledNoise,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    laplace_threshold,
)
from dalenius.model.mechanisms.protocols import (
    HadamardResponse,
    LocalHashing,
    LocalProtocol,
    OptimizedUnaryEncoding,
    SubsetSelection,
    hadamard_response,
    local_hashing,
    optimized_unary_encoding,
    subset_selection,
)
from dalenius.model.mechanisms.randomized_counts import (
    RandomizedCount,
    RandomizedHistogram,
    randomized_count,
    randomized_histogram,
)
from dalenius.model.mechanisms.real_noise import Gaussian, Laplace, RealNoise, gaussian, laplace
from dalenius.model.mechanisms.staircase_noise import Staircase, staircase

__all__ = [
    "MECHANISMS",
    "NOISES",
    "Adaptive",
    "AddedNoise",
    "Channel",
    "DesignedMechanism",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "Gaussian",
    "Geometric",
    "HadamardResponse",
    "Laplace",
    "LaplaceThreshold",
    "LocalHashing",
    "LocalProtocol",
    "Mechanism",
    "OfQueries",
    "OptimizedUnaryEncoding",
    "RandomizedCount",
    "RandomizedHistogram",
    "RandomizedResponse",
    "RealNoise",
    "ScaledNoise",
    "SeveralReleases",
    "Staircase",
    "SubsetSelection",
    "Symmetric",
    "Vectors",
    "adaptive",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential",
    "gaussian",
    "geometric",
    "hadamard_response",
    "laplace",
    "laplace_threshold",
    "local_hashing",
    "optimized_unary_encoding",
    "randomized_count",
    "randomized_histogram",
    "randomized_response",
    "several_releases",
    "staircase",
    "subset_selection",
    "symmetric",
]

MECHANISMS = Mechanism.shelf
MECHANISMS.update(
    (mechanism.kind, mechanism)
    for mechanism in (
        Channel,
        Symmetric,
        RandomizedResponse,
        LaplaceThreshold,
        Geometric,
        DiscreteLaplace,
        DiscreteGaussian,
        Staircase,
        Gaussian,
        Laplace,
        RandomizedCount,
        RandomizedHistogram,
        Exponential,
        SeveralReleases,
        Adaptive,
        SubsetSelection,
        OptimizedUnaryEncoding,
        LocalHashing,
        HadamardResponse,
    )
)
PARTS.update((kind, mechanism) for kind, mechanism in MECHANISMS.items() if mechanism.repeated)
NOISES = {kind: mechanism for kind, mechanism in MECHANISMS.items() if issubclass(mechanism, AddedNoise)}
