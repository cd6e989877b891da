"""Information quantities as DCP expressions, for the programs and for models of one's own.

Each is affine, convex or concave, and says why. All in nats. Data are numbers, or cvxpy parameters where the model is to be solved
again with other numbers (every expression is DPP). What a solver says about such a model is evidence of nothing: evaluate its answer
with `dalenius.information`, or ask a `Program`, which proves its own.
"""

from dalenius.programs.expressions.information import (
    ConicLeakages,
    conic_leakages,
    information_of_prior,
    leakage,
    mutual_information,
)
from dalenius.programs.expressions.masses import (
    concave_entropy,
    entropy_at_least,
    expected_cost,
    expected_distortion,
    letter_masses,
)

__all__ = [
    "ConicLeakages",
    "concave_entropy",
    "conic_leakages",
    "entropy_at_least",
    "expected_cost",
    "expected_distortion",
    "information_of_prior",
    "leakage",
    "letter_masses",
    "mutual_information",
]
