"""Measures at the prior that a certificate shows, against brute force over the datasets."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.measures.witness import RoundedNoise, witness_of
from definitions import information


def joints(problem: dl.WorstCaseLeakage, record: int, prior: np.ndarray) -> list[np.ndarray]:
    """P(X_i, Y), then the same where the release sees letter c in place of x_i, by listing every dataset."""
    records, query = problem.records, problem.query_of_inputs
    datasets = list(itertools.product(*map(range, records.alphabets)))
    index = query.index_of_dataset(records)
    letters = records.alphabets[record]
    tables = [np.zeros((letters, problem.channel.shape[1])) for _ in range(1 + letters)]
    for x, mass in zip(datasets, prior, strict=True):
        tables[0][x[record]] += mass * problem.channel[index[datasets.index(x)]]
        for c in range(letters):
            there = datasets.index((*x[:record], c, *x[record + 1 :]))
            tables[1 + c][x[record]] += mass * problem.channel[index[there]]
    return tables


def spread(problem: dl.WorstCaseLeakage, witness) -> np.ndarray:
    """The witness as a prior on datasets: each pair's mass evenly over its datasets."""
    records, query = problem.records, problem.query_of_inputs
    datasets = list(itertools.product(*map(range, records.alphabets)))
    index = query.index_of_dataset(records)
    pairs = [(x[witness.record], int(v)) for x, v in zip(datasets, index, strict=True)]
    return np.array([float(witness.masses[a][v]) / pairs.count((a, v)) for a, v in pairs])


RELEASES = {
    "count": {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "mechanism": dl.geometric(1)},
    "threshold": {"records": dl.Records(3, alphabet=2), "query": dl.Threshold(2), "mechanism": dl.symmetric(0.1, k=2)},
    "sum of unequal alphabets": {
        "records": dl.Records(alphabets=[2, 3, 2]),
        "query": dl.Sum(),
        "mechanism": dl.geometric(1),
    },
    "table": {"records": dl.Records(2, alphabet=2), "query": dl.Table([0, 1, 1, 2]), "mechanism": dl.geometric(1)},
    "datasets": {
        "records": dl.Records(2, alphabet=2),
        "mechanism": dl.Channel([[0.7, 0.3], ["1/3", "2/3"], [0.5, 0.5], [0.2, 0.8]], inputs="dataset"),
    },
}


@each("release", *RELEASES.values())
@each("adversary", dl.EntropyAtLeast("0.5 max"), dl.EntropyAtLeast("1 max"))
def test_what_others_give_away_is_what_listing_every_dataset_says(release, adversary):
    problem = dl.WorstCaseLeakage(**release, adversary=adversary)
    result = dl.solve(problem, gap=0.2)
    witness = witness_of(problem, result.certificate)
    found = dl.measure(problem, prior=result.certificate)
    told = [found["mutual_information"]]
    told += [found[f"mutual_information_without_own_answer[{c}]"] for c in range(len(witness.masses))]
    for row, joint in zip(told, joints(problem, witness.record, spread(problem, witness)), strict=True):
        assert row.lower - 1e-12 <= information(joint) <= row.upper + 1e-12
    assert result.lower <= found["mutual_information"].upper


def test_a_listed_prior_is_taken_as_it_is():
    prior = ["1/10", "2/10", "0", "3/10", "0", "1/10", "1/10", "2/10"]
    problem = dl.WorstCaseLeakage(**RELEASES["count"], adversary=dl.FixedPrior(prior))
    certificate = dl.solve(problem).certificate
    found, record = dl.measure(problem, prior=certificate), witness_of(problem, certificate).record
    exact = joints(problem, record, np.array([float(eval(p)) for p in prior]))
    for c, joint in enumerate(exact[1:]):
        row = found[f"mutual_information_without_own_answer[{c}]"]
        assert row.lower - 1e-12 <= information(joint) <= row.upper + 1e-12


def test_independent_others_give_nothing_away():
    problem = dl.WorstCaseLeakage(**RELEASES["count"], adversary=dl.ProductPriors())
    found = dl.measure(problem, prior=dl.solve(problem).certificate, units="bits")
    assert found["mutual_information_without_own_answer[0]"].upper < 1e-300


def test_what_cannot_be_measured_is_one_clear_error():
    problem = dl.WorstCaseLeakage(**RELEASES["count"], adversary=dl.ProductPriors())
    certificate = dl.solve(problem).certificate
    other = dl.WorstCaseLeakage(**RELEASES["threshold"], adversary=dl.ProductPriors())
    support.refused(lambda: dl.measure(other, prior=certificate), "another model's")
    support.refused(lambda: dl.measure(problem, prior=certificate, law=dl.Iid([0.5, 0.5])), "measure that, without law")
    silent = dl.WorstCaseLeakage(
        **{**RELEASES["threshold"], "mechanism": dl.symmetric("1/2", k=2)}, adversary=dl.AnyPrior()
    )
    support.refused(lambda: dl.measure(silent, prior=dl.solve(silent).certificate), "shows no prior")
    local = support.problem(
        dl.Records(1, alphabet=40), dl.Identity(), dl.optimized_unary_encoding(1), dl.ProductPriors()
    )
    support.refused(lambda: dl.measure(local, prior=dl.solve(local).certificate), "closed form")


@each(
    "adversary",
    dl.PolytopePriors([["1/10", "9/10"], ["1/2", "1/2"], ["4/5", "1/5"]]),
    dl.BoxPriors(["1/10", "1/10"], ["9/10", "4/5"]),
    dl.KLBallPriors(["1/3", "2/3"], "1/50"),
    dl.ProductPriors(),
)
def test_a_prior_of_independent_records_tells_what_is_proved(adversary):
    """The witness of a class of laws is a law of the letters, or weights of vertices."""
    problem = dl.WorstCaseLeakage(**RELEASES["count"], adversary=adversary)
    result = dl.solve(problem)
    found = dl.measure(problem, prior=result.certificate, only=["mutual_information"])
    assert len(found) == 1
    assert result.lower <= found["mutual_information"].upper
    assert found["mutual_information"].lower <= result.upper


def test_only_what_is_asked_for(tmp_path):
    channel = [[0.7, 0.3], [0.4, 0.6]]
    assert [row.name for row in dl.measure(channel, prior="uniform", only=["local_dp", "bayes_advantage"])] == [
        "local_dp",
        "bayes_advantage",
    ]
    with pytest.raises(dl.errors.InputError, match=r"no measure here is named 'local_pd'.*local_dp"):
        dl.measure(channel, only=["local_pd"])


ROWS = [["0.7", "0.2", "0.1"], ["0.1", "0.5", "0.4"], ["0.3", "0.3", "0.4"]]
TOWNS = {
    "noise on a count": (dl.Count(), dl.discrete_laplace(1)),
    "a matrix, for every total": (dl.ModularSum(3), dl.Channel(ROWS)),
    "a threshold": (dl.Threshold(2), dl.symmetric(0.1, k=2)),
}


@each("query, mechanism", *TOWNS.values())
def test_of_households_it_is_what_listing_the_datasets_of_all_says(query, mechanism):
    """The own block has the witness's law; everybody else is known, with the total that the certificate names."""
    town = support.problem(
        dl.Records(5, alphabet=2),
        query,
        dl.geometric(1) if mechanism == dl.discrete_laplace(1) else mechanism,
        dl.IndependentBlocks(sizes=[2, 3]),
    )
    result = dl.solve(town, gap=1e-3)
    witness = witness_of(town, result.certificate)
    piece, start = witness.piece, witness.piece.first
    local = spread(witness.problem, replace(witness, record=witness.record - start))
    whole = dl.WorstCaseLeakage(records=town.records, query=query, mechanism=town.mechanism, adversary=dl.AnyPrior())
    prior, inside = np.zeros(2**5), range(start, start + len(piece.records))
    for x in itertools.product((0, 1), repeat=5):
        others = [bit for j, bit in enumerate(x) if j not in inside]
        if others == [1] * (piece.total or 0) + [0] * (len(others) - (piece.total or 0)):
            prior[int("".join(map(str, x)), 2)] = local[int("".join(str(x[j]) for j in inside), 2)]
    found = dl.measure(town, prior=result.certificate)
    told = [found["mutual_information"], *(found[f"mutual_information_without_own_answer[{c}]"] for c in (0, 1))]
    for row, joint in zip(told, joints(whole, witness.record, prior), strict=True):
        assert row.lower - 1e-12 <= information(joint) <= row.upper + 1e-12
    assert result.lower <= told[0].upper
    assert told[0].lower <= result.upper


# Noise that has no end: rows of probabilities once it is rounded, or clamped, and measures of the release itself, on both sides.


@each("noise", dl.gaussian(scale=3), dl.laplace("0.7"))
def test_rows_are_probabilities_and_mirror_each_other(noise):
    rounded = RoundedNoise(noise)
    matrix = rounded.channel(np.arange(3))
    assert (matrix > 0).all()
    assert abs(matrix.sum(axis=1) - 1).max() < 1e-14
    assert abs(matrix - matrix[::-1, ::-1]).max() < 1e-15


def test_a_guess_gains_what_two_densities_differ_by():
    """One bit, each value as likely, to within a grid's step: half the total variation of two Gaussian, or Laplace, densities."""
    for noise, most in (
        (dl.gaussian(scale=3), math.erf(1 / 6 / math.sqrt(2)) / 2),
        (dl.laplace(2), (1 - math.exp(-0.25)) / 2),
    ):
        told = dl.audit(noise, records=2, adversary=dl.ProductPriors())
        assert told.without_own_answer.lower == told.without_own_answer.upper == 0
        assert told.bayes_advantage.lower - 1e-12 <= most <= told.bayes_advantage.upper + 1e-12
        assert most - 5e-5 <= told.bayes_advantage.lower <= told.bayes_advantage.upper <= most + 5e-5
        average = told.at_prior["mutual_information"]
        assert average.lower <= told.leakage.upper
        assert 0.999 * told.leakage.lower <= average.lower <= average.upper <= 1.001 * told.leakage.upper
    assert told.pointwise_maximal_leakage.upper <= math.log2(2 / (1 + math.exp(-0.5))) + 1e-6


def densities(noise, values: np.ndarray) -> np.ndarray:
    """Densities (values, points), times Simpson's weights: kinks of Laplace noise are among the points; or probabilities."""
    half, scale = int(values[-1] + 40 * noise.scale), float(noise.scale)
    if noise.kind == "discrete_gaussian":
        points, weights = np.arange(-half, half + 1), 1.0
    else:
        points = np.linspace(-half, half, 2 * half * 100 + 1)
        weights = np.tile([2.0, 4.0], half * 100 + 1)[:-1]
        weights[[0, -1]] = 1.0
    far = np.abs(points - values[:, None]) / scale
    found = weights * np.exp(-far if noise.kind == "laplace" else -(far**2) / 2)
    return found / found.sum(axis=1, keepdims=True)


@each(
    "noise, adversary",
    (dl.gaussian("1/2"), dl.IndependentBlocks(3)),
    (dl.gaussian(2), dl.BoxPriors(["0.1", "0.2"], ["0.6", "0.9"])),
    (dl.laplace(2), dl.IndependentBlocks(3)),
    (dl.discrete_gaussian(scale=2), dl.IndependentBlocks(3)),
    every=2,
)
def test_measures_of_noise_without_an_end_are_of_the_release_itself(noise, adversary):
    """Against integrals; single outputs, and ratios, against their limit far out, where only the outermost value is left."""
    problem = dl.WorstCaseLeakage(
        records=dl.Records(3, alphabet=2), query=dl.Count(), mechanism=noise, adversary=adversary
    )
    certificate = dl.solve(problem).certificate
    witness = witness_of(problem, certificate)
    masses = np.array([[float(mass) for mass in row] for row in witness.masses])
    masses = masses[masses.sum(axis=1) > 0]
    values = witness.problem.query_of_inputs.values(witness.problem.records)
    prior, joint = masses.sum(axis=1), masses @ densities(noise, values)
    law = joint.sum(axis=0)
    seen = law > 1e-200
    lift = joint[:, seen] / (prior[:, None] * law[seen])
    exact = {
        "mutual_information": information(joint),
        "bayes_advantage": joint.max(axis=0).sum() - prior.max(),
        "total_variation": np.abs(joint - prior[:, None] * law).sum(),
        "chi_square": (prior[:, None] * law[seen] * lift**2).sum() - 1,
        "maximal_leakage": math.log((joint / prior[:, None]).max(axis=0).sum()),
    }
    there = masses[:, masses.sum(axis=0) > 0]
    if noise.kind == "laplace":
        at = masses @ np.exp(-np.abs(values - values[:, None]) / float(noise.scale))
        sharpest = (at / at.sum(axis=0) / prior[:, None]).max()
    else:
        sharpest = (there[:, [0, -1]] / there[:, [0, -1]].sum(axis=0) / prior[:, None]).max()
    exact["pointwise_maximal_leakage"] = math.log(sharpest)
    found = dl.measure(problem, prior=certificate, only=[*exact, "local_dp"])
    for name, value in exact.items():
        row = found[name]
        assert row.lower - 1e-9 <= value <= row.upper + 1e-9, name
        assert row.upper - row.lower < (0.02 if name == "pointwise_maximal_leakage" else 2e-4 * (1 + value)), name
    assert math.isinf(found["local_dp"].upper) is (noise.kind != "laplace")


def test_a_single_output_of_gaussian_noise_may_reveal_everything():
    """Typed by a reader: the page said 1.99 times, and an interval of 0.99184 .. 0.99185 bits, where the supremum is 1 bit."""
    told = dl.audit("gaussian scale=2", records=1000)
    assert told.pointwise_maximal_leakage.lower < told.pointwise_maximal_leakage.upper == 1
    assert "more than 2 times as likely" in " ".join(str(told).split())


def test_what_clamping_may_enlarge_is_refused():
    """Probabilities of single outputs that reveal much are not closed under post-processing."""
    noise = dl.discrete_gaussian(scale=2)
    problem = support.problem(dl.Records(2, alphabet=2), dl.Count(), noise, dl.ProductPriors())
    certificate = dl.solve(problem).certificate
    found = dl.measure(problem, prior=certificate, epsilon=["0.5"], delta=["0.01"])
    refused = {name.partition("(")[0] for name in found.refused}
    notions = "information_privacy", "strong_information_privacy", "pointwise_maximal_leakage"
    assert refused == {f"{notion}_{end}" for notion in notions for end in ("delta", "epsilon")}
    assert 0 < found["local_dp_delta(0.5)"].lower <= found["local_dp_delta(0.5)"].upper < 1
    assert 0.9 < found["local_dp_epsilon(0.01)"].lower <= found["local_dp_epsilon(0.01)"].upper < 0.93
    support.refused(lambda: dl.measure(problem, prior=certificate, outputs=True), "nothing cuts this noise off")
