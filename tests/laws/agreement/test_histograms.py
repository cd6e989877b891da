"""Histograms against what they are by definition: no product of block laws tells more, and a block of one mind tells as much."""

import itertools

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each

WIDE = 14  # noise beyond so many steps has a probability below 1e-6 for these epsilons
CASES = {"two cells": ([2, 2], 2, "1"), "two cells, odd blocks": ([1, 3], 2, "1"), "three cells": ([2, 1], 3, "1.5")}


def by_definition(sizes, cells, epsilon):
    """The row of every dataset, nothing merged, and the datasets."""
    n = sum(sizes)
    datasets = np.array(list(itertools.product(range(cells), repeat=n)))
    counts = np.stack([(datasets == c).sum(axis=1) for c in range(cells)], axis=1)
    noise = np.exp(-float(epsilon) * np.abs(np.arange(-WIDE, n + WIDE + 1)[None, :] - np.arange(n + 1)[:, None]))
    noise /= noise.sum(axis=1, keepdims=True)
    rows = noise[counts[:, 0]]
    for c in range(1, cells):
        rows = (rows[:, :, None] * noise[counts[:, c]][:, None, :]).reshape(len(rows), -1)
    return datasets, rows


def told(prior, letters, rows):
    joint = np.array([(prior * (letters == a)) @ rows for a in range(letters.max() + 1)])
    return float(
        (joint * np.log(np.maximum(joint, 1e-300) / (joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)))).sum()
    )


@each("name", *CASES)
def test_no_product_of_block_laws_tells_more(name):
    sizes, cells, epsilon = CASES[name]
    result = dl.solve(
        support.problem(
            dl.Records(sum(sizes), alphabet=cells),
            dl.Histogram(),
            dl.discrete_laplace(epsilon),
            dl.IndependentBlocks(sizes=sizes),
        )
    )
    datasets, rows = by_definition(sizes, cells, epsilon)
    rng, ends = np.random.default_rng(19), np.cumsum(sizes)
    for draw in range(draws(12, 2000)):
        prior = np.ones(len(datasets))
        for end, size in zip(ends, sizes, strict=True):
            law = rng.dirichlet(np.full(cells**size, (0.1, 0.5, 2.0)[draw % 3]))
            prior = prior * law[datasets[:, end - size : end] @ cells ** np.arange(size)]
        assert told(prior, datasets[:, (draw % sum(sizes))], rows) <= result.upper + 1e-4
    largest = int(np.argmax(sizes))
    own = datasets[:, ends[largest] - sizes[largest] : ends[largest]]
    others = np.delete(datasets, np.s_[ends[largest] - sizes[largest] : ends[largest]], axis=1)
    alike = ((own == own[:, :1]).all(axis=1) & (others == 0).all(axis=1)) / cells
    assert told(alike, own[:, 0], rows) == pytest.approx(result.lower, abs=1e-4)
