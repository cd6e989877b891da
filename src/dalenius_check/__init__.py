"""Independent checker of `dalenius` certificates: standard library and python-flint only."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

from flint import ctx, fmpq

from .certificate import Header, Lines, header
from .channel import build
from .model import Model, feasible, parse_model
from .numbers import CheckError, LimitError, RejectedError, UndecidedError, UnreadableError
from .proof import Proof

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
    before = ctx.prec
    try:
        return _check(model, certificate)
    except UnreadableError as failure:
        return Verdict(Status.UNREADABLE, str(failure))
    except RejectedError as failure:
        return Verdict(Status.REJECTED, str(failure))
    except CheckError as failure:
        return Verdict(Status.UNDECIDED, str(failure))
    except MemoryError:
        return Verdict(Status.UNDECIDED, "limit: out of memory")
    except Exception as error:  # noqa: BLE001 - a defect must end without a proof, not with a traceback
        return Verdict(Status.UNDECIDED, f"internal error: {type(error).__name__}: {ascii(str(error))[:200]}")
    finally:
        ctx.prec = before


def _check(data: bytes, certificate: bytes) -> Verdict:
    try:
        model = parse_model(data)
    except RecursionError:
        raise UnreadableError("the model is nested too deeply") from None
    open_question: UndecidedError | None = None
    for precision in _PRECISIONS:
        ctx.prec = precision
        try:
            return _attempt(model, certificate, precision)
        except LimitError:
            raise
        except UndecidedError as failure:
            open_question = failure
    raise UndecidedError(f"undecided at {_PRECISIONS[-1]} bits: {open_question}")


def _attempt(model: Model, certificate: bytes, precision: int) -> Verdict:
    possible = feasible(model)
    if possible is None:
        raise UndecidedError("whether the entropy bound is at most log |X|")
    if not possible:
        raise UnreadableError("adversary.entropy_at_least is more than log |X|")
    channel = build(model, None)
    lines = Lines(certificate)
    claim = header(lines, model, known=channel is not None)
    if channel is None:
        try:
            channel = build(model, claim.resolved)
        except UnreadableError as failure:
            raise lines.reject(f"resolved: {failure}") from None
    assert channel is not None
    proof = Proof(model, channel, claim, lines)
    witness = proof.run()
    lower, upper = (Fraction(int(x.p), int(x.q)) for x in (claim.lower, claim.upper))
    statement = _statement(model, claim, channel.source, witness, dict(proof.tally), precision)
    return Verdict(Status.PROVED, statement[0], statement, lower, upper)


def _statement(
    model: Model, claim: Header, source: str, witness: str, tally: dict[str, int], precision: int
) -> tuple[str, ...]:
    def words(table: dict[str, Any]) -> str:
        text = ", ".join(f"{key} {_cut(value)}" for key, value in table.items() if key != "kind" and value is not None)
        return f"{table['kind']}" + (f" ({text})" if text else "")

    normal = model.normal
    records = ", ".join(f"{times} with {size} letters" for size, times in normal["records"][:5])
    more = ", ..." if len(normal["records"]) > 5 else ""
    about = " (OF THE MATRIX IN THE CERTIFICATE)" if claim.resolved is not None else ""
    return (
        f"proved: {_decimal(claim.lower, ROUND_FLOOR)} <= L <= {_decimal(claim.upper, ROUND_CEILING)} nats{about}",
        "L: maximal leakage about one record, I(X_i; Y) over priors with the entropy below",
        f"records: {records}{more}",
        f"query: {words(normal['query'])}",
        f"mechanism: {ascii(words(normal['mechanism']))[1:-1]}",
        f"adversary: entropy at least {_cut(normal['adversary']['entropy_at_least'])}",
        f"model: {model.digest}",
        f"channel: {source}",
        f"witness: {witness}",
        "leaves: " + (", ".join(f"{count} {kind}" for kind, count in sorted(tally.items())) or "none"),
        f"precision: {precision} bits",
    )


def _cut(value: Any) -> str:
    text = str(value).replace("'", "")
    return text if len(text) <= 80 else text[:77] + "..."


def _decimal(value: fmpq, rounding: str) -> str:
    result = Context(prec=15, rounding=rounding).divide(Decimal(int(value.p)), Decimal(int(value.q)))
    return str(result)
