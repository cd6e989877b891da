"""Releases with few outputs: how often each came on each input; and confidence bounds that hold for every number of samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainccinv, betaincinv

from dalenius.errors import InputError, brief
from dalenius.exact import Rows, as_list, is_number
from dalenius.information.arrays import Floats, Integers
from dalenius.intervals import text_above, text_below
from dalenius.model.mechanisms import Channel
from dalenius.notebook import in_brief, table
from dalenius.results import possible_text


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
    """A confidence interval for what a release reveals: of all experiments like this one, a share `confidence` has the truth in it.

    Runs with many numbers bound from below only: that such a black box reveals little cannot be learnt from samples. No certificate
    is made of it.

    Attributes
    ----------
    lower : float
        In `units`; 0 where the samples show nothing.
    upper : float or None
        Of counts, in `units`; None of data in numbers.
    confidence : float
    units : {"nats", "bits"}
    about : str
        What is bounded.
    record : int or None
        Which record, where there are several; the confidence is about all of them together.
    runs : int
        Samples in all.
    epsilon : float or None
        Of counts: no differential privacy with a smaller epsilon (nats) is compatible with them, with the same confidence, jointly;
        between any two of the inputs, which as values of a query may be several people apart.
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
    upper: float | None = None

    @property
    def statistical(self) -> bool:
        """Always: samples prove nothing."""
        return True

    @property
    def _told(self) -> str:
        possible = "" if self.values is None else f" {possible_text(self.values, self.units)}"
        above = "" if self.upper is None else f" .. {text_above(self.upper, 4)}"
        return f"{text_below(self.lower, 4)}{above} {self.units}{possible}"

    def __str__(self) -> str:
        between = ">=" if self.upper is None else "within"
        sure = f"a confidence of {100 * self.confidence:.6g} %, from {self.runs} runs"
        return f"{self.about} {between} {self._told} with {sure} ({LABEL})"

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = [
            ("at least" if self.upper is None else "within", self._told),
            ("confidence", f"{100 * self.confidence:.6g} %"),
        ]
        return table(
            f"SampledLeakage ({LABEL})", [("about", self.about), *rows, ("runs", self.runs), ("method", self.method)]
        )


MIXED = 1e-9  # of the mean in every row
ROUNDING = 1e-12  # nats, more than all sums here are off
STEPS = 200  # towards the channel of the box that reveals least
MOST = 2**20  # cells


@dataclass(frozen=True)
class CountedChannel:
    """The channels that counts leave: a box of all entries that holds the true ones together, but for 1 - `confidence`.

    Attributes
    ----------
    low, high, guess : (inputs, outputs)
        Clopper and Pearson's intervals (Bonferroni over all entries), and the shares that were seen.
    runs : int
    confidence : float

    >>> counted = CountedChannel.of([[900, 100], [200, 800]], 0.95)
    >>> 0.32 < counted.least(np.array([0.5, 0.5])) / math.log(2.0) < 0.33
    True
    """

    low: Floats
    high: Floats
    guess: Floats
    runs: int
    confidence: float

    @classmethod
    def of(cls, counts: Rows | Integers, confidence: float) -> CountedChannel:
        """From a table of counts; `InputError` if there are none, or an input was never given."""
        confidence, table = confidence_of(confidence), _counts(counts)
        runs = table.sum(axis=1, keepdims=True)
        low, high = clopper_pearson(table, runs, 1.0 - confidence)
        return cls(low, high, table / runs, int(table.sum()), confidence)

    @property
    def inputs(self) -> int:
        return len(self.guess)

    @property
    def epsilon(self) -> float:
        """The differential privacy, in nats, that no channel of the box has a smaller one than."""
        return math.log(max(float(np.max(self.low.max(axis=0) / self.high.min(axis=0))), 1.0))

    def least(self, masses: Floats) -> float:
        """A number that no channel of the box reveals less than, under this law; nats."""
        return max(least_information(masses, self.low, self.high, self.guess), 0.0)

    @property
    def dominating(self) -> Channel:
        """A channel of which every channel of the box is a processing: it reveals at least as much, to everybody, by every measure.

        An output y comes with the least probability that W(y|x) can have, and what is left over says which input x it was:
        W(.|x) = low(.|x) + (1 - sum low(.|x)) V(.|x), and V can be drawn by whoever knows x (docs/theory.md).

        >>> CountedChannel.of([[900, 100], [200, 800]], 0.95).dominating.channel(np.arange(2)).round(2).tolist()
        [[0.87, 0.08, 0.05, 0.0], [0.17, 0.77, 0.0, 0.06]]
        """
        low = (1.0 - MIXED) * self.low  # below what rounding may add
        return Channel(np.hstack([low, np.diag(1.0 - low.sum(axis=1))]))


def least_information(masses: Floats, low: Floats, high: Floats, start: Floats) -> float:
    """A number that no channel with entries between these reveals less than, under this law; nats.

    For every channel W of the box, masses m(a, x) of a letter and the input, and any conditional laws phi,

        I(letter; output)  >=  sum_{x,y} W(x,y) sum_a m(a,x) log( phi(a|y) / p(a) ),

    *bound because* the difference is a mean of divergences D(p(.|y) || phi(.|y)) (Barber and Agakov 2003). The right-hand side is
    linear in W, and its least value over the box, row by row, is found by filling the cheapest entries first. phi is the posterior of
    the channel of the box that reveals least.

    Parameters
    ----------
    masses : (inputs,) or (letters, inputs)
        The law of the input, or of a letter and the input: then it is about the letter.
    low, high, start : (inputs, outputs)
        A box around `start`, which has rows that sum to 1.
    """
    channel, best = start, -math.inf
    for step in range(STEPS):
        gains = _gains(masses, channel)
        cheapest = np.array([_fill(*row) for row in zip(gains, low, high, strict=True)])
        best = max(best, float(np.sum(cheapest * gains)))
        channel = channel + (cheapest - channel) * (
            2.0 / (step + 3.0)
        )  # Frank and Wolfe's step: information is convex in W
    return best - ROUNDING


def _gains(masses: Floats, channel: Floats) -> Floats:
    """sum_a m(a,x) log( phi(a|y) / p(a) ), with phi the posterior of a channel mixed with a little of its mean, so that none is
    infinite.
    """
    of_letters = masses.ndim == 2
    law = masses.sum(axis=1) if of_letters else masses
    told = masses @ channel / np.where(law > 0, law, 1.0)[:, None] if of_letters else channel
    mean = law @ told
    mixed = (1.0 - MIXED) * told + MIXED * mean
    logs = np.log(np.where(mean > 0, mixed, 1.0) / np.where(mean > 0, mean, 1.0))
    return masses.T @ logs if of_letters else law[:, None] * logs


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
