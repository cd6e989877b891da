"""Small models of every kind, drawn: all parts that the shelves have, alone and together, and numbers that are extreme.

A model is drawn as the tables of its file. `KINDS` is what there is, from the shelves; `drawn` makes a model that has one of them.
Some of what is drawn `load` refuses (a query that does not go with a mechanism, a law that is not in a class): that is drawn again,
and counted.

    PYTHONPATH=tests/checker/forgery python tests/every_kind.py 500  # what is wrong, counts by kind, what took longest
"""

from __future__ import annotations

import math
import random
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

import dalenius as dl
from constraint_truth import inline
from dalenius.model.adversaries import ADVERSARIES, EntropyAtLeast
from dalenius.model.constraints import CONSTRAINTS
from dalenius.model.distortions import DISTORTIONS
from dalenius.model.laws import LAWS
from dalenius.model.mechanism_classes import MECHANISM_CLASSES
from dalenius.model.mechanisms import MECHANISMS
from dalenius.model.mechanisms.independent_releases import PARTS
from dalenius.model.model_file import PROBLEMS
from dalenius.model.objectives import OBJECTIVES, TERMS
from dalenius.model.privacy import NOTIONS
from dalenius.model.queries import QUERIES, AdditiveQuery
from dalenius.model.queries.joint import PARTS as JOINED
from dalenius.model.secret import FUNCTIONS
from dalenius.model.shelf import read_shelved

Table = dict[str, Any]
Maker = Callable[["Draw"], Table]

SHELVES: dict[str, Mapping[str, Any]] = {
    "problem": {problem.kind: problem for problem in PROBLEMS.values()},
    "query": QUERIES,
    "queries": JOINED,
    "mechanism": MECHANISMS,
    "parts": PARTS,
    "class": MECHANISM_CLASSES,
    "adversary": {**ADVERSARIES, EntropyAtLeast.kind: EntropyAtLeast},
    "distortion": DISTORTIONS,
    "law": LAWS,
    "privacy": NOTIONS,
    "constraints": CONSTRAINTS,
    "combine": OBJECTIVES,
    "terms": TERMS,
    "of": FUNCTIONS,
    "given": FUNCTIONS,
}
KINDS = [(shelf, kind) for shelf, kinds in SHELVES.items() for kind in kinds]
SIZES = [[2], [3], [5], [2, 2], [2, 2], [2, 2, 2], [3, 3], [2, 3], [1, 2], [3, 1], [2] * 4, [3] * 3, [4, 4]]
LARGE = [[2] * 12, [3] * 8, [2] * 50, [16], [16, 16]]
EPSILONS = ["0.1", "1", "2.5", "1/3", "0.7", "3", "1e-17", "40", "0", "1e-40", "300"]
AMOUNTS = ["1", "0.3", "0.5 bits", "1/3", "log 2", "log 9/7", "2", "1e-17", "40", "0", "log 1", "1e-40"]
PROBABILITIES = ["0.1", "1/3", "0.25", "0.01", "0.5", "0", "1", "1e-40", "0.9999999999999999"]
ENTROPIES = ["0.5 max", "0.8 max", "0.3", "0.5 bits", "0.7 max", 0, "1e-17 max", "0.9999999 max", "1 max"]
LIMITS = ["0.05", "0.2", "0.1", "0.3", "0.5", "0", "1e-17", "1e-40", "5"]
MOST_FULL = 9  # inputs of a design whose mechanisms look at all of the data
SCALES = ["1", "0.5", "3", "10", "1/100", "1000"]


@dataclass
class Draw:
    """A model that is being drawn: what its parts must fit to, and the kind that it must have."""

    rng: random.Random
    wanted: tuple[str, str]
    alphabets: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)  # of the query
    outputs: int = 0
    columns: int = 0  # inputs of a design's mechanisms
    problem: str = ""
    query: Table = field(default_factory=dict)

    @property
    def size(self) -> int:
        return math.prod(self.alphabets)

    @property
    def inputs(self) -> int:
        return len(self.values)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def number(self, listed: list[Any]) -> Any:
        """One of these; a third of the time one of the last, which are extreme."""
        half = len(listed) // 2
        return self.rng.choice(listed[half:] if self.chance(1 / 3) else listed[: half + 1])

    def law(self, length: int) -> list[str]:
        """A law: even, sure, with zeros, with a probability of 1e-40, or any."""
        self.need_small(length)
        shape = self.rng.random()
        if shape < 0.08:
            at = self.rng.randrange(length)
            return [str(int(k == at)) for k in range(length)]
        if shape < 0.16:
            return [str(Fraction(1, length))] * length
        if shape < 0.24 and length > 1:
            return ["1e-40", *[str((1 - Fraction(1, 10**40)) / (length - 1))] * (length - 1)]
        weights = [
            0 if self.chance(0.15) else self.rng.randint(1, self.rng.choice([3, 10, 1000])) for _ in range(length)
        ]
        weights = weights if sum(weights) else [1] * length
        return [str(Fraction(weight, sum(weights))) for weight in weights]

    @staticmethod
    def need_small(length: int) -> None:
        """Lists are written out: longer ones are drawn again."""
        if length > 100:
            raise dl.errors.InputError("drawn: a list too long to write out")

    def laws(self, length: int, most: int = 3) -> list[list[str]]:
        return [self.law(length) for _ in range(self.rng.randint(1, most))]

    def joint(self, rows: int, columns: int) -> list[list[str]]:
        law = self.law(rows * columns)
        return [law[row * columns : (row + 1) * columns] for row in range(rows)]

    def rows(self, count: int) -> list[list[str]]:
        self.need_small(count)
        width = self.rng.randint(1, 4) if self.chance(0.2) else self.rng.randint(2, 3)
        rows = [self.law(width) for _ in range(count)]
        return [rows[0]] * count if self.chance(0.05) else rows

    def of(self, shelf: str, among: Sequence[str] = ()) -> Table:
        """A table of a shelf: of the kind that is wanted, if it is there."""
        kind = self.wanted[1] if shelf == self.wanted[0] else self.rng.choice([*(among or MAKERS[shelf])])
        return {"kind": kind, **MAKERS[shelf][kind](self)}

    def several(self, shelf: str, most: int) -> list[Table]:
        """Some of a shelf; the kind that is wanted is the first."""
        more = [self.rng.choice([*MAKERS[shelf]]) for _ in range(self.rng.randint(0, most - 1))]
        return [self.of(shelf), *({"kind": kind, **MAKERS[shelf][kind](self)} for kind in more)]

    def values_of(self, query: Table) -> list[int]:
        """The query's values, ascending; of one that has vectors their numbers."""
        shelved, records = read_shelved(QUERIES, query, "[query]"), dl.Records(alphabets=self.alphabets)
        if not isinstance(shelved, AdditiveQuery):
            self.need_small(self.size)
        found: list[int] = shelved.values(records).tolist()
        return found


# Queries ------------------------------------------------------------------------------------------------------------------------


def count(draw: Draw) -> Table:
    top = max(draw.alphabets)
    letters = sorted(draw.rng.sample(range(top), draw.rng.randint(1, top)))
    return {"letters": letters} if draw.chance(0.4) or top == 1 else {}


def weighted(draw: Draw) -> Table:
    shape, low, high = draw.rng.random(), -draw.rng.randint(0, 3), draw.rng.randint(1, 5)
    if shape < 0.3:
        return {}
    if shape < 0.6:
        return {"weights": [draw.rng.randint(low, high) for _ in range(max(draw.alphabets))]}
    return {"weights": [[draw.rng.randint(low, high) for _ in range(letters)] for letters in draw.alphabets]}


def tabled(draw: Draw) -> Table:
    draw.need_small(draw.size)
    top = draw.rng.randint(1, 4)
    return {"values": [draw.rng.randint(-1, top) for _ in range(draw.size)]}


def letters(draw: Draw) -> Table:
    records = sorted(draw.rng.sample(range(len(draw.alphabets)), draw.rng.randint(1, len(draw.alphabets))))
    told = {draw.rng.choice(["records", "others"]): records}
    most = max((size for i, size in enumerate(draw.alphabets) if (i in records) == ("records" in told)), default=1)
    if draw.chance(0.3) and most > 1:
        cut = draw.rng.randint(1, most - 1)
        told |= {"groups": [[*range(cut)], [*range(cut, most)]]}
    return told


# Mechanisms ---------------------------------------------------------------------------------------------------------------------


def matrix(draw: Draw) -> Table:
    if draw.chance(0.2) and draw.size <= 64:
        return {"rows": draw.rows(draw.size), "inputs": "dataset"}
    return {"rows": draw.rows(draw.inputs)}


def ranged(draw: Draw, share: float) -> Table:
    """A range that has every value, where the values are numbers."""
    if not draw.chance(share) or not all(isinstance(value, int) for value in draw.values):
        return {}
    low, high = min(draw.values), max(draw.values)
    return {"range": [low - draw.rng.choice([0, 0, 1, 3]), high + draw.rng.choice([0, 1, 5]) + (low == high)]}


def staircase(draw: Draw) -> Table:
    sensitivity = draw.rng.randint(1, 3)
    top = draw.rng.randint(1, sensitivity)
    return {"epsilon": draw.number(EPSILONS), "sensitivity": sensitivity, "top": top}


def exponential(draw: Draw) -> Table:
    more = {"sensitivity": draw.rng.choice(["1", "2", "1/3"])} if draw.chance(0.3) else {}
    return {"epsilon": draw.number(EPSILONS), **ranged(draw, 0.3), **more}


def randomized_count(draw: Draw) -> Table:
    return {"epsilon": draw.number(EPSILONS)} if draw.chance(0.5) else {"flip": draw.number(PROBABILITIES)}


def randomized_histogram(draw: Draw) -> Table:
    others = {"others": [draw.rng.randint(0, 3) for _ in range(max(draw.alphabets))]} if draw.chance(0.3) else {}
    return {**randomized_count(draw), **others}


def part(draw: Draw, shelf: str = "parts") -> Table:
    """A release of the query; of a joint one of one of its queries."""
    if draw.query["kind"] != "joint":
        return draw.of(shelf)
    whole, on = draw.values, draw.rng.randrange(len(draw.query["queries"]))
    draw.values = draw.values_of(draw.query["queries"][on])
    table = draw.of(shelf)
    draw.values = whole
    return {**table, "on": on} if on else table


CELLS = ("discrete_laplace", "geometric", "discrete_gaussian", "staircase")


def margins(draw: Draw) -> Table:
    """Tables by attributes whose combinations are the letters, mostly."""
    letters = max(draw.alphabets[0], 2) if draw.chance(0.9) else 6
    first = next((d for d in range(2, letters) if letters % d == 0), letters)
    attributes = [first, letters // first] if first < letters else [letters]
    known = [[0], [1], [0, 1]] if len(attributes) > 1 else [[0]]
    return {"attributes": attributes, "tables": [draw.rng.choice(known) for _ in range(draw.rng.randint(1, 3))]}


def several_releases(draw: Draw) -> Table:
    if draw.query["kind"] == "margins":
        kinds = [draw.rng.choice(CELLS) for _ in draw.query["tables"]]
        noises = [{"kind": kind, **MAKERS["mechanism"][kind](draw)} for kind in kinds]
        return {"parts": [{**noise, **({"on": t} if t else {})} for t, noise in enumerate(noises)]}
    parts = [part(draw) for _ in range(draw.rng.randint(1, 2 + (draw.query["kind"] == "joint")))]
    for one in parts:
        one |= {"times": draw.rng.randint(2, 3)} if draw.chance(0.2) else {}
    return {"parts": parts}


def stage(draw: Draw, depth: int) -> Table:
    """A stage, and for some of its outputs a further one."""
    table = part(draw)
    on = table.pop("on", 0)
    queries = draw.query.get("queries") if draw.query["kind"] == "joint" else None
    values = draw.values if queries is None else draw.values_of(queries[on])
    outputs = read_shelved(PARTS, table, "[mechanism]").channel(np.array(values)).shape[1]
    draw.need_small(outputs)
    then = [stage(draw, depth + 1) if draw.chance(1 / outputs) else {} for _ in range(outputs)] if depth < 2 else []
    return {"mechanism": table, **({"on": on} if on else {}), **({"then": then} if any(then) else {})}


def protocol(draw: Draw) -> Table:
    return {"epsilon": draw.number(AMOUNTS)}


# Adversaries --------------------------------------------------------------------------------------------------------------------


def independent_blocks(draw: Draw) -> Table:
    records = len(draw.alphabets)
    first = draw.rng.randint(1, records)
    sizes = {"size": first} if draw.chance(0.6) or first == records else {"sizes": [first, records - first]}
    return {**sizes, **({"entropy_at_least": draw.number(ENTROPIES)} if draw.chance(0.4) else {})}


def between(draw: Draw, least: str, most: str) -> list[str]:
    """A range of probabilities; a point, sometimes."""
    ends = [*map(Fraction, (least, most)), *(Fraction(draw.rng.randint(1, 99), 100) for _ in range(2))]
    low, high = sorted(draw.rng.sample(ends, 2))
    return [str(low), str(low if draw.chance(0.2) else high)]


def of_a_chain(draw: Draw) -> Table:
    record = {"record": draw.rng.randrange(len(draw.alphabets))} if draw.chance(0.3) else {}
    return {**({"start": draw.rng.choice(["any", "stationary"])} if draw.chance(0.7) else {}), **record}


def markov_chain(draw: Draw) -> Table:
    ranges = {
        way: between(draw, *draw.rng.choice([("1e-40", "1e-6"), ("0.2", "0.3"), ("0.9", "0.9999999999999999")]))
        for way in ("to_one", "to_zero")
    }
    return {**ranges, **of_a_chain(draw)}


def finite_chain(draw: Draw) -> Table:
    letters = max(draw.alphabets)

    def row() -> list[Any]:
        law, wide = [Fraction(p) for p in draw.law(letters)], draw.chance(0.6)
        room = Fraction(draw.rng.choice(["0.1", "0.02", "1e-40"]))
        return [[str(max(p - room, Fraction(0))), str(min(p + room, Fraction(1)))] if wide else str(p) for p in law]

    start = {"start": row()} if draw.chance(0.2) else {}
    return {"transitions": [row() for _ in range(letters)], **of_a_chain(draw), **start}


def law_letters(draw: Draw) -> int:
    """How long the lists of a class of laws are: about a secret one for each dataset."""
    return draw.size if draw.problem == "secret_leakage" else max(draw.alphabets)


def box_priors(draw: Draw) -> Table:
    law, room = (
        [Fraction(p) for p in draw.law(law_letters(draw))],
        Fraction(draw.rng.choice(["0", "0.05", "0.3", "1e-40"])),
    )
    return {"low": [str(max(p - room, Fraction(0))) for p in law], "high": [str(p + room) for p in law]}


def moment_priors(draw: Draw) -> Table:
    law = draw.law(law_letters(draw))
    values = [Fraction(draw.rng.choice(["0", "1", "-2", "1/3", "1e-40", "1000"])) for _ in law]
    mean = sum(value * Fraction(p) for value, p in zip(values, law, strict=True))
    room = Fraction(draw.rng.choice(["0", "0.05", "1", "1e-40"]))
    return {"values": [str(value) for value in values], "low": str(mean - room), "high": str(mean + room)}


# Designs ------------------------------------------------------------------------------------------------------------------------


def numbered(draw: Draw) -> Table:
    """Which numbers outputs stand for, if others than the values."""
    outputs = sorted(draw.rng.sample(range(-2, 6 + draw.outputs), draw.outputs))
    return {"outputs": [str(Fraction(one, 2)) for one in outputs]}


def of_a_matrix(draw: Draw) -> Table:
    rows = [
        [draw.number(["0", "1", "2", "1/3", "0.5", "1e-40", "1000"]) for _ in range(draw.outputs)]
        for _ in range(draw.inputs)
    ]
    return {"rows": rows, **(numbered(draw) if draw.chance(0.4) else {})}


def pointwise_maximal_leakage(draw: Draw) -> Table:
    priors = (
        {"priors": draw.laws(draw.columns, 1 if draw.problem == "max_information" else 2)} if draw.chance(0.3) else {}
    )
    return {"epsilon": draw.number(AMOUNTS), **priors}


# Constraints --------------------------------------------------------------------------------------------------------------------


def entry(draw: Draw) -> list[int]:
    return [draw.rng.randrange(draw.columns), draw.rng.randrange(draw.outputs)]


def terms(draw: Draw, most: int = 3) -> list[list[Any]]:
    return [[*entry(draw), draw.rng.choice(["1", "-1", "2", "1/3"])] for _ in range(draw.rng.randint(1, most))]


def linear(draw: Draw) -> Table:
    side = "at_most" if draw.chance(0.8) else "equals"
    return {"terms": terms(draw), side: draw.rng.choice(["0.5", "0.2", "1", "0", "1e-40"])}


def zero(draw: Draw) -> Table:
    entries = [entry(draw) for _ in range(draw.rng.randint(1, 2))]
    return {"entries": [one for k, one in enumerate(entries) if one not in entries[:k]]}


def error(draw: Draw) -> Table:
    return {
        "at_most": draw.number(["0.5", "1", "0.2", "0", "1e-17"]),
        **({"groups": [[0]]} if draw.chance(0.3) else {}),
        **other(draw),
    }


def other(draw: Draw) -> Table:
    """Another distortion than the model's, if any."""
    return {"distortion": draw.of("distortion")} if draw.chance(0.3) else {}


def about_a_secret(draw: Draw, priors: bool = True) -> Table:
    """The secret, if it is another one than the input."""
    if draw.chance(0.5):
        return {"secret": [draw.joint(draw.rng.randint(1, 3), draw.columns) for _ in range(draw.rng.randint(1, 2))]}
    return {"priors": draw.laws(draw.columns, 2)} if priors and draw.chance(0.4) else {}


def local_dp_between(draw: Draw) -> Table:
    pairs = (
        {"pairs": [[0, draw.columns - 1]]}
        if draw.chance(0.3) and draw.columns > 1
        else about_a_secret(draw, priors=False)
    )
    return {"epsilon": draw.number(AMOUNTS), **pairs}


def ratios(draw: Draw) -> Table:
    return {"epsilon": draw.number(AMOUNTS), **about_a_secret(draw)}


def information_privacy(draw: Draw) -> Table:
    exempt = {"exempt": [entry(draw)]} if draw.chance(0.6) else {}
    return {
        **ratios(draw),
        "delta": draw.number(PROBABILITIES),
        **exempt,
        **({"strong": True} if draw.chance(0.5) else {}),
    }


def cone(draw: Draw) -> Table:
    norm = [{"terms": terms(draw), "constant": draw.rng.choice(["0", "-1/2"])} for _ in range(draw.rng.randint(1, 2))]
    return {
        "norm": norm,
        "constant": draw.rng.choice(["1", "0.5", "2"]),
        **({"terms": terms(draw)} if draw.chance(0.3) else {}),
    }


def mutual_information(draw: Draw) -> Table:
    return {"at_most": draw.number(LIMITS), **about_a_secret(draw)}


def weight(draw: Draw) -> Table:
    return {"weight": draw.number(["2", "1/10", "1e-17", "1000"])} if draw.chance(0.6) else {}


# Problems -----------------------------------------------------------------------------------------------------------------------


def adversary(draw: Draw) -> Table:
    table = draw.of("adversary")
    if table["kind"] == "entropy_at_least":
        del table["kind"]
    return table


def secret(draw: Draw) -> Table:
    """A secret, and what is given besides."""
    of = draw.of("of") if draw.chance(0.8) else draw.several("of", 2)
    return {"of": of, **({"given": draw.of("given")} if draw.chance(0.4) or draw.wanted[0] == "given" else {})}


def released(draw: Draw) -> Table:
    among = ["several_releases"] if draw.wanted[0] == "parts" else MECHANISMS_WITH.get(draw.query["kind"], ())
    return {"mechanism": draw.of("mechanism", among), "adversary": adversary(draw)}


def design(draw: Draw) -> Table:
    """What both kinds of designs have."""
    word = draw.of("class")["kind"]
    draw.columns = draw.size if word == "full" else draw.inputs
    if word == "full" and draw.columns > MOST_FULL:
        raise dl.errors.InputError("drawn: a program that takes a solver long, however little time it is given here")
    draw.need_small(draw.columns)
    draw.outputs = draw.inputs if word == "additive" or draw.chance(0.7) else draw.rng.randint(1, 4)
    table = {"mechanism": {"class": word}, "distortion": draw.of("distortion"), "law": draw.of("law")}
    if draw.wanted[0] == "constraints" or draw.chance(0.2):
        table["constraints"] = draw.several("constraints", 2)
    if draw.wanted[0] in ("combine", "terms") or draw.chance(0.1):
        combined = draw.of("combine")
        table["objective"] = {"combine": combined.pop("kind"), **combined}
    return table


def min_leakage(draw: Draw) -> Table:
    most = draw.number(["0.1", "0.3", "0.5", "0.25", "0", "1e-17", "1e-40", "2"])
    return {"max_distortion": most, **design(draw), "adversary": adversary(draw)}


def min_distortion(draw: Draw) -> Table:
    table = design(draw)
    if draw.wanted[0] == "privacy" or (draw.wanted[0] != "adversary" and draw.chance(0.3)):
        return {**table, "privacy": draw.of("privacy")}
    if "constraints" in table and draw.wanted[0] != "adversary" and draw.chance(0.3):
        return table
    return {
        "max_leakage": draw.number(["0.1", "0.3 bits", "0.05", "0.5", "0", "1e-17", "1e-40", "5"]),
        **table,
        "adversary": adversary(draw),
    }


LIMITED = ("mutual_information", "kl", "total_variation", "chi_square", "measure")


def max_information(draw: Draw) -> Table:
    draw.columns = draw.inputs
    useful = {"useful": {"joint": draw.joint(draw.rng.randint(1, 3), draw.inputs)}} if draw.chance(0.6) else {}
    limits = draw.wanted[0] == "constraints" or (draw.wanted[0] != "privacy" and draw.chance(0.3))
    kept = {"constraints": [draw.of("constraints", LIMITED)]} if limits else {"privacy": draw.of("privacy")}
    asked = {"law": draw.of("law"), **kept, **useful}
    lines = [["2", "-2"], ["1/2", "-1/2"], ["-1", "1"]]
    named = ["mutual_information", "chi_square", "total_variation", "guessing", lines]
    return {**asked, "measure": draw.rng.choice(named)} if draw.chance(0.4) else asked


MAKERS: dict[str, dict[str, Maker]] = {
    "query": {
        **dict.fromkeys(("parity", "histogram", "identity"), lambda draw: {}),
        "modular_sum": lambda draw: {"modulus": draw.rng.randint(2, 5)},
        "count": count,
        "sum": weighted,
        "threshold": lambda draw: {"at": draw.rng.randint(0, sum(draw.alphabets) - len(draw.alphabets) + 1)},
        "table": tabled,
        "margins": margins,
        "joint": lambda draw: (
            {"queries": draw.several("queries", 3)}
            if draw.chance(0.2)
            else {"queries": [draw.of("queries"), draw.of("queries")]}
        ),
    },
    "of": {
        "letters": letters,
    },
    "mechanism": {
        "matrix": matrix,
        "symmetric": lambda draw: {
            "flip": draw.number(PROBABILITIES),
            **({"k": draw.inputs} if draw.chance(0.2) else {}),
        },
        **dict.fromkeys(("randomized_response", "laplace_threshold"), lambda draw: {"epsilon": draw.number(EPSILONS)}),
        "geometric": lambda draw: {"epsilon": draw.number(EPSILONS), **ranged(draw, 0.3)},
        "discrete_laplace": lambda draw: (
            {"epsilon": draw.number(EPSILONS)} if draw.chance(0.5) else {"scale": draw.number(SCALES)}
        ),
        **dict.fromkeys(("gaussian", "laplace"), lambda draw: {"scale": draw.number(SCALES)}),
        "discrete_gaussian": lambda draw: {"scale": draw.number(SCALES), **ranged(draw, 0.6)},
        "staircase": staircase,
        "exponential": exponential,
        "randomized_count": randomized_count,
        "randomized_histogram": randomized_histogram,
        "several_releases": several_releases,
        "adaptive": lambda draw: stage(draw, 0),
        "optimized_unary_encoding": protocol,
        "hadamard_response": protocol,
        "subset_selection": lambda draw: {**protocol(draw), "size": draw.rng.randint(1, max(draw.inputs - 1, 1))},
        "local_hashing": lambda draw: {**protocol(draw), "buckets": draw.rng.randint(2, 3)},
    },
    "adversary": {
        "entropy_at_least": lambda draw: {"entropy_at_least": draw.number(ENTROPIES)},
        "product_priors": lambda draw: {},
        "prior_set": lambda draw: {"priors": draw.laws(draw.size)},
        "independent_blocks": independent_blocks,
        "markov_chain": markov_chain,
        "finite_chain": finite_chain,
        "floor_priors": lambda draw: {
            "floor": draw.rng.choice(["0", "1e-40", "0.01", "0.1", str(Fraction(1, law_letters(draw)))])
        },
        "box_priors": box_priors,
        "polytope_priors": lambda draw: {"vertices": draw.laws(law_letters(draw), 4)},
        "moment_priors": moment_priors,
        **dict.fromkeys(
            ("l1_ball_priors", "kl_ball_priors", "chi_square_ball_priors"),
            lambda draw: {
                "center": draw.law(law_letters(draw)),
                "radius": draw.number(["0.1", "0.5", "0.02", "0", "1e-17", "1e-40", "3"]),
            },
        ),
    },
    "distortion": {
        "hamming": lambda draw: {},
        **dict.fromkeys(
            ("absolute", "squared"),
            lambda draw: numbered(draw) if draw.outputs != draw.inputs or draw.chance(0.2) else {},
        ),
        "matrix": of_a_matrix,
    },
    "law": {
        "uniform": lambda draw: {},
        "iid": lambda draw: {"probabilities": draw.law(max(draw.alphabets))},
    },
    "privacy": {
        "local_dp": lambda draw: {"epsilon": draw.number(AMOUNTS)},
        "pointwise_maximal_leakage": pointwise_maximal_leakage,
    },
    "constraints": {
        "linear": linear,
        "zero": zero,
        "band": lambda draw: {"width": draw.rng.choice(["1", "0", "2", "1/2"])},
        "unbiased": lambda draw: {"tolerance": draw.rng.choice(["0.3", "1", "1e-17"])} if draw.chance(0.7) else {},
        "error": error,
        "distortion": lambda draw: {
            "at_most": draw.number(["0.5", "1", "0.2", "0", "1e-17"]),
            "distortion": draw.of("distortion"),
        },
        "monotone": lambda draw: {},
        "local_dp": local_dp_between,
        "pointwise_maximal_leakage": ratios,
        "local_information_privacy": ratios,
        "information_privacy": information_privacy,
        "cone": cone,
        "leakage": lambda draw: {"adversary": adversary(draw), "at_most": draw.number(LIMITS)},
        "secret_leakage": lambda draw: {
            **secret(draw),
            "at_most": draw.number(["0.1", "0.3 bits", "0.05", "1e-17", "1e-3", "5"]),
        },
        "mutual_information": mutual_information,
        **dict.fromkeys(
            ("kl", "total_variation", "chi_square"),
            lambda draw: {**mutual_information(draw), **({"strong": True} if draw.chance(0.5) else {})},
        ),
        "measure": lambda draw: {
            "measure": draw.rng.choice(["guessing", [["1", "-3/2"], ["0", "0"]], [["2", "-2"], ["-1", "1"]]]),
            **mutual_information(draw),
        },
        "maximal_correlation": lambda draw: {
            draw.rng.choice(["at_most", "square_at_most"]): draw.number(LIMITS),
            **about_a_secret(draw),
        },
        **dict.fromkeys(
            ("local_dp_delta", "local_information_privacy_delta"),
            lambda draw: {**ratios(draw), "at_most": draw.number(LIMITS)},
        ),
    },
    "terms": {
        "leakage": lambda draw: {"adversary": adversary(draw), **weight(draw)},
        "distortion": lambda draw: {"distortion": draw.of("distortion"), **weight(draw)},
    },
    "combine": {
        **dict.fromkeys(("sum", "max"), lambda draw: {"terms": draw.several("terms", 2), **weight(draw)}),
    },
    "problem": {
        "maximal_leakage": lambda draw: released(draw),
        "secret_leakage": lambda draw: {
            **released(draw),
            "secrets": [secret(draw) for _ in range(draw.rng.randint(1, 2))],
        },
        "min_leakage": min_leakage,
        "min_distortion": min_distortion,
        "max_information": max_information,
    },
    "class": {
        **dict.fromkeys(("oblivious", "full", "additive"), lambda draw: {}),
    },
}
MAKERS["queries"] = {kind: maker for kind, maker in MAKERS["query"].items() if kind in JOINED}
MAKERS["parts"] = {kind: maker for kind, maker in MAKERS["mechanism"].items() if kind in PARTS}
MAKERS["of"] = {kind: maker for kind, maker in MAKERS["query"].items() if kind in FUNCTIONS} | MAKERS["of"]
MAKERS["given"] = MAKERS["of"]

ABOUT = {  # which problems have a shelf; all have one that is not here
    **dict.fromkeys(("queries", "mechanism", "parts"), ("maximal_leakage", "secret_leakage")),
    **dict.fromkeys(("class", "distortion", "constraints", "combine", "terms"), ("min_leakage", "min_distortion")),
    "adversary": ("maximal_leakage", "maximal_leakage", "secret_leakage", "min_leakage", "min_distortion"),
    "law": ("min_leakage", "min_distortion", "max_information"),
    "privacy": ("min_distortion", "max_information"),
    "measure": ("max_information",),  # of constraints
    **dict.fromkeys(("of", "given"), ("secret_leakage", "secret_leakage", "min_distortion")),
}

SINGLE = [kind for kind in QUERIES if kind not in ("histogram", "margins", "joint")]  # others are for audits of records
QUERIES_WITH = {
    ("mechanism", "randomized_histogram"): ["histogram"],
    **{("queries", kind): ["joint"] for kind in JOINED},
}
MECHANISMS_WITH = {
    "histogram": [*CELLS, "randomized_histogram"],
    "margins": [*CELLS, "several_releases"],
    "joint": ["several_releases", "several_releases", "adaptive", "matrix", "symmetric", "randomized_response"],
}


def tables(rng: random.Random, wanted: tuple[str, str]) -> Table:
    """The tables of a model, which `load` need not take, and which need not have what is wanted."""
    shelf, kind = wanted
    sizes = list(rng.choice(LARGE if rng.random() < 0.03 else SIZES))
    draw = Draw(
        rng,
        wanted,
        sizes,
        problem=kind
        if shelf == "problem"
        else rng.choice(ABOUT.get(kind) or ABOUT.get(shelf) or [*SHELVES["problem"]]),
    )
    draw.query = draw.of("query", QUERIES_WITH.get(wanted) or (() if draw.problem == "maximal_leakage" else SINGLE))
    draw.values = draw.values_of(draw.query)
    parts = MAKERS["problem"][draw.problem](draw)
    return {"problem": draw.problem, "records": {"alphabets": sizes}, "query": draw.query, **parts}


def text(tables: Table) -> str:
    """The model file."""
    return "".join(f"{key} = {inline(value)}\n" for key, value in tables.items())


def kinds(table: Any, key: str = "") -> set[tuple[str, str]]:
    """What there is of every shelf."""
    if isinstance(table, list):
        return set().union(*(kinds(one, key) for one in table))
    if not isinstance(table, dict):
        return {(key, table)} if key in ("problem", "class", "combine") else set()
    kind = table.get("kind", "entropy_at_least" if key == "adversary" else None)
    found = set().union(*(kinds(value, name) for name, value in table.items()))
    return found | ({(key, kind)} if kind else set())


@dataclass
class Drawn:
    """A model, and how many were refused on the way, by reason."""

    text: str
    kinds: set[tuple[str, str]]
    problem: dl.problems.Problem
    refused: Counter[str]


def drawn(seed: int, wanted: tuple[str, str], most: int = 400) -> Drawn:
    """A model that has what is wanted, and that `load` takes.

    Raises
    ------
    LookupError
        If so many are refused.
    """
    rng, refused = random.Random(f"{seed} {wanted}"), Counter[str]()
    while refused.total() < most:
        try:
            table = tables(rng, wanted)
            found = kinds(table)
            if wanted not in found:
                raise dl.errors.InputError("drawn: without what is wanted")
            return Drawn(text(table), found, dl.loads(text(table)), refused)
        except dl.errors.InputError as error:
            refused[re.sub(r"[0-9][0-9./e+-]*", "#", str(error))[:100]] += 1
    raise LookupError(f"no model of {wanted} was taken: {refused.most_common(3)}")


SEEN = 1e-15  # of the largest distortion


HARDLY_ANY = """
problem = "min_distortion"
max_leakage = "1e-30"
records = { count = 1, alphabet = 2 }
query = { kind = "identity" }
mechanism = { class = "oblivious" }
distortion = { kind = "hamming" }
law = { kind = "uniform" }
adversary = { kind = "floor_priors", floor = "0.1" }
constraints = [{ kind = "linear", terms = [[0, 0, "1"], [1, 0, "-1"]], at_most = "-1e-40" }]
"""  # no constant mechanism, half of the distortion that there may be, and neither a mechanism is proved nor that there is none


def faults(problem: dl.problems.Problem, time_limit: float = 1.0) -> list[str]:
    """What is wrong with the answer to a model."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = dl.solve(problem, time_limit=time_limit, gap=1e-4)
        except dl.errors.DaleniusError as error:
            return [f"no answer: {error}"]
    found = [f"warned: {warning.message}" for warning in warned]
    found += [f"refused: {one}" for one in result.refusals if not (one.rounding or one.limit)]
    if not 0.0 <= result.lower <= result.upper:
        found.append(f"no interval: {result}")
    found += [f"told: {moment}" for moment in result.trace if not (moment.lower >= 0.0 <= moment.upper)]
    return found if _has_unseen(problem) else found + lost(result)


def _has_unseen(problem: dl.problems.Problem) -> bool:
    """Whether doubles take a distortion of a design for 0 beside others.

    Of two whose budget is met by the least distortions alone, a search sees upper ends then that no mechanism attains: 0.32 where the
    exact rows leave nothing but log 2.
    """
    costs = problem.distortions.cost if isinstance(problem, dl.MinLeakage | dl.MinDistortion) else np.zeros(1)
    return bool((costs[costs > 0.0] < SEEN * costs.max()).any())


def lost(result: dl.answers.Result | dl.answers.DesignResult | dl.answers.SecretResult) -> list[str]:
    """Whether the search found much more than what is proved: of a design's moments those of audits and proofs are about less.

    Not where time was short: on a busy machine a proof is given up that takes seconds of it.
    """
    stages = ("proving",) if isinstance(result, dl.answers.DesignResult) else ()
    seen = [moment for moment in result.trace if moment.stage not in stages]
    fine = (dl.answers.Termination.INFEASIBLE, dl.answers.Termination.GAP_REACHED, dl.answers.Termination.TIME_LIMIT)
    if not seen or result.termination in fine:
        return []
    width = min(moment.upper for moment in seen) - max(moment.lower for moment in seen)
    proved = result.upper - result.lower
    return (
        [f"lost: {result}, and the search found {seen[-1]}"] if proved > 2 * width + 1e-9 * result.upper + 1e-12 else []
    )


def main(models: int) -> str:
    """Draw and solve so many: what is wrong with answers, how many there were of every kind, what was refused, and the slowest."""
    found, refused, slow, lines = Counter[tuple[str, str]](), Counter[str](), list[tuple[float, str]](), list[str]()
    for number in range(models):
        one = drawn(number // len(KINDS), KINDS[number % len(KINDS)])
        found.update(one.kinds)
        refused += one.refused
        started = time.process_time()
        lines += [f"{number}: {fault}\n{one.text}" for fault in faults(one.problem)]
        slow.append((time.process_time() - started, f"{number}: {KINDS[number % len(KINDS)]}"))
    lines.append(
        f"{models} models, answered in {sum(seconds for seconds, _ in slow) / 60:.1f} minutes of the processor"
    )
    for shelf, kinds in SHELVES.items():
        lines.append(f"{shelf:12}" + ", ".join(f"{kind} {found[shelf, kind]}" for kind in kinds))
    lines += ["drawn again:", *(f"{count:6} {reason}" for reason, count in refused.most_common(30))]
    lines += ["took longest:", *(f"{seconds:6.1f} s {name}" for seconds, name in sorted(slow)[:-10:-1])]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(main(int(sys.argv[1])) + "\n")
