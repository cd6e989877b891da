"""Summary for decisions: a verdict, households beside epsilon and half of it, and a paragraph for a privacy notice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dalenius._solve import solve
from dalenius.conversions import convert
from dalenius.errors import DaleniusError
from dalenius.evidence import exact_fraction_above
from dalenius.information.arrays import Floats
from dalenius.intervals import text_above, text_below
from dalenius.model import EntropyAtLeast, IndependentBlocks, MechanismProblem, WorstCaseLeakage
from dalenius.model.adversaries.independent_blocks import as_blocks
from dalenius.model.mechanisms import DiscreteGaussian, DiscreteLaplace, ScaledNoise
from dalenius.model.mechanisms.randomized_counts import RandomizedAnswers
from dalenius.model.problems import Mean
from dalenius.model.problems.large import NoisyTables
from dalenius.model.queries import Margins
from dalenius.model.sums import record_types
from dalenius.outcome import Termination
from dalenius.report.words import independent, paragraph, query_in_words
from dalenius.results import most_of
from dalenius.search import Clock
from dalenius.units import amount_text, is_at_least_log, lower_in, upper_in

SIZES = (1, 2, 4)  # of households, beside the one that is asked about
SECONDS, SHARE = 6.0, 0.2  # for all of them where no time is set, and of the time that is left
GAP = 1e-3
MOST_APART = 2**22  # differences of entries of two rows
ROUNDING = 2e-9  # of total variations in doubles; rows add up to 1 as closely
LARGEST = Fraction(100)  # epsilon, beyond which it implies nothing
LITTLE = Fraction(1, 10_000)  # percent, below which nobody asks how much less it is
NEARLY = 99  # percent, from which on it is practically everything, and wants a digit more


@dataclass(frozen=True)
class Household:
    """Largest leakage about a member of a household of some size, in bits rounded upward, and what a guess comes to.

    Attributes
    ----------
    epsilon : Fraction
        By group privacy: so many times what one person has.
    implied : float
        What that epsilon implies by itself.
    proved : float
        What is proved of the release.
    guessed : float
        In how many of 100 cases a guess is right at most, where all values are as likely.
    halved, guessed_halved : float or None
        Both with twice the noise, which is half the epsilon; None where it is not known in time.
    """

    size: int
    epsilon: Fraction
    implied: float
    proved: float
    guessed: float
    halved: float | None
    guessed_halved: float | None


def households(problem: WorstCaseLeakage, upper: float, clock: Clock) -> tuple[Household, ...]:
    """Households of the size that is asked about, `upper` nats being proved of them, and then of others as far as there is time.

    None where noise has no epsilon, or people no households.

    >>> import dalenius as dl
    >>> town = dl.WorstCaseLeakage(records=dl.Records(1000, alphabet=2), query=dl.Count(), mechanism=dl.discrete_laplace(0.5),
    ...     adversary=dl.IndependentBlocks(4))
    >>> for row in households(town, dl.solve(town).upper, Clock()):
    ...     print(row.size, row.epsilon, *(f"{bits:.4f}" for bits in (row.implied, row.proved, row.halved)), f"{row.guessed:.1f}")
    1 1/2 0.0437 0.0437 0.0112 62.2
    2 1 0.1601 0.1363 0.0395 69.7
    4 2 0.4729 0.3667 0.1299 81.6
    """
    group, noise = by_group_privacy(problem), problem.mechanism
    if group is None or not isinstance(noise, ScaledNoise):
        return ()
    asked, alone = group.size, group.epsilon / group.size
    within = Clock(SHARE * clock.remaining if math.isfinite(clock.remaining) else SECONDS)
    if within.expired:
        return ()
    found, told = list[Household](), _told(problem, upper)
    for size in (asked, *(size for size in SIZES if size != asked and size <= len(problem.records))):
        epsilon = size * alone
        proved = told if size == asked else _of_size(problem, size, noise, within)
        halved = _of_size(problem, size, noise.spreading(2 * noise.spread), within)
        if proved is None or (halved is None and size != asked):
            continue
        found.append(Household(size, epsilon, implied_bits(problem, epsilon), *proved, *(halved or (None, None))))
    return tuple(sorted(found, key=lambda row: row.size))


def untold(rows: Sequence[Household]) -> str:
    """Why sizes or numbers are not in the table; empty where all are there."""
    sizes = {row.size for row in rows}
    smaller = {size for size in SIZES if size < max(sizes, default=0)}
    if smaller <= sizes and all(row.halved is not None for row in rows):
        return ""
    return (
        "A size, or a number (–), that is not there was not known closely enough in the seconds that are left for this table; a "
        "longer time limit leaves it more."
    )


@dataclass(frozen=True)
class Group:
    """Group privacy of the largest household that is asked about: its epsilon, and the bits that this implies, rounded upward."""

    size: int
    epsilon: Fraction
    bits: float


def by_group_privacy(problem: WorstCaseLeakage) -> Group | None:
    """None where noise has no epsilon, or people no households."""
    blocks, noise = as_blocks(problem.adversary), problem.mechanism
    if blocks is None or blocks.entropy_at_least is not None or not isinstance(noise, ScaledNoise):
        return None
    if not (alone := epsilon_of_one(problem)):
        return None
    size = blocks.largest_of(problem.records)
    return Group(size, size * alone, implied_bits(problem, size * alone))


def implied_bits(problem: WorstCaseLeakage, epsilon: Fraction) -> float:
    """The bits about one person that an epsilon implies by itself, rounded upward."""
    return _implied(problem.most_values, min(epsilon, LARGEST))


@lru_cache(
    maxsize=256
)  # a chain of rules takes 50 ms to find, and pages and tables ask of the same epsilons again and again
def _implied(values: int, epsilon: Fraction) -> float:
    most = most_of(values, "bits")
    found = convert("local_dp", epsilon, to="mutual_information", letters=values, units="bits").value
    return most if found is None else min(found, most)


def epsilon_of_one(problem: MechanismProblem) -> Fraction | None:
    """The log of the largest likelihood ratio that one person's answer makes; None where the noise has none, or the query no steps."""
    noise = problem.mechanism
    if problem.query.sums is None or noise.epsilon_per_step is None:
        return None
    return step_of(problem) * noise.epsilon_per_step


def step_of(problem: MechanismProblem) -> int:
    """Distance by which one person moves the noisy value: along the cells of a table one down and one up."""
    query = problem.query.sums
    assert query is not None
    if query.by_cell:
        return query.cells_moved
    spans = [max(kind.contribution) - min(kind.contribution) for kind in record_types(query, problem.records)]
    return max(spans) if problem.query.modulus() is None and not query.cuts else min(1, max(spans))


def _of_size(problem: WorstCaseLeakage, size: int, noise: ScaledNoise, clock: Clock) -> tuple[float, float] | None:
    """The same of a member of a household of this size; None where there is no time, or blocks are not known for this."""
    if clock.expired:
        return None
    try:
        asked = replace(problem, mechanism=noise, adversary=IndependentBlocks(size))
        result = solve(asked, gap=GAP, time_limit=clock.remaining)
    except DaleniusError:
        return None
    known = result.gap <= GAP or result.termination in (Termination.STALLED, Termination.SIZE_LIMIT)
    return _told(asked, result.upper) if known else None


def _told(problem: WorstCaseLeakage, upper: float) -> tuple[float, float]:
    """Bits at most, and right guesses of 100, where at most so many nats are proved."""
    bits = min(upper_in(upper, "bits"), most_of(problem.most_values, "bits"))
    return bits, exact_fraction_above(_right(problem, upper, max(problem.records.alphabets)))


def advantage_by_bits(nats: float) -> float:
    """Largest gain in the probability of the best guess of a letter, for at most so many nats about it.

    With g(y) the best guess at output y, the advantage is

        sum_y P(g(y), y) - max_a P(a)   <=   sum_y P(g(y), y) - P(g(y)) P(y)   <=   V   <=   sqrt(I / 2)

    *Bound because* P(g(y)) <= max_a P(a); V, the total variation between the joint law and the product of its marginals, is the
    largest difference that they make to the probability of any event; and Pinsker's inequality, V^2 <= D / 2 with D = I(A;Y).

    >>> advantage_by_bits(0.02) >= 0.1
    True
    """
    root = math.sqrt(nats / 2.0)
    while Fraction(root) ** 2 < Fraction(nats) / 2:
        root = math.nextafter(root, math.inf)
    return root


def advantage_at_most(problem: WorstCaseLeakage, upper: float) -> float:
    """The same for at most so many nats about a record, or by the channel alone, where that is less; however likely the letters are.

    *Bound because*, of letters whose laws of the output are W_a, the likeliest one being 0, it is at most sum_a P(a) V(W_a, W_0) over
    the others, and these have 1 - P(0) <= 1 - 1 / A; of two letters that are as likely (1 + V) / 2 are guessed.

    >>> import dalenius as dl
    >>> alone = dl.WorstCaseLeakage(records=dl.Records(9, alphabet=2), query=dl.Count(), mechanism=dl.gaussian(2),
    ...     adversary=dl.ProductPriors())
    >>> advantage_at_most(alone, 0.02) >= 0.1, advantage_at_most(alone, 10.0)
    (True, 0.5)
    """
    gained = (1 - Fraction(1, max(problem.records.alphabets))) * (2 * guessed_by_rows(problem, 2) - 1)
    return min(advantage_by_bits(max(upper, 0.0)), exact_fraction_above(gained))


def guessed_at_most(nats: float, letters: int) -> Fraction:
    """Largest probability s of a right guess of a letter that is as likely as any other, for at most so many nats about it.

    *Bound because* log A - I = H(A|Y) <= h(s) + (1 - s) log(A - 1), Fano's inequality, whose right side falls from s = 1 / A on; it
    is evaluated in doubles, and 1e-12, a thousand times their error, is taken from the left.

    >>> float(guessed_at_most(0.2542, 2)), float(guessed_at_most(0.7, 2))
    (0.84..., 1.0)
    """
    left = math.log(letters) - nats - 1e-12
    low, high = 1.0 / letters, 1.0
    for _ in range(60) if left > 0.0 else ():
        s = (low + high) / 2.0
        right = -s * math.log(s) - (1.0 - s) * (math.log1p(-s) - math.log(letters - 1)) if s < 1.0 else 0.0
        low, high = (low, s) if right <= left else (s, high)
    return Fraction(high)


def guessed_by_rows(problem: WorstCaseLeakage, values: int = 0) -> Fraction:
    """Largest probability of a right guess of a letter that is as likely as any other, or as others of so many, by the channel alone.

    (1 + (A - 1) V) / A, with V the largest total variation between two rows of a channel that is asked about.
    *Bound because* sum_y max_a W_a(y) <= 1 + sum_a V(W_a, W_0), the output's law W_a of a letter mixes rows, and V is convex.
    It is exact for two letters that a whole household can share. 1 where no such channel is written out, or it is large.

    >>> import dalenius as dl
    >>> family = dl.WorstCaseLeakage(records=dl.Records(1000, alphabet=2), query=dl.Count(), mechanism=dl.discrete_laplace(0.5),
    ...     adversary=dl.IndependentBlocks(4))
    >>> f"{float(guessed_by_rows(family)):.6f}"
    '0.816060'
    """
    letters, apart = values or max(problem.records.alphabets), 0.0
    if (tables := problem.route.tables) is not None:
        return guessed_by_cells(tables, letters)
    for part in problem.asked:
        if not part.route.whole or part.shape[0] ** 2 * part.shape[1] > MOST_APART:
            return Fraction(1)
        rows = part.channel
        furthest = max(float(np.abs(rows - row).sum(axis=1).max()) for row in rows) / 2.0
        apart = max(apart, furthest + 2.0 * part.mechanism.tail + ROUNDING)
    return min(Fraction(1), (1 + (letters - 1) * Fraction(apart)) / letters)


def guessed_by_cells(tables: NoisyTables, values: int) -> Fraction:
    """The same of a histogram or of tables, with discrete Laplace or discrete Gaussian noise of one scale on every cell; else 1.

    The less of beta(1 / A), the power at this level of the best test whether a household is left out or all in one cell of each table,
    and (1 + (A - 1) V) / A, V the total variation where all move from one cell to another in each table.
    *Bound because* of docs/theory.md, "Guesses from cells": sums of outputs are sufficient, and tests of their upper tails the best.
    `ROUNDING` is of each cell, and far more than what clamps its noise.

    >>> import dalenius as dl
    >>> table = dl.WorstCaseLeakage(records=dl.Records(3000, alphabet=12), query=dl.Histogram(), mechanism=dl.discrete_laplace(0.1),
    ...     adversary=dl.IndependentBlocks(6))
    >>> [f"{100 * float(guessed_by_cells(table.route.tables, values)):.2f}" for values in (12, 2)]
    ['15.18', '64.33']
    """
    (laws, off), (moved, off_of_two) = _sums(tables, 1), _sums(tables, 2)
    levels, powers = np.hstack([np.zeros((2, 1)), laws[:, ::-1].cumsum(axis=1)])
    power = Fraction(np.interp(1.0 / values + off, levels, powers) + off)
    apart = Fraction(np.abs(moved[0] - moved[1]).sum() / 2.0 + off_of_two)
    return min(Fraction(1), power, (1 + (values - 1) * apart) / values)


def of_two(problem: WorstCaseLeakage) -> float:
    """Nats at most about two letters that are as likely, of the same tables; infinite of other releases.

    *Bound because* of the same theorem: information about two letters is no more than of two laws that are easier to tell apart. Laws
    that are `off` change it by off log 2 + (1 + off) h(off / (1 + off)) at most (Winter 2016, Lemma 2), less than what is added.
    """
    if (tables := problem.route.tables) is None:
        return math.inf
    laws, off = _sums(tables, 2)
    ratios = np.divide(2.0 * laws, laws.sum(axis=0), out=np.ones_like(laws), where=laws > 0.0)
    return float((laws * np.log(ratios)).sum()) / 2.0 + off * (2.0 - math.log(off))


def _sums(tables: NoisyTables, cells: int) -> tuple[Floats, float]:
    """Laws of the sum of the outputs of so many cells a table, without a household and with all of it; how far off they are at most.

    Told apart for sure where the noise is not log-concave, or not of one scale.
    """
    first, *more = tables.kinds
    if not isinstance(first.noise, DiscreteLaplace | DiscreteGaussian) or any(
        kind.noise != first.noise for kind in more
    ):
        return np.eye(2), ROUNDING
    many = cells * sum(len(kind.tables) for kind in tables.kinds)
    length = many * (first.steps.shape[1] - 1) + 1
    laws = np.fft.irfft(np.fft.rfft(first.steps[[0, -1]], length) ** many, length)
    return np.maximum(laws, 0.0), many * ROUNDING


def verdict(problem: WorstCaseLeakage, lower: float, upper: float) -> Iterator[str]:
    """The answer in sentences: how much of what there is to know, and what a guess gains; both ends are proved, in nats.

    >>> import dalenius as dl
    >>> town = dl.WorstCaseLeakage(records=dl.Records(1000, alphabet=2), query=dl.Count(), mechanism=dl.discrete_laplace(0.5),
    ...     adversary=dl.IndependentBlocks(4))
    >>> told = dl.solve(town)
    >>> for sentence in verdict(town, told.lower, told.upper):
    ...     print(sentence)
    In short: at most 37 % of what there is to know about one person is revealed.
    A guess that is right in 50 of 100 cases without the release is right in at most 82 with it.
    """
    values = max(problem.records.alphabets)
    if values == 1:
        yield "In short: there is nothing to reveal, as each answer is known."
        return
    whole = is_at_least_log(upper, "nats", values)
    group, proved = by_group_privacy(problem), min(upper_in(upper, "bits"), most_of(values, "bits"))
    group = group if group and group.bits < (1.0 - GAP) * proved else None
    apart = len(problem.records) > 1 and independent(problem)
    alone = ", if everybody's answer is independent of everybody else's" if apart else ""
    if (sure := _percent_below(lower, values)) >= NEARLY:
        yield (
            "In short: practically everything there is to know about one person can be revealed: at least "
            f"{text_below(sure, 3)} % of it is, to the worst adversary of this kind."
        )
    elif whole and sure > 0:
        yield (
            f"In short: at least {text_below(sure, 2)} % of what there is to know about one person can be revealed, to the worst "
            "adversary of this kind. From above the certificate proves nothing better than that everything may be."
        )
    elif whole and group:
        yield "In short: the certificate proves nothing better than that everything may be revealed."
    elif whole:
        yield "In short: no conclusion. Nothing better is proved than that everything may be revealed."
    elif len(sizes := {size for size, _ in problem.records.runs if size > 1}) > 1:
        least, most = (text_above(most_of(size, "bits"), 4) for size in (min(sizes), values))
        bits = text_above(upper_in(upper, "bits"), 4)
        yield f"In short: at most {bits} bits about any one person, who has {least} to {most}{alone}."
    else:
        yield f"In short: at most {percent_above(upper, values)} % of what there is to know about one person is revealed{alone}."
    if not whole:
        before, after = cases(problem, upper)
        alike = ", all answers being as likely," if values > 2 else ""
        yield f"A guess that is right in {before} of 100 cases without the release{alike} is right in at most {after} with it."
        yield from _left_with_two(problem, upper)
    if group:
        yield (
            f"Group privacy implies less, at most {text_above(group.bits, 4)} bits, as the epsilon of a household of {group.size} is "
            f"{text_above(group.epsilon)}: that is a theorem, and not what the certificate proves."
        )


def _left_with_two(problem: WorstCaseLeakage, upper: float, whom: str = "the person has") -> Iterator[str]:
    """Share of a yes-or-no question that the bits may all be about, of a person who has more values than two."""
    if max(problem.records.alphabets) <= 2:
        return
    known = f"{whom} one of two combinations of" if isinstance(problem.query, Margins) else "the answer is one of two"
    known, upper = f"Somebody who knows that {known} values, both as likely, may learn", min(upper, of_two(problem))
    if is_at_least_log(upper, "nats", 2):
        yield f"{known} which."
    else:
        after = cases(problem, upper, 2)[1]
        yield f"{known} up to {percent_above(upper, 2)} % of which: right in at most {after} of 100 cases instead of 50."


def percent_above(upper: float, values: int) -> str:
    """Percent of the logarithm of so many values, two digits, rounded upward, without a tolerance; at least 0.0001 unless it is 0.

    >>> percent_above(1.1e-4, 6), percent_above(0.6253, 6), percent_above(1.8, 6), percent_above(1e-18, 6)
    ('0.0062', '35', '100', '0.0001')
    """
    least = Fraction(lower_in(math.log(values) * (1 - 1e-15), "bits"))
    share = 100 * Fraction(upper_in(max(upper, 0.0), "bits")) / least
    return text_above(min(max(share, LITTLE), Fraction(100)) if share else share, 2)


def _percent_below(lower: float, values: int) -> Fraction:
    """The same of a lower bound, rounded downward."""
    return 100 * Fraction(lower_in(lower, "bits")) / Fraction(most_of(values, "bits"))


def cases(problem: WorstCaseLeakage, upper: float, values: int = 0) -> tuple[str, str]:
    """Of how many cases of 100 a guess is right at least without the release where all values are alike, and then at most with it.

    All of the values, or so many that are left.
    """
    values = values or max(problem.records.alphabets)
    right = _right(problem, upper, values)
    whole = 1 + Fraction(100, values) <= right <= NEARLY
    return f"{100 / values:.3g}", str(math.ceil(right)) if whole else text_above(right, 3)


def _right(problem: WorstCaseLeakage, upper: float, values: int) -> Fraction:
    return 100 * min(guessed_at_most(max(upper, 0.0), values), guessed_by_rows(problem, values))


def accuracy(problem: WorstCaseLeakage) -> str:
    """Mean error of the release, and with half the epsilon; and why one person's epsilon is not the noise's own.

    Empty where that is not known.

    >>> import dalenius as dl
    >>> accuracy(dl.WorstCaseLeakage(records=dl.Records(9, alphabet=2), query=dl.Count(), mechanism=dl.laplace(2),
    ...     adversary=dl.ProductPriors()))
    'Each number that is released is wrong by 2 on average, and by 4 with twice the noise.'
    """
    noise = problem.mechanism
    if not isinstance(noise, ScaledNoise):
        return ""
    double = noise.spreading(2 * noise.spread).mean_error
    told = (
        f"Each number that is released is wrong by {text_above(noise.mean_error, 3)} on average, and by {text_above(double, 3)} "
        "with twice the noise."
    )
    alone, epsilon = epsilon_of_one(problem), noise.epsilon_per_step
    if (mean := Mean.behind(problem)) is not None:
        errors = (text_above(mean.unit * Fraction(error), 3) for error in (noise.mean_error, double))
        once, twice = errors
        told = f"The mean that is released is wrong by {once} on average through the noise, and by {twice} with twice the noise."
        if alone is None:
            return told
        moved = text_above(step_of(problem) * mean.unit)
        return f"{told} One person moves it by up to {moved}, so that the epsilon of one person is {text_above(alone)}."
    if alone is None or epsilon is None or (step := step_of(problem)) < 2:
        return told
    return (
        f"{told} One person moves {moved_by(problem)}, so that the epsilon of one person is {text_above(alone)}, {step} times that "
        f"of the noise, {text_above(epsilon)}."
    )


def moved_by(problem: MechanismProblem) -> str:
    """Words for what one person moves."""
    step, query = step_of(problem), problem.query.sums
    if query is None or not query.by_cell:
        return f"what is released by up to {step}"
    return "two cells" if step == 2 else f"{step} cells"


HEADS = (
    "household of",
    "epsilon, by group privacy",
    "bits that this implies",
    "bits, proved",
    "proved with half the epsilon",
)
BRACKETS = "In brackets: in how many of 100 cases a guess is right at most, where all answers are as likely."


def table_of(rows: Sequence[Household]) -> list[tuple[str, ...]]:
    """The rows as texts, the heads first; bits are rounded upward."""

    def told(bits: float | None, right: float | None) -> str:
        return "–" if bits is None or right is None else f"{text_above(bits, 4)} ({text_above(right, 3)})"

    return [
        HEADS,
        *(
            (
                *(str(row.size), text_above(row.epsilon), text_above(row.implied, 4)),
                *(told(row.proved, row.guessed), told(row.halved, row.guessed_halved)),
            )
            for row in rows
        ),
    ]


def _whom(problem: WorstCaseLeakage) -> tuple[str, str]:
    """The adversary and the condition of the proof, in words that can be published."""
    adversary, blocks = problem.adversary, as_blocks(problem.adversary)
    if blocks is not None:
        size = blocks.largest_of(problem.records)
        whom, yours = "Somebody who knows the data of everybody else", "your answer"
        when = "if your data are independent of everybody else's"
        if size > 1:
            whom = (
                "Even somebody who knows how the members of your household resemble each other, and all data of all other "
                "households,"
            )
            when = f"for households of up to {size} people, if data of different households are independent"
            yours = "the answers of your household"
        own = blocks.entropy_at_least
        return whom, when if own is None or not own.amount else f"{when}, {_lacking(own, yours)}"
    if adversary.bound is None:
        return "Somebody who knows no more beforehand than [say what is assumed]", "if that is so"
    whom = "Even somebody who knows how all answers go together"
    if not adversary.bound.amount:
        return whom, "whatever they know beforehand"
    return whom, _lacking(adversary.bound, "the answers of all together")


def _lacking(bound: EntropyAtLeast, answers: str) -> str:
    """Uncertainty required by an entropy bound: nats as bits, rounded upward, as it is a condition."""
    amount = bound.shown("all there is to know")
    if bound.units == "nats":
        amount = amount_text(text_above(upper_in(exact_fraction_above(bound.amount), "bits"), 4), "bits")
    return f"if they lack at least {amount} about {answers} beforehand"


def _published(problem: WorstCaseLeakage) -> str:
    """The published query and how it is randomised; in brackets whom it is about, and a letter's meaning where no table says it."""
    if problem.query.kind == "identity":
        return f"the answer{'s' * (len(problem.records) > 1)} of [say whom], changed at random"
    first = isinstance(problem.mechanism, RandomizedAnswers)
    how = "counted after each answer was changed at random" if first else "with random noise"
    if Mean.behind(problem) is not None:
        return f"the mean of {problem.records.answer or '[say what]'} of [say whom], with random noise"
    told = query_in_words(problem.query, problem.records)
    whom = told.replace("of them", "of [say whom]", 1).replace("their sum", "the sum of the answers of [say whom]", 1)
    meant = " [say what that means]" if problem.query.kind == "count" and not problem.records.letters else ""
    return f"{whom if whom != told else f'{told} [say of whom]'}{meant}, {how}"


def notice(problem: WorstCaseLeakage, upper: float) -> str:
    """A paragraph for a privacy notice; what is in brackets only the publisher knows.

    >>> import dalenius as dl
    >>> alone = dl.WorstCaseLeakage(records=dl.Records(1000, alphabet=2), query=dl.Count(), mechanism=dl.discrete_laplace(0.5),
    ...     adversary=dl.IndependentBlocks(1))
    >>> print(notice(alone, dl.solve(alone).upper))
    We publish how many of [say whom] are 1 [say what that means], with random noise. Somebody who knows the data of everybody else
    learns on average at most 0.04372 bits about your answer, which holds up to 1 bit. Their best guess is right in at most 63 of 100
    cases where it would have been right in 50. This is proved if your data are independent of everybody else's, and if nothing else
    is published about the same people.
    """
    most = most_of(problem.most_values, "bits")
    bits = text_above(min(max(upper_in(upper, "bits"), 0.0), most), 4)
    whom, when = _whom(problem)
    before, after = cases(problem, upper)
    software = ", if the software has the probabilities that were computed for it" if problem.mechanism.is_own else ""
    told = (
        f"We publish {_published(problem)}.",
        f"{whom} learns on average at most {amount_text(bits, 'bits')} about your answer, which holds up to "
        f"{amount_text(text_above(most, 4), 'bits')}.",
    )
    if is_at_least_log(upper, "nats", max(problem.records.alphabets)):
        return paragraph(*told, "That is all of it: no protection of your answer is certified.")
    return paragraph(
        *told,
        f"Their best guess is right in at most {after} of 100 cases where it would have been right in {before}.",
        *_left_with_two(problem, upper, "you have"),
        f"This is proved {when}{software}, and if nothing else is published about the same people.",
    )
