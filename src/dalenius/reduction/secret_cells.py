"""The cells of a secret: which channel inputs the datasets have that share its value, and the value of what is given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalenius.information import relative_entropy
from dalenius.information.arrays import Floats, Integers
from dalenius.model.problems.secret_leakage import SecretLeakage
from dalenius.model.secret import Told

LEAST = 1e-20  # a probability whose log is taken


@dataclass(frozen=True, eq=False)
class SecretCells(Told):
    """One secret of a problem, and its number there.

    >>> import dalenius as dl
    >>> problem = dl.SecretLeakage(records=dl.Records(3, alphabet=2), query=dl.Count(), mechanism=dl.geometric(0.5),
    ...     adversary=dl.AnyPrior(), secrets=dl.Secret(dl.Threshold(2), given=dl.Letters(2)))
    >>> cells_of_secrets(problem)[0].families
    [((0, 1), (2,)), ((1,), (2, 3))]
    """

    secret: int

    @cached_property
    def cells(self) -> Integers:
        """The number of each dataset's cell; cells are numbered by what is given, and then by the secret's value."""
        return np.unique(np.stack([self.given, self.of]), axis=1, return_inverse=True)[1].reshape(-1)

    @cached_property
    def given_of_cell(self) -> Integers:
        """Number of what is given in each cell."""
        found = np.zeros(int(self.cells.max()) + 1, dtype=np.int64)
        found[self.cells] = self.given
        return found

    @property
    def determined(self) -> bool:
        """True if the secret and what is given determine the channel input."""
        return all(len(cell) == 1 for family in self.families for cell in family)

    def dataset(self, given: int, cell: int, channel_input: int) -> int:
        """A dataset with this value of what is given, of this of its cells, with this channel input."""
        (values, of, inputs), first = self.triples
        own = np.unique(of[values == given])[cell]
        return int(first[np.flatnonzero((values == given) & (of == own) & (inputs == channel_input))[0]])

    @cached_property
    def _pairs(self) -> tuple[Integers, Integers, Integers]:
        """The different pairs of a cell and an input, in order, and the pair of each dataset."""
        pairs, place = np.unique(np.stack([self.cells, self.inputs]), axis=1, return_inverse=True)
        return pairs[0], pairs[1], place.reshape(-1)

    def joint(self, law: Floats, rows: Floats) -> Floats:
        """u(cell, y): the mass of each cell with each output, under a law on the datasets."""
        cells, inputs, place = self._pairs
        masses = np.bincount(place, law, minlength=len(cells))
        starts = np.flatnonzero(np.r_[True, np.diff(cells) != 0])
        return np.add.reduceat(masses[:, None] * rows[inputs], starts, axis=0)

    def information(self, law: Floats, rows: Floats) -> float:
        """I(secret; output | given) in nats, under a law on the datasets: sum over cells of m D( u/m || r_given ).

        >>> import dalenius as dl
        >>> problem = dl.SecretLeakage(records=dl.Records(3, alphabet=2), query=dl.Count(), mechanism=dl.geometric(0.5),
        ...     adversary=dl.AnyPrior(), secrets=dl.Secret(dl.Threshold(2)))
        >>> round(cells_of_secrets(problem)[0].information(np.full(8, 1 / 8), problem.channel), 12)
        0.053521887423
        """
        joint = self.joint(law, rows)
        masses = joint.sum(axis=1)
        output = output_laws(joint, self.given_of_cell)[self.given_of_cell]
        conditional = joint / np.where(masses > 0.0, masses, 1.0)[:, None]
        told = masses > 0.0
        return max(float(masses[told] @ relative_entropy(conditional[told], output[told])), 0.0)

    def slope(self, law: Floats, rows: Floats) -> Floats:
        """The derivative of `information` by each dataset's probability: sum_y W_x(y) log( K(y) / r(y) ), K the law of its cell."""
        joint = self.joint(law, rows)
        masses = joint.sum(axis=1, keepdims=True)
        known = output_laws(joint, self.given_of_cell)[self.given_of_cell]
        own = np.where(masses > 0.0, joint / np.where(masses > 0.0, masses, 1.0), known)
        ratios = np.log(np.maximum(own, LEAST)) - np.log(np.maximum(known, LEAST))
        cells, inputs, place = self._pairs
        return np.einsum("ky,ky->k", rows[inputs], ratios[cells])[place]


def output_laws(joint: Floats, given_of_cell: Integers) -> Floats:
    """The law of the outputs for each value of what is given; uniform where that has no mass."""
    starts = np.flatnonzero(np.r_[True, np.diff(given_of_cell) != 0])
    sums = np.add.reduceat(joint, starts, axis=0)
    masses = sums.sum(axis=1, keepdims=True)
    return np.where(masses > 0.0, sums / np.where(masses > 0.0, masses, 1.0), 1.0 / joint.shape[1])


def cells_of_secrets(problem: SecretLeakage) -> list[SecretCells]:
    """The cells of each secret of a problem."""
    inputs = problem.query_of_inputs.index_of_dataset(problem.records)
    pairs = (secret.values(problem.records) for secret in problem.secrets)
    return [SecretCells(of, given, inputs, s) for s, (of, given) in enumerate(pairs)]
