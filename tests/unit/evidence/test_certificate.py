"""The codec: what is read is what was written, for every line of the format, and nothing else is read."""

import json
from dataclasses import fields, replace
from typing import get_args

import pytest

import dalenius as dl
from campaigns import each
from dalenius.catalogue.models import library
from dalenius.evidence import Certificate, CurveClaim, Header, lower, upper
from dalenius.evidence.certificate import decode, encode
from support import refused

LINES = [
    lower.WitnessLine(None, None),
    lower.WitnessLine(3, lower.UNIFORM),
    lower.WitnessLine(0, (("1", "0.5"), ("0", "1/3"))),
    lower.WitnessLine(0, (4, ("1", "2"))),
    lower.WitnessLine(0, 7),
    lower.WitnessLine(0, ((3, "0.5"), (5, "1/2"))),
    lower.WitnessLine(0, ("0.5", "1")),
    lower.SumsOfLetters(1, ((3, "0.5"), (0, "1/2"))),
    upper.SumsLine(((3, "0.5"),)),
    upper.SumsLine(None),
    upper.CellSection(0, 3),
    upper.SecretSection(1),
    upper.MeanLine(None),
    upper.MeanLine(("0.25",)),
    lower.DualLine(None),
    lower.DualLine("0.25"),
    lower.PriorLine("1", 0, (("1", "0"),), (("0.5", "0.5"),)),
    lower.PriorLine("1", 0, lower.UNIFORM, (("0.5", "0.5"),)),
    lower.RatioLine(1, 0, ("1", "2")),
    lower.RatioLine(1, ("0", "1"), ("1", "2")),
    lower.MultiplierLine(3, ((0, "0.5"), (7, "-1/3"))),
    lower.ConeLine(0, "1", ("0.5", "-0.5")),
    lower.AlsoLine(2, "0.5", 1, lower.UNIFORM, (("0.5", "1"), ("0.5", "0"))),
    lower.TangentLine(2, 0, "0.5", None, (("0.5", "1"), ("0.5", "0"))),
    lower.TangentLine(2, 1, "0.5", 3, ("1", "0.5")),
    lower.TangentLine(2, 1, "0.5", ("1", "-1"), ("1", "0.5")),
    lower.TangentLine(2, 1, "0.5", (None, 1), ("1", "0.5")),
    lower.SelectionLine(2, "0.5", 0, ((0, 3, "0.5"), (1, 4, "0.5")), (("0.5", "1"), ("0.5", "1"))),
    lower.WeightLine(1, "1/10"),
    lower.TermLine(2, "0.5", 1, 3, (("0.5", "1"), ("0.5", "0"))),
    upper.AdversaryLine(4),
    upper.TermSection(1),
    upper.PotentialLine(("0.5", "-1/3")),
    upper.OpenLine(),
    upper.RecordLine(2),
    upper.Split(1, 0, "0.25"),
    upper.Cut(1, 0, "0.25"),
    upper.OrbitCut("above", 1, 0, "0.25", (((1, 0), (0, 1, 2), (2, 1, 0)),)),
    upper.OrbitCut("below", 1, 0, "0.25", ()),
    upper.OrbitSplit("above", 1, 0, "0.25", (((1, 0), (0, 1, 2), (2, 1, 0)),)),
    upper.RowCut(0, "0.25"),
    upper.RowChamber(0, (((1, 0, 2), (1, 0)),)),
    upper.JointLeaf("1", "0", None, ("1", "1")),
    upper.JointLeaf("0.5", "1e-3", (None, ("1", "-1")), ("1", "1")),
    upper.JointGroups(((0, 2), (1,)), ("1", "0.5", "1"), "neighbours"),
    upper.RowLeaf(None),
    upper.RowLeaf(("1", "2")),
    upper.RowGroups(((0, 2), (1,))),
    upper.GroupedRowLeaf(("1", "2"), (None, ("0", "0.5"))),
    upper.SameRow(0),
    upper.ImageRow(0, (1, 0), (2, 1, 0)),
    upper.VerticesLeaf(),
    upper.ClassPart(0, (1, 2)),
    upper.OutputLawLeaf(("1", "1")),
    upper.LawOfSelections((0, 1), ("1", "1")),
    upper.LawOfClass((0, 1), ("1", "1"), None),
    upper.LawOfClass((2,), ("1", "1"), ("0.5", "-1")),
    lower.WitnessLine(0, (4, ("1", "2"), (6, ((0, 1, 2),)))),
    lower.WitnessLine(0, (4, ("1", "2"), None)),
    upper.MixtureLeaf(("1", "0.5"), None),
    upper.MixtureOfSelections((0, 1), ("1", "1"), ((0, 1, 2),)),
    upper.MixtureOfClass((0,), ("1", "1"), ("0.5",), (6, ())),
    upper.MixtureOfClass((0,), ("1", "1"), None, None),
    lower.PieceOfWitness(3, None),
    lower.PieceOfWitness(0, "-2"),
    upper.PieceSection(3, None),
    upper.PieceSection(0, "17"),
    upper.PotentialLine(("0.5", "-1")),
    upper.EnvelopeLine("inputs", "0.5", ("0.25", "-1")),
    upper.EnvelopeLine("useful", "2", ("1/3",)),
    lower.WitnessLine(0, (0, 1, 101)),
    upper.HistogramLine((0, 1, 101), (((2,), "0.75"), ((1, 1), "0.25"))),
    upper.LettersLine(),
    upper.EndsLeaf(),
    upper.GridLine(3),
    upper.InformedLeaf("0.25", (("0.5", ("1/3", "2/3")), ("1", ("1", "1")))),
    lower.WindowOfWitness(499_000, 3, 600),
    lower.WitnessLine(0, (((0, "0.5"), (7, "1e-9")), ((3, "1/2"),))),
    upper.SeparateRow("-4.9"),
    upper.PiecewiseRow("-4.9", (("0.5", "-3"), ("1", "1/3"))),
    lower.ChainPoint(3, ("1/4", "0.3"), None),
    lower.ChainPoint(0, ("1/4", "0.3"), ("-0.001", "0.002")),
    upper.Halve(1, "0.25"),
    upper.SlopeLeaf(("1/4", "0.3", "0")),
    upper.ExpansionLeaf(("0.25", "0.75", "1/3", "2/3"), (0, 1)),
    upper.WindowLeaf(482),
    upper.BlocksLeaf(1600),
    upper.AfterLeaf(900, 482),
    upper.UniformLeaf(),
]


@each("line", *LINES)
def test_a_line_is_read_as_it_was_written(line):
    assert decode(encode(line)) == line


def test_every_kind_of_line_is_tried():
    assert {type(line) for line in LINES} == set(get_args(upper.Line))


@each("line", *LINES)
def test_one_entry_more_or_of_another_kind_is_refused(line):
    word, *entries = json.loads(encode(line))
    spoilt = [[word, *entries, "more", "and", "more"]]
    spoilt += [[word, *entries[:j], {}, *entries[j + 1 :]] for j in range(len(fields(line)))]
    spoilt += [[word, *entries[:j], 0.5, *entries[j + 1 :]] for j in range(len(fields(line)))]
    for bad in spoilt:
        with pytest.raises(dl.errors.InputError, match="not a line of a certificate"):
            decode(json.dumps(bad))


@each("text", "", "{}", "7", "[]", "[[]]", '["none"]', '["split",1,0]', "[" * 10_000, "nonsense")
def test_what_is_no_line(text):
    refused(lambda: decode(text), "not a line of a certificate")


@each("model", *[m for m in library("minimal") if m.certificate_path])
def test_certificates_of_the_library_are_made_anew_byte_by_byte(model):
    certificate = model.certificate()
    made = Certificate.of(certificate.header, certificate.lower_lines(), certificate.upper_lines())
    assert made.text == certificate.text


HEADER = Header("min_leakage", "digest", "0.25", "1/3", mechanism=(("1", "2"),))


def test_headers():
    assert Header.decode(HEADER.encode()) == HEADER
    own = Header("maximal_leakage", "digest", "0", "1", resolved=("query", (("1/2", "1/2"),)))
    assert Header.decode(own.encode()) == own
    assert "mechanism" not in own.encode()
    curve = replace(own, curve=CurveClaim((("0.5", "0.1"), ("0.4", "0")), (("4/5 max", "0.2"),)))
    assert Header.decode(curve.encode()) == curve
    nothing = Header("min_leakage", "digest", None, None)
    assert Header.decode(nothing.encode()) == nothing
    assert nothing.claim is None


@each(
    "change",
    {"model": 3},
    {"producer": []},
    {"mechanism": 3},
    {"mechanism": [["1", 2]]},
    {"lower": 0.5},
    {"upper": ["1"]},
)
def test_headers_of_other_types_are_refused(change):
    refused(lambda: Header.decode(json.dumps(json.loads(HEADER.encode()) | change)), "certificate")


@each(
    "curve",
    None,
    [],
    {"above": [["1", "0"]]},
    {"above": [], "below": []},
    {"above": [["1"]], "below": []},
    {"above": [["1", 0]], "below": []},
    {"above": [["1", "0"]], "below": "none"},
    {"above": [["1", "0"]], "below": [["1 nats", None]]},
    {"above": [["1", "0"]], "below": [], "beside": []},
)
def test_claims_of_other_forms_about_a_curve_are_refused(curve):
    with pytest.raises(dl.errors.InputError, match="curve must hold two lists"):
        Header.decode(json.dumps(json.loads(HEADER.encode()) | {"curve": curve}))


def test_the_lines_of_the_lower_end_leave_out_the_witnesses_of_the_curve():
    header = Header("maximal_leakage", "digest", "0", "1", curve=CurveClaim((("1", "0"),), (("4/5 max", "0.2"),)))
    own, other = lower.WitnessLine(None, None), lower.WitnessLine(0, lower.UNIFORM)
    certificate = Certificate.of(header, [own, other], [upper.RecordLine(0), upper.VerticesLeaf()])
    assert certificate.lower_lines() == (own,)
    assert certificate.upper_lines() == (upper.RecordLine(0), upper.VerticesLeaf())
