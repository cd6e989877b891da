"""Releases with few outputs: how often each came on each input; and confidence bounds that hold for every number of samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainccinv, betaincinv

from dalenius.errors import InputError, brief
from dalenius.exact import Rows, as_list, is_number
from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import capacity
from dalenius.intervals import text_below
from dalenius.notebook import in_brief, table
from dalenius.results import possible_text
from dalenius.units import lower_in, unit_size


def confidence_of(confidence: object) -> float:
    """The confidence, in (0, 1).

    Raises
    ------
    InputError
        If it is no such number.
    """
    if not (is_number(confidence) and 0 < confidence < 1):
        raise InputError(f"confidence: expected a number between 0 and 1, such as 0.95, got {brief(confidence)}")
    return float(confidence)


def mean_error(values: Floats, spread: float, alpha: float) -> float:
    """By how much the mean of samples may be off on one side, but for a probability alpha.

    With m independent samples of one law in an interval of length R and their sample variance V,

        mean - E  <=  sqrt(2 V log(2/alpha) / m)  +  7 R log(2/alpha) / (3 (m - 1)).

    *Bound because* of Theorem 4 of A. Maurer, M. Pontil, "Empirical Bernstein bounds and sample variance penalization" (COLT 2009).
    Hoeffding's bound R sqrt(log(1/alpha) / (2 m)) knows the length only, and is several times as wide where V is small.

    Parameters
    ----------
    values : (m,)
        At least two.
    spread : float
        R.
    alpha : float

    >>> round(mean_error(np.zeros(1001), 1.0, 0.05), 4), mean_error(np.arange(2.0), 1.0, 0.05) > 1
    (0.0086, True)
    """
    logarithm = math.log(2.0 / alpha)
    bernstein = math.sqrt(2.0 * float(np.var(values, ddof=1)) * logarithm / values.size)
    return bernstein + 7.0 * spread * logarithm / (3.0 * (values.size - 1))


def clopper_pearson(counts: Integers, runs: Integers, alpha: float) -> tuple[Floats, Floats]:
    """Intervals that all hold together but for a probability alpha: exact ones of binomial numbers, and Bonferroni over all.

    Parameters
    ----------
    counts : array of int
        How often each happened.
    runs : array of int, of a shape that fits
        Out of how many independent runs.
    alpha : float

    Returns
    -------
    lower, upper : arrays of the shape of `counts`

    Notes
    -----
    C. Clopper, E. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial" (Biometrika 1934):
    the quantiles of Beta(k, m - k + 1) and Beta(k + 1, m - k). Each side of each interval has the probability alpha / (2 intervals).

    >>> lower, upper = clopper_pearson(np.array([0, 5, 10]), np.array(10), 0.3)
    >>> lower.round(3).tolist(), upper.round(3).tolist()
    ([0.0, 0.222, 0.741], [0.259, 0.778, 1.0])
    """
    share = alpha / (2 * counts.size)
    lower = np.where(counts > 0, betaincinv(np.maximum(counts, 1), runs - counts + 1, share), 0.0)
    upper = np.where(counts < runs, betainccinv(counts + 1, np.maximum(runs - counts, 1), share), 1.0)
    return lower, upper


LABEL = "statistical, never a proof"


@dataclass(frozen=True)
class SampledLeakage:
    """A lower confidence bound on what a release tells: of all experiments like this one, a share `confidence` has it below the truth.

    It bounds from below only: that a black box tells little cannot be learnt from samples. No certificate is made of it.

    Attributes
    ----------
    lower : float
        In `units`; 0 where the samples show nothing.
    confidence : float
    units : {"nats", "bits"}
    about : str
        What is bounded.
    record : int or None
        Which record, where there are several; the confidence is about all of them together.
    runs : int
        Samples in all.
    epsilon : float or None
        Of counts: no differential privacy with a smaller epsilon (nats) is compatible with them, with the same confidence, jointly.
    method : str
        How it was found.
    values : int or None
        Of counts: how many inputs there are, whose logarithm is all there is to know. Of data in numbers nobody knows that.
    """

    __repr__ = in_brief

    lower: float
    confidence: float
    units: str
    about: str
    record: int | None
    runs: int
    method: str
    epsilon: float | None = None
    values: int | None = None

    @property
    def statistical(self) -> bool:
        """Always: samples prove nothing."""
        return True

    @property
    def _told(self) -> str:
        possible = "" if self.values is None else f" {possible_text(self.values, self.units)}"
        return f"{text_below(self.lower, 4)} {self.units}{possible}"

    def __str__(self) -> str:
        return f"{self.about} >= {self._told} with a confidence of {100 * self.confidence:.6g} %, from {self.runs} runs ({LABEL})"

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = [
            ("at least", self._told),
            ("confidence", f"{100 * self.confidence:.6g} %"),
        ]
        return table(
            f"SampledLeakage ({LABEL})", [("about", self.about), *rows, ("runs", self.runs), ("method", self.method)]
        )


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
