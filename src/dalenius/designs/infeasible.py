"""Designs whose budget no mechanism meets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dalenius._prove import Proved
from dalenius.evidence import Lower, Upper
from dalenius.model import DesignProblem
from dalenius.outcome import Scope, Termination
from dalenius.results import DesignResult
from dalenius.search import Clock


@dataclass
class InfeasibleProposer:
    """That no mechanism meets the budget: decided exactly, so that there is nothing to search."""

    problem: DesignProblem
    clock: Clock

    def run(self) -> None:
        """Nothing to do."""

    def lowers(self) -> Iterator[Lower]:
        yield Lower(value=None, lines=())

    def uppers(self) -> Iterator[Upper]:
        yield Upper(value=None, lines=())

    def result(self, proved: Proved[Lower, Upper]) -> DesignResult:
        """No mechanism."""
        return DesignResult(
            lower=proved.lower,
            upper=proved.upper,
            mechanism=None,
            audit=None,
            distortion=None,
            termination=Termination.INFEASIBLE,
            scope=Scope.GLOBAL,
            certificate=proved.certificate,
            seconds=self.clock.seconds,
            units=self.problem.quantity.units,
            refusals=proved.refusals,
        )
