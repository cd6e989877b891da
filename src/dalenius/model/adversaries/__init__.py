"""The shelf of adversaries, each a set of priors; `ADVERSARIES` maps the model file's `kind` to the class.

`EntropyAtLeast` has no kind in a model file: it is written ``entropy_at_least = ...``.
"""

from dalenius.model.adversaries.base import Adversary, LawClass
from dalenius.model.adversaries.box_priors import BoxPriors
from dalenius.model.adversaries.chi_square_ball_priors import ChiSquareBallPriors
from dalenius.model.adversaries.entropy_at_least import AnyPrior, EntropyAtLeast
from dalenius.model.adversaries.finite_chain import FiniteChain
from dalenius.model.adversaries.floor_priors import FloorPriors
from dalenius.model.adversaries.independent_blocks import IndependentBlocks
from dalenius.model.adversaries.kl_ball_priors import KLBallPriors
from dalenius.model.adversaries.l1_ball_priors import L1BallPriors
from dalenius.model.adversaries.markov_chain import MarkovChain
from dalenius.model.adversaries.polytope_priors import PolytopePriors
from dalenius.model.adversaries.prior_set import FixedPrior, PriorSet
from dalenius.model.adversaries.product_priors import ProductPriors

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

ADVERSARIES: dict[str, type[Adversary]] = {
    adversary.kind: adversary
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
}
