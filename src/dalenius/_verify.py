"""The bridge to the independent checker: only here `dalenius_check` is imported, for its verdict and the digest it reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import dalenius_check
from dalenius.errors import InputError, NotProvedError, brief
from dalenius.evidence import Certificate
from dalenius.model import Problem, digest, model_bytes, read_model
from dalenius.search.run import Leaves as AnyLeaves
from dalenius.version import PRODUCER

__all__ = ["MEMORY", "SECONDS", "Leaves", "Verdict", "leaves", "model_file", "need_proved", "need_readable", "verify"]

Verdict = dalenius_check.Verdict
Leaves = dalenius_check.Store
SECONDS, MEMORY = (
    3600.0,
    4096.0,
)  # what a check may take unless somebody says otherwise, as on the checker's own command line


def verify(
    problem: Problem | str | Path,
    certificate: Certificate | str | Path,
    *,
    resolved: bool = False,
    seconds: float = SECONDS,
    memory: float = MEMORY,
    jobs: int = 1,
    spared: Callable[[], float] | None = None,
    known: AnyLeaves | None = None,
    draft: bool = False,
) -> Verdict:
    """Have the independent checker prove a certificate. No solver and no bound of dalenius is used.

    Parameters
    ----------
    problem : WorstCaseLeakage, MinLeakage, MinDistortion or path of a model file
        Of a problem that was read from a model file, that very file is what is proved about (`Problem.written`).
    certificate : Certificate or path of a certificate file
    resolved : bool
        Have a mechanism of a kind that the checker does not know (a class of your own) answered for by the matrix in the
        certificate. What is proved is then about that matrix: the status is ``resolved``, and `proved` stays False. Otherwise such
        a certificate is rejected.
    seconds, memory : float
        What the check may take, memory in MiB; beyond, the status is ``undecided``, and the reason says which limit it was.
    jobs : int
        How many processes work out the leaves of a long certificate. The verdict is that of one; the seconds are for all together,
        the memory is what each of them may take.
    spared : callable, optional
        Asked again and again while it is checked how many seconds there still are, which may end it sooner.
    known : Leaves, optional
        What leaves came to in earlier checks, where a proof grows; without it every line is worked out here and now.
    draft : bool
        Have leaves worked out, so that they are known, of a proof that is not finished: nothing is proved.

    Returns
    -------
    dalenius_check.Verdict
        ``verdict.proved`` is the answer; ``verdict.status``, ``verdict.reason`` and ``verdict.lines`` say why.

    Raises
    ------
    InputError
        If a file cannot be read, a limit is no number >= 0, or `jobs` no integer >= 1.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("2 bits"))
    >>> dl.verify(problem, dl.solve(problem).certificate).proved
    True
    """
    if not isinstance(problem, Problem | str | Path):
        raise InputError(f"problem: expected a problem or the path of a model file, got {brief(problem)}")
    model = model_file(problem) if isinstance(problem, Problem) else read_model(problem)
    if isinstance(certificate, str) and "\n" in certificate:
        raise InputError(
            "certificate: expected a Certificate or a path, got a text of several lines; write dalenius.Certificate(text)"
        )
    if isinstance(certificate, str | Path):
        certificate = Certificate.read(certificate)
    if not isinstance(certificate, Certificate):
        raise InputError(f"certificate: expected a Certificate or the path of one, got {brief(certificate)}")
    try:
        return dalenius_check.check(
            model,
            certificate.text.encode("utf-8", "surrogatepass"),
            resolved=resolved,
            seconds=seconds,
            memory=memory,
            jobs=jobs,
            spared=spared,
            known=cast(Leaves | None, known),  # nobody else makes any
            draft=draft,
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"verify: {error}") from None


def leaves(model: bytes, draft: str, producer: str, *, resolved: bool, seconds: float, memory: float) -> Any:
    """Values of the leaves of a draft, for the store of the process that asks (`Leaves.take`); nothing in another version."""
    file, known = _at_work(model)
    if producer == PRODUCER:
        options: dict[str, Any] = {"resolved": resolved, "seconds": seconds, "memory": memory}
        dalenius_check.check(file, draft.encode(), known=known, draft=True, **options)
    return known.told()


@lru_cache(maxsize=1)
def _at_work(model: bytes) -> tuple[dalenius_check.ModelFile, Leaves]:
    """A model that drafts are about again and again, and its channel."""
    return dalenius_check.ModelFile(model), Leaves()


def need_proved(problem: Problem, certificate: Certificate, why: Callable[[Verdict], str]) -> Verdict:
    """The verdict on a certificate; `NotProvedError` with what `why` makes of it unless it is proved."""
    verdict = verify(problem, certificate)
    if not verdict.proved:
        raise NotProvedError(why(verdict), status=verdict.status.value, exit_code=int(verdict.exit_code))
    return verdict


def model_file(problem: Problem) -> dalenius_check.ModelFile:
    """The model file that a proof about this problem is about, which the checker reads once."""
    return problem.once("file", lambda: dalenius_check.ModelFile(model_bytes(problem)))


def need_readable(problem: Problem) -> None:
    """Raise `InputError` unless the checker reads the model file of this problem, and the same problem in it.

    What one program accepts and the other does not is refused here, before any work, whatever it is.
    """
    try:
        seen = dalenius_check.digest(model_file(problem))
    except (dalenius_check.RefusedError, dalenius_check.LimitError) as error:
        raise InputError(f"model: the proof checker cannot read it: {error}") from None
    if seen != digest(problem):
        raise InputError(
            "model: the proof checker reads another problem in it than dalenius does, so nothing can be proved about it; this is a bug"
        )
