"""Commands that are killed at some moment, in forks of one process that has imported everything.

`python tests/killed.py KILLS SEED FOLDER NAME...` runs each of these `COMMANDS` in a folder of its own to the end, then KILLS times
until a random share of the processor time that took is used up, or until a random file is put into place; every other time from what
the one before left there. After each kill the folder is looked at, and the command runs once more to its end. What is wrong goes to
standard output.
"""

import contextlib
import csv
import gc
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import dalenius as dl
from dalenius.catalogue.models import library
from dalenius.catalogue.ratchet import history
from dalenius.cli import main as command_line
from dalenius.model import digest
from dalenius.studies.keeping import records_in
from dalenius.studies.record import sha256


def forked(command: list[str], prepare: Callable[[], object] = lambda: None) -> int:
    """Run the command in a fork; the exit status, or minus the signal that killed it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 99
    try:
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
            sys.argv[1:] = command
            prepare()
            command_line()
    except SystemExit as stopped:
        status = int(stopped.code or 0)
    except BaseException:  # noqa: BLE001  (a defect: the campaign goes on, and says so)
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(status)


def after_seconds(seconds: float) -> None:
    """Killed once so much processor time is used up: no handler, nothing is tidied."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def at_file(number: int, late: bool) -> None:
    """Killed just before, or just after, so many files are put into place."""
    replace, done = os.replace, []

    def counted(source: str, target: Path) -> None:
        done.append(target)
        if len(done) == number and not late:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target)
        if len(done) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = counted


def looked_at(folder: Path) -> Iterator[str]:
    """What is wrong with the files: every one whole, tables not ahead of proofs, an index not ahead of its history."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    known = {}
    for path in files:
        if path.suffix == ".toml" and path.name != "sets.toml":
            problem = dl.load(path)
            known[digest(problem)] = problem
    for path in files:
        data = path.read_bytes()
        if path.suffix == ".toml":
            tomllib.loads(data.decode())
        elif path.suffix == ".json":
            json.loads(data)
        elif path.suffix == ".png" and not data.endswith(b"IEND\xaeB`\x82"):
            yield f"{path.name}: half a picture"
        elif path.suffix == ".csv" and not data.endswith(b"\n"):
            yield f"{path.name}: half a table"
        elif path.suffix == ".cert" or path.name.endswith(".cert.gz"):
            certificate = dl.Certificate.read(path)
            problem = known.get(certificate.header.model)
            if problem is not None and not dl.verify(problem, certificate).proved:
                yield f"{path.name}: not proved"
    for record in records_in(folder):
        certificate = folder / record.files["certificate"]
        if not certificate.exists() or sha256(certificate.read_text()) != record.certificate_sha256:
            yield f"{record.name}: a record without its certificate"
    if len(records_in(folder)) != len(list(folder.glob("*.record.json"))):
        yield "a record that is none"
    for path in (folder / "curve.csv", folder / "frontier.csv"):
        for row in csv.DictReader(path.read_text().splitlines()) if path.exists() else []:
            if not (folder / row["certificate"]).exists():
                yield f"{path.name}: lists {row['certificate']}, which is not there"
    if (folder / "sets.toml").exists():
        yield from _ahead(folder)


def audits_of(records: list[dl.answers.Record]) -> list[dl.answers.Record]:
    """Those that a rerun repeats to the last bit: the search of a design looks at the clock."""
    return [record for record in records if record.problem == "maximal_leakage"]


def _ahead(folder: Path) -> Iterator[str]:
    last = {row.name: (row.lower, row.upper) for row in history(folder)}
    index = folder / "index.csv"
    for row in csv.DictReader(index.read_text().splitlines()) if index.exists() else []:
        if row["lower"] and row["name"] not in last:
            yield f"index.csv: {row['name']} is ahead of the history"
    for model in library(folder=folder):
        if model.certificate() is None and model.name in last:
            yield f"history.csv: {model.name} has no certificate"


def settled(folder: Path) -> Iterator[str]:
    """What is wrong after a rerun to the end: what may be after a kill, and nothing may be left of it."""
    yield from looked_at(folder)
    for path in folder.rglob(".*"):
        yield f"{path.name}: left behind"
    if (folder / "sets.toml").exists():
        last = {row.name: (row.lower, row.upper) for row in history(folder)}
        for model in library(folder=folder):
            stored = model.certificate()
            header = None if stored is None else stored.header
            if header is not None and last.get(model.name) != (header.lower or "", header.upper or ""):
                yield f"history.csv: lacks {model.name}"
        names = {row["name"] for row in csv.DictReader((folder / "index.csv").read_text().splitlines()) if row["lower"]}
        if names != {name for name, ends in last.items() if ends[0]}:
            yield "index.csv: is not the history's"


def home(folder: Path) -> None:
    """A library of two models without certificates."""
    names = ["parity/laplace-n4", "identity/bit"]
    for name in names:
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(MODELS / f"{name}.toml", folder / f"{name}.toml")
    (folder / "sets.toml").write_text(f"minimal = {json.dumps(names)}\n")


def models(folder: Path) -> None:
    """An audit and a design that take no time."""
    folder.mkdir()
    shutil.copy(MODELS / "parity/laplace-n4.toml", folder / "audit.toml")
    design = (MODELS / "design/parity-n4-leakage.toml").read_text()
    (folder / "design.toml").write_text(design.replace("max_distortion = 0.1", "max_distortion = 0.5"))


GRID = ["--set", "adversary.entropy_at_least=0:1 max:3", "--set", "mechanism.epsilon=0.5,1"]
MODELS = Path(__file__).parents[1] / "models"
COMMANDS = {
    "solve": (models, ["solve", "design.toml", "-o", ".", "--trace"]),
    "sweep": (models, ["sweep", "audit.toml", *GRID, "-o", "."]),
    "frontier": (models, ["frontier", "design.toml", "-o", ".", "--budgets", "-1,0.5,0.6"]),
    "submit": (home, ["library", "submit", str(MODELS / "parity/laplace-n4.cert"), "--folder", "."]),
}


def campaign(name: str, kills: int, rng: random.Random, folder: Path) -> tuple[int, list[str]]:
    """How many were killed before they ended, and what is wrong."""
    make, command = COMMANDS[name]
    make(folder)
    os.chdir(folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = forked(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    wrong = [f"ends with {status}"] if status else []
    records = records_in(folder)
    wrong += settled(folder)
    killed = 0
    for j in range(kills):
        if j % 2 == 0:
            shutil.rmtree(folder)
            make(folder)
            os.chdir(folder)
        if rng.random() < 0.5:
            share = rng.random()
            status = forked(command, lambda share=share: after_seconds(max(seconds * share, 1e-3)))
        else:
            number, late = rng.randint(1, 8), rng.random() < 0.5
            status = forked(command, lambda number=number, late=late: at_file(number, late))
        killed += status < 0
        wrong += [f"kill {j}: {what}" for what in looked_at(folder)]
        status = forked(command)
        if status not in (0, 2 if name == "submit" else 0):  # what is stored cannot be handed in again
            wrong.append(f"kill {j}, rerun: ends with {status}")
        wrong += [f"kill {j}, rerun: {what}" for what in settled(folder)]
        if audits_of(records_in(folder)) != audits_of(records):
            wrong.append(f"kill {j}, rerun: other records")
    return killed, [f"{name}: {what}" for what in wrong]


def main() -> None:
    kills, seed, place, *names = sys.argv[1:]
    for module in (
        "dalenius.report",
        "dalenius.studies.sweep",
        "dalenius.catalogue.ratchet",
        "matplotlib.backends.backend_agg",
    ):
        importlib.import_module(module)
    gc.freeze()  # or every child takes all that apart when it ends
    rng, done = random.Random(int(seed)), 0
    Path(place).mkdir()
    for name in names:
        killed, wrong = campaign(name, int(kills), rng, Path(place, name))
        sys.stdout.writelines(f"{what}\n" for what in wrong)
        done += killed
    sys.stdout.write(f"{done} killed\n")


if __name__ == "__main__":
    main()
