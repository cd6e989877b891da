"""The corpus's design certificates; called by make_corpus.py."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np

from designs import FREE, HAMMING, UNIFORM, Design, Parts, certificate, design, header
from forge import model, text

FOUR, PARITY = "count=4; alphabet=2", 'kind="parity"'
PRODUCT = 'kind="product_priors"'
SLOPED = 'kind="matrix"; rows=[[0, 1, "1/3"], [1, 0, 0.5], [2, 1, 0]]'
LISTED = 'kind="prior_set"; priors=[["1/4", "1/4", "1/4", "1/4"], [0.5, 0, 0, 0.5], [0.7, 0.1, 0.2, 0]]'
FLIP = [["9", "1"], ["1", "9"]]
THREE = [["18", "1", "1"], ["1", "7", "2"], ["1", "1", "18"]]
SKEW = 'kind="iid"; probabilities=[0.3, 0.7]'
NEAR = 'kind="iid"; probabilities=[0.45, "11/20"]'
# name: the model, a mechanism, the records of the prior lines and of the sections
CASES: dict[str, tuple[Parts, Any, list[int], list[int]]] = {
    "parity": ((FOUR, PARITY, "oblivious", "2.2", "max_distortion = 0.1", HAMMING, UNIFORM), FLIP, [0], [0]),
    "parity_bits": ((FOUR, PARITY, "oblivious", "2.2", 'max_leakage = "0.61 bits"', HAMMING, UNIFORM), FLIP, [0], [0]),
    "one_record": (
        ("count=1; alphabet=3", 'kind="identity"', "oblivious", FREE, 'max_distortion = "1/5"', HAMMING, UNIFORM),
        [["8", "1", "1"], ["1", "8", "1"], ["1", "1", "8"]],
        [0],
        [0],
    ),
    "one_record_full": (
        ("count=1; alphabet=3", 'kind="identity"', "full", FREE, 'max_leakage = "0.46"', HAMMING, UNIFORM),
        [["8", "1", "1"], ["1", "8", "1"], ["1", "1", "8"]],
        [0],
        [0],
    ),
    "count": (
        ("count=2; alphabet=2", 'kind="count"', "oblivious", "0.9", "max_distortion = 0.23", 'kind="absolute"', NEAR),
        THREE,
        [0, 1],
        [0],
    ),
    "count_uniform": (
        ("count=3; alphabet=2", 'kind="count"', "oblivious", FREE, "max_distortion = 0.0875", HAMMING, UNIFORM),
        [["19", "1", "0", "0"], ["1", "18", "1", "0"], ["0", "1", "18", "1"], ["0", "0", "1", "19"]],
        [1],
        [0],
    ),
    "count_law": (
        ("count=2; alphabet=2", 'kind="count"', "oblivious", "0.9", "max_leakage = 0.56", 'kind="squared"', SKEW),
        THREE,
        [1],
        [1],
    ),
    "count_full": (
        ("count=2; alphabet=2", 'kind="count"', "full", '"0.5 max"', "max_distortion = 0.17", 'kind="absolute"', NEAR),
        [["18", "1", "1"], ["1", "8", "1"], ["1", "9", "1"], ["0", "1", "9"]],
        [0, 1],
        [0, 1],
    ),
    "modular_additive": (
        (
            "count=3; alphabet=3",
            'kind="modular_sum"; modulus=3',
            "additive",
            "2",
            "max_distortion = 0.25625",
            'kind="absolute"',
            'kind="iid"; probabilities=[0.5, "1/2", 0]',
        ),
        [["8", "0.5", "1.5"]],
        [2],
        [0],
    ),
    "modular_free": (
        (
            "count=2; alphabet=3",
            'kind="modular_sum"; modulus=4',
            "oblivious",
            '"1 bits"',
            "max_leakage = 1",
            'kind="matrix"; rows=[[0, 1], [1, 0], [0.5, "1/2"], [1, 1]]',
            UNIFORM,
        ),
        [["1", "0"], ["0", "3"], ["1", "1"], ["0.5", "1e0"]],
        [0],
        [1],
    ),
    "product_count": (
        (
            "count=2; alphabet=2",
            'kind="count"',
            "oblivious",
            PRODUCT,
            "max_distortion = 0.21",
            'kind="squared"',
            UNIFORM,
        ),
        [["8", "2", "0"], ["1", "8", "1"], ["0", "2", "8"]],
        [0],
        [1],
    ),
    "product_full": (
        ("alphabets=[2, 1, 2]", 'kind="identity"', "full", PRODUCT, 'max_leakage = "0.6 bits"', HAMMING, UNIFORM),
        [["7", "1", "1", "1"], ["1", "7", "1", "1"], ["1", "1", "7", "1"], ["1", "1", "1", "7"]],
        [0, 2],
        [0, 2],
    ),
    "listed": (
        ("count=2; alphabet=2", 'kind="count"', "oblivious", LISTED, "max_distortion = 0.2", HAMMING, UNIFORM),
        THREE,
        [0, 1],
        [],
    ),
    "listed_full": (
        (
            "count=2; alphabet=2",
            'kind="table"; values=[5, -1, 5, 7]',
            "full",
            LISTED,
            "max_leakage = 0.3",
            SLOPED,
            SKEW,
        ),
        [["8", "1", "1"], ["2", "6", "2"], ["1", "5", "7"], ["1", "5", "5"]],
        [0, 1],
        [],
    ),
    "sum_mixed": (
        (
            "alphabets=[2, 3]",
            'kind="sum"; weights=[[0, 2], [0, 1, 5]]',
            "oblivious",
            "1.2",
            "max_distortion = 0.9",
            'kind="absolute"',
            UNIFORM,
        ),
        [["9" if y == v else "1" if abs(y - v) == 1 else "0.1" for y in range(6)] for v in range(6)],
        [1, 0],
        [0, 1],
    ),
    "threshold": (
        ("count=3; alphabet=2", 'kind="threshold"; at=2', "oblivious", "0", "max_distortion = 0.15", HAMMING, SKEW),
        [["5", "1"], ["1", "6"]],
        [0],
        [2],
    ),
    "lone_letter": (
        ("alphabets=[1, 2]", 'kind="sum"', "oblivious", "0.3 nats".join('""'), "max_leakage = 0.23", HAMMING, UNIFORM),
        [["3", "1"], ["1", "3"]],
        [1],
        [1],
    ),
}


def strong(value: float) -> str:
    """A claim below a lower bound."""
    return text(value - 1e-9, 12)


class Case:
    """A model with the best certificate that its mechanism and priors give."""

    def __init__(self, name: str, rng: np.random.Generator) -> None:
        parts, self.mechanism, priors, records = CASES[name]
        self.name, self.design = f"design_{name}", Design(parts)
        design = self.design
        self.dual, self.priors, self.bound = design.best(design.found(self.mechanism, rng, priors))
        self.sections, self.leak = design.sections(self.mechanism, records)
        expected = design.expected(self.mechanism)
        assert (float(expected) if design.leakage else self.leak) <= design.budget, (name, float(expected), self.leak)
        assert self.bound > 0.01, (name, self.bound)
        self.lower = strong(self.bound)
        self.upper = text(self.leak + 1e-8) if design.leakage else str(expected)
        assert float(Fraction(self.upper)) > self.bound - 1e-8, (name, self.upper, self.lower)

    def lines(self) -> list[list[Any]]:
        """All lines after the header."""
        return [self.dual, *self.priors, *self.sections]


def add(corpus: Any, rng: np.random.Generator) -> None:
    """All design certificates."""
    cases = {name: Case(name, rng) for name in CASES}
    for case in cases.values():
        name, file, lines = case.name, case.design.file, case.lines()
        corpus.model(name, file)
        corpus.add(name, name, certificate(file, case.lower, case.upper, case.mechanism, *lines))
        over, under = text(case.bound + 1e-9, 12), str(Fraction(case.upper) - Fraction("2e-8"))
        data = certificate(file, over, "99", case.mechanism, *lines)
        corpus.add(f"{name}_lower", name, data, 1, "lower <= the priors' bound fails")
        data = certificate(file, "-1", under, case.mechanism, *lines)
        reason = "<= upper fails" if case.design.leakage else "expected distortion is too large"
        corpus.add(f"{name}_upper", name, data, 1, reason)
    trivial(corpus)
    closed_forms(corpus)
    infeasible(corpus)
    bad_lines(corpus, cases["parity"])
    bad_priors(corpus, cases)
    bad_headers(corpus, cases["parity"], cases["parity_bits"])
    for name, (data, reason) in bad_models().items():
        corpus.model(f"bad_design_{name}", data)
        corpus.add(f"model_design_{name}", f"bad_design_{name}", b"", 2, reason)


def trivial(corpus: Any) -> None:
    """Constant mechanisms, no dual, letters alone."""

    def put(name: str, parts: Parts, lower: str, upper: str, mechanism: Any, *lines: Any, reason: str = "") -> None:
        file = design(*parts)
        corpus.model(f"design_{name.partition('__')[0]}", file)
        data = certificate(file, lower, upper, mechanism, *lines)
        model_name = f"design_{name.partition('__')[0]}"
        corpus.add(f"design_{name}", model_name, data, 1 if reason else 0, reason)

    none, half = ["dual", None], [["1", "1"], ["0.5", "1/2"]]
    output = [["record", 3], ["joint", "1", "0", None, ["1", "1"]]]
    loose = (FOUR, PARITY, "oblivious", "2.2", "max_distortion = 0.5", HAMMING, UNIFORM)
    put("constant", loose, "0", "0", half, none)
    put("constant__other", loose, "-1", "0", [["1", "0"], ["3", "0"]], none)
    put("constant__above_zero", loose, "0", "1e-30", half, none, *output)
    put("constant__balls", loose, "0", "0", half, ["dual", "1"], ["prior", "1", 0, "uniform", half])
    put("constant__needed", loose, "0", "1e-30", half, none, reason="record 3 is not covered")
    put("constant__unlike", loose, "0", "0", [["1", "1.0000001"], ["1", "1"]], none, reason="distortion is too large")
    put("constant__unlike_too", loose, "0", "0", [["1.0000001", "1"], ["1", "1"]], none, reason="is not covered")
    put("constant__dual", loose, "1e-12", "1", half, none, *output, reason="no dual, but lower is positive")
    put("constant__extra", loose, "0", "0", half, none, ["x"], reason="a record is expected")
    still = (FOUR, PARITY, "additive", PRODUCT, 'max_leakage = "0 bits"', HAMMING, UNIFORM)
    nearly = [["0.999999", "1.000001"], ["1.000001", "0.999999"]]
    uniform = ["prior", "500000", 0, [1, ["1", "1"]], nearly]
    put("still", still, "0.499999", "0.5", [["7", "7"]], ["dual", "0"], uniform)
    put("still__above", still, "0.5000001", "0.6", [["7", "7"]], ["dual", "0"], uniform, reason="priors' bound fails")
    put("still__unlike", still, "0", "0.6", [["7", "6"]], none, reason="is not covered")
    put("still__upper", still, "0", "0.4999999999", [["7", "7"]], none, reason="distortion is too large")
    ones = ("alphabets=[1, 1]", PARITY, "full", PRODUCT, "max_leakage = 0", HAMMING, UNIFORM)
    put("ones", ones, "0", "0", [["1", "0"]], ["dual", "0"], ["prior", "2", 0, [0, ["1"]], [["1", "3"]]])
    ones = ("alphabets=[1, 1]", PARITY, "full", PRODUCT, "max_leakage = -1e-30", HAMMING, UNIFORM)
    put("ones_negative", ones, "0", "0", [["1", "0"]], none, reason="max_leakage is negative")
    file = design(*ones)
    corpus.add("design_ones_infeasible", "design_ones_negative", certificate(file, None, None, None))


def closed_forms(corpus: Any) -> None:
    """Additive mechanisms of 1000 records: the leakage is log m - H(q), one selection after the other alike."""
    d = 0.2
    h = float(-d * np.log(d) - (1 - d) * np.log(1 - d))
    cases = {
        "big_parity": (PARITY, "max_distortion = 0.2", [["0.8", "0.2"]], np.log(2) - h, np.log((1 - d) / d)),
        "big_sum": (
            'kind="modular_sum"; modulus=3',
            "max_distortion = 0.2",
            [["8", "1", "1"]],
            np.log(3) - h - d * np.log(2),
            np.log((1 - d) * 2 / d),
        ),
    }
    for name, (query, budget, law, value, nu) in cases.items():
        size = len(law[0])
        letters = ", ".join(["0.3", '"7/20"', '"7/20"'] if size == 3 else ["0.3", "0.7"])
        records = f"count=1000; alphabet={size}"
        parts = (records, query, "additive", PRODUCT, budget, HAMMING, f'kind="iid"; probabilities=[{letters}]')
        file = design(*parts)
        corpus.model(f"design_{name}", file)
        phi = [[law[0][(y - a) % size] for y in range(size)] for a in range(size)]
        lines = [
            ["dual", text(float(nu), 12)],
            ["prior", "1", 999, [0, ["1"] * size], phi],
            ["record", 5],
            ["law", list(range(size)), ["1"] * size],
        ]
        claim = text(value - 1e-9, 12), text(value + 1e-9, 12)
        corpus.add(f"design_{name}", f"design_{name}", certificate(file, *claim, law, *lines))
        for end, bounds in (("lower", (claim[1], "1")), ("upper", ("0", claim[0]))):
            data = certificate(file, *bounds, law, *lines)
            corpus.add(f"design_{name}_{end}", f"design_{name}", data, 1, "fails")


def infeasible(corpus: Any) -> None:
    """No mechanism meets the budget, or one does."""
    costs = 'kind="matrix"; rows=[[0.5, 1, "1/3"], [1, 0.2, 0.5], [2, 1, 0.7]]'
    three = ("count=2; alphabet=2", 'kind="count"', "oblivious", "1")
    odd = "count=1; alphabet=2", PARITY, "additive", "0"
    turns = 'kind="matrix"; rows=[[0.5, 0], [0, 0.9]]'
    tenth = 'kind="iid"; probabilities=["1/10", 0.9]'
    cases: dict[str, tuple[Parts, str]] = {
        "rows": ((*three, "max_distortion = 0.3583333333333333333333333333333333", costs, UNIFORM), ""),
        "rows_full": ((*three[:2], "full", PRODUCT, 'max_distortion = "0.358333333333"', costs, UNIFORM), ""),
        "rows_equal": ((*three, 'max_distortion = "43/120"', costs, UNIFORM), "is feasible"),
        "rows_above": (
            (*three, "max_distortion = 0.3583333333333333333333333333333334", costs, UNIFORM),
            "is feasible",
        ),
        "turns": ((*odd, "max_distortion = 0.019999", turns.replace("0]", "0.2]"), tenth), ""),
        "turns_zero": ((*odd, "max_distortion = 0", turns, tenth), "is feasible"),
        "turns_both": ((*odd, "max_distortion = 0.8599999", turns.replace("[0, 0.9]", "[1, 0.9]"), tenth), ""),
        "turns_equal": ((*odd, "max_distortion = 0.86", turns.replace("[0, 0.9]", "[1, 0.9]"), tenth), "is feasible"),
        "turns_free": (
            (*odd[:2], "oblivious", "0", "max_distortion = 0.8099", turns.replace("[0, 0.9]", "[1, 0.9]"), tenth),
            "",
        ),
        "turns_above": (
            (*odd[:2], "oblivious", "0", "max_distortion = 0.85", turns.replace("[0, 0.9]", "[1, 0.9]"), tenth),
            "is feasible",
        ),
        "negative": ((*three, 'max_leakage = "-1/1000 bits"', HAMMING, UNIFORM), ""),
        "negative_distortion": ((*three, "max_distortion = -1e-300", HAMMING, UNIFORM), ""),
        "zero": ((*three, "max_leakage = 0", HAMMING, UNIFORM), "a mechanism that leaks nothing is feasible"),
    }
    for name, (parts, reason) in cases.items():
        file = design(*parts)
        corpus.model(f"infeasible_{name}", file)
        data = certificate(file, None, None, None)
        corpus.add(f"infeasible_{name}", f"infeasible_{name}", data, 1 if reason else 0, reason)
    file, name = design(*cases["rows"][0]), "infeasible_rows"
    for extra, lines in (("line", [["dual", None]]), ("record", [["record", 0]])):
        data = certificate(file, None, None, None, *lines)
        corpus.add(f"{name}_{extra}", name, data, 1, "a line after a claim of infeasibility")
    rows = [["0", "0", "1"], ["0", "1", "0"], ["0", "0", "1"]]
    for extra, claim in {
        "lower": ("0", None, None),
        "upper": (None, "0", None),
        "interval": ("0", "1", None),
        "mechanism": (None, None, rows),
        "half": ("0", None, rows),
    }.items():
        data = certificate(file, *claim, ["dual", None], ["record", 0])
        corpus.add(f"{name}_{extra}_given", name, data, 1, "null together")


def bad_lines(corpus: Any, case: Case) -> None:
    """One change of the certificate of parity each."""
    file, prior, sections = case.design.file, case.priors[0], case.sections

    def bad(name: str, reason: str, *lines: Any, mechanism: Any = case.mechanism) -> None:
        data = certificate(file, case.lower, case.upper, mechanism, *lines)
        corpus.add(f"design_bad_{name}", case.name, data, 1, reason)

    def changed(place: int, value: Any) -> list[Any]:
        return [*prior[:place], value, *prior[place + 1 :]]

    dual = case.dual
    bad("nothing", "the dual is expected")
    bad("no_dual", "dual is expected", prior, *sections)
    bad("null", "no dual, but lower is positive", ["dual", None], *sections)
    bad("nu_negative", "nonnegative", ["dual", "-1"], prior, *sections)
    bad("nu_number", "written as a string", ["dual", 1], prior, *sections)
    bad("nu_zero", "priors' bound fails", ["dual", "0"], prior, *sections)
    bad("nu_large", "priors' bound fails", ["dual", "9"], prior, *sections)
    bad("nu_small", "priors' bound fails", ["dual", "1"], prior, *sections)
    bad("dual_long", "takes 1 entries", ["dual", "1", "1"], prior, *sections)
    bad("no_prior", "a prior is expected", dual, *sections)
    bad("no_section", "record 3 is not covered", dual, prior)
    bad("half_section", "the file ends", dual, prior, *sections[:-1])
    bad("section_first", "a record is expected", dual, prior, *sections, prior)
    bad("dual_twice", "a prior or record is expected", dual, dual, prior, *sections)
    bad("witness", "a prior or record is expected", dual, ["witness", None, None], prior, *sections)
    bad("section_twice", "record 0 comes twice", dual, prior, *sections, *sections)
    bad("extra_line", "a record is expected", dual, prior, *sections, ["end"])
    bad("weight_zero", "weight must be positive", dual, changed(1, "0"), *sections)
    bad("weight_negative", "nonnegative", dual, changed(1, "-1"), *sections)
    bad("weight_number", "written as a string", dual, changed(1, 1), *sections)
    bad("record", "the record must be an integer from 0 to 3", dual, changed(2, 4), *sections)
    bad("uniform", "priors' bound fails", dual, changed(3, "uniform"), *sections)
    bad("prior_null", "weights must be a list", dual, changed(3, None), *sections)
    bad("prior_other", "priors' bound fails", dual, changed(3, FLIP), *sections)
    sharp = [["0.98", "0.02"], ["0.02", "0.98"]]
    bad("prior_sharp", "entropy bound <= witness's entropy fails", dual, changed(3, sharp), *sections)
    bad("second_sharp", "entropy fails", dual, prior, ["prior", "1e-9", *changed(3, sharp)[2:]], *sections)
    bad("prior_swapped", "priors' bound fails", dual, changed(3, prior[3][::-1]), *sections)
    bad("phi_swapped", "priors' bound fails", dual, changed(4, prior[4][::-1]), *sections)
    bad("phi_flat", "priors' bound fails", dual, changed(4, [["1", "1"]] * 2), *sections)
    bad("phi_zero", "phi is zero for letter 1", dual, changed(4, [["1", "1"], ["0", "1"]]), *sections)
    bad("phi_empty", "total weight zero", dual, changed(4, [["1", "0"], ["1", "0"]]), *sections)
    bad("phi_negative", "nonnegative", dual, changed(4, [["1", "1"], ["-1", "1"]]), *sections)
    bad("phi_short", "phi must be a list of 2", dual, changed(4, [["1", "1"]]), *sections)
    bad("phi_outputs", "phi must be a list of 2", dual, changed(4, [["1", "1"], ["1"]]), *sections)
    bad("phi_null", "phi must be a list of 2", dual, changed(4, None), *sections)
    rest = [dual, prior, *sections]
    bad("row_negative", "nonnegative", *rest, mechanism=[["9", "1"], ["-1", "9"]])
    bad("row_zero", "total weight zero", *rest, mechanism=[["9", "1"], ["0", "0"]])
    bad("row_long", "a row of the mechanism must be a list of 2", *rest, mechanism=[["9", "1", "0"], ["1", "9", "0"]])
    bad("row_short", "a row of the mechanism must be a list of 2", *rest, mechanism=[["9"], ["1", "9"]])
    bad("row_number", "written as a string", *rest, mechanism=[[9, 1], [1, 9]])
    bad("rows_many", "3 rows of the mechanism where 2", *rest, mechanism=[*FLIP, FLIP[0]])
    bad("rows_one", "1 rows of the mechanism where 2", *rest, mechanism=FLIP[:1])
    bad("rows_none", "0 rows of the mechanism where 2", *rest, mechanism=[])
    bad("rows_text", "mechanism must be a list", *rest, mechanism="uniform")
    bad("rows_swapped", "distortion is too large", *rest, mechanism=FLIP[::-1])
    step = "0." + "9" * 29 + "8"
    bad("budget", "distortion is too large", *rest, mechanism=[["9", "1"], ["1", f"8.{step[2:]}"]])
    sharper = [["9", "0.9"], ["0.9", "9"]]
    bad("sharper", "joint leaf <= upper fails", *rest, mechanism=sharper)


def bad_priors(corpus: Any, cases: dict[str, Case]) -> None:
    """Priors, laws and budgets of the other adversaries and classes."""

    def bad(case: Case, name: str, reason: str, change: Any, **extra: Any) -> None:
        lines = change([case.dual, *(list(x) for x in case.priors), *case.sections])
        data = certificate(case.design.file, case.lower, case.upper, extra.get("mechanism", case.mechanism), *lines)
        corpus.add(f"{case.name}_{name}", case.name, data, 1, reason)

    def at(line: int, place: int, value: Any) -> Any:
        return lambda lines: [
            *lines[:line],
            [*lines[line][:place], value, *lines[line][place + 1 :]],
            *lines[line + 1 :],
        ]

    bits, listed, counted = cases["parity_bits"], cases["listed"], cases["product_count"]
    bad(bits, "nu", "nu must be 0", at(0, 1, "1e-9"))
    bad(bits, "nu_negative", "nonnegative", at(0, 1, "-1"))
    weight = Fraction(bits.priors[0][1])
    for name, factor in (("half", 0.5), ("double", 2)):
        bad(bits, f"weight_{name}", "priors' bound fails", at(1, 1, str(weight * Fraction(factor))))
    leak = "joint leaf <= upper fails"
    bad(bits, "leaks", leak, lambda lines: lines, mechanism=[["9.1", "0.9"], ["0.9", "9.1"]])
    bad(listed, "section", "a line after the witness or the priors", lambda lines: [*lines, ["record", 0]])
    bad(listed, "number", "the prior must be an integer from 0 to 2", at(1, 3, 3))
    bad(listed, "uniform", "the prior must be an integer", at(1, 3, "uniform"))
    bad(counted, "uniform", "selection and weights must be a list", at(1, 3, "uniform"))
    bad(counted, "selection", "the selection must be an integer from 0 to 1", at(1, 3, [2, ["1", "1"]]))
    bad(counted, "letters", "weights must be a list of 2", at(1, 3, [0, ["1"]]))
    bad(counted, "unlisted", "selection 1 of record 1 is not listed", lambda lines: lines[:-1])
    full = cases["count_full"]
    bad(full, "values", "3 rows of the mechanism where 4", lambda lines: lines, mechanism=THREE)
    bad(full, "weights", "a letter's weights must be a list of 4", at(1, 3, [["1"] * 3] * 2))
    pairs = [["1", "1", "1", "1"], ["0", "0", "1", "1"]]
    bad(full, "pairs", "which no dataset has", at(1, 3, pairs))
    bad(full, "covered", "record 1 is not covered", lambda lines: lines[: lines.index(["record", 1])])
    turned = cases["modular_additive"]
    bad(turned, "matrix", "3 rows of the mechanism where 1", lambda lines: lines, mechanism=THREE)


def bad_headers(corpus: Any, leakage: Case, distortion: Case) -> None:
    """Headers of another problem, unit or shape."""

    def bad(name: str, case: Case, reason: str, **changes: Any) -> None:
        head = header(case.design.file, case.lower, case.upper, case.mechanism) | changes
        head = {key: value for key, value in head.items() if value != "DROP"}
        data = "".join(json.dumps(line) + "\n" for line in [head, *case.lines()]).encode()
        corpus.add(f"design_header_{name}", case.name, data, 1, reason)

    bad("audit", leakage, "problem must be 'min_leakage'", problem="maximal_leakage")
    bad("problem", leakage, "problem must be 'min_leakage'", problem="min_distortion")
    bad("problem_too", distortion, "problem must be 'min_distortion'", problem="min_leakage")
    bad("unit", leakage, "unit must be 'nats'", unit="distortion")
    bad("unit_too", distortion, "unit must be 'distortion'", unit="nats")
    bad("unit_bits", leakage, "unit must be 'nats'", unit="bits")
    bad("resolved", leakage, "unknown key 'resolved'", resolved={"inputs": "query", "rows": FLIP})
    bad("mechanism_missing", leakage, "'mechanism' is missing", mechanism="DROP")
    bad("mechanism_null", leakage, "null together", mechanism=None)
    bad("lower_null", leakage, "null together", lower=None)
    bad("upper_null", leakage, "null together", upper=None)
    bad("claim_null", leakage, "null together", lower=None, upper=None)
    bad("lower_number", leakage, "written as a string", lower=0)
    bad("swapped", leakage, "lower <= upper", lower=leakage.upper, upper=leakage.lower)
    bad("negative", leakage, "lower <= upper and 0 <= upper", lower="-2", upper="-1")
    bad("digest", leakage, "another model", model=distortion_digest(distortion))
    infeasible = {"lower": None, "upper": None, "mechanism": None}
    bad("infeasible", leakage, "distortion 0 is feasible", **infeasible)
    bad("infeasible_too", distortion, "leaks nothing is feasible", **infeasible)


def distortion_digest(case: Case) -> str:
    """The digest of a case's model."""
    return str(header(case.design.file, "0", "0", [])["model"])


def bad_models() -> dict[str, tuple[bytes, str]]:
    """Design models outside the rules and a part of the expected reason."""
    good: Parts = ("count=2; alphabet=2", 'kind="count"', "oblivious", "1", "max_distortion = 0.1", HAMMING, UNIFORM)

    def at(place: int, body: str, *more: tuple[int, str]) -> bytes:
        changes = dict([(place, body), *more])
        return design(*(changes.get(j, part) for j, part in enumerate(good)))  # type: ignore[arg-type]

    file, audit = design(*good), model(*good[:2], 'kind="symmetric"; flip=0.1', "1")
    return {
        "audit_budget": (b"max_distortion = 0.1\n" + audit, "unknown key 'max_distortion'"),
        "audit_law": (audit + b'[law]\nkind="uniform"\n', "unknown key 'law'"),
        "audit_class": (model(*good[:2], 'class="full"', "1"), "mechanism.kind must be text"),
        "audit_both": (model(*good[:2], 'kind="symmetric"; flip=0.1; class="full"', "1"), "unknown key 'class'"),
        "kind": (file.replace(b'class="oblivious"', b'kind="symmetric"\nflip=0.1'), "unknown key 'kind'"),
        "class_and_kind": (file.replace(b'class="oblivious"', b'class="full"\nkind="x"'), "unknown key 'kind'"),
        "class": (at(2, "symmetric"), "mechanism.class must be"),
        "no_query": (at(1, ""), "'query' is missing"),
        "no_budget": (file.replace(b"max_distortion = 0.1", b""), "'max_distortion' is missing"),
        "wrong_budget": (file.replace(b"max_distortion", b"max_leakage"), "unknown key 'max_leakage'"),
        "both_budgets": (file.replace(b"max_dis", b"max_leakage = 1\nmax_dis"), "unknown key 'max_leakage'"),
        "budget_unit": (at(4, 'max_distortion = "0.1 nats"'), "not a number"),
        "leakage_unit": (at(4, 'max_leakage = "0.1 max"'), "not a number"),
        "leakage_bool": (at(4, "max_leakage = true"), "must be a number"),
        "leakage_nan": (at(4, "max_leakage = nan"), "not a number"),
        "distortion_kind": (at(5, 'kind="cubic"'), "distortion.kind must be"),
        "distortion_extra": (at(5, 'kind="hamming"; rows=[[0]]'), "unknown key 'rows'"),
        "distortion_missing": (file.replace(b"[distortion]", b"[law2]"), "unknown key 'law2'"),
        "distortion_none": (file.partition(b"[distortion]")[0] + b'[law]\nkind="uniform"\n', "'distortion' is missing"),
        "rows_missing": (at(5, 'kind="matrix"'), "'rows' is missing"),
        "rows_many": (at(5, 'kind="matrix"; rows=[[0], [1]]'), "must be 3 lists"),
        "rows_none": (at(5, 'kind="matrix"; rows=[]'), "must be 3 lists"),
        "rows_ragged": (at(5, 'kind="matrix"; rows=[[0, 1], [1, 0], [1]]'), "one length"),
        "rows_empty": (at(5, 'kind="matrix"; rows=[[], [], []]'), "one length"),
        "rows_negative": (at(5, 'kind="matrix"; rows=[[0], [1], [-0.1]]'), "nonnegative"),
        "entries": (at(0, "count=2048; alphabet=2"), "more than 4194304 entries"),
        "law_kind": (at(6, 'kind="csv"; file="x"; column="y"; letters=["a", "b"]'), "law.kind must be"),
        "law_extra": (at(6, 'kind="uniform"; probabilities=[1, 0]'), "unknown key 'probabilities'"),
        "law_missing": (at(6, 'kind="iid"'), "'probabilities' is missing"),
        "law_long": (at(6, 'kind="iid"; probabilities=[0.5, 0.5, 0]'), "as long as every alphabet"),
        "law_mixed": (at(6, SKEW, (0, "alphabets=[2, 1]")), "as long as every alphabet"),
        "law_sum": (at(6, 'kind="iid"; probabilities=[0.5, 0.500000002]'), "does not sum to 1"),
        "law_negative": (at(6, 'kind="iid"; probabilities=[1.5, -0.5]'), "nonnegative"),
        "law_empty": (at(6, 'kind="iid"; probabilities=[]'), "one length >= 1"),
        "additive_count": (at(2, "additive"), "needs parity or modular_sum"),
        "additive_outputs": (
            at(2, "additive", (1, PARITY), (5, 'kind="matrix"; rows=[[0, 1, 1], [1, 0, 1]]')),
            "V outputs",
        ),
        "full_large": (at(2, "full", (0, "count=17; alphabet=2")), "at most 65536 datasets"),
        "entropy": (at(3, "1.4"), "log |X| fails"),
    }
