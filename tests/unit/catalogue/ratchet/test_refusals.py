"""What a library does not take, said before any work, and nothing written."""

import json

import pytest

import dalenius as dl
from dalenius.catalogue import ratchet
from dalenius.catalogue.models import library, library_model
from libraries import AUDIT, MODELS, NAMES, claimed


@pytest.mark.parametrize("place", ["history.csv", "INDEX.md", "index.csv", f"{AUDIT}.cert", f"{AUDIT}.cert.gz"])
def test_what_cannot_be_written_is_said_before_any_work(small, monkeypatch, command_line, place):
    def worked(*_, **__):
        raise AssertionError("worked")

    monkeypatch.setattr(ratchet, "solve", worked)
    monkeypatch.setattr(ratchet, "_need_proof", worked)
    (small / place).mkdir()
    for arguments in (["tighten", AUDIT], ["submit", MODELS[AUDIT].certificate_path]):
        refused = command_line("library", *arguments, "--folder", small)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.endswith(
            f"{small / place}: cannot be written: it is a folder; move it, or name another place\n"
        )
        assert refused.stderr.count("\n") == 1


def test_what_is_refused(small, monkeypatch):
    """Junk, another library's model, a false claim, a proof that is too long; nothing is written."""
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    wrong = claimed(best, upper=float(MODELS[AUDIT].claim[1]) - 1e-6)
    for certificate, message in (
        (dl.Certificate("no certificate"), "not a certificate"),
        (dl.Certificate('["list"]\n'), "not a certificate"),
        (dl.Certificate.read(MODELS["identity/bit"].certificate_path), "of no model in"),
        (wrong, "not proved"),
    ):
        with pytest.raises(dl.errors.InputError, match=message):
            ratchet.submit(certificate, small)
    monkeypatch.setattr(ratchet, "MOST_BYTES", 100)
    with pytest.raises(dl.errors.InputError, match="the library takes 100"):
        ratchet.submit(best, small)
    assert not list(small.rglob("*.cert*"))
    assert ratchet.history(small) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('minimal = ["no/model"]', "is in no set"),
        (f"minimal = {json.dumps([*NAMES, 'no/model'])}", "there is no model file for no/model"),
        (f"minimal = {json.dumps([*NAMES, AUDIT])}", "each name once"),
        (f"huge = {json.dumps(NAMES)}", "expected lists minimal, fast, various"),
        ("minimal = [", "not a TOML"),
        ("minimal = 3", "expected lists"),
        ('minimal = [["a"]]', "expected lists"),
        ('minimal = "a"', "expected lists"),
        ('formulas = ["a"]', "expected lists"),
    ],
)
def test_a_list_of_sets_that_does_not_fit(small, text, message):
    (small / "sets.toml").write_text(text)
    with pytest.raises(dl.errors.InputError, match=message):
        library(folder=small)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"lower":"0","upper":"1"}', '{"model":"","lower":"x","upper":"1"}']
)
def test_a_stored_certificate_that_is_none(small, text):
    """The error names the file, whoever reads it."""
    path = (small / AUDIT).with_suffix(".cert")
    path.write_text(text)
    model = library_model(AUDIT, small)
    for use in (
        model.row,
        lambda: ratchet.tighten(model, small),
        lambda: ratchet.submit(dl.Certificate.read(MODELS[AUDIT].certificate_path), small),
    ):
        with pytest.raises(dl.errors.InputError, match=rf"{AUDIT}\.cert: (not a certificate|lower: expected a number)"):
            use()
    with pytest.raises(
        dl.errors.InputError, match=r"^(not a certificate|lower: expected|the certificate is of no model)"
    ):
        ratchet.submit(dl.Certificate(text), small)
    assert path.read_text() == text
