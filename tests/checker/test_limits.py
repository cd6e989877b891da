"""Limits about a secret: what a model may say, mechanisms and bounds against a second reading, and the truth by other mechanisms."""

import json
import random
from fractions import Fraction
from math import isfinite
from pathlib import Path

import cases
import constraint_draws as draws_of
import constraint_truth as own
import secret_draws
import secret_truth
from campaigns import each, thinned
from dalenius_check import Status, check
from dalenius_check.core.model import parse_model
from forgery_subjects import digest, toml
from forgery_truth import Question

BASE = cases.model("limit_tv").decode()
OWN = 'kind = "total_variation"\nat_most = 0.5'
DOCS = (Path(__file__).parents[2] / "docs/model-format.md").read_text()
TINY = Fraction(1, 10**12)


def limited(text, base=BASE):
    """The model of one bit under this limit."""
    assert OWN in base
    return base.replace(OWN, "\n".join(line.strip() for line in text.split(";"))).encode()


def normal(model):
    return parse_model(model).normal["constraints"]


def test_documented_normal_form():
    section = DOCS.partition("### Limits about a secret")[2]
    text = section.partition("```toml\n[[constraints]]\n")[2].partition("```")[0]
    expected = section.partition("So the table above has the normal form\n\n```\n")[2].partition("\n```")[0]
    three = BASE.replace("alphabet = 2", "alphabet = 3")
    assert json.dumps(normal(limited(text.strip(), three))[0], sort_keys=True, separators=(",", ":")) == expected


NONE = {"priors": None, "secret": None}
EVEN = [["1/2", "0"], ["0", "1/2"]]


@each(
    "text, expected",
    ('kind="local_information_privacy"; epsilon=1', {"epsilon": "1 nats", **NONE}),
    (
        'kind="information_privacy"; epsilon="log 2"; delta=0.50; priors=[[1,0.0]]',
        {"epsilon": "log 2", "delta": "1/2", "strong": False, "exempt": None, "secret": None, "priors": [["1", "0"]]},
    ),
    (
        'kind="information_privacy"; epsilon=0; delta=0; strong=true; exempt=[[1,0],[0,1]]',
        {"epsilon": "0 nats", "delta": "0", "strong": True, "exempt": [["1", "0"], ["0", "1"]], **NONE},
    ),
    ('kind="local_dp"; epsilon=1; secret=[[[0.5,0],[0,0.5]]]', {"epsilon": "1 nats", "pairs": None, "secret": [EVEN]}),
    ('kind="local_dp"; epsilon=1', {"epsilon": "1 nats", "pairs": None}),
    (
        'kind="pointwise_maximal_leakage"; epsilon=1; secret=[[[0.5,0],[0,0.5]]]',
        {"epsilon": "1 nats", "priors": None, "secret": [EVEN]},
    ),
    ('kind="pointwise_maximal_leakage"; epsilon=1', {"epsilon": "1 nats", "priors": None}),
    ('kind="mutual_information"; at_most=0.1', {"at_most": "1/10 nats", **NONE}),
    ('kind="kl"; at_most="0.1 bits"', {"at_most": "1/10 bits", "strong": False, **NONE}),
    ('kind="chi_square"; at_most=3; strong=true', {"at_most": "3", "strong": True, **NONE}),
    ('kind="maximal_correlation"; at_most="2/4"', {"at_most": "1/2", "square_at_most": None, **NONE}),
    ('kind="maximal_correlation"; square_at_most=1', {"at_most": None, "square_at_most": "1", **NONE}),
    ('kind="local_dp_delta"; epsilon=0; at_most=0', {"epsilon": "0 nats", "at_most": "0", **NONE}),
)
def test_normal_forms(text, expected):
    model = limited(text)
    assert normal(model) == [{"kind": text.split('"')[1], **expected}]
    assert "adversary" not in parse_model(model).normal
    assert parse_model(model).digest == digest(Question.of(model))


WRONG = [
    ('kind="total_variation"', "the key 'at_most' is missing"),
    ('kind="total_variation"; at_most=-0.1', "at_most must be nonnegative"),
    ('kind="total_variation"; at_most="1 nats"', "not a number"),
    ('kind="total_variation"; at_most=1; strong=1', "strong must be true or false"),
    ('kind="mutual_information"; at_most=1; strong=true', "unknown key 'strong'"),
    ('kind="mutual_information"; at_most="-1 bits"', "at_most must be nonnegative"),
    ('kind="mutual_information"; at_most="1 max"', "not a number"),
    ('kind="maximal_correlation"', "either 'at_most' or 'square_at_most'"),
    ('kind="maximal_correlation"; at_most=1; square_at_most=1', "either 'at_most' or 'square_at_most'"),
    ('kind="local_dp_delta"; at_most=0', "the key 'epsilon' is missing"),
    ('kind="local_dp_delta"; at_most=0; epsilon=-1', "epsilon must not be negative"),
    ('kind="local_information_privacy"; epsilon="log 0.5"', "epsilon must not be negative"),
    ('kind="information_privacy"; epsilon=1', "the key 'delta' is missing"),
    ('kind="information_privacy"; epsilon=1; delta=2', "delta must be at most 1"),
    ('kind="information_privacy"; epsilon=1; delta=0; exempt=[]', "at least one pair"),
    ('kind="information_privacy"; epsilon=1; delta=0; exempt=[[0,0],[0,0]]', "must be distinct"),
    ('kind="information_privacy"; epsilon=1; delta=0; exempt=[[2,0]]', "no letter of every law or no output"),
    ('kind="information_privacy"; epsilon=1; delta=0; exempt=[[0,2]]', "no letter of every law or no output"),
    ('kind="local_dp"; epsilon=1; priors=[[1,0]]', "unknown key 'priors'"),
    ('kind="local_dp"; epsilon=1; pairs=[[0,1]]; secret=[[[1,0]]]', "must not have both 'secret' and 'pairs'"),
    ('kind="chi_square"; at_most=1; priors=[[1,0]]; secret=[[[1,0]]]', "must not have both 'secret' and 'priors'"),
    ('kind="chi_square"; at_most=1; priors=[]', "at least one list"),
    ('kind="chi_square"; at_most=1; priors=[[1]]', "must list 2 numbers"),
    ('kind="chi_square"; at_most=1; secret=[]', "at least one law"),
    ('kind="chi_square"; at_most=1; secret=[[]]', "at least one law"),
    ('kind="chi_square"; at_most=1; secret=[[[1]]]', "must list 2 numbers"),
    ('kind="chi_square"; at_most=1; secret=[[[0.5,0.5],[0.1,0]]]', "law 0 does not sum to 1"),
    ('kind="chi_square"; at_most=1; secret=[[[1,0],[1]]]', "lists of one length"),
    ('kind="chi_square"; at_most=1; secret=[[[2,-1]]]', "nonnegative"),
    ('kind="chi_square"; at_most=1; secret=[[0.5,0.5]]', "must be a list"),
]


@each("text, reason", *WRONG)
def test_what_a_model_may_not_say(text, reason):
    verdict = check(limited(text), b"")
    assert verdict.status is Status.UNREADABLE, verdict.reason
    assert reason in verdict.reason
    assert "\n" not in verdict.reason


def test_values_that_no_dataset_has():
    held = BASE.replace('kind = "identity"', 'kind = "modular_sum"\nmodulus = 3')
    for text in ("priors=[[0.5,0,0.5]]", "secret=[[[0.5,0,0.5]]]"):
        reason = check(limited(f'kind="chi_square"; at_most=1; {text}', held), b"").reason
        assert "has mass on a value that no dataset has" in reason


def test_a_design_needs_an_adversary_or_constraints():
    bare = BASE.partition("[[constraints]]")[0]
    assert check(bare.encode(), b"").reason.startswith("model: the key 'adversary' is missing")
    some = BASE.replace('min_distortion"', 'min_distortion"\nmax_leakage = 1')
    assert check(some.encode(), b"").reason.startswith("model: the key 'adversary' is missing")
    other = BASE.replace("min_distortion", "min_leakage")
    assert check(other.encode(), b"").reason.startswith("model: the key 'adversary' is missing")


def test_limits_of_size(monkeypatch):
    three = BASE.replace("alphabet = 2", "alphabet = 3")
    joint = "secret=[[[0.5,0,0],[0,0.5,0]],[[0.5,0.5,0]]]"
    sizes = {  # rows and terms
        'kind="local_information_privacy"; epsilon=1': (18, 108),
        'kind="local_information_privacy"; epsilon=1; priors=[[0.5,0.5,0]]': (12, 48),
        f'kind="information_privacy"; epsilon=1; delta=0; {joint}': (18, 72),
        f'kind="information_privacy"; epsilon=1; delta=0; exempt=[[0,1],[0,0]]; {joint}': (12, 48),
        f'kind="local_dp"; epsilon=1; {joint}': (6, 24),
        f'kind="pointwise_maximal_leakage"; epsilon=1; {joint}': (9, 36),
    }
    for text, (rows, terms) in sizes.items():
        model = limited(text, three)
        for most, status in (((rows, terms), Status.REJECTED), ((rows - 1, terms), None), ((rows, terms - 1), None)):
            monkeypatch.setattr("dalenius_check.lemmas.designs.rows._MAX_ROWS", most[0])
            monkeypatch.setattr("dalenius_check.lemmas.designs.rows._MAX_TERMS", most[1])
            verdict = check(model, b"")
            assert verdict.status is (status or Status.UNREADABLE), (text, verdict.reason)
    monkeypatch.undo()
    places = {"secret": "lemmas.designs.secret._MAX_CELLS", "tables": "lemmas.designs.tables._MOST_NUMBERS"}
    for name, most, reason in (("secret", 8, "letters and outputs"), ("tables", 3, "at most 2^22 numbers")):
        monkeypatch.setattr(f"dalenius_check.{places[name]}", most)
        text = 'kind="chi_square"; at_most=1' + ("" if name == "secret" else "; secret=[[[0.5,0,0],[0,0.5,0]]]")
        verdict = check(limited(text, three), b"")
        assert verdict.status is Status.UNREADABLE
        assert reason in verdict.reason


def test_what_limits_take_is_counted_first():
    wide = BASE.replace("alphabet = 2", "alphabet = 600")
    for kind in ("chi_square", "maximal_correlation"):
        verdict = check(limited(f'kind="{kind}"; at_most=1', wide), b"", memory=80)
        assert verdict.reason == "the model: limit: 80 MiB of memory"


def certificate(question, lower, upper, laws, lines):
    """A model and its certificate."""
    claims = {"lower": None if lower is None else str(lower), "upper": None if upper is None else str(upper)}
    head = {"format": "dalenius-certificate/2", "problem": "min_distortion", "model": digest(question), **claims}
    head |= {
        "unit": "distortion",
        "producer": "tests",
        "mechanism": None if laws is None else draws_of.weights(question, laws),
    }
    tail = draws_of.sections(question) if "adversary" in question.table and laws is not None else []
    return toml(question.table), "".join(json.dumps(line) + "\n" for line in [head, *lines, *tail]).encode()


def other_limit(question, change):
    """The same model with another number."""
    (table,) = own.listed(question)
    key = "square_at_most" if "square_at_most" in table else "at_most"
    return Question({**question.table, "constraints": [{**table, key: str(change(Fraction(table[key])))}]})


@each("seed", *thinned(range(300), every=25))
def test_mechanisms_and_bounds_against_a_second_reading(seed):
    """A mechanism is refused exactly if it is not within the limit; tangents prove exactly what the second reading says, and no
    more than any mechanism within the limit attains."""
    rng = random.Random(seed)
    question, laws = secret_draws.drawn(
        rng, *secret_draws.KINDS[(seed // 15 if seed % 15 == 0 else seed) % len(secret_draws.KINDS)]
    )
    (table,), attained = own.listed(question), question.cost(laws)
    arithmetic = "python" if seed % 30 == 15 else "auto"

    def verdict(*parts):
        return check(*certificate(*parts), arithmetic=arithmetic)

    assert verdict(question, 0, attained, laws, [["dual", None]]).proved
    if table["kind"] == "maximal_correlation":
        less = other_limit(question, lambda x: x - Fraction(3, 10**8))
    else:
        less = other_limit(question, lambda x: x - Fraction(1, 10**20))
    key = "square_at_most" if "square_at_most" in own.listed(less)[0] else "at_most"
    if Fraction(own.listed(less)[0][key]) >= 0:
        answer = verdict(less, 0, attained, laws, [["dual", None]])
        assert answer.status is Status.REJECTED
        assert "the limit of constraint 0 fails" in answer.reason
    for weight in ("1/3", "2"):
        honest, wild = secret_draws.tangents(question, 0, laws, weight), secret_draws.noisy(rng, question, 0)
        for lines in (honest, wild, [*wild, *honest]):
            lines = [["dual", "0"], *(line for line in lines if line[4] is not None or line[5] is not None)]
            bound = own.bound(question, lines, upper=True)
            assert isfinite(bound)
            assert bound <= attained + TINY
            for claim, proved in ((Fraction(bound) - TINY, True), (Fraction(bound) + TINY, False)):
                if claim > 0:
                    assert verdict(question, claim, claim + attained, laws, lines).proved == proved
            if not isinstance(bound, float) and bound > 0 and "epsilon" not in table:
                assert verdict(question, bound, attained + bound, laws, lines).proved
                assert not verdict(question, bound + Fraction(1, 10**60), attained + bound, laws, lines).proved


@each("seed", *thinned(range(60), every=15))
def test_rows_against_a_second_reading(seed):
    """Of the kinds that are rows: each row of the mechanism, and each multiplier."""
    rng = random.Random(seed)
    question = Question(secret_draws.free(rng))
    laws = draws_of.some_mechanism(rng, question)
    width = len(laws[0])
    kind = secret_truth.ROWS[(seed // 15 + seed) % 4]
    table = {
        "kind": kind,
        "epsilon": rng.choice(["log 3/2", "0.3 bits", "1/5", "2"]),
        **secret_draws.secret(rng, question),
    }
    if kind == "local_dp":
        table.pop("priors", None)
    if kind in secret_truth.ROWS[2:] and "secret" not in table:
        table["secret"] = [[[str(p) for p in question.law_of_inputs]]]
    if kind == "information_privacy":
        letters = min(len(joint) for joint in secret_truth.joints(question, table))
        pairs = {(rng.randrange(letters), rng.randrange(width)) for _ in range(3)}
        table |= {
            "delta": rng.choice(["1", "1/2", "1/5"]),
            "strong": rng.random() < 0.5,
            "exempt": [list(p) for p in sorted(pairs)],
        }
        if rng.random() < 0.3:
            table.pop("exempt")
    question = Question({**question.table, "constraints": [table]})
    attained = question.cost(laws)
    fine = own.broken(question, laws) is None
    assert check(*certificate(question, 0, attained, laws, [["dual", None]])).proved == fine
    rows = own.rows(question, table, upper=True)
    constant = question.spread([[Fraction(1, width)] * width for _ in laws])
    for _ in range(4):
        chosen = sorted(rng.sample(range(len(rows)), min(len(rows), 5)))
        line = ["multiplier", 0, [[r, str(Fraction(rng.randint(1, 9), 30))] for r in chosen]]
        low, high = (own.bound(question, [["dual", "0"], line], upper=upper) for upper in (True, False))
        if own.broken(question, constant) is None:
            assert low <= question.cost(constant)
            step = Fraction(1, 10**12)
            for claim, proved in ((low - (step if low < high else 0), True), (high + step, False)):
                if claim > 0:
                    data = certificate(
                        question, claim, claim + question.cost(constant), constant, [["dual", "0"], line]
                    )
                    assert check(*data).proved == proved
    one_more = ["multiplier", 0, [[len(rows), "1"]]]
    answer = check(*certificate(question, TINY, 9, constant, [["dual", "0"], one_more]))
    assert answer.status is Status.REJECTED
