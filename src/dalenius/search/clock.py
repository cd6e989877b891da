"""How long a search may go on, and whom it tells."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Clock", "Progress", "ProgressCallback"]


@dataclass(frozen=True)
class Progress:
    """A moment of a running audit or design.

    Attributes
    ----------
    seconds : float
        Since the start.
    stage : str
        What is at work.
    lower, upper : float
        Both valid at that moment (up to the final check), in `units`; a design's upper one as its search sees it.
    evidence : int
        The pieces that a proof would have by now: leaves of trees, output laws, priors, multipliers.
    record : int or None
        The record at work; None between records, and in a design.
    rounds : int
        The programs that a design has solved; 0 in an audit.
    units : str
        ``"nats"``, ``"bits"`` or ``"distortion"``.
    """

    seconds: float
    stage: str
    lower: float
    upper: float
    evidence: int
    record: int | None = None
    rounds: int = 0
    units: str = "nats"


ProgressCallback = Callable[[Progress], None]


@dataclass
class Clock:
    """A deadline that can be brought forward, and a throttled line to the caller's progress callback and to the trace."""

    time_limit: float = math.inf
    report: ProgressCallback | None = None
    every: float = 0.2
    units: str = "nats"  # of the bounds that it is told
    started: float = field(
        default_factory=lambda: time.monotonic()
    )  # looked up when called: tests have their own clock
    busy: float = field(default_factory=lambda: time.process_time())  # of the processor, when it was started
    stopped: bool = False
    whole: Clock | None = None
    reserved: float = 0.0
    waited: float = 0.0  # for others
    trace: list[Progress] = field(default_factory=list)
    _told: float = -math.inf

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def pace(self) -> float:
        """How many seconds pass for one of work: more than 1 where the machine has other work, too. At most 20."""
        if self.whole is not None:
            return self.whole.pace
        worked = time.process_time() - self.busy
        return min(max((self.seconds - self.waited) / worked, 1.0), 20.0) if worked > 0.0 else 1.0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While others work for it, which says nothing about the pace of this process."""
        if self.whole is not None:
            with self.whole.waiting():
                yield
            return
        started, worked = time.monotonic(), time.process_time()
        try:
            yield
        finally:
            self.waited += max(time.monotonic() - started - (time.process_time() - worked), 0.0)

    @property
    def remaining(self) -> float:
        """Seconds that are left to the search."""
        return self.time_limit - self.seconds

    @property
    def left(self) -> float:
        """Seconds that are left in all: what is reserved for the proof is there for it."""
        return self.time_limit + self.reserved - self.seconds

    def reserve(self, seconds: float) -> None:
        """Leave so many seconds at the end to the proof: the search's limit is so much earlier."""
        self.time_limit -= seconds
        self.reserved += seconds

    @property
    def expired(self) -> bool:
        return self.stopped or self.remaining <= 0.0 or (self.whole is not None and self.whole.expired)

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped, or the clock that it is a part of."""
        return self.stopped or (self.whole is not None and self.whole.interrupted)

    def stop(self) -> None:
        """Expire now: the search returns what it has at its next look."""
        self.stopped = True

    def part(self, share: float) -> Clock:
        """A clock that expires after a share of what remains, or with this one."""
        return Clock(self.seconds + share * max(self.remaining, 0.0), started=self.started, busy=self.busy, whole=self)

    def slice(self, seconds: float) -> Clock:
        """A clock that expires so many seconds from now, or with this one."""
        return Clock(self.seconds + seconds, started=self.started, busy=self.busy, whole=self)

    def tell(
        self,
        stage: str,
        lower: float,
        upper: float,
        evidence: int,
        *,
        record: int | None = None,
        rounds: int = 0,
        now: bool = False,
    ) -> None:
        """Report, unless the last report was a moment ago."""
        if now or self.seconds - self._told >= self.every:
            self._told = self.seconds
            self.trace.append(Progress(self.seconds, stage, lower, upper, evidence, record, rounds, self.units))
            if self.report is not None:
                self.report(self.trace[-1])
