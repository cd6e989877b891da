"""A mechanism known from runs alone: how much it reveals, as a confidence interval. Statistical, never a proof."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dalenius._solve import solve
from dalenius.errors import InputError, brief
from dalenius.exact import Rows
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import capacity
from dalenius.model import WorstCaseLeakage
from dalenius.model.adversaries import Adversary
from dalenius.model.in_words import as_part
from dalenius.model.mechanisms import Channel
from dalenius.model.queries import Query
from dalenius.model.records import Records
from dalenius.statistics.counts import ROUNDING, CountedChannel, SampledLeakage
from dalenius.units import lower_in, unit_size, upper_in

METHOD = "Clopper-Pearson intervals of all probabilities, and the channels among them that reveal least and most"


def audit_counts(
    counts: Rows | Integers,
    *,
    confidence: float = 0.95,
    units: str = "bits",
    prior: Floats | None = None,
    records: Records | None = None,
    query: Query | str | None = None,
    adversary: Adversary | str | None = None,
    gap: float = 1e-3,
    time_limit: float | None = 60.0,
) -> SampledLeakage:
    """A confidence interval for what a black box with few outputs reveals, from counts. Statistical, never a proof.

    Parameters
    ----------
    counts : (inputs, outputs) of int
        How often each output came when each input was given, in independent runs; so many runs an input as you like, decided before,
        as the columns are: an output that was not thought of needs a column of its own kind, not one for its runs alone.
    confidence : float
    units : {"nats", "bits"}
    prior : (inputs,) or (letters, inputs), optional
        The law of the inputs that the interval is about; or of a letter and the input, then it is about the letter. Left out, the one
        for which the box reveals most (its capacity). With the letters of one record as inputs, and the others' data fixed, the lower
        end is one of the worst-case leakage to `ProductPriors`, and to every larger set of adversaries.
    records, query, adversary : optional
        What is released, and to whom: the inputs are then the query's values, in their order, and the interval is one of the
        worst-case leakage about a record (`WorstCaseLeakage`).
    gap, time_limit
        Of the audit that bounds it from above, as in `solve`.

    Returns
    -------
    SampledLeakage
        With `epsilon`: the differential privacy that the same counts rule out, jointly.

    Raises
    ------
    InputError
        If there are no such counts, an input was never given, or there are not as many rows as values of the query.

    Notes
    -----
    Clopper-Pearson intervals of all entries W(y|x) hold together with the confidence (Bonferroni), so that what follows may depend on
    the counts. From above a channel that every channel of the box is a processing of is audited
    (`CountedChannel.dominating`; docs/theory.md, *A mechanism known from samples*); from below a line bounds what the box reveals
    under one prior (`least_information`), which of a model is the audit's.

    >>> found = audit_counts([[900, 100], [200, 800]])
    >>> print(found)
    capacity of ... within 0.32... .. 0.47... bits of 1 bit possible with a confidence of 95 %, from 2000 runs (statistical, ...)
    >>> audit_counts([[9, 1], [9, 1]]).lower
    0.0

    Two people's yeses, counted with noise:

    >>> print(audit_counts([[9000, 900, 100], [500, 9000, 500], [100, 900, 9000]], records=Records(2, alphabet=2), query="count",
    ...     adversary="independent_blocks size = 2"))
    leakage about one record within 0.80... .. 0.85... bits of 1 bit possible with a confidence of 95 %, ...
    """
    counted = CountedChannel.of(counts, confidence)
    unit_size(units)
    if records is None:
        if query is not None or adversary is not None:
            raise InputError("query, adversary: expected with records, whose answers are the box's input")
        lower, upper, values = *_of_inputs(counted, prior), counted.inputs
        about = "capacity of the channel between these inputs"
        if prior is not None:
            about = "I(input; output) under this prior"
    elif prior is not None:
        raise InputError("prior: with records the adversary says which priors there are; leave one of them out")
    else:
        lower, upper, values = _of_a_record(counted, records, query, adversary, gap, time_limit)
        about = "leakage about one record"
    return SampledLeakage(
        lower=lower_in(lower, units),
        confidence=counted.confidence,
        units=units,
        about=about,
        record=None,
        runs=counted.runs,
        method=METHOD,
        epsilon=counted.epsilon,
        values=values,
        upper=max(upper_in(min(upper, math.log(values)), units), lower_in(lower, units)),
    )


def _of_inputs(counted: CountedChannel, prior: Floats | None) -> tuple[float, float]:
    above = counted.dominating.channel(np.arange(counted.inputs))
    if prior is None:
        law = capacity(counted.guess, gap=1e-6).input_law
        return counted.least(law), capacity(above, gap=1e-6).upper + ROUNDING
    masses = _masses(prior, counted.inputs)
    joint = masses if masses.ndim == 2 else np.diag(masses)
    return counted.least(masses), float(mutual_information(joint @ above)) + ROUNDING


def _of_a_record(
    counted: CountedChannel,
    records: Records,
    query: Query | str | None,
    adversary: Adversary | str | None,
    gap: float,
    time_limit: float | None,
) -> tuple[float, float, int]:
    asked = WorstCaseLeakage(
        records=records,
        query=as_part(Query, "identity" if query is None else query, "query"),
        mechanism=counted.dominating,
        adversary=as_part(Adversary, "product_priors" if adversary is None else adversary, "adversary"),
    )
    found = solve(asked, gap=gap, time_limit=time_limit).to("nats")
    witness, lower = found.witness, 0.0
    if witness is not None:
        letters = witness.masses[witness.masses.sum(axis=1) > 0]
        for inputs in _places(asked, witness.record):
            masses = np.zeros((len(letters), counted.inputs))
            masses[:, inputs] = letters
            lower = max(lower, counted.least(masses))
    return lower, found.upper, max(records.alphabets)


def _places(asked: WorstCaseLeakage, record: int) -> Iterator[list[int]]:
    """The rows of the mechanism that a record's witness can be about: of a household some for each total of the others."""
    rows = asked.mechanism.rows if isinstance(asked.mechanism, Channel) else ()
    if asked.route.pieces is None:
        yield list(range(len(rows)))
        return
    # no two are equal: what is left over of each has an output of its own
    row_of = {row: k for k, row in enumerate(rows)}
    for piece, part in asked.route.pieces:
        if piece.attained and piece.first <= record < piece.first + len(part.records):
            yield [row_of[row] for row in part.mechanism.rows]


def _masses(prior: Floats, inputs: int) -> Floats:
    """The law as one; `InputError` if it is none, of the inputs or of a letter and the input."""
    masses = np.asarray(prior, dtype=float)
    fits = masses.ndim in (1, 2) and masses.shape[-1] == inputs
    if not fits or not (np.isfinite(masses).all() and (masses >= 0).all() and masses.sum() > 0):
        raise InputError(
            f"prior: expected {inputs} numbers of at least 0, one an input, or such a row for each letter; got {brief(prior)}"
        )
    if masses.ndim == 2:
        masses = masses[masses.sum(axis=1) > 0]
    return masses / masses.sum()
