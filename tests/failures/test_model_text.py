"""Model files that cannot be used: `dl.loads` says which table and key, and what was expected."""

import pytest

import dalenius as dl
import support
from campaigns import each

PARTS = {
    "records": "count = 4\nalphabet = 2",
    "query": 'kind = "parity"',
    "mechanism": 'kind = "symmetric"\nflip = 0.1',
    "adversary": "entropy_at_least = 0.5",
}


def text(**parts: str) -> str:
    tables = "\n".join(f"[{name}]\n{body}" for name, body in (PARTS | parts).items())
    return f'problem = "maximal_leakage"\n{tables}\n'


def refused(model: str | bytes, *words: str) -> None:
    support.refused(lambda: dl.loads(model), *words)


def test_the_model_they_all_start_from():
    assert dl.loads(text()) == dl.loads(text().encode()) == dl.loads(text().replace("\n", "\r\n"))


@each(
    "part, body, words",
    ("records", "count = 4", ["records", "alphabet"]),
    ("records", "alphabets = 2", ["alphabets"]),
    ("records", "alphabets = []", ["alphabets"]),
    ("records", "alphabets = [2, 0]", ["alphabets[1]"]),
    ("records", 'alphabets = ["2"]', ["alphabets[0]"]),
    ("records", "count = 4\nalphabet = 2\nalphabets = [2]", ["records"]),
    ("records", "count = 4\nalphabet = 2\nalphabet_size = 3", ["alphabet_size", "did you mean 'alphabet"]),
    ("records", "count = 1e1\nalphabet = 2", ["count"]),
    ("records", "count = 1979-05-27\nalphabet = 2", ["count"]),
    ("query", 'kind = "paritty"', ["[query]", "did you mean 'parity'"]),
    ("query", 'kind = "parity"\nmodulus = 2', ["modulus", "no keys"]),
    ("query", "modulus = 2", ["[query]", "kind"]),
    ("query", "kind = []", ["[query]", "kind"]),
    ("query", 'kind = "modular_sum"', ["missing modulus"]),
    ("query", 'kind = "modular_sum"\nmodulo = 2', ["did you mean 'modulus'"]),
    ("query", 'kind = "modular_sum"\nmodulus = 2.0', ["modulus"]),
    ("query", 'kind = "count"\nletters = 1', ["letters"]),
    ("query", 'kind = "count"\nletters = [5]', ["letter 5"]),
    ("query", 'kind = "count"\nletters = {a = 1}', ["letters"]),
    ("query", 'kind = "sum"\nweights = 1', ["weights"]),
    ("query", 'kind = "sum"\nweights = [[1, [2]]]', ["weights"]),
    ("query", 'kind = "threshold"', ["missing at"]),
    ("query", 'kind = "threshold"\nat = "2"', ["at"]),
    ("query", 'kind = "table"\nvalues = 1', ["values"]),
    ("query", 'kind = "table"\nvalues = [0, 1]', ["values", "16 datasets"]),
    ("mechanism", "flip = 0.1", ["[mechanism]", "kind"]),
    ("mechanism", 'kind = "podium"\nsigma = 1', ["[mechanism]", "podium", "geometric"]),
    ("mechanism", 'kind = "gaussian"\nsigma = 1', ["[mechanism]", "gaussian", "sigma", "scale"]),
    ("mechanism", 'kind = "symmetric"', ["missing flip"]),
    ("mechanism", 'kind = "symmetric"\nflip = 0.1\nepsilon = 1', ["epsilon"]),
    ("mechanism", 'kind = "symetric"\nflip = 0.1', ["[mechanism]", "laplace_threshold", "did you mean 'symmetric'"]),
    ("mechanism", 'kind = "laplace_treshold"\nepsilon = 1', ["[mechanism]", "did you mean 'laplace_threshold'"]),
    ("mechanism", 'kind = "laplace"\nepsilon = 1', ["[mechanism]", "epsilon", "scale"]),
    ("mechanism", 'kind = "symmetric"\nflip = nan', ["mechanism: flip", "number", "nan"]),
    ("mechanism", 'kind = "symmetric"\nflip = -inf', ["mechanism: flip", "inf"]),
    ("mechanism", 'kind = "symmetric"\nflip = 1e999999999', ["mechanism: flip", "1e999999999"]),
    ("mechanism", 'kind = "symmetric"\nflip = 1e-999999999', ["mechanism: flip", "1e-999999999"]),
    ("mechanism", 'kind = "geometric"\nepsilon = nan', ["mechanism: epsilon", "nan"]),
    ("mechanism", f'kind = "symmetric"\nflip = 1{"0" * 400}', ["mechanism: flip", "400 digits"]),
    ("mechanism", 'kind = "symmetric"\nflip = "80%"', ["mechanism: flip", "80% is 0.8"]),
    ("mechanism", 'kind = "matrix"\nrows = [[1, 0], [nan, 1]]', ["rows[1][0]", "nan"]),
    ("records", "count = nan\nalphabet = 2", ["records: count", "nan"]),
    ("records", "count = 4\nalphabet = 2.5", ["records: alphabet", "2.5"]),
    ("adversary", 'entropy_at_least = "80%"', ["entropy_at_least", '"0.8 max"']),
    ("adversary", 'entropy_at_least = "1 bit"', ["entropy_at_least", '"1 bits"']),
    ("adversary", "entropy_at_least = nan", ["entropy_at_least", "nan"]),
    ("adversary", 'kind = "product"', ["[adversary]", "prior_set", "did you mean 'product_priors'"]),
    ("mechanism", 'kind = "symmetric"\nflip = "1e999999999"', ["flip"]),
    ("mechanism", f'kind = "symmetric"\nflip = {"9" * 5000}', ["too long"]),
    ("mechanism", f'kind = "symmetric"\nflip = 0.{"9" * 5000}', ["400"]),
    ("mechanism", f'kind = "symmetric"\nflip = "{"9" * 5000}"', ["400"]),
    ("mechanism", 'kind = "symmetric"\nflip = true', ["flip"]),
    ("mechanism", 'kind = "symmetric"\nflip = [0.1]', ["flip"]),
    ("mechanism", 'kind = "symmetric"\nflip = 07:32:00', ["flip"]),
    ("mechanism", 'kind = "matrix"', ["missing rows"]),
    ("mechanism", 'kind = "matrix"\nrows = 1', ["rows"]),
    ("mechanism", 'kind = "matrix"\nrows = "ab"', ["rows"]),
    ("mechanism", 'kind = "matrix"\nrows = [[1, 0], [1]]', ["length"]),
    ("mechanism", 'kind = "matrix"\nrows = [[1, 0], ["a", 1]]', ["rows[1][0]"]),
    ("mechanism", 'kind = "matrix"\nrows = [[1, 0], [0.5, 0.6]]', ["rows[1]", "sum to 1"]),
    ("mechanism", 'kind = "matrix"\nrows = [[1, 0], [true, false]]', ["rows[1][0]"]),
    ("mechanism", 'kind = "geometric"\nepsilon = 1\nrange = {lo = 0, hi = 1}', ["range"]),
    ("adversary", 'kind = "entropy_at_least"', ["[adversary]", "not a kind: write entropy_at_least = "]),
    ("adversary", "", ["[adversary]", "entropy_at_least"]),
    ("adversary", "entropy = 1", ["entropy_at_least"]),
    ("adversary", 'entropy_at_least = "1 byte"', ["nats, bits or max"]),
    ("adversary", 'entropy_at_least = "5 bits"', ["log |X|"]),
    ("adversary", "entropy_at_least = 1e300", ["log |X|"]),
    ("adversary", "entropy_at_least = 1e400", ["log |X|"]),
    ("adversary", "entropy_at_least = true", ["entropy_at_least"]),
    ("adversary", "entropy_at_least = []", ["entropy_at_least"]),
    ("adversary", "entropy_at_least = nan", ["nan"]),
)
def test_one_bad_table(part, body, words):
    refused(text(**{part: body}), *words)


@each("name", *list(PARTS))
@each("value", "1", '"text"', "[1]", "true")
def test_something_else_where_a_table_is_expected(name, value):
    """`name = value` at the top instead of the table `[name]`."""
    rest = "".join(f"[{key}]\n{body}\n" for key, body in PARTS.items() if key != name)
    refused(f'problem = "maximal_leakage"\n{name} = {value}\n{rest}', name)


@each("name", *list(PARTS))
def test_missing_table(name):
    rest = "".join(f"[{key}]\n{body}\n" for key, body in PARTS.items() if key != name)
    refused(f'problem = "maximal_leakage"\n{rest}', name)


@each(
    "model",
    "",
    "this is no TOML",
    "[[[[",
    "x = " + "[" * 100_000,
    "a = 1\na = 2",
    "\0",
    "\ufeff" + text(),
    text() + "[colour]\nname = 1\n",
    "extra = 1\n" + text(),
    text().replace("maximal_leakage", "minimal_leakage"),
    text().replace('"maximal_leakage"', "[1]"),
    "title = 5\n" + text(),
    "source = [1]\n" + text(),
    b"\xff\xfe" + text().encode("utf-16-le"),
    text().encode() + b"# \xc3\x28",
    b"\x1f\x8b\x08\x00",
)
def test_no_model_at_all(model):
    refused(model)


def test_huge_numbers_of_datasets():
    large = "count = 1000000\nalphabet = 10000"
    refused(text(records=large, query='kind = "identity"'), "identity", "65536")
    refused(text(records=large, query='kind = "table"\nvalues = [0]'), "table", "65536")
    refused(text(records=large, mechanism='kind = "matrix"\ninputs = "dataset"\nrows = [[1]]'), "65536")
    refused(text(records=large, query='kind = "count"'), "65536")
    refused(text(records=large, query='kind = "sum"'), "sum")


@each(
    "model, words",
    ("\ufeff" + text(), ["byte order mark", "save it as UTF-8 without one"]),
    (b"\xef\xbb\xbf" + text().encode(), ["byte order mark", "save it as UTF-8 without one"]),
    (text().encode("utf-16"), ["UTF-16", "save it as UTF-8"]),
    ('{"dalenius": 1}', ["as a certificate does", "expected a model file"]),
    (b"\x1f\x8b\x08", ["as a certificate does"]),
    (text().encode("latin-1") + b'title = "\xe9"', ["UTF-8"]),
    ('title = "\ud800"\n' + text(), ["UTF-8"]),
    (text().replace("maximal_leakage", "maximal_leekage"), ["problem", "did you mean 'maximal_leakage'"]),
    ("title = 1.5\n" + text(), ["title", "1.5"]),
)
def test_what_to_do_about_a_file(model, words):
    refused(model, *words)


def test_file_names_are_in_the_message(tmp_path):
    path = tmp_path / "broken.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(dl.errors.InputError, match=r"broken\.toml.*UTF-8"):
        dl.load(path)


@each("flip", "0." + "1234567890" * 30, "1e-399", "1/" + "7" * 398, "0." + "0" * 390 + "1")
def test_long_numbers_survive(support, flip):
    """Numbers of up to 400 characters are allowed; they are written again in a form that both programs read."""
    question = dl.loads(text(mechanism=f'kind = "symmetric"\nflip = "{flip}"', adversary='entropy_at_least = "3 bits"'))
    assert dl.loads(dl.dumps(question)) == question
    assert dl.verify(question, support.solve(question).certificate).proved
