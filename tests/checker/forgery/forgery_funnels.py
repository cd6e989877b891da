"""Models of the kind max_information within a limit, drawn; planes and mechanisms of a linear program over columns of a grid."""

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from dalenius_check.core.model import parse_model
from forgery_drafts import text_of
from forgery_subjects import Subject, claimed, honest, toml

Array = NDArray[np.float64]
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


def funnel(rng: random.Random, number: int, measured: bool = False) -> Subject:
    """A model with a mechanism of the program's, a little inside the limit, and its plane, raised until it is above all columns."""
    while True:
        tables, told, seen, kind, most = drawn(rng)
        size = told.shape[1]
        fine = grid(size, 30 if size < 4 else 14)
        value, weights, price, prices = best(tables, told, seen, most, fine)
        over = rng.choice(["inputs", "useful"]) if price > 0.01 and of_the_input(tables) else "inputs"
        letters = len(told) if over == "useful" else int((seen.sum(1) > 0).sum())
        if value > 0.01 and price < 100 and letters < 4 and ("measure" in tables or not measured):
            break
    price = round(price, 9)
    off = farthest(rng, lambda v: useful(tables, told, v) - price * limited(kind, seen, v) - v @ prices, fine)
    listed = [f"{x + off + 0.005:.9f}" for x in prices]
    columns = np.vstack([0.99 * fine[weights > 0] * weights[weights > 0, None], np.full(size, 0.01)])
    rows = [[f"{x:.9f}" for x in row] for row in columns.T]
    law = np.array(rows, dtype=float)
    low = Fraction(useful(tables, told, (law / law.sum(1, keepdims=True)).T).sum()) - Fraction(1, 10**9)
    high = sum(map(Fraction, listed)) + Fraction(f"{price:.9f}") * Fraction(most) + Fraction(1, 10**9)
    head: dict[str, Any] = {"format": "dalenius-certificate/2", "problem": "max_information"}
    head["unit"] = "usefulness" if "measure" in tables else "nats"
    head |= {"producer": "a forger", "model": parse_model(toml(tables)).digest, "mechanism": rows}
    head |= {"lower": claimed(max(low, Fraction(0)), "floor"), "upper": claimed(high, "ceiling")}
    return honest(f"funnel-{number}", toml(tables), text_of([head, ["envelope", over, f"{price:.9f}", listed]]))
