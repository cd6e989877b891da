"""Normal form and digest, counts against brute force, channels against closed forms."""

import hashlib
import json
import sys
from collections import Counter

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpz
from scipy.optimize import brentq
from scipy.special import entr

from campaigns import each, thinned
from dalenius_check import check
from dalenius_check.core import read
from dalenius_check.core.adversaries import EntropyBound, ProductPriors
from dalenius_check.core.allowance import LimitError
from dalenius_check.core.channel import build
from dalenius_check.core.counts import completions, datasets, key, selections, values
from dalenius_check.core.model import parse_model
from dalenius_check.core.numbers import RefusedError

GOOD = ("count=2; alphabet=2", 'kind="parity"', 'kind="symmetric"; flip=0.1', "0.5")


def normal_text(model):
    return json.dumps(model.normal, sort_keys=True, separators=(",", ":"))


def test_documented_normal_form(forge):
    data = forge.model("count=4; alphabet=2", 'kind="parity"', 'kind="laplace_threshold"; epsilon=1.0', "1.0")
    expected = (
        '{"adversary":{"entropy_at_least":"1 nats"},"mechanism":{"epsilon":"1","kind":"laplace_threshold"},'
        '"problem":"maximal_leakage","query":{"kind":"parity"},"records":[["2","4"]]}'
    )
    model = parse_model(b'title = "x"\nsource = "y"\n' + data)
    assert normal_text(model) == expected
    assert model.digest == hashlib.sha256(expected.encode()).hexdigest()


@each(
    "change, part",
    ((0, "alphabets=[2,2,3,2]"), '"records":[["2","2"],["3","1"],["2","1"]]'),
    ((1, 'kind="count"'), '"query":{"kind":"count","letters":["1"]}'),
    ((1, 'kind="count"; letters=[3,0]'), '"letters":["0","3"]'),
    ((1, 'kind="sum"'), '"query":{"kind":"sum","weights":null}'),
    ((1, 'kind="sum"; weights=[0,-2]'), '"weights":["0","-2"]'),
    ((1, 'kind="sum"; weights=[[0,1],[1,1]]'), '"weights":[["0","1"],["1","1"]]'),
    ((1, 'kind="modular_sum"; modulus=0x7'), '"query":{"kind":"modular_sum","modulus":"7"}'),
    ((1, 'kind="threshold"; at=-1_0'), '"query":{"at":"-10","kind":"threshold"}'),
    ((2, 'kind="symmetric"; flip=2e-1'), '"mechanism":{"flip":"1/5","k":null,"kind":"symmetric"}'),
    ((2, 'kind="randomized_response"; epsilon="0.50"; k=2'), '{"epsilon":"1/2","k":"2","kind":"randomized_response"}'),
    ((2, 'kind="geometric"; epsilon=1; range=5'), '"range":["0","5"]'),
    ((2, 'kind="geometric"; epsilon=+1.5E+0'), '{"epsilon":"3/2","kind":"geometric","range":null}'),
    ((2, 'kind="exponential"; epsilon=1'), '"range":null,"sensitivity":"1"'),
    (
        (2, 'kind="matrix"; rows=[[1,0],["2/4",0.5]]'),
        '{"inputs":"query","kind":"matrix","rows":[["1","0"],["1/2","1/2"]]}',
    ),
    (
        (2, 'kind="new"; a=[1,"1/2",[true,0.5]]; "\\u00e9"=1_0'),
        '{"a":["1","1/2",[true,"1/2"]],"kind":"new","\\u00e9":"10"}',
    ),
    ((3, '"2/4 bits"'), '"1/2 bits"'),
    ((3, '"0.8 max"'), '"4/5 max"'),
    ((3, '"4/3"'), '"4/3 nats"'),
)
def test_normal_forms(forge, change, part):
    place, body = change
    assert part in normal_text(parse_model(forge.model(*(body if j == place else x for j, x in enumerate(GOOD)))))


@each(
    "body, part",
    ('kind="product_priors"', '"adversary":{"kind":"product_priors"}'),
    (
        'kind="prior_set"; priors=[[0.5,"2/4",0,0.0],[1,0,0,0]]',
        '{"kind":"prior_set","priors":[["1/2","1/2","0","0"],["1","0","0","0"]]}',
    ),
)
def test_other_adversaries(forge, body, part):
    model = parse_model(forge.model(*GOOD[:3], body))
    model.need_feasible()
    assert part in normal_text(model)
    assert all(sum(prior, fmpq(0)) == 1 for prior in model.priors)


def test_priors_are_few_and_divided_by_their_sum(forge, monkeypatch):
    model = parse_model(forge.model(*GOOD[:3], 'kind="prior_set"; priors=[[0.5, 0.4999999999, 0, 0]]'))
    assert model.priors == [[fmpq(5000000000, 9999999999), fmpq(4999999999, 9999999999), 0, 0]]
    monkeypatch.setattr("dalenius_check.core.read.laws", lambda *_: [range(1 << 21)] * 3)
    with pytest.raises(RefusedError, match="altogether"):
        read.priors([], "priors")


def test_selections_are_limited(forge, monkeypatch):
    model = parse_model(forge.model("count=9; alphabet=2", 'kind="count"', GOOD[2], 'kind="product_priors"'))
    assert selections(model, 3, values(model)) == [(k, k + 1) for k in range(9)]
    monkeypatch.setattr("dalenius_check.core.counts._MAX_PAIRS", 17)
    with pytest.raises(LimitError, match="selections"):
        selections(model, 3, values(model))


def test_dataset_matrix_needs_no_query(forge):
    data = forge.model("count=1; alphabet=2", "", 'kind="matrix"; inputs="dataset"; rows=[[1,0],[0,1]]', "0.1")
    assert '"query":{"kind":"identity"}' in normal_text(parse_model(data))


QUERIES = [
    'kind="parity"',
    'kind="modular_sum"; modulus=3',
    'kind="modular_sum"; modulus=50',
    'kind="count"',
    'kind="count"; letters=[]',
    'kind="count"; letters=[2,0,77]',
    'kind="sum"',
    'kind="sum"; weights=[5,-1,5,100000]',
    'kind="sum"; weights=[0,0,0,0]',
    'kind="threshold"; at=3',
    'kind="threshold"; at=-1',
    'kind="threshold"; at=99',
    'kind="identity"',
    "table",
]


@each("alphabets", [2, 2, 2, 2], [4, 2, 1, 3], [1, 4], [4])
@each("query", *QUERIES)
def test_counts_against_enumeration(forge, query, alphabets):
    size = max(alphabets)
    if query == "table":
        numbers = np.random.default_rng(5).integers(-2, 3, int(np.prod(alphabets)))
        query = f'kind="table"; values={numbers.tolist()}'
    if "weights" in query:
        query = query.split("=[")[0] + "=" + str(json.loads("[" + query.split("=[")[1])[:size])
    data = forge.model(f"alphabets={alphabets}", query, 'kind="nothing"', "0")
    model = parse_model(data)
    query_values = values(model)
    dummy = data.replace(b'kind = "nothing"', b"").replace(
        b'kind="nothing"', f'kind="matrix"\nrows={[[1]] * len(query_values)}'.encode()
    )
    for i, letters in enumerate(alphabets):
        pairs = completions(model, i, query_values)
        expected = forge.Reference(dummy, i).N
        found = np.zeros((letters, len(query_values)))
        for a, row in enumerate(pairs):
            for k, n in row:
                found[a, k] = int(n)
        assert (found == expected).all()
        assert found.sum() == int(np.prod(alphabets))
        assert datasets(model, query_values) == forge.Reference(dummy, i).inputs
        assert selections(model, i, query_values) == forge.Reference(dummy, i).selections()
        for j in range(i):
            if key(model, i) == key(model, j):
                assert np.array_equal(expected, forge.Reference(dummy, j).N)


@each("seed", *range(40))
def test_records_are_alike_exactly_where_their_rows_are(forge, seed):
    """Both rules of coverage against enumeration, where inputs differ but rows may be equal."""
    rng = np.random.default_rng(seed)
    alphabets = [[2, 2, 2], [2, 2], [3, 3], [2, 3, 2]][seed % 4]
    numbers = rng.integers(0, 4, int(np.prod(alphabets))).tolist()
    if seed % 3 == 0:
        numbers = np.add.outer(np.arange(alphabets[0]), np.arange(int(np.prod(alphabets[1:])))).ravel().tolist()
    names = rng.integers(0, 2, len(set(numbers))).tolist()
    rows = json.dumps([[1, 0] if name else ["1/2", "0.5"] for name in names])
    data = forge.model(f"alphabets={alphabets}", f'kind="table"; values={numbers}', f'kind="matrix"; rows={rows}', "0")
    model = parse_model(data)
    proofs = [proof(None, model, build(model, None)) for proof in (EntropyBound, ProductPriors)]
    found = []
    for i in range(len(alphabets)):
        tuples = [
            tuple(names[k] for k in column)
            for column in zip(
                *(
                    [k for k, letter in zip(ref.inputs, ref.letter, strict=True) if letter == a]
                    for ref in [forge.Reference(data, i)]
                    for a in range(ref.A)
                ),
                strict=True,
            )
        ]
        counts = [sorted(x[a] for x in tuples) for a in range(alphabets[i])]
        found.append((counts, set(tuples), *(proof.signature(i) for proof in proofs)))
    for one in found:
        for other in found:
            assert (one[0] == other[0]) == (one[2] == other[2])
            assert (one[1] == other[1]) == (one[3] == other[3])


@pytest.mark.parametrize(
    ("records", "query", "expected"),
    [
        ("count=100000; alphabet=2", 'kind="parity"', "half"),
        ("count=100000; alphabet=3", 'kind="modular_sum"; modulus=7', None),
        ("count=2000; alphabet=2", 'kind="count"', 1),
        ("count=2000; alphabet=2", 'kind="threshold"; at=1000', None),
    ],
)
def test_large_counts_need_few_steps(forge, records, query, expected):
    """Steps of the interpreter, counted: no time is measured."""
    model = parse_model(forge.model(records, query, GOOD[2], "1"))
    steps = Counter[str]()
    sys.setprofile(lambda _frame, event, _what: steps.update([event]))
    try:
        pairs = completions(model, 0, values(model))
    finally:
        sys.setprofile(None)
    assert steps.total() < 2_000_000
    assert expected is None or pairs[0][0] == (0, fmpz(2) ** 99998 if expected == "half" else expected)
    assert sum((n for row in pairs for _, n in row), fmpz(0)) == fmpz(model.alphabets[0]) ** len(model.alphabets)


def test_far_apart_values_and_limits(forge):
    model = parse_model(forge.model("count=3; alphabet=3", 'kind="sum"; weights=[0,1,100000]', GOOD[2], "1"))
    assert [int(n) for _, n in completions(model, 0, values(model))[0]] == [1, 2, 1, 2, 2, 1]
    model = parse_model(forge.model("count=3; alphabet=3", 'kind="sum"; weights=[0,1,1000000000]', GOOD[2], "1"))
    with pytest.raises(LimitError):
        values(model)
    model = parse_model(forge.model("count=100000; alphabet=2", 'kind="threshold"; at=7', GOOD[2], "1"))
    with pytest.raises(LimitError):
        completions(model, 0, [0, 1])


@each("epsilon", "0.3", "2", "40")
def test_epsilon_channels(forge, epsilon):
    for mechanism in ("geometric", "exponential", "randomized_response"):
        data = forge.model("count=3; alphabet=2", 'kind="count"', f'kind="{mechanism}"; epsilon={epsilon}', "0.5")
        channel, ref = build(parse_model(data), None), forge.Reference(data)
        assert np.allclose([[float(arb(x)) for x in row] for row in channel.rows], ref.R, rtol=1e-13, atol=0)
        assert all(sum(row, arb(0)).contains(1) for row in channel.rows)
        assert not channel.exact


def test_an_output_that_an_epsilon_beside_it_does_not_make_possible(forge):
    """Its entry is a ball, which is 0 exactly."""
    then = 'then=[{ mechanism={ kind="matrix", rows=[[0.1, 0.9], [1, 0]] } }, { }]'
    mechanism = f'kind="adaptive"; mechanism={{ kind="randomized_response", epsilon=1 }}; {then}'
    channel = build(parse_model(forge.model("count=1; alphabet=2", 'kind="parity"', mechanism, "0.5")), None)
    assert not channel.exact
    assert [channel.vanishes(1, inputs) for inputs in ([0], [1], [0, 1])] == [False, True, False]


def test_exact_channels(forge):
    data = forge.model(
        "count=2; alphabet=2", 'kind="parity"', 'kind="matrix"; rows=[[0.3333333333, 0.6666666666],[1,0]]', "0.5"
    )
    channel = build(parse_model(data), None)
    assert channel.rows[0] == [fmpq(3333333333, 9999999999), fmpq(6666666666, 9999999999)]
    assert channel.vanishes(1, [1])
    assert not channel.vanishes(1, [0, 1])
    for mechanism in ('"randomized_response"', '"laplace_threshold"', '"exponential"'):
        data = forge.model("count=2; alphabet=2", 'kind="parity"', f"kind={mechanism}; epsilon=0", "0.5")
        assert build(parse_model(data), None).rows == [[fmpq(1, 2)] * 2] * 2
    data = forge.model("count=2; alphabet=2", 'kind="parity"', 'kind="symmetric"; flip=1', "0.5")
    assert build(parse_model(data), None).rows == [[0, 1], [1, 0]]


@each(
    "records, entropy, uniform, fits",
    ("count=3; alphabet=2", '"3 bits"', True, True),
    ("alphabets=[4,2]", '"3 bits"', True, True),
    ("alphabets=[4,3]", '"3 bits"', False, True),
    ("alphabets=[4,3]", '"1 max"', True, True),
    ("alphabets=[4,3]", '"0.9999999 max"', False, True),
    ("count=3; alphabet=2", '"3.000000000000000000000000001 bits"', False, False),
    ("count=3; alphabet=2", "2.0794415416798359282516963643745297042265", False, True),
    ("count=3; alphabet=2", "2.0794415416798359282516963643745297042266", False, False),
    ("count=3; alphabet=1", "0", True, True),
    ("count=3; alphabet=1", '"0.3 max"', True, True),
    ("count=3; alphabet=1", "1e-400", False, False),
    ("count=3; alphabet=1", '"0 bits"', True, True),
    ("count=3; alphabet=2", "0", False, True),
)
def test_entropy_bounds_are_compared_exactly(forge, records, entropy, uniform, fits):
    model = parse_model(forge.model(records, GOOD[1], GOOD[2], entropy))
    before, ctx.prec = ctx.prec, 2048
    try:
        assert model.is_uniform() is uniform
        if fits:
            model.need_feasible()
        else:
            with pytest.raises(RefusedError):
                model.need_feasible()
    finally:
        ctx.prec = before


# Closed forms: parity through a binary symmetric channel (Mrs. Gerber's lemma).


def h(x):
    return float(entr(x) + entr(1 - x))


@pytest.mark.parametrize(
    ("b", "known"),
    thinned(
        [
            (0.0, 0.0795415058653),
            (2.0, 0.0795415058653),
            (2.2, 0.0712774696959),
            (2.5, 0.0387007796428),
            (2.7, 0.0110037996924),
        ],
        every=3,
    ),
)
def test_parity_of_four_bits(forge, b, known):
    p = float(np.exp(-0.5) / 2)
    spare = b - 3 * np.log(2)
    v = brentq(lambda x: h(x) - spare, 1e-15, 0.5) if spare > 0 else 0.0
    flip = p * (1 - v) + (1 - p) * v
    assert np.log(2) - h(flip) == pytest.approx(known, abs=1e-12)
    data = forge.model("count=4; alphabet=2", 'kind="parity"', 'kind="laplace_threshold"; epsilon=1.0', str(b))
    ref = forge.Reference(data)
    near = v + 1e-9 if v else 0.0
    witness = ["witness", 0, [forge.texts([1 - near, near], 12), forge.texts([near, 1 - near], 12)]]
    if spare <= 0:
        leaf, bound = [["joint", "1", "0", None, ["1", "1"]]], known
    else:
        lines, bound = ref.grow(0, 1e-4, known, 200)
        leaf = lines
    lower, upper = forge.text(known - 1e-8), forge.text(bound + 1e-8)
    verdict = check(data, forge.certificate(data, lower, upper, witness, ["record", 1], *leaf))
    assert verdict.exit_code == 0, verdict.reason
    assert bound < known + 2e-4
    for low, high in ((lower, forge.text(known - 1e-8)), (forge.text(known + 1e-8), "1")):
        assert check(data, forge.certificate(data, low, high, witness, ["record", 1], *leaf)).exit_code == 1
