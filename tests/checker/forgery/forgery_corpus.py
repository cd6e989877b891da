"""Certificates to forge that the corpus accepts: small ones with lines of every kind that docs/certificate-format.md has.

Their claims may be wide. What a second reader of the model finds (tests/second_reader) is told by some law of the adversary's, so that
whatever claims less is false.
"""

from __future__ import annotations

import functools
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import cases
import forgery_chains as chains
import forgery_subjects
from chain_truth import after, blocks, information
from forgery_subjects import MARGIN, Subject, honest
from forgery_truth import SIXTY, Question, around
from second_reader.comparison import Reader
from second_reader.exact import TooLargeError

FORMAT = Path(__file__).parents[3] / "docs" / "certificate-format.md"
KEYS = ("curve", "mechanism", "resolved", "terms")  # of headers, which not all have
LARGEST = 6000
AUDITS = ("maximal_leakage", "secret_leakage")


def named() -> set[str]:
    """The kinds of lines that the format has, and the keys of headers that are evidence."""
    return {*re.findall(r'\["([a-z-]+)"', FORMAT.read_text())} | {*KEYS}


def told(value: Any) -> Iterator[list[Any]]:
    """Lines, and what stands in lines and begins with a word as they do."""
    if isinstance(value, list):
        if value and isinstance(value[0], str) and value[0].islower():
            yield value
        for item in value:
            yield from told(item)


def kinds(certificate: list[Any]) -> set[str]:
    """Which of these a certificate has."""
    return {line[0] for line in told(certificate[1:])} | {key for key in KEYS if certificate[0].get(key) is not None}


def of_kind(kind: str, certificate: list[Any]) -> Any:
    """What a certificate has of such a kind."""
    return certificate[0].get(kind) if kind in KEYS else [line for line in told(certificate[1:]) if line[0] == kind]


def accepted() -> Iterator[cases.Case]:
    """The corpus's small certificates that are proved, the shortest first."""
    found = [case for case in cases.cases().values() if case.status == 0 and len(case.certificate) <= LARGEST]
    yield from sorted(found, key=lambda case: (len(case.certificate), case.name))


def padded(text: bytes) -> bytes:
    """The same certificate in a file that is long enough for several processes: its producer is free text."""
    return text.replace(b'"producer":"', b'"producer":"' + b"." * 2**18, 1)


def lines_of(case: cases.Case) -> list[Any]:
    """What a certificate says; nothing of one that is compressed, or of a lower end alone, which nothing contradicts."""
    try:
        lines = [json.loads(line) for line in case.certificate.decode().splitlines()]
    except ValueError:
        return []
    return lines if (lines[0]["lower"] is None) == (lines[0]["upper"] is None) else []


@functools.cache
def subjects(each: int) -> list[Subject]:
    """So many certificates for each kind of line, where the corpus has them."""
    seen: dict[str, int] = {}
    found = []
    for case in accepted():
        lines = lines_of(case)
        if not lines or all(seen.get(kind, 0) >= each for kind in kinds(lines)):
            continue
        for kind in kinds(lines):
            seen[kind] = seen.get(kind, 0) + 1
        found.append(known(honest(f"corpus {case.name}", case.model, case.certificate)))
    return found


def known(subject: Subject) -> Subject:
    """With what a second reader finds that is told, where that is more than is claimed."""
    if subject.problem not in AUDITS or subject.low > MARGIN:
        return subject
    reader = Reader(subject.model.decode(), "\n".join(map(json.dumps, subject.parents[0])), 0, 4, 20)
    try:
        assert not reader.faults(), subject.name
    except TooLargeError:
        return subject
    low = Fraction(reader.most) * (1 - Fraction(1, 10**6))
    return replace(subject, low=low) if low > MARGIN else subject


# Lines that the corpus has none of ----------------------------------------------------------------------------------------------


def farthest(rng: random.Random, name: str) -> Subject:
    """A count, and noise that nothing cuts off, to whoever may know anything: all zeros against all ones."""
    count = rng.randint(1, 4)
    table = forgery_subjects.audit(
        (count, 2),
        {"kind": "count"},
        {"kind": "geometric", "epsilon": rng.choice(["1/2", "1", "3"])},
        {"entropy_at_least": "0"},
    )
    masses = [[Fraction(int(k == end), 2) for k in range(count + 1)] for end in (0, count)]
    low, high = around(Question(table).leakage(0, masses))
    lines = [["witness", 0, [[str(p) for p in row] for row in masses]], ["record", 0], ["ends"]]
    return forgery_subjects.certified(name, table, low, high, lines, low - MARGIN, high + MARGIN)


def products(rng: random.Random, name: str) -> Subject:
    """A record's letter, asked of records that are independent of each other."""
    count = rng.randint(1, 3)
    table = forgery_subjects.audit(
        (count, 2),
        {"kind": "count"},
        {"kind": "geometric", "epsilon": rng.choice(["1", "3"])},
        {"kind": "product_priors"},
    )
    secrets = [{"of": {"kind": "letters", "records": [0]}}]
    whole = {**table, "problem": "secret_leakage", "secrets": secrets}
    laws = [[str(rng.randint(1, 3)) for _ in range(2)] for _ in range(count)]
    log_two = around(SIXTY.ln(2))[1]
    lines = [["witness", 0, ["product", laws]], ["cell", 0, 0], ["letters"]]
    return known(forgery_subjects.certified(name, whole, Fraction(0), log_two, lines, Fraction(0), log_two + MARGIN))


def near_an_end(rng: random.Random, name: str, free: bool = False) -> Subject:
    """A record near an end of a chain that is not short, or behind a start of any kind."""
    while True:
        count, mu = rng.choice([20, 30]), Fraction(rng.choice([8, 14, 20]), 20)
        alpha = mu * Fraction(rng.choice([3, 5, 7]), 10)
        sides = [(alpha, alpha), (mu - alpha, mu - alpha)]
        i, m, t = rng.randint(0, 8), rng.randint(0, count // 12), rng.randint(1, 8)
        leaf = ["after", t, m] if free else ["blocks", rng.randint(1, count // 3)]
        upper = after(sides, count, i, t, m) if free else blocks(sides, count, i, leaf[1])
        if upper is not None and upper < 0.69:
            break
    start = "any" if free else "stationary"
    model = chains.table(count, {"kind": "count"}, {"kind": "geometric", "epsilon": "4"}, sides, start=start, record=i)
    point = (alpha, mu - alpha, *([Fraction(1, 2)] if free else []))
    low = around(information(Question(model), i, point))[0]
    lines = [["path", i, chains.text(point), None], ["record", i], leaf]
    return chains.subject(name, model, (low, Fraction(upper) + MARGIN), Fraction(upper), lines)


def drawn(rng: random.Random, each: int) -> list[Subject]:
    """So many of each of these."""
    kinds_of = {
        "farthest": farthest,
        "product": products,
        "blocks": near_an_end,
        "after": partial(near_an_end, free=True),
    }
    return [make(rng, f"{name}-{k}") for name, make in kinds_of.items() for k in range(each)]
