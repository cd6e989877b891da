"""The command compose: what several releases tell together, at most, from their certificates."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

import dalenius as dl
from dalenius.cli.gates import AtMostOption, Budget, Ends, require_at_most
from dalenius.cli.shared import JsonOption, UnitsOption, library_names, out, read_problem, units_shown, write_json
from dalenius.errors import InputError
from dalenius.model import digest
from dalenius.model.problems.maximal_leakage import audited

__all__ = ["compose"]


def compose(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL CERTIFICATE MODEL CERTIFICATE ...",
            help="For each release its model file, or a name from `dalenius list`, and its certificate file.",
            autocompletion=library_names,
        ),
    ],
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Releases may be chosen after earlier outputs; in this order.")
    ] = False,
    eta: Annotated[
        str | None,
        typer.Option(
            "--eta",
            help="What outputs tell about each other given the record, or secret, at most: nats, or '0.1 bits'.",
        ),
    ] = None,
    rule: Annotated[
        str | None, typer.Option("--rule", help="Insist on sum, 'one and capacities', 'sum and eta' or letters.")
    ] = None,
    units: UnitsOption = None,
    at_most: AtMostOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what several releases of the same data tell about a record or secret together, at most: by theorems, from certificates.

    Files alternate: a model, the certificate of that model, the next model, ... Each certificate is proved again; one of another
    model, or one that is not proved, is refused. Put the releases into one model (several_releases, joint) where that can be:
    it tells less.
    """
    if len(files) < 4 or len(files) % 2:
        raise InputError(
            f"compose: expected a model and a certificate for each of at least two releases, got {len(files)} files"
        )
    budget = Budget.of(at_most)
    answers = [_answer(*pair) for pair in zip(files[::2], files[1::2], strict=True)]
    together = dl.composition(answers, adaptive=adaptive, eta=eta, rule=rule)
    found = together.to(units_shown(units, as_data=as_json))
    if as_json:
        write_json(dataclasses.asdict(found))
    else:
        out.print(str(found), soft_wrap=True, highlight=False, markup=False)
    require_at_most(budget, [Ends("all together", together.lower, together.upper, together.units)])


def _answer(model: str, certificate: str) -> tuple[dl.MaximalLeakage | dl.SecretLeakage, dl.Certificate]:
    """A release's problem and its certificate, which must be about it."""
    problem = read_problem(model)[2]
    asked = problem if isinstance(problem, dl.SecretLeakage) else audited(problem)
    found = dl.Certificate.read(certificate)
    try:
        about = found.header.model
    except InputError as error:
        raise InputError(f"{certificate}: {error}") from None
    if about != digest(asked):
        raise InputError(f"{certificate}: not about {model}; give each model's certificate after it")
    return asked, found
