"""Claims of privacy: proved by the checker about this very mechanism, and refused where they say too much."""

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from dalenius.measures.answer import claim
from dalenius.model.mechanisms.base import exact_rows

ROWS, PRIOR = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], ["1/3", "1/3", "1/3"]], [0.5, 0.3, 0.2]


def carried(proof: dl.Certificate) -> list[list[Fraction]]:
    rows = json.loads(proof.text.splitlines()[0])["mechanism"]
    return [[Fraction(x) / sum(map(Fraction, row)) for x in row] for row in rows]


def test_both_notions_are_proved_of_this_mechanism():
    found = dl.measure(ROWS, prior=PRIOR, claims=True)
    assert {row.name for row in found if row.claim} == {"local_dp", "pointwise_maximal_leakage"}
    for name in ("local_dp", "pointwise_maximal_leakage"):
        proof = found[name].claim
        assert proof.epsilon == found[name].exact
        assert dl.verify(proof.problem, proof.certificate).proved
        assert carried(proof.certificate) == [[Fraction(str(x)) for x in row] for row in ROWS]
    assert dl.measure(ROWS, prior=PRIOR)["local_dp"].claim is None


def test_both_notions_are_proved_under_the_worst_of_listed_priors():
    priors = dl.PriorSet([PRIOR, [0.2, 0.2, 0.6], [0, 0.5, 0.5]])
    found = dl.measure(ROWS, prior=priors, claims=True)
    alone = [dl.measure(ROWS, prior=prior)["pointwise_maximal_leakage"].upper for prior in priors.priors]
    for name in ("local_dp", "pointwise_maximal_leakage"):
        proof = found[name].claim
        assert proof.epsilon == found[name].exact
        assert dl.verify(proof.problem, proof.certificate).proved
    assert len(proof.problem.privacy.priors) == 3
    assert found["pointwise_maximal_leakage"].upper == max(alone)


def test_a_smaller_epsilon_or_another_mechanism_is_rejected():
    found = dl.measure(ROWS, prior=PRIOR, claims=True)
    for name, notion in (
        ("local_dp", dl.LocalDP("log 3.4999")),
        ("pointwise_maximal_leakage", dl.PointwiseMaximalLeakage("log 1.76", [PRIOR])),
    ):
        proof = found[name].claim
        tighter = dataclasses.replace(proof.problem, privacy=notion)
        text = proof.certificate.text
        assert not dl.verify(tighter, dl.Certificate(text)).proved
        assert not dl.verify(
            proof.problem, dl.Certificate(text.replace('["0.7","0.2","0.1"]', '["0.8","0.1","0.1"]'))
        ).proved


def test_what_is_infinite_or_irrational_has_no_claim():
    assert dl.measure(np.eye(2), claims=True)["local_dp"].claim is None
    assert dl.measure(np.eye(2), prior="uniform", claims=True)["pointwise_maximal_leakage"].claim.epsilon == "log 2"
    assert not any(row.claim for row in dl.measure(dl.randomized_response(1, k=2), claims=True))
    assert not any(row.claim for row in dl.measure(dl.load("parity/laplace-n4"), claims=True))


def test_a_prior_without_mass_on_an_input_is_proved_too():
    found = dl.measure(ROWS, prior=[0.5, 0.5, 0], claims=True)["pointwise_maximal_leakage"]
    assert dl.verify(found.claim.problem, found.claim.certificate).proved


def test_a_long_rational_is_claimed_rounded_upward():
    rows = [
        [Fraction(2**470 + 1, 3**300), 1 - Fraction(2**470 + 1, 3**300)],
        [Fraction(3**280, 5**200), 1 - Fraction(3**280, 5**200)],
    ]
    proof = claim("local_dp", exact_rows(rows), exact_rows([[Fraction(1, 2)] * 2]))
    assert dl.verify(proof.problem, proof.certificate).proved
    ratios = [x / y for x, y in zip(*rows, strict=True)]
    claimed = Fraction(proof.epsilon.removeprefix("log "))
    assert 0 < claimed - max(*ratios, *(1 / ratio for ratio in ratios)) < Fraction(1, 2**99)


def test_entries_that_cannot_be_written_are_refused_in_one_line():
    long = Fraction(2**1500 + 1, 3**1000)
    with pytest.raises(dl.errors.InputError, match="round the matrix"):
        claim("local_dp", exact_rows([[long, 1 - long], [1 - long, long]]), exact_rows([[Fraction(1, 2)] * 2]))


@pytest.mark.parametrize("name", ["local_dp", "pointwise_maximal_leakage"])
def test_the_files_are_for_anybody(name, command_line, tmp_path):
    (tmp_path / "channel.csv").write_text("prior,no,yes\n0.5,0.9,0.1\n0.5,1/3,2/3\n")
    done = command_line("measure", "channel.csv", "-o", "out", "--json")
    assert done.returncode == 0, done.stderr
    row = next(row for row in json.loads(done.stdout)["measures"] if row["name"] == name)
    assert row["claimed"] == row["exact"]
    done = command_line(row["model"], row["certificate"], program="dalenius_check")
    assert done.returncode == 0, done.stderr
    assert f"= {row['claimed']}" in done.stdout
