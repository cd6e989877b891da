"""Time that passes by being read, so that a time limit is a fixed amount of work on every machine, busy or idle."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

LOOKS_AT_THE_CLOCK = ("dalenius.search.clock", "dalenius.search.tree")
TICK = 2.0**-12  # seconds a reading: about what a search takes between two looks at the clock; sums of it are exact
PATIENCE = 1000.0  # seconds of the machine that a solver with a limit of its own has for one of work: a busy machine changes nothing


class WorkClock:
    """Stands in for the module `time` where searches look at it; alarms go off at a reading, in the middle of the work."""

    def __init__(self) -> None:
        self.now, self.tick = 0.0, TICK
        self._alarms = list[tuple[float, Callable[[], object]]]()

    @classmethod
    def installed(cls) -> Self:
        """A clock that every search of this process looks at from now on."""
        clock = cls()
        for name in LOOKS_AT_THE_CLOCK:
            importlib.import_module(name).time = clock
        importlib.import_module("dalenius.search.clock").MACHINE = PATIENCE
        return clock

    def monotonic(self) -> float:
        self.now += self.tick
        for alarm in [alarm for alarm in self._alarms if alarm[0] <= self.now]:
            self._alarms.remove(alarm)
            alarm[1]()
        return self.now

    def process_time(self) -> float:
        """Nobody else is at work."""
        return self.now

    def alarm(self, seconds: float, action: Callable[[], object]) -> None:
        """Call `action` at the first reading after so many seconds of work."""
        self._alarms.append((self.now + seconds, action))


@dataclass
class Looks:
    """Expires at a look, and counts them."""

    left: int
    late: int = 0

    @property
    def expired(self) -> bool:
        self.left -= 1
        self.late += self.left < 0
        return self.left < 0

    @property
    def remaining(self) -> float:
        return 1.0
