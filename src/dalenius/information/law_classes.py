"""The largest mutual information over a convex class of laws: I(P;W) is concave in P, so that this is one concave maximisation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from dalenius.information.arrays import Floats
from dalenius.information.capacity import best_mixture
from dalenius.information.deadline import Deadline
from dalenius.information.divergences import relative_entropy
from dalenius.information.entropies import x_log_x
from dalenius.information.measures.numbers import Numbers, doubles, rationals
from dalenius.information.measures.prior_classes import PriorClass, alike_letters

__all__ = ["TINY", "WorstLaw", "shares_of", "worst_law"]

MOST_ROUNDS = 100
PATIENCE = 5  # rounds without halving the gap
GAP = 1e-12  # in nats, at which the search stops
UNUSED = 1e-12  # a weight at which a law is left out
TIED = 10  # digits of divergences that count as equal
TINY = 1e-300  # a floor under output laws
WEIGHT = 2**40  # the denominator of the weights of a mixture


@dataclass(frozen=True)
class WorstLaw:
    """What a search found: nothing is proved of it.

    Attributes
    ----------
    law : (inputs,)
        A law of the class, exactly.
    parts, shares : (parts, inputs), (parts,)
        Exact laws of the class of which it is the mixture, or which it is next to.
    output : (outputs,)
        A law of the outputs, close to the one that it causes, in doubles.
    divergences : (inputs,)
        D(W_x || output) in nats, in doubles.
    """

    law: Numbers
    parts: Numbers
    shares: Numbers
    output: Floats
    divergences: Floats


def worst_law(rows: Floats, priors: PriorClass, *, gap: float = GAP, clock: Deadline | None = None) -> WorstLaw:
    """A law of the class under which the output tells most about the input.

    The laws of a mixture are found one by one (fully corrective Frank and Wolfe): the class's best against the present output law, and
    then the best mixture of all, by the method of the Shannon capacity.

    Parameters
    ----------
    rows : (inputs, outputs), row-stochastic
    priors : PriorClass
        In exact numbers.
    gap : float
        In nats, at which the search stops.
    clock : Deadline, optional
        Once it has expired what was found so far is the answer.

    >>> from dalenius.information.measures import PriorFloor
    >>> found = worst_law(np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]), PriorFloor(fmpq(1, 10)))
    >>> sum(found.law), found.law[2]
    (1, 1/10)
    """
    negentropy, keys = x_log_x(rows).sum(axis=1), alike_letters(priors, len(rows))
    laws, weights = [priors.exact_law(rationals(np.zeros(len(rows))))], np.ones(1)
    best, since = np.inf, 0
    for _ in range(MOST_ROUNDS):
        prior = weights @ np.array([doubles(law) for law in laws])
        output = np.maximum(prior @ rows, TINY)
        divergences = relative_entropy(rows, output)
        law = _evened(priors.exact_law(rationals(-divergences)), keys, divergences)
        found = float((doubles(law) - prior) @ divergences)
        best, since = (found, 0) if found < 0.5 * best else (best, since + 1)
        if found <= gap or since > PATIENCE or (clock is not None and clock.expired):
            break
        laws = [*(used for used, weight in zip(laws, weights, strict=True) if weight > UNUSED), law]
        listed = np.array([doubles(law) for law in laws])
        weights = best_mixture(listed @ rows, listed @ negentropy, gap=gap / 8)
    parts, shares = np.array(laws, dtype=object), shares_of(weights)
    return WorstLaw(priors.settled(np.asarray(shares @ parts)), parts, shares, output, divergences)


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
    return np.asarray(evened)


def shares_of(weights: Floats) -> Numbers:
    """Weights as short exact numbers whose sum is 1."""
    shares = np.array([fmpq(max(round(w * WEIGHT), 0)) for w in weights.tolist()], dtype=object)
    return np.asarray(shares / shares.sum())
