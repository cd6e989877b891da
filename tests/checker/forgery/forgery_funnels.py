"""Models of the kind max_information within a limit, drawn; planes and mechanisms of a linear program over columns of a grid.

Of a limit of 0 the columns are the extreme rays of those that are independent of the secret, by supports of any size. Kinds of
forgery that only these models have come last.
"""

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray
from scipy.optimize import linprog

from dalenius_check.core.model import parse_model
from forgery_drafts import clone, tag, text_of
from forgery_subjects import Subject, claimed, honest, toml

Array = NDArray[np.float64]
Law = list[list[Fraction]]
Kind = str

MEASURES = (
    "chi_square",
    "total_variation",
    "guessing",
    [["1", "-3/2"], ["0", "0"]],
    [["2", "-2"], ["1/2", "-1/2"], ["-1", "1"]],
)
KINDS = ("mutual_information", "kl", "chi_square", "total_variation", *MEASURES[2:])
LEVELS = [("0.05", 0.05), ("1/5", 0.2), ("3", 3.0), ("1/1000", 0.001)]
BITS = math.log(2)
RAISED = 0.005  # by which a plane is above all columns
INFORMATION = [("0.1 nats", 0.1), ("1/4 bits", BITS / 4), ("0.01 bits", BITS / 100), ("2 bits", 2 * BITS)]


def law_of(rng: random.Random, letters: int, size: int) -> tuple[list[list[str]], Array]:
    """A joint law with zeros, as texts and as numbers."""
    cells = [[rng.choice([0, 0, 1, 2, 5]) for _ in range(size)] for _ in range(letters)]
    cells[rng.randrange(letters)][rng.randrange(size)] += 1
    whole = sum(map(sum, cells))
    return [[f"{c}/{whole}" for c in row] for row in cells], np.array(cells) / whole


def drawn(rng: random.Random) -> tuple[dict[str, Any], Array, Array, Kind, float]:
    """A model as tables, P(u, x), P(s, x), the kind of the limit, and the limit in nats."""
    size, kind = rng.randint(2, 4), rng.choice(KINDS)
    (law,), own = law_of(rng, 1, size)
    measure = {"measure": rng.choice(MEASURES)} if rng.random() < 0.4 else {}
    tables: dict[str, Any] = {
        **measure,
        "problem": "max_information",
        "records": {"count": 1, "alphabet": size},
        "query": {"kind": "identity"},
        "law": {"kind": "iid", "probabilities": law},
    }
    told = seen = np.diag(own[0])
    if rng.random() < 0.6:
        joint, told = law_of(rng, rng.randint(1, 4), size)
        tables["useful"] = {"joint": joint}
    level, most = rng.choice(INFORMATION if kind in ("mutual_information", "kl") else LEVELS)
    named = {"kind": "measure", "measure": kind} if kind in MEASURES[2:] else {"kind": kind}
    limit: dict[str, Any] = {**named, "at_most": level}
    if rng.random() < 0.6:
        joint, seen = law_of(rng, rng.randint(1, 3), size)
        limit["secret"] = [joint]
    elif rng.random() < 0.4:
        joint, one = law_of(rng, 1, size)
        limit["priors"], seen = joint, np.diag(one[0])
    tables["constraints"] = [limit]
    return tables, told, seen, kind, most


def of_the_input(tables: dict[str, Any]) -> bool:
    """Whether the limit is one on the information about the input itself."""
    (limit,) = tables["constraints"]
    return limit["kind"] in ("mutual_information", "kl") and "secret" not in limit


def means(joint: Array, columns: Array) -> tuple[Array, Array]:
    """The masses of the letters that there are, and what these would be of columns that tell nothing."""
    joint = joint[joint.sum(1) > 0]
    found = columns @ joint.T
    return found, joint.sum(1) * found.sum(1, keepdims=True)


def information(joint: Array, columns: Array) -> Array:
    """What each column tells about the letters."""
    m, outer = means(joint, columns)
    return np.asarray(np.sum(m * np.log(np.where(m > 0, m, 1) / np.where(m > 0, outer, 1)), axis=1))


def limited(kind: Any, joint: Array, columns: Array) -> Array:
    """What each column takes of a limit, or tells of use, by this measure."""
    m, outer = means(joint, columns)
    if not isinstance(kind, str):
        lines = [[float(Fraction(x)) for x in line] for line in kind]
        return np.asarray(np.max([a * m + b * outer for a, b in lines], axis=0).sum(1))
    if kind == "guessing":
        return np.asarray(m.max(1) - joint.sum(1).max() * m.sum(1))
    if kind == "chi_square":
        return np.asarray(np.sum(m**2 / np.where(outer > 0, outer, 1), axis=1) - m.sum(1))
    return np.asarray(np.abs(m - outer).sum(1)) if kind == "total_variation" else information(joint, columns)


def useful(tables: dict[str, Any], joint: Array, columns: Array) -> Array:
    """What each column tells of use, by the model's measure."""
    return limited(tables.get("measure", "mutual_information"), joint, columns)


def grid(size: int, parts: int) -> Array:
    """All columns of the sum 1 with entries that are multiples of 1/parts, behind those that are constant on some inputs."""
    flat = [np.array(mask) / sum(mask) for mask in itertools.product((0, 1), repeat=size) if any(mask)]
    cuts = np.array([*itertools.combinations(range(parts + size - 1), size - 1)])
    ends = np.hstack([np.full((len(cuts), 1), -1), cuts, np.full((len(cuts), 1), parts + size - 1)])
    return np.vstack([*flat, (np.diff(ends) - 1) / parts])


def best(
    tables: dict[str, Any], told: Array, seen: Array, most: float, columns: Array
) -> tuple[float, Array, float, Array]:
    """The most that these columns tell within a limit: the value, each one's weight, the limit's price and those of inputs."""
    done = linprog(
        -useful(tables, told, columns),
        A_eq=columns.T,
        b_eq=np.ones(columns.shape[1]),
        A_ub=limited(tables["constraints"][0].get("measure", tables["constraints"][0]["kind"]), seen, columns)[None],
        b_ub=[most],
        method="highs",
    )
    return -done.fun, done.x, max(-done.ineqlin.marginals[0], 0.0), -done.eqlin.marginals


def farthest(rng: random.Random, above: Callable[[Array], Array], columns: Array) -> float:
    """The largest number that a function has at columns of a grid, half of the way to the flat ones, and near to the best."""
    noise = np.random.default_rng(rng.randrange(2**32))
    columns = np.vstack([columns, *((columns + flat) / 2 for flat in columns[: 2 ** columns.shape[1] - 1])])
    top = columns[np.argmax(above(columns))]
    for width in (0.1, 0.03, 0.01, 0.003, 0.001):
        near = np.abs(top + width * noise.normal(size=(400, len(top))) * noise.integers(0, 2, size=(400, len(top))))
        near *= noise.integers(0, 8, size=near.shape) > 0
        near = np.vstack([top, near[near.sum(1) > 0]])
        near /= near.sum(1, keepdims=True)
        top = near[np.argmax(above(near))]
    return float(above(top[None])[0])


def funnel(rng: random.Random, number: int, measured: bool = False, others: tuple[float, ...] = ()) -> Subject:
    """A model with a mechanism of the program's, a little inside the limit, and its plane, raised until it is above all columns.

    Behind it are planes for a limit that is so many times as large.
    """
    while True:
        tables, told, seen, kind, most = drawn(rng)
        size = told.shape[1]
        fine = grid(size, 30 if size < 4 else 14)
        value, weights, price, prices = best(tables, told, seen, most, fine)
        over = rng.choice(["inputs", "useful"]) if price > 0.01 and of_the_input(tables) else "inputs"
        letters = len(told) if over == "useful" else int((seen.sum(1) > 0).sum())
        if value > 0.01 and price < 100 and letters < 4 and ("measure" in tables or not measured):
            break
    lines = list[Any]()
    for factor in (1.0, *others):
        if factor != 1:
            _, _, price, prices = best(tables, told, seen, factor * most, fine)
        price = round(price, 9)
        off = farthest(
            rng, lambda v, mu=price, p=prices: useful(tables, told, v) - mu * limited(kind, seen, v) - v @ p, fine
        )
        lines.append(["envelope", over, f"{price:.9f}", [f"{x + off + RAISED:.9f}" for x in prices]])
    columns = np.vstack([0.99 * fine[weights > 0] * weights[weights > 0, None], np.full(size, 0.01)])
    rows = [[f"{x:.9f}" for x in row] for row in columns.T]
    law = np.array(rows, dtype=float)
    low = useful(tables, told, (law / law.sum(1, keepdims=True)).T).sum()
    high = sum(map(Fraction, lines[0][3])) + Fraction(lines[0][2]) * Fraction(most)
    return certified(f"{'several' if others else 'funnel'}-{number}", tables, rows, low, high, lines)


def certified(
    name: str, tables: dict[str, Any], rows: list[list[str]], low: float, high: Fraction, lines: list[Any]
) -> Subject:
    """A model with a mechanism and what proves an upper end, which is a little above."""
    ends = max(Fraction(low) - Fraction(1, 10**9), Fraction(0)), high + Fraction(1, 10**9)
    head: dict[str, Any] = {"format": "dalenius-certificate/2", "problem": "max_information"}
    head["unit"] = "usefulness" if "measure" in tables else "nats"
    head |= {"producer": "a forger", "model": parse_model(toml(tables)).digest, "mechanism": rows}
    head |= {"lower": claimed(ends[0], "floor"), "upper": claimed(ends[1], "ceiling")}
    return honest(name, toml(tables), text_of([head, *lines]))


def several(rng: random.Random, number: int) -> Subject:
    """The same with planes for a smaller and a larger limit."""
    return funnel(rng, number, others=(0.5, 2.0))


# Limits of 0 --------------------------------------------------------------------------------------------------------------------


def told_and_seen(tables: dict[str, Any]) -> tuple[Law, Law]:
    """P(u, x) and P(s, x) of a model as tables, without letters that there are not."""
    (limit,) = tables["constraints"]
    own = tables["law"]["probabilities"]
    joint, secret = tables.get("useful", {}).get("joint"), limit.get("secret", [None])[0]
    laws = [joint or diagonal(own), secret or diagonal(limit.get("priors", [own])[0])]
    told, seen = ([[Fraction(p) for p in row] for row in rows if any(map(Fraction, row))] for rows in laws)
    return told, seen


def diagonal(law: list[str]) -> list[list[str]]:
    """The joint law of an input and itself."""
    return [[p if x == y else "0" for y in range(len(law))] for x, p in enumerate(law)]


def rays(law: Law) -> Law:
    """The extreme rays of columns that are independent of the secret: null vectors above 0 of as few inputs as there are."""
    size = len(law[0])
    drift = [[p - sum(row) * sum(column) for p, column in zip(row, zip(*law, strict=True), strict=True)] for row in law]
    found = [[Fraction(x == z) for x in range(size)] for z in range(size) if not any(row[z] for row in law)]
    held = [x for x in range(size) if any(row[x] for row in law)]
    for k in range(1, len(held) + 1):
        for chosen in itertools.combinations(held, k):
            matrix = fmpq_mat([[fmpq(row[x].numerator, row[x].denominator) for x in chosen] for row in drift])
            reduced, rank = matrix.rref()
            if rank == k - 1 and all(reduced[i, i] == 1 and reduced[i, k - 1] < 0 for i in range(rank)):
                entries = [
                    *(Fraction(-int(reduced[i, k - 1].p), int(reduced[i, k - 1].q)) for i in range(rank)),
                    Fraction(1),
                ]
                found.append([Fraction(dict(zip(chosen, entries, strict=True)).get(x, 0)) for x in range(size)])
    return found


def independent(tables: dict[str, Any]) -> tuple[Law, Array, Array]:
    """The rays of a model's limit, how much the best mechanism without its secret has of each, and the prices of inputs."""
    told, seen = told_and_seen(tables)
    columns = rays(seen)
    listed = np.array(columns, dtype=float)
    gains = useful(tables, np.array(told, dtype=float), listed)
    done = linprog(-gains, A_eq=listed.T, b_eq=np.ones(listed.shape[1]), method="highs")
    return columns, done.x, -done.eqlin.marginals


def potential(rng: random.Random, number: int) -> Subject:
    """A model with a limit of 0, a mechanism that is a little less than the best, and the prices of inputs."""
    while True:
        tables = drawn(rng)[0]
        tables["constraints"][0]["at_most"] = "0"
        columns, weights, prices = independent(tables)
        if prices.sum() > 0.01 and "measure" not in tables["constraints"][0]:
            break
    shares = [Fraction(w).limit_denominator(10**6) * Fraction(999, 1000) for w in weights]
    parts = [[w * g for g in column] for w, column in zip(shares, columns, strict=True) if w > Fraction(1, 10**6)]
    parts.append([1 - sum(row) for row in zip(*parts, strict=True)])
    told = np.array(told_and_seen(tables)[0], dtype=float)
    listed = [f"{x + 1e-6:.9f}" for x in prices]
    rows = [[str(x) for x in row] for row in zip(*parts, strict=True)]
    low = float(useful(tables, told, np.array(parts, dtype=float)).sum())
    return certified(
        f"potential-{number}", tables, rows, low, sum(map(Fraction, listed), Fraction(0)), [["potential", listed]]
    )


# Kinds of forgery; a draft is a `forgery_drafts.Draft` ---------------------------------------------------------------------------


def beside(draft: Any) -> bool:
    """A plane below some column behind the one that proves the claim, which is true: the statement would say it of another limit."""
    honest = draft.subject.parents[0]
    places = [at for at in range(2, min(len(honest), len(draft.lines))) if tag(draft.lines[at]) == "envelope"]
    if not places:
        return False
    at = draft.rng.choice(places)
    line = draft.lines[at] = clone(honest[at])
    _, seen = told_and_seen(draft.subject.question.table)
    blind = [x for x, column in enumerate(zip(*seen, strict=True)) if not any(column)]
    if (
        blind and draft.rng.random() < 0.5
    ):  # what an input tells that the secret does not see is never less than nothing
        line[3][draft.rng.choice(blind)] = f"-{draft.small()}"
    else:
        less = Fraction(RAISED) * (1 + draft.rng.choice([Fraction(1, 10), Fraction(1), Fraction(5)]))
        line[3] = [str(Fraction(x) - less) for x in line[3]]
    draft.claim = {end: honest[0][end] for end in ("lower", "upper")}
    draft.beside = True
    return True


def blinded(draft: Any) -> bool:
    """The potential of a limit of 0, where the limit is larger."""
    table = draft.subject.question.table
    if "constraints" not in table:
        return False
    listed = [f"{x + 1e-6:.9f}" for x in independent(table)[2]]
    high = sum(map(Fraction, listed)) + Fraction(1, 10**9)
    if high >= draft.subject.low:
        return False
    draft.lines[1:] = [["potential", listed]]
    draft.claim = {"lower": "0", "upper": claimed(max(high, Fraction(0)), "ceiling")}
    return True


FUNNELS = {beside: 6.0, blinded: 3.0}
