"""The shelf of adversaries, each a set of priors; `ADVERSARIES` maps the model file's `kind` to the class.

`EntropyAtLeast` has no kind in a model file: it is written ``entropy_at_least = ...``.
"""

from cvxcertify.faces import lazily
from dalenius.model.adversaries.base import Adversary
from dalenius.model.adversaries.chains import FiniteChain, MarkovChain
from dalenius.model.adversaries.independent_blocks import IndependentBlocks, ProductPriors
from dalenius.model.adversaries.law_classes import (
    BoxPriors,
    ChiSquareBallPriors,
    FloorPriors,
    KLBallPriors,
    L1BallPriors,
    PolytopePriors,
)
from dalenius.model.adversaries.moment_priors import MomentPriors
from dalenius.model.adversaries.prior_set import PriorSet

__getattr__, __dir__ = lazily(__name__, __file__)
ADVERSARIES = Adversary.shelf
ADVERSARIES.update(
    (adversary.kind, adversary)
    for adversary in (
        ProductPriors,
        PriorSet,
        IndependentBlocks,
        MarkovChain,
        FiniteChain,
        FloorPriors,
        BoxPriors,
        PolytopePriors,
        L1BallPriors,
        KLBallPriors,
        ChiSquareBallPriors,
        MomentPriors,
    )
)
