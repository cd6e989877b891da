"""The source paper's Algorithms 1 to 11, and general-purpose rivals, to be compared with: feasible points, no bounds, no proofs."""

from dalenius.baselines.conditional import ConditionalSettings
from dalenius.baselines.cvxpy_nlp import CvxpyNlp
from dalenius.baselines.design import DesignSettings, design_run, within_budget
from dalenius.baselines.family import Family, View, aggregated, full_joint
from dalenius.baselines.maingo import Maingo
from dalenius.baselines.marginal import MarginalSettings
from dalenius.baselines.maximal_leakage import LeakageSettings, leakage_run, starts
from dalenius.baselines.mechanism import MechanismSettings
from dalenius.baselines.nonlinear import Optimiser, optimised_run
from dalenius.baselines.pufferfish_scales import markov_quilt_scale, wasserstein_distance, wasserstein_scale
from dalenius.baselines.run import DesignRun, LeakageRun, Moment, Rest, Turn
from dalenius.baselines.scip import Scip
from dalenius.baselines.slsqp import Slsqp
from dalenius.baselines.trust_constr import TrustConstr

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
