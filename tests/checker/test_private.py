"""Designs without an adversary: normal forms, random certificates against exact bounds, limits, planted bugs."""

import json
import tomllib
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx

import cases
from campaigns import each, thinned
from dalenius_check import Status, check
from dalenius_check.model import parse_model
from dalenius_check.numbers import exponential

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
        verdict = check(*cases.cases()[f"private_{name}"].files)
        assert verdict.lines[-1] == f"precision: {bits} bits"


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
    large = designs.certificate(data, "0", "1", [["1", "1", "1"]] * 3, ["dual", "0"], *many)
    assert "sum of rationals" in check(data, large).reason
    monkeypatch.setattr("dalenius_check.privacy._MAX_NUMBERS", 9)
    assert check(data, long).proved
    monkeypatch.setattr("dalenius_check.privacy._MAX_NUMBERS", 8)
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
    "lower_end": "Private._own.own: above if hard else below => below if hard else above",
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
    "held_all": "Ground.held: p != 0 => True",
    "held_by_law": "Ground.held: law(even, self.inputs) => self.law",
    "priors_anywhere": "Ground.need_priors: fits => True",
    "priors_any_length": "Ground.need_priors: len(prior) == size => len(prior) <= size",
    "law_forgotten": "Private.__init__: self.ground.law => [fmpq(1, len(self.ground.law))] * len(self.ground.law)",
    "mean_is_least": "sides: min(column) => max(column)",
    "all_rows": "Private._prove: self.ground.used => range(len(channel.rows))",
    "off_support": (
        "sides: [(p, row) for p, row in zip(prior, rows, strict=True) if p]"
        " => [(p, row) for p, row in zip(prior, rows, strict=True)]"
    ),
    "first_prior": "sides: priors => priors[:1]",
    "weight_anywhere": "Private._sums: used or not (a or b) => True",
    "weight_of_a": "Private._sums: a or b => b",
    "weight_of_b": "Private._sums: a or b => a",
    "factor_forgotten": "Private._sums: weight * b => b",
    "c_forgotten": "Private._own.own: -c * down => -down",
    "downs_forgotten": "Private._own.own: [row[y], up, -c * down] => [row[y], up]",
    "ups_forgotten": "Private._own.own: [row[y], up, -c * down] => [row[y], -c * down]",
    "last_line_only": "Private._sums: total([old, weight * b]) => weight * b",
    "last_line_up": "Private._sums: total(pair) => pair[1]",
    "rows_not_choices": "Design._bound: self._choices(matrix, total) => matrix",
    "null_lines": "attempt: not lines.more() => True",
    "dual_null": 'Design._dual: need(lower is not None and lower <= 0, "no dual, but lower is positive") => pass',
    "nu_allowed": "Design._dual: self.leakage or nu == 0 => True",
    "epsilon_large": "epsilon: result[0] <= 1000 => True",
    "log_negative": "epsilon: number(match[1], what, positive=True) => exact(match[1], what)",
    "min_leakage": 'model_of: problem == "min_distortion" and "privacy" in data => "privacy" in data',
    "expected": "Design.check: self.budget if self.leakage else ends[0] => self.budget",
}


@pytest.mark.parametrize("name", thinned(BUGS, every=4))
def test_the_corpus_catches(name, planted):
    changed = planted(f"private_{name}", BUGS[name])
    assert not all(case.ends(changed.check(*case.files)) for case in CASES)
