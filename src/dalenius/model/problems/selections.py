"""The selections of a secret: an input for each of its values, which laws of the data may sit on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from dalenius.errors import InputError
from dalenius.information.arrays import Integers

MOST = 2048  # selections of one secret, each with a law of its own in the programs
MOST_LISTED = 2**18  # that are looked at to find these
Family = tuple[tuple[int, ...], ...]  # the channel inputs of each cell with one value of what is given, each ascending
Selection = tuple[int, tuple[tuple[int, int], ...]]  # what is given, and values of the secret with their inputs


@dataclass(frozen=True, eq=False)
class Told:
    """One secret, dataset by dataset: the numbers of its value and of the value of what is given, and the channel input."""

    of: Integers
    given: Integers
    inputs: Integers

    @cached_property
    def families(self) -> list[Family]:
        """For each value of what is given the inputs of its cells, in the order of the secret's values."""
        return families(np.unique(np.stack([self.given, self.of, self.inputs]), axis=1))

    @cached_property
    def selections(self) -> list[Selection]:
        """Of each set of inputs that is in no other one.

        Raises
        ------
        InputError
            If there are more than 2,048 of them.
        """
        found, seen, listed = dict[frozenset[int], Selection](), set[Family](), 0
        for given, family in enumerate(self.families):
            if tuple(sorted(family)) in seen:
                continue
            seen.add(tuple(sorted(family)))
            listed += prod(map(len, family))
            values = np.unique(self.of[self.given == given]).tolist() if listed <= MOST_LISTED else []
            for chosen in product(*family) if listed <= MOST_LISTED else ():
                first = {k: a for a, k in zip(reversed(values), reversed(chosen), strict=True)}
                found.setdefault(frozenset(first), (given, tuple(sorted((a, k) for k, a in first.items()))))
        sets = [each for each in found if len(each) > 1]
        mixed = len({len(each) for each in sets}) > 1 and len(sets) <= 4 * MOST
        largest = [each for each in sets if not any(each < other for other in sets)] if mixed else sets
        if listed > MOST_LISTED or len(largest) > MOST:
            raise InputError(
                f"the secret's values can be had from {max(listed, len(largest))} selections of inputs, and at most {MOST} are worked "
                "with; limit a coarser secret, or what is told of the query's value (dl.constraints.LeakageLimit)"
            )
        return [found[each] for each in largest]


def families(triples: Integers) -> list[Family]:
    """Of the different (given, of, input), ascending."""
    given, of, inputs = triples
    starts = np.flatnonzero(np.r_[True, (np.diff(given) != 0) | (np.diff(of) != 0)])
    found: list[list[tuple[int, ...]]] = [[] for _ in range(int(given[-1]) + 1)]
    for start, cell in zip(starts.tolist(), np.split(inputs, starts[1:]), strict=True):
        found[given[start]].append(tuple(cell.tolist()))
    return [tuple(family) for family in found]
