"""Designs under limits about a secret, drawn so that a mechanism meets them just, and tangents of these limits, honest or any."""

import random
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

import constraint_draws as draws_of
import constraint_truth as own
import secret_truth
from forgery_truth import Question

Model = dict[str, Any]
KINDS = [
    (kind, strong)
    for kind in secret_truth.LIMITS
    for strong in ((False, True) if kind in ("kl", "total_variation", "chi_square") else (False,))
]
EPSILONS = ["log 3/2", "0", "0.3 bits", "1/5"]


def free(rng: random.Random) -> Model:
    """A design without an adversary, or with one that is no hindrance."""
    table = draws_of.grounds(rng)
    if rng.random() < 0.7 or "privacy" in table:
        for key in ("privacy", "adversary", "max_leakage"):
            table.pop(key, None)
    return table


def law(rng: random.Random, places: list[bool]) -> list[str]:
    """A law on some places, each of which may be left out."""
    weights = [rng.choice([0, 1, 2, 5]) if has else 0 for has in places]
    if not sum(weights):
        weights = [int(has) for has in places]
    return [str(Fraction(w, sum(weights))) for w in weights]


def secret(rng: random.Random, question: Question) -> Model:
    """What a limit is about."""
    held = [x in set(question.inputs) for x in range(question.input_count)]
    what = rng.choice(["default", "priors", "secret", "secret"])
    if what == "priors":
        return {"priors": [law(rng, held) for _ in range(rng.randint(1, 2))]}
    if what == "default":
        return {}
    found = []
    for _ in range(rng.randint(1, 2)):
        letters = rng.randint(1, 3)
        flat = law(rng, held * letters)
        found.append([flat[s * len(held) : (s + 1) * len(held)] for s in range(letters)])
    return {"secret": found}


def mechanism(rng: random.Random, question: Question) -> Any:
    """Any mechanism, with zeros now and then."""
    width, spread = len(question.distortions[0]), question.table["mechanism"]["class"] == "additive"
    rows = []
    for _ in range(1 if spread else question.input_count):
        weights = [rng.choice([0, 1, 2, 3, 7]) for _ in range(width - 1)] + [rng.randint(1, 7)]
        rng.shuffle(weights)
        rows.append([Fraction(w, sum(weights)) for w in weights])
    return question.spread(rows)


def limited(rng: random.Random, question: Question, laws: Any, kind: str, strong: bool) -> Model | None:
    """A limit of a kind that a mechanism meets, and just so where the number is rational; None where none does."""
    table: Model = {"kind": kind, **secret(rng, question)} | ({"strong": True} if strong else {})
    if kind.endswith("delta"):
        table["epsilon"] = rng.choice(EPSILONS)
    found = at_least(question, table, laws)
    if found is None:
        return None
    if kind == "maximal_correlation":
        key = rng.choice(["at_most", "square_at_most"])
        return table | {key: str((found if key == "at_most" else found**2) + Fraction(1, 10**8))}
    return table | {"at_most": str(found)}


def at_least(question: Question, table: Model, laws: Any) -> Fraction | None:
    """The least number that a mechanism is within, or a little more."""
    c = own.level(table, upper=False) if "epsilon" in table else Fraction(1)
    numbers = [
        secret_truth.measured(table, secret_truth.Told(joint, laws), c)
        for joint in secret_truth.joints(question, table)
    ]
    if any(number in (inf, Decimal("Infinity")) for number in numbers):
        return None
    slack = {Decimal: Fraction(1, 10**40), float: Fraction(1, 10**9)}
    return max(Fraction(number) + slack.get(type(number), Fraction(0)) for number in numbers)


def drawn(rng: random.Random, kind: str, strong: bool) -> tuple[Question, Any]:
    """A design under such a limit, and a mechanism that meets it just."""
    while True:
        question = Question(free(rng))
        laws = mechanism(rng, question)
        table = limited(rng, question, laws, kind, strong)
        if table is not None:
            return Question({**question.table, "constraints": [table]}), laws


def text(value: Any) -> str:
    """A number with few digits."""
    return str(Fraction(value).limit_denominator(10**6))


def tangents(question: Question, j: int, laws: Any, weight: str) -> list[list[Any]]:
    """Honest tangents of constraint j at a mechanism, for every law, with this weight altogether."""
    table = own.listed(question)[j]
    joints, found = secret_truth.joints(question, table), list[Any]()
    for n, joint in enumerate(joints):
        pairs = list(hints(table, secret_truth.Told(joint, laws)))
        each = str(Fraction(weight) / len(pairs) / len(joints))
        found += [["tangent", j, n, each, about, hint] for about, hint in pairs]
    return found


def hints(table: Model, told: secret_truth.Told) -> list[tuple[Any, Any]]:
    """What the lines are about, and their hints, at what a mechanism makes of a law."""
    kind, strong, outputs, letters = table["kind"], table.get("strong"), range(len(told.r)), told.letters
    every = range(len(told.pi))

    def over(make: Any, none: str) -> list[list[str]]:
        return [[text(make(s, y)) if told.pi[s] and told.r[y] else none for y in outputs] for s in every]

    if kind in ("mutual_information", "kl") and not strong:
        return [(None, over(lambda s, y: max(told.u[s][y] / told.r[y], Fraction(1, 10**4)), "1"))]
    if kind == "kl":
        return [(s, [text(told.r[y] / told.w[s][y]) if told.r[y] else "1" for y in outputs]) for s in letters]
    if kind == "total_variation":
        if strong:
            return [
                (s, [text((told.w[s][y] > told.r[y]) - (told.w[s][y] < told.r[y])) for y in outputs]) for s in letters
            ]
        return [(None, over(lambda s, y: (told.w[s][y] > told.r[y]) - (told.w[s][y] < told.r[y]), "0"))]
    if kind == "chi_square":
        if strong:
            return [(s, [text(told.r[y] / told.w[s][y]) if told.r[y] else "0" for y in outputs]) for s in letters]
        return [(None, over(lambda s, y: told.w[s][y] / told.r[y], "0"))]
    if kind == "maximal_correlation":
        return [correlated(told)]
    first = Fraction(1)
    names = [[s, z] for s in letters for z in letters if z != s]
    if kind == "local_information_privacy_delta":
        names = [pair for s in letters for pair in ([s, None], [None, s])]
    rows = {**told.w, None: told.r}
    return [(pair, [text(rows[pair[0]][y] > first * rows[pair[1]][y]) for y in outputs]) for pair in names] or [
        (None, None)
    ]


def correlated(told: secret_truth.Told) -> tuple[list[str], list[str]]:
    """The best f, and its mean given each output."""
    kept = [y for y, r in enumerate(told.r) if r]
    root = np.sqrt([float(told.pi[s]) for s in told.letters])
    table = np.array([[float(told.u[s][y]) for y in kept] for s in told.letters])
    left = np.linalg.svd(table / root[:, None] / np.sqrt(table.sum(0)))[0]
    best = (left[:, 1] if left.shape[1] > 1 else left[:, 0]) / root
    f = [Fraction(0)] * len(told.pi)
    for s, value in zip(told.letters, best, strict=True):
        f[s] = Fraction(float(value)).limit_denominator(10**6)
    mean = sum((p * x for p, x in zip(told.pi, f, strict=True)), Fraction(0))
    given = [
        sum((told.u[s][y] * (f[s] - mean) for s in told.letters), Fraction(0)) / r if r else Fraction(0)
        for y, r in enumerate(told.r)
    ]
    return list(map(str, f)), list(map(text, given))


def noisy(rng: random.Random, question: Question, j: int) -> list[list[Any]]:
    """Tangents with any hints."""
    table, found = own.listed(question)[j], list[Any]()
    width, kind, strong = len(question.distortions[0]), table["kind"], table.get("strong")
    for n, joint in enumerate(secret_truth.joints(question, table)):
        letters = [s for s, row in enumerate(joint) if any(row)]
        pairs = [[s, z] for s in letters for z in letters if s != z]
        if kind == "local_information_privacy_delta":
            pairs = [p for s in letters for p in ([s, None], [None, s])]

        def one(kind: str = kind) -> str:
            low, high = {"total_variation": (-6, 6), "chi_square": (-9, 15), "maximal_correlation": (-9, 9)}.get(
                kind, (0, 6)
            )
            return str(
                Fraction(rng.randint(low, high) if kind not in ("kl", "mutual_information") else rng.randint(1, 9), 6)
            )

        hint: Any = [one() for _ in range(width)]
        about: Any = rng.choice(letters)
        if not strong and kind in secret_truth.LIMITS[:4]:
            about, hint = None, [[one() for _ in range(width)] for _ in joint]
        elif kind == "maximal_correlation":
            about = [one() for _ in joint]
        elif kind.endswith("delta"):
            about = rng.choice(pairs) if pairs else None
        if about is not None or not kind.endswith("delta"):
            found.append(["tangent", j, n, str(Fraction(rng.randint(1, 20), 60)), about, hint])
    return found
