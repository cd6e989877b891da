"""What a model's answer is, known without the prover and without the checker: the model read anew, and closed forms at sixty digits.

Written from docs/model-format.md alone. Only small models: every dataset is listed. All logarithms are decimals of sixty digits,
correctly rounded, so that a few thousand operations on them stay within `SLACK` of the truth.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

SIXTY = Context(prec=60, Emin=-999999, Emax=999999)
SLACK = Fraction(1, 10**46)
DATASETS = 5000
ELSEWHERE = (
    "discrete_laplace",
    "discrete_gaussian",
    "staircase",
    "randomized_count",
    "several_releases",
    "adaptive",
    "laplace",
    "gaussian",
)  # tests/checker/test_releases.py
FEW = 4  # inputs of a local protocol, whose channel is then written out
PROTOCOLS = (
    "subset_selection",
    "optimized_unary_encoding",
    "local_hashing",
    "hadamard_response",
)  # whose outputs are many

Row = tuple[Decimal, ...]
Interval = tuple[Fraction, Fraction]


def exact(value: object) -> Fraction:
    """A number of a model file, which tomllib was told to leave as text where it is a decimal."""
    return Fraction(str(value).replace("_", ""))


def dec(value: Fraction | int) -> Decimal:
    """A fraction at sixty digits."""
    return SIXTY.divide(Decimal(value.numerator), Decimal(value.denominator))


@lru_cache(maxsize=10_000)
def xlogx(value: Decimal) -> Decimal:
    """v log v with 0 log 0 = 0."""
    return SIXTY.multiply(value, SIXTY.ln(value)) if value else Decimal(0)


def entropy(law: Iterable[Decimal]) -> Decimal:
    """-sum p log p."""
    return -sum((xlogx(p) for p in law), Decimal(0))


def information(joint: Sequence[Sequence[Decimal]]) -> Decimal:
    """I(A; Y) of masses u(a, y) whose total is 1."""
    outputs = [sum(column, Decimal(0)) for column in zip(*joint, strict=True)]
    letters = [sum(row, Decimal(0)) for row in joint]
    return entropy(outputs) + entropy(letters) - entropy(itertools.chain(*joint))


@lru_cache(maxsize=1000)
def two_rows(first: Row, second: Row) -> tuple[Decimal, Decimal]:
    """The capacity of two rows, and the mass of the first at which it is attained: Newton on the difference of divergences."""
    if first == second:
        return Decimal(0), Decimal("0.5")

    def steep(share: Decimal) -> tuple[Decimal, Decimal]:
        value = slope = Decimal(0)
        for one, two in zip(first, second, strict=True):
            mean = share * one + (1 - share) * two
            if mean:
                value += xlogx(one) - xlogx(two) - (one - two) * SIXTY.ln(mean)
                slope -= (one - two) ** 2 / mean
        return value, slope

    below, above, share = Decimal(0), Decimal(1), Decimal("0.5")
    for _ in range(200):
        value, slope = steep(share)
        below, above = (share, above) if value > 0 else (below, share)
        step = value / slope
        if abs(step) < Decimal("1e-55"):
            break
        share = share - step if below < share - step < above else (below + above) / 2
    return information([[share * r for r in first], [(1 - share) * r for r in second]]), share


def root(decreasing: Callable[[Decimal], Decimal], low: Decimal, high: Decimal) -> Decimal:
    """Where a decreasing function changes its sign: bisection, then secants, to fifty-five digits."""
    at_low, at_high = decreasing(low), decreasing(high)
    for turn in range(400):
        if high - low < Decimal("1e-56") or at_low == at_high:
            break
        middle = (low + high) / 2 if turn % 3 == 0 else low + (high - low) * at_low / (at_low - at_high)
        pad = (high - low) / 10**8
        middle = min(max(middle, low + pad), high - pad)
        value = decreasing(middle)
        if value > 0:
            low, at_low = middle, value
        else:
            high, at_high = middle, value
    return (low + high) / 2


def small_entropy(target: Decimal) -> Decimal:
    """The q <= 1/2 with h(q) = target."""
    if target <= 0:
        return Decimal(0)
    half = Decimal("0.5")
    return root(lambda q: target - entropy((q, 1 - q)), Decimal(0), half) if target < SIXTY.ln(Decimal(2)) else half


@dataclass(frozen=True)
class Question:
    """A model: its datasets, its inputs, and how each record's letters lead to them."""

    table: dict[str, Any]

    @classmethod
    def of(cls, text: bytes) -> Question:
        """Read a model file."""
        table = tomllib.loads(text.decode(), parse_float=str)
        if table["problem"] == "worst_case_leakage":  # the same by another name
            table["problem"] = "maximal_leakage"
        return cls(table)

    @cached_property
    def alphabets(self) -> list[int]:
        """Letters, a record each."""
        records = self.table["records"]
        return list(records["alphabets"]) if "alphabets" in records else [records["alphabet"]] * records["count"]

    @property
    def size(self) -> int:
        """The number of datasets."""
        return math.prod(self.alphabets)

    @cached_property
    def datasets(self) -> list[tuple[int, ...]]:
        """All of them, record 0 slowest."""
        return list(itertools.product(*(range(size) for size in self.alphabets)))

    @cached_property
    def query(self) -> tuple[list[int], list[int]]:
        """The values in ascending order, and the index of each dataset's value among them."""
        query = self.table.get("query", {"kind": "identity"})
        kind, sums = query["kind"], [sum(x) for x in self.datasets]
        if kind == "table" or kind == "identity":
            answers = list(query["values"]) if kind == "table" else list(range(self.size))
            values = sorted(set(answers))
        elif kind == "threshold":
            values, answers = [0, 1], [int(s >= query["at"]) for s in sums]
        elif kind in ("parity", "modular_sum"):
            modulus = 2 if kind == "parity" else query["modulus"]
            values, answers = list(range(modulus)), [s % modulus for s in sums]
        elif kind == "count":
            letters = query.get("letters", [1])
            values, answers = (
                list(range(len(self.alphabets) + 1)),
                [sum(a in letters for a in x) for x in self.datasets],
            )
        else:
            weights = query.get("weights", list(range(max(self.alphabets))))
            weights = weights if isinstance(weights[0], list) else [weights] * len(self.alphabets)
            answers = [sum(weights[i][a] for i, a in enumerate(x)) for x in self.datasets]
            values = sorted(set(answers))
        return values, [values.index(answer) for answer in answers]

    @cached_property
    def inputs(self) -> list[int]:
        """The input of each dataset: its value's index, or its own."""
        mechanism = self.table["mechanism"]
        datasets = mechanism.get("inputs") == "dataset" or mechanism.get("class") == "full"
        return list(range(self.size)) if datasets else self.query[1]

    @cached_property
    def input_count(self) -> int:
        """How many inputs there are, those included that no dataset has."""
        return len(self.query[0]) if self.inputs is self.query[1] else self.size

    @property
    def written(self) -> bool:
        """Whether the channel is one that is written out here, before an adversary who is known here."""
        kind, adversary = self.table.get("mechanism", {}).get("kind"), self.table.get("adversary", {}).get("kind")
        if (
            kind in ELSEWHERE
            or adversary in ("independent_blocks", "markov_chain", "finite_chain")
            or self.table["problem"] == "max_information"
        ):
            return False
        return kind not in PROTOCOLS or self.input_count <= FEW

    @cached_property
    def rational(self) -> list[list[Fraction]] | None:
        """The channel where it is rational."""
        mechanism, count = self.table["mechanism"], self.input_count
        if mechanism.get("kind") == "matrix":
            return [normalised([exact(r) for r in row]) for row in mechanism["rows"]]
        if mechanism.get("kind") == "symmetric":
            flip = exact(mechanism["flip"])
            return [[1 - flip if y == k else flip / (count - 1) for y in range(count)] for k in range(count)]
        return None

    @cached_property
    def rows(self) -> list[Row]:
        """The channel."""
        with localcontext(SIXTY):
            if self.rational is not None:
                return [tuple(dec(r) for r in row) for row in self.rational]
            mechanism, values = self.table["mechanism"], self.query[0]
            kind = mechanism["kind"]
            if kind in PROTOCOLS:
                return protocol(mechanism, len(values))
            epsilon = dec(exact(mechanism["epsilon"]))
            if kind == "laplace_threshold":
                flip = (-epsilon / 2).exp() / 2
                return [(1 - flip, flip), (flip, 1 - flip)]
            if kind == "randomized_response":
                return [
                    one_per(tuple(epsilon.exp() if y == k else Decimal(1) for y in range(len(values))))
                    for k in range(len(values))
                ]
            spread = mechanism.get("range", [values[0], values[-1]])
            first, last = spread if isinstance(spread, list) else (0, spread)
            outputs = range(first, last + 1)
            if kind == "exponential":
                scale = epsilon / (2 * dec(exact(mechanism.get("sensitivity", 1))))
                return [one_per(tuple((-scale * abs(y - v)).exp() for y in outputs)) for v in values]
            ratio = (-epsilon).exp()
            return [
                tuple(ratio ** abs(y - v) * (1 if y in (first, last) else 1 - ratio) / (1 + ratio) for y in outputs)
                for v in values
            ]

    def counts(self, record: int) -> list[list[int]]:
        """N(a, k)."""
        numbers = [[0] * self.input_count for _ in range(self.alphabets[record])]
        for x, k in zip(self.datasets, self.inputs, strict=True):
            numbers[x[record]][k] += 1
        return numbers

    def selections(self, record: int) -> list[tuple[int, ...]]:
        """The distinct tuples of inputs that the letters of a record lead to, in lexicographic order."""
        others: dict[tuple[int, ...], list[int]] = {}
        for x, k in zip(self.datasets, self.inputs, strict=True):
            others.setdefault(x[:record] + x[record + 1 :], []).append(k)
        return sorted({tuple(ks) for ks in others.values()})

    def leakage(self, record: int, masses: Sequence[Sequence[Fraction]], rows: Sequence[Row] | None = None) -> Decimal:
        """I(X_i; Y) under masses on (letter, input)."""
        rows = rows or self.rows
        with localcontext(SIXTY):
            weights = [[dec(p) for p in ps] for ps in masses]
            joint = [
                [sum((p * row[y] for p, row in zip(ps, rows, strict=True)), Decimal(0)) for y in range(len(rows[0]))]
                for ps in weights
            ]
            return information(joint)

    def masses(self, record: int, prior: Sequence[Fraction]) -> list[list[Fraction]]:
        """A prior on datasets as masses on (letter, input)."""
        sums = [[Fraction(0)] * self.input_count for _ in range(self.alphabets[record])]
        for x, k, p in zip(self.datasets, self.inputs, prior, strict=True):
            sums[x[record]][k] += p
        return sums

    @cached_property
    def law(self) -> list[Fraction]:
        """A design's true law of the datasets."""
        law = self.table["law"]
        if law["kind"] == "uniform":
            return [Fraction(1, self.size)] * self.size
        letters = normalised([exact(p) for p in law["probabilities"]])
        return [math.prod((letters[a] for a in x), start=Fraction(1)) for x in self.datasets]

    @cached_property
    def law_of_inputs(self) -> list[Fraction]:
        """A design's true law of its inputs."""
        sums = [Fraction(0)] * self.input_count
        for k, p in zip(self.inputs, self.law, strict=True):
            sums[k] += p
        return sums

    @cached_property
    def distortions(self) -> list[list[Fraction]]:
        """d(input, output)."""
        return self.matrix(self.table["distortion"])

    def matrix(self, distortion: dict[str, Any]) -> list[list[Fraction]]:
        """d(input, output) of a table like [distortion]."""
        values, kind = self.query[0], distortion["kind"]
        if kind == "matrix":
            by_value = [[exact(d) for d in row] for row in distortion["rows"]]
        else:
            measure = {
                "hamming": lambda v, w: int(v != w),
                "absolute": lambda v, w: abs(v - w),
                "squared": lambda v, w: (v - w) ** 2,
            }[kind]
            points = [exact(o) for o in distortion["outputs"]] if "outputs" in distortion else values
            by_value = [[Fraction(measure(v, w)) for w in points] for v in values]
        return by_value if self.inputs is self.query[1] else [by_value[k] for k in self.query[1]]

    def reference(self, written: Any) -> list[Fraction]:
        """The law beta of a line `ratio`."""
        if not isinstance(written, int):
            return normalised([Fraction(w) for w in written])
        given = self.table["privacy"].get("priors")
        return normalised([exact(p) for p in given[written]]) if given else self.law_of_inputs

    def cost(self, mechanism: Sequence[Sequence[Fraction]]) -> Fraction:
        """The expected distortion of a mechanism, exactly."""
        return sum(
            (
                p * q * d
                for p, qs, ds in zip(self.law_of_inputs, mechanism, self.distortions, strict=True)
                for q, d in zip(qs, ds, strict=True)
            ),
            Fraction(0),
        )

    def spread(self, mechanism: list[list[Fraction]]) -> list[list[Fraction]]:
        """The mechanism itself; a law of the class `additive` as the matrix that it is."""
        if self.table["mechanism"]["class"] != "additive":
            return mechanism
        count = self.input_count
        return [[mechanism[0][(y - v) % count] for y in range(count)] for v in range(count)]

    @cached_property
    def shifts(self) -> list[list[list[Fraction]]] | None:
        """The deterministic mechanisms of the class `additive`."""
        if self.table["mechanism"].get("class") != "additive":
            return None
        count = self.input_count
        return [self.spread([[Fraction(int(y == z)) for y in range(count)]]) for z in range(count)]

    @property
    def least_cost(self) -> Fraction:
        """The least expected distortion of the class, without any budget."""
        if self.shifts is not None:
            return min(self.cost(shift) for shift in self.shifts)
        return sum((p * min(ds) for p, ds in zip(self.law_of_inputs, self.distortions, strict=True)), Fraction(0))

    @property
    def constant_cost(self) -> Fraction:
        """The least expected distortion of a mechanism that ignores its input."""
        if self.shifts is not None:
            return sum((self.cost(shift) for shift in self.shifts), Fraction(0)) / self.input_count
        columns = zip(*self.distortions, strict=True)
        return min(
            sum((p * d for p, d in zip(self.law_of_inputs, column, strict=True)), Fraction(0)) for column in columns
        )

    @property
    def feasible(self) -> bool:
        """Whether any mechanism of a design meets its budget."""
        if "max_distortion" in self.table:
            return self.least_cost <= exact(self.table["max_distortion"])
        if "privacy" in self.table:
            return self.level[1] >= 1
        return "max_leakage" not in self.table or amount(self.table["max_leakage"])[1] >= 0

    @cached_property
    def level(self) -> Interval:
        """e^epsilon of a private design."""
        text = str(self.table["privacy"]["epsilon"])
        if text.startswith("log "):
            return exact(text[4:]), exact(text[4:])
        low, high = amount(text)
        with localcontext(SIXTY):
            value = Fraction(dec((low + high) / 2).exp())
        return (Fraction(1), Fraction(1)) if not high and not low else (value - SLACK * 100, value + SLACK * 100)

    def breaks_privacy(self, mechanism: list[list[Fraction]]) -> bool:
        """Whether a mechanism is certainly not private."""
        most, privacy = self.level[1], self.table["privacy"]
        real = [k for k in range(self.input_count) if k in set(self.inputs)]
        columns = [[row[y] for row in mechanism] for y in range(len(mechanism[0]))]
        if privacy["kind"] == "local_dp":
            return any(max(column[k] for k in real) > most * min(column[k] for k in real) for column in columns)
        listed = privacy.get("priors")
        priors = [normalised([exact(p) for p in prior]) for prior in listed] if listed else [self.law_of_inputs]
        return any(
            max(c for c, p in zip(column, prior, strict=True) if p)
            > most * sum((p * c for p, c in zip(prior, column, strict=True)), Fraction(0))
            for column in columns
            for prior in priors
        )

    @cached_property
    def threshold(self) -> Interval:
        """The adversary's entropy bound in nats."""
        text = str(self.table["adversary"]["entropy_at_least"])
        low, high = amount(text) if not text.endswith(" max") else (exact(text[:-4]),) * 2
        if not text.endswith(" max"):
            return low, high
        with localcontext(SIXTY):
            top = Fraction(SIXTY.ln(Decimal(self.size)))
        return low * top - (SLACK if low else 0), low * top + (SLACK if low else 0)

    @property
    def only_uniform(self) -> bool:
        """Whether the entropy bound is the largest entropy, exactly."""
        text = str(self.table["adversary"].get("entropy_at_least", ""))
        share = text.endswith(" max") and exact(text[:-4]) == 1
        return share or (
            text.endswith(" bits") and exact(text[:-5]).denominator == 1 and 2 ** int(exact(text[:-5])) == self.size
        )


def protocol(mechanism: dict[str, Any], size: int) -> list[Row]:
    """The channel of a local protocol on so many inputs, output by output, in the context of the caller."""
    text, inputs = str(mechanism["epsilon"]), range(size)
    if text.startswith("log "):
        big = dec(exact(text[4:]))
    else:
        big = SIXTY.power(2, dec(exact(text[:-5]))) if text.endswith(" bits") else dec(exact(text)).exp()
    one, half = Decimal(1), Decimal("0.5")
    if mechanism["kind"] == "subset_selection":
        sets = list(itertools.combinations(inputs, mechanism["size"]))
        return [one_per(tuple(big if k in chosen else one for chosen in sets)) for k in inputs]
    if mechanism["kind"] == "local_hashing":
        buckets = range(mechanism["buckets"])
        outputs = [(h[::-1], b) for h in itertools.product(buckets, repeat=size) for b in buckets]
        return [one_per(tuple(big if h[k] == b else one for h, b in outputs)) for k in inputs]
    if mechanism["kind"] == "hadamard_response":
        outputs_of = range(1 << size.bit_length())
        return [one_per(tuple(one if (k + 1 & y).bit_count() % 2 else big for y in outputs_of)) for k in inputs]
    ones = [[half if j == k else 1 / (big + 1) for j in inputs] for k in inputs]
    return [
        tuple(math.prod((p if y >> j & 1 else 1 - p for j, p in enumerate(row)), start=one) for y in range(1 << size))
        for row in ones
    ]


def normalised(row: Sequence[Fraction]) -> list[Fraction]:
    """A row divided by its exact sum."""
    total = sum(row, Fraction(0))
    return [r / total for r in row]


def one_per(row: Row) -> Row:
    """The same in decimals, in the context of the caller."""
    total = sum(row, Decimal(0))
    return tuple(r / total for r in row)


def amount(value: object) -> Interval:
    """A number of nats or bits, in nats."""
    words = str(value).split(" ")
    number = exact(words[0])
    if words[1:] != ["bits"] or not number:
        return number, number
    nats = number * Fraction(SIXTY.ln(Decimal(2)))
    return nats - SLACK * (abs(number) + 1), nats + SLACK * (abs(number) + 1)


def around(value: Decimal) -> Interval:
    """What a sum of decimals says of the truth."""
    middle = Fraction(value)
    return middle - SLACK, middle + SLACK


def symmetric_flip(rows: Sequence[Row]) -> Decimal | None:
    """The mass off the diagonal, of a symmetric channel."""
    count = len(rows)
    same = [
        len(row) == count and {row[y] for y in range(count) if y != k} == {rows[0][1]} and row[k] == rows[0][0]
        for k, row in enumerate(rows)
    ]
    return (count - 1) * rows[0][1] if count > 1 and len(rows[0]) > 1 and all(same) else None


def star(one: Decimal, two: Decimal) -> Decimal:
    """The flip of two flips in a row."""
    return one * (1 - two) + two * (1 - one)


def audit(question: Question) -> Interval | None:
    """L, where a closed form knows it."""
    adversary, rows, alphabets = question.table["adversary"], question.rows, question.alphabets
    people = range(len(alphabets))
    with localcontext(SIXTY):
        if adversary.get("kind") == "prior_set":
            priors = [normalised([exact(p) for p in prior]) for prior in adversary["priors"]]
            return around(max(question.leakage(i, question.masses(i, prior)) for i in people for prior in priors))
        if question.size == 1:
            return around(Decimal(0))
        if question.only_uniform:
            return around(
                max(
                    question.leakage(i, [[Fraction(n, question.size) for n in ns] for ns in question.counts(i)])
                    for i in people
                )
            )
        two = all(size <= 2 for size in alphabets)
        letters = [i for i in people if alphabets[i] == 2]
        if adversary.get("kind") == "product_priors":
            pairs = {(rows[one], rows[other]) for i in letters for one, other in question.selections(i)}
            return around(max(two_rows(*pair)[0] for pair in pairs)) if two else None
        if "entropy_at_least" not in adversary:
            return None
        low, high = question.threshold
        if high == 0 and two:
            chosen = [[{rows[k] for k, n in enumerate(ns) if n} for ns in question.counts(i)] for i in letters]
            return around(max(two_rows(*pair)[0] for sets in chosen for pair in itertools.product(*sets)))
        return single(question, low, high) or gerber(question, symmetric_flip(rows), low, high)


def single(question: Question, low: Fraction, high: Fraction) -> Interval | None:
    """One record that is the input itself: I is concave in its law."""
    rows = [question.rows[k] for k in question.inputs]
    if len(question.alphabets) != 1:
        return None
    if symmetric_flip(rows) is not None:
        return around(
            question.leakage(
                0, [[Fraction(int(k == a), len(rows)) for k in range(question.input_count)] for a in question.inputs]
            )
        )
    if len(rows) != 2:
        return None
    capacity, share = two_rows(rows[0], rows[1])
    if entropy((share, 1 - share)) >= dec(high):
        return around(capacity)
    least = small_entropy(dec((low + high) / 2))
    share = least if share < least else 1 - least
    return around(information([[share * r for r in rows[0]], [(1 - share) * r for r in rows[1]]]))


def gerber(question: Question, flip: Decimal | None, low: Fraction, high: Fraction) -> Interval | None:
    """The parity of bits through a symmetric channel: log 2 - h(q * flip), with h(q) the entropy left over (Mrs Gerber's lemma)."""
    if (
        flip is None
        or question.table["query"]["kind"] != "parity"
        or len(question.alphabets) < 2
        or set(question.alphabets) != {2}
    ):
        return None
    bit = SIXTY.ln(Decimal(2))
    mixed = star(small_entropy(dec((low + high) / 2) - (len(question.alphabets) - 1) * bit), flip)
    return around(bit - entropy((mixed, 1 - mixed)))


def design(question: Question) -> Interval | None:
    """V, where a closed form knows it; the model is feasible."""
    table = question.table
    with localcontext(SIXTY):
        if "privacy" in table:
            return private(question)
        leak = leakage_at(question)
        if "max_distortion" in table:
            budget = exact(table["max_distortion"])
            if budget >= question.constant_cost:
                return Fraction(0), Fraction(0)
            return None if leak is None else around(leak(dec(budget)))
        if leak is None:
            return None
        budget = dec(sum(amount(table["max_leakage"])) / 2)
        top = dec(question.constant_cost)
        if budget >= leak(Decimal(0)):
            return Fraction(0), Fraction(0)
        return (
            around(root(lambda cost: leak(cost) - budget, Decimal(0), top))
            if budget > 0
            else (question.constant_cost,) * 2
        )


def leakage_at(question: Question) -> Callable[[Decimal], Decimal] | None:
    """The least leakage at an expected Hamming distortion, where symmetry knows it."""
    table, count = question.table, question.input_count
    adversary = table["adversary"]
    if table["distortion"]["kind"] != "hamming" or table["law"]["kind"] != "uniform" or not all(question.law_of_inputs):
        return None
    if adversary.get("kind") == "prior_set":
        priors = [normalised([exact(p) for p in prior]) for prior in adversary["priors"]]
        if any(len(set(prior)) > 1 for prior in priors):
            return None
    if len(question.alphabets) == 1 and table["query"]["kind"] == "identity":
        return lambda flip: (
            SIXTY.ln(Decimal(count))
            - entropy((flip, 1 - flip))
            - flip * (SIXTY.ln(Decimal(count - 1)) if count > 1 else 0)
        )
    if (
        table["query"]["kind"] != "parity"
        or table["mechanism"]["class"] == "full"
        or set(question.alphabets) != {2}
        or len(question.alphabets) < 2
    ):
        return None
    if adversary.get("kind") == "prior_set":
        return None
    spare = Decimal(0)
    if "entropy_at_least" in adversary:
        spare = dec(sum(question.threshold) / 2) - (len(question.alphabets) - 1) * SIXTY.ln(Decimal(2))
    left = small_entropy(spare)
    return lambda flip: SIXTY.ln(Decimal(2)) - entropy((star(left, flip), 1 - star(left, flip)))


def private(question: Question) -> Interval | None:
    """The least Hamming distortion of a letter told under local differential privacy, or before priors that know the letter."""
    table, law = question.table, question.law_of_inputs
    low, high = question.level
    if table["distortion"]["kind"] != "hamming" or table["query"]["kind"] != "identity":
        return None
    if table["privacy"]["kind"] != "local_dp":
        points = [sum(exact(p) != 0 for p in prior) == 1 for prior in table["privacy"].get("priors") or [[]]]
        return (Fraction(0), Fraction(0)) if all(points) else None
    if len(set(law)) == 1:
        return (len(law) - 1) / (high + len(law) - 1), (len(law) - 1) / (low + len(law) - 1)
    return (min(1 / (1 + high), *law), min(1 / (1 + low), *law)) if len(law) == 2 else None


def known(question: Question) -> Interval | None:
    """The answer to a model, where a closed form knows it."""
    if (
        question.size > DATASETS
        or not question.written
        or not question.table.keys().isdisjoint(("constraints", "objective"))
        or ("kind" in question.table.get("mechanism", {})) != (question.table["problem"] == "maximal_leakage")
    ):
        return None
    if question.table["problem"] == "maximal_leakage":
        return audit(question)
    return design(question) if question.feasible else None
