"""The corpus's design certificates without an adversary; called by make_corpus.py."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

from designs import HAMMING, UNIFORM, certificate, header
from forge import model, text
from privates import DIGITS, Parts, Private, private

ONE, IDENTITY = "count=1; alphabet=3", 'kind="identity"'
TWO, FIVE = "count=2; alphabet=2", 'kind="modular_sum"; modulus=5'
LAW = 'kind="iid"; probabilities=[0.5, 0.3, 0.2]'
SKEW = 'kind="iid"; probabilities=[0.3, 0.7]'
NEVER = 'kind="iid"; probabilities=[0.4, 0, 0.6]'
SURE = 'kind="iid"; probabilities=[0, 1]'
FREE = 'kind="matrix"; rows=[[0, 1], [1, 0], [0.5, "3/2"]]'
HOLES = "priors=[[0.5, 0.25, 0.25, 0, 0], [0.4, 0, 0.6, 0, 0]]"


def local(epsilon: str) -> str:
    """The table of local differential privacy."""
    return f'kind="local_dp"; epsilon={epsilon}'


def pml(epsilon: str, more: str = "") -> str:
    """The table of pointwise maximal leakage."""
    return f'kind="pointwise_maximal_leakage"; epsilon={epsilon}' + (f"; {more}" if more else "")


# name: the model; mechanism and multipliers are found
CASES: dict[str, Parts] = {
    "documented": (ONE, IDENTITY, "oblivious", pml('"log 2"'), HAMMING, LAW),
    "pml_nats": (ONE, IDENTITY, "oblivious", pml("0.4"), FREE, LAW),
    "pml_priors": (ONE, IDENTITY, "oblivious", pml('"log 3/2"', "priors=[[0.6, 0.4, 0], [0, 0.1, 0.9]]"), HAMMING, LAW),
    "pml_full": (TWO, 'kind="count"', "full", pml('"0.8 bits"'), 'kind="squared"', SKEW),
    "pml_holes": (TWO, FIVE, "oblivious", pml('"log 1.1"', HOLES), 'kind="absolute"', SKEW),
    "pml_never": (ONE, IDENTITY, "oblivious", pml('"log 1.5"'), HAMMING, NEVER),
    "pml_additive": (ONE, 'kind="modular_sum"; modulus=3', "additive", pml('"log 5/4"'), 'kind="absolute"', LAW),
    "pml_turns": (TWO, FIVE, "additive", pml('"log 3/2"', HOLES), 'kind="squared"', SKEW),
    "local_nats": ("count=1; alphabet=4", IDENTITY, "oblivious", local("1.0"), HAMMING, UNIFORM),
    "local_bits": (TWO, 'kind="count"', "oblivious", local('"2 bits"'), 'kind="absolute"', UNIFORM),
    "local_full": (TWO, 'kind="parity"', "full", local('"log 3"'), HAMMING, SKEW),
    "local_holes": (TWO, FIVE, "oblivious", local('"log 7"'), HAMMING, UNIFORM),
    "local_additive": (ONE, 'kind="modular_sum"; modulus=3', "additive", local('"log 5/2"'), 'kind="squared"', LAW),
    "local_turns": (TWO, FIVE, "additive", local('"log 4"'), HAMMING, SKEW),
    "local_never": (ONE, IDENTITY, "oblivious", local('"log 2"'), 'kind="absolute"', NEVER),
    "local_free": (ONE, IDENTITY, "oblivious", local('"0.5 bits"'), FREE, LAW),
    "local_table": (
        "alphabets=[2, 1, 2]",
        'kind="table"; values=[0, 9, 9, 4]',
        "full",
        local('"5/2 nats"'),
        HAMMING,
        UNIFORM,
    ),
}


def add(corpus: Any) -> None:
    """All certificates of models with [privacy]."""
    for name, parts in CASES.items():
        found(corpus, name, Private(parts))
    closed_forms(corpus)
    edges(corpus)
    infeasible(corpus)
    bad_lines(corpus)
    bad_headers(corpus)
    for name, (data, reason) in bad_models().items():
        corpus.model(f"bad_private_{name}", data)
        corpus.add(f"model_private_{name}", f"bad_private_{name}", b"", 2, reason)


def found(corpus: Any, name: str, design: Private) -> None:
    """The best certificate, which is exact where e^epsilon is, and its claims strengthened."""
    exact, file, name = design.low == design.high, design.file, f"private_{name}"
    mechanism, lines = design.best(4 if exact else 12)
    value, expected = design.bound(lines, design.high), design.expected(mechanism)
    assert 0.01 < value <= expected < value + Fraction(1, 10**8), (name, float(value), float(expected))
    assert value == expected or not exact, (name, float(value), float(expected))
    lower, step = str(value) if exact else text(float(value) - 1e-13, 14), Fraction(1, 10**12)
    corpus.model(name, file)
    lines = [["dual", "0"], *lines]
    corpus.add(name, name, certificate(file, lower, str(expected), mechanism, *lines))
    over, under = str(Fraction(lower) + step), str(expected - step)
    corpus.add(f"{name}_lower", name, certificate(file, over, "99", mechanism, *lines), 1, "ratios' bound fails")
    corpus.add(f"{name}_upper", name, certificate(file, "-1", under, mechanism, *lines), 1, "distortion is too large")
    rows = [list(map(Fraction, row)) for row in mechanism]
    for row, costs in zip(rows, design.design.costs, strict=False):  # a little more weight on what is nearest
        row[costs.index(min(costs))] += sum(row) / 1000
    sharp = [list(map(str, row)) for row in rows]
    assert design.loss(sharp) > design.high, name
    corpus.add(f"{name}_sharp", name, certificate(file, "0", "99", sharp, *lines), 1, "privacy fails")


def response(c: Fraction, n: int) -> tuple[Any, list[Any], Fraction]:
    """Optimal for local privacy, the uniform law and Hamming: randomised response, and V = 1 - c / (c + n - 1)."""
    rows = [[str(c) if y == x else "1" for y in range(n)] for x in range(n)]
    a = Fraction(n - 1) / (n * (n - 1 + c))
    pairs = [
        [["0" if x == y else "1" for x in range(n)], [str(a) if x == y else "0" for x in range(n)]] for y in range(n)
    ]
    return rows, [["ratio", y, *pair] for y, pair in enumerate(pairs)], 1 - c / (c + n - 1)


def leaking(c: Fraction, n: int) -> tuple[Any, list[Any], Fraction]:
    """Optimal for the uniform prior, the uniform law and Hamming with c <= n: V = 1 - c / n."""
    rows = [[str(c * (n - 1)) if y == x else str(n - c) for y in range(n)] for x in range(n)]
    lines = [["ratio", y, 0, ["1/" + str(n) if x == y else "0" for x in range(n)]] for y in range(n)]
    return rows, lines, 1 - c / n


def closed_forms(corpus: Any) -> None:
    """Closed forms, from e^0 to numbers of 300 digits."""
    cases: dict[str, tuple[str, Fraction, Any, int]] = {
        "response": (local('"log 9/2"'), Fraction(9, 2), response, 4),
        "response_large": (local('"1000 bits"'), Fraction(2) ** 1000, response, 3),
        "response_none": (local("0"), Fraction(1), response, 3),
        "leaking": (pml('"log 9/5"'), Fraction(9, 5), leaking, 4),
        "leaking_bits": (pml('"1 bits"'), Fraction(2), leaking, 3),
        "leaking_all": (pml('"log 3"'), Fraction(3), leaking, 3),
        "leaking_none": (pml('"0 bits"'), Fraction(1), leaking, 3),
    }
    for name, (privacy, c, form, n) in cases.items():
        design = Private((f"count=1; alphabet={n}", IDENTITY, "oblivious", privacy, HAMMING, UNIFORM))
        mechanism, lines, value = form(c, n)
        name, file, lines = f"private_{name}", design.file, [["dual", "0"], *lines]
        corpus.model(name, file)
        corpus.add(name, name, certificate(file, str(value), str(value), mechanism, *lines))
        step = min(Fraction("1e-12"), value / 2 or 1)
        for end, claim, reason in (
            ("lower", (str(value + step), "99"), "ratios' bound fails"),
            ("upper", ("-1", str(value - step)), "distortion is too large" if value else "0 <= upper"),
        ):
            corpus.add(f"{name}_{end}", name, certificate(file, *claim, mechanism, *lines), 1, reason)


def edges(corpus: Any) -> None:
    """Comparisons that need more precision, or none that there is; inputs that play no part; nothing to prove."""
    none, zero = ["dual", None], ["dual", "0"]
    stored: set[str] = set()

    def put(
        name: str, key: str, lower: str, upper: str, mechanism: Any, *lines: Any, bad: str = "", status: int = 1
    ) -> None:
        parts = models[key]
        if key not in stored:
            corpus.model(f"private_{key}", private(*parts))
            stored.add(key)
        data = certificate(private(*parts), lower, upper, mechanism, *lines)
        corpus.add(f"private_{name}", f"private_{key}", data, status if bad else 0, bad)

    bit, parity = "count=1; alphabet=2", 'kind="parity"'
    long = "1." + "0" * 397
    models: dict[str, Parts] = {
        "bit": (bit, parity, "oblivious", local("1"), HAMMING, UNIFORM),
        "bit_pml": (bit, parity, "additive", pml("0.5"), HAMMING, UNIFORM),
        "tiny": (bit, parity, "oblivious", local("1e-400"), HAMMING, UNIFORM),
        "huge": (ONE, IDENTITY, "full", pml("1000"), HAMMING, LAW),
        "huge_log": (ONE, IDENTITY, "full", local(f'"log {"9" * 390}e400"'), HAMMING, LAW),
        "sure": (TWO, 'kind="count"', "oblivious", local('"log 2"'), HAMMING, SURE),
        "sure_law": (TWO, 'kind="count"', "oblivious", pml('"log 2"'), HAMMING, SURE),
        "values": (TWO, FIVE, "oblivious", local("0"), HAMMING, UNIFORM),
        "turns": (TWO, FIVE, "additive", local('"log 6"'), HAMMING, UNIFORM),
        "long": (bit, parity, "additive", local(f'"log {long}1"'), HAMMING, UNIFORM),
    }
    e = Fraction(DIGITS.exp(Decimal(1)))

    def near(digits: int, more: int) -> list[list[str]]:
        """Randomised response whose ratio agrees with e on so many digits."""
        c = str(Fraction(int(e * 10**digits) + more, 10**digits))
        return [[c, "1"], ["1", c]]

    put("near", "bit", "0", "0.27", near(60, 0), none)
    put("near_above", "bit", "0", "0.27", near(60, 1), none, bad="the mechanism's privacy fails")
    put("coarse", "bit", "0", "0.27", near(10, 0), none)
    put("coarse_above", "bit", "0", "0.27", near(10, 1), none, bad="the mechanism's privacy fails")
    for digits in (12, 60):
        a = str(1 / (2 * (1 + e)))
        lines = [zero, ["ratio", 0, ["0", "1"], [a, "0"]], ["ratio", 1, ["3", "0"], ["0", a]]]
        below = Fraction(int(10**digits / (1 + e)), 10**digits)
        claim, above = str(below - Fraction(1, 10**60)), str(below + Fraction(1, 10**digits))
        put(f"lower_{digits}", "bit", claim, "0.27", near(10, 0), *lines)
        put(f"lower_{digits}_above", "bit", above, "0.27", near(10, 0), *lines, bad="ratios' bound fails")
    # multipliers a little too large: what they prove moves with e
    a = Fraction(1, 7)
    lines = [zero, ["ratio", 0, ["0", "1"], [str(a), "0"]], ["ratio", 1, ["3", "0"], ["0", str(a)]]]
    proved, step = 1 - 2 * e * a, Fraction(1, 10**45)
    put("lower_45", "bit", str(proved - step), "0.27", near(10, 0), *lines)
    put("lower_45_above", "bit", str(proved + step), "0.27", near(10, 0), *lines, bad="ratios' bound fails")
    put("long", "long", "0", "0.5", [[f"{long}1", "1"]], none)
    put("long_above", "long", "0", "0.5", [[f"{long}2", "1"]], none, bad="privacy fails")
    half = ["1", "1"]
    put("tiny", "tiny", "0." + "4" + "9" * 37, "0.5", [half, half], zero, *response(Fraction(1), 2)[1])
    put("tiny_other", "tiny", "0", "0.5", [["7", "2"], ["3.5", "1"]], none)
    open_ = "the mechanism's privacy is open"
    put("tiny_open", "tiny", "0", "0.5", [["1", "1"], ["1", "1.0" + "0" * 390 + "1"]], none, bad=open_, status=3)
    put("tiny_above", "tiny", "0", "0.5", [["1", "1"], ["1", "1." + "0" * 20 + "1"]], none, bad="privacy fails")
    put("additive", "bit_pml", "0", "0.2", [["8243606353500640734073", "1756393646499359265927"]], none)
    put("additive_above", "bit_pml", "0", "0.2", [["83", "17"]], none, bad="privacy fails")
    unit = [["1" if x == y else "0" for y in range(3)] for x in range(3)]
    put("huge", "huge", "0", "0", unit, none)
    put("huge_bound", "huge", "0", "0", unit, zero, ["ratio", 0, 0, ["1", "1e400", "1/3"]])
    put("huge_weak", "huge", "1e-400", "0.5", unit, zero, ["ratio", 0, 0, ["1", "0", "0"]], bad="bound fails")
    full = [["1", "1e-400", "1e-400"], ["1e-400", "1", "1e-400"], ["1e-400", "1e-400", "1"]]
    put("huge_log", "huge_log", "-1", "1e-300", full, none)
    put("huge_log_zero", "huge_log", "-1", "0", unit, none, bad="privacy fails")
    # an input without probability is still the secret of somebody, unless no dataset has it
    loose = [["0", "0", "1"], ["0", "0", "1"], ["0", "0", "1"]]
    apart = [["1", "0", "0"], *loose[1:]]
    put("sure", "sure", "0", "0", loose, none)
    put("sure_apart", "sure", "0", "0", apart, none, bad="privacy fails")
    put("sure_law", "sure_law", "0", "0", apart, zero)
    same = [["1", "1", "1", "0", "0"]] * 3
    put("values", "values", "0", "2/3", [*same, ["0", "0", "0", "1", "0"], ["0", "1", "0", "0", "0"]], none)
    third = [*same[:2], ["0", "0", "0", "1", "0"], *same[:2]]
    put("values_third", "values", "0", "1", third, none, bad="privacy fails")
    turn = [["6", "1", "1", "1", "1"]]
    put("turns", "turns", "0", "0.4", turn, none)
    put("turns_sharp", "turns", "0", "0.4", [["6.01", "1", "1", "1", "1"]], none, bad="privacy fails")
    put("turns_zero", "turns", "0", "0.4", [["6", "1", "1", "0", "1"]], none, bad="privacy fails")


def infeasible(corpus: Any) -> None:
    """Epsilon is negative, or it is not."""
    claim = (None, None, None)
    cases = {
        "nats": (local("-1e-400"), ""),
        "bits": (pml('"-3 bits"'), ""),
        "log": (local('"log 0.99999999999999999999999999999999999999999999999999999999999"'), ""),
        "far": (pml("-1e400"), ""),
        "zero": (local("0"), "a mechanism that ignores its input is private"),
        "zero_log": (pml('"log 1"'), "a mechanism that ignores its input is private"),
        "one": (local('"1 bits"'), "a mechanism that ignores its input is private"),
        "half": (local("0.5"), "a mechanism that ignores its input is private"),
    }
    for name, (privacy, reason) in cases.items():
        file, name = private(ONE, IDENTITY, "oblivious", privacy, HAMMING, LAW), f"private_infeasible_{name}"
        corpus.model(name, file)
        corpus.add(name, name, certificate(file, *claim), 1 if reason else 0, reason)
        if not reason:
            data = certificate(file, "0", "1", [["1", "1", "1"]] * 3, ["dual", None])
            corpus.add(f"{name}_claimed", name, data, 1, "epsilon is negative")
            data = certificate(file, *claim, ["dual", None])
            corpus.add(f"{name}_line", name, data, 1, "a line after a claim of infeasibility")


def bad_lines(corpus: Any) -> None:
    """One change each of a closed form, or of a case with inputs that no dataset has."""
    files = {name: private(*parts) for name, parts in CASES.items()}
    files["response"] = private("count=1; alphabet=4", IDENTITY, "oblivious", local('"log 9/2"'), HAMMING, UNIFORM)
    files["leaking"] = private("count=1; alphabet=4", IDENTITY, "oblivious", pml('"log 9/5"'), HAMMING, UNIFORM)

    def bad(key: str, name: str, reason: str, mechanism: Any, lower: str, *lines: Any) -> None:
        data = certificate(files[key], lower, "99", mechanism, *lines)
        corpus.add(f"private_{key}_{name}", f"private_{key}", data, 1, reason)

    zero = ["dual", "0"]
    forms = {
        "response": (response(Fraction(9, 2), 4), 0, "the reference must be a list"),
        "leaking": (leaking(Fraction(9, 5), 4), ["0", "1", "1", "1"], "the prior must be an integer"),
    }
    for key, ((rows, lines, value), other, reason) in forms.items():
        first, claim = lines[0], str(value)

        def at(place: int, change: Any, lines: Any = lines) -> list[Any]:
            return [[*lines[0][:place], change, *lines[0][place + 1 :]], *lines[1:]]

        bad(key, "nothing", "the dual is expected", rows, claim)
        bad(key, "no_dual", "the dual is expected", rows, claim, *lines)
        bad(key, "null", "no dual, but lower is positive", rows, claim, ["dual", None])
        bad(key, "null_lines", "a line after an empty dual", rows, "0", ["dual", None], *lines)
        bad(key, "nu", "nu must be 0", rows, claim, ["dual", "1e-30"], *lines)
        bad(key, "nu_negative", "nu must be nonnegative", rows, claim, ["dual", "-1"], *lines)
        bad(key, "no_lines", "ratios' bound fails", rows, claim, zero)
        bad(key, "dropped", "ratios' bound fails", rows, claim, zero, *lines[1:])
        bad(key, "twice", "ratios' bound fails", rows, claim, zero, *lines, first)
        bad(key, "prior", "a ratio is expected", rows, claim, zero, *lines, ["prior", "1", 0, "uniform", []])
        bad(key, "record", "a ratio is expected", rows, claim, zero, *lines, ["record", 0])
        bad(key, "end", "a ratio is expected", rows, "0", zero, ["end"])
        bad(key, "dual_twice", "a ratio is expected", rows, claim, zero, zero, *lines)
        bad(key, "short", "takes 3 entries", rows, claim, zero, first[:3])
        bad(key, "long", "takes 3 entries", rows, claim, zero, [*first, "0"])
        bad(key, "output", "the output must be an integer from 0 to 3", rows, "0", zero, *at(1, 4))
        bad(key, "output_text", "the output must be an integer", rows, "0", zero, *at(1, "0"))
        bad(key, "output_other", "ratios' bound fails", rows, claim, zero, *at(1, 1))
        few, many = first[3][:3], [*first[3], "0"]
        bad(key, "few", "the multipliers must be a list of 4", rows, "0", zero, *at(3, few))
        bad(key, "many", "the multipliers must be a list of 4", rows, "0", zero, *at(3, many))
        bad(key, "minus", "a multiplier must be nonnegative", rows, "0", zero, *at(3, ["0", "0", "0", "-1e-9"]))
        bad(key, "number", "written as a string", rows, "0", zero, *at(3, [0, 0, 0, 0]))
        bad(key, "none", "the multipliers must be a list", rows, "0", zero, *at(3, None))
        bad(key, "turned", "ratios' bound fails", rows, claim, zero, *at(3, first[3][::-1]))
        double = [str(2 * Fraction(a)) for a in first[3]]
        bad(key, "double", "ratios' bound fails", rows, claim, zero, *at(3, double))
        bad(key, "half", "ratios' bound fails", rows, claim, zero, *at(3, [str(Fraction(a) / 2) for a in first[3]]))
        bad(key, "reference", reason, rows, "0", zero, *at(2, other))
        bad(key, "reference_null", reason, rows, "0", zero, *at(2, None))
        bad(key, "rows", "3 rows of the mechanism where 4", rows[:3], "0", zero)
        bad(key, "row_zero", "total weight zero", [["0"] * 4, *rows[1:]], "0", zero)
        bad(key, "zero", "the mechanism's privacy fails", [["1", "1", "1", "0"], *rows[1:]], "0", zero)
    rows, lines, _ = forms["response"][0]
    for name, reference, reason in (
        ("weights_none", ["0"] * 4, "the reference has total weight zero"),
        ("weights_minus", ["0", "1", "1", "-1"], "the reference must be nonnegative"),
        ("weights_few", ["0", "1", "1"], "the reference must be a list of 4"),
        ("weights_numbers", [0, 1, 1, 1], "written as a string"),
    ):
        bad("response", name, reason, rows, "0", zero, ["ratio", 0, reference, lines[0][3]])
    bad("response", "self", "ratios' bound fails", rows, "2/5", zero, *(["ratio", y, a, a] for _, y, _, a in lines))
    rows, none = forms["leaking"][0][0], ["0"] * 4
    bad("leaking", "index", "the prior must be an integer from 0 to 0", rows, "0", zero, ["ratio", 0, 1, none])
    weight = "weight on an input"
    same, x = [["1"] * 5] * 5, ["1", "0", "0", "0", "0"]
    bad("local_holes", "multiplier", weight, same, "0", zero, ["ratio", 0, x, x[::-1]])
    bad("local_holes", "weight", weight, same, "0", zero, ["ratio", 0, x[::-1], x])
    bad("local_holes", "nothing", weight, same, "0", zero, ["ratio", 0, x[::-1], ["0"] * 5])
    bad("pml_holes", "multiplier", weight, same, "0", zero, ["ratio", 0, 0, x[::-1]])
    bad("pml_holes", "index", "the prior must be an integer from 0 to 1", same, "0", zero, ["ratio", 0, 2, x])
    bad("pml_holes", "support", weight, same, "0", zero, ["ratio", 4, 1, ["0", "1e-300", "0", "0", "0"]])
    for name, place in (("first", 0), ("second", 2)):
        apart = [["0", "1", "0"] if x == place else ["1", "0", "0"] for x in range(3)]
        bad("pml_priors", name, "the mechanism's privacy fails", apart, "0", zero)
    bad("local_turns", "rows", "5 rows of the mechanism where 1", same, "0", zero)


def bad_headers(corpus: Any) -> None:
    """Headers of another problem, unit or shape."""
    name = "private_leaking"
    rows, lines, value = leaking(Fraction(9, 5), 4)
    file = private("count=1; alphabet=4", IDENTITY, "oblivious", pml('"log 9/5"'), HAMMING, UNIFORM)

    def bad(extra: str, reason: str, **changes: Any) -> None:
        head = header(file, str(value), str(value), rows) | changes
        data = "".join(json.dumps(line) + "\n" for line in [head, ["dual", "0"], *lines]).encode()
        corpus.add(f"private_header_{extra}", name, data, 1, reason)

    bad("problem", "problem must be 'min_distortion'", problem="min_leakage")
    bad("unit", "unit must be 'distortion'", unit="nats")
    bad("resolved", "unknown key 'resolved'", resolved={"inputs": "query", "rows": rows})
    bad("mechanism", "null together", mechanism=None)
    bad("lower", "null together", lower=None)
    bad("swapped", "lower <= upper", lower="1", upper="0.9")
    other = private("count=1; alphabet=4", IDENTITY, "oblivious", local('"log 9/5"'), HAMMING, UNIFORM)
    bad("digest", "another model", model=header(other, "0", "0", [])["model"])


def bad_models() -> dict[str, tuple[bytes, str]]:
    """Models with [privacy] outside the rules and a part of the expected reason."""
    good: Parts = (TWO, 'kind="count"', "oblivious", local('"log 2"'), HAMMING, UNIFORM)

    def at(place: int, body: str, *more: tuple[int, str]) -> bytes:
        changes = dict([(place, body), *more])
        return private(*(changes.get(j, part) for j, part in enumerate(good)))  # type: ignore[arg-type]

    file, audit = private(*good), model(*good[:2], 'kind="symmetric"; flip=0.1', "1")
    priors = "priors=[[0.5, 0.25, 0.25]]"
    table = b'[privacy]\nkind="local_dp"\nepsilon=1\n'
    leakage = file.replace(b"min_distortion", b"min_leakage")
    return {
        "audit": (audit + table, "unknown key 'privacy'"),
        "leakage": (leakage, "unknown key 'privacy'"),
        "leakage_budget": (b"max_distortion = 1\n" + leakage, "unknown key 'privacy'"),
        "adversary": (file + b"[adversary]\nentropy_at_least = 1\n", "unknown key 'adversary'"),
        "budget": (b"max_leakage = 1\n" + file, "unknown key 'max_leakage'"),
        "neither": (file.partition(b"[privacy]")[0], "'adversary' is missing"),
        "list": (file.replace(b"[privacy]", b"[[privacy]]"), "privacy must be a table"),
        "no_kind": (at(3, "epsilon=1"), "privacy.kind must be text"),
        "kind": (at(3, 'kind="central_dp"; epsilon=1'), "privacy.kind must be"),
        "no_epsilon": (at(3, 'kind="local_dp"'), "'epsilon' is missing"),
        "local_priors": (at(3, local("1") + "; " + priors), "unknown key 'priors'"),
        "unknown": (at(3, local("1") + "; delta=0"), "unknown key 'delta'"),
        "epsilon_large": (at(3, local("1000.0000001")), "must be at most 1000"),
        "epsilon_large_bits": (at(3, local('"1e4 bits"')), "must be at most 1000"),
        "epsilon_share": (at(3, local('"0.5 max"')), "not a number"),
        "epsilon_bool": (at(3, local("true")), "must be a number"),
        "epsilon_nan": (at(3, local("nan")), "not a number"),
        "epsilon_list": (at(3, local("[1]")), "must be a number"),
        "log_zero": (at(3, local('"log 0"')), "must be positive"),
        "log_negative": (at(3, local('"log -2"')), "must be positive"),
        "log_blanks": (at(3, local('"log  2"')), "not a number"),
        "log_none": (at(3, local('"log"')), "not a number"),
        "log_unit": (at(3, local('"log 2 nats"')), "not a number"),
        "log_number": (at(3, local('"log two"')), "not a number"),
        "log_long": (at(3, local(f'"log {"1" * 401}"')), "not a number"),
        "priors_none": (at(3, pml("1", "priors=[]")), "at least one list"),
        "priors_text": (at(3, pml("1", 'priors="law"')), "must be a list"),
        "priors_short": (at(3, pml("1", "priors=[[0.5, 0.5]]")), "must list 3 numbers"),
        "priors_datasets": (at(3, pml("1", "priors=[[0.25, 0.25, 0.25, 0.25]]")), "must list 3 numbers"),
        "priors_values": (at(3, pml("1", priors), (2, "full")), "must list 4 numbers"),
        "priors_ragged": (at(3, pml("1", "priors=[[0.5, 0.25, 0.25], [1]]")), "one length"),
        "priors_sum": (at(3, pml("1", "priors=[[0.5, 0.25, 0.250000002]]")), "does not sum to 1"),
        "priors_negative": (at(3, pml("1", "priors=[[1, 0.5, -0.5]]")), "nonnegative"),
        "priors_holes": (
            at(3, pml("1", "priors=[[0.5, 0.5, 0, 0, 0], [0.5, 0.5, 0, 0, 1e-10]]"), (1, FIVE)),
            "mass on a value that no dataset has",
        ),
        "additive": (at(2, "additive"), "needs parity or modular_sum"),
        "no_query": (at(1, ""), "'query' is missing"),
    }
