"""Design problems: laws and costs against listing every dataset, round trips, digests, and bad input of every kind."""

import itertools
import math
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
from campaigns import each
from dalenius.model import audited, digest
from dalenius.model.model_file import normal_form
from dalenius.reduction import completions, record_completions
from dalenius.studies.curves import entropy_curve
from dalenius_check.core.model import parse_model
from support import examples, refused

some = examples(25, 50)
HALF = Fraction(1, 2)

# ---------------------------------------------------------------- random instances, and the same numbers from all datasets


@st.composite
def distortions(draw, values: int, outputs: int | None = None):
    columns = outputs or draw(st.integers(1, 3))
    entry = st.fractions(0, 9, max_denominator=7)
    makers = [
        dl.Hamming,
        dl.Absolute,
        dl.Squared,
        lambda: dl.DistortionMatrix([[draw(entry) for _ in range(columns)] for _ in range(values)]),
    ]
    return draw(st.sampled_from(makers))()


@st.composite
def designs(draw, support, shares=("0.5 max",)):
    """A small problem of either kind, with any query, distortion, law and class."""
    sizes = draw(st.sampled_from(support.SIZES))
    query = draw(support.queries(sizes))
    classes = ["oblivious", "full"] + ["additive"] * (query.kind in ("parity", "modular_sum"))
    mechanism = draw(st.sampled_from(classes))
    values = query.values(dl.Records(alphabets=sizes)).size
    laws = [dl.Uniform()] + ([dl.Iid(draw(support.laws(sizes[0])))] if len(set(sizes)) == 1 else [])
    budget = draw(st.fractions(0, 2, max_denominator=20))
    kind, key = draw(st.sampled_from([(dl.MinLeakage, "max_distortion"), (dl.MinDistortion, "max_leakage")]))
    return kind(
        records=dl.Records(alphabets=sizes),
        query=query,
        distortion=draw(distortions(values, values if mechanism == "additive" else None)),
        law=draw(st.sampled_from(laws)),
        adversary=dl.EntropyAtLeast(draw(st.sampled_from(shares)), "nats"),
        mechanism=mechanism,
        **{key: f"{budget} nats" if key == "max_leakage" else budget},
    )


def listed_law(support, problem):
    """p(x) of every dataset."""
    total = [sum(getattr(problem.law, "probabilities", ()))] * len(problem.records)
    return [
        math.prod(
            Fraction(1, size) if problem.law.kind == "uniform" else problem.law.probabilities[a] / mass
            for a, size, mass in zip(data, problem.records.alphabets, total, strict=True)
        )
        for data in support.datasets(problem.records)
    ]


def listed_cost(problem, value, y):
    """d(v, y) by its definition in docs/model-format.md."""
    order = sorted(problem.query.values(problem.records).tolist())
    match problem.distortion.kind:
        case "hamming":
            return int(order[y] != value)
        case "absolute":
            return abs(order[y] - value)
        case "squared":
            return (order[y] - value) ** 2
    return problem.distortion.rows[order.index(value)][y]


def random_mechanism(draw, support, problem):
    rows = 1 if problem.mechanism_class.kind == "additive" else problem.input_count
    return draw(support.matrices(rows, problem.output_count))


def full_rows(support, problem, rows):
    """The mechanism's row of every dataset."""
    if problem.mechanism_class.kind == "full":
        return rows
    order = problem.query.values(problem.records).tolist()
    index = [order.index(value) for value in support.listed_values(problem.query, problem.records)]
    if problem.mechanism_class.kind == "additive":
        size = len(rows[0])
        return [[rows[0][(y - v) % size] for y in range(size)] for v in index]
    return [rows[v] for v in index]


def listed_distortion(support, problem, rows):
    values = support.listed_values(problem.query, problem.records)
    return sum(
        p * sum(q * listed_cost(problem, value, y) for y, q in enumerate(row))
        for p, value, row in zip(listed_law(support, problem), values, full_rows(support, problem, rows), strict=True)
    )


@some
@given(st.data())
def test_laws_and_costs_agree_with_listing_every_dataset(support, data):
    problem = data.draw(designs(support))
    law, values = listed_law(support, problem), support.listed_values(problem.query, problem.records)
    order = problem.query.values(problem.records).tolist()
    if problem.mechanism_class.kind == "full":
        inputs, expected = values, law
    else:
        inputs, expected = order, [sum(p for p, w in zip(law, values, strict=True) if w == v) for v in order]
    assert problem.inputs == ("dataset" if problem.mechanism_class.kind == "full" else "query")
    assert problem.exact_input_law() == expected
    assert problem.input_law.tolist() == [float(p) for p in expected]
    cost = [tuple(listed_cost(problem, v, y) for y in range(problem.output_count)) for v in inputs]
    assert problem.exact_cost() == cost
    assert problem.cost.tolist() == [[float(d) for d in row] for row in cost]
    assert problem.cost.shape == (problem.input_count, problem.output_count)


@some
@given(st.data())
def test_expected_distortion_and_release(support, data):
    problem = data.draw(designs(support))
    rows = random_mechanism(data.draw, support, problem)
    expected = listed_distortion(support, problem, rows)
    assert problem.expected_distortion(rows) == problem.expected_distortion(problem.expand(rows)) == expected
    assert problem.least_distortion <= expected
    release = problem.release(rows)
    np.testing.assert_allclose(
        release.channel[support.inputs_of_datasets(release)],
        np.array(full_rows(support, problem, rows), dtype=float),
        atol=1e-15,
    )
    assert (release.records, release.query, release.adversary) == (problem.records, problem.query, problem.adversary)
    assert release.mechanism.indexed_by() == problem.inputs


@some
@given(st.data())
def test_least_and_constant_distortion(support, data):
    """The best of the corners of the class, which E, linear in the rows, is least at; and of the constant mechanisms."""
    problem = data.draw(designs(support))
    size, corners = problem.output_count, np.eye(problem.output_count, dtype=int).tolist()
    if problem.mechanism_class.kind == "additive":
        constant = [[[Fraction(1, size)] * size]]
        every = [[corner] for corner in corners]
    else:
        cost = problem.exact_cost()
        constant = [[corner] * problem.input_count for corner in corners]
        every = [[corners[row.index(min(row))] for row in cost], *constant]
    assert problem.least_distortion == min(listed_distortion(support, problem, rows) for rows in every)
    assert problem.constant_distortion == min(listed_distortion(support, problem, rows) for rows in constant)
    if problem.kind == "min_leakage":
        assert problem.feasible == (problem.least_distortion <= problem.budget)
    else:
        assert problem.feasible


@some
@given(st.data())
def test_round_trips(support, data):
    problem = data.draw(designs(support, shares=support.SHARES))
    text = dl.dumps(problem)
    assert dl.loads(text) == problem
    assert hash(dl.loads(text)) == hash(problem)
    assert dl.dumps(dl.loads(text)) == text
    assert digest(dl.loads(text)) == digest(problem) == parse_model(text.encode()).digest


@some
@given(st.data())
def test_completions_are_those_of_a_release(support, data):
    problem = data.draw(designs(support))
    query = dl.Identity() if problem.mechanism_class.kind == "full" else problem.query
    listed = [part for part in completions(query, problem.records) if part.letters > 1]
    for mine, theirs in zip(record_completions(problem), listed, strict=True):
        assert (mine.record, mine.times) == (theirs.record, theirs.times)
        np.testing.assert_array_equal(mine.log_uniform, theirs.log_uniform)
    assert problem.max_knowledge == pytest.approx(0.5 * problem.records.log_datasets)


# ---------------------------------------------------------------- known values


def question(kind=dl.MinLeakage, **changes):
    parts = {
        "records": dl.Records(4, alphabet=2),
        "query": dl.Parity(),
        "distortion": dl.Hamming(),
        "adversary": dl.EntropyAtLeast("2.2 nats"),
        **({"max_distortion": 0.1} if kind is dl.MinLeakage else {"max_leakage": "0.1 nats"}),
    }
    return kind(**{**parts, **changes})


DOCUMENT = """
problem = "min_leakage"
max_distortion = 0.1
[records]
count = 4
alphabet = 2
[query]
kind = "parity"
[distortion]
kind = "hamming"
[law]
kind = "uniform"
[mechanism]
class = "oblivious"
[adversary]
entropy_at_least = 2.2
"""


def test_the_example_of_the_document():
    problem = dl.loads(DOCUMENT)
    assert problem == question()
    assert normal_form(problem) == {
        "adversary": {"entropy_at_least": "11/5 nats"},
        "distortion": {"kind": "hamming"},
        "law": {"kind": "uniform"},
        "max_distortion": "1/10",
        "mechanism": {"class": "oblivious"},
        "problem": "min_leakage",
        "query": {"kind": "parity"},
        "records": [["2", "4"]],
    }
    assert digest(problem) == "14686e8ab4461e4078ff8c50d6244be30fe6399c18a48166f7b31abb4f81f370"
    short = DOCUMENT.replace('[law]\nkind = "uniform"\n[mechanism]\nclass = "oblivious"\n', "")
    assert "[law]" not in short
    assert digest(dl.loads(short)) == parse_model(short.encode()).digest == digest(problem)


@each(
    "budget, text, nats",
    (0, "0 nats", 0.0),
    ("0.05 nats", "1/20 nats", 0.05),
    ("5e-2 nats", "1/20 nats", 0.05),
    ("1/20 bits", "1/20 bits", 0.05 * math.log(2)),
    ("-1 nats", "-1 nats", -1.0),
    ("1e400 bits", f"{10**400} bits", 1e300 * math.log(2)),
)
def test_leakage_budgets(budget, text, nats):
    problem = question(dl.MinDistortion, max_leakage=budget)
    assert normal_form(problem)["max_leakage"] == text
    assert problem.max_leakage_nats == pytest.approx(nats)
    assert problem.feasible == (nats >= 0)
    assert dl.loads(dl.dumps(problem)) == problem


def test_a_matrix_and_a_law_are_kept_as_written_and_used_divided():
    law = dl.Iid([Fraction(1, 3), Fraction(2, 3) - Fraction(1, 10**10)])
    problem = question(law=law, distortion=dl.DistortionMatrix([[0, "1/3", 2], [1, 0, 0.5]]), max_distortion=-1)
    form = normal_form(problem)
    assert form["law"] == {"kind": "iid", "probabilities": ["1/3", "19999999997/30000000000"]}
    assert form["distortion"] == {"kind": "matrix", "rows": [["0", "1/3", "2"], ["1", "0", "1/2"]]}
    assert sum(problem.exact_input_law()) == 1
    assert not problem.feasible
    p = law.probabilities[0] / sum(law.probabilities)
    assert problem.exact_input_law()[0] == (1 + (2 * p - 1) ** 4) / 2


@each("law", dl.Uniform(), dl.Iid([0.3, 0.7]))
def test_a_thousand_records(law):
    """Exact where the numbers of datasets have hundreds of digits, and accurate in doubles."""
    p = Fraction(1, 2) if law.kind == "uniform" else Fraction(3, 10)
    parity = question(records=dl.Records(1000, alphabet=2), law=law)
    assert parity.exact_input_law()[1] == (1 - (2 * p - 1) ** 1000) / 2
    assert parity.input_law.tolist() == [0.5, 0.5]
    count = question(records=dl.Records(200, alphabet=2), law=law, query=dl.Count(), distortion=dl.Squared())
    exact = [math.comb(200, k) * (1 - p) ** k * p ** (200 - k) for k in range(201)]
    assert count.exact_input_law() == exact
    assert count.input_law.tolist() == [float(x) for x in exact]


def test_letters_without_probability():
    """Values that the law excludes keep their place, with probability 0."""
    problem = question(query=dl.Sum([-1, 3]), law=dl.Iid([0, 1]), distortion=dl.Absolute())
    assert problem.exact_input_law() == [0, 0, 0, 0, 1]
    assert problem.least_distortion == problem.constant_distortion == 0


def test_full_and_oblivious_agree_where_rows_do():
    full, oblivious = (question(query=dl.Count(), distortion=dl.Absolute(), mechanism=m) for m in ("full", "oblivious"))
    rows = [[Fraction(1 + (v == y), 6) for y in range(5)] for v in range(5)]
    by_dataset = [rows[sum(x)] for x in itertools.product(range(2), repeat=4)]
    assert full.expected_distortion(by_dataset) == oblivious.expected_distortion(rows)
    assert full.input_count == 16
    assert full.constant_distortion == oblivious.constant_distortion


def test_rows_are_divided_by_their_sum():
    near = ["0.9", "0.1000000005"]
    problem = question()
    assert problem.expand([near, [0, 1]])[0] == (Fraction(9 * 10**9, 10**10 + 5), Fraction(10**9 + 5, 10**10 + 5))
    assert problem.release([near, [0, 1]]).channel[0].tolist() == pytest.approx([0.9, 0.1])


def test_costs_beyond_doubles():
    distortion = question().expected(dl.DistortionMatrix([["1e400", 0], [0, "1e-400"]]))
    assert distortion.cost.tolist() == [[1e300, 0.0], [0.0, 0.0]]
    assert distortion.exact_cost()[0][0] == 10**400


def test_frozen_arrays():
    with pytest.raises(ValueError):
        question().cost[0, 0] = 1.0
    with pytest.raises(ValueError):
        question().input_law[0] = 1.0


# ---------------------------------------------------------------- bad input


@each(
    "changes, words",
    ({"records": 4}, ["records", "Records"]),
    ({"query": 3}, ["query", "Query"]),
    ({"distortion": 3}, ["distortion", "Distortion"]),
    ({"law": None}, ["law", "Law"]),
    ({"adversary": 2}, ["adversary", "Adversary"]),
    ({"mechanism": dl.symmetric(0.1, k=2)}, ["mechanism", "oblivious, full, additive"]),
    ({"mechanism": "obliviuos"}, ["class", "oblivious, full, additive", "did you mean 'oblivious'"]),
    ({"title": 5}, ["title"]),
    ({"adversary": dl.EntropyAtLeast("3 nats")}, ["log |X|"]),
    ({"max_distortion": "a"}, ["max_distortion", "number"]),
    ({"max_distortion": math.nan}, ["max_distortion", "finite"]),
    ({"max_distortion": None}, ["max_distortion", "number"]),
    ({"max_distortion": "1 bits"}, ["max_distortion", "number"]),
    ({"law": dl.Iid([1])}, ["law", "record 0 has 2 letters", "1 probabilities"]),
    ({"law": dl.Iid([0.5, 0.5]), "records": dl.Records(alphabets=[2, 3])}, ["record 1 has 3 letters"]),
    ({"distortion": dl.DistortionMatrix([[0, 1]])}, ["2 values", "1 rows"]),
    ({"query": dl.Count(), "mechanism": "additive"}, ["additive", "parity or modular_sum", "count"]),
    ({"mechanism": "additive", "distortion": dl.DistortionMatrix([[0, 1, 1]] * 2)}, ["additive", "2 columns", "3"]),
    ({"mechanism": "full", "records": dl.Records(17, alphabet=2)}, ["65536", "oblivious"]),
    (
        {
            "mechanism": "full",
            "records": dl.Records(16, alphabet=2),
            "distortion": dl.DistortionMatrix([[0] * 257] * 2),
        },
        ["65536 inputs", "257 outputs"],
    ),
    ({"query": dl.ModularSum(2049)}, ["2049 values", "Coarsen"]),
    ({"query": dl.Threshold(2), "records": dl.Records(50_000, alphabet=2)}, ["exact law", "bits"]),
)
def test_parts_that_do_not_fit(changes, words):
    changes = {"adversary": dl.EntropyAtLeast(0), **changes}
    refused(lambda: question(**changes), *words)


@each("budget", "0.1 max", "0.1 byte", "0.1  bits", "bits", None, [1], math.inf, True)
def test_bad_leakage_budgets(budget):
    refused(lambda: question(dl.MinDistortion, max_leakage=budget), "max_leakage")


@each(
    "rows, words",
    (None, ["rows", "list"]),
    ("ab", ["rows", "list"]),
    ([], ["rows"]),
    ([[]], ["rows", "at least 1"]),
    ([[1], [1, 2]], ["one length"]),
    ([1, 2], ["rows[0]", "list"]),
    ([[1, -1]], ["rows[0][1]", "negative", "-1"]),
    ([[0, "-1e400"]], ["rows[0][1]", "negative"]),
    ([[0, math.nan]], ["rows[0][1]", "finite"]),
    ([[0, "x"]], ["rows[0][1]"]),
    ([[0] * 2**12] * (2**10 + 1), ["4194304"]),
)
def test_bad_distortion_matrices(rows, words):
    refused(lambda: dl.DistortionMatrix(rows), "distortion", *words)


@each(
    "probabilities, words",
    (None, ["list"]),
    ("1", ["list"]),
    ([], ["empty"]),
    ([0.5, 0.6], ["sum to 1", "1.1"]),
    ([1.5, -0.5], ["[1]", "negative"]),
    (["1e400"], ["sum to 1"]),
    ([0.5, None], ["[1]"]),
    (["1/" + str(10**300 + j) for j in range(100)], ["bits", "round"]),
)
def test_bad_probabilities(probabilities, words):
    refused(lambda: dl.Iid(probabilities), "law: probabilities", *words)


@each(
    "changes, rows, words",
    ({}, [[1, 0]], ["each of the 2 inputs", "1 rows"]),
    ({}, [[1, 0], [0, 1], [0, 1]], ["each of the 2 inputs", "3 rows"]),
    ({}, [[1, 0], [0, 1, 0]], ["rows[1]", "2 outputs", "3"]),
    ({}, [[1, 0], [0.5, 0.6]], ["rows[1]", "sum to 1"]),
    ({}, [[1, 0], [2, -1]], ["rows[1][1]", "negative"]),
    ({}, 5, ["rows", "list"]),
    ({}, [5, 5], ["rows[0]", "list"]),
    ({"mechanism": "additive"}, [[0.9, 0.1], [0.2, 0.8]], ["additive", "one row q"]),
    ({"mechanism": "additive"}, [[0.9, 0.1]] * 3, ["one row q", "3 rows"]),
    ({"mechanism": "additive"}, [], ["one row q", "0 rows"]),
    ({"mechanism": "full"}, [[1, 0]] * 2, ["each of the 16 inputs"]),
)
def test_rows_of_no_mechanism(changes, rows, words):
    problem = question(**changes)
    for use in (problem.expected_distortion, problem.expand, problem.release):
        refused(lambda use=use: use(rows), *words)


def test_an_adversary_without_an_entropy_bound():
    problem = question(adversary=dl.ProductPriors())
    refused(lambda: problem.max_knowledge, "product_priors", "entropy_at_least")
    assert problem.release([[1, 0], [0, 1]]).adversary == dl.ProductPriors()


@each(
    "old, new, words",
    ("max_distortion = 0.1", "", ["missing max_distortion"]),
    ("max_distortion = 0.1", "max_leakage = 0.1", ["unknown key 'max_leakage'", "max_distortion"]),
    ('problem = "min_leakage"', 'problem = "min_distortion"', ["unknown key 'max_distortion'", "max_leakage"]),
    ('problem = "min_leakage"', 'problem = "min_leaks"', ["min_leakage", "min_leaks"]),
    ('problem = "min_leakage"', 'problem = "maximal_leakage"', ["unknown key"]),
    ('[query]\nkind = "parity"', "", ["table [query]"]),
    ('[distortion]\nkind = "hamming"', "", ["table [distortion]"]),
    ('class = "oblivious"', "", ["[mechanism]", "missing class", "oblivious, full, additive"]),
    ('class = "oblivious"', "class = 5", ["mechanism", "oblivious, full, additive", "5"]),
    ('class = "oblivious"', 'kind = "symmetric"', ["[mechanism]", "unknown key 'kind'", "class"]),
    ('kind = "hamming"', 'kind = "haming"', ["[distortion]", "hamming", "did you mean"]),
    ('kind = "hamming"', 'kind = "hamming"\nrows = [[1]]', ["[distortion] kind hamming", "rows"]),
    ('kind = "hamming"', 'kind = "matrix"', ["[distortion] kind matrix", "missing rows"]),
    ('kind = "uniform"', 'kind = "csw"', ["[law]", "uniform, iid, csv"]),
    ('kind = "uniform"', 'kind = "iid"', ["[law] kind iid", "missing probabilities"]),
    ('kind = "uniform"', 'kind = "csv"', ["[law] kind csv", "missing file, column, letters"]),
    ('kind = "uniform"', 'kind = "csv"\nfile = 5\ncolumn = "a"\nletters = ["x"]', ["law: file", "text"]),
    ('kind = "uniform"', 'kind = "csv"\nfile = "f"\ncolumn = 5\nletters = ["x"]', ["law: column", "text"]),
    ('kind = "uniform"', 'kind = "csv"\nfile = "f"\ncolumn = "a"\nletters = "x"', ["law: letters", "list"]),
    ('kind = "uniform"', 'kind = "csv"\nfile = "f"\ncolumn = "a"\nletters = []', ["law: letters", "non-empty"]),
    ('kind = "uniform"', 'kind = "csv"\nfile = "f"\ncolumn = "a"\nletters = [0]', ["law: letters[0]", "text"]),
    ('kind = "uniform"', 'kind = "csv"\nfile = "f"\ncolumn = "a"\nletters = ["x", "x"]', ["different"]),
)
def test_bad_model_files(old, new, words):
    assert old in DOCUMENT
    refused(lambda: dl.loads(DOCUMENT.replace(old, new)), *words)


# ---------------------------------------------------------------- csv

SURVEY = 'age,"smokes"\r\n41,no\r\n29,"yes"\r\n\r\n63,no\r\n17,"it, ""depends"""\r\n'
LETTERS = ["no", "yes", 'it, "depends"', "never seen"]


def survey(tmp_path, text=SURVEY):
    path = tmp_path / "survey.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_a_law_from_a_table(tmp_path, mark):
    path = survey(tmp_path, mark + SURVEY)
    assert dl.laws.law_from_csv(path, "smokes", LETTERS) == dl.Iid([HALF, HALF / 2, HALF / 2, 0])
    assert dl.laws.law_from_csv(path, "age", ["41", "29", "63", "17"]) == dl.Iid([HALF / 2] * 4)


def test_a_model_whose_law_is_in_a_table(tmp_path, monkeypatch):
    """The path is relative to the model file, or to the current directory for a text; what is loaded is the law itself."""
    (tmp_path / "data").mkdir()
    survey(tmp_path / "data", "who,smokes\na,no\nb,no\nc,yes\n")
    text = DOCUMENT.replace(
        'kind = "uniform"', 'kind = "csv"\nfile = "data/survey.csv"\ncolumn = "smokes"\nletters = ["no", "yes"]'
    )
    model = tmp_path / "model.toml"
    model.write_text(text)
    expected = question(law=dl.Iid(["2/3", "1/3"]))
    assert dl.load(model) == dl.loads(text, folder=tmp_path) == expected
    assert digest(dl.load(model)) == digest(expected)
    refused(lambda: dl.loads(text, folder=tmp_path / "data"), "survey.csv", "cannot be read")
    monkeypatch.chdir(tmp_path)
    assert dl.loads(text) == expected
    refused(lambda: dl.loads(text.replace('"no", "yes"', '"no", "yes", "?"')), "law", "record 0 has 2 letters")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["line 1", "no column 'smokes'"]),
        ("secret\n1\n", ["line 1", "no column 'smokes'", "names of the columns"]),
        ("age,secret\n41,no\n", ["line 1", "no column 'smokes' among its 2"]),
        ("smokes,smokes\nno,no\n", ["line 1", "more than one column"]),
        ("smokes\n", ["no lines"]),
        ("smokes\n\n\n", ["no lines"]),
        ("smokes\nno\nsecret\n", ["line 3", "'smokes'", "none of the letters ['no', 'yes']"]),
        ("smokes\n'secret, no\n", ["line 2", "expected 1 entries, got 2"]),
        ("smokes,age\nno,1\nno\n", ["line 3", "expected 2 entries, got 1"]),
        ("smokes,age\nno,1,2\n", ["line 2", "expected 2 entries, got 3"]),
        ('smokes\n"no\n', ["line 2", "unexpected end"]),
        ('smokes\n"no"secret\n', ["line 2"]),
        ("smokes\n" + "n" * 200_000, ["line 2", "field larger"]),
        (b"smokes\nno\nsecret \xff\n", ["line 3", "UTF-8"]),
    ],
    ids=lambda v: repr(v)[:30],
)
def test_tables_that_cannot_be_used(tmp_path, text, words):
    path = survey(tmp_path, text)
    refused(lambda: dl.laws.law_from_csv(path, "smokes", ["no", "yes"]), "survey.csv", *words)
    with pytest.raises(dl.errors.InputError) as caught:
        dl.laws.law_from_csv(path, "smokes", ["no", "yes"])
    assert "secret" not in str(caught.value)
    assert "xff" not in str(caught.value)


def test_only_plain_files_of_moderate_size_are_tables(tmp_path):
    for path in (tmp_path, tmp_path / "missing", "nul\0.csv"):
        refused(lambda path=path: dl.laws.law_from_csv(path, "smokes", ["no"]), "cannot be read")
    os.mkfifo(tmp_path / "pipe")
    refused(lambda: dl.laws.law_from_csv(tmp_path / "pipe", "smokes", ["no"]), "not a plain file")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    refused(lambda: dl.laws.law_from_csv(tmp_path / "large", "smokes", ["no"]), "67108864 bytes")


# ---------------------------------------------------------------- what a design problem is not


def test_an_audit_refuses_a_design_problem():
    for kind in (dl.MinLeakage, dl.MinDistortion):
        refused(lambda kind=kind: audited(question(kind)), kind.kind, "worst_case_leakage", "release")
        refused(lambda kind=kind: next(entropy_curve(question(kind), [0.5])), kind.kind, "worst_case_leakage")
    release = question().release([[1, 0], [0, 1]])
    assert audited(release) is release
