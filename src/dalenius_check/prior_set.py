"""Adversaries that hold listed priors."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from math import prod
from typing import Any

from .arithmetic import arb, fmpq
from .bounds import exact_information
from .counts import datasets
from .numbers import at_most, need
from .proof import NEXT, EntropyBound, Masses
from .read import integer


class PriorSet(EntropyBound):
    """Listed priors: each is evaluated for each record."""

    def information(self, i: int, hint: Any) -> tuple[str, arb]:
        """The witness's number among the priors."""
        return f"prior {hint}", exact_information(self.channel, list(map(dict, self.masses(i, hint))))

    def bound(self, upper: arb) -> None:
        """No lines; a record with one letter leaks nothing."""
        need(self.lines.ahead() in NEXT, "there is a line after the witness or the priors")
        for i in (self.record(i) for i, size in enumerate(self.model.alphabets) if size > 1):
            for j in range(len(self.model.priors)):
                self.allowance.look()
                at_most(self.information(i, j)[1], upper, f"what prior {j} teaches about record {i} <= upper")
                self.tally["prior"] += 1

    def masses(self, i: int, hint: Any) -> Masses:
        """The listed prior's masses, where they are positive."""
        j = integer(hint, "the prior", 0, len(self.model.priors) - 1)
        size = self.model.alphabets[i]
        stride = prod(self.model.alphabets[i + 1 :])
        masses: list[dict[int, fmpq]] = [defaultdict(fmpq) for _ in range(size)]
        for x, mass in enumerate(self.model.priors[j]):
            if mass:
                masses[x // stride % size][self._inputs[x]] += mass
        return [list(row.items()) for row in masses]

    @cached_property
    def _inputs(self) -> list[int]:
        return datasets(self.model, self.channel.values)
