"""Lay out the sources of the site: the pages of docs/, and those that are made from the package, the library and the examples.

    python docs/site/stage.py build/site/source

What is made: the public names by subject (from the table of contents in `dalenius.__doc__`), the commands (from their help), a page
for each topic of the model library, the gallery of examples. A link that leads out of the pages becomes the name of its file.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import posixpath
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import grimp

import dalenius as dl
from dalenius.catalogue.models import library_folder
from dalenius.cli import EXAMPLES, whole_command
from dalenius.cli.statuses import ExitStatus

ROOT = Path(__file__).parents[2]
ELSEWHERE = {"models/README.md": "library/index.md", "models/INDEX.md": "library/intervals.md"}
OWN = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
MADE = ("docs/api/", "docs/command-line.md", "docs/gallery/", "docs/library/")  # pages that are made here
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
ROOMS = {
    "studies": "Questions of several solves",
    "report": "Pictures and tables",
    "atoms": "Information measures and limits for cvxpy models of your own",
    "programs": "Every subproblem as a cvxpy model",
    "export": "Instances for other solvers",
    "information.measures": "Measures of a channel in doubles",
    "information.noise_formulas": "Scales of noise by closed forms",
    "baselines": "Methods to compare with",
}
PICTURES = {
    "fair_survey": "fair-survey",
    "published_numbers_under_report": "published-numbers",
    "designed_against_classical": "designed-against-classical",
    "paper_calibrations": "paper-calibrations",
    "paper_disclosure_and_divergences": "paper-disclosure-and-divergences",
    "paper_figure_3": "paper-figure-3",
    "paper_figure_5": "paper-figure-5",
    "paper_figure_6": "paper-figure-6",
    "paper_local_information": "paper-local-information",
    "paper_queries": "paper-queries",
    "paper_section_4_4": "paper-section-4-4",
    "paper_table_3": "paper-table-3",
}


def stage(target: Path) -> None:
    """Write all sources; what was there before goes."""
    shutil.rmtree(target, ignore_errors=True)
    pages = {
        str(page.relative_to(ROOT)): str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")
    }
    pages |= ELSEWHERE | {name: place for name, place in OWN.items() if name != "README.md"}
    for source, place in pages.items():
        write(target / place, relinked((ROOT / source).read_text(), source, place, pages))
    append_the_others(target, list(pages.values()))
    hidden = "\n```{toctree}\n:hidden:\n\nintervals\ntopics\n```\n"
    write(target / "library/index.md", (target / "library/index.md").read_text() + hidden)
    shutil.copytree(ROOT / "docs" / "images", target / "images")
    write(target / "images" / "house.svg", house())
    drawn = "\n![Who imports whom](images/house.svg)\n\n## Rules\n"
    write(target / "contributing.md", (target / "contributing.md").read_text().replace("\n## Rules\n", drawn))
    for place, text in (*api(), *library_pages(), ("command-line.md", command_line())):
        write(target / place, text)
    gallery(target / "examples")


def append_the_others(target: Path, pages: list[str]) -> None:
    """Put the pages that no index names at the end of the guides'."""
    named = {"index"}
    for page in pages:
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", (target / page).read_text(), re.MULTILINE | re.DOTALL):
            links = [
                line.partition("<")[2].rstrip(">") or line for line in block.splitlines() if line and line[0] != ":"
            ]
            named |= {posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in links}
    others = sorted(page.removesuffix(".md") for page in pages if page.removesuffix(".md") not in named)
    guides = target / "guides" / "index.md"
    lines = [f"../{page}" for page in others if not page.startswith("library/")]
    write(guides, guides.read_text().rstrip().removesuffix("```") + "".join(f"{line}\n" for line in lines) + "```\n")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


# ---------------------------------------------------------------- the house


def house() -> str:
    """The rooms on their floors, as pyproject.toml lists them, as an SVG picture.

    A line for whoever imports from whom, but where a way through other rooms says so already.
    """
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    floors = [floor.split(" | ") for floor in contracts[0]["layers"]]
    width, step = 1200, 84
    places = {
        room: (width * (k + 0.5) / len(rooms), step * (floor + 0.5))
        for floor, rooms in enumerate(floors)
        for k, room in enumerate(rooms)
    }
    graph = grimp.build_graph("dalenius")
    for room in places:
        graph.squash_module(f"dalenius.{room}")
    below = {
        room: {
            other for other in places if other != room and graph.chain_exists(f"dalenius.{room}", f"dalenius.{other}")
        }
        for room in places
    }
    lines = [
        f'<path d="M{x:.0f} {y + 13:.0f} C{x:.0f} {y + 45:.0f} {u:.0f} {v - 45:.0f} {u:.0f} {v - 13:.0f}"/>'
        for room, (x, y) in places.items()
        for other, (u, v) in places.items()
        if other in below[room] and not any(other in below[between] for between in below[room])
    ]
    boxes = [
        f'<rect x="{x - 48:.0f}" y="{y - 13:.0f}" width="96" height="26" rx="5" fill="#e8eef7" stroke="#456"/>'
        f'<text x="{x:.0f}" y="{y + 4:.0f}">{room}</text>'
        for room, (x, y) in places.items()
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {step * len(floors)}" font-family="sans-serif" '
        f'font-size="12" text-anchor="middle"><g fill="none" stroke="#89a">{"".join(lines)}</g>'
        f"{''.join(boxes)}</svg>\n"
    )


# ---------------------------------------------------------------- links


def relinked(text: str, source: str, place: str, pages: dict[str, str]) -> str:
    """The page with its links as they are among the staged pages."""

    def moved(match: re.Match[str]) -> str:
        picture, words, link = match.groups()
        if link.startswith(("http://", "https://", "#", "mailto:")):
            return match[0]
        path, _, anchor = link.partition("#")
        file = (ROOT / source).parent.joinpath(path).resolve()
        name = str(file.relative_to(ROOT))
        if picture or name.startswith("docs/images/"):
            there = name.removeprefix("docs/")
        elif name in pages:
            there = pages[name]
        elif file.suffix == ".toml" and name.startswith("models/") and name.count("/") == 2:
            there, anchor = f"library/{file.parent.name}.md", slug(file.stem)
        elif name.startswith(MADE):
            there = name.removeprefix("docs/")
        elif not file.exists():
            return words
        else:
            return f"{words} (`{name}`)" if words.strip("`") != name else f"`{name}`"
        up = "../" * place.count("/")
        return f"{picture}[{words}]({up}{there}{'#' + anchor if anchor else ''})"

    parts = CODE.split(text)
    parts[::2] = [LINK.sub(moved, part) for part in parts[::2]]
    return "".join(parts)


def slug(heading: str) -> str:
    """What a heading is called in links."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# ---------------------------------------------------------------- the package


def api() -> Iterator[tuple[str, str]]:
    """A page for each subject of the package's table of contents, and one for each room beside it."""
    assert dl.__doc__ is not None
    contents = dl.__doc__.partition("\nNamespaces")[0]
    subjects = re.findall(r"^([A-Z][a-z]+(?: [a-z]+)*) {2,}(.*(?:\n {16}.*)*)", contents, re.MULTILINE)
    told, names = set[str](), []
    for subject, text in subjects:
        found = [name for name in dict.fromkeys(re.findall(r"\w+", text)) if name in dir(dl) and name not in told]
        told |= {*found}
        names.append(slug(subject))
        yield f"api/{slug(subject)}.rst", "\n".join([*title(subject), *documented(dl, found)])
    for room in dl.ROOMS:
        module = getattr(dl, room)
        assert module.__doc__ is not None
        names.append(f"dalenius-{room}")
        own = [name for name in public(module) if not handed_out(getattr(module, name))]
        text = [*title(f"dalenius.{room}"), module.__doc__.partition("\n\n")[0], "", *documented(module, own)]
        yield f"api/{names[-1]}.rst", "\n".join(text)
    for room, what in ROOMS.items():
        module = importlib.import_module(f"dalenius.{room}")
        names.append("dalenius-" + slug(room.replace(".", "-")))
        text = [
            *title(f"dalenius.{room}: {what[0].lower()}{what[1:]}"),
            f".. automodule:: dalenius.{room}",
            "   :no-members:",
            "",
        ]
        for part in submodules(module):
            text += documented(part, [name for name in public(part) if not handed_out(getattr(part, name))])
        yield f"api/{names[-1]}.rst", "\n".join(text)
    summary = [
        "The API, by subject",
        "===================",
        "",
        "Every example is run by the tests.",
        "",
        ".. toctree::",
        "",
    ]
    yield "api/index.rst", "\n".join([*summary, *(f"   {name}" for name in names), ""])


def handed_out(thing: object) -> bool:
    """Whether the package itself hands it out, by whatever name, or it is a class of somebody else's."""
    told = (getattr(dl, name) for name in dir(dl))
    foreign = isinstance(thing, type) and not thing.__module__.startswith(("dalenius", "cvxcertify"))
    return foreign or any(one is thing for one in told)


def public(module: ModuleType) -> list[str]:
    """The names that it hands out; where it does not list them, those without an underscore of what is defined there."""
    if "__getattr__" in vars(module):
        return dir(module)
    own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
    return getattr(module, "__all__", [name for name in own if name[0] != "_"])


def submodules(room: ModuleType) -> Iterator[ModuleType]:
    """The modules of a room that hands out no names itself; or else the room."""
    if {"__all__", "__getattr__"} & vars(room).keys() or not hasattr(room, "__path__"):
        yield room
        return
    for found in pkgutil.iter_modules(room.__path__):
        yield importlib.import_module(f"{room.__name__}.{found.name}")


def title(text: str) -> list[str]:
    return [text, "=" * len(text), ""]


def documented(module: ModuleType, names: list[str]) -> list[str]:
    """A directive for each name, after its kind."""
    lines = [f".. currentmodule:: {module.__name__}", ""]
    for name in names:
        thing = getattr(module, name)
        if isinstance(thing, type):
            kind = "exception" if issubclass(thing, BaseException) else "class"
        elif callable(thing):
            kind = "function"
        else:
            continue
        lines += [f".. auto{kind}:: {name}", ""]
    return lines


def command_line() -> str:
    """Every command with its arguments, its options and its examples, and the exit statuses."""
    said = "`dalenius COMMAND --help` says the same. `dalenius --install-completion` has your shell complete commands and models."
    lines = ["# The command line", "", said, ""]
    group = whole_command()
    for name in EXAMPLES:
        command = group
        for word in name.split():
            command = command.commands[word]
        lines += [f"## {name}", "", *(command.help or "").split("\n"), ""]
        lines += ["| argument or option | default | |", "|---|---|---|"]
        for option in command.params:
            if option.name == "help":
                continue
            option_flags = ", ".join(f"`{flag}`" for flag in option.opts)
            flags = option_flags if option.param_type_name == "option" else f"`{option.metavar or option.name}`"
            default = "" if option.default in (None, False, ()) or callable(option.default) else f"`{option.default}`"
            text = (getattr(option, "help", None) or "").replace("|", "\\|")
            lines.append(f"| {flags} | {default} | {text} |")
        lines += ["", "```console", *(f"$ dalenius {line}" for line in EXAMPLES[name]), "```", ""]
    lines += ["## Exit statuses", "", "| status | meaning |", "|---|---|"]
    lines += [f"| {status.value} | {status.meaning} |" for status in ExitStatus]
    return "\n".join([*lines, ""])


# ---------------------------------------------------------------- library and gallery


def library_pages() -> Iterator[tuple[str, str]]:
    """A page for each topic: its models, what is proved about them, and their files."""
    topics: dict[str, list[dl.answers.LibraryModel]] = {}
    for model in dl.library():
        topics.setdefault(model.name.split("/")[0], []).append(model)
    for topic, models in topics.items():
        lines = [f"# Models: {topic}", ""]
        for model in models:
            row, short = model.row(), model.name.split("/")[1]
            proved = f"{row.lower} .. {row.upper} {row.unit}" if row.lower else f"nothing ({row.tightness})"
            lines += [f"## {short}", "", escaped(f"{row.title}."), "", f"* proved: {proved}, {row.tightness}"]
            lines += [escaped(f"* exactly: {row.formula}")] if row.formula else []
            lines += [
                escaped(
                    f"* {row.problem}, {row.datasets} datasets, {row.inputs} inputs, {row.outputs} outputs; set {row.set}"
                )
            ]
            lines += [
                escaped(f"* source: {row.source}"),
                f"* digest `{row.digest}`",
                "",
                f"`dalenius solve {model.name}`",
                "",
            ]
            text = model.path.read_text().splitlines()
            cut = [line if len(line) <= 200 else line[:200] + " ..." for line in text[:60]] + ["..."] * (len(text) > 60)
            lines += ["```toml" if cut == text else "```text", *cut, "```", ""]
        yield f"library/{topic}.md", "\n".join(lines)
    names = "\n".join(sorted(topics))
    yield (
        "library/topics.md",
        f"# All models, by topic\n\nFrom `{library_folder().name}/`.\n\n```{{toctree}}\n{names}\n```\n",
    )


def escaped(text: str) -> str:
    """Free text that is no markup."""
    return re.sub(r"[|_<>\[\]$]|(?<!^)\*", r"\\\g<0>", text)


def gallery(target: Path) -> None:
    """The examples as sphinx-gallery wants them: the first line of each docstring is a title, and a picture stands for it."""
    head = "Examples\n========\n\nStories that run: ``python examples/NAME.py -o out``. The tests run each of them.\n"
    write(target / "GALLERY_HEADER.rst", head)
    for path in sorted((ROOT / "examples").glob("[a-z]*.py")):
        text = path.read_text()
        node = ast.parse(text).body[0]
        assert isinstance(node, ast.Expr)
        assert isinstance(node.value, ast.Constant)
        assert isinstance(node.value.value, str)
        first, _, rest = node.value.value.partition("\n")
        rest = re.sub(r"(?<!`)`([^`\n]+)`(?!`)", r"``\1``", rest).replace("|", "\\\\|")
        rest = re.sub(r":\n\n(?=    )", "::\n\n", rest)
        body = "\n".join(text.splitlines()[node.end_lineno :])
        picture = PICTURES.get(path.stem)
        shown = f"\n.. image:: /images/{picture}.png\n" if picture else ""
        thumbnail = f"# sphinx_gallery_thumbnail_path = 'images/{picture}.png'\n" if picture else ""
        write(target / path.name, f'"""\n{first}\n{"=" * len(first)}\n{rest}{shown}"""\n{thumbnail}{body}\n')


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
