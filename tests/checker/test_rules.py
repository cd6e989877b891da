"""A verdict names the rules that it used, and the pages say what these are."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import cases
import dalenius_check
from campaigns import draws
from dalenius_check import check
from dalenius_check.core.allowance import LEMMAS, lemma
from test_corpus import HOLES
from test_forgeries import OFTEN, SELDOM
from test_program import code_lines

PACKAGE = Path(dalenius_check.__file__).parent
LEMMA_FILES = PACKAGE / "lemmas"
DOCS = Path(__file__).parents[2] / "docs"
MODELS = Path(__file__).parents[2] / "models"
SHARED = {  # what other rules use of a lemma's module without resting on its theorem
    "sizes_of",  # how many records a block has
    "part_rows",  # the rows of one of several mechanisms
    "product_rows",  # those of several together, whichever are one
    "sides",  # the least and the largest of a private row
    "Series",  # a polynomial of numbers that are known from below
    "series",
    "patterns",  # numbers that add up to another
    "margin",  # how far noise is clamped
    "arctangent",
    "Walks",  # the lines of chains, whatever their letters
    "letters",  # their records and parameters, and what one of them tells
    "Alone.__init__",
    "subject",
    "Informative",  # what a mechanism tells
    "columns",  # by one of these measures
    "Inputs",  # a mechanism's, and their law
}


def files_of(name: str) -> list[Path]:
    """A lemma's module, one file or a folder."""
    return sorted([*(LEMMA_FILES / name).rglob("*.py"), *LEMMA_FILES.glob(f"{name}.py")])


@cache
def lemma_in(file: str) -> str | None:
    """The lemma whose module a file is; none of what several share."""
    path = Path(file)
    if not path.is_relative_to(LEMMA_FILES) or path.stem in SHARED:
        return None
    return path.relative_to(LEMMA_FILES).parts[0].removesuffix(".py")


@contextmanager
def running() -> Iterator[set[tuple[str, str]]]:
    """The functions of lemma modules that are run in a block, with the lemma's name.

    Left out is what a module does when it is loaded, and how a model is read.
    """
    found = set[tuple[str, str]]()
    loading = 0

    def look(frame, event, _):
        nonlocal loading
        if frame.f_code.co_name in ("<module>", "model_of"):
            loading += {"call": 1, "return": -1}.get(event, 0)
        if event == "call" and not loading and (name := lemma_in(frame.f_code.co_filename)):
            found.add((name, frame.f_code.co_qualname.split(".<locals>")[0]))

    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(None)


ACCEPTED = [name for name, case in cases.cases().items() if case.status == 0 and len(case.certificate) <= 20_000]
ACCEPTED.sort(key=lambda name: len(cases.cases()[name].certificate))


def test_a_verdict_names_every_lemma_that_was_run_and_no_other():
    said, of_core = set[str](), set[str]()
    files = {name: cases.cases()[name].files for name in ACCEPTED}
    one = MODELS / "scale" / "secure-sum-64"
    files["separate"] = one.with_suffix(".toml").read_bytes(), one.with_suffix(".cert.gz").read_bytes()
    # watching takes several times as long as checking: daily the shortest case of the same rules
    watched = Counter[tuple[str, ...]]()
    for name, (model, certificate) in files.items():
        watched[rules := (found := check(model, certificate)).rules] += 1
        if rules == ("core",):
            of_core |= {kind for line in found.lines if line[:7] == "leaves:" for kind in re.findall(r"\d (\w+)", line)}
        if watched[rules] > draws(1, len(files)):
            continue
        with running() as found:
            verdict = check(model, certificate)
        core, *others = verdict.rules
        named = {rule.split(" (")[0].replace(" ", "_") for rule in others}
        run = {module for module, what in found if what not in SHARED and what.split(".")[0] not in SHARED}
        assert (core, named) == ("core", run), name
        assert f"rules used: {'; '.join(verdict.rules)}" in verdict.lines
        said |= named
    assert said == LEMMAS.keys()
    page = (DOCS / "guarantee.md").read_text().split("Which of the core's theorems")[1].split("\n\nCode lines")[0]
    assert of_core == set(re.findall(r"`(\w+)`", page)), "the kinds of leaves, each with its theorem"


def test_what_is_not_proved_rests_on_nothing():
    case = next(case for case in cases.cases().values() if case.status == 1)
    assert check(*case.files).rules == ()


def test_the_lemmas_are_the_modules_and_each_begins_with_its_theorems():
    modules = {path.stem if path.is_file() else path.name for path in LEMMA_FILES.iterdir()} - {
        "__init__",
        "__pycache__",
    }
    assert modules == LEMMAS.keys()
    for name, theorems in LEMMAS.items():
        words = lemma(name).__doc__
        first, *named = re.findall(r"\b([A-Z][0-9])\b", words.split("Hypotheses")[0])
        assert words.startswith("Theorem"), name
        assert first == theorems[0], name
        assert {first, *named} >= set(theorems) or "to" in words.split(":")[0], name
        assert "Hypotheses, each a line that refuses: " in words, name


def test_every_theorem_is_in_the_theory_once():
    numbers = re.findall(r"Theorem ([A-Z][0-9])\b", (DOCS / "theory.md").read_text())
    assert len(numbers) == len(set(numbers))
    assert {theorem for theorems in LEMMAS.values() for theorem in theorems} <= set(numbers)
    above = (DOCS / "theory.md").read_text().split("\n## ")[0]
    named = [name for line in above.splitlines() if line[:1] == "|" for name in re.findall(r"\b[A-Z][0-9]\b", line)]
    assert sorted(named) == sorted(numbers), "the map at the top has each once"
    assert set(re.findall(r"\b[A-Z][0-9]\b", table()["core"][0])) == set(numbers) - {
        theorem for theorems in LEMMAS.values() for theorem in theorems
    }


def table() -> dict[str, tuple[str, str, str, str]]:
    """The rows of the table of rules, by name."""
    section = (DOCS / "guarantee.md").read_text().split("## Rules, and who has read them")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return {name: (theorem, lines, read, proved) for name, theorem, lines, read, proved in rows[2:]}


def test_the_table_of_rules_is_that_of_the_program():
    rows = table()
    assert [name.replace(" ", "_") for name in rows] == ["core", *LEMMAS]
    for name, (theorems, lines, *_) in rows.items():
        key = name.replace(" ", "_")
        files = files_of(key) if key in LEMMAS else sorted((PACKAGE / "core").rglob("*.py"))
        counted = sum(code_lines(path.read_text()) for path in files)
        assert abs(int(lines.replace(",", "")) - counted) <= 10, (name, counted)
        assert key == "core" or tuple(theorems.split(", ")) == LEMMAS[key]


def test_what_is_said_of_a_proof_assistant_is_what_it_has_proved():
    """A theorem that is proved there is printed by name in docs/formal.md."""
    printed = (DOCS / "formal.md").read_text()
    proved = {
        "A1": "counted",
        "A2": "below_correct",
        "D1": "joint_leaf",
        "D3": "row_check_correct",
        "D4": "check_correct",
    }
    proved |= {"C1": "curve_bound", "D2": "worth_grouped", "P1": "listed_correct"}
    proved |= {"S2": "chamber", "S4": "orbit_prior", "S5": "moved_posterior"}
    proved |= {"D5": "info_convex", "I1": "blocks_correct", "B1": "splits_bound", "K1": "class_blocks_correct"}
    said = {number for row in table().values() for number in re.findall(r"\b[A-Z][0-9]\b", row[3])}
    assert said == proved.keys()
    assert all(f"`{name}`" in printed for name in proved.values())


def asked() -> list[tuple[str, str, str, str]]:
    """The table of hypotheses: theorem, hypothesis, the function that asks, and the claim that is false without it."""
    section = (DOCS / "checker.md").read_text().split("## What each lemma asks")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line[:1] == "|"]
    return [(theorem, words, where.strip("`"), claim) for theorem, words, where, claim in rows[2:]]


def test_every_theorem_of_a_lemma_has_hypotheses_without_which_a_false_claim_is_proved():
    holes = {**OFTEN, **SELDOM, **HOLES}  # which other tests plant, one by one
    for _, words, where, claim in asked():
        assert claim in holes, words
        assert holes[claim].partition(": ")[0] == where, words
        assert " " in claim or cases.cases()[claim].status in (1, 2), words
    assert {theorem for theorem, *_ in asked()} == {one for theorems in LEMMAS.values() for one in theorems}
