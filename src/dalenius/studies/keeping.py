"""Places of a sweep's records: memory, or a folder that a killed sweep goes on from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dalenius._answers_json import plain
from dalenius._load import load_file
from dalenius.errors import InputError, brief, naming
from dalenius.evidence import Certificate
from dalenius.files import MAX_PROOF, alone, make_folder, need_folder, need_places, read_text, write_together
from dalenius.model import DesignProblem, Problem, dumps, model_bytes
from dalenius.results import DesignResult
from dalenius.strict_json import parse_object
from dalenius.studies.plan import FORMAT, Plan, Point
from dalenius.studies.record import Answer, Record, answer_of, is_told, record_of, sha256

PLAN, RECORDS, ENDING = "sweep.json", "records.jsonl", ".record.json"
KINDS = {  # of the files of a point, by their endings
    ".toml": "model",
    ".cert": "certificate",
    ".mechanism.json": "mechanism",
    ".mechanism.toml": "mechanism_model",
    ".mechanism.cert": "mechanism_certificate",
}
WAIT = 60.0  # seconds for other processes, which are alone in a folder only while they write


def mechanism_files(problem: Problem, result: DesignResult) -> dict[str, str]:
    """The mechanism, if there is one, by endings of files; against an adversary also its audit, a model with its certificate."""
    if result.mechanism is None:
        return {}
    files = {".mechanism.json": result.mechanism.text()}
    if isinstance(problem, DesignProblem) and result.audit is not None:
        files[".mechanism.toml"] = dumps(problem.release(result.mechanism.rows))
        files[".mechanism.cert"] = result.audit.certificate.text
    return files


@dataclass
class Memory:
    """Records and answers in memory; what a `Folder` does, too, is said there."""

    records: dict[int, Record] = field(default_factory=dict)
    answers: dict[int, Answer] = field(default_factory=dict)
    problems: dict[int, Problem] = field(default_factory=dict)

    def find(self, point: Point) -> Record | None:
        return self.records.get(point.index)

    def add(self, point: Point, answer: Answer, started_from: int | None, methods: Sequence[object] = ()) -> Record:
        self.answers[point.index], self.problems[point.index] = answer, point.problem
        self.records[point.index] = _record(point, answer, started_from, {}, methods)
        return self.records[point.index]

    def certificate(self, index: int) -> Certificate:
        return self.answers[index].certificate

    def answer(self, record: Record) -> Answer:
        return self.answers[record.index]

    def problem(self, record: Record) -> Problem:
        """The question of a record."""
        return self.problems[record.index]


@dataclass
class Files:
    """Contents of the files of a folder."""

    path: Path

    def answer(self, record: Record) -> Answer:
        """The answer of a record; `InputError` if its files are missing or damaged."""
        return answer_of(record, self.path)

    def problem(self, record: Record) -> Problem:
        """The question of a record."""
        return load_file(self.path / record.files["model"])


class Folder(Files):
    """Records in a folder: all of a point's files are on the disk before the first is put into place, and the record is the last, so
    that a point is done if and only if its record is there and fits its certificate.

    Parameters
    ----------
    force : bool
        Take over from another plan what is the same in both, and remove the rest; otherwise another plan is refused.

    Raises
    ------
    InputError
        If nothing can be written there, or the folder holds a sweep of something else; the message says what has changed.
    """

    def __init__(self, path: Path, plan: Plan, *, force: bool = False) -> None:
        need_folder(path, make=True)
        need_places(path / name for name in _names(point.name for point in plan.points))
        need_places((path / PLAN, path / RECORDS))
        super().__init__(path)
        self.plan, self.records = plan, dict[int, Record]()
        self._there = read_plan(path) if (path / PLAN).exists() else None
        self._changed = self._there is not None and bool(changes(self._there, plan.described()))
        if self._there is not None and self._changed and not force:
            raise InputError(
                f"{path}: holds another sweep: {changes(self._there, plan.described())}; name another folder, or take over what is "
                "the same (--force, force=True), which removes the rest"
            )
        self._found = {record.key: record for record in records_in(path)} if self._there is not None else {}
        self.records = {
            point.index: self._found[point.key]
            for point in plan.points
            if point.key in self._found and self._found[point.key].name == point.name
        }

    @contextmanager
    def working(self) -> Iterator[None]:
        """With nobody else sweeping in this folder meanwhile; the plan is there from now on."""
        make_folder(self.path)
        with alone(self.path, "sweep", wait=0.0):
            if self._there is None or self._changed:
                self._begin()
            yield

    def find(self, point: Point) -> Record | None:
        """The record of a point that has been chosen now, if it is there."""
        record = self._found.get(point.key)
        if record is not None and record.name == point.name:
            self.records[point.index] = record
        return self.records.get(point.index)

    def add(self, point: Point, answer: Answer, started_from: int | None, methods: Sequence[object] = ()) -> Record:
        """Write an answer; the record of it. `InputError` where it cannot be written, and then nothing is."""
        texts = _texts(point.problem, answer)
        files = {KINDS[ending]: point.name + ending for ending in texts}
        record = _record(point, answer, started_from, files, methods)
        stale = [name for name in _names([point.name]) if name not in files.values()]
        self._write(
            {point.name + ending: text for ending, text in texts.items()} | {point.name + ENDING: _json(record)}, stale
        )
        self.records[point.index] = record
        return record

    def certificate(self, index: int) -> Certificate:
        """Of a point that is done."""
        return Certificate.read(self.path / self.records[index].files["certificate"])

    def finish(self) -> list[str]:
        """Write all records into one file; its name."""
        lines = [_json(self.records[index]) for index in sorted(self.records)]
        self._write({RECORDS: "".join(lines)}, ())
        return [RECORDS]

    def _begin(self) -> None:
        """Write the plan, after what another one has left was taken over or removed."""
        taken, places = dict[str, str](), {record.index: key for key, record in self._found.items()}
        now = {point.key: point.index for point in self.plan.points}
        new_places = {index: now.get(key) for index, key in places.items()}
        for point in self.plan.points:
            old = self._found.get(point.key)
            if old is not None:
                files = {kind: point.name + name.removeprefix(old.name) for kind, name in old.files.items()}
                moved = replace(
                    old,
                    index=point.index,
                    name=point.name,
                    model=point.model,
                    at=dict(point.at),
                    files=files,
                    started_from=None if old.started_from is None else new_places.get(old.started_from),
                )
                for kind, name in old.files.items():
                    taken[moved.files[kind]] = read_text(self.path / name, "a file of a sweep", at_most=MAX_PROOF)
                taken[point.name + ENDING] = _json(moved)
                self.records[point.index] = moved
        described = self.plan.described()
        text = json.dumps({**described, "digest": sha256(json.dumps(described, sort_keys=True))}, indent=1) + "\n"
        orphans = {path.name.removesuffix(ENDING) for path in self.path.glob(f"*{ENDING}")}
        points = orphans.union(_points_of(self._there))
        self._write(
            {**taken, PLAN: text}, [PLAN, RECORDS, *_names(sorted(points))]
        )  # the plan goes first, and comes last
        self._found = {} if self._changed else self._found
        self._there, self._changed = described, False

    def _write(self, contents: Mapping[str, str], stale: Iterable[str]) -> None:
        make_folder(self.path)
        with alone(self.path, wait=WAIT):
            write_together(
                {self.path / name: text for name, text in contents.items()},
                without=[self.path / name for name in stale if name not in contents],
            )


def read_plan(folder: Path) -> dict[str, Any]:
    """Read `sweep.json` of a folder.

    Raises
    ------
    InputError
        If it is not there, or no plan of this format.
    """
    text = read_text(folder / PLAN, "the plan of a sweep")
    with naming(f"{folder / PLAN}: not the plan of a sweep"):
        plan = parse_object(text, number=float)
    digest = plan.pop("digest", None)
    if plan.get("format") != FORMAT or digest != sha256(json.dumps(plan, sort_keys=True)):
        raise InputError(f"{folder / PLAN}: not the plan of a sweep, {FORMAT}, or damaged; name another folder")
    return plan


def records_in(folder: Path) -> list[Record]:
    """All records of a folder that can be read and say what their certificates claim, in their order; what does not is no record."""
    found = list[Record]()
    for path in folder.glob(f"*{ENDING}"):
        try:
            record = Record.from_json(parse_object(read_text(path, "a record"), number=float))
            texts = {
                kind: read_text(folder / name, "a file of a sweep", at_most=MAX_PROOF)
                for kind, name in record.files.items()
            }
            if is_told(record, texts.get("certificate", "")):
                found.append(record)
        except (InputError, TypeError, AttributeError):
            continue
    return sorted(found, key=lambda record: record.index)


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Changes of a plan, in words; empty if there are none.

    >>> changes({"grid": {"max_distortion": ["0", "1"]}}, {"grid": {"max_distortion": ["0", "2"]}})
    'max_distortion was 0, 1 and is now 0, 2'
    """
    for part in ("dalenius", "models", "grid", "settings", "points"):
        old: Any = before.get(part)
        new: Any = now.get(part)
        if old == new and (not isinstance(old, dict) or list(old) == list(new)):
            continue
        if not isinstance(old, dict) or not isinstance(new, dict):
            return f"{'the release' if part == 'dalenius' else part} was {brief(old)} and is now {brief(new)}"
        if list(old) != list(new):
            return f"{part} was about {_shown(list(old))} and is now about {_shown(list(new))}"
        key = next(key for key in new if old[key] != new[key])
        return (
            f"the model {key} was another"
            if part == "models"
            else f"{key} was {_shown(old[key])} and is now {_shown(new[key])}"
        )
    return ""


def _shown(value: object) -> str:
    texts = list(map(str, value)) if isinstance(value, list) else ["none" if value is None else str(value)]
    return ", ".join(texts if len(texts) < 8 else [*texts[:3], "...", *texts[-2:]]) or "nothing"


def _texts(problem: Problem, answer: Answer) -> dict[str, str]:
    texts = {".toml": model_bytes(problem).decode(), ".cert": answer.certificate.text}
    if isinstance(answer, DesignResult):
        texts |= mechanism_files(problem, answer)
    return texts


def _record(
    point: Point, answer: Answer, started_from: int | None, files: Mapping[str, str], methods: Sequence[object]
) -> Record:
    place = {
        "index": point.index,
        "name": point.name,
        "model": point.model,
        "at": dict(point.at),
        "started_from": started_from,
        "key": point.key,
    }
    return record_of(answer, point.problem, place=place, files=files, methods=methods)


def _points_of(plan: Mapping[str, Any] | None) -> Iterator[str]:
    """The names of a plan's points, as far as it knows how many there are."""
    if plan is not None and plan["points"] and plan["models"]:
        each = plan["points"] // len(plan["models"])
        for place, model in enumerate(plan["models"]):
            yield from (Plan.name(model, place * each + j) for j in range(each))


def _json(record: Record) -> str:
    return json.dumps(plain(record), allow_nan=False) + "\n"


def _names(points: Iterable[str]) -> list[str]:
    """Of all files that points may have."""
    return [name + ending for name in points for ending in (*KINDS, ENDING)]
