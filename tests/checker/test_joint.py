"""Several queries of one dataset, by definition: every dataset listed, and every part's row looked up."""

import itertools
import json
import random

import numpy as np
import pytest

from campaigns import draws, each
from constraint_truth import inline
from dalenius_check import check
from dalenius_check.core.channel import build
from dalenius_check.core.counts import completions, datasets, values
from dalenius_check.core.model import parse_model
from dalenius_check.core.numbers import RefusedError
from dalenius_check.lemmas.releases import Releases
from definitions import information, joint_law
from test_releases import doubles


def drawn(rng):
    """Alphabets, and queries as tables with what they are."""
    alphabets = [rng.randint(2, 3) for _ in range(rng.randint(1, 3))]
    found = []
    for _ in range(rng.randint(2, 3)):
        kind = rng.choice(["parity", "modular_sum", "count", "sum", "threshold", "sum of own"])
        if kind == "parity":
            found.append(({"kind": kind}, lambda x: sum(x) % 2, [0, 1]))
        elif kind == "modular_sum":
            found.append(({"kind": kind, "modulus": 3}, lambda x: sum(x) % 3, [0, 1, 2]))
        elif kind == "count":
            found.append(
                ({"kind": kind, "letters": [0, 2]}, lambda x: sum(a != 1 for a in x), list(range(len(alphabets) + 1)))
            )
        elif kind == "threshold":
            found.append(({"kind": kind, "at": 2}, lambda x: int(sum(x) >= 2), [0, 1]))
        else:
            weights = [[rng.randint(-2, 3) for _ in range(size)] for size in alphabets]
            table = {"kind": "sum", "weights": weights} if kind != "sum" else {"kind": "sum"}
            own = weights if kind != "sum" else [list(range(size)) for size in alphabets]
            listed = sorted({sum(row) for row in itertools.product(*own)})
            found.append((table, lambda x, own=own: sum(row[a] for row, a in zip(own, x, strict=True)), listed))
    return alphabets, found


def model(alphabets, queries, mechanism, adversary="entropy_at_least = 0"):
    query = inline({"kind": "joint", "queries": queries})
    text = f'problem = "maximal_leakage"\nrecords = {{ alphabets = {json.dumps(alphabets)} }}\nquery = {query}\n'
    return (text + f"mechanism = {inline(mechanism)}\nadversary = {{ {adversary} }}\n").encode()


@each("seed", *range(draws(25, 1500)))
def test_inputs_and_rows_by_listing(seed):
    rng = random.Random(seed)
    alphabets, found = drawn(rng)
    parts, known = [], []
    for _ in range(rng.randint(1, 2)):
        on = rng.randrange(len(found))
        listed = found[on][2]
        rows = [[rng.randint(0, 3), rng.randint(0, 3), 1] for _ in listed]
        parts.append(
            {"kind": "matrix", "rows": [[f"{w}/{sum(row)}" for w in row] for row in rows]} | ({"on": on} if on else {})
        )
        known.append((on, [[w / sum(row) for w in row] for row in rows]))
    parsed = parse_model(model(alphabets, [t for t, _, _ in found], {"kind": "several_releases", "parts": parts}))
    data = list(itertools.product(*map(range, alphabets)))
    vectors = [tuple(f(x) for _, f, _ in found) for x in data]
    listed = sorted(set(vectors))
    inputs = values(parsed)
    assert datasets(parsed, inputs) == [listed.index(v) for v in vectors]
    rows = doubles(build(parsed).rows)
    for k, vector in enumerate(listed):
        laws = [law[found[on][2].index(vector[on])] for on, law in known]
        assert rows[k] == pytest.approx([float(np.prod(some)) for some in itertools.product(*laws)], abs=1e-14)
    for i, size in enumerate(alphabets):
        wanted = [{} for _ in range(size)]
        for x, v in zip(data, vectors, strict=True):
            place = listed.index(v)
            wanted[x[i]][place] = wanted[x[i]].get(place, 0) + 1
        assert [dict(row) for row in completions(parsed, i, inputs)] == wanted


TWO = [{"kind": "count"}, {"kind": "parity"}]
GEOMETRIC = {"kind": "geometric", "epsilon": 1}


@each(
    "queries, mechanism, reason",
    (TWO[:1], {"kind": "several_releases", "parts": [GEOMETRIC]}, "from 2 to 8 tables"),
    (TWO * 5, {"kind": "several_releases", "parts": [GEOMETRIC]}, "from 2 to 8 tables"),
    ([TWO[0], {"kind": "identity"}], {"kind": "several_releases", "parts": [GEOMETRIC]}, "kind"),
    ([TWO[0], {"kind": "joint", "queries": TWO}], {"kind": "several_releases", "parts": [GEOMETRIC]}, "kind"),
    ([TWO[0], {"kind": "sum", "weights": [1]}], {"kind": "several_releases", "parts": [GEOMETRIC]}, "query.weights"),
    (TWO, {"kind": "several_releases", "parts": [GEOMETRIC | {"on": 2}]}, "a part is on query 2, of 2"),
    (TWO, {"kind": "several_releases", "parts": [{"kind": "symmetric", "flip": 0, "k": 3, "on": 1}]}, "k must be 2"),
    (TWO, GEOMETRIC, "a joint query needs several_releases"),
    (TWO, {"kind": "symmetric", "flip": "1/10", "k": 4}, "k must be 3"),
)
def test_models_that_are_not_read(queries, mechanism, reason):
    """Of two bits: a count and its parity are three vectors."""
    verdict = check(model([2, 2], queries, mechanism), b"")
    assert (verdict.exit_code, reason in verdict.reason) == (2, True), verdict.reason


def test_a_part_on_another_query_needs_one():
    asked = b'problem = "maximal_leakage"\nrecords = { count = 2, alphabet = 2 }\nquery = { kind = "count" }\n'
    asked += b'mechanism = { kind = "several_releases", parts = [{ kind = "geometric", epsilon = 1, on = 1 }] }\n'
    assert "a part is on query 1, of 1" in check(asked + b"adversary = { entropy_at_least = 0 }\n", b"").reason


def test_normal_form():
    mechanism = {"kind": "several_releases", "parts": [GEOMETRIC | {"on": 0}, GEOMETRIC | {"on": 1}]}
    normal = parse_model(model([2, 2], TWO, mechanism)).normal
    assert normal["query"] == {"kind": "joint", "queries": [{"kind": "count", "letters": ["1"]}, {"kind": "parity"}]}
    first, second = normal["mechanism"]["parts"]
    assert (first, second) == ({"kind": "geometric", "epsilon": "1", "range": None, "times": "1"}, first | {"on": "1"})


def told(letters, masses, rows):
    """I of masses, each with a letter and a row."""
    return float(information(joint_law(masses, letters, rows)))


KEEPING = {
    "parity": [{"kind": "symmetric", "flip": "1/5"}, {"kind": "laplace_threshold", "epsilon": 1}],
    "modular_sum": [{"kind": "randomized_response", "epsilon": "0.5"}],
}
NOISE = [{"kind": "geometric", "epsilon": "0.7"}, {"kind": "discrete_laplace", "scale": "1/2"}]


@each("seed", *range(draws(15, 800)))
def test_a_piece_is_its_block_where_the_others_are_known(seed):
    """Of one query, or of several: I of a law on the block, others known, by the whole model's channel and by the piece's."""
    rng = random.Random(seed)
    sizes = [rng.randint(1, 2) for _ in range(2)]
    alphabets = [2] * sum(sizes) if rng.random() < 0.5 else [3] * sum(sizes)
    kinds = [rng.choice(["count", "sum", "parity", "modular_sum"]) for _ in range(rng.randint(1, 2))]
    weights = {"weights": [[rng.randint(0, 2) for _ in range(size)] for size in alphabets]}
    tables = {
        "count": {},
        "parity": {},
        "modular_sum": {"modulus": 3},
        "sum": weights if rng.random() < 0.5 else {"weights": [2, 0, 1][: alphabets[0]]},
    }
    queries = [{"kind": kind, **tables[kind]} for kind in kinds]
    parts = []
    for _ in range(rng.randint(1, 2)):
        on = rng.randrange(len(kinds))
        part = rng.choice(KEEPING.get(kinds[on], NOISE)) | {"times": rng.randint(1, 2)}
        parts.append(part | ({"on": on} if on else {}))
    mechanism = {"kind": "several_releases", "parts": parts}

    def written(held):
        query = {"kind": "joint", "queries": queries} if len(queries) > 1 else queries[0]
        text = f'problem = "maximal_leakage"\nrecords = {{ alphabets = {json.dumps(alphabets)} }}\nquery = {inline(query)}\n'
        return parse_model((text + f"mechanism = {inline(mechanism)}\nadversary = {{ {held} }}\n").encode())

    try:
        whole = written("entropy_at_least = 0")
        rows = doubles(build(whole).rows)
    except RefusedError:  # noise needs two values
        return
    inputs = datasets(whole, values(whole))
    order = list(itertools.product(*map(range, alphabets)))
    blocks = Releases(written(f'kind = "independent_blocks", sizes = {sizes}'))
    start = 0
    for j, size in enumerate(sizes):
        shape, own = blocks.shape(j), range(start, start + size)
        z = [rng.randrange(n) for n in alphabets]
        data = [k for k, x in enumerate(order) if all(i in own or x[i] == z[i] for i in range(len(z)))]
        masses = [rng.random() for _ in data]
        laws = [rows[inputs[k]] for k in data]
        if not blocks.told(shape):
            assert (
                max(told([order[k][i] for k in data], masses, laws) for i in own)
                <= max(told([order[k][i] for k in data], masses, [laws[0]] * len(data)) for i in own) + 1e-9
            )
        else:
            piece = blocks.piece(shape, 0)
            channel = build(piece)
            inside = doubles(channel.rows)
            places = datasets(piece, channel.values)
            for i in own:
                letters = [order[k][i] for k in data]
                wanted = told(letters, masses, laws)
                assert told(letters, masses, [inside[k] for k in places]) == pytest.approx(wanted, abs=1e-11)
        start += size


@each(
    "queries, parts",
    ([{"kind": "threshold", "at": 1}, {"kind": "count"}], [GEOMETRIC | {"on": 1}]),
    ([{"kind": "count"}, {"kind": "parity"}], [{"kind": "discrete_gaussian", "scale": 1, "range": [-9, 9]}]),
    ([{"kind": "count"}, {"kind": "parity"}], [{"kind": "exponential", "epsilon": 1}]),
    ([{"kind": "count"}, {"kind": "parity"}], [{"kind": "matrix", "rows": [["1"], ["1"], ["1"]]}]),
)
def test_releases_that_are_not_known_of_blocks(queries, parts):
    asked = model(
        [2, 2], queries, {"kind": "several_releases", "parts": parts}, 'kind = "independent_blocks", size = 1'
    )
    verdict = check(asked, b"")
    assert (verdict.exit_code, "independent_blocks: " in verdict.reason) == (2, True)
