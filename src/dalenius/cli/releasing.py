"""The command release: one output of a mechanism for real data, with what is proved of it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

import dalenius as dl
from dalenius.catalogue.models import model_path
from dalenius.cli.shared import JsonOption, ModelArgument, err, listed, naming, out, status_line, write_json
from dalenius.model import digest

__all__ = ["release"]


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
    as_json: JsonOption = False,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="ONLY for simulations: makes the output predictable.")
    ] = None,
) -> None:
    """Release one output of a mechanism for real data, with a proved bound of what it leaks. The true value is never shown."""
    import numpy as np

    from dalenius.model.mechanisms import DesignedMechanism
    from dalenius.studies.release import audit_of_release, letter_texts, read_letters, true_input

    if seed is not None:
        err.print("WARNING: --seed makes the output predictable. This is a simulation; never publish it.")
    path = model_path(model)
    problem = dl.load(path)
    chosen = DesignedMechanism.load(mechanism)
    with naming(mechanism):
        audit = audit_of_release(problem, chosen)
    texts = letter_texts(problem.records, None if letters is None else listed(letters, "--letters"))
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
        write_json({"output": output, **answer})
    else:
        _print_release(output, answer)


def _guarantee(
    problem: dl.Problem,
    audit: dl.MaximalLeakage,
    mechanism: dl.DesignedMechanism,
    proof: Path | None,
    time_limit: float,
) -> dict[str, Any]:
    """What is known about a release before there is one: from a certificate that the checker proves, or from an audit on the spot."""
    from dalenius.studies.release import bound_of, expected, fits_design

    if proof is None:
        with status_line("audit") as progress:
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
    with naming(proof):
        bound = bound_of(problem, mechanism, upper, certificate)
    return {
        "leakage_nats": bound.nats,
        "leakage_bits": bound.bits,
        "leakage_within_budget": bound.met,
        "adversary": f"any adversary {problem.against('a release').in_words()}",
        "proved": True,
        **expected(problem, mechanism),
    }


def _print_release(output: int | str, answer: dict[str, Any]) -> None:
    from dalenius.studies.release import above

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
