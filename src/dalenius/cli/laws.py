"""The law of a design's data: what of a confidential table leaves the house with it, and a public law in its place."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

from typer import Option

import dalenius as dl
from dalenius.cli.shared import err, listed
from dalenius.errors import InputError
from dalenius.intervals import text_above
from dalenius.model import DesignProblem, Problem
from dalenius.results import DesignResult, Result, SecretResult

OPTION = "--public-law"
PublicLawOption = Annotated[
    str | None,
    Option(OPTION, help="Design for this law, which may be known: uniform, or probabilities with commas."),
]


def published(problem: Problem, public: str | None, written: Path | None) -> Problem:
    """The problem with the public law, if one is given; else a warning if what is written tells the shares of a table.

    Parameters
    ----------
    public : str or None
        ``uniform``, or the probabilities of a record's letters with commas.
    written : path or None
        Where the answer goes; None where nothing is written.

    Raises
    ------
    InputError
        If it is no law for these records, the problem is no design, or its privacy is defined by its own law.
    """
    if public is not None:
        return _with_law(problem, public)
    if written is not None and problem.written is None:  # MODEL only says which table the law is in
        err.print(
            f"WARNING: the law is taken from a table, and what is written to {written} tells the exact share of each letter in it; "
            f"{OPTION} of solve and frontier designs for a law that may be known (docs/release.md)",
        )
    return problem


def tell_private_distortion(problem: Problem, public: str | None, result: Result | DesignResult | SecretResult) -> None:
    """Under a public law: what the mechanism distorts under the model's own, on standard error and nowhere else."""
    if public is None or not isinstance(problem, DesignProblem) or not isinstance(result, DesignResult):
        return
    if result.mechanism is not None:
        expected = problem.expected_distortion(result.mechanism.rows)
        err.print(
            f"under MODEL's own law the mechanism distorts at most {text_above(expected)}: about the data, and written nowhere"
        )


def _with_law(problem: Problem, public: str) -> DesignProblem:
    if not isinstance(problem, DesignProblem):
        has = "is about its law itself" if isinstance(problem, dl.MaxInformation) else "has no law of the data"
        raise InputError(f"{OPTION}: {problem.in_models} {has}; leave it out")
    notion = problem.privacy if isinstance(problem, dl.MinDistortion) else None
    if isinstance(notion, dl.PointwiseMaximalLeakage) and notion.priors is None:
        raise InputError(
            f"{OPTION}: this privacy is about the law itself; list [privacy] priors in the model, or state the law"
        )
    for j, limit in enumerate(problem.own_constraints):
        if getattr(limit, "about_the_law", False):
            raise InputError(
                f"{OPTION}: constraints[{j}] ({limit.kind}) is about the law itself; list its secret or priors in the model, or state "
                "the law"
            )
    try:
        law = dl.Uniform() if public == dl.Uniform.kind else dl.Iid(listed(public, OPTION))
        return dataclasses.replace(problem, law=law)
    except InputError as error:
        raise InputError(f"{OPTION}: {error}") from None
