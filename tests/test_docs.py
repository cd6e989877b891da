"""What pages tell people to type works: the tutorial and the guides as they stand, all other commands as far as they can be read."""

import ast
import doctest
import importlib
import importlib.util
import io
import re
import shlex
import sys
import tokenize
import tomllib
import types
from pathlib import Path

import pytest

import dalenius as dl
from campaigns import each, thinned
from dalenius.cli import whole_command

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLLOWED = [
    *sorted((DOCS / "guides").glob("*.md"), key=lambda page: page.stem != "certificate"),
    DOCS / "tutorial.md",
    ROOT / "README.md",
]
PAGES = [ROOT / "README.md", ROOT / "models" / "README.md", *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def commands(text):
    """Each command of a console block, with what it is said to print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, printed = re.sub(r" \\\n\s*", " ", part).partition("\n")
        yield line, printed


def words_of(line, folder, monkeypatch):
    """The program and its arguments; standard input is the file after `<`."""
    words = shlex.split(line, comments=True)
    if "<" in words:
        text = (folder / words.pop()).read_bytes()
        words.remove("<")
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(text)))
    if words[:3] == ["python", "-m", "dalenius_check"]:
        return "dalenius_check", words[3:]
    assert words[0] == "dalenius", line
    return "dalenius.cli", words[1:]


@pytest.mark.parametrize("page", thinned(FOLLOWED, every=4), ids=lambda page: page.stem)
def test_the_page_can_be_followed(page, command_line, tmp_path, monkeypatch):
    """Blocks whose first line is a comment with the name of a file are that file; commands print what is under them."""
    for language, text in BLOCK.findall(page.read_text()):
        if language == "toml":
            (tmp_path / re.match(r"# (\S+\.toml)\n", text)[1]).write_text(text)
        if language != "console":
            continue
        for line, printed in commands(text):
            if line.startswith("make "):
                continue
            program, arguments = words_of(line, tmp_path, monkeypatch)
            done = command_line(*arguments, program=program)
            assert done.returncode == 0, (line, done.stderr)
            agrees = doctest.OutputChecker().check_output(printed, done.stdout, SAME)
            assert not printed or agrees, f"$ {line}\n{done.stdout}\nis not\n{printed}"


def test_the_examples_of_the_format_pages_are_a_model_and_its_proof():
    """As they stand there: the annotated certificate is proved for its model, and the annotated model is the same one."""
    certificate, model = ((DOCS / f"{name}-format.md").read_text() for name in ("certificate", "model"))
    (_, stated), (_, lines), *_ = BLOCK.findall(certificate)
    assert dl.verify(dl.loads(stated), dl.Certificate(lines)).proved
    assert dl.loads(BLOCK.search(model)[2]) == dl.loads(stated)
    assert all(page.index("```\n\n") < 3000 for page in (certificate, model))  # on the first screen


@each("page", *PAGES)
def test_code_fits_a_page(page):
    """At most 88 columns, so that nothing scrolls on the site; a line of a certificate and formulas of Coq are what they are."""
    long = [
        line
        for language, text in BLOCK.findall(page.read_text())
        for line in text.splitlines()
        if len(line) > 88
        and language not in ("coq", "text")
        and not line.startswith('{"format"')
        and len(re.findall(r"\S  +\S", line)) < 4  # a row of a table
    ]
    assert long == []


PLAIN = [
    page
    for page in PAGES
    if page.stem not in ("theory", "certificate-format", "certificate-proofs", "model-format", "formal")
]
SAID_OTHERWISE = {  # what a page does not say, and what it says instead; words of the papers stay where the papers are quoted
    r"\btells?\b(?! (the truth|apart|two hypotheses apart))": "reveals, leaks, says",
    r"\btold\b(?! apart)": "revealed, known, said",
    r"\bgives? away\b": "reveals, leaks",
    r"\bhangs? together\b": "is correlated",
    r"\b(has|have) to do with\b": "is correlated with, depends on",
    r"\bto whom knows\b|\bwhom knows\b": "an adversary who knows",
    r"\b(begun anew|watchers|no more than everything)\b": "restart, cutting plane, vacuous",
}


@each(
    "page",
    *[page for page in PLAIN if page.stem not in ("reproduction", "errors-in-the-papers", "programs", "CHANGELOG")],
)
def test_pages_are_in_plain_english(page):
    """The table of words, held in prose: code and quoted names are left out."""
    prose = re.sub(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found = [(m[0], say) for words, say in SAID_OTHERWISE.items() for m in re.finditer(words, prose, re.IGNORECASE)]
    assert found == []


def test_every_block_of_code_ends_where_it_should():
    """A fence that nobody closed turns prose into code."""
    for page in PAGES:
        outside = re.sub(r"^```(\{toctree\}|\w*)\n.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        assert "\n```" not in outside, page
        assert not any("](" in line for kind, text in BLOCK.findall(page.read_text()) for line in text.splitlines()), (
            page
        )


def test_the_certificate_format_is_a_page_that_can_be_read():
    """The rules alone: why they prove what they prove, and how the checker works, have pages of their own."""
    assert len((DOCS / "certificate-format.md").read_text().split()) <= 17_410


def test_the_job_of_the_guide_runs_commands_that_the_guide_is_tested_by():
    """Its steps are typed on the page, too, where they are run; only the installation is not."""
    blocks = dict(BLOCK.findall((page := DOCS / "guides" / "gate.md").read_text()))
    steps = re.findall(r"^\s+- run: (.*)$", blocks["yaml"], re.MULTILINE)
    typed = [line for kind, text in BLOCK.findall(page.read_text()) if kind == "console" for line, _ in commands(text)]
    assert len(steps) == 3
    assert [step for step in steps if step not in typed] == steps[:1]


@pytest.fixture(scope="module")
def program():
    """The program as its parser knows it."""
    return whole_command()


@each("page", *PAGES)
def test_every_command_of_a_page_can_be_read(page, program):
    """There is such a command, with such options; it is not run."""
    for language, text in BLOCK.findall(page.read_text()):
        for line, _ in commands(text) if language == "console" else ():
            words = shlex.split(re.split(r" [<|>] ", line)[0], comments=True)
            if not words or not words[0].endswith("dalenius"):
                continue
            command = program
            name, arguments = words[1], words[2:]
            while name in getattr(command, "commands", {}):
                command = command.commands[name]
                if not hasattr(command, "commands"):
                    break
                name, *arguments = arguments
            assert not hasattr(command, "commands"), line
            command.make_context("dalenius", list(arguments)).close()


def code_lines(path):
    """How many lines of a file hold more than a comment or a text that stands alone."""
    text = path.read_text()
    alone = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    told = (
        t
        for t in tokenize.generate_tokens(io.StringIO(text).readline)
        if t.type != tokenize.COMMENT and t.string.strip()
    )
    return len({line for t in told for line in range(t.start[0], t.end[0] + 1)} - alone)


@pytest.mark.parametrize(
    ("page", "words", "folder"),
    [
        ("README.md", r"about ([\d,]+) lines of code", "dalenius_check"),
        ("models/README.md", r"about ([\d,]+) lines of code", "dalenius_check"),
        ("docs/own-models.md", r"([\d,]+) lines of code of their own", "cvxcertify/check"),
    ],
)
def test_what_pages_say_of_the_size_of_the_checker_is_counted(page, words, folder):
    """To its first digit, which does not change with every line."""
    said = int(re.search(words, (ROOT / page).read_text())[1].replace(",", ""))
    counted = sum(map(code_lines, (ROOT / "src" / folder).rglob("*.py")))
    assert float(f"{counted:.1g}") == said, counted


@pytest.fixture(scope="module")
def layout():
    """What lays out the sources of the site."""
    specification = importlib.util.spec_from_file_location("stage", DOCS / "site" / "stage.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_every_public_name_has_a_place_in_the_api(layout):
    told = {name for _, text in layout.api() for name in re.findall(r"^\.\. auto\w+:: (\w+)$", text, re.MULTILINE)}
    assert {name for name in dir(dl) if name[0] != "_" and name not in dl.ROOMS} <= told
    assert {*dir(dl.answers), "Band", "WeightedSum", "InputError", "Query"} <= told


def test_no_page_of_the_api_is_empty_and_no_name_is_another_s_alias(layout):
    """Whatever stands there has a docstring, and is called what its class is called, or its kind."""
    aliases, bare = [], []
    for place, text in layout.api():
        modules = re.split(r"^\.\. currentmodule:: (\S+)$", text, flags=re.MULTILINE)
        found = 0
        for module, part in zip(modules[1::2], modules[2::2], strict=True):
            for name in re.findall(r"^\.\. auto\w+:: (\w+)$", part, re.MULTILINE):
                thing = getattr(importlib.import_module(module), name)
                found += 1
                if isinstance(thing, type) and name not in (thing.__name__, getattr(thing, "kind", None)):
                    aliases.append(name)
                if not (thing.__doc__ or "").strip():
                    bare.append(name)
        assert found or place == "api/index.rst", place
    assert aliases == ["MaximalLeakage"]  # the source paper's name, which says so itself
    assert bare == []


def test_links_lead_to_pages_as_they_are_laid_out(layout):
    pages = {"docs/a.md": "a.md", "docs/guides/b.md": "guides/b.md", "models/INDEX.md": "library/intervals.md"}
    text = "[one](a.md#x) `[not](a.md)` ![two](images/fair-survey.png) [three](../models/INDEX.md) [four](../src/dalenius/units.py)"
    assert layout.relinked(text, "docs/c.md", "c.md", pages) == (
        "[one](a.md#x) `[not](a.md)` ![two](images/fair-survey.png) [three](library/intervals.md) four (`src/dalenius/units.py`)"
    )
    assert layout.relinked("[one](../a.md)", "docs/guides/b.md", "guides/b.md", pages) == "[one](../a.md)"
    model = "[m](parity/laplace-n4-b2.5.toml)"
    assert (
        layout.relinked(model, "models/INDEX.md", "library/intervals.md", pages)
        == "[m](../library/parity.md#laplace-n4-b25)"
    )


# What a package index shows of README.md: no link and no picture leads nowhere.


@pytest.fixture(scope="module")
def page():
    """The page as the build makes it: README.md, and what is replaced in it."""
    hook = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["metadata"]["hooks"]
    hook = hook["fancy-pypi-readme"]
    parts = [part.get("text") or (ROOT / part["path"]).read_text() for part in hook["fragments"]]
    text = "".join(parts)
    for change in hook["substitutions"]:
        text = re.sub(change["pattern"], change["replacement"], text)
    return text


def test_every_link_leads_to_another_site(page):
    targets = re.findall(r"\]\(([^)]*)\)", re.compile(r"```.*?```|`[^`]*`", re.DOTALL).sub("", page))
    assert [target for target in targets if not target.startswith(("https://", "http://"))] == []


def test_files_are_named_and_there(page):
    """What was a link is the name of a file of the source distribution."""
    written = set(re.findall(r"\b(?:docs|models)/[\w/-]+\.md\b", page))
    linked = set(re.findall(r"\]\((docs/[^)#]*\.md)", (ROOT / "README.md").read_text()))
    assert "docs/model-format.md" in linked <= written
    assert all((ROOT / name).is_file() for name in written)


def test_code_is_not_touched(page):
    blocks = re.compile(r"```.*?```", re.DOTALL)
    assert blocks.findall(page) == blocks.findall((ROOT / "README.md").read_text())
