"""The command noise."""

import json
import math
import re
from fractions import Fraction

import pytest

import dalenius as dl
import support
from dalenius.exact import as_fraction, fraction_text
from dalenius.intervals import text_above


def test_the_folder_has_both_proofs(command_line, tmp_path, monkeypatch):
    """And says what to do next; another question's stay, unless --force is given, and the same one's are replaced."""
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
    kept = "out/discrete_laplace.within.toml"
    assert done.stdout.endswith(
        f"next: dalenius audit {kept} -o page.md writes the page about it; dalenius release {kept} --table FILE --at-most '0.1 bits' "
        "draws the output\n"
    )
    found = dl.least_noise(model, "0.1 bits", gap=0.5)
    asked = []
    monkeypatch.setattr("dalenius.cli.noising.drawn", lambda *_: [])
    monkeypatch.setattr(dl, "least_noise", lambda problem, *_, **__: asked.append(problem) or found)
    again = ("noise", "--noise", "discrete_laplace", "--at-most", "0.2 bits", "-o", "out")
    done = command_line(*again, "--range", "3")
    assert (done.returncode, done.stdout, done.stderr.count("\n"), asked) == (2, "", 1, [])
    assert done.stderr.startswith(f"dalenius: {kept}: stands there, and is not the model of this question")
    assert (tmp_path / "out/discrete_laplace.noise.csv").read_text() == table
    for more in (("--range", "2"), ("--range", "3", "--force")):
        assert command_line(*again, *more).returncode == 0
    assert len(asked) == 2


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


def test_a_budget_of_all_there_is_needs_no_noise(command_line):
    asked = "noise", "--noise", "discrete_laplace", "--people", "4", "--at-most"
    done = command_line(*asked, "5 bits")
    assert done.stdout == "no noise is needed for 5 bits of 1 bit possible: that is all there is to know\n"
    assert "is enough for 0.9 bits" in command_line(*asked, "0.9 bits").stdout


PEOPLE = "home,age\n1,30\n1,70.4\n2,99\n3,15\n"


@pytest.fixture
def people(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "grid.csv").write_text("age\n40\n80\n80\n0\n")
    return "--table", "people.csv", "--answer", "age", "--household", "home", "--query", "mean", "--values", "0,120,40"


def test_a_mean_of_a_table_says_its_own_accuracy(command_line, people):
    """The question of `audit` about the same table, whose epsilon is one person's; errors repeat no value."""
    asked = ("noise", "--noise", "discrete_laplace", *people, "--at-most", "0.1 bits", "--gap", "0.1", "-o", "out")
    done = command_line(*asked, "--json")
    told = json.loads(done.stdout)
    models = [f"out/discrete_laplace.{end}.toml" for end in ("within", "above")]
    rounding, warning = done.stderr.splitlines()
    words = "4 of 4 answers lie between steps of 40 and are rounded: that moves the mean by at most 20, and what is proved is about"
    assert rounding == f"{words} the rounded answers"
    assert warning.startswith(f"WARNING: {' and '.join(models)} state the size of every household in people.csv")
    assert told["adversary"] == "any adversary to whom blocks of 1 to 2 records are independent of one another"
    (release,) = told["releases"]
    assert release["scale"] == told["enough"]
    scale = float(as_fraction(told["enough"], ""))
    assert float(as_fraction(told["of_mean"]["scale"], "")) == pytest.approx(scale * 40 / 4)
    assert float(as_fraction(told["of_mean"]["epsilon"], "")) == pytest.approx(3 / scale)
    assert told["of_mean"]["mean_error"] == pytest.approx(told["mean_error"] * 40 / 4)
    audited = ("--mechanism", f"discrete_laplace:{told['of_mean']['epsilon']}", *people)
    done = command_line("audit", *audited, "--at-most", "0.1 bits")
    assert done.returncode == 0, done.stderr
    page = " ".join(done.stdout.replace("> ", "").split())
    assert "with a value of age: 0, 40, 80 or 120" in page
    own = told["of_mean"]
    assert (
        f"through discrete Laplace noise of scale {own['scale']}, which is {told['enough']} on the sum of their" in page
    )
    assert f"so that the epsilon of one person is {text_above(as_fraction(own['epsilon'], ''))}" in page
    assert told["epsilon_of_one_person"] == own["epsilon"]
    assert f"The mean that is released is wrong by {text_above(own['mean_error'], 3)} on average" in page
    assert "We publish the mean of age of [say whom], with random noise" in page


def test_a_release_of_a_mean_says_the_mean(command_line, people, tmp_path):
    """Of values between its steps, too: of the nearest ones; which household is a person's own may be the wrong column."""
    command_line("audit", "--mechanism", "discrete_laplace:1", *people, "-o", "p.md")
    asked = ("release", "p.toml", "--table", "grid.csv", "--answer", "age", "--seed", "1", "--json")
    told = json.loads(command_line(*asked).stdout)
    mean = fraction_text(told["output"] * Fraction(40, 4))
    assert (
        told["meaning"] == f"the sum of their values of age, each rounded, in steps of 40 from 0: their mean is {mean}"
    )
    (tmp_path / "grid.csv").write_text("age,home,person\n 30,1,1\n99.5,1,2\n80.0,2,3\n0,3,4\n")
    done = command_line(*asked, "--household", "person")
    assert json.loads(done.stdout)["output"] == told["output"]
    assert "WARNING: in person everybody has a household of one: is it the column" in done.stderr
    assert "household of one" not in command_line(*asked, "--household", "home").stderr
    for strange in ("121", "old", '""'):
        (tmp_path / "grid.csv").write_text(f"age\n40\n80\n{strange}\n0\n")
        done = command_line(*asked)
        assert (done.returncode, done.stdout) == (2, "")
        assert (
            "line 4: the entry (not shown) is none of record 2's letters, ['0', '40', '80', '120'], nor a number"
            in done.stderr
        )
    (tmp_path / "people.csv").write_text(PEOPLE.replace("3,15\n", ""))
    (tmp_path / "grid.csv").write_text("age\n30\n70.4\n15\n")
    command_line("audit", "--mechanism", "discrete_laplace:1", *people, "-o", "q.md")
    told = json.loads(command_line("release", "q.toml", *asked[2:]).stdout)
    assert told["output"] % 3
    assert told["meaning"].endswith(f"mean is {told['output'] * 40}/3, about {told['output'] * 40 / 3:.6g}")


def test_values_beyond_the_bounds_and_no_numbers(command_line, people, tmp_path):
    for value, words in (
        ("121", "1 of 4 values are beyond the bounds"),
        ("old", "1 of 4 answers are none (the first: line 4)"),
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
    assert as_fraction(told["epsilon_of_one_person"], "") == 2 * as_fraction(told["epsilon_per_step"], "")
    (ratios,) = told["formulas"]
    assert float(told["enough"]) < ratios["scale"] < 2 * float(told["enough"])


def test_the_epsilon_of_one_person_who_moves_several_numbers(command_line):
    """Rounded upward: it is what is said of her, and nothing to type."""
    asked = ("--people", "20", "--alphabet", "6", "--gap", "0.1", "--at-most", "0.1 bits")
    query = "margins attributes = [2, 3], tables = [[0], [1], [0, 1]]"
    done = command_line("noise", "--noise", "discrete_laplace", *asked, "--query", query)
    (scale,) = re.findall(r"scale (\S+) \(", done.stdout)
    (told,) = re.findall(r"one person moves 6 cells, so that one person's epsilon is (\S+)\n", done.stdout)
    assert 0 <= as_fraction(told, "") - 6 / as_fraction(scale, "") < 1e-5


@pytest.mark.parametrize("query", [("--blocks", "5"), ("--query", "modular_sum 4")])
def test_the_epsilon_that_is_printed_is_enough_where_it_is_typed(command_line, query):
    """Rounded to less noise it is not, with so small a gap."""
    asked = ("--people", "2000", *query)
    done = command_line("noise", "--noise", "discrete_laplace", *asked, "--at-most", "0.05 bits", "--gap", "1e-7")
    (epsilon,) = re.findall(r"epsilon = (\S+) ", done.stdout)
    assert "one person's epsilon" not in done.stdout, "it is that of the noise"
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
