"""Two rows of a mechanism as a privacy loss distribution of dp_accounting, which composes and amplifies; rounded pessimistically."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from flint import arb, ctx

from dalenius.conversions.profiles import EPSILONS, PrivacyProfile
from dalenius.errors import InputError, brief
from dalenius.evidence import exact_fraction_above
from dalenius.exact import Integer, Number, as_bounded, as_integer
from dalenius.information.balls import exactly
from dalenius.measures.subjects import inputs_of, need_size
from dalenius.model import WorstCaseLeakage
from dalenius.model.mechanisms import Mechanism

PRECISION = 128
SLACK = 1e-12  # relative: masses are taken back from their logarithms, and these subtracted, in doubles, there
LOSS = 1e-9  # relative, that another's deltas are raised by
STEP = "0.0001"

LogMasses = dict[str, float]


def to_dp_accounting(
    subject: WorstCaseLeakage | Mechanism, first: Integer, second: Integer, *, interval: Number = STEP
) -> tuple[Any, Any]:
    """Two rows of a mechanism as privacy loss distributions of Google's dp_accounting: the first against the second, and back.

    They say what tells two hypotheses apart, and nothing about correlated records: independent people only. Differential privacy needs
    both directions (take the larger delta), and all pairs of neighbours.

    Parameters
    ----------
    subject : WorstCaseLeakage or Mechanism
        An audit, whose mechanism's inputs are its query's values (or datasets); or a mechanism that knows its own inputs.
    first, second : int
        The two inputs, as numbers of rows from 0.
    interval : number
        `value_discretization_interval`: privacy losses are rounded up to its multiples.

    Returns
    -------
    pair of dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        Each by `from_two_probability_mass_functions`, with `pessimistic_estimate=True` and `symmetric=True` (one direction).

    Raises
    ------
    InputError
        If dp_accounting is not installed, or there are no such rows.

    Notes
    -----
    In each direction delta(epsilon) = sum_y max(P(y) - e^epsilon Q(y), 0) for every epsilon, with P's masses rounded up and Q's down
    (`log_masses`), so that it is an upper bound but for the few parts in 10^16 a term that dp_accounting's own sums are off.
    """
    try:
        from dp_accounting.pld import privacy_loss_distribution as losses
    except ImportError:
        raise InputError("to_dp_accounting needs dp_accounting: pip install 'dalenius[accounting]'") from None
    step = as_bounded(interval, "interval", above=0, at_most=1)

    def one(p: int, q: int) -> Any:
        upper, lower = log_masses(subject, p, q)
        return losses.from_two_probability_mass_functions(
            log_probability_mass_function_lower=lower,
            log_probability_mass_function_upper=upper,
            pessimistic_estimate=True,
            value_discretization_interval=float(step),
            symmetric=True,
        )

    p, q = as_integer(first, "first", at_least=0), as_integer(second, "second", at_least=0)
    return one(p, q), one(q, p)


def from_dp_accounting(distribution: Any, back: Any = None, *, epsilons: Iterable[Number] = EPSILONS) -> PrivacyProfile:
    """The curve of a privacy loss distribution of Google's dp_accounting, of *one pair* of neighbours: a secret of two values.

    A distribution has forgotten all but the pair that it was made of, so that the profile is about which of these two datasets it is,
    and about no others: ``letters=2`` in `convert`. Where the pair dominates all neighbours, as dp_accounting's own noise, sampled or
    composed, does, it is the curve of differential privacy: ``guarantees("differential_privacy_delta")``.

    Parameters
    ----------
    distribution, back : PrivacyLossDistribution
        Of the pair, and of the pair in the other order where that is another, as `to_dp_accounting` makes them.
    epsilons : list of Numbers
        Where the profile has points.

    Raises
    ------
    InputError
        If it is no such distribution, or an optimistic one, whose deltas are no bounds.

    Notes
    -----
    The deltas are those of dp_accounting, in doubles, and a part in 10^9 more; they are not proved.
    """
    parts = [distribution, *([] if back is None else [back])]
    losses = [getattr(part, name, None) for part in parts for name in ("_pmf_remove", "_pmf_add")]
    if not all(hasattr(part, "get_delta_for_epsilon") for part in parts):
        raise InputError(
            f"distribution: expected a PrivacyLossDistribution of dp_accounting, got {brief(distribution)}"
        )
    if any(getattr(each, "_pessimistic_estimate", True) is False for each in losses):
        raise InputError("distribution: expected a pessimistic estimate, as an optimistic one is no bound")
    read = [as_bounded(epsilon, "epsilons", at_least=0) for epsilon in epsilons]
    deltas = [max(float(part.get_delta_for_epsilon(float(epsilon))) for part in parts) for epsilon in read]
    return PrivacyProfile.of([(e, min(d * (1.0 + LOSS), 1.0)) for e, d in zip(read, deltas, strict=True)])


def log_masses(subject: WorstCaseLeakage | Mechanism, first: int, second: int) -> tuple[LogMasses, LogMasses]:
    """log P(y) rounded up of one row, log Q(y) rounded down of another; outputs without mass are left out.

    *Bound because* sum_y max(P - e^epsilon Q, 0) grows with P and falls with Q. P gets a part in 10^12 more, so that e to the rounded
    logarithm, and the privacy loss, computed in doubles, are still at least what they should be.

    >>> import dalenius as dl
    >>> upper, lower = log_masses(dl.symmetric("0.25", k=2), 0, 1)
    >>> math.exp(upper["0"]) >= 0.75, math.exp(lower["0"]) <= 0.25
    (True, True)
    """
    if isinstance(subject, WorstCaseLeakage):
        need_size(*subject.channel.shape)
        mechanism, values = subject.mechanism, subject.query_of_inputs.values(subject.records)
    elif isinstance(subject, Mechanism):
        mechanism, values = subject, inputs_of(subject)
    else:
        raise InputError(f"subject: expected an audit (WorstCaseLeakage) or a mechanism, got {brief(subject)}")
    if max(first, second) >= len(values):
        raise InputError(f"first, second: expected rows from 0 to {len(values) - 1}, got {first} and {second}")
    with ctx.workprec(PRECISION):
        channel, names = mechanism.exact_channel(values), mechanism.output_labels(values)
        upper = {name: _log(arb(entry).upper()) for name, entry in zip(names, channel[first], strict=True)}
        lower = {name: _log(arb(entry).lower(), -1) for name, entry in zip(names, channel[second], strict=True)}
    slack = {name: math.nextafter(log + SLACK, math.inf) for name, log in upper.items() if log is not None}
    return slack, {name: log for name, log in lower.items() if log is not None}


def _log(mass: arb, sign: int = 1) -> float | None:
    """A double that is at least the logarithm of a mass, or minus one that is at least minus that; None where there is no mass."""
    if not mass > 0:
        return None
    return sign * exact_fraction_above(exactly((sign * mass.log()).upper()))
