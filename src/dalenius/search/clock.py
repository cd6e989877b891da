"""Clocks: how long a search may go on, whom it tells, and Ctrl-C as a request to stop, so that the bounds reached are returned."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from cvxcertify.talking import say
from dalenius.information.deadline import Deadline, need_time
from dalenius.intervals import text_above, text_below


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
PROVING = 1.25  # seconds that proofs have in all after a clock was stopped, a running one included
MACHINE = 1.0  # seconds of the machine in one of a clock: more where clocks count work, which is no matter of how busy that is


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
    _end: float = math.inf  # when proofs must be done, once it is stopped
    _told: float = -math.inf

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def pace(self) -> float:
        """Seconds that pass for one of work: more than 1 where the machine has other work, too. At most 20."""
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
        return min(self.time_limit + self.reserved - self.seconds, self.spared)

    @property
    def spared(self) -> float:
        """Seconds that proofs still have after it was stopped, or the clock that it is a part of; infinite before."""
        own = self._end - time.monotonic() if self.stopped else math.inf
        return own if self.whole is None else min(own, self.whole.spared)

    def reserve(self, seconds: float) -> None:
        """Leave so many seconds at the end to the proof: the search's limit is so much earlier."""
        self.time_limit -= seconds
        self.reserved += seconds

    @property
    def expired(self) -> bool:
        return self.stopped or self.remaining <= 0.0 or (self.whole is not None and self.whole.expired)

    @property
    def interrupted(self) -> bool:
        """True if it was stopped, or the clock that it is a part of."""
        return self.stopped or (self.whole is not None and self.whole.interrupted)

    def machine(self, seconds: float) -> float:
        """So many of its seconds as somebody counts them who does not look at it: a conic solver with a limit of its own."""
        return seconds * MACHINE

    def stop(self, moment: float | None = None) -> None:
        """Expire now: the search returns what it has at its next look, of which is kept what is proved shortly after that moment."""
        self._end = min(self._end, (time.monotonic() if moment is None else moment) + PROVING)
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
        """Report, unless the last report was a moment ago; nothing is below 0, however doubles round."""
        lower, upper = max(lower, 0.0), max(upper, 0.0)
        if now or self.seconds - self._told >= self.every:
            self._told = self.seconds
            self.trace.append(Progress(self.seconds, stage, lower, upper, evidence, record, rounds, self.units))
            say(f"{stage}: {text_below(lower)} .. {text_above(upper)} {self.units} after {self.seconds:.2f} s")
            if self.report is not None:
                self.report(self.trace[-1])


# Ctrl-C, or another signal, as a request to stop: the clocks that hear of it expire, so that the bounds reached are returned.


Handler = Callable[[int, FrameType | None], Any]


class Stop:
    """A signal handler: the first signal expires every clock that hears it, now or from then on.

    A further signal, or a first one that no clock hears, goes where it would have gone. While a stop is installed, whoever wants to
    hear signals joins it (`hearing`): a signal between two solves of a sweep counts for the sweep.

    Parameters
    ----------
    otherwise : signal handler
        Where the others go.

    Attributes
    ----------
    number : int or None
        Which signal came first; None before there was one.
    """

    def __init__(self, otherwise: Handler) -> None:
        self.number: int | None = None
        self._moment = math.inf
        self._otherwise, self._clocks = otherwise, list[Clock]()

    @property
    def requested(self) -> bool:
        return self.number is not None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        heard = not self.requested and bool(self._clocks)
        if not self.requested:
            self.number = number
            self._moment = time.monotonic()
        if not heard:
            self._otherwise(number, frame)
        for clock in tuple(self._clocks):
            clock.stop(self._moment)

    @contextmanager
    def heard_by(self, clock: Clock) -> Iterator[None]:
        """The clock expires at a signal meanwhile, or at once if there was one."""
        self._clocks.append(clock)
        try:
            if self.requested:
                clock.stop(self._moment)
            yield
        finally:
            self._clocks = [other for other in self._clocks if other is not clock]

    @contextmanager
    def installed(self, numbers: Sequence[int]) -> Iterator[None]:
        """It handles these signals meanwhile, but for those that the process ignores. Only the main thread can install it."""
        before = {number: signal.getsignal(number) for number in numbers}
        before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
        for number in before:
            signal.signal(number, self)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _installed() -> Stop | None:
    """The stop that is installed; not for Ctrl-C where the process ignores that, as the background jobs of a shell do."""
    handlers = (signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM))
    return next((handler for handler in handlers if isinstance(handler, Stop)), None)


@contextmanager
def hearing() -> Iterator[Stop]:
    """The stop that is installed, else one of Ctrl-C alone while this lasts; outside the main thread that one hears nothing."""
    there, installed = signal.getsignal(signal.SIGINT), _installed()
    if installed is not None:
        yield installed
    elif callable(there) and threading.current_thread() is threading.main_thread():
        stop = Stop(there)
        with stop.installed([signal.SIGINT]):
            yield stop
    else:
        yield Stop(signal.default_int_handler)


@contextmanager
def stopped_by_interrupt(clock: Clock) -> Iterator[None]:
    """The first Ctrl-C, or what the installed `Stop` hears, stops the clock; the second one is an interrupt as usual."""
    with hearing() as stop, stop.heard_by(clock):
        yield


def stop_requested() -> bool:
    """True if the stop that is installed has heard a signal: for those that wait and know no clock."""
    installed = _installed()
    return installed is not None and installed.requested


# Work that knows no clock, ended when its time is over: formulas in exact numbers, and other people's Python.


EVERY = 0.05  # seconds of work between two looks at the clock


@contextmanager
def ended_with(clock: Deadline) -> Iterator[None]:
    """Raise `TimeIsOverError` where the block is, once the clock has expired: at its begin, or between two steps of Python.

    What is in the block must be of use only as a whole, and leave nothing behind that is half done. One call of compiled code ends
    when it ends. So does the block outside the main thread, where no signal arrives, and in a process with an alarm of its own.
    """
    need_time(clock)
    if not _free():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        need_time(clock)

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, EVERY, EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def _free() -> bool:
    """True if there can be an alarm, and is none."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGVTALRM) in (signal.SIG_DFL, signal.SIG_IGN)
