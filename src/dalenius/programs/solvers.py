"""Solvers in the order in which they are tried: the conic ones of `cvxcertify.solvers`, and the programs' own methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import cvxcertify.solvers as conic
from cvxcertify.solvers import Attempt as Attempt
from cvxcertify.solvers import usable as usable
from dalenius.programs.own import as_ours
from dalenius.search import stop_requested

OWN = "own"
SOLVERS = ("auto", OWN, *conic.SETTINGS)
attempt = partial(conic.attempt, stop=stop_requested)


def ladder(solver: str | Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The solvers and settings to try in turn: all settings of the named solvers, or (auto) conic ones and our own method.

    `auto` is what it is in `cvxcertify.solvers.ladder`, with the program's own method after Clarabel's first settings. Names may be
    written in small letters.

    Raises
    ------
    InputError
        If a name is unknown, the solver is not installed, or it is MOSEK without a working licence.
    """
    if isinstance(solver, str) and solver.lower() == "auto":
        rungs = conic.ladder()
        own = next(k for k, (name, _) in enumerate(rungs, start=1) if name == "CLARABEL")
        yield from (*rungs[:own], (OWN, {}), *rungs[own:])
        return
    for name in [_there(name) for name in (solver if isinstance(solver, tuple | list) else [solver])]:
        yield from [(OWN, {})] if name == OWN else conic.ladder(name)


def order_of(solver: str, quickest: tuple[str, ...] = ("CLARABEL", OWN)) -> tuple[str, ...]:
    """The names that `dalenius.solve` tries in turn for one of its choices; `auto` is what is quickest by measurement.

    That is `quickest`: for most programs Clarabel, and our own method where it stalls (docs/programs.md, *What it costs*). A licensed
    MOSEK goes before them.

    Raises
    ------
    InputError
        As `ladder`.

    >>> order_of("clarabel"), order_of("own")
    (('CLARABEL',), ('own',))
    """
    if solver.lower() == "auto":
        return quickest if conic.mosek_refusal() else ("MOSEK", *quickest)
    return (_there(solver),)


@as_ours()
def _there(solver: object) -> str:
    """A solver's name as it is written here; InputError if it is unknown, not installed or not licensed."""
    return conic.named(solver, others=[OWN])


def solver_states() -> dict[str, str]:
    """Why each conic solver that may be named cannot be chosen here; empty where it can be, a licence included.

    >>> solver_states()["CLARABEL"], solver_states()["own"]
    ('', '')
    """
    there = {OWN, *conic.installed()}
    absent = {name: "" if name in there else f"{name} is not installed" for name in SOLVERS if name != "auto"}
    return absent | {"MOSEK": conic.mosek_refusal()}
