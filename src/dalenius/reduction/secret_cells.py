"""The cells of a secret: which channel inputs the datasets have that share its value, and the value of what is given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalenius.information.arrays import Floats, Integers
from dalenius.model.secret_leakage import SecretLeakage

__all__ = ["Family", "SecretCells", "secret_cells"]

Family = tuple[tuple[int, ...], ...]  # the channel inputs of each cell with one value of what is given, each ascending


@dataclass(frozen=True)
class SecretCells:
    """One secret of a problem, dataset by dataset, in lexicographic order of the datasets.

    Attributes
    ----------
    secret : int
        Its number.
    of, given : (datasets,)
        The numbers of its value, and of the value of what is given.
    inputs : (datasets,)
        The channel input.
    """

    secret: int
    of: Integers
    given: Integers
    inputs: Integers

    @cached_property
    def _triples(self) -> tuple[Integers, Integers]:
        """The different (given, of, input), ascending, and the first dataset of each."""
        triples, first = np.unique(np.stack([self.given, self.of, self.inputs]), axis=1, return_index=True)
        return triples, first

    @cached_property
    def cells(self) -> Integers:
        """The number of each dataset's cell; cells are numbered by what is given, and then by the secret's value."""
        return np.asarray(np.unique(np.stack([self.given, self.of]), axis=1, return_inverse=True)[1].reshape(-1))

    @cached_property
    def given_of_cell(self) -> Integers:
        """What is given in each cell."""
        found = np.zeros(int(self.cells.max()) + 1, dtype=np.int64)
        found[self.cells] = self.given
        return found

    @cached_property
    def families(self) -> list[Family]:
        """For each value of what is given the inputs of its cells, in the order of the secret's values.

        >>> import dalenius as dl
        >>> problem = dl.SecretLeakage(records=dl.Records(3, alphabet=2), query=dl.Count(), mechanism=dl.geometric(0.5),
        ...     adversary=dl.AnyPrior(), secrets=dl.Secret(dl.Threshold(2), given=dl.Letters(2)))
        >>> secret_cells(problem)[0].families
        [((0, 1), (2,)), ((1,), (2, 3))]
        """
        (given, of, inputs), _ = self._triples
        starts = np.flatnonzero(np.r_[True, (np.diff(given) != 0) | (np.diff(of) != 0)])
        found: list[list[tuple[int, ...]]] = [[] for _ in range(int(given[-1]) + 1)]
        for start, cell in zip(starts.tolist(), np.split(inputs, starts[1:]), strict=True):
            found[given[start]].append(tuple(cell.tolist()))
        return [tuple(family) for family in found]

    @property
    def determined(self) -> bool:
        """Whether the secret and what is given determine the channel input."""
        return all(len(cell) == 1 for family in self.families for cell in family)

    def dataset(self, given: int, cell: int, channel_input: int) -> int:
        """A dataset with this value of what is given, of this of its cells, with this channel input."""
        (values, of, inputs), first = self._triples
        own = np.unique(of[values == given])[cell]
        return int(first[np.flatnonzero((values == given) & (of == own) & (inputs == channel_input))[0]])

    def joint(self, law: Floats, rows: Floats) -> Floats:
        """u(cell, y): the masses of the cells with each output, under laws on the datasets, (..., datasets)."""
        size = int(self.cells.max()) + 1
        pairs, place = np.unique(np.stack([self.cells, self.inputs]), axis=1, return_inverse=True)
        masses = np.zeros((*law.shape[:-1], pairs.shape[1]))
        np.add.at(masses, (..., place.reshape(-1)), law)
        joint = np.zeros((*law.shape[:-1], size, rows.shape[1]))
        np.add.at(joint, (..., pairs[0], slice(None)), masses[..., None] * rows[pairs[1]])
        return joint


def secret_cells(problem: SecretLeakage) -> list[SecretCells]:
    """The cells of each secret of a problem."""
    inputs = problem.query_of_inputs.index_of_dataset(problem.records)
    pairs = (secret.values(problem.records) for secret in problem.secrets)
    return [SecretCells(s, of, given, inputs) for s, (of, given) in enumerate(pairs)]
