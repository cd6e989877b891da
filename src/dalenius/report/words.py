"""Problems, answers and beliefs in sentences for people; what an audit says to those who will not read a certificate."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from fractions import Fraction

from dalenius.errors import counted
from dalenius.exact import fraction_text
from dalenius.intervals import interval_text, percent_text, text_above
from dalenius.measures import Measure
from dalenius.measures.subjects import ADVICE
from dalenius.measures.witness import OfWitness
from dalenius.model import (
    DesignProblem,
    MaxInformation,
    MechanismProblem,
    Problem,
    Records,
    SecretLeakage,
    WorstCaseLeakage,
)
from dalenius.model.adversaries.independent_blocks import as_blocks
from dalenius.model.mechanisms import ScaledNoise
from dalenius.model.problems import Mean
from dalenius.model.queries import Identity, Margins, Query
from dalenius.model.queries.margins import SEPARATOR
from dalenius.model.secret import Function
from dalenius.results import Result, against_text, budget_text, nats_and_bits
from dalenius.units import amount_text

VALUES = {"histogram": "the true histogram", "margins": "the true tables"}
FEW = 2  # values of a belief that are named
SMALL = Fraction(1, 1000)
MANY = 24  # letters, or tables, that are all named


def records_in_words(records: Records) -> str:
    """Number of records, and the values of each, in words.

    >>> records_in_words(Records(8, alphabet=2))
    '8 records, each with one of 2 values'
    >>> records_in_words(Records(8, alphabet=2, answer="smokes", letters=["no", "yes"]))
    '8 people, each with a value of smokes: no or yes'
    >>> records_in_words(Records(8, alphabet=4, answer="sex, age", letters=["f, young", "f, old", "m, young", "m, old"]))
    '8 people, each with a value of sex, age: f, young; f, old; m, young; m, old'
    """
    if records.letters:
        people = "1 person" if len(records) == 1 else f"{len(records)} people, each"
        named = records.letters
        parted = "; ".join(named) if any(SEPARATOR in name for name in named) else listed(named)  # combined letters
        values = parted if len(named) <= MANY else f"{named[0]}, {named[1]}, ..., {named[-1]}"
        return f"{people} with a value of {_column(records)}: {values}"
    if len(records) == 1:
        return f"1 record, with one of {counted(records.alphabets[0], 'value')}"
    sizes = {size for size, _ in records.runs}
    each = f"of {counted(min(sizes), 'value')}" if len(sizes) == 1 else f"of {min(sizes)} to {max(sizes)} values"
    return f"{counted(len(records), 'record')}, each with one {each}"


def _column(records: Records) -> str:
    return records.answer or "the answers"


def query_in_words(query: Query, records: Records | None = None) -> str:
    """The query in words.

    >>> import dalenius as dl
    >>> query_in_words(dl.Count(letters=[0, 2])), query_in_words(dl.Threshold(3))
    ('how many of them are 0 or 2', 'whether their sum is at least 3')
    >>> query_in_words(dl.Count(), Records(8, alphabet=2, answer="smokes", letters=["no", "yes"]))
    'how many of them have yes in smokes'
    >>> query_in_words(dl.queries.Margins([2, 3], [[0], [0, 1]]), Records(8, alphabet=6, answer="sex, age", letters=list("abcdef")))
    '2 tables of how many of them have each value, or combination of values: sex; sex by age'
    """
    table = query.to_table()
    if records is not None and records.letters and query.kind == "count":
        return f"how many of them have {listed([records.letters[a] for a in table['letters']])} in {_column(records)}"
    given = {key: " or ".join(map(str, value)) if key == "letters" else value for key, value in table.items()}
    if isinstance(query, Margins):
        names = (records.answer if records else "").split(SEPARATOR)
        if len(names) != len(query.attributes):
            names = [f"attribute {j}" for j in range(len(query.attributes))]
        named = [" by ".join(names[j] for j in own) for own in query.tables]
        rest = [f"and {len(named) - MANY} more"] if len(named) > MANY else []
        given |= {"number": counted(len(named), "table"), "tables": "; ".join([*named[:MANY], *rest])}
    return query.words.format(**given)


def mechanism_in_words(problem: MechanismProblem) -> str:
    """The mechanism in words."""
    told = problem.mechanism.words or spaced(problem.mechanism.kind)
    for name in ("epsilon", "scale"):
        if isinstance(value := getattr(problem.mechanism, name, None), Fraction):
            exact, rounded = fraction_text(value), text_above(value)
            return f"{told}, {name} = {exact}{f' (at most {rounded})' if '/' in exact else ''}"
    return told


def refusal(why: str) -> str:
    """Why numbers are not on a page, without what a program says to whoever called it."""
    return why.removeprefix("measure: ").removesuffix(f"; {ADVICE}")


def question(problem: Problem) -> list[str]:
    """The question that a problem asks, in sentences.

    >>> import dalenius as dl
    >>> for sentence in question(dl.WorstCaseLeakage(records=dl.Records(8, alphabet=2), query=dl.Count(),
    ...         mechanism=dl.geometric(0.5), adversary=dl.EntropyAtLeast("4 bits"))):
    ...     print(sentence)
    There are 8 records, each with one of 2 values.
    What is released is how many of them are 1, through truncated geometric noise, epsilon = 0.5.
    How much can it reveal about any one record, at most, to any adversary whose prior on the datasets has an entropy of at least
    4 bits of 8?
    """
    there = f"There {'is' if len(problem.records) == 1 else 'are'} {records_in_words(problem.records)}."
    whom = against_text(problem)
    if isinstance(problem, MechanismProblem):
        whole = "the record itself" if len(problem.records) == 1 else Identity.words
        what = (
            whole
            if problem.inputs == "dataset"
            else query_in_words(problem.query, problem.records).replace(Identity.words, whole)
        )
        asked = problem.about
        if isinstance(problem, SecretLeakage):
            several = [secret_in_words(problem, s) for s in range(len(problem.secrets))]
            rest = [f"any other of the {len(several)} secrets"] if len(several) > FEW else []
            asked = ", or about ".join([*several[:FEW], *rest])
        how = mechanism_in_words(problem)
        if (mean := Mean.behind(problem)) is not None and isinstance(noise := problem.mechanism, ScaledNoise):
            what, unit = "their mean", fraction_text(mean.step)
            how = (
                f"{noise.words} of scale {fraction_text(noise.spread * mean.unit)}, which is {fraction_text(noise.spread)} on the sum "
                f"of their values in steps of {unit}"
            )
        return [
            there,
            f"What is released is {what}, through {how}.",
            f"How much can it reveal about {asked}, at most, to {whom}?",
        ]
    wanted = asked_of(problem) if isinstance(problem, DesignProblem) else f"The question is {spaced(problem.kind)}?"
    if isinstance(problem, MaxInformation):
        wanted = "How much can a private mechanism reveal, at most, about what the release is useful for?"
        if problem.privacy is None:
            about = "the input" if problem.useful is None else "a variable that is correlated with the input"
            of = "the input" if problem.limit.secret is None else "a secret that is correlated with it"
            measure, most = spaced(problem.limit.kind), problem.limit.to_model()["at_most"]
            wanted = (
                f"How much can a mechanism reveal about {about}, at most, with at most {most} of {measure} about {of}?"
            )
        if problem.measure is not None:
            wanted += f" What it reveals is measured by {_measure_in_words(problem.measure)}."
    return [there, f"What is to be released is {query_in_words(problem.query)}.", wanted]


def _measure_in_words(measure: str | Sequence[object]) -> str:
    if measure == "guessing":
        return "the share of right guesses that it adds"
    return spaced(measure) if isinstance(measure, str) else "an f-divergence"


def mechanisms_in_words(problem: MaxInformation) -> str:
    """The mechanisms of a largest information, of one of them."""
    return "within the limit" if problem.privacy is None else "that is private"


def secret_in_words(problem: SecretLeakage, number: int) -> str:
    """A secret in words, and its given functions.

    >>> import dalenius as dl
    >>> secret_in_words(dl.SecretLeakage(records=dl.Records(3, alphabet=2), query=dl.Count(), mechanism=dl.geometric(0.5),
    ...     adversary=dl.AnyPrior(), secrets=dl.Secret(dl.Parity(), given=dl.Letters(others=0))), 0)
    'whether an odd number of them are 1, where the letters of all records but 0 are known'
    """
    secret = problem.secrets[number]
    told = " and ".join(map(_function_in_words, secret.of))
    return f"{told}, where {' and '.join(map(_function_in_words, secret.given))} are known" if secret.given else told


def _function_in_words(function: Function) -> str:
    if isinstance(function, Query):
        return query_in_words(function)
    listed, all_but = (function.records, "") if function.records is not None else (function.others, "all records but ")
    assert listed is not None
    numbers = ", ".join(map(str, listed))
    group = "groups of the letters" if function.groups is not None else "letters"
    return f"the {group} of {all_but or ('record ' if len(listed) == 1 else 'the records ')}{numbers}"


def asked_of(problem: DesignProblem) -> str:
    """The question of a design in words."""
    whom = f" to {against_text(problem)}" if problem.adversary is not None else ""
    limits = f", under {counted(len(problem.own_constraints), 'constraint')} besides" if problem.own_constraints else ""
    kind = f"{problem.mechanism_class.kind} mechanism ({problem.mechanism_class.words})"
    if problem.objective is not None:
        return f"Which {kind} makes the objective of several terms smallest{limits}?"
    budget = None if problem.adversary is None else budget_in_words(problem, problem.most_values)
    if problem.distortion_budget is not None:
        return (
            f"Which {kind} reveals least about any one record{whom}, if it may be wrong by {budget} on average{limits}?"
        )
    if problem.leakage_budget is not None:
        return f"Which {kind} is least wrong on average, if it may reveal at most {budget} about any one record{whom}{limits}?"
    return f"Which {kind} is best, of those that keep what was promised{whom}{limits}?"


def budget_in_words(problem: DesignProblem, values: int | None = None) -> str:
    """The budget of a design, a leakage in bits beside it, and how much there is to know about one of so many values."""
    if problem.leakage_budget is None:
        return fraction_text(problem.budget)
    return budget_text(problem.budget, problem.budget_units, values)


def person(witness: OfWitness) -> str:
    """Person of the worst case: a household's member by its size, as an index would point at one household."""
    if witness.piece is None:
        return f"record {witness.record}"
    size = len(witness.problem.records)
    return "somebody who lives alone" if size == 1 else f"a member of a household of {size}"


def values_called(witness: OfWitness, records: Records) -> Sequence[object]:
    """Names of the record's letters, as the question's records have them."""
    return records.letters or range(len(witness.masses))


def belief(witness: OfWitness, records: Records) -> list[str]:
    """Belief of the worst-case adversary in sentences; probabilities rounded outward."""
    names = value_names(witness.problem)
    called = values_called(witness, records)
    what = f"{values_in_words(witness.problem)}{'' if witness.piece is None else ' of its block'}"
    laws = [sum(row, Fraction(0)) for row in witness.masses]
    shares = listed([f"{called[letter]} ({_percent(law)})" for letter, law in enumerate(laws) if law >= SMALL])
    told = [f"The adversary believes that the answer of {person(witness)} is {shares}."]
    for letter, (row, law) in enumerate(zip(witness.masses, laws, strict=True)):
        if law >= SMALL:
            likely = sorted(((mass / law, k) for k, mass in enumerate(row) if mass), reverse=True)[:FEW]
            values = listed([f"{names[k]} ({_percent(share)})" for share, k in likely])
            told.append(f"If it is {called[letter]}, then {what} is most likely {values}.")
    return told


def values_in_words(problem: Problem) -> str:
    """Kind of the channel's inputs in words."""
    if problem.inputs == "dataset":
        return "the dataset"
    return VALUES.get(problem.query.kind, "the true value" if problem.query.sums is None else "the true total")


def value_names(problem: Problem) -> list[str]:
    """Names of the channel's inputs: the query's values, or datasets by their letters."""
    query = problem.query_of_inputs
    if problem.inputs != "dataset" or len(problem.records) == 1:
        return query.value_names(problem.records)
    values = query.values(problem.records).tolist()
    return ["".join(map(str, letters_of(problem.records, value))) for value in values]


def letters_of(records: Records, place: int) -> Sequence[int]:
    """The letters of the dataset at a place in lexicographic order."""
    letters = []
    for size in reversed(records.alphabets):
        place, letter = divmod(place, size)
        letters.append(letter)
    return letters[::-1]


def _percent(share: Fraction) -> str:
    """A share of a belief: of one that is a whole percent but for the last digits of doubles, that percent."""
    near = Fraction(round(share * 10**MOST), 10**MOST)
    return percent_text(near, near)


def listed(parts: Sequence[str]) -> str:
    """Alternatives.

    >>> listed(["no", "yes", "unknown"])
    'no, yes or unknown'
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def spaced(kind: str) -> str:
    """A kind without a sentence of its own."""
    return kind.replace("_", " ")


PLACES = 5  # after the point, of numbers for people
DIGITS = 3  # of small ones
MOST = 12  # places, beyond which nobody reads on


def ends_shown(lower: float, upper: float) -> str:
    """Both ends rounded outward to so few digits that people read them.

    >>> ends_shown(0.950842999, 0.950843111), ends_shown(1.23456789e-9, 1.23456790e-9), ends_shown(0.0, 0.0)
    ('0.95084 .. 0.95085', '1.234e-9 .. 1.235e-9', '0')
    """
    places = PLACES if not upper else min(max(PLACES, DIGITS - math.floor(math.log10(abs(upper)))), MOST)
    text = interval_text(lower, upper, places=places)
    low, high = text.split(" .. ")
    return low if low == high else text


WIDTH = 100  # characters of a line
PROVED, COMPUTED, FOLLOWS = "proved", "computed", "follows"
WHY = {
    PROVED: "by the certificate, which an independent program has checked",
    COMPUTED: "from the prior that the certificate shows, in exact numbers, rounded outward; the certificate does not say it",
    FOLLOWS: (
        "for every adversary of this kind, from the first number by Pinsker's inequality, or from how far apart the answers move "
        "what is released"
    ),
}


RESOLVED = (
    "The mechanism is of a kind that the checker does not know: with --resolved it proves what the certificate says of the matrix in "
    "it, and ends with status 4. That the mechanism has this matrix is not proved."
)


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown that a terminal can show, too, the heads first.

    >>> print(text_table([("size", "bits"), ("1", "0.25")]))
    | size | bits |
    |------|------|
    | 1    | 0.25 |
    """
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"| {' | '.join(cell.ljust(size) for cell, size in zip(row, wide, strict=True))} |" for row in rows]
    return "\n".join([lines[0], f"|{'|'.join('-' * (size + 2) for size in wide)}|", *lines[1:]])


def paragraph(*sentences: str, before: str = "", then: str | None = None) -> str:
    """Sentences as lines that fit a terminal, each with the same beginning, or further ones with another.

    >>> paragraph("One.", "Two.")
    'One. Two.'
    """
    return textwrap.fill(
        " ".join(" ".join(sentences).split()),
        WIDTH,
        initial_indent=before,
        subsequent_indent=before if then is None else then,
        break_long_words=False,
        break_on_hyphens=False,
    )


def point(text: str, why: str = "") -> str:
    """An entry of a list, with what proves it in brackets."""
    return paragraph(text, *([f"[{why}]"] * bool(why)), before="* ", then="  ")


def in_bits(result: Result) -> str:
    """The upper end as people take it away, rounded upward, in both units.

    >>> import dalenius as dl
    >>> told = dl.solve(dl.WorstCaseLeakage(records=dl.Records(1, alphabet=2), query=dl.Count(), mechanism=dl.symmetric("0.25"),
    ...     adversary=dl.AnyPrior()))
    >>> in_bits(told)
    '0.1888 bits (0.1309 nats) of 1 bit possible'
    """
    return nats_and_bits(result.upper, result.values)


def factor(told: Measure) -> str:
    """Largest factor by which a guess becomes likelier to be right; the measure is its logarithm, in bits.

    >>> factor(Measure("pointwise_maximal_leakage", 0.9, 1.0, "bits", "")), factor(Measure("local_dp", 0.9, 0.99, "bits", ""))
    ('2 times', '1.99 times')
    """
    if told.upper >= 1000:
        return "any number of times"
    if told.exact is not None and told.exact.startswith("log2 "):
        return f"{text_above(Fraction(told.exact.removeprefix('log2 ')), 3)} times"
    return f"{text_above(min(2.0**told.upper * (1 + 1e-12), 2.0 ** math.ceil(told.upper)), 3)} times"


def rare(told: Measure | None, why: str = "") -> str:
    """Largest change of an answer that any adversary of the question held for very unlikely: the measure's bound, in bits."""
    before = "To an adversary of this kind who held the person's answer for very unlikely, it can become"
    over = "pointwise maximal leakage over all adversaries of this kind"
    if told is None:
        return (
            f"{before} far more likely: by how much at most, the {over} says, which is not known here ({refusal(why)})."
        )
    if math.isinf(told.upper):
        bound = "any number of times as likely as before"
    else:
        bits = amount_text(text_above(told.upper, 4), "bits")
        bound = f"more likely than that: at most {factor(told)} as likely as before, {bits}"
    return f"{before} {bound} ({over}; computed, and the certificate does not say it)."


def told_without(problem: WorstCaseLeakage, average: Measure, without: Measure) -> str:
    """Leakage that would remain without the person's own answer."""
    if independent(problem):
        return "nothing: to this adversary the person's answer is independent of everybody else's"
    return f"{ends_shown(without.lower, without.upper)} bits of these {ends_shown(average.lower, average.upper)} bits"


def assumed(problem: WorstCaseLeakage) -> Iterator[str]:
    """Assumptions of the numbers, as entries of a list."""
    adversary = problem.adversary
    if independent(problem):
        yield (
            "People's answers are independent. If people come in households, classes or teams, this is too little: name the size of "
            "the largest group, as blocks of so many records."
        )
    elif adversary.in_blocks:
        yield (
            "Answers may be correlated inside a block, in any way, and are independent between blocks. All other blocks may be known "
            "to the adversary."
        )
    elif adversary.bound is not None:
        yield "The adversary may know any correlation, but not more about all answers together than the bound leaves open."
    else:
        yield "The adversary's beliefs are among those that the question names."
    yield "The software that makes the release has exactly the probabilities of the model."
    yield (
        "There is no other release of these data. One more reveals more; ask about all of them as one (several_releases, adaptive; "
        "of tables the query margins)."
    )


def independent(problem: WorstCaseLeakage) -> bool:
    """True if everybody is independent of everybody else to this adversary."""
    blocks = as_blocks(problem.adversary)
    return blocks is not None and blocks.size == 1
