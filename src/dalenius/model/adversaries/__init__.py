"""The shelf of adversaries, each a set of priors; `ADVERSARIES` maps the model file's `kind` to the class.

`EntropyAtLeast` has no kind in a model file: it is written ``entropy_at_least = ...``.
"""

from dalenius.model.adversaries.base import Adversary
from dalenius.model.adversaries.entropy_at_least import AnyPrior, EntropyAtLeast
from dalenius.model.adversaries.prior_set import FixedPrior, PriorSet
from dalenius.model.adversaries.product_priors import ProductPriors

__all__ = ["ADVERSARIES", "Adversary", "AnyPrior", "EntropyAtLeast", "FixedPrior", "PriorSet", "ProductPriors"]

ADVERSARIES: dict[str, type[Adversary]] = {adversary.kind: adversary for adversary in (ProductPriors, PriorSet)}
