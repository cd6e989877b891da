"""The command convert."""

import json
from fractions import Fraction

import dalenius as dl


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
    rows = {row["target"]: row for row in json.loads(done.stdout)}
    assert rows["local_dp_delta(1)"]["value"] == 0.0
    assert rows["free_lunch_privacy"]["value"] is None


def test_everything_that_follows_as_a_table(command_line):
    done = command_line("convert", "--all", "--from", "guessing_success=0.5")
    assert "guessing_success <= 0.5" in done.stdout
    assert "what can be guessed or estimated" in done.stdout


def test_a_picture_of_what_follows_from_what(command_line, tmp_path):
    done = command_line("convert", "--all", "-o", "conversions.svg", "--json")
    assert done.returncode == 0, done.stderr
    assert "drawn: conversions.svg" in done.stderr
    assert "pairwise_divergence" in (tmp_path / "conversions.svg").read_text()
    assert "local_dp (with p_min)" in json.loads(done.stdout)["pointwise_maximal_leakage"]


def test_what_is_missing_is_said_in_one_line(command_line):
    for arguments, text in (
        ((), "expected --from NOTION=VALUE and --to NOTION, or --all"),
        (
            ("--from", "local_dp", "--to", "chi_square"),
            "--from local_dp: expected NOTION=VALUE, for example local_dp=1",
        ),
        (("--from", "local_dp=1", "--to", "chi_square", "-o", "x.png"), "the picture is of --all"),
        (("--all", "--to", "chi_square"), "--all is about every notion; leave --to out"),
        (("--all", "-o", "bad"), "-o 'bad': expected a file that ends in .png, .svg, .pdf"),
        (("--from", "local_dp=x", "--to", "chi_square"), "local_dp: expected a number"),
    ):
        done = command_line("convert", *arguments)
        assert done.returncode == 2
        assert text in done.stderr
        assert done.stderr.count("\n") == 1
