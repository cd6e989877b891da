"""Kinds of forgery that are each meant for a rule: were it left out, this evidence would prove so much more, and that is claimed.

Written from docs/certificate-format.md alone; a draft is a `forgery_drafts.Draft`.
"""

from __future__ import annotations

from decimal import localcontext
from fractions import Fraction
from typing import Any

import constraint_truth as own
import forgery_truth as truth
import secret_truth
from forgery_drafts import clone, numbers_of, tag
from forgery_subjects import MARGIN, claimed

LOWER = ("dual", "prior", "ratio", "multiplier", "cone", "also", "tangent", "weight", "term")
SHARES = (Fraction(1, 1000), Fraction(1, 50), Fraction(1, 5), Fraction(1), Fraction(4))


def linear(draft: Any) -> bool:
    """Whether the draft is a small design of least distortion whose lower bound is sums of lines."""
    subject = draft.subject
    return subject.problem == "min_distortion" and subject.feasible and subject.small and "terms" not in draft.header


def payment(draft: Any, line: list[Any]) -> Fraction:
    """What a line subtracts behind the minimum."""
    question = draft.subject.question
    if line[0] == "prior":
        return Fraction(line[1]) * sum(truth.amount(question.table["max_leakage"])) / 2
    table = own.listed(question)[line[1]]
    if line[0] == "multiplier":
        rows = own.rows(question, table, upper=True)
        return sum((Fraction(mu) * rows[r][1] for r, mu in line[2]), Fraction(0))
    if line[0] == "cone":
        norm = [Fraction(str(part.get("constant", 0))) for part in table["norm"]]
        ahead = Fraction(line[2]) * Fraction(str(table.get("constant", 0)))
        return ahead + sum((Fraction(u) * f for u, f in zip(line[3], norm, strict=True)), Fraction(0))
    if line[0] == "tangent":
        level = own.level(table, upper=True) if "epsilon" in table else Fraction(1)
        return Fraction(secret_truth.tangent(question, table, line, level)[1])
    return Fraction(line[2]) * sum(truth.amount(table["at_most"])) / 2


def larger(line: list[Any], factor: Fraction) -> list[Any]:
    """A line that gives away so many times as much."""
    if line[0] == "multiplier":
        return [*line[:2], [[r, str(Fraction(mu) * factor)] for r, mu in line[2]]]
    if line[0] == "cone":
        return [*line[:2], str(Fraction(line[2]) * factor), [str(Fraction(u) * factor) for u in line[3]]]
    at = {"tangent": 3, "also": 2, "prior": 1}[line[0]]
    return [*line[:at], str(Fraction(line[at]) * factor), *line[at + 1 :]]


def unpaid(draft: Any) -> bool:
    """All lines of a kind larger, and a claim of what they would prove if nothing were subtracted for them."""
    at, rng = draft.pick("multiplier", "cone", "also", "tangent", "prior"), draft.rng
    if at is None or not linear(draft):
        return False
    kind, factor = tag(draft.lines[at]), 1 + rng.choice([-1, 1]) * rng.choice(SHARES)
    lines = [larger(line, factor) if tag(line) == kind else line for line in draft.lines[1:]]
    proved = own.bound(draft.subject.question, [line for line in lines if tag(line) in LOWER], upper=True)
    free = Fraction(proved) + sum((payment(draft, line) for line in lines if tag(line) == kind), Fraction(0))
    return aimed(draft, lines, free)


def aimed(draft: Any, lines: list[Any], proved: Fraction) -> bool:
    """Claim most of what false evidence would prove, if that is more than there is."""
    high = draft.subject.high
    if proved <= high * (1 + Fraction(1, 10**8)) + MARGIN:
        return False
    draft.lines[1:] = lines
    draft.header["mechanism"] = draft.subject.parents[0][0]["mechanism"]
    draft.claim = {"lower": claimed(high + (proved - high) * Fraction(1, 4), "ceiling")}
    return True


def turned_sign(draft: Any) -> bool:
    """A multiplier below 0 for a row that the mechanism does not fill, and a claim of the room."""
    question, rng = draft.subject.question, draft.rng
    if not linear(draft) or not own.listed(question):
        return False
    mechanism = numbers_of(draft.header["mechanism"], *(len(own.sizes(question)[0]), len(question.distortions[0])))
    if mechanism is None or not all(map(any, mechanism)):  # an edit that changed its mind may leave a row of zeros
        return False
    laws = [truth.normalised(row) for row in mechanism]
    room = [
        (j, r)
        for j, table in enumerate(own.listed(question))
        for r, (cells, most, equal) in enumerate(own.rows(question, table, upper=True))
        if not equal and own.value(cells, laws) < most
    ]
    if not room:
        return False
    j, r = rng.choice(room)
    lower = [clone(line) for line in draft.lines[1:] if tag(line) in LOWER]
    rest = [line for line in draft.lines[1:] if tag(line) not in LOWER]
    lines = [*lower, ["multiplier", j, [[r, str(-rng.choice(SHARES) * rng.choice([1, 100]))]]]]
    return aimed(draft, [*lines, *rest], Fraction(own.bound(question, lines, upper=True)))


def without_sections(draft: Any) -> bool:
    """A mechanism that is said to leak nothing, and nothing that shows it."""
    if draft.subject.problem != "min_leakage" or not draft.subject.feasible or draft.subject.low <= MARGIN:
        return False
    draft.lines[1:] = [line for line in draft.lines[1:] if tag(line) in LOWER]
    draft.claim = {"lower": "0", "upper": "0"}
    return True


def uniformly(draft: Any) -> bool:
    """What the uniform prior tells, as if no other one were feasible."""
    subject, question = draft.subject, draft.subject.question
    entropic = "entropy_at_least" in question.table.get("adversary", {}) and subject.problem == "maximal_leakage"
    if not entropic or not subject.small or question.only_uniform or draft.header.get("resolved"):
        return False
    records = range(len(question.alphabets))
    even = [[[Fraction(n, question.size) for n in ns] for ns in question.counts(i)] for i in records]
    told = max(Fraction(question.leakage(i, masses)) for i, masses in zip(records, even, strict=True))
    if told + truth.SLACK * 10 >= subject.low:
        return False
    draft.lines[2:] = [line for i in records for line in (["record", i], ["uniform"])]
    draft.claim = {"lower": "0", "upper": claimed((told + subject.low) / 2, "floor")}
    return True


def nowhere(draft: Any) -> bool:
    """Priors with some mass where no dataset is: what is left of a letter looks rarer than it is, and its outputs tell more."""
    subject, question = draft.subject, draft.subject.question
    known = subject.problem == "min_leakage" and subject.feasible and subject.small and "terms" not in draft.header
    if not known or "entropy_at_least" not in question.table.get("adversary", {}) or subject.high >= 1:
        return False
    step = draft.step = draft.rng.choice(SHARES[:3])
    for line in draft.lines[1:]:
        if tag(line) == "prior":
            masses = numbers_of(line[3], question.alphabets[line[2]], question.input_count)
            empty = [(a, k) for a, ns in enumerate(question.counts(line[2])) for k, n in enumerate(ns) if not n]
            if masses is None or not empty:
                return False
            whole = sum(p for ps in masses for p in ps)
            a, k = draft.rng.choice(empty)
            masses[a][k] += whole * step / (1 - step)
            line[3] = [[str(p) for p in ps] for ps in masses]
    draft.claim = {"lower": claimed(subject.high + step * (1 - subject.high) / 4, "ceiling")}
    return True


def told_nothing(draft: Any) -> bool:
    """Slopes far below those of any secant: what they give at the lower ends alone is nothing."""
    subject, question = draft.subject, draft.subject.question
    written = subject.problem == "maximal_leakage" and subject.small and not draft.header.get("resolved")
    if not written or "entropy_at_least" not in question.table["adversary"] or subject.low <= MARGIN:
        return False
    outputs, lines = len(question.rows[0]), []
    for i, letters in enumerate(question.alphabets):
        lines += [["record", i], ["joint", "0", "0", [["-1000"] * outputs] * letters, None]] if letters > 1 else []
    draft.lines[2:] = lines
    draft.claim = {"lower": "0", "upper": claimed(subject.low / 2, "floor")}
    return True


def empty_part(draft: Any) -> bool:
    """A class tree in two parts, of which one is empty, and the other has all that there is."""
    at = draft.pick("law", "letters")
    if at is None or draft.pick("vertices", "cell") is None or not draft.subject.small or draft.subject.low <= MARGIN:
        return False
    inputs = list(range(max(draft.subject.question.input_count, 1)))
    draft.lines[at : at + 1] = [["part", 0, draft.rng.choice([[], inputs])], draft.lines[at], clone(draft.lines[at])]
    return True


def unshifted(draft: Any) -> bool:
    """Of laws of what is added: multipliers with which the least is not at no shift at all, where what is told tells most."""
    question, rng = draft.subject.question, draft.rng
    known = draft.subject.feasible and "terms" not in draft.header and draft.subject.problem != "max_information"
    if not known or question.table["mechanism"].get("class") != "additive" or draft.subject.high <= MARGIN:
        return False
    leak, factor = draft.subject.problem == "min_leakage", rng.choice([3, 30, 1000])
    for line in draft.lines[1:]:
        if leak and tag(line) == "dual" and line[1] is not None:
            line[1] = str(Fraction(line[1]) / factor)
        elif leak:
            continue
        elif tag(line) == "prior":
            line[1] = str(Fraction(line[1]) * factor)
        elif tag(line) == "ratio":
            line[3] = [str(Fraction(a) * factor) for a in line[3]]
    draft.claim = {"lower": claimed(draft.subject.high * (1 + rng.choice(SHARES[:3])) + MARGIN, "ceiling")}
    return True


def below_zero(draft: Any) -> bool:
    """A multiplier below 0 for every output: what is less than nothing of one probability is more of all."""
    question = draft.subject.question
    if not linear(draft) or "privacy" not in question.table or question.table["mechanism"]["class"] == "additive":
        return False
    more, size = question.level[0] - 1, question.input_count
    x = draft.rng.choice([x for x in range(size) if question.law_of_inputs[x] and x in set(question.inputs)])
    single = ["1" if k == x else "0" for k in range(size)]
    reference: Any = single if question.table["privacy"]["kind"] == "local_dp" else 0
    if more <= 0 or draft.lines[1][1] is None or (reference == 0 and "priors" in question.table["privacy"]):
        return False
    step = draft.rng.choice(SHARES)
    multipliers = [f"-{step}" if k == x else "0" for k in range(size)]
    draft.lines[2:2] = [["ratio", y, reference, multipliers] for y in range(len(question.distortions[0]))]
    draft.claim = {"lower": claimed(draft.subject.high + more * step / 4, "ceiling")}
    return True


def skewed(draft: Any) -> bool:
    """A law of the outputs that is good for one letter, of which the others are said to be images."""
    images = [at for at, line in enumerate(draft.lines) if at and tag(line) == "as" and len(line) == 4]
    heads = [
        at for at, line in enumerate(draft.lines) if at and tag(line) == "joint" and any(at < one for one in images)
    ]
    if not heads or draft.subject.low <= MARGIN or not isinstance(draft.lines[heads[-1]][4], list):
        return False
    for at in heads:
        weights = draft.lines[at][4]
        if isinstance(weights, list) and weights:
            y = draft.rng.randrange(len(weights))
            weights[y] = str(Fraction(weights[y]) * (1 + draft.rng.choice(SHARES)))
    draft.claim = {"lower": "0", "upper": claimed(draft.subject.low * (1 - draft.rng.choice(SHARES[:3]) / 10), "floor")}
    return True


def freed(draft: Any) -> bool:
    """A witness about a bit that is the secret, of less entropy than is asked for, and what it tells."""
    subject, question = draft.subject, draft.subject.question
    if subject.problem != "secret_leakage" or question.size != 2 or len(question.rows) != 2:
        return False
    with localcontext(truth.SIXTY):
        shares = [Fraction(k, 40) for k in range(1, 40)]
        told = [
            truth.information(
                [[truth.dec(p) * r for r in row] for p, row in zip((q, 1 - q), question.rows, strict=True)]
            )
            for q in shares
        ]
    best = max(range(len(shares)), key=lambda k: told[k])
    found = Fraction(told[best]) - truth.SLACK * 10
    if found <= subject.high:
        return False
    draft.lines[1] = ["witness", 0, [[0, str(shares[best])], [1, str(1 - shares[best])]]]
    draft.claim = {"lower": claimed((found + subject.high) / 2, "floor")}
    return True


AUDITS = {uniformly: 2.0, told_nothing: 1.0, empty_part: 1.0, skewed: 2.0}
DESIGNS = {unpaid: 4.0, turned_sign: 3.0, without_sections: 2.0, nowhere: 2.0, unshifted: 2.0, below_zero: 2.0}
SECRETS = {freed: 2.0, empty_part: 1.0}
