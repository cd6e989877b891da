"""The shelf of adversaries, each a set of priors; `ADVERSARIES` maps the model file's `kind` to the class.

`EntropyAtLeast` has no kind in a model file: it is written ``entropy_at_least = ...``.
"""

from dalenius.model.adversaries.base import Adversary, AnyPrior, EntropyAtLeast
from dalenius.model.adversaries.chains import FiniteChain, MarkovChain
from dalenius.model.adversaries.independent_blocks import IndependentBlocks, ProductPriors
from dalenius.model.adversaries.law_classes import (
    BoxPriors,
    ChiSquareBallPriors,
    FloorPriors,
    KLBallPriors,
    L1BallPriors,
    LawClass,
    PolytopePriors,
)
from dalenius.model.adversaries.prior_set import FixedPrior, PriorSet

__all__ = [
    "ADVERSARIES",
    "Adversary",
    "AnyPrior",
    "BoxPriors",
    "ChiSquareBallPriors",
    "EntropyAtLeast",
    "FiniteChain",
    "FixedPrior",
    "FloorPriors",
    "IndependentBlocks",
    "KLBallPriors",
    "L1BallPriors",
    "LawClass",
    "MarkovChain",
    "PolytopePriors",
    "PriorSet",
    "ProductPriors",
]

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
    )
)
