"""The codec: what is read is what was written, for every line of the format, and nothing else is read."""

import json
from dataclasses import fields, replace
from typing import get_args

import pytest

import dalenius as dl
from campaigns import each
from dalenius.catalogue.models import library
from dalenius.evidence import Certificate, CurveClaim, Header, lines
from dalenius.evidence.codec import decode, encode

LINES = [
    lines.WitnessLine(None, None),
    lines.WitnessLine(3, lines.UNIFORM),
    lines.WitnessLine(0, (("1", "0.5"), ("0", "1/3"))),
    lines.WitnessLine(0, (4, ("1", "2"))),
    lines.WitnessLine(0, 7),
    lines.WitnessLine(0, ((3, "0.5"), (5, "1/2"))),
    lines.WitnessLine(0, ("0.5", "1")),
    lines.CellSection(0, 3),
    lines.SecretSection(1),
    lines.MeanLine(None),
    lines.MeanLine(("0.25",)),
    lines.DualLine(None),
    lines.DualLine("0.25"),
    lines.PriorLine("1", 0, (("1", "0"),), (("0.5", "0.5"),)),
    lines.PriorLine("1", 0, lines.UNIFORM, (("0.5", "0.5"),)),
    lines.RatioLine(1, 0, ("1", "2")),
    lines.RatioLine(1, ("0", "1"), ("1", "2")),
    lines.MultiplierLine(3, ((0, "0.5"), (7, "-1/3"))),
    lines.ConeLine(0, "1", ("0.5", "-0.5")),
    lines.AlsoLine(2, "0.5", 1, lines.UNIFORM, (("0.5", "1"), ("0.5", "0"))),
    lines.TangentLine(2, 0, "0.5", None, (("0.5", "1"), ("0.5", "0"))),
    lines.TangentLine(2, 1, "0.5", 3, ("1", "0.5")),
    lines.TangentLine(2, 1, "0.5", ("1", "-1"), ("1", "0.5")),
    lines.TangentLine(2, 1, "0.5", (None, 1), ("1", "0.5")),
    lines.SelectionLine(2, "0.5", 0, ((0, 3, "0.5"), (1, 4, "0.5")), (("0.5", "1"), ("0.5", "1"))),
    lines.WeightLine(1, "1/10"),
    lines.TermLine(2, "0.5", 1, 3, (("0.5", "1"), ("0.5", "0"))),
    lines.AdversaryLine(4),
    lines.TermSection(1),
    lines.PotentialLine(("0.5", "-1/3")),
    lines.RecordLine(2),
    lines.Split(1, 0, "0.25"),
    lines.Cut(1, 0, "0.25"),
    lines.OrbitCut("above", 1, 0, "0.25", (((1, 0), (0, 1, 2), (2, 1, 0)),)),
    lines.OrbitCut("below", 1, 0, "0.25", ()),
    lines.OrbitSplit("above", 1, 0, "0.25", (((1, 0), (0, 1, 2), (2, 1, 0)),)),
    lines.RowCut(0, "0.25"),
    lines.RowChamber(0, (((1, 0, 2), (1, 0)),)),
    lines.JointLeaf("1", "0", None, ("1", "1")),
    lines.JointLeaf("0.5", "1e-3", (None, ("1", "-1")), ("1", "1")),
    lines.RowLeaf(None),
    lines.RowLeaf(("1", "2")),
    lines.RowGroups(((0, 2), (1,))),
    lines.GroupedRowLeaf(("1", "2"), (None, ("0", "0.5"))),
    lines.SameRow(0),
    lines.ImageRow(0, (1, 0), (2, 1, 0)),
    lines.VerticesLeaf(),
    lines.ClassPart(0, (1, 2)),
    lines.OutputLawLeaf(("1", "1")),
    lines.LawOfSelections((0, 1), ("1", "1")),
    lines.LawOfClass((0, 1), ("1", "1"), None),
    lines.LawOfClass((2,), ("1", "1"), ("0.5", "-1")),
    lines.WitnessLine(0, (4, ("1", "2"), (6, ((0, 1, 2),)))),
    lines.WitnessLine(0, (4, ("1", "2"), None)),
    lines.MixtureLeaf(("1", "0.5"), None),
    lines.MixtureOfSelections((0, 1), ("1", "1"), ((0, 1, 2),)),
    lines.MixtureOfClass((0,), ("1", "1"), ("0.5",), (6, ())),
    lines.MixtureOfClass((0,), ("1", "1"), None, None),
    lines.PieceOfWitness(3, None),
    lines.PieceOfWitness(0, "-2"),
    lines.PieceSection(3, None),
    lines.PieceSection(0, "17"),
    lines.PotentialLine(("0.5", "-1")),
    lines.WitnessLine(0, (0, 1, 101)),
    lines.HistogramLine((0, 1, 101), (((2,), "0.75"), ((1, 1), "0.25"))),
    lines.LettersLine(),
    lines.EndsLeaf(),
    lines.InformedLeaf("0.25", (("0.5", ("1/3", "2/3")), ("1", ("1", "1")))),
    lines.WindowOfWitness(499_000, 3, 600),
    lines.WitnessLine(0, (((0, "0.5"), (7, "1e-9")), ((3, "1/2"),))),
    lines.SeparateRow("-4.9"),
    lines.ChainPoint(3, ("1/4", "0.3"), None),
    lines.ChainPoint(0, ("1/4", "0.3"), ("-0.001", "0.002")),
    lines.Halve(1, "0.25"),
    lines.SlopeLeaf(("1/4", "0.3", "0")),
    lines.ExpansionLeaf(("0.25", "0.75", "1/3", "2/3"), (0, 1)),
    lines.WindowLeaf(482),
    lines.BlocksLeaf(1600),
    lines.AfterLeaf(900, 482),
    lines.UniformLeaf(),
]


@each("line", LINES)
def test_a_line_is_read_as_it_was_written(line):
    assert decode(encode(line)) == line


def test_every_kind_of_line_is_tried():
    assert {type(line) for line in LINES} == set(get_args(lines.Line))


@each("line", LINES)
def test_one_entry_more_or_of_another_kind_is_refused(line):
    word, *entries = json.loads(encode(line))
    spoilt = [[word, *entries, "more", "and", "more"]]
    spoilt += [[word, *entries[:j], {}, *entries[j + 1 :]] for j in range(len(fields(line)))]
    spoilt += [[word, *entries[:j], 0.5, *entries[j + 1 :]] for j in range(len(fields(line)))]
    for bad in spoilt:
        with pytest.raises(dl.InputError, match="not a line of a certificate"):
            decode(json.dumps(bad))


@each("text", ["", "{}", "7", "[]", "[[]]", '["none"]', '["split",1,0]', "[" * 10_000, "nonsense"])
def test_what_is_no_line(text):
    with pytest.raises(dl.InputError, match="not a line of a certificate"):
        decode(text)


@each("model", [m for m in library("minimal") if m.certificate_path])
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
    [{"model": 3}, {"producer": []}, {"mechanism": 3}, {"mechanism": [["1", 2]]}, {"lower": 0.5}, {"upper": ["1"]}],
)
def test_headers_of_other_types_are_refused(change):
    with pytest.raises(dl.InputError, match=r"certificate"):
        Header.decode(json.dumps(json.loads(HEADER.encode()) | change))


@each(
    "curve",
    [
        None,
        [],
        {"above": [["1", "0"]]},
        {"above": [], "below": []},
        {"above": [["1"]], "below": []},
        {"above": [["1", 0]], "below": []},
        {"above": [["1", "0"]], "below": "none"},
        {"above": [["1", "0"]], "below": [["1 nats", None]]},
        {"above": [["1", "0"]], "below": [], "beside": []},
    ],
)
def test_claims_of_other_forms_about_a_curve_are_refused(curve):
    with pytest.raises(dl.InputError, match="curve must hold two lists"):
        Header.decode(json.dumps(json.loads(HEADER.encode()) | {"curve": curve}))


def test_the_lines_of_the_lower_end_leave_out_the_witnesses_of_the_curve():
    header = Header("maximal_leakage", "digest", "0", "1", curve=CurveClaim((("1", "0"),), (("4/5 max", "0.2"),)))
    own, other = lines.WitnessLine(None, None), lines.WitnessLine(0, lines.UNIFORM)
    certificate = Certificate.of(header, [own, other], [lines.RecordLine(0), lines.VerticesLeaf()])
    assert certificate.lower_lines() == (own,)
    assert certificate.upper_lines() == (lines.RecordLine(0), lines.VerticesLeaf())
