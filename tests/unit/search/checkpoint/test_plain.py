"""What a search holds as text: it comes back as it was, and what is none of it is refused."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

import dalenius as dl
from campaigns import each
from dalenius.search.checkpoint import Plain, same
from dalenius.search.tree import Branch, Leaf


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
    with pytest.raises(dl.errors.InputError, match="not what was written"):
        PLAIN.read(rows)


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
