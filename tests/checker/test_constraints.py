"""Constraints of one's own: what a model may say, rows against a second reading, bounds against a linear program, planted bugs."""

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

import cases
import constraint_draws as draws_of
import constraint_truth as own
from campaigns import each, thinned
from dalenius_check import Status, check
from dalenius_check.core.model import parse_model
from forgery_subjects import toml
from forgery_truth import Question, amount, dec

CASES = cases.about("own")
BASE = cases.model("own_bit").decode()
DOCS = (Path(__file__).parents[2] / "docs/model-format.md").read_text()


def constrained(text, base=BASE):
    """The model of one bit with these constraints."""
    return base.replace("# constraints", text).encode()


def table(text):
    """One constraint."""
    return constrained("[[constraints]]\n" + "\n".join(line.strip() for line in text.split(";")))


def normal(model):
    return json.dumps(parse_model(model).normal["constraints"], sort_keys=True, separators=(",", ":"))


def test_documented_normal_form():
    written, _, rest = DOCS.partition("For example\n\n```toml\n[[constraints]]")[2].partition(
        "```\n\nhave the normal form\n\n```\n"
    )
    assert normal(constrained(f"[[constraints]]{written}")) == rest.partition("\n```")[0]


@each(
    "text, expected",
    ('kind="linear"; terms=[[0,1,0.50]]; at_most=-1', {"at_most": "-1", "equals": None, "terms": [["0", "1", "1/2"]]}),
    (
        'kind="linear"; terms=[[0,0,"2/4"]]; equals="1e-1"',
        {"at_most": None, "equals": "1/10", "terms": [["0", "0", "1/2"]]},
    ),
    ('kind="zero"; entries=[[1,0],[0,1]]', {"entries": [["1", "0"], ["0", "1"]]}),
    ('kind="band"; width=0.5', {"width": "1/2"}),
    ('kind="unbiased"', {"tolerance": "0"}),
    ('kind="unbiased"; tolerance="3/6"', {"tolerance": "1/2"}),
    ('kind="error"; at_most=1', {"at_most": "1", "distortion": None, "groups": None}),
    (
        'kind="error"; at_most=1; groups=[[1,0],[1]]; distortion={kind="squared"}',
        {"at_most": "1", "distortion": {"kind": "squared"}, "groups": [["1", "0"], ["1"]]},
    ),
    (
        'kind="distortion"; at_most=1; distortion={kind="absolute", outputs=[-0.5, 2]}',
        {"at_most": "1", "distortion": {"kind": "absolute", "outputs": ["-1/2", "2"]}},
    ),
    ('kind="monotone"', {}),
    ('kind="local_dp"; epsilon=0.5; pairs=[[1,0]]', {"epsilon": "1/2 nats", "pairs": [["1", "0"]]}),
    ('kind="local_dp"; epsilon="log 4/2"', {"epsilon": "log 2", "pairs": None}),
    ('kind="pointwise_maximal_leakage"; epsilon="1 bits"', {"epsilon": "1 bits", "priors": None}),
    (
        'kind="pointwise_maximal_leakage"; epsilon=0; priors=[["0.3333333333","2/3"]]',
        {"epsilon": "0 nats", "priors": [["3333333333/10000000000", "2/3"]]},
    ),
    (
        'kind="leakage"; adversary={entropy_at_least="0.5 max"}; at_most=-2',
        {"adversary": {"entropy_at_least": "1/2 max"}, "at_most": "-2 nats"},
    ),
    (
        'kind="leakage"; adversary={kind="prior_set", priors=[[0.5,"2/4"]]}; at_most="1 bits"',
        {"adversary": {"kind": "prior_set", "priors": [["1/2", "1/2"]]}, "at_most": "1 bits"},
    ),
)
def test_normal_forms(text, expected):
    kind = text.split('"')[1]
    assert json.loads(normal(table(text))) == [{"kind": kind, **expected}]


def test_no_constraints_are_none():
    assert (
        parse_model(BASE.replace("[records]", "constraints = []\n[records]", 0).encode()).digest
        == parse_model(BASE.encode()).digest
    )
    assert parse_model(("constraints = []\n" + BASE).encode()).digest == parse_model(BASE.encode()).digest
    one = parse_model(table('kind="monotone"'))
    assert one.digest != parse_model(BASE.encode()).digest
    assert (
        one.digest
        != parse_model(constrained('[[constraints]]\nkind="monotone"\n[[constraints]]\nkind="monotone"')).digest
    )


def test_outputs_are_in_the_digest_where_they_are_given():
    given = cases.model("own_unbiased").decode()
    assert '"distortion":{"kind":"squared","outputs":["-1","2"]}' in json.dumps(
        parse_model(given.encode()).normal, separators=(",", ":")
    )
    assert "outputs" not in json.dumps(parse_model(BASE.replace("hamming", "squared").encode()).normal)


WRONG = [
    ('kind="linear"; at_most=1', "constraints 0: the key 'terms' is missing"),
    ('kind="linear"; terms=[]; at_most=1', "must be at least one [x, y, c]"),
    ('kind="linear"; terms=[[0,0]]; at_most=1', "must be a list of 3"),
    ('kind="linear"; terms=[[0,0,1,1]]; at_most=1', "must be a list of 3"),
    ('kind="linear"; terms=[[0,0,true]]; at_most=1', "must be a number"),
    ('kind="linear"; terms=[[0,0,inf]]; at_most=1', "not a number"),
    ('kind="linear"; terms=[[0,0,"x"]]; at_most=1', "not a number"),
    ('kind="linear"; terms=[["0",0,1]]; at_most=1', "must be an integer"),
    ('kind="linear"; terms=[[0.0,0,1]]; at_most=1', "must be an integer"),
    ('kind="linear"; terms=[[true,0,1]]; at_most=1', "must be an integer"),
    ('kind="linear"; terms=[[-1,0,1]]; at_most=1', "must be an integer"),
    ('kind="linear"; terms=[[2,0,1]]; at_most=1', "an index is no input or output"),
    ('kind="linear"; terms=[[0,2,1]]; at_most=1', "an index is no input or output"),
    ('kind="linear"; terms={}; at_most=1', "must be a list"),
    ('kind="linear"; terms=[[0,0,1]]', "either 'at_most' or 'equals'"),
    ('kind="linear"; terms=[[0,0,1]]; at_most=1; equals=1', "either 'at_most' or 'equals'"),
    ('kind="linear"; terms=[[0,0,1]]; at_most="1 nats"', "not a number"),
    ('kind="linear"; terms=[[0,0,1]]; at_least=1', "unknown key 'at_least'"),
    ('kind="zero"; entries=[]', "must be at least one pair"),
    ('kind="zero"; entries=[[0,0],[0,1],[0,0]]', "must be distinct"),
    ('kind="zero"; entries=[[0]]', "must be a list of 2"),
    ('kind="zero"; entries=[[0,2]]', "an index is no input or output"),
    ('kind="band"', "the key 'width' is missing"),
    ('kind="band"; width=-1', "must be nonnegative"),
    ('kind="unbiased"; tolerance="-1/2"', "must be nonnegative"),
    ('kind="unbiased"; slack=1', "unknown key 'slack'"),
    ('kind="error"', "the key 'at_most' is missing"),
    ('kind="error"; at_most=1; groups=[]', "at least one list of distinct inputs"),
    ('kind="error"; at_most=1; groups=[[]]', "none empty"),
    ('kind="error"; at_most=1; groups=[[0,1,0]]', "distinct inputs"),
    ('kind="error"; at_most=1; groups=[0,1]', "must be a list"),
    ('kind="error"; at_most=1; groups=[[2]]', "an index is no input"),
    ('kind="error"; at_most=1; distortion="hamming"', "must be a table"),
    ('kind="error"; at_most=1; distortion={kind="cubic"}', "must be"),
    ('kind="error"; at_most=1; distortion={kind="hamming", outputs=[0,1]}', "unknown key 'outputs'"),
    ('kind="distortion"; at_most=1', "the key 'distortion' is missing"),
    ('kind="distortion"; at_most=1; distortion={kind="absolute", outputs=[0,1,2]}', "must have 2 outputs"),
    ('kind="distortion"; at_most=1; distortion={kind="absolute", outputs=[1,0]}', "ascending order"),
    ('kind="distortion"; at_most=1; distortion={kind="absolute", outputs=[0,0]}', "ascending order"),
    ('kind="distortion"; at_most=1; distortion={kind="absolute", outputs=[]}', "ascending order"),
    ('kind="distortion"; at_most=1; distortion={kind="matrix", rows=[[0,1]]}', "must be 2 lists"),
    ('kind="distortion"; at_most=1; distortion={kind="matrix", rows=[[0,1],[1,-1]]}', "nonnegative"),
    ('kind="distortion"; at_most=1; distortion={kind="matrix", rows=[[0,1],[1,0]], outputs=[1]}', "must be 2 numbers"),
    ('kind="monotone"; at_most=1', "unknown key 'at_most'"),
    ('kind="local_dp"', "the key 'epsilon' is missing"),
    ('kind="local_dp"; epsilon=-1e-300', "must not be negative"),
    ('kind="local_dp"; epsilon="log 0.99"', "must not be negative"),
    ('kind="local_dp"; epsilon="log 0"', "must be positive"),
    ('kind="local_dp"; epsilon=1001', "at most 1000"),
    ('kind="local_dp"; epsilon=1; pairs=[]', "at least one pair"),
    ('kind="local_dp"; epsilon=1; pairs=[[0,0]]', "one input twice"),
    ('kind="local_dp"; epsilon=1; pairs=[[0,2]]', "an index is no input"),
    ('kind="pointwise_maximal_leakage"; epsilon=1; priors=[]', "at least one list"),
    ('kind="pointwise_maximal_leakage"; epsilon=1; priors=[[1]]', "must list 2 numbers"),
    ('kind="pointwise_maximal_leakage"; epsilon=1; priors=[[0.5,0.6]]', "does not sum to 1"),
    ('kind="cone"', "the key 'norm' is missing"),
    ('kind="cone"; norm=[]', "at least one table"),
    ('kind="cone"; norm=[{}]', "the key 'terms' is missing"),
    ('kind="cone"; norm=[[0,0,1]]', "must be a table"),
    ('kind="cone"; norm=[{terms=[[0,0,1]], factor=2}]', "unknown key 'factor'"),
    ('kind="cone"; norm=[{terms=[[0,3,1]]}]', "an index is no input or output"),
    ('kind="cone"; norm=[{terms=[]}]; terms=[[5,0,1]]', "an index is no input or output"),
    ('kind="leakage"; at_most=1', "the key 'adversary' is missing"),
    ('kind="leakage"; adversary={kind="nobody"}; at_most=1', "must be 'product_priors' or 'prior_set'"),
    ('kind="leakage"; adversary={entropy_at_least=-1}; at_most=1', "must be nonnegative"),
    ('kind="leakage"; adversary={entropy_at_least="1.01 bits"}; at_most=1', "entropy_at_least <= log |X| fails"),
    ('kind="leakage"; adversary={entropy_at_least="1.01 max"}; at_most=1', "the share is more than 1"),
    ('kind="leakage"; adversary={kind="prior_set", priors=[[1]]}; at_most=1', "must list |X|"),
    ('kind="leakage"; adversary={kind="product_priors"}; at_most="1 max"', "not a number"),
    ('kind="leakage"; adversary={kind="product_priors"}', "the key 'at_most' is missing"),
    ('kind="quadratic"', "constraints 0.kind must be"),
    ("width=1", "constraints 0.kind must be text"),
    ("kind=1", "constraints 0.kind must be text"),
]


@each("text, reason", *WRONG)
def test_what_a_model_may_not_say(text, reason):
    verdict = check(table(text), b"")
    assert verdict.status is Status.UNREADABLE, verdict.reason
    assert reason in verdict.reason
    assert "\n" not in verdict.reason


def test_where_constraints_may_not_stand():
    audit = cases.model("parity4") + b'\n[[constraints]]\nkind="monotone"\n'
    assert "unknown key 'constraints'" in check(audit, b"").reason
    for text in ("constraints = 1\n", 'constraints = [["monotone"]]\n', 'constraints = { kind = "monotone" }\n'):
        assert check((text + BASE).encode(), b"").status is Status.UNREADABLE
    free = BASE.replace('kind = "hamming"', 'kind = "matrix"\nrows = [[0, 1], [1, 0]]')
    for kind in ('"band"\nwidth=1', '"unbiased"'):
        assert "stand for no numbers" in check(constrained(f"[[constraints]]\nkind={kind}", free), b"").reason
    held = cases.model("own_holes").decode()
    odd = held.replace('kind = "error"', 'kind = "error"\ngroups = [[1, 2]]')
    assert "a group of several inputs has probability 0" in check(odd.encode(), b"").reason
    odd = held.replace('kind = "local_dp"', 'kind = "pointwise_maximal_leakage"\npriors = [[0.5, 0, 0.5]]')
    assert "has mass on a value that no dataset has" in check(odd.encode(), b"").reason


def test_limits(monkeypatch):
    one = '[[constraints]]\nkind="monotone"\n'
    assert "must be at most 1000 tables" in check(constrained(one * 1001), b"").reason
    assert "the file ends" in check(constrained(one * 1000), b"").reason
    three = BASE.replace("alphabet = 2", "alphabet = 3")
    sizes = {  # rows and terms
        'kind="linear"\nterms=[[0,0,1],[0,0,1],[1,1,2]]\nat_most=1': (1, 3),
        'kind="zero"\nentries=[[0,0],[2,1]]': (2, 2),
        'kind="band"\nwidth=1': (2, 2),
        'kind="unbiased"': (3, 9),
        'kind="unbiased"\ntolerance=1': (6, 18),
        'kind="error"\nat_most=1': (3, 9),
        'kind="error"\nat_most=1\ngroups=[[0,1],[2,0]]': (2, 12),
        'kind="distortion"\nat_most=1\ndistortion={kind="absolute"}': (1, 9),
        'kind="monotone"': (4, 12),
        'kind="local_dp"\nepsilon=1': (18, 36),
        'kind="local_dp"\nepsilon=1\npairs=[[0,2]]': (6, 12),
        'kind="pointwise_maximal_leakage"\nepsilon=1': (9, 27),
        'kind="pointwise_maximal_leakage"\nepsilon=1\npriors=[[0.5,0.5,0],[0,0,1]]': (9, 15),
    }
    for text, (rows, terms) in sizes.items():
        model = constrained(f"[[constraints]]\n{text}", three)
        for most, status in (((rows, terms), Status.REJECTED), ((rows - 1, terms), None), ((rows, terms - 1), None)):
            monkeypatch.setattr("dalenius_check.lemmas.designs.rows._MAX_ROWS", most[0])
            monkeypatch.setattr("dalenius_check.lemmas.designs.rows._MAX_TERMS", most[1])
            verdict = check(model, b"")
            assert verdict.status is (status or Status.UNREADABLE), (text, verdict.reason)
            assert status or verdict.reason == f"constraint 0 has more than {most[0]} rows or {most[1]} terms"


def test_what_constraints_take_is_counted_first():
    wide, one = BASE.replace("alphabet = 2", "alphabet = 200"), '[[constraints]]\nkind="local_dp"\nepsilon=1\n'
    verdict = check(constrained(one, wide), b"")
    assert verdict.reason == "constraint 0 has more than 1048576 rows or 4194304 terms"
    many = one + "pairs=[" + "[0,1]," * 400 + "]\n"
    assert (
        check(constrained(many, wide), b"", memory=60).reason
        == "certificate line 1: the file ends where the header is expected"
    )
    assert check(constrained(many * 3, wide), b"", memory=60).reason == "the model: limit: 60 MiB of memory"
    costs = '[[constraints]]\nkind="distortion"\nat_most=1\ndistortion={kind="squared"}\n'
    assert check(constrained(costs * 20, wide), b"", memory=60).reason == "the model: limit: 60 MiB of memory"


def test_multipliers_are_limited(monkeypatch):
    corpus = cases.cases()
    monkeypatch.setattr("dalenius_check.lemmas.designs.given._MOST", 2)
    assert check(*corpus["own_zero"].files).proved
    assert check(*corpus["own_cone"].files).proved
    monkeypatch.setattr("dalenius_check.lemmas.designs.given._MOST", 1)
    for name in ("own_zero", "own_cone"):
        verdict = check(*corpus[name].files)
        assert (verdict.status, verdict.reason) == (
            Status.UNDECIDED,
            "certificate line 3: limit: more than 1 multipliers",
        )
    monkeypatch.undo()
    model, data = corpus["own_linear"].files
    unlike = b"".join(b'["multiplier",0,[[0,"1/%d"]]]\n' % (3**400 + 2 * k) for k in range(120))
    start = data.index(b'["multiplier"')
    assert "sum of rationals" in check(model, data[:start] + unlike + data[start:]).reason


def test_statements():
    corpus = cases.cases()
    text = "\n".join(check(*corpus["own_three"].files).lines)
    assert "mechanisms that leak about a record at most 2 nats under constraints 0 to 2 (leakage)\n" in text
    assert 'constraint 1: {"kind": "leakage", "adversary": {"kind": "prior_set"' in text
    assert "leaves: 3 also line, 3 law, 2 prior, 1 vertices" in text
    text = "\n".join(check(*corpus["own_additive"].files).lines)
    assert "under constraints 0 (linear), 1 (zero)\n" in text
    assert "1 multiplier line" in text
    assert check(*corpus["own_linear"].files).lines[1].endswith("2 nats under constraint 0 (linear)")
    reasons = {
        name: check(*corpus[f"own_{name}_infeasible"].files).reason
        for name in ("nothing", "over_budget", "leaky", "too_private")
    }
    start = "proved: infeasible, there are no oblivious mechanisms "
    assert reasons["nothing"] == f"{start}under constraint 1 (zero)"
    assert reasons["over_budget"] == f"{start}with expected distortion at most 1/10 under constraint 0 (linear)"
    assert reasons["leaky"] == f"{start}that leak about a record at most 1/20 nats under constraint 0 (linear)"
    assert (
        reasons["too_private"]
        == f"{start}under local differential privacy with epsilon = 1/10 bits under constraint 0 (cone)"
    )


def header(question, lower, upper, mechanism, model):
    """A design certificate's first line."""
    return {
        "format": "dalenius-certificate/2",
        "problem": question.table["problem"],
        "model": parse_model(model).digest,
        "lower": lower,
        "upper": upper,
        "unit": "nats" if question.table["problem"] == "min_leakage" else "distortion",
        "producer": "tests",
        "mechanism": mechanism,
    }


def certificate(question, lower, upper, mechanism, lines, tail=()):
    """A model and its certificate."""
    model = toml(question.table)
    claims = [None if end is None else str(end) for end in (lower, upper)]
    values = [header(question, *claims, mechanism, model), *lines, *tail]
    return model, "".join(json.dumps(value) + "\n" for value in values).encode()


def noisy(rng, question, lines):
    """Multipliers that are off, and others."""
    found = [
        ["dual", "0"],
        *([*line[:3], [str(Fraction(a) * rng.randint(0, 3)) for a in line[3]]] for line in lines if line[0] == "ratio"),
    ]
    for j, table in enumerate(own.listed(question)):
        rows = own.rows(question, table, upper=True)
        chosen = sorted(rng.sample(range(len(rows)), min(len(rows), 4)))
        pairs = [[r, str(Fraction(rng.randint(-9 if rows[r][2] else 0, 9), 30))] for r in chosen]
        found += [["multiplier", j, pairs]] if rows else []
        if table["kind"] == "cone":
            u = [Fraction(rng.randint(-4, 4), 50) for _ in table["norm"]]
            found.append(["cone", j, str(sum(map(abs, u)) + Fraction(rng.randint(0, 2), 50)), list(map(str, u))])
    head, *rest = found
    at = next((k for k, line in enumerate(rest) if line[0] != "ratio"), len(rest))
    tail = rest[at:]
    rng.shuffle(tail)
    return [head, *rest[:at], *tail]


@each("seed", *thinned(range(160), every=10))
def test_bounds_against_a_linear_program(seed):
    """Multipliers prove exactly what a second reading says, and no more than a linear program's optimum."""
    rng = random.Random(seed)
    question, laws = draws_of.constrained(rng)
    least, point, slopes = draws_of.Program(question, upper=True).solve()  # cones left out: at most what is to be
    vertex = draws_of.Program(question, upper=False).vertex(point)
    mechanism, tail = draws_of.weights(question, laws), draws_of.sections(question)
    attained, good = question.cost(laws), draws_of.lines_of(question, slopes)
    assert least <= attained + 1e-9
    if vertex is not None and own.broken(question, vertex) is None:
        assert float(question.cost(vertex)) == pytest.approx(least, abs=1e-7)
        verdict = check(
            *certificate(
                question, "0", question.cost(vertex), draws_of.weights(question, vertex), [["dual", None]], tail
            )
        )
        assert verdict.proved, verdict.reason
    assert own.bound(question, good, upper=True) == pytest.approx(least, abs=1e-4)
    for lines in (good, noisy(rng, question, good), noisy(rng, question, good)):
        low, high = own.bound(question, lines, upper=True), own.bound(question, lines, upper=False)
        assert low <= attained
        if not any(line[0] == "cone" for line in lines):
            assert low <= least + 1e-9
        step = Fraction(1, 10**12)
        for claim, status in ((low - (step if low < high else 0), 0), (high + step, 1), (attained + step, 1)):
            if claim > 0:
                verdict = check(*certificate(question, claim, claim + attained, mechanism, lines, tail))
                assert verdict.exit_code == status, verdict.reason
        if min(low, high) <= 0:
            verdict = check(*certificate(question, None, None, None, [["dual", "0"], *lines[1:]]))
            assert verdict.status is Status.REJECTED


@each("seed", *thinned(range(60), every=10))
def test_infeasible_exactly_where_a_linear_program_is(seed):
    """One more constraint that asks for a little more, or less, than the others leave."""
    question, laws = draws_of.constrained(random.Random(seed))
    least, _, slopes = draws_of.Program(question, upper=True).solve()
    lines = draws_of.lines_of(question, slopes)
    law, costs = question.law_of_inputs, question.distortions
    terms = [[x, y, str(law[x] * d)] for x, ds in enumerate(costs) for y, d in enumerate(ds)]
    best, over = own.bound(question, lines, upper=True), own.bound(question, lines, upper=False)
    for most, status in ((best - Fraction(1, 10**6), 0), (over, 1), (question.cost(laws), 1)):
        table = {"kind": "linear", "terms": terms, "at_most": str(most)}
        asked = Question({**question.table, "constraints": [*own.listed(question), table]})
        more = [*lines, ["multiplier", len(own.listed(question)), [[0, "1"]]]]
        verdict = check(*certificate(asked, None, None, None, more))
        assert verdict.exit_code == status, verdict.reason
        assert (own.bound(asked, more, upper=True, nothing=True) > 0) == (status == 0)
    assert least <= float(question.cost(laws)) + 1e-9


@each("seed", *thinned(range(120), every=12))
def test_mechanisms_that_miss_a_row_are_refused(seed):
    """A mechanism is moved: it is accepted exactly where the second reading finds no row that it misses."""
    rng = random.Random(seed)
    question, laws = draws_of.constrained(rng)
    additive = question.table["mechanism"]["class"] == "additive"
    for _ in range(8):
        moved = [list(row) for row in (laws[:1] if additive else laws)]
        row = rng.choice(moved)
        one, two = rng.sample(range(len(row)), 2)
        step = min(row[one], Fraction(1, 10 ** rng.choice([1, 2, 45])))
        row[one], row[two] = row[one] - step, row[two] + step
        spread = question.spread(moved)
        fine = own.broken(question, spread) is None and (
            "privacy" not in question.table or draws_of.private_enough(question, spread)
        )
        data = certificate(
            question,
            "0",
            question.cost(spread),
            draws_of.weights(question, spread),
            [["dual", None]],
            draws_of.sections(question),
        )
        verdict = check(*data)
        assert (verdict.status is Status.PROVED) == fine, verdict.reason


def told(rng, question, adversary):
    """Weight, record, prior and posteriors of a line about this adversary."""
    i = rng.randrange(len(question.alphabets))
    letters, width = question.alphabets[i], len(question.distortions[0])
    prior = [[str(n * rng.randint(9, 11)) for n in row] for row in question.counts(i)]  # near to the uniform one
    if adversary.get("kind") == "prior_set":
        prior = 0
    elif adversary.get("kind") == "product_priors":
        prior = [rng.randrange(len(question.selections(i))), [str(rng.randint(1, 9)) for _ in range(letters)]]
    return [
        str(Fraction(rng.randint(1, 9), 20)),
        i,
        prior,
        [[str(rng.randint(4, 5)) for _ in range(width)] for _ in range(letters)],
    ]


def leaky(rng):
    """A design with a limit for another adversary, which comes last, and a mechanism that meets everything, or nearly.

    The mechanism ignores its input, or, where the least leakage is asked for, is what the budget allows.
    """
    ground = Question(draws_of.grounds(rng))
    while "privacy" in ground.table:
        ground = Question(draws_of.grounds(rng))
    leak, width, size = rng.random() < 0.25, len(ground.distortions[0]), ground.size
    laws = draws_of.some_mechanism(rng, ground) if leak else [[Fraction(1, width)] * width] * ground.input_count
    listed = {"kind": "prior_set", "priors": [[str(Fraction(1, size))] * size]}
    other = rng.choice([listed, {"kind": "product_priors"}, {"entropy_at_least": "0.8 max"}])
    tables = [one for one in (draws_of.constraint(rng, ground, laws) for _ in range(2)) if one]
    tables.append(
        {"kind": "leakage", "adversary": other, "at_most": "9" if leak else rng.choice(["0.05", "0.1 bits", "0"])}
    )
    if not leak:
        return Question({**ground.table, "constraints": tables, "max_leakage": "0.3 bits"}), laws
    table = {key: item for key, item in ground.table.items() if key != "max_leakage"}
    least = str(ground.cost(laws))
    return Question({**table, "constraints": tables, "problem": "min_leakage", "max_distortion": least}), laws


def audited(question, laws, leak):
    """Sections that prove that a mechanism leaks little enough to both adversaries."""
    other, row = own.listed(question)[-1]["adversary"], list(map(str, laws[0]))
    sections = draws_of.sections(question)
    if not leak:  # D of a row to itself is 0
        return [
            *([*line[:2], row] if line[0] == "law" else line for line in sections),
            ["adversary", len(own.listed(question)) - 1],
        ]
    behind = sections if other.get("kind") == "product_priors" else []
    if "kind" not in other:
        joint = ["joint", "1", "0", None, ["1"] * len(row)]
        behind = [line for i in range(len(question.alphabets)) for line in (["record", i], joint)]
    return [*sections, ["adversary", len(own.listed(question)) - 1], *behind]


def learnt(question, line, laws):
    """What the prior of a line `prior` or `also` learns of a mechanism."""
    mine = line[0] == "prior"
    adversary = question.table["adversary"] if mine else own.listed(question)[line[1]]["adversary"]
    i, prior = line[2:4] if mine else line[3:5]
    rows = [tuple(map(dec, row)) for row in laws]
    return float(question.leakage(i, own.prior_masses(question, adversary, i, prior), rows))


def nats(value):
    return float(sum(amount(value)) / 2)


@each("seed", *thinned(range(80), every=8))
def test_no_line_proves_more_than_a_mechanism_attains(seed):
    """Priors of two adversaries and multipliers, at random: what a second reading says is proved, and mechanisms bear it out."""
    rng = random.Random(seed)
    question, laws = leaky(rng)
    while own.broken(question, laws) is not None:
        question, laws = leaky(rng)
    table, leak = question.table, question.table["problem"] == "min_leakage"
    limit = own.listed(question)[-1]
    priors = [["prior", *told(rng, question, table["adversary"])] for _ in range(2)]
    also = [["also", len(own.listed(question)) - 1, *told(rng, question, limit["adversary"])] for _ in range(2)]
    few = [line for line in noisy(rng, question, [])[1:] if rng.random() < 0.3]
    lines = [["dual", str(Fraction(rng.randint(0, 9), 9)) if leak else "0"], *priors, *few, *also]
    proved, mechanism = float(own.bound(question, lines, upper=True)), draws_of.weights(question, laws)
    tail, step = audited(question, laws, leak), 1e-9
    for claim, status in ((proved - step, 0), (proved + step, 1)):
        if claim > 0:
            verdict = check(*certificate(question, Fraction(claim), 9, mechanism, lines, tail))
            assert verdict.exit_code == status, verdict.reason
    empty = [["dual", lines[0][1]], *([] if leak else priors), *few, *also]
    assert own.bound(question, empty, upper=True, nothing=True) <= step
    assert check(*certificate(question, None, None, None, empty)).exit_code == 1
    whole = sum(Fraction(line[1]) for line in priors)
    for turn in range(8):
        t, other = Fraction(turn, 20), draws_of.some_mechanism(rng, question)
        moved = [[(1 - t) * q + t * o for q, o in zip(*rows, strict=True)] for rows in zip(laws, other, strict=True)]
        told_least = [learnt(question, line, moved) for line in priors]
        fine = own.broken(question, moved) is None and max(learnt(question, line, moved) for line in also) <= nats(
            limit["at_most"]
        )
        if leak and fine and question.cost(moved) <= Fraction(table["max_distortion"]):
            mean = sum(
                float(Fraction(line[1]) / whole) * learns for line, learns in zip(priors, told_least, strict=True)
            )
            assert proved <= mean + step
        if not leak and fine and max(told_least) <= nats(table["max_leakage"]):
            assert proved <= float(question.cost(moved)) + step


@each("case", *[case for case in CASES if case.status == 0])
def test_the_corpus_proves_what_a_second_reading_says(case):
    question = Question.of(case.model)
    head, *lines = map(json.loads, case.certificate.splitlines())
    if head["mechanism"] is not None:
        laws = question.spread([own.normalised([Fraction(q) for q in row]) for row in head["mechanism"]])
        assert own.broken(question, laws) is None
        assert question.table["problem"] == "min_leakage" or question.cost(laws) <= Fraction(head["upper"])
    if lines and lines[0] != ["dual", None] and (head["lower"] is None or Fraction(head["lower"]) > 0):
        bound = own.bound(question, lines, upper=True, nothing=head["lower"] is None)
        assert bound >= float(Fraction(head["lower"] or 0)) - 1e-12
        assert head["lower"] is not None or bound > 0


BUGS = {  # what is changed in which function of a copy of the checker
    "rows_unchecked": 'Constraints.need_met: rows.need_met(laws, f"constraint {j}", self.allowance) => pass',
    "cones_unchecked": 'Constraints.need_met: cone.need_met(laws, f"constraint {j}") => pass',
    "all_unchecked": "Design.check: self.constraints.need_met(channel.rows) => pass",
    "first_row_only": "Rows.need_met: self.count => min(1, self.count)",
    "equal_is_less": "Rows._met: value == most if self.equal else value <= most => value <= most",
    "less_is_strict": "Rows._met: value <= most => value < most",
    "mechanism_at_c_plus": (
        "rows.Rows: ends: tuple[Any, Any] = (1, 1)"
        " => ends: tuple[Any, Any] = (1, 1)\ndef __post_init__(self):\n    object.__setattr__(self, 'ends', self.ends[1:] * 2)"
    ),
    "bound_at_c_minus": "Given._multiplier.part: rows.ends[hard] => rows.ends[0]",
    "bound_ends_swapped": "Given._multiplier.part: rows.ends[hard] => rows.ends[not hard]",
    "cone_side": (
        "Cone.need_met: side >= 0 and total(x * x for x in norm) <= side * side"
        " => total(x * x for x in norm) <= side * side"
    ),
    "cone_one": "Cone.need_met: total(x * x for x in norm) => norm[0] * norm[0]",
    "cone_constant": "Cone.need_met: value_of(terms, laws) + constant => value_of(terms, laws)",
    "linear_equals": '_linear: table["equals"] is not None => False',
    "far_is_near": "_band: abs(ground.values[x] - o) > width => abs(ground.values[x] - o) >= width",
    "band_far": "_band: abs(ground.values[x] - o) => o - ground.values[x]",
    "unbiased_sides": "_unbiased.make: -1 if r % sides else 1 => 1 if r % sides else -1",
    "unbiased_slack": "_unbiased.make: sign * ground.values[x] => ground.values[x]",
    "error_own": (
        '_error: ground.measure(table["distortion"], what) if table["distortion"] else ground.costs'
        ' => ground.measure(table["distortion"], what) if False else ground.costs'
    ),
    "error_groups": '_error: table["groups"] => []',
    "error_weights": "_shares: law[x] / mass => law[x]",
    "error_single": "_shares: fmpq(1) => law[group[0]]",
    "distortion_other": 'rows._distortion: ground.measure(table["distortion"], what) => ground.costs',
    "distortion_flat": (
        "rows._distortion: list(enumerate(ground.law)) => [(x, fmpq(1)) for x, _ in enumerate(ground.law)]"
    ),
    "monotone_other": "_monotone.make: ((other, 1), (x, -1)) => ((other, -1), (x, 1))",
    "monotone_short": "_monotone.make: range(last + 1) => range(last, last + 1)",
    "monotone_places": "_monotone: ground.outputs - 1 => ground.outputs",
    "local_order": "_ratios.make: -1 if r % sides else 1 => 1 if r % sides else -1",
    "local_one_way": "_ratios.make: -1 if r % sides else 1 => 1",
    "local_pairs": "_local: listed or combinations(used, 2) => combinations(used, 2)",
    "local_c": "_ratios.make: -c * p => -p",
    "local_all": "_local: ground.used => list(range(len(ground.law)))",
    "pointwise_law": (
        'secrets_of: [normalised(row, "a prior", ground.allowance) for row in priors] if priors else [ground.law]'
        " => [ground.law]"
    ),
    "pointwise_c": "_ratios.make: -c => fmpq(-1)",
    "sign_free": "Given._multiplier: rows.equal or mu >= 0 => True",
    "sign_never": "Given._multiplier: rows.equal or mu >= 0 => mu >= 0",
    "row_any": "Given._multiplier: r > before => True",
    "behind_rows": "Given._multiplier.part: mu * most => fmpq(0)",
    "matrix_rows": "Given._multiplier.part: mu * c => fmpq(0)",
    "last_multiplier": "Given.add: self._parts.append(part) => self._parts = [part]",
    "cone_any_t": "Given._cone: total(x * x for x in u) <= t * t => True",
    "cone_u_only_first": "Given._cone: total(x * x for x in u) => u[0] * u[0]",
    "cone_sign": "Given._cone: -factor => factor",
    "cone_behind": "Given._cone: factor * constant => fmpq(0)",
    "cone_last": "Given.add: self._parts.append(part) => self._parts[-1:] = [part]",
    "cone_rotated": "Cone.parts: [self.side, *self.norm] => [*self.norm, self.side]",
    "also_free": (
        'Given._also: self.spent += arb(self._prior(self._proofs["also", j], *rest)) * other.ball'
        ' => self._prior(self._proofs["also", j], *rest)'
    ),
    "also_own": "Given._also: other.proof(self.lines, self.channel) => self.proof",
    "also_divided": "Design._lower: given.read_others() => given.read_others()\ngiven.scale(fmpq(1, 2))",
    "adversary_unchecked": "Design.check: tally += self.constraints.need_kept(lines, channel) => pass",
    "adversary_own": 'Constraints.__init__: model.against(table["adversary"]) => model',
    "adversary_any": "need_named: place == j => True",
    "adversary_constant": (
        "leaves: not proof.channel.constant or proof.lines.ahead() not in NEXT => proof.lines.ahead() not in NEXT"
    ),
    "adversary_still": "Channel.constant: self.exact and all(row == self.rows[0] for row in self.rows) => True",
    "adversary_more": "Constraints.need_kept: limit.ball => limit.ball + limit.ball",
    "negative_leakage": "Constraints.need_kept: limit.most >= 0 => True",
    "bits_are_nats": "in_nats: arb(2).log() => arb(1)",
    "infeasible_at_zero": "need_above: (gt, le) => (ge, lt)",
    "infeasible_with_objective": "Design._own: 0 if nothing or several else 1 => 1",
    "infeasible_private_objective": "Private._own: nothing or given.objective.given => False",
    "infeasible_anyhow": "Design._nothing: self._lower(given, None) => pass",
    "no_prior_needed": "Design._own: constrained and not self.leakage => constrained",
    "no_prior_allowed": "Design._own: constrained and not self.leakage => False",
    "lines_left": "attempt: not lines.more() => True",
    "outputs_forgotten": '_distortions: table.get("outputs", listed) => listed',
    "points_forgotten": 'Ground.points: own.get("outputs", self.listed) => self.listed',
    "values_by_index": "Ground.values: [self.listed[k] for k in self._place] => list(range(len(self.law)))",
    "held_by_law": "Inputs.held: law(even, self.inputs) => self.law",
}


@pytest.mark.parametrize("name", thinned(BUGS, every=6))
def test_the_corpus_catches(name, planted):
    changed = planted(f"own_{name}", BUGS[name])
    assert not all(case.ends(changed.check(*case.files)) for case in CASES)
