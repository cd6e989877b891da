"""Laws of the whole dataset, as the witnesses of secrets have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .allowance import PAIR
from .arithmetic import arb, fmpq
from .classes import Polytope
from .model import Model
from .numbers import at_most, grouped, height, need, normalised, xlogx
from .read import entries, integer, nonnegative

if TYPE_CHECKING:
    from .informed import Informed

Law = list[fmpq]


def dataset_law(asked: Informed, s: int, hint: Any) -> Law:
    """A law of the adversary's on the datasets, for secret s."""
    model, size = asked.model, len(asked.inputs)
    products = model.adversary == "product_priors"
    if model.adversary == "prior_set":
        return model.priors[integer(hint, "the prior", 0, len(model.priors) - 1)]
    if isinstance(asked.held, Polytope):
        return asked.held.law(hint, size)
    if products and isinstance(hint, list) and hint[:1] == ["product"]:
        return _product(model, entries(hint, "the law", 2)[1])
    weights, last = [fmpq(0)] * size, -1
    for pair in entries(hint, "the law"):
        x, weight = entries(pair, "a dataset and its weight", 2)
        last = integer(x, "a dataset, in ascending order,", last + 1, size - 1)
        weights[last] = nonnegative(weight, "a weight")
    law = normalised(weights, "the law", model.allowance)
    if asked.held:
        asked.held.need_member(law)
    elif products:
        given = {c for c, p in zip(asked.secrets[s].given, law, strict=True) if p}
        known = asked.told.others_known(s) and len(given) == 1
        need(known, "a law of product_priors must be a product, or given be all records but one, with one value")
    elif model.entropy != 0 and any(p != law[0] for p in law):  # else it is that of the uniform law
        entropy = -sum((times * xlogx(arb(p)) for p, times in grouped(law) if p), arb(0))
        at_most(model.entropy_ball(), entropy, "entropy bound <= witness's entropy")
    return law


def _product(model: Model, hint: Any) -> Law:
    """That of independent records, each with a weight for each of its letters."""
    found, allowance = [fmpq(1)], model.allowance
    for size, own in zip(model.alphabets, entries(hint, "the records", len(model.alphabets)), strict=True):
        weights = [nonnegative(x, "a weight") for x in entries(own, "a record's weights", size)]
        law = normalised(weights, "a record's law", allowance)
        bits = max(map(height, found)) + max(map(height, law))
        allowance.room(len(found) * size * (PAIR + bits / 4))
        allowance.look()
        found = [p * q for p in found for q in law]
    return found
