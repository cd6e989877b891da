"""Learned sanitizers, audited: never proved, and held against a converse that is.

`converse` and `TwoGaussians` need nothing more than the package; what is learned (`sanitize`) needs the extra `torch`.
"""

from dalenius.sanitizers.converse_bound import Converse, converse
from dalenius.sanitizers.runs import EXPERIMENTS, METHODS, Run, Trained, bounds, sanitize
from dalenius.sanitizers.settings import (
    Attack,
    Outcome,
    Settings,
    chi_square_below,
    from_features,
    proportion_below,
    root_chi_square_of_guesses,
    variational,
)
from dalenius.sanitizers.two_gaussians import TwoGaussians

__all__ = [
    "EXPERIMENTS",
    "METHODS",
    "Attack",
    "Converse",
    "Outcome",
    "Run",
    "Settings",
    "Trained",
    "TwoGaussians",
    "bounds",
    "chi_square_below",
    "converse",
    "from_features",
    "proportion_below",
    "root_chi_square_of_guesses",
    "sanitize",
    "variational",
]
