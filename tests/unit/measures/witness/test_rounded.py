"""Noise on the real line, rounded: rows of probabilities, and measures just below those that have a closed form."""

import math

import numpy as np

import dalenius as dl
from campaigns import each
from dalenius.measures.witness import RoundedNoise


@each("noise", dl.gaussian(scale=3), dl.laplace("0.7"))
def test_rows_are_probabilities_and_mirror_each_other(noise):
    rounded = RoundedNoise(noise)
    matrix = rounded.channel(np.arange(3))
    assert (matrix > 0).all()
    assert abs(matrix.sum(axis=1) - 1).max() < 1e-14
    assert abs(matrix - matrix[::-1, ::-1]).max() < 1e-15
    assert matrix.shape[1] == len(rounded.output_labels(np.arange(3)))


def test_a_guess_gains_what_two_densities_differ_by():
    """One bit, each value as likely, within a grid's step: half the total variation of two Gaussians, or of two Laplace densities."""
    for noise, most in (
        (dl.gaussian(scale=3), math.erf(1 / 6 / math.sqrt(2)) / 2),
        (dl.laplace(2), (1 - math.exp(-0.25)) / 2),
    ):
        told = dl.audit(noise, records=2, adversary=dl.ProductPriors())
        assert told.without_own_answer.lower == told.without_own_answer.upper == 0
        assert most - 5e-5 <= told.bayes_advantage.lower <= told.bayes_advantage.upper <= most + 1e-12
        average = told.at_prior["mutual_information"]
        assert 0.999 * told.leakage.lower <= average.lower <= average.upper <= told.leakage.upper
        assert "rounded to a fine grid" in " ".join(str(told).split())
    assert told.pointwise_maximal_leakage.upper <= math.log2(2 / (1 + math.exp(-0.5))) + 1e-6
