"""A JSON schema of model files, for editors: made from the shelves and dataclasses that the loader itself reads files with."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from dalenius.exact import NUMBER, Number
from dalenius.model.adversaries import ADVERSARIES, Adversary, EntropyAtLeast
from dalenius.model.constraints import CONSTRAINTS, Affine
from dalenius.model.distortions import DISTORTIONS, Distortion
from dalenius.model.fields import Given
from dalenius.model.laws import LAWS, CsvLaw
from dalenius.model.mechanism_classes import MECHANISM_CLASSES
from dalenius.model.mechanisms import MECHANISMS, Adaptive, Mechanism
from dalenius.model.mechanisms.base import Part
from dalenius.model.mechanisms.independent_releases import PARTS
from dalenius.model.model_file import PROBLEMS
from dalenius.model.objectives import OBJECTIVES, TERMS
from dalenius.model.privacy import NOTIONS
from dalenius.model.problem import Problem
from dalenius.model.problems.max_information import MEASURES
from dalenius.model.queries import QUERIES, AdditiveQuery
from dalenius.model.queries.joint import PARTS as JOINED
from dalenius.model.secret import FUNCTIONS, Secret
from dalenius.model.shelf import Shelved

Schema: TypeAlias = dict[str, Any]

DIALECT = "http://json-schema.org/draft-07/schema#"  # what editors of TOML know
EXACT = {"$ref": "#/definitions/number"}
AMOUNT = {"$ref": "#/definitions/amount"}
WRITTEN = {*get_args(Number)}
PART: Schema = {"times": {"type": "integer", "minimum": 1}, "on": {"type": "integer", "minimum": 0}}
BASES: dict[type, Schema] = {
    Adversary: {"$ref": "#/definitions/adversary"},
    EntropyAtLeast: AMOUNT,
    Distortion: {"$ref": "#/definitions/distortion"},
    Mechanism: {"$ref": "#/definitions/released"},
    AdditiveQuery: {"$ref": "#/definitions/joined"},
    Adaptive: {"$ref": "#/definitions/stage"},
    Part: {"$ref": "#/definitions/part"},
    Fraction: EXACT,
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
}


def model_schema() -> Schema:
    """The JSON schema (draft 7) of model files: which tables, kinds and keys there are, which are needed, and their types.

    It accepts every file that the loader accepts, and refuses unknown keys and kinds, missing keys and values of another type, as the
    loader does. What only the numbers together say (a row's sum, letters outside an alphabet) is the loader's alone.

    Returns
    -------
    dict
        Data for `json.dumps`.

    >>> schema = model_schema()
    >>> [branch["properties"]["problem"]["enum"][0] for branch in schema["oneOf"]]       # a budget, privacy, constraints
    ['worst_case_leakage', 'secret_leakage', 'min_leakage', 'min_distortion', 'min_distortion', 'min_distortion', 'max_information',
    'max_information']
    >>> sorted(schema["definitions"]["query"]["oneOf"][1]["properties"])
    ['kind', 'modulus']
    """
    shelves: dict[str, Mapping[str, type[Shelved]]] = {
        "query": QUERIES,
        "mechanism": MECHANISMS,
        "distortion": DISTORTIONS,
        "law": {**LAWS, CsvLaw.kind: CsvLaw},
        "privacy": NOTIONS,
        "constraint": CONSTRAINTS,
        "term": TERMS,
        "function": FUNCTIONS,
    }
    return {
        "$schema": DIALECT,
        "title": "A model file of dalenius",
        "description": "One question about a release; docs/model-format.md says what every key means.",
        "type": "object",
        "oneOf": [branch for problem in PROBLEMS.values() for branch in _problem(problem)],
        "definitions": {
            "number": {
                "description": "An exact number: 0.2 is 1/5, and a text may be a fraction.",
                "anyOf": [{"type": "number"}, {"type": "string", "pattern": f"^({NUMBER.pattern})$"}],
            },
            "amount": {
                "description": 'An exact number, or a text with a unit ("0.1 bits", "0.8 max") or a logarithm ("log 3").',
                "type": ["number", "string"],
            },
            "records": _records(),
            "adversary": _adversary(),
            "mechanism_class": _object({"class": {"enum": [*MECHANISM_CLASSES]}}, ["class"]),
            "objective": _objective(),
            "secret": _secret(),
            "useful": _object({"joint": {"type": "array", "items": {"type": "array", "items": EXACT}}}, ["joint"]),
            "part": {"oneOf": [_kind(cls, PART) for cls in PARTS.values()]},
            "released": {"oneOf": [_kind(cls) for cls in PARTS.values()]},
            "stage": {"anyOf": [_object({}, []), _stage()]},
            "joined": {"oneOf": [_kind(cls) for cls in JOINED.values()]},
            **{name: {"oneOf": [_kind(cls) for cls in shelf.values()]} for name, shelf in shelves.items()},
        },
    }


def _problem(problem: type[Problem]) -> list[Schema]:
    """A problem's files, one for each way in which they may say what must be met: the loader is asked which keys these have."""
    found, ways = list[Schema](), list[tuple[str, ...]]()
    files: tuple[dict[str, Any], ...] = ({"adversary": {}}, {"privacy": {}}, {"constraints": [{}]})
    for given in files:
        needed, optional = problem._model_keys(given)
        if needed in ways:
            continue
        ways.append(needed)
        needed = tuple(dict.fromkeys(("problem", *needed, *(key for key in given if key in optional))))
        properties = {key: _property(problem, key) for key in (*needed, *optional)}
        spelled = [*dict.fromkeys((problem.in_models, problem.kind))]
        branch = _object(
            {**properties, "problem": {"enum": spelled}},
            needed,
            _summary(problem),
        )
        if "query" in optional:  # which the loader asks of the mechanism
            whole = {
                "properties": {"mechanism": {"properties": {"inputs": {"const": "dataset"}}, "required": ["inputs"]}}
            }
            branch["anyOf"] = [{"required": ["query"]}, whole]
        found.append(branch)
    return found


def _property(problem: type[Problem], key: str) -> Schema:
    """Schema of a key above all tables, or of a table."""
    match key:
        case "problem" | "title" | "source":
            return {"type": "string"}
        case "constraints":
            return {"type": "array", "items": {"$ref": "#/definitions/constraint"}}
        case "mechanism" if problem.task == "design":
            return {"$ref": "#/definitions/mechanism_class"}
        case "secrets":
            return {"type": "array", "items": {"$ref": "#/definitions/secret"}, "minItems": 1}
        case "max_distortion":
            return EXACT
        case "max_leakage":
            return AMOUNT
        case "measure":
            line = {"type": "array", "items": EXACT, "minItems": 2, "maxItems": 2}
            return {"anyOf": [{"enum": [*MEASURES]}, {"type": "array", "items": line, "minItems": 1}]}
    return {"$ref": f"#/definitions/{key}"}


def _records() -> Schema:
    size = {"type": "integer", "minimum": 1}
    text = {"type": "string"}
    names = {"answer": text, "letters": {"type": "array", "items": text}}
    both = _object({"count": size, "alphabet": size, **names}, ["count", "alphabet"], "Records of one alphabet.")
    listed = {"type": "array", "items": size, "minItems": 1}
    return {"oneOf": [both, _object({"alphabets": listed, **names}, ["alphabets"], "One alphabet size a record.")]}


def _adversary() -> Schema:
    key = EntropyAtLeast.kind
    return {"oneOf": [_object({key: AMOUNT}, [key], _summary(EntropyAtLeast)), *map(_kind, ADVERSARIES.values())]}


def _objective() -> Schema:
    terms = {"type": "array", "items": {"$ref": "#/definitions/term"}, "minItems": 1}
    keys: Schema = {"combine": {"enum": [*OBJECTIVES]}, "weight": EXACT, "terms": terms}
    return _object(keys, ["combine", "terms"], "Several leakages and distortions as one number.")


def _secret() -> Schema:
    function = {"$ref": "#/definitions/function"}
    told: Schema = {"anyOf": [function, {"type": "array", "items": function}]}
    return _object({"of": told, "given": told}, ["of"], _summary(Secret))


def _kind(shelved: type[Shelved], more: Schema | None = None) -> Schema:
    """The table of one kind: its keys are the fields that the loader takes, their types those of the fields."""
    hints = _hints(shelved)
    fields = shelved.file_fields()
    secrets = [
        key for key, field in fields.items() if hints[field.name] is Secret
    ]  # whose keys stand in the table itself
    properties = {key: _of(hints[field.name]) for key, field in fields.items() if key not in secrets} | (more or {})
    needed = ["kind", *(key for key, field in fields.items() if field.is_needed and key not in secrets)]
    if secrets:
        properties, needed = properties | _secret()["properties"], needed + _secret()["required"]
    return _object({"kind": {"const": shelved.kind}, **properties}, needed, _summary(shelved))


def _hints(cls: type) -> dict[str, Any]:
    """The types of fields in a file."""
    hints = get_type_hints(cls)
    for name, hint in hints.items():
        if get_origin(hint) is Given:  # amounts and levels are kept as texts, and written in more ways
            written, kept = get_args(hint)
            hints[name] = getattr(cls, name).in_files or (written if kept is str else kept)
    return hints


def _stage() -> Schema:
    """A stage of a tree of releases: the same keys as the tree itself, but for its kind."""
    fields = _kind(Adaptive)["properties"]
    return _object({key: value for key, value in fields.items() if key != "kind"}, ["mechanism"])


def _of(hint: Any) -> Schema:
    """A type as a schema."""
    if isinstance(hint, type) and hint in BASES:
        return BASES[hint]
    if hint is Affine:
        return _object(
            {key: _of(hint) for key, hint in _hints(Affine).items() if key in ("terms", "constant")}, ["terms"]
        )
    origin, members = get_origin(hint), [member for member in get_args(hint) if member is not type(None)]
    if origin is Literal:
        return {"enum": members}
    if origin in (Union, types.UnionType):
        number = {*members} >= WRITTEN  # as people write it
        found = [AMOUNT] * number + [_of(member) for member in members if not (number and member in WRITTEN)]
        return found[0] if len(found) == 1 else {"anyOf": found}
    if origin is tuple and members[-1] is not Ellipsis:
        size = len(members)
        return {"type": "array", "items": [_of(member) for member in members], "minItems": size, "maxItems": size}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _of(members[0])}
    raise TypeError(f"no schema is known for {hint}")


def _object(properties: Schema, needed: Sequence[str], description: str = "") -> Schema:
    """A table with these keys and no others."""
    told = {"description": description} if description else {}
    return {
        **told,
        "type": "object",
        "properties": properties,
        "required": [*needed],
        "additionalProperties": False,
    }


def _summary(cls: type) -> str:
    """The first line of a class's docstring; of a bare dataclass, which has one that Python made, none."""
    text = (cls.__doc__ or "").strip()
    return "" if dataclasses.is_dataclass(cls) and text.startswith(f"{cls.__name__}(") else text.split("\n", 1)[0]
