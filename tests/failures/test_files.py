"""Certificates on disk: written whole or not at all, read strictly."""

import gzip
import os

import pytest

import dalenius as dl
from campaigns import each
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


def test_an_empty_name_is_no_folder(command_line):
    done = command_line("solve", "parity/laplace-n4", "-o", "")
    assert done.returncode == 2
    assert "expected a name, got an empty text" in done.stderr
