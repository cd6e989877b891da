"""The command audit: one page about what a release reveals about one person."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import dalenius as dl
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.folders import CERTIFICATE, Output, need_own, of_one_run
from dalenius.cli.gates import Budget, at_most_met, gate_of, leakage_ends, require, require_at_most
from dalenius.cli.people import asked_about, people_of, warn_of_sizes
from dalenius.cli.shared import homes_of, need_none, out, read_problem, status_line
from dalenius.errors import InputError, brief
from dalenius.model import Problem, digest, model_bytes
from dalenius.model.adversaries import Adversary
from dalenius.model.elsewhere import People
from dalenius.model.in_words import as_part
from dalenius.model.mechanisms import Mechanism
from dalenius.model.queries import Query
from dalenius.report.audit import PAGES, Audit, question_of
from dalenius.report.page import need_installed
from dalenius.search import Clock, need_gap, stopped_by_interrupt

MODEL = ".toml"  # after the page's name


def audit(
    model: str | None = None,
    mechanism: str | None = None,
    people: int | None = None,
    alphabet: int | None = None,
    query: str | None = None,
    blocks: int | None = None,
    adversary: str | None = None,
    values: str | None = None,
    table: Path | None = None,
    answer: str | None = None,
    household: str | None = None,
    letters: str | None = None,
    gap: float = 1e-4,
    time_limit: float = 60.0,
    as_json: bool = False,
    output: Path | None = None,
    require_gap: float | None = None,
    at_most: str | None = None,
    force: bool = False,
) -> None:
    """One page about what a release reveals about one person: a verdict, bits, guesses, households, and how to check it.

    By default, people are assumed independent; the page says so. The
    model and the certificate are written beside the page (-o); of an .html page they are proved once more.

    Parameters
    ----------
    model : MODEL
        A model file of an audit, or a name from `dalenius list`; left out, the options below say what is released.
    mechanism
        discrete_laplace:0.5, 'discrete_gaussian scale = 3', and so on, as for init. The epsilon is the noise's own, where one number
        moves by 1: of one cell of a histogram or of margins; of a mean it is one person's, as in `table`.
    query
        What is released: of no and yes by default count; 'threshold 3', 'modular_sum 4', mean with --values.
    adversary
        Another adversary: an entropy ('0.8 max', '2 bits') or a kind, as for init.
    output : -o, --output FILE
        The page, .md or .html; model and certificate go beside it.
    force
        Replace a model of another question, and a certificate even by a looser one.
    """
    if blocks is not None and adversary is not None:
        raise InputError("--blocks, --adversary: expected one of them; blocks are an adversary")
    given = {
        "--mechanism": mechanism,
        "--people": people,
        "--alphabet": alphabet,
        "--query": query,
        "--blocks, --adversary": homes_of(blocks, people) or adversary,
    }
    columns = {"--answer": answer, "--household": household, "--letters": letters}
    problem = _problem(model, given, values, people_of(table, given, columns, values))
    if require_gap is not None:
        need_gap(require_gap, "--require-gap")
    budget = Budget.of(at_most)
    folder = None if output is None else _place(output, problem, force)
    with stopped_by_interrupt(Clock()):  # from here on there is an answer to write and to print
        with status_line("audit") as progress:
            found = dl.audit(problem, gap=gap, time_limit=time_limit, progress=progress)
        ends = leakage_ends("audit", found.result)
        found = replace(found, gate=gate_of(budget, ends[0]))
        written = None if folder is None or output is None else _written(found, output, folder)
        warn_of_sizes(table, written[2:] if written else [])
        if as_json:
            places = dict(zip_longest(("page", "certificate", "model"), written or ()))
            bounds = [Ends(row.name, row.lower, row.upper, row.units) for row in found.measures()]
            write_answer("audit", found.to_json() | places | at_most_met(budget, ends), bounds)
        elif written is None:
            out.print(str(found), end="")
        else:
            out.print("\n".join(map(str, written)))
        if folder is not None:
            folder.settle()
    require_at_most(budget, ends)
    require(found.result.gap, require_gap)


def _problem(
    model: str | None, given: dict[str, Any], values: str | None, people: People | None
) -> dl.WorstCaseLeakage:
    """The model that is named, or that the options make."""
    if model is None:
        if given["--mechanism"] is None or (given["--people"] is None and people is None):
            raise InputError(
                "expected a MODEL, or what is released: --mechanism discrete_laplace:0.5 --people 1000 (or --table)"
            )
        return _made(given, values, people)
    problem = read_problem(model)[2]
    besides = {**given, "--values": values, "--table": people}
    need_none(besides, f"{model} says so already; leave them out, or leave MODEL out")
    if not isinstance(problem, dl.WorstCaseLeakage):
        raise InputError(
            f"{model}: expected an audit (worst_case_leakage), got {problem.kind}, which is for `dalenius solve`; of a design audit "
            "NAME.mechanism.toml that it writes"
        )
    return problem


def _made(given: dict[str, Any], values: str | None, people: People | None) -> dl.WorstCaseLeakage:
    """The model of the options, with the defaults of `dalenius.audit`; errors name the options."""
    records, asked, mean = asked_about(given, values, people)
    given = {**given, "--query": asked}
    parts = {"--mechanism": Mechanism, "--query": Query, "--blocks, --adversary": Adversary}
    release, query, adversary = (as_part(base, given[name], name.split(", ")[-1]) for name, base in parts.items())
    release = release if mean is None else mean.noise(release)
    try:
        return question_of(release, records, query, adversary, mean.title if mean else "")
    except InputError as error:
        raise InputError(f"{'--' * str(error).startswith('query:')}{error}") from None


def _place(page: Path, problem: Problem, force: bool) -> Output:
    """Place of the page; `InputError` if a file beside it is the model of another question, or no model."""
    if page.suffix.lower() not in PAGES:
        raise InputError(f"--output {brief(str(page))}: expected a file that ends in {' or '.join(PAGES)}")
    if page.suffix.lower() == ".html":
        need_installed()
    need_own(page.with_suffix(MODEL), lambda there: digest(there) == digest(problem), force=force)
    return Output(page.parent, [page.name, *of_one_run(page.stem)], force=force)


def _written(found: Audit, page: Path, folder: Output) -> list[Path] | None:
    """The page, the certificate that it is about and its model, all at once; nothing in case of trouble."""

    @cache
    def pages(certificate: str) -> dict[str, str]:
        place = page.with_name(certificate)
        return {page.name: found.beside(page, place.with_suffix(MODEL), place)}

    files = {CERTIFICATE: found.result.certificate.text, MODEL: model_bytes(found.problem).decode()}
    pages(page.stem + CERTIFICATE)  # before the folder is locked: it takes a while
    certificate = folder.keep(page.stem, found.problem, files, beside=pages)
    return None if certificate is None else [page, certificate, certificate.with_suffix(MODEL)]
