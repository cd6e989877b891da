"""The trees of an audit as work for many (`search.crew`): which is grown next, and what each may take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from dalenius.audits.record_audit import RecordAudit
from dalenius.audits.tree_room import TreeRoom
from dalenius.search.clock import Clock
from dalenius.search.crew import Crew, Work
from dalenius.search.race import Runner

__all__ = ["Together"]

ALONE = 0.25  # seconds of an audit before others are called; until they are there it goes on alone


@dataclass(frozen=True)
class Together:
    """Who works on the trees of an audit besides this process; nobody where there is no crew, or before it is there.

    What it does says whether anything was done.
    """

    trees: TreeRoom
    crew: Crew | None
    clock: Clock
    began: float
    target: Callable[[], float]

    def rows(
        self,
        record: RecordAudit,
        turn: Clock,
        runners: Sequence[Runner],
        least: int,
        told: Callable[[], None],
        finished: Callable[[], bool],
    ) -> bool:
        """Grow the row trees of a dual bound until this is finished, those first that are furthest from their targets.

        There must be room for a least number of leaves, too, those of another bound.
        """

        def choose() -> Runner | None:
            if not self.trees.may_grow(turn, record, *runners, least=least):
                return None
            return max((r for r in runners if r.waits), key=lambda runner: runner.upper - runner.target, default=None)

        def room(runner: Runner) -> float:
            return self.trees.leaves_left(record, runner, runners, least)

        return self._run(Work(choose, room, lambda runner, seconds: told(), finished), turn)

    def races(
        self,
        records: Sequence[RecordAudit],
        whole: Clock,
        clock: Clock,
        grown: Callable[[RecordAudit, Runner], None],
        pause: Callable[[RecordAudit], bool],
    ) -> bool:
        """Grow the trees of several records, that with the largest bound first, by the rules of each one's race.

        `clock` ends before `whole` does: what lies between is for the check. Where a record asks for a pause something else is next.
        """
        owner = {id(runner): record for record in records if record.race for runner in record.race.runners}

        def may_grow(record: RecordAudit, runner: Runner) -> bool:
            return runner.waits and self.trees.may_grow(whole, record, runner)

        def choose() -> Runner | None:
            for record in sorted(records, key=lambda record: -record.bounded):
                if record.race is None or record.bounded <= self.target():
                    break
                runner = record.race.choose(self.target(), partial(may_grow, record))
                if runner is not None:
                    return runner
            return None

        def room(runner: Runner) -> float:
            return self.trees.leaves_left(owner[id(runner)], runner, (runner,))

        def merged(runner: Runner, seconds: float) -> None:
            record = owner[id(runner)]
            assert record.race is not None
            record.race.charge(runner, seconds)
            grown(record, runner)

        def finished() -> bool:
            worst = max(records, key=lambda record: record.bounded)
            return worst.bounded <= self.target() or pause(worst)

        return self._run(Work(choose, room, merged, finished), clock)

    def _run(self, work: Work, clock: Clock) -> bool:
        if self.crew is None or self.clock.seconds - self.began <= ALONE:
            return False
        return self.crew.ready and self.crew.run(work, clock)
