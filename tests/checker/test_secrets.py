"""Secrets by definition: datasets listed, and I(of; Y | given) in doubles from a joint law of all three."""

import itertools
import json
import math
import random
from fractions import Fraction

import numpy as np

from campaigns import draws, each
from constraint_truth import inline
from dalenius_check import check, digest
from dalenius_check.core.channel import build
from dalenius_check.core.model import parse_model
from dalenius_check.lemmas.secrets.told import Told
from definitions import conditional_information
from forgery_subjects import toml

MODEL = b"""
problem = "secret_leakage"
records = { count = 3, alphabet = 2 }
query = { kind = "count" }
mechanism = { kind = "geometric", epsilon = 0.5 }
adversary = { entropy_at_least = 0 }
[[secrets]]
of = { kind = "threshold", at = 2 }
"""


def written(tables, **adversary):
    """A model's file."""
    rest = {key: value for key, value in tables.items() if key != "secrets"}
    secrets = [f"[[secrets]]\nof = {inline(s['of'])}\ngiven = {inline(s['given'])}\n" for s in tables["secrets"]]
    return toml(rest | {"adversary": adversary}) + "".join(secrets).encode()


def certificate(model, lower, upper, *lines):
    head = {"format": "dalenius-certificate/2", "problem": "secret_leakage", "model": digest(model), "unit": "nats"}
    head |= {"lower": lower, "upper": upper, "producer": "tests"}
    return "".join(json.dumps(line) + "\n" for line in [head, *lines]).encode()


def table(rng, alphabets):
    """One thing that is told, and what it tells of a dataset."""
    kind = rng.choice(["letters", "letters", "parity", "count", "threshold", "sum", "table", "identity"])
    order = list(itertools.product(*map(range, alphabets)))
    if kind == "letters":
        records = sorted(rng.sample(range(len(alphabets)), rng.randint(1, len(alphabets))))
        others = [i for i in range(len(alphabets)) if i not in records]
        named = {"others": others} if others and rng.random() < 0.5 else {"records": records}
        groups, home = {}, {}
        if rng.random() < 0.4:
            most = max(alphabets[i] for i in records)
            cut = rng.randint(1, most)
            groups = {"groups": [g for g in (list(range(cut)), list(range(cut, most))) if g]}
            home = {a: a >= cut for a in range(most)}
        return {"kind": kind, **named, **groups}, lambda x: tuple(home.get(x[i], x[i]) for i in records)
    if kind == "parity":
        return {"kind": kind}, lambda x: sum(x) % 2
    if kind == "count":
        return {"kind": kind}, lambda x: sum(a == 1 for a in x)
    if kind == "threshold":
        at = rng.randint(0, 4)
        return {"kind": kind, "at": at}, lambda x: sum(x) >= at
    if kind == "sum":
        weights = [[rng.randint(0, 2) for _ in range(size)] for size in alphabets]
        return {"kind": kind, "weights": weights}, lambda x: sum(w[a] for w, a in zip(weights, x, strict=True))
    values = [rng.randint(0, 2) for _ in order] if kind == "table" else list(range(len(order)))
    return {"kind": kind} | ({"values": values} if kind == "table" else {}), lambda x: values[order.index(x)]


def drawn(rng):
    """A model's tables, and (of, given) of every dataset for each secret."""
    alphabets = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
    order = list(itertools.product(*map(range, alphabets)))
    secrets, told = [], []
    for _ in range(rng.randint(1, 2)):
        of, given = ([table(rng, alphabets) for _ in range(rng.randint(low, 2))] for low in (1, 0))
        written = {"of": [t for t, _ in of], "given": [t for t, _ in given]}
        if len(of) == 1 and rng.random() < 0.5:
            written["of"] = of[0][0]
        secrets.append(written)
        told.append([(tuple(f(x) for _, f in of), tuple(f(x) for _, f in given)) for x in order])
    data = rng.random() < 0.4
    query = {} if data else {"query": {"kind": "parity"}}
    rows = [
        [str(Fraction(a, sum(w))) for a in w]
        for w in ([rng.randint(0, 3), 1, rng.randint(1, 3)] for _ in order[: None if data else 2])
    ]
    if not data:
        rows = rows + [["1/2", "1/4", "1/4"]] * (2 - len(rows))
    mechanism = {"kind": "matrix", "inputs": "dataset" if data else "query", "rows": rows}
    tables = {
        "problem": "secret_leakage",
        "records": {"alphabets": alphabets},
        **query,
        "mechanism": mechanism,
        "secrets": secrets,
    }
    inputs = [j if data else sum(x) % 2 for j, x in enumerate(order)]
    return tables, told, np.array([[float(Fraction(x)) for x in rows[k]] for k in inputs])


def learnt(law, told, rows):
    """I(of; Y | given)."""
    of, given = ([sorted(set(column)).index(x) for x in column] for column in zip(*told, strict=True))
    return conditional_information(law, of, given, rows)


@each("seed", *range(draws(15, 1000)))
def test_what_a_law_tells_by_definition(seed):
    rng = random.Random(seed)
    tables, told, rows = drawn(rng)
    weights = [rng.choice([0, 1, 2, 5]) for _ in rows]
    weights[rng.randrange(len(weights))] = 1
    law = [w / sum(weights) for w in weights]
    prior = [str(Fraction(w, sum(weights))) for w in weights]
    s = rng.randrange(len(told))
    value, most = learnt(law, told[s], rows), max(learnt(law, one, rows) for one in told)
    free = written(tables, entropy_at_least=0)
    pairs = [[x, str(w)] for x, w in enumerate(weights) if w or rng.random() < 0.5]
    listed = written(tables, kind="prior_set", priors=[prior])
    covered = [["secret", j] for j in range(len(told))]
    wide = [
        line
        for head in covered
        for line in (
            head,
            ["law", sorted(set(range(len({c for _, c in told[head[1]]})))), ["1", "1", "1"]],
            ["mean", None],
        )
    ]
    for slack, status in ((1e-9, 0), (-1e-9, 1)):
        if value > 1e-6:
            found = certificate(free, f"{value - slack:.15f}", "9", ["witness", s, pairs], *wide)
            assert check(free, found).exit_code == status
        found = certificate(listed, "0", f"{max(most + slack, 0):.15f}", ["witness", None, None])
        assert check(listed, found).exit_code == (status if most > 1e-6 else 0)


@each("seed", *range(draws(15, 1000)))
def test_what_a_product_tells_by_definition(seed):
    """A law of each record's letter, and the law of all that they make if they are independent."""
    rng = random.Random(seed)
    tables, told, rows = drawn(rng)
    laws = [[rng.choice([0, 1, 2, 5]) for _ in range(size - 1)] for size in tables["records"]["alphabets"]]
    for law in laws:
        law.insert(rng.randrange(len(law) + 1), 1)
    whole = math.prod(map(sum, laws))
    law = [math.prod(weights) / whole for weights in itertools.product(*laws)]
    s = rng.randrange(len(told))
    value, model = learnt(law, told[s], rows), written(tables, kind="product_priors")
    claims = [["cell", j, c] for j, one in enumerate(told) for c in range(len({given for _, given in one}))]
    lines = [line for head in claims for line in (head, ["law", ["1", "1", "1"]])]
    hint = ["product", [list(map(str, weights)) for weights in laws]]
    for slack, status in ((1e-9, 0), (-1e-9, 1)):
        if value > 1e-6:
            found = certificate(model, f"{value - slack:.15f}", "9", ["witness", s, hint], *lines)
            assert check(model, found).exit_code == status


@each("seed", *range(draws(15, 1000)))
def test_whatever_is_proved_holds_for_every_law(seed):
    """Laws of outputs, trees, and means: the smallest upper end that they prove is never below what a law tells."""
    rng = random.Random(seed)
    tables, told, rows = drawn(rng)
    model = parse_model(written(tables, entropy_at_least=0))
    channel = build(model)
    secrets = Told(model).secrets(channel)
    for s, secret in enumerate(secrets):
        assert [len(set(column)) for column in zip(*told[s], strict=True)] == [
            len(set(secret.of)),
            len(set(secret.given)),
        ]
    laws = [[rng.random() ** 4 for _ in rows] for _ in range(40)]
    laws = [[p / sum(law) for p in law] for law in laws]
    best = max(learnt(law, one, rows) for law in laws for one in told)
    spread = rng.choice(laws)
    entropy = -sum(p * math.log(p) for p in spread if p)
    r = [str(rng.randint(1, 4)) for _ in range(3)]
    far = [
        float(np.sum(row[row > 0] * np.log((row / (np.array(list(map(float, r))) / sum(map(float, r))))[row > 0])))
        for row in rows
    ]
    lines = []
    for s, secret in enumerate(secrets):
        for c, cells in enumerate(secret.cells):
            if len(cells) > 1:
                i, k = rng.randrange(len(cells)), sorted(next(iter(cells.values())))[:1]
                lines += [["cell", s, c], ["part", i, k], ["law", r], ["law", r]]
    free = written(tables, entropy_at_least=0)
    top = max(far)
    found = check(free, certificate(free, "0", f"{top + 1e-9:.15f}", ["witness", None, None], *lines))
    assert found.exit_code == 0, found.reason
    assert best <= top + 1e-9
    t = rng.choice([0.1, 0.5, 1.0])
    bound = written(tables, entropy_at_least=f"{entropy:.12f}")
    soft = t * math.log(sum(math.exp(d / t) for d in far)) - t * float(f"{entropy:.12f}")
    assert max(learnt(spread, one, rows) for one in told) <= soft + 1e-9
    lines = []
    for s, secret in enumerate(secrets):
        lines += [["secret", s], ["law", list(range(len(secret.cells))), r], ["mean", [str(t)]]]
    for slack, status in ((1e-9, 0), (-1e-9, 1)):
        if soft > 1e-6:
            claimed = certificate(bound, "0", f"{soft + slack:.15f}", ["witness", None, None], *lines)
            assert check(bound, claimed).exit_code == status


CENTER = ["1/2", *["1/14"] * 7]
GOOD = ["0.17", "0.18"]
BEST = ["1", "1", "1", "1"]
PAIR = ["witness", 0, [[0, "1"], [7, "1"]]]
PROOF = [["cell", 0, 0], ["law", ["0.7613", "0.2387", "0.2387", "0.7613"]]]
WHOLE = [["secret", 0], ["law", [0], BEST], ["mean", None]]


def altered(**keys):
    """The model, with other tables."""
    text = MODEL.decode()
    for old, new in keys.values():
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text.encode()


ENTROPY = altered(a=("entropy_at_least = 0 ", 'entropy_at_least = "1/2 max" '))
PRODUCT = altered(
    a=("entropy_at_least = 0 ", 'kind = "product_priors" '),
    s=(
        'of = { kind = "threshold", at = 2 }',
        'of = { kind = "letters", records = [1] }\ngiven = { kind = "letters", others = [1] }',
    ),
)
APART = altered(a=("entropy_at_least = 0 ", 'kind = "product_priors" '))
EVEN = ["witness", 0, ["product", [["1", "1"], ["2", "2"], ["1/2", "1/2"]]]]
BALL = altered(a=("entropy_at_least = 0 ", f'kind = "l1_ball_priors", center = {CENTER}, radius = "1/10" '))
MANY = altered(a=("entropy_at_least = 0 ", f'kind = "polytope_priors", vertices = [{CENTER}, {CENTER[::-1]}] '))
LISTED = altered(a=("entropy_at_least = 0 ", f'kind = "prior_set", priors = [{CENTER}] '))
UNIFORM = ["witness", 0, [[x, "1"] for x in range(8)]]


@each(
    "model, claim, lines, status, reason",
    (MODEL, ["0.173", "0.1733"], [PAIR, *PROOF], 0, ""),
    (MODEL, ["0.173", "0.1732"], [PAIR, *PROOF], 1, "the law's divergence <= upper fails"),
    (MODEL, ["0.1733", "0.1734"], [PAIR, *PROOF], 1, "witness's information fails"),
    (MODEL, ["0.173", "0.693147180560"], [PAIR, ["cell", 0, 0], ["letters"]], 0, ""),
    (MODEL, ["0.173", "0.693147180559"], [PAIR, ["cell", 0, 0], ["letters"]], 1, "<= upper fails"),
    (MODEL, ["0.1", "0.18"], [PAIR], 1, "the file ends, but secret 0 is not covered where value 0 is given"),
    (MODEL, ["0.1", "0.18"], [PAIR, *PROOF, ["letters"]], 1, "a section is expected"),
    (MODEL, ["0.1", "0.18"], [["witness", None, None], *PROOF], 1, "no witness"),
    (MODEL, ["0.1", "0.18"], [["witness", 1, PAIR[2]], *PROOF], 1, "the secret must be an integer from 0 to 0"),
    (MODEL, ["0.1", "0.18"], [["witness", 0, [[7, "1"], [0, "1"]]], *PROOF], 1, "ascending"),
    (MODEL, ["0.1", "0.18"], [["witness", 0, [[8, "1"]]], *PROOF], 1, "a dataset"),
    (MODEL, ["0.1", "0.18"], [["witness", 0, [[0, "-1"], [7, "2"]]], *PROOF], 1, "must be nonnegative"),
    (MODEL, ["0.1", "0.18"], [["witness", 0, []], *PROOF], 1, "total weight zero"),
    (MODEL, ["0.1", "0.18"], [PAIR, ["cell", 0, 1], *PROOF[1:]], 1, "the given value"),
    (MODEL, ["0.1", "0.18"], [PAIR, ["cell", 0, 0], ["law", ["1", "0", "0", "1"]]], 1, "the law is zero"),
    (MODEL, ["0.1", "0.5"], [PAIR, *WHOLE], 0, ""),
    (MODEL, ["0.1", "0.5"], [PAIR, ["secret", 0], ["mean", None]], 1, "the given value 0 is not listed"),
    (MODEL, ["0.1", "0.5"], [PAIR, WHOLE[0], WHOLE[1], WHOLE[1], WHOLE[2]], 1, "listed once"),
    (MODEL, ["0.1", "0.5"], [PAIR, WHOLE[0], ["law", [0, 0], BEST], WHOLE[2]], 1, "listed once"),
    (MODEL, ["0.1", "0.5"], [PAIR, *WHOLE[:2]], 1, "a mean is expected"),
    (MODEL, ["0.1", "0.5"], [PAIR, *WHOLE[:2], ["mean", ["0"]]], 1, "m must be positive"),
    (MODEL, ["0.1", "0.5"], [PAIR, *WHOLE[:2], ["mean", ["1", "1"]]], 1, "m must be a list of 1"),
    (ENTROPY, ["0.1", "0.18"], [PAIR, *PROOF], 1, "witness's entropy fails"),
    (ENTROPY, ["0.05", "0.18"], [UNIFORM, *PROOF], 0, ""),
    (PRODUCT, ["0.01", "0.18"], [["witness", 0, [[0, "1"], [2, "1"]]], *PROOF], 1, "is not covered"),
    (PRODUCT, ["0", "0.7"], [["witness", 0, [[0, "1"], [7, "1"]]], *PROOF], 1, "with one value"),
    (APART, ["0.03", "0.18"], [EVEN, *PROOF], 0, ""),
    (APART, ["0.17", "0.18"], [EVEN, *PROOF], 1, "witness's information fails"),
    (APART, ["0", "0.18"], [["witness", 0, [[0, "1"], [1, "1"]]], *PROOF], 1, "must be a product, or given be all"),
    (APART, ["0", "0.18"], [["witness", 0, ["product", [["1", "1"]] * 2]], *PROOF], 1, "the records must be a list"),
    (APART, ["0", "0.18"], [["witness", 0, ["product", [["1"]] * 3]], *PROOF], 1, "weights must be a list of 2"),
    (APART, ["0", "0.18"], [["witness", 0, ["product", [["1", "-1"]] * 3]], *PROOF], 1, "must be nonnegative"),
    (APART, ["0", "0.18"], [["witness", 0, ["product", [["0", "0"]] * 3]], *PROOF], 1, "total weight zero"),
    (APART, ["0", "0.18"], [["witness", 0, ["product"]], *PROOF], 1, "the law must be a list of 2"),
    (MODEL, ["0", "0.18"], [EVEN, *PROOF], 1, "a dataset and its weight"),
    (PRODUCT, ["0", "0.7"], [["witness", None, None], *WHOLE], 1, "a section is expected, one of cell"),
    (BALL, ["0", "0.7"], [["witness", 0, [[x, w] for x, w in enumerate(CENTER)]], *WHOLE], 0, ""),
    (BALL, ["0", "0.7"], [["witness", 0, [[0, "1"]]], *WHOLE], 1, "is outside of the ball"),
    (BALL, ["0", "0.7"], [["witness", None, None], *WHOLE[:2], ["mean", ["1"]]], 1, "m must be null"),
    (MANY, ["0.01", "0.3"], [["witness", 0, ["1", "1"]], *WHOLE], 0, ""),
    (MANY, ["0.01", "0.7"], [["witness", 0, ["1"]], *WHOLE], 1, "weights must be a list of 2"),
    (LISTED, ["0.01", "0.3"], [["witness", 0, 0]], 0, ""),
    (LISTED, ["0.01", "0.02"], [["witness", 0, 0]], 1, "what prior 0 teaches about secret 0"),
    (LISTED, ["0", "0.3"], [["witness", 0, 1]], 1, "the prior must be"),
    (LISTED, ["0", "0.3"], [["witness", 0, 0], *PROOF], 1, "a line after the last one"),
)
def test_lines(model, claim, lines, status, reason):
    verdict = check(model, certificate(model, *claim, *lines))
    assert (verdict.exit_code, reason in verdict.reason) == (status, True), verdict.reason


def test_one_section_stands_for_values_with_the_same_inputs():
    """The others known to be 00, 01, 10, 11: three different pairs of inputs, 01 and 10 the same."""
    claim = ["0", "0.7"]
    sections = [[["cell", 0, c], ["law", BEST]] for c in range(4)]
    for chosen, status in (([0, 1, 3], 0), ([0, 2, 3], 0), ([0, 1], 1), ([1, 2, 3], 1)):
        lines = [line for c in chosen for line in sections[c]]
        assert check(PRODUCT, certificate(PRODUCT, *claim, ["witness", None, None], *lines)).exit_code == status


OF = 'of = { kind = "threshold", at = 2 }'


@each(
    "model, reason",
    (altered(a=(OF, "of = []")), "of must be at least one table"),
    (altered(a=(OF, 'given = { kind = "parity" }')), "the key 'of' is missing"),
    (altered(a=(OF, 'of = { kind = "letters" }')), "either 'records' or 'others'"),
    (altered(a=(OF, 'of = { kind = "letters", records = [] }')), "either 'records' or 'others'"),
    (altered(a=(OF, 'of = { kind = "letters", records = [0], others = [1] }')), "either 'records' or 'others'"),
    (altered(a=(OF, 'of = { kind = "letters", records = [0, 0] }')), "must be distinct"),
    (altered(a=(OF, 'of = { kind = "letters", records = [3] }')), "a record that is none"),
    (altered(a=(OF, 'of = { kind = "letters", records = [0], groups = [[0]] }')), "every letter once"),
    (altered(a=(OF, 'of = { kind = "letters", records = [0], groups = [[0], [0, 1]] }')), "every letter once"),
    (altered(a=(OF, 'of = { kind = "letters", records = [0], groups = [[0], [1, 2]] }')), "every letter once"),
    (altered(a=(OF, 'of = { kind = "sum", weights = [1] }')), "query.weights"),
    (altered(a=(OF, 'of = { kind = "table", values = [1] }')), "query.values must list 8 values"),
    (altered(a=(OF, 'of = { kind = "histogram" }')), "kind"),
    (altered(a=("[[secrets]]\n", "[other]\n")), "other"),
    (altered(a=("entropy_at_least = 0 ", 'kind = "independent_blocks", size = 1 ')), "kind"),
    (altered(a=("entropy_at_least = 0 ", 'kind = "prior_set", priors = [["1"]] ')), "must list |X|"),
    (altered(a=("entropy_at_least = 0 ", 'kind = "l1_ball_priors", center = ["1"], radius = 1 ')), "must have 1"),
    (altered(a=("count = 3", "count = 17")), "at most 65536 datasets"),
    (altered(a=('kind = "count"', 'kind = "histogram"')), "a histogram needs"),
)
def test_models_that_are_not_read(model, reason):
    verdict = check(model, b"")
    assert (verdict.exit_code, reason in verdict.reason) == (2, True), verdict.reason


def test_normal_form():
    model = altered(a=(OF, OF + '\ngiven = { kind = "letters", records = [2, 0] }'))
    told = {"given": [{"groups": None, "kind": "letters", "others": None, "records": ["0", "2"]}]}
    assert parse_model(model).normal["secrets"] == [told | {"of": [{"at": "2", "kind": "threshold"}]}]
