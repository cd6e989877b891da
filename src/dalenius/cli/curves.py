"""The commands sweep and frontier: leakage against entropy, and the best design for every budget, with a certificate a point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import typer
from rich.markup import escape

import dalenius as dl
from dalenius._solve import need_way
from dalenius.catalogue.models import model_path
from dalenius.cli.folders import CERTIFICATE, ForceOption, Output, mechanism_files, of_one_run
from dalenius.cli.laws import PublicLawOption, published
from dalenius.cli.shared import (
    GapOption,
    JsonOption,
    MethodOption,
    ModelArgument,
    SeedOption,
    SolverOption,
    TimeOption,
    UnitsOption,
    err,
    named,
    naming,
    out,
    status_line,
    write_json,
)
from dalenius.cli.tables import table_in
from dalenius.exact import fraction_text
from dalenius.model import digest
from dalenius.search import Clock, Limits, stopped_by_interrupt
from dalenius.studies.sweep import CurvePoint
from dalenius.units import unit_size

__all__ = ["frontier", "sweep"]

P = TypeVar("P", CurvePoint, dl.FrontierPoint)
BAND = "curve-band.csv"


def sweep(
    model: ModelArgument,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", parser=named, metavar="FOLDER", help="Folder for table, picture and certificates."
        ),
    ],
    points: Annotated[int, typer.Option("--points", min=2, max=1000, help="Entropy bounds, evenly spread.")] = 11,
    adaptive: Annotated[
        bool,
        typer.Option(
            "--adaptive", help="Choose each entropy bound where the band is widest, --points of them at most."
        ),
    ] = False,
    gap: GapOption = 1e-3,
    time_limit: TimeOption = 20.0,
    units: UnitsOption = "nats",
    as_json: JsonOption = False,
    force: ForceOption = False,
    method: MethodOption = None,
    solver: SolverOption = "auto",
) -> None:
    """Leakage of MODEL against the adversary's entropy, from 0 to the maximum: curve.csv, curve.png, a certificate a point.

    Each certificate bounds the whole curve; curve-band.csv has what they leave of it together.

    Interrupted, it keeps what is done, and of the point at work what is proved by then.
    """
    from dalenius.report import band_table, curve_picture, curve_table, save_picture
    from dalenius.studies.sweep import at_share, entropy_curve

    unit_size(units)
    Limits(gap=gap, time_limit=time_limit)
    path = model_path(model)
    problem = dl.load(path)
    if isinstance(problem, dl.DesignProblem):
        raise dl.InputError(f"{path}: a sweep is about maximal_leakage; for {problem.kind} there is frontier")
    shares = [Fraction(j, points - 1) for j in range(points)]
    with naming(path):
        problems = [at_share(problem, share) for share in shares]
        need_way(problem, method, solver)
    folder, title = _folder(output, "curve", path, points, BAND, force=force), problem.title or path.stem
    series = _Series[CurvePoint](
        path=path,
        problem=problem,
        name="curve",
        head=lambda point: {"share_of_max_entropy": fraction_text(point.share)},
        line=lambda point: f"{fraction_text(point.share)} of the largest entropy: {point.result.to(units)}",
        files=lambda point: {},
        table=lambda done, files: curve_table(done, units=units, certificates=files),
        picture=lambda done, file, partial: save_picture(
            curve_picture({title: done}, units=units, partial=partial), file
        ),
        units=units,
        beside={BAND: lambda done, files: band_table(done, units=units, certificates=files)},
    )
    with stopped_by_interrupt(whole := Clock()), status_line("sweep") as progress:
        curve = entropy_curve(
            problem,
            None if adaptive else shares,
            points=points,
            gap=gap,
            time_limit=time_limit,
            method=method,
            solver=solver,
            progress=progress,
        )
        answer = series.written(curve, [None] * points if adaptive else problems, folder, whole)
    _tell(answer, folder, as_json)


def frontier(
    model: ModelArgument,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            parser=named,
            metavar="FOLDER",
            help="Folder for table, picture, mechanisms and certificates.",
        ),
    ],
    budgets: Annotated[str | None, typer.Option("--budgets", help="Budgets, with commas, in this order.")] = None,
    points: Annotated[
        int, typer.Option("--points", min=2, max=1000, help="Budgets, evenly spread, where none are given.")
    ] = 11,
    gap: GapOption = 1e-3,
    time_limit: TimeOption = 30.0,
    units: UnitsOption = "nats",
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    force: ForceOption = False,
    public_law: PublicLawOption = None,
    method: MethodOption = None,
    solver: SolverOption = "auto",
) -> None:
    """The best designs of MODEL for many budgets: frontier.csv, frontier.png, and a model, mechanism and certificates a point.

    MODEL's own budget is not used. Interrupted, it keeps what is done, and of the point at work what is proved by then.
    """
    from dalenius.report import frontier_picture, frontier_table, save_picture
    from dalenius.studies.frontier import spread_budgets, with_budget

    unit_size(units)
    Limits(gap=gap, time_limit=time_limit)
    path = model_path(model)
    problem = published(dl.load(path), public_law, output)
    if not isinstance(problem, dl.DesignProblem):
        raise dl.InputError(
            f"{path}: a frontier is about min_leakage or min_distortion, whose budget it varies; got {problem.kind}"
            + ("; for that there is sweep" if isinstance(problem, dl.MaximalLeakage) else "")
        )
    chosen: Sequence[str | Fraction] = [] if budgets is None else budgets.split(",")
    dl.frontier(problem, chosen, method=method, solver=solver)  # refuses what it cannot use before anything is made
    folder = _folder(output, "frontier", path, len(chosen) or points, force=force)
    title = problem.title or path.stem
    series = _Series[dl.FrontierPoint](
        path=path,
        problem=problem,
        name="frontier",
        head=lambda point: {"budget": fraction_text(point.budget)},
        line=lambda point: f"budget {fraction_text(point.budget)}: {point.result.with_leakages_in(units)}",
        files=lambda point: mechanism_files(point.problem, point.result),
        table=lambda done, files: frontier_table(done, units=units, certificates=files),
        picture=lambda done, file, partial: save_picture(
            frontier_picture({title: done}, units=units, partial=partial), file
        ),
        units=units,
    )
    with stopped_by_interrupt(whole := Clock()), status_line("frontier") as progress:
        if budgets is None:
            chosen = spread_budgets(problem, points, gap=gap, time_limit=time_limit, solver=solver, progress=progress)
        found = dl.frontier(
            problem,
            chosen,
            gap=gap,
            time_limit=time_limit,
            seed=seed,
            method=method,
            solver=solver,
            progress=progress,
        )
        problems = [with_budget(problem, budget) for budget in chosen]
        answer = series.written(found, problems, folder, whole)
    _tell(answer, folder, as_json)


def _folder(output: Path, table: str, path: Path, points: int, *more: str, force: bool) -> Output:
    """The folder of -o, with room for the table, its picture, and the files of all points."""
    files = (file for name in _names(path, points) for file in of_one_run(name))
    return Output(output, [f"{table}.csv", f"{table}.png", *more, *files], force=force)


def _names(path: Path, points: int) -> list[str]:
    """Of the points' files, without endings."""
    return [f"{path.stem}-{k:03d}" for k in range(1, points + 1)]


@dataclass(frozen=True)
class _Series(Generic[P]):
    """What a sweep and a frontier have in common: points, each with files of its own, in a table and a picture."""

    path: Path
    problem: dl.Problem
    name: str
    head: Callable[[P], dict[str, str]]
    line: Callable[[P], str]
    files: Callable[[P], dict[str, str]]
    table: Callable[[list[P], list[str]], str]
    picture: Callable[[list[P], Path, str], Path]
    units: str
    beside: Mapping[str, Callable[[list[P], list[str]], str]] = field(
        default_factory=dict
    )  # further tables, by their files

    def written(
        self, points: Iterable[P], problems: Sequence[dl.Problem | None], folder: Output, whole: Clock
    ) -> dict[str, Any]:
        """Write the points as they come, until all are done, the clock is stopped, or something cannot be written; what to answer."""
        done, rows = list[P](), list[dict[str, Any]]()
        names = _names(self.path, len(problems))
        with table_in(folder, self.name, dict(zip(names, problems, strict=True)), tuple(self.beside)) as table:
            for name, point in zip(names, points, strict=False):
                done.append(point)
                proof = {".toml": dl.dumps(point.problem), CERTIFICATE: point.result.certificate.text}
                proof |= self.files(point)
                certificate = table.add(name, point.problem, proof, lambda names: self.table(done, names))
                rows.append(self._row(point, certificate))
                err.print(escape(self.line(point)))
                if whole.expired or folder.trouble:
                    break
            partial = ""
            if len(done) < len(names) and (whole.expired or folder.trouble):
                partial = f"{len(done)} of {len(names)} points"
                err.print(f"{len(done)} of {len(names)} points are done{'' if folder.trouble else ' and kept'}")
            picture, listed = folder.folder / table.picture, folder.folder / table.name
            files = [str(listed)] if not folder.trouble else []
            certificates = [row["certificate"] for row in rows if row["certificate"]]
            if done and not folder.trouble:
                files += folder.write({name: text(done, certificates) for name, text in self.beside.items()})
            files += folder.draw(lambda: self.picture(done, picture, partial))
        return {
            "model": str(self.path),
            "digest": digest(self.problem),
            "points": rows,
            "asked": len(names),
            "files": files,
        }

    def _row(self, point: P, certificate: str | None) -> dict[str, Any]:
        """A point of the answer; the ends of its interval are null where no mechanism meets the budget."""
        result = point.result
        shown = result.to(self.units) if isinstance(result, dl.Result) else result.with_leakages_in(self.units)
        more: dict[str, Any] = {"record": shown.record} if isinstance(shown, dl.Result) else {}
        if isinstance(shown, dl.DesignResult):
            told = None if shown.leakage is None else dict(zip(("lower", "upper"), shown.leakage, strict=True))
            exact = None if shown.distortion is None else fraction_text(shown.distortion)
            more = {"feasible": shown.feasible, "leakage": told, "distortion": exact}
        return {
            **self.head(point),
            "lower": shown.lower,
            "upper": shown.upper,
            "units": shown.units,
            "gap": shown.gap,
            **more,
            "termination": shown.termination.value,
            "solvers": shown.solvers,
            "alternating": shown.alternating,
            "certificate": certificate,
        }


def _tell(answer: dict[str, Any], folder: Output, as_json: bool) -> None:
    """The answer, or the files where that is for people; then what could not be written."""
    if as_json:
        write_json(answer)
    else:
        for file in answer["files"]:
            out.print(file, markup=False)
    folder.settle()
