"""Workers who are not there: a pool that works at once in this process, with copies, as if they went to another one and back."""

import pickle
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager

from dalenius.search.crew import Crew


def copied(thing: object) -> object:
    """What arrives."""
    return pickle.loads(pickle.dumps(thing))


class Colleagues:
    """A pool; tasks whose numbers are in `fails` end with those errors, and `before` is called with the number of each."""

    lost = (BrokenExecutor,)
    ready = True

    def __init__(
        self,
        size: int = 2,
        fails: Mapping[int, Exception] | None = None,
        before: Callable[[int], None] = lambda number: None,
    ) -> None:
        self.size, self.fails, self.before = size, fails or {}, before
        self.tasks = self.renewed = 0
        self.closed = False

    def submit(self, function: Callable[..., object], *arguments: object) -> Future[object]:
        task: Future[object] = Future()
        number, self.tasks = self.tasks, self.tasks + 1
        self.before(number)
        if number in self.fails:
            task.set_exception(self.fails[number])
        else:
            task.set_result(copied(function(*copied(arguments))))  # type: ignore[misc]
        return task

    def share(self, thing: object) -> object:
        return copied(thing)

    def renew(self) -> None:
        self.renewed += 1

    def close(self) -> None:
        self.closed = True

    @contextmanager
    def crew_of(self, jobs: int, scheduler: str | None, begin: Callable[[], None]) -> Iterator[Crew]:
        """Stands in for `dalenius.search.crew.crew_of`."""
        crew = Crew(lambda: self)
        yield crew
        crew.close()
