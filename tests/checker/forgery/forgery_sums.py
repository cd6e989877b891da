"""Blocks by their sums to forge: what they tell is by definition, in doubles with room, and the lines prove somewhat less.

Written from docs/model-format.md, docs/certificate-format.md and docs/theory.md alone.
"""

import functools
import itertools
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np

import forgery_subjects as subjects
from dalenius_check import digest
from forgery_subjects import Subject, claimed
from forgery_truth import Question, exact

ROOM = 1e-9  # of doubles
NODES, SHARES = np.polynomial.legendre.leggauss(8)
MECHANISMS = (
    {"kind": "geometric", "epsilon": "1/2"},
    {"kind": "laplace", "scale": "1/2"},
    {"kind": "gaussian", "scale": "2"},
    {"kind": "discrete_laplace", "epsilon": "2"},
    {"kind": "discrete_gaussian", "scale": "3/2"},
    {"kind": "laplace", "scale": "2"},
)
Rows = Any  # of numpy: what each value tells, output by output, or node by node


def rows(normal: bool, scale: float, values: list[int], whole: bool) -> Rows:
    """What noise makes of values, at whole numbers; or a density at the nodes of an integral, with their weights."""
    reach = math.ceil((8 if normal else 25) * scale) + 1
    units = np.arange(values[0] - reach, values[-1] + reach + 1)
    outputs = units if whole else (units[:, None] + (NODES + 1) / 2).ravel()
    far = np.abs(outputs - np.array(values)[:, None]) / scale
    found = np.exp(-far * far / 2 if normal else -far) * (1 if whole else np.tile(SHARES, len(units)))
    return found / found.sum(axis=1, keepdims=True)


def far(table: Rows, law: Rows) -> Rows:
    """D of every row from their mixture by a law."""
    mixture = law @ table
    return np.sum(table * np.log(np.maximum(table, 1e-300) / np.maximum(mixture, 1e-300)), axis=1)


def capacity(table: Rows) -> tuple[float, float, Rows]:
    """Numbers below and above, and a law: Arimoto's and Blahut's iteration."""
    law = np.full(len(table), 1 / len(table))
    for _ in range(30):
        law = law * np.exp(far(table, law))
        law = np.round(law / law.sum(), 6) + 1e-6
        law /= law.sum()
    found = far(table, law)
    return float(law @ found), float(found.max()), law


def rippled(variance: float) -> float:
    """e of Theorem B6."""
    return 3 * math.exp(-2 * math.pi**2 * variance)


class Noise:
    """A mechanism by definition, and what the lines have of it: noise above and below, and what that is off."""

    def __init__(self, mechanism: dict[str, Any]) -> None:
        self.kind = mechanism["kind"]
        self.normal = self.kind.endswith("gaussian")
        real = self.kind in ("laplace", "gaussian")
        s = float(exact(mechanism["scale"])) if "scale" in mechanism else 1 / float(exact(mechanism["epsilon"]))
        self.scale, self.whole, self.above, self.below = s, not real, s, s
        self.more, self.lost, self.off = 1.0, 0.0, 0.0
        if self.kind == "laplace":
            self.more = math.cosh(0.5 / s)
        if self.kind == "gaussian":
            self.above, self.below = s - 1 / s, s + 1 / s
            self.lost = rippled(self.above**2) + rippled((s**2 - self.above**2) * self.above**2 / s**2)
            self.off = rippled(self.below**2) + rippled(self.below**2 - s**2)

    def of(self, values: list[int]) -> Rows:
        """What is told."""
        return rows(self.normal, self.scale, values, self.whole)

    def told(self, values: list[int], law: Rows, letters: int) -> float:
        """What a line proves of a witness with this law of the values."""
        entropy = -float(sum(p * math.log(p) for p in law if p))
        mean = float(law @ far(rows(self.normal, self.below, values, True), law))
        return self.more * mean - (self.more - 1) * entropy - self.off * math.log(letters)


def sums(letters: Any) -> list[int]:
    """The sums that such letters have."""
    return sorted({sum(x) for x in itertools.product(*letters)})


@functools.cache
def selected(number: int, values: tuple[int, ...]) -> tuple[float, float, Rows]:
    """What such values tell together, by a mechanism; of the least of them it does not matter what it is."""
    return capacity(Noise(MECHANISMS[number]).of(list(values)))


def block(number: int, weights: list[list[int]]) -> tuple[float, float, float, list[Any]]:
    """Numbers below and above what a block tells, what its witness line proves, and this line."""
    noise, values = Noise(MECHANISMS[number]), sums(weights)
    low, high, best = 0.0, 0.0, (-1.0, list[Any]())
    for i, own in enumerate(weights):
        others = sums(weights[:i] + weights[i + 1 :])
        for chosen in itertools.product(*([c + t for t in others] for c in own)):
            inner = sorted(set(chosen))
            below, above, law = selected(number, tuple(v - inner[0] for v in inner))
            high = max(high, above)
            if below <= low:
                continue
            shares = [law[inner.index(v)] / chosen.count(v) for v in chosen]
            pairs = [[values.index(v), f"{share:.9f}"] for v, share in zip(chosen, shares, strict=True)]
            low, best = below, (proved(noise, values, pairs, len(own)), ["sums", i, pairs])
    return low, high, *best


def proved(noise: Noise, values: list[int], pairs: list[Any], letters: int) -> float:
    """What a line proves of a witness, wherever its sums are."""
    masses = np.zeros(len(values))
    for k, w in pairs:
        masses[k] += float(Fraction(w))
    if not masses.sum() > 0:
        raise ValueError(pairs)
    return noise.told(values, masses / masses.sum(), letters)


def around(weights: list[list[int]], noise: Noise) -> tuple[float, list[Any]]:
    """What a line proves of all records, and the line."""
    law = capacity(rows(noise.normal, noise.above, values := sums(weights), True))[2]
    listed = [[k, f"{p:.9f}"] for k, p in enumerate(law) if p > 2e-6]
    used = np.array([float(dict(listed).get(k, 0)) for k in range(len(values))])
    most = float(far(rows(noise.normal, noise.above, values, True), used / used.sum()).max())
    return most + noise.lost * math.log(max(map(len, weights))), ["sums", listed]


def subject(
    name: str, table: dict[str, Any], ends: tuple[float, float], claim: tuple[float, float], *lines: Any
) -> Subject:
    """A subject of such an answer, claimed as the lines prove it."""
    model = subjects.toml(table)
    low, high = (Fraction(max(end + room, 0)) for end, room in zip(ends, (-ROOM, ROOM), strict=True))
    told = [claimed(Fraction(max(end, 0)), way) for end, way in zip(claim, ("floor", "ceiling"), strict=True)]
    head = {"format": "dalenius-certificate/2", "problem": "maximal_leakage", "model": digest(model)}
    head |= {"lower": told[0], "upper": told[1], "unit": "nats", "producer": "a forger"}
    return Subject(name, model, Question.of(model), low, high, [[head, *lines]])


def summed(rng: random.Random, number: int) -> Subject:
    """Blocks of two shapes of noise of each kind in turn; of some laws, about which only one is asked, everything is known."""
    if number % 4 == 3:
        return evenly(rng, f"known-{number}")
    kind = number % len(MECHANISMS)
    noise = Noise(MECHANISMS[kind])
    shapes = [rng.choice([[2], [3], [2, 2], [2, 1, 2], [3, 2], [4, 2]]) for _ in range(2)]
    weights = [[[rng.randint(-1, 4) for _ in range(size)] for size in shape] for shape in shapes]
    for own in weights:
        own[0][:2] = 0, rng.choice([2, 3, 5])  # something is told
        if len(own[0]) == 4:  # three letters of which the others leave two sums
            own[:] = [0, 0, 0, 18], [0, 6]
    found = [block(kind, own) for own in weights]
    bounds = [around(own, noise) for own in weights]
    best = max(range(2), key=lambda j: found[j][2])
    plain = [(1 + noise.lost) * math.log(max(shape)) for shape in shapes]
    upper = max(min(log, end) for log, (end, _) in zip(plain, bounds, strict=True)) + ROOM
    lines = [["at", best, None], found[best][3]]
    for j, (log, (end, line)) in enumerate(zip(plain, bounds, strict=True)):
        lines += [["block", j, None], ["sums", None] if log <= end else line]
    table = subjects.audit(
        [*itertools.chain(*shapes)],
        {"kind": "sum", "weights": [*itertools.chain(*weights)]},
        MECHANISMS[kind],
        {"kind": "independent_blocks", "sizes": list(map(len, shapes))},
    )
    ends = max(low for low, *_ in found), max(high for _, high, *_ in found)
    return subject(f"sums-{number}", table, ends, (found[best][2] - ROOM, upper), *lines)


def evenly(rng: random.Random, name: str) -> Subject:
    """Records whose laws are known to be even: that is no matter of sums."""
    row = [0, 1, rng.choice([6, 9])]
    table = subjects.audit(
        (2, 3),
        {"kind": "sum", "weights": row},
        MECHANISMS[0],
        {"kind": "independent_blocks", "size": 1, "entropy_at_least": "1 max"},
    )
    told = float(np.full(3, 1 / 3) @ far(Noise(MECHANISMS[0]).of(row), np.full(3, 1 / 3)))
    lines = [["at", 0, None], ["witness", 0, "uniform"], ["block", 0, None], ["record", 0], ["uniform"]]
    return subject(name, table, (told, told), (told - ROOM, told + ROOM), *lines)


def added(question: Question) -> list[list[int]]:
    """What the letters of every record add."""
    query, alphabets = question.table["query"], question.alphabets
    if query["kind"] == "count":
        return [[int(a in query.get("letters", [1])) for a in range(size)] for size in alphabets]
    weights = query.get("weights") or list(range(max(alphabets)))
    return [(weights[i] if isinstance(weights[0], list) else weights)[:size] for i, size in enumerate(alphabets)]


# A kind of forgery; a draft is a `forgery_kinds.Draft` --------------------------------------------------------------------------


def other_sums(draft: Any) -> bool:
    """Other values, weights or records of a line about sums, none at all, or sums of what is known; and what that would prove."""
    rng, question = draft.rng, draft.subject.question
    held, mechanism = question.table["adversary"], question.table["mechanism"]
    if held.get("kind") != "independent_blocks" or mechanism["kind"] not in {one["kind"] for one in MECHANISMS}:
        return False
    if exact(str(held.get("entropy_at_least", 0)).split()[0]):
        if draft.lines != draft.subject.parents[0] or not draft.subject.name.startswith("known"):
            return False
        pairs = [[k, rng.choice(["4", "6", "7", "9"])] for k in (0, 1, 2)]
        pairs[1][1] = rng.choice(["0", "1", "2"])
        draft.lines[1:3] = [["at", 0, None], ["sums", 0, pairs]]
        return aimed(draft, proved(Noise(mechanism), question.table["query"]["weights"], pairs, 3))
    at = draft.pick("sums")
    if at is None:
        return False
    line = draft.lines[at]
    if len(line) == 2:
        what = rng.choice(["one", "one", "some", "law", "null", "drop", "turned", "huge"])
        k = rng.randrange(8)
        if what in ("null", "drop"):
            draft.lines[at : at + 1] = [["sums", None]] if what == "null" else []
        else:
            old = line[1] or [[0, "1"]]
            line[1] = {
                "one": [[k, "1"]],
                "some": rng.sample(old, rng.randint(0, len(old))),
                "law": [[j, w] for j, w in enumerate(draft.law(k + 1)) if w != "0"],
                "turned": old[::-1],
                "huge": [[j, rng.choice(["1", "1e300", "1e-300", "0", "-1"])] for j, _ in old],
            }[what]
        share = rng.choice([Fraction(1, 100), Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)])
        draft.claim = {"lower": "0", "upper": claimed(draft.subject.low * share, "floor")}
        return True
    j = next((one[1] for one in draft.lines if isinstance(one, list) and one[:1] == ["at"]), 0)
    size = held.get("size")
    start = j * size if size else sum(held["sizes"][:j])
    weights = added(question)[start : start + (size or held["sizes"][j])]
    values = sums(weights)
    what = rng.choice(["values", "values", "ends", "weights", "record"])
    if what == "record":
        line[1] = rng.randint(-1, len(weights))
    pairs = line[2]
    for n, pair in enumerate(pairs):
        if what in ("values", "ends"):
            pair[0] = rng.randrange(len(values)) if what == "values" else (len(values) - 1) * (n % 2)
        if what == "weights" or rng.random() < 0.3:
            pair[1] = str(rng.choice([0, 1, 1, 2, Fraction(1, 3)]))
    if not any(Fraction(w) > 0 for _, w in pairs):
        return True
    return aimed(draft, proved(Noise(mechanism), values, pairs, max(map(len, weights))))


def aimed(draft: Any, told: float) -> bool:
    """Claim what a witness would tell that is none, if that is more than there is."""
    high, found = draft.subject.high, Fraction(told - ROOM)
    if found > high:
        draft.claim = {"lower": claimed(high + (found - high) * draft.rng.choice([Fraction(1, 2), 1]), "ceiling")}
    return True


KINDS = {other_sums: 8.0}
