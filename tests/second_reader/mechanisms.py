"""Channels, one row for each input: docs/model-format.md, `[mechanism]`."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from second_reader.exact import TooLargeError, dec, decimals, law, power, read
from second_reader.queries import values as listed

if TYPE_CHECKING:
    from second_reader.model import Model

Table = dict[str, Any]
MOST_OUTPUTS = 800
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def rows(table: Table, model: Model) -> np.ndarray:
    """The channel of a model: rows for the query's values, or for datasets."""
    kind, values = table["kind"], model.values
    if model.query["kind"] == "joint" and kind in ("several_releases", "adaptive"):
        lists = [listed(query, model.data, model.alphabets) for query in model.query["queries"]]
        places = [[lists[on].index(value[on]) for value in values] for on in range(len(lists))]
    else:
        lists, places = [values], [list(range(len(values)))]
    if model.query["kind"] == "margins":
        noises = {part.get("on", 0): part for part in table["parts"]} if kind == "several_releases" else None
        tables = range(len(model.query["tables"]))
        parts = [in_cells(noises[v] if noises else table, model, [value[v] for value in values]) for v in tables]
        return beside(parts)
    if kind == "several_releases":
        told = [part_rows(part, lists, places) for part in table["parts"] for _ in range(part.get("times", 1))]
        return beside(told)
    if kind == "adaptive":
        return stage({**table, "mechanism": table["mechanism"]}, lists, places)
    if model.query["kind"] == "histogram" and kind != "randomized_histogram":
        return in_cells(table, model, values)
    return simple(table, values)


def in_cells(table: Table, model: Model, values: list[tuple[int, ...]]) -> np.ndarray:
    """Noise on every one of some counts."""
    cell = simple(table, list(range(len(model.alphabets) + 1)))
    return np.vstack([beside([cell[[count]] for count in value]) for value in values])


def part_rows(part: Table, lists: list[list[Any]], places: list[list[int]]) -> np.ndarray:
    on = part.get("on", 0)
    return simple(part, lists[on])[places[on]]


def beside(parts: list[np.ndarray]) -> np.ndarray:
    """What independent releases tell together."""
    found = parts[0]
    for part in parts[1:]:
        if found.shape[1] * part.shape[1] > MOST_OUTPUTS:
            raise TooLargeError("outputs")
        found = (found[:, :, None] * part[:, None, :]).reshape(len(found), -1)
    return found


def stage(table: Table, lists: list[list[Any]], places: list[list[int]]) -> np.ndarray:
    """A stage and what follows: an output for each path."""
    own = part_rows({**table["mechanism"], "on": table.get("on", 0)}, lists, places)
    then = table.get("then") or [{}] * own.shape[1]
    parts = []
    assert len(then) == own.shape[1]
    for y, after in enumerate(then):
        column = own[:, [y]]
        parts.append(column * stage(after, lists, places) if after else column)
    return np.hstack(parts)


def simple(table: Table, values: list[Any]) -> np.ndarray:
    """A mechanism that releases one thing."""
    kind, count = table["kind"], len(values)
    if kind == "matrix":
        return decimals([law(row) for row in table["rows"]])
    if kind in ("symmetric", "randomized_response", "laplace_threshold"):
        return decimals(flipping(table, count))
    if kind in ("gaussian", "laplace"):
        return real(kind, [float(value / read(table["scale"])) for value in values])
    if kind in REPORTS:
        return decimals(REPORTS[kind](power(table["epsilon"]), table, count))
    if kind == "randomized_count":
        return decimals(turned_round(table, max(values)))
    if kind == "randomized_histogram":
        return histogram(table, values)
    return decimals(NOISE[kind](table, values))


def flipping(table: Table, count: int) -> list[list[Any]]:
    if table["kind"] == "laplace_threshold":
        other = (-dec(read(table["epsilon"])) / 2).exp() / 2
    elif table["kind"] == "symmetric":
        other = read(table["flip"]) / (count - 1)
    else:
        other = 1 / (dec(power(table["epsilon"])) + count - 1)
    return [[1 - (count - 1) * other if y == v else other for y in range(count)] for v in range(count)]


def flip(table: Table, letters: int) -> Decimal:
    """With what probability a letter is another."""
    if "flip" in table:
        return dec(read(table["flip"]))
    return (letters - 1) / (dec(power(table["epsilon"])) + letters - 1)


def turned_round(table: Table, n: int) -> list[list[Decimal]]:
    """How many of n bits are ones, each turned round with some probability: one bit after the other."""
    turned, found = flip(table, 2), []
    for ones in range(n + 1):
        counts = [Decimal(1)]
        for bit in range(n):
            one = 1 - turned if bit < ones else turned
            counts = [
                (counts[y] * (1 - one) if y < len(counts) else 0) + (counts[y - 1] * one if y else 0)
                for y in range(len(counts) + 1)
            ]
        found.append(counts)
    return found


def histogram(table: Table, values: list[tuple[int, ...]]) -> np.ndarray:
    """Of every person a letter, kept or replaced, and how many there are of each."""
    letters = len(values[0])
    turned, others = flip(table, letters), table.get("others") or [0] * letters
    laws = []
    for value in values:
        told: dict[tuple[int, ...], Decimal] = {(0,) * letters: Decimal(1)}
        for letter in range(letters):
            for _ in range(value[letter] + others[letter]):
                after: dict[tuple[int, ...], Decimal] = {}
                for counts, p in told.items():
                    for c in range(letters):
                        to = (*counts[:c], counts[c] + 1, *counts[c + 1 :])
                        share = 1 - turned if c == letter else turned / (letters - 1)
                        after[to] = after.get(to, Decimal(0)) + p * share
                told = after
                if len(told) > MOST_OUTPUTS:
                    raise TooLargeError("outputs")
        laws.append(told)
    outputs = sorted({counts for told in laws for counts in told})
    return decimals([[told.get(counts, Decimal(0)) for counts in outputs] for told in laws])


def ends(table: Table, values: list[int]) -> tuple[int, int]:
    """The least and the largest output of a mechanism with a range."""
    given = table.get("range", [min(values), max(values)])
    low, high = given if isinstance(given, list) else (0, given)
    if high - low > MOST_OUTPUTS:
        raise TooLargeError("outputs")
    return low, high


def two_sided(a: Decimal, low: int, high: int, values: list[int]) -> list[list[Decimal]]:
    """Noise of ratio a, what is beyond an end being told as that end."""
    if low == high:
        return [[Decimal(1)] for _ in values]
    return [
        [a ** abs(y - v) * (1 if y in (low, high) else 1 - a) / (1 + a) for y in range(low, high + 1)] for v in values
    ]


def geometric(table: Table, values: list[int]) -> list[list[Decimal]]:
    return two_sided(1 / dec(power(table["epsilon"])), *ends(table, values), values)


def discrete_laplace(table: Table, values: list[int]) -> list[list[Decimal]]:
    """All integers, of which those up to the least value are told together, and those from the largest on."""
    epsilon = dec(read(table["epsilon"])) if "epsilon" in table else 1 / dec(read(table["scale"]))
    low, high = ends({}, values)
    return two_sided((-epsilon).exp(), low, high, values)


def discrete_gaussian(table: Table, values: list[int]) -> list[list[Decimal]]:
    """Without a range, of outputs far away no more than that they are: less is told so, by hardly anything."""
    scale = dec(read(table["scale"]))
    reach = int(scale * 35) + 3  # e^-600 beyond, less than the last digit
    if reach > 40 * MOST_OUTPUTS:
        raise TooLargeError("outputs")
    far = int(scale * 14) + 3
    low, high = ends(table if "range" in table else {"range": [min(values) - far, max(values) + far]}, values)
    mass = {0: Decimal(1)}
    for k in range(1, reach):
        mass[k] = (-Decimal(k * k) / (2 * scale * scale)).exp()
    whole = mass[0] + 2 * sum(mass[k] for k in range(1, reach))
    above = [Decimal(0)]  # above[i]: the mass at reach - i and more
    for k in range(reach - 1, 0, -1):
        above.append(above[-1] + mass[k])

    def tail(k: int) -> Decimal:
        """The mass at k and more."""
        if k <= 0:
            return whole - tail(1 - k)
        return above[reach - k] if k < reach else Decimal(0)

    return [
        [
            (tail(v - low) if y == low else tail(high - v) if y == high else mass.get(abs(y - v), Decimal(0))) / whole
            for y in range(low, high + 1)
        ]
        for v in values
    ]


def staircase(table: Table, values: list[int]) -> list[list[Decimal]]:
    """All integers; of those that are told apart by nothing but how often they come one each, with the mass of all."""
    width, top = table["sensitivity"], table["top"]
    rest = -dec(read(table["epsilon"]))
    b = rest.exp()
    less = 1 - b
    first = less / (2 * top + 2 * b * (width - top) - less)
    low, high = ends({}, values)

    def p(k: int) -> Decimal:
        return first * b ** ((abs(k) - top) // width + 1)

    return [
        [p(y - v) / (less if y <= low or y >= high else 1) for y in range(low - width + 1, high + width)]
        if low < high
        else [Decimal(1)]
        for v in values
    ]


def exponential(table: Table, values: list[int]) -> list[list[Decimal]]:
    rate = dec(read(table["epsilon"]) / (2 * read(table.get("sensitivity", 1))))
    low, high = ends(table, values)
    found = []
    for v in values:
        row = [(-rate * abs(y - v)).exp() for y in range(low, high + 1)]
        found.append([entry / sum(row) for entry in row])
    return found


def real(kind: str, places: list[float]) -> np.ndarray:
    """Densities times lengths at the nodes of a quadrature, in doubles; beyond the ends of Laplace noise all is one output."""
    z = np.array(places)
    reach = 0.0 if kind == "laplace" else 12.0
    cuts = np.unique([*z, z.min() - reach, z.max() + reach])
    pieces = [
        (a + (b - a) * k / n, a + (b - a) * (k + 1) / n)
        for a, b in itertools.pairwise(cuts)
        for n in [math.ceil((b - a) / 0.5)]
        for k in range(n)
    ]
    nodes = np.array([(a + b) / 2 + (b - a) / 2 * NODES for a, b in pieces]).ravel()
    lengths = np.array([(b - a) / 2 * WEIGHTS for a, b in pieces]).ravel()
    away = np.abs(nodes - z[:, None])
    if kind == "gaussian":
        return np.exp(-(away**2) / 2) / math.sqrt(2 * math.pi) * lengths
    tails = [np.exp(-np.abs(z - end))[:, None] / 2 for end in (z.min(), z.max())]
    return np.hstack([tails[0], np.exp(-away) / 2 * lengths, tails[1]])


def subset_selection(e: Any, table: Table, count: int) -> list[list[Any]]:
    size = table["size"]
    weight = 1 / (math.comb(count - 1, size - 1) * e + math.comb(count - 1, size))
    sets = list(itertools.combinations(range(count), size))
    return [[e * weight if k in chosen else weight for chosen in sets] for k in range(count)]


def optimized_unary_encoding(e: Any, table: Table, count: int) -> list[list[Any]]:
    if 2**count > MOST_OUTPUTS:
        raise TooLargeError("outputs")
    other = 1 / (e + 1)

    def bit(k: int, j: int, y: int) -> Any:
        one = type(other)(1) / 2 if j == k else other
        return one if y >> j & 1 else 1 - one

    return [[math.prod(bit(k, j, y) for j in range(count)) for y in range(2**count)] for k in range(count)]


def local_hashing(e: Any, table: Table, count: int) -> list[list[Any]]:
    g = table["buckets"]
    if g ** (count + 1) > MOST_OUTPUTS:
        raise TooLargeError("outputs")
    other = 1 / ((e + g - 1) * g**count)
    outputs = [(h, b) for h in itertools.product(range(g), repeat=count) for b in range(g)]
    return [[e * other if h[k] == b else other for h, b in outputs] for k in range(count)]


def hadamard_response(e: Any, table: Table, count: int) -> list[list[Any]]:
    size = 1
    while size <= count:
        size *= 2
    other = Fraction(2, size)

    def p(k: int, y: int) -> Any:
        even = ((k + 1) & y).bit_count() % 2 == 0
        return (e if even else 1) / (e + 1) * (other if isinstance(e, Fraction) else dec(other))

    return [[p(k, y) for y in range(size)] for k in range(count)]


REPORTS = {one.__name__: one for one in (subset_selection, optimized_unary_encoding, local_hashing, hadamard_response)}
NOISE = {one.__name__: one for one in (geometric, discrete_laplace, discrete_gaussian, staircase, exponential)}
