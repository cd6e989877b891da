"""Local protocols to forge: their channels by definition, lines `mixture` that prove them, and the same lines with sums left out.

Written from docs/model-format.md and docs/certificate-format.md alone. Channels of at most four inputs are written out, so that what
is known of channels in closed form is known of these.
"""

import itertools
import random
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import class_truth
import forgery_subjects as subjects
import forgery_truth as truth
from forgery_subjects import Subject

LEVELS = ("log 3", "1 bits", "0.7", "2", "log 20", "1/10")


def weights_of(rows: list[truth.Row], chosen: tuple[int, ...], share: Decimal) -> list[str]:
    """The law of the inputs that two letters with these inputs have, the first of this probability."""
    found = [Decimal(0)] * len(rows)
    for k, p in zip(chosen, (share, 1 - share), strict=True):
        found[k] += p
    return [subjects.digits(p) for p in found]


def how(kind: str, weights: list[str], rng: random.Random | None = None) -> Any:
    """Which sums are made: all of them; or, drawn, any."""
    law = [Fraction(w) for w in weights]
    sizes = [law.count(p) for p in dict.fromkeys(law)]
    listed = [[g, 0, n] for g, n in enumerate(sizes)]
    if rng is not None:
        listed = [[g, *sorted(rng.choices(range(n + 2), k=2))] for g, n in enumerate(sizes) if rng.random() < 0.8]
    if kind == "hadamard_response":
        return None
    if kind == "subset_selection":
        return listed[:-1] if rng is None or rng.random() < 0.7 else listed
    return [2 if rng is None else rng.choice([0, 1, 1, 2, 3, 32, 33]), listed]


def mixtures(subject: Subject) -> list[Any]:
    """The honest lines with mixtures for laws, and a way to sum in the witness."""
    question, (head, witness, *lines) = subject.question, subject.parents[0]
    held, kind, i, found = question.table["adversary"], question.table["mechanism"]["kind"], 0, list[Any]()
    free = held["kind"] == "product_priors"
    if isinstance(witness[2], list):
        j, law = witness[2]
        weights = law if held["kind"] != "polytope_priors" else None
        if weights is not None:
            sums = [Fraction(0)] * question.input_count
            for k, p in zip(question.selections(witness[1])[j], weights, strict=True):
                sums[k] += Fraction(p)
            witness = [*witness[:2], [j, law, how(kind, list(map(str, sums)))]]
    for line in lines:
        if line[0] == "record":
            i = line[1]
            found.append(line)
            continue
        chosen = question.selections(i)[line[1][0]]
        first, second = (question.rows[k] for k in chosen)
        with localcontext(truth.SIXTY):
            share = truth.two_rows(first, second)[1] if free else class_truth.best(held, first, second)[1]
            weights = weights_of(question.rows, chosen, share)
        found.append(["mixture", line[1], weights, *line[3:], how(kind, weights)])
    return [head, witness, *found]


def spoken(rng: random.Random, number: int) -> Subject:
    """An audit of a protocol about bits, each kind in turn, by an adversary with independent records or a class of laws."""
    while True:
        kind = truth.PROTOCOLS[number % len(truth.PROTOCOLS)]
        count = rng.randint(1, 3)
        table: dict[str, Any] = {"problem": "maximal_leakage", "records": {"count": count, "alphabet": 2}}
        table["query"] = {"kind": rng.choice(["identity", "count"]) if count < 3 else "count"}
        table["mechanism"] = {"kind": kind, "epsilon": rng.choice(LEVELS)}
        size = len(truth.Question({**table, "mechanism": {"kind": "none"}}).query[0])
        if kind == "subset_selection":
            table["mechanism"]["size"] = rng.randint(1, size - 1)
        if kind == "local_hashing":
            table["mechanism"]["buckets"] = rng.randint(2, 3)
        free = rng.random() < 0.4
        table["adversary"] = (
            {"kind": "product_priors"} if free else class_truth.drawn(rng, rng.choice(class_truth.KINDS))
        )
        found = subjects.written(table, f"protocol-{number}")
        if found is not None and found.low > subjects.MARGIN:
            found.parents.insert(0, mixtures(found))
            return found


def resummed(draft: Any) -> bool:
    """Other sums than the evidence needs, in the witness or in all lines: terms left out, a development that ends earlier."""
    rng, question = draft.rng, draft.subject.question
    kind, which = question.table["mechanism"].get("kind"), rng.choice(["mixture", "mixture", "witness"])
    lines = [line for line in draft.lines[1:] if isinstance(line, list) and line[:1] == [which]]
    places = [line[2] if which == "witness" else line for line in lines]
    places = [parts for parts in places if isinstance(parts, list) and len(parts) >= 3]
    if kind not in truth.PROTOCOLS or not places:
        return False
    what, order = (
        rng.choice(["none", "none", "shorter", "shorter", "later", "first", "last", "twice", "back", "any"]),
        rng.choice([1, 1, 2]),
    )
    for parts in places:
        parts[-1] = _fewer(parts[-1], what, order) if what != "any" else how(kind, ["1"] * question.input_count, rng)
    return True


def _fewer(old: Any, what: str, order: int) -> Any:
    """A way to sum, of which something is left out."""
    several = isinstance(old, list) and len(old) == 2 and isinstance(old[1], list) and isinstance(old[0], int)
    listed = old[1] if several else old
    if not isinstance(listed, list):
        return []
    made = {
        "none": list,
        "shorter": lambda: [[g, lo, max(hi - 1, lo)] for g, lo, hi in listed],
        "later": lambda: [[g, min(lo + 1, hi), hi] for g, lo, hi in listed],
        "first": lambda: listed[1:],
        "last": lambda: listed[:-1],
        "twice": lambda: [*listed, *listed[-1:]],
        "back": lambda: listed[::-1],
    }[what]()
    return [order, made] if several else made


def remixed(draft: Any) -> bool:
    """A law of the inputs where one of the outputs stood, or the other way round; or another law."""
    rng, question = draft.rng, draft.subject.question
    at = draft.pick("mixture", "law")
    if at is None or question.table["mechanism"].get("kind") not in truth.PROTOCOLS:
        return False
    line, size = draft.lines[at], question.input_count
    if len(line) < 3:  # of a tree of laws
        return False
    what = rng.choice(["name", "weights", "weights", "letters"])
    if what == "name":
        line[0] = "law" if line[0] == "mixture" else "mixture"
        line[:] = line[:-1] if line[0] == "law" else [*line, how(question.table["mechanism"]["kind"], ["1"] * size)]
    elif what == "weights":
        weights = draft.law(size)
        line[2] = weights
        if line[0] == "mixture" and rng.random() < 0.8:
            line[-1] = how(question.table["mechanism"]["kind"], weights)
    else:
        line[2] = list(itertools.islice(itertools.cycle(line[2]), rng.choice([2, size + 1, max(size - 1, 1)])))
    return True


KINDS = {resummed: 12.0, remixed: 4.0}
