"""The most information as a proposer: from below what a mechanism of extreme rays tells, from above the prices of the inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dalenius._prove import Proved
from dalenius.designs.claims import termination_of
from dalenius.designs.extreme.program import Extreme, information
from dalenius.designs.rational import weight_texts
from dalenius.evidence import CERTAIN, MARGINS, Lower, Upper, short_text
from dalenius.evidence.upper import PotentialLine
from dalenius.information.arrays import Floats
from dalenius.model.problems.max_information import MaxInformation
from dalenius.outcome import Scope, Termination
from dalenius.results import DesignResult
from dalenius.search import Run

__all__ = ["ExtremeProposer"]

ROUGH = (3e-6, 1e-4)
LEAST = 1e-3  # nats that rounding is a share of, at least


@dataclass
class ExtremeProposer:
    """What the program over the extreme rays of private columns found."""

    problem: MaxInformation
    search: Run

    @cached_property
    def found(self) -> Extreme:
        """The mechanism, and the prices."""
        return Extreme.of(self.problem)

    def run(self) -> None:
        """Solve."""
        found, clock = self.found, self.search.clock
        clock.tell("extreme rays", found.attained, float(found.prices.sum()), len(found.rows[0]), rounds=1, now=True)

    def lowers(self) -> Iterator[Lower]:
        """What the mechanism tells, rounded downward ever further; at last 0."""
        for margin in MARGINS:
            end = Lower(value=self.found.attained, margin=margin * (LEAST + self.found.attained), lines=())
            if not end.rounded:
                break
            yield end
        yield Lower(value=0.0, lines=(), candidate=CERTAIN)

    def uppers(self) -> Iterator[Upper]:
        """The sum of the prices, raised ever further; at last what the input itself tells."""
        if not self.found.prices.any():
            yield self._upper(self.found.prices)
        for margin in (*MARGINS, *ROUGH):
            yield self._upper(self.found.prices + self.found.slack + margin * (LEAST + self._size))
        alone = information(np.eye(self.problem.input_count), np.array(self.problem.joint.masses, dtype=float))
        yield self._upper(alone + 1e-9 * (alone + 1e-9), candidate=CERTAIN)

    @property
    def _size(self) -> float:
        """What rounding is a share of: what is summed in what a ray tells."""
        return float(np.abs(self.found.prices).max(initial=0.0))

    def _upper(self, prices: Floats, candidate: int = 0) -> Upper:
        texts = tuple(map(short_text, prices.tolist()))
        return Upper(
            value=max(sum(map(Fraction, texts), Fraction(0)), Fraction(0)),
            candidate=candidate,
            lines=(PotentialLine(texts),),
            mechanism=weight_texts(self.found.rows),
        )

    def result(self, proved: Proved[Lower, Upper]) -> DesignResult:
        """The mechanism, and the proved interval for the most that any tells."""
        rows = self.found.rows
        return DesignResult(
            lower=proved.lower,
            upper=proved.upper,
            mechanism=self.problem.designed(rows),
            audit=None,
            distortion=None,
            termination=termination_of(proved, self.search.limits.gap, Termination.STALLED),
            scope=Scope.GLOBAL,
            certificate=proved.certificate,
            seconds=self.search.clock.seconds,
            rounds=1,
            exp_epsilon=self.problem.exp_epsilon(rows),
            refusals=proved.refusals,
            trace=tuple(self.search.clock.trace),
            values=self.problem.most_values,
            largest=True,
        )
