"""Leakage of several releases together, at most, from certified intervals of each: theorems, each with its conditions.

The releases put together as one (`several_releases`, `releases`) have a certificate of their own, and reveal less than any sum says.
This is for what is too large for that.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import arb

from dalenius._verify import need_proved
from dalenius.errors import InputError, brief
from dalenius.evidence import Certificate, exact_fraction_above
from dalenius.exact import Number, as_list, as_quantity
from dalenius.information.capacity import capacity
from dalenius.information.measures.numbers import divergence, largest
from dalenius.intervals import text_below
from dalenius.measures.evaluation import evaluated
from dalenius.model import (
    Adversary,
    SecretLeakage,
    WorstCaseLeakage,
    digest,
)
from dalenius.model.adversaries import LawClass
from dalenius.model.adversaries.independent_blocks import as_blocks
from dalenius.model.in_words import words_of
from dalenius.model.sums import attained_values
from dalenius.notebook import in_brief
from dalenius.results import Result, SecretResult, at_most_text
from dalenius.units import UNITS, log_above, lower_in, nats_above, upper_in

MOST_ENTRIES = 2**18  # of a channel whose capacity is bounded; else the logarithm of its sides is
PUFFERFISH = "Nuradha and Goldfeld, Pufferfish privacy: an information-theoretic study"

Audit: TypeAlias = WorstCaseLeakage | SecretLeakage
Answer: TypeAlias = tuple[Audit, Result | SecretResult | Certificate]


@dataclass(frozen=True)
class _Rule:
    """A theorem: its name, its source, and when it holds."""

    name: str
    formula: str
    source: str
    because: str


SUM = _Rule(
    "sum",
    "L_1 + ... + L_k",
    f"{PUFFERFISH}, Corollary 1",
    "under the worst priors nothing is left to know but the record, or the secret: given it, outputs reveal nothing about each other",
)
FIRST = _Rule(
    "one and capacities",
    "L_j + sum of C_i over the others",
    "the chain rule: I(X; Y_j) + sum of I(X; Y_i | the outputs before) <= L_j + sum of C_i",
    "whatever is known, another output reveals at most its capacity about all the data",
)
ETA = _Rule(
    "sum and eta",
    "L_1 + ... + L_k + eta",
    f"{PUFFERFISH}, Proposition 1",
    "eta is the most that outputs reveal about each other given the record, or the secret, which the caller vouches for",
)
LETTERS = _Rule(
    "letters", "log A", "I(X; Y) <= H(X) <= log A", "nothing reveals more than what letter, or what secret, it is"
)

TOGETHER = (
    "; counts and tables of one --table are one question, with all of its columns and the query margins; where a mean is among them, "
    "each model has all columns (docs/census.md)"
)


@dataclass(frozen=True)
class Composition:
    """Leakage of several releases about a record or a secret together, at most: a theorem about certified numbers, no certificate.

    Attributes
    ----------
    lower, upper : float
        In `units`. All outputs together reveal at least what each of them does, and at most `upper`; both are rounded outward.
    rule, formula, source, because : str
        Which rule gives `upper`: ``"sum"``, ``"one and capacities"``, ``"sum and eta"`` or ``"letters"``; where it is from, and why it
        holds for this adversary.
    leakages : tuple of float
        L_i, the upper end of each release; where one is chosen after others, the largest of what it may be.
    capacities : tuple of float
        C_i, the most that each reveals about all the data; empty where the rule needs none.
    adaptive : bool
        Whether releases may be chosen after earlier outputs.
    values : int or None
        The largest number of values of a record, or of a secret: nothing reveals more than its logarithm.

    >>> import dalenius as dl
    >>> asked = [dl.WorstCaseLeakage(records=dl.Records(9, alphabet=2), query=query, mechanism=noise, adversary=dl.ProductPriors())
    ...          for query, noise in ((dl.Count(), dl.geometric(0.5)), (dl.Parity(), dl.symmetric("0.4")))]
    >>> both = composition([(one, dl.solve(one)) for one in asked])
    >>> both.rule, both.leakages[0] + both.leakages[1] <= both.upper < 0.0505
    ('sum', True)
    """

    __repr__ = in_brief

    lower: float
    upper: float
    rule: str
    formula: str
    source: str
    because: str
    leakages: tuple[float, ...]
    capacities: tuple[float, ...] = ()
    adaptive: bool = False
    units: str = "nats"
    values: int | None = None

    def to(self, units: str) -> Composition:
        """The same in ``"nats"`` or ``"bits"``, rounded outward.

        Raises
        ------
        InputError
            If the unit is another one, or the bound is not in nats any more.
        """
        if units == self.units:
            return self
        if self.units != "nats":
            raise InputError(f"convert from the bound in nats, this one is in {self.units}")
        leakages, capacities = (tuple(upper_in(x, units) for x in part) for part in (self.leakages, self.capacities))
        ends = {"lower": lower_in(self.lower, units), "upper": upper_in(self.upper, units), "units": units}
        return dataclasses.replace(self, leakages=leakages, capacities=capacities, **ends)  # type: ignore[arg-type]

    def __str__(self) -> str:
        told = f"{text_below(self.lower)} <= leakage of all together <= {at_most_text(self.upper, self.units, self.values, 6)}"
        return f"{told}, by a theorem ({self.rule}: {self.formula}; {self.source}): {self.because}"


def composition(
    answers: Sequence[Answer | Sequence[Answer]],
    *,
    adaptive: bool = False,
    eta: Number | None = None,
    rule: str | None = None,
) -> Composition:
    """Bound what several releases of one dataset leak about one record, or about a secret, together.

    Each has its own noise, independent of the others' given the data. The least of these bounds is the answer:

    *Sum*, L_1 + ... + L_k, where under the worst priors everything is known but the record: `ProductPriors`, `AnyPrior` and
    `IndependentBlocks` without an entropy; and classes of laws of one record, unless releases are chosen after others (after an
    output the record's law is in the class no more). Against an entropy bound this is *false*: of two fair bits the second one, and
    their parity, each reveal nothing about the first one, and together they tell it. About secrets it holds under all laws
    (`AnyPrior`, `ProductPriors`), and, unless releases are chosen after others, where secret and given determine the data.

    *One and capacities*, L_j + sum of C_i over the others, C_i the Shannon capacity of release i from all the data: for every
    adversary. Where releases are chosen after others, j is the first one.

    *Sum and eta*, L_1 + ... + L_k + eta, where the caller knows that the outputs reveal at most eta about each other given the record
    (the secret, and what is given), sum over i of I(Y_i; Y_1, ..., Y_(i-1) | X_r) <= eta under every prior of the adversary's.

    *Letters*, log A, A the largest alphabet, or number of values of a secret.

    Parameters
    ----------
    answers : sequence of (problem, result), or of lists of these
        `WorstCaseLeakage` problems about the same records and adversary, or `SecretLeakage` problems about the same secrets besides,
        with their results, or certificates, which are checked. A list
        stands for a release that is chosen after earlier outputs: everything that it may be.
    adaptive : bool
        That releases may be chosen after earlier outputs (which a list says, too).
    eta : number of nats, or a text such as ``"0.1 bits"``, optional
        See above; not for releases that are chosen after others. `dalenius.information.noise_formulas` has bounds of it.
    rule : str, optional
        Insist on one of the four; left out, the least bound is taken.

    Returns
    -------
    Composition

    Raises
    ------
    InputError
        If the problems are about other people, columns, secrets or adversaries, a result is another problem's, or the rule that is
        asked for is false here.
    NotProvedError
        If the checker does not prove a certificate.

    Notes
    -----
    *Sum*: the worst priors know everything but the record, for information is convex in the channel from it (docs/theory.md). Under
    these Y_1 and Y_2 are independent given X_r, and what y_1 leaves is again such a prior: I(X_r; Y_1, Y_2) = I(X_r; Y_1) + I(X_r;
    Y_2 | Y_1) (Nuradha and Goldfeld, Corollary 1). Of a secret under all laws, I(g; Y_2 | w, Y_1) is a mean over laws of the data,
    and at most L_2; where secret and given determine the data, outputs are independent given them, whatever the law. *One and
    capacities*: I(X_r; Y_2 | Y_1) <= I(X; Y_2 | Y_1) <= C_2, X all the data. *Sum and eta*: their Proposition 1. Capacities are
    evaluated in balls, at the output law that a search ends with: C <= max_x D(R_x || r) for every r.
    """
    stages = {f"answers[{j}]": item for j, item in enumerate(as_list(answers, "answers"))}
    if len(stages) < 2:
        raise InputError(f"answers: expected at least two releases, got {len(stages)}")
    return composed([(name, _stage(item, name)) for name, item in stages.items()], adaptive, eta, rule)


def composed(
    releases: Sequence[tuple[str, list[Answer]]], adaptive: bool, eta: Number | None, rule: str | None
) -> Composition:
    """The same of certificates that are proved, each release under the name that messages use."""
    names, stages = [name for name, _ in releases], [stage for _, stage in releases]
    first = stages[0][0][0]
    for name, (problem, _) in ((name, answer) for name, stage in releases for answer in stage):
        # about whom, and against whom
        for part, shown in (("records", brief), ("adversary", _shown), ("secrets", brief)):
            one, other = getattr(first, part, ()), getattr(problem, part, ())
            if one != other:
                raise InputError(
                    f"expected problems about the same records, or secrets, and the same adversary; {part} of {names[0]}: "
                    f"{shown(one)}, of {name}: {shown(other)}{TOGETHER if part == 'records' else ''}"
                )
    # two things to know about a person, of whom the logarithm of the letters is one; and a class of laws that means other letters
    for named, alike in (
        ("answer", "one column, which every model names as its answer or none does"),
        ("letters", "letters in one order"),
    ):
        known = {getattr(problem.records, named) for stage in stages for problem, _ in stage} - {()}
        if len(known) > 1:
            got = ", ".join(
                sorted((each or "no name") if isinstance(each, str) else brief(list(each)) for each in known)
            )
            raise InputError(f"expected problems about {alike}, got {got}{TOGETHER}")
    chosen = adaptive or any(len(stage) > 1 for stage in stages)
    leakages = [max(_ends(answer)[1] for answer in stage) for stage in stages]
    bounds = _Bounds(stages, leakages, first, chosen, None if eta is None else _nats(eta))
    best, upper, capacities = bounds.best(rule)
    lower = max(min(_ends(answer)[0] for answer in stage) for stage in (stages[:1] if chosen else stages))
    below, above = -exact_fraction_above(-lower), exact_fraction_above(upper)
    told, most = (tuple(map(exact_fraction_above, listed)) for listed in (leakages, capacities))
    return Composition(
        below, above, best.name, best.formula, best.source, best.because, told, most, chosen, values=first.most_values
    )


@dataclass(frozen=True)
class _Bounds:
    """All rules, for these releases: each with what it may be."""

    stages: list[list[Answer]]
    leakages: list[Fraction]
    question: Audit
    adaptive: bool
    eta: Fraction | None

    def best(self, asked: str | None) -> tuple[_Rule, Fraction, list[Fraction]]:
        """The least bound, or that of the rule that is asked for, with the capacities that it needed."""
        rules = {rule.name: rule for rule in (SUM, FIRST, ETA, LETTERS)}
        if asked is not None and asked not in rules:
            raise InputError(f"rule: expected one of {', '.join(rules)}; got {brief(asked)}")
        if asked in (SUM.name, ETA.name) and (why := self._false(rules[asked])):
            raise InputError(f"rule: {asked} is false here: {why}")
        if self.eta is not None and self.adaptive:
            raise InputError("eta: not for releases that are chosen after others; leave it out, or put them together")
        wanted = [rules[asked]] if asked else [rule for rule in (SUM, ETA, LETTERS) if not self._false(rule)]
        if asked is None and SUM not in wanted:
            wanted.insert(0, FIRST)
        found = [(rule, *self._bound(rule)) for rule in wanted]
        return min(found, key=lambda one: one[1])

    def _false(self, rule: _Rule) -> str:
        """Why a rule does not hold; an empty text where it does."""
        if rule is ETA:
            return (
                ""
                if self.eta is not None and not self.adaptive
                else "it needs eta, and releases that are not chosen after others"
            )
        adversary = self.question.adversary
        if rule is not SUM or _knows_the_others(adversary):
            return ""
        if isinstance(self.question, SecretLeakage):
            told = "secret and given do not determine the data, or releases are chosen after others"
            return "" if not self.adaptive and _determine_the_data(self.question) else f"{told}; ask about AnyPrior"
        if isinstance(adversary, LawClass):
            told = "after an output the record's law may have left the class"
            return f"{told}; ask about ProductPriors" if self.adaptive else ""
        return f"{adversary.kind} does not know everything else, and outputs may reveal about each other what neither tells alone"

    def _bound(self, rule: _Rule) -> tuple[Fraction, list[Fraction]]:
        if rule is LETTERS:
            return Fraction(log_above(Fraction(self.question.most_values))), []
        if rule is not FIRST:
            return sum(self.leakages, self.eta or Fraction(0)) if rule is ETA else sum(self.leakages, Fraction(0)), []
        capacities = [max(_capacity(problem) for problem, _ in stage) for stage in self.stages]
        ahead = self.leakages[:1] if self.adaptive else self.leakages
        saved = max(most - told for told, most in zip(ahead, capacities, strict=False))
        return sum(capacities, Fraction(0)) - saved, capacities


def _determine_the_data(problem: SecretLeakage) -> bool:
    """True if no two datasets agree in a secret and in what is given with it."""
    pairs = (np.stack(secret.values(problem.records)) for secret in problem.secrets)
    return all(np.unique(pair, axis=1).shape[1] == problem.records.datasets for pair in pairs)


def _nats(eta: Number) -> Fraction:
    """The amount, rounded upward into nats."""
    amount, units = as_quantity(eta, "eta", known=UNITS)
    if amount < 0:
        raise InputError(f'eta: expected at least 0 nats, or a text such as "0.1 bits", got {brief(eta)}')
    return amount if units == "nats" else Fraction(nats_above(exact_fraction_above(amount), units))


def _knows_the_others(adversary: Adversary) -> bool:
    """True if the worst of the adversary's priors, and what outputs leave of them, know everything that is not told by the record."""
    blocks = as_blocks(adversary)
    return adversary.unlimited if blocks is None else blocks.own.unlimited


def _stage(item: Any, where: str) -> list[Answer]:
    """Answers of what stands for a release."""
    if isinstance(item, Audit | Result | SecretResult | Certificate):
        raise InputError(
            f"{where}: expected a problem and its result or certificate, as in (problem, dl.solve(problem)); got a "
            f"{type(item).__name__} alone"
        )
    listed = [item] if isinstance(item, tuple) and len(item) == 2 else as_list(item, where)
    for answer in listed:
        pair = isinstance(answer, tuple) and len(answer) == 2
        if not (pair and isinstance(answer[0], Audit) and isinstance(answer[1], Result | SecretResult | Certificate)):
            raise InputError(
                f"{where}: expected a WorstCaseLeakage or SecretLeakage with its result or certificate, got {brief(answer)}"
            )
        _check(answer[0], answer[1], where)
    if not listed:
        raise InputError(f"{where}: expected what this release may be, got an empty list")
    return listed


def _check(problem: Audit, answer: Result | SecretResult | Certificate, where: str) -> None:
    """A result was proved before there was one; a certificate is proved now."""
    certificate = answer if isinstance(answer, Certificate) else answer.certificate
    if certificate.header.model != digest(problem):
        raise InputError(f"{where}: expected the result of this problem, got another problem's")
    if isinstance(answer, Certificate):
        need_composable(problem, answer, where)


def need_composable(problem: Audit, certificate: Certificate, name: str) -> None:
    """`NotProvedError` unless the checker proves the certificate of this name."""
    need_proved(problem, certificate, lambda verdict: f"{name}: the certificate is not proved: {verdict.reason}")


def _shown(adversary: Any) -> str:
    """The line that may be given for it, unless that leaves something out."""
    line = words_of(adversary)
    return brief(adversary) if line.endswith("...") else line


def _ends(answer: Answer) -> tuple[Fraction, Fraction]:
    """The claim, in nats."""
    certificate = answer[1] if isinstance(answer[1], Certificate) else answer[1].certificate
    claim = certificate.header.claim
    assert claim is not None  # only designs can be infeasible
    return Fraction(claim[0]), Fraction(claim[1])


def _capacity(problem: Audit) -> Fraction:
    """At least the Shannon capacity of the release from all the data: I(X; Y) <= max_x D(R_x || r) for every output law r."""
    if not problem.route.whole:
        raise InputError(
            "no capacity is known of a release whose channel is not written out; give eta, or put the releases together"
        )
    rows = problem.channel
    inputs = np.arange(len(rows)) if problem.inputs == "dataset" else attained_values(problem.query, problem.records)
    endless = problem.mechanism.tail > 0
    sides = Fraction(log_above(Fraction(inputs.size if endless else min(inputs.size, rows.shape[1]))))
    if endless:  # the channel is clamped, and reveals less than what nothing cuts off
        return sides
    if inputs.size * rows.shape[1] > MOST_ENTRIES:
        return sides
    weights = [arb(float(x)) for x in capacity(rows[inputs], gap=1e-9).output_law]

    def most() -> Any:
        law = np.array(weights, dtype=object)
        return arb(largest(divergence(problem.exact_channel[inputs], law / law.sum())).item())

    found = evaluated(most, exponent=False).upper
    return min(sides, Fraction(found)) if math.isfinite(found) else sides
