"""The file of a checkpoint: found again by name and by what it is about, whole or not at all, refused where it is not one's own."""

import gzip
import json
import logging
import math
from dataclasses import dataclass

import numpy as np
import pytest

import dalenius as dl
from campaigns import each
from dalenius.search import checkpoint
from dalenius.search.checkpoint import Checkpoint, Plain, same
from dalenius.search.tree import Branch, Leaf
from support import refused


def of(path, model="m", producer="p"):
    return Checkpoint(path, model, producer, Plain([]))


@pytest.fixture
def path(tmp_path):
    """A file with two things about different laws under one name."""
    of(tmp_path / "file").write([("tree", (np.array([x]), 1), {0: x}) for x in (0.25, 0.5)])
    return tmp_path / "file"


def test_what_was_written_is_found_once(path):
    file = of(path)
    assert file.find("other", (np.array([0.5]), 1)) is None
    assert file.find("tree", (np.array([0.4]), 1)) is None
    assert file.find("tree", (np.array([0.5]), 1)) == {0: 0.5}
    assert file.find("tree", (np.array([0.5]), 1)) is None
    file.write([("tree", (np.array([0.5]), 1), {0: 0.75})])
    again = of(path)  # what was not asked for is still there
    assert again.find("tree", (np.array([0.25]), 1)) == {0: 0.25}
    assert again.find("tree", (np.array([0.5]), 1)) == {0: 0.75}
    again.remove()
    assert not path.exists()


def test_it_is_time_again_after_a_while(path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now[0])
    file = of(path)
    assert not file.due
    now[0] += checkpoint.EVERY
    assert file.due
    monkeypatch.setattr(checkpoint, "write_whole", lambda *_: now.__setitem__(0, now[0] + 7.0))
    file.write([])
    now[0] += checkpoint.DEARER * 7.0 - 1.0
    assert not file.due
    now[0] += 1.0
    assert file.due


def changed(path, change):
    path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes()))))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace(b"0.5", b"0.6"), "a damaged checkpoint; remove it, and the search begins anew"),
        (lambda text: text[:-5], "a damaged checkpoint"),
        (lambda text: text + b"x\n", "a damaged checkpoint"),
        (lambda text: b"", "not a checkpoint of dalenius; name another file, or remove this one"),
        (lambda text: b"[1]\n", "not a checkpoint of dalenius"),
        (lambda text: text.replace(b"checkpoint/1", b"checkpoint/2"), "not a checkpoint of dalenius"),
        (lambda text: text.replace(b'"m"', b'"n"'), "a checkpoint of another model: expected m, got "),
        (lambda text: text.replace(b'"p"', b'"q"'), "a checkpoint of another release: expected p, got "),
    ],
)
def test_another_file_is_refused(path, change, reason):
    changed(path, change)
    before = path.read_bytes()
    with pytest.raises(dl.errors.InputError) as info:
        of(path)
    assert str(info.value).startswith(f"{path}: {reason}")
    assert "\n" not in str(info.value)
    assert path.read_bytes() == before


def test_half_a_file_is_refused(path):
    path.write_bytes(path.read_bytes()[:-9])
    refused(lambda: of(path), "too early")
    path.write_bytes(b"\x00\x01")
    refused(lambda: of(path), "not a checkpoint")


def test_a_large_file_is_not_read(path, monkeypatch):
    monkeypatch.setattr(checkpoint, "MAX_PROOF", 64)
    refused(lambda: of(path), "at most 64 bytes")


def test_a_place_is_tried_before_the_work(tmp_path):
    (tmp_path / "folder").mkdir()
    for place, reason in (
        (tmp_path / "folder", "not a regular file"),
        (tmp_path / "none" / "file", "cannot be written"),
    ):
        with pytest.raises(dl.errors.InputError, match=reason):
            of(place)


def test_trouble_is_told_once_and_stops_nothing(path, monkeypatch, caplog):
    file = of(path)
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "DEARER", 0.0)
    monkeypatch.setattr(checkpoint, "MAX_PROOF", 8)
    with caplog.at_level(logging.WARNING, logger="dalenius"):
        file.write([("tree", 1, 2)])
    assert "no more checkpoints" in caplog.text
    assert not file.due


# What a search holds as text: it comes back as it was, and what is none of it is refused.


@dataclass(frozen=True, slots=True)
class Pair:
    left: object
    right: object


PLAIN = Plain([Leaf, Branch, Pair])


def test_things_come_back():
    shared = np.array([[0.1, 1e-300], [-math.inf, 3.0]])
    thing = (
        {
            0: Branch((1, 0.25), (1, 2)),
            1: Leaf(Pair(shared, None), -math.inf, None),
            2: Leaf(Pair(shared, "é"), 0.1, (0, 0.5)),
        },
        [np.array([True, False]), np.arange(3), np.empty((0, 2)), np.float64(0.1), np.int64(7), np.bool_(True)],
    )
    nodes, rest = PLAIN.read(PLAIN.text(thing))
    assert nodes[0] == Branch((1, 0.25), (1, 2))
    assert nodes[1].bound == -math.inf
    assert nodes[1].content.left is nodes[2].content.left
    assert np.array_equal(nodes[1].content.left, shared)
    assert (nodes[2].content.right, nodes[2].bound, nodes[2].cut) == ("é", 0.1, (0, 0.5))
    assert [getattr(array, "dtype", None) for array in rest[:3]] == [np.bool_, np.int64, np.float64]
    assert rest[2].shape == (0, 2)
    assert rest[3:] == [0.1, 7, True]
    nodes[1].content.left[0, 0] = 2.0  # what comes back can be worked with


def test_depth_is_no_matter():
    chain: object = None
    for _ in range(5000):
        chain = Pair(chain, 1)
    back, depth = PLAIN.read(PLAIN.text(chain)), 0
    while back is not None:
        back, depth = back.left, depth + 1
    assert depth == 5000


@each(
    "rows",
    "",
    "[]",
    "{}",
    "[1]",
    '[["tuple",[0]]]',  # itself
    '[["tuple",[1]],["tuple"]]',  # what comes later
    '[["tuple",[-1]]]',
    '[["tuple",[0,0]]]',
    '[[".","Path","/etc/passwd"]]',  # not of the list
    '[[".","Pair",1]]',
    '[[".","Pair",1,2,3]]',
    '[["array","object",[1],"AAAAAAAAAAA="]]',
    '[["array","float64",[2],"AAAAAAAAAAA="]]',
    '[["array","float64",[1],"AAAA AAAAAAA="]]',
    '[["map",[1]]]',
    '[["run","echo"]]',
)
def test_other_text_is_refused(rows):
    refused(lambda: PLAIN.read(rows), "not what was written")


def test_only_listed_classes_are_written():
    with pytest.raises(AssertionError):
        PLAIN.text(Plain([]))


def test_nothing_differs_but_by_rounding():
    assert same((0.1 + 0.2, None, "a", [np.array([0.3])]), (0.3, None, "a", (np.array([0.1 + 0.2]),)))
    for one, other in [
        (0.3, 0.3000001),
        (np.ones(2), np.ones(3)),
        (np.ones(1), 1.0),
        ((1,), (1, 2)),
        ("a", "b"),
        (None, 0.0),
    ]:
        assert not same(one, other)


def test_a_line_is_json():
    assert json.loads(PLAIN.text((1, Pair("x", np.zeros(1))))) == [
        ["array", "float64", [1], "AAAAAAAAAAA="],
        [".", "Pair", "x", [0]],
        ["tuple", 1, [1]],
    ]
