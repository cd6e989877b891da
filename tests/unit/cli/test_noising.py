"""The command noise."""

import json
import math
import re

import pytest

import dalenius as dl
import support
from dalenius.exact import as_fraction, fraction_text


def test_the_folder_has_both_proofs(command_line, tmp_path):
    done = command_line("noise", "--noise", "discrete_laplace", "--range", "2", "--at-most", "0.1 bits", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "is enough for 0.1 bits of 1 bit possible: at most 0.09" in done.stdout
    assert "times the least" in done.stdout
    for end, kept in (("within", True), ("above", False)):
        model = dl.load(tmp_path / f"out/discrete_laplace.{end}.toml")
        assert dl.verify(model, dl.Certificate.read(tmp_path / f"out/discrete_laplace.{end}.cert")).proved
        assert f"out/discrete_laplace.{end}.cert" in done.stdout
        assert (dl.solve(model).to("bits").upper <= 0.1) == kept
    table = (tmp_path / "out/discrete_laplace.noise.csv").read_text()
    assert table.splitlines()[0].startswith("scale,what,lower,upper")
    assert table.count("discrete_laplace.within.cert") == 1


def test_json_of_a_model(command_line, tmp_path):
    question = support.problem(dl.Records(100, alphabet=2), dl.Count(), dl.geometric(1), dl.IndependentBlocks(2))
    (tmp_path / "count.toml").write_text(dl.dumps(question))
    done = command_line("noise", "count.toml", "--at-most", "0.2 nats", "--gap", "0.02", "--json")
    told = json.loads(done.stdout)
    assert told["mechanism"] == "geometric"
    assert told["larger_is_enough"]
    assert [float(level["upper"]) <= 0.2 for level in told["levels"]] == sorted(
        float(level["upper"]) <= 0.2 for level in told["levels"]
    )


def test_real_noise_on_what_moves_the_query_far(command_line):
    done = command_line("noise", "--noise", "laplace", "--range", "1000", "--at-most", "0.1 nats")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("laplace noise of scale 928.")


@pytest.mark.parametrize("blocks", [1, 2])
def test_people_in_households_are_asked_about_without_a_file(command_line, blocks):
    """The same question as that of a model."""
    typed = ("noise", "--noise", "discrete_laplace", "--at-most", "0.1 bits", "--json")
    told = json.loads(command_line(*typed, "--people", "300", "--blocks", str(blocks)).stdout)
    problem = support.problem(
        dl.Records(300, alphabet=2), dl.Count(), dl.discrete_laplace(1), dl.IndependentBlocks(blocks)
    )
    assert told["enough"] == fraction_text(dl.least_noise(problem, "0.1 bits").within.scale)
    assert told["epsilon_per_step"] == fraction_text(1 / as_fraction(told["enough"], ""))
    epsilon = float(as_fraction(told["epsilon_per_step"], ""))
    steps = range(-2000, 2001)
    weights = [math.exp(-epsilon * abs(k)) for k in steps]
    assert told["mean_error"] == pytest.approx(
        sum(abs(k) * w for k, w in zip(steps, weights, strict=True)) / sum(weights)
    )


PEOPLE = "home,age\n1,30\n1,70.4\n2,99\n3,15\n"


@pytest.fixture
def people(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    return "--table", "people.csv", "--answer", "age", "--household", "home", "--query", "mean", "--values", "0,120,40"


def test_a_mean_of_a_table_says_its_own_accuracy(command_line, people):
    """The question of `audit` about the same table, whose epsilon is one person's; errors repeat no value."""
    told = json.loads(
        command_line(
            "noise", "--noise", "discrete_laplace", *people, "--at-most", "0.1 bits", "--gap", "0.1", "--json"
        ).stdout
    )
    (release,) = told["releases"]
    assert release["scale"] == told["enough"]
    scale = float(as_fraction(told["enough"], ""))
    assert float(as_fraction(told["of_mean"]["scale"], "")) == pytest.approx(scale * 40 / 4)
    assert float(as_fraction(told["of_mean"]["epsilon"], "")) == pytest.approx(3 / scale)
    assert told["of_mean"]["mean_error"] == pytest.approx(told["mean_error"] * 40 / 4)
    audited = ("--mechanism", f"discrete_laplace:{told['of_mean']['epsilon']}", *people)
    done = command_line("audit", *audited, "--at-most", "0.1 bits")
    assert done.returncode == 0, done.stderr
    assert "with a value of age: 0, 40, 80 or 120" in done.stdout


def test_values_beyond_the_bounds_and_no_numbers(command_line, people, tmp_path):
    for value, words in (
        ("121", "1 of 4 values are beyond the bounds"),
        ("old", "1 of 4 answers are none"),
        ("", "no age"),
    ):
        (tmp_path / "people.csv").write_text(PEOPLE.replace("99", value))
        done = command_line("noise", "--noise", "laplace", *people, "--at-most", "0.1 bits")
        assert (done.returncode, done.stderr.count("\n"), words in done.stderr) == (2, 1, True), done.stderr


def test_a_secret_and_several_releases(command_line, tmp_path):
    vote = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "secrets": dl.Secret(dl.Threshold(2))}
    asked = dl.SecretLeakage(**vote, mechanism=dl.several_releases(dl.geometric(1), times=2), adversary=dl.AnyPrior())
    (tmp_path / "vote.toml").write_text(dl.dumps(asked))
    done = command_line("noise", "vote.toml", "--at-most", "0.1 bits", "--gap", "0.1", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 times geometric noise of scale ")
    assert dl.verify(tmp_path / "out/vote.within.toml", tmp_path / "out/vote.within.cert").proved


def test_how_much_noise_is_not_said(command_line):
    done = command_line("noise", "--mechanism", "discrete_laplace:0.5", "--people", "9", "--at-most", "0.1 bits")
    assert "expected discrete_laplace alone: how much of it is what is looked for" in done.stderr


def test_a_histogram_of_many_people(command_line):
    """Ratios alone ask for more noise than enough, in a table, too: whoever changes an answer moves two cells."""
    done = command_line(
        *("noise", "--noise", "discrete_laplace", "--people", "20000", "--alphabet", "10", "--query", "histogram"),
        *("--at-most", "0.1 bits", "--json"),
    )
    told = json.loads(done.stdout)
    assert float(told["not_enough"]) < float(told["enough"]) < 1.1 * float(told["enough"])
    (ratios,) = told["formulas"]
    assert float(told["enough"]) < ratios["scale"] < 2 * float(told["enough"])


@pytest.mark.parametrize("query", [("--blocks", "5"), ("--query", "modular_sum 4")])
def test_the_epsilon_that_is_printed_is_enough_where_it_is_typed(command_line, query):
    """Rounded to less noise it is not, with so small a gap."""
    asked = ("--people", "2000", *query)
    done = command_line("noise", "--noise", "discrete_laplace", *asked, "--at-most", "0.05 bits", "--gap", "1e-7")
    (epsilon,) = re.findall(r"epsilon = (\S+) ", done.stdout)
    typed = ("audit", "--mechanism", f"discrete_laplace:{epsilon}", *asked, "--gap", "1e-9", "--at-most", "0.05 bits")
    done = command_line(*typed)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("--blocks", "2"), "expected --people N"),
        (("--people", "3", "--blocks", "4"), "--blocks: expected households of at most all 3 people, got 4"),
        (("--people", "3", "--sensitivity", "2"), "or --sensitivity alone"),
        (("--people", "3", "--query", "mean"), "--query mean, --values LOW,HIGH: expected both, or neither"),
        (("--people", "3", "--query", "mean", "--values", "0,9", "--alphabet", "3"), "--values says so already"),
        (("--people", "3", "--query", "mean", "--values", "9,0"), "mean: expected low < high"),
        (("--answer", "age"), "--answer: expected with --table FILE"),
    ],
)
def test_options_that_do_not_go_together(command_line, typed, words):
    done = command_line("noise", "--noise", "laplace", "--at-most", "0.1 bits", *typed)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert words in done.stderr
