"""Proofs that are known already are used again: by a sweep, and only where they say something about the question."""

import pytest

import dalenius as dl
from dalenius.studies.curves import entropy_curve

GAP = 1e-2
SHARES = {"parity/symmetric-n2": "3/5", "modular-sum/symmetric-m3-n3": "9/10", "sum/unequal-alphabets": "2/5"}


def methods(result: dl.answers.Result) -> set[str]:
    return {proof.method for proof in result.records}


def sweep(model: str, *shares: str) -> list[dl.answers.Result]:
    return [point.result for point in entropy_curve(dl.load(model), shares, gap=GAP, time_limit=None)]


@pytest.mark.parametrize(("model", "share"), SHARES.items())
def test_a_sweep_does_not_prove_the_same_twice(model, share):
    first, second = sweep(model, share, share)
    assert "earlier" not in methods(first)
    assert methods(second) == {"earlier"}
    assert second.upper <= first.upper + 1e-12


def test_a_sweep_downward_has_nothing_to_reuse():
    """A proof for more entropy says nothing about an adversary that knows more."""
    assert all("earlier" not in methods(result) for result in sweep("parity/symmetric-n2", "4/5", "3/5"))


def test_a_known_proof_in_bits_is_not_one_in_nats():
    """Read as nats, its number is 1.44 times as large, and good enough for a gap of 0.4: it is converted, or left alone."""
    problem = dl.load("parity/symmetric-n2")
    known = dl.solve(problem, gap=1e-3, time_limit=None)
    in_nats, in_bits = (dl.solve(problem, gap=0.4, time_limit=None, known=proof) for proof in (known, known.to("bits")))
    assert methods(in_nats) == {"earlier"}
    assert in_nats.upper <= known.upper + 1e-12
    assert "earlier" not in methods(in_bits) or in_bits.upper <= known.upper * (1.0 + 1e-9)
