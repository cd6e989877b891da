"""Subject of a certificate, one check of it at one precision, and the verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple

from .adversaries import ADVERSARIES
from .allowance import lemma, rules
from .arithmetic import chosen
from .certificate import Lines, Shares, header
from .channel import Channel, build
from .known import Known
from .model import Model
from .noise import noise_of
from .numbers import MAX_ENTRIES, RefusedError, ends_words, need
from .proof import Proof, Words
from .tables import unknown

_RECORDS = "worst-case leakage about one record, I(X_i; Y) over the records and the adversary's priors below"


class Subject(NamedTuple):
    """Subject of a certificate: the checker of its lines, and the source of its outputs, if that is no channel."""

    proof: Callable[[Lines, Any], Proof]  # of a channel, where the source is one
    most: int  # letters, or values of a secret
    source: str = ""
    about: str = _RECORDS


def subject(model: Model) -> Subject:
    """That of a model; refused where it is not known."""
    name = _lemma(model)
    if name:
        found: Subject = lemma(name).subject(model)
        return found
    return Subject(lambda lines, channel: ADVERSARIES[model.adversary](lines, model, channel), model.most())


def _lemma(model: Model) -> str:
    """The name of the lemma that a model asks for; none for single records whose channel is known."""
    kind = model.mechanism.get("kind", "")
    if model.query["kind"] in ("histogram", "margins"):
        return "histograms"
    if model.adversary == "independent_blocks" and not model.design:
        return {"randomized_histogram": "randomized", "several_releases": "releases"}.get(kind, "households")
    if model.adversary in _CHAINS:
        return _CHAINS[model.adversary]
    if _is_wide(model):
        return "wide" if model.adversary == "entropy_at_least" else "households"
    return "secrets" if model.secrets else ""


_CHAINS = {"markov_chain": "chains", "finite_chain": "letter_chains"}


def _is_wide(model: Model) -> bool:
    """True if a model's channel would have more entries than others may have, and this is known all the same."""
    n = len(model.alphabets)
    ends = model.mechanism.get("range")
    inside = ends is None or (ends[0] <= 0 and n <= ends[1])
    known = model.query["kind"] == "count" and noise_of(model.mechanism).epsilon is not None and inside
    held = model.problem == "maximal_leakage" and model.adversary in ("product_priors", "entropy_at_least")
    outputs = n + 1 if ends is None else ends[1] - ends[0] + 1
    return known and held and len(set(model.alphabets)) == 1 and (n + 1) * outputs > MAX_ENTRIES


def audit(lines: Lines, model: Model, known: Subject, channel: Channel | None, claim: dict[str, Any]) -> Words:
    """A certificate of worst-case leakage, or about secrets: the statement, and the numbers of leaves by kind."""
    source = known.source
    if not source:
        channel = channel or build(model, claim["resolved"])
        assert channel is not None
        source = "exact rationals" if channel.exact else "enclosed by balls"
        source = "TAKEN FROM THE CERTIFICATE (resolved matrix)" if model.foreign else source
    evidence, tally = known.proof(lines, channel).check(claim)
    ends = ends_words(claim["lower"], claim["upper"], "L", known.most)
    about = ", OF THE MATRIX IN THE CERTIFICATE ONLY, not of the model's mechanism"
    return [
        f"resolved: {ends}{about}" if model.foreign else f"proved: {ends}",
        f"L: {known.about}",
        f"channel: {source}",
        *evidence,
    ], tally


class Status(Enum):
    """Outcome of a check."""

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
    lines: tuple[str, ...] = field(default=(), repr=False)
    lower: Fraction | None = field(default=None, repr=False)
    upper: Fraction | None = field(default=None, repr=False)
    cause: str = ""
    allowed: str = ""
    rules: tuple[str, ...] = field(default=(), repr=False)

    @property
    def proved(self) -> bool:
        """True if the claim is proved of the model itself."""
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


def attempt(model: Model, certificate: bytes, resolved: bool, shares: Shares, leaves: Known | None = None) -> Verdict:
    """One check at the current precision; what is refused before the first line concerns the model."""
    model.allowance.theorems.clear()
    model.need_feasible()
    model.allowance.line = 0
    known = subject(model)
    private = "envelope" if "constraints" in model.design else "information"
    name = private if model.problem == "max_information" else "designs"
    design = lemma(name).design(model) if model.design else None
    lines = Lines(certificate, model.allowance, shares, leaves)
    channel = None if design or known.source else leaves.channel(model) if leaves else build(model)
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
    if not shares.whole:
        return Verdict(Status.UNDECIDED, "a part of a proof proves nothing")
    used = rules(model.allowance)
    statement = (
        *words[:2],
        *(f"{key}: {json.dumps(told)}" for key, told in model.normal.items() if key not in ("problem", "constraints")),
        *(f"constraint {j}: {json.dumps(table)}" for j, table in enumerate(model.normal.get("constraints", []))),
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
