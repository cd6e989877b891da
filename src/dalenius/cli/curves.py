"""The commands sweep and frontier: a grid of questions with a proved record each, and tables and pictures of what is a curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

import dalenius as dl
from dalenius.catalogue.models import model_path
from dalenius.cli.laws import PublicLawOption, published
from dalenius.cli.shared import (
    GapOption,
    JsonOption,
    MethodOption,
    ModelArgument,
    SeedOption,
    SeedsOption,
    SolverOption,
    UnitsOption,
    listed,
    naming,
    output_to,
    status_line,
    units_shown,
)
from dalenius.cli.sweeping import Task
from dalenius.errors import InputError
from dalenius.exact import fraction_text
from dalenius.model import DesignProblem, Problem
from dalenius.studies.curves import spread_budgets
from dalenius.studies.grid import ENTROPY
from dalenius.studies.keeping import PLAN, read_plan
from dalenius.studies.plan import Plan, Settings
from dalenius.studies.sweep import need_ways

FolderOption = Annotated[
    Path,
    output_to("FOLDER", "Folder for records, models and certificates; what is done there stays done."),
]
SetOption = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="PATH=VALUES",
        help='A key of the model and its values: "0.1,0.3", "0:1 max:25" (first:last:count).',
    ),
]
JobsOption = Annotated[int, Option("--jobs", min=1, help="Processes, each with a point at a time.")]
WorkersOption = Annotated[
    str | None,
    Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler whose workers solve the points instead."),
]
NodeOption = Annotated[int, Option("--node-limit", min=1, help="Leaves a record's trees may have, of each point.")]
MemoryOption = Annotated[float, Option("--memory-limit", help="MiB for a point, roughly.")]
PointTimeOption = Annotated[float, Option("--time-limit", help="Seconds for a point; inf for no limit.")]
DryOption = Annotated[bool, Option("--dry-run", help="Say what would be done, and roughly how long; write nothing.")]
QuietOption = Annotated[bool, Option("-q", "--quiet", help="No progress on standard error.")]
ParquetOption = Annotated[bool, Option("--parquet", help="Write records.parquet, too (extra: frames).")]
OtherOption = Annotated[
    bool, Option("--force", help="The folder holds another sweep: take over what is the same, remove the rest.")
]


def sweep(
    models: Annotated[list[str], Argument(metavar="MODEL...", help="Model files, or names from `dalenius list`.")],
    output: FolderOption,
    sets: SetOption = None,
    points: Annotated[
        int, Option("--points", min=2, max=1000, help="Without --set: entropy bounds from 0 to the largest.")
    ] = 11,
    adaptive: Annotated[
        bool,
        Option("--adaptive", help="Choose each entropy bound where the band is widest, --points of them at most."),
    ] = False,
    jobs: JobsOption = 1,
    scheduler: WorkersOption = None,
    dry_run: DryOption = False,
    quiet: QuietOption = False,
    gap: GapOption = 1e-3,
    time_limit: PointTimeOption = 20.0,
    node_limit: NodeOption = 1_000_000,
    memory_limit: MemoryOption = 4096.0,
    methods: Annotated[
        str | None, Option("--methods", help="Compare every point with these rivals, too, names with commas.")
    ] = None,
    seeds: SeedsOption = 5,
    budget: Annotated[float, Option("--budget", help="Seconds for each rival, and then for our own solve.")] = 10.0,
    units: UnitsOption = None,
    parquet: ParquetOption = False,
    as_json: JsonOption = False,
    force: OtherOption = False,
    seed: SeedOption = 0,
    public_law: PublicLawOption = None,
    method: MethodOption = None,
    solver: SolverOption = "auto",
) -> None:
    """Every MODEL at every place of a grid: a proved record each, in a folder that goes on where it was killed (docs/sweeps.md).

    Without --set: leakage of an audit against the adversary's entropy. A curve gets curve.csv, curve-band.csv and curve.png.
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
        if adaptive and isinstance(first, dl.SecretLeakage):
            raise InputError(f"{model_path(models[0])}: --adaptive is for audits of records; leave it out for secrets")
        grid = {ENTROPY: f"0:1 max:{points}"}
    elif adaptive:
        raise InputError("--adaptive: chooses the entropy bounds of one audit; leave out --set and further models")
    with naming(model_path(models[0]) if len(models) == 1 else None):
        plan = Plan.of(problems, grid, settings)
        need_ways(plan)
    task = Task(plan, output, jobs, scheduler, force, units, quiet, parquet, points if adaptive else None)
    task.done(dry_run, as_json)


def frontier(
    model: ModelArgument,
    output: FolderOption,
    budgets: Annotated[str | None, Option("--budgets", help="Budgets, with commas, in this order.")] = None,
    points: Annotated[
        int, Option("--points", min=2, max=1000, help="Budgets, evenly spread, where none are given.")
    ] = 11,
    jobs: JobsOption = 1,
    scheduler: WorkersOption = None,
    dry_run: DryOption = False,
    quiet: QuietOption = False,
    gap: GapOption = 1e-3,
    time_limit: PointTimeOption = 30.0,
    units: UnitsOption = None,
    seed: SeedOption = 0,
    parquet: ParquetOption = False,
    as_json: JsonOption = False,
    force: OtherOption = False,
    public_law: PublicLawOption = None,
    method: MethodOption = None,
    solver: SolverOption = "auto",
) -> None:
    """The best designs of MODEL for many budgets: a sweep over its budget, with frontier.csv, frontier.png, and a mechanism a point.

    MODEL's own budget is not used. A folder goes on where it was killed (docs/sweeps.md).
    """
    settings = Settings(
        gap=gap, time_limit=None if math.isinf(time_limit) else time_limit, seed=seed, method=method, solver=solver
    )
    problems = _loaded([model], public_law, output)
    name, problem = next(iter(problems.items()))
    if not isinstance(problem, DesignProblem):
        raise InputError(
            f"{model_path(model)}: a frontier is about min_leakage or min_distortion; for {problem.in_models} there is sweep"
        )
    units_shown(units)
    chosen: Sequence[str | Fraction] = [] if budgets is None else budgets.split(",")
    dl.frontier(problem, chosen, method=method, solver=solver)  # refuses what it cannot use before anything is made
    if budgets is None:
        chosen = _spread(problem, points, settings, output)
    unit = f" {problem.budget_units}" if isinstance(problem, dl.MinDistortion) else ""
    texts = [f"{fraction_text(Fraction(text))}{unit}" for text in chosen]
    plan = Plan.of({name: problem}, {problem.budget_key: texts}, settings)
    Task(plan, output, jobs, scheduler, force, units, quiet, parquet).done(dry_run, as_json)


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
