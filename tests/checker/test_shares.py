"""A check by several processes: the verdict of one, and never *proved* where something of a share is missing."""

import json
from contextlib import contextmanager
from queue import SimpleQueue

import pytest

import cases
from campaigns import each, thinned
from dalenius_check import Status, check
from dalenius_check import processes as shares
from dalenius_check import running as checking
from dalenius_check.__main__ import main
from dalenius_check.core.allowance import Allowance, LimitError
from dalenius_check.core.arithmetic import NAMES, arb, choose, chosen, using

CORPUS = cases.cases()
ROWS, LEAVES = CORPUS["bits_whole_output_law"], CORPUS["count4_posterior"]


@pytest.fixture
def here(monkeypatch):
    """Helpers in this process, with shares of single lines; a list takes what each of them says, and `change` may change it."""

    def install(change=lambda told: told):
        heard = []

        @contextmanager
        def shared(parts, options, files, allowance):
            queues = []
            for part in range(1, parts):
                told = []
                sent = json.loads(json.dumps({**options, "part": part, "parts": parts, "chunk": 1}))
                checking.work(sent, *files, lambda found, told=told: told.append(json.loads(json.dumps(found))))
                queues.append(SimpleQueue())
                for found in [*change(told), None]:
                    queues[-1].put(found)
                heard.append(told)
            yield shares.First(queues, 1, allowance)

        monkeypatch.setattr(checking, "shared", shared)
        return heard

    return install


@pytest.mark.parametrize("name", thinned(sorted(CORPUS), 28))
def test_the_verdict_is_that_of_one(here, name):
    case = CORPUS[name]
    heard = here()
    alone, together = (check(*case.files, resolved=case.resolved, jobs=jobs) for jobs in (1, 3))
    assert case.ends(together)
    assert together == alone
    owners = [found["line"] % 3 for j in range(len(heard)) for found in heard[j] if "found" in found]
    assert owners == [1 + j % 2 for j in range(len(heard)) for found in heard[j] if "found" in found]


def test_every_leaf_is_told_by_one(here):
    """Three shares of a proof with rows, and of one with leaves."""
    for case, word in ((ROWS, "row"), (LEAVES, "joint")):
        heard = here()
        assert check(*case.files, jobs=3).proved
        told = [found["line"] for one in heard for found in one]
        lines = [json.loads(line) for line in case.certificate.decode().splitlines()]
        there = [number for number, line in enumerate(lines, 1) if isinstance(line, list) and line[0] == word]
        assert sorted(told) == [number for number in there if number % 3]


@pytest.mark.parametrize("case", [ROWS, LEAVES])
@pytest.mark.parametrize(
    "change",
    [
        lambda told: told[1:],
        lambda told: told[:-1],
        lambda told: [],
        lambda told: told[::-1],
        lambda told: [told[0], *told],
        lambda told: [{**found, "line": found["line"] + 1} for found in told],
    ],
    ids=["first", "last", "all", "order", "twice", "lines"],
)
def test_a_share_that_lacks_a_line_proves_nothing(here, case, change):
    here(change)
    assert check(*case.files, jobs=2).status is Status.UNDECIDED


@pytest.mark.parametrize("case", [ROWS, LEAVES])
def test_what_one_share_refuses_is_rejected(here, case):
    """At its line, with its reason, as by one process; wherever the leaf stands."""
    text = case.certificate.decode().splitlines()
    leaves = [number for number, line in enumerate(text) if line.startswith(('["row"', '["joint","0"'))]
    for number in leaves[:4]:
        broken = [*text]
        broken[number] = broken[number].replace('"', '"x', 3).replace('"xrow', '"row').replace('"xjoint', '"joint')
        data = "".join(f"{line}\n" for line in broken).encode()
        here()
        alone, together = (check(case.model, data, jobs=jobs) for jobs in (1, 3))
        assert alone.status is Status.REJECTED
        assert together == alone
        assert f"line {number + 1}:" in together.reason


def test_a_share_that_ends_for_want_of_memory_leaves_it_open(here):
    limit = {"line": 1, "error": "limit", "reason": "9 MiB of memory", "allowed": "memory"}
    here(lambda told: [*told[:1], limit])
    verdict = check(*LEAVES.files, jobs=2)
    assert (verdict.status, verdict.allowed) == (Status.UNDECIDED, "memory")
    assert verdict.reason.endswith("limit: 9 MiB of memory")


def test_a_defect_in_a_share_proves_nothing(here, monkeypatch):
    calls = iter(range(10**6))

    def attempt(*given):
        next(calls)
        raise KeyError("a defect")

    monkeypatch.setattr(checking, "attempt", attempt)
    here()
    verdict = check(*LEAVES.files, jobs=2)
    assert verdict.status is Status.UNDECIDED
    assert "internal error" in verdict.reason


@each("name", *NAMES[1:])
def test_numbers_arrive_as_they_are_or_wider(name):
    with using(choose(name)), chosen().workprec(128):
        for ball in (arb(2).log(), arb(0), -arb(2187).log(), arb(1000).exp()):
            back = shares._ball(shares._ends(ball))
            assert back.lower().fmpq() <= ball.lower().fmpq() <= ball.upper().fmpq() <= back.upper().fmpq()
            assert (back - ball).upper().fmpq() <= abs(ball.upper().fmpq()) / 2**100
        assert not shares._ball(shares._ends(arb("nan"))).is_finite()


def test_waiting_is_within_the_time():
    with pytest.raises(LimitError, match="limit: 0 seconds"):
        shares.First([SimpleQueue()], 1, Allowance(seconds=0)).leaf(1, lambda: True)


# ---- real processes -----------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    """Short files are shared, too."""
    monkeypatch.setattr(shares, "LEAST", 0)
    monkeypatch.setattr(shares, "CHUNK", 4)


def test_processes(small, tmp_path, capsys):
    """With the command line; nobody is left behind."""
    (tmp_path / "model").write_bytes(LEAVES.model)
    (tmp_path / "cert").write_bytes(LEAVES.certificate)
    command = [str(tmp_path / "model"), str(tmp_path / "cert")]
    assert main(command) == 0
    alone = capsys.readouterr().out
    begun = []
    start = shares.subprocess.Popen

    def popen(*given, **options):
        begun.append(start(*given, **options))
        return begun[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shares.subprocess, "Popen", popen)
        assert main([*command, "--jobs", "3"]) == 0
    assert capsys.readouterr().out == alone
    assert len(begun) == 2
    assert all(process.returncode is not None for process in begun)


def test_a_process_that_is_killed_proves_nothing(small, monkeypatch):
    start = shares.subprocess.Popen

    def popen(*given, **options):
        process = start(*given, **options)
        process.kill()
        return process

    monkeypatch.setattr(shares.subprocess, "Popen", popen)
    verdict = check(*LEAVES.files, jobs=2)
    assert (verdict.status, verdict.allowed) == (Status.UNDECIDED, "processes")
    assert verdict.reason.endswith("another process that checks was lost; check again, with one process")


def test_jobs_are_a_number():
    for jobs in (0, -1, 1.5, True, "2"):
        with pytest.raises(ValueError, match="jobs must be an integer >= 1"):
            check(*LEAVES.files, jobs=jobs)
