"""What the command line does with the plan of a sweep: the engine with its progress, then lists, tables and pictures."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

import dalenius as dl
from dalenius.cli.folders import Output
from dalenius.cli.shared import bounds_of, err, out, units_shown, write_json
from dalenius.errors import DaleniusError, InputError, counted
from dalenius.intervals import interval_text, text_below
from dalenius.outcome import Termination
from dalenius.results import NOT_FOUND, told_text
from dalenius.search import Clock, stopped_by_interrupt
from dalenius.search.pools import need_workers
from dalenius.studies.curves import chosen_points
from dalenius.studies.engine import Moment, solved
from dalenius.studies.keeping import Folder
from dalenius.studies.plan import Plan
from dalenius.studies.record import Record
from dalenius.studies.sweep import PARQUET, Sweep, engine_in, swept
from dalenius.units import Quantity, lower_in, upper_in

TABLES = {
    "curve": ("curve.csv", "curve-band.csv", "curve.png", "curves.png"),
    "frontier": ("frontier.csv", "frontier.png", "frontiers.png"),
}
TRIAL = 5.0  # seconds that a trial may take


@dataclass(frozen=True)
class Task:
    """A plan, and what the command line asks to be done with it."""

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
                write_json(answer)
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
        from dalenius.report import (
            band_table,
            curve_picture,
            curve_table,
            frontier_picture,
            frontier_table,
            save_picture,
        )

        title = next(iter(self.plan.models.values())).title or Path(next(iter(self.plan.models))).stem
        curves = {name or title: points for name, points in result.curves().items()}
        frontiers = {name or title: points for name, points in result.frontiers().items()}
        units, shown = units_shown(self.units, as_data=True), units_shown(self.units)
        tables, files = dict[str, str](), [str(self.output / "records.jsonl")]
        if len(curves) == 1:
            (points,) = curves.values()
            audits = [record for record in result.records if record.problem == dl.WorstCaseLeakage.kind]
            by_share = sorted(audits, key=lambda record: record.entropy_share or 0.0)
            names = [record.files["certificate"] for record in by_share]
            tables["curve.csv"] = curve_table(points, units=units, certificates=names)
            tables["curve-band.csv"] = band_table(points, units=units, certificates=names)
        if len(frontiers) == 1:
            (designs,) = frontiers.values()
            names = [
                record.files["certificate"]
                for record in result.records
                if record.problem not in (dl.WorstCaseLeakage.kind, dl.SecretLeakage.kind)
            ]
            tables["frontier.csv"] = frontier_table(designs, units=units, certificates=names)
        stale = [name for names in TABLES.values() for name in names if name not in tables]
        files += folder.write(tables, without=stale)
        if curves:
            file = self.output / ("curve.png" if len(curves) == 1 else "curves.png")
            files += folder.draw(lambda: save_picture(curve_picture(curves, units=shown, partial=partial), file))
        if frontiers:
            drawn = self.output / ("frontier.png" if len(frontiers) == 1 else "frontiers.png")
            files += folder.draw(lambda: save_picture(frontier_picture(frontiers, units=shown, partial=partial), drawn))
        if self.parquet:
            files += [str(result.parquet(self.output / PARQUET))]
        return files

    def _foretell(self, as_json: bool) -> None:
        """What would be done, and roughly how long: by what is done already, or by a trial of one point."""
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
            write_json(answer_)
            return
        sizes = [counted(len(self.plan.models), "model")] + [
            f"{len(axis.values)} of {axis.path}" for axis in self.plan.axes
        ]
        out.print(f"{len(self.plan.points)} points: {' x '.join(sizes)}")
        out.print(f"{len(there.records)} done already in {self.output}, {len(todo)} to do")
        if total is not None and todo:
            out.print(f"roughly {total:.3g} s with {workers} at work ({by})")


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
        return f"{place}: {NOT_FOUND}; {record.quantity} at least {text_below(record.lower)} {record.units} ({record.termination})"
    if record.quantity == Quantity.LEAKAGE.value:
        ends = lower_in(record.lower, units), upper_in(record.upper, units)
        told = told_text(*ends, units, record.values)
    else:
        told = interval_text(record.lower, record.upper)
    return f"{place}: {record.quantity} {told} ({record.termination})"
