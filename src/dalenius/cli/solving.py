"""The command solve: proved intervals and designs, what it answers, as JSON and in words, and its files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import typer

import dalenius as dl
from cvxcertify.intervals import gap_text, interval_text, text_above, text_below
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.folders import CERTIFICATE, Output, of_one_run, published, sibling, tell_private_distortion
from dalenius.cli.gates import Budget, at_most_met, leakage_ends, require, require_at_most
from dalenius.cli.shared import Method, err, out, read_problem, status_line, units_shown
from dalenius.cli.statuses import ExitStatus
from dalenius.conversions.numbers import Epsilon
from dalenius.errors import DaleniusError, InputError, counted
from dalenius.model import DesignProblem, Problem, digest, model_bytes
from dalenius.model.mechanism_classes import MECHANISM_CLASSES
from dalenius.outcome import ConstraintPrice, Status, TermValue
from dalenius.results import NOT_FOUND, DesignResult, Result, SecretResult, told_text
from dalenius.search import Clock, LimitOptions, Limits, need_gap, stopped_by_interrupt
from dalenius.studies.keeping import mechanism_files
from dalenius.units import Quantity, log_above

SHORT = 60  # characters of a fraction
PRICE = ("number", "kind", "binds", "price", "slack")
TERM = ("number", "kind", "weight", "lower", "upper", "units", "multiplier")

Solved = Result | DesignResult | SecretResult
Answer = dict[str, Any]


def answer_of(problem: Problem, result: Solved, label: str, written: Path | None) -> Answer:
    """The answer as JSON data; `written` is the certificate's file."""
    if isinstance(result, DesignResult):
        return _design_answer(problem, result, label, written)
    return _audit_answer(problem, result, label, written)


def print_answer(answer: Answer, result: Solved, folder: Output | None) -> None:
    """The same in words."""
    if isinstance(result, DesignResult):
        _print_design(answer, result, folder)
        return
    secret = isinstance(result, SecretResult)
    told, what = ("largest information", "secret") if secret else ("worst-case leakage", "record")
    out.print(f"{told:<20} {result.interval}")
    _print_gap(result)
    prior = "" if answer["prior"] is None else f", to prior {answer['prior']}"
    out.print(f"about {what}         {'none' if answer[what] is None else answer[what]}{prior}")
    if isinstance(result, Result):
        _print_work(result)
    _print_proof(answer, result, folder)


def _audit_answer(problem: Problem, result: Result | SecretResult, label: str, written: Path | None) -> Answer:
    """Of an audit of records or of secrets."""
    return {
        "model": label,
        "digest": digest(problem),
        "lower": result.lower,
        "upper": result.upper,
        "units": result.units,
        "most": result.most,
        "gap": result.gap,
        **({"secret": result.secret} if isinstance(result, SecretResult) else {"record": result.record}),
        "prior": result.witness.prior if result.witness else None,
        **({"secrets": result.secrets} if isinstance(result, SecretResult) else {}),
        **_outcome(result, written),
    }


def _outcome(result: Solved, written: Path | None) -> Answer:
    """Termination, solvers, turns of an alternating scheme, and the proved claims."""
    work = {} if isinstance(result, SecretResult) else {"solvers": result.solvers, "alternating": result.alternating}
    return {
        "termination": result.termination.value,
        "status": result.status.value,
        "refusals": result.refusals,
        "scope": result.scope.value,
        **work,
        "proved": result.proved_about == "model",
        "proved_about": result.proved_about,
        "seconds": round(result.seconds, 3),
        "certificate": str(written) if written else None,
    }


def _print_gap(result: Solved) -> None:
    """The gap, and why there is one; of a bound that is no more than all there is to know that, too."""
    said = [result.status.meaning] * (result.status is Status.ALL_THERE_IS)
    out.print(f"relative gap         {gap_text(result.gap)} ({'; '.join([*said, result.termination.advice])})")


def _print_work(result: Result | DesignResult) -> None:
    for one in result.alternating:
        out.print(f"alternating          {one}")
    for use in result.solvers:
        out.print(f"solver               {use}")


def _print_proof(answer: Answer, result: Result | SecretResult, folder: Output | None) -> None:
    about = "" if answer["proved"] else " about the matrix in the certificate only"
    out.print(
        f"proved              {about} by the independent checker, from {counted(result.certificate.lines, 'line')}, "
        f"{answer['seconds']:.2f} s"
    )
    if answer["certificate"]:
        out.print(f"certificate          {answer['certificate']}")
    else:
        out.print(f"certificate          not written ({_why_not(folder, 'it')})")


def _design_answer(problem: Problem, result: DesignResult, label: str, written: Path | None) -> Answer:
    leakage = None
    if result.audit is not None and result.leakage is not None:
        leakage = {"lower": result.leakage[0], "upper": result.leakage[1], "units": result.audit.units}
    return {
        "model": label,
        "digest": digest(problem),
        **({"class": problem.mechanism_class.kind} if isinstance(problem, DesignProblem) else {}),
        "feasible": result.feasible,
        "lower": result.lower if math.isfinite(result.lower) else None,
        "upper": result.upper if result.feasible else None,
        "units": result.units,
        "gap": result.gap,
        "leakage": leakage,
        "distortion": None if result.distortion is None else str(result.distortion),
        **({"most": result.most} if result.quantity is Quantity.LEAKAGE else {}),
        **_privacy_answer(problem, result),
        **({"constraints": [_told(price, *PRICE) for price in result.constraints]} if result.constraints else {}),
        "prices": [{"name": price.name, "slope": price.slope, "units": price.units} for price in result.prices],
        **({"objective": [_told(term, *TERM) for term in result.objective]} if result.objective else {}),
        "rounds": result.rounds,
        "explanation": list(result.explanation),
        **_outcome(result, written),
        **({"design": str(sibling(written, ".design.toml"))} if written else {}),
        **({"mechanism": str(sibling(written, ".mechanism.json"))} if written and result.feasible else {}),
    }


def _told(thing: ConstraintPrice | TermValue, *names: str) -> Answer:
    """Price of a constraint, or value of a term of the objective, by these names; exact numbers as texts."""
    told = {name: getattr(thing, name) for name in names}
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in told.items()}


def _privacy_answer(problem: Problem, result: DesignResult) -> Answer:
    """For a design under a privacy notion: the notion, and the least e^epsilon for which its mechanism is private."""
    privacy = getattr(problem, "privacy", None)
    if privacy is None:
        return {}
    attained = None if result.exp_epsilon is None else str(result.exp_epsilon)
    return {"privacy": {"kind": privacy.kind, "epsilon": privacy.epsilon, "attained": attained}}


def _print_design(answer: Answer, result: DesignResult, folder: Output | None) -> None:
    if result.status is Status.OPEN and not result.feasible:
        out.print(NOT_FOUND)
        out.print(f"{result.optimum:<20} at least {text_below(result.exact_ends[0])} {result.units}")
        _print_gap(result)
    elif not result.feasible:
        met = " and ".join(price.name for price in result.constraints) or "the budget"
        out.print(f"no mechanism of the class meets {met}")
    else:
        out.print(f"{result.optimum:<20} {result.interval}")
        if "class" in answer:
            out.print(f"of mechanisms        that are {answer['class']}: {MECHANISM_CLASSES[answer['class']].words}")
        _print_gap(result)
        leakage, privacy = answer["leakage"], answer.get("privacy")
        if leakage:
            values = None if result.audit is None else result.audit.values
            told = told_text(leakage["lower"], leakage["upper"], leakage["units"], values)
            out.print(f"the mechanism leaks  {told}")
        elif privacy and result.exp_epsilon is not None:
            attained, asked = log_above(result.exp_epsilon), privacy["epsilon"]
            less = bool(Epsilon.read(asked).ball() > attained)  # whatever rounding says, it is no more: that is proved
            text = f"{text_above(attained, 10)} nats (asked: {asked})" if less else asked
            out.print(f"the mechanism has    {privacy['kind']}, epsilon at most {text}")
        if result.distortion is not None:
            out.print(f"    and distorts     at most {_distortion(result.distortion)}")
        for term in result.objective:
            out.print(f"{term!s:<20} {_term_text(term)}")
        for price in result.prices:
            out.print(f"{'budget' if price.number is None else 'constraint':<20} {price}")
        for line in result.explanation:
            out.print(f"symmetry             {line}")
        _print_work(result)
    out.print(
        f"proved               by the independent checker, from {counted(result.certificate.lines, 'line')}, "
        f"{counted(answer['rounds'], 'round')}, {answer['seconds']:.2f} s"
    )
    if answer["certificate"]:
        out.print(f"certificate          {answer['certificate']}, about {answer['design']}")
        if "mechanism" in answer:
            out.print(f"mechanism            {answer['mechanism']}")
    else:
        out.print(f"mechanism            not written ({_why_not(folder, 'it, and the certificates')})")


def _term_text(term: TermValue) -> str:
    """Value of a term of the objective, its weight, and its weight in the proof."""
    leakage = Quantity.of(term.units) is Quantity.LEAKAGE
    value = f"{interval_text(term.lower, term.upper)} {term.units}" if leakage else _distortion(term.upper)
    return f"{value}, weight {term.weight}, in the proof {term.multiplier:.6g}"


def _why_not(folder: Output | None, what: str) -> str:
    """Why there are no files, in words."""
    return f"-o FOLDER writes {what}" if folder is None else str(folder.trouble)


def _distortion(value: float | Fraction) -> str:
    """An upper end of it, and the number itself, where it is one that is short enough to be read."""
    exact = f" (exactly {value})" if isinstance(value, Fraction) and len(str(value)) <= SHORT else ""
    return f"{text_above(value, 10)} distortion{exact}"


@dataclass(frozen=True)
class _Question:
    """A model to be solved: what it is called in answers, the stem of its files, its problem as it is stated, and as it is solved."""

    label: str
    stem: str
    stated: Problem
    problem: Problem
    folder: Output | None


def solve(
    models: list[str],
    gap: float = 1e-4,
    time_limit: float = 60.0,
    units: str | None = None,
    as_json: bool = False,
    output: Path | None = None,
    trace: bool = False,
    curve: bool = False,
    node_limit: int = 1_000_000,
    memory_limit: float = 4096.0,
    seed: int = 0,
    require_gap: float | None = None,
    at_most: str | None = None,
    force: bool = False,
    compress: bool = False,
    public_law: str | None = None,
    method: Method | None = None,
    solver: str = "auto",
    jobs: int = 1,
    scheduler: str | None = None,
    checkpoint: Path | None = None,
    memory: int | None = None,
    verbose: bool = False,
) -> None:
    """Audit or design each MODEL: a proved interval for what leaks about a record or secret, or the best mechanism within a budget.

    Limits are for each model. For a design -o writes the mechanism (NAME.mechanism.json), its own audit (NAME.mechanism.toml, .cert)
    and the certificate of the design. Interrupted, it answers with what is proved by then. It is tried before the work whether
    anything can be written there.

    Parameters
    ----------
    models : MODEL...
        Model files, or names from `dalenius list`; - is standard input.
    output : -o, --output FOLDER
        Folder for the certificate.
    trace
        Write how the bounds moved with time beside it.
    curve
        Of an audit: have the certificate bound the leakage at every entropy bound.
    memory_limit
        MiB for everything, the proof included, roughly.
    compress
        Write certificates compressed (.cert.gz), a quarter as long.
    jobs : --jobs 1..
        Processes that work on a long audit, and check it.
    scheduler : --scheduler ADDRESS
        A Dask scheduler whose workers do so instead.
    checkpoint : --checkpoint FILE
        Of an audit: go on from FILE, and write into it.
    memory : --memory 1..
        Of a design by --method alternating: so many priors are answered; 1 is the paper's scheme.
    verbose
        Show the solvers' logs, and every stage of the work.
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
    if verbose and as_json:
        raise InputError(
            "--verbose, --json: logs would stand on standard output beside the answer; leave one of them out"
        )
    if trace and output is None:
        raise InputError("--trace: give a folder for it with -o")
    if compress and output is None:
        raise InputError("--compress: give a folder for the certificate with -o")
    if checkpoint is not None and len(models) > 1:
        raise InputError(f"--checkpoint: the state of one audit goes into it; expected one MODEL, got {len(models)}")
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
        memory=memory,
        verbose=verbose,
    )
    widest, failed, ends = 0.0, False, list[Ends]()
    with stopped_by_interrupt(whole := Clock()):  # from here on there is an answer to write and to print
        for question in questions:
            if whole.expired:
                break
            try:
                with status_line(_status(question, questions)) as progress:
                    result = answering(question.problem, progress=progress)
            except DaleniusError as error:
                if len(questions) == 1:
                    raise
                failed = True
                err.print(f"dalenius: {question.label}: {error}")
                continue
            proved = leakage_ends(question.label, result)
            ends += proved
            result = result.with_leakages_in(shown) if isinstance(result, DesignResult) else result.to(shown)
            if len(questions) > 1 and not as_json:
                out.print(f"model                {question.label}")
            _tell(question, result, at_most_met(budget, proved), as_json=as_json, trace=trace)
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
            raise InputError(
                f"-o: the files of {twin.label} and of {label} would have the same names; solve them into two folders"
            )
        problem = published(stated, public_law, output)
        folder = None if output is None else Output(output, of_one_run(stem), force=force, compress=compress)
        found.append(_Question(label, stem, stated, problem, folder))
    return found


def _status(question: _Question, questions: list[_Question]) -> str:
    """Beginning of the status line."""
    return (
        question.problem.task
        if len(questions) == 1
        else f"{question.label}, {questions.index(question) + 1} of {len(questions)}"
    )


def _tell(question: _Question, result: Solved, met: dict[str, bool | None], *, as_json: bool, trace: bool) -> None:
    """Write the answer's files, and print it."""
    folder, problem = question.folder, question.problem
    written = None if folder is None else _written(folder, question.stem, problem, result, trace)
    answer = answer_of(problem, result, question.label, written)
    if as_json:
        write_answer("solve", answer | met, _bounds(question.problem, result))
    else:
        print_answer(answer, result, folder)


def _bounds(problem: Problem, result: Solved) -> Iterator[Ends]:
    """Bounds of the question, and of a design's mechanism its leakage."""
    ends = None if math.isinf(result.lower) else result.lower, None if math.isinf(result.upper) else result.upper
    yield Ends(problem.in_models, *ends, result.units)
    if isinstance(result, DesignResult) and result.audit is not None and result.leakage is not None:
        yield Ends("leakage of the mechanism", *result.leakage, result.audit.units)


def _written(folder: Output, name: str, problem: Problem, result: Solved, trace: bool) -> Path | None:
    """The certificate, with a design's mechanism and its own audit, the design's model as it was proved, and the trace."""
    from dalenius.report import trace_picture, trace_table

    files = {CERTIFICATE: result.certificate.text}
    if isinstance(result, DesignResult):
        files |= {**mechanism_files(problem, result), ".design.toml": model_bytes(problem).decode()}
    if trace:
        files[".trace.csv"] = trace_table(result)
    written = folder.keep(name, problem, files)
    if written is not None and trace and math.isfinite(result.upper):
        folder.draw(lambda: trace_picture(result, title=sibling(written, "").name), sibling(written, ".trace.png").name)
    return written
