"""The shelf of adversaries, each a set of priors; `ADVERSARIES` maps the model file's `kind` to the class.

`EntropyAtLeast` has no kind in a model file: it is written ``entropy_at_least = ...``.
"""

from dalenius.problems.adversaries.base import Adversary
from dalenius.problems.adversaries.entropy_at_least import AnyPrior, EntropyAtLeast
from dalenius.problems.adversaries.prior_set import FixedPrior, PriorSet
from dalenius.problems.adversaries.product_priors import ProductPriors

__all__ = ["ADVERSARIES", "Adversary", "AnyPrior", "EntropyAtLeast", "FixedPrior", "PriorSet", "ProductPriors"]

ADVERSARIES: dict[str, type[Adversary]] = {adversary.kind: adversary for adversary in (ProductPriors, PriorSet)}
