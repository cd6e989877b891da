"""Priors on datasets as what a leakage needs: data, no expressions."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.model import MaximalLeakage
from dalenius.programs.expressions.data import data, numbers
from dalenius.reduction import dataset_pairs

__all__ = ["letter_masses"]


def letter_masses(problem: MaximalLeakage, record: int, prior: ArrayLike) -> Floats:
    """Masses p(a,k) of (letter of a record, channel input) under a prior on datasets: what `leakage` needs.

    Parameters
    ----------
    problem : MaximalLeakage
        Its records and query (and whether channel inputs are datasets) matter, its numbers do not.
    record : int
    prior : (datasets,)
        In lexicographic order, record 0 slowest.

    Raises
    ------
    InputError
        If there is no such record, or the prior is no law on the datasets; or there are too many datasets to list.

    >>> import dalenius as dl
    >>> two = dl.MaximalLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast(0.0))
    >>> letter_masses(two, 0, [0.4, 0.3, 0.2, 0.1]).tolist()
    [[0.4, 0.3], [0.1, 0.2]]
    """
    alphabets = problem.records.alphabets
    if record not in range(len(alphabets)):
        raise InputError(f"record: expected 0 to {len(alphabets) - 1}, got {record!r}")
    pairs, masses = dataset_pairs(problem, record), numbers("prior", prior)
    data("prior", masses, pairs.order.shape, law=True)
    return pairs.table(pairs.apply(masses))
