"""The shelf of mechanisms; `MECHANISMS` maps the model file's `kind` to the class.

`DesignedMechanism` has no kind of its own: in a model file it is the `matrix` of its rows. Models are made with the lower-case
functions.
"""

from cvxcertify.faces import lazily
from dalenius.model.mechanisms.adaptive_releases import Adaptive
from dalenius.model.mechanisms.base import READERS, Mechanism
from dalenius.model.mechanisms.designed import FORMAT, DesignedMechanism
from dalenius.model.mechanisms.exponential_mechanism import Exponential
from dalenius.model.mechanisms.independent_releases import PARTS, SeveralReleases
from dalenius.model.mechanisms.matrix import Channel, RandomizedResponse, Symmetric
from dalenius.model.mechanisms.noise import AddedNoise, DiscreteGaussian, DiscreteLaplace, Geometric, LaplaceThreshold
from dalenius.model.mechanisms.protocols import HadamardResponse, LocalHashing, OptimizedUnaryEncoding, SubsetSelection
from dalenius.model.mechanisms.randomized_counts import RandomizedCount, RandomizedHistogram
from dalenius.model.mechanisms.real_noise import Gaussian, Laplace
from dalenius.model.mechanisms.staircase_noise import Staircase

__getattr__, __dir__ = lazily(__name__, __file__)
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
READERS[FORMAT] = DesignedMechanism.from_file
PARTS.update((kind, mechanism) for kind, mechanism in MECHANISMS.items() if mechanism.repeated)
NOISES = {kind: mechanism for kind, mechanism in MECHANISMS.items() if issubclass(mechanism, AddedNoise)}
