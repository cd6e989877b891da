"""The kinds of adversaries, each with the lines that prove what it learns; here listed priors and classes of laws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any

from .arithmetic import arb, fmpq
from .bounds import cells, exact_information
from .certificate import Lines
from .classes import CLASSES
from .counts import datasets
from .matrix import Channel
from .model import Model
from .numbers import at_most, need
from .proof import NEXT, EntropyBound, Far, Masses, ProductPriors
from .read import integer


class PriorSet(EntropyBound):
    """Listed priors: each is evaluated for each record."""

    def information(self, i: int, hint: Any) -> tuple[str, arb]:
        """The witness's number among the priors."""
        return f"prior {hint}", exact_information(self.channel, list(map(dict, self.masses(i, hint))))

    def bound(self, upper: arb) -> int:
        """No lines; a record with one letter leaks nothing."""
        need(self.lines.ahead() in NEXT, "there is a line after the witness or the priors")
        records = [self.record(i) for i, size in enumerate(self.model.alphabets) if size > 1]
        for i in records:
            taught = (self.information(i, j)[1] for j in range(len(self.model.priors)))
            self.need_priors(self.called(i), taught, upper)
        return len(records)

    def masses(self, i: int, hint: Any) -> Masses:
        """The listed prior's masses, where they are positive."""
        j = integer(hint, "the prior", 0, len(self.model.priors) - 1)
        size = self.model.alphabets[i]
        stride = prod(self.model.alphabets[i + 1 :])
        letters = (x // stride % size for x in range(len(self._inputs)))
        masses = cells(self.model.priors[j], letters, self._inputs)
        return [list(masses[a].items()) for a in range(size)]

    @cached_property
    def _inputs(self) -> list[int]:
        return datasets(self.model, self.channel.values)


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
