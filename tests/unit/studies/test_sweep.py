"""Sweeps as their users see them: frames, curves, frontiers, rivals, and what cannot be asked."""

import json

import pytest

import dalenius as dl
from dalenius.studies.plan import ENTROPY
from support import TINY_AUDIT as PARITY
from support import TINY_DESIGN as DESIGN
from support import refuses

GRID = {ENTROPY: "0:1 max:3", "mechanism.flip": [0.1, 0.2]}


def test_a_frame_has_a_row_a_record():
    pytest.importorskip("pandas")
    swept = dl.sweep(PARITY, GRID)
    frame = swept.frame()
    assert list(frame.columns[:2]) == list(GRID)
    assert frame["mechanism.flip"].tolist() == [0.1, 0.2] * 3
    assert frame["upper"].tolist() == [record.upper for record in swept.records]
    assert (frame.groupby("mechanism.flip")["upper"].max() > 0.1).all()


def test_parquet_comes_back(tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    swept = dl.sweep(PARITY, {ENTROPY: ["0 max", "1 bits"]})
    frame = pandas.read_parquet(swept.parquet(tmp_path / "records.parquet"))
    assert frame["lower"].tolist() == [record.lower for record in swept.records]
    assert [json.loads(text) for text in frame["claim"]] == [list(record.claim) for record in swept.records]


def test_without_pandas_there_is_one_line(monkeypatch):
    swept = dl.sweep(PARITY)
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(dl.errors.InputError, match=r"pip install 'dalenius\[frames\]'"):
        swept.frame()


def test_lines_of_a_grid():
    curves = dl.sweep(PARITY, GRID).curves()
    assert {label: [str(point.share) for point in points] for label, points in curves.items()} == {
        "flip 0.1": ["0", "1/2", "1"],
        "flip 0.2": ["0", "1/2", "1"],
    }
    frontiers = dl.sweep({"a": DESIGN, "b": DESIGN}, {"max_distortion": "0.5,0.6"}).frontiers()
    assert {label: [float(point.budget) for point in points] for label, points in frontiers.items()} == {
        "a": [0.5, 0.6],
        "b": [0.5, 0.6],
    }


def test_the_largest_information_is_read_back_as_it_was_told(tmp_path):
    private = dl.MaxInformation(records=dl.Records(1, alphabet=2), query=dl.Identity(), privacy=dl.LocalDP("log 3"))
    swept = dl.sweep(private, {"privacy.epsilon": ["1"]}, output=tmp_path)
    read = dl.answers.Sweep.read(tmp_path)
    (record,) = read.records
    found, again = swept.result(swept.records[0]), read.result(record)
    assert again.feasible
    assert again.mechanism.rows == found.mechanism.rows
    assert str(again) == str(dl.solve(read.problem(record)))
    assert "largest information" in str(again)


def test_rivals_at_every_point():
    swept = dl.sweep(PARITY, {ENTROPY: "0,1 nats"}, methods=["paper-aggregated"], seeds=1, budget=0.05)
    for record in swept.records:
        (rival,) = record.methods
        assert rival["method"] == "paper-aggregated"
        assert rival["value"] <= record.upper + 1e-9
        assert "seconds" not in rival


def test_whole_parts_may_be_values():
    swept = dl.sweep(PARITY, {"adversary": [dl.AnyPrior(), dl.ProductPriors()]})
    assert [record.entropy_share for record in swept.records] == [0.0, None]
    assert [record.at["adversary"] for record in swept.records] == [
        "EntropyAtLeast(amount=Fraction(0, 1), units='nats')",
        "ProductPriors()",
    ]


test_what_cannot_be_asked = refuses(
    ((5,), {}, "problem: expected"),
    ((PARITY, 5), {}, "grid: expected a mapping"),
    ((PARITY,), {"jobs": 0}, "jobs"),
    ((PARITY,), {"jobs": 2, "scheduler": "tcp://127.0.0.1:1"}, "leave one of the two out"),
    ((PARITY,), {"progress": 5}, "progress"),
    ((PARITY,), {"solver": "clarabel"}, "solver"),
    ((PARITY,), {"method": "exchange"}, "method"),
    ((PARITY,), {"methods": ["luck"]}, "methods: expected some of"),
    by=lambda arguments, options: dl.sweep(*arguments, **options),
)


def test_secrets_are_swept_along_any_key(tmp_path):
    """The majority of three bits: 0.173277931127 nats at epsilon 0.5; a rerun, and a folder that is read, have the same records."""
    vote = dl.SecretLeakage(
        records=dl.Records(3, alphabet=2),
        query=dl.Count(),
        mechanism=dl.geometric(0.5),
        adversary=dl.AnyPrior(),
        secrets=dl.Secret(dl.Threshold(2)),
    )
    grid = {"mechanism.epsilon": ["0.5", "1"], "adversary.entropy_at_least": ["0", "0.5 max"]}
    found = dl.sweep(vote, grid, gap=1e-6, output=tmp_path / "votes")
    first, bounded = found.records[:2]
    assert first.lower <= 0.173277931128
    assert first.upper >= 0.173277931127
    assert bounded.upper < first.upper
    assert (first.record, first.proofs[0]["method"]) == (0, "selections")
    assert found.result(first).secrets[0].exact
    assert dl.sweep(vote, grid, gap=1e-6, output=tmp_path / "votes").records == found.records
    again = dl.answers.Sweep.read(tmp_path / "votes")
    assert again.complete
    again.verify()
    assert not again.curves()
    assert not again.frontiers()
