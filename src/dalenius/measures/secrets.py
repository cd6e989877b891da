"""Secrets of the data as subjects of measures: the output's law at each of their values; and of two candidates which one it is."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

from dalenius.errors import InputError, brief, counted
from dalenius.information import measures as formulas
from dalenius.information.arrays import Integers
from dalenius.information.measures.numbers import Numbers as Array
from dalenius.information.measures.numbers import divergence, largest, positive_part, quotient, rationals
from dalenius.measures.answer import Measure
from dalenius.measures.definitions import LEAKAGE, Definition, Formula, log_of, probability
from dalenius.measures.evaluation import doubles_around, evaluated, in_bits
from dalenius.measures.subjects import Measured, Subject, need_size
from dalenius.model import SecretLeakage, WorstCaseLeakage
from dalenius.model.fields import keep
from dalenius.model.laws import Law
from dalenius.reduction import SecretCells, cells_of_secrets
from dalenius.units import unit_size

MAX_TERMS = 2**24  # of sums over pairs of rows


@dataclass(frozen=True)
class OfSecrets(Subject):
    """The secrets of a model, the one that each measure is largest for, under its listed laws, or under any law.

    *Under any law* the output's law at a value is a mixture of rows; ratios, divergences and excesses are convex in two laws, and so
    largest at two rows. These are pairs of datasets with different values of the secret, and one of what is given.
    """

    problem: SecretLeakage
    _cells: tuple[SecretCells, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        adversary, channel = self.problem.adversary, self.problem.channel
        others_known = all(secret.knows_all_but_one(self.problem.records) for secret in self.problem.secrets)
        products = adversary.all_products
        if products and not others_known:
            raise InputError(
                "measure: about secrets product_priors is offered where given is the letters of all records but one: list laws "
                "(prior_set), or allow all (entropy_at_least = 0), whose measures are at least those of products"
            )
        free = products or adversary.unlimited
        if not (free or self.listed):
            raise InputError(
                f"measure: about secrets {adversary.kind} is not offered: list laws (prior_set), or allow all (entropy_at_least = 0), "
                "whose measures are at least those of any class; what is revealed on average is for solve"
            )
        cells = tuple(cells_of_secrets(self.problem))
        keep(self, _cells=cells)
        need_size(max(max(channel.shape[0], int(each.cells.max()) + 1) for each in cells), channel.shape[1])
        under = counted(len(adversary.listed), "listed law") if self.listed else "any law"
        about = f"{counted(len(cells), 'secret')} of the data (the one that each measure is largest for), under {under}"
        self._say(about, under, (), channel.shape)
        terms = max(len(_pairs(measured)) for measured in self.made()) * channel.shape[1]
        if terms > MAX_TERMS:
            raise InputError(
                f"measure: at most {MAX_TERMS} terms of pairs of rows are evaluated, got {terms}; ask about fewer values"
            )

    @property
    def listed(self) -> bool:
        """True if laws are listed, so that there is an average."""
        return bool(self.problem.adversary.listed)

    @property
    def kinds(self) -> int:
        return len(self._cells) * (len(self.problem.adversary.listed) or 1)

    def made(self) -> list[Measured]:
        rows = self.problem.exact_channel
        if not self.listed:
            return [_under_any(cells, rows) for cells in self._cells]
        return [_under(cells, rows, law) for cells in self._cells for law in self.problem.adversary.listed]


def _pairs(measured: Measured) -> Integers:
    assert measured.pairs is not None
    return measured.pairs


def _under_any(cells: SecretCells, rows: Array) -> Measured:
    """Pairs of inputs of different cells with one value of what is given."""
    pairs = {
        pair
        for family in set(cells.families)
        for one, other in itertools.permutations(family, 2)
        for pair in itertools.product(one, other)
        if pair[0] != pair[1]
    }
    uniform = np.full(len(rows), fmpq(1, len(rows)), dtype=object)
    return Measured(rows, uniform, pairs=np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2))


def _under(cells: SecretCells, rows: Array, law: tuple[Fraction, ...]) -> Measured:
    """The output's law in every cell that has a probability."""
    size = int(cells.cells.max()) + 1
    masses: list[dict[int, Fraction]] = [{} for _ in range(size)]
    total = sum(law, Fraction(0))
    for cell, k, weight in zip(cells.cells.tolist(), cells.inputs.tolist(), law, strict=True):
        if weight:
            masses[cell][k] = masses[cell].get(k, Fraction(0)) + weight / total
    told = [cell for cell in range(size) if masses[cell]]
    prior = [sum(masses[cell].values(), Fraction(0)) for cell in told]
    mixed = [
        sum(
            (fmpq((p / mass).numerator, (p / mass).denominator) * rows[k] for k, p in masses[cell].items()), 0 * rows[0]
        )
        for cell, mass in zip(told, prior, strict=True)
    ]
    given = cells.given_of_cell[told]
    pairs = [(a, b) for a, b in itertools.permutations(range(len(told)), 2) if given[a] == given[b]]
    return Measured(
        np.array(mixed, dtype=object),
        rationals(prior),
        given=given,
        pairs=np.array(pairs, dtype=np.int64).reshape(-1, 2),
    )


def _given_information(measured: Measured) -> Any:
    """I(secret; output | given), the mean over the values of what is given."""
    channel, prior = measured.joint
    assert measured.given is not None
    channels, priors, weights = list[Any](), list[Any](), list[Any]()
    for value in np.unique(measured.given):
        mine = measured.given == value
        weights.append(prior[mine].sum())
        channels.append(channel[mine])
        priors.append(prior[mine] / weights[-1])
    return formulas.conditional_mutual_information(channels, priors, np.array(weights, dtype=object))


def over_pairs(function: Callable[[Any, Any], Any], nothing: int) -> Formula:
    """The largest of a number over pairs of rows, and `nothing` where there is no pair."""

    def value(measured: Measured) -> Any:
        assert measured.pairs is not None
        rows = measured.joint[0]
        found = [np.asarray(function(rows[a], rows[b])).item() for a, b in measured.pairs.tolist()]
        return largest(np.array([fmpq(nothing), *found], dtype=object))

    return value


def _ratio(p: Any, q: Any) -> Any:
    return largest(quotient(p, q, empty=1))


def _excess(factor: Any) -> Callable[[Any, Any], Any]:
    return lambda p, q: positive_part(p - factor * q).sum()


OF_LAWS = (
    Definition(
        "mutual_information",
        LEAKAGE,
        "what the output reveals about the secret on average, to whom knows what is given",
        _given_information,
    ),
)
"""What a secret of the data has under a law."""

OF_PAIRS = (
    log_of(
        "pufferfish_privacy",
        "epsilon: the log of the largest ratio of an output's probabilities at two values of the secret",
        over_pairs(_ratio, 1),
    ),
    Definition(
        "pufferfish_kl",
        LEAKAGE,
        "the largest divergence of the output's law at one value of the secret from that at another",
        over_pairs(divergence, 0),
    ),
    probability(
        "pufferfish_total_variation",
        "how much likelier any event can be at one value of the secret than at another",
        over_pairs(_excess(1), 0),
    ),
)
"""What a secret of the data has under every law, too."""


def of_pairs_at_epsilon(text: str, factor: Any) -> list[Definition]:
    """The delta that an epsilon leaves a secret of the data; `factor` is e^epsilon, or a ball around it."""
    what = "delta of (epsilon, delta)-Pufferfish privacy"
    return [probability(f"pufferfish_delta({text})", what, over_pairs(_excess(factor), 0))]


# The information about membership: which of two candidates each record is, for the worst two candidates of each.


MOST = 2**22  # supersamples, times what each can be: 7 bits, 4 records of 5 letters
MOST_LAWS = 20_000  # that are evaluated in balls

Laws = Counter[tuple[int, ...]]


def supersample_cmi(problem: WorstCaseLeakage, *, law: Law | None = None, units: str = "nats") -> Measure:
    """The conditional mutual information of a mechanism, by enumeration: max over supersamples x of I(A(x_B); B).

    A supersample has two candidates for each of the n records; B, uniform on {0,1}^n, says which of the two is in the data. How much
    the output reveals about B bounds how far an algorithm can generalise worse than it fits.

    Parameters
    ----------
    problem : WorstCaseLeakage
        Its mechanism, query and records; the adversary does not matter.
    law : Law, optional
        All candidates are drawn independently from it, and the mean over supersamples is asked for instead of the largest.
    units : {"nats", "bits"}

    Returns
    -------
    Measure

    Raises
    ------
    InputError
        If there are too many supersamples to be listed.

    Notes
    -----
    Y depends on B through the mechanism's input alone, so that I(A(x_B); B) is the information under the input's law N(v) / 2^n:
    each law is evaluated once, in exact numbers and balls. At most n times the largest I(X_i; Y | all others) of product laws, with
    equality where every record is released by itself.

    Source: T. Steinke, L. Zakynthinou, "Reasoning about generalization via conditional mutual information" (COLT 2020); T. Nuradha,
    Z. Goldfeld, "Pufferfish privacy: an information-theoretic study" (2023), Definition 7 and Proposition 6.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(3, alphabet=2), query=dl.Count(), mechanism=dl.geometric(0.5),
    ...     adversary=dl.ProductPriors())
    >>> print(supersample_cmi(problem))
    supersample_cmi 0.07630475145615... .. 0.07630475145615... nats
    """
    if not isinstance(problem, WorstCaseLeakage):
        raise InputError(f"problem: expected a WorstCaseLeakage, got {brief(problem)}")
    unit_size(units)
    laws = _laws(problem, law)
    need_size(*problem.channel.shape)
    if len(laws) > MOST_LAWS:
        raise InputError(
            f"problem: its supersamples have {len(laws)} different laws; at most {MOST_LAWS} are evaluated"
        )
    values = problem.query_of_inputs.values(problem.records)

    def value() -> arb | fmpq:
        channel = problem.mechanism.exact_channel(values)
        found = np.array([_information(channel, counts) for counts in laws], dtype=object)
        told: arb | fmpq = largest(found).item() if law is None else (found * _shares(laws)).sum()
        return told

    ends = evaluated(value, exponent=False)
    which = "two candidates for each record at worst" if law is None else "two candidates for each record, on average"
    lower, upper = doubles_around(in_bits(ends) if units == "bits" else ends)
    return Measure(
        "supersample_cmi",
        lower,
        upper,
        units,
        f"what the output reveals about which of {which} are in the data",
        ends.exact,
    )


def _information(channel: Array, counts: tuple[int, ...]) -> arb | fmpq:
    """Of a law of the input."""
    inputs, total = np.flatnonzero(counts), sum(counts)
    prior = np.array([fmpq(counts[v], total) for v in inputs], dtype=object)
    if inputs.size == 1:
        return fmpq(0)
    found: arb | fmpq = formulas.mutual_information(channel[inputs], prior).item()
    return found


def _shares(laws: Laws) -> Array:
    """Probability of each law."""
    total = sum(laws.values())
    return np.array([fmpq(times, total) for times in laws.values()], dtype=object)


def _laws(problem: WorstCaseLeakage, law: Law | None) -> Laws:
    """Frequency of each input among the 2^n members of a supersample; each with the weight of such supersamples."""
    records, query = problem.records, problem.query_of_inputs
    listed = [[*itertools.combinations_with_replacement(range(size), 2)] for size in records.alphabets]
    count = math.prod(map(len, listed)) * 2 ** len(records)
    if len(records) > 60 or count > MOST:
        raise InputError(
            f"records: {len(records)} records have too many supersamples; at most {MOST} cases are listed, as of 7 bits"
        )
    weights = [_pair_weights(problem, law, record, pairs) for record, pairs in enumerate(listed)]
    index = query.index_of_dataset(records).reshape(records.alphabets)
    inputs = query.values(records).size
    found: Laws = Counter()
    for chosen in itertools.product(*(range(len(pairs)) for pairs in listed)):
        weight = math.prod(one[k] for one, k in zip(weights, chosen, strict=True))
        if weight:
            places = index[np.ix_(*(pairs[k] for pairs, k in zip(listed, chosen, strict=True)))]
            found[tuple(np.bincount(places.ravel(), minlength=inputs).tolist())] += weight
    return found


def _pair_weights(problem: WorstCaseLeakage, law: Law | None, record: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Probability of each pair of candidates, up to a factor; all alike where only the worst counts."""
    if law is None:
        return [1] * len(pairs)
    law.check(problem.records)
    masses = law.weights(problem.records.alphabets[record])
    return [int(masses[a] * masses[b]) * (1 if a == b else 2) for a, b in pairs]
