"""The commands sweep and frontier: leakage against entropy, and the best design for every budget, with a certificate a point."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

import dalenius as dl
from dalenius.catalogue.models import model_path
from dalenius.cli.shared import (
    GapOption,
    ModelArgument,
    SeedOption,
    TimeOption,
    UnitsOption,
    drawn,
    err,
    make_folder,
    out,
    status_line,
    write_mechanism,
)
from dalenius.exact import fraction_text
from dalenius.files import write_whole
from dalenius.units import unit_size

__all__ = ["frontier", "sweep"]


def sweep(
    model: ModelArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for table, picture and certificates.")],
    points: Annotated[int, typer.Option("--points", min=2, max=1000, help="Entropy bounds, evenly spread.")] = 11,
    gap: GapOption = 1e-3,
    time_limit: TimeOption = 20.0,
    units: UnitsOption = "nats",
) -> None:
    """Leakage of MODEL against the adversary's entropy, from 0 to the maximum: curve.csv, curve.png, a certificate a point."""
    from dalenius.report import curve_picture, curve_table
    from dalenius.studies.sweep import entropy_curve

    unit_size(units)
    path = model_path(model)
    problem = dl.load(path)
    done, files = [], list[str]()
    shares = [Fraction(j, points - 1) for j in range(points)]
    with status_line("sweep") as progress:
        curve = entropy_curve(problem, shares, gap=gap, time_limit=time_limit, progress=progress)
        make_folder(output)
        for point in curve:
            done.append(point)
            name = f"{path.stem}-{len(done):03d}"
            write_whole(output / f"{name}.toml", dl.dumps(point.problem))
            files.append(point.result.certificate.write(output / f"{name}.cert").name)
            write_whole(output / "curve.csv", curve_table(done, units=units, certificates=files))
            err.print(f"{fraction_text(point.share)} of the largest entropy: {escape(str(point.result.to(units)))}")
            if point.result.termination is dl.Termination.INTERRUPTED:
                err.print(f"interrupted: {len(done)} of {points} points are done and kept")
                break
    out.print(str(output / "curve.csv"), markup=False)
    for picture in drawn(lambda: curve_picture({problem.title or path.stem: done}, output / "curve.png", units=units)):
        out.print(picture, markup=False)


def frontier(
    model: ModelArgument,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for table, picture, mechanisms and certificates.")
    ],
    budgets: Annotated[str | None, typer.Option("--budgets", help="Budgets, with commas, in this order.")] = None,
    points: Annotated[
        int, typer.Option("--points", min=2, max=1000, help="Budgets, evenly spread, where none are given.")
    ] = 11,
    gap: GapOption = 1e-3,
    time_limit: TimeOption = 30.0,
    units: UnitsOption = "nats",
    seed: SeedOption = 0,
) -> None:
    """The best designs of MODEL for many budgets: frontier.csv, frontier.png, and a model, mechanism and certificates a point.

    MODEL's own budget is not used. Interrupted, it keeps what is done.
    """
    from dalenius.report import frontier_picture, frontier_table
    from dalenius.studies.frontier import spread_budgets

    unit_size(units)
    path = model_path(model)
    problem = dl.load(path)
    if not isinstance(problem, dl.DesignProblem):
        raise dl.InputError(
            f"{path}: a frontier is about min_leakage or min_distortion; for {problem.kind} there is sweep"
        )
    done, files = list[dl.FrontierPoint](), list[str]()
    with status_line("frontier") as progress:
        if budgets is None:
            chosen: list[Any] = spread_budgets(problem, points, gap=gap, time_limit=time_limit, progress=progress)
        else:
            chosen = budgets.split(",")
        found = dl.frontier(problem, chosen, gap=gap, time_limit=time_limit, seed=seed, progress=progress)
        make_folder(output)
        for point in found:
            done.append(point)
            stem = output / f"{path.stem}-{len(done):03d}"
            write_whole(Path(f"{stem}.toml"), dl.dumps(point.problem))
            files.append(point.result.certificate.write(Path(f"{stem}.cert")).name)
            write_mechanism(point.problem, point.result, stem)
            write_whole(output / "frontier.csv", frontier_table(done, units=units, certificates=files))
            err.print(f"budget {fraction_text(point.budget)}: {escape(str(point.result.with_leakages_in(units)))}")
            if point.result.termination is dl.Termination.INTERRUPTED:
                err.print(f"interrupted: {len(done)} of {len(chosen)} points are done and kept")
                break
    out.print(str(output / "frontier.csv"), markup=False)
    name = problem.title or path.stem
    for picture in drawn(lambda: frontier_picture({name: done}, output / "frontier.png", units=units)):
        out.print(picture, markup=False)
