"""Every subproblem as a DCP model with exponential cones, its answer an interval in closed form. The only room with cvxpy."""

from dalenius.programs.base import BlockSolution, Program
from dalenius.programs.marginal import MarginalUpdate
from dalenius.programs.solvers import SOLVERS, Attempt

__all__ = ["SOLVERS", "Attempt", "BlockSolution", "MarginalUpdate", "Program"]
