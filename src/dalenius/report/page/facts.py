"""What a page tells about an audit besides its interval: guesses, single outputs, and what the others give away, at the same prior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dalenius.errors import InputError
from dalenius.evidence import exact_fraction_above
from dalenius.intervals import interval_text, text_above
from dalenius.measures import Measure
from dalenius.measures.door import measure
from dalenius.measures.witness import witness_of
from dalenius.model import MaximalLeakage
from dalenius.report.page.sources import Proof
from dalenius.report.words import belief
from dalenius.units import lower_in, upper_in

__all__ = ["Facts", "Shown", "advantage_at_most", "ends_shown", "facts_of", "leakage_shown"]

PLACES = 5  # after the point, of numbers for people
DIGITS = 3  # of small ones
MOST = 12  # places, beyond which nobody reads on
LOG = "log "
AVERAGE, WITHOUT = "mutual_information", "mutual_information_without_own_answer"
TOLD = (AVERAGE, WITHOUT, "bayes_advantage", "pointwise_maximal_leakage")


@dataclass(frozen=True)
class Shown:
    """A leakage as texts in both units, rounded outward."""

    bits: str
    nats: str


@dataclass(frozen=True)
class Facts:
    """What is told besides an audit's interval; texts, rounded outward.

    Attributes
    ----------
    guess : str
        The Bayes advantage of the worst adversary: at least what the exhibited prior has, at most what the upper bound leaves.
    guess_at_prior, sharpest : str and Shown or None
        Bayes advantage and pointwise maximal leakage at the exhibited prior; None where none is exhibited.
    average : Shown or None
        The mutual information at that prior.
    factor : str
        By what factor the likeliest guess is up at most, for the worst single output of that prior.
    without : Shown or None
        What the release tells by the same prior without the record's own answer, over all letters that may stand in for it.
    belief : list of str
        That prior, in sentences.
    why_not : str
        Why there is no such prior to show.
    """

    guess: str
    guess_at_prior: str = ""
    sharpest: Shown | None = None
    average: Shown | None = None
    factor: str = ""
    without: Shown | None = None
    belief: tuple[str, ...] = ()
    why_not: str = ""


def leakage_shown(lower: float, upper: float) -> Shown:
    """An interval in nats, in both units."""
    return Shown(ends_shown(lower_in(lower, "bits"), upper_in(upper, "bits")), ends_shown(lower, upper))


def ends_shown(lower: float, upper: float) -> str:
    """Both ends rounded outward to so few digits that people read them.

    >>> ends_shown(0.950842999, 0.950843111), ends_shown(1.23456789e-9, 1.23456790e-9), ends_shown(0.0, 0.0)
    ('0.95084 .. 0.95085', '1.234e-9 .. 1.235e-9', '0')
    """
    places = PLACES if not upper else min(max(PLACES, DIGITS - math.floor(math.log10(abs(upper)))), MOST)
    text = interval_text(lower, upper, places=places)
    low, high = text.split(" .. ")
    return low if low == high else text


def advantage_at_most(nats: float, letters: int) -> float:
    """What a release adds to the probability of the best guess of a letter, at most, where it tells at most so many nats about it.

    With g(y) the best guess at output y, the advantage is

        sum_y P(g(y), y) - max_a P(a)   <=   sum_y P(g(y), y) - P(g(y)) P(y)   <=   V   <=   sqrt(I / 2),   and   <= 1 - 1 / letters

    *Bound because* P(g(y)) <= max_a P(a); V, the total variation between the joint law and the product of its marginals, is the
    largest difference that they make to the probability of any event; and Pinsker's inequality, V^2 <= D / 2 with D = I(A;Y). A guess
    without the release is right with probability 1 / letters at least.

    Parameters
    ----------
    nats : float
        An upper bound on I(A;Y).
    letters : int

    >>> advantage_at_most(0.02, 2) >= 0.1, advantage_at_most(10.0, 4)
    (True, 0.75)
    """
    root = math.sqrt(nats / 2.0)
    while Fraction(root) ** 2 < Fraction(nats) / 2:
        root = math.nextafter(root, math.inf)
    return min(root, exact_fraction_above(1 - Fraction(1, letters)))


def facts_of(proof: Proof) -> Facts:
    """What is told about an audit, as far as its certificate exhibits a prior whose channel is small enough."""
    problem = proof.problem
    assert isinstance(problem, MaximalLeakage)
    most = advantage_at_most(max(proof.ends[1], 0.0), max(problem.records.alphabets))
    try:
        witness = witness_of(problem, proof.certificate)
        found = measure(problem, prior=proof.certificate, only=TOLD)
    except InputError as error:
        return Facts(guess=f"at most {text_above(most, 4)}", why_not=str(error))
    gained, sharpest = found["bayes_advantage"], found["pointwise_maximal_leakage"]
    without = [found[f"{WITHOUT}[{letter}]"] for letter in range(len(witness.masses))]
    return Facts(
        guess=interval_text(min(gained.lower, most), most, places=4),
        guess_at_prior=ends_shown(gained.lower, gained.upper),
        sharpest=leakage_shown(sharpest.lower, sharpest.upper),
        average=leakage_shown(found[AVERAGE].lower, found[AVERAGE].upper),
        factor=_factor(sharpest),
        without=leakage_shown(min(row.lower for row in without), max(row.upper for row in without)),
        belief=tuple(belief(witness)),
    )


def _factor(row: Measure) -> str:
    """e to the pointwise maximal leakage: itself where it is short, else rounded upward."""
    if row.exact is not None and row.exact.startswith(LOG):
        return row.exact.removeprefix(LOG)
    if math.isinf(row.upper) or row.upper > 700.0:
        return ""
    return text_above(exact_fraction_above(Fraction(math.exp(row.upper)) * (1 + Fraction(1, 10**12))), 3)
