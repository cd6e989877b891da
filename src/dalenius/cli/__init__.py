"""The command line: the program `dalenius`, and its commands in the order in which its help lists them."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated

import typer
from rich.markup import escape

import dalenius as dl
from dalenius.cli.comparing import compare
from dalenius.cli.curves import frontier, sweep
from dalenius.cli.exchanging import export_program, import_solution
from dalenius.cli.library import library_app, list_models
from dalenius.cli.releasing import release
from dalenius.cli.shared import err, out
from dalenius.cli.solving import solve, verify

__all__ = ["app", "main"]

app = typer.Typer(
    help="Certified information leakage of privacy mechanisms against entropy-bounded adversaries.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(solve)
app.command()(verify)
app.command()(sweep)
app.command()(frontier)
app.command()(release)
app.command("export")(export_program)
app.command("import-solution")(import_solution)
app.command()(compare)
app.command("list")(list_models)
app.add_typer(library_app, name="library")


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if version:
        out.print(f"dalenius {dl.__version__}")
        raise typer.Exit()


def main() -> None:
    """Entry point: a warning becomes one line on standard error; a `DaleniusError`, too, and exit status 2."""
    warnings.showwarning = lambda message, *_, **__: err.print(f"dalenius: warning: {message}", markup=False)
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
