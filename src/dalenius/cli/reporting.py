"""The command report: one page about certificates, for people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from dalenius.cli.shared import err, out, status_line
from dalenius.errors import InputError, NotProvedError
from dalenius.files import need_places


def report(
    sources: Annotated[
        list[str],
        Argument(
            metavar="SOURCE...",
            help="Folders that solve, sweep or frontier wrote, certificates, and models (files, or names from `dalenius list`).",
        ),
    ],
    output: Annotated[Path, Option("-o", "--output", help="The page, an .html file; one that is there is replaced.")],
    title: Annotated[str, Option("--title", help="The page's title; by default that of the models.")] = "",
) -> None:
    """One self-contained page about certificates: the question, the answer, pictures, what it promises, how to check it.

    Every certificate is proved again first; where one is not proved, nothing is written (exit status 1). The page needs no network.
    """
    from dalenius.report import write_report

    if output.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--output {output}: expected a file that ends in .html")
    need_places([output])
    try:
        with status_line("report") as show:
            page = write_report(sources, output, title=title, progress=show)
    except NotProvedError as error:
        err.print(f"dalenius: {error}")
        raise typer.Exit(error.exit_code) from None
    out.print(str(page))
