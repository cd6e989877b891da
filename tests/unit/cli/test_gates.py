"""--at-most: a status of its own where more than the budget is not excluded, of every command that says how much."""

import json
import math
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.cli.gates import Budget
from dalenius.cli.statuses import ExitStatus

AUDIT = """\
problem = "maximal_leakage"
records = {{ count = 3, alphabet = 2 }}
query = {{ kind = "count" }}
mechanism = {{ kind = "geometric", epsilon = {epsilon} }}
adversary = {{ kind = "product_priors" }}
"""
ROOT = Path(__file__).parents[3]
DESIGN = (ROOT / "models/design/parity-n4-leakage.toml").read_text()
PRIVATE = (ROOT / "models/infeasible/negative-epsilon.toml").read_text()


@pytest.fixture
def solved(command_line, tmp_path):
    """Two models with their certificates, and what is proved of the first."""
    for name, epsilon in (("one", "0.5"), ("two", "0.2")):
        (tmp_path / f"{name}.toml").write_text(AUDIT.format(epsilon=epsilon))
        assert command_line("solve", f"{name}.toml", "-o", ".").returncode == 0
    return dl.Certificate.read(tmp_path / "one.cert").header.claim[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "one.toml"),
        ("audit", "one.toml"),
        ("measure", "one.toml"),
        ("verify", "one.toml", "one.cert"),
        ("compose", "one.toml", "one.cert", "two.toml", "two.cert"),
        ("convert", "--from", "local_dp=0.2", "--to", "mutual_information"),
    ],
    ids=lambda words: words[0],
)
def test_a_status_says_that_the_upper_end_is_above_the_budget(solved, command_line, arguments):
    """The answer is printed all the same."""
    answered = command_line(*arguments)
    assert answered.returncode == 0
    for budget in ("1e-9 nats", "1e-9 bits"):
        failed = command_line(*arguments, "--at-most", budget)
        assert failed.returncode == ExitStatus.EXCEEDED == 6
        assert len(failed.stdout) > 0.9 * len(answered.stdout)
        shown = "0.000000001 bits" if "bits" in budget else "0.000000001 nats = 1.443e-9 bits"
        assert failed.stderr.endswith(f"and --at-most allows {shown}\n")
        assert failed.stderr.count("\n") == 1
    for more, met in (((), None), (("--at-most", "1e-9 bits"), False), (("--at-most", "0.9 nats"), True)):
        assert json.loads(command_line(*arguments, *more, "--json").stdout)["at_most_met"] is met
    assert command_line(*arguments, "--at-most", "0.9 nats").returncode == 0
    assert command_line(*arguments, "--at-most", "1 bits").returncode == 0
    refused = command_line(*arguments, "--at-most", "3 apples")
    assert refused.returncode == ExitStatus.UNUSABLE
    assert "--at-most: the unit must be nats or bits" in refused.stderr
    bare = command_line(*arguments, "--at-most", "0.9")
    assert (bare.returncode, bare.stdout) == (ExitStatus.UNUSABLE, "")
    assert bare.stderr == "dalenius: --at-most: '0.9' of what? expected '0.9 bits' or '0.9 nats'\n"


def test_the_comparison_is_exact(solved, command_line):
    """The certificate's own claim is allowed; the least bit less is not, in any unit."""
    text = dl.exact.fraction_text(solved)
    less = dl.exact.fraction_text(solved * (1 - dl.exact.as_fraction("1e-15", "less")))
    for command in (("solve", "one.toml"), ("verify", "one.toml", "one.cert")):
        assert command_line(*command, "--at-most", f"{text} nats").returncode == 0
        assert command_line(*command, "--at-most", f"{less} nats").returncode == ExitStatus.EXCEEDED
    bits = float(solved) / math.log(2.0)
    assert Budget.of(repr(bits * (1 + 1e-14)) + " bits").allows(solved, "nats")
    assert not Budget.of(repr(bits * (1 - 1e-14)) + " bits").allows(solved, "nats")
    log_two = math.log(2.0)  # the largest double below it
    assert Budget.of("1 bits").allows(log_two, "nats")
    assert not Budget.of("1 bits").allows(math.nextafter(log_two, 1.0), "nats")
    assert Budget.of("0 bits").allows(0.0, "nats")
    assert not Budget.of("0 bits").allows(5e-324, "nats")
    assert not Budget.of("1e9 bits").allows(math.inf, "nats")
    assert not Budget.of("0.6931471805599453 nats").allows(1.0, "bits")


@pytest.mark.parametrize("command", ["solve", "audit", "measure"])
def test_a_budget_that_is_certainly_exceeded_is_told_from_one_that_is_not_proved_to_be_met(
    solved, command_line, command
):
    """By the lower end, which is above the one and below the other."""
    low = "1e-9 nats"
    high = f"{dl.exact.fraction_text(solved * (1 - dl.exact.as_fraction('1e-15', 'less')))} nats"
    assert "certainly more, at least 0." in command_line(command, "one.toml", "--at-most", low).stderr
    assert ": at most 0." in command_line("solve", "one.toml", "--at-most", high).stderr


def test_a_design_is_asked_what_its_mechanism_tells(command_line, tmp_path):
    (tmp_path / "design.toml").write_text(DESIGN.replace("max_distortion = 0.1", "max_distortion = 0.25"))
    done = command_line("solve", "design.toml", "--json", "--at-most", "0.001 nats", "--gap", "0.5")
    leakage = json.loads(done.stdout)["leakage"]["upper"]
    assert done.returncode == ExitStatus.EXCEEDED
    assert leakage > 0.001
    assert command_line("solve", "design.toml", "--gap", "0.5", "--at-most", "0.7 nats").returncode == 0


def test_what_has_no_leakage_is_refused_before_the_work(command_line, tmp_path):
    (tmp_path / "private.toml").write_text(PRIVATE)
    refused = command_line("solve", "private.toml", "--at-most", "1 bits")
    assert (refused.returncode, refused.stdout) == (ExitStatus.UNUSABLE, "")
    assert "--at-most is about an adversary" in refused.stderr
    for arguments in (("convert", "--all", "--at-most", "1"), ("measure", "private.toml", "--at-most", "nothing=1")):
        assert command_line(*arguments).returncode == ExitStatus.UNUSABLE
    for text in ("=0.4", " = 0.4"):
        nameless = command_line("measure", "private.toml", "--at-most", text)
        assert nameless.returncode == ExitStatus.UNUSABLE
        assert "expected MEASURE=BUDGET" in nameless.stderr


def test_a_certificate_about_useful_information_is_about_no_leakage(command_line):
    """It is in nats all the same."""
    files = (ROOT / f"models/information/count-local-dp.{ending}" for ending in ("toml", "cert"))
    refused = command_line("verify", *files, "--at-most", "9 bits")
    assert refused.returncode == ExitStatus.UNUSABLE
    assert "does not bound a leakage from above" in refused.stderr


def test_numbers_without_units(command_line):
    to_delta = ("convert", "--from", "local_dp=0.2", "--to", "local_dp_delta(0.1)", "--at-most")
    assert command_line(*to_delta, "0.5").returncode == 0
    assert command_line(*to_delta, "1e-6").returncode == ExitStatus.EXCEEDED
    assert command_line(*to_delta, "0.5 bits").returncode == ExitStatus.UNUSABLE
    nothing = command_line("convert", "--from", "mutual_information=0.2 nats", "--to", "local_dp", "--at-most", "9")
    assert nothing.returncode == ExitStatus.EXCEEDED
    assert "nothing is proved" in nothing.stderr


def test_a_measure_that_is_known_exactly_may_be_the_budget(command_line, tmp_path):
    """2/5 is no double: the least one above it would be too much."""
    (tmp_path / "channel.csv").write_text("no,yes\n0.9,0.1\n0.1,0.9\n")
    measured = ("measure", "channel.csv", "--prior", "uniform", "--at-most")
    assert command_line(*measured, "bayes_advantage=0.4").returncode == 0
    less = command_line(*measured, "bayes_advantage=0.3999999999999999999")
    assert less.returncode == ExitStatus.EXCEEDED
    assert "certainly more, at least 0.4 probability" in less.stderr


def test_a_measure_without_a_bound_is_within_no_budget(command_line, tmp_path):
    (tmp_path / "count.toml").write_text(
        'problem = "maximal_leakage"\nrecords = { count = 3, alphabet = 2 }\nquery = { kind = "count" }\n'
        'mechanism = { kind = "geometric", epsilon = 1 }\nadversary = { entropy_at_least = "0.7 max" }\n'
    )
    capacity = command_line("measure", "count.toml", "--at-most", "shannon_capacity=9 bits")
    assert capacity.returncode == ExitStatus.EXCEEDED
    assert "shannon_capacity: nothing is proved" in capacity.stderr
