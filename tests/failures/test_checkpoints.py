"""An audit that is killed goes on from its checkpoint, to the same bounds in fewer steps; what is wrong in one proves nothing."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.audits import checkpoint_of
from dalenius.search import checkpoint, tree
from dalenius.search.checkpoint import Checkpoint
from dalenius.search.tree import Leaf


def count(share, records=6):
    return support.problem(dl.Records(records, alphabet=2), dl.Count(), dl.geometric(1.0), share)


def rows_of_two():
    """A full channel of two records whose last gap the tree over boxes of the conditionals closes."""
    rows = np.random.default_rng(1).dirichlet(np.full(3, 0.6), size=16).round(6)
    rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(6)
    return support.problem(dl.Records(alphabets=[4, 4]), None, dl.Channel(rows, inputs="dataset"), "0.7 max")


def leaves_in(family):
    """Of what takes a leaf's place: a list of leaves, or cuts with leaves."""
    if isinstance(family, tree.Leaf):
        return [family]
    return [leaf for part in getattr(family, "parts", family) for leaf in leaves_in(part)]


@pytest.fixture
def bounded(monkeypatch):
    """The nodes that trees have bounded."""
    found = []
    grow = tree.Tree.grow

    def counted(self, parts, batch=1, **options):
        def noted(leaves):
            families = parts(leaves)
            found.extend(leaf for family in families for leaf in leaves_in(family))
            return families

        return grow(self, noted, batch, **options)

    monkeypatch.setattr(tree.Tree, "grow", counted)
    return found


def killed_at(number, work):
    """Do the work in a fork with a checkpoint after every step, and a kill right after so many; how it ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    write, done = Checkpoint.write, []

    def counted(self, entries):
        write(self, entries)
        done.append(1)
        if len(done) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        checkpoint.EVERY = checkpoint.DEARER = 0.0
        Checkpoint.write = counted
        work()
    finally:
        os._exit(99)


CASES = [
    (count("0.95 max", 4), 3e-3, 8, "dual"),
    pytest.param(count("0.5 max"), 2e-2, 16, "posterior", marks=pytest.mark.thorough),
    pytest.param(count("0.95 max"), 1e-2, 15, "dual", marks=pytest.mark.thorough),
    pytest.param(count("0.95 max", 8), 0.05, 30, "dual", marks=pytest.mark.thorough),  # in groups of outputs
    pytest.param(rows_of_two(), 5e-3, 20, "dual tree", marks=pytest.mark.thorough),
]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the test forks: run it on another system")
@pytest.mark.parametrize(("question", "gap", "number", "method"), CASES)
def test_a_killed_audit_goes_on(bounded, tmp_path, support, question, gap, number, method):
    path = tmp_path / "file"
    alone = dl.solve(question, gap=gap, time_limit=None)
    needed = len(bounded)
    assert killed_at(number, lambda: dl.solve(question, gap=gap, time_limit=None, checkpoint=path)) == -signal.SIGKILL
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    bounded.clear()
    again = dl.solve(question, gap=gap, time_limit=None, checkpoint=path)
    assert len(bounded) < 0.95 * needed
    assert again.gap <= gap
    assert again.termination is dl.answers.Termination.GAP_REACHED
    assert method in {proof.method for proof in again.records}
    support.assert_overlap(again, alone)
    assert again.lower >= alone.lower * (1.0 - 1e-9)
    assert not path.exists()  # there is nothing left to go on with


@pytest.mark.thorough
def test_a_limit_is_a_reason_to_go_on_too(tmp_path, bounded):
    """The state at a limit is written; with more of it, the answer is better."""
    question, path = count("0.5 max"), tmp_path / "file"
    first = dl.solve(question, gap=1e-2, node_limit=30, time_limit=None, checkpoint=path)
    assert first.termination is dl.answers.Termination.SIZE_LIMIT
    before = len(bounded)
    bounded.clear()
    second = dl.solve(question, gap=1e-2, node_limit=30, time_limit=None, checkpoint=path)
    assert len(bounded) < 0.3 * before
    assert second.upper <= first.upper * (1.0 + 1e-9)
    assert second.lower >= first.lower * (1.0 - 1e-9)


@pytest.mark.filterwarnings("ignore::dalenius.errors.ProofRefusedWarning")
def test_what_is_false_in_it_is_not_believed(tmp_path):
    """Boxes that are said to be closed, with a digest that fits: the proof is refused, and the answer is wide and true."""
    question, path = count("0.5 max"), tmp_path / "file"
    true = dl.solve(question, gap=1e-2, node_limit=60, time_limit=None, checkpoint=path)
    file = checkpoint_of(path, question)
    entries = []
    for name, text in file._lines:
        mark, thing = file._plain.read(text)
        if name.startswith("posterior"):
            thing = {
                number: replace(node, bound=0.5 * true.lower) if isinstance(node, Leaf) else node
                for number, node in thing.items()
            }
        entries.append((name, mark, thing))
    file._lines = []
    file.write(entries)
    result = dl.solve(question, gap=1e-2, time_limit=None, checkpoint=path)
    assert result.lower >= true.lower * (1.0 - 1e-9)
    assert result.upper >= true.lower
    assert dl.verify(question, result.certificate).proved


def test_another_question_is_refused(tmp_path):
    path = tmp_path / "file"
    dl.solve(count("0.5 max"), gap=1e-2, node_limit=20, time_limit=None, checkpoint=path)
    support.refused(lambda: dl.solve(count("0.6 max"), checkpoint=path), "a checkpoint of another model: expected ")
    path.write_bytes(path.read_bytes()[:-20])
    support.refused(lambda: dl.solve(count("0.5 max"), checkpoint=path), "checkpoint")


def test_another_gap_begins_trees_anew(tmp_path):
    """Cuts are made for a target; the witness is kept."""
    question, path = count("0.95 max", 4), tmp_path / "file"
    dl.solve(question, gap=1e-3, node_limit=50, time_limit=None, checkpoint=path)
    assert dl.solve(question, gap=2e-2, time_limit=None, checkpoint=path).gap <= 2e-2


@pytest.mark.parametrize(
    ("question", "options", "reason"),
    [
        (replace(count("0.5 max"), adversary=dl.ProductPriors()), {}, "checkpoint: an audit against entropy_at_least"),
        (count("0.5 max"), {"method": "alternating"}, "checkpoint: an audit against entropy_at_least"),
        (count("0.5 max"), {"checkpoint": 3}, "checkpoint: expected a path, or None, got 3"),
        (count("0.5 max"), {"checkpoint": "none/file"}, "none: cannot be written into"),
    ],
)
def test_where_there_is_none(tmp_path, question, options, reason):
    with pytest.raises(dl.errors.InputError, match=reason):
        dl.solve(question, **{"checkpoint": tmp_path / "file", **options})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_no_place(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    support.refused(lambda: dl.solve(count("0.9 max"), checkpoint=tmp_path / "pipe"), "not a regular file")
