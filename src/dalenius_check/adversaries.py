"""The kinds of adversaries, each with the lines that prove what it learns; here those that hold a class of laws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .arithmetic import arb, fmpq
from .certificate import Lines
from .channel import Channel
from .classes import CLASSES
from .model import Model
from .numbers import at_most
from .prior_set import PriorSet
from .proof import EntropyBound, Far, ProductPriors


class ClassOfLaws(ProductPriors):
    """Priors under which the records are independent, and the one that is asked about has a law p of a class.

    Bound because I(p) = sum p(a) D(row_a || output law) <= sum p(a) D(row_a || r^), which is linear in p.
    """

    size = 4

    def __init__(self, lines: Lines, model: Model, channel: Channel) -> None:
        super().__init__(lines, model, channel)
        self.held = CLASSES[model.adversary](model.held, model.allowance)

    def law(self, weights: Any, size: int) -> list[fmpq]:
        """A law of the class."""
        return self.held.law(weights, size)

    def need_law(self, listed: Sequence[tuple[int, ...]], upper: arb, far: Far, more: Any = None) -> None:
        """Refuse a law on the outputs from which the rows of these selections may diverge by more than `upper` in the mean."""
        place = [(rows, self.held.letters(len(rows))) for rows in listed]
        used = {rows[a] for rows, letters in place for a in letters}
        numbers = self.held.hint(more)
        found = far(used)
        for rows, letters in place:
            self.allowance.look()
            means = [found[rows[a]] for a in letters]
            bound = self.held.most(means, numbers) if all(x.is_finite() for x in means) else arb("nan")
            at_most(bound, upper, "the largest mean of the law's divergences <= upper")


ADVERSARIES: dict[str, type[EntropyBound]] = {
    "entropy_at_least": EntropyBound,
    "product_priors": ProductPriors,
    "prior_set": PriorSet,
    **dict.fromkeys(CLASSES, ClassOfLaws),
}
