"""Kinds of forgery: each edits a draft, a copy of an honest certificate, in place. Written from docs/certificate-format.md alone.

A kind says False if it does not apply. None of them minds whether what it leaves is well formed; the claim is put in afterwards.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import localcontext
from fractions import Fraction
from typing import Any

import constraint_truth
import forgery_chains
import forgery_classes
import forgery_constraints
import forgery_curves
import forgery_limits
import forgery_lines
import forgery_protocols
import forgery_releases
import forgery_symmetries
import forgery_truth as truth
from forgery_subjects import Certificate, Subject, claimed

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?|-?[0-9]+/[0-9]+")
EXTREMES = (
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "1e-400",
    "1e-300",
    "-1e-300",
    "1e400",
    "1e30",
    "1e-40",
    "0.5",
    "1/3",
    "9" * 400,
    "0." + "0" * 300 + "1",
)
ODD = (
    *(
        "1/0",
        "0/0",
        "00",
        "00.50",
        "0e0",
        "-0.0",
        "1e-401",
        "1e401",
        "1e99999999",
        "+1",
        " 1",
        "1 ",
        "1\n",
        "1_0",
        "1.",
        ".5",
        "1E2",
        "1e+2",
        "0x1",
    ),
    *(
        "1/-2",
        "-1/2",
        "1.5/2",
        "1/2/3",
        "--1",
        "",
        "nan",
        "inf",
        "-inf",
        "Infinity",
        "½",
        "\u0661",
        "\uff11",
        "\u00b2",
        "1,5",
        "1e",
        "e5",
        "1/3e2",
    ),
    *(
        "0" * 401,
        "1" * 401,
        "0." + "3" * 398,
        "3" * 199 + "/" + "7" * 199,
        "1e0400",
        "0e400",
        "0e-400",
        "1\x00",
        "1e-0",
        "1e1.5",
        "true",
        "null",
    ),
)
ODDITIES: tuple[Any, ...] = (
    True,
    False,
    None,
    0,
    1,
    -1,
    0.5,
    [],
    {},
    [[]],
    "uniform",
    10**9,
    10**10,
    10**30,
    "0",
    [["1"]],
    {"0": "1"},
)


@dataclass
class Draft:
    """A certificate being forged."""

    rng: random.Random
    subject: Subject
    lines: Certificate
    others: list[Subject]
    step: Fraction | None = (
        None  # how far evidence was moved, relatively: a claim as far off may look as if it were proved
    )
    claim: dict[str, Any] = field(default_factory=dict)  # ends that a kind aims at; they are false, or the mechanism is

    @property
    def header(self) -> dict[str, Any]:
        """The first line."""
        found = self.lines[0]
        assert isinstance(found, dict)
        return found

    def small(self) -> Fraction:
        """A small number of any size."""
        return Fraction(self.rng.randint(1, 9), 10 ** self.rng.randint(1, self.rng.choice([4, 16, 45])))

    def pick(self, *tags: str) -> int | None:
        """The place of a line with one of these tags."""
        places = [at for at, line in enumerate(self.lines) if at and tag(line) in tags]
        return self.rng.choice(places) if places else None

    def law(self, length: int) -> list[str]:
        """Some law."""
        return [self.rng.choice(["1", "1", "0", "1e-9", str(self.rng.randint(1, 99))]) for _ in range(length)]

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        for line in self.lines[1:]:
            if tag(line) in ("joint", "law") and isinstance(line[-1], list):
                return len(line[-1])
        return 2

    @property
    def letters(self) -> int:
        """The letters of some record."""
        return self.rng.choice(self.subject.question.alphabets)


Kind = Callable[[Draft], bool | None]


def tag(line: Any) -> Any:
    """What a line is."""
    return line[0] if isinstance(line, list) and line and isinstance(line[0], str) else None


def clone(value: Any) -> Any:
    """A deep copy of a JSON value."""
    if isinstance(value, list):
        return [clone(item) for item in value]
    return {key: clone(item) for key, item in value.items()} if isinstance(value, dict) else value


def places(value: Any, want: Callable[[Any], bool]) -> Iterator[tuple[Any, Any]]:
    """Where in a JSON value something is: its container, and its index or key."""
    items = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, item in list(items):
        if want(item):
            yield value, key
        yield from places(item, want)


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number of the format."""
    return isinstance(value, str) and NUMBER.fullmatch(value) is not None


def value_of(text: str) -> Fraction | None:
    """The number that a text of the format means."""
    if not NUMBER.fullmatch(text) or len(text) > 400 or ("e" in text and abs(int(text.split("e")[1])) > 400):
        return None
    return None if re.search(r"/0+$", text) else Fraction(text)


def spelled(rng: random.Random, value: Fraction) -> str:
    """A number as a fraction or at many digits."""
    fraction = str(value)
    if len(fraction) <= 200 and rng.random() < 0.5:
        return fraction
    return claimed(value, "floor") if abs(value) < 10**60 else fraction[:300]


def evidence(draft: Draft) -> list[Any]:
    """What a kind that edits numbers looks at: one line more often than all."""
    roots = [*draft.lines[1:], draft.header["mechanism"]] if draft.header.get("mechanism") else draft.lines[1:]
    if not roots:
        return []
    return [draft.rng.choice(roots)] if draft.rng.random() < 0.7 else roots


def spots(draft: Draft, want: Callable[[Any], bool]) -> list[tuple[Any, Any]]:
    """Places in the evidence."""
    return [spot for root in evidence(draft) for spot in places(root, want)]


# Numbers ------------------------------------------------------------------------------------------------------------------------


def nothing(draft: Draft) -> None:
    """The evidence as it is, the claim tighter."""


def nudge(draft: Draft) -> bool:
    """Numbers moved a little, the claim about as much."""
    found = spots(draft, is_number)
    if not found:
        return False
    step = draft.step = draft.small()
    for container, key in draft.rng.sample(found, min(len(found), draft.rng.choice([1, 1, 2, 3, 8]))):
        value = value_of(container[key])
        if value is not None:
            sign = draft.rng.choice([1, -1])
            container[key] = spelled(
                draft.rng, value * (1 + sign * step) if draft.rng.random() < 0.7 else value + sign * step
            )
    return True


def extreme(draft: Draft) -> bool:
    """A number at the ends of what numbers can be."""
    found = spots(draft, is_number)
    for container, key in draft.rng.sample(found, min(len(found), draft.rng.choice([1, 1, 2]))):
        container[key] = draft.rng.choice(EXTREMES)
    return bool(found)


def odd_spelling(draft: Draft) -> bool:
    """A number in an odd spelling."""
    found = spots(draft, is_number)
    if not found:
        return False
    container, key = draft.rng.choice(found)
    text = container[key]
    same = [
        f"0{text}",
        f"{text}e0",
        f"{text}/1",
        f" {text}",
        f"+{text}",
        f"{text}0",
        f"-{text}",
        f"--{text}",
        f"{text}e-0",
        f"{text}\n",
        f"{text}.0",
    ]
    container[key] = draft.rng.choice(same if draft.rng.random() < 0.4 else list(ODD))
    return True


def wrong_type(draft: Draft) -> bool:
    """A value of another type: booleans are integers to some."""
    found = spots(draft, lambda _: True)
    if not found:
        return False
    container, key = draft.rng.choice(found)
    container[key] = clone(draft.rng.choice(ODDITIES))
    return True


def index(draft: Draft) -> bool:
    """Another record, letter, output, input, selection, prior."""
    found = spots(draft, lambda value: isinstance(value, int))
    if not found:
        return False
    container, key = draft.rng.choice(found)
    near = [container[key] + d for d in (1, -1, 1, -1, 2)]
    container[key] = draft.rng.choice([*near, 0, 1, 2, -1, -2, True, False, 0.0, 1.0, 10**9, 10**10, None, "0"])
    return True


def permute(draft: Draft) -> bool:
    """Entries of a list exchanged: letters, outputs, inputs; or a matrix transposed."""
    found = [
        *(
            (root, key)
            for root in evidence(draft)
            for _, key in [(root, None)]
            if isinstance(root, list) and len(root) > 2
        ),
        *spots(draft, lambda value: isinstance(value, list) and len(value) > 1),
    ]
    if not found:
        return False
    container, key = draft.rng.choice(found)
    target = container if key is None else container[key]
    if (
        key is not None
        and draft.rng.random() < 0.25
        and all(isinstance(row, list) for row in target)
        and len({len(row) for row in target}) == 1
    ):
        container[key] = [list(column) for column in zip(*target, strict=True)]
        return True
    one, two = draft.rng.sample(range(1 if key is None else 0, len(target)), 2)
    target[one], target[two] = target[two], target[one]
    return True


def shape(draft: Draft) -> bool:
    """Lists longer or shorter, null for a list, a list for null."""
    found = spots(draft, lambda value: value is None or isinstance(value, list))
    if not found:
        return False
    container, key = draft.rng.choice(found)
    target = container[key]
    if target is None:
        container[key] = draft.rng.choice(
            [
                [],
                draft.law(draft.outputs),
                [None] * draft.letters,
                [draft.law(draft.outputs) for _ in range(draft.letters)],
            ]
        )
    elif draft.rng.random() < 0.3:
        container[key] = draft.rng.choice([None, [], [clone(target)]])
    elif target and draft.rng.random() < 0.5:
        target.pop(draft.rng.randrange(len(target)))
    else:
        target.insert(draft.rng.randint(0, len(target)), clone(draft.rng.choice(target)) if target else "1")
    return True


# Witnesses ----------------------------------------------------------------------------------------------------------------------


def witness(draft: Draft) -> bool:
    """Another witness: other masses, another record, selection or prior."""
    at, rng, question = draft.pick("witness"), draft.rng, draft.subject.question
    if at is None or not draft.subject.small:
        return False
    i = rng.randrange(len(question.alphabets))
    letters, count = question.alphabets[i], max(question.input_count, 1)
    adversary = question.table["adversary"]
    pure = [
        ["1" if k == chosen else "0" for k in range(count)] for chosen in (rng.randrange(count) for _ in range(letters))
    ]
    choices: list[Any] = [[draft.law(count) for _ in range(letters)], pure, "uniform", None]
    if "kind" in adversary:
        choices += [[rng.randint(-1, 4), draft.law(letters)] for _ in range(3)]
    if adversary.get("kind") == "prior_set":
        choices += [rng.randint(-1, len(adversary["priors"])) for _ in range(3)]
    draft.lines[at] = ["witness", i, rng.choice(choices)]
    return True


def overreach(draft: Draft) -> bool:
    """Masses moved towards a prior that leaks more than any that the adversary may hold, and a claim of what it leaks."""
    at, rng, subject = draft.pick("witness", "prior"), draft.rng, draft.subject
    line = draft.lines[at] if at else None
    if at is None or not subject.small or not isinstance(line, list):
        return False
    slot = 2 if tag(line) == "witness" else 3
    if len(line) <= slot or not isinstance(line[1], int) or not 0 <= line[1] < len(subject.question.alphabets):
        return False
    question, i = subject.question, line[1]
    counts = question.counts(i)
    masses = numbers_of(line[slot], len(counts), question.input_count)
    if masses is None:
        return False
    step = draft.step = draft.small()
    real = [[k for k, n in enumerate(ns) if n] for ns in counts]
    moved = [[p * (1 - step) for p in ps] for ps in masses]
    total = sum((p for ps in masses for p in ps), Fraction(0))
    where = rng.choice(["best", "best", "letter", "letter", "other", "nowhere"])
    if where == "nowhere":  # where no dataset may be
        moved[rng.randrange(len(moved))][rng.randrange(question.input_count)] += step * total
    elif where == "letter":
        a = rng.randrange(len(real))
        moved[a][rng.choice(real[a])] += step * total
    else:
        for a, ks in enumerate(real):
            k = max(ks, key=lambda k: masses[a][k]) if where == "best" else rng.choice(ks)
            moved[a][k] += step * sum(masses[a])
    line[slot] = [[spelled(rng, p) for p in ps] for ps in moved]
    total = sum((p for ps in moved for p in ps), Fraction(0))
    if tag(line) == "witness" and total > 0 and "kind" in question.table["mechanism"] and not subject.resolved:
        leaks = Fraction(question.leakage(i, [[p / total for p in ps] for ps in moved])) - truth.SLACK * 10
        if leaks > subject.high:
            draft.claim = {
                "lower": claimed(
                    (leaks + subject.high) / 2 if rng.random() < 0.3 else leaks - (leaks - subject.high) / 10**6,
                    "floor",
                )
            }
    return True


def numbers_of(weights: Any, letters: int, inputs: int) -> list[list[Fraction]] | None:
    """Masses as numbers."""
    if (
        not isinstance(weights, list)
        or len(weights) != letters
        or not all(isinstance(ws, list) and len(ws) == inputs for ws in weights)
    ):
        return None
    found = [[value_of(w) if isinstance(w, str) else None for w in ws] for ws in weights]
    known = [[v for v in vs if v is not None] for vs in found]
    return known if all(len(vs) == inputs for vs in known) else None


# Trees --------------------------------------------------------------------------------------------------------------------------


FORKS = ("split", "cut", "part", "halve", *forgery_symmetries.ORBITS)


def nodes(draft: Draft) -> list[tuple[int, int, str, int]]:
    """Every node of every tree: its first line, the line after its last, its level, and the letter of a row tree."""
    found: list[tuple[int, int, str, int]] = []
    waiting: list[tuple[str, int]] = []
    begun: list[tuple[int, int, str, int]] = []  # start, how many nodes are left outside it, level, letter
    letters = 1
    for at, line in enumerate(draft.lines):
        kind = tag(line)
        if at == 0 or kind in ("witness", "path", *forgery_constraints.LOWER, "adversary"):
            continue
        if kind == "record":
            i = line[1] if len(line) > 1 and isinstance(line[1], int) else 0
            alphabets = draft.subject.question.alphabets
            letters, waiting = alphabets[i] if 0 <= i < len(alphabets) else 1, [("box", -1)]
            continue
        if not waiting:
            continue
        level, letter = waiting.pop()
        begun.append((at, len(waiting), level, letter))
        if kind in FORKS:
            waiting += [(level, letter)] * 2
        elif kind in ("group", "chamber"):
            waiting.append((level, letter))
        elif kind == "vertices":
            waiting.append(("class", -1))
        elif (
            kind == "joint" and len(line) > 2 and all(isinstance(v, str) and (value_of(v) or 0) > 0 for v in line[1:3])
        ):
            waiting += [("row", a) for a in reversed(range(min(letters, 50)))]
        while begun and len(waiting) == begun[-1][1]:
            start, _, depth, which = begun.pop()
            found.append((start, at + 1, depth, which))
    return found


def a_node(draft: Draft, *levels: str, inner: bool = False) -> tuple[int, int, str, int] | None:
    """Some node of these levels."""
    found = [node for node in nodes(draft) if node[2] in levels and (not inner or tag(draft.lines[node[0]]) in FORKS)]
    return draft.rng.choice(found) if found else None


def leaf(draft: Draft, level: str, letter: int) -> list[Any]:
    """A leaf of a level, with the lines that it needs."""
    rng, size, outputs = draft.rng, draft.letters, draft.outputs
    if level == "row":
        return [
            rng.choice(
                [
                    ["row", None],
                    ["row", draft.law(outputs)],
                    ["as", rng.randint(0, max(letter, 1))],
                    ["as", letter],
                    ["as", -1],
                ]
            )
        ]
    if level == "class":
        return [["law", draft.law(outputs)]]
    old = [draft.lines[at] for at in [draft.pick("joint")] if at is not None]
    law = clone(old[0][4]) if old and len(old[0]) > 4 and rng.random() < 0.7 else draft.law(outputs)
    theta, mu = (
        rng.choice(["0", "1", "1", "1/2", "1e-30", "1.0"]),
        rng.choice(["0", "0", "1e-9", "1", "30", "1e30", "1e-40"]),
    )
    joint: list[Any] = [["joint", theta, mu, slopes(draft, size, outputs), law if theta != "0" else None]]
    joint += [["row", None] for _ in range(size)] if theta != "0" and mu != "0" else []
    return rng.choice([joint, [["vertices"], ["law", law]], [["uniform"]], joint])


def drop_branch(draft: Draft) -> bool:
    """A node with one of its branches for it: part of a partition dropped."""
    node = a_node(draft, "box", "row", "class", inner=True)
    if node is None:
        return False
    start, end, _, _ = node
    middle = next((n[1] for n in nodes(draft) if n[0] == start + 1), end)
    draft.lines[start:end] = draft.lines[start + 1 : middle] if draft.rng.random() < 0.5 else draft.lines[middle:end]
    return True


def cut_short(draft: Draft) -> bool:
    """A subtree, a section's rest or a line left out."""
    if len(draft.lines) < 2:
        return False
    node = a_node(draft, "box", "row", "class")
    if node is not None and draft.rng.random() < 0.6:
        del draft.lines[node[0] : node[1]]
    else:
        at = draft.rng.randrange(1, len(draft.lines))
        del draft.lines[at : at + draft.rng.choice([1, 1, 2, 99])]
    return True


def wrap(draft: Draft) -> bool:
    """A box cut in two, one of them perhaps empty."""
    node = a_node(draft, "box", "row", "class")
    if node is None:
        return False
    rng, (start, end, level, letter) = draft.rng, node
    own = draft.lines[start:end]
    if len(own) > 60:
        return False
    at = rng.choice(["-1", "0", "1", "2", "0.5", "1e-30", "1/3", str(rng.random())])
    a, y = rng.randrange(draft.letters), rng.randrange(draft.outputs)
    inputs = list(range(max(draft.subject.question.input_count, 1))) if draft.subject.small else [0, 1]
    listed = rng.choice([[], inputs, rng.sample(inputs, rng.randint(1, len(inputs))), [0, 0], [-1], [10**6], [True]])
    heads = {"box": [rng.choice(["split", "cut"]), a, y, at], "row": ["cut", y, at], "class": ["part", a, listed]}
    sides = [leaf(draft, level, letter) if rng.random() < 0.4 else clone(own) for _ in range(rng.choice([1, 2, 2, 2]))]
    draft.lines[start:end] = [heads[level], *(line for side in sides for line in side)]
    return True


def twins(draft: Draft) -> bool:
    """Both branches of a node alike, in whatever boxes they are."""
    node = a_node(draft, "box", "row", "class", inner=True)
    if node is None:
        return False
    start, end, _, _ = node
    middle = next((n[1] for n in nodes(draft) if n[0] == start + 1), end)
    branches = [clone(draft.lines[start + 1 : middle]), clone(draft.lines[middle:end])]
    kept = draft.rng.randrange(2)
    draft.lines[start + 1 : end] = [*branches[kept], *clone(branches[kept])]
    return True


def graft(draft: Draft) -> bool:
    """A subtree in another's place."""
    node = a_node(draft, "box", "row", "class")
    if node is None:
        return False
    donor = draft
    if draft.rng.random() < 0.4:
        other = draft.rng.choice(draft.others)
        donor = Draft(draft.rng, other, draft.rng.choice(other.parents), draft.others)
    twig = a_node(donor, node[2])
    if twig is None:
        return False
    draft.lines[node[0] : node[1]] = clone(donor.lines[twig[0] : twig[1]])
    return len(draft.lines) < 1500


def other_leaf(draft: Draft) -> bool:
    """A leaf in place of a subtree."""
    node = a_node(draft, "box", "row", "class")
    if node is None:
        return False
    draft.lines[node[0] : node[1]] = leaf(draft, node[2], node[3])
    return True


def same_as(draft: Draft) -> bool:
    """A letter's row tree said to be another's."""
    node = a_node(draft, "row")
    if node is None:
        return False
    draft.lines[node[0] : node[1]] = [
        ["as", draft.rng.choice([0, 0, max(node[3] - 1, 0), node[3], node[3] + 1, -1, False, 0.0])]
    ]
    return True


def threshold(draft: Draft) -> bool:
    """A box cut elsewhere."""
    at = draft.pick("split", "cut", "part")
    if at is None:
        return False
    line = draft.lines[at]
    if tag(line) == "part":
        listed = line[-1] if isinstance(line[-1], list) else []
        line[-1] = draft.rng.choice(
            [[], listed[:-1], [*listed, *listed], [*listed, 0], [*listed, 10**6], [-1, *listed], listed[::-1]]
        )
    else:
        others = [o[-1] for o in draft.lines[1:] if tag(o) in ("split", "cut") and isinstance(o[-1], str)]
        line[-1] = draft.rng.choice([*EXTREMES, *others, *others])
    return True


def grouped(draft: Draft) -> bool:
    """A line `group` above a subtree."""
    return forgery_lines.grouped(draft, a_node)


def sorted_rows(draft: Draft) -> bool:
    """A line `chamber` above a row subtree."""
    return forgery_lines.sorted_rows(draft, a_node)


def orbited(draft: Draft) -> bool:
    """A line `orbit` above a subtree, twice."""
    return forgery_symmetries.orbited(draft, a_node)


def imaged(draft: Draft) -> bool:
    """A letter's row tree said to be the image of another's."""
    return forgery_symmetries.imaged(draft, a_node)


def slopes(draft: Draft, letters: int, outputs: int) -> list[Any] | None:
    """Slopes of lines, the steepest of them and none."""
    rng = draft.rng
    all_alike = [[rng.choice(["-1", "-1000", "1", "1e9", "-1e-20"])] * outputs] * letters
    each = [rng.choice([None, [str(rng.randint(-3, 3)) for _ in range(outputs)]]) for _ in range(letters)]
    return rng.choice([None, clone(all_alike), each])


def joint(draft: Draft) -> bool:
    """Another joint leaf, of the same ingredients."""
    at = draft.pick("joint")
    if at is None or len(draft.lines[at]) != 5:
        return False
    rng, line, outputs = draft.rng, draft.lines[at], draft.outputs
    part = rng.choice(["theta", "mu", "sigma", "r", "zero"])
    if part == "theta":
        line[1] = rng.choice(
            ["0", "1", "0.5", "1e-30", "1.0000000000000000000000000001", "-1e-30", "2", "0.9999999999999999"]
        )
    elif part == "mu":
        line[2] = rng.choice(["0", "1e-30", "1e-400", "1e30", "-1e-30", "0.1", "1", "-0", "1e400"])
    elif part == "sigma":
        line[3] = slopes(draft, draft.letters, outputs)
    elif part == "r" or not isinstance(line[4], list) or not line[4]:
        line[4] = rng.choice([None, draft.law(outputs), ["1"] * outputs, ["0"] * outputs])
    else:
        line[4][rng.randrange(len(line[4]))] = rng.choice(["0", "-0", "0e0", "0/5", "1e-400", "-1"])
    return True


# Sections and lists of lines ----------------------------------------------------------------------------------------------------


def sections(draft: Draft) -> list[tuple[int, int]]:
    """The first line of each section, and the line after its last."""
    starts = [at for at, line in enumerate(draft.lines) if at and tag(line) == "record"]
    return [(start, end) for start, end in itertools.pairwise([*starts, len(draft.lines)])]


def records(draft: Draft) -> bool:
    """Sections left out, twice, in another order, or under another record's number."""
    found, rng = sections(draft), draft.rng
    if not found:
        return False
    start, end = rng.choice(found)
    own = clone(draft.lines[start:end])
    what = rng.choice(["drop", "drop", "twice", "renumber", "move", "empty"])
    if what in ("drop", "move"):
        del draft.lines[start:end]
    if what in ("twice", "move"):
        draft.lines += own
    if what == "twice" or what == "renumber":
        line = draft.lines[start] if what == "renumber" else draft.lines[-len(own)]
        line[1:] = [rng.randrange(len(draft.subject.question.alphabets) + 1)]
    if what == "empty":
        del draft.lines[start + 1 : end]
    return True


def some_lines(draft: Draft) -> bool:
    """Lines of a list left out or twice: laws, priors, ratios."""
    at = draft.pick("law", *forgery_constraints.LOWER, "witness")
    if at is None:
        return False
    line, rng = draft.lines[at], draft.rng
    what = rng.choice(["drop", "twice", "move"])
    if what != "twice":
        del draft.lines[at]
    if what != "drop":
        draft.lines.insert(
            rng.randint(1, len(draft.lines)) if rng.random() < 0.5 else min(at, len(draft.lines)), clone(line)
        )
    return True


def transplant(draft: Draft) -> bool:
    """The evidence of another model, or a part of it."""
    rng = draft.rng
    donor = rng.choice(draft.others)
    if donor.problem != draft.subject.problem and rng.random() < 0.8:
        return False
    theirs = clone(rng.choice(donor.parents))
    what = rng.choice(["all", "line", "section", "mechanism"])
    if what == "all":
        draft.lines[1:] = theirs[1:]
        draft.header.update({key: theirs[0][key] for key in ("mechanism", "resolved") if key in theirs[0]})
    elif what == "mechanism" and "mechanism" in draft.header and "mechanism" in theirs[0]:
        draft.header["mechanism"] = theirs[0]["mechanism"]
    elif what == "line" and len(theirs) > 1 and len(draft.lines) > 1:
        line = rng.choice(theirs[1:])
        same = draft.pick(tag(line))
        draft.lines[rng.randrange(1, len(draft.lines)) if same is None else same] = line
    else:
        found = sections(Draft(rng, donor, theirs, draft.others))
        if not found:
            return False
        start, end = rng.choice(found)
        draft.lines += theirs[start:end]
    return len(draft.lines) < 1500


# The header and designs ---------------------------------------------------------------------------------------------------------


def header(draft: Draft) -> bool:
    """A first line that says something else."""
    rng, head = draft.rng, draft.header
    donor = rng.choice(draft.others)
    changes: list[Callable[[], Any]] = [
        lambda: head.update(model=donor.parents[0][0]["model"]),
        lambda: head.update(
            model=rng.choice([head["model"].upper(), head["model"][:-1], head["model"] + " ", None, "", "0" * 64])
        ),
        lambda: head.update(problem=rng.choice(["maximal_leakage", "min_leakage", "min_distortion", "", None])),
        lambda: head.update(unit=rng.choice(["bits", "nats", "distortion", "Nats", None])),
        lambda: head.update(
            format=rng.choice(["dalenius-certificate/1", "dalenius-certificate/3", "dalenius-certificate/2 ", 2])
        ),
        lambda: head.update(
            resolved=rng.choice(
                [None, {"inputs": "query", "rows": [["1"], ["1"]]}, {"inputs": "dataset", "rows": [["1", "0"]]}]
            )
        ),
        lambda: head.update(mechanism=rng.choice([None, [["1", "1"], ["1", "1"]], [["1"]], []])),
        lambda: head.pop(rng.choice(list(head))),
        lambda: head.update(
            {rng.choice(["extra", "Lower", "lower ", "feasible", "precision"]): rng.choice(["0", None, True])}
        ),
    ]
    rng.choice(changes)()
    return True


def resolved(draft: Draft) -> bool:
    """A channel in the certificate, for a model that has one."""
    rng = draft.rng
    rows = rng.choice([[["1", "1"], ["1", "1"]], [["1", "0"], ["0", "1"]], [["1"], ["1"]]])
    draft.header["resolved"] = {"inputs": rng.choice(["query", "dataset"]), "rows": rows}
    return True


def mechanism(draft: Draft) -> bool:
    """Another mechanism: off its budget by as little as the claim is off."""
    rows, rng = draft.header.get("mechanism"), draft.rng
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        return False
    step = draft.step = draft.small()
    what = rng.choice(["shift", "shift", "shift", "all", "swap", "zero", "constant", "drop", "negative", "scale"])
    if what in ("shift", "all"):
        for row in rows if what == "all" else [rng.choice(rows)]:
            values = [value_of(w) if isinstance(w, str) else None for w in row]
            numbers = [v for v in values if v is not None]
            if len(numbers) == len(row) > 1:
                one, two = rng.sample(range(len(row)), 2)
                moved = min(step * sum(numbers), numbers[one])
                numbers[one], numbers[two] = numbers[one] - moved, numbers[two] + moved
                row[:] = [spelled(rng, v) for v in numbers]
    elif what == "swap" and len(rows) > 1:
        one, two = rng.sample(range(len(rows)), 2)
        rows[one], rows[two] = rows[two], rows[one]
    elif what == "zero":
        row = rng.choice(rows)
        row[:] = ["0"] * len(row)
    elif what == "constant":
        rows[:] = [clone(rows[0]) for _ in rows]
    elif what == "drop":
        rows.pop() if rng.random() < 0.5 else [row.pop() for row in rows]
    elif what == "negative":
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = f"-{spelled(rng, step)}"
    else:
        row = rng.choice(rows)
        row[:] = [f"{w}e{rng.choice([-300, 300, 5])}" if isinstance(w, str) else w for w in row]
    return True


def off_budget(draft: Draft) -> bool:
    """A mechanism that misses its budget, or what is claimed of it, by a little, in a claim that the best one would meet."""
    if draft.header.get("mechanism") is None or "terms" in draft.header:
        return False
    if not draft.subject.small or not mechanism(draft):
        return False
    wrong = fault(draft.subject, draft.header["mechanism"], draft.subject.high)
    if wrong is None:
        return False
    kind, amount = wrong
    upper = draft.subject.high if kind == "budget" else (draft.subject.high + amount) / 2
    draft.claim = {"lower": "0", "upper": claimed(upper + (draft.small() if kind == "budget" else 0), "floor")}
    if value_of(draft.claim["upper"]) == 0:
        return False
    return fault(draft.subject, draft.header["mechanism"], Fraction(draft.claim["upper"])) is not None


def fault(subject: Subject, rows: Any, upper: Fraction) -> tuple[str, Fraction] | None:
    """Why a mechanism is certainly not what a certificate with this upper end says it is: `budget`, or what it `attains`."""
    question, table = subject.question, subject.question.table
    count = question.input_count
    width = len(question.distortions[0])
    weights = numbers_of(rows, 1 if table["mechanism"]["class"] == "additive" else count, width)
    if weights is None or any(sum(row) <= 0 or min(row) < 0 for row in weights):
        return None
    laws = question.spread([truth.normalised(row) for row in weights])
    cost = question.cost(laws)
    if "max_distortion" in table and cost > truth.exact(table["max_distortion"]):
        return "budget", cost
    if "max_distortion" not in table and cost > upper:
        return "attains", cost
    if constraint_truth.broken(question, laws) is not None or tells(subject, laws):
        return "budget", cost
    if "privacy" in table:
        return ("budget", cost) if question.breaks_privacy(laws) else None
    leaks = leaked(subject, laws)
    if "max_leakage" in table:
        return ("budget", leaks) if leaks > truth.amount(table["max_leakage"])[1] else None
    return ("attains", leaks) if leaks > upper else None


def tells(subject: Subject, laws: list[list[Fraction]]) -> bool:
    """Whether a mechanism certainly leaks more than a constraint allows, to a prior of the honest evidence."""
    question, tables = subject.question, constraint_truth.listed(subject.question)
    with localcontext(truth.SIXTY):
        rows = [tuple(truth.dec(q) for q in law) for law in laws]
        for line in subject.parents[0][1:5]:
            if tag(line) == "also":
                j, _, i, prior, _ = line[1:]
                masses = constraint_truth.prior_masses(question, tables[j]["adversary"], i, prior)
                found = Fraction(question.leakage(i, masses, rows)) - truth.SLACK * 10
                if found > truth.amount(tables[j]["at_most"])[1]:
                    return True
    return False


def leaked(subject: Subject, laws: list[list[Fraction]]) -> Fraction:
    """What a mechanism leaks at least: to the priors of the honest evidence, which the adversary may hold."""
    question, most = subject.question, Fraction(0)
    with localcontext(truth.SIXTY):
        rows = [tuple(truth.dec(q) for q in law) for law in laws]
        for line in subject.parents[0][1:5]:
            if tag(line) == "prior":
                i, prior = line[2:4]
                masses = numbers_of(prior, question.alphabets[i], question.input_count)
                if masses is not None:
                    total = sum((p for ps in masses for p in ps), Fraction(0))
                    found = Fraction(question.leakage(i, [[p / total for p in ps] for ps in masses], rows))
                    most = max(most, found - truth.SLACK * 10)
    return most


def multipliers(draft: Draft) -> bool:
    """Another multiplier of the budget, other weights of priors, another reference."""
    at = draft.pick("dual") if draft.rng.random() < 0.4 else draft.pick("dual", "prior", "ratio")
    if at is None:
        return False
    rng, line = draft.rng, draft.lines[at]
    step = draft.step = draft.small()
    small = rng.choice(
        [f"-{spelled(rng, step)}", spelled(rng, step), "0", "1e-400", "1e300", None, None, "-0", "-1", "1"]
    )
    if tag(line) == "dual":
        line[1:] = [small]
        if small is None and rng.random() < 0.8:
            draft.lines[1:] = [
                o for o in draft.lines[1:] if tag(o) not in forgery_constraints.LOWER or tag(o) == "dual"
            ]
    elif tag(line) == "prior":
        line[1] = small or "0"
    elif len(line) > 3 and isinstance(line[3], list) and line[3]:
        what = rng.choice([2, 3]) if isinstance(line[2], list) and line[2] else 3
        line[what][rng.randrange(len(line[what]))] = small or "0"
    return True


def posterior(draft: Draft) -> bool:
    """Posteriors of a prior line with zeros, negative ones, unlike totals, or another letter's."""
    at = draft.pick("prior", "also")
    if (
        at is None
        or not isinstance(draft.lines[at][-1], list)
        or not all(isinstance(row, list) and row for row in draft.lines[at][-1])
    ):
        return False
    rng, phi = draft.rng, draft.lines[at][-1]
    if not phi:
        return False
    row = rng.choice(phi)
    y = rng.randrange(len(row))
    what = rng.choice(["zero", "negative", "scale", "row", "column", "power", "sharp", "sharp"])
    if what == "sharp":  # in every line and at every output, only the likeliest letter
        for other in draft.lines[1:]:
            if tag(other) == "prior" and isinstance(other[-1], list):
                columns = [[value_of(w) or Fraction(0) for w in column] for column in zip(*other[-1], strict=True)]
                tops = [column.index(max(column)) for column in columns]
                other[-1] = [["1" if a == top else "0" for top in tops] for a in range(len(other[-1]))]
    elif what in ("zero", "negative"):
        row[y] = "0" if what == "zero" else f"-{spelled(rng, draft.small())}"
    elif what == "row":
        row[:] = [
            f"{w}e{rng.choice([-50, 50, 1, -1])}" if is_number(w) and "/" not in w and "e" not in w else w for w in row
        ]
    elif what == "column":
        for other in phi:
            if y < len(other):
                other[y] = "0"
    else:
        row[y] = rng.choice(["1e-400", "1e300", "1e-30", "100"])
    return True


def infeasible(draft: Draft) -> bool:
    """Said to be a model that no mechanism meets."""
    if not draft.subject.feasible or (draft.subject.problem == "maximal_leakage" and draft.rng.random() < 0.9):
        return False
    draft.claim = {"lower": None, "upper": None}
    if draft.rng.random() < 0.85:
        draft.header["mechanism"] = None
    if draft.rng.random() < 0.85:
        del draft.lines[1:]
    return True


# How often a kind is tried, of those that a problem has: more often where it seldom applies
EVERYWHERE: dict[Kind, float] = {
    nothing: 1,
    nudge: 4,
    extreme: 2,
    odd_spelling: 0.7,
    wrong_type: 0.7,
    index: 1.5,
    permute: 2,
    shape: 0.7,
    transplant: 1.5,
    header: 0.7,
}
TREES: dict[Kind, float] = {
    drop_branch: 6,
    twins: 6,
    wrap: 4,
    graft: 3,
    other_leaf: 2,
    same_as: 8,
    threshold: 6,
    joint: 4,
    grouped: 5,
    forgery_lines.regrouped: 4,
    sorted_rows: 5,
    orbited: 5,
    forgery_symmetries.turned: 4,
    imaged: 5,
}
PROOFS: dict[Kind, float] = {**TREES, cut_short: 1, records: 3, some_lines: 2}
AUDITS: dict[Kind, float] = {
    witness: 2,
    overreach: 3,
    resolved: 0.2,
    **forgery_curves.CURVES,
    **forgery_chains.KINDS,
    **forgery_classes.KINDS,
    **forgery_protocols.KINDS,
    **forgery_releases.KINDS,
}
DESIGNS: dict[Kind, float] = {
    mechanism: 3,
    off_budget: 4,
    multipliers: 4,
    posterior: 4,
    infeasible: 1,
    overreach: 3,
    **forgery_constraints.KINDS,
    **forgery_limits.KINDS,
    **forgery_lines.OBJECTIVES,
}


def kinds(problem: str) -> dict[Kind, float]:
    """What can be forged in certificates of a problem, and how often it is tried."""
    if problem == "max_information":
        return {**EVERYWHERE, mechanism: 3}
    if problem == "secret_leakage":
        return EVERYWHERE | forgery_releases.SECRETS | {drop_branch: 3.0, threshold: 2.0}
    return EVERYWHERE | PROOFS | (AUDITS if problem == "maximal_leakage" else DESIGNS)


# Texts --------------------------------------------------------------------------------------------------------------------------


def text_of(lines: Certificate) -> bytes:
    """A certificate as a file."""
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def odd_text(rng: random.Random, text: bytes, draft: Draft) -> bytes:
    """The same file, spelled as no honest program would."""
    lines = text.split(b"\n")
    at = rng.randrange(len(lines))
    honest = draft.subject.parents[0][0]
    ends = b'"lower":%s,"upper":%s,' % tuple(json.dumps(honest.get(key)).encode() for key in ("lower", "upper"))
    number = rng.choice(re.findall(rb'"[0-9][0-9.]*"', text) or [b'"0"'])
    changes: list[Callable[[], bytes]] = [
        lambda: text.replace(b"{", b"{" + ends, 1),
        lambda: text.replace(b"}\n", b"," + ends[:-1] + b"}\n", 1),
        lambda: b"\n".join([*lines[:at], b"", *lines[at:]]),
        lambda: b"\n".join(
            [
                *lines[:at],
                rng.choice([b" ", b"null", b"[]", b"{}", b"#", b'["record",0]', b"\xff", b"\x00"]),
                *lines[at:],
            ]
        ),
        lambda: text.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\x0b", b"\x85", b"\xe2\x80\xa8"])),
        lambda: b"\xef\xbb\xbf" + text,
        lambda: text.replace(number, number.strip(b'"')),
        lambda: text.replace(
            number, rng.choice([b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-0", b"0.0", b"true"]), 1
        ),
        lambda: text.replace(number, b'"' + b"".join(b"\\u%04x" % c for c in number.strip(b'"')) + b'"'),
        lambda: text.replace(number, b'"' + number.strip(b'"').translate(bytes.maketrans(b"", b"")) + b'\\u0000"'),
        lambda: text.replace(number, b'"\\u066' + number[1:2] + b'"', 1),
        lambda: text + text,
        lambda: text.rstrip(b"\n"),
        lambda: text[: rng.randrange(len(text))],
        lambda: text.replace(b'["', b'[ "').replace(b",", b" ,\t"),
    ]
    return rng.choice(changes)()
