"""A model's own adversary as a subject of measures: each one over all of its priors, or refused by name where no bound is known.

*Bound because*, if the others are independent of the record, the channel from its letter is a mixture of the rows that it selects
once they are known. All of these measures are quasi-convex in the channel for each law of the letter, and so largest where the others
are known. Where any joint law is allowed, the law of the others given each letter is free, and the same holds of the rows of each
letter by itself. What is left is a maximum over finitely many channels, and over the laws of one letter. Information is bounded, and
proved, by the audit of the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from flint import fmpq

from dalenius._prove import prove
from dalenius._verify import need_readable
from dalenius.audits import audit_within, need_within
from dalenius.errors import InputError
from dalenius.information import measures as formulas
from dalenius.information.arrays import Integers
from dalenius.information.measures import AllPriors, PriorClass
from dalenius.information.measures.numbers import Numbers as Array
from dalenius.information.measures.numbers import largest, rationals
from dalenius.measures.chains import OF_CHAINS, OfChain
from dalenius.measures.definitions import (
    DELTA_OF_CLASS,
    NEEDS_NO_PRIOR,
    OF_ALL_PRIORS,
    OF_CHANNEL,
    OF_CLASS,
    OF_RECORDS,
    Definition,
    Formula,
    at_epsilon,
    of_data,
    over_class,
)
from dalenius.measures.evaluation import Ends, exp_largest_lift, exp_largest_pointwise
from dalenius.measures.subjects import MAX_ENTRIES, NO_MATRIX, Data, Measured, Others, Subject, need_size
from dalenius.model import (
    EntropyAtLeast,
    FiniteChain,
    IndependentBlocks,
    ProductPriors,
    WorstCaseLeakage,
)
from dalenius.model.adversaries import ADVERSARIES, LawClass
from dalenius.model.fields import keep
from dalenius.model.sums import attained_values
from dalenius.reduction import selections
from dalenius.results import against_text
from dalenius.search import Clock, Limits, Run

MAX_TERMS = 2**20  # entries looked at where rows are chosen, and of sums over what the others can be
MAX_PAIRS = 2**24  # terms of sums over pairs of inputs
LEAST = 1e-3  # seconds of a limit that has passed
SEARCH = "its largest value over a set of laws is a global search without a bound from above"
LISTED = "list priors (prior_set), or give one law of independent records, law=Iid([...]) (--law)"
RATIOS = (
    "pointwise_maximal_leakage",
    "leakage_capacity",
    "local_dp",
    "local_information_privacy",
    "information_privacy",
)
OF_DATA = ("differential_privacy", "free_lunch_privacy")


@dataclass(frozen=True)
class AtMost:
    """A bound over a larger set of priors: its upper end holds here, too, and its lower one may not."""

    way: WorstCaseLeakage | Formula | OfChain


# An audit, a formula, the box of a chain, or why there is none.
Searched = WorstCaseLeakage | OfChain
Way = Searched | Formula | AtMost | str


def of_adversary(problem: WorstCaseLeakage) -> OfDataPriors | OfAdversary:
    """The records of a model under the priors of its own adversary.

    Raises
    ------
    InputError
        If every record has one letter only, or the adversary is of a kind of one's own.
    """
    if max(size for size, _ in problem.records.runs) == 1:
        raise InputError("problem: every record has one letter only, so that there is nothing to tell")
    found = OfAdversary(problem)
    listed = problem.adversary.listed and not found.why_no_matrix
    return OfDataPriors(problem) if listed else found


@dataclass(frozen=True)
class _OfModel(Subject):
    """The records of a model, against its own adversary."""

    problem: WorstCaseLeakage

    @property
    def _whom(self) -> str:
        count = len(self.problem.records)
        who = "the one record" if count == 1 else f"one record of {count} (the one that leaks most by each measure)"
        return f"{who}, against {against_text(self.problem)}"

    @property
    def several(self) -> bool:
        return len(self.problem.records) > 1


@dataclass(frozen=True)
class OfDataPriors(_OfModel):
    """Each record under each of the listed priors on datasets; each measure is the largest of theirs.

    A letter to which a prior gives no probability has a row if that does not depend on the others, and is else left out.
    """

    def __post_init__(self) -> None:
        problem = self.problem
        labels = problem.mechanism.output_labels(problem.query_of_inputs.values(problem.records))
        shape = max(problem.records.alphabets), problem.channel.shape[1]
        self._say(self._whom, against_text(problem), labels, shape)

    @property
    def kinds(self) -> int:
        return len(self._places)

    @cached_property
    def _places(self) -> list[tuple[Integers, Array]]:
        """For each record and prior the inputs (letters, settings) and their masses."""
        problem, records = self.problem, self.problem.records
        index, found = problem.query_of_inputs.index_of_dataset(records), []
        laws = [rationals(law) for law in problem.adversary.listed]
        for record, letters in enumerate(records.alphabets):
            if letters > 1:
                datasets = records.datasets_by_letter(record)
                found += [(index[datasets], law[datasets] / law.sum()) for law in laws]
        return found

    @cached_property
    def _settings(self) -> list[Others]:
        """For each record and prior what the others can be; nothing for one record, or where that is too much."""
        found = [_others(*place) for place in self._places] if self.several else []
        terms = sum(others.inputs.size for others in found) * self.shape[1]
        return found if terms <= MAX_TERMS else []

    @property
    def refused(self) -> Mapping[str, str]:
        if self._settings or not self.several:
            return {}
        reason = f"no value: more than {MAX_TERMS} entries would be looked at; ask about fewer records or priors"
        return {"conditional_mutual_information": reason}

    def made(self) -> list[Measured]:
        channel, data = self.problem.exact_channel, _data(self.problem) if self.several else None
        settings: Sequence[Others | None] = self._settings or [None] * self.kinds
        return [
            replace(_under(channel, *place), data=data, others=others)
            for place, others in zip(self._places, settings, strict=True)
        ]


def _under(channel: Array, inputs: Integers, masses: Array) -> Measured:
    """One record under one prior."""
    rows, prior = list[Array](), list[fmpq]()
    for selected, weights in zip(inputs, masses, strict=True):
        mass, single = weights.sum(), np.unique(selected)
        if not mass and single.size > 1:
            continue
        by_input = np.full(len(channel), fmpq(0), dtype=object)
        np.add.at(by_input, selected, weights)
        there = np.flatnonzero(by_input != 0)
        rows.append((by_input[there, None] * channel[there]).sum(axis=0) / mass if mass else channel[single[0]])
        prior.append(mass)
    return Measured(np.array(rows, dtype=object), np.array(prior, dtype=object))


def _others(inputs: Integers, masses: Array) -> Others:
    """The settings of the others, once each for those that select the same inputs and leave the same law."""
    found: dict[tuple[tuple[int, ...], tuple[fmpq, ...]], fmpq] = {}
    for selected, weights in zip(inputs.T.tolist(), masses.T, strict=True):
        if mass := weights.sum():
            key = tuple(selected), tuple(weights / mass)
            found[key] = found.get(key, fmpq(0)) + mass
    return Others(
        np.array([selected for selected, _ in found]),
        np.array(list(found.values()), dtype=object),
        np.array([law for _, law in found], dtype=object),
    )


@dataclass(frozen=True)
class OfAdversary(_OfModel):
    """The records of a model, under every prior of its adversary: what is evaluated, what an audit proves, and what is refused."""

    outputs, shape = (), (1, 1)

    def __post_init__(self) -> None:
        keep(self, about=self._whom, against=against_text(self.problem))
        if type(self.problem.adversary) not in (EntropyAtLeast, *ADVERSARIES.values()):
            raise InputError(
                f"measure: nothing is known about the adversary {self.problem.adversary.kind}, a class of your own; {LISTED}"
            )

    # ------------------------------------------------------------ the channels

    @cached_property
    def why_no_matrix(self) -> str | None:
        """Why nothing is evaluated in exact numbers; None where all is."""
        try:
            _need_same(self.problem)
            for part in self.problem.asked:
                _need_matrix(part)
            _need_some(self.problem, self.problem.asked)
        except InputError as error:
            return str(error).removeprefix("measure: ")
        return None

    @property
    def kinds(self) -> int:
        return len(self.problem.asked)

    def made(self) -> list[Measured]:
        return [self._measured(part) for part in self.problem.asked]

    def _measured(self, part: WorstCaseLeakage) -> Measured:
        data, laws = _data(part), AllPriors() if self.several else self._priors
        rows = data.channel if self.several else data.channel[part.query_of_inputs.index_of_dataset(part.records)]
        law = laws.exact_law(np.array([fmpq(0)] * len(rows), dtype=object))
        return Measured(rows, law, data, priors=self._priors)

    @cached_property
    def _laws(self) -> PriorClass | None:
        """The laws of one record, the others being known, or free given its letter; None where the adversary is neither."""
        adversary, records = self.problem.adversary, self.problem.records
        own = adversary.own if isinstance(adversary, IndependentBlocks) else adversary
        if own.bound is not None and (own.unlimited or not self.several):
            return own.laws(records)
        return own.record_laws

    @property
    def _priors(self) -> PriorClass:
        """The same, or all laws, of which any adversary's are some."""
        return AllPriors() if self._laws is None else self._laws

    @property
    def _free(self) -> bool:
        """True if the law of the others is taken to be any, given each letter of the record."""
        return self.problem.adversary.record_laws is None

    # ------------------------------------------------------------ what each measure is found by

    def rows(self, epsilons: Sequence[tuple[str, Any]]) -> list[tuple[Definition, Way]]:
        """Every measure, with its formula, the audit that proves it, the box of a chain, or why there is none."""
        chain = self.problem.adversary.is_chain
        named = [*OF_CHANNEL[:1], *(OF_CHAINS if chain else ()), *OF_CHANNEL[1:], *(OF_RECORDS if self.several else ())]
        deltas = [definition for text, factor in epsilons for definition in at_epsilon(text, factor)]
        found = {**self._audits, **self._bounds(epsilons)}
        if chain:
            found |= self._of_chain()
        ways = (
            (definition, found.get(definition.name) or self._refused(definition)) for definition in (*named, *deltas)
        )
        return [(_over(definition, way), way) for definition, way in ways]

    def _bounds(self, epsilons: Sequence[tuple[str, Any]]) -> dict[str, Way]:
        """Bounds by formulas, by name: from above where they hold for more laws than the adversary's."""
        if self.why_no_matrix:
            return {}
        found = self._formulas(epsilons)
        if self._laws is not None:
            return dict(found)
        same = OF_DATA if self.several else NEEDS_NO_PRIOR
        found.pop("mutual_information", None)  # which the audit bounds over the very set
        return {name: formula if name in same else AtMost(formula) for name, formula in found.items()}

    def _formulas(self, epsilons: Sequence[tuple[str, Any]]) -> dict[str, Formula]:
        """Measures that are evaluated over `_priors`, by name."""
        found: dict[str, Formula] = {}
        everything = isinstance(self._priors, AllPriors)
        pairs = sum(part.channel.shape[0] * part.channel.size for part in self.problem.asked)
        deltas = {
            f"{DELTA_OF_CLASS}({text})": partial(formulas.local_dp_delta, factor=factor) for text, factor in epsilons
        }
        deltas = deltas if pairs <= MAX_PAIRS else {}
        if not self.several:
            found |= {definition.name: definition.value for definition in OF_CLASS}
            found |= {name: over_class(_of_rows(delta)) for name, delta in deltas.items()}
            return found | ({definition.name: definition.value for definition in OF_ALL_PRIORS} if everything else {})
        found |= {definition.name: definition.value for definition in OF_RECORDS if definition.name in OF_DATA}
        ratio = found["free_lunch_privacy" if self._free else "differential_privacy"]
        if self.problem.route.pieces is not None:
            del found["free_lunch_privacy"]
        found |= dict.fromkeys(RATIOS if everything else ("leakage_capacity", "local_dp"), ratio)
        for name, delta in deltas.items():
            found[name] = of_data(partial(_delta_of_any, delta)) if self._free else _where_known(_of_rows(delta))
        if self._entries > MAX_TERMS:
            return found
        known = _where_known(_of_rows(formulas.exp_maximal_leakage))
        found["maximal_leakage"] = of_data(_guess_of_any) if self._free else known
        if everything:
            return found | {"min_entropy_leakage": found["maximal_leakage"]}
        lift = _where_known(exp_largest_lift)
        found |= {"local_information_privacy": lift, "information_privacy": lift}
        return found | {"pointwise_maximal_leakage": _where_known(exp_largest_pointwise)}

    @cached_property
    def _entries(self) -> int:
        """Number of entries that are looked at where rows are chosen, one for each letter: any, or those that the others select."""
        total = 0
        for part in self.problem.asked:
            for kind in selections(part.query_of_inputs, part.records):
                free = math.prod(np.unique(column).size for column in kind.inputs.T)
                total += (free if self._free else kind.inputs.size) * part.channel.shape[1]
        return total

    @cached_property
    def _audits(self) -> dict[str, Way]:
        """Ends that the audit of a model proves, by name."""
        problem, adversary = self.problem, self.problem.adversary
        found: dict[str, Way] = {"mutual_information": problem}
        known = _with_known_others(problem) if adversary.record_laws is None else problem
        if self.several and known is not None:
            found["conditional_mutual_information"] = known if self._laws is not None else AtMost(known)
        if isinstance(self._laws, AllPriors):
            found["shannon_capacity"] = problem
        elif isinstance(adversary, LawClass) and (wider := _with_known_others(problem)) is not None:
            found["shannon_capacity"] = wider
        return found

    def _of_chain(self) -> dict[str, Way]:
        """Bounds of the largest log-ratio: of two letters it is the epsilon of local differential privacy, too."""
        name = OF_CHAINS[0].name
        if isinstance(self.problem.adversary, FiniteChain):
            return {name: self._no("boxes of markov_chain alone are searched; state it so if there are two letters")}
        try:
            chain = OfChain(self.problem)
        except InputError as error:
            return {name: f"no value: {str(error).removeprefix('measure: ')}"}
        if not chain.in_closed_form:
            return {name: chain}
        found: dict[str, Way] = dict.fromkeys(RATIOS, AtMost(chain))
        return found | dict.fromkeys((name, "local_dp", "leakage_capacity"), chain)

    def _refused(self, definition: Definition) -> str:
        """Why there is no such measure."""
        name, adversary = definition.name.partition("(")[0], self.problem.adversary
        offered = name in (*RATIOS, DELTA_OF_CLASS, "maximal_leakage", "min_entropy_leakage")
        if self.why_no_matrix and (offered or name in OF_DATA or adversary.listed):
            return f"no value: {self.why_no_matrix}"
        if name == "free_lunch_privacy":
            return self._no("it compares any two datasets, whatever the blocks; entropy_at_least = 0 has it")
        if name == "shannon_capacity":
            return self._no(
                "it is over all laws of the record; entropy_at_least = 0 has a bound, which holds here, too"
            )
        if offered and (isinstance(self._priors, AllPriors) or name != "min_entropy_leakage"):
            return f"no value: more than {MAX_TERMS} entries would be looked at; ask about fewer records"
        return self._no(f"{SEARCH}; {LISTED}")

    def _no(self, why: str) -> str:
        return f"no bound against {self.problem.adversary.kind}: {why}"


def _over(definition: Definition, way: Way) -> Definition:
    what = definition.what.removesuffix(", under this prior")
    return replace(
        definition, what=f"at most, over more priors: {what}" if isinstance(way, AtMost) else what, searched=True
    )


def _with_known_others(problem: WorstCaseLeakage) -> WorstCaseLeakage | None:
    """The model against independent records: as blocks of one, where these are known, which takes no longer for many records."""
    for adversary in (IndependentBlocks(1), ProductPriors()):
        try:
            return replace(problem, adversary=adversary)
        except InputError:
            continue
    return None


def _data(problem: WorstCaseLeakage) -> Data:
    query, records = problem.query_of_inputs, problem.records
    groups = tuple(kind.inputs for kind in selections(query, records))
    return Data(problem.exact_channel, attained_values(query, records), groups)


def _of_rows(function: Callable[[Array], Any]) -> Callable[[Array, PriorClass], Any]:
    """A measure that needs no prior."""
    return lambda rows, _: function(rows)


def _where_known(function: Callable[[Array, PriorClass], Any]) -> Formula:
    """The largest over all that the others can be, which are known."""

    def value(measured: Measured) -> Any:
        assert measured.data is not None
        assert measured.priors is not None
        rows, priors = measured.data.channel, measured.priors
        found = [np.asarray(function(rows[group], priors)).item() for kind in measured.data.groups for group in kind]
        return largest(np.array(found, dtype=object))

    return value


def _guess_of_any(data: Data) -> Any:
    """The largest e^L, L the maximal leakage, of one row for each letter, any of those that it can select."""
    found = list[Any]()
    for kind in data.groups:
        tops = np.full((1, data.channel.shape[1]), fmpq(0), dtype=object)
        for column in kind.T:
            rows = data.channel[np.unique(column)]
            both = np.broadcast_arrays(tops[:, None], rows[None])
            tops = largest(np.stack(both), axis=0).reshape(-1, data.channel.shape[1])
        found.append(largest(tops.sum(axis=1)).item())
    return largest(np.array(found, dtype=object))


def _delta_of_any(delta: Callable[[Array], Any], data: Data) -> Any:
    return delta(data.channel[data.attained])


def _need_matrix(problem: WorstCaseLeakage) -> None:
    """`InputError` where there is no matrix of exact numbers, or it is too large."""
    if problem.route.tables is not None:
        raise InputError(NO_MATRIX)
    if problem.mechanism.on_a_line:
        raise InputError("noise on the real line has no matrix; discrete noise (geometric, discrete_laplace) has one")
    if problem.route.slack:
        raise InputError("noise that nothing cuts off has no matrix; give it a range")
    if problem.route.wide is not None:
        raise InputError(f"the matrix would have more than {MAX_ENTRIES} entries")
    need_size(*problem.shape)


def _need_some(problem: WorstCaseLeakage, parts: Sequence[WorstCaseLeakage]) -> None:
    """`InputError` where there is nothing to look at, or too much altogether."""
    if not parts:
        raise InputError("no letter of any record changes the release, so that there is nothing to tell")
    entries = sum(part.channel.size for part in parts)
    if problem.adversary.listed and len(problem.records) > 1:
        entries *= len(problem.records) * len(problem.adversary.listed)
    if entries > MAX_TERMS:
        raise InputError(f"more than {MAX_TERMS} entries would be looked at; ask about fewer records, blocks or priors")


def _need_same(problem: WorstCaseLeakage) -> None:
    """`InputError` where what is asked of a block is not the same for every measure."""
    if any(piece.slack or not (piece.bounds and piece.attained) for piece, _ in problem.pieces):
        raise InputError("what this comes down to, of one block each, is known for mutual_information alone")


def proved(problem: WorstCaseLeakage, clock: Clock) -> Ends:
    """Proved ends of the leakage of a model, by its audit within what is left of the clock.

    Raises
    ------
    DaleniusError
        If nothing can be proved.
    """
    left = clock.remaining
    limits = Limits(time_limit=None if math.isinf(left) else max(left, LEAST))
    need_within(problem, limits)
    need_readable(problem)
    search = Run(limits, clock, np.random.default_rng(0))
    audit = audit_within(problem, search)
    audit.run()
    result = prove(problem, audit, search)
    return Ends(Fraction(result.lower), Fraction(result.upper))
