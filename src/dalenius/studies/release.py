"""One output for real data, with a proof of what it can teach about one record: decided first, sampled after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from flint import fmpq

from dalenius._solve import solve
from dalenius._verify import need_proved
from dalenius.errors import InputError, NotProvedError, brief
from dalenius.evidence import Certificate, Header, exact_fraction_above
from dalenius.exact import Integer, as_fraction, as_list, as_quantity, fraction_text
from dalenius.files import csv_column
from dalenius.information.arrays import Integers
from dalenius.intervals import text_above
from dalenius.model import DesignProblem, IndependentBlocks, Problem, Records, WorstCaseLeakage
from dalenius.model.adversaries.independent_blocks import as_blocks
from dalenius.model.in_words import as_part
from dalenius.model.mechanisms import DesignedMechanism, Mechanism
from dalenius.model.mechanisms.designed import Label
from dalenius.model.mechanisms.sampling import Random, need_random
from dalenius.model.problems import Mean
from dalenius.model.queries.margins import SEPARATOR
from dalenius.model.sums import record_types
from dalenius.notebook import in_brief
from dalenius.outcome import Termination
from dalenius.results import against_text, budget_text, nats_and_bits
from dalenius.search import Progress
from dalenius.units import LARGEST_IN_DOUBLES, UNITS, is_at_least_log, is_at_most, nats_above, upper_in

# Data about people, from a csv file: the letters of the records, and what the texts in it stand for.


def letter_texts(records: Records, texts: Sequence[str] | None = None) -> list[str]:
    """The texts that stand for letter 0, 1, ..., by default the model's; `InputError` unless they are those, one a letter.

    >>> letter_texts(Records(2, alphabet=3))
    ['0', '1', '2']
    """
    largest, known = max(records.alphabets), list(records.letters)
    texts = known or list(map(str, range(largest))) if texts is None else as_list(texts, "letters")
    if known and texts != known:
        raise InputError(f"letters: the model has them in the order {brief(known)}, got {brief(texts)}; leave them out")
    if len(texts) != largest or len(set(texts)) < largest:
        raise InputError(
            f"letters: expected {largest} different texts, for the letters 0 to {largest - 1}, got {brief(texts)}"
        )
    return texts


def read_letters(
    path: str | Path,
    records: Records,
    column: str | None = None,
    texts: Sequence[str] | None = None,
    mean: Mean | None = None,
) -> list[int]:
    """The letters of the records, from a csv file with names in its first line and one record in each line below.

    Parameters
    ----------
    column : str, optional
        A name in the first line, or several with commas, whose entries are joined as `from_frame` joins them; left out: the only
        column.
    texts : sequence of str, optional
        The texts that stand for letter 0, 1, ...; left out: the numbers themselves.
    mean : Mean, optional
        What the records are asked for: values within its bounds are rounded to its grid, whose letters the texts are.

    Raises
    ------
    InputError
        If the texts do not fit the alphabets, the file cannot be read, or there are not as many records. Errors name the line; what
        stands in it is nobody's business.
    """
    unsaid = "" if texts is not None or records.letters else "; --letters (texts) says what else stands for them"
    texts, largest = letter_texts(records, texts), max(records.alphabets)
    letter_of = {text: letter for letter, text in enumerate(texts)}
    letters: list[int] = []
    for line, text in csv_column(path, column, gaps=False, entries=texts, joint=SEPARATOR):
        record = len(letters)
        if record == len(records):
            raise InputError(f"{path}: line {line}: one record too many; the model has {len(records)}")
        letter = letter_of.get(text, largest)
        if mean is not None and letter == largest:
            with suppress(InputError):  # it would repeat the entry
                (letter,) = mean.letters([text.strip()])
        if letter >= records.alphabets[record]:
            known = brief(texts[: records.alphabets[record]])
            rounded = f", nor a number from {texts[0]} to {texts[-1]}" if mean is not None else ""
            raise InputError(
                f"{path}: line {line}: the entry (not shown) is none of record {record}'s letters, {known}{rounded}{unsaid}"
            )
        letters.append(letter)
    if len(letters) < len(records):
        raise InputError(f"{path}: ends after {len(letters)} records; the model has {len(records)}, one a line")
    return letters


def need_households(path: str | Path, column: str, problem: Problem) -> bool:
    """The households of a table are such that what is proved of the model's blocks holds for them.

    Returns True if nobody lives with anybody there, and some do in the model: the column of another thing holds as well.

    *Enough because* nothing but the size of the own block counts where all records are alike, and the rest are known at worst; every
    law of a smaller block is one of a larger, whose other records are known. An entropy of the own block is about its very size.

    Raises
    ------
    InputError
        If the model is not about blocks of records that are alike, a household is larger than all of its blocks, or, with an entropy
        of the own one, the sizes are others.
    """
    blocks, query, records = as_blocks(problem.adversary), problem.query.sums, problem.records
    if blocks is None or query is None or len(record_types(query, records)) > 1:
        raise InputError("--household: expected a model of independent blocks of people who are alike; leave it out")
    homes = [text.strip() or None for _, text in csv_column(path, column)]
    there = sorted(IndependentBlocks.of_column(homes).sizes or ())
    own = sorted(size for size, times in blocks.sizes_of(records) for _ in range(times))
    if there[-1] > own[-1] or (blocks.entropy_at_least is not None and there != own):
        raise InputError(
            f"{path}: the households in {column} are not the model's, of at most {own[-1]} people: nothing is proved of them; audit "
            "this table"
        )
    return there[-1] == 1 < own[-1]


GAP = 1e-3  # relative, of an audit on the spot

Listed = Sequence[Integer] | Integers
Letters = Listed | Callable[[], Listed]


@dataclass(frozen=True)
class LeakageBound:
    """Largest leakage of one release about one record: in nats and in bits, both rounded upward; and whether the budget is met.

    `within_budget` is None where the model has no budget of leakage, and False where that it is met is not proved; `values` says how
    many values a record has, of which nothing reveals more than the logarithm.
    """

    nats: float
    bits: float
    within_budget: bool | None = None
    values: int | None = field(default=None, compare=False)

    def is_at_most(self, amount: Fraction, units: str) -> bool:
        """True if it is proved to be within an amount: in nats or in bits, of which each is rounded upward by itself.

        So is whatever is proved, within all there is to know.

        >>> bounds = LeakageBound(0.7, 1.01, values=2), LeakageBound(0.7, 1.01)
        >>> [bound.is_at_most(Fraction(1), "bits") for bound in bounds]
        [True, False]
        """
        ends = ((self.nats, "nats"), (self.bits, "bits"))
        all_there_is = self.values is not None and is_at_least_log(amount, units, self.values)
        return all_there_is or any(is_at_most(end, known, amount, units) for end, known in ends)

    def __str__(self) -> str:
        return f"at most {nats_and_bits(self.nats, self.values, 6)} about any one record"


@dataclass(frozen=True)
class Release:
    """One output, and what is proved of it. What went into the mechanism is in no field of it.

    Attributes
    ----------
    output : int, str or list of int
        The output that was drawn, by its name; of a histogram every cell.
    leakage : LeakageBound
        What the adversary learns at most, proved by `certificate` before anything was drawn.
    adversary : str
        Against whom, in words.
    certificate : Certificate
        The one given, or that of the audit made on the spot (`audited`).
    audited : bool
        Whether the proof was made on the spot.
    distortion, max_distortion : Fraction or None
        In a design model the expected distortion, exactly, and its budget, if that is what is given.
    simulation : bool
        Whether the output came from a generator that was handed in: then anybody can repeat it, and it must not be published.
    """

    __repr__ = in_brief

    output: Label | list[int]
    leakage: LeakageBound
    adversary: str
    certificate: Certificate = field(repr=False)
    audited: bool
    distortion: Fraction | None = None
    max_distortion: Fraction | None = None
    simulation: bool = False

    @property
    def within_distortion_budget(self) -> bool | None:
        """True if the expected distortion is within its budget, exactly; None without one."""
        if self.distortion is None or self.max_distortion is None:
            return None
        return self.distortion <= self.max_distortion

    def __str__(self) -> str:
        return f"{'SIMULATION, ' if self.simulation else ''}output {self.output}: {self.leakage}, to {self.adversary}"


def release(
    problem: Problem,
    mechanism: Mechanism | str | None,
    letters: Letters,
    *,
    certificate: Certificate | None = None,
    time_limit: float | None = 30.0,
    despite_budget: bool = False,
    at_most: str | None = None,
    rng: Random | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Release:
    """Draw one output for real data, if it is proved what that leaks about one record, and that it keeps the model's budget.

    In this order: the mechanism must fit the model; the bound is proved, from the certificate or by an audit; the model's budget of
    leakage or distortion must be met; the data is looked at; one output is drawn, with exactly the mechanism's probabilities. Whatever
    fails, nothing is drawn, and no error repeats the data.

    Parameters
    ----------
    problem : MinLeakage, MinDistortion or WorstCaseLeakage
        The model of the records, the query and the adversary; the mechanism of a `WorstCaseLeakage` plays no part if one is given.
    mechanism : DesignedMechanism, Mechanism or str, optional
        A matrix to sample from; or beside a `WorstCaseLeakage` one that is known by name, as "discrete_laplace 0.5": discrete
        Laplace, geometric or discrete Gaussian noise, or one whose probabilities are rational. Left out, it is the model's own.
    letters : sequence of int, or callable
        The letter of each record; or what reads them, called once the bound is proved.
    certificate : Certificate, optional
        Of this mechanism's audit, or of the design, if it carries this very mechanism. Without one the mechanism is audited here.
    time_limit : float or None
        Seconds for that audit.
    despite_budget : bool
        Release also where the leakage is not proved to be within the model's budget, or the expected distortion is above it. What is
        proved is in the answer all the same.
    at_most : str, optional
        A budget of this release, ``"0.3 bits"``: nothing is drawn if the leakage is not proved to be within it.
    rng : random.Random or numpy.random.Generator, optional
        ONLY for simulations: it makes the output predictable. By default the operating system's entropy.
    progress : callable, optional
        As in `solve`, for that audit.

    Raises
    ------
    NotProvedError
        If the independent checker does not prove the certificate, it is about another mechanism, or a budget is not met.
    InputError
        If an argument is invalid, or the mechanism or the letters do not fit the model.
    KeyboardInterrupt
        If the audit is interrupted.

    Notes
    -----
    What is guaranteed, and what is not: docs/release.md. Above all, each further release of the same data adds to what is learnt.

    >>> import dalenius as dl
    >>> model = dl.MinLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0.1,
    ...     adversary=dl.EntropyAtLeast("2.2 nats"))
    >>> found = dl.release(model, model.designed([[0.9, 0.1], [0.1, 0.9]]), [0, 1, 1, 1])
    >>> found.output in (0, 1), found.leakage.nats < 0.325, found.within_distortion_budget
    (True, True, True)
    >>> count = dl.WorstCaseLeakage(records=dl.Records(1000, alphabet=2), query=dl.Count(), mechanism=dl.discrete_laplace(0.5),
    ...     adversary=dl.IndependentBlocks(4))
    >>> found = dl.release(count, None, [0, 1] * 500)
    >>> found.leakage.bits < 0.3668, abs(found.output - 500) < 200
    (True, True)
    """
    allowed = None if at_most is None else as_quantity(at_most, "at_most", known=UNITS, units="")
    mechanism = releasing(problem, mechanism)
    audit = audit_of_release(problem, mechanism)
    if certificate is not None and not isinstance(certificate, Certificate):
        raise InputError(f"certificate: expected a Certificate, or None, got {brief(certificate)}")
    proof = _audited(audit, time_limit, progress) if certificate is None else certificate
    leakage = bound_of(problem, mechanism, _proved(problem, audit, proof), proof)
    distortion = None
    if isinstance(problem, DesignProblem):
        assert isinstance(mechanism, DesignedMechanism)
        distortion = problem.expected_distortion(mechanism.rows)
    if not despite_budget:
        _need_budget(problem, leakage, distortion)
    if allowed is not None and not leakage.is_at_most(*allowed):
        message = (
            f"{leakage} is proved, and --at-most (at_most) allows {budget_text(*allowed, None)}; nothing is released"
        )
        raise NotProvedError(message, status="more than at_most", exit_code=6)
    dataset = problem.records.dataset(letters() if callable(letters) else letters)
    return Release(
        output=_drawn(problem, mechanism, dataset, rng),
        leakage=leakage,
        adversary=against_text(audit),
        certificate=proof,
        audited=certificate is None,
        distortion=distortion,
        max_distortion=problem.distortion_budget,
        simulation=rng is not None,
    )


def releasing(problem: Problem, mechanism: Mechanism | str | None) -> Mechanism:
    """The mechanism that is released with, in the form that it is sampled in: noise, or a matrix of rational numbers.

    Raises
    ------
    InputError
        If it is none, or it cannot be sampled exactly.

    >>> import dalenius as dl
    >>> bit = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(), mechanism=dl.symmetric(0.2),
    ...     adversary=dl.AnyPrior())
    >>> releasing(bit, None), releasing(bit, "discrete_laplace 0.5")
    (<DesignedMechanism of 2 rows by query and 2 outputs>, DiscreteLaplace(epsilon=Fraction(1, 2), scale=None))
    """
    if mechanism is None and isinstance(problem, WorstCaseLeakage):
        mechanism = problem.mechanism
    chosen = as_part(Mechanism, mechanism, "mechanism")
    if isinstance(chosen, DesignedMechanism):
        return chosen
    if not isinstance(chosen, Mechanism) or not isinstance(problem, WorstCaseLeakage):
        raise InputError(
            f"mechanism: expected a DesignedMechanism, or beside a worst_case_leakage model any mechanism; got {brief(chosen)}"
        )
    if chosen.sampler is not None:
        return chosen
    audit = replace(problem, mechanism=chosen)
    if chosen.on_a_line or audit.inputs != chosen.indexed_by() or not audit.mechanism.is_shipped:
        raise InputError(f"mechanism: {chosen.kind} is not sampled exactly; {SAMPLED}")
    values = audit.query_of_inputs.values(audit.records)
    entries = chosen.exact_entries(values)
    if not all(isinstance(entry, fmpq) for entry in entries.numbers):
        raise InputError(f"mechanism: {chosen.kind} has probabilities that are not rational; {SAMPLED}")
    rows = [[Fraction(int(x.p), int(x.q)) for x in row] for row in entries.matrix]
    return DesignedMechanism(rows, audit.inputs, None if audit.inputs == "dataset" else values)


SAMPLED = "release with discrete_laplace, geometric or discrete_gaussian noise, or with a matrix of exact probabilities"


def audit_of_release(problem: Problem, mechanism: Mechanism) -> WorstCaseLeakage:
    """The audit that a release by this mechanism calls for: what it leaks to the model's adversary.

    Raises
    ------
    InputError
        If the mechanism is none for the model's query, or not of a design model's class.

    >>> import dalenius as dl
    >>> model = dl.MinLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0.2,
    ...     adversary=dl.EntropyAtLeast("1 nats"))
    >>> audit_of_release(model, model.designed([[0.8, 0.2], [0.2, 0.8]])).channel.tolist()
    [[0.8, 0.2], [0.2, 0.8]]
    """
    if not isinstance(problem, WorstCaseLeakage | DesignProblem):
        raise InputError(f"problem: expected a WorstCaseLeakage, MinLeakage or MinDistortion, got {brief(problem)}")
    if isinstance(problem, WorstCaseLeakage):
        return problem.released_by(mechanism)
    if not isinstance(mechanism, DesignedMechanism):
        raise InputError(f"mechanism: expected a DesignedMechanism, got {brief(mechanism)}")
    return problem.released_by(mechanism)


def bound_of(problem: Problem, mechanism: Mechanism, upper: Fraction | None, certificate: Certificate) -> LeakageBound:
    """Bound of a certificate that the checker has proved on the mechanism's leakage.

    *Bound because*: an audit's claim is about its one mechanism. A design's certificate carries a mechanism that leaks at most `upper`
    (`MinLeakage`; with an objective, at most the end of its first term) or at most the budget (`MinDistortion`),
    docs/certificate-format.md; it counts only if it is this very one.

    Parameters
    ----------
    upper : Fraction or None
        The upper claim that was proved; None where nothing was claimed from above, and no mechanism is shown.

    Raises
    ------
    NotProvedError
        If it is about another mechanism.
    """
    design = _design(certificate, problem)
    if design is None:
        assert upper is not None
        return _leakage(problem, upper)
    assert isinstance(mechanism, DesignedMechanism)
    if rows_in(certificate.header, design) != list(mechanism.rows):
        message = "the certificate of the design is about another mechanism than this one"
        raise NotProvedError(message, status="about another mechanism", exit_code=2)
    if design.leakage_allowed is not None:
        return _budget(design, *design.leakage_allowed)
    terms = certificate.header.terms
    if design.objective is not None and terms is not None:  # the claim is about all terms; its own leakage is the first
        upper = as_fraction(terms[0], "certificate: terms")
    assert upper is not None
    return _leakage(problem, upper)


def _audited(
    audit: WorstCaseLeakage, time_limit: float | None, progress: Callable[[Progress], None] | None
) -> Certificate:
    """The certificate of an audit made now."""
    result = solve(audit, gap=GAP, time_limit=time_limit, progress=progress)
    if result.termination is Termination.INTERRUPTED:
        raise KeyboardInterrupt
    return result.certificate


def _proved(problem: Problem, audit: WorstCaseLeakage, certificate: Certificate) -> Fraction | None:
    """The upper claim of a certificate that the checker proves; None if nothing is claimed from above."""
    about = _design(certificate, problem) or audit
    told = need_proved(
        about, certificate, lambda verdict: f"{verdict.status.value}: {verdict.reason}; nothing is released"
    )
    return told.upper


def _need_budget(problem: Problem, leakage: LeakageBound, distortion: Fraction | None) -> None:
    """`NotProvedError` unless the model's budget, if it has one, is met: of distortion exactly, of leakage by what is proved."""
    spent, allowed = distortion, problem.distortion_budget
    if spent is not None and allowed is not None and spent > allowed:
        missing, instead = (
            f"the expected distortion, {text_above(spent)}, is above the budget {fraction_text(allowed)}",
            "take a mechanism that distorts less, or a larger max_distortion",
        )
    elif problem.leakage_allowed is not None and not leakage.within_budget:
        missing, instead = (
            f"the budget of leakage, {budget_text(*problem.leakage_allowed, None)}, is not proved to be met, "
            f"only {leakage}",
            "take a mechanism that leaks less, a certificate that proves more, or a larger max_leakage",
        )
    else:
        return
    message = f"{missing}; nothing is released; {instead}, or release despite the budget (--despite-budget, despite_budget=True)"
    raise NotProvedError(message, status="budget not met", exit_code=5)


def _drawn(problem: Problem, mechanism: Mechanism, letters: Sequence[int], rng: Random | None) -> Label | list[int]:
    """One output."""
    if isinstance(mechanism, DesignedMechanism):
        return mechanism.sample(_true_input(problem, mechanism, letters), rng)
    need_random(rng)
    assert mechanism.sampler is not None
    query, records = problem.query, problem.records
    sums, by_cell = query.sums, False
    if sums is not None and (by_cell := sums.by_cell):
        true, ends = sums.in_every_cell(records, letters), (0, len(records))
    else:
        values = query.values(records)
        true, ends = [query.value(records, letters)], (int(values[0]), int(values[-1]))
    limits = mechanism.clamping(*ends)
    noisy = [value + mechanism.sampler(rng) for value in true]
    if limits is not None:
        noisy = [min(max(value, limits[0]), limits[1]) for value in noisy]
    return noisy if by_cell else noisy[0]


def _true_input(problem: Problem, mechanism: DesignedMechanism, letters: Sequence[int]) -> int:
    """Input of the mechanism: the query's value, or the dataset's index. Not to be shown to anybody."""
    if mechanism.inputs == "dataset":
        return problem.records.index(letters)
    return problem.query.value(problem.records, letters)


def _design(certificate: Certificate, problem: Problem) -> DesignProblem | None:
    """The design model, if this is a certificate of it, and not of an audit, going by its first line."""
    header = _header(certificate)
    if not isinstance(problem, DesignProblem) or header is None or header.problem != problem.kind:
        return None
    return problem


def _leakage(problem: Problem, upper: Fraction) -> LeakageBound:
    """An upper claim in nats."""
    nats = exact_fraction_above(upper)
    bits = upper_in(nats, "bits")
    if problem.leakage_allowed is None:
        return LeakageBound(nats, bits, values=problem.most_values)
    amount, units = problem.leakage_allowed
    return LeakageBound(nats, bits, Fraction(bits if units == "bits" else nats) <= amount, problem.most_values)


def _budget(problem: Problem, allowed: Fraction, units: str) -> LeakageBound:
    """The budget of leakage itself, rounded upward."""
    amount = exact_fraction_above(min(allowed, LARGEST_IN_DOUBLES))
    ends = (amount, upper_in(amount, "bits")) if units == "nats" else (nats_above(amount, "bits"), amount)
    return LeakageBound(*ends, True, problem.most_values)


def _header(certificate: Certificate) -> Header | None:
    """The first line, or nothing where it is none: that is for the checker to say."""
    try:
        return certificate.header
    except InputError:
        return None


def rows_in(header: Header, problem: DesignProblem) -> list[tuple[Fraction, ...]]:
    """The rows of the mechanism in a certificate, if there is one; all rows of the class."""
    return problem.expand(header.shares) if header.mechanism is not None else []
