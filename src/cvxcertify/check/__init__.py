"""Intervals for conic instances: `dalenius-interval/1` (docs/own-models.md), checked apart from certificates of leakage."""

from __future__ import annotations

from dalenius_check import Status, Verdict
from dalenius_check.core.allowance import MEMORY, SECONDS, Allowance, Amount, LimitError
from dalenius_check.core.arithmetic import choose, chosen, using
from dalenius_check.core.numbers import OpenError, RefusedError

from .proof import prove

__all__ = ["check_interval"]

_PRECISIONS = (128, 512, 2048)


def check_interval(
    proof: bytes, *, seconds: Amount = SECONDS, memory: Amount = MEMORY, arithmetic: str = "auto"
) -> Verdict:
    """Check an interval for the optimal value of a conic instance; never raises for any content of the file.

    In the verdict an end is None where it is infinite or not claimed; the statement says which. Limits and arithmetic are those of
    `dalenius_check.check`.
    """
    allowance = Allowance(seconds, memory)
    reason = ""
    with using(choose(arithmetic)):
        try:
            for bits in _PRECISIONS:
                try:
                    with chosen().workprec(bits), allowance.holding():
                        lines, lower, upper = prove(proof, allowance)
                    return Verdict(Status.PROVED, lines[0], lines, lower, upper)
                except OpenError as failure:
                    reason = f"undecided at {bits} bits: {failure}"
            return Verdict(Status.UNDECIDED, reason, cause="precision")
        except RefusedError as failure:
            return Verdict(Status.REJECTED, str(failure))
        except LimitError as failure:
            return Verdict(Status.UNDECIDED, str(failure), cause="limit", allowed=failure.allowed)
        except MemoryError:
            return Verdict(Status.UNDECIDED, "limit: out of memory", cause="limit")
        except (ValueError, RecursionError) as failure:
            return Verdict(Status.UNREADABLE, f"no proof of an interval: {ascii(str(failure))[1:-1][:200]}")
        except Exception as error:  # noqa: BLE001 - a defect must end without a proof, not with a traceback
            return Verdict(Status.UNDECIDED, f"internal error: {type(error).__name__}: {ascii(str(error))[:200]}")
