"""The command solve: proved intervals and designs, with their files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import dalenius as dl
from dalenius.cli.answers import Solved, answer_of, print_answer
from dalenius.cli.folders import CERTIFICATE, ForceOption, Output, mechanism_files, of_one_run, sibling
from dalenius.cli.gates import AtMostOption, Budget, Ends, RequireGapOption, leakage_ends, require, require_at_most
from dalenius.cli.laws import PublicLawOption, published, tell_private_distortion
from dalenius.cli.shared import (
    GapOption,
    JobsOption,
    JsonOption,
    MethodOption,
    SchedulerOption,
    SeedOption,
    SolverOption,
    TimeOption,
    UnitsOption,
    err,
    library_names,
    named,
    out,
    read_problem,
    status_line,
    units_shown,
    write_json,
)
from dalenius.cli.statuses import ExitStatus
from dalenius.model import model_bytes
from dalenius.search import Clock, LimitOptions, Limits, need_gap, stopped_by_interrupt

__all__ = ["solve"]


@dataclass(frozen=True)
class _Question:
    """A model to be solved: what it is called in answers, the stem of its files, its problem as it is stated, and as it is solved."""

    label: str
    stem: str
    stated: dl.Problem
    problem: dl.Problem
    folder: Output | None


def solve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Model files, or names from `dalenius list`; - is standard input.",
            autocompletion=library_names,
        ),
    ],
    gap: GapOption = 1e-4,
    time_limit: TimeOption = 60.0,
    units: UnitsOption = None,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", parser=named, metavar="FOLDER", help="Folder for the certificate.")
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Write how the bounds moved with time beside it.")] = False,
    curve: Annotated[
        bool,
        typer.Option("--curve", help="Of an audit: have the certificate bound the leakage at every entropy bound."),
    ] = False,
    node_limit: Annotated[
        int, typer.Option("--node-limit", min=1, help="Leaves a record's trees may have.")
    ] = 1_000_000,
    memory_limit: Annotated[
        float, typer.Option("--memory-limit", help="MiB for everything, the proof included, roughly.")
    ] = 4096.0,
    seed: SeedOption = 0,
    require_gap: RequireGapOption = None,
    at_most: AtMostOption = None,
    force: ForceOption = False,
    compress: Annotated[
        bool, typer.Option("--compress", help="Write certificates compressed (.cert.gz), a quarter as long.")
    ] = False,
    public_law: PublicLawOption = None,
    method: MethodOption = None,
    solver: SolverOption = "auto",
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="FILE", help="Of an audit: go on from FILE, and write into it."),
    ] = None,
) -> None:
    """Audit or design each MODEL: a proved interval for what is told of a record or secret, or the best mechanism within a budget.

    Limits are for each model. For a design -o writes the mechanism (NAME.mechanism.json), its own audit (NAME.mechanism.toml, .cert)
    and the certificate of the design. Interrupted, it answers with what is proved by then. It is tried before the work whether
    anything can be written there.
    """
    shown = units_shown(units, as_data=as_json)
    limits: LimitOptions = {
        "gap": gap,
        "time_limit": time_limit,
        "node_limit": node_limit,
        "memory_limit": memory_limit,
    }
    Limits(**limits)
    if require_gap is not None:
        need_gap(require_gap, "--require-gap")
    budget = Budget.of(at_most)
    if trace and output is None:
        raise dl.InputError("--trace: give a folder for it with -o")
    if compress and output is None:
        raise dl.InputError("--compress: give a folder for the certificate with -o")
    if checkpoint is not None and len(models) > 1:
        raise dl.InputError(f"--checkpoint: the state of one audit goes into it; expected one MODEL, got {len(models)}")
    questions = _questions(models, public_law, output, force=force, compress=compress)
    if budget is not None:
        for question in questions:
            question.problem.against("--at-most")
    answering = partial(
        dl.solve,
        **limits,
        seed=seed,
        method=method,
        solver=solver,
        jobs=jobs,
        scheduler=scheduler,
        curve=curve,
        checkpoint=checkpoint,
    )
    widest, failed, ends = 0.0, False, list[Ends]()
    with stopped_by_interrupt(whole := Clock()):  # from here on there is an answer to write and to print
        for question in questions:
            if whole.expired:
                break
            try:
                with status_line(_status(question, questions)) as progress:
                    result = answering(question.problem, progress=progress)
            except dl.DaleniusError as error:
                if len(questions) == 1:
                    raise
                failed = True
                err.print(f"dalenius: {question.label}: {error}", markup=False)
                continue
            ends += leakage_ends(question.label, result)
            result = result.with_leakages_in(shown) if isinstance(result, dl.DesignResult) else result.to(shown)
            if len(questions) > 1 and not as_json:
                out.print(f"model                {question.label}", markup=False)
            _tell(question, result, as_json=as_json, trace=trace)
            tell_private_distortion(question.stated, public_law, result)
            widest = max(widest, result.gap)
        for question in questions:
            if question.folder is not None:
                question.folder.settle()
    if failed:
        raise typer.Exit(ExitStatus.UNUSABLE)
    require_at_most(budget, ends)
    require(widest, require_gap)


def _questions(
    models: list[str], public_law: str | None, output: Path | None, *, force: bool, compress: bool
) -> list[_Question]:
    """All models, read before any is solved, each with its place in the folder."""
    found = list[_Question]()
    for model in models:
        label, stem, stated = read_problem(model)
        twin = next((other for other in found if other.stem == stem), None)
        if output is not None and twin is not None:
            raise dl.InputError(
                f"-o: the files of {twin.label} and of {label} would have the same names; solve them into two folders"
            )
        problem = published(stated, public_law, output)
        folder = None if output is None else Output(output, of_one_run(stem), force=force, compress=compress)
        found.append(_Question(label, stem, stated, problem, folder))
    return found


def _status(question: _Question, questions: list[_Question]) -> str:
    """What the status line begins with."""
    kind = "audit" if isinstance(question.problem, dl.MaximalLeakage | dl.SecretLeakage) else "design"
    return kind if len(questions) == 1 else f"{question.label}, {questions.index(question) + 1} of {len(questions)}"


def _tell(question: _Question, result: Solved, *, as_json: bool, trace: bool) -> None:
    """Write the answer's files, and print it."""
    folder, problem = question.folder, question.problem
    written = None if folder is None else _written(folder, question.stem, problem, result, trace)
    answer = answer_of(problem, result, question.label, written)
    if as_json:
        write_json(answer)
    else:
        print_answer(answer, result, folder)


def _written(folder: Output, name: str, problem: dl.Problem, result: Solved, trace: bool) -> Path | None:
    """The certificate, with a design's mechanism and its own audit, the design's model as it was proved, and the trace."""
    from dalenius.report import save_picture, trace_picture, trace_table

    files = {CERTIFICATE: result.certificate.text}
    if isinstance(result, dl.DesignResult):
        files |= {**mechanism_files(problem, result), ".design.toml": model_bytes(problem).decode()}
    if trace:
        files[".trace.csv"] = trace_table(result)
    written = folder.keep(name, problem, files)
    if written is not None and trace and math.isfinite(result.upper):
        picture = sibling(written, ".trace.png")
        folder.draw(lambda: save_picture(trace_picture(result, title=sibling(written, "").name), picture))
    return written
