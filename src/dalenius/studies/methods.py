"""The methods that are compared, what they are, and what runs them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dalenius.baselines import (
    CvxpyNlp,
    Family,
    LeakageRun,
    Slsqp,
    TrustConstr,
    aggregated,
    full_joint,
    leakage_run,
    optimised_run,
)
from dalenius.model import DesignProblem, MaximalLeakage

__all__ = ["AUDITS", "CERTIFIED", "DESIGNS", "FAMILIES", "METHODS"]

CERTIFIED = "certified"
METHODS = {
    CERTIFIED: "this package: bounds from both sides, proved by the independent checker",
    "paper-full": "the source paper's algorithms on the full joint law of the datasets",
    "paper-aggregated": "the same code on the aggregated problem",
    "slsqp": "scipy's SLSQP on the aggregated problem, analytic gradients (audits only)",
    "trust-constr": "scipy's trust-constr on the aggregated problem, analytic gradients and Hessians (audits only)",
    "cvxpy-nlp-full": "Problem 1 as written in cvxpy's nonlinear mode, solver UNO, full joint law (audits only; extra: rivals)",
    "cvxpy-nlp-aggregated": "the same on the aggregated problem (audits only; extra: rivals)",
}
FAMILIES: dict[str, Callable[[MaximalLeakage | DesignProblem], Family]] = {
    method: full_joint if method.endswith("-full") else aggregated for method in METHODS if method != CERTIFIED
}
AUDITS: dict[str, Callable[..., LeakageRun]] = {
    "paper-full": leakage_run,
    "paper-aggregated": leakage_run,
    "slsqp": partial(optimised_run, optimiser=Slsqp()),
    "trust-constr": partial(optimised_run, optimiser=TrustConstr()),
    "cvxpy-nlp-full": partial(optimised_run, optimiser=CvxpyNlp()),
    "cvxpy-nlp-aggregated": partial(optimised_run, optimiser=CvxpyNlp()),
}
DESIGNS = ("paper-full", "paper-aggregated")
