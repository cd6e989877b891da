"""Reference values of the catalogue that no other test has: secrets of three letters, unsanitised data, uniform binary designs."""

import math

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.information import measures as m
from dalenius.information import relative_entropy
from digits import inside

J1 = np.array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
J2 = np.array([[0.20, 0.05, 0.05], [0.05, 0.25, 0.05], [0.05, 0.05, 0.25]])
A = [[0.30, 0.15, 0.05], [0.05, 0.15, 0.30]]
B = np.diag([0.5, 0.3, 0.2]).tolist()
C = [[0.25, 0.15, 0.08, 0.02], [0.02, 0.08, 0.15, 0.25]]
ONE = {"records": dl.Records(1, alphabet=2), "query": dl.Identity()}


@each(
    "joint, values",  # 002/003, section 3.7: of each letter of the secret
    (J1, [0.1673976434, 0.1240111851]),
    (J2, [0.2798038324, 0.2865395513, 0.2865395513]),
)
def test_strong_divergence_of_each_letter(joint, values):
    channel, prior = m.split(joint)
    told = [float(relative_entropy(prior @ channel, row)) for row in channel]
    np.testing.assert_allclose(told, values, atol=5e-11)
    assert m.strong_kl(channel, prior) == pytest.approx(max(told), rel=1e-14)


def test_the_other_singular_value():
    """Section 3.11: chi-square is the sum of the squares of all but the first."""
    channel, prior = m.split(J2)
    rest = math.sqrt(m.chi_square(channel, prior) - m.maximal_correlation(channel, prior) ** 2)
    assert rest == pytest.approx(0.52380952381, abs=5e-12)


@each(
    "joint, values",  # section 3.15: what the data themselves tell
    (A, ("0.5", "0.1981216036", "0.3571428571", "0.3571428571")),
    (B, ("1.24", "1.029653014", "2", "1")),
    (C, ("0.6", "0.2533574402", "0.4344605475", "0.4344605475")),
)
def test_unsanitised(joint, values):
    found = dl.measure(np.eye(len(joint[0])), prior=joint)
    for name, value in zip(("total_variation", "mutual_information", "chi_square"), values[:3], strict=True):
        inside(found[name], value)
    rho = found["maximal_correlation"]
    assert rho.lower**2 - 5e-11 <= float(values[3]) <= rho.upper**2 + 5e-11


@each(
    "limit, value",  # section 3.15: the secret is the input, uniform and binary; Hamming distortion
    (dl.constraints.TotalVariation(0.05), 0.475),
    (dl.constraints.TotalVariation(0.2), 0.4),
    (dl.constraints.KL(0.05), 0.3432184016),
    (dl.constraints.KL(0.2), 0.1948271628),
    (dl.constraints.ChiSquare(0.05), 0.3881966011),
    (dl.constraints.ChiSquare(0.2), 0.2763932022),
    (dl.constraints.MaximalCorrelation(square_at_most=0.2), 0.2763932022),
    (dl.constraints.LocalInformationPrivacy(0.3), 0.3704091103),
    every=4,
)
def test_uniform_binary_designs(limit, value):
    found = dl.solve(dl.MinDistortion(**ONE, distortion=dl.Hamming(), constraints=[limit]), gap=1e-8)
    assert found.lower - 5e-11 <= value + 1e-8 * value
    assert value <= found.upper + 5e-11
    assert found.upper - found.lower <= 1e-7


@each("n, epsilon, value", (2, 0.3, 0.3250705962), (4, 0.5, 0.5878196823), (5, 1, 0.4563436343))
def test_pointwise_maximal_leakage_of_a_uniform_law(n, epsilon, value):
    """Section 2.16: 1 - e^epsilon / n, with Hamming distortion."""
    found = dl.solve(
        dl.MinDistortion(
            records=dl.Records(1, alphabet=n),
            query=dl.Identity(),
            distortion=dl.Hamming(),
            privacy=dl.PointwiseMaximalLeakage(epsilon),
        )
    )
    assert found.lower - 5e-11 <= value <= found.upper + 5e-11
    assert found.upper == pytest.approx(1 - math.exp(epsilon) / n, rel=1e-12)


@each("epsilon, value", (0.1, 0.8), (0.5, 0.8), (1, 0.8321205588))
def test_a_useful_guess(epsilon, value):
    """Section 2.16: the largest probability to guess right whether the letter is the last one."""
    problem = dl.MaxUtility(
        records=dl.Records(1, alphabet=3),
        query=dl.Identity(),
        law=dl.Iid([0.5, 0.3, 0.2]),
        utility=[[1, 0], [1, 0], [0, 1]],
        privacy=dl.PointwiseMaximalLeakage(epsilon),
    )
    low, high = problem.utilities(dl.solve(problem))
    assert low - 5e-11 <= value <= high + 5e-11


def test_capacities():
    """000/001, P0-2: of the rows that a class of the inputs selects, and of randomised response of a record."""
    channel = 0.05 + 0.85 * np.eye(3)
    for x in (0, 1):
        inside(dl.measure(channel[[x, 2]].round(2).tolist())["shannon_capacity"], "0.4626073734")
    inside(dl.measure(dl.randomized_response(1, k=2))["shannon_capacity"], "0.110944071672")


@each("bound, law", (0, (0.508326, 0.491674, 0)), (1, (0.461303, 0.397534, 0.141163)))
def test_the_worst_law_of_an_entropy_ball(bound, law):
    """P0-2: where the largest information is attained."""
    channel = dl.Channel([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]])
    found = dl.solve(support.problem(dl.Records(1, alphabet=3), dl.Identity(), channel, bound), gap=1e-9)
    np.testing.assert_allclose(found.witness.letter_law, law, atol=2e-5)
