"""The mechanism that is handed out: exact rows, exact sampling, and a file that is read strictly."""

import itertools
import json
import math
import os
import random
import secrets
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import dalenius as dl
import support
from campaigns import each
from dalenius.model import digest
from dalenius.model.mechanisms import base, designed, sampling
from support import refused, refuses

NOISY = dl.DesignedMechanism([["2/3", "1/3", 0], ["1/7", "2/7", "4/7"]], values=[-1, 4], outputs=["low", 5, "high"])
ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 9), min_size=width, max_size=width)
        .filter(any)
        .map(lambda row: [Fraction(weight, sum(row)) for weight in row]),
        min_size=1,
        max_size=4,
    )
)


class Scripted(random.Random):
    """Hands out these numbers for bits, and counts them."""

    def __init__(self, numbers):
        super().__init__()
        self.numbers, self.asked = list(numbers), []

    def getrandbits(self, bits):
        self.asked.append(bits)
        return self.numbers.pop(0)


class ScriptedBytes(np.random.Generator):
    """The same as bytes of a numpy generator."""

    def __new__(cls, numbers):
        return super().__new__(cls, np.random.PCG64(0))

    def __init__(self, numbers):
        super().__init__(np.random.PCG64(0))
        self.numbers = list(numbers)

    def bytes(self, length):
        return self.numbers.pop(0).to_bytes(length, "little")


# ---------------------------------------------------------------- what it is


def test_entries_and_names_are_kept_exactly():
    assert NOISY.rows[1] == (Fraction(1, 7), Fraction(2, 7), Fraction(4, 7))
    assert (NOISY.values, NOISY.outputs, NOISY.inputs) == ((-1, 4), ("low", 5, "high"), "query")
    assert NOISY.matrix.tolist() == [[2 / 3, 1 / 3, 0.0], [1 / 7, 2 / 7, 4 / 7]]
    assert not NOISY.matrix.flags.writeable
    plain = dl.DesignedMechanism([[0.1, 0.9]] * 3)
    assert (plain.values, plain.outputs) == ((0, 1, 2), (0, 1))
    assert plain == dl.DesignedMechanism([["1/10", "9/10"]] * 3, "query", range(3), np.arange(2))
    assert hash(plain) == hash(dl.DesignedMechanism([[0.1, 0.9]] * 3))


BAD = {
    "must sum to 1 exactly": {"rows": [["0.5", "0.5000000001"]]},
    "must sum to 1 exactly, got": {"rows": [[Fraction(1, 3), 0.666666666667]]},
    "must sum to 1 ": {"rows": [[0.5, 0.4]]},
    "must not be negative": {"rows": [[1.5, -0.5]]},
    "rows of equal length|lists of equal length": {"rows": [[1], [0.5, 0.5]]},
    "non-empty": {"rows": []},
    "inputs must be": {"rows": [[1]], "inputs": "row"},
    "one input for each of the 1 rows, got 2": {"rows": [[1]], "values": [0, 1]},
    "ascending": {"rows": [[1], [1]], "values": [1, 1]},
    "ascending, each": {"rows": [[1], [1]], "values": [2, 1]},
    "values: expected an integer": {"rows": [[1]], "values": [0.0]},
    "values: expected an integer, got True": {"rows": [[1]], "values": [True]},
    "indices 0 to 1": {"rows": [[1], [1]], "inputs": "dataset", "values": [1, 2]},
    "one name for each of the 2 columns": {"rows": [[0.5, 0.5]], "outputs": ["a"]},
    "different names": {"rows": [[0.5, 0.5]], "outputs": ["1", 1]},
    "printable": {"rows": [[1]], "outputs": ["a\nb"]},
    "printable text": {"rows": [[1]], "outputs": ["\ud800"]},
    "a printable text": {"rows": [[1]], "outputs": [" "]},
    "text of at most 400": {"rows": [[1]], "outputs": ["x" * 401]},
    r"outputs\[0\]: expected an integer": {"rows": [[1]], "outputs": [True]},
    r"outputs\[0\]: expected an integer, got 0.5": {"rows": [[1]], "outputs": [0.5]},
    "at most 9223372036854775807": {"rows": [[1]], "outputs": [2**63]},
}


@each("message", *BAD)
def test_bad_mechanisms_are_refused(message):
    with pytest.raises(dl.errors.InputError, match=message):
        dl.DesignedMechanism(**BAD[message])


def test_the_table_is_readable_and_cut_to_a_page():
    assert str(NOISY).splitlines() == [
        "query value       low         5      high",
        "         -1  0.666667  0.333333         0",
        "          4  0.142857  0.285714  0.571429",
    ]
    large = dl.DesignedMechanism([[Fraction(1, 50)] * 50] * 100, inputs="dataset")
    assert len(str(large).splitlines()) == 14
    assert str(large).endswith("... 100 rows, 50 outputs")
    assert max(map(len, str(large).splitlines())) < 100
    assert repr(large) == "<DesignedMechanism of 100 rows by dataset and 50 outputs>"


# ---------------------------------------------------------------- audited as a matrix


def test_it_is_audited_as_the_matrix_it_is(support):
    rows = [[0.8, 0.2], [0.3, 0.7]]
    ours = support.problem([2] * 3, dl.Parity(), dl.DesignedMechanism(rows, outputs=["even", "odd"]), "0.6 max")
    plain = support.problem([2] * 3, dl.Parity(), dl.Channel(rows), "0.6 max")
    assert digest(ours) == digest(plain)
    assert dl.loads(dl.dumps(ours)) == plain
    result = support.solve(ours)
    assert dl.verify(plain, result.certificate).proved
    assert result.certificate.header.resolved is None
    assert ours.mechanism.output_labels(np.arange(2)) == ["even", "odd"]


test_a_query_with_other_values_is_refused = refuses(
    (dl.DesignedMechanism([[1]] * 3), dl.Parity(), "3 query values from 0 to 2, the model has 2 query values"),
    (dl.DesignedMechanism([[1]] * 3, values=[0, 1, 3]), dl.Count(), "the first that differ are 3 and 2"),
    (dl.DesignedMechanism([[1]] * 3, inputs="dataset"), dl.Count(), "3 datasets from 0 to 2, the model has 4"),
    by=lambda mechanism, query: support.problem([2, 2], query, mechanism, 0),
)


def design(kind=dl.MinLeakage, **more):
    settings = {
        "records": dl.Records(3, alphabet=2),
        "query": dl.Sum([0, 5]),
        "distortion": dl.Absolute(),
        "adversary": dl.EntropyAtLeast("1 nats"),
        "max_distortion": 1,
    }
    return kind(**{**settings, **more})


def test_a_design_hands_out_its_mechanism():
    mechanism = design().designed([[1, 0, 0, 0]] * 4)
    assert (mechanism.values, mechanism.outputs, mechanism.inputs) == ((0, 5, 10, 15), (0, 5, 10, 15), "query")
    assert design(distortion=dl.DistortionMatrix([[0, 1]] * 4)).designed([[0.5, 0.5]] * 4).outputs == (0, 1)
    full = design(mechanism="full").designed([[1, 0, 0, 0]] * 8)
    assert (full.values, full.inputs, full.outputs) == (tuple(range(8)), "dataset", (0, 5, 10, 15))
    ring = design(query=dl.ModularSum(3), mechanism="additive").designed([[0.5, 0.25, 0.25]])
    assert ring.rows[1] == (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    assert sum(design(query=dl.Parity()).designed([["0.9", "0.1000000001"], [0.5, 0.5]]).rows[0]) == 1


def test_a_design_refuses_what_is_not_of_its_class():
    problem = design()
    good = problem.designed([[1, 0, 0, 0]] * 4)
    problem.check_designed(good)
    problem.check_designed(dl.DesignedMechanism(good.rows, "query", good.values, ["a", "b", "c", "d"]))
    for bad, message in (
        (dl.DesignedMechanism(good.rows, "dataset"), "belong to dataset inputs"),
        (dl.DesignedMechanism(good.rows), "the first that differ are 1 and 5"),
        (dl.DesignedMechanism([[1, 0]] * 4, "query", good.values), "each of the 4 outputs"),
        (dl.DesignedMechanism(good.rows, "query", good.values, [0, 5, 10, 20]), "expected 15, got 20"),
    ):
        with pytest.raises(dl.errors.InputError, match=message):
            problem.check_designed(bad)
    with pytest.raises(dl.errors.InputError, match="moved along"):
        design(query=dl.Parity(), mechanism="additive").check_designed(dl.DesignedMechanism([[1, 0], [1, 0]]))


# ---------------------------------------------------------------- sampling


@given(ROWS)
def test_every_output_has_exactly_its_share_of_the_integers(rows):
    """All integers that bits can spell, in order: those below D give each output D Q(v,y) times, the others are drawn again."""
    mechanism = dl.DesignedMechanism(rows)
    for v, row in enumerate(rows):
        common = math.lcm(*(entry.denominator for entry in row))
        bits = (common - 1).bit_length()
        for make in (Scripted, ScriptedBytes):
            rng = make([*range(common, 2**bits), *range(common)])
            counts = Counter(mechanism.sample_many([v] * common, rng))
            assert rng.numbers == []
            assert [counts[y] for y in range(len(row))] == [common * entry for entry in row]
    assert rng.numbers == []


def test_only_as_many_bits_as_needed_are_drawn():
    rng = Scripted([7, 7, 6, 0, 3, 1])
    assert NOISY.sample_many([4, -1], rng) == ["high", "low"]
    assert rng.asked == [3, 3, 3, 2]


def test_high_bits_of_the_last_byte_do_not_count():
    assert NOISY.sample(4, ScriptedBytes([0b11111_111, 0b11111_110])) == "high"


def test_by_default_the_operating_system_is_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(secrets, "randbelow", lambda below: asked.append(below) or below - 1)
    assert NOISY.sample_many([-1, 4, np.int64(4)]) == [5, "high", "high"]
    assert asked == [3, 7, 7]
    assert sampling.secrets is secrets


@pytest.mark.parametrize("rng", [random.Random(5), np.random.default_rng(5)], ids=["random", "numpy"])
def test_frequencies(rng):
    """Chi-square with a fixed seed: 20,000 draws a row."""
    mechanism = dl.DesignedMechanism([["1/3", "1/3", "1/3"], ["1/1000003", "500001/1000003", "500001/1000003"]])
    for v, row in enumerate(mechanism.rows):
        counts = Counter(mechanism.sample_many([v] * 20_000, rng))
        likely = [(counts[y], float(20_000 * p)) for y, p in enumerate(row) if 20_000 * p > 5]
        statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in likely)
        assert statistic < chi2.ppf(0.999, len(likely) - 1)


def test_denominators_far_beyond_doubles():
    tiny = Fraction(1, 10**200)
    mechanism = dl.DesignedMechanism([[tiny, 1 - tiny]])
    assert mechanism.sample(0, Scripted([0])) == 0
    assert mechanism.sample(0, Scripted([1])) == 1
    assert set(mechanism.sample_many([0] * 100)) == {1}


def test_a_seed_repeats_and_a_sure_output_is_sure():
    first, second = (NOISY.sample_many([-1, 4] * 50, np.random.default_rng(3)) for _ in range(2))
    assert first == second
    assert dl.DesignedMechanism([[0, 1, 0]], outputs=["a", "b", "c"]).sample(0) == "b"


@each("value", 0, 3, "4", 4.0, True, None, [4], -2)
def test_unknown_inputs_are_refused_without_being_repeated(value):
    with pytest.raises(dl.errors.InputError) as caught:
        NOISY.sample(value)
    assert str(caught.value) == "value: expected one of the mechanism's inputs, 2 query values from -1 to 4"


@each("rng", 7, np.random, np.random.RandomState(1), lambda: 0)
def test_other_sources_of_randomness_are_refused(rng):
    refused(lambda: NOISY.sample(4, rng), "rng: expected")


# ---------------------------------------------------------------- files


@given(ROWS, st.sampled_from(["query", "dataset"]), st.randoms(use_true_random=False))
def test_round_trip(tmp_path_factory, rows, inputs, rng):
    values = None if inputs == "dataset" else sorted(rng.sample(range(-20, 20), len(rows)))
    outputs = [rng.choice([f'"{y}" é\\', -y]) for y in range(len(rows[0]))]
    mechanism = dl.DesignedMechanism(rows, inputs, values, outputs)
    path = mechanism.save(tmp_path_factory.mktemp("m") / "m.json")
    assert dl.mechanisms.Mechanism.load(path) == mechanism == dl.DesignedMechanism.load(str(path))
    assert path.read_text(encoding="ascii").startswith('{"format": "dalenius-mechanism/1",')


def test_long_numbers_round_trip(tmp_path):
    tiny = Fraction(1, 10**400)
    mechanism = dl.DesignedMechanism([["1e-390", "0." + "9" * 390], [Fraction(1, 2**600), 1 - Fraction(1, 2**600)]])
    assert dl.mechanisms.Mechanism.load(mechanism.save(tmp_path / "m.json")) == mechanism
    refused(lambda: dl.DesignedMechanism([[tiny, 1 - tiny]]), "400 characters")


GOOD = (
    '{"format": "dalenius-mechanism/1", "inputs": "query", "values": [0, 1], "outputs": [0, 1], '
    '"rows": [["0.9", "1/10"], ["0", "1"]]}'
)
BAD_FILES = {
    "format must be dalenius-mechanism/1, got None": GOOD.replace('"format": "dalenius-mechanism/1", ', ""),
    "did you mean 'dalenius-mechanism/1'": GOOD.replace("mechanism/1", "mechanism/2"),
    "format must be .* got 1": GOOD.replace('"dalenius-mechanism/1"', "1"),
    "unknown key 'note'": GOOD.replace("{", '{"note": "x", '),
    "did you mean 'values'": GOOD.replace('"values"', '"value"'),
    "missing outputs": GOOD.replace('"outputs": [0, 1], ', ""),
    "missing rows": GOOD.replace(', "rows": [["0.9", "1/10"], ["0", "1"]]', ""),
    "the key 'inputs' stands twice": GOOD.replace('"inputs"', '"inputs": "query", "inputs"'),
    "0.9 is not exact": GOOD.replace('"0.9"', "0.9"),
    "1e0 is not exact": GOOD.replace('[["0.9"', '[[1e0, "0.9"'),
    "NaN is not exact": GOOD.replace('"0.9"', "NaN"),
    "-Infinity is not exact": GOOD.replace('"0.9"', "-Infinity"),
    r"rows\[1\] must be a list of texts": GOOD.replace('["0", "1"]', '[0, "1"]'),
    r"rows\[0\] must be a list of texts": GOOD.replace('["0.9", "1/10"]', '"0.9"'),
    "rows must be a list": GOOD.replace('[["0.9", "1/10"], ["0", "1"]]', '{"0": "1"}'),
    "outputs must be a list": GOOD.replace('"outputs": [0, 1]', '"outputs": null'),
    "values must be a list": GOOD.replace('"values": [0, 1]', '"values": "01"'),
    "inputs must be": GOOD.replace('"query"', '["query"]'),
    r"rows\[0\] must sum to 1 exactly": GOOD.replace("0.9", "0.9000000001"),
    "denominator .* is zero": GOOD.replace("1/10", "1/0"),
    "a number of at most 400 characters": GOOD.replace("1/10", "0x1"),
    "at most 9223372036854775807": GOOD.replace('"outputs": [0, 1]', '"outputs": [0, 9223372036854775808]'),
    "expected a JSON object": f"[{GOOD}]",
    "no JSON": GOOD[:-1],
    "no JSON: Extra": GOOD + GOOD,
    "no JSON: Expecting": "",
    "not a mechanism": GOOD.replace('"values": [0, 1]', f'"values": [{"9" * 5000}]'),
    "not a mechanism: ": "[" * 100_000,
    "not in UTF-8": GOOD.encode().replace(b'"query"', b'"\xff"'),
    "BOM": GOOD.encode("utf-8-sig"),
}


@pytest.mark.parametrize("message", BAD_FILES)
def test_bad_files_are_refused_and_named(tmp_path, message):
    path, content = tmp_path / "bad.json", BAD_FILES[message]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(dl.errors.InputError, match=message) as caught:
        dl.mechanisms.Mechanism.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 500 + len(str(path))


def test_the_good_file_is_good(tmp_path):
    (tmp_path / "good.json").write_text(GOOD)
    assert dl.mechanisms.Mechanism.load(tmp_path / "good.json") == dl.DesignedMechanism([[0.9, 0.1], [0, 1]])
    with pytest.raises(dl.errors.InputError, match="expected a Symmetric, got a DesignedMechanism"):
        type(dl.symmetric(0, k=2)).load(tmp_path / "good.json")


def test_files_are_bounded(tmp_path, monkeypatch):
    for module in (base, designed):
        monkeypatch.setattr(module, "MAX_INPUT", len(GOOD) + 20)
    path = tmp_path / "m.json"
    path.write_text(GOOD + " " * 20)
    dl.mechanisms.Mechanism.load(path)
    path.write_text(GOOD + " " * 21)
    refused(lambda: dl.mechanisms.Mechanism.load(path), "at most")
    refused(lambda: dl.DesignedMechanism([[Fraction(1, 50)] * 50]).save(tmp_path / "n.json"), "would have")
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.json"]


@pytest.mark.parametrize("where", ["missing/m.json", "folder"])
def test_places_that_cannot_be_read_or_written(tmp_path, where):
    (tmp_path / "folder").mkdir()
    refused(lambda: dl.mechanisms.Mechanism.load(tmp_path / where), "cannot be read")
    refused(lambda: NOISY.save(tmp_path / where), "cannot be written")


def test_an_old_file_stays_whole(tmp_path, monkeypatch):
    path = NOISY.save(tmp_path / "m.json")

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    refused(lambda: dl.DesignedMechanism([[1]]).save(path), "No space left")
    assert dl.mechanisms.Mechanism.load(path) == NOISY
    assert json.loads(path.read_text())["values"] == [-1, 4]
    assert len(list(tmp_path.iterdir())) == 1


# ---------------------------------------------------------------- the value of one dataset


@each("sizes", [2, 2, 2], [2, 3, 1, 2])
def test_a_datasets_value_is_the_one_that_is_listed(sizes):
    records = dl.Records(alphabets=sizes)
    per_record = [[(3 * a - i) % 5 for a in range(size)] for i, size in enumerate(sizes)]
    for query in (
        dl.Parity(),
        dl.ModularSum(3),
        dl.Count(letters=[0, 1]),
        dl.Sum(),
        dl.Sum(per_record),
        dl.Sum([-2, 5, 1][: max(sizes)]),
        dl.Threshold(2),
        dl.Table([(7 * j) % 4 for j in range(records.datasets)]),
        dl.Identity(),
    ):
        listed = query.values(records)[query.index_of_dataset(records)]
        for j, letters in enumerate(itertools.product(*map(range, sizes))):
            assert query.value(records, letters) == listed[j]
            assert records.index(letters) == j


def test_a_value_of_many_records():
    records = dl.Records(65_000, alphabet=2)
    assert dl.Count().value(records, [1, 0] * 32_500) == 32_500
    assert dl.Sum([0, 10**9]).value(dl.Records(50_000, alphabet=2), np.ones(50_000, dtype=int)) == 5 * 10**13


@each("letters", [0], [0, 1, 0], [0, 2], [0, -1], [0, True], [0, "1"], [0, 1.0], [0, None], "01")
def test_what_is_no_dataset(letters):
    refused(lambda: dl.Parity().value(dl.Records(2, alphabet=2), letters), "dataset: ")
