"""The command release: one output of a mechanism for real data, with what is proved of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

import dalenius as dl
from dalenius.catalogue.models import model_path
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.gates import Budget
from dalenius.cli.people import texts_of
from dalenius.cli.shared import err, out, status_line
from dalenius.cli.statuses import ExitStatus
from dalenius.errors import NotProvedError, naming
from dalenius.evidence import certificate_beside
from dalenius.exact import fraction_text
from dalenius.intervals import text_above
from dalenius.model import Problem, Records, digest
from dalenius.model.in_words import words_of
from dalenius.model.mechanisms import Mechanism
from dalenius.model.problems import Mean
from dalenius.report.words import query_in_words
from dalenius.studies.release import Release


def release(
    model: str,
    data: Path,
    mechanism: str | None = None,
    column: str | None = None,
    letters: str | None = None,
    household: str | None = None,
    certificate: Path | None = None,
    time_limit: float = 30.0,
    despite_budget: bool = False,
    at_most: str | None = None,
    as_json: bool = False,
    seed: int | None = None,
) -> None:
    """Release one output of a mechanism for real data, with a proved bound of what it leaks. The true value is never shown.

    Where MODEL's budget of leakage or of distortion is not proved to be met, nothing is released: exit status 5.
    A budget in --at-most holds back the output in the same way: exit status 6.

    Parameters
    ----------
    data : --data, --table
        A csv file: names in line 1, then a record a line, in order.
    mechanism
        A mechanism's file (.json); or, where MODEL is an audit, noise by name, 'discrete_laplace 0.5'; left out, that audit's own.
    column : --column, --answer
        The column, or several with commas; default: MODEL's, else the only one.
    letters
        The texts for letters 0, 1, ..., with commas, of several columns f,m;no,yes; default: MODEL's, else 0,1,...
    household
        The column that says who lives with whom: nothing is released if a household is larger than MODEL's.
    certificate
        Proof for this mechanism; default: beside it, ending in .cert or .cert.gz.
    time_limit
        Seconds to audit without a certificate.
    despite_budget
        Release though MODEL's budget is not proved to be met.
    at_most : --at-most BUDGET
        Release nothing, status 6, if more may leak: '0.3 bits', '0.2 nats'.
    seed : --seed 0..
        ONLY for simulations: makes the output predictable.
    """
    import numpy as np

    from dalenius.studies.release import audit_of_release, letter_texts, need_households, read_letters, releasing

    if seed is not None:
        err.print("WARNING: --seed makes the output predictable. This is a simulation; never publish it.")
    _ = Budget.of(at_most)
    path = model_path(model)
    problem = dl.load(path)
    chosen, file = _mechanism(mechanism)
    with naming(file):
        sampled = releasing(problem, chosen)
        audit = audit_of_release(problem, sampled)
    column = column or problem.records.answer or None
    called = None if letters is None else texts_of(letters, column or "")
    texts = letter_texts(problem.records, called)

    def read() -> list[int]:
        if household is not None and need_households(data, household, problem):
            err.print(
                f"WARNING: in {household} everybody has a household of one: is it the column that says who lives with whom?"
            )
        return read_letters(data, problem.records, column, called, Mean.behind(problem))

    beside = file or (path if mechanism is None else None)
    proof = certificate_beside(beside) if certificate is None and beside is not None else certificate
    try:
        with status_line("audit") as progress:
            found = dl.release(
                problem,
                sampled,
                read,
                certificate=None if proof is None else dl.Certificate.read(proof),
                time_limit=time_limit,
                despite_budget=despite_budget,
                at_most=at_most,
                rng=None if seed is None else np.random.default_rng(seed),
                progress=progress,
            )
    except NotProvedError as error:
        about = file or path if error.exit_code in (ExitStatus.NOT_REACHED, ExitStatus.EXCEEDED) else proof
        err.print(f"dalenius: {about}: {error}")
        raise typer.Exit(error.exit_code) from None
    named = replace(problem.records, answer=column or data.name, letters=tuple(texts))
    sums = problem.query.sums
    cells = sums.cell_names(named.letters) if isinstance(found.output, list) and sums is not None else None
    meaning = _meaning(problem, sampled, named, found.output, cells)
    if as_json:
        answer = {
            "output": found.output,
            "cells": cells,
            "meaning": meaning,
            "letters": texts,
            "model": path,
            "model_digest": digest(problem),
            "mechanism": file or words_of(audit.mechanism),
            "mechanism_digest": digest(audit),
            "certificate": proof,
            "households_compared": household is not None,
        }
        write_answer(
            "release",
            answer | _told(found, None if at_most is None else True),
            [Ends("leakage", None, found.leakage.nats, "nats")],
        )
    else:
        homes = f"none in {household} is larger than the model's" if household is not None else ""
        if household is None and problem.adversary is not None and problem.adversary.in_blocks:
            homes = "taken to be those of the model; --household COLUMN compares them"
        _print_release(found, meaning, proof, homes)


def _mechanism(text: str | None) -> tuple[Mechanism | str | None, Path | None]:
    """The mechanism that --mechanism names: a file, with its name, or noise in a line."""
    if text is None:
        return None, None
    path = Path(text)
    if path.suffix.lower() == ".json" or path.exists():
        return dl.DesignedMechanism.load(path), path
    return text, None


def _told(found: Release, met: bool | None) -> dict[str, Any]:
    """Proved bounds of a release as JSON data; the distortion rounded upward to six digits."""
    return {
        "leakage_nats": found.leakage.nats,
        "leakage_bits": found.leakage.bits,
        "leakage_within_budget": found.leakage.within_budget,
        "at_most_met": met,
        "adversary": found.adversary,
        "proved": True,
        "distortion": None if found.distortion is None else text_above(found.distortion),
        "max_distortion": None if found.max_distortion is None else fraction_text(found.max_distortion),
        "distortion_within_budget": found.within_distortion_budget,
        "simulation": found.simulation,
    }


def _meaning(
    problem: Problem, mechanism: Mechanism, named: Records, output: object, cells: Sequence[str] | None
) -> str:
    """Meaning of the output in the words of the table, so that letters in another order than the audit's are seen."""
    if isinstance(output, list) and cells is not None:
        apart = "; " if any("," in name for name in cells) else ", "
        counts = apart.join(f"{value}: {number}" for value, number in zip(cells, output, strict=True))
        return f"how many of them have each value of {named.answer}: {counts}"
    if isinstance(output, int) and (mean := Mean.behind(problem)) is not None:
        steps = f"each rounded, in steps of {fraction_text(mean.step)} from {fraction_text(mean.low)}"
        exact = fraction_text(mean.value(output))
        about = f", about {float(mean.value(output)):.6g}" if "/" in exact else ""
        return f"the sum of their values of {named.answer}, {steps}: their mean is {exact}{about}"
    by_dataset = mechanism.indexed_by() == "dataset"
    asked = "a function of the whole dataset" if by_dataset else query_in_words(problem.query, named)
    if problem.query.kind == "count" and not by_dataset:
        return asked
    stand = ", ".join(f"{letter} = {value}" for letter, value in enumerate(named.letters))
    return f"{asked}; in {named.answer} {stand}"


def _print_release(found: Release, meaning: str, proof: Path | None, households: str) -> None:
    def row(name: str, text: str) -> None:
        out.print(f"{name:<20} {text}")

    leakage = found.leakage
    if found.simulation:
        row("SIMULATION", "a predictable output, not a release")
    row("output", str(found.output))
    row("which is", meaning)
    row("leakage", str(leakage))
    row("to", found.adversary)
    if households:
        row("households", households)
    row("proved", f"by the independent checker, {'just now' if found.audited else f'from {proof}'}")
    if leakage.within_budget is not None:
        row("leakage budget", "met" if leakage.within_budget else "NOT PROVED to be met")
    if found.distortion is not None:
        row("expected distortion", text_above(found.distortion) + _against_budget(found))
    row("valid for", "this one output; every further release of the same data adds to it")


def _against_budget(found: Release) -> str:
    if found.max_distortion is None:
        return ""
    within = "within" if found.within_distortion_budget else "ABOVE"
    return f", {within} the budget {fraction_text(found.max_distortion)}"
