"""Histograms of randomized letters: channels by listing what becomes of everybody, pieces of blocks and which of them are enough."""

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.core.allowance import Allowance, LimitError
from dalenius_check.core.arithmetic import arb, choose, fmpq, using
from dalenius_check.core.channel import build
from dalenius_check.core.model import parse_model
from dalenius_check.core.numbers import RefusedError
from dalenius_check.lemmas.protocols import PROTOCOLS
from dalenius_check.lemmas.randomized import Randomized, cells

HISTOGRAM = 'kind="histogram"'


def model(forge, n, letters, mechanism, held="0"):
    return forge.model(f"count={n}; alphabet={letters}", HISTOGRAM, f'kind="randomized_histogram"; {mechanism}', held)


def row(letters, flip, people):
    """The law of the histogram of people with these letters, each letter turned into any other one alike."""
    law = Counter({(0,) * letters: Fraction(1)})
    for a in people:
        further = Counter()
        for told, p in law.items():
            for c in range(letters):
                further[(*told[:c], told[c] + 1, *told[c + 1 :])] += p * (1 - flip if c == a else flip / (letters - 1))
        law = further
    return [law[y] for y in sorted(law)]


@each("seed", *range(draws(8, 200)))
def test_channels_by_listing(seed, forge):
    rng = random.Random(seed)
    n, letters = rng.choice([(1, 2), (3, 2), (2, 3), (3, 3), (1, 4), (2, 4)])
    flip = Fraction(rng.choice([0, 1, 2, 3, 7, 8]), 8)
    others = [rng.randint(0, 2) for _ in range(letters)] if rng.random() < 0.5 else None
    extra = "" if others is None else f"; others={others}"
    known = [a for a, times in enumerate(others or []) for _ in range(times)]
    made = build(parse_model(model(forge, n, letters, f'flip="{flip}"{extra}')))
    inputs = list(cells(n, letters))
    expected = [row(letters, flip, [*known, *(a for a, x in enumerate(cell) for _ in range(x))]) for cell in inputs]
    assert inputs == sorted(inputs)
    assert [[Fraction(str(x)) for x in found] for found in made.rows] == expected
    if 0 < flip < Fraction(letters - 1, letters):
        epsilon = math.log((1 - flip) * (letters - 1) / flip)
        near = build(parse_model(model(forge, n, letters, f"epsilon={epsilon:.17f}{extra}")))
        found = [[float(arb(x).mid().str(20, radius=False)) for x in some] for some in near.rows]
        assert np.allclose(found, [list(map(float, some)) for some in expected], atol=1e-12)


def test_letters_lead_to_histograms(forge):
    """Two people with three letters, the histogram told as it is: one bit of a letter is what the other leaves open."""
    data = model(forge, 2, 3, "flip=0", 'kind="product_priors"')
    parsed = parse_model(data)
    assert parsed.normal["query"] == {"kind": "histogram"}
    assert parsed.normal["mechanism"] == {"kind": "randomized_histogram", "epsilon": None, "flip": "0", "others": None}
    laws = [["law", [j], ["1"] * 6] for j in range(3)]
    found = check(data, forge.certificate(data, "0", "1.8", ["witness", None, None], ["record", 0], *laws))
    assert found.exit_code == 0, found.reason
    low = forge.certificate(
        data, f"{math.log(3) - 1e-12:.15f}", "1.8", ["witness", 0, [0, ["1", "1", "1"]]], ["record", 0], *laws
    )
    assert check(data, low).exit_code == 0
    listed = model(forge, 1, 2, 'flip="1/4"', 'kind="prior_set"; priors=[[0.5, 0.5]]')
    told = math.log(2) - (math.log(4) - 0.75 * math.log(3))
    claim = f"{told - 1e-12:.15f}", f"{told + 1e-12:.15f}"
    assert check(listed, forge.certificate(listed, *claim, ["witness", 0, 0])).exit_code == 0


def capacity(rows):
    """By Blahut and Arimoto."""
    law = np.full(len(rows), 1 / len(rows))
    for _ in range(draws(100, 1000)):
        far = np.array([r[r > 0] @ np.log(r[r > 0] / (law @ rows)[r > 0]) for r in rows])
        law *= np.exp(far)
        law /= law.sum()
    return float(law @ far)


@each("letters", 2, 3)
def test_fewer_others_tell_more(letters):
    """What a letter tells falls with every other person, whatever the letters of these."""
    flip = Fraction(1, 4)
    for others in itertools.combinations_with_replacement(range(letters), 2):
        told = [
            capacity(np.array([list(map(float, row(letters, flip, [a, *some]))) for a in range(letters)]))
            for some in (others, others[:1], ())
        ]
        assert told[0] <= told[1] + 1e-9
        assert told[1] <= told[2] + 1e-9


def sections(*listed, j=0, letters=2):
    outputs = [math.comb(1 + sum(map(int, t.split(","))) + letters - 1, letters - 1) for t in listed]
    return [line for t, many in zip(listed, outputs, strict=True) for line in
            (["block", j, t], ["record", 0], ["vertices"], ["law", ["1"] * many])]  # fmt: skip


@each(
    "letters, listed, missing",
    (2, ["4,0", "3,1", "2,2"], ""),
    (2, ["4,0", "3,1"], "2,2"),
    (2, ["0,0"], ""),
    (2, ["4,0", "0,0"], ""),
    (2, ["4,0", "2,2"], ""),  # s = 2: H = 1, so 2,0 is needed ...
    (2, ["2,0"], ""),
    (2, ["3,0"], "0,0"),  # s = 3: H = 0
    (2, ["2,0", "1,0"], "4,0"),
    (2, ["1,0"], "4,0"),
    (2, [], "not covered"),
    (3, ["2,0,0"], ""),  # s = 2: H = 1
    (3, ["3,0,0"], "0,0,0"),
    (3, ["1,1,1"], "4,0,0"),
    (3, ["4,0,0", "3,1,0", "2,2,0", "2,1,1"], ""),
)
def test_which_pieces_are_enough(letters, listed, missing, forge):
    """With four others: all of them, or multiples of a step, or nobody."""
    data = model(forge, 5, letters, 'flip="1/4"', 'kind="independent_blocks"; size=1')
    lines = sections(*listed, letters=letters)
    if letters == 2 and listed == ["4,0", "2,2"]:
        missing = "2,0"
    verdict = check(data, forge.certificate(data, "0", "9", ["witness", None, None], *lines))
    assert verdict.exit_code == (1 if missing else 0), verdict.reason
    assert missing in verdict.reason


@each("seed", *range(draws(6, 100)))
def test_what_is_enough_covers_everything(seed):
    """Every histogram of the others is, in some order, nowhere below a listed one."""
    rng = random.Random(seed)
    letters, left, step = rng.randint(2, 4), rng.randint(0, 9), rng.randint(1, 4)
    most = max(0, -(-(left - letters * (step - 1)) // step))
    listed = {tuple(step * x for x in sorted(h, reverse=True)) for h in cells(most, letters)}
    for t in cells(left, letters):
        assert any(all(x >= y for x, y in zip(sorted(t, reverse=True), low, strict=True)) for low in listed)


def test_pieces_are_what_blocks_see(forge):
    blocks = Randomized(parse_model(model(forge, 4, 2, 'flip="1/3"', 'kind="independent_blocks"; size=2')))
    made = build(blocks.piece(blocks.shape(0), (2, 0)))
    assert [[Fraction(str(x)) for x in some] for some in made.rows] == [
        row(2, Fraction(1, 3), [0, 0, 1, 1]), row(2, Fraction(1, 3), [0, 0, 0, 1]), row(2, Fraction(1, 3), [0, 0, 0, 0])
    ]  # fmt: skip


def test_proofs_about_blocks(forge):
    """One of three people: the two others are alike, or not, and tell less than nobody."""
    data = model(forge, 3, 2, 'flip="1/4"', 'kind="independent_blocks"; size=1')
    rows = {t: np.array([list(map(float, row(2, Fraction(1, 4), [a, *t]))) for a in (0, 1)]) for t in ((0, 0), (0, 1))}
    told = {t: capacity(pair) for t, pair in rows.items()}
    best = max(told.values())
    law = {}
    for t, pair in rows.items():
        share = np.full(2, 0.5)
        for _ in range(2000):
            share *= np.exp([r @ np.log(r / (share @ pair)) for r in pair])
            share /= share.sum()
        law[t] = share, [f"{x:.15f}" for x in share @ pair]
    lines = [["block", 0, "2,0"], ["record", 0], ["vertices"], ["law", law[0, 0][1]]]
    lines += [["block", 1, "1,1"], ["record", 0], ["vertices"], ["law", law[0, 1][1]]]
    t = max(told, key=told.__getitem__)
    share = [f"{x:.15f}" for x in law[t][0]]
    name = "2,0" if t == (0, 0) else "1,1"
    witness = [["at", 2, name], ["witness", 0, [["0", share[0]], [share[1], "0"]]]]
    claim = f"{best - 1e-7:.15f}", f"{best + 1e-7:.15f}"
    assert check(data, forge.certificate(data, *claim, *witness, *lines)).exit_code == 0
    assert check(data, forge.certificate(data, claim[1], "1", *witness, *lines)).exit_code == 1
    assert "not covered with 0,0" in check(data, forge.certificate(data, *claim, *witness, *lines[:4])).reason
    assert (
        "comes twice"
        in check(data, forge.certificate(data, *claim, *witness, *lines, ["block", 1, "2,0"], *lines[1:4])).reason
    )
    for wrong, reason in (
        ("1,0", "a witness's t must be 2 people"), ("3,0", "t must be at most 2 people"), ("0,2", "that do not rise"),
        ("2", "t must be 2 integers"), ("+2,0", "integers with commas"), ("02,0", "integers with commas"), (None, "t must be text"),
    ):  # fmt: skip
        verdict = check(data, forge.certificate(data, *claim, ["at", 0, wrong], witness[1], *lines))
        assert (verdict.exit_code, reason in verdict.reason) == (1, True), verdict.reason


@each(
    "n, letters, mechanism, held, reason",
    (2, 2, "flip=0.1; epsilon=1", "0", "either 'epsilon' or 'flip'"),
    (2, 2, "flip=1.1", "0", "at most 1"),
    (2, 2, "flip=0.1; others=[1]", "0", "others must be 2 numbers"),
    (2, 2, "flip=0.1; others=[1, -1]", "0", "must be an integer from 0"),
    (2, 2, "flip=0.1; others=[1000000, 1]", "0", "at most 1000000 people"),
    (2, 1, "flip=0.1", "0", "at least two letters"),
    (2, 2, "flip=0.1", 'kind="markov_chain"; to_one=[0.1, 0.2]; to_zero=[0.1, 0.2]', "not against this adversary"),
    (2, 2, "flip=0.1; others=[0, 0]", 'kind="independent_blocks"; size=1', "no 'others' against"),
    (4, 2, "flip=0.1", 'kind="independent_blocks"; size=2; entropy_at_least="2.1 bits"', "entropy_at_least <= log"),
)
def test_models_that_cannot_be_read(n, letters, mechanism, held, reason, forge):
    verdict = check(model(forge, n, letters, mechanism, held), b"")
    assert (verdict.exit_code, reason in verdict.reason) == (2, True), verdict.reason


def test_other_queries_and_problems(forge):
    for query in ('kind="count"', 'kind="joint"; queries=[{kind="count"}, {kind="parity"}]'):
        with pytest.raises(RefusedError, match="needs the query 'histogram'"):
            parse_model(forge.model("count=2; alphabet=2", query, 'kind="randomized_histogram"; flip=0.1', "0"))
    with pytest.raises(RefusedError, match="needs the query 'histogram'"):
        parse_model(forge.model("alphabets=[2, 3]", HISTOGRAM, 'kind="randomized_histogram"; flip=0.1', "0"))
    text = model(forge, 2, 2, "flip=0.1").replace(b"maximal_leakage", b"secret_leakage", 1)
    assert check(text + b'\n[[secrets]]\nof = { kind = "count" }\n', b"").exit_code == 2
    parts = 'kind="several_releases"; parts=[{kind="randomized_histogram", flip=0.1}]'
    assert check(forge.model("count=2; alphabet=2", HISTOGRAM, parts, "0"), b"").exit_code == 2


# Local protocols: what the checker encloses against the channels, written out by definition; and both arithmetics alike.


KINDS = {
    "subset_selection": {"size": 2},
    "optimized_unary_encoding": {},
    "local_hashing": {"buckets": 3},
    "hadamard_response": {},
}
LAWS = [[1, 1, 1, 1], [3, 3, 1, 1], [0, 2, 2, 1], [4, 3, 2, 1]]


def by_definition(kind, epsilon, size):
    """The rows of docs/model-format.md, output by output, in doubles."""
    e, inputs = math.exp(epsilon), range(size)
    if kind == "subset_selection":
        likely = [[e if k in chosen else 1.0 for chosen in itertools.combinations(inputs, 2)] for k in inputs]
        return [[x / sum(row) for x in row] for row in likely]
    if kind == "optimized_unary_encoding":
        one = [[0.5 if j == k else 1 / (e + 1) for j in inputs] for k in inputs]
        bits = list(itertools.product((0, 1), repeat=size))
        return [[math.prod(p if b else 1 - p for p, b in zip(row, y, strict=True)) for y in bits] for row in one]
    if kind == "local_hashing":
        reports = [(h, b) for h in itertools.product(range(3), repeat=size) for b in range(3)]
        return [[(e if h[k] == b else 1.0) / (e + 2) / 3**size for h, b in reports] for k in inputs]
    outputs = 1 << size.bit_length()
    even = [[(k + 1 & y).bit_count() % 2 == 0 for y in range(outputs)] for k in inputs]
    return [[2 * (e if alike else 1.0) / outputs / (e + 1) for alike in row] for row in even]


def how_of(kind, sizes, draw):
    """A way to sum, of which every number is drawn."""
    ranges = [(g, *sorted(draw.choices(range(n + 1), k=2))) for g, n in enumerate(sizes)]
    if kind == "hadamard_response":
        return None
    if kind == "subset_selection":
        left = draw.randrange(len(sizes))
        return [list(entry) for entry in ranges if entry[0] != left]
    return [draw.randint(1, 32), [list(entry) for entry in ranges if draw.random() < 0.5]]


def made(kind, epsilon=1, size=4):
    """The protocol in the arithmetic that is chosen; epsilon is 1 over a whole number, or whole."""
    amount = fmpq(Fraction(epsilon).numerator, Fraction(epsilon).denominator)
    return PROTOCOLS[kind]({"kind": kind, "epsilon": (amount, "nats"), "k": None, **KINDS[kind]}, size, Allowance())


def number(ball):
    """The rational that a ball without width is, as a double."""
    value = ball.fmpq()
    return int(value.numerator) / int(value.denominator)


@each("arithmetic", "flint", "python")
@each("kind", *KINDS)
def test_both_sides_hold_whatever_is_summed(kind, arithmetic):
    draw = random.Random(f"{kind} {arithmetic}")
    with using(choose(arithmetic)):
        for weights in LAWS * draws(1, 10):
            epsilon = draw.choice(["1/4", "1", "3"])
            law = [Fraction(w, sum(weights)) for w in weights]
            rows = by_definition(kind, float(Fraction(epsilon)), 4)
            mixed = [sum(float(p) * row[y] for p, row in zip(law, rows, strict=True)) for y in range(len(rows[0]))]
            exact = [sum(x * math.log(x / r) for x, r in zip(row, mixed, strict=True)) for row in rows]
            sizes = [weights.count(w) for w in dict.fromkeys(weights)]
            how, given = how_of(kind, sizes, draw), [fmpq(p.numerator, p.denominator) for p in law]
            below, above = (made(kind, epsilon).divergences(given, how, above=side) for side in (False, True))
            for low, value, high in zip(below, exact, above, strict=True):
                assert number(low.lower()) <= value + 1e-13
                assert number(high.upper()) >= value - 1e-13


@each("kind", *KINDS)
def test_rows_are_those_of_the_document(kind):
    for row, wanted in zip(made(kind).rows(), by_definition(kind, 1.0, 4), strict=True):
        assert sorted(number(arb(x).mid()) for x in row) == pytest.approx(sorted(wanted), rel=1e-14)


def test_too_many_tuples_end_undecided():
    protocol = made("optimized_unary_encoding", size=4000)
    with pytest.raises(LimitError, match="tuples"):
        protocol.ranges([[0, 0, 2000], [1, 0, 2000]], [2000, 2000])


def test_sizes_that_no_protocol_has():
    with pytest.raises(RefusedError, match="from 2 to 16384"):
        made("hadamard_response", size=1)
    with pytest.raises(RefusedError, match="from 2 to 16384"):
        made("hadamard_response", size=20_000)
