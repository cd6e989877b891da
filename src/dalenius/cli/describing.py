"""The commands show, verify and report: what a file means, the verdict on a certificate, and a page about certificates for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from enum import StrEnum
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import typer

import dalenius as dl
from dalenius._verify import MEMORY, SECONDS
from dalenius.catalogue.models import model_path
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.gates import Budget, at_most_met, require_at_most
from dalenius.cli.shared import out, read_problem, status_line
from dalenius.cli.statuses import ExitStatus
from dalenius.errors import InputError, brief, counted, naming
from dalenius.evidence import ENDINGS, Header, certificate_beside, exact_fraction_above
from dalenius.exact import as_fraction
from dalenius.files import need_places
from dalenius.intervals import ends_text, gap_text, interval_text, text_below
from dalenius.model import DesignProblem, MechanismProblem, Problem, Records, digest
from dalenius.model.model_file import SPELLINGS
from dalenius.report.words import question
from dalenius.results import relative_gap
from dalenius.units import UNITS, lower_in, upper_in

MECHANISM = ".json"
MOST_POWERS = 4
FEW_ENTRIES = 36  # of a mechanism that is shown whole
LARGE = 40.0  # a logarithm beyond which numbers are not written out


def show(model: str, as_json: bool = False) -> None:
    """Say what FILE means: a model's question in words, with its sizes and its digest; what a certificate claims; a mechanism's table.

    Nothing is solved and nothing is proved: `dalenius verify` proves a certificate.

    Parameters
    ----------
    model : FILE
        A model file, a name from `dalenius list`, - for standard input; a certificate (.cert, .cert.gz), or a mechanism's file
        (.json).
    """
    if model.endswith(ENDINGS):
        told = _of_certificate(Path(model))
    elif model.endswith(MECHANISM):
        told = _of_mechanism(Path(model))
    else:
        told = _of_model(model)
    if as_json:
        write_answer("show", told)
        return
    if told.get("answer_in") == "nats":
        told["answer_in"] = "bits, and nats in JSON"
    for key, value in told.items():
        for line in value if isinstance(value, list) else [value]:
            if line is not None:
                out.print(f"{key.replace('_', ' '):<20} {line}")


def _power(records: Records) -> str:
    """The number of datasets, as powers: 2^1000; of many kinds of records as one of e."""
    powers = [f"{size}^{times}" if times > 1 else str(size) for size, times in records.runs]
    return " * ".join(powers) if len(powers) <= MOST_POWERS else f"e^{records.log_datasets:.6g}"


def _of_model(model: str) -> dict[str, Any]:
    label, _, problem = read_problem(model)
    inputs, outputs = problem.shape
    records = problem.records
    told: dict[str, Any] = {
        "model": label,
        "title": problem.title or None,
        "source": problem.source or None,
        "problem": problem.in_models,
        "question": question(problem),
        "records": " + ".join(
            f"{counted(times, 'record')} of {counted(size, 'letter')}" for size, times in records.runs
        ),
        "datasets": records.datasets if records.log_datasets < LARGE else _power(records),
        "inputs": inputs,
        "outputs": "real numbers" if isinstance(problem, MechanismProblem) and problem.mechanism.on_a_line else outputs,
        "inputs_and_outputs": "of each cell by itself" if problem.query.sums and problem.query.sums.by_cell else None,
        "cells": _cells(problem),
        "answer_in": problem.quantity.units,
        "digest": digest(problem),
    }
    if problem.bound is not None:
        told |= {"entropy_bound_nats": problem.entropy_bound, "largest_entropy_nats": records.log_datasets}
    if isinstance(problem, DesignProblem):
        told["constraints"] = [constraint.kind for constraint in problem.own_constraints]
    return told


def _cells(problem: Problem) -> int | None:
    """The number of cells of a histogram, or of all tables; None of anything else."""
    tables = problem.route.tables if isinstance(problem, MechanismProblem) else None
    return None if tables is None else sum(kind.count * len(kind.tables) for kind in tables.kinds)


def _of_certificate(path: Path) -> dict[str, Any]:
    certificate = dl.Certificate.read(path)
    with naming(path):
        header = certificate.header
        claim = header.claim
        kinds = Counter(line.word for line in certificate.body())
        below = header.claim_below
    lower, upper = (None if below is None else text_below(below), None) if claim is None else ends_text(*claim)
    return {
        "certificate": path,
        "problem": SPELLINGS[header.problem].in_models if header.problem in SPELLINGS else header.problem,
        "digest": header.model,
        "claim": "an interval"
        if claim
        else "no mechanism of the class meets everything"
        if below is None
        else "from below alone: no mechanism is shown",
        "lower": lower,
        "upper": upper,
        "units": header.unit,
        "in_bits": None if claim is None or header.unit != "nats" else _in_bits(*claim),
        "relative_gap": None if claim is None else gap_text(relative_gap(*claim)),
        "about": "the model" if header.resolved is None else "the matrix in it, not the model (verify --resolved)",
        "whole_curve": None if header.curve is None else "claims at other entropy bounds, too",
        "mechanism_rows": None if header.mechanism is None else len(header.mechanism),
        "mechanism": _rows(header),
        "producer": header.producer or None,
        "evidence": [f"{counted(number, 'line')} of the kind {name}" for name, number in kinds.items()],
        "proved": f"not tried here: dalenius verify MODEL {path}",
    }


def _rows(header: Header) -> list[str] | None:
    """The rows of a certificate's mechanism, one a line, where they are few."""
    if header.mechanism is None or sum(map(len, header.mechanism)) > FEW_ENTRIES:
        return None
    return [", ".join(map(str, row)) for row in header.shares]


def _in_bits(lower: Fraction, upper: Fraction) -> str:
    """An interval in nats, rounded outward."""
    low, high = -exact_fraction_above(-lower), exact_fraction_above(upper)
    return interval_text(lower_in(low, "bits"), upper_in(high, "bits"))


def _of_mechanism(path: Path) -> dict[str, Any]:
    mechanism = dl.DesignedMechanism.load(path)
    return {
        "mechanism": path,
        "inputs": len(mechanism.rows),
        "outputs": len(mechanism.outputs),
        "table": str(mechanism).splitlines(),
    }


class Arithmetic(StrEnum):
    """Arithmetic of the checker; `auto` is python-flint where it is installed."""

    AUTO = "auto"
    FLINT = "flint"
    PYTHON = "python"


def verify(
    model: str,
    certificate: Path | None = None,
    resolved: bool = False,
    time_limit: float = SECONDS,
    memory_limit: float = MEMORY,
    as_json: bool = False,
    arithmetic: Arithmetic = Arithmetic.AUTO,
    jobs: int = 1,
    at_most: str | None = None,
) -> None:
    """Prove CERTIFICATE for MODEL with the independent checker; or an interval for a convex model of your own, from its proof alone.

    Exit status 0 proved, 1 rejected, 2 unreadable, 3 undecided, 4 resolved (--resolved), 6 proved, but more than --at-most.

    Parameters
    ----------
    model : MODEL
        A model file, a name from `dalenius list`, or an interval's proof (.json).
    certificate : [CERTIFICATE]
        A certificate file; none with an interval's proof.
    resolved
        For a mechanism of an unknown kind: what holds of the matrix in CERTIFICATE.
    time_limit : --time-limit 0..
        Seconds, undecided beyond.
    memory_limit : --memory-limit 0..
        MiB, undecided beyond.
    arithmetic
        python-flint's, or the checker's own in the standard library alone.
    jobs : --jobs 1..
        Processes that check a long certificate.
    """
    from cvxcertify.check.__main__ import run as check_interval
    from dalenius_check.__main__ import run as check

    options = [f"--arithmetic={arithmetic}", f"--time-limit={time_limit}", f"--memory-limit={memory_limit}"]
    options += ["--json"] * as_json + ["--resolved"] * resolved
    budget = Budget.of(at_most)
    if certificate is not None:
        words = [str(model_path(model)), str(certificate), f"--jobs={jobs}", *options]
        status = (
            _with_bounds(lambda: check(words, "dalenius"), certificate, budget) if as_json else check(words, "dalenius")
        )
        if status == ExitStatus.DONE and budget is not None:
            header = dl.Certificate.read(certificate).header
            if header.unit not in UNITS or header.claim is None or header.problem == dl.MaxInformation.kind:
                raise InputError(f"--at-most: {certificate} does not bound a leakage from above")
            require_at_most(budget, [Ends(model, *header.claim, header.unit)])
        raise typer.Exit(status)
    if budget is not None:
        raise InputError("--at-most: expected MODEL and CERTIFICATE")
    if resolved or not model.endswith(".json"):
        there = certificate_beside(Path(model))
        raise InputError(
            "verify: expected MODEL and CERTIFICATE, or the proof of an interval alone (.json, without --resolved); "
            f"got {brief(model)}{' and --resolved' if resolved else ''}{f'; {there} stands beside it' if there else ''}"
        )
    words = [model, *options]
    if as_json:
        raise typer.Exit(_with_bounds(lambda: check_interval(words, "dalenius"), None))
    raise typer.Exit(check_interval(words, "dalenius"))


def _with_bounds(check: Callable[[], int], certificate: Path | None, budget: Budget | None = None) -> int:
    """The status of a check, whose verdict in JSON is printed in the shape of all answers; nothing where there is none."""
    with redirect_stdout(StringIO()) as said:
        status = check()
    if text := said.getvalue():
        verdict = json.loads(text)
        lower, upper = (None if (x := verdict.get(end)) is None else as_fraction(x, end) for end in ("lower", "upper"))
        units = "objective" if certificate is None else _units(certificate)
        told = [] if lower is upper is None else [Ends("claim", lower, upper, units)]
        proved = told if status == ExitStatus.DONE else [Ends("claim", None, None, units)]
        write_answer("verify", verdict | at_most_met(budget if units in UNITS else None, proved), told)
    return status


def _units(certificate: Path) -> str:
    """The unit of a claim; a file that says none is not about leakage, and nothing is proved of it."""
    try:
        return dl.Certificate.read(certificate).header.unit
    except InputError:
        return "nats"


def report(sources: list[str], output: Path, title: str = "") -> None:
    """One self-contained page about certificates: the question, the answer, pictures, what it promises, how to check it.

    Every certificate is proved again first; where one is not proved, nothing is written (exit status 1). The page needs no network.

    Parameters
    ----------
    sources : SOURCE...
        Folders that solve, sweep or frontier wrote, certificates, and models (files, or names from `dalenius list`).
    output : -o, --output FILE
        The page, an .html file; one that is there is replaced.
    title
        The page's title; by default that of the models.
    """
    from dalenius.report import write_report

    if output.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--output {output}: expected a file that ends in .html")
    need_places([output])
    with status_line("report") as show:
        page = write_report(sources, output, title=title, progress=show)
    out.print(str(page))
