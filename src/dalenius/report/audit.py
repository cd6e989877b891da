"""`audit`: one call about a release, one page about what it reveals: proved, evaluated, and in plain words."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import isfunction
from pathlib import Path
from typing import Unpack

from dalenius._solve import solve
from dalenius.errors import DaleniusError, InputError, brief, hint
from dalenius.exact import Integer, Rows
from dalenius.files import need_places, write_together
from dalenius.intervals import text_above
from dalenius.measures import Measure, Measures
from dalenius.measures.door import measure
from dalenius.model import Adversary, IndependentBlocks, ProductPriors, Records, WorstCaseLeakage, digest, model_bytes
from dalenius.model.elsewhere import OF_FUNCTION, People
from dalenius.model.in_words import as_part
from dalenius.model.mechanisms import Mechanism
from dalenius.model.queries import Count, Identity, Query
from dalenius.notebook import in_brief, table
from dalenius.outcome import Termination
from dalenius.report.decision import (
    BRACKETS,
    Household,
    accuracy,
    advantage_at_most,
    households,
    notice,
    table_of,
    untold,
    verdict,
)
from dalenius.report.page import report_page
from dalenius.report.page.proofs import TOLD, files_to_check, proved, to_any, without_own_answer
from dalenius.report.words import (
    COMPUTED,
    FOLLOWS,
    PROVED,
    RESOLVED,
    WHY,
    assumed,
    ends_shown,
    factor,
    in_bits,
    paragraph,
    point,
    question,
    rare,
    refusal,
    text_table,
    told_without,
)
from dalenius.results import Result, most_of
from dalenius.search import Clock, LimitOptions, Limits, Progress, stopped_by_interrupt
from dalenius.units import lower_in, upper_in

PAGES = (".md", ".html")
MARGINS = (
    ', or of several columns margins: "margins 2" on the command line, Margins.lattice(people.attributes, 2) in Python'
)
OF_ALL = "computed over all adversaries of the question"
MEASURED = 0.1  # share of the time limit that measures get at the least


@dataclass(frozen=True)
class Audit:
    """Leakage of a release about one person: the certified interval, and further measures at the prior that attains it.

    As a text it is the page, in Markdown.

    Attributes
    ----------
    problem : WorstCaseLeakage
        The question, as `dalenius.verify` wants it.
    result : Result
        The certified interval, in nats, with its certificate.
    at_prior : Measures or None
        The measures at the prior that the certificate shows, in bits, evaluated in exact numbers and balls; None where it shows none.
    why_not : str
        Why there is no such prior.
    households : tuple of Household
        Sizes of households beside one another, and half the epsilon, where the noise has one.
    pointwise_maximal_leakage_to_any : Measure or None
        log2 of the factor by which any single output makes any guess likelier to be right, to any adversary of the question: of an
        answer that was thought very unlikely it is far larger than to the adversary of the certificate.
    why_not_to_any : str
        Why there is no such bound.
    gate : str
        What was asked of it, and whether it is met, in a sentence for the page.
    """

    __repr__ = in_brief

    problem: WorstCaseLeakage
    result: Result
    at_prior: Measures | None
    why_not: str = ""
    households: tuple[Household, ...] = ()
    pointwise_maximal_leakage_to_any: Measure | None = None
    why_not_to_any: str = ""
    gate: str = ""

    @property
    def leakage(self) -> Measure:
        """max over the adversary's priors and over people of I(X_i; Y), in bits: proved by the certificate."""
        lower, upper = lower_in(self.result.lower, "bits"), upper_in(self.result.upper, "bits")
        upper = min(upper, most_of(self.problem.most_values, "bits"))
        return Measure("worst_case_leakage", lower, upper, "bits", "what the release reveals about one person at most")

    @property
    def bayes_advantage_at_most(self) -> float:
        """Largest gain in the probability of a right guess, for any adversary of the question.

        *Bound because* of Pinsker's inequality and of the certificate's upper end, or of how far apart answers move what is released
        (docs/report.md, two objections).
        """
        return advantage_at_most(self.problem, self.result.upper)

    @property
    def bayes_advantage(self) -> Measure | None:
        """The same for the adversary that the certificate shows."""
        return self._at_prior("bayes_advantage")

    @property
    def pointwise_maximal_leakage(self) -> Measure | None:
        """log2 of the factor by which any single output makes any guess about the person likelier to be right, to that adversary."""
        return self._at_prior("pointwise_maximal_leakage")

    @property
    def without_own_answer(self) -> Measure | None:
        """I(X_i; Y without i), in bits, to the same adversary: a fixed letter is released in the person's place.

        From the least to the most over these letters; letter 0 of a count or a sum leaves the person out.
        """
        return None if self.at_prior is None else without_own_answer(self.at_prior)

    def _at_prior(self, name: str) -> Measure | None:
        return None if self.at_prior is None else self.at_prior[name]

    def __str__(self) -> str:
        return self.page()

    def page(self, *, model: str | None = None, certificate: str | None = None) -> str:
        """The page as Markdown that a terminal can show, too, with the names of the files to check; without them how to write them.

        >>> import dalenius as dl
        >>> told = audit(dl.discrete_laplace(0.5), records=1_000_000, adversary=dl.IndependentBlocks(4))
        >>> "At most 0.3668 bits (0.2543 nats) of 1 bit possible about any one person" in told.page()
        True
        """
        title = self.problem.title or "What this release reveals about one person"
        shown = [COMPUTED, FOLLOWS] if self.at_prior is not None else [FOLLOWS]
        legend = paragraph(f"[{self._proved}]: {WHY[PROVED]}.", *(f"[{word}]: {WHY[word]}." for word in shown))
        told = paragraph(*verdict(self.problem, self.result.lower, self.result.upper))
        parts = [
            f"# {title}",
            *([paragraph(f"**{self.gate}**")] * bool(self.gate)),
            told,
            paragraph(*question(self.problem)),
            "\n".join(self._numbers()),
            legend,
        ]
        parts += self._to_decide()
        parts += ["## Averages hide individuals", self._individuals()]
        parts += ["## What relatives reveal is not the release's doing", self._relatives()]
        parts += ["## What is assumed", "\n".join(point(text) for text in assumed(self.problem))]
        return "\n\n".join([*parts, "## Check it", *self._check(model, certificate)]) + "\n"

    def _to_decide(self) -> Iterator[str]:
        """By household, with half the epsilon; and what to write into a privacy notice."""
        if self.households:
            yield "## By size of household, and with half the epsilon"
            yield text_table(table_of(self.households))
            yield paragraph(BRACKETS, untold(self.households))
        if said := accuracy(self.problem):
            yield paragraph(said)
        yield "## For a privacy notice"
        yield paragraph(notice(self.problem, self.result.upper), before="> ")

    def html(self) -> str:
        """The page of `dalenius.report.report_page`, with pictures.

        Raises
        ------
        InputError
            If jinja2 or matplotlib are not installed.
        """
        return report_page([(self.problem, self.result)], households=self.households, gate=self.gate)

    def write(self, path: str | Path) -> Path:
        """Write the page, as Markdown (.md) or HTML (.html), with the model (.toml) and the certificate (.cert) beside it.

        What is there under these names is replaced; `dalenius audit -o` keeps a narrower certificate.

        Raises
        ------
        InputError
            If the ending is another one, something cannot be written, or a page in HTML lacks jinja2 or matplotlib.
        """
        page = Path(path)
        if page.suffix.lower() not in PAGES:
            raise InputError(f"{page}: expected a file that ends in {' or '.join(PAGES)}")
        model, certificate = page.with_suffix(".toml"), page.with_suffix(".cert")
        need_places([page, model, certificate])
        text, proof = model_bytes(self.problem), self.result.certificate.text
        write_together({model: text, certificate: proof, page: self.beside(page, model, certificate)})
        return page

    def beside(self, page: Path, model: Path, certificate: Path) -> str:
        """The page that stands beside these files, which are written with it; of HTML they are proved once more."""
        if page.suffix.lower() == ".md":
            return self.page(model=model.name, certificate=certificate.name)
        again = proved(self.problem, self.result.certificate, str(certificate), str(model))
        return report_page([again], households=self.households, gate=self.gate)

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = [(row.name, f"{ends_shown(row.lower, row.upper)} {row.units}") for row in self.measures()]
        return table(self.problem.title or "Audit", [("at most, about any one person", in_bits(self.result)), *rows])

    def measures(self) -> Iterator[Measure]:
        """All that have an interval."""
        sharpest = self.pointwise_maximal_leakage, self.pointwise_maximal_leakage_to_any
        told = (self.leakage, self.bayes_advantage, *sharpest, self.without_own_answer)
        return (row for row in told if row is not None)

    def to_json(self) -> dict[str, object]:
        """The numbers, each with its units and what proves it, as `json` writes them once they are plain."""
        return {
            "digest": digest(self.problem),
            "leakage": _told(self.leakage, PROVED),
            "bayes_advantage": _told(self.bayes_advantage, COMPUTED),
            "bayes_advantage_at_most": {"upper": self.bayes_advantage_at_most, "because": FOLLOWS},
            "pointwise_maximal_leakage": _told(self.pointwise_maximal_leakage, COMPUTED),
            "pointwise_maximal_leakage_to_any": _told(self.pointwise_maximal_leakage_to_any, OF_ALL),
            "without_own_answer": _told(self.without_own_answer, COMPUTED),
            "record": self.result.record,
            "gap": self.result.gap,
            "termination": self.result.termination,
            "proved_about": self.result.proved_about,
            "households": self.households,
            "why_not": self.why_not or None,
        }

    @property
    def _proved(self) -> str:
        return PROVED if self.result.proved_about == "model" else f"{PROVED}, of the matrix in the certificate only"

    def _numbers(self) -> Iterator[str]:
        told, most = self.leakage, text_above(self.bayes_advantage_at_most, 4)
        met = self.result.termination is Termination.GAP_REACHED
        open_ = "" if met else f" Both ends have not met yet ({self.result.termination.advice})."
        yield point(
            f"**At most {in_bits(self.result)} about any one person**, to the worst adversary of this kind; the truth lies in "
            f"{ends_shown(told.lower, told.upper)} bits.{open_} A truthful answer to a fair yes-or-no question reveals one bit.",
            self._proved,
        )
        if self.at_prior is not None:
            yield from self._numbers_at(self.at_prior)
        yield point(
            "To any adversary of this kind, however likely the answers are to them beforehand, a guess is right more often by at most "
            f"{most}.",
            FOLLOWS,
        )

    def _numbers_at(self, found: Measures) -> Iterator[str]:
        guess, sharpest = found["bayes_advantage"], found["pointwise_maximal_leakage"]
        yield point(
            f"To that adversary the best guess of the person's answer is right more often by {ends_shown(guess.lower, guess.upper)}, "
            "as a probability (Bayes advantage).",
            COMPUTED,
        )
        yield point(
            f"To that adversary no single output makes a guess of anything about the person more than {factor(sharpest)} as likely to "
            f"be right: {ends_shown(sharpest.lower, sharpest.upper)} bits (pointwise maximal leakage).",
            COMPUTED,
        )
        told = told_without(self.problem, found["mutual_information"], without_own_answer(found))
        yield point(f"With the person's own answer left out, that adversary still learns {told}.", COMPUTED)

    def _individuals(self) -> str:
        more = f"How much more to the worst adversary cannot be said ({refusal(self.why_not)})."
        if (sharpest := self.pointwise_maximal_leakage) is not None:
            more = (
                "How much more: whatever comes out, and whatever is guessed about the person, the guess is at most "
                f"{factor(sharpest)} as likely to be right as before, to that adversary."
            )
        return paragraph(
            "The bits above are an average over what may come out, and an unlucky outcome may reveal more.",
            more,
            rare(self.pointwise_maximal_leakage_to_any, self.why_not_to_any),
        )

    def _relatives(self) -> str:
        without = self.without_own_answer
        if without is None:
            return paragraph(f"What others reveal cannot be told apart here ({refusal(self.why_not)}).")
        return paragraph(
            "Some of this the adversary would learn if the person took no part at all, from people who are like them.",
            "How much stands above, for the same adversary and with a fixed answer in the place of the person's own;",
            "what taking part adds is the rest. Whether the first part is the release's doing is for you to say: both are learnt.",
        )

    def _check(self, model: str | None, certificate: str | None) -> Iterator[str]:
        unwritten = 'The files are not written yet: -o page.md, in Python write("page.md"), writes the page and these two beside it.'
        yield paragraph(
            "Nobody has to believe this page. The certificate holds all that the proof of the first number needs;",
            "the checker shares no code with the program that searched, and the second line needs nothing but Python.",
            *([] if model else [unwritten]),
            *([] if self.result.proved_about == "model" else [RESOLVED]),
        )
        files = files_to_check(self.result.certificate, model or "page.toml", certificate or "page.cert")
        yield f"    dalenius verify {files}\n    python -m dalenius_check {files}"
        text = self.result.certificate.text.encode("utf-8", "surrogatepass")
        sums = f"model {digest(self.problem)}\n    certificate {hashlib.sha256(text).hexdigest()}"
        yield f"SHA-256 of the model's normal form and of the certificate's text:\n\n    {sums}"


def audit(
    release: Mechanism | WorstCaseLeakage | Rows | str,
    records: Records | People | Integer | None = None,
    *,
    query: Query | str | None = None,
    adversary: Adversary | str | None = None,
    title: str = "",
    progress: Callable[[Progress], None] | None = None,
    **limits: Unpack[LimitOptions],
) -> Audit:
    """Report how much a release reveals about one person: one call, one page.

    Parameters
    ----------
    release : Mechanism or WorstCaseLeakage
        A mechanism, or the whole question (then nothing else of it may be given). Mechanism, query and adversary may be given in a
        line, as on the command line: audit("discrete_laplace 0.5", records=1000, query="count"). A matrix is taken as its `Channel`.
    records : Records, People or int
        How many people; of an integer each has a yes-or-no answer. The `People` of `from_frame` bring their households along.
    query : Query, optional
        What is released of their answers. Left out, how many say yes (`Count`), which is what is released of yes-or-no answers most
        often; of one record, and of a mechanism whose rows are datasets, the record itself (`Identity`). It must be said of other
        answers, and of randomised response.
    adversary : Adversary, optional
        Left out, the households of `People`, else `IndependentBlocks(1)`: nobody's answer has to do with anybody else's. That is what
        differential privacy's epsilon is usually read against, it is exact at any size, and whoever knows better knows what; the page
        says that this is assumed. Where independent blocks are not known for the query and the noise, `ProductPriors`, the same set.
    title : str, optional
        Of the page.
    progress : callable, optional
        Called with a `Progress` while the audit runs.
    **limits
        `gap`, `time_limit`, `node_limit`, `memory_limit`, as `solve` has them. A tenth of the time is left to what is evaluated at the
        prior that the certificate shows.

    Returns
    -------
    Audit
        ``print(audit(...))`` is the page.

    Raises
    ------
    InputError
        If the parts do not make a question, or there is no such argument.

    Notes
    -----
    The leakage, max over priors and over i of I(X_i; Y), is proved by the certificate of `solve`. At its witness P the Bayes advantage
    sum_y max_a P(a,y) - max_a P(a), the pointwise maximal leakage max_y log max_a P(y|a)/P(y), and I(X_i; Y) with a fixed letter in
    the place of X_i are those of `measure(problem, prior=certificate)`.

    >>> import dalenius as dl
    >>> told = audit(dl.discrete_laplace(0.5), records=1_000_000, adversary=dl.IndependentBlocks(4))
    >>> 0.3667 < told.leakage.lower <= told.leakage.upper < 0.3668
    True
    >>> told.bayes_advantage.upper < 0.3161, told.without_own_answer.upper < 0.25
    (True, True)
    """
    if unknown := [name for name in limits if name not in LimitOptions.__annotations__]:
        known = [*list(audit.__annotations__)[:-2], *LimitOptions.__annotations__]
        raise InputError(
            f"audit: unexpected argument {brief(unknown[0])}; expected {', '.join(known)}{hint(unknown[0], known)}. Households of two "
            "are adversary=dl.IndependentBlocks(2)"
        )
    problem = question_of(release, records, query, adversary, title)
    seconds = Limits(**limits).seconds
    clock, bounded = Clock(seconds), math.isfinite(seconds)
    with stopped_by_interrupt(clock):
        if bounded:
            limits["time_limit"] = (1.0 - MEASURED) * seconds
        result = solve(problem, progress=progress, **limits)
        left = max(clock.remaining, MEASURED * seconds) if bounded else None
        why_not, found = "", None
        try:
            found = measure(problem, prior=result.certificate, only=TOLD, units="bits", time_limit=left)
            why_not = next(iter(found.refused.values()), "")
        except DaleniusError as error:
            why_not = str(error)
        beside = households(problem, result.upper, clock)
        unlikely = to_any(problem, max(clock.remaining, MEASURED * seconds))
    return Audit(problem, result, None if why_not else found, why_not, beside, *unlikely)


def question_of(
    release: Mechanism | WorstCaseLeakage | Rows | str,
    records: Records | People | Integer | None,
    query: Query | str | None = None,
    adversary: Adversary | str | None = None,
    title: str = "",
) -> WorstCaseLeakage:
    """The question that the arguments of `audit` ask."""
    if isinstance(release, WorstCaseLeakage):
        if records is not None or query is not None or adversary is not None or title:
            raise InputError(
                "audit: the question has its records, query, adversary and title already; leave them out here"
            )
        return release
    release = as_part(Mechanism, release, "release")
    if not isinstance(release, Mechanism):
        raise InputError(
            f"release: expected a mechanism such as dl.discrete_laplace(0.5), or a WorstCaseLeakage, got {brief(release)}"
            f"{f'; {OF_FUNCTION}' if isfunction(release) else ''}"
        )
    if records is None:
        raise InputError(
            "records: how many people is it about? expected a number, Records, or the People of from_frame"
        )
    people = records.records if isinstance(records, People) else records
    people = people if isinstance(people, Records) else Records(people, alphabet=2)
    several = isinstance(records, People) and len(records.attributes) > 1
    asked = _query(release, people, several) if query is None else as_part(Query, query, "query")
    against = partial(WorstCaseLeakage, records=people, query=asked, mechanism=release, title=title)
    if adversary is not None:
        return against(adversary=as_part(Adversary, adversary, "adversary"))
    if isinstance(records, People):
        return against(adversary=records.blocks)
    try:
        return against(adversary=IndependentBlocks(1))
    except InputError:
        return against(adversary=ProductPriors())


def _query(release: Mechanism, records: Records, several: bool) -> Query:
    """The released query by default."""
    if len(records) == 1 or release.indexed_by() == "dataset":
        return Identity()
    if set(records.alphabets) != {2}:
        raise InputError(
            'query: expected what is released of these answers, such as "count letters = [1]", "histogram", "sum" or "modular_sum 3"'
            f"{MARGINS if several else ''}"
        )
    if each := release.of_each_answer():
        raise InputError(
            f"query: expected what is released of {len(records)} answers: {release.kind} would replace their count by any other. If "
            f'every answer is randomised and then they are counted, that is the mechanism "{each}", or, against households too, '
            f'"{each.replace("count", "histogram")}" with the query "histogram"; if everybody\'s own is published, ask about one '
            "person, who in a household of 4 may answer for all: several_releases of it with times = 4; if the count is meant, say "
            '"count"'
        )
    return Count()


def _told(row: Measure | None, because: str) -> dict[str, object] | None:
    if row is None:
        return None
    return {"lower": row.lower, "upper": row.upper, "units": row.units, "what": row.what, "because": because}
