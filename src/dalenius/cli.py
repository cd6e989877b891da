"""The command line: solve, verify, sweep, frontier, compare, release, export, import-solution, list, library."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

import dalenius as dl
from dalenius.certify import exact_fraction_above
from dalenius.library import SETS, LibraryModel, library, library_folder, library_model, model_path, outward
from dalenius.problems import digest
from dalenius.units import lower_in, unit_size, upper_in

__all__ = ["app", "main"]

app = typer.Typer(
    help="Certified information leakage of privacy mechanisms against entropy-bounded adversaries.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, or a name from `dalenius list`.")]
GapOption = Annotated[float, typer.Option("--gap", help="Relative gap at which to stop.")]
TimeOption = Annotated[float, typer.Option("--time-limit", help="Seconds to search.")]
UnitsOption = Annotated[str, typer.Option("--units", help="nats or bits.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of the random starts.")]
CertificateOption = Annotated[
    Path | None, typer.Option("--certificate", help="Take the witness, or the priors, from this certificate of MODEL.")
]


@app.command()
def solve(
    model: ModelArgument,
    gap: GapOption = 1e-4,
    time_limit: TimeOption = 60.0,
    units: UnitsOption = "nats",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder for the certificate.")] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Write how the bounds moved with time beside it.")] = False,
    node_limit: Annotated[
        int, typer.Option("--node-limit", min=1, help="Leaves a record's trees may have.")
    ] = 1_000_000,
    memory_limit: Annotated[float, typer.Option("--memory-limit", help="MiB the trees may take, roughly.")] = 4096.0,
    seed: SeedOption = 0,
) -> None:
    """Audit or design MODEL: a proved interval for the worst-case leakage of one record, or the best mechanism within a budget.

    For a design -o writes the mechanism (NAME.mechanism.json), its own audit (NAME.mechanism.toml, .cert) and the certificate of the
    design.
    """
    unit_size(units)
    if trace and output is None:
        raise dl.InputError("--trace: give a folder for it with -o")
    path = model_path(model)
    problem = dl.load(path)
    target = _certificate_target(output, path)
    with _progress("design" if isinstance(problem, dl.DesignProblem) else "audit") as progress:
        result = dl.solve(
            problem,
            gap=gap,
            time_limit=time_limit,
            node_limit=node_limit,
            memory_limit=memory_limit,
            seed=seed,
            progress=progress,
        )
    written = result.certificate.write(target) if target else None
    if target and trace:
        _write_trace(result.trace, target.with_suffix(""), units if result.unit == "nats" else result.unit)
    if isinstance(result, dl.DesignResult):
        answer = _design_answer(problem, result, path, written, units)
        answer |= _write_design(problem, result, target.with_suffix("")) if target else {}
    else:
        answer = _answer(problem, result.to(units), path, written)
    if as_json:
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    elif isinstance(result, dl.DesignResult):
        _print_design(answer, result)
    else:
        _print_answer(answer, result)


@app.command()
def verify(
    model: ModelArgument,
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A certificate file.")],
) -> None:
    """Prove CERTIFICATE for MODEL with the independent checker: exit 0 proved, 1 rejected, 2 unreadable, 3 undecided."""
    from dalenius_check.__main__ import main as check

    raise typer.Exit(check([str(model_path(model)), str(certificate)]))


@app.command()
def sweep(
    model: ModelArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for table, picture and certificates.")],
    points: Annotated[int, typer.Option("--points", min=2, max=1000, help="Entropy bounds, evenly spread.")] = 11,
    gap: GapOption = 1e-3,
    time_limit: TimeOption = 20.0,
    units: UnitsOption = "nats",
) -> None:
    """Leakage of MODEL against the adversary's entropy, from 0 to the maximum: curve.csv, curve.png, a certificate a point."""
    from importlib.util import find_spec

    from dalenius.report import curve_picture, curve_table
    from dalenius.sweep import entropy_curve
    from dalenius.writing import write_whole

    unit_size(units)
    path = model_path(model)
    problem = dl.load(path)
    done = []
    shares = [Fraction(j, points - 1) for j in range(points)]
    with _progress("sweep") as progress:
        curve = entropy_curve(problem, shares, gap=gap, time_limit=time_limit, progress=progress)
        _make_folder(output)
        for point in curve:
            done.append(point)
            name = f"{path.stem}-{len(done):03d}"
            write_whole(output / f"{name}.toml", dl.dumps(point.problem))
            point.result.certificate.write(output / f"{name}.cert")
            write_whole(output / "curve.csv", curve_table(done, units=units))
            err.print(f"{float(point.share):6.1%} of the largest entropy: {escape(str(point.result.to(units)))}")
            if point.result.termination is dl.Termination.INTERRUPTED:
                err.print(f"interrupted: {len(done)} of {points} points are done and kept")
                break
    out.print(str(output / "curve.csv"), markup=False)
    if find_spec("matplotlib") is None:
        err.print("no picture: matplotlib is not installed (pip install 'dalenius\\[plot]')")
        return
    out.print(str(curve_picture({problem.title or path.stem: done}, output / "curve.png", units=units)), markup=False)


@app.command()
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
    from importlib.util import find_spec

    from dalenius.frontier import spread_budgets
    from dalenius.report import frontier_picture, frontier_table
    from dalenius.writing import write_whole

    unit_size(units)
    path = model_path(model)
    problem = dl.load(path)
    if not isinstance(problem, dl.DesignProblem):
        raise dl.InputError(
            f"{path}: a frontier is about min_leakage or min_distortion; for {problem.kind} there is sweep"
        )
    done = list[dl.FrontierPoint]()
    with _progress("frontier") as progress:
        if budgets is None:
            chosen: list[Any] = spread_budgets(problem, points, gap=gap, time_limit=time_limit, progress=progress)
        else:
            chosen = budgets.split(",")
        found = dl.frontier(problem, chosen, gap=gap, time_limit=time_limit, seed=seed, progress=progress)
        _make_folder(output)
        for point in found:
            done.append(point)
            stem = output / f"{path.stem}-{len(done):03d}"
            write_whole(Path(f"{stem}.toml"), dl.dumps(point.problem))
            point.result.certificate.write(Path(f"{stem}.cert"))
            _write_mechanism(point.problem, point.result, stem)
            write_whole(output / "frontier.csv", frontier_table(done, units=units))
            err.print(f"budget {float(point.budget):.6g}: {escape(str(point.result))}")
            if point.result.termination is dl.Termination.INTERRUPTED:
                err.print(f"interrupted: {len(done)} of {len(chosen)} points are done and kept")
                break
    out.print(str(output / "frontier.csv"), markup=False)
    if find_spec("matplotlib") is None:
        err.print("no picture: matplotlib is not installed (pip install 'dalenius\\[plot]')")
        return
    name = problem.title or path.stem
    out.print(str(frontier_picture({name: done}, output / "frontier.png", units=units)), markup=False)


@app.command()
def release(
    model: ModelArgument,
    mechanism: Annotated[Path, typer.Option("--mechanism", help="The mechanism's file.")],
    data: Annotated[Path, typer.Option("--data", help="A csv file: names in line 1, then a record a line, in order.")],
    column: Annotated[str | None, typer.Option("--column", help="The column to read; optional if it is alone.")] = None,
    letters: Annotated[
        str | None, typer.Option("--letters", help="The texts for letters 0, 1, ..., with commas; default 0,1,...")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", help="Proof for this mechanism; default: beside it, with the ending .cert."),
    ] = None,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds to audit without a certificate.")] = 30.0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="ONLY for simulations: makes the output predictable.")
    ] = None,
) -> None:
    """Release one output of a mechanism for real data, with a proved bound of what it leaks. The true value is never shown."""
    import numpy as np

    from dalenius.problems.mechanisms import DesignedMechanism
    from dalenius.release import audit_of_release, letter_texts, read_letters, true_input

    if seed is not None:
        err.print("WARNING: --seed makes the output predictable. This is a simulation; never publish it.")
    path = model_path(model)
    problem = dl.load(path)
    chosen = DesignedMechanism.load(mechanism)
    with _naming(mechanism):
        audit = audit_of_release(problem, chosen)
    texts = letter_texts(problem.records, None if letters is None else _listed(letters))
    beside = mechanism.with_suffix(".cert")
    proof = certificate if certificate is not None else beside if beside.exists() else None
    answer = {
        "model": str(path),
        "digest": digest(audit),
        "mechanism": str(mechanism),
        "certificate": None if proof is None else str(proof),
        **_guarantee(problem, audit, chosen, proof, time_limit),
        "simulation": seed is not None,
    }
    hidden = true_input(problem, chosen, read_letters(data, problem.records, column, texts))
    output = chosen.sample(hidden, None if seed is None else np.random.default_rng(seed))
    if as_json:
        sys.stdout.write(json.dumps({"output": output, **answer}) + "\n")
        sys.stdout.flush()
    else:
        _print_release(output, answer)


@app.command("export")
def export_program(
    model: ModelArgument,
    program: Annotated[str, typer.Option("--program", help="A program that MODEL offers; 'list' shows them.")],
    format: Annotated[str, typer.Option("--format", help="json, cbf, clarabel, mps, lp or mosek.")] = "json",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The file.")] = None,
    certificate: CertificateOption = None,
) -> None:
    """Write a convex program of MODEL as a conic instance for other solvers (docs/export.md)."""
    from dalenius.export import digest as instance_digest
    from dalenius.export import export, offered, offers

    problem = dl.load(model_path(model))
    proof = None if certificate is None else dl.Certificate.read(certificate)
    if program == "list":
        known = offers(problem, proof)
        for offer in known:
            out.print(f"{offer.name:<14} {offer.what}", markup=False)
        if not known:
            err.print("none: the adversary's priors are listed, so that leakage is evaluated, not optimised")
        return
    if output is None:
        raise dl.InputError("-o: name the file to write")
    form = offered(problem, program, proof).standard_form()
    written = export(form, output, format=format)
    sizes = ", ".join(f"{size} {cone}" for cone, size in form.sizes.items())
    out.print(str(written), markup=False)
    err.print(f"{form.c.size} columns; rows: {sizes}; {form.A.nnz} entries; {instance_digest(form)}", markup=False)


@app.command("import-solution")
def import_solution(
    model: ModelArgument,
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="The program, as `dalenius export` calls it.")],
    solution: Annotated[Path, typer.Argument(metavar="FILE", help="A solution file (docs/export.md).")],
    certificate: CertificateOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Certify a solution of an exported instance: the interval that its point and its multipliers prove, in closed form."""
    from dalenius.export import certify, offered, read_solution

    found = read_solution(solution)
    proof = None if certificate is None else dl.Certificate.read(certificate)
    chosen = offered(dl.load(model_path(model)), program, proof)
    with _naming(solution):
        answer = certify(chosen, found)
    if as_json:
        ends = {"lower": answer.lower, "upper": answer.upper, "gap": answer.gap}
        sys.stdout.write(json.dumps({k: x if math.isfinite(x) else None for k, x in ends.items()}) + "\n")
        sys.stdout.flush()
    else:
        value = "greatest" if chosen.maximises else "least"
        out.print(f"{value} value       {answer.lower:.10g} .. {answer.upper:.10g}")
        out.print(f"gap                  {answer.gap:.2e}")


@app.command()
def compare(
    model: ModelArgument,
    methods: Annotated[
        str | None, typer.Option("--methods", help="Names with commas; all that fit by default.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Starts of each rival.")] = 5,
    budget: Annotated[float, typer.Option("--budget", help="Seconds for each method.")] = 10.0,
    gap: GapOption = 1e-3,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder for table and picture.")] = None,
) -> None:
    """The certified solver beside the source paper's algorithms and other rivals on MODEL; with -o value against time as a picture."""
    path = model_path(model)
    problem = dl.load(path)
    if output is not None:
        _make_folder(output)
    comparison = dl.compare(
        problem, methods=None if methods is None else _listed(methods), seeds=seeds, budget=budget, gap=gap
    )
    written = [] if output is None else _write_comparison(comparison, output / f"{path.stem}.compare")
    if as_json:
        sys.stdout.write(json.dumps(_comparison_answer(comparison, path, written)) + "\n")
        sys.stdout.flush()
    else:
        _print_comparison(comparison)
        for file in written:
            out.print(file, markup=False)


SetOption = Annotated[str, typer.Option("--set", help=f"{', '.join(SETS)}: each has the ones before it, the last all.")]
FolderOption = Annotated[Path | None, typer.Option("--folder", help="The library's folder; by default the checkout's.")]


@app.command("list")
def list_models(
    units: UnitsOption = "nats",
    set: SetOption = SETS[-1],
    as_json: Annotated[bool, typer.Option("--json", help="The index as a JSON list on standard output.")] = False,
) -> None:
    """Show the model library."""
    unit_size(units)
    models = library(set)
    if as_json:
        sys.stdout.write(json.dumps([dataclasses.asdict(model.row()) for model in models]) + "\n")
        sys.stdout.flush()
        return
    table = Table("model", f"certified ({units})", "tightness", "what it is", box=None, pad_edge=False)
    for column in table.columns[:3]:
        column.no_wrap = True
    for model in models:
        problem = model.load()
        table.add_row(model.name, _claimed(model, problem, units), model.tightness, escape(problem.title))
    Console(highlight=False, width=max(out.width, 160)).print(table)


def _claimed(model: LibraryModel, problem: dl.Problem, units: str) -> str:
    """The interval of a model of the library, rounded outward."""
    if model.claim is None:
        return ""
    lower, upper = -exact_fraction_above(-model.claim[0]), exact_fraction_above(model.claim[1])
    distortion = isinstance(problem, dl.DesignProblem) and problem.unit == "distortion"
    if not distortion:
        lower, upper = lower_in(lower, units), upper_in(upper, units)
    return " .. ".join(outward(Fraction(lower), Fraction(upper))) + (" (distortion)" if distortion else "")


library_app = typer.Typer(
    help="Look after a library of models: tighten its intervals, take in a certificate, write its index.",
    no_args_is_help=True,
)
app.add_typer(library_app, name="library")


@library_app.command("tighten")
def library_tighten(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[MODEL]...", help="Names; all of the set by default.")
    ] = None,
    set: SetOption = SETS[-1],
    gap: GapOption = 1e-6,
    time_limit: TimeOption = 60.0,
    node_limit: Annotated[int, typer.Option("--node-limit", min=1, help="Leaves a record's trees may have.")] = 30_000,
    seed: SeedOption = 0,
    folder: FolderOption = None,
) -> None:
    """Solve models again whose gap is larger than --gap, and keep whichever ends are better. A worse one is never kept."""
    from dalenius.ratchet import tighten, write_index

    home = _library_home(folder)
    for model in [library_model(name, home) for name in names] if names else library(set, home):
        try:
            entry = tighten(model, home, gap=gap, time_limit=time_limit, node_limit=node_limit, seed=seed)
        except dl.InputError as error:
            err.print(escape(str(error)))
            continue
        out.print(f"{model.name}: {'unchanged' if entry is None else entry.interval}", markup=False)
    write_index(home)


@library_app.command("submit")
def library_submit(
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="Of one of the library's models.")],
    by: Annotated[str, typer.Option("--by", help="Who found it; by default the certificate's producer.")] = "",
    folder: FolderOption = None,
) -> None:
    """Prove CERTIFICATE and store what it makes tighter; exit 2, and nothing changed, if it is not proved or no tighter."""
    from dalenius.ratchet import submit, write_index

    home = _library_home(folder)
    with _naming(certificate):
        entry = submit(dl.Certificate.read(certificate), home, by=by)
    write_index(home)
    out.print(f"{entry.name}: {entry.interval}", markup=False)


@library_app.command("index")
def library_index(folder: FolderOption = None) -> None:
    """Write the index, INDEX.md and index.csv."""
    from dalenius.ratchet import write_index

    for path in write_index(_library_home(folder)):
        out.print(str(path), markup=False)


def _library_home(folder: Path | None) -> Path:
    return library_folder() if folder is None else folder


def _certificate_target(output: Path | None, model: Path) -> Path | None:
    if output is None:
        return None
    _make_folder(output)
    return output / f"{model.stem}.cert"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise dl.InputError(f"{folder}: cannot be made a folder: {error.strerror or error}") from None


def _write_trace(moments: tuple[dl.Progress, ...], stem: Path, units: str) -> None:
    """The table, and the picture where matplotlib is installed."""
    from importlib.util import find_spec

    from dalenius.report import trace_picture, trace_table
    from dalenius.writing import write_whole

    write_whole(Path(f"{stem}.trace.csv"), trace_table(moments, units=units))
    if find_spec("matplotlib") is not None:
        trace_picture(moments, f"{stem}.trace.png", title=stem.name, units=units)


def _answer(problem: dl.Problem, result: dl.Result, path: Path, written: Path | None) -> dict[str, Any]:
    return {
        "model": str(path),
        "digest": digest(problem),
        "lower": result.lower,
        "upper": result.upper,
        "units": result.units,
        "gap": result.gap,
        "record": result.record,
        "prior": result.witness.prior if result.witness else None,
        "termination": result.termination.value,
        "scope": result.scope.value,
        "proved": True,
        "seconds": round(result.seconds, 3),
        "certificate": str(written) if written else None,
    }


def _print_answer(answer: dict[str, Any], result: dl.Result) -> None:
    out.print(f"worst-case leakage   {answer['lower']:.10g} .. {answer['upper']:.10g} {answer['units']}")
    out.print(f"relative gap         {answer['gap']:.2e} ({result.termination.advice})")
    prior = "" if answer["prior"] is None else f", to prior {answer['prior']}"
    out.print(f"about record         {'none' if answer['record'] is None else answer['record']}{prior}")
    out.print(
        f"proved               by the independent checker, {result.certificate.lines} lines, {answer['seconds']:.2f} s"
    )
    if answer["certificate"]:
        out.print(f"certificate          {answer['certificate']}", markup=False)
    else:
        out.print("certificate          not written (-o FOLDER writes it)")


def _design_answer(
    problem: dl.Problem, result: dl.DesignResult, path: Path, written: Path | None, units: str
) -> dict[str, Any]:
    leakage = result.leakage
    information = result.unit == "nats"
    return {
        "model": str(path),
        "digest": digest(problem),
        "feasible": result.feasible,
        "lower": (lower_in(result.lower, units) if information else result.lower) if result.feasible else None,
        "upper": (upper_in(result.upper, units) if information else result.upper) if result.feasible else None,
        "units": units if information else "distortion",
        "gap": result.gap,
        "leakage": leakage
        and {"lower": lower_in(leakage[0], units), "upper": upper_in(leakage[1], units), "units": units},
        "distortion": None if result.distortion is None else str(result.distortion),
        **_privacy_answer(problem, result),
        "rounds": result.rounds,
        "explanation": list(result.explanation),
        "termination": result.termination.value,
        "scope": result.scope.value,
        "proved": True,
        "seconds": round(result.seconds, 3),
        "certificate": str(written) if written else None,
    }


def _privacy_answer(problem: dl.Problem, result: dl.DesignResult) -> dict[str, Any]:
    """For a design under a privacy notion: the notion, and the least e^epsilon for which its mechanism is private."""
    if not isinstance(problem, dl.MinDistortion) or problem.privacy is None:
        return {}
    level = None if result.level is None else str(result.level)
    return {"privacy": {"kind": problem.privacy.kind, "epsilon": problem.privacy.epsilon, "attained": level}}


def _write_design(problem: dl.Problem, result: dl.DesignResult, stem: Path) -> dict[str, Any]:
    """The mechanism, and the design's model with a csv law spelt out."""
    from dalenius.writing import write_whole

    assert isinstance(problem, dl.DesignProblem)
    if not _write_mechanism(problem, result, stem):
        return {}
    write_whole(f"{stem}.design.toml", dl.dumps(problem))
    return {"mechanism": f"{stem}.mechanism.json"}


def _write_mechanism(problem: dl.DesignProblem, result: dl.DesignResult, stem: Path) -> bool:
    """The mechanism, if there is one; against an adversary also the audit of it as a model with its certificate."""
    from dalenius.writing import write_whole

    if result.mechanism is None:
        return False
    result.mechanism.save(f"{stem}.mechanism.json")
    if result.audit is None:
        return True
    write_whole(f"{stem}.mechanism.toml", dl.dumps(problem.release(result.mechanism.rows)))
    result.audit.certificate.write(f"{stem}.mechanism.cert")
    return True


def _print_design(answer: dict[str, Any], result: dl.DesignResult) -> None:
    if not result.feasible:
        out.print("no mechanism of the class meets the budget")
    else:
        what = "least distortion    " if result.unit == "distortion" else "least leakage       "
        unit = "" if result.unit == "distortion" else f" {answer['units']}"
        assert result.distortion is not None
        out.print(f"{what} {answer['lower']:.10g} .. {answer['upper']:.10g}{unit}")
        out.print(f"relative gap         {answer['gap']:.2e} ({result.termination.advice})")
        leakage, privacy = answer["leakage"], answer.get("privacy")
        if leakage:
            out.print(f"the mechanism leaks  {leakage['lower']:.10g} .. {leakage['upper']:.10g} {leakage['units']}")
        elif privacy and result.level is not None:
            attained = f"{math.log(result.level):.10g} nats (asked: {privacy['epsilon']})"
            out.print(f"the mechanism has    {privacy['kind']}, epsilon {attained}", markup=False)
        out.print(f"    and distorts     {float(result.distortion):.10g} (exactly {_short(str(result.distortion))})")
        for line in result.explanation:
            out.print(f"symmetry             {line}", markup=False)
    out.print(
        f"proved               by the independent checker, {result.certificate.lines} lines, {answer['rounds']} rounds, "
        f"{answer['seconds']:.2f} s"
    )
    if answer["certificate"]:
        out.print(f"certificate          {answer['certificate']}", markup=False)
        if "mechanism" in answer:
            out.print(f"mechanism            {answer['mechanism']}", markup=False)
    else:
        out.print("mechanism            not written (-o FOLDER writes it, and the certificates)")


def _write_comparison(comparison: dl.Comparison, stem: Path) -> list[str]:
    """The table, and the picture where matplotlib is installed."""
    from importlib.util import find_spec

    from dalenius.report import comparison_picture, comparison_table
    from dalenius.writing import write_whole

    table = Path(f"{stem}.csv")
    write_whole(table, comparison_table(comparison))
    if find_spec("matplotlib") is None:
        return [str(table)]
    title = comparison.problem.title or stem.stem
    return [str(table), str(comparison_picture(comparison, f"{stem}.png", title=title))]


def _comparison_answer(comparison: dl.Comparison, path: Path, written: list[str]) -> dict[str, Any]:
    entries = [
        {
            "method": entry.method,
            "starts": entry.seeds,
            "value": entry.value,
            "first_start": None if math.isnan(entry.first) else entry.first,
            "claimed": entry.claimed,
            "shortfall": entry.shortfall,
            "violation": entry.violation,
            "iterations": entry.iterations,
            "evaluations": entry.evaluations,
            "seconds": round(entry.seconds, 3),
            "seconds_to_gap": None if entry.reached is None else round(entry.reached, 3),
        }
        for entry in comparison.entries
    ]
    return {
        "model": str(path),
        "digest": digest(comparison.problem),
        "lower": comparison.lower,
        "upper": comparison.upper,
        "units": comparison.unit,
        "gap": comparison.gap,
        "termination": comparison.termination.value,
        "methods": entries,
        "files": written,
    }


def _print_comparison(comparison: dl.Comparison) -> None:
    heads = (
        "method",
        "starts",
        "value",
        "uniform start",
        "shortfall",
        "violation",
        "iterations",
        "evaluations",
        "s",
        "s to gap",
    )
    table = Table(*heads, box=None, pad_edge=False)
    for entry in comparison.entries:
        table.add_row(
            entry.method,
            str(entry.seeds),
            f"{entry.value:.8f}",
            "-" if math.isnan(entry.first) else f"{entry.first:.8f}",
            f"{entry.shortfall:.2%}",
            f"{entry.violation:.1e}",
            str(entry.iterations) if entry.iterations else "-",
            str(entry.evaluations) if entry.evaluations else "-",
            f"{entry.seconds:.2f}",
            "never" if entry.reached is None else f"{entry.reached:.2f}",
        )
    Console(highlight=False, width=max(out.width, 120)).print(table)
    unit = "" if comparison.unit == "distortion" else f" {comparison.unit}"
    out.print(f"certified  {comparison.lower:.10g} .. {comparison.upper:.10g}{unit}; {comparison.termination.advice}")


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _guarantee(
    problem: dl.Problem,
    audit: dl.MaximalLeakage,
    mechanism: dl.DesignedMechanism,
    proof: Path | None,
    time_limit: float,
) -> dict[str, Any]:
    """What is known about a release before there is one: from a certificate that the checker proves, or from an audit on the spot."""
    from dalenius.release import bound_of, expected, fits_design

    if proof is None:
        with _progress("audit") as progress:
            result = dl.solve(audit, gap=1e-3, time_limit=time_limit, progress=progress)
        if result.termination is dl.Termination.INTERRUPTED:
            raise KeyboardInterrupt
        certificate = result.certificate
        upper: Fraction | None = Fraction(result.upper)
    else:
        certificate = dl.Certificate.read(proof)
        verdict = dl.verify(problem if fits_design(certificate, problem) else audit, certificate)
        if not verdict.proved:
            err.print(f"dalenius: {proof}: {verdict.status.value}: {verdict.reason}; nothing is released", markup=False)
            raise typer.Exit(verdict.exit_code)
        upper = verdict.upper
    with _naming(proof):
        bound = bound_of(problem, mechanism, upper, certificate)
    return {
        "leakage_nats": bound.nats,
        "leakage_bits": bound.bits,
        "leakage_within_budget": bound.met,
        "adversary": f"any adversary {problem.against('a release').in_words()}",
        "proved": True,
        **expected(problem, mechanism),
    }


def _listed(letters: str) -> list[str]:
    """The members of a list with commas, quoted as in a csv file where they hold one."""
    try:
        return next(csv.reader([letters], strict=True), [])
    except csv.Error as error:
        raise dl.InputError(f"--letters: {error}") from None


def _print_release(output: int | str, answer: dict[str, Any]) -> None:
    from dalenius.release import above

    def row(name: str, text: str) -> None:
        out.print(f"{name:<20} {text}", markup=False, emoji=False)

    if answer["simulation"]:
        row("SIMULATION", "a predictable output, not a release")
    row("output", str(output))
    row(
        "leakage",
        f"at most {above(answer['leakage_nats'])} nats ({above(answer['leakage_bits'])} bits) about any one record",
    )
    row("to", answer["adversary"])
    row(
        "proved",
        "by the independent checker, " + (f"from {answer['certificate']}" if answer["certificate"] else "just now"),
    )
    if answer["leakage_within_budget"] is not None:
        row("leakage budget", "met" if answer["leakage_within_budget"] else "NOT PROVED to be met")
    if answer["distortion"] is not None:
        row("expected distortion", answer["distortion"] + _against_budget(answer))
    row("valid for", "this one output; every further release of the same data adds to it")


def _against_budget(answer: dict[str, Any]) -> str:
    if answer["max_distortion"] is None:
        return ""
    return f", {'within' if answer['distortion_within_budget'] else 'ABOVE'} the budget {answer['max_distortion']}"


@contextmanager
def _naming(path: Path | None) -> Iterator[None]:
    """Errors about what stands in a file begin with its name."""
    try:
        yield
    except dl.InputError as error:
        raise (error if path is None else dl.InputError(f"{path}: {error}")) from None


@contextmanager
def _progress(what: str) -> Iterator[Any]:
    """A status line on standard error while something runs; nothing where standard error is no terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def show(moment: dl.Progress) -> None:
            bar.update(
                task,
                description=_moment(what, moment),
            )

        yield show


def _moment(what: str, moment: dl.Progress) -> str:
    """A line for a moment: of an audit, of the rounds of a design, or of one that is a linear program."""
    if moment.stage == "linear program":
        return f"{what}: {moment.stage}, {moment.lower:.6g} .. {moment.upper:.6g}"
    if moment.stage == "exchange":
        return f"{what}: round {moment.record}, {moment.nodes} priors, {moment.lower:.6g} .. {moment.upper:.6g}"
    return (
        f"{what}: {moment.stage}, record {moment.record}, {moment.nodes} leaves, "
        f"{moment.lower:.6g} .. {moment.upper:.6g} nats"
    )


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if version:
        from importlib.metadata import version as installed

        out.print(f"dalenius {installed('dalenius')}")
        raise typer.Exit()


def main() -> None:
    """Entry point: a `DaleniusError` becomes one line on standard error and exit status 2."""
    try:
        app()
    except dl.DaleniusError as error:
        err.print(f"dalenius: {escape(str(error))}")
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except OSError as error:  # standard output is full, or nobody reads it
        sys.stdout = None  # so that nothing is flushed into it at exit
        sys.stderr.write(f"dalenius: standard output: {error.strerror or error}\n")
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
