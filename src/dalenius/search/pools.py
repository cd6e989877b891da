"""Pools of workers: processes of this machine, or those of a Dask cluster."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Protocol

from dalenius.errors import InputError, brief
from dalenius.exact import as_integer

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PATIENCE = 10  # seconds to find a scheduler
LOOK = 1.0  # seconds between two looks whether anybody is still there to work for


class Task(Protocol):
    """Task of a worker; futures of concurrent.futures and of Dask are such."""

    def result(self) -> Any: ...

    def done(self) -> bool: ...

    def add_done_callback(self, fn: Callable[[Any], object], /) -> None: ...

    def cancel(self) -> Any: ...


class Pool(Protocol):
    """Workers, `size` at a time."""

    lost: tuple[type[BaseException], ...]  # what a task's result raises where its worker is lost

    @property
    def size(self) -> int: ...

    @property
    def ready(self) -> bool:
        """True if anybody can begin at once, or nobody ever will."""

    def submit(self, function: Callable[..., object], *arguments: object) -> Task: ...

    def share(self, thing: object) -> object:
        """Have something that many tasks need sent once: an argument of theirs that is it there, or `Stored`."""

    def renew(self) -> None:
        """After a worker was lost."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Stored:
    """Something for the processes of this machine, in a file of nobody else."""

    path: str

    @property
    def thing(self) -> Any:
        return _stored(self.path)


@lru_cache(maxsize=4)
def _stored(path: str) -> Any:
    import joblib

    return joblib.load(path)


class LocalPool:
    """Processes of this machine, each with one thread of linear algebra. Ctrl-C is not for them, but for whoever waits for them."""

    lost: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError)

    def __init__(self, jobs: int, begin: Callable[[], object] = os.getpid) -> None:
        """`begin` is what every process does first; one that has nothing to load is there, and no more."""
        self.size = jobs
        self._folder: tempfile.TemporaryDirectory[str] | None = None  # of what is shared
        self._executor = self._begun()
        self._here = [self.submit(begin) for _ in range(jobs)]

    @property
    def ready(self) -> bool:
        return any(task.done() for task in self._here)

    def submit(self, function: Callable[..., object], *arguments: object) -> Task:
        try:
            task: Task = self._executor.submit(function, *arguments)
        except self.lost as error:  # a worker is lost, and nobody has asked for what he was at: so is this task
            lost: Future[object] = Future()
            lost.set_exception(error)
            return lost
        return task

    def share(self, thing: object) -> object:
        import joblib

        try:
            self._folder = self._folder or tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
            with tempfile.NamedTemporaryFile(dir=self._folder.name, delete=False) as file:
                joblib.dump(thing, file)
        except OSError:  # there is no place for it: it goes with every task
            return thing
        return Stored(file.name)

    def renew(self) -> None:
        """Processes that have lost one of them take no more work."""
        self._end()
        self._executor = self._begun()

    def _end(self) -> None:
        self._executor.shutdown(wait=True, kill_workers=True)

    def close(self) -> None:
        self._end()
        if self._folder is not None:
            self._folder.cleanup()

    def _begun(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        return ProcessPoolExecutor(self.size, initializer=_begin_to_work, env=ONE_THREAD)


def _begin_to_work() -> None:
    """Ctrl-C is not for a worker, and he does not outlive whoever he works for, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_go_with, args=(os.getppid(),), daemon=True).start()


def _go_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


class ClusterPool:
    """The workers of a Dask cluster, which have this package in this version. Work of a worker that dies goes to another one."""

    def __init__(self, address: str, begin: Callable[[], object] = os.getpid) -> None:
        try:
            from distributed import CancelledError as Cancelled
            from distributed import Client, fire_and_forget
            from distributed.scheduler import KilledWorker
        except ImportError:
            raise InputError("scheduler: Dask is not installed: pip install 'dalenius[dask]'") from None
        try:
            # is there anybody? A client whose scheduler does not answer takes half a minute to say so, and to go
            from distributed.comm.addressing import get_address_host_port

            socket.create_connection(get_address_host_port(address), timeout=PATIENCE).close()
            self._client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"scheduler: expected the address of a Dask scheduler, such as tcp://127.0.0.1:8786; got {brief(address)}: {error}"
            ) from None
        self.lost: tuple[type[BaseException], ...] = (Cancelled, CancelledError, KilledWorker, OSError)
        self._here = [self.submit(begin) for _ in range(self.size)]
        fire_and_forget(self._here)  # they have begun before somebody else's audit

    @property
    def ready(self) -> bool:
        return any(task.done() for task in self._here)

    @property
    def size(self) -> int:
        return max(sum(self._client.nthreads().values()), 1)

    def submit(self, function: Callable[..., object], *arguments: object) -> Task:
        task: Task = self._client.submit(function, *arguments, pure=False)
        return task

    def share(self, thing: object) -> object:
        return self._client.scatter(thing, broadcast=True, hash=False)

    def renew(self) -> None:
        """The scheduler has seen to it."""

    def close(self) -> None:
        self._client.close()


def need_workers(jobs: object, scheduler: object) -> None:
    """`InputError` unless these are a number of processes, or 1 and the address of a Dask scheduler."""
    as_integer(jobs, "jobs", at_least=1)
    if scheduler is not None and jobs != 1:
        raise InputError("jobs: with a scheduler its workers work, however many they are; leave one of the two out")
    if scheduler is not None and not isinstance(scheduler, str):
        raise InputError(
            f"scheduler: expected the address of a Dask scheduler, such as tcp://127.0.0.1:8786; got {brief(scheduler)}"
        )


def gather(jobs: int, scheduler: str | None, begin: Callable[[], object] = os.getpid) -> Callable[[], Pool] | None:
    """Call so many processes together, or the workers of a Dask scheduler, who `begin` with what they load; None: nobody else works.

    Raises
    ------
    InputError
        As `need_workers`, and, at once, if no scheduler answers at the address.
    """
    need_workers(jobs, scheduler)
    if scheduler is not None:
        cluster = ClusterPool(scheduler, begin)
        return lambda: cluster
    return partial(LocalPool, jobs, begin) if jobs > 1 else None


@contextmanager
def pool_of(jobs: int, scheduler: str | None) -> Iterator[Pool | None]:
    """Those of `gather` while this lasts."""
    gathered = gather(jobs, scheduler)
    pool = gathered() if gathered else None
    try:
        yield pool
    finally:
        if pool is not None:
            pool.close()
