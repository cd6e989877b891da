"""Certificates on disk: written whole or not at all, read strictly."""

import gzip
import json
import math
import os

import numpy as np
import pytest
from scipy.sparse import csr_array

import dalenius as dl
from campaigns import each
from dalenius.errors import InputError
from dalenius.export import parse_cbf, parse_json, parse_solution, read_cbf, read_json, read_solution
from dalenius.export.cbf import cbf_text
from dalenius.export.standard import json_text
from dalenius.programs import StandardForm
from dalenius.programs.standard_form import Columns, Rows
from support import refused

CERTIFICATE = dl.Certificate('{"format":"dalenius-certificate/1"}\n["witness",null,null]\n')


def test_written_and_read(tmp_path):
    assert dl.Certificate.read(CERTIFICATE.write(tmp_path / "a.cert")) == CERTIFICATE
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.cert"]


def test_compressed(tmp_path):
    """By the name's end, the same bytes each time; read by what the file is, whatever its name."""
    path = CERTIFICATE.write(tmp_path / "a.cert.gz")
    data = path.read_bytes()
    assert gzip.decompress(data).decode() == CERTIFICATE.text
    assert CERTIFICATE.write(path).read_bytes() == data
    assert dl.Certificate.read(path.rename(tmp_path / "a.cert")) == CERTIFICATE


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-1], "the compressed data end too early"),
        (lambda data: data[:2], "the compressed data end too early"),
        (lambda data: data + data, "something stands after the compressed data"),
        (lambda data: data + b"\0", "something stands after the compressed data"),
        (lambda data: data[:-1] + b"\1", "not a certificate: .*incorrect length check"),
        (lambda data: gzip.compress(data), "not in ASCII"),
        (lambda data: gzip.compress(bytes(2**20)), "has at most 1000000 bytes, also when it is no longer compressed"),
    ],
)
def test_what_gzip_would_not_have_written(tmp_path, monkeypatch, damage, message):
    path = CERTIFICATE.write(tmp_path / "a.cert.gz")
    path.write_bytes(damage(path.read_bytes()))
    monkeypatch.setattr("dalenius.evidence.certificate.MAX_PROOF", 1_000_000)
    with pytest.raises(dl.errors.InputError, match=f"a.cert.gz: .*{message}") as refused:
        dl.Certificate.read(path)
    assert "\n" not in str(refused.value)


def test_verified_from_disk(support, tmp_path):
    question = support.parity4(1)
    path = support.solve(question).certificate.write(tmp_path / "a.cert")
    model = tmp_path / "model.toml"
    model.write_text(dl.dumps(question), encoding="utf-8")
    assert dl.verify(model, path).proved
    assert dl.verify(str(model), str(path)).proved


@pytest.mark.parametrize("where", ["missing/a.cert", "file/a.cert", "folder"])
def test_places_that_cannot_be_written(tmp_path, where):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    refused(lambda: CERTIFICATE.write(tmp_path / where), "cannot be written")
    assert sorted(entry.name for entry in tmp_path.rglob("*")) == ["file", "folder"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere: run as another user")
def test_unwritable_directory(tmp_path):
    tmp_path.chmod(0o500)
    try:
        refused(lambda: CERTIFICATE.write(tmp_path / "a.cert"), "cannot be written")
        assert list(tmp_path.iterdir()) == []
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    ("error", "raised"),
    [(OSError(28, "No space left on device"), dl.errors.InputError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_old_file_stays_whole(tmp_path, monkeypatch, step, error, raised):
    """A full disk or Ctrl-C half way: the old contents stay, and no temporary file is left."""
    path = tmp_path / "a.cert"
    path.write_text("old")

    def fail(*arguments):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(raised):
        CERTIFICATE.write(path)
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.cert"]


@pytest.mark.parametrize("content", [b"\xff\xfe", "é".encode(), b"\x80"])
def test_no_ascii(tmp_path, content):
    path = tmp_path / "a.cert"
    path.write_bytes(content)
    refused(lambda: dl.Certificate.read(path), "ASCII")


@each("text", "", "\n", "{}", "[]\n", "é", "\ud800", "{" * 10_000, '{"format":"dalenius-certificate/2"}\n')
def test_garbage_is_rejected_not_raised(support, text):
    assert not dl.verify(support.parity4(1), dl.Certificate(text)).proved


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_pipes_are_no_files(support, tmp_path, command_line):
    """Nobody writes into them, so whoever opened one would wait for ever."""
    question = support.parity4(1)
    support.solve(question).certificate.write(tmp_path / "a.cert")
    (tmp_path / "model.toml").write_text(dl.dumps(question), encoding="utf-8")
    os.mkfifo(tmp_path / "pipe.toml")
    for arguments in (["pipe.toml", "a.cert"], ["model.toml", "pipe.toml"], ["pipe.toml"]):
        done = command_line("verify", *arguments)
        assert done.returncode == 2
        assert "pipe.toml" in done.stderr
    done = command_line("solve", "pipe.toml")
    assert done.returncode == 2
    assert "pipe.toml" in done.stderr


# Files that are wrong in every way are refused with their place, and nothing but `InputError` comes out.


def tiny() -> StandardForm:
    """Maximise x with exp(x) <= 2 and x <= 3."""
    A = csr_array(np.array([[-1.0], [1.0], [0.0], [0.0]]))
    rows = (Rows("most", "nonnegative", ()), Rows("cone", "exponential", ()))
    b = np.array([3.0, 0.0, 1.0, 2.0])
    return StandardForm("tiny", True, np.array([1.0]), 0.0, A, b, (Columns("x", ()),), rows)


TEXT = "\n".join(line for line in cbf_text(tiny()).splitlines() if not line.startswith("#"))

CBF = {
    "nothing": ("", "without VER"),
    "no version": (TEXT.replace("VER\n3\n", ""), "line 3: expected VER first"),
    "version 5": (TEXT.replace("VER\n3", "VER\n5"), "expected a version"),
    "version word": (TEXT.replace("VER\n3", "VER\nthree"), "expected a version"),
    "sense": (TEXT.replace("MAX", "MAXIMISE"), "expected MIN or MAX"),
    "unknown item": (TEXT + "\nINT\n1\n0\n", "unknown"),
    "twice": (TEXT + "\nBCOORD\n0\n", "stands twice"),
    "quadratic cone": (TEXT.replace("L+ 1", "QR 1"), "expected one of"),
    "cone of four": (TEXT.replace("EXP 3", "EXP 4"), "3 members"),
    "cone sizes": (TEXT.replace("L+ 1", "L+ 2"), "have 5 members"),
    "more cones": (TEXT.replace("4 2", "4 3"), "CON"),
    "huge": (TEXT.replace("1 1\nF 1", "999999999 1\nF 999999999"), "expected a size"),
    "beyond integers": (TEXT.replace("1 1\nF 1", f"{'9' * 5000} 1\nF 1"), "expected a size"),
    "negative": (TEXT.replace("1 1\nF 1", "-1 1\nF -1"), "expected a size"),
    "nan": (TEXT.replace("0 3.0", "0 nan"), "expected a finite decimal number, got 'nan'"),
    "infinity": (TEXT.replace("0 3.0", "0 inf"), "finite"),
    "overflow": (TEXT.replace("0 3.0", "0 1e999"), "finite"),
    "hexadecimal": (TEXT.replace("0 3.0", "0 0x1p0"), "finite"),
    "underscore": (TEXT.replace("0 3.0", "0 1_0"), "finite"),
    "row out of range": (TEXT.replace("0 3.0", "4 3.0"), "an index from 0 to 3"),
    "column out of range": (TEXT.replace("3 0 1.0", "3 1 1.0"), "an index from 0 to 0"),
    "duplicate": (TEXT.replace("3 0 1.0", "0 0 1.0"), "stands twice"),
    "words": (TEXT.replace("3 0 1.0", "3 0 1.0 2"), "expected 3 words"),
    "count too large": (TEXT.replace("ACOORD\n2", "ACOORD\n3"), "ACOORD: expected 3 words, got 'BCOORD'"),
    "count too small": (TEXT.replace("ACOORD\n2", "ACOORD\n1"), "unknown"),
    "huge count": (TEXT.replace("ACOORD\n2", "ACOORD\n99999999999"), "expected a count"),
    "order": ("VER\n3\nOBJSENSE\nMIN\nACOORD\n0\n", "ACOORD before VAR"),
    "no variables": (TEXT.replace("1 1\nF 1", "0 0"), "a variable at least"),
    "no cone": (TEXT[: TEXT.index("CON")], "without a cone"),
    "cut off": (TEXT[: TEXT.rindex("BCOORD") + 8], "ends within BCOORD"),
}


def test_the_text_itself_is_fine():
    assert parse_cbf(TEXT).sizes == tiny().sizes


@each("case", *CBF)
def test_bad_cbf_is_refused_with_its_line(case):
    text, message = CBF[case]
    with pytest.raises(InputError, match=r"line \d+: ") as caught:
        parse_cbf(text)
    assert message in str(caught.value)


def test_other_line_ends_and_spaces_are_fine():
    """What a checkout under Windows, or an editor, makes of a file."""
    text = cbf_text(tiny())
    for other in (text.replace("\n", "\r\n"), text.replace("\n", " \n\n"), text.rstrip()):
        assert json_text(parse_cbf(other)) == json_text(parse_cbf(text))


def test_every_line_counts():
    """Our own files end with a line that says so, so that a file cut off between two items is noticed, too."""
    lines = cbf_text(tiny()).splitlines(keepends=True)
    for size in range(1, len(lines)):
        with pytest.raises(InputError):
            parse_cbf("".join(lines[:size]))


def instance(**changes) -> str:
    file = json.loads(json_text(tiny()))
    del file["digest"]
    return json.dumps(file | changes)


def matrix(**changes) -> dict:
    return json.loads(json_text(tiny()))["A"] | changes


def block(**changes) -> dict:
    return {"name": "x", "shape": [], "auxiliary": False} | changes


CONE = {"name": "cone", "cone": "exponential", "shape": [], "auxiliary": False}
MOST = {"name": "most", "cone": "nonnegative", "shape": [], "auxiliary": False}
JSON = {
    "nothing": ("", "no JSON"),
    "list": ("[]", "expected a JSON object"),
    "format": (instance(format="dalenius-conic/2"), "format"),
    "unknown key": (instance(more=1), "unknown key 'more'"),
    "missing key": (instance().replace('"sense"', '"sens"'), "missing 'sense'"),
    "twice": (instance().replace('"offset": 0.0', '"offset": 0.0, "offset": 0.0'), "stands twice"),
    "sense": (instance(sense="max"), "sense"),
    "nan": (instance().replace('"offset": 0.0', '"offset": NaN'), "NaN"),
    "infinity": (instance().replace('"offset": 0.0', '"offset": -Infinity'), "Infinity"),
    "overflow": (instance().replace('"offset": 0.0', '"offset": 1e999'), "range of doubles"),
    "long integer": (instance(offset=10**400), "range of doubles"),
    "longer integer": (instance().replace('"offset": 0.0', f'"offset": {"9" * 5000}'), "no JSON"),
    "text for a number": (instance(c=["1.0"]), "c[0]"),
    "flag for a number": (instance(c=[True]), "c[0]"),
    "length": (instance(b=[1.0]), "b: expected 4 numbers, got 1"),
    "scalar": (instance(b=1.0), "b: expected a list"),
    "deep": ("[" * 100_000, "deep"),
    "huge shape": (instance(columns=[block(shape=[2**24, 2**24])]), "at most"),
    "negative shape": (instance(columns=[block(shape=[-1])]), "columns[0].shape"),
    "shape of shapes": (instance(columns=[block(shape=[[1]])]), "columns[0].shape"),
    "flag": (instance(columns=[block(auxiliary=0)]), "columns[0].auxiliary"),
    "name": (instance(columns=[block(name="a b")]), "for a name"),
    "long name": (instance(columns=[block(name="a" * 10_000)]), "columns[0].name"),
    "block key": (instance(columns=[block(more=1)]), "columns[0]: unknown key"),
    "no blocks": (instance(columns=[]), "columns"),
    "cone": (instance(rows=[MOST, CONE | {"cone": "Q"}]), "rows[1].cone"),
    "cone as a list": (instance(rows=[MOST, CONE | {"cone": []}]), "rows[1].cone"),
    "order of cones": (instance(rows=[CONE, MOST]), "order"),
    "same names": (instance(rows=[MOST, CONE | {"name": "most"}]), "one name"),
    "matrix key": (instance(A=matrix(more=1)), "A: unknown key"),
    "duplicate entry": (instance(A=matrix(rows=[0, 0])), "entry 1 stands twice"),
    "entries out of order": (instance(A=matrix(rows=[1, 0])), "out of order"),
    "row out of range": (instance(A=matrix(rows=[0, 4])), "A.rows[1]"),
    "row no integer": (instance(A=matrix(rows=[0, 1.0])), "A.rows[1]"),
    "fewer rows": (instance(A=matrix(rows=[0])), "A.rows: expected a list of 2"),
    "zero entry": (instance(A=matrix(values=[0.0, 1.0])), "is 0"),
    "digest": (json_text(tiny()).replace('"offset": 0.0', '"offset": 0.5'), "digest"),
    "digest type": (json_text(tiny()).replace('"sha256:', '1, "x": "'), "unknown key"),
}


@each("case", *JSON)
def test_bad_instances_are_refused_with_their_place(case):
    text, message = JSON[case]
    with pytest.raises(InputError) as caught:
        parse_json(text)
    assert message in str(caught.value)


def test_an_instance_without_a_digest_is_fine():
    assert json_text(parse_json(instance())) == json_text(tiny())


def solution(**changes) -> str:
    return json.dumps({"format": "dalenius-solution/1", "x": [0.5]} | changes)


SOLUTIONS = {
    "format": (solution(format="dalenius-conic/1"), "format"),
    "no format": ('{"x": [0.5]}', "format: expected 'dalenius-solution/1', got none"),
    "unknown key": (solution(y=[1.0]), "unknown key 'y'"),
    "neither": ('{"format": "dalenius-solution/1"}', "either"),
    "both": (solution(variables={}), "either"),
    "both duals": (solution(z=[1.0], duals={}), "at most one"),
    "order": (solution(exponential_order="yxz"), "exponential_order"),
    "nan": (solution().replace("0.5", "NaN"), "NaN"),
    "null": (solution(x=[None]), "x[0]"),
    "program": (solution(program=1), "program"),
    "ragged": (solution(z=[[1.0], [1.0, 2.0]]), "z[0]"),
    "ragged duals": (solution(duals={"a": [[1.0], [1.0, 2.0]]}), "equal lengths"),
    "mixed duals": (solution(duals={"a": [[1.0], 1.0]}), "equal lengths"),
    "deep duals": (solution(duals={"a": [[[[[[1.0]]]]]]}), "nested"),
    "list of duals": (solution(duals=[1.0]), "an object of names"),
}


@each("case", *SOLUTIONS)
def test_bad_solutions_are_refused_with_their_place(case):
    text, message = SOLUTIONS[case]
    with pytest.raises(InputError) as caught:
        parse_solution(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("read", [read_cbf, read_json, read_solution])
def test_files_that_are_no_text(read, tmp_path):
    path = tmp_path / "x"
    for data in (b"", b"\xff\xfe\x00", b"\x1f\x8b\x08\x00", b"\x00" * 100):
        path.write_bytes(data)
        refused(lambda: read(path), "x: ")
    for missing in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError, match="cannot be read") as caught:
            read(missing)
        assert str(caught.value).count(f"{missing}: ") == 1, "the file is named, and once"


def test_damaged_files_raise_nothing_else():
    """A few bytes changed at random: refused, or read as something finite."""
    rng = np.random.default_rng(7)
    alphabet = list(' 0123456789.-+eENaF{}[],:"\n#')
    texts = [(cbf_text(tiny()), parse_cbf), (TEXT, parse_cbf), (instance(), parse_json)]
    texts.append((solution(z=[1.0, 2.0, 3.0, 4.0]), parse_solution))
    for text, parse in texts:
        for _ in range(300):
            damaged = list(text)
            for place in rng.integers(len(damaged), size=rng.integers(1, 4)):
                damaged[place] = str(rng.choice(alphabet))
            try:
                found = parse("".join(damaged))
            except InputError:
                continue
            if isinstance(found, StandardForm):
                assert math.isfinite(found.value(np.ones(found.c.size)))
