"""The command line: solve, verify, sweep, list."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

import dalenius as dl
from dalenius.library import library, library_model
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
    """Audit MODEL: a proved interval for the worst-case leakage of one record."""
    unit_size(units)
    if trace and output is None:
        raise dl.InputError("--trace: give a folder for it with -o")
    path = _model_path(model)
    problem = dl.load(path)
    target = _certificate_target(output, path)
    with _progress("audit") as progress:
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
        _write_trace(result, target.with_suffix(""), units)
    answer = _answer(problem, result.to(units), path, written)
    if as_json:
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    else:
        _print_answer(answer, result)


@app.command()
def verify(
    model: ModelArgument,
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A certificate file.")],
) -> None:
    """Prove CERTIFICATE for MODEL with the independent checker: exit 0 proved, 1 rejected, 2 unreadable, 3 undecided."""
    from dalenius_check.__main__ import main as check

    raise typer.Exit(check([str(_model_path(model)), str(certificate)]))


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
    from fractions import Fraction
    from importlib.util import find_spec

    from dalenius.certify.certificate import write_whole
    from dalenius.report import curve_picture, curve_table
    from dalenius.sweep import entropy_curve

    unit_size(units)
    path = _model_path(model)
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


@app.command("list")
def list_models(units: UnitsOption = "nats") -> None:
    """Show the model library."""
    unit_size(units)
    table = Table("model", "what it is", f"certified leakage ({units})", box=None, pad_edge=False)
    for model in library():
        claim = model.claim
        interval = "" if claim is None else f"{lower_in(claim[0], units):.6f} .. {upper_in(claim[1], units):.6f}"
        table.add_row(model.name, escape(model.load().title), interval)
    out.print(table)


def _model_path(model: str) -> Path:
    path = Path(model)
    if not path.exists() and path.suffix != ".toml" and any(entry.name == model for entry in library()):
        return library_model(model).path
    return path


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


def _write_trace(result: dl.Result, stem: Path, units: str) -> None:
    """The table, and the picture where matplotlib is installed."""
    from importlib.util import find_spec

    from dalenius.certify.certificate import write_whole
    from dalenius.report import trace_picture, trace_table

    write_whole(Path(f"{stem}.trace.csv"), trace_table(result.trace, units=units))
    if find_spec("matplotlib") is not None:
        trace_picture(result.trace, f"{stem}.trace.png", title=stem.name, units=units)


def _answer(problem: dl.MaximalLeakage, result: dl.Result, path: Path, written: Path | None) -> dict[str, Any]:
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


@contextmanager
def _progress(what: str) -> Iterator[Any]:
    """A status line on standard error while something runs; nothing where standard error is no terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def show(moment: dl.Progress) -> None:
            bar.update(
                task,
                description=f"{what}: {moment.stage}, record {moment.record}, {moment.nodes} leaves, "
                f"{moment.lower:.6g} .. {moment.upper:.6g} nats",
            )

        yield show


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
