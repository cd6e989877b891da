"""One check at one precision, and the verdict."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from .arithmetic import chosen
from .certificate import Lines, Shares, header
from .channel import build
from .kinds import unknown
from .model import Model
from .numbers import RefusedError, need
from .registry import lemma, rules
from .subjects import audit, subject


class Status(Enum):
    """How a check ended."""

    PROVED = "proved"
    REJECTED = "rejected"
    UNREADABLE = "unreadable"
    UNDECIDED = "undecided"
    RESOLVED = "resolved"

    @property
    def exit_code(self) -> int:
        """The exit status of the command line."""
        return list(Status).index(self)


@dataclass(frozen=True)
class Verdict:
    """The outcome: `lower <= L <= upper` (in a design model V for L) is proved where the status is PROVED.

    A proof that no mechanism of a design model meets the budget has no interval. Where the status is RESOLVED, the same is
    proved of the matrix that the certificate carries, and nothing of the model's own mechanism. `rules` are what the proof rests
    on: the core, and lemmas with their theorems (docs/theory.md). `cause` is why it is UNDECIDED: "limit", then `allowed` is
    "seconds" or "memory" if the check was given too little of that; "precision", where less may be proved; empty after a defect
    or an interrupt.
    """

    status: Status
    reason: str
    lines: tuple[str, ...] = ()
    lower: Fraction | None = None
    upper: Fraction | None = None
    cause: str = ""
    allowed: str = ""
    rules: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether the claim is proved, of the model itself."""
        return self.status is Status.PROVED

    @property
    def exit_code(self) -> int:
        """The exit status of the command line."""
        return self.status.exit_code

    def json(self, **files: str) -> str:
        """With the files that it is about as a JSON object; the ends exactly, as fractions, and null where there is none."""
        ends = (None if end is None else str(end) for end in (self.lower, self.upper))
        told: dict[str, object] = {**files, "status": self.status.value, "proved": self.proved, "reason": self.reason}
        return json.dumps(
            told | dict(zip(("lower", "upper"), ends, strict=True)) | {"rules": self.rules, "lines": self.lines}
        )


def attempt(model: Model, certificate: bytes, resolved: bool, shares: Shares) -> Verdict:
    """One check at the current precision; what is refused before the first line concerns the model."""
    model.allowance.theorems.clear()
    model.need_feasible()
    model.allowance.line = 0
    known = subject(model)
    private = "envelope" if "constraints" in model.design else "information"
    name = private if model.problem == "max_information" else "designs"
    design = lemma(name).design(model) if model.design else None
    lines = Lines(certificate, model.allowance, shares)
    channel = None if design or known.source else build(model)
    if model.foreign and not resolved:
        return Verdict(Status.REJECTED, unknown(model.mechanism["kind"]))
    try:
        claim = header(lines, model)
        words, tally = design.check(lines, claim) if design else audit(lines, model, known, channel, claim)
        need(not lines.more(), "there is a line after the last one that is expected")
    except RefusedError as failure:
        if not shares.whole:
            raise
        return Verdict(Status.REJECTED, f"certificate line {lines.number}: {failure}")
    used = rules(model.allowance)
    statement = (
        *words[:2],
        *(f"{key}: {_cut(value)}" for key, value in model.normal.items() if key not in ("problem", "constraints")),
        *(f"constraint {j}: {_cut(table)}" for j, table in enumerate(model.normal.get("constraints", []))),
        f"model: {model.digest}",
        *words[2:],
        "leaves: " + (", ".join(f"{count} {kind}" for kind, count in sorted(tally.items())) or "none"),
        f"rules used: {'; '.join(used)}",
        f"arithmetic: {chosen().words}",
        f"precision: {chosen().precision()} bits",
    )
    lower, upper = (
        None if end is None else Fraction(int(end.numerator), int(end.denominator))
        for end in (claim["lower"], claim["upper"])
    )
    status = Status.RESOLVED if model.foreign else Status.PROVED
    return Verdict(status, statement[0], statement, lower, upper, rules=used)


def _cut(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else text[:197] + "..."
