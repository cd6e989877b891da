"""An audit whose lower end is the alternating scheme's, and whose upper end is that of every audit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from dalenius._prove import Proved
from dalenius.alternating.driver import AlternatingResult, Settings, alternate
from dalenius.alternating.leakage_scheme import LeakageScheme
from dalenius.alternation import Alternation, Sweep
from dalenius.audits.ascent import Candidate, polish, posterior
from dalenius.audits.audit import LowerEnd
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.audits.record_audit import RecordAudit
from dalenius.evidence import CERTAIN, Upper
from dalenius.information.arrays import Floats
from dalenius.information.tilt import largest_score
from dalenius.outcome import Scope, Termination
from dalenius.programs.base import Tally
from dalenius.reduction import AggregatedRecord
from dalenius.results import Result
from dalenius.search import Clock

SWEEPS = 2000
SHARE = 0.5  # of an audit's time that its scheme may take, before there is anything to bound
WORTH = 0.02  # share of the gap by which another start must be better
FINEST = 1e-7  # relative gap of a scheme that is always enough


@dataclass
class AlternatingAudit(EntropyAudit):
    """Problem 1 by the alternating scheme: the uniform prior is the first start, as in the source paper's Algorithm 1.

    The bounds from above are the audit's own. Where they find a better prior, the scheme starts again from there, so that the lower
    end is always that of a prior where the scheme came to rest, or was stopped. What is proved bounds the blocks' gains, too.

    Attributes
    ----------
    results : dict of record -> AlternatingResult
        For each kind of record, the start that was kept.
    names : tuple of str
        Of the scheme's blocks.
    """

    searches_anyway: ClassVar[bool] = True
    results: dict[int, AlternatingResult[Floats]] = field(default_factory=dict, init=False)
    tally: Tally = field(default_factory=Tally, init=False)
    names: tuple[str, ...] = field(default=(), init=False)

    def found(self, channel: AggregatedRecord, upper: float, clock: Clock) -> Candidate:
        """State of rest of the scheme from the uniform prior."""
        turn = clock.part(SHARE / len(self.channels))
        return self._alternated(channel, channel.uniform, turn, upper)

    def improve(self, record: RecordAudit, p: Floats, clock: Clock) -> None:
        """Start again from a prior that the bounds point at, if joint Blahut-Arimoto finds a better one there."""
        better = polish(record.channel, p / p.sum(), record.candidate, clock=clock)
        if better.leakage > record.candidate.leakage * (1.0 + WORTH * self.gap):
            found = self._alternated(record.channel, better.p, clock.part(SHARE), record.upper)
            record.candidate = max(record.candidate, found, key=lambda candidate: candidate.leakage)

    def _alternated(self, channel: AggregatedRecord, start: Floats, clock: Clock, upper: float) -> Candidate:
        gap = max(self.gap, FINEST)
        room = 0.5 * (self.search.limits.least[1] - self.room.held)
        scheme = LeakageScheme(channel, solver=self.search.solver, gap=gap, clock=clock, room=room)
        scheme.tally, self.names = self.tally, tuple(block.name for block in scheme.blocks)

        def tell(sweep: Sweep) -> None:
            value = max(sweep.value, self.lower)
            self.clock.tell("alternating", value, upper, 0, record=channel.record, rounds=sweep.number)

        result: AlternatingResult[Floats] = alternate(
            scheme, Settings(gap=gap, sweeps=SWEEPS), rng=self.search.rng, progress=tell, start=start, clock=clock
        )
        before = self.results.get(channel.record)
        if before is None or result.value > before.value:
            self.results[channel.record] = result
        return Candidate(result.state, result.value, self._multiplier(channel, result.state))

    def _multiplier(self, channel: AggregatedRecord, p: Floats) -> float:
        """That of the entropy bound, at the posteriors of a prior: the bounds begin with it."""
        c = np.log(np.maximum(posterior(p[None], channel.rows), 1e-280)) @ channel.rows.T
        _, mu = largest_score(c, channel.log_uniform, -channel.max_knowledge, np.array([0.1]), self.clock)
        return float(mu[0])

    def result(self, proved: Proved[LowerEnd, Upper]) -> Result:
        """With what the scheme did for every kind of record, and which solver found the prior of the lower end."""
        ends: dict[str, tuple[str, str]] = {}
        exposed = self.results.get(self.exposed) if self.exposed is not None else None
        if exposed is not None and exposed.found_by is not None and proved.lower_end.candidate != CERTAIN:
            block, solver = exposed.found_by
            ends["lower"] = block.split()[0], solver
        whole = super().result(proved)
        return replace(
            whole,
            alternating=tuple(self._summary(result, record, whole.upper) for record, result in self.results.items()),
            solvers=self.tally.uses(ends),
        )

    def _summary(self, result: AlternatingResult[Floats], record: int, upper: float) -> Alternation:
        """Summary of the scheme, with no block's gain above what is proved: what no prior passes, no block passes."""
        one, most = result.summary(record=record), max(upper - result.value, 0.0)
        if most <= self.gap * upper:
            return replace(
                one,
                gains={name: min(one.gains.get(name, math.inf), most) for name in self.names},
                scope=Scope.BLOCKWISE,
                termination=Termination.GAP_REACHED,
            )
        return replace(one, gains={name: min(gain, most) for name, gain in one.gains.items()})
