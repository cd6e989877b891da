"""Every stored certificate ends as the table says; nothing in the folder is left out of the table."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from dalenius_check import Status, check

CORPUS = Path(__file__).parent / "corpus"
TABLE = tomllib.loads((CORPUS / "index.toml").read_text())["file"]


@pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry["path"].removesuffix(".cert"))
def test_verdict(entry):
    model = (CORPUS / "models" / f"{entry['model']}.toml").read_bytes()
    verdict = check(model, (CORPUS / entry["path"]).read_bytes())
    assert verdict.exit_code == entry["status"], verdict.reason
    assert entry.get("reason", "") in verdict.reason
    assert "\n" not in verdict.reason
    assert verdict.reason.isascii()
    if verdict.status is Status.PROVED:
        assert (verdict.lower is None) == (verdict.upper is None) == ("infeasible" in entry["path"])
        assert verdict.lower is None or verdict.lower <= verdict.upper
        assert all("\n" not in line for line in verdict.lines)
    else:
        assert verdict.lower is None
        assert verdict.lines == ()


def test_table_is_complete():
    stored = {path.relative_to(CORPUS).as_posix() for path in CORPUS.glob("*/*.cert")}
    assert stored == {entry["path"] for entry in TABLE}
    assert {path.stem for path in (CORPUS / "models").iterdir()} == {entry["model"] for entry in TABLE}
    count = Counter(entry["status"] for entry in TABLE)
    assert count[0] >= 175
    assert count[1] >= 540
    assert count[2] >= 130
    assert count[3] >= 5
    assert sum(path.stat().st_size for path in CORPUS.rglob("*.*")) < 800_000


def test_precision_is_restored():
    from flint import ctx

    before, ctx.prec = ctx.prec, 77
    try:
        for entry in TABLE[:3]:
            check((CORPUS / "models" / f"{entry['model']}.toml").read_bytes(), (CORPUS / entry["path"]).read_bytes())
            assert ctx.prec == 77
    finally:
        ctx.prec = before
