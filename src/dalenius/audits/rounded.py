"""The audit of a count rounded to a grid, whose bounds another one takes for the count itself (docs/theory.md, Theorem W2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from dalenius.audits.audit import Audit
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.audits.record_audit import Bound, RecordAudit
from dalenius.evidence.upper import GridLine
from dalenius.model import WorstCaseLeakage
from dalenius.reduction import AggregatedRecord, Grid, record_channels
from dalenius.search.clock import Clock


@dataclass(kw_only=True)
class RoundedAudit(EntropyAudit):
    """A running audit of the rounded count.

    Parameters
    ----------
    grid : Grid
    count : Audit
        That of the count itself.
    """

    grid: Grid
    count: Audit

    @classmethod
    def of(cls, count: Audit, grid: Grid, target: float) -> Self:
        """The audit that closes where it proves this bound of the count, or is half as wide as that one is to be."""
        search, problem = count.search, grid.problem(count.problem.max_knowledge)
        half = replace(search, limits=replace(search.limits, gap=0.5 * count.gap))
        return cls(problem, half, grid=grid, count=count, enough=grid.apply(target))

    @property
    def lifted(self) -> float:
        """The bound of the count itself."""
        return self.grid.lift(self.upper) if self.records else np.inf

    @property
    def asked(self) -> WorstCaseLeakage:
        return self.count.problem

    @cached_property
    def channels(self) -> list[AggregatedRecord]:
        """Of the first record: the others are alike, and nobody asks what the rounding adds."""
        return record_channels(self.problem)[:1]

    def on_the_way(self) -> bool:
        return self.count.stand()

    def tell(self, stage: str, record: int | None, leaves: int, upper: float = np.inf, *, now: bool = False) -> None:
        best = min(self.count.upper, self.grid.lift(upper))
        self.clock.tell(stage, self.count.lower, best, leaves, record=record, now=now)

    def _start(self, channel: AggregatedRecord, clock: Clock) -> RecordAudit:
        found = super()._start(channel, clock)
        found.under = (GridLine(self.grid.step),)
        return found

    def _informed(self, channel: AggregatedRecord) -> Iterator[Bound]:
        """None: the count's own audit has it."""
        yield from ()
