"""A query, mechanism, adversary, distortion, law, privacy notion: each has a recipe; this fails if a step was forgotten."""

import functools
import importlib
import inspect
import pkgutil
import pydoc
import re
import tomllib
from pathlib import Path

import cases
import dalenius
import dalenius.programs as programs
from campaigns import each
from dalenius.model.adversaries import ADVERSARIES, Adversary, EntropyAtLeast
from dalenius.model.constraints import CONSTRAINTS, Constraint
from dalenius.model.distortions import DISTORTIONS, Distortion
from dalenius.model.laws import LAWS, Law
from dalenius.model.mechanism_classes import MECHANISM_CLASSES, MechanismClass
from dalenius.model.mechanisms import MECHANISMS, Mechanism
from dalenius.model.mechanisms.independent_releases import PARTS
from dalenius.model.privacy import NOTIONS, Privacy
from dalenius.model.queries import QUERIES, Query

ROOT = Path(__file__).parents[1]
SHELVES = {
    "queries": QUERIES,
    "mechanisms": MECHANISMS,
    "adversaries": ADVERSARIES,
    "distortions": DISTORTIONS,
    "laws": LAWS,
    "privacy": NOTIONS,
    "constraints": CONSTRAINTS,
}
BASES = {
    "queries": Query,
    "mechanisms": Mechanism,
    "adversaries": Adversary,
    "distortions": Distortion,
    "laws": Law,
    "privacy": Privacy,
    "constraints": Constraint,
}
TESTS = {
    "queries": "unit/model/test_queries.py laws/test_reductions.py",
    "mechanisms": "unit/model/test_queries.py",
    "adversaries": "failures/test_adversaries.py",
    "distortions": "unit/model/problems/test_design_problem.py",
    "laws": "unit/model/problems/test_design_problem.py",
    "privacy": "unit/model/test_privacy.py",
    "constraints": "unit/model/test_constraints.py",
}
PLACES = {
    "tests/every_kind.py": "a model that is drawn",
    "tests/second_reader": "what it means, read anew from docs/model-format.md",
    "tests/checker/forgery": "false claims about it",
}
NAMED = {  # kinds that are there by the name of their like
    "tests/second_reader": {
        **{f"{distance}_ball_priors": "_ball_priors" for distance in ("l1", "kl", "chi_square")},
        "squared": "absolute",
    },
    "tests/checker/forgery": {"randomized_histogram": "randomized_count"},
}
KINDS = [(shelf, kind) for shelf, kinds in SHELVES.items() for kind in kinds]


def program_classes():
    """Every concrete program in any module of the room, offered or not."""
    for path in sorted((ROOT / "src/dalenius/programs").glob("*.py")):
        importlib.import_module(f"dalenius.programs.{path.stem}" if path.stem != "__init__" else "dalenius.programs")
    found, waiting = set(), [programs.Program]
    while waiting:
        classes = waiting.pop().__subclasses__()
        found.update(cls for cls in classes if cls.__module__.startswith("dalenius."))
        waiting += classes
    return sorted((cls for cls in found if not inspect.isabstract(cls)), key=lambda cls: cls.__name__)


PROGRAMS = program_classes()


def kinds_below(base, room):
    """The kinds of all classes below a base that stand in a module of a room or in a module, offered or not."""
    module = importlib.import_module(f"dalenius.model.{room}")
    for found in pkgutil.iter_modules(getattr(module, "__path__", [])):
        importlib.import_module(f"{module.__name__}.{found.name}")
    classes, waiting = set(), [base]
    while waiting:
        below = [cls for cls in waiting.pop().__subclasses__() if cls.__module__.startswith("dalenius.model.")]
        classes.update(cls for cls in below if not inspect.isabstract(cls) and "kind" in vars(cls))
        waiting += below
    return {cls.kind for cls in classes}


@each("shelf", *SHELVES)
def test_every_kind_is_on_its_shelf(shelf):
    kinds = kinds_below(BASES[shelf], shelf)
    kinds -= {EntropyAtLeast.kind}  # a key of its own instead of a kind
    assert kinds == set(SHELVES[shelf])


@each("shelf, kind", *KINDS)
def test_the_recipe_was_followed(shelf, kind):
    cls = SHELVES[shelf][kind]
    assert cls.kind == kind
    rooms = (dalenius, dalenius.adversaries, dalenius.constraints, dalenius.objectives, dalenius.queries)
    tests = "".join(map(text_of, (f"tests/{name}" for name in TESTS[shelf].split())))
    steps = {
        "a row in docs/model-format.md": f"| `{kind}` |" in text_of("docs/model-format.md"),
        "a public name": {cls.__name__, kind} & {name for room in rooms for name in dir(room)},
        "its words in reports": shelf != "queries" or "words" in vars(cls),
        f"a test of its own in tests/{TESTS[shelf]}": re.search(rf"\b{cls.__name__}\(|\b{kind}\(", tests),
    }
    assert not [step for step, done in steps.items() if not done]


@functools.cache
def text_of(place):
    """All that a file, or the modules of a folder, say."""
    path = ROOT / place
    return path.read_text() if path.is_file() else "\n".join(file.read_text() for file in sorted(path.rglob("*.py")))


def lacking(kind, parts=PARTS):
    """The places that lack a kind, besides those with a test of their own."""
    missing = [
        f"{place}: {what}"
        for place, what in PLACES.items()
        if not re.search(
            rf'"{(named := NAMED.get(place, {}).get(kind, kind))}"|\bdef {named}\(.*table: Table', text_of(place)
        )
    ]
    released = next(line for line in text_of("docs/model-format.md").splitlines() if line.startswith("* `several_rel"))
    if kind in parts and f"`{kind}`" not in released:
        missing.append("docs/model-format.md: the list of kinds in `parts`")
    return missing


@each("kind", *(kind for _, kind in KINDS))
def test_no_place_lacks_a_kind(kind):
    assert not lacking(kind)


@each("kind", "podium", "largest")
def test_what_was_forgotten_is_named_by_its_place(kind):
    """Also where it is a word that comments use."""
    assert lacking(kind, [kind]) == [
        "tests/every_kind.py: a model that is drawn",
        "tests/second_reader: what it means, read anew from docs/model-format.md",
        "tests/checker/forgery: false claims about it",
        "docs/model-format.md: the list of kinds in `parts`",
    ]


def test_every_class_of_mechanisms_is_a_word_and_a_row():
    assert kinds_below(MechanismClass, "mechanism_classes") == set(MECHANISM_CLASSES)
    for kind, made in MECHANISM_CLASSES.items():
        assert made.kind == kind
        assert f"| `{kind}` |" in (ROOT / "docs/model-format.md").read_text(), "a row in docs/model-format.md"


def corpus_kinds():
    kinds = set()
    for name in cases.tables()[0]:
        try:
            model = tomllib.loads(cases.model(name).decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError, RecursionError):
            continue
        for table in ("query", "mechanism", "adversary", "distortion", "law", "privacy"):
            if isinstance(model.get(table), dict):
                kinds.add(model[table].get("kind"))
        kinds |= {table.get("kind") for table in model.get("constraints", []) if isinstance(table, dict)}
    return kinds


def test_the_checker_knows_every_kind():
    text = "\n".join(p.read_text() for p in (ROOT / "src/dalenius_check").rglob("*.py"))
    known = corpus_kinds()
    for _, kind in KINDS:
        assert f'"{kind}"' in text, "the checker derives every shipped kind by itself"
        assert kind in known, "the corpus has a model of this kind"


@each("cls", *PROGRAMS)
def test_every_program_is_one_file_with_its_name(cls):
    assert cls.__module__ == f"dalenius.programs.{cls.name}", "one file a program, named like it"
    assert getattr(programs, cls.__name__, None) is cls
    assert cls.__name__ in dir(programs), "a public name of the room"
    assert (ROOT / f"tests/unit/programs/test_{cls.name}.py").exists(), "tests of its own"
    assert f'"{cls.__name__}"' in (ROOT / "tests/instances.py").read_text(), "an instance for hostile solvers"
    assert f"| `{cls.__name__}` |" in (ROOT / "docs/programs.md").read_text(), "a row in docs/programs.md"
    for words in ("*Convex because*", "*DPP because*", "*Bound because*", "Parameters\n", "Raises\n", ">>> "):
        assert words in inspect.cleandoc(cls.__doc__ or ""), f"the docstring lacks {words!r}"


def test_names_of_programs_are_unique():
    assert len({cls.name for cls in PROGRAMS}) == len(PROGRAMS)


PUBLIC = [name for name in dir(dalenius) if name[0] != "_"]


@each("name", *PUBLIC)
def test_public_names_are_documented(name):
    assert (getattr(dalenius, name).__doc__ or "").strip(), "no docstring"
    assert re.search(rf"\b{name}\b", dalenius.__doc__), "the package's docstring is the table of contents"


def test_the_help_of_the_package_can_be_read():
    text = pydoc.plain(pydoc.render_doc(dalenius))
    assert len(text.partition("SUBMODULES")[0].splitlines()) <= 80
    assert f"VERSION\n    {dalenius.__version__}" in text
