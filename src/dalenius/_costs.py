"""What proving will take, predicted before anything is searched for, by counting what the checker reads, holds and multiplies.

Seconds are those of one core of an ordinary machine, bytes those beyond what is there already; both were measured on the checker
alone, from 10^4 to 10^7 numbers (`benchmarks/limits.py` shows how far off they are). A prediction decides how much time a search
leaves to its proof, and what is not tried at all; it is never trusted for anything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.model import (
    Adversary,
    DesignProblem,
    EntropyAtLeast,
    FiniteChain,
    MarkovChain,
    MaxInformation,
    MechanismProblem,
    PriorSet,
    ProductPriors,
    SecretLeakage,
    WorstCaseLeakage,
)
from dalenius.model.constraints import LeakageLimit
from dalenius.model.mechanisms import MECHANISMS
from dalenius.model.objectives import LeakageTerm
from dalenius.model.queries import AdditiveQuery, Identity, Query
from dalenius.model.records import Records
from dalenius.model.sums import record_types


@dataclass(frozen=True)
class Cost:
    """Seconds, and bytes held at once.

    >>> print(Cost(2.0, 3e8) + Cost(0.5))
    about 2.5 s and 286 MiB
    """

    seconds: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.bytes + other.bytes)

    def times(self, count: float) -> Cost:
        """Of so many."""
        return Cost(count * self.seconds, count * self.bytes)

    def within(self, seconds: float, size: float) -> bool:
        """Whether it fits in so many seconds and bytes."""
        return self.seconds <= seconds and self.bytes <= size

    def __str__(self) -> str:
        return f"about {self.seconds:.2g} s and {self.bytes / 2**20:.0f} MiB"


# what the checker takes, and before it our own writing of the model
NUMBER = Cost(1.5e-5, 250.0)  # a number in the model file: written, digested and read, twice
DISTINCT = Cost(3.5e-5, 250.0)  # one that is written unlike all others
RECORD = Cost(3.5e-7, 8.0)  # a record
DIGIT = Cost(5e-9, 0.5)  # a binary digit of the numbers of completions
PAIR = Cost(4.5e-6, 170.0)  # a letter of a record with a channel input that some dataset has
POINTER = Cost(1.2e-7, 13.0)  # an entry of the channel as a list
ENTRY = Cost(5e-7)  # an entry of the channel as a ball, once for every use
BALL, KEPT = 50.0, 2**22  # bytes of such an entry, and how many are kept
LOGARITHM = Cost(1.5e-6)  # x log x of an entry that has no equal in its row
WEIGHT = Cost(1.5e-5, 800.0)  # a weight of a witness that is not zero
SUMMAND = Cost(4e-7)  # a dataset's mass in a listed prior
CELL = Cost(3e-7, 25.0)  # a letter with an input or an output, in an information
CLOSED_FORM = 30  # numbers for each input of a local protocol
TERM = Cost(5e-6, 400.0)  # a weight of a discrete Gaussian law, with its tail
STEP = Cost(4e-7)  # of an entry of randomised histograms, person by person and letter by letter
RAY = Cost(4e-6)  # a letter of the useful variable, and an extreme ray
MOVE = Cost(1.4e-5)  # a pair of records of a chain of two letters, where it is evaluated at a point
SECTION = Cost(6e-4, 500.0)  # what is told of a secret where one value is given
PRIORS = 30  # in a design's certificate: more are rare
# what the search holds
ARRAYS = 8 * 3  # bytes an entry of the channel, besides the problem's own
TABLES = 8 * 7  # bytes a letter with a channel input


@dataclass(frozen=True)
class Kind:
    """A kind of record: how many there are, which is the first, its letters, and the pairs of these with channel inputs."""

    record: int
    times: int
    letters: int
    pairs: int


def record_kinds(query: Query, records: Records, inputs: int) -> list[Kind]:
    """The kinds of record with more than one letter; no dataset is listed, and nothing is counted.

    >>> from dalenius.model.queries import Parity
    >>> record_kinds(Parity(), Records(1000, alphabet=3), inputs=2)
    [Kind(record=0, times=1000, letters=3, pairs=6)]
    """
    if isinstance(query, AdditiveQuery):
        types = [(t.first, t.times, len(t.contribution)) for t in record_types(query, records)]
        return [Kind(*t, t[2] * inputs) for t in types if t[2] > 1]
    datasets = records.datasets
    return [
        Kind(i, 1, letters, datasets if isinstance(query, Identity) else min(letters * inputs, datasets))
        for i, letters in enumerate(records.alphabets)
        if letters > 1
    ]


@dataclass(frozen=True)
class AuditCosts:
    """What proving an audit takes, and what its search holds besides its trees.

    Attributes
    ----------
    certain : Cost
        An interval that needs no search.
    leaf : Cost
        What the first leaf with an output law adds, for every kind of record.
    witness : Cost
        What a prior adds that attains the lower end.
    search : float
        Bytes of the search's own arrays.

    >>> import dalenius as dl
    >>> letters = dl.WorstCaseLeakage(records=dl.Records(1, alphabet=500), query=dl.Identity(),
    ...     mechanism=dl.symmetric(0.1, k=500), adversary=dl.AnyPrior())
    >>> costs = AuditCosts.of(letters)
    >>> costs.certain.within(0.1, 2**25), costs.whole.within(0.1, 2**25)
    (True, False)
    """

    certain: Cost
    leaf: Cost = Cost()
    witness: Cost = Cost()
    search: float = 0.0

    @property
    def whole(self) -> Cost:
        """Both ends of an interval that was searched for, in their first leaves."""
        return self.certain + self.leaf + self.witness

    @property
    def held(self) -> float:
        """The most bytes that a search and its proof hold, without trees: about half of the search's are still there at its proof."""
        return max(self.search + self.certain.bytes, 0.5 * self.search + self.whole.bytes)

    @classmethod
    def of(cls, problem: WorstCaseLeakage | DesignProblem, adversary: Adversary | None = None) -> AuditCosts:
        """Of an audit against any of the adversaries; of a design, an audit of one of its mechanisms, by default against its own."""
        unlisted = _without_completions(problem) if isinstance(problem, WorstCaseLeakage) else None
        if unlisted is not None:
            return unlisted
        inputs, outputs = _shape(problem)
        entries, adversary = inputs * outputs, problem.adversary if adversary is None else adversary
        kinds = record_kinds(problem.query_of_inputs, problem.records, inputs)

        def information(kind: Kind, weights: int) -> Cost:
            """Of what a prior with so many weights teaches about a record."""
            return WEIGHT.times(weights) + CELL.times(kind.letters * (inputs + outputs)) + ENTRY.times(entries)

        records = RECORD.times(len(problem.records))
        model = _model(problem, inputs, entries) + _each(kinds, lambda kind: records + PAIR.times(kind.pairs))
        balls = Cost(0.0, BALL * min(entries, KEPT))
        search = ARRAYS * entries + TABLES * max((kind.letters for kind in kinds), default=0) * inputs
        if adversary is not None and adversary.listed:
            sums = SUMMAND.times(problem.records.datasets)
            evaluated = _each(kinds, lambda kind: information(kind, 0) + sums, len(adversary.listed))
            return cls(model + balls + evaluated, search=search)
        leaf = (
            balls
            + LOGARITHM.times(inputs if _diagonal(problem) else entries)
            + _each(kinds, lambda kind: ENTRY.times(entries))
        )
        if not isinstance(adversary, EntropyAtLeast):
            return cls(model + leaf, search=search)
        largest = max(kinds, key=lambda kind: kind.letters, default=None)
        return cls(model, leaf, information(largest, largest.pairs) if largest else Cost(), search)


def _without_completions(problem: WorstCaseLeakage) -> AuditCosts | None:
    """Of an audit that counts no completions: of blocks, of a histogram's cell, of a chain, of a wide count; None for another one."""
    route, read = problem.route, RECORD.times(4 * len(problem.records))
    if route.pieces is not None:  # one audit a piece, each by itself
        own = [AuditCosts.of(piece) for _, piece in route.pieces]
        return AuditCosts(
            read + _one_by_one([costs.certain for costs in own]),
            _one_by_one([costs.leaf for costs in own]),
            max((costs.witness for costs in own), key=lambda cost: cost.seconds, default=Cost()),
            max((costs.search for costs in own), default=0.0),
        )
    if route.cells is not None:
        return AuditCosts(read + ENTRY.times(route.cells.steps.size))
    chain = isinstance(problem.adversary, MarkovChain | FiniteChain)
    if chain and route.whole:  # its letters; and one box and one point, for each record that is asked about
        entries, pairs = (
            problem.channel.size,
            len(problem.records) ** 2 if isinstance(problem.adversary, MarkovChain) else 0,
        )
        certain = read + POINTER.times(entries) + Cost(0.0, BALL * entries)
        return AuditCosts(certain, witness=MOVE.times(pairs), search=ARRAYS * entries)
    return AuditCosts(read) if chain or route.wide is not None else None


def _shape(problem: WorstCaseLeakage | DesignProblem) -> tuple[int, int]:
    """The inputs and outputs of a mechanism; of one in closed form as many numbers as a proof has of each input."""
    if isinstance(problem, DesignProblem):
        return problem.cost.shape[0], problem.cost.shape[1]
    return (problem.shape[0], CLOSED_FORM) if problem.route.audit == "local_protocol" else problem.shape


def design_cost(problem: DesignProblem) -> Cost:
    """What proving a design takes: its mechanism's audits, for themselves and again as parts of it, and priors or multipliers."""
    audit, (inputs, outputs) = AuditCosts.of(problem), problem.cost.shape
    letters = max(problem.records.alphabets)
    further = Cost()
    for adversary in _further(problem):
        whole = AuditCosts.of(problem, adversary).whole
        further = further + whole + whole
    if problem.adversary is None:
        return audit.certain + WEIGHT.times(2 * inputs * outputs) + further
    prior = WEIGHT.times(letters * (inputs + outputs)) + ENTRY.times(inputs * outputs)
    return audit.whole + audit.whole + prior.times(PRIORS) + further


def information_cost(problem: MaxInformation) -> Cost:
    """What proving the most information takes: every extreme ray of private columns is evaluated, whatever is claimed."""
    reference = problem.reference
    inputs, letters = len(reference.inputs), len(problem.joint.letters)
    rays = 2**inputs if reference.law is None else inputs * 2 ** (inputs - 1)
    return RAY.times(rays * letters) + WEIGHT.times(letters * inputs)


def secret_cost(problem: SecretLeakage) -> Cost:
    """What proving an audit of secrets takes, but for trees: each dataset is read for each secret, and for each listed law."""
    (inputs, outputs), datasets = problem.shape, problem.records.datasets
    entries, laws, witness = inputs * outputs, len(problem.adversary.listed), Cost()
    if isinstance(problem.adversary, ProductPriors):
        listed = sum(min(int(secret.values(problem.records)[1].max()) + 1, inputs**2) for secret in problem.secrets)
        witness = (SECTION + WEIGHT.times(outputs)).times(listed)
    elif not laws:
        witness = WEIGHT.times(6 * datasets)
    told = SUMMAND.times(3 * datasets) + CELL.times(datasets) + ENTRY.times(entries)
    balls = Cost(0.0, BALL * min(entries, KEPT))
    whole = told.times(len(problem.secrets) * (laws or 1)) + witness
    unlike = min(entries, inputs * np.unique(problem.channel).size)
    logarithms = LOGARITHM.times(unlike) + ENTRY.times(entries - unlike)
    return _model(problem, inputs, entries) + balls + logarithms + whole


def _further(problem: DesignProblem) -> list[Adversary]:
    """Whom its mechanism is audited against besides its own adversary: those of limits and of terms."""
    limited = [each.adversary for each in problem.own_constraints if isinstance(each, LeakageLimit)]
    terms = () if problem.objective is None else problem.objective.terms
    return limited + [term.adversary for term in terms if isinstance(term, LeakageTerm)]


def _model(problem: MechanismProblem | DesignProblem, inputs: int, entries: int) -> Cost:
    """Reading the model, its numbers of completions, and its channel as a list."""
    numbers = distinct = entries
    digits = terms = steps = held = 0.0
    if isinstance(problem, MechanismProblem):
        mechanism, held = problem.mechanism, 8.0 * entries  # the problem's own matrix
        formula = mechanism.kind in MECHANISMS.keys() - {"matrix"}
        numbers, distinct = (0, 0) if formula else (entries, np.unique(problem.channel).size)
        terms = mechanism.terms(entries / inputs)
        steps = mechanism.steps(problem.records)
    if isinstance(problem.adversary, PriorSet):
        numbers += problem.adversary.weights.size
        distinct += np.unique(problem.adversary.weights).size
    if isinstance(problem.query, AdditiveQuery):
        digits = inputs * problem.records.log_datasets / math.log(2.0)
    read = Cost(0.0, held) + NUMBER.times(numbers) + DISTINCT.times(distinct) + DIGIT.times(digits)
    return (
        read + TERM.times(terms) + STEP.times(steps) + POINTER.times(entries) + RECORD.times(2 * len(problem.records))
    )


def _diagonal(problem: WorstCaseLeakage | DesignProblem) -> bool:
    """Whether a row of the channel has two numbers only."""
    return isinstance(problem, WorstCaseLeakage) and problem.mechanism.alike


def _each(kinds: Sequence[Kind], cost: Callable[[Kind], Cost], times: int = 1) -> Cost:
    """One kind after the other: their seconds, and the bytes of the largest."""
    return _one_by_one([cost(kind) for kind in kinds], times)


def _one_by_one(costs: Sequence[Cost], times: int = 1) -> Cost:
    """The seconds of all, and the bytes of the largest."""
    return Cost(times * sum(c.seconds for c in costs), max((c.bytes for c in costs), default=0.0))
