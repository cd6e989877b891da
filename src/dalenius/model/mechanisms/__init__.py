"""The shelf of mechanisms; `MECHANISMS` maps the model file's `kind` to the class.

`DesignedMechanism` has no kind of its own: in a model file it is the `matrix` of its rows. The lower-case factory functions
stand beside their mechanisms.
"""

from dalenius.model.mechanisms.adaptive import Adaptive
from dalenius.model.mechanisms.base import Mechanism, OfQueries, Vectors
from dalenius.model.mechanisms.designed import DesignedMechanism
from dalenius.model.mechanisms.exponential import Exponential
from dalenius.model.mechanisms.matrix import Channel, RandomizedResponse, Symmetric
from dalenius.model.mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Geometric, LaplaceThreshold
from dalenius.model.mechanisms.protocols import (
    HadamardResponse,
    LocalHashing,
    LocalProtocol,
    OptimizedUnaryEncoding,
    SubsetSelection,
)
from dalenius.model.mechanisms.randomized_counts import RandomizedCount, RandomizedHistogram
from dalenius.model.mechanisms.real_noise import Gaussian, Laplace, RealNoise
from dalenius.model.mechanisms.several_releases import SeveralReleases

__all__ = [
    "MECHANISMS",
    "Adaptive",
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
    "SeveralReleases",
    "SubsetSelection",
    "Symmetric",
    "Vectors",
]

MECHANISMS: dict[str, type[Mechanism]] = {
    mechanism.kind: mechanism
    for mechanism in (
        Channel,
        Symmetric,
        RandomizedResponse,
        LaplaceThreshold,
        Geometric,
        DiscreteLaplace,
        DiscreteGaussian,
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
}
