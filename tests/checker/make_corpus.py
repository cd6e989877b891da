"""Writes tests/checker/corpus: run `PYTHONPATH=src python tests/checker/make_corpus.py` from the repository's root.

Deterministic up to the last digits of numpy, scipy and cvxpy. Uses the float references of forge.py, designs.py and
privates.py, not the prover. An old corpus stays until the new one is complete.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import design_corpus
import forge
import private_corpus
from forge import Reference, certificate, header, text, texts

CORPUS = Path(__file__).parent / "corpus"
OUTPUT = ["joint", "1", "0", None, ["1", "1"]]  # exact for a binary symmetric channel without an entropy bound
LOOSE = ["joint", "0", "0", None, None]  # proves log 2 for two letters
NONE = ["witness", None, None]
MERGED = 'kind="matrix"; rows=[[0.9, 0.1, 0], [0.3, 0.5, 0.2], ["3/10", "1/2", "0.2"], [0.1, 0.1, 0.8]]'
THREE = 'kind="matrix"; rows=[[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]'
LATIN = 'kind="table"; values=[0, 2, 1, 1, 0, 2, 2, 1, 0]'
PRODUCT = 'kind="product_priors"'
FAIR = '["1/4", "1/4", "1/4", "1/4"]'
MODELS = {
    "parity4": ("count=4; alphabet=2", 'kind="parity"', 'kind="laplace_threshold"; epsilon=1.0', "1.0"),
    "parity4_b25": ("count=4; alphabet=2", 'kind="parity"', 'kind="laplace_threshold"; epsilon=1.0', "2.5"),
    "parity3_max": ("count=3; alphabet=2", 'kind="parity"', 'kind="symmetric"; flip=0.25', '"1 max"'),
    "parity3_bits": ("count=3; alphabet=2", 'kind="parity"', 'kind="symmetric"; flip="1/4"; k=2', '"3 bits"'),
    "single_max": ("count=1; alphabet=2", 'kind="parity"', 'kind="randomized_response"; epsilon=1', '"1 bits"'),
    "useless": ("count=3; alphabet=3", 'kind="parity"', 'kind="symmetric"; flip=0.5', "1.0"),
    "count4": ("count=4; alphabet=2", 'kind="count"', 'kind="geometric"; epsilon=0.7', "1.5"),
    "count3_letters": (
        "count=3; alphabet=3",
        'kind="count"; letters=[2, 0]',
        'kind="randomized_response"; epsilon=1.5',
        '"0.5 max"',
    ),
    "sum2": (
        "count=2; alphabet=3",
        'kind="sum"',
        'kind="exponential"; epsilon=2; sensitivity="1/2"; range=[-1, 5]',
        '"1.5 bits"',
    ),
    "sum_mixed": ("alphabets=[2, 3, 2]", 'kind="sum"', 'kind="exponential"; epsilon="3/2"', "1.2"),
    "sum_weights": (
        "alphabets=[2, 2, 1]",
        'kind="sum"; weights=[[0, 2], [0, 1], [7]]',
        'kind="symmetric"; flip="1/3"',
        "0.5",
    ),
    "sum_flat": (
        "count=3; alphabet=2",
        'kind="sum"; weights=[0, -3]',
        'kind="geometric"; epsilon=0.3; range=[-9, 0]',
        "1.1",
    ),
    "modular": ("count=5; alphabet=3", 'kind="modular_sum"; modulus=4', 'kind="symmetric"; flip="1/5"', "2.0"),
    "threshold": ("count=4; alphabet=2", 'kind="threshold"; at=3', 'kind="laplace_threshold"; epsilon=2', "1.4"),
    "table": (
        "count=2; alphabet=2",
        'kind="table"; values=[0, 0, 1, 4]',
        'kind="matrix"; rows=[[1, 0, 0], [0, "1/2", "1/2"], ["1/3", "2/3", 0]]',
        "0.6",
    ),
    "identity": ("alphabets=[2, 3]", 'kind="identity"', 'kind="randomized_response"; epsilon=2', '"0.7 max"'),
    "dataset": (
        "count=2; alphabet=2",
        "",
        'kind="matrix"; inputs="dataset"; rows=[["1/2", "1/2"], [0.25, 0.75], [0.1, 0.9], [1, 0]]',
        "0.8",
    ),
    "dataset_parity": (
        "count=2; alphabet=2",
        'kind="parity"',
        'kind="matrix"; inputs="dataset"; rows=[[1, 0], [0, 1], [1, 0], [0, 1]]',
        "0.5",
    ),
    "one_output": ("count=2; alphabet=2", 'kind="parity"', 'kind="matrix"; rows=[[1], [1]]', "0.5"),
    "sloppy_rows": (
        "count=2; alphabet=2",
        'kind="parity"',
        'kind="matrix"; rows=[[0.3333333333, 0.6666666666], [0.5, 0.5]]',
        "0.5",
    ),
    "ones": ("alphabets=[1, 1]", 'kind="count"; letters=[0]', 'kind="symmetric"; flip=0.1', '"0.5 max"'),
    "zero_entropy": ("count=2; alphabet=2", 'kind="count"', 'kind="symmetric"; flip="1/10"', "0"),
    "two_bits": ("count=3; alphabet=2", 'kind="parity"', 'kind="symmetric"; flip=0.1', '"2 bits"'),
    "bits_whole": ("count=2; alphabet=2", 'kind="identity"', 'kind="symmetric"; flip="1/4"', '"1 bits"'),
    "foreign": ("count=2; alphabet=2", 'kind="parity"', 'kind="staircase"; epsilon=1; steps=[1, "x", true]', "0.5"),
    "foreign_data": ("count=1; alphabet=3", "", 'kind="my_dataset_thing"; noise=0.25', "0.3"),
    "merged": ("alphabets=[2, 2, 1]", 'kind="sum"; weights=[[0, 1], [0, 2], [0]]', MERGED, "0.5"),
    "merged_balls": (
        "alphabets=[2, 2, 1]",
        'kind="sum"; weights=[[0, 1], [0, 2], [0]]',
        'kind="geometric"; epsilon=1',
        "0.5",
    ),
    "latin": ("count=2; alphabet=3", LATIN, THREE, "1.2"),
    "merged_table": ("count=3; alphabet=2", 'kind="table"; values=[0, 0, 1, 1, 1, 2, 3, 3]', MERGED, "0.5"),
    "flipped": ("count=2; alphabet=2", 'kind="table"; values=[1, 0, 2, 1]', THREE, "0.5"),
    "xor_table": (
        "count=2; alphabet=2",
        'kind="table"; values=[0, 1, 1, 0]',
        'kind="laplace_threshold"; epsilon=1',
        "0",
    ),
    "xor_dataset": (
        "count=2; alphabet=2",
        "",
        'kind="matrix"; inputs="dataset"; rows=[[0.9, 0.1], [0.1, 0.9], [0.1, 0.9], ["9/10", "1/10"]]',
        "0.3",
    ),
    "product_merged": ("alphabets=[2, 2, 1]", 'kind="sum"; weights=[[0, 1], [0, 2], [0]]', MERGED, PRODUCT),
    "product_latin": ("count=2; alphabet=3", LATIN, THREE, PRODUCT),
    "product_count": ("count=4; alphabet=2", 'kind="count"', 'kind="geometric"; epsilon=0.7', PRODUCT),
    "product_table": (
        "count=2; alphabet=2",
        'kind="table"; values=[0, 0, 1, 4]',
        'kind="matrix"; rows=[[1, 0, 0], [0, "1/2", "1/2"], ["1/3", "2/3", 0]]',
        PRODUCT,
    ),
    "product_threshold": (
        "count=3; alphabet=3",
        'kind="threshold"; at=3',
        'kind="laplace_threshold"; epsilon=2',
        PRODUCT,
    ),
    "product_modular": ("count=3; alphabet=4", 'kind="modular_sum"; modulus=3', 'kind="symmetric"; flip=0.3', PRODUCT),
    "product_dataset": (
        "alphabets=[2, 1, 2]",
        "",
        'kind="matrix"; inputs="dataset"; rows=[["1/2", "1/2"], [0.25, 0.75], [0.1, 0.9], [1, 0]]',
        PRODUCT,
    ),
    "product_useless": ("count=3; alphabet=3", 'kind="parity"', 'kind="symmetric"; flip=0.5', PRODUCT),
    "product_ones": ("alphabets=[1, 1]", 'kind="count"; letters=[0]', 'kind="symmetric"; flip=0.1', PRODUCT),
    "product_foreign": ("count=2; alphabet=2", 'kind="parity"', 'kind="staircase"; epsilon=1', PRODUCT),
    "priors_count": (
        "count=2; alphabet=2",
        'kind="count"',
        THREE,
        f'kind="prior_set"; priors=[{FAIR}, [0.5, 0, 0, 0.5], [0.7, 0.1, 0.2, 0]]',
    ),
    "priors_parity": (
        "count=2; alphabet=2",
        'kind="parity"',
        'kind="laplace_threshold"; epsilon=1',
        f'kind="prior_set"; priors=[[0.3333333333, 0.3333333333, 0.3333333333, 0], {FAIR}]',
    ),
    "priors_sum": (
        "alphabets=[2, 1, 3]",
        'kind="sum"; weights=[[0, 2], [5], [-1, 0, 2]]',
        'kind="exponential"; epsilon=2',
        'kind="prior_set"; priors=[["1/6", "1/6", "1/6", "1/6", "1/6", "1/6"], [0.4, 0, 0, 0, 0.2, 0.4]]',
    ),
    "priors_flat": (
        "count=2; alphabet=2",
        'kind="parity"',
        'kind="laplace_threshold"; epsilon=1',
        f'kind="prior_set"; priors=[{FAIR}]',
    ),
    "priors_mean": (
        "count=2; alphabet=2",
        'kind="identity"',
        'kind="matrix"; rows=[[1, 0], [0, 1], ["1/2", "1/2"], ["1/2", "1/2"]]',
        'kind="prior_set"; priors=[["1/5", "1/5", "2/5", "1/5"], [0, 0, "1/2", "1/2"]]',
    ),
    "priors_threshold": (
        "count=3; alphabet=2",
        'kind="threshold"; at=2',
        'kind="symmetric"; flip=0.2',
        'kind="prior_set"; priors=[[0.5, 0, 0, 0, 0, 0, 0, 0.5]]',
    ),
    "priors_dataset": (
        "count=2; alphabet=2",
        "",
        'kind="matrix"; inputs="dataset"; rows=[["1/2", "1/2"], [0.25, 0.75], [0.1, 0.9], [1, 0]]',
        f'kind="prior_set"; priors=[{FAIR}]',
    ),
    "priors_nearly": (
        "count=2; alphabet=2",
        'kind="parity"',
        'kind="laplace_threshold"; epsilon=1',
        'kind="prior_set"; priors=[["0.2500000000000000000000001", "0.2499999999999999999999999", 0.25, 0.25]]',
    ),
    "priors_ones": (
        "alphabets=[1, 1]",
        'kind="count"; letters=[0]',
        'kind="symmetric"; flip=0.1',
        'kind="prior_set"; priors=[[1], ["1"]]',
    ),
    "priors_strange": (
        "count=2; alphabet=2",
        'kind="parity"',
        'kind="odd"',
        'kind="prior_set"; priors=[[1, 0, 0, 0], [0.5, 0, 0.5, 0]]',
    ),
    "priors_foreign": (
        "count=2; alphabet=2",
        'kind="parity"',
        'kind="staircase"; epsilon=1',
        'kind="prior_set"; priors=[[1, 0, 0, 0], [0.5, 0, 0.5, 0]]',
    ),
    "parity_big": ("count=100000; alphabet=2", 'kind="parity"', 'kind="laplace_threshold"; epsilon=1', "1.0"),
}
GOOD = ("count=2; alphabet=2", 'kind="parity"', 'kind="symmetric"; flip=0.1', "0.5")


def bad_models() -> dict[str, tuple[bytes, str]]:
    """Models outside the rules and a part of the expected reason."""

    def at(place: int, body: str) -> bytes:
        return forge.model(*(body if j == place else part for j, part in enumerate(GOOD)))

    good = forge.model(*GOOD)
    return {
        "not_toml": (b"problem = \n", "not TOML"),
        "utf16": ('problem = "maximal_leakage"'.encode("utf-16"), "not TOML"),
        "bom": (b"\xef\xbb\xbf" + good, "not TOML"),
        "nul": (good + b"\0", "not TOML"),
        "gzip": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "not TOML"),
        "deep": (b"x = " + b"[" * 5000, "nested too deeply"),
        "problem": (good.replace(b"maximal", b"minimal"), "problem must be"),
        "unknown_top": (b"colour = 1\n" + good, "unknown key 'colour'"),
        "title_number": (b"title = 1\n" + good, "title must be text"),
        "no_query": (at(1, ""), "'query' is missing"),
        "query_number": (b"query = 1\n" + at(1, ""), "query must be a table"),
        "unknown_key": (at(2, 'kind="symmetric"; flip=0.1; flop=1'), "unknown key 'flop'"),
        "huge_exponent": (at(2, 'kind="symmetric"; flip=1e-999999999'), "exponent"),
        "nan": (at(2, 'kind="symmetric"; flip=nan'), "not a number"),
        "bool": (at(2, 'kind="symmetric"; flip=true'), "must be a number"),
        "long_number": (at(3, "0." + "1" * 400), "not a number of at most 400"),
        "long_integer": (at(3, "1" * 5000), "not TOML"),
        "zero_denominator": (at(2, 'kind="symmetric"; flip="1/0"'), "denominator"),
        "flip_large": (at(2, 'kind="symmetric"; flip=1.5'), "at most 1"),
        "k_wrong": (at(2, 'kind="symmetric"; flip=0.1; k=3'), "mechanism.k"),
        "epsilon_large": (at(2, 'kind="randomized_response"; epsilon=1001'), "at most 1000"),
        "geometric_zero": (at(2, 'kind="geometric"; epsilon=0'), "must be positive"),
        "range_small": (at(2, 'kind="geometric"; epsilon=1; range=[1, 2]'), "contain every value"),
        "range_empty": (at(2, 'kind="geometric"; epsilon=1; range=[0, 0]'), "lo < hi"),
        "sensitivity": (at(2, 'kind="exponential"; epsilon=1; sensitivity=0'), "sensitivity must be positive"),
        "laplace_count": (
            forge.model(GOOD[0], 'kind="count"', 'kind="laplace_threshold"; epsilon=1', "0.5"),
            "values 0, 1",
        ),
        "rows_count": (at(2, 'kind="matrix"; rows=[[1]]'), "1 rows where 2"),
        "rows_ragged": (at(2, 'kind="matrix"; rows=[[1], [0.5, 0.5]]'), "one length"),
        "rows_negative": (at(2, 'kind="matrix"; rows=[[1.5, -0.5], [1, 0]]'), "nonnegative"),
        "rows_sum": (at(2, 'kind="matrix"; rows=[[1, 0.000000002], [1, 0]]'), "row 0 does not sum"),
        "inputs": (at(2, 'kind="matrix"; inputs="records"; rows=[[1], [1]]'), "inputs must be"),
        "kind_number": (at(2, "kind=1"), "kind must be text"),
        "query_kind": (at(1, 'kind="median"'), "unknown"),
        "letters_twice": (at(1, 'kind="count"; letters=[1, 1]'), "distinct"),
        "table_short": (at(1, 'kind="table"; values=[0, 1]'), "must list 4"),
        "weights_length": (at(1, 'kind="sum"; weights=[0, 1, 2]'), "largest alphabet"),
        "weights_nested": (at(1, 'kind="sum"; weights=[[0, 1], [0]]'), "one weight for each"),
        "identity_large": (forge.model("count=17; alphabet=2", 'kind="identity"', GOOD[2], "1"), "at most 65536"),
        "sum_many": (forge.model("count=70000; alphabet=2", 'kind="sum"', GOOD[2], "1"), "more than 65536 values"),
        "count_many": (forge.model("count=70000; alphabet=2", 'kind="count"', GOOD[2], "1"), "more than 65536 values"),
        "entries": (forge.model("count=5000; alphabet=2", 'kind="count"', GOOD[2], "1"), "more than 16777216"),
        "no_records": (at(0, "alphabets=[]"), "1 to 1000000"),
        "alphabet_zero": (at(0, "count=1; alphabet=0"), "from 1 to 10000"),
        "entropy_negative": (at(3, "-0.1"), "nonnegative"),
        "entropy_large": (at(3, '"2.0000000000000001 bits"'), "log |X| fails"),
        "entropy_share": (at(3, '"1.01 max"'), "log |X| fails"),
        "entropy_unit": (at(3, '"1 hartley"'), "not a number"),
        "adversary_both": (at(3, 'kind="product_priors"; entropy_at_least=1'), "unknown key 'entropy_at_least'"),
        "adversary_kind": (at(3, 'kind="markov"'), "adversary.kind must be"),
        "adversary_default": (at(3, 'kind="entropy_at_least"; entropy_at_least=1'), "adversary.kind must be"),
        "adversary_kind_number": (at(3, "kind=1"), "adversary.kind must be text"),
        "adversary_empty": (good.split(b"entropy_at_least")[0], "'entropy_at_least' is missing"),
        "adversary_list": (b"adversary = []\n" + good.split(b"[adversary]")[0], "adversary must be a table"),
        "product_extra": (at(3, 'kind="product_priors"; priors=[]'), "unknown key 'priors'"),
        "priors_missing": (at(3, 'kind="prior_set"'), "'priors' is missing"),
        "priors_none": (at(3, 'kind="prior_set"; priors=[]'), "at least one list"),
        "priors_number": (at(3, 'kind="prior_set"; priors=1'), "must be a list"),
        "priors_short": (at(3, 'kind="prior_set"; priors=[[0.5, 0.5]]'), "must list |X|"),
        "priors_ragged": (at(3, f'kind="prior_set"; priors=[{FAIR}, [1, 0, 0]]'), "one length"),
        "priors_negative": (at(3, 'kind="prior_set"; priors=[[1, 1, -1, 0]]'), "nonnegative"),
        "priors_total": (at(3, 'kind="prior_set"; priors=[[1, 0.000000002, 0, 0]]'), "row 0 does not sum"),
        "priors_large": (
            forge.model("count=17; alphabet=2", 'kind="parity"', GOOD[2], 'kind="prior_set"; priors=[[1]]'),
            "must list |X|",
        ),
    }


class Corpus:
    """Collects the files and the table in a new folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in ("accept", "reject", "models"):
            (folder / part).mkdir(parents=True)
        self.table: list[str] = []
        self.files: dict[str, bytes] = {}
        for name, parts in MODELS.items():
            self.model(name, forge.model(*parts))

    def model(self, name: str, data: bytes) -> None:
        """Store one model."""
        self.files[name] = data
        (self.folder / "models" / f"{name}.toml").write_bytes(data)

    def add(self, name: str, model: str, data: bytes, status: int = 0, reason: str = "") -> None:
        """Store one certificate and what is expected of it."""
        path = f"{'accept' if status == 0 else 'reject'}/{name}.cert"
        assert not (self.folder / path).exists(), path
        (self.folder / path).write_bytes(data)
        self.table.append(
            f'[[file]]\npath = "{path}"\nmodel = "{model}"\nstatus = {status}\n'
            + (f"reason = {json.dumps(reason)}\n" if reason else "")
        )

    def accept(self, name: str, model: str, lower: str, upper: str, *lines: Any, **extra: Any) -> None:
        """A certificate that proves its claim."""
        self.add(name, model, certificate(self.files[model], lower, upper, *lines, **extra))

    def accepted(self, name: str) -> list[str]:
        """The lines of a stored certificate."""
        return (self.folder / "accept" / f"{name}.cert").read_text().splitlines()

    def reject(self, name: str, model: str, reason: str, lower: str, upper: str, *lines: Any, **extra: Any) -> None:
        """A certificate that does not."""
        self.add(name, model, certificate(self.files[model], lower, upper, *lines, **extra), 1, reason)


def searched(corpus: Corpus, rng: np.random.Generator) -> dict[str, tuple[str, list[Any], str]]:
    """Witnesses by local search: the claim, the line, and the best value found."""
    found = {}
    for name in MODELS:
        if name.startswith(("product", "priors")) or name in (
            "parity_big",
            "foreign",
            "foreign_data",
            "ones",
            "parity3_max",
            "parity3_bits",
            "single_max",
            "one_output",
        ):
            continue
        ref = Reference(corpus.files[name])
        p = ref.search(rng)
        weights = [texts(row, 12) for row in p]
        value = ref.information(
            np.array([[float(x) for x in row] for row in weights]) / sum(float(x) for row in weights for x in row)
        )
        found[name] = (text(max(value - 1e-9, 0), 10), ["witness", 0, weights], p)
    return found


def up(bound: float) -> str:
    return text(bound + 2e-9)


def accepts(corpus: Corpus, rng: np.random.Generator, found: dict[str, Any]) -> None:
    """One certificate or more for each kind of query, mechanism, leaf and unit."""
    best = ["witness", 0, [["1", "0"], ["0", "1"]]]
    claim = ("0.0795415058652", "0.0795415058654")
    corpus.accept("parity_output", "parity4", *claim, best, ["record", 0], OUTPUT)
    corpus.accept("parity_vertices", "parity4", *claim, best, ["record", 3], ["vertices"], ["law", ["0.5", "0.5"]])
    corpus.accept("parity_big", "parity_big", *claim, ["witness", 99999, best[2]], ["record", 5], OUTPUT)
    weights = [["2e3", "0"], ["0e-400", "2000"]]
    corpus.accept(
        "scaled_witness",
        "parity4",
        *claim,
        ["witness", 2, weights],
        ["record", 0],
        ["joint", "5/5", "0/7", None, ["7", "7.0"]],
    )
    parts = [
        ["vertices"],
        ["part", 0, [0]],
        ["law", ["1", "1"]],
        ["part", 1, []],
        ["law", ["0", "0.5"]],
        ["law", ["2", "2"]],
    ]
    corpus.accept("parts_vacuous", "parity4", *claim, best, ["record", 0], *parts)
    outside = (
        ["split", 0, 1, "-1/3"],
        ["joint", "0", "0", [None, ["1", "-1"]], None],
        ["split", 1, 1, "7"],
        OUTPUT,
        ["vertices"],
        ["law", ["9", "1"]],
    )
    corpus.accept("splits_outside", "parity4", *claim, best, ["record", 0], *outside)
    corpus.accept("lower_zero", "parity4", "0", "0.1", ["witness", None, None], ["record", 1], OUTPUT)
    corpus.accept("lower_negative", "parity4", "-1/3", "0.1", ["witness", 0, "uniform"], ["record", 1], OUTPUT)
    corpus.accept("max_uniform", "parity3_max", "0", "0", ["witness", 1, "uniform"], ["record", 2], ["uniform"])
    corpus.accept(
        "bits_uniform",
        "parity3_bits",
        "0",
        "1e-300",
        ["witness", None, None],
        ["record", 0],
        ["split", 0, 0, "1/2"],
        ["uniform"],
        ["uniform"],
    )
    e = np.e / (1 + np.e)
    value = float(np.log(2) + e * np.log(e) + (1 - e) * np.log(1 - e))
    corpus.accept(
        "single_uniform",
        "single_max",
        text(value - 1e-9),
        up(value),
        ["witness", 0, "uniform"],
        ["record", 0],
        ["uniform"],
    )
    corpus.accept(
        "useless_zero",
        "useless",
        "0",
        "1e-30",
        ["witness", 0, "uniform"],
        ["record", 0],
        ["joint", "1", "0", None, ["3", "3"]],
    )
    corpus.accept(
        "useless_vertices",
        "useless",
        "0",
        "0",
        ["witness", 0, "uniform"],
        ["record", 0],
        ["vertices"],
        ["law", ["3", "3"]],
    )
    corpus.accept("one_output_loose", "one_output", "0", "0.7", ["witness", None, None], ["record", 0], LOOSE)
    corpus.accept(
        "one_output_exact",
        "one_output",
        "0",
        "0",
        ["witness", None, None],
        ["record", 1],
        ["joint", "1", "0", None, ["1"]],
    )
    corpus.accept("no_letters", "ones", "0", "0", ["witness", None, None])
    corpus.accept("one_letter_section", "ones", "0", "1e-30", ["witness", None, None], ["record", 1], LOOSE)
    lower, witness, _ = found["zero_entropy"]
    corners = ["witness", 0, [["1", "0", "0"], ["0", "0", "1"]]]
    value = Reference(corpus.files["zero_entropy"]).information(np.array([[0.5, 0, 0], [0, 0, 0.5]]))
    corpus.accept("point_masses", "zero_entropy", text(value - 1e-9), "0.7", corners, ["record", 0], LOOSE)
    for name, most in {
        "parity4_b25": 30,
        "count4": 45,
        "sum2": 30,
        "modular": 40,
        "threshold": 45,
        "count3_letters": 40,
        "two_bits": 30,
        "sloppy_rows": 30,
    }.items():
        ref = Reference(corpus.files[name])
        lower, witness, p = found[name]
        lines, bound = ref.grow(0, 0.002, ref.information(p), most)
        corpus.accept(f"{name}_posterior", name, lower, up(bound), witness, ["record", 0], *lines)
    for name, most in {"count4": 20, "sum2": 10, "modular": 8, "threshold": 12, "parity4_b25": 10}.items():
        ref = Reference(corpus.files[name])
        lower, witness, p = found[name]
        law = np.maximum(p.sum(0) @ ref.R, 1e-3)
        lines, bound = ref.grow(0.5, 0.002, ref.information(p), most, law)
        corpus.accept(f"{name}_mixed", name, lower, up(bound), witness, ["record", 0], *lines)
    ref = Reference(corpus.files["count4"])
    lines, bound = ref.grow(0, 0.05, ref.information(found["count4"][2]), 12, None, rng)
    corpus.accept("count4_hints", "count4", found["count4"][0], up(bound), found["count4"][1], ["record", 2], *lines)
    for name, most in {
        "parity4_b25": 1,
        "threshold": 4,
        "sum_flat": 6,
        "bits_whole": 8,
        "dataset": 8,
        "table": 8,
        "identity": 3,
    }.items():
        sections, bound = [], 0.0
        symmetric = name in ("parity4_b25", "threshold", "sum_flat")
        for i in range(1 if symmetric else len(Reference(corpus.files[name]).alphabets)):
            ref = Reference(corpus.files[name], i)
            p = ref.search(rng, 3)
            law = np.maximum(p.sum(0) @ ref.R, 1e-3)
            lines, here = ref.grow(1, 0.001, ref.information(p), most, law)
            sections += [["record", i], *lines]
            bound = max(bound, here)
        corpus.accept(f"{name}_output_law", name, found[name][0], up(bound), found[name][1], *sections)
    for name, order in {"sum_mixed": (1, 0), "sum_weights": (0, 1)}.items():
        sections, bound = [], 0.0
        for i in order:
            ref = Reference(corpus.files[name], i)
            tree, here = ref.grow(0, 0.02, ref.information(ref.search(rng, 2)), 12)
            sections += [["record", i], *tree]
            bound = max(bound, here)
        corpus.accept(f"{name}_sections", name, found[name][0], up(bound), found[name][1], *sections)
    ref = Reference(corpus.files["table"])
    law = ref.capacity([0, 1, 2])[1]
    sections = [["record", 0], ["vertices"], ["law", texts(law)], ["record", 1], ["vertices"], ["law", texts(law)]]
    bound = float(ref.divergences(np.round(law, 10))[[0, 1, 2]].max())
    corpus.accept("table_vertices", "table", found["table"][0], up(bound + 1e-8), found["table"][1], *sections)
    rows = {"inputs": "query", "rows": [["3/4", "1/4"], ["0.25", "0.75"]]}
    same = Reference(forge.model(MODELS["foreign"][0], 'kind="parity"', 'kind="symmetric"; flip=0.25', "0.5"))
    value = same.information(np.array([[0.5, 0], [0, 0.5]]))
    corpus.accept(
        "resolved",
        "foreign",
        text(value - 1e-9),
        up(value),
        best,
        ["record", 0],
        OUTPUT,
        resolved=rows,
    )
    rows = {"inputs": "dataset", "rows": [["1", "0"], ["0", "1"], ["1/2", "1/2"]]}
    corpus.accept(
        "resolved_dataset",
        "foreign_data",
        "0",
        "0.7",
        ["witness", None, None],
        ["record", 0],
        OUTPUT,
        resolved=rows,
    )


def rejects(corpus: Corpus, found: dict[str, Any]) -> None:
    """Proofs that fail, claims too strong, and lines outside the rules."""
    best, output, claim = ["witness", 0, [["1", "0"], ["0", "1"]]], OUTPUT, ("0.07", "0.08")
    p4, none = "parity4", ["witness", None, None]
    good = [best, ["record", 0], output]

    def bad(name: str, reason: str, *lines: Any, model: str = p4, claim: tuple[str, str] = claim, **extra: Any) -> None:
        corpus.reject(name, model, reason, *claim, *lines, **extra)

    def head(name: str, reason: str, **changes: Any) -> None:
        first = {**header(corpus.files[p4], *claim), **changes}
        first = {key: value for key, value in first.items() if value is not ...}
        corpus.add(name, p4, "".join(json.dumps(x) + "\n" for x in [first, *good]).encode(), 1, reason)

    def raw(name: str, reason: str, change: Any, model: str = p4) -> None:
        corpus.add(name, model, change(certificate(corpus.files[model], *claim, *good)), 1, reason)

    # claims too strong
    exact = "0.07954150586530130325618"
    bad("lower_1e12", "lower <= witness's information fails", *good, claim=("0.079541505866301304", "0.08"))
    bad("lower_1e22", "lower <= witness's information fails", *good, claim=(exact, "0.08"))
    bad("upper_1e12", "joint leaf <= upper fails", *good, claim=("0.07", "0.079541505864301303"))
    bad("upper_1e22", "joint leaf <= upper fails", *good, claim=("0.07", "0.0795415058653013032560"))
    bad("crossed", "lower <= upper", *good, claim=("0.08", "0.0795"))
    bad("upper_negative", "0 <= upper", none, claim=("-2", "-1"), model="ones")
    bad("weak_joint", "joint leaf <= upper fails", best, ["record", 0], LOOSE)
    bad("weak_law", "vertices leaf <= upper fails", best, ["record", 0], ["vertices"], ["law", ["2", "1"]])
    bad(
        "second_law",
        "vertices leaf <= upper fails",
        best,
        ["record", 0],
        ["vertices"],
        ["part", 0, [0]],
        ["law", ["1", "1"]],
        ["law", ["2", "1"]],
    )
    vertices, row = [best, ["record", 0], ["vertices"]], ["law", forge.texts(Reference(corpus.files[p4]).R[0], 12)]
    sets = [["part", 0, [0]], ["part", 1, [0]], row, row, ["law", ["1", "1"]]]
    bad("law_outside", "vertices leaf <= upper fails", *vertices, *sets)
    bad("first_law", "vertices leaf <= upper fails", *vertices, sets[0], ["law", ["2", "1"]], ["law", ["1", "1"]])
    weak_rows(corpus, found)
    bad(
        "second_row",
        "joint leaf <= upper fails",
        best,
        ["record", 0],
        ["joint", "1", "0.5", None, ["1", "1"]],
        ["row", None],
        ["row", None],
    )
    bad(
        "uniform_small",
        "joint leaf <= upper fails",
        none,
        ["record", 0],
        ["joint", "0", "0.1", None, None],
        claim=("0", "1e-9"),
        model="parity3_max",
    )
    bad(
        "lower_uniform",
        "lower <= witness's information fails",
        ["witness", 0, "uniform"],
        ["record", 0],
        ["uniform"],
        claim=("1e-40", "1"),
        model="parity3_max",
    )
    # witnesses
    bad(
        "wrong_letters",
        "witness's entropy fails",
        ["witness", 0, [["1", "0"], ["0", "1"]]],
        ["record", 0],
        LOOSE,
        model="parity4_b25",
        claim=("0.07", "1"),
    )
    bad(
        "not_normalised", "witness's information fails", ["witness", 0, [["9", "1"], ["1", "9"]]], ["record", 0], output
    )
    bad(
        "witness_twice_large",
        "witness's entropy fails",
        ["witness", 0, [["9e30", "0"], ["0", "9e30"]]],
        ["record", 0],
        LOOSE,
        model="parity4_b25",
        claim=("0.01", "1"),
    )
    bad(
        "witness_other_record",
        "witness's information fails",
        ["witness", 1, [["1", "0"], ["0", "1"]]],
        ["record", 0],
        output,
        claim=("0.0796", "0.1"),
    )
    bad(
        "witness_missing_pair",
        "which no dataset has",
        ["witness", 0, [["1", "0"], ["1", "0"]]],
        ["record", 0],
        output,
        model="single_max",
    )
    bad("witness_short", "list of 2", ["witness", 0, [["1", "0"]]], ["record", 0], output)
    bad("witness_long_row", "list of 2", ["witness", 0, [["1", "0", "0"], ["0", "1"]]], ["record", 0], output)
    bad("witness_negative", "nonnegative", ["witness", 0, [["1", "-0.1"], ["0", "1"]]], ["record", 0], output)
    bad("witness_zero", "total weight zero", ["witness", 0, [["0", "0"], ["0", "0"]]], ["record", 0], output)
    bad("witness_numbers", "written as a string", ["witness", 0, [[1, 0], [0, 1]]], ["record", 0], output)
    bad("witness_index", "integer from 0 to 3", ["witness", 4, best[2]], ["record", 0], output)
    bad("witness_true", "integer from 0 to 3", ["witness", True, best[2]], ["record", 0], output)
    bad("witness_half_null", "integer from 0 to 3", ["witness", None, best[2]], ["record", 0], output)
    bad("witness_no_weights", "list of 2", ["witness", 0, None], ["record", 0], output)
    bad("witness_null", "lower is positive", none, ["record", 0], output)
    bad("witness_missing", "the witness is expected", ["record", 0], output)
    bad("witness_name", "list of 2", ["witness", 0, "Uniform"], ["record", 0], output)
    # h(v) = 2.5 - 3 log 2 has the solution v; entropy short by 1e-15
    below, above = entropy_edge(2.5 - 3 * np.log(2))
    for name, v in (("entropy_short", below), ("entropy_enough", above)):
        weights = ["witness", 0, [[v, _one_minus(v)], [_one_minus(v), v]]]
        lines = [weights, ["record", 0], LOOSE]
        if name == "entropy_enough":
            corpus.accept(name, "parity4_b25", "0.0387", "1", *lines)
        else:
            bad(name, "witness's entropy fails", *lines, model="parity4_b25", claim=("0.0387", "1"))
    # trees and sections
    bad(
        "missing_subtree",
        "the file ends where a split, cut or leaf",
        best,
        ["record", 0],
        ["split", 0, 0, "0.5"],
        output,
    )
    bad(
        "missing_row",
        "a cut or row of letter 1",
        best,
        ["record", 0],
        ["joint", "1", "0.5", None, ["1", "1"]],
        ["row", None],
    )
    bad(
        "missing_cut",
        "the file ends where a cut or row",
        best,
        ["record", 0],
        ["joint", "1", "9", None, ["1", "1"]],
        ["row", None],
        ["cut", 0, "0.5"],
        ["row", None],
    )
    bad(
        "missing_law",
        "the file ends where a part or law",
        best,
        ["record", 0],
        ["vertices"],
        ["part", 0, [0]],
        ["law", ["1", "1"]],
    )
    bad("rows_after_zero", "a record is expected", best, ["record", 0], output, ["row", None])
    bad("trailing_leaf", "a record is expected", *good, output)
    bad("trailing_header", "a record is expected", *good, {"format": "dalenius-certificate/2"})
    bad("record_twice", "record 0 comes twice", *good, ["record", 0], output)
    bad("record_index", "integer from 0 to 3", best, ["record", 4], output)
    bad("record_none", "record 3 is not covered", best)
    bad(
        "record_uncovered",
        "record 1 is not covered",
        none,
        ["record", 0],
        LOOSE,
        model="sum_mixed",
        claim=("0", "2"),
    )
    bad(
        "record_weights",
        "record 1 is not covered",
        none,
        ["record", 0],
        LOOSE,
        model="sum_weights",
        claim=("0", "2"),
    )
    leaf = OUTPUT
    sections = [none, ["record", 0], leaf]
    bad("record_dataset_parity", "record 1 is not covered", *sections, model="dataset_parity", claim=("0", "2"))
    bad(
        "record_table",
        "record 0 is not covered",
        none,
        ["record", 1],
        LOOSE,
        model="table",
        claim=("0", "2"),
    )
    bad(
        "record_dataset",
        "record 1 is not covered",
        none,
        ["record", 0],
        LOOSE,
        model="dataset",
        claim=("0", "2"),
    )
    bad(
        "box_direction",
        "joint leaf <= upper fails",
        *wrong_direction(corpus, found),
        model="count4",
        claim=("0", upper_of(corpus, "count4_posterior")),
    )
    bad(
        "vacuous_malformed",
        "list of 2",
        best,
        ["record", 0],
        ["split", 0, 0, "-1"],
        ["joint", "0", "0", [None], None],
        output,
    )
    bad("vacuous_uniform", "equal to log", best, ["record", 0], ["split", 0, 0, "-1"], ["uniform"], output)
    bad("uniform_leaf", "equal to log", best, ["record", 0], ["uniform"])
    bad(
        "split_letter",
        "the letter must be an integer from 0 to 1",
        best,
        ["record", 0],
        ["split", 2, 0, "0.5"],
        output,
        output,
    )
    bad(
        "split_output",
        "the output must be an integer from 0 to 1",
        best,
        ["record", 0],
        ["split", 0, 2, "0.5"],
        output,
        output,
    )
    bad("split_number", "written as a string", best, ["record", 0], ["split", 0, 0, 1], output, output)
    bad("split_size", "'split' takes 3 entries", best, ["record", 0], ["split", 0, 0], output, output)
    bad(
        "cut_output",
        "the output must be an integer from 0 to 1",
        best,
        ["record", 0],
        ["joint", "1", "1", None, ["1", "1"]],
        ["cut", 2, "0.5"],
    )
    bad("part_letter", "the letter must be an integer from 0 to 1", best, ["record", 0], ["vertices"], ["part", 2, [0]])
    bad(
        "part_input",
        "a listed input must be an integer from 0 to 1",
        best,
        ["record", 0],
        ["vertices"],
        ["part", 0, [2]],
    )
    bad("part_list", "listed inputs must be a list", best, ["record", 0], ["vertices"], ["part", 0, "0"])
    bad("leaf_name", "a split, cut or leaf is expected", best, ["record", 0], ["magic"])
    bad("mu_negative", "mu must be nonnegative", best, ["record", 0], ["joint", "0", "-1", None, None])
    bad(
        "theta_negative",
        "theta must be nonnegative",
        best,
        ["record", 0],
        ["joint", "-1e-400", "0", None, ["1", "1"]],
        ["row", None],
        ["row", None],
    )
    bad("law_zero", "the law is zero at output 1", best, ["record", 0], ["joint", "1", "0", None, ["1", "0"]])
    bad(
        "law_zero_part",
        "the law is zero at output 0",
        none,
        ["record", 0],
        ["vertices"],
        ["law", ["0", "1", "1"]],
        model="table",
        claim=("0", "1"),
    )
    bad("law_negative", "nonnegative", best, ["record", 0], ["joint", "1", "0", None, ["2", "-1"]])
    bad("law_short", "list of 2", best, ["record", 0], ["joint", "1", "0", None, ["1"]])
    bad("sigma_short", "list of 2", best, ["record", 0], ["joint", "0", "1", [None, ["0"]], None])
    bad("sigma_infinite", "not a number", best, ["record", 0], ["joint", "0", "1", [None, ["0", "inf"]], None])
    # numbers
    for name, number in {
        "hex": "0x1p3",
        "plus": "+1",
        "blank": " 1",
        "ball": "1 +/- 2",
        "exponent": "1e401",
        "capital": "1E3",
        "point": ".5",
        "nan": "nan",
        "underscore": "1_0",
        "arabic": "\u0663",
        "empty": "",
    }.items():
        bad(
            f"number_{name}",
            "exponent" if name == "exponent" else "not a number",
            best,
            ["record", 0],
            ["joint", "1", number, None, ["1", "1"]],
        )
    bad("number_denominator", "denominator", best, ["record", 0], ["joint", "1", "1/0", None, ["1", "1"]])
    bad(
        "number_long",
        "not a number of at most 400",
        best,
        ["record", 0],
        ["joint", "1", "0." + "0" * 399, None, ["1", "1"]],
    )
    # header
    head("digest", "another model", model="0" * 64)
    head("format", "the header's format must be", format="dalenius-certificate/1")
    head("problem", "problem must be", problem="leakage")
    head("unit_bits", "the header's unit must be 'nats'", unit="bits")
    head("producer", "producer must be text", producer=None)
    head("header_extra", "unknown key 'note'", note="x")
    head("header_missing", "'lower' is missing", lower=...)
    head("header_number", "lower must be a number written", lower=0)
    head("resolved_known", "unknown key 'resolved'", resolved={"inputs": "query", "rows": [["1", "0"], ["0", "1"]]})
    eye = [["1", "0"], ["0", "1"]]
    bad("resolved_missing", "'resolved' is missing", *good, model="foreign")
    bad("resolved_rows", "1 rows where 2", *good, model="foreign", resolved={"inputs": "query", "rows": [["1", "0"]]})
    bad(
        "resolved_sum",
        "does not sum to 1",
        *good,
        model="foreign",
        resolved={"inputs": "query", "rows": [["1", "0"], ["0", "0.9"]]},
    )
    bad("resolved_inputs", "inputs must be", *good, model="foreign", resolved={"inputs": "values", "rows": eye})
    bad(
        "resolved_numbers",
        "written as a string",
        *good,
        model="foreign",
        resolved={"inputs": "query", "rows": [[1, 0], [0, 1]]},
    )
    bad("resolved_keys", "'inputs' is missing", *good, model="foreign", resolved={"rows": eye})
    # bytes
    raw("empty", "the header is expected", lambda data: b"")
    raw("gzip", "not ASCII", lambda data: b"\x1f\x8b\x08\x00" + data)
    raw("bom", "not ASCII", lambda data: b"\xef\xbb\xbf" + data)
    raw("utf16", "not ASCII", lambda data: data.decode().encode("utf-16"))
    raw("nul", "not a JSON value", lambda data: data.replace(b'["record"', b'\0["record"'))
    raw("blank_line", "not a JSON value", lambda data: data.replace(b'["record"', b'\n["record"'))
    raw("blank_end", "not a JSON value", lambda data: data + b"\n")
    raw("truncated", "not a JSON value", lambda data: data[:-6])
    raw("duplicate_key", "a key occurs twice", lambda data: data.replace(b'"lower"', b'"upper":"0.08","lower"'))
    raw("json_float", "not allowed", lambda data: data.replace(b'["record",0]', b'["record",0.0]'))
    raw("json_nan", "not allowed", lambda data: data.replace(b'["record",0]', b'["record",NaN]'))
    raw("json_huge", "not allowed", lambda data: data.replace(b'["record",0]', b'["record",' + b"1" * 5000 + b"]"))
    raw("json_exponent", "not allowed", lambda data: data.replace(b'["record",0]', b'["record",1e999999999]'))
    raw("json_minus", "not allowed", lambda data: data.replace(b'["record",0]', b'["record",-0]'))
    raw("json_deep", "nested too deeply", lambda data: data.replace(b'["record",0]', b"[" * 20000))
    raw("json_surrogate", "a record is expected", lambda data: data.replace(b'["record",0]', b'["\\ud800",0]'))
    raw("header_list", "must be a table", lambda data: b"[]\n")
    raw("not_a_list", "a record is expected", lambda data: data.replace(b'["record",0]', b'"record"'))


def weak_rows(corpus: Corpus, found: dict[str, Any]) -> None:
    """Joint leaves where only one row leaf of a letter is too weak, the first or the last."""
    ref = Reference(corpus.files["count4"])
    law = found["count4"][2].sum(0) @ ref.R
    (leaf, *good), bound = ref.joint(ref.root(), 1, 0.1, law)
    cut, weak = ["cut", 2, "0.25"], ["row", ["9"] * ref.Y]
    cases = {"row_first": (weak, None), "row_last": (None, weak), "row_none": (None, None)}
    for name, rows in cases.items():
        proof = [NONE, ["record", 0], leaf]
        for own in good:
            proof += [cut, *(row or own for row in rows)]
        if name == "row_none":
            corpus.accept("row_cuts", "count4", "0", up(bound), *proof)
        else:
            corpus.reject(name, "count4", "joint leaf <= upper fails", "0", up(bound), *proof)


def shared_rows(corpus: Corpus) -> None:
    """A letter whose row problem is that of an earlier letter refers to it, and only then."""
    model, other = "parity4_b25", [NONE, ["record", 0]]
    ref = Reference(corpus.files[model])
    root, law = ref.root(), np.array([0.45, 0.55])
    (leaf, first, _), bound = ref.joint(root, 1, 0.2, law)
    again, claim = ["as", 0], up(bound)
    corpus.accept("as", model, "0", claim, *other, leaf, first, again)
    corpus.accept("as_in_cut", model, "0", claim, *other, leaf, first, ["cut", 0, "0.5"], again, again)
    corpus.reject("as_low", model, "leaf <= upper fails", "0", text(bound - 1e-6), *other, leaf, first, again)
    corpus.reject("as_itself", model, "letter 1 is not known", "0", claim, *other, leaf, first, ["as", 1])
    corpus.reject("as_first", model, "letter 0 is not known", "0", claim, *other, leaf, again, first)
    corpus.reject("as_later", model, "letter 1 is not known", "0", claim, *other, leaf, ["as", 1], first)
    corpus.reject("as_nobody", model, "the letter must be", "0", claim, *other, leaf, first, ["as", 2])
    corpus.reject("as_alone", model, "'as' takes 1 entries", "0", claim, *other, leaf, first, ["as"])
    corpus.reject("as_leaf", model, "a split, cut or leaf is expected", "0", claim, *other, again)
    cut = [["cut", 1, 0, "0.5"], leaf, first, again]
    corpus.reject("as_other_range", model, "letter 0 is not known", "0", "9", *other, *cut, leaf, first, first)
    everything = ["cut", 0, 0, "2"]  # its second half is vacuous
    corpus.accept("as_same_range", model, "0", "9", *other, everything, leaf, first, again, leaf, first, first)
    slopes = ["joint", "1", "0.2", [["0.1", "0"], None], leaf[4]]
    corpus.reject("as_other_slopes", model, "letter 0 is not known", "0", "9", *other, slopes, first, again)
    slopes = ["joint", "1", "0.2", [["0.1", "0"], ["0.1", "0"]], leaf[4]]
    corpus.accept("as_same_slopes", model, "0", "9", *other, slopes, first, again)
    shifted = Reference(corpus.files["count4"])
    lines, _ = shifted.joint(shifted.root(), 1, 0.2, np.full(shifted.Y, 1.0 / shifted.Y))
    corpus.reject("as_other_counts", "count4", "letter 0 is not known", "0", "9", *other, *lines[:2], again)


def joints(corpus: Corpus, found: dict[str, Any]) -> None:
    """Joint leaves in all their forms, cuts of both kinds, vacuous boxes."""
    ref, model = Reference(corpus.files["count4"]), "count4"
    lower, witness, p = found[model]
    law, root = p.sum(0) @ ref.R, ref.root()
    head, other = [witness, ["record", 0]], [NONE, ["record", 0]]
    weights = texts(law)
    for theta in (0, 0.5, 1, 0.25):
        for mu in (0, 0.2):
            lines, bound = ref.joint(root, theta, mu, law)
            name = f"theta_{theta}_mu_{mu}".replace(".", "")
            corpus.accept(name, model, lower, up(bound), *head, *lines)
            corpus.reject(f"{name}_low", model, "joint leaf <= upper fails", "0", text(bound - 1e-6), *other, *lines)
    # theta = 1 with slopes for the posterior: they can help only in small boxes, here they cost
    slopes = [["0.1"] * ref.Y, None]
    _, bound = ref.joint(root, 1, 0, law)
    corpus.accept("theta_1_sigma", model, "0", up(bound + 0.2), *other, ["joint", "1", "0", slopes, weights])
    corpus.reject(
        "theta_1_sigma_low", model, "leaf <= upper fails", "0", up(bound), *other, ["joint", "1", "0", slopes, weights]
    )
    # cuts: the ranges of K carry over from the box to the row trees, and their order matters
    y, t = 0, float((root["low"][0, 0] + root["high"][0, 0]) / 2)
    t = round(t, 6)
    below, above = ref.halves(root, "cut", 0, y, t)
    (first, least), (second, most) = ref.joint(below, 1, 0.2, law), ref.joint(above, 1, 0.2, law)
    cut = ["cut", 0, y, text(t, 6)]
    corpus.accept("cut_box", model, "0", up(max(least, most)), *other, cut, *first, *second)
    corpus.reject(
        "cut_exchanged", model, "leaf <= upper fails", "0", up(max(least, most)), *other, cut, *second, *first
    )
    rows = [["cut", y, text(t, 6)], first[1], second[1], first[2]]
    tree = max(ref.joint(root, 1, 0.2, law)[1], least, most) + 0.01
    corpus.accept("cut_rows", model, "0", up(tree), *other, first[0], *rows)
    corpus.reject("cut_rows_missing", model, "a cut or row of letter 1", "0", "9", *other, first[0], *rows[:-1])
    corpus.reject("cut_rows_more", model, "a record is expected", "0", "9", *other, first[0], *rows, rows[-1])
    # vacuous: by a range, by the sum of the lows, by the sum of the highs, by the cuts of a row tree
    lines, bound = ref.joint(root, 0.5, 0.2, law)
    weak = ["joint", "1", "1", None, ["1"] * ref.Y]
    rows = [["cut", 1, "1/2"], ["row", None], ["row", None], ["row", None]]
    corpus.accept("vacuous_cut", model, "0", up(bound), *other, ["cut", 1, 2, "-1/7"], weak, *rows, *lines)
    corpus.accept("vacuous_high_cut", model, "0", up(bound), *other, ["cut", 1, 2, "1.01"], *lines, weak, *rows)
    pair = [["split", 0, 0, "0.6"], *lines, ["split", 1, 0, "0.6"], *lines, weak, *rows]
    corpus.accept("vacuous_sum", model, "0", up(bound), *other, *pair)
    pair = [["split", 0, 0, "0.4"], ["split", 1, 0, "0.4"], weak, *rows, *lines, *lines]
    corpus.accept("vacuous_sum_of_highs", model, "0", up(bound), *other, *pair)
    touching = [["split", 0, 0, "0.5"], ["split", 1, 0, "0.5"], weak, *[["row", None]] * 2, *lines, *lines]
    corpus.reject("vacuous_touching", model, "leaf <= upper fails", "0", up(bound), *other, *touching)
    small = [text(x + 0.01, 6) for x in root["low"][0]]
    chain = [line for k in range(ref.Y) for line in (["cut", 0, k, small[k]],)]
    corpus.accept("vacuous_cuts", model, "0", up(bound), *other, *chain, weak, *rows, *lines * ref.Y)
    inside = [lines[0], *(["cut", k, small[k]] for k in range(ref.Y)), ["row", ["9"] * ref.Y], *[lines[1]] * ref.Y]
    corpus.accept("vacuous_row", model, "0", up(bound), *other, *inside, lines[2])
    # the vacuous leaf's lines are read all the same
    far = ["split", 0, 0, "-1"]
    for name, reason, line in (
        ("theta", "theta must be at most 1", ["joint", "2", "0", None, weights]),
        ("law", "the law is zero at output 1", ["joint", "1", "0", None, ["1", "0", "1", "1", "1"]]),
        ("null", "r must be null exactly", ["joint", "1", "0", None, None]),
        ("slopes", "list of 5", ["joint", "0", "0", [["1"], None], None]),
    ):
        corpus.reject(f"vacuous_{name}", model, reason, "0", "9", *other, far, line, *lines)
    short = [far, ["joint", "1", "1", None, weights], ["row", None], ["cut", 9, "1"]]
    corpus.reject("vacuous_cut_output", model, "the output must be an integer from 0 to 4", "0", "9", *other, *short)
    # forms outside the rules
    for name, reason, line in (
        ("theta_large", "theta must be at most 1", ["joint", "1.0000000000000000000001", "0", None, weights]),
        ("law_at_zero", "r must be null exactly", ["joint", "0", "0", None, weights]),
        ("law_at_zero_mu", "r must be null exactly", ["joint", "0", "0.3", None, weights]),
        ("law_null", "r must be null exactly", ["joint", "1e-9", "0", None, None]),
        ("law_null_mu", "r must be null exactly", ["joint", "1/2", "1", None, None]),
        ("law_total", "total weight zero", ["joint", "1/2", "0", None, ["0"] * 5]),
        ("sigma_letters", "sigma must be a list of 2", ["joint", "0", "0", [None], None]),
        ("sigma_flat", "slopes must be a list", ["joint", "0", "0", ["1", "2"], None]),
        ("sigma_number", "written as a string", ["joint", "0", "0", [[1, 1, 1, 1, 1], None], None]),
        ("joint_size", "'joint' takes 4 entries", ["joint", "0", "0", None]),
        ("joint_theta_number", "written as a string", ["joint", 0, "0", None, None]),
        ("joint_column", "a split, cut or leaf is expected", ["column", "0", None]),
        ("joint_dual", "a split, cut or leaf is expected", ["dual", "0", ["1", "1"]]),
        ("joint_row", "a split, cut or leaf is expected", ["row", None]),
        ("cut_size", "'cut' takes 3 entries", ["cut", 0, "0.5"]),
        ("cut_letter", "the letter must be an integer from 0 to 1", ["cut", 2, 0, "0.5"]),
        ("cut_box_output", "the output must be an integer from 0 to 4", ["cut", 0, 5, "0.5"]),
        ("cut_number", "written as a string", ["cut", 0, 0, 1]),
    ):
        corpus.reject(name, model, reason, "0", "9", *other, line)
    start = ["joint", "1/2", "1/3", None, weights]
    for name, reason, line in (
        ("row_size", "'row' takes 1 entries", ["row"]),
        ("row_slopes", "slopes must be a list of 5", ["row", ["1"]]),
        ("row_old", "slopes must be a list of 5", ["row", "1"]),
        ("row_cut_size", "'cut' takes 2 entries", ["cut", 0, 0, "0.5"]),
        ("row_split", "a cut or row of letter 0", ["split", 0, 0, "0.5"]),
        ("row_joint", "a cut or row of letter 0", start),
    ):
        corpus.reject(name, model, reason, "0", "9", *other, start, line)


def coverage(corpus: Corpus) -> None:
    """Records with the same channel by rows, and records that only look alike."""
    for name in ("merged", "latin", "xor_table", "xor_dataset"):
        for i in (0, 1):
            ref = Reference(corpus.files[name], i)
            lines, bound = ref.best(ref.root(), 0, None)
            corpus.accept(f"covered_{name}_{i}", name, "0", up(bound), NONE, ["record", i], *lines)
    sections = []
    for i in (0, 2):
        ref = Reference(corpus.files["merged_table"], i)
        sections += [["record", i], *ref.best(ref.root(), 0, None)[0]]
    corpus.accept("covered_merged_table", "merged_table", "0", "0.7", NONE, *sections)
    corpus.reject("uncovered_merged_table", "merged_table", "record 2 is not covered", "0", "2", NONE, *sections[:2])
    corpus.reject("uncovered_merged_others", "merged_table", "is not covered", "0", "2", NONE, *sections[2:])
    for name, missing in (("merged_balls", 1), ("flipped", 1), ("identity", 1), ("sum_mixed", 1), ("dataset", 1)):
        lines = [NONE, ["record", 0], LOOSE]
        corpus.reject(f"uncovered_{name}", name, f"record {missing} is not covered", "0", "2", *lines)
    corpus.reject("uncovered_one_letter", "merged", "is not covered", "0", "2", NONE, ["record", 2], LOOSE)


def products(corpus: Corpus) -> None:
    """Independent records: capacities of the selections."""
    names = [name for name in MODELS if name.startswith("product") and name not in ("product_ones", "product_foreign")]
    for name in names:
        many, best, sections = len(Reference(corpus.files[name]).alphabets), (-1.0, []), []
        alike = name in ("product_count", "product_threshold", "product_modular", "product_useless")
        for i in [0] if alike else range(many):
            ref = Reference(corpus.files[name], i)
            if ref.A == 1:
                continue
            sections.append(["record", i])
            for j, rows in enumerate(ref.selections()):
                q, law = ref.capacity(list(rows), 4000)
                value = ref.information(np.array([[q[a] * (k == rows[a]) for k in range(ref.K)] for a in range(ref.A)]))
                best = max(best, (value, ["witness", i, [j, texts(q)]]), key=lambda pair: pair[0])
                sections.append(["law", [j], texts(law)])
        claim = text(max(best[0] - 1e-8, 0)), text(best[0] + 1e-8)
        if name == "product_useless":
            claim, best = ("0", "0"), (0, NONE)
        corpus.accept(name, name, *claim, best[1], *sections)
        if name != "product_useless":
            low = text(best[0] - 1e-7)
            corpus.reject(f"{name}_upper", name, "the law's divergence <= upper fails", "0", low, best[1], *sections)
            high = text(best[0] + 1e-7)
            corpus.reject(f"{name}_lower", name, "lower <= witness's information", high, "9", best[1], *sections)
    corpus.accept("product_ones", "product_ones", "0", "0", NONE)
    section = [["record", 1], ["law", [0], ["1", "1", "18"]]]
    corpus.accept("product_ones_section", "product_ones", "0", "0", ["witness", 0, [0, ["3"]]], *section)
    section[1] = ["law", [0], ["1", "1", "17"]]
    corpus.reject("product_ones_law", "product_ones", "divergence <= upper fails", "0", "0", NONE, *section)
    resolved = {"inputs": "query", "rows": [["9/10", "1/10"], ["0.1", "0.9"]]}
    fair = ["witness", 1, [1, ["1", "1"]]]
    proof = [fair, ["record", 0], ["law", [0, 1], ["1", "1"]]]
    corpus.accept("product_resolved", "product_foreign", "0.368", "0.369", *proof, resolved=resolved)
    # one law for several selections, listed twice, in one order or another
    name, law = "product_table", ["2", "3", "1"]
    laws = [["law", [1, 0], law], ["law", [0], law], ["law", [], law]]
    both = [["record", 1], *laws, ["record", 0], *laws]
    corpus.accept("product_several", name, "0", "1.2", NONE, *both)
    # the second rule: tuples of rows, which only the merged model's records share
    ref = Reference(corpus.files["product_merged"], 1)
    sections = [["record", 1], ["law", [0, 1], ["1", "1", "1"]]]
    bound = max(float(ref.divergences(np.ones(3) / 3)[k]) for rows in ref.selections() for k in rows)
    corpus.accept("product_covered", "product_merged", "0", up(bound), NONE, *sections)
    sections = [["record", 0], ["law", [0, 1, 2], ["1", "1", "1"]]]
    corpus.reject("product_uncovered", "product_latin", "record 1 is not covered", "0", "2", NONE, *sections)
    # the rules of the lines
    best, record, law = ["witness", 0, [0, ["1", "1"]]], ["record", 0], ["law", [0, 1, 2, 3], ["1"] * 5]

    def bad(name: str, reason: str, *lines: Any, model: str = "product_count", lower: str = "0") -> None:
        corpus.reject(f"product_{name}", model, reason, lower, "9", *lines)

    bad("missing", "selection 2 of record 0 is not listed", best, record, ["law", [0, 3, 1], law[2]])
    bad("no_laws", "selection 0 of record 0 is not listed", best, record)
    bad("no_sections", "record 3 is not covered", best)
    bad("section_after_section", "selection 0 of record 0 is not listed", best, record, ["record", 1], law)
    bad("twice", "record 0 comes twice", best, record, law, record, law)
    bad("leaf", "a law or record is expected", best, record, law, LOOSE)
    bad("law_first", "a record is expected", best, law)
    bad("index", "a selection must be an integer from 0 to 3", best, record, ["law", [4], law[2]])
    bad("index_text", "a selection must be an integer", best, record, ["law", ["0"], law[2]])
    bad("indices", "the selections must be a list", best, record, ["law", 0, law[2]])
    bad("size", "'law' takes 2 entries", best, record, ["law", law[2]])
    bad("short", "r must be a list of 5", best, record, ["law", [0], ["1"]])
    bad("zero", "the law is zero at output 0", best, record, ["law", [0], ["0", "1", "1", "1", "1"]])
    zero = ["law", [0], ["1", "0", "0"]]
    bad("zero_row", "the law is zero at output 1", NONE, record, zero, model="product_table")
    bad("witness_uniform", "must be a list of 2", ["witness", 0, "uniform"], record, law)
    bad("witness_null", "must be a list of 2", ["witness", 0, None], record, law)
    bad("witness_selection", "integer from 0 to 3", ["witness", 0, [4, ["1", "1"]]], record, law)
    bad("witness_letters", "weights must be a list of 2", ["witness", 0, [0, ["1"]]], record, law)
    bad("witness_zero", "total weight zero", ["witness", 0, [0, ["0", "0"]]], record, law)
    bad("witness_negative", "nonnegative", ["witness", 0, [0, ["2", "-1"]]], record, law)
    bad("witness_record", "integer from 0 to 3", ["witness", 4, [0, ["1", "1"]]], record, law)
    bad("witness_none", "lower is positive", NONE, record, law, lower="0.1")
    even = ["witness", 0, [[["1"] * 5] * 2]]
    bad("witness_pairs", "must be a list of 2", even, record, law)


def prior_sets(corpus: Corpus) -> None:
    """Listed priors: everything is evaluated."""
    lists = {
        "priors_count": [[0.25] * 4, [0.5, 0, 0, 0.5], [0.7, 0.1, 0.2, 0]],
        "priors_parity": [[1, 1, 1, 0], [0.25] * 4],
        "priors_sum": [[1] * 6, [0.4, 0, 0, 0, 0.2, 0.4]],
        "priors_mean": [[0.2, 0.2, 0.4, 0.2], [0, 0, 0.5, 0.5]],
        "priors_threshold": [[0.5, 0, 0, 0, 0, 0, 0, 0.5]],
        "priors_dataset": [[0.25] * 4],
    }
    for name, priors in lists.items():
        many = len(Reference(corpus.files[name]).alphabets)
        refs = [Reference(corpus.files[name], i) for i in range(many)]
        values = {
            (i, j): refs[i].information(refs[i].masses(prior)) for i in range(many) for j, prior in enumerate(priors)
        }
        (i, j), top = max(values.items(), key=lambda pair: pair[1])
        low, high = text(top - 1e-9), text(top + 1e-9)
        corpus.accept(name, name, low, high, ["witness", i, j])
        corpus.accept(f"{name}_none", name, "-1", high, NONE)
        corpus.reject(f"{name}_upper", name, f"prior {j} teaches about record {i} <= upper fails", "0", low, NONE)
        corpus.reject(f"{name}_lower", name, "lower <= witness's information", high, "9", ["witness", i, j])
        for (i, j), value in values.items():
            if value < top - 1e-6:
                corpus.reject(f"{name}_{i}_{j}", name, "lower <= witness's information", low, high, ["witness", i, j])
    corpus.accept("priors_flat", "priors_flat", "0", "0", ["witness", 1, 0])
    corpus.reject("priors_flat_lower", "priors_flat", "witness's information fails", "1e-60", "1", ["witness", 1, 0])
    corpus.accept("priors_nearly", "priors_nearly", "-1", "1e-45", NONE)
    corpus.reject("priors_nearly_zero", "priors_nearly", "record 0 <= upper fails", "0", "0", NONE)
    corpus.accept("priors_ones", "priors_ones", "0", "0", ["witness", 1, 1])
    resolved = {"inputs": "dataset", "rows": [["1", "0"], ["0", "1"], ["0", "1"], ["1", "0"]]}
    corpus.accept("priors_resolved", "priors_foreign", "0.693147", "0.693148", ["witness", 0, 1], resolved=resolved)
    same = {"inputs": "query", "rows": [["1/2", "1/2"], ["1/2", "1/2"]]}
    corpus.accept("priors_resolved_zero", "priors_strange", "0", "0", ["witness", 0, 1], resolved=same)

    def bad(name: str, reason: str, *lines: Any, lower: str = "0") -> None:
        corpus.reject(f"priors_{name}", "priors_count", reason, lower, "9", *lines)

    bad("line", "there is a line after the witness", ["witness", 0, 0], ["record", 0])
    bad("empty", "the witness is expected")
    bad("index", "the prior must be an integer from 0 to 2", ["witness", 0, 3])
    bad("record", "the record must be an integer from 0 to 1", ["witness", 2, 0])
    bad("half_null", "the prior must be an integer", ["witness", 0, None])
    bad("other_half_null", "the record must be an integer", ["witness", None, 0])
    bad("uniform", "the prior must be an integer", ["witness", 0, "uniform"])
    bad("weights", "the prior must be an integer", ["witness", 0, [["1"]]])
    bad("positive", "lower is positive", NONE, lower="1e-9")


def _one_minus(v: str) -> str:
    return "0." + str(10 ** len(v[2:]) - int(v[2:])).zfill(len(v[2:]))


def entropy_edge(target: float) -> tuple[str, str]:
    """Decimals v with h(v) just below and just above 2.5 - 3 log 2, by bisection in balls."""
    from flint import arb, ctx, fmpz

    ctx.prec = 300
    goal = arb("2.5") - 3 * arb(2).log()
    low, high, digits = 0, 10**60 // 2, 10**60
    while high - low > 1:
        middle = (low + high) // 2
        v = arb(fmpz(middle)) / arb(fmpz(digits))
        entropy = -v * v.log() - (1 - v) * (1 - v).log()
        low, high = (middle, high) if entropy < goal else (low, middle)
    v = low / digits
    step = int(1e-15 / np.log((1 - v) / v) * digits)
    assert abs(target - float(goal)) < 1e-12
    return "0." + str(low - step).zfill(60), "0." + str(low + step).zfill(60)


def upper_of(corpus: Corpus, name: str) -> str:
    return json.loads(corpus.accepted(name)[0])["upper"]


def wrong_direction(corpus: Corpus, found: dict[str, Any]) -> list[Any]:
    """count4_posterior with the subtrees of its first split exchanged."""
    lines = [json.loads(line) for line in corpus.accepted("count4_posterior")[3:]]

    def end(start: int) -> int:
        need = 1
        while need:
            need += 1 if lines[start][0] == "split" else -1
            start += 1
        return start

    middle = end(1)
    return [["witness", None, None], ["record", 0], lines[0], *lines[middle:], *lines[1:middle]]


def undecided(corpus: Corpus) -> None:
    """A witness whose entropy equals the bound exactly, which no ball can tell; counts beyond the limit."""
    halves = ["joint", "1", "0", None, ["3", "3"]]
    data = certificate(corpus.files["useless"], "0", "0", NONE, ["record", 0], halves)
    corpus.add("zero_by_balls", "useless", data, 3, "undecided at 1024 bits")
    even = ["witness", 0, [["1", "1", "0", "0"], ["0", "0", "0", "0"]]]
    data = certificate(corpus.files["bits_whole"], "0", "1", even, ["record", 0], LOOSE)
    corpus.add("entropy_equal", "bits_whole", data, 3, "undecided at 1024 bits")
    for name, records, query in (
        ("large_threshold", "count=100000; alphabet=2", 'kind="threshold"; at=50000'),
        ("large_modulus", "count=1000000; alphabet=2", 'kind="modular_sum"; modulus=1000'),
    ):
        corpus.model(name, forge.model(records, query, 'kind="symmetric"; flip=0.1', "1"))
        lines = [["witness", None, None], ["record", 0], LOOSE]
        corpus.add(name, name, certificate(corpus.files[name], "0", "1", *lines), 3, "limit")


def fill(corpus: Corpus) -> None:
    """Write everything."""
    rng = np.random.default_rng(20)
    found = searched(corpus, rng)
    accepts(corpus, rng, found)
    rejects(corpus, found)
    joints(corpus, found)
    shared_rows(corpus)
    coverage(corpus)
    products(corpus)
    prior_sets(corpus)
    undecided(corpus)
    design_corpus.add(corpus, np.random.default_rng(21))
    private_corpus.add(corpus)
    for name, (data, reason) in bad_models().items():
        corpus.model(f"bad_{name}", data)
        corpus.add(f"model_{name}", f"bad_{name}", b"", 2, reason)
    (corpus.folder / "index.toml").write_text("\n".join(corpus.table))


def main() -> None:
    """Put a new corpus in the old one's place, once it is complete."""
    with TemporaryDirectory(dir=CORPUS.parent) as folder:
        corpus = Corpus(Path(folder) / "new")
        fill(corpus)
        if CORPUS.exists():
            CORPUS.rename(Path(folder) / "old")
        corpus.folder.rename(CORPUS)


if __name__ == "__main__":
    main()
