"""The information about membership: which of two candidates each record is, for the worst two candidates of each."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
from flint import arb, fmpq

from dalenius.errors import InputError, brief
from dalenius.information import measures as formulas
from dalenius.information.measures.numbers import Numbers as Array
from dalenius.information.measures.numbers import largest
from dalenius.measures.answer import Measure
from dalenius.measures.evaluation import doubles_around, evaluated, in_bits
from dalenius.measures.subjects import need_size
from dalenius.model import WorstCaseLeakage
from dalenius.model.laws import Law
from dalenius.units import unit_size

MOST = 2**22  # supersamples, times what each can be: 7 bits, 4 records of 5 letters
MOST_LAWS = 20_000  # that are evaluated in balls

Laws = Counter[tuple[int, ...]]


def supersample_cmi(problem: WorstCaseLeakage, *, law: Law | None = None, units: str = "nats") -> Measure:
    """The conditional mutual information of a mechanism, by enumeration: max over supersamples x of I(A(x_B); B).

    A supersample has two candidates for each of the n records; B, uniform on {0,1}^n, says which of the two is in the data. How much
    the output tells about B bounds how far an algorithm can generalise worse than it fits.

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
        f"what the output tells about which of {which} are in the data",
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
    """How likely each law is."""
    total = sum(laws.values())
    return np.array([fmpq(times, total) for times in laws.values()], dtype=object)


def _laws(problem: WorstCaseLeakage, law: Law | None) -> Laws:
    """How often each input comes up among the 2^n members of a supersample; each with the weight of such supersamples."""
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
    """How likely each pair of candidates is, up to a factor; all alike where only the worst counts."""
    if law is None:
        return [1] * len(pairs)
    law.check(problem.records)
    masses = law.weights(problem.records.alphabets[record])
    return [int(masses[a] * masses[b]) * (1 if a == b else 2) for a, b in pairs]
