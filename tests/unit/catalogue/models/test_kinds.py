"""The library has every kind of part, models of every size, and each means what its file says."""

import dataclasses

import pytest

import dalenius as dl
from dalenius.catalogue import ratchet
from dalenius.catalogue.models import SETS, library
from dalenius.model.adversaries import ADVERSARIES
from dalenius.model.constraints import CONSTRAINTS
from dalenius.model.distortions import DISTORTIONS
from dalenius.model.laws import LAWS, CsvLaw
from dalenius.model.mechanism_classes import MECHANISM_CLASSES
from dalenius.model.mechanisms import MECHANISMS
from dalenius.model.model_file import PROBLEMS
from dalenius.model.objectives import OBJECTIVES, TERMS
from dalenius.model.privacy import NOTIONS
from dalenius.model.queries import QUERIES
from dalenius.model.shelf import Shelved
from libraries import HOME, MODELS, problems, rows


def kinds(problem: dl.problems.Problem) -> set[tuple[str, str]]:
    """Every kind of part that a problem has, and how the model file states it."""
    parts = {field.name: getattr(problem, field.name) for field in dataclasses.fields(problem)}
    found = {(name, part.kind) for name, part in parts.items() if isinstance(part, Shelved)}
    if isinstance(problem, dl.problems.DesignProblem):
        found.add(("class", problem.mechanism_class.kind))
        found |= {("constraint", constraint.kind) for constraint in problem.own_constraints}
    if isinstance(problem, dl.problems.DesignProblem) and problem.objective is not None:
        found.add(("objective", problem.objective.combine))
        found |= {("term", term.kind) for term in problem.objective.terms}
    if isinstance(problem, dl.WorstCaseLeakage) and isinstance(problem.mechanism, dl.Channel):
        found.add(("inputs", problem.mechanism.indexed_by()))
    if isinstance(problem.adversary, dl.EntropyAtLeast):
        found.add(("entropy", problem.adversary.normal_form()["entropy_at_least"].split()[1]))
    return found | {("problem", problem.kind)}


def test_the_smallest_set_has_every_kind():
    """A new kind without a model in the library fails here."""
    shelves = {
        "query": QUERIES,
        "mechanism": MECHANISMS,
        "adversary": ADVERSARIES,
        "distortion": DISTORTIONS,
        "privacy": NOTIONS,
        "law": LAWS,
        "constraint": CONSTRAINTS,
        "objective": OBJECTIVES,
        "term": TERMS,
    }
    wanted = {(shelf, kind) for shelf, kept in shelves.items() for kind in kept} - {("law", CsvLaw.kind)}
    wanted |= {("problem", problem.kind) for problem in PROBLEMS.values()} | {
        ("class", kind) for kind in MECHANISM_CLASSES
    }
    wanted |= {("inputs", kind) for kind in ("query", "dataset")} | {
        ("entropy", unit) for unit in ("nats", "bits", "max")
    }
    found = set().union(*(kinds(problems()[model.name]) for model in library("minimal")))
    assert wanted <= found, wanted - found


def test_the_sets_contain_one_another():
    small, middle, large = ([model.name for model in library(name)] for name in SETS)
    assert set(small) < set(middle) < set(large) == set(MODELS)
    assert len(large) >= 60
    assert len({row.digest for row in rows()}) == len(large), "two names for one model"
    assert dl.library is library
    with pytest.raises(dl.errors.InputError, match="expected one of minimal, fast, various; got 'huge'"):
        library("huge")


def test_sizes():
    """From 2 x 2 to 100 x 100 and 100,000 records; small enough to ship; some closed and some open, and some infeasible."""
    assert min((row.inputs, row.outputs) for row in rows()) == (2, 2)
    assert max((row.inputs, row.outputs) for row in rows()) >= (100, 100)
    assert max(len(problem.records) for problem in problems().values()) == 1_000_000
    assert all(0 < row.certificate_bytes <= ratchet.MOST_BYTES for row in rows())
    assert sum(path.stat().st_size for path in HOME.rglob("*") if path.is_file()) <= 4_000_000
    assert {row.tightness for row in rows()} == {"exact", "closed", "bracket", "infeasible"}
    assert all(row.title and row.source for row in rows())
    assert {model.set for model in MODELS.values() if model.tightness == "bracket"} <= {"fast", "various"}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_survives_being_written_and_read(name):
    assert dl.loads(dl.dumps(problems()[name])) == problems()[name]
