"""Kinds of forgery of any certificate: numbers, their spelling, their places, and witnesses."""

from fractions import Fraction
from typing import Any

import forgery_truth as truth
from forgery_drafts import Draft, clone, evidence, is_number, numbers_of, spelled, spots, tag, value_of
from forgery_subjects import claimed

FAR = "0 -0 1 -1 2 1e-400 1e-300 -1e-300 1e400 1e30 1e-40 0.5 1/3"
EXTREMES = (*FAR.split(), "9" * 400, "0." + "0" * 300 + "1")
SPELLED = (
    "1/0|0/0|00|00.50|0e0|-0.0|1e-401|1e401|1e99999999|+1| 1|1 |1\n|1_0|1.|.5|1E2|1e+2|0x1|1/-2|-1/2|1.5/2|1/2/3|--1|"
    "|nan|inf|-inf|Infinity|½|\u0661|\uff11|\u00b2|1,5|1e|e5|1/3e2"
)
LONG = ("0" * 401, "1" * 401, "0." + "3" * 398, "3" * 199 + "/" + "7" * 199)
EXPONENTS = "1e0400|0e400|0e-400|1\x00|1e-0|1e1.5|true|null"
ODD = (*SPELLED.split("|"), *LONG, *EXPONENTS.split("|"))
LARGE = (10**9, 10**10, 10**30)
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
    *LARGE,
    "0",
    [["1"]],
    {"0": "1"},
)


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
    forms = ("0{}", "{}e0", "{}/1", " {}", "+{}", "{}0", "-{}", "--{}", "{}e-0", "{}\n", "{}.0")
    same = [form.format(text) for form in forms]
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


def of_one_kind(draft: Draft) -> bool:
    """A line of some kind: what is there once as often as what is there a hundred times. Left out, twice, another's, or edited."""
    rng = draft.rng
    kind = rng.choice(sorted({str(tag(line)) for line in draft.lines[1:]}) or [None])
    at = draft.pick(kind)
    if at is None:
        return False
    what = rng.choice(["drop", "twice", "theirs", "edit", "edit", "edit", "edit"])
    if what == "drop":
        del draft.lines[at]
    elif what == "twice":
        draft.lines.insert(at, clone(draft.lines[at]))
    elif what == "theirs":
        parents = [parent for other in draft.others for parent in other.parents]
        theirs = [
            line for parent in rng.sample(parents, min(len(parents), 20)) for line in parent[1:] if tag(line) == kind
        ]
        if not theirs:
            return False
        draft.lines[at] = clone(rng.choice(theirs))
    else:
        alone = Draft(rng, draft.subject, [{}, draft.lines[at]], draft.others)
        if rng.choice([nudge, nudge, extreme, index, permute, shape])(alone) is False:
            return False
        draft.step = alone.step
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
