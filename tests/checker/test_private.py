"""Designs without an adversary: normal forms, random certificates against exact bounds, limits, planted bugs."""

import json
import random
import tomllib
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import ctx

import cases
import constraint_draws as draws_of
import constraint_truth as own
from campaigns import each, thinned
from constraint_truth import inline
from dalenius_check import Status, check
from dalenius_check.core.model import parse_model
from dalenius_check.core.numbers import exponential
from forgery_subjects import toml
from forgery_truth import Question, amount, dec
from test_constraints import noisy, told

CASES = cases.about("private", "bad_private")
HAMMING, UNIFORM = 'kind="hamming"', 'kind="uniform"'
ONE, IDENTITY = "count=1; alphabet=3", 'kind="identity"'
TWO, FIVE = "count=2; alphabet=2", 'kind="modular_sum"; modulus=5'
STEP = Fraction(1, 10**12)


def normal_text(data):
    return json.dumps(parse_model(data).normal, sort_keys=True, separators=(",", ":"))


def test_documented_normal_form(privates):
    table = 'kind="pointwise_maximal_leakage"; epsilon="log 2"'
    data = privates.private(ONE, IDENTITY, "oblivious", table, HAMMING, 'kind="iid"; probabilities=[0.5, 0.3, 0.2]')
    assert normal_text(data) == (
        '{"distortion":{"kind":"hamming"},"law":{"kind":"iid","probabilities":["1/2","3/10","1/5"]},'
        '"mechanism":{"class":"oblivious"},"privacy":{"epsilon":"log 2","kind":"pointwise_maximal_leakage",'
        '"priors":null},"problem":"min_distortion","query":{"kind":"identity"},"records":[["3","1"]]}'
    )


@each(
    "table, part",
    ('kind="local_dp"; epsilon=0.50', '"privacy":{"epsilon":"1/2 nats","kind":"local_dp"}'),
    ('kind="local_dp"; epsilon="4/6"', '"2/3 nats"'),
    ('kind="local_dp"; epsilon="-1e-1 bits"', '"-1/10 bits"'),
    ('kind="local_dp"; epsilon="1e3 nats"', '"1000 nats"'),
    ('kind="local_dp"; epsilon="log 6/4"', '"log 3/2"'),
    ('kind="local_dp"; epsilon="log 1"', '"log 1"'),
    (
        'kind="pointwise_maximal_leakage"; epsilon=1; priors=[[0.3333333333, "4/6", 0]]',
        '"priors":[["3333333333/10000000000","2/3","0"]]',
    ),
)
def test_normal_forms(privates, table, part):
    data = privates.private(ONE, IDENTITY, "oblivious", table, HAMMING, UNIFORM)
    assert part in normal_text(data)
    assert '"adversary"' not in normal_text(data)


@each("precision", 128, 1024)
@each(
    "epsilon", "0", '"0 bits"', '"1 bits"', '"1000 bits"', '"log 7/3"', "1000", "1e-400", '"0.5 bits"', '"2/3"', "40.1"
)
def test_ends_are_exact_or_narrow(privates, epsilon, precision):
    table = f'kind="local_dp"; epsilon={epsilon}'
    data = privates.private(ONE, IDENTITY, "oblivious", table, HAMMING, UNIFORM)
    low, high = privates.ends(tomllib.loads(data.decode(), parse_float=str)["privacy"]["epsilon"])
    before, ctx.prec = ctx.prec, precision
    try:
        below, above = (
            Fraction(int(c.p), int(c.q)) for c in exponential(*parse_model(data).design["privacy"]["epsilon"])
        )
    finally:
        ctx.prec = before
    assert (below == above) == (low == high)
    assert 1 <= below <= high
    assert low <= above <= below * (1 + Fraction(1, 2 ** (precision - 12)))


def test_precision_is_raised_where_that_decides():
    for name, bits in (("near", 256), ("lower_60", 256), ("coarse", 128), ("lower_12", 128)):
        assert check(*cases.cases()[f"private_{name}"].files).lines[-1] == f"precision: {bits} bits"


def test_statements():
    text = "\n".join(check(*cases.cases()["private_documented"].files).lines)
    for part in (
        "proved: 0.2 <= V <= 0.2 in units of the distortion\nV: least expected distortion of oblivious mechanisms",
        "under pointwise maximal leakage with epsilon = log 2",
        "each P of 1 and all x with P(x) > 0",
        "is private and attains the upper bound",
        "its expected distortion: 0.2 ",
        "leaves: 1 ratio line\n",
    ):
        assert part in text
    text = "\n".join(check(*cases.cases()["private_local_full"].files).lines)
    for part in ("of full mechanisms under local differential privacy", "all inputs x, x' that some dataset has"):
        assert part in text
    verdict = check(*cases.cases()["private_infeasible_bits"].files)
    assert verdict.reason == (
        "proved: infeasible, there are no oblivious mechanisms under pointwise maximal leakage with epsilon = -3 bits"
    )


@each("case", *[case for case in CASES if case.status == 0])
def test_a_model_is_feasible_or_not(case):
    model, data = case.files
    header = json.loads(data.split(b"\n", 1)[0])
    if header["lower"] is not None:
        changed = header | {"lower": None, "upper": None, "mechanism": None}
        assert check(model, json.dumps(changed).encode() + b"\n").status is Status.REJECTED


SHAPES = [
    (ONE, IDENTITY, "oblivious"),
    (TWO, 'kind="count"', "full"),
    (ONE, 'kind="modular_sum"; modulus=3', "additive"),
    (TWO, FIVE, "oblivious"),
    (TWO, FIVE, "additive"),
    ("alphabets=[2, 1, 2]", 'kind="table"; values=[0, 2, 7, 2]', "oblivious"),
]
EPSILONS = ['"log 3/2"', "0.5", '"1 bits"', '"0.3 bits"', "0", '"log 40"', "3", '"log 1.01"']


def instance(privates, rng, seed):
    """A random private design."""
    records, query, group = SHAPES[seed % 6]
    size, holes = 4 if group == "full" else 5 if query == FIVE else 3, query == FIVE
    notion, epsilon = seed // 6 % 3, EPSILONS[rng.integers(len(EPSILONS))]
    table = f'kind="{"pointwise_maximal_leakage" if notion else "local_dp"}"; epsilon={epsilon}'
    if notion == 2:
        rows = rng.integers(0, 4, (2, size)) + np.eye(size, dtype=int)[:2]
        rows[:, 3:] *= not holes
        table += f"; priors={json.dumps([[str(Fraction(int(x), int(row.sum()))) for x in row] for row in rows])}"
    distortion = ['kind="hamming"', 'kind="absolute"', 'kind="squared"', "rows"][seed % 4]
    if distortion == "rows":
        wide, tall = 2 if group != "additive" else 5 if holes else 3, 5 if holes else 3
        distortion = f'kind="matrix"; rows={rng.integers(0, 9, (tall, wide)).tolist()}'
    letters = {ONE: 3, TWO: 2}.get(records)
    law = UNIFORM
    if letters and rng.random() < 0.7:
        weights = rng.integers(0, 5, letters) + np.eye(letters, dtype=int)[0]
        law = f'kind="iid"; probabilities={json.dumps([str(Fraction(int(x), int(weights.sum()))) for x in weights])}'
    return privates.Private((records, query, group, table, distortion, law))


def noise(design, rng):
    """Random multipliers of all outputs, at random references."""
    lines = []
    for y in rng.integers(0, design.outputs, 2 * design.outputs).tolist():
        reference = int(rng.integers(len(design.priors)))
        support = design.held if design.local else design.priors[reference]
        if design.local:
            weights = rng.integers(1, 9, design.size)
            reference = [str(x) if held else "0" for x, held in zip(weights, design.held, strict=True)]
        factors = rng.choice([0.01, 0.1, 1]) * rng.random(design.size) * (rng.random(design.size) < 0.4)
        lines.append(["ratio", y, reference, [f"{a:.6f}" if s else "0" for a, s in zip(factors, support, strict=True)]])
    return lines


@each("seed", *thinned(range(72), every=9))
def test_bounds_never_exceed_a_private_mechanism(privates, designs, seed):
    """Multipliers and mechanisms, nearly optimal ones and random ones, in fractions and through the checker."""
    rng = np.random.default_rng(seed)
    design = instance(privates, rng, seed)
    exact, rows = design.low == design.high, 1 if design.group == "additive" else design.size

    def verdict(lower, upper, mechanism, *lines):
        claim = (decimal(lower, ROUND_FLOOR), decimal(upper, ROUND_CEILING))
        return check(design.file, designs.certificate(design.file, *claim, mechanism, *lines))

    mechanism, lines = design.best(6 if exact else 12)
    random = [[[str(x) for x in row] for row in rng.integers(0, 20, (rows, design.outputs)) + 1] for _ in range(6)]
    tries = [mechanism, *(design.mixed(one, [Fraction(k, 16) for k in range(17)]) for one in random)]
    attained = [design.expected(one) for one in tries]
    for given in (lines, [*lines, *noise(design, rng)[:1]], noise(design, rng)):
        bound, over = design.bound(given, design.high), design.bound(given, design.low)
        assert bound <= over <= min(attained) if exact else bound <= min(attained)
        for claim, status in ((bound - (0 if exact else STEP), 0), (over + STEP, 1), (min(attained) + STEP, 1)):
            if claim > 0:
                assert verdict(claim, 999, mechanism, ["dual", "0"], *given).exit_code == status
    for one, value in zip(tries, attained, strict=True):
        assert verdict(0, value, one, ["dual", None]).exit_code == 0
        assert value < STEP or verdict(0, value - STEP, one, ["dual", None]).exit_code == 1
    for one in random:
        assert verdict(0, 999, one, ["dual", None]).exit_code == (0 if design.loss(one) <= design.low else 1)


def decimal(value, rounding):
    """A decimal of 40 digits."""
    return str(Context(prec=40, rounding=rounding).divide(*map(Decimal, Fraction(value).as_integer_ratio()))).lower()


def test_limits_end_in_undecided(privates, designs, monkeypatch):
    data = privates.private(ONE, IDENTITY, "oblivious", 'kind="local_dp"; epsilon="log 2"', HAMMING, UNIFORM)
    line = ["ratio", 0, ["1", "1", "1"], ["0", "0", "0"]]
    long = designs.certificate(data, "0", "1", [["1", "1", "1"]] * 3, ["dual", "0"], line, line, line)
    assert check(data, long).proved
    many = [["ratio", 0, ["1", f"1e{k}", "1"], ["1", "0", f"1/{3**k}"]] for k in range(2, 400)]
    large = designs.certificate(data, "1e-9", "1", [["1", "1", "1"]] * 3, ["dual", "0"], *many)
    assert "sum of rationals" in check(data, large).reason
    monkeypatch.setattr("dalenius_check.lemmas.designs.privacy._MAX_NUMBERS", 9)
    assert check(data, long).proved
    monkeypatch.setattr("dalenius_check.lemmas.designs.privacy._MAX_NUMBERS", 8)
    verdict = check(data, long)
    assert verdict.status is Status.UNDECIDED
    assert verdict.reason == "certificate line 5: limit: more than 8 multipliers"


BUGS = {  # what is changed in which function of a copy of the checker
    "negative": "Private._need_infeasible: self.negative => True",
    "zero_is_negative": 'Private.__init__: self.budget < (self.unit == "log") => self.budget <= (self.unit == "log")',
    "log_is_not": 'Private.__init__: self.unit == "log" => 0',
    "claimed_anyhow": "Private._prove: not self.negative => True",
    "ends_swapped": (
        "Private._prove: (below, above), used = exponential(self.budget, self.unit), self.ground.used if self.local else ()"
        " => (above, below), used = exponential(self.budget, self.unit), self.ground.used if self.local else ()"
    ),
    "private_end": (
        'Private._prove: need_certain(lambda c: all(x <= c * mean for x, mean in pairs), below, above, "the mechanism\'s privacy")'
        ' => need_certain(lambda c: all(x <= c * mean for x, mean in pairs), above, below, "the mechanism\'s privacy")'
    ),
    "lower_end": "Private._ratio: ends[hard] => ends[not hard]",
    "not_private": "Private._prove: x <= c * mean => True",
    "equal_is_too_much": "Private._prove: x <= c * mean => x < c * mean or not x",
    "any_column": "Private._prove: all(x <= c * mean for x, mean in pairs) => any(x <= c * mean for x, mean in pairs)",
    "lower_unchecked": "need_above: kept(least, end) is True => True",
    "lower_strict": "need_above: (ge, lt) => (gt, lt)",
    "not_hard": "need_certain: holds(hard) => holds(easy)",
    "never_open": 'need_certain: OpenError(f"{what} is open") => RefusedError(f"{what} is open")',
    "bound_never_open": (
        'need_above: OpenError(f"{what} is open: it is {arb(least).str(25)}")'
        ' => RefusedError(f"{what} is open: it is {arb(least).str(25)}")'
    ),
    "least_one": "numbers.exponential: max(fmpq(1), ball.lower().fmpq()) => ball.lower().fmpq()",
    "bits_are_nats": 'in_nats: unit == "bits" => unit == "bit"',
    "held_all": "Inputs.held: p != 0 => True",
    "held_by_law": "Inputs.held: law(even, self.inputs) => self.law",
    "priors_anywhere": "Inputs.need_priors: fits => True",
    "priors_any_length": "Inputs.need_priors: len(prior) == size => len(prior) <= size",
    "law_forgotten": "Private.__init__: self.ground.law => [fmpq(1, len(self.ground.law))] * len(self.ground.law)",
    "mean_is_least": "sides: min(column) => max(column)",
    "all_rows": "Private._prove: self.ground.used => range(len(channel.rows))",
    "off_support": (
        "sides: [(p, row) for p, row in zip(prior, rows, strict=True) if p]"
        " => [(p, row) for p, row in zip(prior, rows, strict=True)]"
    ),
    "first_prior": "sides: priors => priors[:1]",
    "weight_anywhere": "Private._own: used or not (a or b) => True",
    "weight_of_a": "Private._own: a or b => b",
    "weight_of_b": "Private._own: a or b => a",
    "factor_forgotten": "Private._ratio: weight * b => b",
    "c_forgotten": "Private._ratio: ends[hard] * down => down",
    "downs_forgotten": "Private._ratio: up - ends[hard] * down => up",
    "ups_forgotten": "Private._ratio: up - ends[hard] * down => -ends[hard] * down",
    "last_line_only": "Given.add: self._parts.append(part) => self._parts = [part]",
    "last_line_up": "Given.add: self._parts.append(part) => self._parts = self._parts or [part]",
    "rows_not_choices": "Design._bound: self._choices(matrix, total) => matrix",
    "null_lines": "attempt: not lines.more() => True",
    "dual_null": 'Design._dual: need(lower is not None and lower <= 0, "no dual, but lower is positive") => pass',
    "nu_allowed": "Design._dual: self.leakage or nu == 0 => True",
    "epsilon_large": "epsilon: result[0] <= 1000 => True",
    "log_negative": "epsilon: number(match[1], what, positive=True) => exact(match[1], what)",
    "min_leakage": 'tables.schema: data["problem"] == "min_distortion" and "privacy" in data => "privacy" in data',
    "expected": "Design.check: self.budget if self.leakage else ends[0] => self.budget",
}


@pytest.mark.parametrize("name", thinned(BUGS, every=6))
def test_the_corpus_catches(name, planted):
    changed = planted(f"private_{name}", BUGS[name])
    assert not all(case.ends(changed.check(*case.files)) for case in CASES)


# Objectives: what a model may say, what the lines prove against a second reading, what mechanisms attain.


DOCS = (Path(__file__).parents[2] / "docs/model-format.md").read_text()
SECTION = DOCS.partition("### Sums and maxima: `[objective]`")[2]


def model_of(question):
    """The model file of a question with an objective."""
    table = dict(question.table)
    objective = table.pop("objective")
    lines = "".join(f"{key} = {inline(value)}\n" for key, value in objective.items())
    return toml(table) + f"\n[objective]\n{lines}".encode()


def plain(rng):
    """A design without an objective: against independent records, or private."""
    table = draws_of.grounds(rng)
    question = Question(table)
    width = len(question.distortions[0])
    laws = rng.choice([draws_of.some_mechanism(rng, question), [[Fraction(1, width)] * width] * question.input_count])
    if "privacy" in table and not draws_of.private_enough(question, laws):
        laws = [[Fraction(1, width)] * width] * question.input_count
    if rng.random() < 0.5:
        found = [draws_of.constraint(rng, question, laws) for _ in range(2)]
        constrained = Question({**table, "constraints": [one for one in found if one]})
        table = constrained.table if own.broken(constrained, laws) is None else table
    if "max_leakage" in table and rng.random() < 0.5:
        table = {key: item for key, item in table.items() if key != "max_leakage"}
        table |= {"problem": "min_leakage", "max_distortion": str(question.cost(laws) + Fraction(1, 9))}
    return table, laws


def term(rng, question):
    """One more leakage or distortion."""
    table = {"kind": rng.choice(["leakage", "distortion"])}
    if rng.random() < 0.8:
        table["weight"] = rng.choice([2, "1/10", "3/2", "7"])
    if table["kind"] == "leakage":
        size = question.size
        listed = {"kind": "prior_set", "priors": [[str(Fraction(1, size))] * size]}
        table["adversary"] = rng.choice([listed, {"kind": "product_priors"}, {"entropy_at_least": "0.8 max"}])
        return table
    width, values = len(question.distortions[0]), len(question.query[0])
    points = sorted(rng.sample(range(-4, 9), width))
    rows = [[str(rng.randint(0, 9)) for _ in range(width)] for _ in range(values)]
    squares = {"kind": "squared", "outputs": list(map(str, points))}
    table["distortion"] = rng.choice([squares, {"kind": "matrix", "rows": rows}])
    return table


def drawn(rng):
    """A design with an objective, and a mechanism that meets everything."""
    table, laws = plain(rng)
    question = Question(table)
    objective = {
        "combine": rng.choice(["sum", "max"]),
        "terms": [term(rng, question) for _ in range(rng.randint(1, 3))],
    }
    if rng.random() < 0.5:
        objective["weight"] = rng.choice(["1/3", 5])
    return Question({**table, "objective": objective}), laws


def shares(rng, question):
    """Weights v_j that an objective allows, now and then all of what it allows."""
    weights = [own.exact(one.get("weight", 1)) for one in own.terms(question)]
    parts = [Fraction(rng.randint(0, 4), 4) for _ in weights]
    if question.table["objective"]["combine"] == "max":
        parts = [part / max(sum(parts), 1) for part in parts]
    return [part * w for part, w in zip(parts, weights, strict=True)]


def lower(rng, question, chosen):
    """Lines of a lower bound with these weights of the terms."""
    leak, table = question.table["problem"] == "min_leakage", question.table
    lines, others = [["dual", str(Fraction(rng.randint(0, 9), 9)) if leak else "0"]], []
    if leak and chosen[0]:
        parts = [chosen[0] / 3, chosen[0] - chosen[0] / 3]
        lines += [["prior", str(part), *told(rng, question, table["adversary"])[1:]] for part in parts]
    elif not leak and "adversary" in table:
        lines += [["prior", *told(rng, question, table["adversary"])]]
    for j, (one, v) in enumerate(zip(own.terms(question), chosen, strict=True)):
        if one["kind"] == "distortion":
            others += [["weight", j, str(v)]] if v or rng.random() < 0.5 else []
        elif j and v:
            others.append(["term", j, str(v), *told(rng, question, one["adversary"])[1:]])
    made = noisy(rng, question, [])[1:] if rng.random() < 0.5 else []
    others += [line for line in made if rng.random() < 0.3]
    rng.shuffle(others)
    return [*lines, *others]


def learnt(question, adversary, i, prior, laws):
    """What a prior learns of a mechanism."""
    rows = [tuple(map(dec, row)) for row in laws]
    return float(question.leakage(i, own.prior_masses(question, adversary, i, prior), rows))


def attained(question, lines, laws):
    """The terms of a mechanism with the weights of the lines, leakages to the lines' priors only: at most the objective's."""
    found, law = 0.0, question.law_of_inputs
    for name, *rest in lines:
        if name == "weight":
            table = own.terms(question)[rest[0]]
            costs = question.matrix(table["distortion"]) if rest[0] else question.distortions
            cells = [(p, row, ds) for p, row, ds in zip(law, laws, costs, strict=True)]
            found += float(
                Fraction(rest[1]) * sum(p * q * d for p, row, ds in cells for q, d in zip(row, ds, strict=True))
            )
        elif name == "term":
            found += float(Fraction(rest[1])) * learnt(
                question, own.terms(question)[rest[0]]["adversary"], *rest[2:4], laws
            )
        elif name == "prior" and question.table["problem"] == "min_leakage":
            found += float(Fraction(rest[0])) * learnt(question, question.table["adversary"], *rest[1:3], laws)
    return found


def distortion(question, j, laws):
    """A term's distortion, exactly."""
    costs = question.matrix(own.terms(question)[j]["distortion"]) if j else question.distortions
    triples = zip(question.law_of_inputs, laws, costs, strict=True)
    return sum((p * sum(q * d for q, d in zip(row, ds, strict=True)) for p, row, ds in triples), Fraction(0))


def ends_of(question, laws):
    """U_j: distortions as they are, and 9 for leakages."""
    return [
        distortion(question, j, laws) if t["kind"] == "distortion" else Fraction(9)
        for j, t in enumerate(own.terms(question))
    ]


def combined(question, ends):
    """The objective of these terms."""
    parts = [own.exact(t.get("weight", 1)) * end for t, end in zip(own.terms(question), ends, strict=True)]
    return sum(parts) if question.table["objective"]["combine"] == "sum" else max(parts)


def upper(question, laws):
    """What proves that no leakage is more than 9."""
    lines = draws_of.sections(question)
    listed, width = question.table["objective"]["terms"], len(question.distortions[0])
    for j, one in enumerate(listed, 1):
        if one["kind"] == "leakage":
            adversary, lines = one["adversary"], [*lines, ["term", j]]
            if adversary.get("kind") == "product_priors":
                records = range(len(question.alphabets))
                laws_of = [["law", list(range(len(question.selections(i)))), ["1"] * width] for i in records]
                lines += [line for i, law in zip(records, laws_of, strict=True) for line in (["record", i], law)]
            elif "kind" not in adversary:
                joint = ["joint", "1", "0", None, ["1"] * width]
                lines += [line for i in range(len(question.alphabets)) for line in (["record", i], joint)]
    return lines


def certificate(question, low, high, ends, mechanism, lines, tail):
    """A model and its certificate."""
    model = model_of(question)
    claims = [None if end is None else str(end) for end in (low, high)]
    head = {
        "format": "dalenius-certificate/2",
        "problem": question.table["problem"],
        "model": parse_model(model).digest,
        "lower": claims[0],
        "upper": claims[1],
        "terms": None if ends is None else list(map(str, ends)),
        "unit": "objective",
        "producer": "tests",
        "mechanism": mechanism,
    }
    return model, "".join(json.dumps(value) + "\n" for value in (head, *lines, *tail)).encode()


@each("seed", *thinned(range(1000), every=50))
def test_lines_prove_what_a_second_reading_says_and_mechanisms_bear_it_out(seed):
    rng = random.Random(seed)
    question, laws = drawn(rng)
    lines, tail = lower(rng, question, shares(rng, question)), upper(question, laws)
    mechanism, ends = draws_of.weights(question, laws), ends_of(question, laws)
    proved, high = float(own.bound(question, lines, upper=True)), combined(question, ends)
    for claim, status in ((proved - 1e-9, 0), (proved + 1e-9, 1)):
        if 0 < claim <= float(high):
            verdict = check(*certificate(question, Fraction(claim), high, ends, mechanism, lines, tail))
            assert verdict.exit_code == status, verdict.reason
    assert check(*certificate(question, 0, high, ends, mechanism, [["dual", None]], tail)).exit_code == 0
    for turn in range(6):
        other = draws_of.some_mechanism(rng, question)
        t = Fraction(turn, 5)
        moved = [[(1 - t) * q + t * o for q, o in zip(*rows, strict=True)] for rows in zip(laws, other, strict=True)]
        table = question.table
        fine = own.broken(question, moved) is None and question.cost(moved) <= Fraction(
            table.get("max_distortion", 10**9)
        )
        fine = fine and ("privacy" not in table or draws_of.private_enough(question, moved))
        if table["problem"] == "min_distortion" and "adversary" in table:
            priors = [line[2:4] for line in lines if line[0] == "prior"]
            most = float(sum(amount(table["max_leakage"])) / 2)
            fine = fine and all(learnt(question, table["adversary"], *prior, moved) <= most for prior in priors)
        if fine:
            assert proved <= attained(question, lines, moved) + 1e-9


@each("seed", *thinned(range(200), every=20))
def test_what_is_a_little_more_than_allowed_is_refused(seed):
    rng = random.Random(seed)
    question, laws = drawn(rng)
    mechanism, ends, tail = draws_of.weights(question, laws), ends_of(question, laws), upper(question, laws)
    high, tiny = combined(question, ends), Fraction(1, 10**30)

    def status(high=high, ends=ends, lines=(["dual", None],), low=0):
        return check(*certificate(question, low, high, ends, mechanism, lines, tail)).exit_code

    assert status() == 0
    assert status(high=high - tiny) == 1
    for j, one in enumerate(own.terms(question)):
        if one["kind"] == "distortion":
            assert status(ends=[*ends[:j], ends[j] - tiny, *ends[j + 1 :]]) == 1
    assert status(ends=ends[1:]) == 1
    assert status(ends=[*ends, 0]) == 1
    chosen = shares(rng, question)
    weights = [own.exact(one.get("weight", 1)) for one in own.terms(question)]
    parts = [v / w for v, w in zip(chosen, weights, strict=True)]
    j = rng.randrange(len(weights))
    room = 1 - (sum(parts) if question.table["objective"]["combine"] == "max" else parts[j])
    for step, wanted in ((0, 0), (tiny, 1)):
        more = [*chosen[:j], chosen[j] + (room + step) * weights[j], *chosen[j + 1 :]]
        assert status(lines=lower(rng, question, more), low=-1) == wanted


def test_an_objective_is_in_the_normal_form_exactly_if_it_is_there():
    question, _ = drawn(random.Random(1))
    without = {key: item for key, item in question.table.items() if key != "objective"}
    assert "objective" not in parse_model(toml(without)).normal
    written = SECTION.partition("```toml\n")[2].partition("```")[0]
    text = toml({key: item for key, item in without.items() if key != "constraints"}) + written.encode()
    assert json.loads(json.dumps(parse_model(text).normal["objective"], sort_keys=True)) == {
        "combine": "sum",
        "terms": [
            {"adversary": {"kind": "product_priors"}, "kind": "leakage", "weight": "2"},
            {"distortion": {"kind": "squared"}, "kind": "distortion", "weight": "1/10"},
        ],
        "weight": "1",
    }


def test_the_statement_names_the_terms():
    question, laws = drawn(random.Random(3))
    data = certificate(
        question,
        0,
        999,
        ends_of(question, laws),
        draws_of.weights(question, laws),
        [["dual", None]],
        upper(question, laws),
    )
    verdict = check(*data)
    assert verdict.status is Status.PROVED, verdict.reason
    text = "\n".join(verdict.lines)
    assert "of the objective's terms" in text
    assert "term 1: " in text


def test_a_record_with_one_letter_does_not_make_up_for_a_distortion():
    """It needs no proof that it leaks at most anything, so that a claim below 0 would go unproved."""
    model = b"""
problem = "min_leakage"
max_distortion = 1
records = { count = 1, alphabet = 1 }
query = { kind = "identity" }
distortion = { kind = "matrix", rows = [[1]] }
law = { kind = "uniform" }
mechanism = { class = "oblivious" }
adversary = { entropy_at_least = 0 }
objective = { combine = "sum", terms = [{ kind = "distortion", distortion = { kind = "matrix", rows = [[1]] } }] }
"""
    header = {
        "format": "dalenius-certificate/2", "problem": "min_leakage", "model": parse_model(model).digest, "unit": "objective",
        "producer": "", "lower": "0", "mechanism": [["1"]],
    }  # fmt: skip
    for upper, first, proved in (("1", "0", True), ("1/2", "-1/2", False), ("0", "-1", False)):
        lines = [{**header, "upper": upper, "terms": [first, "1"]}, ["dual", None]]
        verdict = check(model, "".join(json.dumps(line) + "\n" for line in lines).encode())
        assert (verdict.status is Status.PROVED) is proved, verdict.reason
