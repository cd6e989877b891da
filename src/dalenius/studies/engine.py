"""The engine of every study of many points: each is solved by a function of its question alone, here, by processes or by a cluster.

What a point begins with is fixed by its place in the plan, never by who was done first, so records are the same however many work.
"""

from __future__ import annotations

import logging
import math
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from threadpoolctl import threadpool_limits

from dalenius._solve import solve
from dalenius.audits.curve import bound_at
from dalenius.errors import DaleniusError, InputError
from dalenius.evidence import Certificate
from dalenius.model import audited
from dalenius.outcome import Termination
from dalenius.search import Clock, Progress, stopped_by_interrupt
from dalenius.search.pools import Pool, Task
from dalenius.studies.keeping import Folder, Memory
from dalenius.studies.plan import Point, Settings
from dalenius.studies.record import Answer, Record

if TYPE_CHECKING:
    from dalenius.studies.contest import MethodOutcome

logger = logging.getLogger("dalenius")
LOOK = 0.1  # seconds between two looks at the clock while everybody works
LOSSES = 5  # how often a point may lose whoever works on it

Solved: TypeAlias = "tuple[Answer, tuple[MethodOutcome, ...]]"


@dataclass(frozen=True)
class Moment:
    """Progress of a sweep.

    Attributes
    ----------
    done, total : int
        Points, those of earlier runs among them; total is 0 where points are chosen as it goes.
    record : Record or None
        What was done last; None while a point is at work in this process.
    progress : Progress or None
        Of that point.
    remaining : float
        About how many seconds are left; nan where nothing says so yet.
    """

    done: int
    total: int
    record: Record | None = None
    progress: Progress | None = None
    remaining: float = math.nan


def solved(
    point: Point, settings: Settings, known: Certificate | None, progress: Callable[[Progress], None] | None = None
) -> Solved:
    """Solve a point: a function of what it is given, with one thread of linear algebra wherever it runs."""
    with threadpool_limits(1):
        if settings.methods:
            from dalenius.studies.compare import compare  # rivals are for who asks for them

            found = compare(
                point.problem,
                methods=settings.methods,
                seeds=settings.seeds,
                budget=settings.budget,
                gap=settings.gap,
                solver=settings.solver,
            )
            if found.unfinished:
                raise KeyboardInterrupt
            return found.result, found.entries
        return solve(
            point.problem,
            progress=progress,
            known=known,
            curve=False if point.between is None else point.between,
            **settings.of_solve,
        ), ()


@dataclass
class _Errand:
    """A point that somebody works on."""

    point: Point
    started_from: int | None
    task: Task | None = None
    began: float = field(default_factory=time.monotonic)


@dataclass
class Engine:
    """Solves points and keeps their records.

    Parameters
    ----------
    keep : Folder or Memory
        Has the records of what is done already.
    pool : Pool or None
        Who works; None for this process.
    total : int
        How many points there are; 0 where that is not known.
    progress : callable, optional
        Told every record, and what a point at work in this process is at.
    strict : bool
        Raise what a point fails with, instead of going on with the others.

    Attributes
    ----------
    failed : dict of index -> message
        Points that have no record, and why; a rerun tries them again.
    trouble : InputError or None
        What could not be written: nothing is begun after that.
    """

    settings: Settings
    keep: Folder | Memory
    pool: Pool | None = None
    total: int = 0
    progress: Callable[[Moment], None] | None = None
    strict: bool = False
    clock: Clock = field(default_factory=Clock)
    failed: dict[int, str] = field(default_factory=dict)
    trouble: InputError | None = None

    def __post_init__(self) -> None:
        self._before = len(self.keep.records)
        self._unwritten = Memory()

    def run(self, points: Sequence[Point]) -> Iterator[Record]:
        """The records of points as they are done; those that have one are skipped. Ctrl-C ends it with what is done.

        Points are begun in this order, each as soon as those that it may begin with are done.
        """
        waiting = [point for point in points if point.index not in self.keep.records]
        with stopped_by_interrupt(self.clock):
            yield from self._alone(waiting) if self.pool is None else self._together(waiting, self.pool)

    def answer(self, record: Record) -> Answer:
        """The answer of a record."""
        return (self._unwritten if record.index in self._unwritten.records else self.keep).answer(record)

    # ------------------------------------------------------------ what a point begins with

    def _known(self, point: Point) -> tuple[int | None, Certificate | None]:
        """The proof that says most about an audit, or the nearest one with priors for a design, and whose it is, if there is one."""
        done = [(index, self.keep.certificate(index)) for index in point.before if index in self.keep.records]
        if point.problem.share is None:
            return next((pair for pair in done if len(pair[1].lower_lines()) > 1), (None, None))
        problem = audited(point.problem)
        return min(done, key=lambda pair: bound_at(pair[1], problem), default=(None, None))

    # ------------------------------------------------------------ in this process

    def _alone(self, waiting: Sequence[Point]) -> Iterator[Record]:
        for point in waiting:
            if self.clock.expired or self.trouble is not None:
                return
            started_from, known = self._known(point)
            try:
                answer, methods = solved(point, self.settings, known, self._told)
            except DaleniusError as error:
                self._fail(point, error)
                continue
            except KeyboardInterrupt:
                self.clock.stop()
                return
            if self.clock.interrupted or answer.termination is Termination.INTERRUPTED:
                self.clock.stop()  # cut short, it would not be the same again
                return
            yield self._kept(point, answer, methods, started_from)

    def _told(self, progress: Progress) -> None:
        if self.progress is not None:
            self.progress(Moment(len(self.keep.records), self.total, None, progress, self._remaining()))

    # ------------------------------------------------------------ by others

    def _together(self, waiting: list[Point], pool: Pool) -> Iterator[Record]:
        out, losses = dict[int, _Errand](), dict[int, int]()
        back = queue.SimpleQueue[tuple[int, Task]]()
        try:
            while (waiting or out) and not self.clock.expired and self.trouble is None:
                while len(out) <= pool.size and (point := self._ready(waiting, out)) is not None:
                    waiting.remove(point)
                    out[point.index] = self._sent(point, pool, back)
                if not out:
                    return  # what waits, waits for something that failed
                try:
                    index, task = back.get(timeout=LOOK)
                except queue.Empty:
                    continue
                errand = out.get(index)
                if errand is None or errand.task is not task:
                    continue
                try:
                    answer, methods = task.result()
                except pool.lost as error:
                    self._lose(out, losses, waiting, error)
                    pool.renew()
                except DaleniusError as error:
                    self._fail(out.pop(index).point, error)
                else:
                    del out[index]
                    yield self._kept(errand.point, answer, methods, errand.started_from)
        finally:
            _dismiss(out)

    def _ready(self, waiting: Sequence[Point], out: Mapping[int, _Errand]) -> Point | None:
        """The first point that nothing before it is still to come of; what failed does not come."""
        coming = {point.index for point in waiting} | out.keys()
        return next((point for point in waiting if coming.isdisjoint(point.before)), None)

    def _sent(self, point: Point, pool: Pool, back: queue.SimpleQueue[tuple[int, Task]]) -> _Errand:
        started_from, known = self._known(point)
        errand = _Errand(point, started_from)
        task = errand.task = pool.submit(solved, point, self.settings, known)
        task.add_done_callback(lambda _: back.put((point.index, task)))
        return errand

    def _lose(
        self, out: dict[int, _Errand], losses: dict[int, int], waiting: list[Point], error: BaseException
    ) -> None:
        """Somebody is lost, and with him perhaps what all others were at: it is done again, unless that has happened too often."""
        logger.warning("a worker is lost, its points are done again: %s", error)
        _dismiss(out)
        for index in sorted(out):
            point = out.pop(index).point
            losses[index] = losses.get(index, 0) + 1
            if losses[index] > LOSSES:
                self.failed[index] = f"whoever worked on it was lost {losses[index]} times: too little memory, perhaps"
            else:
                waiting.insert(0, point)

    # ------------------------------------------------------------ what is done

    def _fail(self, point: Point, error: DaleniusError) -> None:
        if self.strict:
            raise error
        self.failed[point.index] = str(error)

    def _kept(self, point: Point, answer: Answer, methods: Sequence[MethodOutcome], started_from: int | None) -> Record:
        try:
            record = self.keep.add(point, answer, started_from, methods)
        except InputError as error:
            self.trouble = error
            record = self._unwritten.add(point, answer, started_from, methods)
        if self.progress is not None:
            self.progress(Moment(len(self.keep.records), self.total, record, None, self._remaining()))
        return record

    def _remaining(self) -> float:
        now = len(self.keep.records) - self._before
        left = self.total - len(self.keep.records)
        return self.clock.seconds / now * left if now and self.total else math.nan


def told_to(progress: Callable[[Progress], None] | None) -> Callable[[Moment], None] | None:
    """For those who want to know of each solve, not of the sweep."""
    if progress is None:
        return None
    return lambda moment: None if moment.progress is None else progress(moment.progress)


def _dismiss(out: Mapping[int, _Errand]) -> None:
    for errand in out.values():
        if errand.task is not None:
            errand.task.cancel()
