"""The master program of a round as data: what is asked, apart from how it is modelled and who solves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dalenius.designs.oracle import Prior
from dalenius.information.arrays import Floats
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs import MinDistortionProgram, MinLeakageProgram
from dalenius.programs.mechanism_update import MechanismUpdate

__all__ = ["MasterStatement"]


@dataclass(frozen=True, eq=False)
class MasterStatement:
    """The best mechanism of a class for finitely many priors.

    Problem 2: minimise max_s I_s(Q) over mechanisms Q with <cost, Q> <= max_distortion. Problem 3: minimise <cost, Q> with I_s(Q) <=
    max_leakage for all s. I_s(Q) is what prior s is told about its record, in nats.

    A further constraint on Q is a further field here, handed on by `program`: from there on it is a row of the DCP model, a term in
    the program's closed-form bound, and a reason for the program's own method to decline (`Program.own`).

    Attributes
    ----------
    priors : sequence of Prior
        On the inputs that `cost` has.
    cost : (inputs, outputs)
        p(x) d(x,y).
    tied : TiedEntries
        The class of mechanisms: which entries are one number.
    max_distortion, max_leakage : float or None
        The budget; exactly one is given.
    """

    priors: Sequence[Prior]
    cost: Floats
    tied: TiedEntries
    max_distortion: float | None = None
    max_leakage: float | None = None

    def program(self) -> MechanismUpdate:
        """The DCP model, with its closed-form bound."""
        masses = [prior.masses for prior in self.priors]
        if self.max_distortion is not None:
            return MinLeakageProgram(masses, self.cost, self.max_distortion, tied=self.tied)
        assert self.max_leakage is not None
        return MinDistortionProgram(masses, self.cost, self.max_leakage, tied=self.tied)
