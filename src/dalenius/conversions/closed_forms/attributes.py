"""What is disclosed together with an attribute: another one, with less entropy."""

from __future__ import annotations

from fractions import Fraction

from flint import ctx

from dalenius.conversions.balls import above
from dalenius.errors import InputError
from dalenius.exact import Integer, Number, Numbers, as_fraction, as_integer, as_law, exact_sum
from dalenius.information.balls import ball

__all__ = ["mixture_min_entropy", "mixture_threshold"]

BITS = 160  # of the balls


def mixture_threshold(law: Numbers, value: Integer) -> Fraction:
    """The lambda above which W, U's value u with probability lambda and else U itself, has less min-entropy than U; exactly.

    Where a mechanism discloses that U = u, it also discloses W = u, and so an attribute that was easier to guess before.

    Parameters
    ----------
    law : list of Numbers
        The probabilities of U's values.
    value : int
        Which of them is u, counted from 0.

    Returns
    -------
    Fraction
        (max p_U - p_U(u)) / (1 - p_U(u)); at this very lambda the two are equal.

    Raises
    ------
    InputError
        If these are no probabilities, there is no such value, or U is always u.

    Notes
    -----
    Source: Saeidian et al., Prop. 3.6, whose proof takes some lambda near 1.

    >>> mixture_threshold([0.2, 0.5, 0.3], 0)
    Fraction(3, 8)
    """
    chances, at = _attribute(law, value)
    return (max(chances) - chances[at]) / (1 - chances[at])


def mixture_min_entropy(law: Numbers, value: Integer, mixing: Number) -> float:
    """The min-entropy of W, U's value u with probability `mixing` and else U itself, in nats, rounded down.

    Parameters
    ----------
    law, value : as in `mixture_threshold`
    mixing : Number
        lambda, from 0 to 1.

    Returns
    -------
    float
        -log max(lambda + (1 - lambda) p_U(u), (1 - lambda) max p_U).

    Raises
    ------
    InputError
        As `mixture_threshold`, and if lambda is no probability.

    Notes
    -----
    Source: Saeidian et al., Prop. 3.6.

    >>> round(mixture_min_entropy([0.2, 0.5, 0.3], 0, 0.475), 10), round(mixture_min_entropy([0.2, 0.5, 0.3], 0, 0), 10)
    (0.5447271754, 0.6931471806)
    """
    chances, at = _attribute(law, value)
    share = as_fraction(mixing, "mixing")
    if not 0 <= share <= 1:
        raise InputError(f"mixing: expected a number from 0 to 1, got {float(share):g}")
    best = max(share + (1 - share) * chances[at], (1 - share) * max(chances))
    with ctx.workprec(BITS):
        return max(0.0, -above(ball(best).log())) if best < 1 else 0.0


def _attribute(law: Numbers, value: Integer) -> tuple[tuple[Fraction, ...], int]:
    """Its law, of sum 1 exactly, and the place of a value."""
    weights = as_law(law, "law")
    total = exact_sum(weights, "law")
    at = as_integer(value, "value", at_least=0, at_most=len(weights) - 1)
    if weights[at] == total:
        raise InputError("law: expected an attribute that is not certain before anything is released")
    return tuple(weight / total for weight in weights), at
