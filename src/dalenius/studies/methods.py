"""The methods that are compared: what they are, which laws they search, and what they are run with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalenius.baselines import (
    CvxpyNlp,
    DesignRun,
    DesignSettings,
    Family,
    LeakageRun,
    LeakageSettings,
    Maingo,
    Optimiser,
    Scip,
    Slsqp,
    TrustConstr,
    aggregated,
    design_run,
    full_joint,
    leakage_run,
    optimised_run,
)
from dalenius.errors import InputError, hint
from dalenius.exact import brief
from dalenius.model import DesignProblem, MaximalLeakage
from dalenius.search import Clock

__all__ = ["CERTIFIED", "METHODS", "RIVALS", "Rival", "Settings", "settings_from_text"]

Settings = LeakageSettings | DesignSettings | Optimiser
CERTIFIED = "certified"


@dataclass(frozen=True)
class Rival:
    """A method to compare with.

    Attributes
    ----------
    what : str
        In words.
    family : callable
        From a problem to the laws that it searches; `InputError` where there are too many.
    audit : LeakageSettings or Optimiser
        What it is run with on Problem 1, unless told otherwise.
    design : DesignSettings or None
        The same on Problems 2 and 3; None if it audits only.
    once : bool
        A global solver: it needs no second start.
    """

    what: str
    family: Callable[[MaximalLeakage | DesignProblem], Family]
    audit: LeakageSettings | Optimiser
    design: DesignSettings | None = None
    once: bool = False

    def settings(self, problem: MaximalLeakage | DesignProblem) -> Settings | None:
        """What it is run with on this problem unless told otherwise; None if it is not made for it."""
        return self.audit if isinstance(problem, MaximalLeakage) else self.design

    def audited(self, family: Family, seed: int, settings: Settings, clock: Clock) -> LeakageRun:
        """Problem 1 from one start: the paper's uniform one for seed 0, else a random one."""
        rng = np.random.default_rng(seed) if seed else None
        law = None if rng is None else family.random(rng)
        if isinstance(settings, LeakageSettings):
            return leakage_run(family, law, settings=settings, clock=clock, rng=rng)
        assert not isinstance(settings, DesignSettings)
        return optimised_run(family, law, optimiser=settings, clock=clock)

    def designed(
        self, problem: DesignProblem, family: Family, seed: int, settings: Settings, clock: Clock
    ) -> DesignRun:
        """Problem 2 or 3 from one start."""
        assert isinstance(settings, DesignSettings)
        rng = np.random.default_rng(seed) if seed else None
        return design_run(problem, family, rng, settings=settings, clock=clock)


RIVALS: Mapping[str, Rival] = {
    "paper-full": Rival(
        "the source paper's algorithms on the full joint law of the datasets",
        full_joint,
        LeakageSettings(),
        DesignSettings(),
    ),
    "paper-aggregated": Rival(
        "the same code on the aggregated problem", aggregated, LeakageSettings(), DesignSettings()
    ),
    "slsqp": Rival("scipy's SLSQP on the aggregated problem, analytic gradients (audits only)", aggregated, Slsqp()),
    "trust-constr": Rival(
        "scipy's trust-constr on the aggregated problem, analytic gradients and Hessians (audits only)",
        aggregated,
        TrustConstr(),
    ),
    "cvxpy-nlp-full": Rival(
        "Problem 1 as written in cvxpy's nonlinear mode, solver UNO, full joint law (audits only; extra: rivals)",
        full_joint,
        CvxpyNlp(),
    ),
    "cvxpy-nlp-aggregated": Rival(
        "the same on the aggregated problem (audits only; extra: rivals)", aggregated, CvxpyNlp()
    ),
    "scip": Rival(
        "the global solver SCIP on the aggregated problem (audits only; extra: rivals)", aggregated, Scip(), once=True
    ),
    "maingo": Rival(
        "the global solver MAiNGO on the aggregated problem (audits only; extra: rivals)",
        aggregated,
        Maingo(),
        once=True,
    ),
}
METHODS = {
    CERTIFIED: "this package: bounds from both sides, proved by the independent checker",
    **{name: rival.what for name, rival in RIVALS.items()},
}


def settings_from_text(problem: MaximalLeakage | DesignProblem, texts: Iterable[str]) -> dict[str, Settings]:
    """Settings by method, out of texts ``METHOD.NAME=VALUE``; names of settings inside settings have dots.

    Raises
    ------
    InputError
        If a text is not of this form, or there is no such method or setting, or the value is none of it.

    >>> import dalenius as dl
    >>> problem = dl.load("parity/laplace-n4")
    >>> found = settings_from_text(problem, ["paper-full.conditional.step=0.1", "slsqp.iterations=50"])
    >>> found["paper-full"].conditional.step, found["slsqp"]
    (0.1, Slsqp(tolerance=1e-10, iterations=50))
    """
    found = dict[str, Settings]()
    for text in texts:
        path, equals, value = text.partition("=")
        method, *names = path.split(".")
        if not equals or not names:
            raise InputError(f"settings: expected METHOD.NAME=VALUE, got {brief(text)}")
        if method not in RIVALS:
            raise InputError(f"settings: expected one of {', '.join(RIVALS)} before the dot, got {brief(method)}")
        settings = found.get(method) or RIVALS[method].settings(problem)
        if settings is None:
            raise InputError(f"settings: {method} audits a mechanism, it does not design one")
        found[method] = _changed(settings, names, value, path)
    return found


def _changed(settings: Any, names: list[str], text: str, path: str) -> Any:
    """Frozen settings with one of them, perhaps inside another, read from a text."""
    name, *inner = names
    known = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    nested = {key for key, value in known.items() if dataclasses.is_dataclass(value)}
    if name not in known or (name in nested) != bool(inner):
        listed = [f"{key}.NAME" if key in nested else key for key in known]
        raise InputError(f"settings: {path}: expected one of {', '.join(listed)}; got {brief(name)}{hint(name, known)}")
    value = _changed(known[name], inner, text, path) if inner else _read(known[name], text)
    try:
        return dataclasses.replace(settings, **{name: value})
    except InputError as error:
        raise error if inner else InputError(f"settings: {path}: {error}") from None


def _read(before: object, text: str) -> object:
    """A number where there was one, as far as the text is one; what it may be is for the settings to say."""
    if isinstance(before, str):
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
