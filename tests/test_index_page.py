"""What a package index shows of README.md: no link and no picture leads nowhere."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


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
