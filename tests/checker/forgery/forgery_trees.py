"""Kinds of forgery of proofs: branches, leaves, sections and lists of lines."""

import itertools
from typing import Any

import forgery_constraints
import forgery_lines
import forgery_symmetries
from forgery_drafts import Draft, clone, tag, value_of
from forgery_edits import EXTREMES

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
