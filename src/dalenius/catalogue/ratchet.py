"""The library's intervals only ever tighten: better ends are proved, combined and stored, and each change is kept in a history."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, dataclass, replace
from datetime import date
from pathlib import Path

from dalenius._join import join
from dalenius._solve import solve
from dalenius._verify import verify
from dalenius.catalogue.models import SETS, IndexRow, LibraryModel, library, standing
from dalenius.errors import InputError, brief
from dalenius.evidence import Certificate
from dalenius.evidence.certificate import Claim
from dalenius.exact import as_fraction
from dalenius.files import alone, need_folder, need_places, packed, read_text, tidy, write_together, write_whole
from dalenius.model import digest
from dalenius.model.model_file import SPELLINGS
from dalenius.outcome import Termination
from dalenius.search import need_gap

MOST_BYTES = 500_000  # bytes of a certificate's file in the library
READ = 20_000  # bytes of a certificate that somebody may want to look at: one that is longer is compressed
WRITTEN = "history.csv", "INDEX.md", "index.csv"
MOST_CHARACTERS = 200  # characters of a name in the history
MOST_READ = 10**12  # numbers beyond it are told by a power of 2


@dataclass(frozen=True)
class HistoryRow:
    """A row of ``history.csv``: from this day on the interval of `name` was this; both ends are empty where nothing is feasible.

    `digest` is the model's, so that a name never gets another meaning; `by` says who found the proof.
    """

    name: str
    date: str
    digest: str
    lower: str
    upper: str
    by: str

    @property
    def interval(self) -> str:
        """The interval in words."""
        return f"{self.lower} .. {self.upper}" if self.lower else "infeasible"


def submit(certificate: Certificate, folder: str | Path, *, by: str = "") -> HistoryRow:
    """Prove a certificate with the independent checker, and store what it makes tighter.

    Parameters
    ----------
    certificate : Certificate
        Of one of the folder's models, which it names by its digest.
    folder : path
        A library's folder.
    by : str
        Who found it, in one line; by default the certificate's producer.

    Returns
    -------
    HistoryRow
        The new row of the history.

    Raises
    ------
    InputError
        If it is of no model of the folder, is not proved, is no tighter than what is stored, or would take more than `MOST_BYTES`, or
        `by` is no such line.
    """
    header = certificate.header
    wanted = header.model
    for model in library(folder=folder):
        if digest(model.load()) == wanted:
            need_room(folder, model)
            entry = _keep(model, certificate, Path(folder), by or header.producer)
            if entry is None:
                raise InputError(f"{model.name}: proved, but no tighter than the stored interval; nothing is changed")
            return entry
    raise InputError(f"the certificate is of no model in {folder}: none has the digest {wanted[:64]}")


def tighten(
    model: LibraryModel,
    folder: str | Path,
    *,
    gap: float = 1e-6,
    time_limit: float | None = 60.0,
    node_limit: int | None = 30_000,
    seed: int = 0,
) -> HistoryRow | None:
    """Solve a model of the library again, unless its gap is small enough, and keep whichever ends are better.

    Ctrl-C stops the search; what was found is kept, then `KeyboardInterrupt` goes on.

    Returns
    -------
    HistoryRow or None
        The new row of the history; None if nothing became tighter.

    Raises
    ------
    InputError
        If the tighter certificate's file would take more than `MOST_BYTES` bytes (a lower `node_limit` or a larger `gap` makes it
        shorter), or an argument is invalid.
    """
    need_gap(gap)
    if model.standing.proved and (model.gap is None or model.gap <= gap):
        return None
    need_room(folder, model)
    result = solve(model.load(), gap=gap, time_limit=time_limit, node_limit=node_limit, seed=seed)
    entry = _keep(model, result.certificate, Path(folder), result.certificate.header.producer)
    if result.termination is Termination.INTERRUPTED:
        raise KeyboardInterrupt
    return entry


def need_room(folder: str | Path, *models: LibraryModel) -> None:
    """Raise unless the files that a tighter interval changes can be written: certificates, history and index are tried.

    Raises
    ------
    InputError
        If a file cannot be written there, or something is in the way that no file can replace.
    """
    home, stored = Path(folder), [place for model in models for place in model.certificate_places]
    need_places([*(home / name for name in WRITTEN), *stored])
    for place in sorted({home, *(path.parent for path in stored)}):
        need_folder(place)


def history(folder: str | Path) -> list[HistoryRow]:
    """The rows of ``history.csv``, oldest first; none where there is no such file.

    Raises
    ------
    InputError
        If the file is no such table.
    """
    path = Path(folder) / "history.csv"
    if not path.exists():
        return []
    try:
        rows = list(csv.reader(io.StringIO(read_text(path, "a history"), newline=""), strict=True))
    except csv.Error as error:
        raise InputError(f"{path}: {error}") from None
    if rows[:1] != [list(HistoryRow.__dataclass_fields__)] or any(len(row) != len(rows[0]) for row in rows):
        raise InputError(f"{path}: expected a table with the columns {', '.join(HistoryRow.__dataclass_fields__)}")
    return [HistoryRow(*row) for row in rows[1:]]


def index_csv(rows: list[IndexRow]) -> str:
    """The index as a table for programs: one line a model."""
    return _csv([tuple(IndexRow.keys()), *map(astuple, rows)])


def index_markdown(rows: list[IndexRow]) -> str:
    """The index as a table for people."""
    lines = [
        "# Index",
        "",
        "Made by `dalenius library index`, which had every certificate proved; `index.csv` has more columns, among them the digests",
        "of the model and of the certificate that were proved. Each interval holds the exact value. |X| is the number of datasets.",
        "Units are nats, for `min_distortion` those of the distortion. [README.md](README.md) says what `exact`, `closed` and",
        "`bracket` mean.",
    ]
    for name in SETS:
        lines += [
            "",
            f"## {name}",
            "",
            "| model | problem | \\|X\\| | inputs x outputs | lower | upper | gap | tightness | bytes | what it is | source |",
            "|---|---|---|---|---|---|---|---|---|---|---|",
        ]
        for row in rows:
            if row.set == name:
                known = f"{row.tightness}: {row.formula}" if row.formula else row.tightness
                cells = (
                    f"[{row.name}]({row.name}.toml)", SPELLINGS[row.problem].in_models, row.datasets, _shape(row), row.lower,
                    row.upper, row.gap, known, f"{row.certificate_bytes:,}", row.title, row.source,
                )  # fmt: skip
                lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |")
    lines += ["", "## Open, widest first", "", "| model | gap |", "|---|---|"]
    brackets = [row for row in rows if row.tightness == "bracket"]
    lines += [f"| {row.name} | {row.gap} |" for row in sorted(brackets, key=lambda row: -float(row.gap))]
    return "\n".join(lines) + "\n"


def write_index(folder: str | Path) -> list[Path]:
    """Have every certificate proved, write ``INDEX.md`` and ``index.csv``, and before them the rows that ``history.csv`` lacks.

    What the index that is there says is not believed: each line of the new one was proved by this very call. Rows are missing from the
    history where a process was killed.

    Raises
    ------
    InputError
        If a certificate is not proved, or is wider than what the history has. Nothing is written then.
    """
    home = Path(folder)
    with alone(home):
        models = [replace(model, known=None) for model in library(folder=home)]
        for topic in {model.path.parent for model in models}:
            tidy(topic)
        refused = [model for model in models if model.tightness == "unproved"]
        if refused:
            told = "; ".join(f"{model.name} ({model.standing.reason})" for model in refused)
            raise InputError(f"{home}: no index is written, for what is not proved: {told}")
        _mend(models, home)
        rows = [model.row() for model in models]
        texts = {home / "INDEX.md": index_markdown(rows), home / "index.csv": index_csv(rows)}
        write_together(texts)
        return list(texts)


def _mend(models: list[LibraryModel], folder: Path) -> None:
    """A certificate is stored before its row of the history: whoever is killed between the two leaves one without."""
    rows = history(folder)
    last = {row.name: row for row in rows}
    for model in models:
        stored = model.certificate()
        if stored is None or (model.name in last and _ends(last[model.name]) == stored.header.claim):
            continue
        by = stored.header.producer
        _note(rows, model, stored, folder, by if _is_line(by) else "")


def _keep(model: LibraryModel, found: Certificate, folder: Path, by: str) -> HistoryRow | None:
    """Prove, combine with what is stored, prove again, store, and write the history; None if nothing became tighter."""
    if not _is_line(by):
        raise InputError(
            f"by: expected one line of at most {MOST_CHARACTERS} printable characters, got {brief(by)}; say who found it with --by"
        )
    _need_proof(model, found)
    with alone(folder):
        return _joined(model, found, folder, by)


def _is_line(by: str) -> bool:
    """True if a name fits into the history."""
    return len(by) <= MOST_CHARACTERS and by.isprintable()


def _joined(model: LibraryModel, found: Certificate, folder: Path, by: str) -> HistoryRow | None:
    """Do as `_keep` with a proved certificate, while nobody else changes the folder."""
    stored = model.certificate()
    if stored is not None and not standing(model.path, model.load(), stored, model.known).proved:
        stored = None  # a file that somebody changed is no reason to stop
    kept = found if stored is None else join(model.load(), stored, found)
    header = kept.header
    ends = (header.lower or "", header.upper or "")
    rows = history(folder)
    past = [row for row in rows if row.name == model.name]
    if stored is not None and stored.header.claim == header.claim and past and (past[-1].lower, past[-1].upper) == ends:
        return None
    text = kept.text
    content, place, other = (
        (text, *model.certificate_places) if len(text) <= READ else (packed(text), *model.certificate_places[::-1])
    )
    if len(content) > MOST_BYTES:
        raise InputError(
            f"{model.name}: the tighter certificate has {len(content)} bytes, and the library takes {MOST_BYTES}; "
            "hand in a shorter proof, if need be of a wider interval"
        )
    _need_ratchet(past, _row(model, kept, by))
    write_whole(place, content)
    write_together({}, without=[other])  # only now: whoever is killed here leaves two, and the text counts
    return _note(rows, model, kept, folder, by)


def _row(model: LibraryModel, certificate: Certificate, by: str) -> HistoryRow:
    header = certificate.header
    return HistoryRow(model.name, date.today().isoformat(), header.model, header.lower or "", header.upper or "", by)


def _note(rows: list[HistoryRow], model: LibraryModel, stored: Certificate, folder: Path, by: str) -> HistoryRow:
    """Add the row of a certificate that is stored to the history; the index comes after."""
    entry = _row(model, stored, by)
    _need_ratchet([row for row in rows if row.name == model.name], entry)
    rows.append(entry)
    write_whole(folder / "history.csv", _csv([tuple(HistoryRow.__dataclass_fields__), *map(astuple, rows)]))
    return entry


def _need_proof(model: LibraryModel, certificate: Certificate) -> None:
    verdict = verify(model.path, certificate)
    if not verdict.proved:
        raise InputError(f"{model.name}: the certificate is not proved ({verdict.status.value}: {verdict.reason})")


def _need_ratchet(past: list[HistoryRow], entry: HistoryRow) -> None:
    """Raise `InputError` if the name has had another meaning, or a narrower interval."""
    if any(row.digest != entry.digest for row in past):
        raise InputError(f"{entry.name}: the model has changed its meaning; give the changed model a new name")
    known, new = _ends(past[-1]) if past else None, _ends(entry)
    if known is not None and not (new is not None and known[0] <= new[0] and new[1] <= known[1]):
        raise InputError(
            f"{entry.name}: history.csv has a narrower interval than the stored certificate; bring that certificate back first"
        )


def _ends(row: HistoryRow) -> Claim | None:
    """The interval of a row; None where nothing is feasible."""
    if not row.lower:
        return None
    return as_fraction(row.lower, "history.csv: lower"), as_fraction(row.upper, "history.csv: upper")


def _csv(rows: list[tuple[object, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _shape(row: IndexRow) -> str:
    """Inputs x outputs; a number that nobody would read by the power of 2 below it."""
    outputs = str(row.outputs) if row.outputs < MOST_READ else f"2^{row.outputs.bit_length() - 1}"
    return f"{row.inputs} x {outputs}"
