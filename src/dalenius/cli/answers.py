"""The one shape of what --json prints, for every command, and the schema that is published of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from dalenius.cli.shared import write_json
from dalenius.evidence import exact_fraction_above

FORMAT = "dalenius-answer/1"
OWN = {  # the keys that an answer has besides the common ones, always
    "audit": "digest leakage bayes_advantage_at_most households termination page certificate model at_most_met",
    "show": "",
    "solve": "model digest lower upper units gap termination status proved certificate at_most_met",
    "verify": "status proved reason lower upper at_most_met",
    "measure": "measures at_most_met",
    "noise": "mechanism adversary at_most units enough not_enough epsilon_of_one_person levels files",
    "table": "rows files",
    "convert": "",
    "compose": "lower upper units rule at_most_met",
    "sweep": "folder",
    "frontier": "folder",
    "release": "output meaning letters leakage_nats leakage_bits at_most_met proved simulation",
    "export": "",
    "import-solution": "lower upper gap",
    "compare": "model lower upper units methods files",
    "audit-samples": "label at_most_met",
    "sanitize": "",
    "list": "models",
    "doctor": "dalenius python packages solvers self_test",
    "library tighten": "models files",
    "library submit": "model files",
    "library index": "files",
}


class Ends(NamedTuple):
    """A proved interval and its subject; an end that is None is not proved. Nothing exceeds the log of `values`, where known."""

    of: str
    lower: float | Fraction | None
    upper: float | Fraction | None
    units: str
    values: int | None = None

    def to_json(self) -> dict[str, Any]:
        """With doubles that are on the right side of exact numbers."""
        lower = -exact_fraction_above(-self.lower) if isinstance(self.lower, Fraction) else self.lower
        upper = exact_fraction_above(self.upper) if isinstance(self.upper, Fraction) else self.upper
        return {"of": self.of, "lower": lower, "upper": upper, "units": self.units}


def write_answer(command: str, answer: Mapping[str, Any], bounds: Iterable[Ends] = ()) -> None:
    """One JSON object: the format, the command, what is bounded between which numbers, and the command's own keys."""
    common = {"answer": FORMAT, "command": command, "bounds": [each.to_json() for each in bounds]}
    write_json({**common, **answer})


def answer_schema() -> dict[str, Any]:
    """A JSON schema of what --json prints.

    >>> answer_schema()["required"]
    ['answer', 'command', 'bounds']
    """
    end = {"type": ["number", "null"]}
    keys = {"of": {"type": "string"}, "lower": end, "upper": end, "units": {"type": "string"}}
    bound = {
        "type": "object",
        "description": "What lies between the two numbers; null is no bound on that side.",
        "required": list(keys),
        "properties": keys,
        "additionalProperties": False,
    }
    own = [
        {
            "if": {"properties": {"command": {"const": command}}},
            "then": {"required": further.split(), "title": f"dalenius {command} --json"},
        }
        for command, further in OWN.items()
    ]
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "what a command of dalenius prints with --json",
        "type": "object",
        "required": ["answer", "command", "bounds"],
        "properties": {
            "answer": {"const": FORMAT},
            "command": {"enum": list(OWN)},
            "bounds": {"type": "array", "items": bound},
        },
        "allOf": own,
    }
