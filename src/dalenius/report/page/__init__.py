"""The page that reports certificates: self-contained HTML, whose every number is read off a proof that was checked again.

Proofs stand in groups of one release each, with their answers, pictures and tables.
"""

from __future__ import annotations

import base64
import hashlib
import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dalenius.errors import InputError
from dalenius.exact import fraction_text
from dalenius.files import write_whole
from dalenius.intervals import gap_text, text_above, text_below
from dalenius.model import (
    DesignProblem,
    MaxInformation,
    Problem,
    WorstCaseLeakage,
    audited,
    digest,
)
from dalenius.report.curves import curve_picture, frontier_picture
from dalenius.report.decision import BRACKETS, Household, accuracy, notice, table_of, untold, verdict
from dalenius.report.decision import households as households_of
from dalenius.report.page.proofs import (
    Collected,
    Facts,
    Proof,
    Shown,
    Source,
    audit_of,
    collect,
    facts_of,
    files_to_check,
    leakage_shown,
)
from dalenius.report.picture import Drawn, drawn
from dalenius.report.release import mechanism_picture, prior_picture
from dalenius.report.words import RESOLVED, budget_in_words, ends_shown, mechanisms_in_words, question
from dalenius.results import against_text, nats_and_bits, relative_gap
from dalenius.search import Clock
from dalenius.studies.curves import FrontierPoint, frontier_point
from dalenius.studies.leakage_curve import LeakageCurve
from dalenius.units import Quantity, lower_in
from dalenius.version import __version__

LONGEST = 48  # characters of a value that tells releases apart
MOST_CURVES = 6  # in one picture


@dataclass(frozen=True)
class Row:
    """A proof in a table: what it is about, its interval, what else is told, and how to check it."""

    about: str
    proof: Proof
    interval: str | Shown
    gap: str
    facts: Facts | None
    audit: Shown | None
    command: str
    other_command: str
    digest: str
    sha256: str

    @property
    def feasible(self) -> bool:
        """True if there is an interval."""
        return not math.isinf(self.proof.ends[1])


@dataclass(frozen=True)
class Group:
    """Questions about one release, or one design, that differ in a bound only."""

    label: str
    question: list[str]
    verdict: list[str]
    accuracy: str
    notice: str
    rows: tuple[Row, ...]
    focus: Row
    headline: str
    guarantee: str
    pictures: tuple[Drawn, ...]

    @property
    def design(self) -> bool:
        """True if a mechanism is asked for."""
        return self.focus.proof.problem.task == "design"

    @property
    def largest(self) -> str:
        """The mechanisms of a largest information in words; empty for other questions."""
        problem = self.focus.proof.problem
        return mechanisms_in_words(problem) if isinstance(problem, MaxInformation) else ""


def groups_of(collected: Collected, tell: Callable[[str], None]) -> tuple[list[Group], Drawn | None]:
    """The groups in the order of their first proofs, and a picture of all their curves where there are several."""
    audits = {id(audit) for proof in collected.proofs if (audit := audit_of(proof, collected.proofs))}
    members = dict[str, list[Proof]]()
    for proof in collected.proofs:
        if id(proof) not in audits:
            members.setdefault(digest(proof.problem.anywhere()), []).append(proof)
    labels = _labels([proofs[0].problem.anywhere() for proofs in members.values()])
    found = list[Group]()
    for j, (label, proofs) in enumerate(zip(labels, members.values(), strict=True)):
        tell(label)
        found.append(
            _group(
                f"g{j}",
                label,
                sorted(proofs, key=lambda proof: (proof.problem.place or 0.0, proof.name)),
                collected,
            )
        )
    curves = {group.label: curve for group in found if (curve := _curve([row.proof for row in group.rows]))}
    if not 1 < len(curves) <= MOST_CURVES:
        return found, None
    caption = "Leakage against what the adversary does not know, for every release: a band is all that is proved."
    return found, drawn(
        "all", caption, lambda ax: curve_picture(curves, ax=ax, units="bits", partial=collected.missing)
    )


def _labels(problems: Sequence[Problem]) -> list[str]:
    """Names that tell the releases apart: their titles, or what their models differ in."""
    titles = [problem.title for problem in problems]
    if all(titles) and len(set(titles)) == len(titles):
        return titles
    if len(problems) == 1:
        return [problems[0].title or "the release"]
    tables = [dict(_flat(problem.to_model())) for problem in problems]
    keys = [key for key in tables[0] if key != "title" and len({str(table.get(key)) for table in tables}) > 1]
    names = [", ".join(f"{key} = {_shown(table.get(key))}" for key in keys[:3]) for table in tables]
    return [name if names.count(name) == 1 and name else f"release {j + 1}" for j, name in enumerate(names)]


def _shown(value: object) -> str:
    return fraction_text(value) if isinstance(value, Fraction) else str(value)[:LONGEST]


def _flat(table: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    cells = list[tuple[str, Any]]()
    for key, value in table.items():
        cells += _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(f"{prefix}{key}", value)]
    return cells


def _group(name: str, label: str, proofs: list[Proof], collected: Collected) -> Group:
    rows = tuple(_row(proof, collected) for proof in proofs)
    focus = next((row for row in rows[len(rows) // 2 :] if row.feasible), rows[len(rows) // 2])
    headline, guarantee = _said(focus)
    problem, (lower, upper) = focus.proof.problem, focus.proof.ends
    audit = problem if isinstance(problem, WorstCaseLeakage) else None
    resolved = [] if focus.proof.certificate.header.resolved is None else [RESOLVED]
    return Group(
        label=label,
        question=question(problem),
        verdict=[] if audit is None else [*verdict(audit, lower, upper), *resolved],
        accuracy="" if audit is None else accuracy(audit),
        notice="" if audit is None else notice(audit, upper),
        rows=rows,
        focus=focus,
        headline=headline,
        guarantee=guarantee,
        pictures=tuple(_pictures(name, label, rows, focus, collected)),
    )


def _row(proof: Proof, collected: Collected) -> Row:
    lower, upper = proof.ends
    leakage = proof.problem.quantity is Quantity.LEAKAGE
    told = audit_of(proof, collected.proofs)
    audit = told or proof
    files = files_to_check(proof.certificate, proof.model or "MODEL.toml", proof.name or "CERTIFICATE.cert")
    return Row(
        about=_about(proof.problem),
        proof=proof,
        interval=leakage_shown(lower, upper) if leakage and not math.isinf(upper) else _ends(lower, upper),
        gap="" if math.isinf(upper) else gap_text(relative_gap(lower, upper)),
        facts=facts_of(audit) if isinstance(audit.problem, WorstCaseLeakage) else None,
        audit=leakage_shown(*told.ends) if told else None,
        command=f"dalenius verify {files}",
        other_command=f"python -m dalenius_check {files}",
        digest=proof.certificate.header.model,
        sha256=hashlib.sha256(proof.certificate.text.encode("utf-8", "surrogatepass")).hexdigest(),
    )


def _ends(lower: float, upper: float) -> str:
    if math.isinf(lower):
        return "nothing meets it (proved)"
    return f"at least {text_below(lower)}; no mechanism is shown" if math.isinf(upper) else ends_shown(lower, upper)


def _about(problem: Problem) -> str:
    """Label of a row among its neighbours: the entropy bound with bits beside shares, or the budget."""
    if isinstance(problem, DesignProblem) and problem.place is not None:
        return f"budget {budget_in_words(problem)} of {'distortion' if problem.leakage_budget is None else 'leakage'}"
    if problem.place is not None:
        bits = problem.place / math.log(2.0)
        share = bits / most if (most := problem.records.log_datasets / math.log(2.0)) else 0.0
        return f"{bits:.4g} of {most:.4g} bits unknown (share {share:.4g})"
    return "the design" if problem.task == "design" else against_text(problem)


def _said(row: Row) -> tuple[str, str]:
    """The answer in one line, and what it promises in a sentence."""
    problem, (lower, upper) = row.proof.problem, row.proof.ends
    if not row.feasible and not math.isinf(lower):
        return (
            "No mechanism is shown.",
            "None was found that keeps everything, nor a proof that there is none. What is proved is a bound for all of them.",
        )
    if not row.feasible:
        return (
            "Nothing meets all that is asked.",
            "That is proved: no mechanism of the class keeps the budget and the constraints.",
        )
    if problem.quantity is Quantity.USEFULNESS and isinstance(problem, MaxInformation):
        line = f"No mechanism {mechanisms_in_words(problem)} is more useful than {text_above(upper, 4)}"
        return line, f"And the mechanism in the certificate comes to at least {text_below(lower, 4)}."
    most = nats_and_bits(upper, problem.most_values)
    if problem.task == "audit":
        whom = against_text(problem).removeprefix("any ")
        return (
            f"At most {most} about {problem.about}",
            f"No {whom} learns more on average, however clever and with any computer.",
        )
    if isinstance(problem, MaxInformation):
        line = f"No mechanism {mechanisms_in_words(problem)} reveals more than {most}"
        return (
            line,
            f"And the mechanism in the certificate reveals at least {text_below(lower_in(lower, 'bits'), 4)} bits.",
        )
    if problem.quantity is Quantity.LEAKAGE:
        least = text_below(lower_in(lower, "bits"), 4)
        line = f"The mechanism reveals at most {most} about any one record"
        return line, f"And no mechanism that keeps the budget reveals less than {least} bits."
    line = f"The mechanism has {problem.quantity.with_article} of at most {text_above(upper, 4)}"
    return line, f"No mechanism that keeps what was promised has one below {text_below(lower, 4)}."


def _curve(proofs: Sequence[Proof]) -> LeakageCurve | None:
    """The curve of several audits of one release against several entropy bounds, which are proved already."""
    kept = [(audited(proof.problem), proof.certificate) for proof in proofs if proof.problem.share is not None]
    return LeakageCurve(tuple(kept), units="bits") if len(kept) > 1 else None


def _pictures(name: str, label: str, rows: Sequence[Row], focus: Row, collected: Collected) -> list[Drawn]:
    """The curve or frontier of the group, the worst-case prior, and the mechanism, as far as they can be drawn."""
    proofs, found = [row.proof for row in rows], list[Drawn]()
    curve, points = _curve(proofs), _points(proofs)
    if curve is not None:
        caption = "Leakage against what the adversary does not know: between the edges of the band lies the truth, for every entropy."
        bits = {label: curve}
        found.append(
            drawn(
                f"{name}curve", caption, lambda ax: curve_picture(bits, ax=ax, units="bits", partial=collected.missing)
            )
        )
    if points:
        caption = "The best that any mechanism can do for every budget: the truth lies between the edges of the band."
        found.append(
            drawn(
                f"{name}frontier",
                caption,
                lambda ax: frontier_picture({label: points}, ax=ax, units="bits", partial=collected.missing),
            )
        )
    problem, certificate = focus.proof.problem, focus.proof.certificate
    shown = focus.proof.mechanism or (problem if isinstance(problem, WorstCaseLeakage) else None)
    if shown is problem and focus.facts and focus.facts.belief:
        caption = f"The worst case. {' '.join(focus.facts.belief)}"
        found += _tried(f"{name}prior", caption, lambda ax: prior_picture(shown, certificate, ax=ax, title=""))
    if shown is not None:
        caption = "The mechanism: how likely each output is on each input. Rounded; the exact numbers are in the model."
        found += _tried(f"{name}mechanism", caption, lambda ax: mechanism_picture(shown, ax=ax))
    return found


def _tried(name: str, caption: str, draw: Callable[[Any], object]) -> list[Drawn]:
    """The picture, or none where what it shows is too large for one."""
    try:
        return [drawn(name, caption, draw)]
    except InputError:
        return []


def _points(proofs: Sequence[Proof]) -> list[FrontierPoint]:
    """The frontier of several designs that differ in their budgets."""
    points = [
        frontier_point(proof.problem, proof.design)
        for proof in proofs
        if proof.problem.budget_key is not None and proof.problem.place is not None
    ]
    return points if len(points) > 1 else []


# How to cite the package: what CITATION.cff says, for pages that have no file beside them.


AUTHORS = "The dalenius developers"
TITLE = "dalenius: certified information leakage of privacy mechanisms"
PAPER = (
    "Computing Maximal Per-Record Leakage and Leakage-Distortion Functions for Privacy Mechanisms under "
    "Entropy-Constrained Adversaries"
)


def citation() -> str:
    """The package and its release, in one line."""
    return f"{AUTHORS}. {TITLE}, version {__version__}."


PROVERS = ("dalenius", "numpy", "scipy", "python-flint", "matplotlib")


def report_page(
    sources: Sequence[Source],
    *,
    title: str = "",
    progress: Callable[[str], None] | None = None,
    households: Sequence[Household] | None = None,
    gate: str = "",
) -> str:
    """A self-contained page in HTML about certificates: what was asked, what is proved, pictures, limits, and how to check it again.

    It needs no network and runs no code of anybody else's: all that comes from files is text in it.

    Parameters
    ----------
    sources : sequence of paths, or of (problem, result) pairs
        Folders, certificates, and model files; or what was solved just now, or a problem with its certificate. Certificates find their
        models by digest, in the same folder, among those that are named, and in the library. Every certificate is proved again, and
        nothing else is reported; results were proved when they were made.
    title : str
        Left out, the title of the models if they have one.
    progress : callable, optional
        Called with a line about what is done next.
    households : sequence of Household, optional
        As an `Audit` has them: sizes of households beside one another. Left out, one audit's are looked for, some seconds long.
    gate : str
        What was asked of the release, and whether it is met.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If a file cannot be read, there is no certificate, the model of one is not there, or jinja2 or matplotlib are not installed.
    NotProvedError
        If the checker does not prove a certificate.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(), mechanism=dl.symmetric(0.1, k=2),
    ...     adversary=dl.EntropyAtLeast("1.5 bits"), title="The parity of <two> bits")
    >>> page = report_page([(problem, dl.solve(problem))])
    >>> page[:15], "The parity of &lt;two&gt; bits" in page, "<two>" in page
    ('<!doctype html>', True, False)
    """
    need_installed()  # before any file is read
    from jinja2 import Environment, StrictUndefined

    tell = progress or (lambda text: None)
    collected = collect(sources, tell=lambda name: tell(f"proving {name} again"))
    groups, overview = groups_of(collected, lambda label: tell(f"drawing {label}"))
    if households is None:
        households = _households_of(groups[0].rows) if len(groups) == 1 else ()
    script, style = _part("page.js"), _part("page.css")
    pages = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    return pages.from_string(_part("page.html")).render(
        title=title or _title(groups),
        groups=groups,
        households=table_of(households) if households else [],
        untold=f"{BRACKETS} {untold(households)}",
        gate=gate,
        overview=overview,
        audits=any(not group.design or group.focus.audit for group in groups),
        designs=any(group.design and not group.largest for group in groups),
        others=not all(group.largest for group in groups),
        largest=" or ".join(sorted({group.largest for group in groups if group.largest})),
        missing=collected.missing,
        proofs=len(collected.proofs),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=style,
        versions=_versions(),
        citation=citation(),
        authors=AUTHORS,
        software=TITLE,
        paper=PAPER,
        version=__version__,
    )


def _households_of(rows: Sequence[Row]) -> Sequence[Household]:
    """Households beside one another, where there is one audit alone."""
    problem = rows[0].proof.problem
    if len(rows) > 1 or not isinstance(problem, WorstCaseLeakage):
        return ()
    return households_of(problem, rows[0].proof.ends[1], Clock())


def need_installed() -> None:
    """`InputError` where jinja2 or matplotlib are not installed."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("reports need jinja2 and matplotlib: pip install 'dalenius[report]'") from None


def write_report(
    sources: Sequence[Source], path: str | Path, *, title: str = "", progress: Callable[[str], None] | None = None
) -> Path:
    """Write the page of `report_page`, whole or not at all.

    Raises
    ------
    InputError, NotProvedError
        As there, or if the file cannot be written.
    """
    return write_whole(path, report_page(sources, title=title, progress=progress))


def _title(groups: Sequence[Group]) -> str:
    titles = {group.focus.proof.problem.title for group in groups}
    if len(titles) == 1 and any(titles):
        return titles.pop()
    if any(group.largest for group in groups):
        return "How much a release can reveal"
    return "What this release can reveal about one person"


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _versions() -> list[tuple[str, str]]:
    """Versions that the page was made with."""
    found = []
    for name in PROVERS:
        try:
            found.append((name, __version__ if name == "dalenius" else version(name)))
        except PackageNotFoundError:
            continue
    return [*found, ("Python", platform.python_version())]
