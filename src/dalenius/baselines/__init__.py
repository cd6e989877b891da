"""The source paper's Algorithms 1 to 11, and general-purpose rivals, to be compared with: feasible points, no bounds, no proofs."""

from dalenius.baselines.design import DesignSettings, design_run, within_budget
from dalenius.baselines.family import DesignRun, Family, LeakageRun, Moment, Rest, Turn, View, aggregated, full_joint
from dalenius.baselines.global_solvers import Maingo, Scip
from dalenius.baselines.laws import ConditionalSettings, MarginalSettings
from dalenius.baselines.mechanism import MechanismSettings
from dalenius.baselines.nonlinear import CvxpyNlp, Optimiser, Slsqp, TrustConstr, optimised_run
from dalenius.baselines.pufferfish_scales import markov_quilt_scale, wasserstein_distance, wasserstein_scale
from dalenius.baselines.worst_case_leakage import LeakageSettings, leakage_run, starts

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
