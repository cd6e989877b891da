"""How a check runs and ends: the model, the certificate, one precision after another, and the verdict."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from .allowance import MEMORY, SECONDS, Allowance, Amount, LimitError
from .arithmetic import choose, chosen, using
from .certificate import Lines, header
from .channel import build
from .files import plain
from .kinds import unknown
from .model import Model, ModelFile, parse_model
from .numbers import OpenError, RefusedError, need
from .registry import lemma, rules
from .shares import Helper, Shares, received, said, shared
from .subjects import audit, subject

_PRECISIONS = (128, 256, 512, 1024)


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


def check(
    model: bytes | ModelFile,
    certificate: bytes,
    *,
    resolved: bool = False,
    seconds: Amount = SECONDS,
    memory: Amount = MEMORY,
    arithmetic: str = "auto",
    jobs: int = 1,
    spared: Callable[[], Amount] | None = None,
) -> Verdict:
    """Check a certificate against a model; never raises for any content of the two files. A `ModelFile` is read in the first check.

    A mechanism of a kind that the checker does not know is rejected, unless `resolved` asks for what the certificate proves
    of the matrix that it carries itself: then the status is RESOLVED at best.
    A check that would take more than so many seconds, or MiB of memory, ends UNDECIDED. `jobs` processes work out its leaves,
    where it is long: the verdict is that of one, the seconds are for all together, the memory is what each of them may take.
    `spared` is asked again and again how many seconds there still are, where somebody may stop the check.
    `arithmetic` is `flint`, for python-flint; `python`, for the checker's own; or `auto`, for the former where it is installed.
    A ValueError says that there is no arithmetic of this name, that a limit is no number >= 0, or jobs no number of processes.
    """
    allowance = Allowance(seconds, memory, spared)
    if not (type(jobs) is int and jobs >= 1):
        raise ValueError(f"jobs must be an integer >= 1, got {jobs!r}")
    with using(choose(arithmetic)):
        options = {"resolved": resolved, "arithmetic": arithmetic, "memory": memory}
        return _check(_file(model), certificate, options, jobs, allowance)


def _file(model: bytes | ModelFile) -> ModelFile:
    return model if isinstance(model, ModelFile) else ModelFile(model)


def _check(model: ModelFile, certificate: bytes, options: dict[str, Any], jobs: int, allowance: Allowance) -> Verdict:
    """The same by the arithmetic chosen."""
    reason = ""
    try:
        allowance.take(len(model.data) + len(certificate))
        parsed = model.parsed(allowance)
        try:
            allowance.line = 1
            certificate = plain(certificate, allowance)
        except RefusedError as failure:
            return Verdict(Status.REJECTED, f"certificate: {failure}")
        for bits in _PRECISIONS:
            try:
                options |= {"bits": bits, "seconds": allowance.left}
                with (
                    chosen().workprec(bits),
                    allowance.holding(),
                    shared(jobs, options, (model.data, certificate), allowance) as shares,
                ):
                    return attempt(parsed, certificate, options["resolved"], shares)
            except OpenError as failure:
                reason = f"undecided at {bits} bits: {failure}"
        return Verdict(Status.UNDECIDED, reason, cause="precision")
    except RefusedError as failure:
        return Verdict(Status.UNREADABLE, str(failure))
    except LimitError as failure:
        return Verdict(Status.UNDECIDED, f"{allowance.place}: {failure}", cause="limit", allowed=failure.allowed)
    except MemoryError:
        return Verdict(Status.UNDECIDED, f"{allowance.place}: limit: out of memory", cause="limit")
    except Exception as error:  # noqa: BLE001 - a defect must end without a proof, not with a traceback
        return Verdict(Status.UNDECIDED, f"internal error: {type(error).__name__}: {ascii(str(error))[:200]}")


def digest(model: bytes | ModelFile) -> str:
    """The digest of a model file; raises `RefusedError` or `LimitError` where a check would end with the same reason."""
    return _file(model).parsed(Allowance()).digest


def attempt(model: Model, certificate: bytes, resolved: bool, shares: Shares) -> Verdict:
    """One check at the current precision; what is refused before the first line concerns the model."""
    model.allowance.theorems.clear()
    model.need_feasible()
    model.allowance.line = 0
    known = subject(model)
    name = "information" if model.problem == "max_information" else "designs"
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


def work(options: dict[str, Any], model: bytes, certificate: bytes, tell: Callable[[dict[str, Any]], None]) -> None:
    """Tell what becomes of each leaf of the share, and at last why there is no more, if that is so."""
    allowance = Allowance(options["seconds"], options["memory"])
    shares = Helper(options["part"], options["parts"], options["chunk"], tell)
    try:
        with using(choose(options["arithmetic"])), chosen().workprec(options["bits"]):
            allowance.take(len(model) + len(certificate))
            attempt(parse_model(model, allowance), certificate, options["resolved"], shares)
    except BrokenPipeError:  # nobody asks any more
        return
    except Exception as error:  # noqa: BLE001 - the first process meets it, too, or says that something is wrong
        tell(said(error, allowance.line))


def main() -> None:
    """Read what is to be checked from standard input, and write what is found to standard output, a line for each leaf."""

    def tell(found: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()

    work(*received(sys.stdin.buffer), tell)
