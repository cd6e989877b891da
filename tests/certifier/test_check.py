"""Intervals for conic instances: what is proved is true, whatever stands in the file, and every guard of the proof is needed."""

import copy
import functools
import itertools
import json
import math
import sys
import types
from fractions import Fraction

import numpy as np
import pytest

import cvxcertify.check
import planted
import planting
from campaigns import draws, thinned
from cvxcertify import certify
from cvxcertify.check import check_interval
from cvxcertify.check.__main__ import main
from dalenius_check import Status

KINDS = list(planted.MAKERS)


def tiny(**changes):
    """Minimise x over x >= 1, t >= |(x, x)|, exp(x) <= 3 and (1, x/4; x/4, x) semidefinite: 1."""
    found = {
        "format": "dalenius-interval/1",
        "about": "model",
        "sense": "minimize",
        "columns": ["x", "t"],
        "offset": "0",
        "c": {"places": [0], "values": ["1"]},
        "b": {"places": [0, 5, 6, 7], "values": ["-1", "1", "3", "1"]},
        "cones": [["nonnegative", 1], ["second-order", 3], ["exponential", 3], ["semidefinite", 3]],
        "rows": [0, 1, 2, 3, 4, 8, 9],
        "places": [0, 1, 0, 0, 0, 0, 0],
        "values": ["1", "1", "1", "1", "1", "0x1/0x4", "1"],
        "lower": {"value": "1", "cutoff": None, "steps": [], "z": {"places": [0], "values": ["1"]}, "objective": "own"},
        "upper": {"value": "1", "x": {"places": [0, 1], "values": ["1", "3/2"]}, "direction": None},
    }
    return found | changes


def told(found, **rest):
    return check_interval(json.dumps(found).encode(), **rest)


@pytest.mark.parametrize("arithmetic", ["flint", "python"])
def test_a_small_file_is_proved(arithmetic):
    verdict = told(tiny(), arithmetic=arithmetic)
    assert verdict.lines[0] == "proved: 1 <= V <= 1", verdict
    assert (verdict.lower, verdict.upper) == (1, 1)
    turned = told(tiny(sense="maximize"), arithmetic=arithmetic)
    assert (turned.lower, turned.upper) == (-1, -1)


@pytest.mark.parametrize("arithmetic", ["flint", "python"])
def test_the_parts_of_a_conflict_are_named(arithmetic):
    """x = 2, or x >= 1, beside a cone that keeps x at 1 or below: moved into itself by 1, not by less, each lets it in."""
    for kind, value, place, constants, prices in (
        ("nonnegative", "-1", 1, {0: "-2", 1: "1"}, ("1", "1")),
        ("second-order", "1", 2, {0: "-2", 1: "1"}, ("1", "1", "-1")),
        ("exponential", "1", 1, {0: "-1", 2: "1", 3: "1"}, ("1", "-1", "-1", "1")),
        ("semidefinite", "1", 2, {0: "-2", 1: "1", 3: "1"}, ("1", "1/2", "-1", "1/2")),
    ):
        rows = list(range(1, len(prices)))
        z = {"places": [0, *rows], "values": list(prices)}
        found = CONFLICT | {
            "cones": [["zero", 1], [kind, len(rows)]],
            "rows": [0, place],
            "values": ["1", value],
            "b": {"places": list(constants), "values": list(constants.values())},
            "lower": CONFLICT["lower"] | {"z": z},
            "constraints": {"x": [[0], []], "cone": [rows, []]},
        }
        lines = told(found, arithmetic=arithmetic).lines
        assert (
            "these contradict each other: x (by 1 at least, if it alone gives); cone (by 1 at least, if it alone gives)"
            in lines
        ), kind
        (line,) = (each for each in told(found | {"constraints": {"x": [[0], rows]}}).lines if each.startswith("these"))
        assert line == "these contradict each other: x (by 1 at least, if it alone gives)"


def edited(*path, value):
    """The small file with one thing changed."""
    found = copy.deepcopy(tiny())
    place = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return found


CONFLICT = tiny(  # x >= 1 and -x >= 0
    columns=["x"], cones=[["nonnegative", 2]], rows=[0, 1], places=[0, 0], values=["1", "-1"], b={"places": [0], "values": ["-1"]},
    lower={"value": "inf", "cutoff": None, "steps": [], "z": {"places": [0, 1], "values": ["1", "1"]}, "objective": "zero"},
    upper=None,
)  # fmt: skip
EMPTY = {"value": "inf", "cutoff": None, "steps": [], "z": None, "objective": "own"}
DOWN = {"value": "-inf", "x": {"places": [0, 1], "values": ["1", "3/2"]}}
WRONG = {
    "lower end too high": edited("lower", "value", value="1000000000001/1000000000000"),
    "upper end too low": edited("upper", "value", value="999999999999/1000000000000"),
    "negative multiplier": edited("lower", "z", "values", value=["-1"]),
    "residual without range": edited("lower", "z", "values", value=["1/2"]),
    "multiplier outside a second-order cone": edited("lower", "z", value={"places": [0, 1, 2], "values": ["1", "1", "2"]}),
    "multiplier outside the exponential dual": edited(
        "lower", "z", value={"places": [0, 4, 6], "values": ["1", "-1", "9/25"]}
    ),
    "multiplier outside the semidefinite cone": edited("lower", "z", value={"places": [0, 7, 8], "values": ["1", "1", "1"]}),
    "point outside a nonnegative row": edited("upper", "x", value={"places": [0, 1], "values": ["1/2", "1"]}),
    "point outside the second-order cone": edited("upper", "x", value={"places": [0, 1], "values": ["1", "1"]}),
    "point outside the exponential cone": edited("upper", "x", value={"places": [0, 1], "values": ["11/10", "9"]}),
    "infeasible, it says": edited("lower", value=EMPTY | {"z": {"places": [], "values": []}, "objective": "zero"}),
    "infeasible by a cutoff": edited("lower", value=EMPTY | {"cutoff": "1/2", "steps": [0, -1]}),
    "unbounded, it says": edited("upper", "value", value="-inf"),
    "a direction that leaves": edited("upper", value=DOWN | {"direction": {"places": [0], "values": ["-1"]}}),
    "a direction that leads up": edited("upper", value=DOWN | {"direction": {"places": [1], "values": ["1"]}}),
    "a cutoff below the end": edited("lower", "cutoff", value="1/2"),
    "no claim": tiny(lower=None, upper=None),
    "a step that is no row": edited("lower", "steps", value=[10]),
    "a step of a cutoff that is not there": edited("lower", "steps", value=[-1]),
    "a number": edited("offset", value=0),
    "a decimal": edited("offset", value="0.5"),
    "a denominator of 0": edited("offset", value="1/0"),
    "a negative denominator": edited("offset", value="1/-2"),
    "an entry twice": edited("rows", value=[0, 1, 2, 3, 4, 8, 8]),
    "a place twice": edited("c", value={"places": [0, 0], "values": ["1", "1"]}),
    "a column that is not there": edited("places", value=[0, 1, 0, 0, 0, 0, 2]),
    "a row that is not there": edited("rows", value=[0, 1, 2, 3, 4, 8, 10]),
    "lengths": edited("values", value=["1"]),
    "an unknown cone": edited("cones", value=[["power", 10]]),
    "an exponential cone of four": edited("cones", value=[["nonnegative", 6], ["exponential", 4]]),
    "a semidefinite cone of two": edited("cones", value=[["nonnegative", 8], ["semidefinite", 2]]),
    "an unknown key": tiny(more=1),
    "a row that is used and has no name": CONFLICT | {"constraints": {"least": [[0], []]}},
    "a row with two names": CONFLICT | {"constraints": {"least": [[0], []], "most": [[1], [0]]}},
    "an unknown claim": tiny(about="truth"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_rejected(name):
    verdict = told(WRONG[name])
    assert verdict.status is Status.REJECTED, (name, verdict)


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[]", b"{}", b'{"a": 1, "a": 2}', b'{"format": 1.5}', b'{"format": NaN}', b"[" * 100_000]
)
def test_what_is_no_proof_is_unreadable(data):
    assert check_interval(data).status is Status.UNREADABLE


def test_limits_end_undecided():
    assert told(tiny(), memory=0).allowed == "memory"
    case = certify(planted.planted(np.random.default_rng(1), "exponential").problem)
    assert check_interval(case.proof.encode(), seconds=0).allowed == "seconds"


@functools.cache
def honest(seed):
    case = planted.planted(np.random.default_rng(seed), KINDS[seed % len(KINDS)])
    return case, certify(case.problem).proof


def test_both_arithmetics_prove_what_was_found():
    for seed in range(draws(5, 50)):
        case, proof = honest(seed)
        flint, python = (check_interval(proof.encode(), arithmetic=name) for name in ("flint", "python"))
        assert flint.proved
        assert (flint.lower, flint.upper) == (python.lower, python.upper)
        assert flint.lower <= case.value <= flint.upper


def forged(rng, found):
    """A file with the same instance, and with claims and evidence changed at random."""
    found = copy.deepcopy(found)
    wild = lambda: str(Fraction(float(rng.normal() * 10.0 ** rng.uniform(-6, 3))).limit_denominator(10**6))  # noqa: E731
    lower, upper = found["lower"], found["upper"]
    for _ in range(rng.integers(1, 4)):
        case = rng.integers(8)
        if case == 0 and lower["z"]["values"]:
            lower["z"]["values"][rng.integers(len(lower["z"]["values"]))] = wild()
        elif case == 1:
            lower["value"] = rng.choice(
                [
                    "inf",
                    wild(),
                    str(Fraction(lower["value"]) + Fraction(1, 10**6)) if lower["value"] != "inf" else "inf",
                ]
            )
        elif case == 2:
            lower["steps"] = rng.integers(-1, 30, size=rng.integers(0, 60)).tolist()
        elif case == 3:
            lower["cutoff"] = rng.choice([None, wild()])
        elif case == 4:
            lower["objective"] = str(rng.choice(["own", "zero"]))
        elif case == 5 and upper["x"]["values"]:
            upper["x"]["values"][rng.integers(len(upper["x"]["values"]))] = wild()
        elif case == 6:
            upper["value"] = rng.choice(
                [
                    "-inf",
                    wild(),
                    str(Fraction(upper["value"]) - Fraction(1, 10**6)) if upper["value"] != "-inf" else "-inf",
                ]
            )
        else:
            upper["direction"] = rng.choice([None, {"places": [0, 1], "values": [wild(), wild()]}])
    if rng.random() < 0.3:
        found[rng.choice(["lower", "upper"])] = None
    return found


def true_of(case, verdict):
    """Whether a verdict that something is proved is true of a model with this optimal value."""
    words = verdict.lines[0]
    low = -math.inf if verdict.lower is None else verdict.lower
    high = math.inf if verdict.upper is None else verdict.upper
    return low <= case.value <= high and "inf" not in words


def test_no_forgery_proves_what_is_false():
    count = 0
    for seed in range(draws(10, 100)):
        case, proof = honest(seed % draws(5, 50))
        rng, found = np.random.default_rng(seed), json.loads(proof)
        for _ in range(draws(10, 100)):
            verdict = told(forged(rng, found))
            if verdict.proved:
                count += 1
                assert true_of(case, verdict), (seed, verdict)
            else:
                assert not verdict.reason.startswith("internal"), verdict
    assert count > 0


MUTANTS = {
    "multipliers unchecked": "_lower: inside(kind, part, True, instance.allowance) => True",
    "points unchecked": (
        '_upper: need(inside(kind, s, False, instance.allowance), f"x is outside a {kind} cone")'
        ' => need(True, f"x is outside a {kind} cone")'
    ),
    "residuals unpaid": "_lower: total += residual * end => pass",
    "the other end of a range": "_lower: 0 if residual > 0 else 1 => 1 if residual > 0 else 0",
    "no range needed": "_lower: raise RefusedError(f'column {j} has a residual and no range') => end = fmpq(0)",
    "cutoff forgotten": "_lower: total if cutoff is None else min(total, cutoff) => total",
    "the lower claim unread": "_lowest: proved is None or value <= proved => True",
    "the upper claim unread": "_highest: proved is None or value >= proved => True",
    "infeasible unproved": "_lower: total > 0 => True",
    "infeasible, claimed": (
        '_lowest: need(proved is None, "that there is no feasible point is not proved")'
        ' => need(True, "that there is no feasible point is not proved")'
    ),
    "infeasible within a cutoff": "_lower: if ranges.empty:\n    return cutoff => if ranges.empty:\n    return None",
    "the direction may leave": (
        '_upper: need(inside(kind, s, False, instance.allowance), f"the direction leaves a {kind} cone")'
        ' => need(True, f"the direction leaves a {kind} cone")'
    ),
    "the direction may lead up": "_upper: slope < 0 => True",
    "the direction's constants": (
        "Instance.member: fmpq(0) if homogeneous else self.b.get(row, fmpq(0)) => self.b.get(row, fmpq(0))"
    ),
    "unbounded, claimed": (
        '_highest: need(proved is None, "that the value is unbounded is not proved")'
        ' => need(True, "that the value is unbounded is not proved")'
    ),
    "the dual exponential cone": "inside: y / x - 1 => y / x - 2",
    "the exponential cone": "inside: x / y => x / y - 1",
    "squares": "inside: s[0] * s[0] => 2 * s[0] * s[0]",
    "elimination stops": "_semidefinite: matrix[i][j] -= factor * matrix[k][j] => pass",
    "negative rows": "inside: all(x >= 0 for x in s) => True",
    "the sign of a constant": (
        "_lower: total -= price * instance.b.get(row, fmpq(0)) => total += price * instance.b.get(row, fmpq(0))"
    ),
    "the sign of a residual": "_lower: left.get(j, fmpq(0)) - price * a => left.get(j, fmpq(0)) + price * a",
    "the offset": "_lower: instance.offset => fmpq(0)",
    "a range too narrow": "Ranges._narrow: (high - least) / a => (high - least) / a / 2",
    "a range from one end": "Ranges._narrow: below == (at_least is None) => below <= 1",
    "the cutoff's row": "Ranges.step: self.cutoff - self.instance.offset => self.cutoff - self.instance.offset - 1",
    "the second-order range": "Ranges._member: -most => -most / 4",
    "the exponential range": "Ranges._member: fmpq(3, 8) => fmpq(1, 8)",
    "the other exponential range": "Ranges._member: max(-least, 3 * most) => 3 * most",
    "the semidefinite range": "Ranges._entry: -(first + second) / 2 => -(first + second) / 8",
    "rows without a name": "contradiction: used <= homes => True",
    "rows with two names": "contradiction: not homes & (own | atoms) and not own & atoms => True",
    "zero rows": "inside: dual or not any(s) => True",
}
PATCHED = {
    "proof": "prove",
    "cones": "inside",
    "ranges": "Ranges",
    "instance": "read_instance",
    "parts": "contradiction",
}


def narrow(least, steps, columns, c, cones, entries, b, offset="0"):
    """An instance whose least value is known, with steps that narrow ranges; entries of A are (row, column, value)."""
    rows, places, values = (list(part) for part in zip(*entries, strict=True))
    parts = {"columns": list(columns), "c": {"places": [0], "values": [c]}, "cones": cones, "offset": offset}
    parts |= {"rows": rows, "places": places, "values": values, "b": {"places": list(b), "values": list(b.values())}}
    return least, steps, parts


NARROW = [
    narrow(-4, [2, 0], "xy", "1", [["zero", 1], ["second-order", 2]], [(0, 0, "1"), (0, 1, "-1"), (2, 1, "1")], {1: "4"}),
    narrow(-2.0795, [0], "x", "-1", [["exponential", 3]], [(0, 0, "1")], {1: "1", 2: "8"}),  # exp(x) <= 8
    narrow(-5.37, [1], "y", "-1", [["exponential", 3]], [(1, 0, "1")], {0: "-9", 2: "1"}),  # y exp(-9/y) <= 1
    narrow(-4, [1], "x", "1", [["semidefinite", 3]], [(1, 0, "1")], {0: "4", 2: "4"}),
    narrow(1, [0, 1], "xy", "-1", [["nonnegative", 2]], [(0, 0, "-1"), (1, 0, "1"), (1, 1, "1")], {0: "2"}, "3"),
    narrow(-3, [-1], "x", "1", [["nonnegative", 1]], [(0, 0, "2")], {0: "6"}),
    narrow(1, [], "x", "1", [["zero", 1]], [(0, 0, "1")], {0: "-1"}),
    narrow(-4, [1, 0], "xy", "-1", [["zero", 1], ["nonnegative", 2]],
           [(0, 0, "1"), (0, 1, "1"), (1, 0, "1"), (2, 1, "1")], {2: "4"}),
    narrow(-2, [], "x", "1", [["nonnegative", 1]], [(0, 0, "1")], {0: "-1"}, "-3"),
]  # fmt: skip


def with_zeros(found):
    """The same, with an entry of 0 written wherever there is none."""
    height, width = sum(size for _, size in found["cones"]), len(found["columns"])
    known = set(zip(found["rows"], found["places"], strict=True))
    more = [(row, column) for row in range(height) for column in range(width) if (row, column) not in known]

    def filled(form, size):
        if form is None:
            return None
        left = [place for place in range(size) if place not in form["places"]]
        return {"places": form["places"] + left, "values": form["values"] + ["0"] * len(left)}

    lower, upper = (end and dict(end) for end in (found["lower"], found["upper"]))
    if lower:
        lower["z"] = filled(lower["z"], height)
    if upper:
        upper |= {key: filled(form, width) for key, form in upper.items() if key != "value"}
    return found | {
        "rows": found["rows"] + [row for row, _ in more],
        "places": found["places"] + [column for _, column in more],
        "values": found["values"] + ["0"] * len(more),
        "b": filled(found["b"], height),
        "c": filled(found["c"], width),
        "lower": lower,
        "upper": upper,
    }


@pytest.mark.parametrize("arithmetic", ["flint", "python"])
def test_zeros_that_are_written_say_nothing(arithmetic):
    """A step on a row with one once divided by it."""
    (_, steps, parts), z = NARROW[0], {"places": [], "values": []}
    proved = tiny(
        **parts, lower={"value": "-4", "cutoff": None, "steps": steps, "z": z, "objective": "own"}, upper=None
    )
    files = [tiny(), proved, *(found for _, found in (*false_files(), *more_false_files()))]
    verdicts = [(told(found, arithmetic=arithmetic), told(with_zeros(found), arithmetic=arithmetic)) for found in files]
    assert [one.status for one, _ in verdicts[:2]] == [Status.PROVED] * 2
    assert all(one == other for one, other in verdicts)


def false_files():
    """Files whose claims are false, each by so much that rounding plays no part; some with evidence that a defect would believe."""
    yield from WRONG.items()
    for least, narrowing, parts in NARROW:
        claim = str((Fraction(least) + Fraction(1, 100)).limit_denominator(10**6))
        for cutoff, steps, price in itertools.product(
            (None, "-1", "0", "-5/2"), ([], narrowing), (0, 1, -1, Fraction(1, 2), Fraction(-1, 2))
        ):
            z = {"places": [0], "values": [str(price)]} if price else {"places": [], "values": []}
            evidence = {"value": claim, "cutoff": cutoff, "steps": steps, "z": z, "objective": "own"}
            yield "lower", tiny(**parts, lower=evidence, upper=None)
            yield "infeasible", tiny(**parts, lower=evidence | {"value": "inf", "objective": "zero"}, upper=None)
        for x in ("0", "1", "-1", "-5", "9", "1/2"):
            below = str((Fraction(least) - 1).limit_denominator(10**6))
            end = {"value": below, "x": {"places": [0], "values": [x]}, "direction": None}
            yield "upper", tiny(**parts, lower=None, upper=end)


def more_false_files():
    """A direction that is none, and the exponential cone (1, 1, x), in which x is at least e."""
    _, _, signs = narrow(-5, [], "x", "1", [["nonnegative", 1]], [(0, 0, "1")], {0: "5"})
    down = {"value": "-inf", "x": {"places": [], "values": []}, "direction": {"places": [0], "values": ["-1"]}}
    yield "a direction", tiny(**signs, lower=None, upper=down)
    _, _, least_e = narrow(2.718, [], "x", "1", [["exponential", 3]], [(2, 0, "1")], {0: "1", 1: "1"})
    z = {"places": [0, 2], "values": ["-7", "1"]}
    yield (
        "multipliers",
        tiny(**least_e, lower={"value": "5", "cutoff": None, "steps": [], "z": z, "objective": "own"}, upper=None),
    )
    x = {"places": [0], "values": ["11/10"]}
    yield "a point", tiny(**least_e, lower=None, upper={"value": "11/10", "x": x, "direction": None})


@functools.cache
def false_texts():
    return tuple((name, json.dumps(found).encode()) for name, found in (*false_files(), *more_false_files()))


def test_no_false_file_is_proved():
    for name, data in false_texts():
        assert not check_interval(data).proved, (name, data)


@pytest.mark.parametrize("name", thinned(MUTANTS, every=3))
def test_every_guard_is_needed(name, monkeypatch):
    """Without it a false file is proved, or a true one is refused."""
    path, source = planting.planted(MUTANTS[name])
    module = path.stem
    mutant = types.ModuleType(f"cvxcertify.check.{module}_mutant")
    mutant.__package__ = "cvxcertify.check"
    sys.modules[mutant.__name__] = mutant
    exec(compile(source, str(path), "exec"), mutant.__dict__)
    home = cvxcertify.check if module == "proof" else cvxcertify.check.proof
    monkeypatch.setattr(home, PATCHED[module], getattr(mutant, PATCHED[module]))
    assert not told(tiny()).proved or any(check_interval(data).proved for _, data in false_texts())


def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "interval.json"
    path.write_text(json.dumps(tiny()))
    assert main([str(path)]) == 0
    assert capsys.readouterr().out.startswith("proved: 1 <= V <= 1\n")
    assert main([str(path), "--arithmetic", "python"]) == 0
    assert "the standard library alone" in capsys.readouterr().out
    path.write_text(json.dumps(tiny(lower=None, upper=None)))
    assert main([str(path)]) == 1
    assert main([str(tmp_path / "none")]) == 2
    assert (
        capsys.readouterr().err == f"cvxcertify.check: {tmp_path / 'none'}: cannot be read: No such file or directory\n"
    )
