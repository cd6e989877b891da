"""Limits of what designs tell about a secret under all laws: bounds of selections by listing datasets, and what is refused."""

import itertools
import json
import math
import random

import numpy as np

from campaigns import draws, each
from dalenius_check import check, digest
from forgery_subjects import toml

HALF = math.log(2) - (math.log(4) - 0.75 * math.log(3))  # a bit that is told with a lie in four: log 2 - h(1/4)
QUERIES = {
    "identity": ({"kind": "identity"}, lambda x: 2 * x[0] + x[1], 4),
    "count": ({"kind": "count"}, sum, 3),
    "parity": ({"kind": "parity"}, lambda x: sum(x) % 2, 2),
    "modular_sum": ({"kind": "modular_sum", "modulus": 3}, sum, 3),
}
SECRETS = {
    "letter": ({"kind": "letters", "records": [0]}, lambda x: x[0]),
    "other letter": ({"kind": "letters", "others": [0]}, lambda x: x[1]),
    "count": ({"kind": "count"}, sum),
    "some": ({"kind": "threshold", "at": 1}, lambda x: int(sum(x) >= 1)),
    "nothing": ([], lambda x: 0),
}


def model(query="count", of="count", given="nothing", at_most="1/10", group="oblivious", **more):
    limited = {"kind": "secret_leakage", "of": SECRETS[of][0], "given": SECRETS[given][0], "at_most": at_most}
    tables = {
        "problem": "min_distortion",
        "records": {"count": 2, "alphabet": 2},
        "query": QUERIES[query][0],
        "mechanism": {"class": group},
        "distortion": {"kind": "hamming"},
        "law": {"kind": "uniform"},
        "constraints": [limited],
    }
    return toml(tables | more)


def certificate(asked, lower, upper, mechanism, *lines):
    head = {
        "format": "dalenius-certificate/2",
        "problem": "min_distortion",
        "model": digest(asked),
        "unit": "distortion",
    }
    head |= {"lower": lower, "upper": upper, "producer": "tests", "mechanism": mechanism}
    return "".join(json.dumps(line) + "\n" for line in [head, *lines]).encode()


def cells(query, of, given, group):
    """By given value, and by value of the secret, both in the order of the first datasets, the inputs."""
    seen, found, names = {}, {}, {}
    for number, x in enumerate(itertools.product((0, 1), repeat=2)):
        c = seen.setdefault(SECRETS[given][1](x), len(seen))
        a = names.setdefault(SECRETS[of][1](x), len(names))
        k = number if group == "full" else QUERIES[query][1](x)
        found.setdefault(c, {}).setdefault(a, set()).add(k)
    return found


@each("seed", *range(draws(12, 600)))
def test_bounds_of_selections_by_listing(seed):
    """What a selection adds is, summed over any mechanism, at most the information under its law; and the checker adds just that."""
    rng = random.Random(seed)
    query, of = rng.choice(list(QUERIES)), rng.choice(list(SECRETS)[:-1])
    given = rng.choice([name for name in SECRETS if name != of])
    group = rng.choice(["oblivious", "full", *(["additive"] if query in ("parity", "modular_sum") else [])])
    width = QUERIES[query][2]
    size = 4 if group == "full" else width
    held = cells(query, of, given, group)
    choices = [c for c in held if len(held[c]) > 1]
    if not choices:
        return
    c = rng.choice(choices)
    values = sorted(rng.sample(sorted(held[c]), rng.randint(2, len(held[c]))))
    selection = [[a, rng.choice(sorted(held[c][a])), rng.randint(1, 5)] for a in values]
    phi = np.array([[rng.randint(1, 9) for _ in range(width)] for _ in values])
    at_most, weight = rng.choice([("1/10", 0.1), ("1/5 bits", math.log(2) / 5)]), rng.choice([1, 2, 5])
    law = np.array([v for *_, v in selection], float) / sum(v for *_, v in selection)
    gain = np.zeros((size, width))
    for (_, k, _), p, row in zip(selection, law, phi / phi.sum(0), strict=True):
        gain[k] += p * np.log(row / p)
    rows = np.array([[rng.random() ** 3 for _ in range(width)] for _ in range(size)])
    rows /= rows.sum(1, keepdims=True)
    joint = np.array([p * rows[k] for (_, k, _), p in zip(selection, law, strict=True)])
    assert (gain * rows).sum() <= (joint * np.log(joint / joint.sum(0) / law[:, None])).sum() + 1e-12
    asked = model(query, of, given, at_most[0], group)
    costs = np.zeros((size, width))
    for number, x in enumerate(itertools.product((0, 1), repeat=2)):
        k = number if group == "full" else QUERIES[query][1](x)
        costs[k] += 0.25 * (np.arange(width) != QUERIES[query][1](x))
    matrix = costs + weight * gain
    if group == "additive":
        bound = min(sum(matrix[k, (k + z) % width] for k in range(width)) for z in range(width))
    else:
        bound = matrix.min(axis=1).sum()
    bound -= weight * at_most[1]
    line = [
        "selection",
        0,
        str(weight),
        c,
        [[a, k, str(v)] for a, k, v in selection],
        [list(map(str, row)) for row in phi],
    ]
    constant = [["1"] * width] * (1 if group == "additive" else size)
    for slack in (-1e-9, 1e-9):
        data = certificate(asked, f"{bound + slack:.15f}", "1", constant, ["dual", "0"], line, ["adversary", 0])
        verdict = check(asked, data)
        refused = slack > 0 and bound + slack > 0
        assert (verdict.exit_code, "lower <= the constraints' bound" in verdict.reason) == (int(refused), refused), (
            verdict.reason
        )


FLIP = [["3/4", "1/4"], ["1/4", "3/4"]]
BIT = {"query": "identity", "records": {"count": 1, "alphabet": 2}}
OF = {"kind": "letters", "records": [0]}


def bit(at_most):
    return model(**BIT, constraints=[{"kind": "secret_leakage", "of": OF, "at_most": at_most}])


def proof(weight=1.0):
    """The selection of both letters, and the posterior of the flip, which make both answers to a bit equally dear."""
    return ["selection", 0, f"{weight / math.log(3):.20f}", 0, [[0, 0, "1"], [1, 1, "1"]], FLIP]


CELL = [["adversary", 0], ["cell", 0, 0], ["law", ["1", "1"]]]


def test_a_bit_under_a_limit():
    """A lie in four is the best mechanism that tells log 2 - h(1/4): closed form, both ends to 1e-12."""
    asked = bit(f"{HALF + 1e-14:.20f}")
    low, high = 0.25 - 1e-12, 0.25 + 1e-12
    lines = [["dual", "0"], proof(), *CELL]
    assert check(asked, certificate(asked, f"{low:.15f}", "1/4", FLIP, *lines)).exit_code == 0
    assert check(asked, certificate(asked, f"{high:.15f}", f"{high:.15f}", FLIP, *lines)).exit_code == 1
    verdict = check(asked, certificate(asked, f"{low:.15f}", "1/4", FLIP, *lines))
    assert any("under constraint 0 (secret_leakage)" in line for line in verdict.lines)
    assert "constraint 0: " in " ".join(verdict.lines)
    close = bit(f"{HALF - 1e-12:.20f}")
    reason = check(close, certificate(close, "0.24", "1/4", FLIP, *lines)).reason
    assert "law's divergences" in reason or "fails" in reason


def test_infeasible_by_a_selection():
    """A bit that must be told exactly, and of which nothing much may be told."""
    exact = {"kind": "zero", "entries": [[0, 1], [1, 0]]}
    table = {"kind": "secret_leakage", "of": OF, "at_most": "1/10"}
    asked = model(**BIT, constraints=[exact, table])
    line = ["selection", 1, "1", 0, [[0, 0, "1"], [1, 1, "1"]], [["9", "1"], ["1", "9"]]]
    pairs = ["multiplier", 0, [[0, "9"], [1, "9"]]]
    assert check(asked, certificate(asked, None, None, None, ["dual", "0"], pairs, line)).exit_code == 0
    loose = model(**BIT, constraints=[exact, {**table, "at_most": "7/10"}])
    assert check(loose, certificate(loose, None, None, None, ["dual", "0"], pairs, line)).exit_code == 1


@each(
    "line, reason",
    (["selection", 1, "1", 0, proof()[4], FLIP], "the constraint must be an integer"),
    (["selection", 0, "0", 0, proof()[4], FLIP], "the weight must be positive"),
    (["selection", 0, "-1", 0, proof()[4], FLIP], "positive"),
    (["selection", 0, "1", 1, proof()[4], FLIP], "the given value"),
    (["selection", 0, "1", 0, [[0, 0, "1"]], FLIP[:1]], "at least two values"),
    (["selection", 0, "1", 0, [[0, 1, "1"], [1, 1, "1"]], FLIP], "no dataset with value 0"),
    (["selection", 0, "1", 0, [[0, 0, "1"], [0, 0, "1"]], FLIP], "in ascending order"),
    (["selection", 0, "1", 0, [[1, 1, "1"], [0, 0, "1"]], FLIP], "in ascending order"),
    (["selection", 0, "1", 0, [[0, 0, "1"], [2, 1, "1"]], FLIP], "no dataset with value 2"),
    (["selection", 0, "1", 0, [[0, 0, "1"], [1, True, "1"]], FLIP], "the input must be an integer"),
    (["selection", 0, "1", 0, [[0, 0, "0"], [1, 1, "1"]], FLIP], "a weight must be positive"),
    (["selection", 0, "1", 0, [[0, 0, "1"], [1, 1, "-1"]], FLIP], "a weight must be positive"),
    (["selection", 0, "1", 0, [[0, 0, "1"], [1, 1]], FLIP], "must be a list of 3"),
    (["selection", 0, "1", 0, proof()[4], [["1", "0"], ["0", "1"]]], "phi is zero"),
    (["selection", 0, "1", 0, proof()[4], FLIP[:1]], "phi must be a list of 2"),
    (["selection", 0, "1", 0, proof()[4], [["1"], ["1"]]], "a letter's phi must be a list of 2"),
    (["also", 0, "1", 0, [["1", "0"], ["0", "1"]], FLIP], "constraint 0 is no leakage"),
    (["tangent", 0, 0, "1", None, FLIP], "has tangents"),
    (["multiplier", 0, [[0, "1"]]], "has no rows"),
)
def test_lines_that_are_refused(line, reason):
    asked = bit("1/10")
    verdict = check(asked, certificate(asked, "1/100", "1", [["1", "1"]] * 2, ["dual", "0"], line, ["adversary", 0]))
    assert (verdict.exit_code, reason in verdict.reason) == (1, True), verdict.reason


@each(
    "lines, reason",
    (CELL[:1], "is not covered"),
    ([], "the adversary of constraint 0"),
    (CELL[1:], "the adversary of constraint 0 is expected"),
    ([*CELL[:1], ["cell", 0, 1], CELL[2]], "the given value"),
    ([*CELL[:1], ["cell", 1, 0], CELL[2]], "the secret must be"),
    ([*CELL[:1], ["secret", 0], ["law", [0], ["1", "1"]], ["mean", None]], "is expected"),
    ([*CELL[:2], ["law", ["1", "0"]]], "where the channel is not"),
    ([*CELL[:2], ["part", 0, [0]], ["law", ["1", "0"]]], "where the channel is not"),
    ([["adversary", 1], *CELL[1:]], "the adversary of constraint 0"),
    ([*CELL, *CELL], "after the last one"),
)
def test_sections_that_are_refused(lines, reason):
    asked = bit(f"{HALF + 1e-14:.20f}")
    verdict = check(asked, certificate(asked, "0", "1/4", FLIP, ["dual", None], *lines))
    assert (verdict.exit_code, reason in verdict.reason) == (1, True), verdict.reason


@each(
    "tables, reason",
    ({"at_most": "0"}, "must be positive"),
    ({"at_most": "-1 bits"}, "must be positive"),
    ({"at_most": "1/2 max"}, "not a number"),
    ({"of": []}, "of must be at least one table"),
    ({"of": {"kind": "histogram"}}, "must be"),
    ({"of": {"kind": "letters", "records": [1]}}, "a record that is none"),
    ({"of": {"kind": "table", "values": [0]}}, "values"),
    ({"strong": True}, "unknown key 'strong'"),
)
def test_models_that_cannot_be_read(tables, reason):
    table = {"kind": "secret_leakage", "of": OF, "at_most": "1/10"} | tables
    verdict = check(model(**BIT, constraints=[table]), b"")
    assert (verdict.exit_code, reason in verdict.reason) == (2, True), verdict.reason


def test_where_the_sections_stand():
    """After the model's own sections, in the order of the constraints; both of two secrets are limits, beside a record's."""
    about = {"kind": "leakage", "adversary": {"kind": "product_priors"}, "at_most": "1"}
    table = {"kind": "secret_leakage", "of": OF, "at_most": "1/5"}
    own = {"max_leakage": "1", "adversary": {"kind": "product_priors"}}
    asked = model(**BIT, **own, constraints=[table, about, {**table, "at_most": "1/4 bits"}])
    record = [["record", 0], ["law", [0], ["1", "1"]]]
    last = [["adversary", 2], *CELL[1:]]
    good = [*record, *CELL, ["adversary", 1], *record, *last]
    assert check(asked, certificate(asked, "0", "1/4", FLIP, ["dual", None], *good)).exit_code == 0
    for wrong in ([*CELL, *record, *last], good[:-3], [*record, *last, *CELL]):
        assert check(asked, certificate(asked, "0", "1/4", FLIP, ["dual", None], *wrong)).exit_code == 1
