"""Adversaries that hold a class of laws: what a model may say, bounds against a second reading, and the truth by drawing laws."""

import itertools
import json
import math
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import cases
import constraint_truth as own
from campaigns import each, thinned
from dalenius_check import Status, check
from dalenius_check.core.model import parse_model
from forgery_subjects import digest, toml
from forgery_truth import Question, exact, normalised

BASE = cases.model("class_box").decode()
DOCS = (Path(__file__).parents[2] / "docs/model-format.md").read_text()
OWN = 'kind = "box_priors"\nlow = [0.05, 0]\nhigh = ["1/4", 1]'
BALLS = ("l1_ball_priors", "kl_ball_priors", "chi_square_ball_priors")
KINDS = ("floor_priors", "box_priors", "polytope_priors", "moment_priors", *BALLS)


def held(text, base=BASE):
    """The model of one bit against this adversary."""
    assert OWN in base
    return base.replace(OWN, "\n".join(line.strip() for line in text.split(";"))).encode()


def test_documented_normal_form():
    written = '{"center":["1/2","3/10","1/5"],"kind":"kl_ball_priors","radius":"1/50"}'
    assert f"`{written}`" in DOCS
    three = BASE.replace("alphabet = 2", "alphabet = 3")
    found = parse_model(held('kind="kl_ball_priors"; center=[0.5,"3/10",0.2]; radius=0.02', three)).normal["adversary"]
    assert json.dumps(found, sort_keys=True, separators=(",", ":")) == written


@each(
    "text, expected",
    ('kind="floor_priors"; floor="2/8"', {"floor": "1/4"}),
    ('kind="box_priors"; low=[0.0,"1/4"]; high=[1,2]', {"low": ["0", "1/4"], "high": ["1", "2"]}),
    ('kind="polytope_priors"; vertices=[[0.3333333333,"2/3"]]', {"vertices": [["3333333333/10000000000", "2/3"]]}),
    ('kind="l1_ball_priors"; center=[1,0]; radius=9', {"center": ["1", "0"], "radius": "9"}),
    ('kind="chi_square_ball_priors"; radius=0; center=[0.5,0.5]', {"center": ["1/2", "1/2"], "radius": "0"}),
    (
        'kind="moment_priors"; values=[-0.5,"3"]; low=-9; high="2/8"',
        {"values": ["-1/2", "3"], "low": "-9", "high": "1/4"},
    ),
)
def test_normal_forms(text, expected):
    model = parse_model(held(text))
    model.need_feasible()
    assert model.normal["adversary"] == {"kind": text.split('"')[1], **expected}


WRONG = [
    ('kind="floor_priors"', "the key 'floor' is missing"),
    ('kind="floor_priors"; floor=-0.1', "floor must be nonnegative"),
    ('kind="floor_priors"; floor=0.5000001', "floor times the number of letters is above 1"),
    ('kind="floor_priors"; floor=0.1; low=[0,0]', "unknown key 'low'"),
    ('kind="box_priors"; low=[0,0]', "the key 'high' is missing"),
    ('kind="box_priors"; low=0; high=[1,1]', "low must be a list"),
    ('kind="box_priors"; low=[0,-1]; high=[1,1]', "nonnegative"),
    ('kind="box_priors"; low=[0,0]; high=[1]', "lists of one length"),
    ('kind="box_priors"; low=[0,0,0]; high=[1,1,1]', "every record must have 3 letters"),
    ('kind="box_priors"; low=[0.3,0]; high=[0.2,1]', "no law is between low and high"),
    ('kind="box_priors"; low=[0.6,0.5]; high=[1,1]', "no law is between low and high"),
    ('kind="box_priors"; low=[0,0]; high=[0.5,0.4]', "no law is between low and high"),
    ('kind="polytope_priors"; vertices=[]', "at least one list"),
    ('kind="polytope_priors"; vertices=[0.5,0.5]', "must be a list"),
    ('kind="polytope_priors"; vertices=[[0.5,0.6]]', "row 0 does not sum to 1"),
    ('kind="polytope_priors"; vertices=[[1,0],[0.5,0.5,0]]', "lists of one length"),
    ('kind="polytope_priors"; vertices=[[1]]', "every record must have 1 letters"),
    ('kind="l1_ball_priors"; center=[1,0]', "the key 'radius' is missing"),
    ('kind="l1_ball_priors"; center=[1,0]; radius=-1', "radius must be nonnegative"),
    ('kind="kl_ball_priors"; center=[1,0]; radius="1 bits"', "not a number"),
    ('kind="kl_ball_priors"; center=[0.2,0.7]; radius=1', "does not sum to 1"),
    ('kind="chi_square_ball_priors"; center=[0.5,0.3,0.2]; radius=1', "every record must have 3 letters"),
    ('kind="moment_priors"; values=[0,1]; low=0', "the key 'high' is missing"),
    ('kind="moment_priors"; values=[]; low=0; high=1', "every record must have 0 letters"),
    ('kind="moment_priors"; values=1; low=0; high=1', "values must be a list"),
    ('kind="moment_priors"; values=[0,true]; low=0; high=1', "values must be a number"),
    ('kind="moment_priors"; values=[0,1,2]; low=0; high=1', "every record must have 3 letters"),
    ('kind="moment_priors"; values=[0,1]; low=0.3; high=0.2', "no law has a mean"),
    ('kind="moment_priors"; values=[0,1]; low=1.1; high=2', "no law has a mean"),
    ('kind="moment_priors"; values=[0,1]; low=-2; high=-0.1', "no law has a mean"),
    ('kind="chi_ball_priors"; center=[0.5,0.5]; radius=1', "adversary.kind must be"),
]


@each("text, reason", *WRONG)
def test_what_a_model_may_not_say(text, reason):
    design = (
        cases.model("own_bit")
        .decode()
        .replace("# constraints", '[[constraints]]\nkind="leakage"\nat_most=1\nadversary=@')
    )
    table = "{" + ",".join(part.strip() for part in text.split(";")) + "}"
    for model in (held(text), design.replace("@", table).encode()):
        verdict = check(model, b"")
        assert verdict.status is Status.UNREADABLE, verdict.reason
        assert reason in verdict.reason
        assert "\n" not in verdict.reason


# A second reading -----------------------------------------------------------------------------------------------------------------


def law(rng, letters, zeros=0.2):
    """Some law."""
    weights = [0 if rng.random() < zeros else rng.randint(1, 9) for _ in range(letters - 1)] + [rng.randint(1, 9)]
    rng.shuffle(weights)
    return [str(Fraction(w, sum(weights))) for w in weights]


def drawn(rng, kind, letters):
    """A class of a kind."""
    q = law(rng, letters)
    if kind == "floor_priors":
        return {"kind": kind, "floor": str(Fraction(rng.randint(0, 4), 4 * letters))}
    if kind == "box_priors":
        low = [str(exact(x) * Fraction(rng.randint(0, 3), 3)) for x in q]
        return {"kind": kind, "low": low, "high": [str(exact(x) + Fraction(rng.randint(0, 3), 9)) for x in q]}
    if kind == "polytope_priors":
        return {"kind": kind, "vertices": [law(rng, letters, 0.5) for _ in range(rng.randint(1, 3))]}
    if kind == "moment_priors":
        values = [rng.randint(-2, 3) for _ in range(letters)]
        low, high = sorted(Fraction(rng.randint(4 * min(values), 4 * max(values)), 4) for _ in range(2))
        return {"kind": kind, "values": list(map(str, values)), "low": str(low), "high": str(high)}
    return {"kind": kind, "center": q, "radius": rng.choice(["0", "1/100", "1/7", "2/3", "5"])}


def question(rng, kind):
    """A small audit against a class."""
    letters, count = rng.randint(2, 3), rng.randint(1, 2)
    table = {"problem": "maximal_leakage", "records": {"count": count, "alphabet": letters}}
    table["query"] = rng.choice([{"kind": "sum"}, {"kind": "identity"}, {"kind": "modular_sum", "modulus": 3}])
    table["mechanism"] = {"kind": "none"}
    inputs = Question(table).input_count
    table["mechanism"] = {"kind": "matrix", "rows": [law(rng, 3, 0.3) for _ in range(inputs)]}
    return Question({**table, "adversary": drawn(rng, kind, letters)})


def counted(table, letters):
    """The letters that count."""
    if table["kind"] == "floor_priors" or (table["kind"] == "l1_ball_priors" and exact(table["radius"])):
        return list(range(letters))
    if table["kind"] == "moment_priors":
        f, low, high = [exact(x) for x in table["values"]], exact(table["low"]), exact(table["high"])
        beside = [[low <= x <= high or x < low < y or y < high < x for y in f] for x in f]
        return [a for a in range(letters) if any(beside[a])]
    rows = table.get("vertices") or [table.get("high") or table["center"]]
    return [a for a in range(letters) if any(exact(row[a]) for row in rows)]


def most(table, far, hint):
    """M(d) of docs/certificate-format.md: by a linear program where it is the maximum of one, else as it is written."""
    kind, letters = table["kind"], list(far)
    d, n = np.array(list(far.values())), len(far)
    if kind == "polytope_priors":
        vertices = [normalised([exact(x) for x in row]) for row in table["vertices"]]
        return max(sum(float(v[a]) * far[a] for a in letters) for v in vertices)
    if kind == "moment_priors":
        y, ends = Fraction(hint[0] if hint else 0), [exact(table["low"]), exact(table["high"])]
        return max(far[a] - float(y * exact(table["values"][a])) for a in letters) + float(max(y * end for end in ends))
    one = np.ones((1, n))
    if kind in ("floor_priors", "box_priors"):
        sides = [(float(exact(table.get("floor", 0))), 1.0)] * n
        if kind == "box_priors":
            sides = [(float(exact(table["low"][a])), float(exact(table["high"][a]))) for a in letters]
        return -linprog(-d, A_eq=one, b_eq=[1], bounds=sides).fun
    q = np.array([float(x) for x in normalised([exact(x) for x in table["center"]])])[letters]
    radius = float(exact(table["radius"]))
    if kind == "l1_ball_priors":  # p, then numbers at least |p - q|
        eye = np.eye(n)
        rows = np.block([[eye, -eye], [-eye, -eye], [np.zeros((1, n)), one]])
        sides = [*q, *-q, radius]
        found = linprog([*-d, *[0] * n], rows, sides, np.hstack([one, 0 * one]), [1], bounds=[(0, None)] * (2 * n))
        return -found.fun
    if hint is None:
        return d.max() if radius else q @ d
    t, *v = map(float, map(Fraction, hint))
    if kind == "kl_ball_priors":
        return t * math.log(sum(x * math.exp(y / t) for x, y in zip(q, d, strict=True))) + t * radius
    return t * (1 + radius) + v[0] + (q * np.maximum(0, d - v[0]) ** 2).sum() / (4 * t)


def divergences(question, rows, letters, r):
    """d_a by letter, in doubles."""
    return {
        a: sum(float(x) * math.log(x / y) for x, y in zip(question.rational[rows[a]], r, strict=True) if x)
        for a in letters
    }


def member(table, law):
    """Whether a law is in the class, but for what doubles cannot tell."""
    kind = table["kind"]
    if kind == "floor_priors":
        return min(law) >= exact(table["floor"])
    if kind == "box_priors":
        return all(exact(x) <= p <= exact(y) for x, p, y in zip(table["low"], law, table["high"], strict=True))
    if kind == "moment_priors":
        mean = sum(p * exact(x) for p, x in zip(law, table["values"], strict=True))
        return exact(table["low"]) <= mean <= exact(table["high"])
    q = normalised([exact(x) for x in table["center"]])
    if kind == "l1_ball_priors":
        return sum(abs(p - x) for p, x in zip(law, q, strict=True)) <= exact(table["radius"])
    if any(p and not x for p, x in zip(law, q, strict=True)):
        return False
    if kind == "chi_square_ball_priors":
        return sum((p - x) ** 2 / x for p, x in zip(law, q, strict=True) if x) <= exact(table["radius"])
    return law == q or sum(float(p) * math.log(p / x) for p, x in zip(law, q, strict=True) if p) <= exact(
        table["radius"]
    )


def somewhere(rng, table, letters):
    """Weights of a witness, and its law, near the class or in it."""
    if table["kind"] == "polytope_priors":
        vertices = [normalised([exact(x) for x in row]) for row in table["vertices"]]
        weights = [Fraction(rng.randint(0, 3)) for _ in vertices[1:]] + [Fraction(rng.randint(1, 3))]
        shares = normalised(weights)
        return weights, [sum(w * v[a] for w, v in zip(shares, vertices, strict=True)) for a in range(letters)]
    middle = table["high"] if table["kind"] == "box_priors" else table.get("center") or ["1"] * letters
    q, other = normalised([exact(x) for x in middle]), [exact(x) for x in law(rng, letters)]
    part = Fraction(rng.randint(0, 20), 20)
    weights = [(1 - part) * x + part * y for x, y in zip(q, other, strict=True)]
    return weights, weights


def certificate(question, lower, upper, *lines):
    """A model and its certificate."""
    model = toml(question.table)
    head = {
        "format": "dalenius-certificate/2",
        "problem": "maximal_leakage",
        "model": digest(question),
        "lower": str(lower),
    }
    values = [{**head, "upper": str(upper), "unit": "nats", "producer": "tests"}, *lines]
    return model, "".join(json.dumps(value) + "\n" for value in values).encode()


@each("seed", *thinned(range(240), every=20))
def test_bounds_and_witnesses_against_a_second_reading(seed):
    """Of random laws of the outputs and hints: exactly what the second reading says is proved; no law of the class learns more."""
    rng = random.Random(seed)
    asked = question(rng, KINDS[seed // 12 % 7 if seed % 12 == 0 else seed % 7])
    table, rows = asked.table["adversary"], asked.rational
    letters, lines, bound = asked.alphabets[0], [["witness", None, None]], 0.0
    hints = {"kl_ball_priors": ["1/3"], "chi_square_ball_priors": ["1/4", str(Fraction(rng.randint(-3, 3), 10))]}
    hints["moment_priors"] = [str(Fraction(rng.randint(-9, 9), 20))]
    for i in range(len(asked.alphabets)):
        lines.append(["record", i])
        for j, chosen in enumerate(asked.selections(i)):
            r = normalised([Fraction(rng.randint(1, 5)) for _ in rows[0]])
            hint = rng.choice([hints.get(table["kind"]), None])
            bound = max(bound, most(table, divergences(asked, chosen, counted(table, letters), r), hint))
            lines.append(["law", [j], list(map(str, r)), hint])
    arithmetic = "python" if seed % 24 == 12 else "auto"
    for upper, status in ((bound + 1e-8, 0), (bound - 1e-8, 1)):
        verdict = check(*certificate(asked, 0, Fraction(max(upper, 0)), *lines), arithmetic=arithmetic)
        assert verdict.exit_code == status or bound < 1e-7, verdict.reason
    for _ in range(12):
        i = rng.randrange(len(asked.alphabets))
        chosen = asked.selections(i)
        j = rng.randrange(len(chosen))
        weights, p = somewhere(rng, table, letters)
        masses = [
            [p[a] if k == chosen[j][a] else Fraction(0) for k in range(asked.input_count)] for a in range(letters)
        ]
        value, inside = float(asked.leakage(i, masses)), table["kind"] == "polytope_priors" or member(table, p)
        assert not inside or value <= bound + 1e-9
        lines[0] = ["witness", i, [j, list(map(str, weights))]]
        for lower in (value - 1e-9, value + 1e-9):
            proved = check(*certificate(asked, Fraction(lower), 9, *lines), arithmetic=arithmetic).proved
            assert proved == (inside and lower < value)


@each("seed", *thinned(range(60), every=20))
def test_priors_of_designs_against_a_second_reading(seed):
    """Lines `prior` and `also`: bounds are what the second reading says, and laws outside of the class are refused."""
    rng = random.Random(seed)
    kind, letters = KINDS[(seed // 20 + seed) % 7], 3
    table = {"problem": "min_distortion", "max_leakage": "9", "records": {"count": 1, "alphabet": letters}}
    table |= {"query": {"kind": "identity"}, "distortion": {"kind": "hamming"}, "law": {"kind": "uniform"}}
    held_ = drawn(rng, kind, letters)
    table |= {"mechanism": {"class": "oblivious"}, "adversary": {"kind": "product_priors"}}
    table["constraints"] = [{"kind": "leakage", "adversary": held_, "at_most": "0"}]
    if seed % 2:
        table |= {"max_leakage": "0", "adversary": held_, "constraints": []}
    asked = Question(table)
    weights, p = somewhere(rng, held_, letters)
    phi = [[str(rng.randint(1, 4)) for _ in range(3)] for _ in range(letters)]
    name = ["prior"] if seed % 2 else ["also", 0]
    lines = [["dual", "0"], [*name, "1/3", 0, [0, list(map(str, weights))], phi]]
    low = float(own.bound(asked, lines, upper=True))
    tail = [] if seed % 2 else [["record", 0], ["law", [0], ["1"] * 3], ["adversary", 0]]
    for claim, expected in ((low - 1e-9, True), (low + 1e-9, False)):
        claim = Fraction(max(claim, 1e-12))  # a lower end of 0 or less needs no prior
        head = {"format": "dalenius-certificate/2", "problem": "min_distortion", "model": digest(asked)}
        head |= {
            "lower": str(claim),
            "upper": "2/3",
            "unit": "distortion",
            "producer": "tests",
            "mechanism": [["1"] * 3] * 3,
        }
        data = "".join(json.dumps(line) + "\n" for line in [head, *lines, *tail]).encode()
        verdict = check(toml(table), data)
        inside = kind == "polytope_priors" or member(held_, p)
        assert verdict.proved == (expected and inside and low > 1e-9), verdict.reason


# Lines `mixture` and witnesses of local protocols, end to end: against channels written out in doubles, for all their
# adversaries.


PROTOCOLS = ("optimized_unary_encoding", "local_hashing", "subset_selection", "hadamard_response")
LEVELS = [("log 3", 3.0), ("1 bits", 2.0), ("0.7", math.exp(0.7)), ("log 20", 20.0), ("0", 1.0)]


def channel(kind, size, big, number):
    """R(k, y) of docs/model-format.md."""
    inputs = range(size)
    if kind == "optimized_unary_encoding":
        bits = [[1 / (big + 1), big / (big + 1)], [0.5, 0.5]]
        return [[math.prod(bits[j == k][1 - (y >> j & 1)] for j in inputs) for y in range(2**size)] for k in inputs]
    if kind == "local_hashing":
        share = number**-size / (big + number - 1)
        outputs = [divmod(y, number) for y in range(number ** (size + 1))]
        return [[share * (big if h // number**k % number == b else 1) for h, b in outputs] for k in inputs]
    if kind == "subset_selection":
        share = 1 / (math.comb(size - 1, number - 1) * big + math.comb(size - 1, number))
        return [
            [share * (big if k in found else 1) for found in itertools.combinations(inputs, number)] for k in inputs
        ]
    width = next(2**j for j in itertools.count() if 2**j > size)
    return [
        [2 / width * ((1 if ((k + 1) & y).bit_count() % 2 else big) / (big + 1)) for y in range(width)] for k in inputs
    ]


def far(rows, law):
    """D(R(k, .) || the outputs' law under this one)."""
    mixed = [sum(float(p) * row[y] for p, row in zip(law, rows, strict=True)) for y in range(len(rows[0]))]
    return [sum(x * math.log(x / y) for x, y in zip(row, mixed, strict=True)) for row in rows]


def ranges(rng, kind, law, full):
    """`how`: everything, or some of it; and whether it is everything."""
    counts = [law.count(p) for p in dict.fromkeys(law)]
    listed = [[g, 0, n] if full else [g, *sorted(rng.choices(range(n + 1), k=2))] for g, n in enumerate(counts)]
    if kind == "hadamard_response":
        return None
    if kind == "subset_selection":
        del listed[rng.randrange(len(listed))]
        return listed
    return [rng.choice([1, 2, 5, 32]), listed if full else [one for one in listed if rng.random() < 0.5]]


@each("seed", *thinned(range(400), every=50))
def test_mixtures_and_witnesses(seed):
    rng = random.Random(seed)
    size, kind, (epsilon, big) = rng.randint(2, 5), PROTOCOLS[(seed // 50 + seed) % 4], rng.choice(LEVELS)
    mechanism, number = {"kind": kind, "epsilon": epsilon}, None
    if kind == "local_hashing":
        number = mechanism["buckets"] = rng.randint(2, 3)
    if kind == "subset_selection":
        number = mechanism["size"] = rng.randint(1, size - 1)
    rows = channel(kind, size, big, number)
    assert all(sum(row) == pytest.approx(1) for row in rows)
    held = rng.choice([{"kind": "product_priors"}, *(drawn(rng, one, size) for one in KINDS)])
    free = held["kind"] == "product_priors"
    model = toml(
        {
            "problem": "maximal_leakage",
            "records": {"count": 1, "alphabet": size},
            "query": {"kind": "identity"},
            "mechanism": mechanism,
            "adversary": held,
        }
    )
    head = {"format": "dalenius-certificate/2", "problem": "maximal_leakage", "model": parse_model(model).digest}
    head |= {"unit": "nats", "producer": "tests"}

    def proved(lower, upper, *lines):
        values = [{**head, "lower": str(Fraction(lower)), "upper": str(Fraction(upper))}, *lines]
        verdict = check(model, "".join(json.dumps(line) + "\n" for line in values).encode())
        assert "internal" not in verdict.reason
        return verdict.proved

    law = normalised([Fraction(rng.randint(0, 2)) for _ in range(size - 1)] + [Fraction(1)])
    rng.shuffle(law)
    found, full = far(rows, law), rng.random() < 0.6
    hint = rng.choice([{"kl_ball_priors": ["1/3"], "chi_square_ball_priors": ["1/4", "1/10"]}.get(held["kind"]), None])
    bound = max(found) if free else most(held, {a: found[a] for a in counted(held, size)}, hint)
    more = [] if free else [hint]
    mixture = ["mixture", [0], list(map(str, law)), *more, ranges(rng, kind, law, full)]
    if bound > 1e-8:
        assert not proved(0, bound - 1e-9, ["witness", None, None], ["record", 0], mixture)
    assert proved(0, bound + 1e-9, ["witness", None, None], ["record", 0], mixture) or not full
    weights, prior = (law, law) if free else somewhere(rng, held, size)
    inside = held["kind"] in ("product_priors", "polytope_priors") or member(held, prior)
    value = sum(float(p) * d for p, d in zip(prior, far(rows, prior), strict=True))
    witness = ["witness", 0, [0, list(map(str, weights)), ranges(rng, kind, prior, True)]]
    last = ["mixture", [0], ["1"] * size, *([] if free else [None]), ranges(rng, kind, [1] * size, True)]
    for lower in (value - 1e-9, value + 1e-9):
        if lower > 0:
            assert proved(lower, 9, witness, ["record", 0], last) == (inside and lower < value)
