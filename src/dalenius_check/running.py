"""Run of a check: within its limits, at one precision after another, by one process or several."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from .core.allowance import MEMORY, SECONDS, Allowance, Amount, LimitError
from .core.arithmetic import choose, chosen, using
from .core.certificate import Draft
from .core.known import Known
from .core.model import ModelFile, parse_model
from .core.numbers import OpenError, RefusedError
from .core.read import plain
from .core.verdict import Status, Verdict, attempt
from .processes import Helper, received, said, shared

_PRECISIONS = (128, 256, 512, 1024)


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
    known: Known | None = None,
    draft: bool = False,
) -> Verdict:
    """Check a certificate against a model; never raises for any content of the two files. A `ModelFile` is read in the first check.

    A mechanism of a kind that the checker does not know is rejected, unless `resolved` asks for what the certificate proves
    of the matrix that it carries itself: then the status is RESOLVED at best.
    A check that would take more than so many seconds, or MiB of memory, ends UNDECIDED. `jobs` processes work out its leaves,
    where it is long: the verdict is that of one, the seconds are for all together, the memory is what each of them may take.
    `spared` is asked again and again how many seconds there still are, where somebody may stop the check.
    `known` has what leaves came to in earlier checks, and gets those of this one, that is worked out by this process; nothing is
    proved with it that is not without. A `draft` may have a line `["open"]` for each part of a tree that is not there yet: its
    leaves become known, and the status is UNDECIDED.
    `arithmetic` is `flint`, for python-flint; `python`, for the checker's own; or `auto`, for the former where it is installed.
    A ValueError says that there is no arithmetic of this name, that a limit is no number >= 0, or jobs no number of processes.
    """
    allowance = Allowance(seconds, memory, spared)
    if not (type(jobs) is int and jobs >= 1):
        raise ValueError(f"jobs must be an integer >= 1, got {jobs!r}")
    with using(choose(arithmetic)):
        options = {"resolved": resolved, "arithmetic": arithmetic, "memory": memory}
        return _check(_file(model), certificate, options, jobs, allowance, known, draft)


def _file(model: bytes | ModelFile) -> ModelFile:
    return model if isinstance(model, ModelFile) else ModelFile(model)


def _check(
    model: ModelFile,
    certificate: bytes,
    options: dict[str, Any],
    jobs: int,
    allowance: Allowance,
    known: Known | None,
    draft: bool,
) -> Verdict:
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
                    return attempt(parsed, certificate, options["resolved"], Draft() if draft else shares, known)
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
