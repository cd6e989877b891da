"""The master program of a design with constraints or an objective, for listed priors: for other people's solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dalenius.designs.exchange.goals import OWN, Goal, Place, Watched, Watcher, watchers_of
from dalenius.designs.exchange.interior import Inside
from dalenius.designs.exchange.region import Region
from dalenius.designs.oracle import Prior
from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.model.constraints import MaximalCorrelation
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.programs import ConstrainedUpdate
from dalenius.reduction import Orbits
from dalenius.search import Clock, Limits, Run

STARTS = 6  # of a search for priors


def constrained_master(problem: DesignProblem, priors: Mapping[Place, Sequence[Floats]]) -> ConstrainedUpdate:
    """On the problem's own inputs, with its budget, rows and objective, and without limits of leakage to further adversaries.

    Parameters
    ----------
    priors : mapping of place -> sequence of (letters, inputs)
        Of the design's own adversary, and of those of its objective. Whoever is not there answers a mechanism in the middle of the
        rows.

    Raises
    ------
    InputError
        If there are second-order cones, or limits of the maximal correlation; if no mechanism was found that meets the rows; or, of a
        least distortion, none that leaks nothing.
    """
    search, orbits = Run.of(Limits(time_limit=None)), Orbits.of(problem, lambda *_: False)
    region = Region(problem, orbits, search)
    if not isinstance(region.found, Inside):
        raise InputError("program: no mechanism was found that meets the constraints; solve the model, which says why")
    if region.cones:
        raise InputError(
            "program: second-order cones cannot be exported; leave these constraints out, or solve the model"
        )
    if problem.numbered(MaximalCorrelation).keys() & {law.number for law in region.secrets}:
        raise InputError(
            "program: a limit of the maximal correlation is a semidefinite cone, and cannot be exported; leave it out, or "
            "solve the model"
        )
    watchers = watchers_of(problem, orbits, search.rng)
    watched = list[Watched]()
    for watcher in watchers:
        if watcher.term is not None or watcher.place == OWN:
            watched += _answers(watcher, priors.get(watcher.place), region.expanded(region.found.q))
    anchor = region.found.q
    if problem.leakage_budget is not None and any(place == OWN for place, _ in watched):
        if region.constant is None:
            raise InputError(
                "program: no mechanism that leaks nothing meets the constraints; export a min_leakage model"
            )
        anchor = region.matrix(region.constant)
    program = Goal(region, watchers).program(watched, anchor)
    assert isinstance(program, ConstrainedUpdate)
    return program


def _answers(watcher: Watcher, listed: Sequence[Floats] | None, Q: Floats) -> list[Watched]:
    """The priors of an adversary: those that are listed, or what it answers a mechanism."""
    if listed is None:
        replies, _ = watcher.replies(Q, Clock(), STARTS)
        listed = [prior.masses for prior in replies or [watcher.oracle.any_prior]]
    return [(watcher.place, Prior(0, np.asarray(masses))) for masses in listed]
