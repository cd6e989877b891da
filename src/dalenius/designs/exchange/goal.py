"""What the exchange asks of the problem that it solves: Problem 2 and Problem 3 answer differently."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from dalenius.designs.exchange.audits import AuditedMechanism, MechanismAudits
from dalenius.designs.exchange.bound import MasterBound
from dalenius.designs.exchange.mechanisms import Mechanisms, RepairedMechanism
from dalenius.designs.exchange.statement import MasterStatement
from dalenius.designs.oracle import Prior
from dalenius.information.arrays import Floats
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.search import Clock

__all__ = ["Goal"]


class Goal(ABC):
    """The least leakage within a budget of distortion, or the other way round.

    Parameters
    ----------
    problem : MinLeakage or MinDistortion
    mechanisms : Mechanisms
    gap : float
        Relative; of what the whole exchange may leave, so that the goal knows how much an audit may.
    """

    block: ClassVar[str]  # the name of the master program

    def __init__(self, problem: DesignProblem, mechanisms: Mechanisms, gap: float) -> None:
        self.problem, self.mechanisms, self.gap = problem, mechanisms, gap

    @property
    @abstractmethod
    def trivial(self) -> bool:
        """Whether a constant mechanism is the answer."""

    # ------------------------------------------------------------ from below

    def without_search(self, anyone: Prior) -> MasterBound:
        """The bound that holds whatever anybody knows: by default 0."""
        return MasterBound()

    @abstractmethod
    def statement(self, priors: Sequence[Prior]) -> MasterStatement:
        """The master program over these priors."""

    def writable(self, multipliers: Mapping[str, Floats]) -> Mapping[str, Floats]:
        """Multipliers whose posteriors doubles can tell from the letters' laws; by default as they are."""
        return multipliers

    @abstractmethod
    def allowed_leakage(self, attained: float) -> float:
        """What a master's mechanism may leak that attains so much: priors of the oracle that learn no more are not new."""

    @abstractmethod
    def proved(self, bound: MasterBound) -> float:
        """What the checker's formula gives for priors on the problem's own inputs."""

    # ------------------------------------------------------------ from above

    @abstractmethod
    def start(self, audits: MechanismAudits, clock: Clock) -> None:
        """Audit a first mechanism roughly, so that there is one to hand out at once, if one is needed."""

    @abstractmethod
    def repaired(self, Q: Floats, leakage: float) -> RepairedMechanism:
        """A mechanism that leaks so much, as far as the search sees, made to meet the budget."""

    @abstractmethod
    def audit(self, found: RepairedMechanism, audits: MechanismAudits, lower: float, clock: Clock) -> None:
        """Make a mechanism exact, and audit it; the best one is kept."""

    def last_resort(self, audits: MechanismAudits, clock: Clock) -> Iterator[AuditedMechanism]:
        """Mechanisms that may be handed out if nothing else is proved; by default none, because what was audited meets its budget."""
        yield from ()

    def _costs(self) -> Floats:
        """p(x) d(x,y) on the problem's own inputs."""
        return np.asarray(self.problem.input_law[:, None] * self.problem.cost)
