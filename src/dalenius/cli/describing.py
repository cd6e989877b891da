"""The command show: what a file means, in words and sizes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import dalenius as dl
from dalenius.catalogue.models import shape
from dalenius.cli.shared import JsonOption, models_in, naming, out, read_problem, write_json
from dalenius.errors import counted
from dalenius.evidence import exact_fraction_above
from dalenius.intervals import ends_text, gap_text, interval_text, text_below
from dalenius.model import DesignProblem, Problem, digest
from dalenius.model.model_file import SPELLINGS
from dalenius.report.words import question
from dalenius.results import relative_gap
from dalenius.units import lower_in, upper_in

CERTIFICATES = (".cert", ".cert.gz")
MECHANISM = ".json"
LARGE = 40.0  # a logarithm beyond which numbers are not written out


def show(
    model: Annotated[
        str,
        models_in(
            "FILE",
            "A model file, a name from `dalenius list`, - for standard input; a certificate (.cert, .cert.gz), or a mechanism's "
            "file (.json).",
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Say what FILE means: a model's question in words, with its sizes and its digest; what a certificate claims; a mechanism's table.

    Nothing is solved and nothing is proved: `dalenius verify` proves a certificate.
    """
    if model.endswith(CERTIFICATES):
        told = _of_certificate(Path(model))
    elif model.endswith(MECHANISM):
        told = _of_mechanism(Path(model))
    else:
        told = _of_model(model)
    if as_json:
        write_json(told)
        return
    for key, value in told.items():
        for line in value if isinstance(value, list) else [value]:
            if line is not None:
                out.print(f"{key.replace('_', ' '):<20} {line}")


def _of_model(model: str) -> dict[str, Any]:
    label, _, problem = read_problem(model)
    inputs, outputs = shape(problem)
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
        "datasets": records.datasets if records.log_datasets < LARGE else f"e^{records.log_datasets:.6g}",
        "inputs": inputs,
        "outputs": "real numbers" if _on_a_line(problem) else outputs,
        "answer_in": problem.quantity.units,
        "digest": digest(problem),
    }
    if isinstance(problem.adversary, dl.EntropyAtLeast):
        told |= {"entropy_bound_nats": problem.entropy_bound, "largest_entropy_nats": records.log_datasets}
    if isinstance(problem, DesignProblem):
        told["constraints"] = [constraint.kind for constraint in problem.own_constraints]
    return told


def _on_a_line(problem: Problem) -> bool:
    return isinstance(problem, dl.WorstCaseLeakage) and problem.mechanism.on_a_line


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
        "producer": header.producer or None,
        "evidence": [f"{counted(number, 'line')} of the kind {name}" for name, number in kinds.items()],
        "proved": f"not tried here: dalenius verify MODEL {path}",
    }


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
