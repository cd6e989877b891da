"""What the command solve answers, as JSON and in words."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import dalenius as dl
from dalenius.cli.folders import Output, sibling
from dalenius.cli.shared import out
from dalenius.errors import counted
from dalenius.intervals import gap_text, interval_text, text_above
from dalenius.model import digest
from dalenius.results import told_text
from dalenius.units import log_above

__all__ = ["Answer", "Solved", "answer_of", "print_answer"]

SHORT = 60  # characters of a fraction

Solved = dl.Result | dl.DesignResult | dl.SecretResult
Answer = dict[str, Any]


def answer_of(problem: dl.Problem, result: Solved, label: str, written: Path | None) -> Answer:
    """The answer as JSON data; `written` is the certificate's file."""
    if isinstance(result, dl.DesignResult):
        return _design_answer(problem, result, label, written)
    return _audit_answer(problem, result, label, written)


def print_answer(answer: Answer, result: Solved, folder: Output | None) -> None:
    """The same in words."""
    if isinstance(result, dl.DesignResult):
        _print_design(answer, result, folder)
        return
    secret = isinstance(result, dl.SecretResult)
    told, what = ("largest information", "secret") if secret else ("worst-case leakage", "record")
    out.print(f"{told:<20} {result.interval}")
    _print_gap(result)
    prior = "" if answer["prior"] is None else f", to prior {answer['prior']}"
    out.print(f"about {what}         {'none' if answer[what] is None else answer[what]}{prior}")
    if isinstance(result, dl.Result):
        _print_work(result)
    _print_proof(answer, result, folder)


def _audit_answer(problem: dl.Problem, result: dl.Result | dl.SecretResult, label: str, written: Path | None) -> Answer:
    """Of an audit of records or of secrets."""
    return {
        "model": label,
        "digest": digest(problem),
        "lower": result.lower,
        "upper": result.upper,
        "units": result.units,
        "most": result.most,
        "gap": result.gap,
        **({"secret": result.secret} if isinstance(result, dl.SecretResult) else {"record": result.record}),
        "prior": result.witness.prior if result.witness else None,
        **({"secrets": result.secrets} if isinstance(result, dl.SecretResult) else {}),
        **_outcome(result, written),
    }


def _outcome(result: Solved, written: Path | None) -> Answer:
    """How the work ended, who solved what, what an alternating scheme did, and what is proved."""
    work = {} if isinstance(result, dl.SecretResult) else {"solvers": result.solvers, "alternating": result.alternating}
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
    said = [result.status.meaning] * (result.status is dl.Status.ALL_THERE_IS)
    out.print(f"relative gap         {gap_text(result.gap)} ({'; '.join([*said, result.termination.advice])})")


def _print_work(result: dl.Result | dl.DesignResult) -> None:
    for one in result.alternating:
        out.print(f"alternating          {one}", markup=False)
    for use in result.solvers:
        out.print(f"solver               {use}", markup=False)


def _print_proof(answer: Answer, result: dl.Result | dl.SecretResult, folder: Output | None) -> None:
    about = "" if answer["proved"] else " about the matrix in the certificate only"
    out.print(
        f"proved              {about} by the independent checker, from {counted(result.certificate.lines, 'line')}, "
        f"{answer['seconds']:.2f} s"
    )
    if answer["certificate"]:
        out.print(f"certificate          {answer['certificate']}", markup=False)
    else:
        out.print(f"certificate          not written ({_why_not(folder, 'it')})", markup=False)


def _design_answer(problem: dl.Problem, result: dl.DesignResult, label: str, written: Path | None) -> Answer:
    leakage = None
    if result.audit is not None and result.leakage is not None:
        leakage = {"lower": result.leakage[0], "upper": result.leakage[1], "units": result.audit.units}
    return {
        "model": label,
        "digest": digest(problem),
        "feasible": result.feasible,
        "lower": result.lower if result.feasible else None,
        "upper": result.upper if result.feasible else None,
        "units": result.units,
        "gap": result.gap,
        "leakage": leakage,
        "distortion": None if result.distortion is None else str(result.distortion),
        **({"most": result.most} if result.quantity is dl.Quantity.LEAKAGE else {}),
        **_privacy_answer(problem, result),
        **({"constraints": [_constraint_answer(price) for price in result.constraints]} if result.constraints else {}),
        **({"objective": [_term_answer(term) for term in result.objective]} if result.objective else {}),
        "rounds": result.rounds,
        "explanation": list(result.explanation),
        **_outcome(result, written),
        **({"design": str(sibling(written, ".design.toml"))} if written else {}),
        **({"mechanism": str(sibling(written, ".mechanism.json"))} if written and result.feasible else {}),
    }


def _constraint_answer(price: dl.ConstraintPrice) -> Answer:
    """What a constraint costs, and what room the mechanism leaves in it."""
    slack = price.slack if price.slack is None or isinstance(price.slack, float) else str(price.slack)
    return {"number": price.number, "kind": price.kind, "binds": price.binds, "price": price.price, "slack": slack}


def _term_answer(term: dl.TermValue) -> Answer:
    """What a term of the objective comes to, and what it weighs in the proof."""
    lower, upper = (end if isinstance(end, float) else str(end) for end in (term.lower, term.upper))
    return {
        "number": term.number,
        "kind": term.kind,
        "weight": str(term.weight),
        "lower": lower,
        "upper": upper,
        "units": term.units,
        "multiplier": term.multiplier,
    }


def _privacy_answer(problem: dl.Problem, result: dl.DesignResult) -> Answer:
    """For a design under a privacy notion: the notion, and the least e^epsilon for which its mechanism is private."""
    if not isinstance(problem, dl.MinDistortion | dl.MaxInformation) or problem.privacy is None:
        return {}
    attained = None if result.exp_epsilon is None else str(result.exp_epsilon)
    return {"privacy": {"kind": problem.privacy.kind, "epsilon": problem.privacy.epsilon, "attained": attained}}


def _print_design(answer: Answer, result: dl.DesignResult, folder: Output | None) -> None:
    if not result.feasible:
        met = " and ".join(map(str, result.constraints)) or "the budget"
        out.print(f"no mechanism of the class meets {met}", markup=False)
    else:
        out.print(f"{result.optimum:<20} {result.interval}")
        _print_gap(result)
        leakage, privacy = answer["leakage"], answer.get("privacy")
        if leakage:
            values = None if result.audit is None else result.audit.values
            told = told_text(leakage["lower"], leakage["upper"], leakage["units"], values)
            out.print(f"the mechanism leaks  {told}")
        elif privacy and result.exp_epsilon is not None:
            attained = f"{text_above(log_above(result.exp_epsilon), 10)} nats (asked: {privacy['epsilon']})"
            out.print(f"the mechanism has    {privacy['kind']}, epsilon at most {attained}", markup=False)
        if result.distortion is not None:
            out.print(f"    and distorts     at most {text_above(result.distortion, 10)}{_exactly(result.distortion)}")
        for term in result.objective:
            out.print(f"{term!s:<20} {_term_text(term)}", markup=False)
        for price in result.constraints:
            cost = f"binds, at a price of {text_above(price.price)}" if price.binds else "does not bind"
            out.print(f"constraint           {price} {cost}", markup=False)
        for line in result.explanation:
            out.print(f"symmetry             {line}", markup=False)
        _print_work(result)
    out.print(
        f"proved               by the independent checker, from {counted(result.certificate.lines, 'line')}, "
        f"{counted(answer['rounds'], 'round')}, {answer['seconds']:.2f} s"
    )
    if answer["certificate"]:
        out.print(f"certificate          {answer['certificate']}, about {answer['design']}", markup=False)
        if "mechanism" in answer:
            out.print(f"mechanism            {answer['mechanism']}", markup=False)
    else:
        out.print(f"mechanism            not written ({_why_not(folder, 'it, and the certificates')})", markup=False)


def _term_text(term: dl.TermValue) -> str:
    """What a term of the objective comes to, its weight, and what it weighs in the proof."""
    value = (
        f"{interval_text(term.lower, term.upper)} {term.units}"
        if term.kind == "leakage"
        else text_above(term.upper, 10)
    )
    return f"{value}, weight {term.weight}, in the proof {term.multiplier:.6g}"


def _why_not(folder: Output | None, what: str) -> str:
    """Why there are no files, in words."""
    return f"-o FOLDER writes {what}" if folder is None else str(folder.trouble)


def _exactly(value: Fraction) -> str:
    """The number itself, where it is short enough to be read."""
    exact = str(value)
    return f" (exactly {exact})" if len(exact) <= SHORT else ""
