"""Two programs read a model file: both accept what docs/model-format.md allows, refuse the rest, and hash alike."""

import re
from decimal import Decimal, localcontext

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import dalenius as dl
import dalenius_check
import support
from campaigns import draws, each
from dalenius.model import digest
from dalenius.model import loads as read_alone
from dalenius_check import LimitError, RefusedError, Status, check
from dalenius_check.core.model import parse_model

PARTS = {
    "records": "count = 2\nalphabet = 2",
    "query": 'kind = "parity"',
    "mechanism": 'kind = "symmetric"\nflip = 0.1',
    "adversary": "entropy_at_least = 0.5",
}


def text(**parts: str) -> str:
    tables = "\n".join(f"[{name}]\n{body}" for name, body in (PARTS | parts).items() if body)
    return f'problem = "maximal_leakage"\n{tables}\n'


def verdicts(model: str) -> tuple[bool, bool]:
    """Whether dalenius's own reader and the checker accept the model."""
    try:
        read_alone(model)
        accepted = True
    except dl.errors.InputError:
        accepted = False
    return accepted, check(model.encode(), b"").status is not Status.UNREADABLE


NUMBERS = {
    True: [
        "0.2", '"0.2"', '"1/5"', "2e-1", "2E-1", '"2e-1"', "+0.2", "0", "1", '"1"', '"0/7"', '"-0"', "-0.0", "0.000_1",
        "0." + "3" * 390, "1e-300", '"1e-300"', "1e-400", '"1e-0400"', "1e-0400", '"3/10"',
        '"0.' + "1234567890" * 35 + '"',
    ],
    False: [
        '"+0.2"', '"2E-1"', '" 0.2"', '"0.2 "', '".2"', '"0."', '"1e+0"', '"1_0/100"', '"1/0"', '"0/0"', "inf", "nan",
        "-inf", '"inf"', '"nan"', "true", "[0.2]", "{a = 1}", "1e-401", '"1e-401"', '"٠.٢"', '""', '"1/5/1"', "-0.1",
        "1.1", '"0x1"', '"1/-5"', '"--1"', "1979-05-27", '"0.' + "1" * 400 + '"', "1e999999999", "1e-999999999",
        '"1e999999999"', "9" * 5000, '"' + "9" * 5000 + '"', "1e400", "10" + "0" * 390,
    ],
}  # fmt: skip

with localcontext(prec=200):
    LOG_4 = str(Decimal(4).ln())  # log |X| of the two binary records

ENTROPIES = {
    True: [
        "0", '"0"', "1", '"1"', '"1 bits"', '"2 bits"', '"0.5 max"', '"1 max"', '"1/3 max"', '"1 nats"', '"1e-3 nats"',
        "1.386294361119890", '"0 bits"',
        f'"{LOG_4[:150]} nats"',  # decided exactly
    ],
    False: [
        '"1  bits"', '" 1 bits"', '"1 bits "', '"1 Bits"', '"1bits"', '"bits"', '"1 bit"', '"max"', '"-1 bits"', "-1",
        '"1.1 max"', '"1.000000000001 max"', '"3 bits"', '"2.000000000002 bits"', '"1\\tbits"', '"nan nats"', "true", "[1]",
        f'"{LOG_4[:120]}99 nats"', "{}", "1.387", "1.386294361121277", '"1 nats nats"', "1e300", '"1e400"', "nan", "inf",
        "9" * 5000, '"' + "9" * 390 + ' max"',
    ],
}  # fmt: skip


def flat(table):
    return [pytest.param(v, valid, id=f"{valid}-{v[:30]}") for valid, values in table.items() for v in values]


@each("value, valid", *flat(NUMBERS))
def test_numbers(value, valid):
    assert verdicts(text(mechanism=f'kind = "symmetric"\nflip = {value}')) == (valid, valid)


@each("value, valid", *flat(ENTROPIES))
def test_entropy_bounds(value, valid):
    assert verdicts(text(adversary=f"entropy_at_least = {value}")) == (valid, valid)


TABLES = {
    True: [
        {"records": "alphabets = [2, 2]"},
        {"records": "alphabets = [2, 1, 2]"},
        {"query": 'kind = "modular_sum"\nmodulus = 2'},
        {"query": 'kind = "threshold"\nat = -1_000'},
        {"query": 'kind = "table"\nvalues = [1, -5, -5, 1]'},
        {"query": 'kind = "sum"\nweights = [[0, 1], [0, 0]]'},
        {"query": 'kind = "sum"\nweights = [0, 1000000000]', "mechanism": 'kind = "symmetric"\nflip = 0.1\nk = 3'},
        {"query": 'kind = "count"\nletters = [1, 0]', "mechanism": 'kind = "geometric"\nepsilon = 1'},
        {"query": 'kind = "count"', "mechanism": 'kind = "geometric"\nepsilon = 1\nrange = 2'},
        {"query": 'kind = "count"', "mechanism": 'kind = "exponential"\nepsilon = 0\nrange = [-1, 4]'},
        {"mechanism": 'kind = "exponential"\nepsilon = 1\nsensitivity = "1/2"'},
        {"mechanism": f'kind = "exponential"\nepsilon = 1\nsensitivity = {"9" * 400}'},
        {"mechanism": f'kind = "exponential"\nepsilon = 1\nsensitivity = 1{"0" * 399}'},
        {"mechanism": 'kind = "exponential"\nepsilon = 1\nsensitivity = 1e400'},
        {"mechanism": 'kind = "laplace_threshold"\nepsilon = 1000'},
        {"mechanism": 'kind = "matrix"\nrows = [[1], [1]]'},
        {"mechanism": 'kind = "matrix"\nrows = [[0.5, 0.5000000001], ["1/3", "2/3"]]'},
        {"query": "", "mechanism": 'kind = "matrix"\ninputs = "dataset"\nrows = [[1], [1], [1], [1]]'},
        {"adversary": 'kind = "product_priors"'},
        {"adversary": 'kind = "prior_set"\npriors = [[1, 0, 0, 0]]'},
        {"adversary": 'kind = "prior_set"\npriors = [[0.25, "1/4", 25e-2, "0.2500000001"], [0, 0, 0.5, 0.5]]'},
        {"records": "alphabets = [1]", "adversary": 'kind = "prior_set"\npriors = [[1]]'},
    ],
    False: [
        {"records": "count = 2"},
        {"records": "alphabet = 2"},
        {"records": ""},
        {"records": "count = 2\nalphabet = 2\nalphabets = [2, 2]"},
        {"records": "count = 2\nalphabet = 0"},
        {"records": "count = 0\nalphabet = 2"},
        {"records": "count = 2.0\nalphabet = 2"},
        {"records": "count = true\nalphabet = 2"},
        {"records": "count = 1000001\nalphabet = 2"},
        {"records": "count = 2\nalphabet = 10001"},
        {"records": "alphabets = []"},
        {"records": "alphabets = 2"},
        {"records": "alphabets = [2, 0]"},
        {"records": 'alphabets = "22"'},
        {"records": "count = 2\nalphabet = 2\ncolour = 1"},
        {"query": ""},
        {"query": 'kind = "parity"\nmodulus = 2'},
        {"query": 'kind = "median"'},
        {"query": "kind = 1"},
        {"query": 'kind = "modular_sum"'},
        {"query": 'kind = "modular_sum"\nmodulus = 1'},
        {"query": 'kind = "modular_sum"\nmodulus = 70000'},
        {"query": 'kind = "threshold"\nat = 1.0'},
        {"query": 'kind = "threshold"\nat = 1000000001'},
        {"query": 'kind = "table"\nvalues = [1, 0, 0]'},
        {"query": 'kind = "table"\nvalues = 1'},
        {"query": 'kind = "table"\nvalues = "0110"'},
        {"query": 'kind = "count"\nletters = 1'},
        {"query": 'kind = "count"\nletters = [1, 1]'},
        {"query": 'kind = "count"\nletters = [-1]'},
        {"query": 'kind = "sum"\nweights = 1'},
        {"query": 'kind = "sum"\nweights = []'},
        {"query": 'kind = "sum"\nweights = [0, 1, 2]'},
        {"query": 'kind = "sum"\nweights = [[0, 1]]'},
        {"query": 'kind = "sum"\nweights = [[0, 1], 1]'},
        {"query": 'kind = "sum"\nweights = [0, 0.5]'},
        {"query": 'kind = "sum"\nweights = [0, 1000000001]'},
        {"mechanism": ""},
        {"mechanism": 'kind = "symmetric"'},
        {"mechanism": 'kind = "symmetric"\nflip = 0.1\nk = 3'},
        {"mechanism": 'kind = "symmetric"\nflip = 0.1\nk = 1'},
        {"mechanism": 'kind = "randomized_response"\nepsilon = -1'},
        {"mechanism": 'kind = "randomized_response"\nepsilon = 1001'},
        {"mechanism": 'kind = "geometric"\nepsilon = 0'},
        {"mechanism": 'kind = "geometric"\nepsilon = 1\nrange = 0'},
        {"mechanism": 'kind = "geometric"\nepsilon = 1\nrange = [1, 2, 3]'},
        {"mechanism": 'kind = "geometric"\nepsilon = 1\nrange = [1, 2]'},
        {"mechanism": 'kind = "geometric"\nepsilon = 1\nrange = [0, 1.5]'},
        {"mechanism": 'kind = "exponential"\nepsilon = 1\nsensitivity = 0'},
        {"mechanism": f'kind = "exponential"\nepsilon = 1\nsensitivity = 1{"0" * 400}'},
        {"mechanism": f'kind = "exponential"\nepsilon = 1\nsensitivity = 1{"0" * 500}'},
        {"query": 'kind = "count"', "mechanism": 'kind = "laplace_threshold"\nepsilon = 1'},
        {"mechanism": 'kind = "matrix"\nrows = [[1, 0]]'},
        {"mechanism": 'kind = "matrix"\nrows = [[1, 0], [1]]'},
        {"mechanism": 'kind = "matrix"\nrows = [[], []]'},
        {"mechanism": 'kind = "matrix"\nrows = []'},
        {"mechanism": 'kind = "matrix"\nrows = [[1.1, -0.1], [1, 0]]'},
        {"mechanism": 'kind = "matrix"\nrows = [[0.5, 0.500000002], [1, 0]]'},
        {"mechanism": 'kind = "matrix"\nrows = [[1, 0], [1, 0]]\ninputs = "rows"'},
        {"mechanism": 'kind = "matrix"\nrows = [[1, 0], [1, 0]]\ninputs = "dataset"'},
        {"adversary": ""},
        {"adversary": "entropy_at_most = 1"},
        {"adversary": "entropy_at_least = 0.5\nunits = 1"},
        {"adversary": 'kind = "entropy_at_least"\nentropy_at_least = 1'},
        {"adversary": 'kind = "product_priors"\nentropy_at_least = 1'},
        {"adversary": 'kind = "product_priors"\npriors = [[1, 0, 0, 0]]'},
        {"adversary": 'kind = "product"'},
        {"adversary": "kind = 1"},
        {"adversary": "priors = [[1, 0, 0, 0]]"},
        {"adversary": 'kind = "prior_set"'},
        {"adversary": 'kind = "prior_set"\npriors = []'},
        {"adversary": 'kind = "prior_set"\npriors = [[]]'},
        {"adversary": 'kind = "prior_set"\npriors = [1, 0, 0, 0]'},
        {"adversary": 'kind = "prior_set"\npriors = "1"'},
        {"adversary": 'kind = "prior_set"\npriors = [[[1, 0], [0, 0]]]'},
        {"adversary": 'kind = "prior_set"\npriors = [[1, 0, 0]]'},
        {"adversary": 'kind = "prior_set"\npriors = [[1, 0, 0, 0], [1, 0, 0]]'},
        {"adversary": 'kind = "prior_set"\npriors = [[0.5, 0.5, 0, 0.000000002]]'},
        {"adversary": 'kind = "prior_set"\npriors = [[0, 0, 0, 0]]'},
        {"adversary": 'kind = "prior_set"\npriors = [[1.5, -0.5, 0, 0]]'},
        {"adversary": 'kind = "prior_set"\npriors = [[1, 0, 0, nan]]'},
        {"adversary": 'kind = "prior_set"\npriors = [[1, 0, 0, false]]'},
        {"adversary": 'kind = "prior_set"\npriors = [[1, 0, 0, 0]]\nweights = 1'},
        {"records": "count = 17\nalphabet = 2", "adversary": 'kind = "prior_set"\npriors = [[1, 0, 0, 0]]'},
    ],
}


@pytest.mark.parametrize(
    ("parts", "valid"), [pytest.param(p, v, id=f"{v}-{p}") for v, tables in TABLES.items() for p in tables]
)
def test_tables(parts, valid):
    assert verdicts(text(**parts)) == (valid, valid)


@each("parts", *TABLES[True])
def test_digests_agree(parts):
    """The same file, and the file that dalenius writes, have one digest in both programs."""
    model = text(**parts)
    problem = dl.loads(model)
    assert digest(problem) == parse_model(model.encode()).digest == parse_model(dl.dumps(problem).encode()).digest


@each("value", *[v for v in NUMBERS[True] if len(v) < 100])
def test_digests_of_numbers_agree(value):
    model = text(mechanism=f'kind = "symmetric"\nflip = {value}')
    assert digest(dl.loads(model)) == parse_model(model.encode()).digest


NO_MODELS = [
    "",
    "problem = 1",
    'problem = "minimal"',
    "[[[",
    "= 1",
    "a = 1\na = 2",
    "\0",
    "\ufeff" + text(),
    text() + "x",
]


@each("model", *NO_MODELS)
def test_no_models(model):
    assert verdicts(model) == (False, False)


# ---------------------------------------------------------------- whatever else people write

DESIGN = """problem = "min_leakage"
max_distortion = 0.3
[records]
alphabets = [2, 2]
[query]
kind = "count"
letters = [1]
[distortion]
kind = "matrix"
rows = [[0, 1, 2], [1, 0, "1/2"], [2, 1e0, 0]]
[law]
kind = "iid"
probabilities = [0.25, "3/4"]
[mechanism]
class = "oblivious"
[adversary]
entropy_at_least = "0.5 max"
"""
PRIVATE = DESIGN.replace("max_distortion = 0.3", "").replace("min_leakage", "min_distortion").replace(
    '[adversary]\nentropy_at_least = "0.5 max"', '[privacy]\nkind = "local_dp"\nepsilon = "log 3"'
)  # fmt: skip
BASES = [text(**parts) for parts in TABLES[True]] + [DESIGN, PRIVATE]
VALUE = re.compile(r"(?<== )[^\n]+|(?<=[\[ ])[-0-9.e]+(?=[],])")

sizes = st.sampled_from([1, 2, 397, 398, 399, 400, 401, 402, 4300, 4301])
digits = st.builds(
    lambda digit, size, end: digit * size + end, st.sampled_from("019"), sizes, st.sampled_from(["", "1"])
)
exponents = st.sampled_from(["", "e0", "E5", "e+05", "e-400", "e400", "e401", "e-401", "e_1"])
numerals = st.builds(
    lambda sign, whole, point, exponent: f"{sign}{whole}{point}{exponent}",
    st.sampled_from(["", "", "-", "+"]), st.sampled_from(["0", "1", "2", "1_0", "0x1f", "9" * 400]) | digits,
    st.just("") | digits.map(lambda part: f".{part}"), exponents,
)  # fmt: skip
units = st.sampled_from(["", " nats", " bits", " max", " bit", "  bits", "/3", "/0", "\\u00a0bits", "%"])
values = (
    numerals
    | st.builds(lambda number, unit: f'"{number}{unit}"', numerals, units)
    | st.builds(lambda number: f'"log {number}"', numerals)
    | st.sampled_from(
        ["nan", "-inf", "true", "[]", "[1]", "[[0.5, 0.5], [1, 0]]", "{}", '""', "1979-05-27", "07:32:00", '"x"', "'1'"]
    )
)
pieces = st.sampled_from(
    ["\n", "=", "[", "]", '"', "#", "\r\n", "\0", "\ufeff", "é", '"""', "kind = 1\n", "[law]\n", "k = 2\n", "_"]
)


@st.composite
def almost_models(draw):
    """A valid model with up to three values, or characters, that are others."""
    written = draw(st.sampled_from(BASES))
    for _ in range(draw(st.integers(1, 3))):
        places = [match.span() for match in VALUE.finditer(written)]
        if places and draw(st.integers(0, 3)):
            (start, end), new = draw(st.sampled_from(places)), draw(values)
        else:
            start = draw(st.integers(0, len(written)))
            end, new = min(len(written), start + draw(st.integers(0, 2))), draw(pieces)
        written = written[:start] + new + written[end:]
    return written


@settings(max_examples=draws(20, 20_000), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(almost_models())
@example(text(mechanism=f'kind = "exponential"\nepsilon = 1\nsensitivity = 1{"0" * 400}'))
@example(DESIGN.replace("0.3", "9" * 400))
def test_what_dalenius_accepts_the_checker_reads(model):
    """And as the same problem; so whatever the checker refuses is refused by dalenius. What is written again is read again."""
    try:
        problem = read_alone(model)
    except dl.errors.InputError:
        return
    assert dalenius_check.digest(model.encode()) == digest(problem)
    again = dl.dumps(problem)
    assert dalenius_check.digest(again.encode()) == digest(problem)
    assert read_alone(again) == problem


@pytest.mark.parametrize("error", [RefusedError("an exponent is beyond 400"), LimitError("an exponent is beyond 400")])
def test_what_the_checker_does_not_read_is_not_loaded(error, monkeypatch, tmp_path):
    """Whatever it is that only one of the two programs knows."""

    def refuse(model: bytes) -> str:
        raise error

    (tmp_path / "model.toml").write_text(text())
    monkeypatch.setattr(dalenius_check, "digest", refuse)
    made = read_alone(text())
    for use in (lambda: dl.loads(text()), lambda: dl.load(tmp_path / "model.toml"), lambda: dl.solve(as_made(made))):
        with pytest.raises(dl.errors.InputError, match=r"checker cannot read it: (limit: )?an exponent is beyond 400"):
            use()


def test_what_the_checker_reads_otherwise_is_not_loaded(monkeypatch):
    monkeypatch.setattr(dalenius_check, "digest", lambda model: "0" * 64)
    support.refused(lambda: dl.loads(text()), "reads another problem")


def as_made(problem: dl.WorstCaseLeakage) -> dl.WorstCaseLeakage:
    """The same problem, made in Python."""
    return support.problem(problem.records, problem.query, problem.mechanism, problem.adversary)
