"""The bridge to the independent checker: the only place that imports `dalenius_check`, and only its verdict."""

from __future__ import annotations

from pathlib import Path

import dalenius_check
from dalenius.errors import InputError
from dalenius.evidence import Certificate
from dalenius.exact import brief
from dalenius.model import Problem, dumps, read_model

__all__ = ["Verdict", "verify"]

Verdict = dalenius_check.Verdict


def verify(problem: Problem | str | Path, certificate: Certificate | str | Path, *, resolved: bool = False) -> Verdict:
    """Have the independent checker prove a certificate. No solver and no bound of dalenius is used.

    Parameters
    ----------
    problem : MaximalLeakage, MinLeakage, MinDistortion or path of a model file
    certificate : Certificate or path of a certificate file
    resolved : bool
        Have a mechanism of a kind that the checker does not know (a class of your own) answered for by the matrix in the
        certificate. What is proved is then about that matrix: the status is ``resolved``, and `proved` stays False. Otherwise such
        a certificate is rejected.

    Returns
    -------
    dalenius_check.Verdict
        ``verdict.proved`` is the answer; ``verdict.status``, ``verdict.reason`` and ``verdict.lines`` say why.

    Raises
    ------
    InputError
        If a file cannot be read.

    >>> import dalenius as dl
    >>> problem = dl.MaximalLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("2 bits"))
    >>> dl.verify(problem, dl.solve(problem).certificate).proved
    True
    """
    if not isinstance(problem, Problem | str | Path):
        raise InputError(f"problem: expected a problem or the path of a model file, got {brief(problem)}")
    model = dumps(problem).encode() if isinstance(problem, Problem) else read_model(problem)
    if isinstance(certificate, str | Path):
        certificate = Certificate.read(certificate)
    if not isinstance(certificate, Certificate):
        raise InputError(f"certificate: expected a Certificate or the path of one, got {brief(certificate)}")
    return dalenius_check.check(model, certificate.text.encode("utf-8", "surrogatepass"), resolved=resolved)
