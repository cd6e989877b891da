"""The commands sweep and frontier: a grid of questions with a proved record each; the engine with its progress, tables, pictures.

Parameters
----------
output : -o, --output FOLDER
    Folder for records, models and certificates; what is done there stays done.
jobs : --jobs 1..
    Processes, each with a point at a time.
scheduler : --scheduler ADDRESS
    A Dask scheduler whose workers solve the points instead.
dry_run
    Say what would be done, and roughly how long; write nothing.
quiet : -q, --quiet
    No progress on standard error.
time_limit
    Seconds for a point; inf for no limit.
parquet
    Write records.parquet, too (extra: frames).
force
    The folder holds another sweep: take over what is the same, remove the rest.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

import dalenius as dl
from dalenius.catalogue.models import model_path
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.folders import Output, published
from dalenius.cli.shared import Method, bounds_of, err, listed, out, status_line, units_shown
from dalenius.errors import DaleniusError, InputError, counted, naming
from dalenius.intervals import interval_text, text_below
from dalenius.model import DesignProblem, MaxInformation, Problem
from dalenius.outcome import Termination
from dalenius.results import NOT_FOUND, told_text
from dalenius.search import Clock, stopped_by_interrupt
from dalenius.search.pools import need_workers
from dalenius.studies.curves import chosen_points, spread_budgets
from dalenius.studies.engine import Moment, solved
from dalenius.studies.keeping import PLAN, Folder, read_plan
from dalenius.studies.plan import ENTROPY, Plan, Settings
from dalenius.studies.record import Record
from dalenius.studies.sweep import PARQUET, Sweep, engine_in, need_ways, swept
from dalenius.units import Quantity, lower_in, upper_in

TABLES = {
    "curve": ("curve.csv", "curve-band.csv", "curve.png", "curves.png"),
    "frontier": ("frontier.csv", "frontier.png", "frontiers.png"),
}
TRIAL = 5.0  # seconds that a trial may take


@dataclass(frozen=True)
class Task:
    """A plan, and what the command line asks to be done with it."""

    command: str
    plan: Plan
    output: Path
    jobs: int
    scheduler: str | None
    force: bool
    units: str | None
    quiet: bool
    parquet: bool
    choose: int | None = None

    def done(self, dry_run: bool, as_json: bool) -> None:
        """Do it, and tell of it; or only say what would be done."""
        units_shown(self.units)
        need_workers(self.jobs, self.scheduler)
        if self.choose is not None and (self.jobs, self.scheduler) != (1, None):
            raise InputError("--adaptive: chooses one point after the other; leave --jobs and --scheduler out")
        if dry_run:
            self._foretell(as_json)
            return
        names = [name for names in TABLES.values() for name in names]
        folder = Output(self.output, [*names, PARQUET], force=True)
        with stopped_by_interrupt(whole := Clock()):
            answer, failed = self._swept(folder, whole)
            if as_json:
                write_answer(self.command, answer, map(_ends, answer["points"]))
            else:
                for file in answer["files"]:
                    out.print(file)
            folder.settle()
        if failed and not whole.expired:
            name, message = next(iter(failed.items()))
            raise DaleniusError(
                f"{name}: {message}; {len(failed)} of {answer['asked']} points have no record, the same command tries them again"
            )

    def _swept(self, folder: Output, whole: Clock) -> tuple[dict[str, Any], Mapping[str, str]]:
        plan = self.plan if self.choose is None else dataclasses.replace(self.plan, points=())
        total = self.choose or len(plan.points)
        with _progress(total, self.quiet, units_shown(self.units)) as tell:
            with engine_in(
                plan, self.output, force=self.force, jobs=self.jobs, scheduler=self.scheduler, progress=tell
            ) as engine:
                done = dict(engine.keep.records)
                if self.choose is None:
                    done |= {record.index: record for record in engine.run(plan.schedule)}
                else:
                    problem = next(iter(plan.models.values()))
                    for _ in chosen_points(problem, self.choose, engine, model=next(iter(plan.models))):
                        pass
                    done |= engine.keep.records
            folder.trouble, partial = engine.trouble, ""
            if len(done) < total and (whole.expired or folder.trouble):
                partial = f"{len(done)} of {total} points"
                kept = "" if folder.trouble else " and kept; the same command goes on"
                err.print(f"{len(done)} of {total} points are done{kept}")
        records = [done[index] for index in sorted(done)]
        result = swept(plan, engine, self.output)
        files = [] if folder.trouble else self._lists(result, folder, partial)
        answer = {"folder": self.output, "asked": total, "points": records, "failed": result.failed, "files": files}
        return answer, result.failed

    def _lists(self, result: Sweep, folder: Output, partial: str) -> list[str]:
        """Tables and pictures of what is a curve or a frontier, and all records in one file."""
        from dalenius.report import band_table, curve_picture, curve_table, frontier_picture, frontier_table

        title = next(iter(self.plan.models.values())).title or Path(next(iter(self.plan.models))).stem
        curves = {name or title: points for name, points in result.curves().items()}
        frontiers = {name or title: points for name, points in result.frontiers().items()}
        units, shown = units_shown(self.units, as_data=True), units_shown(self.units)
        tables, files = dict[str, str](), [str(self.output / "records.jsonl")]
        if len(curves) == 1:
            (points,) = curves.values()
            audits = [record for record in result.records if record.answers(dl.WorstCaseLeakage)]
            by_share = sorted(audits, key=lambda record: record.entropy_share or 0.0)
            names = [record.files["certificate"] for record in by_share]
            tables["curve.csv"] = curve_table(points, units=units, certificates=names)
            tables["curve-band.csv"] = band_table(points, units=units, certificates=names)
        if len(frontiers) == 1:
            (designs,) = frontiers.values()
            names = [record.files["certificate"] for record in result.records if not record.of_audit]
            tables["frontier.csv"] = frontier_table(designs, units=units, certificates=names)
        stale = [name for names in TABLES.values() for name in names if name not in tables]
        files += folder.write(tables, without=stale)
        if curves:
            name = "curve.png" if len(curves) == 1 else "curves.png"
            files += folder.draw(lambda: curve_picture(curves, units=shown, partial=partial), name)
        if frontiers:
            name = "frontier.png" if len(frontiers) == 1 else "frontiers.png"
            files += folder.draw(lambda: frontier_picture(frontiers, units=shown, partial=partial), name)
        if self.parquet:
            files += [str(result.parquet(self.output / PARQUET))]
        return files

    def _foretell(self, as_json: bool) -> None:
        """Print the points to solve and roughly their time, by what is done already, or by a trial of one point."""
        there = Folder(self.output, self.plan, force=self.force)
        todo = [point for point in self.plan.schedule if point.index not in there.records]
        mean, by = None, ""
        if there.records:
            mean = sum(record.seconds for record in there.records.values()) / len(there.records)
            by = f"{len(there.records)} took {mean:.2g} s each"
        elif todo:
            point, limit = todo[len(todo) // 2], self.plan.settings.time_limit
            within = TRIAL if limit is None else min(TRIAL, limit)
            answer, _ = solved(point, dataclasses.replace(self.plan.settings, time_limit=within, methods=()), None)
            mean = answer.seconds
            open_ = "" if answer.termination is not Termination.TIME_LIMIT else ", and was not done"
            by = f"a trial of {point.name} took {mean:.2g} s{open_}"
        workers = self.jobs if self.scheduler is None else None
        total = None if mean is None or workers is None else mean * len(todo) / workers
        answer_ = {
            "folder": self.output,
            "models": list(self.plan.models),
            "grid": {axis.path: list(axis.texts) for axis in self.plan.axes},
            "points": len(self.plan.points),
            "done": len(there.records),
            "todo": len(todo),
            "seconds": total,
        }
        if as_json:
            write_answer(self.command, answer_)
            return
        sizes = [counted(len(self.plan.models), "model")] + [
            f"{len(axis.values)} of {axis.path}" for axis in self.plan.axes
        ]
        out.print(f"{len(self.plan.points)} points: {' x '.join(sizes)}")
        out.print(f"{len(there.records)} done already in {self.output}, {len(todo)} to do")
        if total is not None and todo:
            out.print(f"roughly {total:.3g} s with {workers} at work ({by})")


def _ends(record: Record) -> Ends:
    return Ends(record.name, record.lower, record.upper, record.units)


@contextmanager
def _progress(total: int, quiet: bool, units: str) -> Iterator[Callable[[Moment], None]]:
    """A bar with the points done, bounds and the time left; where standard error is no terminal a line a point; nothing if quiet."""
    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
    )
    shown = err.is_terminal and not quiet
    with Bar(*columns, console=err, transient=True, disable=not shown) as bar:
        task = bar.add_task("sweep", total=total)

        def show(moment: Moment) -> None:
            left = "" if math.isnan(moment.remaining) else f", about {moment.remaining:.0f} s left"
            if moment.record is not None:
                text = _line(moment.record, units)
            elif moment.progress is not None:
                text = f"{moment.progress.stage}: {bounds_of(moment.progress)}"
            else:
                return
            bar.update(task, completed=moment.done, description=f"{text}{left}")
            if moment.record is not None and not shown and not quiet:
                err.print(f"{moment.done}/{total} {text}")

        yield show


def _line(record: Record, units: str) -> str:
    """A record in words."""
    place = ", ".join(f"{path.rpartition('.')[2]} {text}" for path, text in record.at.items()) or record.model
    if record.lower is None:
        return f"{place}: no mechanism meets the budget (proved)"
    if record.upper is None:
        return f"{place}: {NOT_FOUND}; {record.bounded} at least {text_below(record.lower)} {record.units} ({record.termination})"
    if record.quantity == Quantity.LEAKAGE.value:
        ends = lower_in(record.lower, units), upper_in(record.upper, units)
        told = told_text(*ends, units, record.values)
    else:
        told = interval_text(record.lower, record.upper)
    return f"{place}: {record.bounded} {told} ({record.termination})"


def sweep(
    models: list[str],
    output: Path,
    sets: list[str] | None = None,
    points: int = 11,
    adaptive: bool = False,
    jobs: int = 1,
    scheduler: str | None = None,
    dry_run: bool = False,
    quiet: bool = False,
    gap: float = 1e-3,
    time_limit: float = 20.0,
    node_limit: int = 1_000_000,
    memory_limit: float = 4096.0,
    methods: str | None = None,
    seeds: int = 5,
    budget: float = 10.0,
    units: str | None = None,
    parquet: bool = False,
    as_json: bool = False,
    force: bool = False,
    seed: int = 0,
    public_law: str | None = None,
    method: Method | None = None,
    solver: str = "auto",
) -> None:
    """Every MODEL at every place of a grid: a proved record each, in a folder that goes on where it was killed (docs/sweeps.md).

    Without --set: leakage of an audit against the adversary's entropy. A curve gets curve.csv, curve-band.csv and curve.png.

    Parameters
    ----------
    models : MODEL...
        Model files, or names from `dalenius list`.
    sets : --set PATH=VALUES
        A key of the model and its values: "0.1,0.3", "0:1 max:25" (first:last:count).
    points : --points 2..1000
        Without --set: entropy bounds from 0 to the largest.
    adaptive
        Choose each entropy bound where the band is widest, --points of them at most.
    node_limit : --node-limit 1..
        Leaves a record's trees may have, of each point.
    memory_limit
        MiB for a point, roughly.
    methods
        Compare every point with these rivals, too, names with commas.
    budget
        Seconds for each rival, and then for our own solve.
    """
    settings = Settings(
        gap=gap,
        time_limit=None if math.isinf(time_limit) else time_limit,
        node_limit=node_limit,
        memory_limit=memory_limit,
        seed=seed,
        method=method,
        solver=solver,
        methods=() if methods is None else tuple(listed(methods, "--methods")),
        seeds=seeds,
        budget=budget,
    )
    problems = _loaded(models, public_law, output)
    grid = _grid(sets or [])
    first = next(iter(problems.values()))
    if not grid and len(problems) == 1:
        if isinstance(first, DesignProblem):
            raise InputError(
                f"{model_path(models[0])}: without --set a sweep is about worst_case_leakage; for {first.kind} there is "
                "frontier"
            )
        if isinstance(first, MaxInformation):
            raise InputError(
                f"{model_path(models[0])}: without --set a sweep varies an adversary's entropy bound, and {first.kind} has none; "
                f"give {_varied(first)}"
            )
        if adaptive and first.about_secrets:
            raise InputError(f"{model_path(models[0])}: --adaptive is for audits of records; leave it out for secrets")
        grid = {ENTROPY: f"0:1 max:{points}"}
    elif adaptive:
        raise InputError("--adaptive: chooses the entropy bounds of one audit; leave out --set and further models")
    with naming(model_path(models[0]) if len(models) == 1 else None):
        plan = Plan.of(problems, grid, settings)
        need_ways(plan)
    task = Task("sweep", plan, output, jobs, scheduler, force, units, quiet, parquet, points if adaptive else None)
    task.done(dry_run, as_json)


def frontier(
    model: str,
    output: Path,
    budgets: str | None = None,
    points: int = 11,
    jobs: int = 1,
    scheduler: str | None = None,
    dry_run: bool = False,
    quiet: bool = False,
    gap: float = 1e-3,
    time_limit: float = 30.0,
    units: str | None = None,
    seed: int = 0,
    parquet: bool = False,
    as_json: bool = False,
    force: bool = False,
    public_law: str | None = None,
    method: Method | None = None,
    solver: str = "auto",
) -> None:
    """The best designs of MODEL for many budgets: a sweep over its budget, with frontier.csv, frontier.png, and a mechanism a point.

    MODEL's own budget is not used. A folder goes on where it was killed (docs/sweeps.md).

    Parameters
    ----------
    budgets
        Budgets, with commas, in this order.
    points : --points 2..1000
        Budgets, evenly spread, where none are given.
    """
    settings = Settings(
        gap=gap, time_limit=None if math.isinf(time_limit) else time_limit, seed=seed, method=method, solver=solver
    )
    problems = _loaded([model], public_law, output)
    name, problem = next(iter(problems.items()))
    if not isinstance(problem, DesignProblem):
        ways = f" {_varied(problem)}" if isinstance(problem, MaxInformation) else ""
        raise InputError(
            f"{model_path(model)}: a frontier is about min_leakage or min_distortion; for {problem.in_models} there is sweep{ways}"
        )
    units_shown(units)
    chosen: Sequence[str | Fraction] = [] if budgets is None else budgets.split(",")
    dl.frontier(problem, chosen, method=method, solver=solver)  # refuses what it cannot use before anything is made
    if budgets is None:
        chosen = _spread(problem, points, settings, output)
    texts = [problem.written_budget(Fraction(text)) for text in chosen]
    plan = Plan.of({name: problem}, {problem.budget_key: texts}, settings)
    Task("frontier", plan, output, jobs, scheduler, force, units, quiet, parquet).done(dry_run, as_json)


def _varied(problem: MaxInformation) -> str:
    """The option that varies what keeps a release from telling all; for a limit also what finds its whole curve."""
    if problem.privacy is not None:
        return "--set privacy.epsilon=..."
    return "--set constraints.0.at_most=... (in Python there is dl.answers.FunnelCurve.of(problem), for all limits at once)"


def _loaded(models: Sequence[str], public_law: str | None, output: Path) -> dict[str, Problem]:
    """The models by their names."""
    if len(set(models)) < len(models):
        raise InputError(f"MODEL: one of {', '.join(models)} stands there twice")
    return {name: published(dl.load(model_path(name)), public_law, output) for name in models}


def _grid(sets: Sequence[str]) -> dict[str, object]:
    """The options --set."""
    grid = dict[str, object]()
    for text in sets:
        path, there, values = text.partition("=")
        if not there or path.strip() in grid:
            reason = "stands there twice" if there else "has no ="
            raise InputError(
                f'--set: expected PATH=VALUES, each PATH once, such as mechanism.epsilon=0.1,1; "{text}" {reason}'
            )
        grid[path.strip()] = values
    return grid


def _spread(problem: DesignProblem, points: int, settings: Settings, output: Path) -> Sequence[str | Fraction]:
    """Spread budgets; those of the sweep that is there, whose ends may have taken a search to find."""
    if (output / PLAN).exists():
        there = read_plan(output)["grid"].get(problem.budget_key, [])
        if len(there) == points:
            return [text.split(" ")[0] for text in there]
    with status_line("frontier") as progress:
        limits = settings.gap, settings.time_limit
        return spread_budgets(
            problem, points, gap=limits[0], time_limit=limits[1], solver=settings.solver, progress=progress
        )
