"""Confidence bounds that hold for every number of samples, and the answer that samples give: a number, never a proof."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainccinv, betaincinv

from dalenius.errors import InputError, brief
from dalenius.exact import is_number
from dalenius.information.arrays import Floats, Integers
from dalenius.intervals import text_below
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
