"""Independent checker of `dalenius` certificates: standard library and python-flint only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from fractions import Fraction

from flint import ctx, fmpq

from .certificate import Lines, header
from .channel import build
from .model import Model, parse_model
from .numbers import LimitError, OpenError, RefusedError
from .proof import ADVERSARIES

__all__ = ["Status", "Verdict", "check"]

_PRECISIONS = (128, 256, 512, 1024)


class Status(Enum):
    """How a check ended."""

    PROVED = "proved"
    REJECTED = "rejected"
    UNREADABLE = "unreadable"
    UNDECIDED = "undecided"

    @property
    def exit_code(self) -> int:
        """The exit status of the command line."""
        return list(Status).index(self)


@dataclass(frozen=True)
class Verdict:
    """The outcome: `lower <= L <= upper` holds if and only if the status is PROVED."""

    status: Status
    reason: str
    lines: tuple[str, ...] = ()
    lower: Fraction | None = None
    upper: Fraction | None = None

    @property
    def proved(self) -> bool:
        """Whether the interval is proved."""
        return self.status is Status.PROVED

    @property
    def exit_code(self) -> int:
        """The exit status of the command line."""
        return self.status.exit_code


def check(model: bytes, certificate: bytes) -> Verdict:
    """Check a certificate against a model; never raises for any content of the two files."""
    before, reason = ctx.prec, ""
    try:
        parsed = parse_model(model)
        for precision in _PRECISIONS:
            ctx.prec = precision
            try:
                return _attempt(parsed, certificate)
            except OpenError as failure:
                reason = f"undecided at {precision} bits: {failure}"
        return Verdict(Status.UNDECIDED, reason)
    except RefusedError as failure:
        return Verdict(Status.UNREADABLE, str(failure))
    except LimitError as failure:
        return Verdict(Status.UNDECIDED, str(failure))
    except MemoryError:
        return Verdict(Status.UNDECIDED, "limit: out of memory")
    except Exception as error:  # noqa: BLE001 - a defect must end without a proof, not with a traceback
        return Verdict(Status.UNDECIDED, f"internal error: {type(error).__name__}: {ascii(str(error))[:200]}")
    finally:
        ctx.prec = before


def _attempt(model: Model, certificate: bytes) -> Verdict:
    """One check at the current precision; what is refused before the first line concerns the model."""
    model.need_feasible()
    channel, lines = build(model), Lines(certificate)
    try:
        claim = header(lines, model, known=channel is not None)
        source = "exact rationals" if channel is not None and channel.exact else "enclosed by balls"
        if channel is None:
            channel, source = build(model, claim["resolved"]), "TAKEN FROM THE CERTIFICATE (resolved matrix)"
        assert channel is not None
        witness, tally = ADVERSARIES[model.adversary](lines, model, channel).check(claim["lower"], claim["upper"])
    except RefusedError as failure:
        return Verdict(Status.REJECTED, f"certificate line {lines.number}: {failure}")
    low, high = _decimal(claim["lower"], ROUND_FLOOR), _decimal(claim["upper"], ROUND_CEILING)
    about = " (OF THE MATRIX IN THE CERTIFICATE)" if "resolved" in claim else ""
    statement = (
        f"proved: {low} <= L <= {high} nats{about}",
        "L: maximal leakage about one record, I(X_i; Y) over the records and the adversary's priors below",
        *(f"{key}: {_cut(value)}" for key, value in model.normal.items() if key != "problem"),
        f"model: {model.digest}",
        f"channel: {source}",
        f"witness: {witness}",
        "leaves: " + (", ".join(f"{count} {kind}" for kind, count in sorted(tally.items())) or "none"),
        f"precision: {ctx.prec} bits",
    )
    lower, upper = (Fraction(int(claim[key].p), int(claim[key].q)) for key in ("lower", "upper"))
    return Verdict(Status.PROVED, statement[0], statement, lower, upper)


def _cut(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else text[:197] + "..."


def _decimal(value: fmpq, rounding: str) -> str:
    return str(Context(prec=15, rounding=rounding).divide(Decimal(int(value.p)), Decimal(int(value.q))))
