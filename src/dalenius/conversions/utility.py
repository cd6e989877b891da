"""Largest information about a query at a leakage of at most epsilon nats about a secret: bounds from above and from below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from dalenius.conversions.numbers import BITS, entropy_term, positive
from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction, as_list
from dalenius.information.balls import above, ball, below
from dalenius.model.constraints.secret import as_joint

CONSTANT = 4  # bits, of the strong functional representation lemma


@dataclass(frozen=True)
class PrivateUtility:
    """The most that a release M of a query f reveals of it, I(f;M), while it reveals I(g;M) <= epsilon of a secret g; in nats.

    Either M is made of f alone, or of f and g (`knowing`), which is never worse. Ends are rounded outward.

    Attributes
    ----------
    at_most : float
        Of both: H(f|g) + epsilon, and at most H(f).
    at_least : float
        Of releases made of f alone: epsilon H(f)/I(f;g), which f with that probability of being released, and nothing otherwise,
        has.
    at_least_knowing : float
        Of releases made of f and g: the largest of `at_least`, `first` and `second`.
    first : float
        H(f|g) - H(g|f) + epsilon.
    second : float
        H(f|g) - a H(g|f) + epsilon - (1-a) (log(1 + I(f;g)/log 2) + 4 log 2), a = epsilon/H(g); printed with numbers of bits in a
        formula in nats, log(1 + I) + 4.
    exact : bool
        Whether `at_least` is the most there is for releases made of f alone: where f is a fair bit, and g what a symmetric channel
        makes of it. Where f determines g, `at_most` is the most there is for releases made of both.

    Notes
    -----
    *Bound because* I(f;M) <= I(f,g;M) = I(g;M) + I(f;M|g) <= epsilon + H(f|g). Exact for a symmetric channel *because* of Mrs.
    Gerber's lemma: H(g|M=m) is a convex function of H(f|M=m), so that I(g;M) is at least a share I(f;g)/H(f) of I(f;M).

    Source: Nuradha and Goldfeld, Propositions 7 and 8; Zamani, Oechtering, Skoglund, Lemma 8 and Theorem 2; erasures are ours.

    >>> fair = PrivateUtility.of([["0.4", "0.1"], ["0.1", "0.4"]], "0.05")
    >>> fair.exact, round(fair.at_least, 12), round(fair.at_most, 12), round(fair.first, 12)
    (True, 0.179809607086, 0.550402423538, 0.05)
    """

    at_most: float
    at_least: float
    at_least_knowing: float
    first: float
    second: float
    exact: bool

    @classmethod
    def of(cls, joint: Sequence[Sequence[Number]], epsilon: Number) -> PrivateUtility:
        """The bounds for P(g, f), a row for each value of the secret, and epsilon in nats.

        From epsilon = I(f;g) on f itself may be released, and all bounds but `first` and `second` are H(f).

        Raises
        ------
        InputError
            If the joint law is none, or epsilon cannot be read or is below 0.
        """
        table = as_list(joint, "joint")
        rows = as_joint([as_list(row, f"joint[{s}]") for s, row in enumerate(table)], "joint", of="the secret g")
        amount = as_fraction(epsilon, "epsilon")
        if amount < 0:
            raise InputError(f"epsilon: expected at least 0, got {brief(epsilon)}")
        total = sum(map(sum, rows), Fraction(0))
        law = [[p / total for p in row] for row in rows]
        with ctx.workprec(BITS):
            return cls._of(law, ball(amount))

    @classmethod
    def _of(cls, law: list[list[Fraction]], epsilon: arb) -> PrivateUtility:
        of_g, of_f = (
            [sum(row, Fraction(0)) for row in law],
            [sum(column, Fraction(0)) for column in zip(*law, strict=True)],
        )
        secret, query, both = _entropy(of_g), _entropy(of_f), _entropy(p for row in law for p in row)
        given_g, given_f, shared = both - secret, both - query, positive(secret + query - both)
        unrelated = all(p == a * b for a, row in zip(of_g, law, strict=True) for b, p in zip(of_f, row, strict=True))
        whole = arb(0) if unrelated else shared
        share = (epsilon / whole).min(arb(1)) if whole > 0 else arb(1)
        part = (epsilon / secret).min(arb(1)) if secret > 0 else arb(1)
        lemma = (1 + shared / arb(2).log()).log() + CONSTANT * arb(2).log()
        first = given_g - given_f + epsilon
        second = given_g - part * given_f + epsilon - (1 - part) * lemma
        alone = share * query
        knowing = alone.max(first).max(second).min(query)
        return cls(
            at_most=max(above((given_g + epsilon).min(query)), 0.0),
            at_least=max(below(alone), 0.0),
            at_least_knowing=max(below(knowing), 0.0),
            first=below(first),
            second=below(second),
            exact=unrelated or not epsilon < whole or _symmetric(law),
        )


def _symmetric(law: list[list[Fraction]]) -> bool:
    """True if f is a fair bit that a symmetric channel turns into g."""
    return [len(row) for row in law] == [2, 2] and law[0][0] == law[1][1] and law[0][1] == law[1][0]


def _entropy(probabilities: Iterable[Fraction]) -> arb:
    return sum((entropy_term(ball(p)) for p in probabilities), arb(0))
