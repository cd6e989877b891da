"""Mechanisms of several answers, by definition: every sequence of answers listed, and outputs of one type added up."""

import itertools
import json
import math
import random
from collections import Counter
from fractions import Fraction

import pytest

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.core.arithmetic import choose, chosen, fmpq, is_rational, using
from dalenius_check.core.channel import build
from dalenius_check.core.model import parse_model
from dalenius_check.core.numbers import RefusedError
from dalenius_check.lemmas.gaussian import beyond
from dalenius_check.lemmas.households.blocks import Blocks
from forgery_subjects import toml


def channel(mechanism, count=2, alphabet=2, query="count"):
    """The checker's."""
    table = {"problem": "maximal_leakage", "records": {"count": count, "alphabet": alphabet}, "query": {"kind": query}}
    return build(parse_model(toml({**table, "mechanism": mechanism, "adversary": {"kind": "product_priors"}})))


def doubles(rows):
    """Its rows."""
    middles = [[x if is_rational(x) else x.mid().fmpq() for x in row] for row in rows]
    return [[int(x.numerator) / int(x.denominator) for x in row] for row in middles]


@each("arithmetic", "flint", "python")
@each("noise", {"flip": "1/5"}, {"flip": "0"}, {"flip": 1}, {"epsilon": "0.8"}, {"epsilon": 0})
@each("n", 1, 4, 5)
def test_randomized_counts_turn_every_bit_round(n, noise, arithmetic):
    flip = {"1/5": 0.2, "0": 0.0, 1: 1.0}.get(noise.get("flip"), 1 / (1 + math.exp(float(noise.get("epsilon", 0)))))
    with using(choose(arithmetic)):
        found = channel({"kind": "randomized_count", **noise}, n)
        assert found.exact == ("flip" in noise or noise["epsilon"] == 0)
        rows = doubles(found.rows)
    for v in range(n + 1):
        bits, wanted = [1] * v + [0] * (n - v), [0.0] * (n + 1)
        for turns in itertools.product((0, 1), repeat=n):
            chance = math.prod(flip if turn else 1 - flip for turn in turns)
            wanted[sum(b ^ turn for b, turn in zip(bits, turns, strict=True))] += chance
        assert rows[v] == pytest.approx(wanted, abs=1e-12)


@each("arithmetic", "flint", "python")
@each("scale, ends", ("1/100", [0, 3]), ("0.7", [-1, 3]), ("5", [0, 3]), ("40", [-9, 30]))
def test_gaussian_noise_is_clamped(scale, ends, arithmetic):
    """Against sums in doubles, far out; rows have the sum 1; and so has what is lost where nothing is clamped a bound."""
    with using(choose(arithmetic)), chosen().workprec(128):
        found = channel({"kind": "discrete_gaussian", "scale": scale, "range": ends}, 3)
        rows, s = doubles(found.rows), float(Fraction(scale))
        sums = [sum((x.mid().fmpq() for x in row), fmpq(0)) for row in found.rows]
        assert all(abs(total - 1) < fmpq(1, 10**30) for total in sums)
        bound = beyond(fmpq(Fraction(scale).numerator, Fraction(scale).denominator))
        above, far = int(bound.lower().fmpq() * 10**60) / 1e60, math.ceil(10 * s + 1)
    law = {k: math.exp(-((k / s) ** 2) / 2) for k in range(-700, 701)}
    whole = math.fsum(law.values())
    for v, row in enumerate(rows):
        below = math.fsum(w for k, w in law.items() if k <= ends[0] - v)
        over = math.fsum(w for k, w in law.items() if k >= ends[1] - v)
        wanted = [below, *(law[y - v] for y in range(ends[0] + 1, ends[1])), over]
        assert row == pytest.approx([w / whole for w in wanted], rel=1e-12, abs=1e-300)
    assert above >= math.fsum(w for k, w in law.items() if k >= far) / whole


def drawn(rng):
    """Parts about three values, and their rows in doubles."""
    big = math.exp(0.7)
    known = [
        ({"kind": "symmetric", "flip": "1/4"}, [[0.75 if y == v else 0.125 for y in range(3)] for v in range(3)]),
        (
            {"kind": "randomized_response", "epsilon": "0.7"},
            [[(big if y == v else 1) / (big + 2) for y in range(3)] for v in range(3)],
        ),
        ({"kind": "matrix", "rows": [["0", "1"], ["1/3", "2/3"], ["1", "0"]]}, [[0, 1], [1 / 3, 2 / 3], [1, 0]]),
        ({"kind": "randomized_count", "flip": "0"}, [[float(y == v) for y in range(3)] for v in range(3)]),
        ({"kind": "matrix", "rows": [["1"], ["1"], ["1"]]}, [[1], [1], [1]]),
    ]
    return [(*rng.choice(known), rng.randint(1, 3)) for _ in range(rng.randint(1, 2))]


@each("seed", *range(draws(12, 200)))
def test_several_releases_add_up_sequences_of_one_type(seed):
    """And the types are numbered as the document says, the last part fastest."""
    rng = random.Random(seed)
    parts = drawn(rng)
    with using(choose(rng.choice(["flint", "python"]))):
        found = channel({"kind": "several_releases", "parts": [{**table, "times": n} for table, _, n in parts]})
        assert found.exact == all("epsilon" not in table for table, _, _ in parts)
        rows = doubles(found.rows)
    types = []
    for _, part, n in parts:
        listed = [c for c in itertools.product(range(n + 1), repeat=len(part[0])) if sum(c) == n]
        types.append(sorted(listed, reverse=True))
    outputs = list(itertools.product(*types))
    for v in range(3):
        wanted = Counter[object]()
        sequences = [list(itertools.product(range(len(part[0])), repeat=n)) for _, part, n in parts]
        for ones in itertools.product(*sequences):
            chance = math.prod(part[v][y] for (_, part, _), ys in zip(parts, ones, strict=True) for y in ys)
            sums = zip(parts, ones, strict=True)
            wanted[tuple(tuple(ys.count(y) for y in range(len(part[0]))) for (_, part, _), ys in sums)] += chance
        assert rows[v] == pytest.approx([wanted[c] for c in outputs], abs=1e-12)


def test_equal_entries_are_one_number():
    """So that symmetries are seen where numbers are enclosed by balls."""
    found = channel(
        {"kind": "several_releases", "parts": [{"kind": "randomized_response", "epsilon": 1, "times": 4}]}, 1, 3
    )
    assert len({id(x) for row in found.rows for x in row}) == len(
        {round(x, 12) for row in doubles(found.rows) for x in row}
    )


@each(
    "mechanism, reason",
    ({"kind": "randomized_count"}, "either 'epsilon' or 'flip'"),
    ({"kind": "randomized_count", "flip": "0.1", "epsilon": 1}, "either 'epsilon' or 'flip'"),
    ({"kind": "randomized_count", "flip": "1.1"}, "at most 1"),
    ({"kind": "discrete_laplace"}, "either 'epsilon' or 'scale'"),
    ({"kind": "discrete_laplace", "scale": "1/1001"}, "at least 1/1000"),
    ({"kind": "discrete_laplace", "epsilon": "0"}, "must be positive"),
    ({"kind": "discrete_gaussian", "scale": "1/101", "range": [0, 2]}, "at least 1/100"),
    ({"kind": "discrete_gaussian", "scale": "1000001", "range": [0, 2]}, "at most 1000000"),
    ({"kind": "discrete_gaussian", "scale": "1", "range": [0, 1]}, "every value"),
    ({"kind": "several_releases", "parts": [{"kind": "discrete_gaussian", "scale": "1"}]}, "range is missing"),
    ({"kind": "staircase", "epsilon": 1, "sensitivity": 2, "top": 3}, "top must be at most the sensitivity"),
    ({"kind": "staircase", "epsilon": 1, "sensitivity": 10**9, "top": 3}, "more than 16777216 entries"),
    ({"kind": "several_releases", "parts": []}, "at least one table"),
    ({"kind": "several_releases", "parts": [{"kind": "several_releases", "parts": []}]}, "must be"),
    ({"kind": "several_releases", "parts": [{"kind": "hadamard_response", "epsilon": 1}]}, "must be"),
    ({"kind": "several_releases", "parts": [{"kind": "symmetric", "flip": "0.1", "times": 0}]}, "an integer from 1"),
    ({"kind": "several_releases", "parts": [{"kind": "matrix", "inputs": "dataset", "rows": [["1"]]}]}, "'query'"),
    ({"kind": "several_releases", "parts": [{"kind": "symmetric", "flip": "0.1", "k": 2}]}, "mechanism.k must be 3"),
    (
        {"kind": "several_releases", "parts": [{"kind": "symmetric", "flip": "0.1", "times": 10**9}]},
        "more than 16777216 entries",
    ),
)
def test_what_no_channel_is_made_of(mechanism, reason):
    with pytest.raises(RefusedError, match=reason):
        channel(mechanism)


def test_a_randomized_count_needs_a_count():
    with pytest.raises(RefusedError, match=r"0, 1, \.\.\., n"):
        channel({"kind": "randomized_count", "flip": "0.1"}, 1, 1, "sum")


# Trees of releases: their channels by walking all paths, pieces of blocks by listing datasets, and what is refused.


def inline(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {inline(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(map(inline, value)) + "]" if isinstance(value, list) else json.dumps(value)


def model(mechanism, query=None, records=2, adversary=None, problem="maximal_leakage", **more):
    tables = {"records": {"count": records, "alphabet": 2}, "query": query or {"kind": "count"}, "mechanism": mechanism}
    tables |= {"adversary": adversary or {"entropy_at_least": 0}, **more}
    return "\n".join(
        [f'problem = "{problem}"', *(f"{key} = {inline(table)}" for key, table in tables.items())]
    ).encode()


def matrix(rng, inputs, width):
    rows = [[rng.choice([0, 1, 2, 3]) for _ in range(width)] for _ in range(inputs)]
    rows = [row if sum(row) else [1] * width for row in rows]
    return {"kind": "matrix", "rows": [[str(Fraction(x, sum(row))) for x in row] for row in rows]}


def tree(rng, pool, depth=0):
    """Stages of a few mechanisms, so that some paths are alike."""
    on, table = rng.choice(pool)
    width = len(table["rows"][0])
    stage = {"mechanism": table} | ({"on": on} if on else {})
    if depth < 3 and rng.random() < 0.75:
        stage["then"] = [tree(rng, pool, depth + 1) if rng.random() < 0.6 else {} for _ in range(width)]
    return stage


def paths(stage):
    """The steps of every path, in order."""
    on, table = stage.get("on", 0), stage["mechanism"]
    for y, further in enumerate(stage.get("then") or [{}] * len(table["rows"][0])):
        step = (json.dumps(table), on, y)
        for rest in paths(further) if further else [()]:
            yield (step, *rest)


def adaptive_channel(stage, rows_of):
    """Classes of alike paths in the order of their first ones, by input."""
    names = dict.fromkeys(tuple(sorted(path)) for path in paths(stage))
    found = []
    for v, _ in enumerate(rows_of(0, None)):
        sums = dict.fromkeys(names, Fraction(0))
        for path in paths(stage):
            p = Fraction(1)
            for table, on, y in path:
                p *= Fraction(rows_of(on, json.loads(table))[v][y])
            sums[tuple(sorted(path))] += p
        found.append(list(sums.values()))
    return found


@each("seed", *range(draws(10, 400)))
def test_channels_by_walking_all_paths(seed):
    rng = random.Random(seed)
    joint = rng.random() < 0.5
    query = {"kind": "joint", "queries": [{"kind": "count"}, {"kind": "parity"}]} if joint else {"kind": "count"}
    pool = [(0, matrix(rng, 3, rng.randint(1, 3))) for _ in range(2)] + ([(1, matrix(rng, 2, 2))] if joint else [])
    stage = tree(rng, pool)
    made = build(parse_model(model({"kind": "adaptive", **stage}, query)))

    def rows_of(on, table):
        if table is None:
            return range(3)
        return [table["rows"][v % 2 if on else v] for v in range(3)]

    expected = adaptive_channel(stage, rows_of)
    assert [[Fraction(str(x)) for x in row] for row in made.rows] == expected
    assert all(sum(row) == 1 for row in expected)


def test_one_question_many_times_is_several_releases():
    flip = {"kind": "randomized_response", "epsilon": 1}
    stage = {"mechanism": flip}
    for _ in range(3):
        stage = {"mechanism": flip, "then": [stage, stage]}
    asked = parse_model(model({"kind": "adaptive", **stage}, {"kind": "parity"}))
    several = {"kind": "several_releases", "parts": [flip | {"times": 4}]}
    one, other = build(asked), build(parse_model(model(several, {"kind": "parity"})))
    assert one.outputs == other.outputs == 5
    assert all(
        x.overlaps(y) for row, like in zip(one.rows, other.rows, strict=True) for x, y in zip(row, like, strict=True)
    )


def test_a_question_that_depends_on_an_answer():
    """A parity told exactly, then a count behind noise where it is even: the normal form, and a proof with both ends."""
    tell = {"kind": "symmetric", "flip": 0}
    then = [{"mechanism": {"kind": "symmetric", "flip": "1/4"}, "then": [{}, {}]}, {}]
    asked = model({"kind": "adaptive", "mechanism": tell, "then": then}, {"kind": "parity"}, records=1)
    parsed = parse_model(asked)
    assert parsed.normal["mechanism"] == {
        "kind": "adaptive",
        "mechanism": {"flip": "0", "k": None, "kind": "symmetric"},
        "on": "0",
        "then": [{"mechanism": {"flip": "1/4", "k": None, "kind": "symmetric"}, "on": "0", "then": [None, None]}, None],
    }
    assert [[str(x) for x in row] for row in build(parsed).rows] == [["3/4", "1/4", "0"], ["0", "0", "1"]]


COIN = [["1/4", "3/4"], ["2/3", "1/3"], ["1", "0"], ["1/2", "1/2"]]


def test_pieces_of_blocks_are_what_blocks_see():
    """The rows of a piece are those of the user's model where the others are known."""
    size_one = {"kind": "independent_blocks", "size": 2}
    bit = {"kind": "laplace_threshold", "epsilon": 1}
    second = {"mechanism": {"kind": "matrix", "rows": COIN[:2]}}
    asked = parse_model(
        model({"kind": "adaptive", "mechanism": bit, "then": [{}, second]}, {"kind": "threshold", "at": 2}, 4, size_one)
    )
    blocks = Blocks(asked)
    for t in (0, 1, 2):
        piece = blocks.piece(blocks.shape(0), t)
        assert piece.query["at"] == 2 - t
        assert build(piece).outputs == 3
    first = {"kind": "matrix", "rows": [COIN[k % 4] for k in range(5)]}
    later = {"kind": "matrix", "rows": [COIN[(k + 1) % 4] for k in range(5)]}
    table = {"kind": "adaptive", "mechanism": first, "then": [{"mechanism": later}, {}]}
    asked = parse_model(model(table, {"kind": "count"}, 4, size_one))
    whole = build(parse_model(model(table, {"kind": "count"}, 4)))
    blocks = Blocks(asked)
    for t in (0, 1, 2):
        assert build(blocks.piece(blocks.shape(0), t)).rows == [whole.rows[t + v] for v in range(3)]
    assert len({blocks.key(blocks.shape(0), t) for t in (0, 1, 2)}) == 3


FLIP = {"kind": "symmetric", "flip": "1/4"}
DEEP = {"mechanism": FLIP}
for _ in range(15):
    DEEP = {"mechanism": FLIP, "then": [DEEP, {}]}


@each(
    "stage, reason",
    ({}, "'mechanism' is missing"),
    ({"mechanism": FLIP, "then": [{}]}, "must have 2 tables"),
    ({"mechanism": FLIP, "then": [{}, {}, {}]}, "must have 2 tables"),
    ({"mechanism": FLIP, "then": [{"then": []}, {}]}, "'mechanism' is missing"),
    ({"mechanism": FLIP, "then": [{"mechanism": FLIP, "kind": "adaptive"}, {}]}, "unknown key 'kind'"),
    ({"mechanism": FLIP | {"times": 2}}, "unknown key 'times'"),
    ({"mechanism": FLIP, "on": 1}, "on query 1, of 1"),
    ({"mechanism": {"kind": "adaptive", "mechanism": FLIP}}, "must be"),
    ({"mechanism": {"kind": "several_releases", "parts": [FLIP]}}, "must be"),
    ({"mechanism": {"kind": "gaussian", "scale": 1}}, "must be"),
    ({"mechanism": {"kind": "matrix", "inputs": "dataset", "rows": [["1"]] * 4}}, "'query'"),
    ({"mechanism": {"kind": "randomized_count"}}, "either 'epsilon' or 'flip'"),
    ({"mechanism": FLIP, "then": [DEEP, {}]}, "16 deep"),
)
def test_trees_that_cannot_be_read(stage, reason):
    with pytest.raises(RefusedError, match=reason):
        build(parse_model(model({"kind": "adaptive", **stage}, {"kind": "parity"})))


def test_limits_of_trees(monkeypatch):
    assert build(parse_model(model({"kind": "adaptive", **DEEP}, {"kind": "parity"}))).outputs == 17
    monkeypatch.setattr("dalenius_check.lemmas.adaptive._MOST_PATHS", 16)
    with pytest.raises(RefusedError, match="more than 16 paths"):
        build(parse_model(model({"kind": "adaptive", **DEEP}, {"kind": "parity"})))
    monkeypatch.setattr("dalenius_check.core.tables._MOST_STAGES", 15)
    with pytest.raises(RefusedError, match="more than 15 stages"):
        parse_model(model({"kind": "adaptive", **DEEP}, {"kind": "parity"}))


@each(
    "query, mechanism, status",
    ({"kind": "count"}, FLIP, 2),
    ({"kind": "parity"}, FLIP, 2),
    ({"kind": "threshold", "at": 1}, {"kind": "geometric", "epsilon": 1, "range": [0, 2]}, 2),
    ({"kind": "threshold", "at": 1}, FLIP | {"k": 2}, 1),
    ({"kind": "threshold", "at": 1}, {"kind": "matrix", "rows": COIN}, 2),
    ({"kind": "count"}, {"kind": "matrix", "rows": COIN[:2]}, 2),
    ({"kind": "joint", "queries": [{"kind": "count"}, {"kind": "parity"}]}, {"kind": "matrix", "rows": COIN[:3]}, 2),
)
def test_blocks_know_few_trees(query, mechanism, status):
    held = {"kind": "independent_blocks", "size": 1}
    verdict = check(model({"kind": "adaptive", "mechanism": mechanism}, query, 2, held), b"")
    assert verdict.exit_code == status, verdict.reason


def test_secrets_and_designs():
    """A secret may be told of by a tree; several releases may not have one as a part."""
    table = {"kind": "adaptive", "mechanism": FLIP}
    asked = model(table, {"kind": "parity"}, problem="secret_leakage", secrets=[{"of": {"kind": "count"}}])
    assert check(asked, b"").exit_code == 1
    verdict = check(model({"kind": "several_releases", "parts": [table]}, {"kind": "parity"}), b"")
    assert verdict.exit_code == 2


def test_a_proof_about_a_tree(forge):
    """Every path's law is a law of the outputs; a bit told once, and once more after a 1: its capacity from both sides."""
    table = {"kind": "adaptive", "mechanism": FLIP, "then": [{}, {"mechanism": FLIP}]}
    asked = model(table, {"kind": "parity"}, 1)
    rows = [[Fraction(x) for x in row] for row in (["3/4", "3/16", "1/16"], ["1/4", "3/16", "9/16"])]
    assert [[Fraction(str(x)) for x in row] for row in build(parse_model(asked)).rows] == rows
    lines = [["witness", 0, [["1", "0"], ["0", "1"]]], ["record", 0], ["joint", "1", "0", None, ["16", "6", "10"]]]
    assert check(asked, forge.certificate(asked, "0.17", "0.204", *lines)).exit_code == 0
    assert check(asked, forge.certificate(asked, "0.2", "0.3", *lines)).exit_code == 1
