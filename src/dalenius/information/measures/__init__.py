"""Measures of what the outputs of a finite channel tell about its input, all with the same words.

`channel` is a row-stochastic matrix (inputs, outputs), `prior` the law of its inputs, `factor` is e^epsilon; informations are in nats.
Arrays of doubles give doubles. `dalenius.measure` evaluates the same formulas in exact numbers, and its intervals are proved.
"""

from dalenius.information.measures.correlation import maximal_correlation
from dalenius.information.measures.dependence import (
    chi_square,
    conditional_mutual_information,
    mutual_information,
    strong_chi_square,
    strong_kl,
    strong_total_variation,
    total_variation,
)
from dalenius.information.measures.guessing import (
    bayes_advantage,
    disclosure,
    exp_min_entropy_leakage,
    min_entropy,
    min_entropy_leakage,
    posterior_min_entropy,
    singling_out,
)
from dalenius.information.measures.laws import channel_of_secret, output_law, split
from dalenius.information.measures.lifts import (
    exp_information_privacy,
    information_privacy,
    information_privacy_delta,
    local_information_privacy,
    local_information_privacy_delta,
    strong_information_privacy_delta,
)
from dalenius.information.measures.pointwise import (
    conditional_pointwise_maximal_leakage,
    exp_maximal_leakage,
    exp_pointwise_maximal_leakage,
    maximal_leakage,
    pointwise_maximal_leakage,
    pointwise_maximal_leakage_delta,
    pointwise_maximal_leakage_over,
)
from dalenius.information.measures.prior_classes import (
    AllPriors,
    ChiSquareBall,
    EntropyFloor,
    KLBall,
    PriorBall,
    PriorBox,
    PriorClass,
    PriorFloor,
    PriorPolytope,
)
from dalenius.information.measures.privacy import (
    differential_privacy,
    exp_differential_privacy,
    exp_local_dp,
    leakage_capacity,
    local_dp,
    local_dp_delta,
    neighbours,
    pairwise_divergence,
    pairwise_total_variation,
)

__all__ = [
    "AllPriors",
    "ChiSquareBall",
    "EntropyFloor",
    "KLBall",
    "PriorBall",
    "PriorBox",
    "PriorClass",
    "PriorFloor",
    "PriorPolytope",
    "bayes_advantage",
    "channel_of_secret",
    "chi_square",
    "conditional_mutual_information",
    "conditional_pointwise_maximal_leakage",
    "differential_privacy",
    "disclosure",
    "exp_differential_privacy",
    "exp_information_privacy",
    "exp_local_dp",
    "exp_maximal_leakage",
    "exp_min_entropy_leakage",
    "exp_pointwise_maximal_leakage",
    "information_privacy",
    "information_privacy_delta",
    "leakage_capacity",
    "local_dp",
    "local_dp_delta",
    "local_information_privacy",
    "local_information_privacy_delta",
    "maximal_correlation",
    "maximal_leakage",
    "min_entropy",
    "min_entropy_leakage",
    "mutual_information",
    "neighbours",
    "output_law",
    "pairwise_divergence",
    "pairwise_total_variation",
    "pointwise_maximal_leakage",
    "pointwise_maximal_leakage_delta",
    "pointwise_maximal_leakage_over",
    "posterior_min_entropy",
    "singling_out",
    "split",
    "strong_chi_square",
    "strong_information_privacy_delta",
    "strong_kl",
    "strong_total_variation",
    "total_variation",
]
