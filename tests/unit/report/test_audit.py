"""One call, one page: its numbers, what they rest on, and what it says where there is less to say."""

import math
import signal

import pytest

import dalenius as dl
from campaigns import thinned
from dalenius.intervals import text_above
from dalenius.model.adversaries import IndependentBlocks
from digits import inside
from support import refuses

BITS = {1: "0.04371346", 2: "0.13628167", 4: "0.36674673", 8: "0.72481990"}


@pytest.mark.parametrize("size", thinned(BITS, every=3))
def test_a_million_people_in_households(size):
    told = dl.audit(dl.discrete_laplace(0.5), records=1_000_000, adversary=dl.IndependentBlocks(size))
    assert told.leakage.units == "bits"
    inside(told.leakage, BITS[size])
    assert dl.verify(told.problem, told.result.certificate).proved
    average = told.at_prior["mutual_information"]
    assert average.lower <= told.leakage.upper
    assert told.leakage.lower <= average.upper
    assert 0 <= told.without_own_answer.lower <= told.without_own_answer.upper < average.lower
    assert told.bayes_advantage.upper <= told.bayes_advantage_at_most <= 0.5
    assert average.upper <= told.pointwise_maximal_leakage.upper


def test_what_is_proved_is_told_where_time_is_over_before_the_rest():
    """Ctrl-C when the search is done: the interval is proved, and nothing is evaluated at its prior."""

    def interrupt(moment: dl.answers.Progress) -> None:
        if moment.stage == "proving":
            signal.raise_signal(signal.SIGINT)

    told = dl.audit(dl.discrete_laplace(0.5), records=1_000, progress=interrupt)
    assert told.at_prior is None
    assert "the time was over" in told.page()
    assert told.result.gap <= 1e-4
    assert dl.verify(told.problem, told.result.certificate).proved


def test_one_person_s_numbers_are_those_of_randomised_response():
    """Clamped two-sided geometric noise between two neighbours is binary randomised response with epsilon."""
    told = dl.audit(dl.discrete_laplace(0.5), records=1_000)
    p = 1 / (1 + math.exp(-0.5))
    assert told.bayes_advantage.lower - 1e-15 <= p - 0.5 <= told.bayes_advantage.upper + 1e-15
    sharpest = told.pointwise_maximal_leakage
    assert sharpest.lower - 1e-9 <= math.log2(2 * p) <= sharpest.upper + 1e-9
    assert told.without_own_answer.upper < 1e-12
    assert "still learns nothing" in told.page()
    assert "the size of the largest group" in told.page()


@pytest.mark.parametrize("size", thinned([5, 1], every=2))
def test_an_answer_that_was_thought_unlikely_becomes_likelier_than_to_the_worst_adversary(size):
    """Of a household that all say the same the noise is moved by as many steps: e^(size epsilon), for the rarer answer."""
    told = dl.audit(dl.discrete_laplace(0.5), records=20_000, adversary=dl.IndependentBlocks(size))
    rare, exact = told.pointwise_maximal_leakage_to_any, size * 0.5 / math.log(2)
    assert rare.lower - 1e-12 <= exact <= rare.upper + 1e-12
    assert told.pointwise_maximal_leakage.upper < rare.lower
    said = f"at most {text_above(math.exp(size * 0.5), 3)} times as likely as before"
    assert said in " ".join(str(told).split())
    assert said in " ".join(told.html().split())
    assert told.to_json()["pointwise_maximal_leakage_to_any"]["upper"] == rare.upper


def test_a_histogram_has_the_bound_of_group_privacy_for_unlikely_answers():
    told = dl.audit(dl.discrete_laplace(0.5), records=50, query="histogram", adversary=dl.IndependentBlocks(2), gap=0.1)
    assert told.pointwise_maximal_leakage_to_any.upper == pytest.approx(2 * 2 * 0.5 / math.log(2), rel=1e-12)
    assert told.pointwise_maximal_leakage_to_any.upper >= 2 * 2 * 0.5 / math.log(2)
    assert "at most 7.39 times as likely as before" in " ".join(str(told).split())


def test_where_there_is_no_bound_for_unlikely_answers_the_page_names_the_measure():
    told = dl.audit(dl.discrete_gaussian(scale=2), records=50, adversary=dl.IndependentBlocks(2))
    assert told.pointwise_maximal_leakage_to_any is None
    page = " ".join(str(told).split())
    assert "it can become far more likely: by how much at most, the pointwise maximal leakage" in page
    assert told.why_not_to_any in page


def test_what_is_left_out_is_what_the_docstring_says():
    assert dl.audit(dl.discrete_laplace(1), records=9).problem.adversary == IndependentBlocks(1)
    people = dl.from_frame(
        {"home": [1, 2, 1], "vote": ["y", "n", "n"]}, answer="vote", household="home", letters=["n", "y"]
    )
    told = dl.audit(dl.discrete_laplace(1), records=people)
    assert told.problem.adversary == people.blocks
    assert told.problem.query == dl.Count()
    randomised = dl.audit(dl.randomized_count(1), records=4)  # no independent blocks for this noise: the same set
    assert randomised.problem.adversary == dl.ProductPriors()
    letters = dl.audit(dl.randomized_response(1), records=dl.Records(1, alphabet=3))
    assert letters.problem.query == dl.Identity()
    assert dl.audit(told.problem).problem is told.problem


def test_the_page_names_the_files_and_is_repeatable():
    told = dl.audit(dl.geometric(1), records=2, adversary=dl.EntropyAtLeast("1 bits"), title="Two people")
    page = told.page(model="a.toml", certificate="a.cert")
    assert page.startswith("# Two people\n")
    assert "dalenius verify a.toml a.cert" in page
    assert page == dl.audit(told.problem).page(model="a.toml", certificate="a.cert")
    assert str(told) == told.page()
    assert max(map(len, page.splitlines())) <= 100


def test_the_page_is_written_beside_its_proof(tmp_path):
    told = dl.audit(dl.geometric(1), records=2)
    page = told.write(tmp_path / "two.md")
    assert page.read_text() == told.page(model="two.toml", certificate="two.cert")
    assert dl.verify(tmp_path / "two.toml", tmp_path / "two.cert").proved
    with pytest.raises(dl.errors.InputError, match="expected a file that ends in"):
        told.write(tmp_path / "two.pdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["two.cert", "two.md", "two.toml"]
    shown = told._repr_html_()
    assert "bayes_advantage" in shown
    assert shown.count("<tr>") == 6


def test_a_page_that_cannot_be_made_replaces_nothing(tmp_path, monkeypatch):
    def none(*_: object, **__: object) -> str:
        raise MemoryError

    names = [tmp_path / f"two{ending}" for ending in (".cert", ".html", ".toml")]
    for path in names:
        path.write_text("of an earlier run")
    told = dl.audit(dl.geometric(1), records=2)
    monkeypatch.setattr("dalenius.report.audit.report_page", none)
    with pytest.raises(MemoryError):
        told.write(tmp_path / "two.html")
    assert [path.read_text() for path in names] == ["of an earlier run"] * 3
    assert sorted(tmp_path.iterdir()) == names


def test_where_no_prior_can_be_evaluated_the_page_says_why():
    told = dl.audit(
        dl.subset_selection(1, size=2),
        records=dl.Records(1, alphabet=40),
        query=dl.Identity(),
        adversary=dl.ProductPriors(),
    )
    assert told.at_prior is told.bayes_advantage is told.without_own_answer is None
    assert told.bayes_advantage_at_most < 0.5
    assert "closed form" in told.why_not
    assert told.why_not in " ".join(told.page().split())


@pytest.mark.parametrize(
    ("release", "query", "said"), [(dl.discrete_laplace(0.5), dl.Histogram(), "the count of one cell")]
)
def test_what_has_no_matrix_still_has_its_leakage(release, query, said):
    told = dl.audit(release, records=50, query=query, gap=0.1)
    assert told.at_prior is None
    assert said in told.why_not
    assert 0 < told.leakage.lower <= told.leakage.upper < 0.1
    assert "at most" in told.page()


test_what_makes_no_question_is_refused = refuses(
    (lambda: dl.audit(0.5, records=3), "expected a mechanism such as"),
    (lambda: dl.audit(dl.geometric(1)), "how many people is it about"),
    (lambda: dl.audit(dl.geometric(1), records=dl.Records(3, alphabet=4)), "query: expected what is released"),
    (lambda: dl.audit(dl.audit(dl.geometric(1), records=3).problem, records=3), "leave them out here"),
    (lambda: dl.audit(dl.geometric(1), records=3, blocks=2), "audit: unexpected argument 'blocks'"),
    (lambda: dl.audit(dl.geometric(1), records=3, gapp=0.1), "did you mean 'gap'"),
)
