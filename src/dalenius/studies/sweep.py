"""Sweeps: a grid of problems, a proved record for each, in memory or in a folder that a killed sweep goes on from."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dalenius._solve import need_way
from dalenius._verify import verify
from dalenius.errors import InputError, NotProvedError, brief
from dalenius.files import write_whole
from dalenius.model import MinDistortion, MinLeakage, Problem, WorstCaseLeakage
from dalenius.notebook import data_frame, in_brief
from dalenius.search.pools import need_workers, pool_of
from dalenius.studies.compare import need_comparable
from dalenius.studies.contest import number_or_text
from dalenius.studies.curves import CurvePoint, FrontierPoint, curve_point, frontier_point
from dalenius.studies.engine import Engine, Moment
from dalenius.studies.keeping import Files, Folder, Memory, read_plan, records_in
from dalenius.studies.plan import ENTROPY, Plan, Settings
from dalenius.studies.record import Answer, Record

if TYPE_CHECKING:
    import pandas as pd


PARQUET = "records.parquet"


@dataclass(frozen=True)
class Sweep:
    """The records of a sweep, in the order of its grid.

    Attributes
    ----------
    plan : dict
        What the sweep is: `models`, `grid`, `settings`, `points` (docs/sweeps.md).
    records : tuple of Record
        Those that are done.
    failed : dict of name -> message
        Points of this run that have no record, and why; a rerun tries them again.
    folder : Path or None
        Where it is; None in memory.
    """

    __repr__ = in_brief

    plan: Mapping[str, Any]
    records: tuple[Record, ...]
    failed: Mapping[str, str]
    folder: Path | None
    _kept: Files | Memory

    @classmethod
    def read(cls, folder: str | Path) -> Self:
        """The sweep of a folder, as far as it is done.

        Raises
        ------
        InputError
            If there is no plan of a sweep in it.
        """
        folder = Path(folder)
        plan = read_plan(folder)
        records = tuple(records_in(folder))
        return cls(plan, records, {}, folder, Files(folder))

    @property
    def complete(self) -> bool:
        """True if every point of the grid has a record."""
        return self.plan["points"] is None or len(self.records) == self.plan["points"]

    def result(self, record: Record) -> Answer:
        """The answer of a record: as it was given, or from a folder without witness, prices, who solved what, and trace.

        Raises
        ------
        InputError
            If a file is missing, or the certificate is not the one that the record names by its SHA-256.
        """
        return self._kept.answer(record)

    def problem(self, record: Record) -> Problem:
        """The question of a record."""
        return self._kept.problem(record)

    def verify(self) -> None:
        """Have the checker prove every certificate once more.

        Raises
        ------
        NotProvedError
            If one is not proved; the message names its record.
        """
        for record in self.records:
            verdict = verify(self.problem(record), self.result(record).certificate)
            if not verdict.proved:
                message = f"{record.name}: {verdict.status.value}: {verdict.reason}"
                raise NotProvedError(message, status=verdict.status.value, exit_code=verdict.exit_code)

    def frame(self) -> pd.DataFrame:
        """A pandas DataFrame with a row a record: a column for each path of the grid, then the record's own fields.

        Values of the grid are numbers where all of a column are, else texts.

        Raises
        ------
        InputError
            If pandas is not installed (the extra ``frames``).
        """
        rows = []
        for record in self.records:
            fields = vars(record).copy()
            rows.append({**{path: number_or_text(text) for path, text in fields.pop("at").items()}, **fields})
        return data_frame(rows)

    def parquet(self, path: str | Path) -> Path:
        """Write `frame` as a Parquet file, whole or not at all; `InputError` where pandas or pyarrow is not installed."""
        frame, written = self.frame(), io.BytesIO()
        for name in frame.columns:
            if frame[name].map(lambda value: isinstance(value, dict | list | tuple)).any():
                frame[name] = frame[name].map(json.dumps)
            elif frame[name].map(type).nunique() > 1 and name in self.plan["grid"]:
                frame[name] = frame[name].map(str)
        try:
            frame.to_parquet(written, index=False)
        except ImportError:
            raise InputError("Parquet needs pyarrow: pip install 'dalenius[frames]'") from None
        return write_whole(path, written.getvalue())

    # ------------------------------------------------------------ as curves

    def curves(self) -> dict[str, Sequence[CurvePoint]]:
        """The audits along the entropy bound, by what else they differ in, each in the order of the bounds."""
        found = {
            label: [curve_point(self.problem(record), self.result(record)) for record in records]
            for label, records in self._lines(WorstCaseLeakage, ENTROPY).items()
        }
        return {label: sorted(points, key=lambda point: point.share) for label, points in found.items()}

    def frontiers(self) -> dict[str, Sequence[FrontierPoint]]:
        """The designs along their budget, by what else they differ in, in the grid's order."""
        lines = dict[str, list[Record]]()
        for design in (MinLeakage, MinDistortion):
            lines |= self._lines(design, design.budget_key)
        return {
            label: [frontier_point(self.problem(record), self.result(record)) for record in records]
            for label, records in lines.items()
        }

    def _lines(self, question: type[Problem], path: str) -> dict[str, list[Record]]:
        """The records of a kind of question that have this path, by the others and, if there are several, the models."""
        lines = dict[str, list[Record]]()
        several = len(self.plan["models"]) > 1
        for record in self.records:
            if record.answers(question) and path in record.at:
                rest = [f"{key.rpartition('.')[2]} {text}" for key, text in record.at.items() if key != path]
                lines.setdefault(", ".join([record.model] * several + rest), []).append(record)
        return lines


def sweep(
    problem: Problem | Mapping[str, Problem],
    grid: Mapping[str, object] | None = None,
    *,
    output: str | Path | None = None,
    force: bool = False,
    jobs: int = 1,
    scheduler: str | None = None,
    gap: float = 1e-3,
    time_limit: float | None = 20.0,
    node_limit: int | None = 1_000_000,
    memory_limit: float | None = 4096.0,
    seed: int = 0,
    method: str | None = None,
    solver: str = "auto",
    methods: Sequence[str] = (),
    seeds: int = 5,
    budget: float = 10.0,
    progress: Callable[[Moment], None] | None = None,
) -> Sweep:
    """Solve a grid of problems, and keep a proved record of each. The first Ctrl-C ends it with what is done.

    Points that differ in the entropy bound, or in a design's budget, form chains along which proofs and priors are handed on: place k
    of a chain may begin with the places that k becomes when its last binary digits 1 are taken away one by one
    (`dalenius.studies.plan.ancestors`). So a rerun repeats itself record for record, whoever works and however many, as long as points
    stop by their gap or by nodes, not by time, and are no designs, whose search looks at the clock.

    Parameters
    ----------
    problem : Problem, or mapping of name -> Problem
    grid : mapping of path -> values, optional
        Keys of the model file with their tables before them, as ``"mechanism.epsilon"``; values as a list, or a text such as
        ``"0.1,0.3"``, ``"0:1 max:25"``. The last one runs fastest. Parts may be values, too: ``{"mechanism": [dl.geometric(1)]}``.
    output : path, optional
        A folder; a sweep that is there already goes on. Nothing of it is done twice.
    force : bool
        Where the folder holds another sweep: take over what is the same, remove the rest.
    jobs : int
        Processes of this machine, each with a point at a time.
    scheduler : str, optional
        The address of a Dask scheduler whose workers work instead (``pip install 'dalenius[dask]'``).
    gap, time_limit, node_limit, memory_limit, seed, method, solver
        As in `solve`, for each point.
    methods, seeds, budget
        Rivals that every point is also compared with, as in `compare`; the certified solver then has `budget` seconds, too.
    progress : callable, optional
        Told a `Moment` for every record, and what a point is at that is at work in this process.

    Returns
    -------
    Sweep

    Raises
    ------
    InputError
        If an argument is invalid, a point of the grid is no problem, or the folder holds another sweep, or cannot be written.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(), mechanism=dl.symmetric(0.1, k=2),
    ...     adversary=dl.AnyPrior())
    >>> swept = dl.sweep(problem, {"mechanism.flip": [0.1, 0.4], "adversary.entropy_at_least": "0:1 max:2"})
    >>> [round(record.upper, 3) for record in swept.records]
    [0.368, 0.0, 0.02, 0.0]
    """
    settings = Settings(
        gap=gap,
        time_limit=time_limit,
        node_limit=node_limit,
        memory_limit=memory_limit,
        seed=seed,
        method=method,
        solver=solver,
        methods=tuple(methods),
        seeds=seeds,
        budget=budget,
    )
    models = problem if isinstance(problem, Mapping) else {"model": problem}
    plan = Plan.of(models, grid or {}, settings)
    need_ways(plan)
    need_workers(jobs, scheduler)
    if progress is not None and not callable(progress):
        raise InputError(f"progress: expected a callable, or None, got {brief(progress)}")
    with engine_in(plan, output, force=force, jobs=jobs, scheduler=scheduler, progress=progress) as engine:
        for _ in engine.run(plan.schedule):
            pass
    if engine.trouble is not None:
        raise engine.trouble
    return swept(plan, engine, output)


def need_ways(plan: Plan) -> None:
    """`InputError` unless the method, the solver and the rivals are for every point."""
    settings = plan.settings
    for point in plan.points:
        need_way(point.problem, settings.method, settings.solver)
        if settings.methods:
            need_comparable(point.problem, settings.methods, settings.seeds, settings.budget, settings.gap)


def swept(plan: Plan, engine: Engine, output: str | Path | None) -> Sweep:
    """Sweep that an engine has made of a plan."""
    records = tuple(engine.keep.records[index] for index in sorted(engine.keep.records))
    names = {point.index: point.name for point in plan.points}
    failed = {names[index]: message for index, message in engine.failed.items()}
    keep = engine.keep if isinstance(engine.keep, Memory) else Files(engine.keep.path)
    return Sweep(plan.described(), records, failed, None if output is None else Path(output), keep)


@contextmanager
def engine_in(
    plan: Plan,
    output: str | Path | None,
    *,
    force: bool = False,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[Moment], None] | None = None,
) -> Iterator[Engine]:
    """Choose who solves the points of a plan, and keeps them in a folder, or in memory; the folder's list is written at the end."""
    keep: Folder | Memory = Memory() if output is None else Folder(Path(output), plan, force=force)
    todo = len(keep.records) < len(plan.points)
    with (
        keep.working() if isinstance(keep, Folder) else nullcontext(),
        pool_of(jobs, scheduler) if todo else nullcontext() as pool,
    ):
        engine = Engine(plan.settings, keep, pool, len(plan.points), progress)
        yield engine
        if isinstance(keep, Folder) and engine.trouble is None:
            keep.finish()
