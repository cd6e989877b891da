"""What a check may take: seconds, and memory that is counted before it is taken; and files that would take all there is."""

import inspect
import json
import os
import tracemalloc
from collections import Counter

import pytest

import cases
import dalenius as dl
from campaigns import each
from dalenius_check import ModelFile, Status, check
from dalenius_check.__main__ import main
from dalenius_check.core import allowance
from dalenius_check.core.allowance import MEMORY, SECONDS, Allowance, LimitError
from dalenius_check.core.channel import build
from dalenius_check.core.counts import completions, ways
from dalenius_check.core.model import parse_model
from dalenius_check.core.numbers import xlogx
from dalenius_check.core.read import parse_toml

CORPUS = cases.cases()
GOOD = CORPUS["parity_output"].files
LEAF = b'["joint","0","0",null,null]\n'


@pytest.fixture
def ticking(monkeypatch):
    """A clock that moves a second whenever it is looked at."""
    seconds = iter(range(10**9))
    monkeypatch.setattr(allowance, "monotonic", lambda: next(seconds))


def wide(forge, letters, *lines):
    """A model whose boxes are as wide as it has letters, and a certificate that starts like this."""
    model = forge.model(f"count=1; alphabet={letters}", 'kind="identity"', 'kind="symmetric"; flip="1/2"', "0")
    return model, forge.certificate(model, "0", "1", ["witness", None, None], ["record", 0], *lines)


def most(work):
    """The largest amount of memory that Python has had for something, in MiB."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


# ---- the clock and the counted memory ----------------------------------------------------------------------------


def test_out_of_time_is_undecided_at_a_line(forge, ticking):
    model, head = wide(forge, 3)
    verdict = check(model, head + b'["split",0,0,"0.5"]\n' * 400, seconds=100)
    assert verdict.status is Status.UNDECIDED
    assert verdict.reason.startswith("certificate line ")
    assert verdict.reason.endswith(": limit: 100 seconds")
    assert (verdict.cause, verdict.allowed) == ("limit", "seconds")
    assert 10 < int(verdict.reason.split()[2].rstrip(":")) < 110


def test_the_clock_is_looked_at_within_a_line(forge, ticking):
    """One line can be long work: a leaf, a witness, the model's own counts and channel."""
    model, head = wide(forge, 150)
    assert check(model, head + LEAF, seconds=100).reason == "certificate line 4: limit: 100 seconds"
    many = forge.model("count=400; alphabet=2", 'kind="count"', 'kind="exponential"; epsilon=1', "0")
    assert check(many, b"", seconds=100).reason == "the model: limit: 100 seconds"


@each(
    "noise, limit, reason",
    ("kind='geometric'; epsilon=1", {"memory": 100}, "100 MiB of memory"),
    ("kind='geometric'; epsilon=1", {"seconds": 3}, "3 seconds"),
    ("kind='staircase'; epsilon=1; sensitivity=1; top=1", {"memory": 100}, "100 MiB of memory"),
)
def test_noise_of_values_far_apart_is_counted_before_it_is_made(forge, noise, limit, reason):
    model = forge.model("count=1; alphabet=2", "kind='sum'; weights=[0,4000000]", noise, "kind='product_priors'")
    found = []
    assert most(lambda: found.append(check(model, b"", **limit))) < 10
    assert found[0].reason.endswith(f": limit: {reason}")


def test_what_was_read_before_is_counted_and_checked_like_a_file(forge):
    """By both arithmetics in turn, and where there is too little memory."""
    model, head = wide(forge, 100)
    file = ModelFile(model)
    for options in ({}, {"arithmetic": "python"}, {"memory": 1}, {}, {"memory": 1, "arithmetic": "python"}):
        verdicts = [check(given, head + LEAF, **options) for given in (file, model)]
        assert verdicts[0] == verdicts[1]
        assert (verdicts[0].status is Status.UNDECIDED) == ("memory" in options)
    held = file.parsed(again := Allowance()).allowance
    assert held is again
    assert again.held > len(model)


def test_out_of_memory_is_undecided_at_a_line(forge):
    model, head = wide(forge, 100)
    data = head + b"".join(b'["split",%d,%d,"0.5"]\n' % (j, j) for j in range(100)) + LEAF * 101
    verdict = check(model, data, memory=6)
    assert verdict.status is Status.UNDECIDED
    assert verdict.reason.startswith("certificate line ")
    assert verdict.reason.endswith(": limit: 6 MiB of memory")
    assert (verdict.cause, verdict.allowed) == ("limit", "memory")
    assert verdict == check(model, data, memory=6)
    assert check(model, data, memory=1).reason == "the model: limit: 1 MiB of memory"


def test_enough_is_enough():
    """Limits change no verdict but to undecided, and the corpus needs little."""
    for case in list(CORPUS.values())[::9]:
        verdict = check(*case.files, resolved=case.resolved)
        assert check(*case.files, resolved=case.resolved, memory=40, seconds=float("inf")) == verdict


def test_none_at_all():
    assert check(*GOOD, seconds=0).status is Status.UNDECIDED
    assert check(*GOOD, memory=0).reason == "the model: limit: 0 MiB of memory"


@each("wrong", {"seconds": -1}, {"memory": -1}, {"seconds": float("nan")}, {"memory": float("nan")})
def test_limits_are_numbers(wrong):
    with pytest.raises(ValueError, match="must be numbers >= 0"):
        check(*GOOD, **wrong)
    problem = dl.loads(GOOD[0].decode())
    with pytest.raises(dl.errors.InputError, match="must be numbers >= 0"):
        dl.verify(problem, dl.Certificate(GOOD[1].decode()), **wrong)


def test_one_set_of_defaults():
    """Those of `dalenius.verify` are the checker's."""
    ours = {name: value.default for name, value in inspect.signature(dl.verify).parameters.items()}
    assert (ours["seconds"], ours["memory"]) == (SECONDS, MEMORY)


def test_what_is_held_is_given_back():
    held = Allowance(memory=1)
    with held.holding(1000):
        held.take(500)
        assert held.held == 1500
    assert held.held == 0
    with pytest.raises(LimitError, match="1 MiB"), held.holding():
        held.take(2**20 + 1)
    assert held.held == 0


# ---- the command line -----------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    """Paths of a model and its certificate."""
    for name, data in zip(("model.toml", "model.cert"), GOOD, strict=True):
        (tmp_path / name).write_bytes(data)
    return [str(tmp_path / "model.toml"), str(tmp_path / "model.cert")]


def test_limits_of_the_command_line(files, capsys):
    assert main([*files, "--time-limit", "600", "--memory-limit", "100"]) == 0
    assert main([*files, "--time-limit", "inf", "--memory-limit", "inf"]) == 0
    capsys.readouterr()
    assert main([*files, "--memory-limit", "0"]) == 3
    assert capsys.readouterr().out == "undecided: the model: limit: 0 MiB of memory\n"
    for wrong in ("-1", "nan", "much"):
        with pytest.raises(SystemExit) as info:
            main([*files, "--time-limit", wrong])
        assert info.value.code == 2
        assert "--time-limit" in capsys.readouterr().err


def test_a_pipe_is_not_opened(files, tmp_path, capsys):
    """It would never end, and nobody may be writing: this test would hang."""
    os.mkfifo(tmp_path / "pipe")
    for place in (str(tmp_path / "pipe"), "/dev/zero", str(tmp_path)):
        for model, certificate in ([place, files[1]], [files[0], place]):
            assert main([model, certificate]) == 2
            assert capsys.readouterr() == ("", f"dalenius_check: {place}: cannot be read: not a regular file\n")


# ---- bombs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["split", "cut"])
def test_boxes_that_wait_hold_a_number_each(forge, kind):
    """A deep tree of wide boxes: each once held all its ranges, and a certificate of 209 kB took gigabytes."""
    model, head = wide(forge, 200)
    data = head + b"".join(b'["%s",%d,%d,"0.5"]\n' % (kind.encode(), j % 40, j % 7) for j in range(2000))
    assert most(lambda: check(model, data)) < 3
    assert "the file ends" in check(model, data).reason


def test_a_chain_of_boxes_that_do_not_wait_is_bounded(forge):
    model, head = wide(forge, 2)
    data = head + (b'["split",0,0,"0.5"]\n' + LEAF) * 1000 + LEAF
    assert check(model, data).proved
    assert check(model, data, memory=0.25).reason.endswith(": limit: 0.25 MiB of memory")


def test_numbers_that_explode_are_counted_first(forge):
    """A law by a total of tens of thousands of bits: each of its numbers has them."""
    rows = 'kind="matrix"; rows=' + json.dumps([["1/2000"] * 2000] * 2)
    model = forge.model("count=2; alphabet=2", 'kind="parity"', rows, "0")
    law = [f"1/{3**800 + 2 * j}" for j in range(30)] + [str(j) for j in range(1, 1971)]
    leaf = ["joint", "1", "0", None, law]
    data = forge.certificate(model, "0", "20", ["witness", None, None], ["record", 0], leaf)
    assert check(model, data).proved
    assert check(model, data, memory=15).reason == "certificate line 4: limit: 15 MiB of memory"


TOO_MUCH = {
    "key of more than 8 parts": [
        "a" + ".a" * 9 + "=1",
        "[" + "a . " * 9 + "a]",
        '"a"' + ".'a'" * 9 + " = 1",
        "a" + ".a" * 500_000,
    ],
    "more than 10000 keys": ["\n".join(f"k{j} = 1" for j in range(10_001)), "a = [" + "{b=1}," * 10_001 + "]"],
    "more than 2000 tables": ["\n".join(f"[t{j}]" for j in range(2001)), "[[a]] # x\r\n" * 2001, "['a,]']\n" * 2001],
    "number or name of more than 1000 characters": [
        "a = " + "1" * 1001,
        "a = 0x" + "f" * 10**6,
        "a = 1." + "0" * 10**6,
    ],
}


@pytest.mark.parametrize(("reason", "text"), [(reason, text) for reason, texts in TOO_MUCH.items() for text in texts])
def test_refused_before_parsing(monkeypatch, reason, text):
    """By what takes a parser of TOML far more than the text does."""
    monkeypatch.setattr("tomllib.loads", lambda *_, **__: pytest.fail("it was parsed"))
    verdict = check(text.encode(), b"")
    assert verdict.status is Status.UNREADABLE
    assert verdict.reason == f"the model has a {reason}" or verdict.reason == f"the model has {reason}"


@each(
    "text",
    'title = "' + "a.b.c=d [x] # " * 2000 + '"',
    'title = """' + 'a.b.c=d\n[x]\n"" # \\" ' * 2000 + '""""',
    "title = '''" + 'a.b.c=d\n[x]\n\'\' """ ' * 2000 + "'''''",
    "title = 1 # " + "a=b." * 2000,
    "# " + "'''" + "\nrows = [\n" + "  [1.5, 2.5],\n" * 2000 + "]",
    "rows = [\n" + "  [1],\n" * 2000 + "]",
    'a = "\\\\" # "' + "=" * 2000,
    "a.b.c.d.e.f.g.h = 1",
    'note = "' + "x" * 5000 + '"',
)
def test_what_only_looks_like_much_is_read(text):
    """Strings and comments may say what they like, and rows are no tables."""
    assert parse_toml(text.encode(), Allowance())


ENDLESS = ['\\"""\n' * 30_000 + "\\", '"""' + "\\" * 90_001, "'''" * 50_001, '"' * 99_999, " " * 10**6, "a" * 10**6]


@each("text", *ENDLESS)
def test_counting_takes_a_time_in_proportion(text):
    """A pattern that goes back over what it has read would take hours for these."""
    assert check(text.encode(), b"").status is Status.UNREADABLE


def test_a_line_of_brackets_is_counted(forge):
    model, head = wide(forge, 2)
    data = head + b"[" + b"[]," * 200_000 + b"[]]\n"
    assert check(model, data, memory=20).reason == "certificate line 4: limit: 20 MiB of memory"


# ---- equal entries --------------------------------------------------------------------------------------------------


def test_equal_entries_are_worked_out_once(forge, monkeypatch):
    """Of a channel with two distinct numbers, written however large, two logarithms are taken at most."""
    taken = []
    monkeypatch.setattr("dalenius_check.core.numbers.xlogx", lambda value: taken.append(value) or xlogx(value))
    for mechanism in ('kind="symmetric"; flip="1/10"', 'kind="randomized_response"; epsilon=1'):
        model, data = wide(forge, 60)
        model = forge.model("count=1; alphabet=60", 'kind="identity"', mechanism, "0")
        data = forge.certificate(
            model, "3", "4.1", ["witness", 0, "uniform"], ["record", 0], ["joint", "1", "0", None, ["1"] * 60]
        )
        taken.clear()
        check(model, data)
        assert 0 < len(taken) <= 2


def test_letters_share_their_numbers_of_completions(forge):
    """A million records of 10,000 letters have 20,000 numbers of 13 million bits each, 33 GB; two of them differ."""
    data = forge.model("count=2000; alphabet=100", 'kind="parity"', 'kind="symmetric"; flip="1/4"', "0")
    pairs = completions(parse_model(data), 0, [0, 1])
    assert len({id(n) for row in pairs for _, n in row}) == 2 < sum(map(len, pairs))


def test_a_matrix_written_with_few_numbers_has_few():
    text = 'problem = "maximal_leakage"\nrecords = {count = 2, alphabet = 2}\nquery = {kind = "parity"}\n'
    text += 'mechanism = {kind = "matrix", rows = [["0.25", "0.75"], ["0.75", "0.25"]]}\nadversary = {entropy_at_least = 0}\n'
    rows = build(parse_model(text.encode())).rows
    assert len({id(x) for row in rows for x in row}) == 2


def test_whoever_asked_may_end_it_sooner(forge):
    """What he still has for it is asked at every look, and no end of it is a proof."""
    model, head = wide(forge, 3)
    left = iter([1.0] * 20 + [-0.1] * 1000)
    verdict = check(model, head + b'["split",0,0,"0.5"]\n' * 400, spared=lambda: next(left))
    assert verdict.status is Status.UNDECIDED
    assert verdict.reason.endswith(": limit: the seconds that were left to it")
    assert (verdict.cause, verdict.allowed) == ("limit", "seconds")


def test_powers_of_counts_end_when_the_time_is_over(ticking):
    """Of a million records modulo 16: each of some twenty products takes seconds without python-flint."""
    with pytest.raises(LimitError, match="9 seconds"):
        ways(Counter({(0, 1): 10**4}), 16, Allowance(seconds=9))
