"""A proof that grows: each leaf is worked out once, and what is known of it proves what working it out anew proves."""

import json
import pickle
from itertools import combinations

import pytest

import cases
import dalenius_check
from campaigns import draws, each, thinned
from dalenius_check import Known, Status, Store, check
from dalenius_check.core.arithmetic import NAMES, choose, using
from dalenius_check.core.bounds import Joint

CORPUS = cases.cases()
TREES = (
    *("count4_mixed", "identity_output_law", "vacuous_sum", "as_same_range", "row_group_cut_half", "group_cut_half"),
    *("sorted", "orbits", "halves", "modular_posterior", "curved", "blocks_threshold"),
)
HOLES = (
    "Known.leaf: self._leaves.get((place, line)) => next((self._leaves[a] for a in self._leaves if a[1] == line), None)",
    "Known.leaf: self._leaves.get((place, line)) => next((self._leaves[a] for a in self._leaves if a[0] == place), None)",
    "Lines.below: self.known.place(place, text or self.text, part) => self.known.place(place, text or self.text)",
    "Lines.below: self.known.place(place, text or self.text, part) => self.known.place(text or self.text, part)",
    "Lines.below: self.known.place(place, text or self.text, part) => self.known.place(place, part)",
    "Known.tree: data.startswith(walked.text, position) => data.startswith(walked.text[:40], position)",
    "Section.run: self.tally.update(walked.tally) => self.tally.update(walked.tally, joint=1)",
)
ELSEWHERE = (
    "Store.take: map(_ball, balls) => map(_ball, balls[:0])",
    "Store.take: here = numbers[place] => here = numbers[-1]",
)


@each("arithmetic, share", ("flint", draws(10, 1)), ("python", draws(80, 12)))
def test_one_store_for_all_cases_changes_no_verdict(arithmetic, share):
    """Most are told from others about the same model, their neighbours by name, by a line; in either order."""
    known, names = Known(), sorted(CORPUS)[: len(CORPUS) // share]
    for name in (*names, *reversed(names)):
        case = CORPUS[name]
        verdict = check(*case.files, resolved=case.resolved, arithmetic=arithmetic, known=known)
        assert case.ends(verdict), name


@each("name", "tree", "joint_letters", "endless_noise", "protocol_pairs", "laplace_bit", "coins")
def test_a_channel_that_is_known_rests_on_what_it_was_made_by(name):
    case, known, left = CORPUS[name], Known(), [9.0]
    alone = check(*case.files)
    assert len(alone.rules) > 1
    assert check(*case.files, known=known, spared=lambda: left[-1]) == alone
    left.append(-1.0)  # whoever asked first has no time any more, which is nothing to others
    assert check(*case.files, known=known) == alone


def text_of(lines):
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()


def exchanged(case):
    """The case's file, then files with two of its lines of one name exchanged."""
    lines = [json.loads(line) for line in case.certificate.decode().splitlines()]
    yield text_of(lines)
    for i, j in combinations(range(2, len(lines)), 2):
        if lines[i][0] == lines[j][0] and lines[i] != lines[j]:
            yield text_of([*lines[:i], lines[j], *lines[i + 1 : j], lines[i], *lines[j + 1 :]])


def differing(checker, most):
    """The files that end otherwise with what is known of all files, each one read twice."""
    known = checker.Known()
    for name in TREES:
        case = CORPUS[name]
        files = list(exchanged(case))
        for data in (*files[:most], *files[:most]):
            verdicts = [checker.check(case.model, data, known=store) for store in (None, known)]
            if verdicts[0] != verdicts[1]:
                yield name, data


def test_files_with_exchanged_lines_end_as_they_do_alone():
    assert not list(differing(dalenius_check, draws(4, 400)))


@pytest.mark.parametrize("hole", thinned(HOLES, every=2))
def test_a_store_that_takes_one_leaf_for_another_is_found_out(planted, hole):
    assert any(differing(planted(hole, hole), 12))


def sent(checker, most, arithmetic="flint"):
    """The files that end otherwise with what was worked out by others, who forget it, of these files, each read twice."""
    known, other = checker.Store(), checker.Store()
    for name in TREES:
        case = CORPUS[name]
        files = list(exchanged(case))[:most]
        for data in files:
            checker.check(case.model, data, known=other, arithmetic=arithmetic)
            with using(choose(arithmetic)):
                known.take(pickle.loads(pickle.dumps(other.told())))
        for data in files:
            verdicts = [checker.check(case.model, data, known=store, arithmetic=arithmetic) for store in (None, known)]
            if verdicts[0].status != verdicts[1].status:  # numbers in reasons may differ in their last digits
                yield name, data


@each("hole", *ELSEWHERE)
def test_a_store_that_takes_them_for_others_is_found_out(planted, hole):
    assert any(sent(planted(hole, hole), 8))


@pytest.mark.parametrize("arithmetic", NAMES[1:])
def test_leaves_that_another_process_has_worked_out_are_taken_for_these_alone(arithmetic):
    assert not list(sent(dalenius_check, draws(1, 100), arithmetic))


def counted_alike(checker, forge, upper="0.6"):
    """Whether the same lines about more records, another channel, and in another arithmetic, end as they do alone."""
    known, ends = checker.Known(), []
    for count, flip in ((2, 5), (6, 5), (2, 50)):
        mechanism = f'kind="symmetric"; flip="1/{flip}"'
        model = forge.model(f"count={count}; alphabet=2", 'kind="parity"', mechanism, '"1 bits"')
        tree = [["record", 0], ["joint", "1", "0.2", None, ["1", "1"]], ["row", None], ["row", None]]
        data = forge.certificate(model, "0", upper, ["witness", None, None], *tree)
        for arithmetic in NAMES[1:]:
            options = {"arithmetic": arithmetic}
            ends.append([checker.check(model, data, known=store, **options).exit_code for store in (None, known)])
    assert [alone for alone, _ in ends] == [0, 0, 1, 1, 1, 1]
    return all(alone == with_store for alone, with_store in ends)


def test_counts_and_numbers_are_part_of_a_place(forge, planted):
    assert counted_alike(dalenius_check, forge)
    holes = ("Known.section: tuple(map(tuple, counts)) => ()",)
    holes += ("Known.section: (tuple(map(tuple, channel.rows)), channel.diagonal) => ()",)
    holes += ("Known.tree: self._trees.get(root, []) => next(iter(self._trees.values()), [])",)
    for hole in (*holes, "_kind: chosen().words, chosen().precision() => ()"):
        assert not counted_alike(planted(hole, hole), forge), hole


# ---- drafts -------------------------------------------------------------------------------------------------------


@pytest.fixture
def worked(monkeypatch):
    """The letters of the row leaves that are worked out."""
    seen, row = [], Joint.row
    monkeypatch.setattr(Joint, "row", lambda leaf, a, *rest: seen.append(a) or row(leaf, a, *rest))
    return seen


def opened(lines, kept):
    """A draft of which the row leaves with these numbers are there."""
    numbers = iter(range(len(lines)))
    return [["open"] if line[0] == "row" and next(numbers) not in kept else line for line in lines]


def test_each_leaf_is_worked_out_once(worked):
    case, known = CORPUS["identity_output_law"], Known()
    lines = [json.loads(line) for line in case.certificate.decode().splitlines()]
    rows = sum(line[0] == "row" for line in lines if isinstance(line, list))
    for kept in ({0, 3}, {1, 3, 4}, set()):
        verdict = check(case.model, text_of([lines[0], *opened(lines[1:], kept)]), known=known, draft=True)
        assert verdict.status is Status.UNDECIDED
    assert len(worked) == 4
    assert check(*case.files, known=known) == check(*case.files)
    assert len(worked) == 2 * rows
    assert check(*case.files, known=known).proved
    assert len(worked) == 2 * rows


def test_what_others_have_worked_out_is_worked_out_by_nobody_else(worked):
    case, other, known = CORPUS["identity_output_law"], Store(), Store()
    assert check(*case.files, known=other).proved
    rows = len(worked)
    known.take(other.told())
    assert check(*case.files, known=known).proved
    assert len(worked) == rows
    assert check(*case.files, known=other).proved  # which has forgotten it
    assert len(worked) == 2 * rows


def test_leaves_of_one_line_are_worked_out_once(monkeypatch):
    seen, bound = [], Joint.bound
    monkeypatch.setattr(Joint, "bound", lambda leaf, psi: seen.append(psi) or bound(leaf, psi))
    case, known = CORPUS["count4_posterior"], Known()
    for _ in range(3):
        assert check(*case.files, known=known).proved
        assert len(seen) == case.certificate.count(b'["joint"')


def judged_alike(checker, forge):
    """Whether a tree that was walked is judged by the claim, and for the model, that are there now: as it is alone."""
    known, ends = checker.Known(), []
    joint, uniform = [["joint", "1", "0.2", None, ["1", "1"]], ["row", None], ["row", None]], [["uniform"]]
    for bound, leaf, upper in ((1, joint, "0.6"), (1, joint, "0.1"), (2, uniform, "0.6"), (1, uniform, "0.6")):
        model = forge.model("count=2; alphabet=2", 'kind="parity"', 'kind="symmetric"; flip="1/5"', f'"{bound} bits"')
        data = forge.certificate(model, "0", upper, ["witness", None, None], ["record", 0], *leaf)
        ends.append([checker.check(model, data, known=store) for store in (None, known)])
    assert [alone.exit_code for alone, _ in ends] == [0, 1, 0, 1]
    return all(alone == with_store for alone, with_store in ends)


def test_a_tree_that_was_walked_is_judged_by_what_is_claimed_now(forge, planted):
    assert judged_alike(dalenius_check, forge)
    holes = "Section.run: walked.leaves => ()", "Section._walk: joint and item[0] == 'joint' => True"
    for hole in holes:
        assert not judged_alike(planted(hole, hole), forge)


def rested_alike(checker, forge):
    """Whether verdicts about trees that others have, too, are those without a store: what they rest on, kinds, where files end."""
    known, none, ends = checker.Known(), ["witness", None, None], []
    flip, same = 'kind="symmetric"; flip="9/10"', 'kind="matrix"; rows=[["1/10","9/10"],["9/10","1/10"]]'
    blocks = 'kind="independent_blocks"; size=2; entropy_at_least="0 nats"'
    joint, leaf = ["joint", "1", "0.2", None, ["1", "1"]], ["separate", "0"]
    tree, nothing = [["record", 0], joint, leaf, leaf], [["record", 0], ["joint", "1", "0", None, ["1", "1"]]]
    undecided = [["record", 1], joint, leaf, ["separate", "0", [["3", "0"], ["1", "0"]]]]  # at any precision
    for mechanism, adversary, lines, end in (
        (flip, '"1 bits"', [*tree, *undecided], 3),
        (flip, '"1 bits"', tree, 0),
        (same, '"1 bits"', tree, 1),
        (flip, blocks, [["block", 0, None], *nothing], 0),
        (flip, '"0 nats"', nothing, 0),
    ):
        model = forge.model("count=2; alphabet=2", 'kind="parity"', mechanism, adversary)
        data = forge.certificate(model, "0", "5", none, *lines)
        for file in (data.rstrip(), data):
            ends.append([checker.check(model, file, known=store) for store in (None, known)])
            assert ends[-1][0].exit_code == end
    return all(alone == with_store for alone, with_store in ends)


def test_a_tree_that_others_have_rests_on_what_it_rests_on_alone(forge, planted):
    assert rested_alike(dalenius_check, forge)
    holes = ("Allowance.resting: self.theorems = before | self.theorems => self.theorems |= before",)
    here = "(key, channel, allowance.held - before"
    holes += (f"Known.channel: {here}, theorems) => {here}, set(allowance.theorems))",)
    holes += ("Known.section: (tuple(map(tuple, channel.rows)), channel.diagonal) => tuple(map(tuple, channel.rows))",)
    holes += ("Section.run: text.endswith(b'\\n') => True",)
    for hole in holes:
        assert not rested_alike(planted(hole, hole), forge), hole


def test_a_draft_proves_nothing_even_where_all_is_there():
    case = CORPUS["count4_mixed"]
    assert check(*case.files, draft=True).status is Status.UNDECIDED
    assert check(*case.files).proved


def test_nothing_is_open_in_a_proof():
    case = CORPUS["identity_output_law"]
    lines = [json.loads(line) for line in case.certificate.decode().splitlines()]
    verdict = check(case.model, text_of([lines[0], *opened(lines[1:], {0, 1})]), known=Known())
    assert verdict.status is Status.REJECTED
    assert "is expected, one of cut" in verdict.reason


def test_a_store_without_room_knows_nothing(worked):
    case, known = CORPUS["identity_output_law"], Known(0)
    for _ in range(2):
        assert check(*case.files, known=known).proved
    assert len(worked) == 2 * case.certificate.count(b'["row"')
