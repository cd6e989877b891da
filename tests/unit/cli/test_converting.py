"""The command convert."""

import json
from fractions import Fraction

import dalenius as dl
from campaigns import each
from dalenius.cli import whole_command
from dalenius.conversions.rule import MEANINGS


def test_a_number_with_its_rules(command_line):
    done = command_line("convert", "--from", "local_dp=1.0", "--to", "mutual_information", "--units", "bits")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{dl.convert('local_dp', 1, to='mutual_information', units='bits')}\n"


def test_json_is_one_object_on_the_safe_side(command_line):
    done = command_line(
        "convert", "--from", "local_dp=1", "--to", "pointwise_maximal_leakage", "--p-min", "1/5", "--json"
    )
    told = json.loads(done.stdout, parse_float=Fraction)
    wanted = dl.convert("local_dp", 1, to="pointwise_maximal_leakage", p_min="1/5")
    assert told["value"] == Fraction(repr(wanted.value))
    assert [step["rule"] for step in told["steps"]] == ["CONV-2"]
    none = json.loads(command_line("convert", "--from", "chi_square=1", "--to", "local_dp", "--json").stdout)
    assert none["value"] is None
    assert none["better"].startswith("no rule: none exists")


def test_everything_that_follows(command_line):
    done = command_line("convert", "--all", "--from", "local_dp=1", "--p-min", "0.1", "--json")
    rows = {row["target"]: row for row in json.loads(done.stdout)["conversions"]}
    assert rows["local_dp_delta(1)"]["value"] == 0.0
    assert rows["free_lunch_privacy"]["value"] is None


def test_everything_that_follows_as_a_table(command_line):
    done = command_line("convert", "--all", "--from", "guessing_success=0.5")
    assert "guessing_success <= 0.5" in done.stdout
    assert "of one secret's channel says nothing about other datasets" in " ".join(done.stdout.split())


def test_that_nothing_follows_is_not_that_nothing_leaks(command_line):
    done = command_line("convert", "--from", "differential_privacy=0.1", "--to", "mutual_information")
    first, second = done.stdout.splitlines()
    assert first.endswith("=>  mutual_information: nothing follows")
    assert "needs independent (the records are independent under the prior; --independent), or records (" in second
    assert "; --records), or group (" in second
    for more in (["--independent"], ["--records", "5"], ["--group", "4"]):
        assert "<=" in command_line("convert", "--from", "differential_privacy=0.1", "--to", "local_dp", *more).stdout


def test_a_curve_is_several_guarantees(command_line):
    orders = ("renyi_dp(2)=0.2", "renyi_dp(8)=0.8")
    done = command_line("convert", *(f"--from={order}" for order in orders), "--to", "differential_privacy_delta(2)")
    assert done.stdout.startswith(
        "renyi_dp(2): epsilon <= 0.2 and renyi_dp(8): epsilon <= 0.8  =>  differential_privacy_delta(2)"
    )
    twice = command_line("convert", "--from=zcdp=1", "--from=zcdp=2", "--to=renyi_dp(2)")
    assert "--from: expected each notion once, got zcdp more than once" in twice.stderr


def test_the_notions_are_listed_by_what_they_are_about(command_line):
    done = command_line("convert")
    assert done.returncode == 0
    _, *lines = done.stdout.splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("  between datasets: differential_privacy, ")


@each(
    "source, words",
    (
        "epsilon=0.5",
        "did you mean 'local_dp' or 'differential_privacy', or with a delta 'differential_privacy_epsilon(1e-5)=1'?",
    ),
    ("dp=0.5", "did you mean 'local_dp' or 'differential_privacy', or with a delta"),
    ("delta=1e-5", "or with a delta 'differential_privacy_epsilon(1e-5)=1'?"),
    ("rdp=0.5", "renyi_dp: expected renyi_dp(2), got 'rdp'"),
    ("mutual_information=0.05", "--from mutual_information: '0.05' of what? expected '0.05 bits' or '0.05 nats'"),
)
def test_a_guarantee_that_cannot_be_read(command_line, source, words):
    """An information says its unit here as everywhere; an epsilon and a probability need none."""
    done = command_line("convert", "--from", source, "--to", "local_dp")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert words in done.stderr
    for fine in ("mutual_information=0.05 bits", "mutual_information=0", "local_dp_delta(1)=0.1"):
        assert command_line("convert", "--from", fine, "--to", "total_variation").returncode == 0


def test_a_picture_of_what_follows_from_what(command_line, tmp_path):
    done = command_line("convert", "--all", "-o", "conversions.svg", "--json")
    assert done.returncode == 0, done.stderr
    assert "drawn: conversions.svg" in done.stderr
    assert "pairwise_divergence" in (tmp_path / "conversions.svg").read_text()
    assert "local_dp (with p_min)" in json.loads(done.stdout)["follows"]["pointwise_maximal_leakage"]


# compose: bounds of several releases from their certificates.


def test_certificates_are_put_together(command_line, tmp_path):
    for name, epsilon, more in (
        ("first", "0.5", ()),
        ("second", "0.2", ()),
        ("alone", "0.2", ("--adversary", "product_priors")),
    ):
        made = command_line(
            "init", f"{name}.toml", "--query", "count", "--mechanism", f"geometric {epsilon}", *more, "--defaults"
        )
        assert made.returncode == 0
        assert command_line("solve", f"{name}.toml", "--gap", "0.9", "-o", ".").returncode == 0
    files = ["first.toml", "first.cert", "second.toml", "second.cert"]
    told = json.loads(command_line("compose", *files, "--json").stdout)
    assert told["rule"] in ("one and capacities", "letters")
    assert 0 <= told["lower"] <= max(told["leakages"]) <= told["upper"] <= 0.7
    refused = (
        (files[:3], "got 3 files"),
        ([*files, "--rule", "sum"], "sum is false here"),
        (["first.toml", "second.cert", "second.toml", "first.cert"], "second.cert: not about first.toml"),
        (
            [*files[:2], "alone.toml", "alone.cert"],
            "adversary of first.toml: 0.8 max, of alone.toml: product_priors\n",
        ),
    )
    for arguments, message in refused:
        failed = command_line("compose", *arguments)
        assert failed.returncode == 2
        assert message in failed.stderr
    proof = tmp_path / "second.cert"
    proof.write_text(proof.read_text().replace(dl.Certificate.read(proof).header.upper, "0.001", 1))
    failed = command_line("compose", *files)
    assert failed.returncode == command_line("verify", *files[2:]).returncode == 1
    assert failed.stderr.startswith("dalenius: second.cert: the certificate is not proved: ")


VOTE = """\
problem = "secret_leakage"
records = {{ count = 3, alphabet = 2 }}
query = {{ kind = "count" }}
mechanism = {{ kind = "geometric", epsilon = {epsilon} }}
adversary = {{ entropy_at_least = 0 }}

[[secrets]]
of = {{ kind = "threshold", at = 2 }}
"""


def test_two_releases_about_a_secret(command_line, tmp_path):
    for name, epsilon in (("first", "0.5"), ("second", "0.2")):
        (tmp_path / f"{name}.toml").write_text(VOTE.format(epsilon=epsilon))
        assert command_line("solve", f"{name}.toml", "-o", ".").returncode == 0
    done = command_line("compose", "first.toml", "first.cert", "second.toml", "second.cert", "--json")
    told = json.loads(done.stdout)
    assert told["rule"] == "sum"
    assert sum(told["leakages"]) <= told["upper"] < sum(told["leakages"]) + 1e-12
    for files, message in (
        (["first.toml", "second.cert", "second.toml", "first.cert"], "second.cert: not about first.toml"),
        (["first.toml", "first.toml", "second.toml", "second.cert"], "first.toml: not a certificate"),
    ):
        failed = command_line("compose", *files)
        assert (failed.returncode, message in failed.stderr) == (2, True), failed.stderr


def test_options_about_facts_mean_what_messages_say_that_they_mean():
    told = {option.name: option.help for option in whole_command().commands["convert"].params}
    assert all(told[name] == f"{meaning}.".capitalize() for name, meaning in MEANINGS.items() if name != "prior_ratio")
