"""The largest conditional information I(X; Y | w(X)) over a convex class of laws of X, where the channel sees X itself.

*Why it is one concave maximisation*: I = H(Y | w) - H(Y | X), the first concave and the second linear in the law. From above, for any
output laws r_c, it is at most sum_x P(x) D(W_x || r_w(x)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import best_mixture
from dalenius.information.deadline import Deadline
from dalenius.information.divergences import relative_entropy
from dalenius.information.entropies import x_log_x
from dalenius.information.law_classes import shares_of
from dalenius.information.measures.numbers import Numbers, doubles, rationals
from dalenius.information.measures.prior_classes import PriorClass

__all__ = ["GivenChannel", "WorstGivenLaw", "best_given_mixture", "worst_given_law"]

MOST_ROUNDS = 200
PATIENCE = 20  # rounds without halving the gap
GAP = 1e-12  # in nats, at which the search stops
TINY = 1e-300  # a floor under output laws
RARE = 1e-9  # of a value: its output law is then the one that was given
ROUNDING = 1e-13  # nats: what doubles know of a gap
STEPS, SHRINK, BACK = (
    60,
    0.1,
    0.99,
)  # how much the products of weights and multipliers fall; how far a step may go to the boundary
NEAR = 1e-9  # a gap near which steps that do not lower it are rounding


@dataclass(frozen=True, eq=False)
class GivenChannel:
    """A channel from inputs, and what else is known of each.

    Attributes
    ----------
    rows : (channel inputs, outputs), row-stochastic
    inputs : (inputs,)
        The row of each input.
    given : (inputs,)
        What is known besides, numbered from 0.
    usual : (values, outputs)
        Output laws for values of what is known that hardly occur.
    """

    rows: Floats
    inputs: Integers
    given: Integers
    usual: Floats

    def outputs(self, law: Floats) -> Floats:
        """The joint law of what is known and the output."""
        size, width = len(self.usual), len(self.rows)
        masses = np.bincount(self.given * width + self.inputs, law, minlength=size * width).reshape(size, width)
        return np.asarray(masses @ self.rows)

    def output_laws(self, joint: Floats) -> Floats:
        """The law of the output for each value of what is known."""
        masses = joint.sum(axis=1, keepdims=True)
        laws = np.where(masses > RARE, joint / np.maximum(masses, TINY), self.usual)
        return np.maximum(laws / laws.sum(axis=1, keepdims=True), TINY)

    def divergences(self, laws: Floats) -> Floats:
        """D(W_x || r_given) of each input x, in nats."""
        pairs, place = np.unique(np.stack([self.given, self.inputs]), axis=1, return_inverse=True)
        found = relative_entropy(self.rows[pairs[1]], laws[pairs[0]])
        return np.asarray(np.maximum(found, 0.0)[place.reshape(-1)])


@dataclass(frozen=True)
class WorstGivenLaw:
    """What a search found: nothing is proved of it.

    Attributes
    ----------
    law : (inputs,)
        A law of the class, exactly.
    laws : (values, outputs)
        Output laws, close to those that it causes, in doubles.
    """

    law: Numbers
    laws: Floats


def worst_given_law(
    channel: GivenChannel, priors: PriorClass, *, gap: float = GAP, clock: Deadline | None = None
) -> WorstGivenLaw:
    """A law of the class under which the output tells most about the input to whom knows what is given.

    Fully corrective Frank and Wolfe, as `worst_law`.

    Parameters
    ----------
    channel : GivenChannel
    priors : PriorClass
        In exact numbers.
    gap : float
        In nats, at which the search stops.
    clock : Deadline, optional
        Once it has expired what was found so far is the answer.

    >>> from flint import fmpq
    >>> from dalenius.information.measures import PriorFloor
    >>> rows = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> twice = GivenChannel(rows, np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]), np.full((2, 2), 0.5))
    >>> found = worst_given_law(twice, PriorFloor(fmpq(1, 10)))
    >>> round(float(doubles(found.law) @ twice.divergences(found.laws)), 6)
    0.275702
    """
    negentropy = x_log_x(channel.rows).sum(axis=1)[channel.inputs]
    exact = [priors.exact_law(rationals(-channel.divergences(channel.usual)))]
    listed = [doubles(law) for law in exact]
    joints, weights = [channel.outputs(law) for law in listed], np.ones(1)
    best, since, kept = np.inf, 0, (weights, channel.usual)
    for _ in range(MOST_ROUNDS):
        laws = channel.output_laws(np.tensordot(weights, np.array(joints), axes=1))
        divergences = channel.divergences(laws)
        law = priors.exact_law(rationals(-divergences))
        found = float((doubles(law) - weights @ np.array(listed)) @ divergences)
        if found < best:
            kept = weights, laws
        best, since = (found, 0) if found < 0.5 * best else (min(best, found), since + 1)
        if found <= gap or since > PATIENCE or (clock is not None and clock.expired):
            break
        exact, listed = [*exact, law], [*listed, doubles(law)]
        joints.append(channel.outputs(listed[-1]))
        weights = best_given_mixture(np.array(joints), np.array([law @ negentropy for law in listed]), gap=gap / 8)
    mixed = shares_of(kept[0]) @ np.array(exact[: len(kept[0])], dtype=object)
    return WorstGivenLaw(priors.settled(np.asarray(mixed)), kept[1])


def best_given_mixture(joints: Floats, negentropy: Floats, *, gap: float = GAP) -> Floats:
    """The weights w that maximise H(Y | c) of the mixture of joint laws of (c, Y), plus sum_j w(j) negentropy(j).

    A concave maximisation over the simplex, by a primal-dual Newton method.

    Parameters
    ----------
    joints : (laws, values, outputs)
    negentropy : (laws,)
    gap : float
        In nats.

    >>> joints = np.array([[[0.5, 0.0], [0.3, 0.2]], [[0.0, 0.5], [0.2, 0.3]]])
    >>> best_given_mixture(joints, np.zeros(2)).round(6).tolist()
    [0.5, 0.5]
    """
    if joints.shape[1] == 1:
        return best_mixture(joints[:, 0], negentropy, gap=gap)
    size = len(joints)
    flat, masses = joints.reshape(size, -1), joints.sum(axis=2)
    w, z = np.full(size, 1.0 / size), np.full(size, 0.1 / size)  # z: the multipliers of w >= 0
    found, best = w, np.inf
    for _ in range(STEPS):
        r, m = np.maximum(w @ flat, TINY), np.maximum(w @ masses, TINY)
        gradient = negentropy - flat @ np.log(r) + masses @ np.log(m)
        gap_here = float(gradient.max() - w @ gradient)
        if gap_here >= best and best < NEAR:  # rounding has the last word
            break
        found, best = (w, gap_here) if gap_here < best else (found, best)
        if best <= max(gap, ROUNDING):
            break
        target = SHRINK * float(w @ z) / size
        curvature = (flat / r) @ flat.T - (masses / m) @ masses.T
        step = _newton(w, z, curvature, gradient + target / w)
        turn = target / w - z - z * step / w
        w = w + _reach(w, step) * step
        w, z = w / w.sum(), z + _reach(z, turn) * turn
    return np.asarray(found)


def _newton(w: Floats, z: Floats, curvature: Floats, slope: Floats) -> Floats:
    """The step of sum 0 with (curvature + diag(z/w)) step + nu = slope, in units in which all weights are of one size."""
    size = len(w)
    unit = np.sqrt(w / (w * np.diag(curvature) + z + TINY))
    system = np.zeros((size + 1, size + 1))
    system[:size, :size] = unit[:, None] * curvature * unit + np.diag(unit**2 * z / w)
    system[size, :size] = system[:size, size] = unit
    return np.asarray(unit * np.linalg.lstsq(system, np.append(unit * slope, 0.0), rcond=1e-15)[0][:size])


def _reach(x: Floats, step: Floats) -> float:
    """How far a step may go until a number would be 0, less a hundredth; at most all of it."""
    falling = step < 0.0
    return min(1.0, BACK * float((x[falling] / -step[falling]).min())) if falling.any() else 1.0
