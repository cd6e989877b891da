"""Compressed certificates: the verdict on what they say, and one line for whatever gzip would not have written."""

import gzip
import zlib

import pytest

import cases
from dalenius_check import Status, check, compressed
from dalenius_check.__main__ import main
from test_allowance import most

CORPUS = cases.cases()
MODEL, TEXT = CORPUS["parity_output"].files
PACKED = gzip.compress(TEXT, mtime=0)


def test_the_verdict_is_that_on_the_text():
    """Whatever the compressor: its level, a name and a time in the header, blocks that are stored; also of a refused certificate."""
    assert check(MODEL, PACKED) == check(MODEL, TEXT)
    for level in (0, 1, 9):
        assert check(MODEL, gzip.compress(TEXT, level)).proved
    assert check(MODEL, (PACKED[:3] + b"\x08" + PACKED[4:10] + b"name.cert\0" + PACKED[10:])).proved
    for case in list(CORPUS.values())[::40]:
        model, text = case.files
        assert check(model, gzip.compress(text), resolved=case.resolved) == check(model, text, resolved=case.resolved)


def test_many_pieces(monkeypatch):
    monkeypatch.setattr(compressed, "_PIECE", 7)
    assert check(MODEL, PACKED) == check(MODEL, TEXT)
    assert check(MODEL, gzip.compress(TEXT * 50)) == check(MODEL, TEXT * 50)


DAMAGED = {
    "cut short": (PACKED[:-1], "the compressed data end too early"),
    "no checksum": (PACKED[:-8], "the compressed data end too early"),
    "half of it": (PACKED[: len(PACKED) // 2], "the compressed data end too early"),
    "two bytes": (PACKED[:2], "the compressed data end too early"),
    "a wrong checksum": (PACKED[:-5] + bytes([PACKED[-5] ^ 1]) + PACKED[-4:], "incorrect data check"),
    "a wrong length": (PACKED[:-1] + b"\1", "incorrect length check"),
    "another method": (PACKED[:2] + b"\7" + PACKED[3:], "unknown compression method"),
    "damaged": (PACKED[:12] + b"\xff" * 4 + PACKED[16:], "not what gzip writes"),
    "garbage after it": (PACKED + b"\n", "something stands after the compressed data"),
    "zeros after it": (PACKED + bytes(512), "something stands after the compressed data"),
    "two members": (PACKED + PACKED, "something stands after the compressed data"),
    "an empty second member": (PACKED + gzip.compress(b""), "something stands after the compressed data"),
    "compressed twice": (gzip.compress(PACKED), "not ASCII"),
    "nothing": (gzip.compress(b""), "the file ends where the header is expected"),
    "zlib's own form": (zlib.compress(TEXT), "not ASCII"),
}


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("piece", [5, 1 << 18])
def test_what_gzip_would_not_have_written(monkeypatch, name, piece):
    monkeypatch.setattr(compressed, "_PIECE", piece)
    data, reason = DAMAGED[name]
    verdict = check(MODEL, data)
    assert verdict.status is Status.REJECTED
    assert verdict.reason.startswith("certificate")
    assert reason in verdict.reason
    assert "\n" not in verdict.reason


def test_a_bomb(monkeypatch):
    """Memory is counted before it is taken, and the file's limit is that of what is decompressed."""
    bomb = gzip.compress(bytes(1 << 24))
    assert len(bomb) < 1 << 15
    found = []
    assert most(lambda: found.append(check(MODEL, bomb, memory=8))) < 10
    assert (found[0].status, found[0].allowed) == (Status.UNDECIDED, "memory")
    assert found[0].reason == "certificate line 1: limit: 8 MiB of memory"
    monkeypatch.setattr(compressed, "MAX_FILE", 1 << 20)
    verdict = check(MODEL, bomb)
    assert (verdict.status, verdict.reason) == (
        Status.REJECTED,
        "certificate: the certificate is longer than 1048576 bytes",
    )


def test_a_compressed_file_is_no_longer_than_others_either(monkeypatch):
    """A name in the header makes it as long as one likes."""
    long = PACKED[:3] + b"\x08" + PACKED[4:10] + b"x" * 5000 + b"\0" + PACKED[10:]
    assert check(MODEL, long).proved
    monkeypatch.setattr(compressed, "MAX_FILE", 5000)
    verdict = check(MODEL, long)
    assert (verdict.status, verdict.reason) == (
        Status.REJECTED,
        "certificate: the certificate is longer than 5000 bytes",
    )


def test_the_command_line(tmp_path, capsys):
    (tmp_path / "model").write_bytes(MODEL)
    (tmp_path / "proof").write_bytes(PACKED)
    assert main([str(tmp_path / "model"), str(tmp_path / "proof")]) == 0
    assert capsys.readouterr().out.startswith("proved: ")
    (tmp_path / "proof").write_bytes(PACKED[:-1])
    assert main([str(tmp_path / "model"), str(tmp_path / "proof")]) == 1
    assert capsys.readouterr() == ("rejected: certificate: the compressed data end too early\n", "")
