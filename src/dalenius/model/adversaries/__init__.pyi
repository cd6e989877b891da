from dalenius.model.adversaries.base import Adversary as Adversary
from dalenius.model.adversaries.base import AnyPrior as AnyPrior
from dalenius.model.adversaries.base import EntropyAtLeast as EntropyAtLeast
from dalenius.model.adversaries.chains import FiniteChain as FiniteChain
from dalenius.model.adversaries.chains import MarkovChain as MarkovChain
from dalenius.model.adversaries.independent_blocks import IndependentBlocks as IndependentBlocks
from dalenius.model.adversaries.independent_blocks import ProductPriors as ProductPriors
from dalenius.model.adversaries.law_classes import BoxPriors as BoxPriors
from dalenius.model.adversaries.law_classes import ChiSquareBallPriors as ChiSquareBallPriors
from dalenius.model.adversaries.law_classes import FloorPriors as FloorPriors
from dalenius.model.adversaries.law_classes import KLBallPriors as KLBallPriors
from dalenius.model.adversaries.law_classes import L1BallPriors as L1BallPriors
from dalenius.model.adversaries.law_classes import LawClass as LawClass
from dalenius.model.adversaries.law_classes import PolytopePriors as PolytopePriors
from dalenius.model.adversaries.moment_priors import MomentPriors as MomentPriors
from dalenius.model.adversaries.prior_set import FixedPrior as FixedPrior
from dalenius.model.adversaries.prior_set import PriorSet as PriorSet

ADVERSARIES: dict[str, type[Adversary]]
