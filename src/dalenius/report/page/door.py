"""The page as text, and as a file."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Callable, Sequence
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dalenius.errors import InputError
from dalenius.files import write_whole
from dalenius.report.page.proofs import Source, collect
from dalenius.report.page.sections import Group, groups_of
from dalenius.version import __version__

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


def report_page(sources: Sequence[Source], *, title: str = "", progress: Callable[[str], None] | None = None) -> str:
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
    try:
        import matplotlib  # noqa: F401 - before any file is read
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise InputError("reports need jinja2 and matplotlib: pip install 'dalenius[report]'") from None
    tell = progress or (lambda text: None)
    collected = collect(sources, tell=lambda name: tell(f"proving {name} again"))
    groups, overview = groups_of(collected, lambda label: tell(f"drawing {label}"))
    script, style = _part("page.js"), _part("page.css")
    pages = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    return pages.from_string(_part("page.html")).render(
        title=title or _title(groups),
        groups=groups,
        overview=overview,
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
    return titles.pop() if len(titles) == 1 and any(titles) else "What this release can tell about one person"


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _versions() -> list[tuple[str, str]]:
    """What the page was made with."""
    found = []
    for name in PROVERS:
        try:
            found.append((name, __version__ if name == "dalenius" else version(name)))
        except PackageNotFoundError:
            continue
    return [*found, ("Python", platform.python_version())]
