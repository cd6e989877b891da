"""A search that lies, in either direction, still ends in a proved interval: the checker has the last word."""

import math
from fractions import Fraction

import pytest

import dalenius as dl
import support
from dalenius.audits import EntropyAudit
from dalenius.designs.linear.proposer import LinearDesign
from dalenius.designs.oracle import ClassOracle
from dalenius.evidence.upper import JointLeaf, RowLeaf, Split

EXACT = 0.0795415058653


@pytest.fixture
def problem():
    return support.problem(dl.Records(4, alphabet=2), dl.Parity(), dl.laplace_threshold(1.0), 1.0)


@pytest.mark.parametrize("factor", [0.5, 0.999999, 2.0])
def test_a_wrong_upper_bound_is_never_returned(problem, monkeypatch, factor):
    honest = EntropyAudit.run

    def lie(self):
        honest(self)
        for record in self.records:
            record.upper *= factor
            record.quick = record.upper, record.quick[1]

    monkeypatch.setattr(EntropyAudit, "run", lie)
    if factor < 1.0:
        with pytest.warns(dl.errors.ProofRefusedWarning, match="upper end"):
            result = dl.solve(problem)
        wide = {0.5: dl.answers.Termination.PROOF_REFUSED, 0.999999: dl.answers.Termination.GAP_REACHED}[factor]
        assert result.termination is wide
        assert {refusal.end for refusal in result.refusals if not refusal.rounding} == {"upper"}
        assert all(refusal.reason.startswith("rejected: certificate line") for refusal in result.refusals)
        assert result.lower >= EXACT - 1e-9  # each end retreats on its own
    else:
        result = dl.solve(problem)
        assert result.refusals == ()
    assert result.lower <= EXACT <= result.upper
    assert dl.verify(problem, result.certificate).proved


def test_an_infeasible_witness_is_never_returned(problem, monkeypatch):
    from dalenius.audits.record_audit import RecordAudit

    def point_masses(self, slack):
        p = self.channel.uniform * 0.0
        p[0, 0] = p[1, 1] = 0.5
        return p, math.log(2.0)

    monkeypatch.setattr(RecordAudit, "witness", point_masses)
    with pytest.warns(dl.errors.ProofRefusedWarning, match="lower end"):
        result = dl.solve(problem)
    assert (result.lower, result.termination) == (0.0, dl.answers.Termination.PROOF_REFUSED)
    assert {refusal.end for refusal in result.refusals if not refusal.rounding} == {"lower"}
    assert EXACT <= result.upper <= EXACT + 1e-6  # each end retreats on its own
    assert dl.verify(problem, result.certificate).proved


NONSENSE = {
    "an output law of two weights, the wrong way round": (JointLeaf("1", "0", None, ("1", "1e-9")),),
    "a multiplier without row trees": (JointLeaf("1", "1e-3", None, ("1", "1")),),
    "slopes that undo each other": (JointLeaf("0", "1e-3", (("1", "-1"), ("-1", "1")), None),),
    "a share above one": (JointLeaf("2", "0", None, ("1", "1")),),
    "a split that leads nowhere": (Split(0, 0, "0.5"), JointLeaf("0", "0", None, None)),
    "a leaf that belongs below another one": (RowLeaf(("1", "1")),),
    "nothing": (),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_hints_are_never_believed(problem, monkeypatch, name):
    """They prove too little or cannot be read; either way only what needs no search is claimed."""
    honest = EntropyAudit.run

    def lie(self):
        honest(self)
        for record in self.records:
            record.proof = NONSENSE[name]
            record.quick = record.upper, NONSENSE[name]

    monkeypatch.setattr(EntropyAudit, "run", lie)
    with pytest.warns(dl.errors.ProofRefusedWarning, match="upper end"):
        result = dl.solve(problem)
    assert result.termination is dl.answers.Termination.PROOF_REFUSED
    assert EXACT - 1e-9 <= result.lower <= EXACT
    assert math.log(2.0) <= result.upper <= math.log(2.0) + 1e-9
    assert dl.verify(problem, result.certificate).proved


def test_a_model_beyond_the_checkers_limits_is_one_clear_error():
    problem = support.problem(dl.Records(21000, alphabet=2), dl.Threshold(10500), dl.symmetric(0.1, k=2), "0.5 max")
    with pytest.raises(dl.errors.DaleniusError, match=r"nothing can be proved about this model: .*limit"):
        dl.solve(problem)


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_a_linear_design_that_lies(monkeypatch, end):
    """Four letters at e^epsilon = 3: randomised response is wrong half the time, and nothing private is wrong less."""
    problem = dl.MinDistortion(
        records=dl.Records(1, alphabet=4), query=dl.Identity(), distortion=dl.Hamming(), privacy=dl.LocalDP("log 3")
    )
    honest = LinearDesign.run

    def lie(self):
        honest(self)
        if end == "lower":
            self.lower = self.upper = Fraction(3, 5)
        else:
            self.upper = self.lower = Fraction(2, 5)

    monkeypatch.setattr(LinearDesign, "run", lie)
    with pytest.warns(dl.errors.ProofRefusedWarning):
        result = dl.solve(problem)
    assert result.termination is dl.answers.Termination.PROOF_REFUSED
    assert end in {refusal.end for refusal in result.refusals if not refusal.rounding}
    assert result.lower <= 0.5 <= result.upper
    assert float(result.distortion) <= result.upper
    assert dl.verify(problem, result.certificate).proved


def test_what_the_oracle_overlooks_the_audits_find(monkeypatch):
    """Of a design against a class of laws: the master program learns it from them, and mixtures hardly lose what they need not."""
    honest = ClassOracle.worst_priors
    monkeypatch.setattr(
        ClassOracle, "worst_priors", lambda oracle, Q, known, clock, starts=0: honest(oracle, Q, known, clock, 1)[:1]
    )
    rare = dl.PolytopePriors(
        [["1/765", "1/765", "763/765"], ["2/11", "3/11", "6/11"], ["2/7", "0", "5/7"], ["0", "1", "0"]]
    )
    problem = support.design(
        dl.MinDistortion,
        dl.Records(2, alphabet=3),
        dl.ModularSum(4),
        dl.Absolute(outputs=["1", "2", "4", "9/2"]),
        0.5,
        rare,
        mechanism="full",
    )
    result = dl.solve(problem, gap=1e-3, time_limit=20.0)
    assert result.termination is dl.answers.Termination.GAP_REACHED
