"""The exponential mechanism with its outputs beyond some values merged: the whole one's columns summed, in doubles and in balls."""

from fractions import Fraction

import numpy as np

import dalenius as dl
from campaigns import each
from dalenius.information.measures.numbers import doubles
from dalenius.model.mechanisms.exponential_mechanism import MergedExponential


@each("epsilon, values, span", ("1", [0, 1, 2], (-4, 9)), ("1/3", [2, 5], (2, 40)), (0, [1, 3], (0, 7)))
def test_merged_outputs_are_sums_of_columns(epsilon, values, span):
    values = np.array(values)
    whole = dl.exponential(epsilon, range=span).channel(values)
    outputs = np.clip(np.arange(span[0], span[1] + 1), values[0], values[-1]) - values[0]
    summed = np.stack([whole[:, outputs == y].sum(axis=1) for y in range(values[-1] - values[0] + 1)], axis=1)
    merged = MergedExponential(Fraction(epsilon) / 2, span)
    assert np.allclose(merged.channel(values), summed, rtol=1e-13, atol=0)
    assert np.allclose(doubles(np.asarray(merged.exact_channel(values))), summed, rtol=1e-13, atol=0)
