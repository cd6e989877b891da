"""Objectives: what a model may say, what the lines prove against a second reading, what mechanisms attain."""

import json
import random
from fractions import Fraction
from pathlib import Path

import constraint_draws as draws_of
import constraint_truth as own
from campaigns import each, thinned
from constraint_truth import inline
from dalenius_check import Status, check
from dalenius_check.model import parse_model
from forgery_subjects import toml
from forgery_truth import Question, amount, dec
from test_constraints import noisy, told

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
    rng = random.Random(3)
    question, laws = drawn(rng)
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
