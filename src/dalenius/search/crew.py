"""Work on trees by many: leaves are lent to workers, who grow them on their own for a moment, and what has become of them is put back.

A tree's leaves together cover its region whoever branches them, so that a bound holds while some are away, and a worker that dies
costs time only: its leaves are still there. Best first is kept roughly: the largest bounds go first, and nobody keeps any for long.
"""

from __future__ import annotations

import logging
import math
import queue
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

from dalenius.information.arrays import Floats
from dalenius.search.clock import Clock
from dalenius.search.pools import ClusterPool, LocalPool, Pool, Task, need_workers
from dalenius.search.tree import Nodes, Runner

T = TypeVar("T")
logger = logging.getLogger("dalenius")
TURN, LONGER = (
    1.0,
    0.1,
)  # seconds that a worker keeps what it is lent, at least; and as a share of the time that has passed
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


def worked(runner: Runner, seconds: float, most: float) -> Grown:
    """Grow lent leaves until the target is reached, for so many seconds, and up to so many leaves."""
    clock, before = Clock(seconds), time.process_time()
    while runner.upper > runner.target and runner.leaves < most and not clock.expired and runner.grow(clock):
        pass
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
    """Leaves that are lent, how many more they may become, and who has them."""

    runner: Runner
    numbers: tuple[int, ...]
    room: float
    task: Task | None = None


class Crew:
    """Workers for one answer; they are called together when there is work for them first.

    Parameters
    ----------
    gather : callable
        Calls them together.
    bytes : float
        The memory of this machine that they take, besides what they are lent.
    """

    def __init__(self, gather: Callable[[], Pool], *, bytes: float = 0.0) -> None:
        self._gather, self.bytes = gather, bytes
        self._done = 0
        self._out: list[_Errand] = []
        self._back: queue.SimpleQueue[_Errand] = queue.SimpleQueue()
        self._losses = 0
        self._hired, self._told = 0, queue.SimpleQueue[Task]()
        self.sent = set[int]()  # the hashes of lines that somebody was hired for

    @property
    def hands(self) -> int:
        """The number of those who are there; 1 before anybody was called."""
        return self._pool.size if "_pool" in self.__dict__ and self.usable and self.ready else 1

    def hire(self, function: Callable[..., object], *arguments: object, **options: object) -> None:
        """Have something worked out beside the trees."""
        self._hired += 1
        self._pool.submit(partial(function, **options), *arguments).add_done_callback(self._told.put)

    def results(self, waits: Callable[[], bool], clock: Clock) -> Iterator[Any]:
        """Results of it, those too that come as long as somebody waits; nothing of those who are lost."""
        while self._hired:
            there = waits()
            with clock.waiting():
                task = _next(self._told, LOOK * there)
            if task is not None:
                self._hired -= 1
                try:
                    yield task.result()
                except self._pool.lost as error:
                    self._hired, self._told = 0, queue.SimpleQueue[Task]()
                    self._lose(error)
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
        before = self._done
        try:
            while self.usable and not (work.finished() or clock.expired):
                while (idle := self._idle) > 0 and (runner := work.choose()) is not None:
                    if not self._send(runner, work, clock, idle):
                        break
                if not self._out:
                    break
                with clock.waiting():
                    errand = _next(self._back, LOOK)
                self._merge(errand, work)
            if not clock.interrupted and not work.finished():
                self._last(work)
        finally:
            self._dismiss()
        return self._done > before

    def close(self) -> None:
        """Send everybody home."""
        if "_pool" in self.__dict__:
            self._pool.close()

    @cached_property
    def _pool(self) -> Pool:
        return self._gather()

    @property
    def _idle(self) -> int:
        """Number of errands that may still be given, less than 0 once workers are gone: one waits, lest anybody has to."""
        return self._pool.size + 1 - len(self._out)

    def _send(self, runner: Runner, work: Work, clock: Clock, idle: int) -> bool:
        """Lend some leaves, with a share of the room that there is; False if there is no room, or nothing to lend."""
        room = work.room(runner)
        if room < math.inf:
            room = (room - sum(errand.room for errand in self._out)) / idle
        if room < 1.0:
            return False
        errand = _Errand(runner, runner.lend(1.0 / self._pool.size), room)
        if errand.numbers:
            lent = runner.lent(errand.numbers)
            self._out.append(errand)
            seconds = min(turn_of(clock), clock.remaining)
            errand.task = self._pool.submit(worked, lent, seconds, lent.leaves + room)
            errand.task.add_done_callback(lambda _: self._back.put(errand))
        return bool(errand.numbers)

    def _merge(self, errand: _Errand | None, work: Work) -> None:
        """Put it where it was; what was lost is lent again."""
        if errand is None or errand not in self._out:
            return
        self._out.remove(errand)
        assert errand.task is not None
        try:
            grown = errand.task.result()
        except self._pool.lost as error:
            errand.runner.take_back(errand.numbers)
            self._lose(error)
        except BaseException:
            errand.runner.take_back(errand.numbers)
            raise
        else:
            errand.runner.graft(errand.numbers, grown.nodes, grown.point)
            self._done += 1
            work.merged(errand.runner, grown.seconds)

    def _lose(self, error: BaseException) -> None:
        """A worker is lost, and with it perhaps all; others take their places."""
        self._losses += 1
        logger.warning("a worker is lost, its work is done again: %s", error)
        self._dismiss()
        if self.usable:
            self._pool.renew()

    def _last(self, work: Work) -> None:
        """The time is up: who works stops by himself, and sends back what he has."""
        until = time.monotonic() + LATE
        while self._out and time.monotonic() < until:
            self._merge(_next(self._back, LOOK), work)

    def _dismiss(self) -> None:
        """Take back lent leaves as they were."""
        for errand in self._out:
            errand.runner.take_back(errand.numbers)
            if errand.task is not None:
                errand.task.cancel()
        self._out = []


def _next(back: queue.SimpleQueue[T], seconds: float) -> T | None:
    """Next result within a time."""
    try:
        return back.get(timeout=seconds)
    except queue.Empty:
        return None


@contextmanager
def crew_of(jobs: int, scheduler: str | None) -> Iterator[Crew | None]:
    """Workers on the trees of one answer: so many processes, or those of a Dask scheduler; None where nobody else works.

    Raises
    ------
    InputError
        If these are not a number of processes, and the address of a scheduler that answers.
    """
    need_workers(jobs, scheduler)
    crew: Crew | None = None
    if scheduler is not None:
        cluster = ClusterPool(scheduler)  # at once: whoever asks for a cluster wants to know whether it is there
        crew = Crew(lambda: cluster)
    elif jobs > 1:
        crew = Crew(partial(LocalPool, jobs), bytes=jobs * PROCESS)
    try:
        yield crew
    finally:
        if crew is not None:
            crew.close()
