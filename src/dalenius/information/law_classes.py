"""The largest information over a convex class of laws, perhaps beside what is given: one concave maximisation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq

from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import best_mixture
from dalenius.information.deadline import Deadline
from dalenius.information.entropies import relative_entropy, x_log_x
from dalenius.information.measures import PriorClass
from dalenius.information.measures.numbers import Numbers, doubles, rationals

MOST_ROUNDS = 200
PATIENCE, GIVEN_PATIENCE = 5, 20  # rounds without halving the gap; where something is given it falls less evenly
GAP = 1e-12  # in nats, at which the search stops
UNUSED = 1e-12  # a weight at which a law is left out
TIED = 10  # digits of divergences that count as equal
TINY = 1e-300  # a floor under output laws
WEIGHT = 2**40  # the denominator of the weights of a mixture
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
    """A channel from inputs that sees the inputs themselves, and what else is known of each.

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

    @classmethod
    def plain(cls, rows: Floats) -> GivenChannel:
        """Of which nothing else is known: a row each input."""
        return cls(rows, np.arange(len(rows)), np.zeros(len(rows), dtype=np.int64), rows.mean(axis=0, keepdims=True))

    def outputs(self, law: Floats) -> Floats:
        """The joint law of what is known and the output."""
        size, width = len(self.usual), len(self.rows)
        masses = np.bincount(self.given * width + self.inputs, law, minlength=size * width).reshape(size, width)
        return masses @ self.rows

    def output_laws(self, joint: Floats) -> Floats:
        """The law of the output for each value of what is known."""
        masses = joint.sum(axis=1, keepdims=True)
        laws = np.where(masses > RARE, joint / np.maximum(masses, TINY), self.usual)
        return np.maximum(laws / laws.sum(axis=1, keepdims=True), TINY)

    @cached_property
    def _pairs(self) -> tuple[Integers, Integers]:
        pairs, place = np.unique(np.stack([self.given, self.inputs]), axis=1, return_inverse=True)
        return pairs, place.reshape(-1)

    def divergences(self, laws: Floats) -> Floats:
        """D(W_x || r_given) of each input x, in nats."""
        (given, inputs), place = self._pairs
        return np.maximum(relative_entropy(self.rows[inputs], np.maximum(laws[given], TINY)), 0.0)[place]


@dataclass(frozen=True)
class WorstLaw:
    """Result of a search: nothing is proved of it.

    Attributes
    ----------
    law : (inputs,)
        A law of the class, exactly.
    parts, shares : (parts, inputs), (parts,)
        Exact laws of the class of which it is the mixture, or which it is next to.
    outputs : (values, outputs)
        For each value of what is given a law of the outputs, close to the one that it causes, in doubles.
    """

    law: Numbers
    parts: Numbers
    shares: Numbers
    outputs: Floats


def worst_law(
    channel: GivenChannel, priors: PriorClass, *, gap: float = GAP, clock: Deadline | None = None
) -> WorstLaw:
    """A law of the class under which the output reveals most about the input to whom knows what is given.

    I(X; Y | w(X)) = H(Y | w) - H(Y | X) is concave in the law, the first term concave and the second linear. The laws of a mixture are
    found one by one (fully corrective Frank and Wolfe): the class's best against the present output laws, and then the best mixture of
    all, by the method of the Shannon capacity where nothing is given.

    Parameters
    ----------
    channel : GivenChannel
    priors : PriorClass
        In exact numbers.
    gap : float
        In nats, at which the search stops.
    clock : Deadline, optional
        Once it has expired what was found so far is the answer.

    >>> from dalenius.information.measures import PriorFloor
    >>> rows = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    >>> found = worst_law(GivenChannel.plain(rows), PriorFloor(fmpq(1, 10)))
    >>> sum(found.law), found.law[2]
    (1, 1/10)
    >>> twice = GivenChannel(rows[:2], np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]), np.full((2, 2), 0.5))
    >>> found = worst_law(twice, PriorFloor(fmpq(1, 10)))
    >>> round(float(doubles(found.law) @ twice.divergences(found.outputs)), 6)
    0.275702
    """
    negentropy, keys = x_log_x(channel.rows).sum(axis=1)[channel.inputs], priors.alike(len(channel.inputs))
    patience = PATIENCE if len(channel.usual) == 1 else GIVEN_PATIENCE
    laws = [priors.exact_law(rationals(-channel.divergences(channel.usual)))]
    listed, weights = [doubles(laws[0])], np.ones(1)
    joints, best, since, kept = [channel.outputs(listed[0])], np.inf, 0, (laws, weights, channel.usual)
    for _ in range(MOST_ROUNDS):
        outputs = channel.output_laws(np.tensordot(weights, np.array(joints), axes=1))
        divergences = channel.divergences(outputs)
        law = _evened(priors.exact_law(rationals(-divergences)), keys, divergences)
        found = float((doubles(law) - weights @ np.array(listed)) @ divergences)
        kept = (laws, weights, outputs) if found < best else kept
        best, since = (found, 0) if found < 0.5 * best else (min(best, found), since + 1)
        if found <= gap or since > patience or (clock is not None and clock.expired):
            break
        used = np.flatnonzero(weights > UNUSED).tolist()
        laws, listed = [*(laws[j] for j in used), law], [*(listed[j] for j in used), doubles(law)]
        joints = [*(joints[j] for j in used), channel.outputs(listed[-1])]
        weights = best_given_mixture(np.array(joints), np.array(listed) @ negentropy, gap=gap / 8)
    parts, shares = np.array(kept[0], dtype=object), shares_of(kept[1])
    return WorstLaw(priors.settled(shares @ parts), parts, shares, kept[2])


def _evened(law: Numbers, keys: Sequence[Hashable], divergences: Floats) -> Numbers:
    """The mean over exchanges of letters that the class treats alike, of equal divergence: many vertices at once.

    *In the class because* exchanges of such letters leave it as it is.
    """
    if len(set(keys)) == len(keys):
        return law
    groups: dict[Hashable, list[int]] = {}
    for letter, alike in enumerate(zip(keys, divergences.round(TIED).tolist(), strict=True)):
        groups.setdefault(alike, []).append(letter)
    evened = law.copy()
    for letters in groups.values():
        evened[letters] = law[letters].sum() * fmpq(1, len(letters))
    return evened


def shares_of(weights: Floats) -> Numbers:
    """Weights as short exact numbers whose sum is 1."""
    shares = np.array([fmpq(max(round(w * WEIGHT), 0)) for w in weights.tolist()], dtype=object)
    return shares / shares.sum()


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
    return found


def _newton(w: Floats, z: Floats, curvature: Floats, slope: Floats) -> Floats:
    """The step of sum 0 with (curvature + diag(z/w)) step + nu = slope, in units in which all weights are of one size."""
    size = len(w)
    unit = np.sqrt(w / (w * np.diag(curvature) + z + TINY))
    system = np.zeros((size + 1, size + 1))
    system[:size, :size] = unit[:, None] * curvature * unit + np.diag(unit**2 * z / w)
    system[size, :size] = system[:size, size] = unit
    return unit * np.linalg.lstsq(system, np.append(unit * slope, 0.0), rcond=1e-15)[0][:size]


def _reach(x: Floats, step: Floats) -> float:
    """Longest step until a number would be 0, less a hundredth; at most all of it."""
    falling = step < 0.0
    return min(1.0, BACK * float((x[falling] / -step[falling]).min())) if falling.any() else 1.0
