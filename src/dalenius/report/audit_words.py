"""What an audit says to people who will not read a certificate: sentences, each with what proves it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from dalenius.intervals import text_above
from dalenius.measures.answer import Measure
from dalenius.model import MaximalLeakage
from dalenius.model.adversaries import EntropyAtLeast, IndependentBlocks, ProductPriors
from dalenius.model.mechanisms.real_noise import RealNoise
from dalenius.report.page.facts import ends_shown
from dalenius.results import Result
from dalenius.units import upper_in

__all__ = [
    "FOLLOWS",
    "PROVED",
    "WHY",
    "assumed",
    "computed",
    "factor",
    "in_bits",
    "paragraph",
    "point",
    "told_without",
]

WIDTH = 100  # characters of a line
DIGITS = 4  # of the one number that people take away
PROVED, COMPUTED, ON_A_GRID, FOLLOWS = "proved", "computed", "computed on a grid", "follows"
WHY = {
    PROVED: "by the certificate, which an independent program has checked",
    COMPUTED: "from the prior that the certificate shows, in exact numbers, rounded outward; the certificate does not say it",
    ON_A_GRID: (
        "from the prior that the certificate shows, in exact numbers, of the release rounded to a fine grid, which tells a "
        "little less than the release as it is"
    ),
    FOLLOWS: "from the first number, for every adversary of this kind, by Pinsker's inequality",
}


def computed(problem: MaximalLeakage) -> str:
    """What an evaluated number rests on: noise on the real line is rounded before it is looked at."""
    return ON_A_GRID if isinstance(problem.mechanism, RealNoise) else COMPUTED


def paragraph(*sentences: str) -> str:
    """Sentences as lines that fit a terminal.

    >>> paragraph("One.", "Two.")
    'One. Two.'
    """
    return textwrap.fill(" ".join(sentences), WIDTH, break_long_words=False, break_on_hyphens=False)


def point(text: str, why: str = "") -> str:
    """An entry of a list, with what proves it in brackets."""
    told = f"{text} [{why}]" if why else text
    return textwrap.fill(
        told, WIDTH, initial_indent="* ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def in_bits(result: Result) -> str:
    """The upper end as people take it away, rounded upward, in both units.

    >>> import dalenius as dl
    >>> told = dl.solve(dl.MaximalLeakage(records=dl.Records(1, alphabet=2), query=dl.Count(), mechanism=dl.symmetric("0.25"),
    ...     adversary=dl.AnyPrior()))
    >>> in_bits(told)
    '0.1888 bits (0.1309 nats)'
    """
    return f"{text_above(upper_in(result.upper, 'bits'), DIGITS)} bits ({text_above(result.upper, DIGITS)} nats)"


def factor(told: Measure) -> str:
    """How many times as likely a guess becomes to be right at most; the measure is that factor's logarithm, in bits."""
    return f"{text_above(2.0**told.upper * (1 + 1e-12), 3)} times" if told.upper < 1000 else "any number of times"


def told_without(problem: MaximalLeakage, average: Measure, without: Measure) -> str:
    """How much of what the adversary learns would be learnt without the person's own answer."""
    if _independent(problem):
        return "nothing: to this adversary the person's answer has to do with nobody else's"
    return f"{ends_shown(without.lower, without.upper)} bits of these {ends_shown(average.lower, average.upper)}"


def assumed(problem: MaximalLeakage) -> Iterator[str]:
    """What the numbers rest on, as entries of a list."""
    adversary = problem.adversary
    if _independent(problem):
        yield (
            "Nobody's answer has to do with anybody else's. If people come in households, classes or teams, this is too little: name "
            "the size of the largest group, as blocks of so many records."
        )
    elif isinstance(adversary, IndependentBlocks):
        yield (
            "Answers hang together inside a block only: whom somebody's answer has to do with stands in one block with them. In "
            "a block anything goes, and all other blocks may be known to the adversary."
        )
    elif isinstance(adversary, EntropyAtLeast):
        yield "The adversary may know any correlation, but not more about all answers together than the bound leaves open."
    else:
        yield "The adversary's beliefs are among those that the question names."
    if problem.slack or any(piece.slack for piece, _ in problem.pieces):
        yield (
            "What is computed is about the release with its noise clamped ten scales beyond the values, a block's own where there "
            "are blocks. Further out a single output may tell more, with a probability below 1e-20."
        )
    if isinstance(problem.mechanism, RealNoise):
        yield (
            "What is computed is about the release rounded to a fine grid and clamped ten scales beyond the values. As it is, it "
            "tells a little more, and single outputs far out may tell more; what is proved is about the release as it is."
        )
    yield "The software that makes the release has exactly the probabilities of the model."
    yield (
        "There is no other release of these data. One more tells more; ask about all of them as one (several_releases, adaptive)."
    )


def _independent(problem: MaximalLeakage) -> bool:
    """Whether everybody is independent of everybody else to this adversary."""
    adversary = problem.adversary
    return isinstance(adversary, ProductPriors) or (isinstance(adversary, IndependentBlocks) and adversary.size == 1)
