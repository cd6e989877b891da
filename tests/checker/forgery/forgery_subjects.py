"""Models whose answer is known, with honest certificates to start a forgery from.

Three sources: models drawn here, with evidence written out in closed form, to fifty digits (no prover); the library under models/;
and, for whole campaigns, small drawn models that `dalenius.solve` proves. The answer of the latter two is what a closed form says,
and what their certificates say: a claim that contradicts an honest certificate is false, or that certificate is.
"""

import gzip
import hashlib
import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import class_truth
import constraint_truth
import forgery_truth as truth
from forgery_truth import SIXTY, Question, dec, exact

LIBRARY = Path(__file__).parents[3] / "models"
UNITS = {
    **dict.fromkeys(("maximal_leakage", "secret_leakage", "min_leakage", "max_information"), "nats"),
    "min_distortion": "distortion",
}
MARGIN = Fraction(1, 10**40)

Certificate = list[Any]  # the header, then the lines, as JSON values


@dataclass(eq=False)  # two may have one name
class Subject:
    """A model, between which numbers its answer lies, and certificates that are true."""

    name: str
    model: bytes
    question: Question
    low: Fraction
    high: Fraction
    parents: list[Certificate]
    feasible: bool = True
    resolved: bool = False

    @property
    def problem(self) -> str:
        """Which problem the model states."""
        return str(self.question.table["problem"])

    @property
    def small(self) -> bool:
        """Whether its datasets can be listed, and its channel written out."""
        return self.question.written and self.question.size <= truth.DATASETS


# A model as a file, and its digest ----------------------------------------------------------------------------------------------


def toml(table: dict[str, Any]) -> bytes:
    """A model file of plain tables."""
    plain = {
        key: value
        for key, value in table.items()
        if key not in ("constraints", "secrets") and not isinstance(value, dict)
    }
    written = constraint_truth.inline
    secrets = "".join(f"\n[[secrets]]\nof = {written(one['of'])}\n" for one in table.get("secrets", []))
    lines = [f"{key} = {json.dumps(value)}" for key, value in plain.items()]
    for name, rest in table.items():
        if isinstance(rest, dict):
            lines += ["", f"[{name}]", *(f"{key} = {written(value)}" for key, value in rest.items())]
    return ("\n".join(lines) + "\n" + constraint_truth.written(table.get("constraints", [])) + secrets).encode()


def digest(question: Question) -> str:
    """The digest of docs/model-format.md."""
    table = question.table
    defaults: dict[str, dict[str, Any]] = {
        "count": {"letters": ["1"]},
        "sum": {"weights": None},
        "symmetric": {"k": None},
        "randomized_response": {"k": None},
        "geometric": {"range": None},
        "exponential": {"range": None, "sensitivity": "1"},
        "matrix": {"inputs": "query"},
        "pointwise_maximal_leakage": {"priors": None},
        **{kind: {"record": None, "start": "stationary"} for kind in ("markov_chain", "finite_chain")},
    }
    normal: dict[str, Any] = {
        "problem": table["problem"],
        "records": [[str(size), str(len(list(run)))] for size, run in itertools.groupby(question.alphabets)],
        "query": numbers(table.get("query", {"kind": "identity"}), defaults),
        "mechanism": numbers(table["mechanism"], defaults),
    }
    if normal["mechanism"].get("kind") in truth.PROTOCOLS:
        text = str(table["mechanism"]["epsilon"])
        level = f"log {exact(text[4:])}" if text.startswith("log ") else in_unit(text)
        normal["mechanism"] |= {"epsilon": level, "k": None}
    if "adversary" in table:
        bound = table["adversary"].get("entropy_at_least")
        normal["adversary"] = (
            numbers(table["adversary"], defaults) if bound is None else {"entropy_at_least": in_unit(bound)}
        )
    if "law" in table:
        normal |= {"law": numbers(table["law"], {}), "distortion": numbers(table["distortion"], {"matrix": {}})}
    if "secrets" in table:
        letters = {"groups": None, "kind": "letters", "others": None}
        normal["secrets"] = [
            {"given": [], "of": [{**letters, "records": [str(i) for i in one["of"]["records"]]}]}
            for one in table["secrets"]
        ]
    if "max_distortion" in table:
        normal["max_distortion"] = str(exact(table["max_distortion"]))
    if "max_leakage" in table:
        normal["max_leakage"] = in_unit(table["max_leakage"])
    if "privacy" in table:
        normal["privacy"] = numbers({**table["privacy"], "epsilon": "x"}, defaults)
        text = str(table["privacy"]["epsilon"])
        normal["privacy"]["epsilon"] = f"log {exact(text[4:])}" if text.startswith("log ") else in_unit(text)
    if table.get("constraints"):
        normal["constraints"] = [constraint_truth.normal(one) for one in table["constraints"]]
    if "objective" in table:
        stated = table["objective"]
        terms = [{"weight": "1", **constraint_truth.normal(one)} for one in stated["terms"]]
        normal["objective"] = {
            "combine": stated["combine"],
            "weight": str(exact(stated.get("weight", 1))),
            "terms": terms,
        }
    return hashlib.sha256(json.dumps(normal, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def numbers(table: dict[str, Any], defaults: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A table in normal form."""

    def text(value: Any) -> Any:
        if isinstance(value, list):
            return [text(item) for item in value]
        return str(exact(value))

    words = ("kind", "class", "inputs", "epsilon", "start")
    full = {
        **defaults.get(table.get("kind", ""), {}),
        **{k: v if k in words and not number(v) else text(v) for k, v in table.items()},
    }
    if "letters" in full:
        full["letters"] = sorted(full["letters"], key=int)
    if isinstance(full.get("range"), str):
        full["range"] = ["0", full["range"]]
    return full


def number(value: Any) -> bool:
    """Whether a value of a model is one."""
    try:
        exact(value)
    except ValueError:
        return False
    return True


def in_unit(value: Any) -> str:
    """A number with its unit."""
    words = str(value).split(" ")
    return f"{exact(words[0])} {words[1] if len(words) > 1 else 'nats'}"


# Evidence in closed form --------------------------------------------------------------------------------------------------------


def digits(value: Decimal | Fraction) -> str:
    """A number at fifty digits."""
    value = value if isinstance(value, Decimal) else dec(value)
    return f"{value:.50f}"


def mixed(first: truth.Row, second: truth.Row, share: Decimal) -> list[str]:
    """The output law of two rows."""
    return [digits(share * one + (1 - share) * two) for one, two in zip(first, second, strict=True)]


def representatives(question: Question) -> list[int]:
    """Records that cover all others."""
    seen: dict[Any, int] = {}
    rows: list[Any] = list(range(question.input_count))
    rows = [tuple(row) for row in question.rational] if question.rational is not None else rows
    for i, letters in enumerate(question.alphabets):
        if letters == 1:
            continue
        if "entropy_at_least" not in question.table.get("adversary", {}):
            key: Any = frozenset(tuple(rows[k] for k in ks) for ks in question.selections(i))
        else:
            totals: list[dict[Any, int]] = [{} for _ in range(letters)]
            for total, ns in zip(totals, question.counts(i), strict=True):
                for k, n in enumerate(ns):
                    if n:
                        total[rows[k]] = total.get(rows[k], 0) + n
            key = tuple(frozenset(total.items()) for total in totals)
        seen.setdefault((letters, key), i)
    return sorted(seen.values())


def audit_evidence(question: Question) -> list[Any] | None:
    """Lines that prove L to forty digits, where they can be written down."""
    adversary, people = question.table["adversary"], range(len(question.alphabets))
    if adversary.get("kind") == "prior_set":
        priors = [truth.normalised([exact(p) for p in prior]) for prior in adversary["priors"]]
        cases = [
            (question.leakage(i, question.masses(i, prior)), i, j) for i in people for j, prior in enumerate(priors)
        ]
        return [["witness", *max(cases)[1:]]]
    if question.size == 1:
        return [["witness", None, None]]
    if question.only_uniform:
        cases = [
            (question.leakage(i, [[Fraction(n, question.size) for n in ns] for ns in question.counts(i)]), i, 0)
            for i in people
        ]
        sections = [line for i in representatives(question) for line in (["record", i], ["uniform"])]
        return [["witness", max(cases)[1], "uniform"], *sections]
    if adversary.get("kind") == "product_priors":
        return product_evidence(question)
    if class_truth.held(question):
        return class_evidence(question)
    low, high = question.threshold
    if high == 0:
        return free_evidence(question)
    if len(question.alphabets) == 1 and question.size == 2:
        return single_evidence(question, low, high)
    spare = low - (len(question.alphabets) - 1) * Fraction(SIXTY.ln(Decimal(2)))
    if (
        question.table.get("query", {}).get("kind") == "parity"
        and set(question.alphabets) == {2}
        and spare < 0
        and truth.symmetric_flip(question.rows)
    ):
        return [["witness", 0, [["1", "0"], ["0", "1"]]], ["record", 0], ["joint", "1", "0", None, ["1", "1"]]]
    return None


def product_evidence(question: Question) -> list[Any]:
    """A law a selection, each the capacity's."""
    rows, best, sections = question.rows, (Decimal(-1), 0, 0, Decimal(0)), []
    chosen = representatives(question)
    for i in chosen:
        sections.append(["record", i])
        for j, (one, two) in enumerate(question.selections(i)):
            capacity, share = truth.two_rows(rows[one], rows[two])
            best = max(best, (capacity, i, j, share))
            sections.append(["law", [j], mixed(rows[one], rows[two], share)])
    _, i, j, share = best
    return [["witness", i, [j, [digits(share), digits(1 - share)]]] if chosen else ["witness", None, None], *sections]


def class_evidence(question: Question) -> list[Any]:
    """A law a selection, that of the best law of the class."""
    rows, held, sections = question.rows, question.table["adversary"], list[Any]()
    best = (Decimal(-1), 0, 0, Decimal(0))
    for i in representatives(question):
        sections.append(["record", i])
        for j, (one, two) in enumerate(question.selections(i)):
            value, share = class_truth.best(held, rows[one], rows[two])
            best = max(best, (value, i, j, share))
            law = class_truth.output_law(share, rows[one], rows[two])
            more = class_truth.hint(held, share, rows[one], rows[two], [Decimal(x) for x in law])
            sections.append(["law", [j], law, more])
    _, i, j, share = best
    return [["witness", i, [j, class_truth.weights(held, share)]], *sections]


def free_evidence(question: Question) -> list[Any]:
    """No entropy asked for: a class tree down to pairs of inputs."""
    rows, sections = question.rows, []
    best: tuple[Any, ...] = (Decimal(-1), 0, 0, 0, Decimal(0))
    for i in representatives(question):
        ones, twos = ([k for k, n in enumerate(ns) if n] for ns in question.counts(i))
        sections += [["record", i], ["vertices"]]
        for at, one in enumerate(ones):
            sections += [["part", 0, [one]]] if at < len(ones) - 1 else []
            for turn, two in enumerate(twos):
                capacity, share = truth.two_rows(rows[one], rows[two])
                best = max(best, (capacity, i, one, two, share))
                sections += [["part", 1, [two]]] if turn < len(twos) - 1 else []
                sections.append(["law", mixed(rows[one], rows[two], share)])
    _, i, one, two, share = best
    masses = [["0"] * question.input_count for _ in range(2)]
    masses[0][one], masses[1][two] = digits(share), digits(1 - share)
    return [["witness", i, masses], *sections] if sections else [["witness", None, None]]


def single_evidence(question: Question, low: Fraction, high: Fraction) -> list[Any]:
    """One bit told: the best law that the entropy allows, and its multiplier."""
    one, two = question.inputs
    rows = question.rows
    _, share = truth.two_rows(rows[one], rows[two])
    mu = Decimal(0)
    with localcontext(SIXTY):
        least = truth.small_entropy(dec((low + high) / 2))
        if truth.entropy((share, 1 - share)) < dec(high):
            inside = least + Decimal("1e-45")
            share = inside if share < least else 1 - inside
            logs = [
                (r, SIXTY.ln(share * r + (1 - share) * s), s)
                for r, s in zip(rows[one], rows[two], strict=True)
                if r or s
            ]
            slope = sum((truth.xlogx(r) - truth.xlogx(s) - (r - s) * m for r, m, s in logs), Decimal(0))
            mu = abs(slope / (SIXTY.ln(share) - SIXTY.ln(1 - share)))
    masses = [["0"] * question.input_count for _ in range(2)]
    masses[0][one], masses[1][two] = digits(share), digits(1 - share)
    leaf = [["joint", "1", digits(mu) if mu else "0", None, mixed(rows[one], rows[two], share)]]
    return [["witness", 0, masses], ["record", 0], *leaf, *([["row", None], ["row", None]] if mu else [])]


def design_evidence(question: Question, answer: Fraction) -> tuple[list[list[str]], list[Any]] | None:
    """The mechanism and the lines that prove V to forty digits, where symmetry knows them."""
    table, count = question.table, question.input_count
    with localcontext(SIXTY):
        if "privacy" in table:
            return private_evidence(question)
        if truth.leakage_at(question) is None:
            return None
        if answer == 0:
            return silent_evidence(question)
        adversary = table["adversary"]
        bits = len(question.alphabets) > 1
        spare = Decimal(0)
        if bits and "entropy_at_least" in adversary:
            spare = dec(question.threshold[1]) - (len(question.alphabets) - 1) * SIXTY.ln(Decimal(2))
        leak = "max_distortion" in table
        flip = exact(table["max_distortion"]) if leak else truth.around(dec(answer))[0] + Fraction(2, 10**46)
        if spare > 0 or not 0 < flip < Fraction(count - 1, count):
            return None
        keep, off = 1 - flip, flip / (count - 1)
        off_text, keep_text = (
            (str(off), str(keep)) if leak else (digits(off), digits(1 - Fraction(digits(off)) * (count - 1)))
        )
        laws = [[keep_text if y == v else off_text for y in range(count)] for v in range(count)]
        mechanism = laws[:1] if table["mechanism"]["class"] == "additive" else laws
        nu = (dec(keep) / dec(off)).ln()
        turned = [laws, laws[::-1]] if bits else [laws]
        weight = "1" if leak else digits(1 / (nu * len(turned)))
        lines: list[Any] = [["dual", digits(nu) if leak else "0"]]
        for at, phi in enumerate(turned):
            if adversary.get("kind") == "prior_set":
                prior: Any = 0
            elif adversary.get("kind") == "product_priors":
                prior = [at, ["1"] * count]
            else:
                prior = [["1" if k == (a if not at else 1 - a) else "0" for k in range(count)] for a in range(count)]
            lines.append(["prior", weight, 0, prior, phi])
        if adversary.get("kind") == "product_priors":
            lines += [["record", 0], ["law", list(range(len(turned))), ["1"] * count]]
        elif adversary.get("kind") != "prior_set":
            lines += [["record", 0], ["joint", "1", "0", None, ["1"] * count]]
        return mechanism, lines


def silent_evidence(question: Question) -> tuple[list[list[str]], list[Any]] | None:
    """A budget so generous that V is 0, or nothing may leak: lines that say so, and one that could say more."""
    table, count = question.table, question.input_count
    if table["adversary"].get("kind") == "prior_set" or "max_distortion" not in table:
        return None
    product = table["adversary"].get("kind") == "product_priors"
    laws = [["1"] * count for _ in range(1 if table["mechanism"]["class"] == "additive" else count)]
    prior: Any = (
        [0, ["1"] * count] if product else [["1" if k == a else "0" for k in range(count)] for a in range(count)]
    )
    ones = ["1"] * count
    chosen = list(range(len(question.selections(0))))
    section = [["record", 0], ["law", chosen, ones] if product else ["joint", "1", "0", None, ones]]
    return laws, [["dual", "0"], ["prior", "1", 0, prior, [ones] * count], *section]


def private_evidence(question: Question) -> tuple[list[list[str]], list[Any]] | None:
    """A letter told by randomized response, under local differential privacy."""
    law, (low, high) = question.law_of_inputs, question.level
    if question.table["privacy"]["kind"] != "local_dp":
        rows = [["1" if y == k else "0" for y in range(len(law))] for k in range(len(law))]
        return rows, [["dual", "0"], *(["ratio", y, 0, ["0"] * len(law)] for y in range(len(law)))]
    if truth.private(question) is None or len(set(law)) > 1:
        return None
    count, middle = len(law), (low + high) / 2
    level = str(middle) if low == high else digits(low)
    multiplier = Fraction(count - 1, count) / (count - 1 + middle)
    laws = [[level if y == k else "1" for y in range(count)] for k in range(count)]
    lines: list[Any] = [["dual", "0"]]
    for y in range(count):
        lines.append(
            [
                "ratio",
                y,
                ["0" if k == y else "1" for k in range(count)],
                [str(multiplier) if k == y else "0" for k in range(count)],
            ]
        )
    return laws, lines


def audit(records: Any, query: Any, mechanism: Any, adversary: Any) -> dict[str, Any]:
    """An audit of these tables; records are so many of one alphabet, or their alphabets."""
    held = {"alphabets": records} if isinstance(records, list) else {"count": records[0], "alphabet": records[1]}
    tables = {"records": held, "query": query, "mechanism": mechanism, "adversary": adversary}
    return {"problem": "maximal_leakage", **tables}


def header(question: Question, lower: str | None, upper: str | None, **more: Any) -> dict[str, Any]:
    """A certificate's first line."""
    problem = question.table["problem"]
    named = {"format": "dalenius-certificate/2", "problem": problem, "model": digest(question)}
    return {**named, "lower": lower, "upper": upper, "unit": UNITS[problem], "producer": "a forger", **more}


def certified(
    name: str, table: dict[str, Any], low: Fraction, high: Fraction, lines: list[Any], *ends: Fraction, **more: Any
) -> Subject:
    """A subject whose answer lies between two numbers, with a certificate whose ends are further apart."""
    question = Question.of(toml(table))
    first = header(question, claimed(ends[0], "floor"), claimed(ends[1], "ceiling"), **more)
    return Subject(name, toml(table), question, low, high, [[first, *lines]])


def written(table: dict[str, Any], name: str) -> Subject | None:
    """A subject from a table, if its answer and its evidence are known in closed form."""
    model = toml(table)
    question = Question.of(model)
    head = header(question, None, None)
    design = table["problem"] != "maximal_leakage"
    if design and not question.feasible:
        none = Fraction(0)
        return Subject(name, model, question, none, none, [[{**head, "mechanism": None}]], feasible=False)
    answer = truth.known(question) or class_truth.known(question)
    if answer is None:
        return None
    low, high = answer
    if design:
        found = design_evidence(question, (low + high) / 2)
        if found is None:
            return None
        head["mechanism"], lines = found
    else:
        with localcontext(SIXTY):
            found_lines = audit_evidence(question)
        if found_lines is None:
            return None
        lines = found_lines
    head["lower"] = claimed(low - MARGIN, "floor") if low > MARGIN else "0"
    head["upper"] = claimed(high + MARGIN, "ceiling")
    return Subject(name, model, question, max(low, Fraction(0)), high, [[head, *lines]])


def claimed(value: Fraction, direction: str) -> str:
    """A number at sixty digits after the point, rounded down or up."""
    scaled = value * 10**60
    whole = (
        scaled.numerator // scaled.denominator if direction == "floor" else -(-scaled.numerator // scaled.denominator)
    )
    sign, whole = "-" if whole < 0 else "", abs(whole)
    return f"{sign}{whole // 10**60}.{whole % 10**60:060d}"


# Models drawn -------------------------------------------------------------------------------------------------------------------


def law(rng: random.Random, length: int, zeros: float = 0.15) -> list[str]:
    """A law with small denominators, or one like those of data."""
    weights = [0 if rng.random() < zeros else rng.randint(1, rng.choice([3, 10, 1000])) for _ in range(length)]
    weights = weights if sum(weights) else [1] * length
    return [str(Fraction(w, sum(weights))) for w in weights]


def queries(rng: random.Random, alphabets: list[int]) -> dict[str, Any]:
    """A query of any kind."""
    size, top = 1, max(alphabets)
    for letters in alphabets:
        size *= letters
    return rng.choice(
        [
            {"kind": "parity"},
            {"kind": "modular_sum", "modulus": rng.randint(2, 4)},
            {"kind": "count"},
            {"kind": "count", "letters": sorted(rng.sample(range(top), rng.randint(1, top)))},
            {"kind": "sum"},
            {"kind": "sum", "weights": [rng.randint(-2, 3) for _ in range(top)]},
            {"kind": "sum", "weights": [[rng.randint(-1, 3) for _ in range(letters)] for letters in alphabets]},
            {"kind": "threshold", "at": rng.randint(0, sum(alphabets) - len(alphabets) + 1)},
            {"kind": "table", "values": [rng.randint(-1, 2) for _ in range(size)]},
            {"kind": "table", "values": [rng.randint(0, 1) for _ in range(size)]},
            {"kind": "identity"},
        ]
    )


def mechanisms(rng: random.Random, table: dict[str, Any]) -> dict[str, Any]:
    """A mechanism of any kind that fits."""
    question = Question({**table, "mechanism": {"kind": "none"}})
    values = question.query[0]
    count, spread = len(values), values[-1] - values[0]
    epsilon = rng.choice(["0.1", "1", "2.5", "1/3", "10", "0"])
    kinds: list[dict[str, Any]] = [
        {
            "kind": "matrix",
            "inputs": "dataset",
            "rows": [law(rng, rng_size) for rng_size in [rng.randint(2, 4)] for _ in range(question.size)],
        },
        {"kind": "matrix", "rows": [law(rng, rng_size) for rng_size in [rng.randint(2, 4)] for _ in range(count)]},
    ]
    if count >= 2:
        kinds += [
            {"kind": "symmetric", "flip": rng.choice(["0", "0.1", "1/3", "1e-3", "0.5", "1"])},
            {"kind": "randomized_response", "epsilon": epsilon},
        ]
        if spread <= 8:
            wide = [values[0] - rng.randint(0, 1), values[-1] + rng.randint(0, 1)]
            kinds += [
                {"kind": "exponential", "epsilon": epsilon, "range": wide},
                {"kind": "geometric", "epsilon": epsilon if epsilon != "0" else "1"},
            ]
    if values == [0, 1]:
        kinds.append({"kind": "laplace_threshold", "epsilon": epsilon})
    return rng.choice(kinds)


def drawn_audit(rng: random.Random) -> dict[str, Any]:
    """An audit against an adversary with whom closed forms are at ease."""
    adversary = rng.choice(["product", "listed", "free", "full", "single", "single", "parity"])
    most = 3 if adversary in ("listed", "full") else 2
    alphabets = [rng.randint(1, most) if rng.random() < 0.5 else most for _ in range(rng.randint(1, 3))]
    table: dict[str, Any] = {"problem": "maximal_leakage"}
    if adversary in ("single", "parity"):
        records = 1 if adversary == "single" else rng.randint(2, 4)
        share = rng.choice(["0.3 nats", "0.5 bits", "0.68", "0.95 max", "1e-9", "0.9999999 max"])
        table |= {
            "records": {"count": records, "alphabet": 2},
            "query": {"kind": "identity" if records == 1 else "parity"},
        }
        single_rows = {"kind": "matrix", "rows": [law(rng, width) for width in [rng.randint(2, 3)] for _ in range(2)]}
        table["mechanism"] = (
            single_rows if records == 1 else {"kind": "symmetric", "flip": rng.choice(["0.1", "1/3", "1e-5", "0.49"])}
        )
        table["adversary"] = {"entropy_at_least": share}
        return table
    table |= {"records": {"alphabets": alphabets}, "query": queries(rng, alphabets)}
    table["mechanism"] = mechanisms(rng, table)
    size = Question(table).size
    table["adversary"] = {
        "product": {"kind": "product_priors"},
        "listed": {"kind": "prior_set", "priors": [law(rng, size) for _ in range(rng.randint(1, 3))]},
        "free": {"entropy_at_least": rng.choice(["0", 0, "0 bits", "0e0 max"])},
        "full": {"entropy_at_least": "1 max"},
    }[adversary]
    return table


def drawn_design(rng: random.Random) -> dict[str, Any]:
    """A design whose best mechanism is known by symmetry, or a model that no mechanism meets."""
    bits = rng.random() < 0.5
    letters = 2 if bits else rng.randint(2, 4)
    table: dict[str, Any] = {
        "problem": rng.choice(["min_leakage", "min_distortion"]),
        "records": {"count": rng.randint(2, 4) if bits else 1, "alphabet": letters},
        "query": {"kind": "parity" if bits else "identity"},
        "distortion": {"kind": "hamming"},
        "law": {"kind": "uniform"},
        "mechanism": {"class": rng.choice(["oblivious", "additive"] if bits else ["oblivious", "full"])},
    }
    if table["problem"] == "min_leakage":
        table["max_distortion"] = rng.choice(["0.1", "1/7", "0.3", "1e-3", "0.45", "-1e-30", "3"])
    else:
        table["max_leakage"] = rng.choice(["0.2", "0.05", "0.5 bits", "1e-4", "-1e-9"])
    uniform = [str(Fraction(1, letters))] * letters
    if not bits and rng.random() < 0.4:
        table["problem"] = "min_distortion"
        table.pop("max_distortion", None), table.pop("max_leakage", None)
        table["privacy"] = {
            "kind": "local_dp",
            "epsilon": rng.choice(["log 2", "log 7/3", "1", "0.1", "2 bits", "0", "-1e-20"]),
        }
        return table
    adversaries: list[dict[str, Any]] = [
        {"kind": "product_priors"},
        {"entropy_at_least": rng.choice(["0", "0.4", "0.5 bits"])},
    ]
    table["adversary"] = rng.choice(adversaries if bits else [*adversaries, {"kind": "prior_set", "priors": [uniform]}])
    return table


def held(rng: random.Random, number: int) -> Subject:
    """An audit against a class of laws of bits, of each kind in turn, that learns something."""
    while True:
        table: dict[str, Any] = {"problem": "maximal_leakage", "records": {"count": rng.randint(1, 2), "alphabet": 2}}
        table["query"] = queries(rng, [2] * table["records"]["count"])
        kind = class_truth.KINDS[-1 - number % len(class_truth.KINDS)]
        table["mechanism"], table["adversary"] = mechanisms(rng, table), class_truth.drawn(rng, kind)
        found = written(table, f"class-{number}")
        assert found is not None
        if found.low > MARGIN:
            return found


def drawn(rng: random.Random, count: int) -> list[Subject]:
    """So many subjects whose evidence is written in closed form, three audits to two designs."""
    found: list[Subject] = []
    while len(found) < count:
        make = drawn_audit if len(found) % 5 < 3 else drawn_design
        subject = written(make(rng), f"drawn-{len(found)}")
        if subject is not None:
            found.append(subject)
    return found


# Models of others ---------------------------------------------------------------------------------------------------------------


def honest(name: str, model: bytes, certificate: bytes) -> Subject:
    """A subject with a certificate of the prover."""
    question = Question.of(model)
    lines = [json.loads(line) for line in certificate.splitlines()]
    if lines[0]["lower"] is None:
        return Subject(name, model, question, Fraction(0), Fraction(0), [lines], feasible=False)
    low, high = max(exact(lines[0]["lower"]), Fraction(0)), exact(lines[0]["upper"])
    answer = truth.known(question) if len(question.alphabets) < 20 and question.size <= truth.DATASETS else None
    if answer is not None:
        assert max(low, answer[0]) <= min(high, answer[1]), (
            f"{name}: proved was {low} .. {high}, the answer is {answer}"
        )
        low, high = max(low, answer[0]), min(high, answer[1])
    return Subject(name, model, question, low, high, [lines])


SLOW = ("histogram/couples-k100",)  # short, but a check takes seconds with the checker's own arithmetic


def library(largest: int) -> Iterator[Subject]:
    """The library's models with proofs that are small, and whose checks are."""
    for path in sorted(LIBRARY.rglob("*/*.toml")):
        name = path.with_suffix("").relative_to(LIBRARY).as_posix()
        text, gzipped = path.with_suffix(".cert"), path.with_suffix(".cert.gz")
        if name in SLOW or not (text.exists() or gzipped.exists()):
            continue
        certificate = text.read_bytes() if text.exists() else gzip.decompress(gzipped.read_bytes())
        if len(certificate) <= largest:
            yield honest(name, path.read_bytes(), certificate)


def foreign() -> Subject:
    """A mechanism of a kind that the checker does not know: what its certificate proves is about a matrix, and never `proved`."""
    rows = [["0.9", "0.1"], ["0.2", "0.8"]]
    somebodys = {"kind": "somebodys", "strength": "3"}
    table = audit((1, 2), {"kind": "identity"}, somebodys, {"kind": "product_priors"})
    same = written({**table, "mechanism": {"kind": "matrix", "rows": rows}}, "foreign")
    assert same is not None
    question = Question.of(toml(table))
    head = {**same.parents[0][0], "model": digest(question), "resolved": {"inputs": "query", "rows": rows}}
    lines = [head, *same.parents[0][1:]]
    return Subject("foreign", toml(table), question, same.low, same.high, [lines], resolved=True)


def solved(rng: random.Random, count: int) -> list[Subject]:
    """Small drawn models of all kinds, with the prover's certificates: trees of every shape."""
    if not count:
        return []
    import dalenius

    found: list[Subject] = []
    while len(found) < count:
        table = any_model(rng)
        try:
            result = dalenius.solve(dalenius.loads(toml(table)), gap=1e-3, node_limit=40, time_limit=20)
        except dalenius.errors.InputError:
            continue
        certificate = result.certificate.text.encode()
        if len(certificate) < 12_000:
            found.append(honest(f"solved-{len(found)}", toml(table), certificate))
    return found


def any_model(rng: random.Random) -> dict[str, Any]:
    """A model of any kind."""
    alphabets = [rng.randint(2, 3) for _ in range(rng.randint(1, 3))]
    table: dict[str, Any] = {
        "problem": rng.choice(["maximal_leakage", "maximal_leakage", "min_leakage", "min_distortion"])
    }
    table |= {"records": {"alphabets": alphabets}, "query": queries(rng, alphabets)}
    size = Question({**table, "mechanism": {}}).size
    if size > 12 and table["query"]["kind"] == "identity":
        table["query"] = {"kind": "count"}
    entropy = {"entropy_at_least": rng.choice(["0.5 max", "0.8 max", "0.95 max", "0.3", "1 bits", "0"])}
    others = [{"kind": "product_priors"}, {"kind": "prior_set", "priors": [law(rng, size) for _ in range(2)]}]
    table["adversary"] = rng.choice([entropy, entropy, *others])
    if table["problem"] == "maximal_leakage":
        table["mechanism"] = mechanisms(rng, table)
        return table
    table["distortion"] = {"kind": rng.choice(["hamming", "absolute", "squared"])}
    table["law"] = {"kind": "uniform"}
    table["mechanism"] = {"class": "full" if size <= 6 and rng.random() < 0.5 else "oblivious"}
    if table["problem"] == "min_leakage":
        table["max_distortion"] = rng.choice(["0.1", "0.25", "0.4"])
    elif rng.random() < 0.3:
        del table["adversary"]
        kind = rng.choice(["local_dp", "pointwise_maximal_leakage"])
        table["privacy"] = {"kind": kind, "epsilon": rng.choice(["log 2", "0.5", "log 9/7"])}
    else:
        table["max_leakage"] = rng.choice(["0.05", "0.1", "0.3 bits"])
    return table
