"""The shelf of mechanisms: one small file each; `MECHANISMS` maps the model file's `kind` to the class.

`DesignedMechanism` has no kind of its own: in a model file it is the `matrix` of its rows. The lower-case factory functions stand in
the files of their names.
"""

from dalenius.model.mechanisms.adaptive import Adaptive
from dalenius.model.mechanisms.base import Mechanism, OfQueries, Vectors
from dalenius.model.mechanisms.designed import DesignedMechanism
from dalenius.model.mechanisms.discrete_gaussian import DiscreteGaussian
from dalenius.model.mechanisms.discrete_laplace import DiscreteLaplace
from dalenius.model.mechanisms.exponential import Exponential
from dalenius.model.mechanisms.gaussian import Gaussian
from dalenius.model.mechanisms.geometric import Geometric
from dalenius.model.mechanisms.hadamard_response import HadamardResponse
from dalenius.model.mechanisms.laplace import Laplace
from dalenius.model.mechanisms.laplace_threshold import LaplaceThreshold
from dalenius.model.mechanisms.local_hashing import LocalHashing
from dalenius.model.mechanisms.matrix import Channel
from dalenius.model.mechanisms.optimized_unary_encoding import OptimizedUnaryEncoding
from dalenius.model.mechanisms.protocols import LocalProtocol
from dalenius.model.mechanisms.randomized_count import RandomizedCount
from dalenius.model.mechanisms.randomized_histogram import RandomizedHistogram
from dalenius.model.mechanisms.randomized_response import RandomizedResponse
from dalenius.model.mechanisms.real_noise import RealNoise
from dalenius.model.mechanisms.several_releases import SeveralReleases
from dalenius.model.mechanisms.subset_selection import SubsetSelection
from dalenius.model.mechanisms.symmetric import Symmetric

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
