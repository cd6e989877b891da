"""The page: every number is proved and outward, everything from files is text, and it stands alone."""

import dataclasses
import hashlib
import math
import re
import sys
import tomllib
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import thinned
from dalenius.report import mechanism_picture, report_page, write_report
from dalenius.report import page as pages
from dalenius.report.decision import advantage_by_bits
from dalenius.report.page.proofs import Proof, facts_of
from dalenius.report.picture import Drawn
from dalenius.units import lower_in, upper_in
from definitions import information

pytest.importorskip("jinja2", reason="needs jinja2: pip install jinja2")
ROOT = Path(__file__).parents[3]
MECHANISM = "The mechanism: how likely each output is"


class Elements(HTMLParser):
    """The names of all elements and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def elements(page: str) -> Elements:
    reader = Elements()
    reader.feed(page)
    assert not reader.open, "every element is closed"
    return reader


@pytest.fixture
def without_pictures(monkeypatch):
    """Pictures take most of a page's time; where a test is about words, they are empty."""
    empty = "<svg xmlns='http://www.w3.org/2000/svg'></svg>"
    monkeypatch.setattr("dalenius.report.page.drawn", lambda name, caption, draw: Drawn(empty, empty, caption))


@pytest.fixture(scope="module")
def audit() -> dl.WorstCaseLeakage:
    return support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric(1), "0.5 max")


@pytest.fixture(scope="module")
def result(audit) -> dl.answers.Result:
    return dl.solve(audit, gap=1e-2)


@pytest.fixture(scope="module")
def page(audit, result) -> str:
    return report_page([(audit, result)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A frontier's folder: two designs, their mechanisms and audits."""
    design = support.design(
        dl.MinLeakage, dl.Records(4, alphabet=2), dl.Parity(), dl.Hamming(), 0, "0.5 max", title="Parity of four"
    )
    place = tmp_path_factory.mktemp("frontier")
    for j, point in enumerate(dl.frontier(design, ["0.1", "0.3"], gap=1e-2)):
        assert point.result.mechanism is not None
        assert point.result.audit is not None
        (place / f"p-{j}.toml").write_text(dl.dumps(point.problem))
        point.result.certificate.write(place / f"p-{j}.cert.gz")
        (place / f"p-{j}.mechanism.toml").write_text(dl.dumps(point.problem.release(point.result.mechanism.rows)))
        point.result.audit.certificate.write(place / f"p-{j}.mechanism.cert")
    return place


def test_it_stands_alone(page):
    found = elements(page).found
    assert not [attrs for tag, attrs in found if tag in ("iframe", "object", "embed", "base", "form")]
    for tag, attrs in found:
        for name in ("src", "href", "xlink:href", "action"):
            assert (attrs.get(name) or "#").startswith(("#", "data:")), (tag, attrs)
    assert "url(http" not in page
    assert "default-src 'none'" in page


def test_the_interval_is_told_in_both_units_and_outward(page, result):
    for unit in ("bits", "nats"):
        told = re.search(
            rf'<dt>Proved between</dt><dd>.*?<span class="{unit}">(\S+) \.\. (\S+) {unit}</span>', page, re.S
        )
        assert told is not None
        assert Fraction(told[1]) <= lower_in(result.lower, unit)
        assert Fraction(told[2]) >= upper_in(result.upper, unit)


def test_it_says_how_to_check_it_and_with_what_it_was_made(page, result):
    assert result.certificate.header.model in page
    assert hashlib.sha256(result.certificate.text.encode()).hexdigest() in page
    assert "dalenius verify" in page
    assert f"dalenius {dl.__version__}" in page


def _never(*_: object) -> None:
    raise AssertionError("histograms are listed")


@pytest.mark.parametrize("people", thinned([3, 400, 1_000_000], every=2))
def test_a_page_about_a_histogram_lists_none(people, monkeypatch):
    """Noise is on every cell: there is no matrix from histograms, and of many people no memory would hold them all."""
    monkeypatch.setattr(dl.Histogram, "values", _never)
    monkeypatch.setattr(dl.Histogram, "value_names", _never)
    asked = dl.WorstCaseLeakage(
        records=dl.Records(people, alphabet=5),
        query=dl.Histogram(),
        mechanism=dl.discrete_laplace(0.5),
        adversary=dl.IndependentBlocks(min(people, 4)),
    )
    made = report_page([(asked, dl.solve(asked))])
    assert "<dt>Proved between</dt>" in made
    assert ("By size of household, and with half the epsilon" in made) is (people > 1)
    assert MECHANISM not in made
    support.refused(lambda: mechanism_picture(asked), "has no matrix; draw the count of one cell")


def test_a_page_about_blocks_lists_no_more_values_than_a_model_may_have():
    asked = dl.WorstCaseLeakage(
        records=dl.Records(1_000_000, alphabet=3),
        query=dl.Histogram(),
        mechanism=dl.randomized_histogram(1),
        adversary=dl.IndependentBlocks(1),
    )
    made = report_page([(asked, dl.solve(asked, gap=0.1))])
    assert "<dt>Proved between</dt>" in made
    assert MECHANISM not in made
    support.refused(lambda: mechanism_picture(asked), "have 500001500001 histograms; at most 65536")


def test_a_page_shows_the_mechanism_that_has_a_matrix(page):
    assert MECHANISM in page


def test_how_to_cite_is_what_the_citation_file_says():
    cff = (ROOT / "CITATION.cff").read_text()
    for text in (pages.AUTHORS, pages.TITLE, pages.PAPER):
        assert f'"{text}"' in cff
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] in cff


def test_everything_from_files_is_text(audit, result, tmp_path):
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}"
    named = dataclasses.replace(audit, title=evil, source=evil)
    place = tmp_path / "<b>&'\"{{ 7 * 7 }}"
    place.mkdir()
    (place / "x.toml").write_text(dl.dumps(named))
    result.certificate.write(place / "x.cert")
    made = report_page([place], title=f"</title>{evil}")
    found = elements(made).found
    assert [tag for tag, _ in found].count("script") == 1
    assert not [tag for tag, _ in found if tag in ("img", "b")]
    assert not [name for _, attrs in found for name in attrs if name.startswith("on")]
    assert "49" not in re.sub(r"[\d.]+", lambda m: "" if m[0] != "49" else m[0], made[: made.index("<style")])


@pytest.mark.thorough
def test_a_folder_with_designs_their_frontier_and_audits(folder):
    made = report_page([folder])
    elements(made)
    assert made.count("The best that any mechanism can do for every budget") >= 1
    assert "budget 0.1 of distortion" in made
    assert "budget 0.3 of distortion" in made
    assert "The mechanism reveals about any one record" in made
    assert "4 certificates" in made


FALSE_OF_INFORMATION = (
    "reveal about one person",
    "leakage in",
    "one such adversary learns",
    "The adversary</th>",
    "to the adversary",
)


@pytest.mark.usefixtures("without_pictures")
def test_the_largest_information_is_no_leakage_and_has_no_adversary():
    funnel = dl.PrivacyFunnel([["1/4", "1/4", 0], [0, "1/8", "3/8"]], "0.05 bits")
    private = dl.MaxInformation(records=dl.Records(1, alphabet=2), query=dl.Identity(), privacy=dl.LocalDP("log 3"))
    for mechanisms, problem in (("within the limit", funnel), ("that is private", private)):
        found = dl.solve(problem, gap=1e-2)
        text = report_page([(problem, found)])
        elements(text)
        assert [words for words in FALSE_OF_INFORMATION if words in text] == []
        assert "<h1>How much a release can reveal</h1>" in text
        assert "<legend>Show information in</legend>" in text
        assert "<dt>The largest information, proved between</dt>" in text
        assert f"at least the smaller number; no mechanism {mechanisms} reveals more than the larger" in text
        told = re.search(
            rf"No mechanism {mechanisms} reveals more than (\S+) bits.*?reveals at least (\S+) bits", text, re.S
        )
        assert told is not None
        assert Fraction(told[1]) >= upper_in(found.upper, "bits")
        assert Fraction(told[2]) <= lower_in(found.lower, "bits")


@pytest.mark.usefixtures("without_pictures")
def test_a_usefulness_without_unit_is_no_information():
    guessed = dl.PrivacyFunnel([["1/4", "1/4", 0], [0, "1/8", "3/8"]], "0.05 bits", measure="guessing")
    found = dl.solve(guessed, gap=1e-2)
    text = report_page([(guessed, found)])
    elements(text)
    assert "<dt>The largest usefulness, proved between</dt>" in text
    assert "What it reveals is measured by the share of right guesses that it adds" in text
    told = re.search(
        r"No mechanism within the limit is more useful than ([\d.]+).*?comes to at least ([\d.]+)\.", text, re.S
    )
    assert told is not None
    assert Fraction(told[1]) >= found.upper
    assert Fraction(told[2]) <= found.lower


@pytest.mark.usefixtures("without_pictures")
def test_a_leakage_beside_the_largest_information_keeps_its_words(audit, result):
    private = dl.MaxInformation(records=dl.Records(1, alphabet=2), query=dl.Identity(), privacy=dl.LocalDP("log 3"))
    both, alone = report_page([(audit, result), (private, dl.solve(private))]), report_page([(audit, result)])
    assert all(words in alone for words in FALSE_OF_INFORMATION)
    assert "largest information" not in alone
    assert "How much a release can reveal" in both
    assert "one such adversary learns" in both
    assert "has less than the smaller number" not in both
    assert "no mechanism that is private reveals more" in both


@pytest.mark.usefixtures("without_pictures")
def test_the_smaller_number_of_a_design_is_about_all_mechanisms_not_about_an_adversary():
    design = support.design(dl.MinLeakage, dl.Records(4, alphabet=2), dl.Parity(), dl.Hamming(), "0.1", "0.5 max")
    found = dl.solve(design, gap=1e-2)
    alone = report_page([(design, found)])
    assert "has less than the smaller number" in alone
    assert "one such adversary learns" not in alone
    with_audit = report_page([(design, found), (design.release(found.mechanism.rows), found.audit)])
    assert "has less than the smaller number" in with_audit
    assert "one such adversary learns" in with_audit, "its audit has an interval of its own"


@pytest.mark.usefixtures("without_pictures")
def test_several_releases_are_beside_each_other(audit, result):
    other = dataclasses.replace(audit, mechanism=dl.geometric(2))
    lower = [dataclasses.replace(problem, adversary=dl.AnyPrior()) for problem in (audit, other)]
    solved = [(problem, dl.solve(problem, gap=0.1)) for problem in (*lower, other)]
    made = report_page([(audit, result), *solved])
    assert "All releases beside each other" in made
    assert ">mechanism.epsilon = 1<" in made
    assert ">mechanism.epsilon = 2<" in made


@pytest.mark.usefixtures("without_pictures")
def test_nothing_is_reported_that_is_not_proved(audit, result, tmp_path, command_line):
    (tmp_path / "x.toml").write_text(dl.dumps(audit))
    header, *lines = result.certificate.text.splitlines()
    lower = f'"upper":"{result.certificate.header.lower}"'
    forged = re.sub(r'"upper":"[^"]*"', lower, header)
    (tmp_path / "x.cert").write_text("\n".join([forged, *lines]) + "\n")
    with pytest.raises(dl.errors.NotProvedError, match="not proved, so that nothing of it is reported"):
        write_report([tmp_path], tmp_path / "page.html")
    told = command_line("report", tmp_path, "-o", "page.html")
    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (1, "", 1)
    assert not (tmp_path / "page.html").exists()


@pytest.mark.usefixtures("without_pictures")
def test_a_partial_sweep_says_that_it_is_partial(audit, result, tmp_path):
    (tmp_path / "x.toml").write_text(dl.dumps(audit))
    result.certificate.write(tmp_path / "x.cert")
    (tmp_path / "sweep.json").write_text('{"points": 25}')
    (tmp_path / "x-001.record.json").write_text("{}")
    assert "This report is partial:</strong> 1 of 25 points are done" in report_page([tmp_path])


@pytest.mark.usefixtures("without_pictures")
def test_certificates_find_their_models_or_say_what_is_missing(audit, result, tmp_path, folder):
    support.refused(lambda: report_page([tmp_path]), "no certificate")
    with pytest.raises(dl.errors.InputError, match="expected a path, or a pair"):
        report_page([audit])  # type: ignore[list-item]
    result.certificate.write(tmp_path / "lonely.cert")
    support.refused(lambda: report_page([tmp_path / "lonely.cert"]), "name the model's file as well")
    model = tmp_path / "elsewhere"
    model.mkdir()
    (model / "model.toml").write_text(dl.dumps(audit))
    assert "0.5 times" in report_page([tmp_path / "lonely.cert", model / "model.toml"])
    assert "record itself" in report_page(["identity/z-channel"]), "the library has its certificates beside its models"


@pytest.mark.usefixtures("without_pictures")
def test_folders_of_programs_are_not_searched(audit, result, tmp_path, monkeypatch):
    """Whoever reports a project's folder means the certificates there, not what stands in a virtual environment."""
    (tmp_path / "model.toml").write_text(dl.dumps(audit))
    result.certificate.write(tmp_path / "model.cert")
    for place in (".git", "env/lib/deep", "sub/site-packages", "sub/__pycache__"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "broken.cert").write_text("no certificate")
        (tmp_path / place / "broken.toml").write_text("no model")
    with pytest.raises(dl.errors.InputError, match=r"env.lib.deep.broken\.cert"):
        report_page([tmp_path])
    (tmp_path / "env/pyvenv.cfg").write_text("home = /usr/bin")
    assert "0.5 times" in report_page([tmp_path])
    monkeypatch.setattr("dalenius.report.page.proofs.MOST_FILES", 1)
    support.refused(lambda: report_page([tmp_path]), "more than 1 files; name the folder")


def test_what_is_missing_is_said_before_any_file_is_read(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    support.refused(lambda: report_page([tmp_path / "nowhere"]), "reports need jinja2 and matplotlib")


@pytest.mark.usefixtures("without_pictures")
def test_the_command(command_line, folder, tmp_path):
    done = command_line("report", folder, "-o", "page.html", "--title", "Ours")
    assert (done.returncode, done.stdout, done.stderr) == (0, "page.html\n", "")
    assert "<h1>Ours</h1>" in (tmp_path / "page.html").read_text()
    assert (
        command_line("report", folder, "-o", "page.txt").stderr.strip().endswith("expected a file that ends in .html")
    )
    assert command_line("report", tmp_path / "nowhere", "-o", "p.html").returncode == 2


# What is told besides the interval: bounds that hold for every adversary, and numbers at the prior that is exhibited.


def test_no_guess_gains_more_than_the_bound():
    """Channels and priors of two to five letters."""
    rng = np.random.default_rng(1)
    closest = math.inf
    for _ in range(500):
        letters, outputs = rng.integers(2, 6, 2)
        prior = rng.dirichlet(np.full(letters, 0.7))
        joint = prior[:, None] * rng.dirichlet(np.full(outputs, 0.7), size=letters)
        advantage = joint.max(axis=0).sum() - prior.max()
        bound = min(advantage_by_bits(max(information(joint), 0.0) + 1e-12), 1 - 1 / letters)
        assert advantage <= bound + 1e-9
        closest = min(closest, bound - advantage)
    assert closest < 0.05, "it is met closely, so that it says something"


def test_a_symmetric_bit_in_closed_form():
    problem = support.problem(dl.Records(1, alphabet=2), dl.Identity(), dl.symmetric("1/4", k=2), dl.AnyPrior())
    facts = facts_of(Proof(problem, dl.solve(problem).certificate))
    assert facts.guess_at_prior.startswith("0.2")
    low, high = (float(end) for end in facts.guess.split(" .. "))
    assert low <= 0.25 <= high <= math.sqrt(0.5 * (math.log(2) + 0.25 * math.log(0.25) + 0.75 * math.log(0.75))) + 1e-3
    assert facts.sharpest is not None
    assert facts.without is not None
    assert facts.without.bits == "0", "nobody else is there to give it away"
    assert facts.factor == "1.5 times"


def test_where_no_prior_is_shown_it_says_why():
    problem = support.problem(dl.Records(2, alphabet=2), dl.Parity(), dl.symmetric("1/2", k=2), dl.AnyPrior())
    facts = facts_of(Proof(problem, dl.solve(problem).certificate))
    assert facts.sharpest is None
    assert "shows no prior" in facts.why_not
    assert facts.guess == "at most 0"
