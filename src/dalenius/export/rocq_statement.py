"""The model and the adversary of a certificate, in the words of formal/Definitions.v: what a printed theorem claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dalenius.errors import InputError
from dalenius.exact import as_fraction
from dalenius.model import IndependentBlocks, PriorSet, WorstCaseLeakage, normal_form

Table = Mapping[str, Any]  # of a normal form
MAX_RECORDS: Final = 2**11  # that are compared with one another
MAX_SUMS: Final = 2**22  # sums of what letters contribute, times letters, or times values


def no_theorem(what: str) -> InputError:
    return InputError(f"rocq: no theorem yet about {what} (docs/formal.md lists what there is)")


def comment(text: str) -> str:
    """A text that ends no comment and opens none."""
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")


def naturals(numbers: Iterable[int]) -> str:
    return f"[{'; '.join(map(str, numbers))}]%nat"


def alphabets_text(sizes: Sequence[int]) -> str:
    return f"(repeat {sizes[0]} {len(sizes)})%nat" if len(sizes) > 16 and len(set(sizes)) == 1 else naturals(sizes)


def integers(numbers: Iterable[int]) -> str:
    return f"[{'; '.join(map(str, numbers))}]%Z"


def rational(number: Fraction) -> str:
    return f"({number.numerator} # {number.denominator})%Q"


def exact(value: Any, what: str) -> str:
    """A number, or a list of numbers, or of rows of them."""
    if isinstance(value, str | Fraction):
        return rational(as_fraction(value, what))
    listed = [exact(entry, what) for entry in value]
    return "[\n    {}]".format(";\n    ".join(listed)) if "[" in "".join(listed[:1]) else f"[{'; '.join(listed)}]"


def _exact(table: Table, key: str) -> str:
    return exact(table[key], key)


def inputs_of(problem: WorstCaseLeakage) -> Sequence[int]:
    """The channel's inputs, ascending: the query's values, or the numbers of the datasets."""
    if problem.mechanism.indexed_by() == "dataset":
        return range(math.prod(problem.records.alphabets))
    return [int(value) for value in problem.query.values(problem.records).tolist()]


@dataclass(frozen=True)
class Query:
    """A query's name in formal/Definitions.v, and what it is given; formal/Additive.v has its sums."""

    name: str
    given: str = ""
    given_sums: str | None = None  # the same, but for the alphabets, which the sums are given of every query

    @property
    def text(self) -> str:
        """The query as it stands in the model."""
        return f"({self.name}{self.given})" if self.given else self.name

    @property
    def sums(self) -> str:
        """Arguments of the theorem about the sums."""
        given = self.given if self.given_sums is None else self.given_sums
        return given if self.name == "weighted" else f"{given} (alphabets the_model)"


def query_of(problem: WorstCaseLeakage) -> Query:
    table, alphabets = normal_form(problem)["query"], problem.records.alphabets
    kind = "identity" if problem.mechanism.indexed_by() == "dataset" else table["kind"]
    made = QUERIES.get(kind)
    if made is None:
        raise no_theorem(f"query {kind!r}")
    return made(table, alphabets)


def _sum(table: Table, alphabets: Sequence[int]) -> Query:
    """With a list of weights for each record, if there are any."""
    weights = table["weights"]
    if weights is None:
        return Query("total")
    nested = weights if isinstance(weights[0], list) else [weights[:size] for size in alphabets]
    return Query("weighted", f" [{'; '.join(integers(map(int, row)) for row in nested)}]")


def _table(table: Table, alphabets: Sequence[int]) -> Query:
    entries = f" {integers(map(int, table['values']))}"
    return Query("table", f" {naturals(alphabets)}{entries}", entries)


QUERIES: Mapping[str, Callable[[Table, Sequence[int]], Query]] = {
    "parity": lambda table, alphabets: Query("parity"),
    "modular_sum": lambda table, alphabets: Query("modular_sum", f" {table['modulus']}"),
    "threshold": lambda table, alphabets: Query("threshold", f" ({table['at']})"),
    "count": lambda table, alphabets: Query("count_of", f" {naturals(map(int, table['letters']))}"),
    "sum": _sum,
    "table": _table,
    "identity": lambda table, alphabets: Query("identity", f" {naturals(alphabets)}", ""),
}


def check_counts(problem: WorstCaseLeakage) -> None:
    """Refuse what takes Coq too long to count."""
    alphabets, states = problem.records.alphabets, _states(problem)
    many = max(sum(alphabets), problem.channel.shape[0]) * states
    if len(alphabets) > MAX_RECORDS or many > MAX_SUMS:
        raise no_theorem(f"counting by {states} sums of {len(alphabets)} records, which are too many")


def contributions(problem: WorstCaseLeakage) -> list[Sequence[int]]:
    """Contribution of each letter of each record to the sum that the query is a function of."""
    query, alphabets = problem.query, problem.records.alphabets
    if query.sums is not None and problem.mechanism.indexed_by() == "query":
        return [query.sums.contribution(record, size) for record, size in enumerate(alphabets)]
    return [[a * math.prod(alphabets[k + 1 :]) for a in range(size)] for k, size in enumerate(alphabets)]


def _states(problem: WorstCaseLeakage) -> int:
    """Number of sums, at most."""
    return problem.query.modulus() or 1 + sum(max(row) - min(row) for row in contributions(problem))


def mechanism_of(problem: WorstCaseLeakage, values: Sequence[int]) -> str:
    table = normal_form(problem)["mechanism"]
    kind = table["kind"]
    made = MECHANISMS.get(kind)
    if made is None:
        raise no_theorem(f"mechanism {kind!r}")
    return f"({kind} {made(table, values)})"


def _matrix(table: Table, values: Sequence[int]) -> str:
    return f"{integers(values)} {_exact(table, 'rows')}"


def _range(table: Table, values: Sequence[int]) -> Sequence[int]:
    """The first and the last value of the outputs."""
    return (values[0], values[-1]) if table["range"] is None else [int(end) for end in table["range"]]


def _geometric(table: Table, values: Sequence[int]) -> str:
    first, last = _range(table, values)
    return f"{_exact(table, 'epsilon')} ({first}) ({last})"


def _exponential(table: Table, values: Sequence[int]) -> str:
    half = Fraction(1, 2) / as_fraction(table["sensitivity"], "sensitivity")
    return f"{rational(as_fraction(table['epsilon'], 'epsilon') * half)} ({_range(table, values)[0]})"


MECHANISMS: Mapping[str, Callable[[Table, Sequence[int]], str]] = {
    "matrix": _matrix,
    "symmetric": lambda table, values: f"{integers(values)} {_exact(table, 'flip')}",
    "randomized_response": lambda table, values: f"{integers(values)} {_exact(table, 'epsilon')}",
    "laplace_threshold": lambda table, values: _exact(table, "epsilon"),
    "exponential": _exponential,
    "geometric": _geometric,
}


def adversary_of(problem: WorstCaseLeakage) -> str:
    adversary = problem.adversary
    if problem.bound is not None:
        return f"(EntropyAtLeast {amount_of(problem)})"
    if isinstance(adversary, PriorSet):
        return f"(Listed {exact(adversary.priors, 'priors')})"
    if adversary.all_products:
        return f"(ProductPriors {len(problem.records)})"
    if adversary.kind in CLASSES:
        name, *keys = CLASSES[adversary.kind]
        given = " ".join(_exact(normal_form(problem)["adversary"], key) for key in keys)
        return f"(LawsOfClass {len(problem.records)} ({name} {given}))"
    if adversary.in_blocks:
        return f"(IndependentBlocks {naturals(sizes_of(problem))} (EntropyAtLeast {amount_of(problem)}))"
    raise no_theorem(f"adversary {adversary.kind!r}")


CLASSES: Final = {  # of laws, in formal/Definitions.v, and what they are given
    "floor_priors": ("Floor", "floor"),
    "box_priors": ("Box", "low", "high"),
    "polytope_priors": ("Polytope", "vertices"),
    "moment_priors": ("Moment", "values", "low", "high"),
    "l1_ball_priors": ("L1Ball", "center", "radius"),
    "kl_ball_priors": ("KLBall", "center", "radius"),
    "chi_square_ball_priors": ("ChiSquareBall", "center", "radius"),
}


def amount_of(problem: WorstCaseLeakage) -> str:
    return amount_text(normal_form(problem)["adversary"]["entropy_at_least"] or "0 nats")


def amount_text(entropy: str) -> str:
    """An amount of entropy as a normal form has it."""
    number, unit = entropy.split(" ")
    amount = {"nats": "Nats", "bits": "Bits", "max": "Share"}[unit]
    return f"({amount} {rational(as_fraction(number, 'entropy_at_least'))})"


def sizes_of(problem: WorstCaseLeakage) -> list[int]:
    """The sizes of the blocks; of independent records one each."""
    adversary, records = problem.adversary, problem.records
    if isinstance(adversary, IndependentBlocks):
        return [size for size, times in adversary.sizes_of(records) for _ in range(times)]
    return [1] * len(records)
