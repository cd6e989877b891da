"""The commands init and schema: a commented model file, made from answers; and a JSON schema of model files, for editors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

import dalenius as dl
from dalenius.cli.asking import model_text
from dalenius.cli.shared import STANDARD_STREAM, out
from dalenius.files import need_places, write_whole
from dalenius.model.schema import model_schema

__all__ = ["init", "schema"]


def init(
    path: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="The model file to write; - is standard output.")
    ] = Path("model.toml"),
    problem: Annotated[
        str | None,
        typer.Option(
            "--problem", help="maximal_leakage (an audit); min_leakage, min_distortion or max_information (designs)."
        ),
    ] = None,
    records: Annotated[str | None, typer.Option("--records", help="How many records.")] = None,
    alphabet: Annotated[str | None, typer.Option("--alphabet", help="How many values a record can have.")] = None,
    query: Annotated[
        str | None, typer.Option("--query", help="A kind, with what it needs: count, 'threshold 3', 'modular_sum 4'.")
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option("--mechanism", help="Of an audit: 'geometric 0.5', 'exponential epsilon = 1, sensitivity = 2'."),
    ] = None,
    distortion: Annotated[
        str | None, typer.Option("--distortion", help="Of a design: hamming, absolute, squared.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", help="Of a design: the largest distortion, or leakage ('0.1 bits').")
    ] = None,
    adversary: Annotated[
        str | None,
        typer.Option("--adversary", help="An entropy ('0.8 max', '2 bits', 0), or a kind such as product_priors."),
    ] = None,
    privacy: Annotated[
        str | None,
        typer.Option("--privacy", help="Of max_information: 'local_dp log 3', 'pointwise_maximal_leakage 0.5'."),
    ] = None,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Ask nothing: defaults for what no option says.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
) -> None:
    """Write a commented model file from a few answers, each given by an option or asked for.

    It asks where standard input is a terminal; elsewhere, and with --defaults, what no option says is the default. Nothing is written
    unless the model can be read back and means something.
    """
    to_file = str(path) != STANDARD_STREAM
    if to_file and path.exists() and not force:
        raise dl.InputError(f"{path}: it is there already; --force replaces it")
    given = {
        "--problem": problem,
        "--records": records,
        "--alphabet": alphabet,
        "--query": query,
        "--mechanism": mechanism,
        "--distortion": distortion,
        "--budget": budget,
        "--adversary": adversary,
        "--privacy": privacy,
    }
    text = model_text(given, asking=sys.stdin is not None and sys.stdin.isatty() and not defaults)
    dl.loads(text, folder=path.parent)
    if not to_file:
        out.print(text, end="", markup=False)
        return
    need_places([path])
    write_whole(path, text)
    out.print(f"{path}; next: dalenius show {path}, dalenius solve {path} -o out", markup=False)


def schema(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write; by default standard output.")
    ] = None,
) -> None:
    """Print a JSON schema of model files: editors complete keys and kinds with it, and mark what the loader would refuse.

    In the first line of a model file `#:schema ./dalenius.schema.json` names it for Even Better TOML (VS Code) and taplo.
    """
    text = json.dumps(model_schema(), indent=2) + "\n"
    if output is None:
        out.file.write(text)
        out.file.flush()
        return
    need_places([output])
    write_whole(output, text)
    out.print(str(output), markup=False)
