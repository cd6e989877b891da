"""The corpus: what the checker must accept or reject, each case a model, a certificate, how it ends and a part of the reason.

`cases/TOPIC.toml` lists the cases of a topic. A certificate is stored (`cases/stored/NAME.cert`, where the bytes matter or a search
found the numbers), spelled out, or another case's with an edit. Every key but `model` and what makes the certificate is optional:

    [case.NAME]
    model = "parity4"            # of `[model.NAME]` tables, in any topic
    stored = true                # cases/stored/NAME.cert; or
    claim = ["0", "0.1"]         # lower and upper; each may stand alone, as `lower` or `upper`
    header = { unit = '"bits"' } # whatever else the first line has that is not usual, in JSON; the digest is filled in
    lines = ['["record",0]']     # and all other lines; or
    base = "OTHER"               # another case's certificate, with another claim or header, without the header's keys in `drop`,
    edit = [[2, 3, '["row"]']]   # and lines 2 up to 3 (the header is 0) replaced; all line numbers are the base's;
    spaced = true                # with a blank after every comma and colon;
    swap = [["old", "new"]]      # at last pieces of the text, each there once, replaced
    resolved = true              # with the opt-in for mechanisms of unknown kinds
    status = 2                   # 0 proved, 1 rejected, 2 not read, 3 undecided, 4 resolved; if left out 1 with a reason, 0 without
    reason = "must be"           # a part of the reason

A model is a `text`, another model (`base`) with a `swap`, or `stored`. `python tests/checker/cases.py FOLDER` writes every model and
certificate into a folder, for another checker, say.
"""

import functools
import json
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dalenius_check import Verdict
from dalenius_check.core.model import parse_model

HERE = Path(__file__).parent / "cases"
UNITS = {
    "maximal_leakage": "nats",
    "min_leakage": "nats",
    "min_distortion": "distortion",
    "max_information": "nats",
    "secret_leakage": "nats",
}


@dataclass(frozen=True)
class Case:
    """A certificate about a model, the exit status that the checker must end with, and a part of its reason."""

    name: str
    topic: str
    model_name: str
    model: bytes
    certificate: bytes
    status: int
    reason: str
    resolved: bool

    @property
    def files(self) -> tuple[bytes, bytes]:
        """Model and certificate, as `dalenius_check.check` takes them."""
        return self.model, self.certificate

    def ends(self, verdict: Verdict) -> bool:
        """Whether a checker's verdict is what the table says."""
        return verdict.exit_code == self.status and self.reason in verdict.reason


@functools.cache
def tables() -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables of all topics: of models, and of cases."""
    models, cases = dict[str, Any](), dict[str, Any]()
    for path in sorted(HERE.glob("*.toml")):
        topic = tomllib.loads(path.read_text(encoding="utf-8"))
        found = {name: table | {"topic": path.stem} for name, table in topic.get("case", {}).items()}
        twice = (models.keys() & topic.get("model", {}).keys()) | (cases.keys() & found.keys())
        assert not twice, f"{path.name}: {sorted(twice)} are there twice"
        models |= topic.get("model", {})
        cases |= found
    return models, cases


def _swapped(text: str, swaps: list[list[str]]) -> str:
    for old, new in swaps:
        assert text.count(old) == 1, f"expected {old!r} once"
        text = text.replace(old, new)
    return text


@functools.cache
def model(name: str) -> bytes:
    """The model file of this name."""
    table = tables()[0][name]
    if table.get("stored"):
        return (HERE / "stored" / f"{name}.toml").read_bytes()
    text = table["text"] if "text" in table else model(table["base"]).decode()
    return _swapped(text, table.get("swap", [])).encode()


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _header(table: dict[str, Any], given: dict[str, Any]) -> str:
    """The first line: what is given, changed as the table says."""
    claim = dict(zip(("lower", "upper"), table.get("claim", []), strict=False))
    claim |= {key: table[key] for key in ("lower", "upper") if key in table}
    header = given | claim | {key: json.loads(value) for key, value in table.get("header", {}).items()}
    return _compact({key: value for key, value in header.items() if key not in table.get("drop", [])})


@functools.cache
def _certificate(name: str) -> bytes:
    table = tables()[1][name]
    if table.get("empty"):
        return b""
    if table.get("stored"):
        return (HERE / "stored" / f"{name}.cert").read_bytes()
    if "base" in table:
        lines = _certificate(table["base"]).decode().splitlines()
        given = json.loads(lines[0])
        if tables()[1][table["base"]]["model"] != table["model"]:
            given["model"] = parse_model(model(table["model"])).digest
    else:
        problem = tomllib.loads(model(table["model"]).decode())["problem"]
        lines = ["", *table["lines"]]
        given = {
            "format": "dalenius-certificate/2",
            "problem": problem,
            "model": parse_model(model(table["model"])).digest,
        }
        given |= {"lower": "", "upper": "", "unit": UNITS[problem], "producer": "tests"}
    for start, stop, *new in reversed(table.get("edit", [])):
        lines[start:stop] = new
    lines[0] = _header(table, given)
    if table.get("spaced"):
        lines = [json.dumps(json.loads(line)) for line in lines]
    return _swapped("".join(f"{line}\n" for line in lines), table.get("swap", [])).encode()


@functools.cache
def cases() -> dict[str, Case]:
    """Every case, by name."""
    found = {}
    for name, table in tables()[1].items():
        reason = table.get("reason", "")
        status = table.get("status", 1 if reason else 0)
        model_name = table["model"]
        found[name] = Case(
            name,
            table["topic"],
            model_name,
            model(model_name),
            _certificate(name),
            status,
            reason,
            table.get("resolved", False),
        )
    return found


def about(*models: str) -> list[Case]:
    """The cases whose models' names start like this."""
    return [case for case in cases().values() if case.model_name.startswith(models)]


def main() -> None:
    """Write models/NAME.toml, certificates/NAME.cert and expected.json into a folder."""
    folder = Path(sys.argv[1])
    for part in ("models", "certificates"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for case in cases().values():
        (folder / "models" / f"{case.model_name}.toml").write_bytes(case.model)
        (folder / "certificates" / f"{case.name}.cert").write_bytes(case.certificate)
    expected = {
        c.name: {"model": c.model_name, "status": c.status, "reason": c.reason, "resolved": c.resolved}
        for c in cases().values()
    }
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
