"""Design certificates: normal form, laws against enumeration, lower bounds against mechanisms, planted bugs."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import cases
from campaigns import each, thinned
from dalenius_check import Status, check
from dalenius_check.core.counts import law, values
from dalenius_check.core.model import parse_model
from definitions import information

CASES = cases.about("design", "infeasible")
HAMMING, UNIFORM = 'kind="hamming"', 'kind="uniform"'


def test_documented_normal_form(designs):
    data = designs.design(
        "count=4; alphabet=2", 'kind="parity"', "oblivious", "2.2", "max_distortion = 0.1", HAMMING, UNIFORM
    )
    expected = (
        '{"adversary":{"entropy_at_least":"11/5 nats"},"distortion":{"kind":"hamming"},"law":{"kind":"uniform"},'
        '"max_distortion":"1/10","mechanism":{"class":"oblivious"},"problem":"min_leakage","query":{"kind":"parity"},'
        '"records":[["2","4"]]}'
    )
    assert json.dumps(parse_model(data).normal, sort_keys=True, separators=(",", ":")) == expected


@each(
    "budget, part",
    ("max_leakage = 0.50", '"max_leakage":"1/2 nats","mechanism":{"class":"full"},"problem":"min_distortion"'),
    ('max_leakage = "4/3"', '"max_leakage":"4/3 nats"'),
    ('max_leakage = "-1e-1 bits"', '"max_leakage":"-1/10 bits"'),
    ('max_distortion = "-6/4"', '"max_distortion":"-3/2"'),
)
def test_normal_forms(designs, budget, part):
    rows, shares = 'kind="matrix"; rows=[["2/4"], [3]]', 'kind="iid"; probabilities=[0.3333333333, "4/6"]'
    data = designs.design("count=2; alphabet=2", 'kind="parity"', "full", "0", budget, rows, shares)
    text = json.dumps(parse_model(data).normal, sort_keys=True, separators=(",", ":"))
    assert part in text
    assert '"distortion":{"kind":"matrix","rows":[["1/2"],["3"]]}' in text
    assert '"law":{"kind":"iid","probabilities":["3333333333/10000000000","2/3"]}' in text


@each("alphabets", [2, 2, 2], [3, 3], [2, 1, 3], [4])
@each(
    "query",
    'kind="parity"',
    'kind="modular_sum"; modulus=5',
    'kind="count"; letters=[0, 2]',
    'kind="sum"',
    'kind="threshold"; at=2',
    'kind="identity"',
    "table",
)
@each("shares", (), (0, "1/3", "0.25", 7), ("1/6", "5/6", 0, 0), (1, 0, 0, 0))
def test_laws_against_enumeration(designs, forge, alphabets, query, shares):
    size, many = max(alphabets), int(np.prod(alphabets))
    if query == "table":
        query = f'kind="table"; values={np.random.default_rng(5).integers(-2, 3, many).tolist()}'
    letters = [Fraction(x) for x in shares[:size]] if len(set(alphabets)) == 1 else []
    letters = [x / sum(letters) for x in letters] if sum(letters) else []
    body = f'kind="iid"; probabilities={json.dumps(list(map(str, letters)))}' if letters else UNIFORM
    data = designs.design(f"alphabets={alphabets}", query, "oblivious", "0", "max_leakage = 1", HAMMING, body)
    model = parse_model(data)
    probe = forge.Reference(forge.model(f"alphabets={alphabets}", query, 'kind="matrix"; rows=[[1]]', "0"))
    masses = [
        np.prod([letters[a] for a in x]) if letters else Fraction(1, many) for x in product(*map(range, alphabets))
    ]
    expected = [Fraction(0)] * len(probe.values)
    for k, mass in zip(probe.inputs, masses, strict=True):
        expected[k] += mass
    assert [Fraction(int(p.p), int(p.q)) for p in law(model, values(model))] == expected
    identity = replace(model, query={"kind": "identity"})
    assert [Fraction(int(p.p), int(p.q)) for p in law(identity, values(identity))] == masses


def test_large_laws_are_exact_or_limited(designs):
    parts = ('kind="parity"', "additive", 'kind="product_priors"', "max_distortion = 0.3", HAMMING)
    data = designs.design("count=1000; alphabet=2", *parts, 'kind="iid"; probabilities=[0.9, "1/10"]')
    one = law(parse_model(data), [0, 1])[1]
    assert Fraction(int(one.p), int(one.q)) == (1 - Fraction(8, 10) ** 1000) / 2
    long = f'"0.{"3" * 390}"', f'"0.{"6" * 389}7"'
    data = designs.design("count=1000000; alphabet=2", *parts, f'kind="iid"; probabilities=[{", ".join(long)}]')
    assert check(data, b"").status is Status.UNDECIDED


SHAPES = [
    ("count=2; alphabet=2", 'kind="count"', "oblivious"),
    ("count=2; alphabet=2", 'kind="parity"', "full"),
    ("count=2; alphabet=3", 'kind="modular_sum"; modulus=3', "additive"),
    ("alphabets=[2, 3]", 'kind="sum"', "oblivious"),
    ("alphabets=[3, 1, 2]", 'kind="table"; values=[0, 2, 2, 7, 0, 2]', "full"),
]
ADVERSARIES = ["0.6", '"1.2 bits"', 'kind="product_priors"', "listed"]


def instance(designs, forge, rng, seed):
    """A random model and priors of its adversary."""
    records, query, group = SHAPES[seed % 5]
    adversary, problem = ADVERSARIES[seed // 5 % 4], ["max_distortion", "max_leakage"][seed % 2]
    if adversary == "listed":
        many = {"count=2; alphabet=2": 4, "count=2; alphabet=3": 9}.get(records, 6)
        weights = [rng.integers(0, 9, many).tolist() for _ in range(2)]
        rows = [[str(Fraction(x, sum(row) + 1)) for x in [row[0] + 1, *row[1:]]] for row in weights]
        adversary = f'kind="prior_set"; priors={json.dumps(rows)}'
    distortion = [HAMMING, 'kind="absolute"', 'kind="squared"'][seed % 3]
    budget = f"{problem} = {rng.choice([0.05, 0.2, 0.4])}"
    design = designs.Design((records, query, group, adversary, budget, distortion, UNIFORM))
    priors = []
    for i in [*range(len(design.alphabets))] * 2:
        ref = design.audit([["1"] * design.outputs] * (1 if group == "additive" else design.size), i)
        if "prior_set" in adversary:
            prior = int(rng.integers(2))
        elif "product" in adversary:
            prior = [int(rng.integers(len(ref.selections()))), forge.texts(rng.dirichlet([1] * ref.A) + 1e-3)]
        else:
            prior = [forge.texts(row, 12) for row in ref.random(rng)] if rng.random() < 0.8 else "uniform"
        priors.append((i, prior))
    return design, priors


def simple(design):
    """A mechanism that meets the budget, and its sections: the truth, or a constant."""
    outputs, rows = range(design.outputs), 1 if design.group == "additive" else design.size
    constant, best = [["1"] * design.outputs] * rows, design.d.argmin(1)
    sections = []
    for i in range(0 if "prior_set" in design.adversary else len(design.alphabets)):
        product = ["law", list(range(len(design.audit(constant, i).selections()))), constant[0]]
        sections += [
            ["record", i],
            product if "product" in design.adversary else ["joint", "1", "0", None, constant[0]],
        ]
    return [
        ["1" if y == best[x] else "0" for y in outputs] for x in range(rows)
    ] if design.leakage else constant, sections


@each("seed", *thinned(range(60), every=10))
def test_lower_bounds_never_exceed_a_mechanism(designs, forge, seed):
    """Random priors, posteriors and weights, against random mechanisms and a search for the best one."""
    rng = np.random.default_rng(seed)
    design, priors = instance(designs, forge, rng, seed)
    good, noisy = design.best(priors), []
    for _, weight, i, prior, phi in good[1]:
        worse = np.array(phi, float) + rng.uniform(0, 0.2)
        weight = forge.text(float(weight) * rng.uniform(0.5, 2))
        noisy.append(["prior", weight, i, prior, [forge.texts(row) for row in worse]])
    nu = forge.text(rng.exponential()) if design.leakage else "0"
    mechanism, sections = simple(design)
    best = min(feasible(design, priors, rng))
    for dual, lines, bound in (good, (["dual", nu], noisy, design.bound(nu, noisy))):
        assert bound <= best + 1e-9
        for claim, status in ((bound - 1e-9, 0), (bound + 1e-9, 1), (best + 1e-8, 1)):
            if claim > 0:
                data = designs.certificate(design.file, forge.text(claim, 13), "99", mechanism, dual, *lines, *sections)
                verdict = check(design.file, data)
                assert verdict.exit_code == status, verdict.reason


def feasible(design, priors, rng):
    """What feasible mechanisms attain against these priors: random ones, and some near the optimum."""
    masses = [design.masses(i, prior) for i, prior in priors]
    n, m = design.size, design.outputs
    rows = 1 if design.group == "additive" else n
    sharp, flat = np.eye(m)[design.d.argmin(1)][:rows], np.ones((rows, m)) / m
    tries = [rng.dirichlet([rng.choice([0.1, 1])] * m, rows) for _ in range(15)]
    for one in [*tries, *(design.least(priors, t)[:rows] for t in (0.3, 1)), flat]:
        for other, t in product((sharp, flat), np.linspace(0, 1, 9)):
            q = t * one + (1 - t) * other
            if design.group == "additive":
                q = np.array([[q[0][(y - v) % n] for y in range(n)] for v in range(n)])
            leak = max(information(p @ q) for p in masses)
            cost = float((design.p[:, None] * q * design.d).sum())
            if (cost if design.leakage else leak) <= design.budget:
                yield leak if design.leakage else cost


def test_statements():
    corpus = cases.cases()
    verdict = check(*corpus["design_parity"].files)
    assert verdict.lines[0] == verdict.reason
    assert " <= V <= " in verdict.reason
    assert " nats, in bits " in verdict.reason
    text = "\n".join(verdict.lines)
    for part in ("least leakage", "oblivious", "distortion at most 1/10", "meets the budget and attains", "0.1"):
        assert part in text
    text = "\n".join(check(*corpus["design_parity_bits"].files).lines)
    for part in ("units of the distortion", "least expected distortion", "leak about a record at most 61/100 bits"):
        assert part in text
    verdict = check(*corpus["infeasible_rows"].files)
    assert verdict.reason.startswith("proved: infeasible, there are no oblivious mechanisms with expected distortion")
    assert (verdict.lower, verdict.upper) == (None, None)


@each("case", *[case for case in CASES if case.status == 0])
def test_a_model_is_feasible_or_not(case):
    model, data = case.files
    head, rest = data.split(b"\n", 1)
    header = json.loads(head)
    if header["lower"] is None:
        for claim in (("0", "0"), ("-1", "99")):
            for rows in ([["1"]], [["1", "0"]] * 2, [["1", "1", "1"]] * 3, [["1", "1", "1"]] * 4):
                changed = header | {"lower": claim[0], "upper": claim[1], "mechanism": rows}
                lines = json.dumps(changed) + '\n["dual",null]\n["record",0]\n["joint","0","0",null,null]\n'
                assert check(model, lines.encode()).status is Status.REJECTED
    else:
        changed = json.dumps(header | {"lower": None, "upper": None, "mechanism": None}).encode()
        for lines in (b"", rest):
            assert check(model, changed + b"\n" + lines).status is Status.REJECTED


BUGS = {  # what is changed in which function of a copy of the checker
    "budget_forgotten": "Design._own: nu * self.budget => fmpq(0)",
    "leakage_budget_forgotten": "Design._own: in_nats(self.budget, self.unit) * arb(weights) => arb(0)",
    "weights_not_divided": "Design._own: given.scale(1 / weights) => pass",
    "weights_divided": (
        "Design._own: given.spent += in_nats(self.budget, self.unit) * arb(weights)"
        " => given.scale(1 / weights)\ngiven.spent += in_nats(self.budget, self.unit)"
    ),
    "bits_are_nats": 'in_nats: unit == "bits" => unit == "bit"',
    "nu_allowed": "Design._dual: self.leakage or nu == 0 => True",
    "maximum": "Design._bound: largest([-x for x in row]) => -largest(row)",
    "price_forgotten": "Design._bound: self.ground.weighted() => self.ground.costs",
    "pi_forgotten": "gains: log - own => log",
    "phi_unchecked": "gains: not held or all(column[a] for column in columns) => True",
    "shift_reversed": "Design._choices: v + z => z - v",
    "no_shift": 'Design._choices: self.group != "additive" => True',
    "mechanism_reversed": "Inputs.channel: y - v => v - y",
    "distortion_unchecked": "Design.check: expected <= (self.budget if self.leakage else ends[0]) => True",
    "distortion_sides": (
        "Design.check: self.budget if self.leakage else ends[0] => ends[0] if self.leakage else self.budget"
    ),
    "sections_sides": "Design._prove: arb(high) if self.leakage else in_nats(self.budget, self.unit) => arb(99)",
    "negative_budget": "Design._prove: self.leakage or self.budget >= 0 => True",
    "constant_anyhow": "Design._prove: free and channel.constant => free",
    "constant_any_claim": "Design._prove: free and channel.constant => channel.constant",
    "infeasible_equal": "Design._need_infeasible: least > self.budget => least >= self.budget",
    "infeasible_zero": "Design._need_infeasible: self.budget < 0 => self.budget <= 0",
    "infeasible_free": "Design._nothing: not lines.more() => True",
    "lower_unchecked": "need_above: kept(least, end) is True => True",
    "null_dual": 'Design._dual: need(lower is not None and lower <= 0, "no dual, but lower is positive") => pass',
    "weight_zero": "positive: result > 0 => True",
    "prior_entropy": "Model.need_enough: self.entropy != 0 => False",
    "uniform_masses": "EntropyBound.masses: fmpq(n, space) => fmpq(1, len(row) * len(record.pairs))",
    "law_uniform": "law: [int(x * scale) for x in letters] => []",
    "shares_forgotten": "ways: coefficients[x % modulus] += share => coefficients[x % modulus] += 1",
    "hamming": "ground: lambda d: int(d != 0) => abs",
    "squared": "ground: lambda d: d * d => abs",
    "unit": (
        'certificate: {**dict.fromkeys(("maximal_leakage", "secret_leakage", "min_leakage", '
        '"max_information"), "nats"), "min_distortion": "distortion"}'
        ' => {**dict.fromkeys(("maximal_leakage", "secret_leakage", "min_leakage", "max_information"), '
        '"nats"), "min_distortion": "nats"}'
    ),
    "problem": (
        'header: ("dalenius-certificate/2", model.problem, unit) => ("dalenius-certificate/2", claim["problem"], unit)'
    ),
    "half_null": "header: all(part is None for part in parts) => True",
    "law_length": "model_of: letters == 0 or set(alphabets) == {letters} => True",
}


@pytest.mark.parametrize("name", thinned(BUGS, every=6))
def test_the_corpus_catches(name, planted):
    changed = planted(name, BUGS[name])
    assert not all(case.ends(changed.check(*case.files)) for case in [*CASES, *cases.about("bad_design")])
