"""Information privacy: bounds on how far the odds of an output lie from 1 where an input is known, always or but for a probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalenius.information.measures.laws import met
from dalenius.information.measures.numbers import Numbers, beyond, largest, least, log, positive_part, quotient

__all__ = [
    "exp_information_privacy",
    "information_privacy",
    "information_privacy_delta",
    "local_information_privacy",
    "local_information_privacy_delta",
    "strong_information_privacy_delta",
]


def exp_information_privacy(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """e^epsilon = max over x, y of the larger of d and 1/d, d = W(x,y) / q(y); infinite where d = 0."""
    lift = met(channel, prior).lift
    return largest(np.stack([largest(lift), quotient(np.ones_like(least(lift)), least(lift), empty=1)]))


def information_privacy(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """max |log( W(x,y) / q(y) )| in nats, over the inputs and outputs of positive probability: epsilon-information privacy.

    An output raises or lowers the odds of a value of the secret by e^epsilon at most. It is at most `local_dp`, which it implies twice
    over.

    Notes
    -----
    Source: C. Wang, W. P. Tay, "Variational and probabilistic notions of information privacy", eq. (1).

    >>> round(float(np.exp(information_privacy([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5]))), 10)
    3.0
    """
    return log(exp_information_privacy(channel, prior))


def local_information_privacy(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """e^-epsilon <= W(x,y) / q(y) <= e^epsilon for all x and y: with delta = 0 the same number as `information_privacy`."""
    return information_privacy(channel, prior)


def local_information_privacy_delta(channel: ArrayLike, prior: ArrayLike, factor: Any) -> Numbers:
    """The least delta of (epsilon, delta)-LIP: max_x of sum_y (q - e^epsilon W_x)_+ and e^-epsilon sum_y (W_x - e^epsilon q)_+.

    Parameters
    ----------
    factor : e^epsilon, at least 1

    Notes
    -----
    Source: K. Ngo, J. Ostman, A. Graell i Amat, on local mutual-information privacy; both directions are compared with one delta, the
    second is weighted by e^-epsilon.

    >>> round(float(local_information_privacy_delta(np.eye(2), [0.25, 0.75], np.exp(0.1))), 12)
    0.75
    """
    seen = met(channel, prior)
    rises = positive_part(seen.channel - factor * seen.law).sum(axis=1) / factor
    falls = positive_part(seen.law - factor * seen.channel).sum(axis=1)
    return largest(np.concatenate([rises, falls]))


def information_privacy_delta(channel: ArrayLike, prior: ArrayLike, factor: Any) -> Numbers:
    """delta = P( |log d(X,Y)| > epsilon ), d = W(x,y) / q(y): (epsilon, delta)-information privacy.

    For delta > 0 it is not convex in the channel, and not closed under post-processing; alone it implies no differential privacy
    (docs/errors-in-the-papers.md, E3-6 and E3-12).

    Parameters
    ----------
    factor : e^epsilon, at least 1

    >>> round(float(information_privacy_delta([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5], np.exp(0.5))), 12)
    0.4
    """
    seen = met(channel, prior)
    return np.asarray((seen.joint * _outside(seen.lift, factor)).sum())


def strong_information_privacy_delta(channel: ArrayLike, prior: ArrayLike, factor: Any) -> Numbers:
    """delta = P( max_x |log d(x,Y)| > epsilon ), over inputs of positive probability; d(x,y) = 0 counts as beyond every epsilon.

    (epsilon, delta) of this form implies (2 epsilon, delta / min P)-differential privacy.

    >>> round(float(strong_information_privacy_delta([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], [0.5, 0.5], np.exp(0.75))), 12)
    0.3
    """
    seen = met(channel, prior)
    return np.asarray((seen.law * largest(_outside(seen.lift, factor), axis=0)).sum())


def _outside(lift: Numbers, factor: Any) -> Numbers:
    """Whether d lies above e^epsilon or below e^-epsilon, as numbers."""
    inverse = quotient(np.ones_like(lift), lift, empty=1)
    both = np.stack([beyond(lift, factor), beyond(inverse, factor)])
    return largest(both, axis=0)
