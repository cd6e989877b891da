"""A channel, a prior of its inputs, and what follows from both: the law of the outputs, joint laws, the channel of a secret."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dalenius.errors import InputError
from dalenius.information.measures.numbers import Numbers, as_numbers, is_exact, occurring, quotient


@dataclass(frozen=True)
class Met:
    """The inputs and the outputs of positive probability.

    Attributes
    ----------
    prior : (inputs,)
        P(x) > 0.
    channel : (inputs, outputs)
        W(x,y), row-stochastic.
    law : (outputs,)
        q(y) = sum_x P(x) W(x,y) > 0.
    """

    prior: Numbers
    channel: Numbers
    law: Numbers

    @property
    def lift(self) -> Numbers:
        """d(x,y) = W(x,y) / q(y), how many times likelier y is where the input is x: (inputs, outputs)."""
        return quotient(self.channel, self.law, empty=1)

    @property
    def joint(self) -> Numbers:
        """P(x) W(x,y): (inputs, outputs)."""
        return np.asarray(self.prior[:, None] * self.channel)


def met(channel: ArrayLike, prior: ArrayLike) -> Met:
    """What of a channel has positive probability under a prior.

    >>> met([[1.0, 0.0], [0.5, 0.5]], [1.0, 0.0]).law.tolist()
    [1.0]
    """
    rows, masses = fitting(channel, prior)
    inputs = occurring(masses)
    if not inputs.all():
        masses, rows = masses[inputs], rows[inputs]
    law = output_law(rows, masses)
    outputs = occurring(law)
    return Met(masses, rows, law) if outputs.all() else Met(masses, rows[:, outputs], law[outputs])


def fitting(channel: ArrayLike, prior: ArrayLike) -> tuple[Numbers, Numbers]:
    """Both as arrays of numbers; `InputError` unless there is one probability for each row of a matrix."""
    rows, masses = as_numbers(channel), as_numbers(prior)
    if rows.ndim != 2 or masses.shape != rows.shape[:1] or not rows.size:
        raise InputError(
            "channel, prior: expected a matrix (inputs, outputs) and one probability an input, got shapes "
            f"{rows.shape} and {masses.shape}"
        )
    return rows, masses


def output_law(channel: ArrayLike, prior: ArrayLike) -> Numbers:
    """q(y) = sum_x P(x) W(x,y) of every output.

    >>> output_law([[0.5, 0.5], [0.0, 1.0]], [0.5, 0.5]).tolist()
    [0.25, 0.75]
    """
    rows, masses = fitting(channel, prior)
    if is_exact(masses) or is_exact(rows):
        return np.asarray((masses[:, None] * rows).sum(axis=0))
    return np.asarray(masses @ rows)


def split(joint: ArrayLike) -> tuple[Numbers, Numbers]:
    """The channel p(y|s) and the prior p(s) of a joint law p(s,y), which may be given up to a factor; rows without mass are left out.

    >>> channel, prior = split([[0.25, 0.25], [0.5, 0.0]])
    >>> channel.tolist(), prior.tolist()
    ([[0.5, 0.5], [1.0, 0.0]], [0.5, 0.5])
    """
    table = as_numbers(joint)
    masses = np.asarray(table.sum(axis=1))
    there = occurring(masses)
    return table[there] / masses[there, None], masses[there] / masses.sum()


def channel_of_secret(joint: ArrayLike, channel: ArrayLike) -> tuple[Numbers, Numbers]:
    """p(y|s) and p(s) on the Markov chain S - X - Y, from the law p(s,x) of the secret and the data and the channel W(x,y).

    >>> secret, prior = channel_of_secret([[0.5, 0.0], [0.25, 0.25]], [[1.0, 0.0], [0.0, 1.0]])
    >>> secret.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    rows, prior = split(joint)
    return np.asarray(rows @ as_numbers(channel)), prior
