"""Seeded mutants of accepted certificates: no crash, and no accepted claim stronger than the known interval."""

import functools
import json
import random
import re
from fractions import Fraction

import pytest
from flint import arb

import cases
from campaigns import draws, each
from dalenius_check import Status, check
from dalenius_check.core.model import parse_model
from dalenius_check.core.proof import curve

SMALL = [
    case
    for case in cases.cases().values()
    if case.status == 0
    and case.model_name not in ("parity_big", "priors_foreign", "priors_strange")  # slow; a mutant is another channel
    and len(case.certificate) < 9000
    and b'"lower":null' not in case.certificate  # infeasible: see test_design.py
]
TOPICS = sorted({case.topic for case in SMALL})
NUMBER = re.compile(r'"-?[0-9][0-9./e-]*"')
MUTANTS = draws(3, 130)


@functools.cache
def truth(model_name):
    """The best proved interval of a model over all stored certificates."""
    verdicts = [check(*case.files) for case in SMALL if case.model_name == model_name]
    return max(v.lower for v in verdicts), min(v.upper for v in verdicts if v.upper is not None)


def other_number(rng, text):
    value = Fraction(text)
    return rng.choice(
        [
            lambda: f"{float(value) * (1 + rng.choice([1e-12, 1e-6, -1e-3, 0.1, -0.5, 1])):.15f}",
            lambda: str(-value),
            lambda: rng.choice(["0", "1", "-1", "1e-300", "1e300", "1/3", "0.5", "nan", "1e401", "", "0x1"]),
            lambda: str(value + rng.choice([1, -1]) * Fraction(1, 10 ** rng.randint(1, 12))),
        ]
    )()


def edit_number(rng, line):
    found = list(NUMBER.finditer(line))
    if not found:
        return line
    match = rng.choice(found)
    try:
        return line[: match.start()] + json.dumps(other_number(rng, match[0][1:-1])) + line[match.end() :]
    except (ValueError, OverflowError, ZeroDivisionError):
        return line


def edit_index(rng, line):
    found = list(re.finditer(r"(?<=[,\[])[0-9]+(?=[,\]])", line))
    if not found:
        return line
    match = rng.choice(found)
    return line[: match.start()] + str(rng.choice([0, 1, 2, 3, 10**9, 10**10])) + line[match.end() :]


def mutate(rng, data):
    lines = data.decode().splitlines()
    for _ in range(rng.choice([1, 1, 1, 2, 6])):
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        action = rng.choice(
            [
                "number",
                "number",
                "number",
                "witness",
                "index",
                "drop",
                "twice",
                "swap",
                "reverse",
                "null",
                "byte",
                "claim",
            ]
        )
        if action == "number":
            lines[i] = edit_number(rng, lines[i])
        elif action == "witness" and len(lines) > 1:
            lines[1] = edit_number(rng, lines[1])
        elif action == "index":
            lines[i] = edit_index(rng, lines[i])
        elif action == "drop" and len(lines) > 1:
            del lines[i]
        elif action == "twice":
            lines.insert(j, lines[i])
        elif action == "swap":
            lines[i], lines[j] = lines[j], lines[i]
        elif action == "reverse" and i:
            try:
                lines[i] = json.dumps([x[::-1] if isinstance(x, list) else x for x in json.loads(lines[i])])
            except (ValueError, TypeError):
                continue
        elif action == "null":
            lines[i] = re.sub(r"\[[^\[\]]*\]", "null", lines[i], count=1)
        elif action == "byte" and lines[i]:
            k = rng.randrange(len(lines[i]))
            lines[i] = lines[i][:k] + chr(rng.randrange(1, 256)) + lines[i][k + 1 :]
        elif action == "claim":
            lines[0] = strengthen(rng, lines[0])
        if not lines:
            break
    return "\n".join(lines).encode("utf-8", "replace") + b"\n"


def strengthen(rng, line):
    try:
        head = json.loads(line)
        key, sign = rng.choice([("lower", 1), ("upper", -1)])
        head[key] = str(Fraction(head[key]) + sign * Fraction(1, 10 ** rng.randint(1, 9)))
    except (ValueError, KeyError, TypeError, ZeroDivisionError):
        return line
    return json.dumps(head)


def assert_true_curve(model, mutant, lower, upper):
    """What a curve says at the model's own bound, and of larger ones, does not contradict the known interval; to 9 digits."""
    claimed = json.loads(mutant.split(b"\n", 1)[0]).get("curve")
    if claimed is None:
        return
    parsed = parse_model(model)
    found, own = curve(claimed, parsed), parsed.entropy_ball()
    assert max(float(arb(c) - arb(m) * own) for c, m in found.above) >= lower - 1e-9, mutant
    assert all(float(arb(low)) <= upper for held, low in found.below if held.entropy_ball() >= own), mutant


@pytest.mark.parametrize("topic", TOPICS)
def test_mutants(topic):
    for case in (case for case in SMALL if case.topic == topic):
        need_no_false_claim(case)


def need_no_false_claim(case):
    model, data = case.files
    lower, upper = truth(case.model_name)
    rng = random.Random(case.name)
    head, rest = data.split(b"\n", 1)
    step = Fraction(1, 10**9)
    for turn in range(MUTANTS):
        false = [{}, {"lower": str(upper + step), "upper": "99"}, {"lower": "-1", "upper": str(lower - step)}][turn % 3]
        mutant = mutate(rng, json.dumps(json.loads(head) | false).encode() + b"\n" + rest)
        verdict = check(model, mutant)
        assert "internal error" not in verdict.reason, (verdict.reason, mutant)
        assert verdict.status is not Status.UNREADABLE
        if verdict.status is Status.PROVED:
            assert verdict.lower <= upper, mutant
            assert verdict.upper is None or verdict.upper >= lower, mutant
            assert_true_curve(model, mutant, lower, upper)
        if turn % draws(7, 1) == 0:
            other = check(model, mutant, arithmetic="python")
            assert {verdict.status, other.status} != {Status.PROVED, Status.REJECTED}, mutant


@each("topic", *TOPICS)
def test_claims_beyond_the_interval_are_refused(topic):
    for case in (case for case in SMALL if case.topic == topic):
        model, data = case.files
        lower, upper = truth(case.model_name)
        head, rest = data.split(b"\n", 1)
        for key, value in (("lower", upper + Fraction(1, 10**12)), ("upper", lower - Fraction(1, 10**12))):
            claimed = json.loads(head)
            above = claimed["upper"] if key == "lower" and claimed["upper"] is None else "99"
            header = claimed | {"lower": "-1", "upper": above, key: str(value)}
            assert check(model, json.dumps(header).encode() + b"\n" + rest).exit_code == 1, case.name
