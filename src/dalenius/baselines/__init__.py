"""The source paper's Algorithms 1 to 11, and general-purpose rivals, to be compared with: feasible points, no bounds, no proofs."""

from dalenius.baselines.conditional import ConditionalSettings
from dalenius.baselines.cvxpy_nlp import CvxpyNlpSettings, cvxpy_nlp_run
from dalenius.baselines.design import DesignSettings, design_run, within_budget
from dalenius.baselines.family import Family, View, aggregated, full_joint
from dalenius.baselines.marginal import MarginalSettings
from dalenius.baselines.maximal_leakage import LeakageSettings, leakage_run, starts
from dalenius.baselines.mechanism import MechanismSettings
from dalenius.baselines.run import DesignRun, LeakageRun, Moment, Rest, Turn
from dalenius.baselines.slsqp import SlsqpSettings, slsqp_run
from dalenius.baselines.trust_constr import TrustConstrSettings, trust_constr_run

__all__ = [
    "ConditionalSettings",
    "CvxpyNlpSettings",
    "DesignRun",
    "DesignSettings",
    "Family",
    "LeakageRun",
    "LeakageSettings",
    "MarginalSettings",
    "MechanismSettings",
    "Moment",
    "Rest",
    "SlsqpSettings",
    "TrustConstrSettings",
    "Turn",
    "View",
    "aggregated",
    "cvxpy_nlp_run",
    "design_run",
    "full_joint",
    "leakage_run",
    "slsqp_run",
    "starts",
    "trust_constr_run",
    "within_budget",
]
