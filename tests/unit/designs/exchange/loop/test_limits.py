"""Designs that run out of time, are interrupted, or are lied to: the interval stays proved, and the mechanism meets its budget."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each, thinned
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.designs import oracle as oracles
from dalenius.designs.exchange.loop import Rounds
from dalenius.designs.oracle import EntropyOracle, Prior

HARD = {"records": dl.Records(8, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
EASY = {"records": dl.Records(2, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
MAKERS = {
    "leakage": lambda share="0.7 max", **p: dl.MinLeakage(
        max_distortion=0.3, adversary=dl.EntropyAtLeast(share, "nats"), **p
    ),
    "distortion": lambda share="0.7 max", **p: dl.MinDistortion(
        max_leakage="0.1 nats", adversary=dl.EntropyAtLeast(share, "nats"), **p
    ),
}
both = pytest.mark.parametrize(
    "make", thinned(MAKERS.values(), every=2), ids={make: name for name, make in MAKERS.items()}.get
)


@pytest.mark.thorough
@both
def test_a_problem_that_is_large_for_its_time(make):
    problem = make(records=dl.Records(40, alphabet=2), query=dl.Count(), distortion=dl.Absolute())
    assert support.assert_design(problem, dl.solve(problem, gap=1e-3, time_limit=0.5)).seconds < 5.5


@both
def test_few_nodes(make):
    problem = make(**dict(EASY, records=dl.Records(3, alphabet=2)))
    result = support.assert_design(problem, dl.solve(problem, gap=1e-5, time_limit=1.0, node_limit=2))
    assert result.termination is not dl.answers.Termination.GAP_REACHED


@pytest.mark.thorough
def test_control_c_in_a_process_of_its_own(interrupted, tmp_path):
    model = tmp_path / "model.toml"
    model.write_text(dl.dumps(MAKERS["leakage"](**HARD)))
    answer = interrupted(1, "solve", model, "--gap", "1e-9", "--time-limit", "300", "--json", cwd=tmp_path)
    assert answer.returncode == 130, answer.stderr
    assert '"termination": "interrupted"' in answer.stdout


@both
def test_an_oracle_that_finds_nothing(make, monkeypatch):
    monkeypatch.setattr(EntropyOracle, "worst_priors", lambda *args, **more: [])
    problem = make(**EASY)
    result = support.assert_design(problem, dl.solve(problem, gap=5e-2, time_limit=1.0))
    assert result.termination is not dl.answers.Termination.GAP_REACHED or result.gap <= 5e-2


@both
def test_an_oracle_that_lies(make, monkeypatch):
    """Priors that nobody in the problem's set has: what they would prove is refused."""

    def worst_priors(self, Q, known, clock, starts=24):
        part = self.parts[0]
        masses = np.zeros_like(part.log_uniform)
        masses[0, 0] = masses[1, -1] = 0.5
        return [Prior(part.record, masses)]

    monkeypatch.setattr(EntropyOracle, "worst_priors", worst_priors)
    problem = make("0.9 max", **EASY)
    with pytest.warns(dl.errors.ProofRefusedWarning, match="lower end"):
        truth = dl.solve(problem, gap=5e-2, time_limit=1.0)
    monkeypatch.undo()
    free = dl.solve(problem, gap=1e-2, time_limit=2.0)
    support.assert_design(problem, truth)
    assert truth.lower <= free.upper
    assert free.lower <= truth.upper


@both
def test_an_oracle_that_overstates(make, monkeypatch):
    monkeypatch.setattr(oracles.Oracle, "leakage", staticmethod(lambda prior, Q: 5.0))
    problem = make(**EASY)
    support.assert_design(problem, dl.solve(problem, gap=5e-2, time_limit=1.0))


GARBAGE = {
    "nothing": lambda x: np.zeros_like(x),
    "huge": lambda x: x * 1e30 + 1e30,
    "not numbers": lambda x: np.full_like(x, np.nan),
    "noise": lambda x: np.random.default_rng(3).exponential(size=np.shape(x)),
    "infinite": lambda x: np.full_like(x, np.inf),
}


@both
@pytest.mark.parametrize("name", thinned(GARBAGE, every=2))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_master_with_garbage_for_multipliers(make, name, monkeypatch):
    solved = Rounds.solved

    def spoilt(self, watched):
        answer = solved(self, watched)
        multipliers = {
            key: np.asarray(GARBAGE[name](np.asarray(value, dtype=float)))
            for key, value in answer.solution.multipliers.items()
        }
        return dataclasses.replace(answer, solution=dataclasses.replace(answer.solution, multipliers=multipliers))

    monkeypatch.setattr(Rounds, "solved", spoilt)
    problem = make(**EASY)
    support.assert_design(problem, dl.solve(problem, gap=5e-2, time_limit=0.5))


@both
def test_a_master_that_does_nothing(make, monkeypatch):
    """Its starting point and the bound that comes with it."""
    monkeypatch.setattr(Rounds, "solved", lambda self, watched: self.answer(watched, 0.0))
    problem = make(**EASY)
    support.assert_design(problem, dl.solve(problem, gap=5e-2, time_limit=0.5))


@pytest.mark.thorough
@both
def test_a_bound_that_is_too_high_is_not_claimed(make, monkeypatch):
    """A master that reports three times its bound: the checker's own formula decides."""
    keep_bound = Rounds.keep_bound

    def boast(self, answer):
        keep_bound(self, answer)
        self.bound = dataclasses.replace(self.bound, value=3.0 * self.bound.value)

    monkeypatch.setattr(Rounds, "keep_bound", boast)
    problem = make("0.9 max", **EASY)
    boasted = support.assert_design(problem, dl.solve(problem, gap=5e-2, time_limit=1.0))
    monkeypatch.undo()
    assert boasted.lower <= dl.solve(problem, gap=5e-2, time_limit=2.0).upper
    assert boasted.lower > 0.0


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_an_audit_whose_proof_fails_does_not_end_in_an_error(make, monkeypatch):
    """The checker refuses every bound of the search: what needs no search is handed out."""
    upper = EntropyAudit.upper
    monkeypatch.setattr(EntropyAudit, "upper", property(lambda self: upper.fget(self) * 0.5))
    problem = make(**EASY)
    with pytest.warns(dl.errors.ProofRefusedWarning):
        result = support.assert_design(problem, dl.solve(problem, gap=5e-2, time_limit=0.5))
    assert any(not refusal.rounding for refusal in (*result.refusals, *result.audit.refusals))
    assert result.lower > 0.0
    if (
        result.audit.upper == 0.0
    ):  # another mechanism is shown than the one that was refused, which is told all the same
        assert result.termination is dl.answers.Termination.PROOF_REFUSED


@each("seconds", 0.05, 0.2)
def test_a_design_that_is_cut_off_does_not_leak_everything(seconds):
    """A first mechanism is audited at once: time shared between the truth and nothing; it was 0 .. log 3."""
    problem = support.design(dl.MinLeakage, dl.Records(4, alphabet=3), dl.ModularSum(3), dl.Hamming(), "0.3", "0.8 max")
    result = dl.solve(problem, time_limit=seconds)
    assert result.upper <= 0.6
    assert result.distortion <= Fraction(3, 10)
