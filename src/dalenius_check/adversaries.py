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
from .proof import EntropyBound, PriorSet, ProductPriors
from .tree import output_law


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

    def need_law(self, listed: Sequence[tuple[int, ...]], upper: arb, hint: Any, more: Any = None) -> None:
        """Refuse a law on the outputs from which the rows of these selections may diverge by more than `upper` in the mean."""
        place = [(rows, self.held.letters(len(rows))) for rows in listed]
        used, numbers = {rows[a] for rows, letters in place for a in letters}, self.held.hint(more)
        far = self.channel.divergences(output_law(hint, self.channel, used), used)
        for rows, letters in place:
            self.allowance.look()
            means = [far[rows[a]] for a in letters]
            bound = self.held.most(means, numbers) if all(x.is_finite() for x in means) else arb("nan")
            at_most(bound, upper, "the largest mean of the law's divergences <= upper")


ADVERSARIES: dict[str, type[EntropyBound]] = {
    "entropy_at_least": EntropyBound,
    "product_priors": ProductPriors,
    "prior_set": PriorSet,
    **dict.fromkeys(CLASSES, ClassOfLaws),
}
