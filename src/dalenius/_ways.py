"""Which methods and solvers there are for which question: what else is asked for is refused before any work."""

from __future__ import annotations

from dalenius.errors import InputError
from dalenius.exact import brief
from dalenius.model import DesignProblem, MaximalLeakage, MinDistortion, Problem

__all__ = ["is_linear", "is_private", "need_way_to_audit", "need_way_to_design", "need_way_to_information"]

METHODS = ("exchange", "alternating")


def need_way_to_audit(problem: Problem, method: str | None, solver: str) -> None:
    """Refuse what an audit has no use for; `InputError`."""
    if method is None and solver not in ("auto", "own"):
        raise InputError(
            "solver: an audit has programs to solve only where the alternating scheme searches; leave the solver out, or choose "
            f'the method "alternating" (--method alternating), too; got "{solver}"'
        )
    if method not in (None, "alternating"):
        raise InputError(f"method: of an audit expected alternating, or none; got {brief(method)}")
    if method is not None and not (isinstance(problem, MaximalLeakage) and problem.searched):
        raise InputError(
            "method: against entropy_at_least only is there anything to alternate between; leave it out, the leakage is computed"
        )


def need_way_to_design(problem: DesignProblem, method: str | None, solver: str) -> None:
    """Refuse what a design has no use for; `InputError`."""
    if method is not None and method not in METHODS:
        raise InputError(f"method: expected one of {', '.join(METHODS)}; got {brief(method)}")
    if not problem.plain:
        more = "constraints" if problem.constraints else "an objective of several terms"
        if method == "alternating":
            raise InputError(
                f'method: a design with {more} has one method, the exchange; leave it out, got "alternating"'
            )
        if solver == "own" and not is_linear(problem):
            known = more.removeprefix("an ")
            raise InputError(f"solver: our own method knows no {known}; choose another one, or leave it out")
    if is_private(problem) and method is not None:
        raise InputError(f'method: a design under [privacy] has nobody to alternate with; leave it out, got "{method}"')
    if solver != "auto" and is_linear(problem):
        raise InputError(
            f'solver: a design under [privacy] is a linear program, solved exactly; leave it out, got "{solver}"'
        )


def need_way_to_information(method: str | None, solver: str) -> None:
    """Refuse any method or solver; `InputError`."""
    for name, given, none in (("method", method, None), ("solver", solver, "auto")):
        if given != none:
            raise InputError(
                f'{name}: the most information is a linear program over extreme mechanisms; leave it out, got "{given}"'
            )


def is_private(problem: DesignProblem) -> bool:
    """Whether a privacy notion limits the mechanism, and no adversary."""
    return isinstance(problem, MinDistortion) and problem.privacy is not None


def is_linear(problem: DesignProblem) -> bool:
    """Whether the design is a linear program, which is solved exactly."""
    from dalenius.designs import Terms

    return is_private(problem) and not problem.constraints and Terms.of(problem).as_distortion is not None
