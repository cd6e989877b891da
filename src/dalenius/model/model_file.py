"""Model files: problems as TOML, read strictly and exactly, and the digest that identifies what they mean."""

from __future__ import annotations

import codecs
import hashlib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dalenius.errors import InputError, brief, hint
from dalenius.exact import Numeral, as_fraction, fraction_text
from dalenius.files import read_bytes
from dalenius.model.laws import is_elsewhere
from dalenius.model.problem import Problem
from dalenius.model.problems.budgeted import MinDistortion, MinLeakage
from dalenius.model.problems.max_information import MaxInformation
from dalenius.model.problems.secret_leakage import SecretLeakage
from dalenius.model.problems.worst_case_leakage import WorstCaseLeakage

CERTIFICATE = (b"{", b"\x1f\x8b")  # how one begins, plain and compressed, and no TOML file does
PROBLEMS: dict[str, type[Problem]] = {
    problem.in_models: problem
    for problem in (WorstCaseLeakage, SecretLeakage, MinLeakage, MinDistortion, MaxInformation)
}
SPELLINGS = PROBLEMS | {problem.kind: problem for problem in PROBLEMS.values()}  # also as certificates spell them


def read_model(path: str | Path) -> bytes:
    """The bytes of a model file; `InputError` if it cannot be read, is a pipe, or is too large."""
    return read_bytes(path, "a model file", plain=True)


def loads(text: str | bytes, *, folder: str | Path = "") -> Problem:
    """Read a problem from the text of a model file; paths in it are relative to `folder`, by default the current directory.

    >>> problem = loads('''
    ... problem = "worst_case_leakage"
    ... [records]
    ... count = 4
    ... alphabet = 2
    ... [query]
    ... kind = "parity"
    ... [mechanism]
    ... kind = "symmetric"
    ... flip = 0.2
    ... [adversary]
    ... entropy_at_least = "2 bits"
    ... ''')
    >>> problem.mechanism.flip
    Fraction(1, 5)
    """
    if not isinstance(text, str | bytes):
        raise InputError(f"expected the text of a model file, got {brief(text)}")
    data = _as_bytes(text)
    try:
        model = tomllib.loads(data.decode("utf-8"), parse_float=Numeral)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"not a TOML 1.0 file in UTF-8: {error}") from None
    except ValueError as error:  # an integer beyond Python's limit of digits
        raise InputError(f"a number in the file is too long: {error}") from None
    if not model:
        but = " but for comments" if data.strip() else ""
        raise InputError(
            f"model: the input is empty{but}; expected problem = one of {', '.join(PROBLEMS)}, and its tables"
        )
    kind = model.get("problem")
    if not isinstance(kind, str) or kind not in SPELLINGS:
        raise InputError(
            f"model: expected problem = one of {', '.join(PROBLEMS)}; got {brief(kind)}{hint(kind, SPELLINGS)}"
        )
    problem = SPELLINGS[kind].from_model(model, folder)
    return problem if is_elsewhere(model) else problem._as_written(data)


def model_bytes(problem: Problem) -> bytes:
    """The model file that a proof about this problem is about: the one it was read from, else the one that `dumps` writes.

    >>> text = dumps(loads("problem='worst_case_leakage'\\nrecords={count=1,alphabet=2}\\nquery={kind='parity'}\\n"
    ...     "mechanism={kind='symmetric',flip=0.1}\\nadversary={entropy_at_least=0}"))
    >>> model_bytes(loads("# mine\\n" + text)).decode().splitlines()[0]
    '# mine'
    """
    return problem.once("text", lambda: dumps(problem).encode()) if problem.written is None else problem.written


def dumps(problem: Problem) -> str:
    """The text of a model file that states this problem.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(2, alphabet=2), query=dl.Count(),
    ...     mechanism=dl.geometric(0.5, range=2), adversary=dl.EntropyAtLeast("1 bits"))
    >>> loads(dumps(problem)) == problem
    True
    """
    lines, tables = [], []
    for key, value in problem.to_model().items():
        if key == "objective":
            tables += _table(f"[{key}]", {name: x for name, x in value.items() if name != "terms"})
            tables += _tables(f"{key}.terms", value["terms"])
        elif isinstance(value, Mapping):
            tables += _table(f"[{key}]", value)
        elif key in ("constraints", "secrets"):
            tables += _tables(key, value)
        else:
            lines.append(f"{key} = {_toml(value)}")
    return "\n".join([*lines, *tables, ""])


def _table(header: str, table: Mapping[str, Any]) -> list[str]:
    """Its lines, after an empty one."""
    return ["", header, *(f"{key} = {_toml(value)}" for key, value in table.items() if value is not None)]


def _tables(key: str, tables: list[dict[str, Any]]) -> list[str]:
    """Those of a list."""
    return [line for table in tables for line in _table(f"[[{key}]]", table)]


def normal_form(problem: Problem) -> dict[str, Any]:
    """The problem's meaning as JSON data (docs/model-format.md): spelling, order and defaults make no difference."""
    return {key: _normal(value) for key, value in problem.normal_form().items()}


def digest(problem: Problem) -> str:
    """SHA-256 of the normal form, which a certificate names."""

    def made() -> str:
        text = json.dumps(normal_form(problem), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    return problem.once("digest", made)


def _as_bytes(text: str | bytes) -> bytes:
    """The bytes of a file; what editors put before or around the text is named."""
    try:
        data = text.encode("utf-8") if isinstance(text, str) else text
    except UnicodeEncodeError as error:
        raise InputError(f"not a TOML 1.0 file in UTF-8: {error}") from None
    if data.startswith(codecs.BOM_UTF8):
        raise InputError("not a TOML 1.0 file: it begins with a byte order mark; save it as UTF-8 without one")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError("not a TOML 1.0 file in UTF-8 but in UTF-16; save it as UTF-8")
    if data.startswith(CERTIFICATE):
        raise InputError(
            "not a TOML 1.0 file: it begins as a certificate does, or another JSON file; expected a model file"
        )
    return data


def _normal(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if not isinstance(value, Mapping | list | tuple) and not getattr(value, "ndim", 0):
        return str(as_fraction(value, "mechanism"))
    if isinstance(value, Mapping):
        return {key: _normal(v) for key, v in value.items()}
    return [_normal(v) for v in value]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(v)}" for key, v in value.items() if v is not None) + "}"
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, list | tuple) and not getattr(value, "ndim", 0):
        text = fraction_text(as_fraction(value, "mechanism"))
        return json.dumps(text) if "/" in text else text
    return "[" + ", ".join(_toml(v) for v in value) + "]"
