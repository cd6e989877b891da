"""The command audit."""

import json
import re
import sys

import pytest

import dalenius as dl

TOWN = ("--mechanism", "discrete_laplace:0.5", "--people", "1000000", "--blocks", "4")


def test_a_page_without_a_model(command_line):
    done = command_line("audit", *TOWN)
    assert done.returncode == 0, done.stderr
    assert "**At most 0.3668 bits (0.2543 nats) of 1 bit possible about any one person**" in done.stdout
    told = dl.audit(dl.discrete_laplace(0.5), records=1_000_000, adversary=dl.IndependentBlocks(4))
    assert done.stdout == str(told)


def test_json_has_every_number_with_what_it_rests_on(command_line):
    answer = json.loads(command_line("audit", *TOWN, "--json").stdout)
    assert 0.3667 < answer["leakage"]["lower"] <= answer["leakage"]["upper"] < 0.3668
    assert answer["leakage"]["because"] == "proved"
    assert answer["bayes_advantage"]["because"] == answer["without_own_answer"]["because"] == "computed"
    assert answer["certificate"] is None


def test_what_is_left_out_is_what_it_is_in_python(command_line):
    for arguments, told in (
        (("randomized_count:1", "--people", "4"), dl.audit(dl.randomized_count(1), records=4)),
        (
            ("randomized_response:1", "--people", "1", "--alphabet", "3"),
            dl.audit(dl.randomized_response(1), records=dl.Records(1, alphabet=3)),
        ),
    ):
        done = command_line("audit", "--mechanism", *arguments)
        assert done.returncode == 0, done.stderr
        assert done.stdout == str(told)


@pytest.mark.parametrize("ending", [".md", pytest.param(".html", marks=pytest.mark.thorough)])
def test_the_page_stands_beside_its_proof(command_line, tmp_path, ending):
    done = command_line("audit", "parity/laplace-n4", "-o", f"told{ending}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"told{ending}\ntold.cert\ntold.toml\n"
    assert dl.verify(tmp_path / "told.toml", tmp_path / "told.cert").proved
    assert "dalenius verify told.toml told.cert" in (tmp_path / f"told{ending}").read_text()
    again = command_line("audit", "parity/laplace-n4", "--gap", "0.5", "-o", f"told{ending}")
    assert again.returncode == 0, again.stderr


def test_a_page_that_cannot_be_made_replaces_nothing(command_line, tmp_path, monkeypatch):
    pytest.importorskip("jinja2", reason="needs jinja2: pip install jinja2")

    def none(*_: object, **__: object) -> str:
        raise MemoryError

    names = [tmp_path / f"told{ending}" for ending in (".cert", ".html", ".toml")]
    for path in names:
        path.write_text("of an earlier run")
    monkeypatch.setattr("dalenius.report.audit.report_page", none)
    done = command_line("audit", "parity/laplace-n4", "-o", "told.html", "--force")
    assert done.returncode != 0
    assert "out of memory" in done.stderr
    assert [path.read_text() for path in names] == ["of an earlier run"] * 3


@pytest.mark.parametrize("text", ["[project]\n", dl.dumps(dl.load("count/geometric-n4"))])
def test_a_file_of_another_question_beside_the_page_stays(command_line, tmp_path, monkeypatch, text):
    """It may be what somebody wrote by hand; before the work, and nothing else is written."""
    (tmp_path / "told.toml").write_text(text)
    with monkeypatch.context() as patch:
        patch.setattr(dl, "audit", None)
        done = command_line("audit", "parity/laplace-n4", "-o", "told.md")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("dalenius: told.toml: stands there, and is not the model of this question")
    assert [path.name for path in tmp_path.iterdir()] == ["told.toml"]
    assert (tmp_path / "told.toml").read_text() == text
    answer = json.loads(command_line("audit", "parity/laplace-n4", "-o", "told.md", "--force", "--json").stdout)
    assert (answer["page"], answer["certificate"], answer["model"]) == ("told.md", "told.cert", "told.toml")
    assert dl.verify(tmp_path / "told.toml", tmp_path / "told.cert").proved


def test_a_page_about_a_looser_certificate_names_that(command_line, tmp_path):
    command_line("audit", "count/geometric-n4", "--gap", "1e-6", "-o", "told.md")
    first = (tmp_path / "told.cert").read_bytes()
    done = command_line("audit", "count/geometric-n4", "--gap", "0.9", "-o", "told.md")
    assert done.stdout == "told.md\ntold.looser.cert\ntold.looser.toml\n"
    assert (tmp_path / "told.cert").read_bytes() == first
    assert dl.verify(tmp_path / "told.looser.toml", tmp_path / "told.looser.cert").proved
    assert "dalenius verify told.looser.toml told.looser.cert" in (tmp_path / "told.md").read_text()


def test_what_pages_need_is_asked_before_the_work(command_line, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr(dl, "audit", None)
    done = command_line("audit", "parity/laplace-n4", "-o", "told.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert "reports need jinja2 and matplotlib" in done.stderr
    assert list(tmp_path.iterdir()) == []


SURVEY = "family,smokes\na,yes\nb,no\na,no\nc,no\na,yes\n"
COLUMNS = ("--answer", "smokes", "--household", "family", "--letters", "no,yes")


def test_households_of_a_table(command_line, tmp_path):
    (tmp_path / "survey.csv").write_text(SURVEY)
    done = command_line("audit", "--mechanism", "discrete_laplace:0.5", "--table", "survey.csv", *COLUMNS, "-o", "p.md")
    assert done.returncode == 0, done.stderr
    problem = dl.load(tmp_path / "p.toml")
    assert problem.adversary == dl.IndependentBlocks(sizes=[3, 1, 1])
    assert (problem.records, problem.query) == (dl.Records(5, alphabet=2), dl.Count())
    assert "0.25 bits" in (tmp_path / "p.md").read_text()
    assert done.stderr.startswith("WARNING: p.toml states the size of every household in survey.csv")
    assert done.stderr.count("\n") == 1
    assert (problem.records.answer, problem.records.letters) == ("smokes", ("no", "yes")), "which of them is counted"
    assert "how many of them have yes in smokes" in " ".join(command_line("audit", "p.toml").stdout.split())
    drawn = command_line("release", "p.toml", "--table", "survey.csv", "--seed", "1")
    assert "how many of them have yes in smokes" in drawn.stdout, drawn.stderr
    done = command_line("release", "p.toml", "--table", "survey.csv", "--letters", "yes,no")
    assert "letters: the model has them in the order ['no', 'yes'], got ['yes', 'no']; leave them out" in done.stderr
    (tmp_path / "survey.csv").write_text(SURVEY.replace("b,no", "b,maybe"))
    done = command_line("audit", "--mechanism", "discrete_laplace:0.5", "--table", "survey.csv", *COLUMNS)
    assert done.returncode == 2
    assert "maybe" not in done.stderr
    (tmp_path / "survey.csv").write_text(SURVEY.replace(",", ";"))
    done = command_line("audit", "--mechanism", "discrete_laplace:0.5", "--table", "survey.csv", *COLUMNS)
    assert "columns are separated by commas here, not by ';'; it must hold the names" in done.stderr
    (tmp_path / "nameless.csv").write_text("a,yes\nb,no\n")
    nameless = ("--table", "nameless.csv", "--answer", "yes", "--household", "a", "--letters", "no,yes")
    done = command_line("audit", "--mechanism", "geometric:1", *nameless)
    assert "nameless.csv: line 1 holds an entry (not shown) where a column's name is expected" in done.stderr
    done = command_line("audit", "--mechanism", "geometric:1", "--table", "nameless.csv", *COLUMNS, "--margins", "2")
    assert done.returncode == 2
    for more in (("--people", "3"), ("--blocks", "2")):
        done = command_line("audit", "--mechanism", "geometric:1", "--table", "survey.csv", *COLUMNS, *more)
        assert "--table says so already" in done.stderr


def test_several_columns_of_a_table_are_several_tables(command_line, tmp_path):
    (tmp_path / "survey.csv").write_text("family,smokes,sex\na,yes,f\nb,no,f\na,no,m\n")
    given = ("audit", "--mechanism", "discrete_laplace:0.5", "--table", "survey.csv", "--household", "family")
    both = (*given, "--answer", "smokes,sex", "--letters", "no,yes;f,m,x", "--query")
    done = command_line(*both, "margins sex,smokes*sex", "-o", "p.md")
    assert done.returncode == 0, done.stderr
    problem = dl.load(tmp_path / "p.toml")
    assert problem.query == dl.queries.Margins([2, 3], [[1], [0, 1]])
    assert problem.adversary == dl.IndependentBlocks(sizes=[2, 1])
    assert problem.records.letters[4] == "yes, m"
    page = " ".join((tmp_path / "p.md").read_text().replace("\n> ", " ").split())
    assert page.count("2 tables of how many of") == page.count("or combination of values: sex; smokes by sex,") == 2
    (tmp_path / "joined.csv").write_text('"smokes, sex"\n"yes, f"\n"no, m"\n"no, f"\n')
    drawn = " ".join(command_line("release", "p.toml", "--data", "joined.csv", "--seed", "1").stdout.split())
    number = r"-?\d+"
    cells = f"f: {number}; m: {number}; x: {number}; no, f: {number}; no, m: {number}"
    assert re.search(f"each value of smokes, sex: {cells}", drawn)
    once = ("release", "p.toml", "--table", "survey.csv", "--seed", "1")
    assert " ".join(command_line(*once).stdout.split()) == drawn, "the columns are joined"
    named = command_line(*once, "--answer", "smokes, sex", "--letters", "no,yes;f,m,x")
    assert " ".join(named.stdout.split()) == drawn, named.stderr
    swapped = command_line(*once, "--answer", "sex,smokes")
    assert (swapped.returncode, "is none of record 0's letters" in swapped.stderr) == (2, True)
    unknown = command_line(*once, "--answer", "smokes,age")
    assert "line 1 names no column 'age'" in unknown.stderr
    for asked, words in (
        ("margins age", "expected tables by the columns in --answer, smokes, sex, such as smokes*sex, or a number"),
        ("margins", "or a number of columns for all tables of at most so many; got ''"),
        ("margins 3", "expected an integer of at most 2, got 3"),
    ):
        assert words in " ".join(command_line(*both, asked).stderr.split())
    one = command_line(*given, "--answer", "smokes,sex", "--letters", "no,yes;f,m;x", "--query", "margins 1")
    assert "expected the answers of 2 columns, parted by semicolons, got 3" in " ".join(one.stderr.split())
