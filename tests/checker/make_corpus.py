"""Writes tests/checker/corpus: run `PYTHONPATH=src python tests/checker/make_corpus.py` from the repository's root.

Deterministic up to the last digits of numpy and scipy. Uses the float reference of forge.py, not the prover.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import forge
from forge import Reference, certificate, header, text, texts

CORPUS = Path(__file__).parent / "corpus"
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
    }


class Corpus:
    """Collects the files and the table."""

    def __init__(self) -> None:
        shutil.rmtree(CORPUS, ignore_errors=True)
        for folder in ("accept", "reject", "models"):
            (CORPUS / folder).mkdir(parents=True)
        self.table: list[str] = []
        self.files = {name: forge.model(*parts) for name, parts in MODELS.items()}
        for name, data in self.files.items():
            (CORPUS / "models" / f"{name}.toml").write_bytes(data)

    def add(self, name: str, model: str, data: bytes, status: int = 0, reason: str = "") -> None:
        """Store one certificate and what is expected of it."""
        path = f"{'accept' if status == 0 else 'reject'}/{name}.cert"
        assert not (CORPUS / path).exists(), path
        (CORPUS / path).write_bytes(data)
        self.table.append(
            f'[[file]]\npath = "{path}"\nmodel = "{model}"\nstatus = {status}\n'
            + (f"reason = {json.dumps(reason)}\n" if reason else "")
        )

    def accept(self, name: str, model: str, lower: str, upper: str, *lines: Any, **extra: Any) -> None:
        """A certificate that proves its claim."""
        self.add(name, model, certificate(self.files[model], lower, upper, *lines, **extra))

    def reject(self, name: str, model: str, reason: str, lower: str, upper: str, *lines: Any, **extra: Any) -> None:
        """A certificate that does not."""
        self.add(name, model, certificate(self.files[model], lower, upper, *lines, **extra), 1, reason)


def searched(corpus: Corpus, rng: np.random.Generator) -> dict[str, tuple[str, list[Any], str]]:
    """Witnesses by local search: the claim, the line, and the best value found."""
    found = {}
    for name in MODELS:
        if name in (
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
    corpus.accept("parity_dual_zero", "parity4", *claim, best, ["record", 0], ["dual", "0", ["1", "1"]])
    corpus.accept("parity_vertices", "parity4", *claim, best, ["record", 3], ["vertices"], ["law", ["0.5", "0.5"]])
    corpus.accept(
        "parity_big", "parity_big", *claim, ["witness", 99999, best[2]], ["record", 5], ["dual", "0", ["1", "1"]]
    )
    weights = [["2e3", "0"], ["0e-400", "2000"]]
    corpus.accept(
        "scaled_witness", "parity4", *claim, ["witness", 2, weights], ["record", 0], ["dual", "0/7", ["7", "7.0"]]
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
        ["column", "0", [None, ["1", "-1"]]],
        ["split", 1, 1, "7"],
        ["dual", "0", ["1", "1"]],
        ["vertices"],
        ["law", ["9", "1"]],
    )
    corpus.accept("splits_outside", "parity4", *claim, best, ["record", 0], *outside)
    corpus.accept(
        "lower_zero", "parity4", "0", "0.1", ["witness", None, None], ["record", 1], ["dual", "0", ["1", "1"]]
    )
    corpus.accept(
        "lower_negative", "parity4", "-1/3", "0.1", ["witness", 0, "uniform"], ["record", 1], ["dual", "0", ["1", "1"]]
    )
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
        "useless_zero", "useless", "0", "0", ["witness", 0, "uniform"], ["record", 0], ["dual", "0", ["3", "3"]]
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
    corpus.accept(
        "one_output_column", "one_output", "0", "0.7", ["witness", None, None], ["record", 0], ["column", "0", None]
    )
    corpus.accept(
        "one_output_dual", "one_output", "0", "0", ["witness", None, None], ["record", 1], ["dual", "0", ["1"]]
    )
    corpus.accept("no_letters", "ones", "0", "0", ["witness", None, None])
    corpus.accept(
        "one_letter_section", "ones", "0", "1e-30", ["witness", None, None], ["record", 1], ["column", "0", None]
    )
    lower, witness, _ = found["zero_entropy"]
    corners = ["witness", 0, [["1", "0", "0"], ["0", "0", "1"]]]
    value = Reference(corpus.files["zero_entropy"]).information(np.array([[0.5, 0, 0], [0, 0, 0.5]]))
    corpus.accept(
        "point_masses", "zero_entropy", text(value - 1e-9), "0.7", corners, ["record", 0], ["column", "0", None]
    )
    for name, most in {
        "parity4_b25": 30,
        "count4": 60,
        "sum2": 50,
        "modular": 40,
        "threshold": 60,
        "count3_letters": 40,
        "two_bits": 30,
        "sloppy_rows": 30,
    }.items():
        ref = Reference(corpus.files[name])
        lower, witness, p = found[name]
        lines, bound = ref.grow(0.002, ref.information(p), most)
        corpus.accept(f"{name}_columns", name, lower, up(bound), witness, ["record", 0], *lines)
    ref = Reference(corpus.files["count4"])
    lines, bound = ref.grow(0.05, ref.information(found["count4"][2]), 12, rng)
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
            lines, here = ref.best_dual(law / law.sum(), most)
            sections += [["record", i], *lines]
            bound = max(bound, here)
        corpus.accept(f"{name}_dual", name, found[name][0], up(bound), found[name][1], *sections)
    for name, order in {"sum_mixed": (1, 0), "sum_weights": (0, 1)}.items():
        sections, bound = [], 0.0
        for i in order:
            ref = Reference(corpus.files[name], i)
            tree, here = ref.grow(0.02, ref.information(ref.search(rng, 2)), 12)
            sections += [["record", i], *tree]
            bound = max(bound, here)
        corpus.accept(f"{name}_sections", name, found[name][0], up(bound), found[name][1], *sections)
    ref = Reference(corpus.files["table"])
    law = ref.capacity_law([0, 1, 2])
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
        ["dual", "0", ["1", "1"]],
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
        ["dual", "0", ["1", "1"]],
        resolved=rows,
    )


def rejects(corpus: Corpus, found: dict[str, Any]) -> None:
    """Proofs that fail, claims too strong, and lines outside the rules."""
    best, dual, claim = ["witness", 0, [["1", "0"], ["0", "1"]]], ["dual", "0", ["1", "1"]], ("0.07", "0.08")
    p4, none = "parity4", ["witness", None, None]
    good = [best, ["record", 0], dual]

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
    bad("upper_1e12", "dual leaf <= upper fails", *good, claim=("0.07", "0.079541505864301303"))
    bad("upper_1e22", "dual leaf <= upper fails", *good, claim=("0.07", "0.0795415058653013032560"))
    bad("crossed", "lower <= upper", *good, claim=("0.08", "0.0795"))
    bad("upper_negative", "0 <= upper", none, claim=("-2", "-1"), model="ones")
    bad("weak_column", "column leaf <= upper fails", best, ["record", 0], ["column", "0", None])
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
        "dual leaf <= upper fails",
        best,
        ["record", 0],
        ["dual", "0.5", ["1", "1"]],
        ["row", None],
        ["row", None],
    )
    bad(
        "uniform_small",
        "column leaf <= upper fails",
        none,
        ["record", 0],
        ["column", "0.1", None],
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
        ["column", "0", None],
        model="parity4_b25",
        claim=("0.07", "1"),
    )
    bad("not_normalised", "witness's information fails", ["witness", 0, [["9", "1"], ["1", "9"]]], ["record", 0], dual)
    bad(
        "witness_twice_large",
        "witness's entropy fails",
        ["witness", 0, [["9e30", "0"], ["0", "9e30"]]],
        ["record", 0],
        ["column", "0", None],
        model="parity4_b25",
        claim=("0.01", "1"),
    )
    bad(
        "witness_other_record",
        "witness's information fails",
        ["witness", 1, [["1", "0"], ["0", "1"]]],
        ["record", 0],
        dual,
        claim=("0.0796", "0.1"),
    )
    bad(
        "witness_missing_pair",
        "which no dataset has",
        ["witness", 0, [["1", "0"], ["1", "0"]]],
        ["record", 0],
        dual,
        model="single_max",
    )
    bad("witness_short", "list of 2", ["witness", 0, [["1", "0"]]], ["record", 0], dual)
    bad("witness_long_row", "list of 2", ["witness", 0, [["1", "0", "0"], ["0", "1"]]], ["record", 0], dual)
    bad("witness_negative", "nonnegative", ["witness", 0, [["1", "-0.1"], ["0", "1"]]], ["record", 0], dual)
    bad("witness_zero", "total weight zero", ["witness", 0, [["0", "0"], ["0", "0"]]], ["record", 0], dual)
    bad("witness_numbers", "written as a string", ["witness", 0, [[1, 0], [0, 1]]], ["record", 0], dual)
    bad("witness_index", "integer from 0 to 3", ["witness", 4, best[2]], ["record", 0], dual)
    bad("witness_true", "integer from 0 to 3", ["witness", True, best[2]], ["record", 0], dual)
    bad("witness_half_null", "integer from 0 to 3", ["witness", None, best[2]], ["record", 0], dual)
    bad("witness_no_weights", "list of 2", ["witness", 0, None], ["record", 0], dual)
    bad("witness_null", "lower is positive", none, ["record", 0], dual)
    bad("witness_missing", "the witness is expected", ["record", 0], dual)
    bad("witness_name", "list of 2", ["witness", 0, "Uniform"], ["record", 0], dual)
    # h(v) = 2.5 - 3 log 2 has the solution v; entropy short by 1e-15
    below, above = entropy_edge(2.5 - 3 * np.log(2))
    for name, v in (("entropy_short", below), ("entropy_enough", above)):
        weights = ["witness", 0, [[v, _one_minus(v)], [_one_minus(v), v]]]
        lines = [weights, ["record", 0], ["column", "0", None]]
        if name == "entropy_enough":
            corpus.accept(name, "parity4_b25", "0.0387", "1", *lines)
        else:
            bad(name, "witness's entropy fails", *lines, model="parity4_b25", claim=("0.0387", "1"))
    # trees and sections
    bad("missing_subtree", "the file ends where a split or leaf", best, ["record", 0], ["split", 0, 0, "0.5"], dual)
    bad("missing_row", "a cut or row of letter 1", best, ["record", 0], ["dual", "0.5", ["1", "1"]], ["row", None])
    bad(
        "missing_cut",
        "the file ends where a cut or row",
        best,
        ["record", 0],
        ["dual", "9", ["1", "1"]],
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
    bad("rows_after_zero", "a record is expected", best, ["record", 0], dual, ["row", None])
    bad("trailing_leaf", "a record is expected", *good, dual)
    bad("trailing_header", "a record is expected", *good, {"format": "dalenius-certificate/1"})
    bad("record_twice", "record 0 comes twice", *good, ["record", 0], dual)
    bad("record_index", "integer from 0 to 3", best, ["record", 4], dual)
    bad("record_none", "record 0 is not covered", best)
    bad(
        "record_uncovered",
        "record 1 is not covered",
        none,
        ["record", 0],
        ["column", "0", None],
        model="sum_mixed",
        claim=("0", "2"),
    )
    bad(
        "record_weights",
        "record 1 is not covered",
        none,
        ["record", 0],
        ["column", "0", None],
        model="sum_weights",
        claim=("0", "2"),
    )
    leaf = ["dual", "0", ["1", "1"]]
    sections = [none, ["record", 0], leaf]
    bad("record_dataset_parity", "record 1 is not covered", *sections, model="dataset_parity", claim=("0", "2"))
    bad(
        "record_table",
        "record 0 is not covered",
        none,
        ["record", 1],
        ["column", "0", None],
        model="table",
        claim=("0", "2"),
    )
    bad(
        "record_dataset",
        "record 1 is not covered",
        none,
        ["record", 0],
        ["column", "0", None],
        model="dataset",
        claim=("0", "2"),
    )
    bad(
        "box_direction",
        "column leaf <= upper fails",
        *wrong_direction(corpus, found),
        model="count4",
        claim=("0", upper_of(corpus, "count4_columns")),
    )
    bad("vacuous_malformed", "list of 2", best, ["record", 0], ["split", 0, 0, "-1"], ["column", "0", [None]], dual)
    bad("vacuous_uniform", "equal to log", best, ["record", 0], ["split", 0, 0, "-1"], ["uniform"], dual)
    bad("uniform_leaf", "equal to log", best, ["record", 0], ["uniform"])
    bad(
        "split_letter",
        "the letter must be an integer from 0 to 1",
        best,
        ["record", 0],
        ["split", 2, 0, "0.5"],
        dual,
        dual,
    )
    bad(
        "split_output",
        "the output must be an integer from 0 to 1",
        best,
        ["record", 0],
        ["split", 0, 2, "0.5"],
        dual,
        dual,
    )
    bad("split_number", "written as a string", best, ["record", 0], ["split", 0, 0, 1], dual, dual)
    bad("split_size", "'split' takes 3 entries", best, ["record", 0], ["split", 0, 0], dual, dual)
    bad(
        "cut_output",
        "the output must be an integer from 0 to 1",
        best,
        ["record", 0],
        ["dual", "1", ["1", "1"]],
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
    bad("leaf_name", "a split or leaf is expected", best, ["record", 0], ["magic"])
    bad("mu_negative", "mu must be nonnegative", best, ["record", 0], ["column", "-1", None])
    bad(
        "beta_negative",
        "beta must be nonnegative",
        best,
        ["record", 0],
        ["dual", "-1e-400", ["1", "1"]],
        ["row", None],
        ["row", None],
    )
    bad("law_zero", "the law is zero at output 1", best, ["record", 0], ["dual", "0", ["1", "0"]])
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
    bad("law_negative", "nonnegative", best, ["record", 0], ["dual", "0", ["2", "-1"]])
    bad("law_short", "list of 2", best, ["record", 0], ["dual", "0", ["1"]])
    bad("nu_short", "list of 2", best, ["record", 0], ["column", "1", [None, ["0"]]])
    bad("nu_infinite", "not a number", best, ["record", 0], ["column", "1", [None, ["0", "inf"]]])
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
            ["dual", number, ["1", "1"]],
        )
    bad("number_denominator", "denominator", best, ["record", 0], ["dual", "1/0", ["1", "1"]])
    bad("number_long", "not a number of at most 400", best, ["record", 0], ["dual", "0." + "0" * 399, ["1", "1"]])
    # header
    head("digest", "another model", model="0" * 64)
    head("format", "the header's format must be", format="dalenius-certificate/2")
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
    """Dual leaves where only one row leaf of a letter is too weak, the first or the last."""
    ref = Reference(corpus.files["count4"])
    law = found["count4"][2].sum(0) @ ref.R
    lines, bound = ref.dual(0.1, law, 1)
    cut, good, weak = ["cut", 2, "0.25"], ["row", None], ["row", ["9"] * ref.Y]
    for name, rows in {"row_first": [weak, good], "row_last": [good, weak], "row_none": [good, good]}.items():
        proof = [["witness", None, None], ["record", 0], lines[0], *[cut, *rows] * 2]
        if name == "row_none":
            corpus.accept("row_cuts", "count4", "0", up(bound), *proof)
        else:
            corpus.reject(name, "count4", "dual leaf <= upper fails", "0", up(bound), *proof)


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
    return json.loads((CORPUS / "accept" / f"{name}.cert").read_text().splitlines()[0])["upper"]


def wrong_direction(corpus: Corpus, found: dict[str, Any]) -> list[Any]:
    """count4_columns with the subtrees of its first split exchanged."""
    lines = [json.loads(line) for line in (CORPUS / "accept" / "count4_columns.cert").read_text().splitlines()][3:]

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
    even = ["witness", 0, [["1", "1", "0", "0"], ["0", "0", "0", "0"]]]
    data = certificate(corpus.files["bits_whole"], "0", "1", even, ["record", 0], ["column", "0", None])
    corpus.add("entropy_equal", "bits_whole", data, 3, "undecided at 1024 bits")
    for name, records, query in (
        ("large_threshold", "count=100000; alphabet=2", 'kind="threshold"; at=50000'),
        ("large_modulus", "count=1000000; alphabet=2", 'kind="modular_sum"; modulus=1000'),
    ):
        corpus.files[name] = forge.model(records, query, 'kind="symmetric"; flip=0.1', "1")
        (CORPUS / "models" / f"{name}.toml").write_bytes(corpus.files[name])
        lines = [["witness", None, None], ["record", 0], ["column", "0", None]]
        corpus.add(name, name, certificate(corpus.files[name], "0", "1", *lines), 3, "limit")


def main() -> None:
    """Write everything."""
    corpus = Corpus()
    rng = np.random.default_rng(20)
    found = searched(corpus, rng)
    accepts(corpus, rng, found)
    rejects(corpus, found)
    undecided(corpus)
    for name, (data, reason) in bad_models().items():
        (CORPUS / "models" / f"bad_{name}.toml").write_bytes(data)
        corpus.add(f"model_{name}", f"bad_{name}", b"", 2, reason)
    (CORPUS / "index.toml").write_text("\n".join(corpus.table))


if __name__ == "__main__":
    main()
