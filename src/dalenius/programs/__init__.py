"""Every subproblem as a DCP model with exponential cones, its answer an interval in closed form. The only room with cvxpy."""

from cvxcertify import Attempt, Claim, Standing
from dalenius.programs.base import BlockSolution, Program
from dalenius.programs.conditional import ConditionalUpdate
from dalenius.programs.constrained_update import ConstrainedUpdate
from dalenius.programs.marginal import MarginalUpdate
from dalenius.programs.min_distortion import MinDistortionProgram
from dalenius.programs.min_leakage import MinLeakageProgram
from dalenius.programs.node import NodeRelaxation
from dalenius.programs.own import CertifiedInterval, Model, certify, conic_form
from dalenius.programs.posterior import PosteriorUpdate
from dalenius.programs.private_distortion import PrivateDistortionProgram
from dalenius.programs.row import RowUpdate
from dalenius.programs.solvers import SOLVERS
from dalenius.programs.standard_form import StandardForm

__all__ = [
    "SOLVERS",
    "Attempt",
    "BlockSolution",
    "CertifiedInterval",
    "Claim",
    "ConditionalUpdate",
    "ConstrainedUpdate",
    "MarginalUpdate",
    "MinDistortionProgram",
    "MinLeakageProgram",
    "Model",
    "NodeRelaxation",
    "PosteriorUpdate",
    "PrivateDistortionProgram",
    "Program",
    "RowUpdate",
    "StandardForm",
    "Standing",
    "certify",
    "conic_form",
]
