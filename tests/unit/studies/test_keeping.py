"""The folder of a sweep: a point is done if its record fits its files; another plan is noticed, and what is the same taken over."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

import dalenius as dl
from campaigns import each
from dalenius.studies.keeping import PLAN, RECORDS, read_plan, records_in
from dalenius.studies.plan import ENTROPY
from support import TINY_AUDIT as PARITY
from support import TINY_DESIGN as DESIGN
from support import refused

GRID = {ENTROPY: "0:1 max:2", "mechanism.flip": [0.1, 0.2]}


def swept(folder, grid=GRID, problem=PARITY, **options):
    solved = list[int]()
    result = dl.sweep(
        problem,
        grid,
        output=folder,
        progress=lambda moment: moment.record and solved.append(moment.record.index),
        **options,
    )
    return result, solved


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A sweep that is done, and not to be touched."""
    folder = tmp_path_factory.mktemp("there")
    swept(folder)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("problem", "grid"), [(PARITY, GRID), (DESIGN, {"max_distortion": ["-1", "0.2", "0.5"]})], ids=["audit", "design"]
)
def test_a_folder_says_what_was_answered(tmp_path, problem, grid):
    made, solved = swept(tmp_path, grid, problem)
    alone = dl.sweep(problem, grid)
    assert len(solved) == len(made.records)
    read = dl.answers.Sweep.read(tmp_path)
    assert read.plan == made.plan
    assert read.records == made.records
    assert [json.loads(line)["index"] for line in (tmp_path / RECORDS).read_text().splitlines()] == sorted(solved)
    assert read.complete
    read.verify()
    for record, other in zip(read.records, alone.records, strict=True):
        there, here = read.result(record), alone.result(other)
        assert (there.lower, there.upper) == (here.lower, here.upper)
        assert there.certificate == here.certificate
        assert there.ends == here.ends
        assert dl.dumps(read.problem(record)) == dl.dumps(alone.problem(other))
        if isinstance(here, dl.answers.DesignResult):
            assert there.mechanism == here.mechanism
            assert (there.leakage, there.distortion, there.feasible) == (here.leakage, here.distortion, here.feasible)


def test_nothing_is_done_twice(there):
    before = files(there)
    assert swept(there)[1] == []
    assert files(there) == before


def edited(path, **said):
    """A record that says something else than its certificate."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **said}))


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "model-002.record.json").unlink(),
        lambda folder: (folder / "model-002.record.json").write_text("{}"),
        lambda folder: (folder / "model-002.record.json").write_text('{"index": 1, '),
        lambda folder: edited(folder / "model-002.record.json", upper=1e-4),
        lambda folder: edited(folder / "model-002.record.json", lower=-1.0),
        lambda folder: edited(folder / "model-002.record.json", claim=["0", "1"]),
        lambda folder: edited(folder / "model-002.record.json", gap=0.0),
        lambda folder: edited(folder / "model-002.record.json", digest="0" * 64),
        lambda folder: edited(folder / "model-002.record.json", feasible=False),
        lambda folder: edited(folder / "model-002.record.json", files=["model-002.cert"]),
        lambda folder: (folder / "model-002.cert").unlink(),
        lambda folder: (folder / "model-002.cert").write_bytes(b"\xff"),
        lambda folder: (folder / "model-002.toml").unlink(),
        lambda folder: (folder / "model-002.cert").write_text((folder / "model-001.cert").read_text()),
    ],
)
def test_what_is_damaged_is_done_again_and_nothing_else(there, tmp_path, damage):
    shutil.copytree(there, tmp_path, dirs_exist_ok=True)
    damage(tmp_path)
    again, solved = swept(tmp_path)
    assert solved == [1]
    assert again.records == tuple(records_in(there))


@each(
    "change, words",
    ({"gap": 1e-2}, "gap was 0.001 and is now 0.01"),
    ({"grid": {**GRID, "mechanism.flip": [0.1]}}, "mechanism.flip was 0.1, 0.2 and is now 0.1"),
    ({"grid": dict(reversed(GRID.items()))}, "grid was about adversary.entropy_at_least, mechanism.flip and is now"),
    ({"problem": dataclasses.replace(PARITY, records=dl.Records(3, alphabet=2))}, "the model model was another"),
    ({"problem": {"other": PARITY}}, "models was about model and is now about other"),
)
def test_another_sweep_is_noticed_and_nothing_is_touched(there, change, words):
    before = files(there)
    with pytest.raises(dl.errors.InputError, match="holds another sweep: " + words):
        swept(there, **change)
    assert files(there) == before


def test_what_is_the_same_is_taken_over(tmp_path):
    """A third value in the middle of an axis moves others; their records, with their files, get new names."""
    made, _ = swept(tmp_path)
    more, solved = swept(tmp_path, {**GRID, "mechanism.flip": [0.1, 0.15, 0.2]}, force=True)
    assert solved == [1, 4]
    assert [record.claim for record in more.records if record.at["mechanism.flip"] != "0.15"] == [
        record.claim for record in made.records
    ]
    assert (
        more.records == dl.sweep(PARITY, {**GRID, "mechanism.flip": [0.1, 0.15, 0.2]}, output=tmp_path / "new").records
    )
    dl.answers.Sweep.read(tmp_path).verify()
    fewer, solved = swept(tmp_path, {**GRID, "mechanism.flip": [0.2]}, force=True)
    assert solved == []
    assert sorted(path.name for path in tmp_path.glob("*.cert")) == ["model-001.cert", "model-002.cert"]
    assert fewer.records == tuple(records_in(tmp_path))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "dalenius-sweep/2", "digest": ""}', "half"])
def test_a_plan_that_is_none(tmp_path, text):
    (tmp_path / PLAN).write_text(text)
    for read in (read_plan, dl.answers.Sweep.read, swept):
        with pytest.raises(dl.errors.InputError, match=r"sweep\.json: not the plan of a sweep"):
            read(tmp_path)


def test_a_plan_that_was_edited(there, tmp_path):
    shutil.copytree(there, tmp_path, dirs_exist_ok=True)
    (tmp_path / PLAN).write_text((tmp_path / PLAN).read_text().replace('"0.2"', '"0.3"'))
    refused(lambda: swept(tmp_path), "or damaged")
