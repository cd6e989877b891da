"""Work on trees by many: leaves are lent to workers, who grow them on their own for a moment, and what has become of them is put back.

A tree's leaves together cover its region whoever branches them, so that a bound holds while some are away, and a worker that dies
costs time only: its leaves are still there. Best first is kept roughly: the largest bounds go first, and nobody keeps any for long.
"""

from __future__ import annotations

import logging
import math
import queue
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

from dalenius.information.arrays import Floats
from dalenius.search.clock import Clock
from dalenius.search.pools import Pool, Stored, Task, gather
from dalenius.search.tree import Nodes, Runner

T = TypeVar("T")
logger = logging.getLogger("dalenius")
TURN = 0.5  # seconds that a worker keeps what it is lent, at least
LONGER = 0.02  # and as a share of the time that has passed
FEW = 8  # leaves; with less a turn is shorter, since there may be more for others soon,
BRIEF = 0.2  # but no shorter than this share
AHEAD = 3  # errands that there are for each of them, the one that he is at included
LOOK = 0.1  # seconds between two looks at the clock while everybody works
LATE = 0.5  # seconds for work that is being sent back when the time is up
PROCESS = 150 * 2.0**20  # bytes of a process that works
LOSSES = 5  # how many workers may be lost before the work goes on alone


class Grown(NamedTuple):
    """Growth of leaves that were lent, and the processor's seconds that it took."""

    nodes: Nodes
    point: Floats | None
    seconds: float


def turn_of(clock: Clock) -> float:
    """Seconds that a worker keeps what it is lent."""
    return max(TURN, LONGER * clock.seconds)


def worked(runner: Runner, common: object, seconds: float, most: float) -> Grown:
    """Grow lent leaves until the target is reached, for so many seconds, and up to so many leaves."""
    clock, before = Clock(seconds), time.process_time()
    for place in runner.common:
        setattr(*place, common.thing if isinstance(common, Stored) else common)
    while runner.upper > runner.target and runner.leaves < most and not clock.expired and runner.grow(clock):
        pass
    runner.tree.shorten()
    return Grown(runner.tree.sent(), runner.point, time.process_time() - before)


class Work(NamedTuple):
    """Work on a tree.

    Attributes
    ----------
    choose : callable
        A runner with leaves that wait, the most urgent one; None if there is none.
    room : callable
        How many more leaves there may be, of a runner.
    merged : callable
        Told a runner that has got leaves back, and the processor's seconds they have taken.
    finished : callable
        Whether enough has been done.
    """

    choose: Callable[[], Runner | None]
    room: Callable[[Runner], float]
    merged: Callable[[Runner, float], None]
    finished: Callable[[], bool]


@dataclass(eq=False)
class _Errand:
    """Somebody's work: leaves of a runner that are lent, and how many more they may become; no runner where he is hired."""

    runner: Runner | None = None
    numbers: tuple[int, ...] = ()
    room: float = 0.0
    task: Task | None = None


class Crew:
    """Workers for one answer; they are called together when there is work for them first.

    Nobody has to wait for this process: each has errands ahead of him, and whenever it waits itself, for leaves or for those who are
    hired, it gives out more.

    Parameters
    ----------
    gather : callable
        Calls them together.
    bytes : float
        The memory of this machine that they take, besides what they are lent.
    """

    def __init__(self, gather: Callable[[], Pool], *, bytes: float = 0.0) -> None:
        self._gather, self.bytes = gather, bytes
        self._work: tuple[Work, Clock] | None = None
        self._out: list[_Errand] = []
        self._back: queue.SimpleQueue[_Errand] = queue.SimpleQueue()
        self._grown, self._told = deque[tuple[Runner, float]](), deque[Any]()  # what is not handed on yet
        self._done = self._losses = 0
        # what leaves of a tree have in common, and how it is handed on
        self._common = dict[int, tuple[object, object]]()
        self.sent = set[int]()  # the hashes of lines that somebody was hired for

    @property
    def hands(self) -> int:
        """The number of those who are there; 1 before anybody was called."""
        return self._pool.size if "_pool" in self.__dict__ and self.usable and self.ready else 1

    def hire(self, function: Callable[..., object], *arguments: object, **options: object) -> None:
        """Have something worked out beside the trees."""
        self._give(_Errand(), partial(function, **options), *arguments)

    def results(self, waits: Callable[[], bool], clock: Clock) -> Iterator[Any]:
        """Results of it, those too that come as long as somebody waits; nothing of those who are lost."""
        while self._told or len(self._lent) < len(self._out):
            there = waits()
            if not self._told:
                self._step(LOOK * there, clock)
            if self._told:
                yield self._told.popleft()
            elif not there:
                break

    @property
    def usable(self) -> bool:
        """True if not too many workers have been lost."""
        return self._losses <= LOSSES

    @property
    def ready(self) -> bool:
        """True if somebody is there, or will not come; they are called if nobody has called them."""
        return self._pool.ready

    def run(self, work: Work, clock: Clock) -> bool:
        """Work together until it is finished, the clock has expired, or nobody can do anything; whether anything was done."""
        before, self._work = self._done, (work, clock)
        try:
            while self.usable and not (work.finished() or clock.expired):
                self._feed()
                if not self._lent:
                    break
                self._step(LOOK, clock)
                self._hand_on(work)
            until = time.monotonic() + LATE
            while self._lent and not (clock.interrupted or work.finished()) and time.monotonic() < until:
                self._step(LOOK, clock)  # the time is up: who works stops by himself, and sends back what he has
            self._hand_on(work)
        finally:
            self._work = None
            self._dismiss(self._lent)
        return self._done > before

    def close(self) -> None:
        """Send everybody home."""
        if "_pool" in self.__dict__:
            self._pool.close()

    @cached_property
    def _pool(self) -> Pool:
        return self._gather()

    @property
    def _lent(self) -> list[_Errand]:
        return [errand for errand in self._out if errand.runner is not None]

    def _feed(self) -> None:
        """Give errands until everybody has some ahead of him."""
        if self._work is None:
            return
        work, clock = self._work
        while self.usable and not (work.finished() or clock.expired):
            wanted = AHEAD * self._pool.size  # fewer than there are once workers are gone
            if len(self._out) >= wanted or (runner := work.choose()) is None:
                break
            if not self._send(runner, work, clock, wanted - len(self._lent)):
                break

    def _send(self, runner: Runner, work: Work, clock: Clock, places: int) -> bool:
        """Lend some leaves, with a share of the room that there is; False if there is no room, or nothing to lend.

        Few are lent for a moment only, so that there are more for whoever comes next.
        """
        room = work.room(runner)
        if room < math.inf:
            room = (room - sum(errand.room for errand in self._lent)) / places
        if room < 1.0:
            return False
        errand = _Errand(runner, runner.lend(1.0 / places), room)
        if errand.numbers:
            lent = runner.lent(errand.numbers)
            share = max(min(len(errand.numbers) / FEW, 1.0), BRIEF)
            seconds = min(turn_of(clock) * share, clock.remaining / AHEAD)
            self._give(errand, worked, lent, self._sent_once(lent), seconds, lent.leaves + room)
        return bool(errand.numbers)

    def _sent_once(self, lent: Runner) -> object:
        """Take what all leaves of a tree have in common out of some that are lent; it is sent by itself."""
        thing = None
        for place in lent.common:
            thing = getattr(*place)
            setattr(*place, None)
        if id(thing) not in self._common:
            self._common[id(thing)] = thing, self._pool.share(thing)
        return self._common[id(thing)][1]

    def _give(self, errand: _Errand, function: Callable[..., object], *arguments: object) -> None:
        self._out.append(errand)
        errand.task = self._pool.submit(function, *arguments)
        errand.task.add_done_callback(lambda _: self._back.put(errand))

    def _step(self, seconds: float, clock: Clock) -> None:
        """Wait so long for an errand's end; leaves are put where they were, and what was lost is lent again."""
        with clock.waiting():
            errand = _next(self._back, seconds)
        if errand is None or errand not in self._out:
            return
        assert errand.task is not None
        try:
            found = errand.task.result()
        except self._pool.lost as error:
            self._losses += 1
            logger.warning("a worker is lost, its work is done again: %s", error)
            self._dismiss(self._out)  # with him perhaps all, and what they had; others take their places
            self._common.clear()
            if self.usable:
                self._pool.renew()
        except BaseException:
            self._dismiss([errand])
            raise
        else:
            self._out.remove(errand)
            if errand.runner is None:
                self._told.append(found)
            else:
                errand.runner.graft(errand.numbers, found.nodes, found.point)
                self._grown.append((errand.runner, found.seconds))
        self._feed()

    def _hand_on(self, work: Work) -> None:
        """Tell what has grown, that too which comes while somebody is told."""
        while self._grown:
            self._done += 1
            work.merged(*self._grown.popleft())

    def _dismiss(self, errands: list[_Errand]) -> None:
        """Take back lent leaves as they were."""
        self._out = [errand for errand in self._out if errand not in errands]
        for errand in errands:
            if errand.runner is not None:
                errand.runner.take_back(errand.numbers)
            if errand.task is not None:
                errand.task.cancel()


def _next(back: queue.SimpleQueue[T], seconds: float) -> T | None:
    """Next result within a time."""
    try:
        return back.get(timeout=seconds)
    except queue.Empty:
        return None


@contextmanager
def crew_of(jobs: int, scheduler: str | None, begin: Callable[[], object]) -> Iterator[Crew | None]:
    """Workers on the trees of one answer, as `gather`; None where nobody else works."""
    pool = gather(jobs, scheduler, begin)
    crew = Crew(pool, bytes=jobs * PROCESS if jobs > 1 else 0.0) if pool else None
    try:
        yield crew
    finally:
        if crew is not None:
            crew.close()
