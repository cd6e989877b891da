"""Listed priors, seen from one record: sums over the datasets that share its letter and their channel input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.information.arrays import Floats, Integers
from dalenius.model.queries import Query
from dalenius.model.records import Records

__all__ = ["DatasetPairs"]


@dataclass(frozen=True)
class DatasetPairs:
    """The pairs (letter of a record, channel input) that some dataset has. I(X_i; Y) depends on a prior through their masses alone.

    Attributes
    ----------
    record : int
    letters, inputs : (pairs,)
        The letter and the input of every pair, in lexicographic order.
    shape : (letters, inputs)
        How many there are.
    order : (datasets,)
        The datasets sorted by their pairs.
    starts : (pairs,)
        Where in this order the datasets of each pair begin.
    """

    record: int
    letters: Integers
    inputs: Integers
    shape: tuple[int, int]
    order: Integers
    starts: Integers

    @classmethod
    def of(cls, query: Query, records: Records, record: int) -> DatasetPairs:
        """Of the datasets of these records, whose channel inputs are the query's values.

        >>> from dalenius.model.queries import Parity
        >>> pairs = DatasetPairs.of(Parity(), Records(2, alphabet=2), 0)
        >>> pairs.table(pairs.apply(np.array([0.4, 0.3, 0.2, 0.1]))).tolist()
        [[0.4, 0.3], [0.1, 0.2]]
        """
        shape = records.alphabets[record], query.values(records).size
        place = np.ravel_multi_index((records.letters_of_datasets(record), query.index_of_dataset(records)), shape)
        order = np.argsort(place, kind="stable")
        present, starts = np.unique(place[order], return_index=True)
        letters, inputs = np.unravel_index(present, shape)
        return cls(record, letters, inputs, shape, order, starts)

    def apply(self, priors: Floats) -> Floats:
        """The masses of the pairs, (..., pairs), under priors (..., datasets)."""
        return np.add.reduceat(priors[..., self.order], self.starts, axis=-1)

    def lift(self, masses: Floats) -> Floats:
        """Priors (..., datasets) with these masses of the pairs, spread evenly: those of the largest entropy."""
        sizes = np.diff(self.starts, append=self.order.size)
        priors = np.empty((*masses.shape[:-1], self.order.size))
        priors[..., self.order] = np.repeat(masses / sizes, sizes, axis=-1)
        return priors

    def table(self, masses: Floats) -> Floats:
        """Masses of the pairs as a matrix (..., letters, inputs)."""
        full = np.zeros((*masses.shape[:-1], *self.shape))
        full[..., self.letters, self.inputs] = masses
        return full
