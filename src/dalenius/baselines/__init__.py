"""The source paper's Algorithms 1 to 11, and general-purpose rivals, to be compared with: feasible points, no bounds, no proofs."""

from dalenius.baselines.alternations import (
    DesignSettings,
    LeakageSettings,
    design_run,
    leakage_run,
    starts,
    within_budget,
)
from dalenius.baselines.family import DesignRun, Family, LeakageRun, Moment, Rest, Turn, View, aggregated, full_joint
from dalenius.baselines.global_solvers import Maingo, Scip
from dalenius.baselines.laws import ConditionalSettings, MarginalSettings
from dalenius.baselines.mechanism import MechanismSettings
from dalenius.baselines.nonlinear import CvxpyNlp, Optimiser, Slsqp, TrustConstr, optimised_run
from dalenius.baselines.pufferfish_scales import markov_quilt_scale, wasserstein_distance, wasserstein_scale

__all__ = [
    "ConditionalSettings",
    "CvxpyNlp",
    "DesignRun",
    "DesignSettings",
    "Family",
    "LeakageRun",
    "LeakageSettings",
    "Maingo",
    "MarginalSettings",
    "MechanismSettings",
    "Moment",
    "Optimiser",
    "Rest",
    "Scip",
    "Slsqp",
    "TrustConstr",
    "Turn",
    "View",
    "aggregated",
    "design_run",
    "full_joint",
    "leakage_run",
    "markov_quilt_scale",
    "optimised_run",
    "starts",
    "wasserstein_distance",
    "wasserstein_scale",
    "within_budget",
]
