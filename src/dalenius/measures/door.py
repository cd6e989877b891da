"""`measure`: all measures of what a mechanism's output reveals, as intervals that hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from flint import arb, ctx, fmpq

from dalenius.errors import DaleniusError, InputError, brief, hint
from dalenius.evidence import Certificate
from dalenius.exact import Number, Numbers, Rows, as_bounded, as_fraction, as_list, as_nonnegative, fraction_text
from dalenius.information.balls import rational
from dalenius.information.deadline import TimeIsOverError
from dalenius.information.measures import AllPriors, PriorClass
from dalenius.measures.adversaries import (
    LISTED,
    SEARCH,
    AtMost,
    OfAdversary,
    OfDataPriors,
    Searched,
    Way,
    of_adversary,
    proved,
)
from dalenius.measures.answer import CLAIMED, Measure, Measures, claim, stem, units_of
from dalenius.measures.chains import OF_CHAINS, OfChain
from dalenius.measures.definitions import (
    NO_PRIOR,
    OF_ALL_PRIORS,
    OF_CHANNEL,
    OF_CLASS,
    OF_RECORDS,
    Definition,
    at_epsilon,
    at_level,
    at_order,
    of_gains,
    of_output,
    of_output_over_class,
    without_own_answer,
)
from dalenius.measures.evaluation import PRECISIONS, Ends, doubles_around, evaluated, in_bits, larger, least_epsilon
from dalenius.measures.secrets import OF_LAWS, OF_PAIRS, OfSecrets, of_pairs_at_epsilon
from dalenius.measures.subjects import (
    OfClass,
    OfInput,
    OfListed,
    OfRecord,
    Subject,
    exactly,
    inputs_of,
    is_rational,
    need_size,
)
from dalenius.measures.table import read_table
from dalenius.measures.witness import OfWitness, witness_of
from dalenius.model import (
    Adversary,
    AnyPrior,
    DesignProblem,
    MaxInformation,
    Problem,
    Records,
    SecretLeakage,
    WorstCaseLeakage,
    audited,
)
from dalenius.model.laws import Law, Uniform
from dalenius.model.mechanisms import Channel, DesignedMechanism, Mechanism
from dalenius.model.privacy import LocalDP
from dalenius.search import Clock, Limits, ended_with, stopped_by_interrupt
from dalenius.units import unit_size

MAX_PAIRS = 2**24  # terms of sums over pairs of inputs
T = TypeVar("T")
UNIFORM = Uniform.kind
BY_SUPPORT = (
    "disclosure",
    "singling_out",
)  # which say the same of any release whose outputs are all possible on the same inputs
LEAST = 0.5  # seconds that formulas may take, however low the limit is
LATE = "no value: the time was over before there was one; raise the time limit, or ask for less"
UNREAD = "a mechanism that was not read in time"
NO_CLASS = f'no bound over a set of priors: {SEARCH}; give one (prior=..., "uniform"; --prior), or list several'


def measure(
    subject: Problem | Mechanism | Rows | str | Path,
    *,
    prior: Numbers | Rows | PriorClass | Adversary | Certificate | Literal["uniform"] | None = None,
    law: Law | None = None,
    mechanism: DesignedMechanism | None = None,
    epsilon: Sequence[Number] = (),
    delta: Sequence[Number] = (),
    order: Sequence[Number] = (),
    level: Sequence[Number] = (),
    gains: Rows | None = None,
    outputs: bool = False,
    claims: bool = False,
    only: Sequence[str] = (),
    units: str | None = "nats",
    time_limit: float | None = Limits.time_limit,
    progress: Callable[[str], None] | None = None,
) -> Measures:
    """All measures of what one output of a mechanism reveals: intervals from exact numbers, or from balls rounded outward.

    Of a problem it is about one record, against the problem's own adversary: the record and the prior for which each measure is
    largest. What has no bound against that adversary is refused by name (`Measures.refused`). Of a mechanism, a matrix or a csv
    file it is about the input, or about a secret that the input depends on.

    Parameters
    ----------
    subject : problem, mechanism, matrix (inputs, outputs) or path of a csv file
        Entries of a matrix are exact (0.1 is 1/10), rows are divided by their exact sums. A csv file names the outputs in its first
        line and has an input a line; a column named ``prior`` holds their probabilities.
    prior : sequence of numbers, "uniform", a matrix, or a class of priors, optional
        The law of the input, ``"uniform"``, or p(s,x) for a secret S on the Markov chain S - X - Y, a row a secret. Left out: any
        prior, and what has no bound over all of them is refused by name (`Measures.refused`). For a class of
        `dalenius.information.measures` (`PriorBox`, `PriorBall`, `KLBall`, ...), or an adversary that holds one (`BoxPriors`,
        `L1BallPriors`, `KLBallPriors`, `EntropyAtLeast`, ...), the largest over it of each measure that allows that; for a `PriorSet`
        the largest of its priors, of every measure. For a problem only the certificate of its audit: the record and the prior that it
        shows, and what that prior lets the release reveal about the record without its own answer.
    law : Law, optional
        Measure a problem's records under this law, independent of one another, instead of the model's adversary. Other adversaries
        may learn more. A design that names no adversary is measured under its own law.
    mechanism : DesignedMechanism, optional
        For a design problem, which has none.
    epsilon, delta : sequences of numbers, optional
        Each epsilon (nats, ``"1 bits"``, ``"log 3"``) adds the deltas that it leaves, each delta the least epsilons that it allows.
    order : sequence of numbers, optional
        Each order above 0 adds Sibson's information and Renyi's divergence of it, ``local_renyi_dp``.
    level : sequence of numbers, optional
        Each rate of false positives adds the largest rate of true ones of a test between two values of the secret; and the largest
        difference of both rates.
    gains : matrix (guesses, inputs), optional
        g(w,x), what guess w is worth where the input is x, adds ``g_leakage`` and ``g_advantage``. At least 0.
    outputs : bool
        Add the pointwise maximal leakage and the probability of each output.
    claims : bool
        Have the independent checker prove the epsilon of local differential privacy of a rational mechanism, or matrix, and with one
        prior, or several that are listed, the pointwise maximal leakage: `Measure.claim` holds the model and the certificate.
    only : sequence of str
        Evaluate the measures of these names alone, without their arguments: all that take long need not be waited for.
    units : {"nats", "bits"} or None
        Of leakages; None is what people read, bits, but epsilons and ratios as natural logarithms (nats).
    time_limit : float or None
        Seconds for everything, None for no limit: when it ends, or at Ctrl-C (the first one), the intervals of audits and searches are
        as wide as they are by then, and formulas that have no value yet are refused by name. What has one within half a second is
        told, however low the limit is. Outside the main thread a formula that was begun is evaluated to its end.
    progress : callable, optional
        Called with the name of each measure before it is evaluated.

    Returns
    -------
    Measures

    Raises
    ------
    InputError
        If the subject is none of these, a law or prior does not fit, there are more than 2^18 entries, or the time limit is no number
        above 0.

    Notes
    -----
    What each measure is: docs/measures.md. Sources: the functions of `dalenius.information.measures`.

    >>> import dalenius as dl
    >>> found = dl.measure([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]], prior=[0.5, 0.3, 0.2])
    >>> found["local_dp"].exact, found["maximal_leakage"].exact, found["bayes_advantage"].exact
    ('log 7', 'log 1.9', '0.15')
    >>> 0.2021 < found["mutual_information"].lower <= found["mutual_information"].upper < 0.2022
    True
    """
    unit_size(units or "nats")
    clock = Clock(Limits(time_limit=time_limit).seconds)
    clock.reserved = max(LEAST - clock.time_limit, 0.0)
    work, names, more = _Work(clock, progress), as_list(only, "only"), _more(order, level, gains)
    with stopped_by_interrupt(clock):
        chosen = work.timed(lambda: _subject(subject, prior, law, mechanism))
        if chosen is None:
            return _unread(subject, epsilon, names, more)
        found = list(_evaluated(chosen, outputs, epsilon, delta, more, names, work))
        rows = [_row(definition, ends, units, chosen.against) for definition, ends in found if isinstance(ends, Ends)]
        if claims:
            rows = [_with_claim(row, chosen, work) for row in rows]
    refused = {definition.name: ends for definition, ends in found if isinstance(ends, str)}
    values = getattr(subject, "most_values", chosen.shape[0])
    return Measures(chosen.about, tuple(rows), refused, values)


@dataclass(frozen=True)
class _Work:
    """A clock, all of which formulas may take, what is reserved as well, and who is told what is evaluated next."""

    clock: Clock
    progress: Callable[[str], None] | None = None

    def told(self, name: str) -> None:
        """Say what is next."""
        if self.progress is not None:
            self.progress(name)

    def timed(self, make: Callable[[], T]) -> T | None:
        """The result of `make`, or nothing where there was no time for it."""
        try:
            with ended_with(self):
                return make()
        except TimeIsOverError:
            return None

    @property
    def expired(self) -> bool:
        return self.clock.interrupted or self.remaining <= 0.0

    @property
    def remaining(self) -> float:
        return self.clock.left


def _subject(subject: Any, prior: Any, law: Law | None, mechanism: DesignedMechanism | None) -> Subject:
    if isinstance(prior, Certificate):
        if not isinstance(subject, WorstCaseLeakage) or law is not None or mechanism is not None:
            raise InputError(
                "prior: a certificate shows the prior of its own audit; measure that, without law or mechanism"
            )
        return witness_of(subject, prior)
    if isinstance(subject, SecretLeakage):
        if any(each is not None for each in (prior, law, mechanism)):
            raise InputError(
                "prior, law, mechanism: the laws of secrets are those of the model's adversary; leave them out"
            )
        return OfSecrets(subject)
    if isinstance(subject, Problem):
        if prior is not None:
            raise InputError(
                "prior: a problem's records have a law; give law=Iid([...]), or the certificate of its audit"
            )
        return _of_record(subject, law, mechanism)
    if law is not None or mechanism is not None:
        raise InputError("law, mechanism: expected only with a problem; give the law of the input as prior")
    names = None
    if isinstance(subject, str | Path):
        rows, names, column = read_table(subject)
        if prior is not None and column is not None and not isinstance(prior, PriorClass | Adversary):
            raise InputError(f"{subject}: it has a column named prior; leave the other prior out")
        subject, prior = Channel(rows), column if prior is None else prior
    if not isinstance(subject, Mechanism):
        need_size(*(np.shape(subject) if isinstance(subject, np.ndarray) and subject.ndim == 2 else (1, 1)))
        subject = Channel(as_list(subject, "channel"))
    if prior is None:
        return OfClass(subject, inputs_of(subject), AllPriors())
    if isinstance(prior, PriorClass):
        return OfClass(subject, inputs_of(subject), exactly(prior))
    if isinstance(prior, Adversary):
        if prior.listed:
            return OfListed(tuple(OfInput(subject, inputs_of(subject), law, names) for law in prior.listed))
        alone = Records(1, alphabet=len(inputs_of(subject)))
        if prior.bound is not None:
            prior.check(alone)
        if prior.bound is not None or (prior.record_laws is not None and not prior.in_blocks):
            return OfClass(
                subject, inputs_of(subject), prior.laws(alone), prior
            )  # of one record, product laws are all laws
    uniform = isinstance(prior, str) and prior == UNIFORM
    return OfInput(subject, inputs_of(subject), None if uniform else prior, names)


def _of_record(
    problem: Problem, law: Law | None, mechanism: DesignedMechanism | None
) -> OfRecord | OfDataPriors | OfAdversary:
    if law is not None and not isinstance(law, Law):
        raise InputError(f"law: expected a Law such as Iid([...]), got {brief(law)}")
    if isinstance(problem, DesignProblem | MaxInformation):
        if mechanism is None:
            raise InputError(
                "problem: a design asks which mechanism to build; give the mechanism to measure, mechanism=..."
            )
        problem.check_designed(mechanism)
        rows = Channel(mechanism.rows, mechanism.inputs)
        adversary = AnyPrior() if problem.adversary is None else problem.adversary
        audit = WorstCaseLeakage(records=problem.records, query=problem.query, mechanism=rows, adversary=adversary)
        if law is None and problem.adversary is None:
            return OfRecord(audit, problem.law, "the law of the design")
    else:
        if mechanism is not None:
            raise InputError("mechanism: the problem has one already; leave it out")
        audit = audited(problem)
    return of_adversary(audit) if law is None else OfRecord(audit, law)


def _evaluated(
    subject: Subject,
    outputs: bool,
    epsilon: Sequence[Number],
    delta: Sequence[Number],
    more: Sequence[Definition],
    only: Sequence[str],
    work: _Work,
) -> Iterator[tuple[Definition, Ends | str]]:
    """Each measure with its interval, or why it has none."""
    epsilons = _factors(epsilon)
    shares = [_share(value) for value in as_list(delta, "delta")]
    if isinstance(subject, OfSecrets):
        if outputs or shares or more:
            raise InputError(
                "outputs, delta, order, level, gains: not offered about secrets of the data; give epsilons"
            )
        asked = [*(OF_LAWS if subject.listed else ()), *OF_PAIRS]
        asked += [row for each in epsilons for row in of_pairs_at_epsilon(*each)]
        yield from ((row, _in_time(subject, row, work)) for row in asked if not only or stem(row.name) in only)
        return
    if isinstance(subject, OfAdversary):
        if outputs or shares or more:
            raise InputError(
                "outputs, delta, order, level, gains: not offered against "
                f"{subject.problem.adversary.kind} (docs/measures.md); {LISTED}"
            )
        asked = subject.rows(epsilons)
        _need_names(only, [definition.name for definition, _ in asked])
        wanted = [(definition, way) for definition, way in asked if not only or stem(definition.name) in only]
        yield from _against(subject, wanted, work)
        return
    if epsilons or shares or more:
        _need_pairs(subject.shape)
    offered = _over_class(subject.priors) if isinstance(subject, OfClass) else {}
    always = [offered.get(definition.name, definition) for definition in OF_CHANNEL]
    asked = [(definition, subject) for definition in (*always, *(OF_RECORDS if subject.several else ()))]
    if isinstance(subject, OfWitness):
        asked += [(without_own_answer(c), without) for c, without in enumerate(subject.without_own_answer)]
    if outputs and subject.above is not None:
        raise InputError(
            "outputs: nothing cuts this noise off, and there is no end of them; leave them out, or give a range"
        )
    if outputs:
        each = of_output_over_class if isinstance(subject, OfClass) else of_output
        asked += [(row, subject) for y, label in enumerate(subject.outputs) for row in each(y, label)]
    asked += [(row, subject) for row in (*(row for each in epsilons for row in at_epsilon(*each)), *more)]
    names = [stem(definition.name) for definition, _ in asked]
    _need_names(only, names)
    for (definition, about), name in zip(asked, names, strict=True):
        if not only or name in only:
            refused = NO_CLASS if offered and name not in (*offered, *NO_PRIOR) else subject.refused.get(name)
            yield definition, refused or _in_time(about, definition, work)
    for share in shares:
        yield from _least_epsilons(subject, share, work)


def _unread(subject: object, epsilon: Sequence[Number], only: Sequence[str], more: Sequence[Definition]) -> Measures:
    """Every measure refused, for a subject that could not be read in time."""
    secrets = getattr(subject, "about_secrets", False)
    asked, each = ([*OF_LAWS, *OF_PAIRS], of_pairs_at_epsilon) if secrets else ([*OF_CHANNEL], at_epsilon)
    asked += [*(row for one in _factors(epsilon) for row in each(*one)), *more]
    names = [definition.name for definition in asked]
    return Measures(UNREAD, (), {name: LATE for name in names if not only or stem(name) in only})


def _over_class(priors: PriorClass) -> dict[str, Definition]:
    """Measures over a class of priors, by name."""
    everything = OF_ALL_PRIORS if isinstance(priors, AllPriors) else ()
    return {definition.name: definition for definition in (*OF_CLASS, *everything)}


def _against(
    subject: OfAdversary, wanted: Sequence[tuple[Definition, Way]], work: _Work
) -> Iterator[tuple[Definition, Ends | str]]:
    """Measures against a model's adversary; audits and searches share the time, and each audit is made once."""
    whole = [(definition, way.way if isinstance(way, AtMost) else way) for definition, way in wanted]
    left = len({id(way) for _, way in whole if isinstance(way, Searched)})
    searches = dict[int, Ends | str]()
    for (_, offered), (definition, way) in zip(wanted, whole, strict=True):
        if isinstance(way, str):
            found: Ends | str = way
        elif isinstance(way, Searched):
            if id(way) not in searches:
                work.told(definition.name)
                searches[id(way)] = LATE if work.clock.interrupted else _searched(way, work.clock.part(1 / left))
                left -= 1
            found = searches[id(way)]
        else:
            found = _in_time(subject, replace(definition, value=way), work)
        larger_set = isinstance(offered, AtMost) and isinstance(found, Ends)
        yield definition, Ends(Fraction(0), found.upper) if larger_set and isinstance(found, Ends) else found


def _searched(way: Searched, clock: Clock) -> Ends | str:
    """The audit's or the chain search's proved ends; or a reason why there are none."""
    if isinstance(way, OfChain):
        return _in_time(way, OF_CHAINS[0], _Work(clock)) if way.in_closed_form else way.searched(clock)
    try:
        return proved(way, clock)
    except DaleniusError as error:
        return f"no value: {error}"


def _need_names(only: Sequence[str], names: Sequence[str]) -> None:
    stems = list(map(stem, names))
    for name in only:
        if name not in stems:
            raise InputError(f"only: no measure here is named {brief(name)}{hint(str(name), stems)}")


def _in_time(subject: Subject, definition: Definition, work: _Work) -> Ends | str:
    """The interval of a measure, or that there was no time for one."""
    work.told(definition.name)
    return work.timed(lambda: _ends(subject, definition)) or LATE


def _ends(subject: Subject, definition: Definition) -> Ends:
    """The interval of a measure: the largest of all kinds of records."""
    precisions = PRECISIONS[:1] if definition.searched else PRECISIONS

    def of_kind(kind: int) -> Ends:
        def value() -> fmpq | arb:
            result = definition.value(subject.at_precision()[kind])
            return result.item() if isinstance(result, np.ndarray) else result

        return evaluated(value, exponent=definition.exponent, precisions=precisions)

    ends = reduce(larger, map(of_kind, range(subject.kinds)))
    if subject.above is not None and definition.name not in BY_SUPPORT:
        ends = ends.up_to(_ends(subject.above, definition))
    return ends if definition.limit is None else ends.below(definition.limit)


def _least_epsilons(subject: Subject, delta: Fraction, work: _Work) -> Iterator[tuple[Definition, Ends | str]]:
    """For each notion with a delta the least epsilon that this one allows."""
    for place, named in enumerate(at_epsilon("", fmpq(1))):
        name = named.name.removesuffix("_delta()")
        what = f"the least epsilon of this notion whose delta is at most {fraction_text(delta)}"
        row = Definition(f"{name}_epsilon({fraction_text(delta)})", "leakage", what, named.value)
        refused = NO_CLASS if isinstance(subject, OfClass) and stem(named.name) not in NO_PRIOR else None
        if refused := refused or subject.refused.get(stem(named.name)):
            yield row, refused
            continue

        def delta_at(factor: fmpq, place: int = place) -> Ends:
            return _ends(subject, at_epsilon("", factor)[place])

        work.told(name)
        yield row, work.timed(partial(least_epsilon, delta_at, delta)) or LATE


def _row(definition: Definition, ends: Ends, units: str | None, against: str) -> Measure:
    shown = units_of(definition.name, units) if definition.units == "leakage" else definition.units
    ends = in_bits(ends) if shown == "bits" else ends
    return Measure(definition.name, *doubles_around(ends), shown, definition.what, ends.exact, against=against)


def _with_claim(row: Measure, subject: Subject, work: _Work) -> Measure:
    """The row, proved by the checker where it can be, and in time; against a class of priors only what needs none.

    The claim about listed priors is about the matrix and all of them.
    """
    alone = isinstance(subject, OfClass) and row.name == "local_dp"
    if row.name not in CLAIMED or not (alone or isinstance(subject, OfInput | OfListed)):
        return row

    def claimed() -> Measure:
        measured = subject.at_precision()
        channel, priors = measured[0].channel, [each.prior for each in measured]
        if not (is_rational(channel) and (alone or all(map(is_rational, priors)))):
            return row
        work.told(f"{row.name}, the proof")
        return replace(row, claim=claim(row.name, channel, priors))

    return work.timed(claimed) or row


def _factors(epsilon: Sequence[Number]) -> list[tuple[str, fmpq | arb]]:
    """Each epsilon as it is written, and e to it."""
    return [(str(value), _factor(value)) for value in as_list(epsilon, "epsilon")]


def _factor(epsilon: Number) -> fmpq | arb:
    """e^epsilon where it is rational, else a ball around it."""
    try:
        notion = LocalDP(epsilon)
    except InputError as error:
        raise InputError(str(error).removeprefix("privacy: ")) from None
    if not notion.feasible:
        raise InputError(f"epsilon: expected a number of at least 0, got {brief(epsilon)}")
    low, high = (rational(end) for end in notion.factor())
    with ctx.workprec(PRECISIONS[1]):
        return low if low == high else arb(low).union(arb(high))


def _more(order: Sequence[Number], level: Sequence[Number], gains: Rows | None) -> list[Definition]:
    """Measures that are asked for by a number, or by gains; each once."""
    orders = {str(value): as_bounded(value, "order", above=0) for value in as_list(order, "order")}
    levels = {str(value): as_bounded(value, "level", at_least=0, at_most=1) for value in as_list(level, "level")}
    found = [row for text, number in orders.items() for row in at_order(text, number)]
    found += [row for text, number in levels.items() for row in at_level(text, number)]
    if gains is not None:
        rows = [as_nonnegative(row, f"gains[{w}]") for w, row in enumerate(as_list(gains, "gains"))]
        if not rows or len({len(row) for row in rows}) != 1:
            raise InputError("gains: expected at least one row, and rows of one length")
        found += of_gains(np.array([[rational(gain) for gain in row] for row in rows], dtype=object))
    return list({row.name: row for row in found}.values())


def _share(delta: Number) -> Fraction:
    share = as_fraction(delta, "delta")
    if not 0 <= share <= 1:
        raise InputError(f"delta: a probability, expected 0 to 1, got {brief(delta)}")
    return share


def _need_pairs(shape: tuple[int, int]) -> None:
    """`InputError` where sums over pairs of inputs would take too long."""
    terms = shape[0] ** 2 * shape[1]
    if terms > MAX_PAIRS:
        raise InputError(
            f"epsilon, delta: at most {MAX_PAIRS} terms are evaluated exactly, and inputs^2 * outputs is {terms}; "
            "leave them out, or compute in doubles with local_dp_delta of dalenius.information.measures"
        )
