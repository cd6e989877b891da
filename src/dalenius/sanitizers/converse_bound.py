"""Bound on the usefulness of any sanitizer under a chi-square budget: a convex problem, solved and proved.

Whatever a sanitizer makes of X, a guess of the label U from its output is a function of X and noise that has no larger
chi-square divergence from independence of S (data processing). So the outputs may be taken to be guesses, and what remains is
linear in the
mechanism, under a convex limit: `MaxUtility` with `ChiSquare`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dalenius._solve import solve
from dalenius.errors import InputError, brief
from dalenius.evidence import Certificate
from dalenius.exact import Number, as_fraction, as_list
from dalenius.intervals import interval_text
from dalenius.model import MaxUtility, Records
from dalenius.model.constraints import ChiSquare
from dalenius.model.laws import Iid
from dalenius.model.queries import Identity
from dalenius.results import DesignResult

Joint = Sequence[Sequence[Sequence[Number]]]


@dataclass(frozen=True)
class Converse:
    """The largest accuracy about a label, of all mechanisms that keep a chi-square budget about a secret.

    Attributes
    ----------
    lower, upper : Fraction
        What some mechanism attains, and what none exceeds; both proved.
    budget : Fraction
        The limit of the chi-square divergence of secret and guess from independence.
    problem : MaxUtility
        The convex problem; with `certificate` it is what `dalenius verify` needs.
    answer : DesignResult
        The mechanism (a row of guesses for each x) and the interval of the least shortfall.
    """

    lower: Fraction
    upper: Fraction
    budget: Fraction
    problem: MaxUtility
    answer: DesignResult

    @property
    def certificate(self) -> Certificate | None:
        """The proof."""
        return self.answer.certificate

    def __str__(self) -> str:
        return f"accuracy {interval_text(self.lower, self.upper)} at chi-square {float(self.budget):.6g}"


def converse(joint: Joint, budget: Number, *, gap: float = 1e-6, time_limit: float | None = 60.0) -> Converse:
    """max P(U' = U) over the mechanisms U' of X with chi2(S; U') <= budget.

    With p(s,u,x) the law, w(x,u') the mechanism and chi2(S;U') = sum_{s,u'} p(s,u')^2/(p(s) p(u')) - 1, this is a second-order cone
    program. *Bound because* the guess that is made from the output of a sanitizer of X, by whatever rule, is such a mechanism:
    it is a function of the output, so that its
    chi-square divergence is no larger (W. Wang and W. P. Tay, information privacy by f-divergences; the programme is ours).

    Parameters
    ----------
    joint : table of numbers, |S| x |U| x |X|
        p(s,u,x), exact, not negative, with sum 1.
    budget : number
        The limit eta of the chi-square divergence, positive (the papers' axis is its square root).
    gap, time_limit
        As of `dalenius.solve`.

    Raises
    ------
    InputError
        If the table is no law, or the budget not positive.

    A secret and a label that agree with probability 4/5, and X shows both:

    >>> tenth = [[Fraction(k, 10) for k in row] for row in ([4, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 4])]
    >>> bound = converse([[tenth[0], tenth[1]], [tenth[2], tenth[3]]], "0.01")
    >>> 0.5 < float(bound.lower) <= float(bound.upper) < 0.81
    True
    """
    table, inputs = _checked(joint)
    limit = as_fraction(budget, "budget")
    mass = [sum((table[s][u][x] for s in range(len(table)) for u in range(len(table[0]))), Fraction(0)) for x in inputs]
    secret = [[sum((row[x] for row in of_s), Fraction(0)) for x in inputs] for of_s in table]
    useful = [
        [sum((of_s[u][x] for of_s in table), Fraction(0)) / m for u in range(len(table[0]))]
        for x, m in zip(inputs, mass, strict=True)
    ]
    problem = MaxUtility(
        records=Records(1, alphabet=len(inputs)),
        query=Identity(),
        law=Iid(mass),
        utility=useful,
        constraints=[ChiSquare(limit, secret=secret)],
    )
    answer = solve(problem, gap=gap, time_limit=time_limit)
    assert isinstance(answer, DesignResult)
    low, high = problem.utilities(answer)
    return Converse(low, high, limit, problem, answer)


def _checked(joint: Joint) -> tuple[list[list[list[Fraction]]], list[int]]:
    """The table exactly, and the x that have a probability."""
    table = [
        [[as_fraction(p, "joint") for p in as_list(row, "joint")] for row in as_list(rows, "joint")]
        for rows in as_list(joint, "joint")
    ]
    shapes = {(len(rows), len(row)) for rows in table for row in rows}
    if len(table) < 2 or len(shapes) != 1 or not all(labels >= 2 and size for labels, size in shapes):
        raise InputError(
            "joint: expected p(s,u,x), a table for each of two or more secrets, all of one shape: a row for each of two or "
            "more labels"
        )
    entries = [p for rows in table for row in rows for p in row]
    if min(entries) < 0 or sum(entries) != 1:
        raise InputError(f"joint: expected probabilities with sum 1, got the sum {brief(sum(entries))}; divide by it")
    inputs = [x for x in range(len(table[0][0])) if any(row[x] for rows in table for row in rows)]
    return table, inputs
