"""Ctrl-C, or another signal, as a request to stop: the clocks that hear of it expire, so that the bounds reached are returned."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from dalenius.search.clock import Clock

__all__ = ["Stop", "hearing", "stop_requested", "stopped_by_interrupt"]

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
        self._otherwise, self._clocks = otherwise, list[Clock]()

    @property
    def requested(self) -> bool:
        return self.number is not None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        heard = not self.requested and bool(self._clocks)
        self.number = number if self.number is None else self.number
        if not heard:
            self._otherwise(number, frame)
        for clock in tuple(self._clocks):
            clock.stop()

    @contextmanager
    def heard_by(self, clock: Clock) -> Iterator[None]:
        """The clock expires at a signal meanwhile, or at once if there was one."""
        self._clocks.append(clock)
        try:
            if self.requested:
                clock.stop()
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


@contextmanager
def hearing() -> Iterator[Stop]:
    """The stop that is installed, else one of Ctrl-C alone while this lasts; outside the main thread that one hears nothing."""
    there = signal.getsignal(signal.SIGINT)
    if isinstance(there, Stop):
        yield there
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
    """Whether the stop that is installed has heard a signal: for those that wait and know no clock."""
    there = signal.getsignal(signal.SIGINT)
    return isinstance(there, Stop) and there.requested
