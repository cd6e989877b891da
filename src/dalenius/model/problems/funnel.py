"""The privacy funnel and the information bottleneck: problems of most information, made from one joint law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from dalenius.exact import Number, as_list
from dalenius.files import read_text
from dalenius.model.constraints import MutualInformation, SecretLimit
from dalenius.model.constraints.secret import JointLaw, as_joint
from dalenius.model.laws import Iid
from dalenius.model.problems.max_information import MaxInformation
from dalenius.model.queries import Identity
from dalenius.model.records import Records

Joint: TypeAlias = Sequence[Sequence[Number]] | str | Path
Measure: TypeAlias = str | Sequence[Sequence[Number]] | None


def PrivacyFunnel(  # noqa: N802  (as the field calls it)
    joint: Joint, at_most: Number | SecretLimit, *, measure: Measure = None, title: str = "", source: str = ""
) -> MaxInformation:
    """The release Y of X with the largest I(X;Y) of those with I(S;Y) <= at_most, on a chain S - X - Y.

    Parameters
    ----------
    joint : (letters of S, letters of X), or path
        P(s,x), exact, or a csv file of these numbers, a line for each letter of S. Its sum may differ from 1 by at most 1e-9, and it
        is divided by that. Letters of X without mass are left out.
    at_most : number or str or SecretLimit
        At least 0 nats, or ``"0.1 bits"``. At 0 the release is independent of S; above I(S;X) it limits nothing. Or a
        limit of another measure, such as ``dl.constraints.ChiSquare(0.1)``.
    measure : str or list of (a, b), optional
        Of what is revealed about X in the place of I(X;Y), as of `MaxInformation`.
    title, source : str, optional

    Returns
    -------
    MaxInformation
        With one record, a letter of X, and its law.

    Raises
    ------
    InputError
        If the law is none, or at_most is below 0, or cannot be read.

    Notes
    -----
    Source: A. Makhdoumi, S. Salamatian, N. Fawaz, M. Medard, "From the information bottleneck to the privacy funnel", ITW 2014.

    >>> import dalenius as dl
    >>> funnel = dl.PrivacyFunnel([["1/4", "1/4", 0], [0, "1/8", "3/8"]], "0.01 nats")
    >>> print(dl.solve(funnel, gap=1e-3))
    0.531... <= largest information <= 0.532... nats of 1.099 nats possible (gap_reached)
    """
    rows = _law_of(joint)
    limit = replace(_limit(at_most), secret=rows)
    return _of_letters(rows, limit, measure=measure, title=title, source=source)


def InformationBottleneck(  # noqa: N802
    joint: Joint, at_most: Number | SecretLimit, *, measure: Measure = None, title: str = "", source: str = ""
) -> MaxInformation:
    """The release Y of X with the largest I(S;Y) of those with I(X;Y) <= at_most, on a chain S - X - Y.

    Parameters
    ----------
    joint, at_most, measure, title, source
        As of `PrivacyFunnel`; S is what the release is useful for.

    Returns
    -------
    MaxInformation
        With one record, a letter of X, its law, and S as the useful variable.

    Raises
    ------
    InputError
        As of `PrivacyFunnel`.

    Notes
    -----
    Source: N. Tishby, F. C. Pereira, W. Bialek, "The information bottleneck method", Allerton 1999.

    >>> import dalenius as dl
    >>> bottleneck = dl.InformationBottleneck([["1/4", "1/4", 0], [0, "1/8", "3/8"]], "0.3 nats")
    >>> print(dl.solve(bottleneck, gap=1e-3))
    0.201... <= largest information <= 0.201... nats of 0.6932 nats possible (gap_reached)
    """
    rows = _law_of(joint)
    return _of_letters(rows, _limit(at_most), useful=rows, measure=measure, title=title, source=source)


def _limit(at_most: Number | SecretLimit) -> SecretLimit:
    """A limit, of mutual information where it is a number."""
    return at_most if isinstance(at_most, SecretLimit) else MutualInformation(at_most)


def _of_letters(rows: list[list[Fraction]], limit: SecretLimit, **more: Any) -> MaxInformation:
    """One record, a letter of X, whose joint law with S has these rows."""
    law = Iid([sum(column) for column in zip(*rows, strict=True)])
    records = Records(1, alphabet=len(rows[0]))
    return MaxInformation(records=records, query=Identity(), law=law, constraints=[limit], **more)


def _law_of(joint: Joint) -> list[list[Fraction]]:
    """The joint law of the letters that have mass, divided by its sum."""
    if isinstance(joint, str | Path):
        text = read_text(joint, "a joint law")
        joint = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
    exact = JointLaw.of(as_joint(as_list(joint, "joint"), "joint"))
    return [[p for p, mass in zip(row, exact.inputs, strict=True) if mass] for row in exact.masses if any(row)]
