"""Releases with few outputs: how often each came on each input, and what that says about the leakage."""

from __future__ import annotations

import math

import numpy as np

from dalenius.errors import InputError
from dalenius.exact import Rows, as_list
from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import capacity
from dalenius.statistics.bounds import SampledLeakage, clopper_pearson, confidence_of
from dalenius.units import lower_in, unit_size

MIXED = 1e-9  # of the mean in every row
ROUNDING = 1e-12  # nats, more than all sums here are off
STEPS = 200  # towards the channel of the box that tells least
MOST = 2**20  # cells


def audit_counts(
    counts: Rows | Integers, *, confidence: float = 0.95, units: str = "bits", prior: Floats | None = None
) -> SampledLeakage:
    """A lower confidence bound on what a black box with few outputs tells about which input it was given. Statistical, never a proof.

    Parameters
    ----------
    counts : (inputs, outputs) of int
        How often each output came when each input was given, in independent runs; so many runs an input as you like, decided before.
        With the letters of one record as inputs, and the others' data fixed, it is about that record: a lower bound on the worst-case
        leakage to `ProductPriors`, and to every larger set of adversaries.
    confidence : float
    units : {"nats", "bits"}
    prior : (inputs,), optional
        The law of the inputs that the bound is about. Left out, the one for which the estimated channel tells most (its capacity).

    Returns
    -------
    SampledLeakage
        With `epsilon`: the differential privacy that the same counts rule out, jointly.

    Raises
    ------
    InputError
        If there are no such counts, or an input was never given.

    Notes
    -----
    Clopper-Pearson intervals of all entries W(y|x) hold together with the confidence (Bonferroni), so that what follows may depend on
    the counts: the prior p, and the conditional laws phi. For every channel W of the box

        I(p; W)  >=  sum_{x,y} p(x) W(x,y) log( phi(x|y) / p(x) ),

    *bound because* the difference is a mean of divergences D(p(.|y) || phi(.|y)) (Barber and Agakov 2003). The right-hand side is
    linear in W, and its least value over the box, row by row, is found by filling the cheapest entries first. phi is the posterior of
    the channel of the box that tells least.

    >>> found = audit_counts([[900, 100], [200, 800]])
    >>> print(found)
    capacity of ... >= 0.32... bits of 1 bit possible with a confidence of 95 %, from 2000 runs (statistical, never a proof)
    >>> audit_counts([[9, 1], [9, 1]]).lower
    0.0
    """
    confidence, table = confidence_of(confidence), _counts(counts)
    unit_size(units)
    runs = table.sum(axis=1, keepdims=True)
    low, high = clopper_pearson(table, runs, 1.0 - confidence)
    guess = table / runs
    law = capacity(guess, gap=1e-6).input_law if prior is None else _law(prior, table.shape[0])
    lower = max(least_information(law, low, high, guess), 0.0)
    ratio = float(np.max(low.max(axis=0) / high.min(axis=0)))
    return SampledLeakage(
        lower=lower_in(lower, units),
        confidence=confidence,
        units=units,
        about="capacity of the channel between these inputs" if prior is None else "I(input; output) under this prior",
        record=None,
        runs=int(table.sum()),
        method="Clopper-Pearson intervals of all probabilities, and the channel among them that tells least",
        epsilon=math.log(max(ratio, 1.0)),
        values=table.shape[0],
    )


def least_information(prior: Floats, low: Floats, high: Floats, start: Floats) -> float:
    """A number that no channel with entries between these tells less than, under this prior; nats.

    Parameters
    ----------
    prior : (inputs,)
    low, high, start : (inputs, outputs)
        A box around `start`, which has rows that sum to 1.
    """
    channel, best = start, -math.inf
    for step in range(STEPS):
        scores = _scores(prior, channel)
        cheapest = np.array([_fill(*row) for row in zip(scores, low, high, strict=True)])
        bound = float(np.sum(prior[:, None] * cheapest * scores))
        best = max(best, bound)
        channel = channel + (cheapest - channel) * (
            2.0 / (step + 3.0)
        )  # Frank and Wolfe's step: information is convex in W
    return best - ROUNDING


def _scores(prior: Floats, channel: Floats) -> Floats:
    """log( phi(x|y) / p(x) ), with phi the posterior of a channel mixed with a little of its mean, so that none is infinite."""
    mean = prior @ channel
    mixed = (1.0 - MIXED) * channel + MIXED * mean
    return np.log(np.where(mean > 0, mixed, 1.0) / np.where(mean > 0, mean, 1.0))


def _fill(scores: Floats, low: Floats, high: Floats) -> Floats:
    """The law between two others that has the least mean score: what is left over goes to the cheapest entries first."""
    law, left = low.copy(), 1.0 - float(low.sum())
    for y in np.argsort(scores, kind="stable"):
        more = min(float(high[y] - low[y]), left)
        law[y] += more
        left -= more
    return law


def _counts(counts: Rows | Integers) -> Integers:
    rows = [as_list(row, "counts: a row") for row in as_list(counts, "counts")]
    if len(rows) < 2 or len({len(row) for row in rows}) != 1 or not rows[0] or len(rows) * len(rows[0]) > MOST:
        raise InputError("counts: expected a row for each of two inputs or more, with as many outputs in every row")
    table = np.array(rows)
    if table.dtype.kind not in "iu" or (table < 0).any():
        raise InputError("counts: expected whole numbers of at least 0: how often each output came")
    if not table.sum(axis=1).all():
        raise InputError(f"counts: input {int(np.argmin(table.sum(axis=1)))} was never given; leave it out, or run it")
    return table


def _law(prior: Floats, inputs: int) -> Floats:
    law = np.asarray(prior, dtype=float)
    if law.shape != (inputs,) or not (np.isfinite(law).all() and (law >= 0).all() and law.sum() > 0):
        raise InputError(f"prior: expected {inputs} numbers of at least 0, one an input")
    return law / law.sum()
