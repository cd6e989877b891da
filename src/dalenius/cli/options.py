"""Options as docstrings state them, in a section like that of any other function.

An entry ``name : -o, --output FOLDER`` says how a parameter is written, perhaps with bounds, ``1..`` or ``2..1000``; a name alone is
written ``--name``; an argument has no dash. A command's own docstring comes before its module's, and both before this one, which
has what several modules share. ``{NAME}`` is a constant of the module.

Parameters
----------
alphabet : --alphabet 1..
    How many answers a person can give; by default 2, no and yes.
answer : --answer, --column
    Of --table: the column with the answers; several with commas.
as_json : --json
    One JSON object on standard output.
at_most : --at-most BUDGET
    Exit with status 6 if the upper end is larger: '0.3 bits', '0.2 nats'.
blocks : --blocks, --households 1..
    Answers are correlated in households of at most so many people; by default 1.
force
    Replace a certificate of the same model even by a looser one.
gap
    Relative gap at which to stop.
household
    Of --table: the column that says who lives with whom.
letters
    Of --table: all answers there could be, with commas: no,yes counts yes; of several columns f,m;no,yes.
method
    alternating: blocks in turn, each solved and certified.
model : MODEL
    A model file, or a name from `dalenius list`.
node_limit : --node-limit 1..
    Leaves a record's trees may have.
people : --people 1..
    How many people.
public_law
    Design for this law, which may be known: uniform, or probabilities with commas.
require_gap
    Exit with status 5 if the relative gap is larger than this.
seed
    Seed of the random starts.
seeds : --seeds 1..
    Starts of each rival.
solver
    Who solves programs, of a design or of --method alternating: auto, own, clarabel, mosek, scs.
table : --table, --data
    Instead of --people and --blocks: a csv file with a line a person, names in line 1.
time_limit
    Seconds for everything, the proof included.
units
    nats or bits; left out, bits, and nats in JSON and in tables of files.
values : --values LOW,HIGH[,STEP]
    Of a mean: public bounds of the values, and their grid.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, cast, get_origin

import typer
from typer import Argument, Option

from dalenius.catalogue.models import library
from dalenius.errors import InputError

SECTION = "\n\nParameters\n----------\n"
ENTRY = re.compile(r"^(\w+)(?: : (.+))?\n((?: .*\n?)+)", re.MULTILINE)
BOUNDS = re.compile(r"(\d+)\.\.(\d*)")
CONSTANT = re.compile(r"\{([A-Z_]+)\}")
MODELS = ("model", "models", "names", "files")  # arguments that a shell completes


def library_names(incomplete: str) -> list[str]:
    """The library's models whose names begin like this, for a shell that completes them; besides them it offers files."""
    return [model.name for model in library() if model.name.startswith(incomplete)]


def named(text: str) -> Path:
    """The path that an option names; an empty text would be the current directory, which nobody meant."""
    if not text:
        raise typer.BadParameter("expected a name, got an empty text; . is the current directory")
    return Path(text)


class Command(typer.core.TyperCommand):
    """A command that refuses an option given twice, of which the parser would take the last and say nothing."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given: list[Any] = [] if ctx.resilient_parsing else self.make_parser(ctx).parse_args(args=list(args))[2]
        for option in given:
            if given.count(option) > 1 and not option.multiple:
                raise typer.BadParameter(
                    "given twice; give it once, with commas where it takes several values", ctx, option
                )
        return super().parse_args(ctx, args)


def documented(command: Callable[..., None]) -> Callable[..., None]:
    """The command, its options taken out of its docstring and given to those who parse them."""
    module, own = sys.modules[command.__module__], inspect.getdoc(command)
    if own is None:
        raise InputError("python -OO leaves out the docstrings that say what options there are; leave -OO out")
    entries = {}
    for text in (__doc__, module.__doc__, own):
        for name, written, told in ENTRY.findall((text or "").partition(SECTION)[2]):
            constant = CONSTANT.sub(lambda found: str(vars(module)[found[1]]), told)
            entries[name] = written, " ".join(constant.split())
    signature = inspect.signature(command, eval_str=True)
    parameters = [
        parameter.replace(default=_declared(parameter, *entries[parameter.name]))
        if parameter.name in entries and get_origin(parameter.annotation) is not Annotated
        else parameter
        for parameter in signature.parameters.values()
    ]

    @wraps(command)
    def stated(**given: Any) -> None:
        command(**given)

    stated.__doc__ = own.partition(SECTION)[0]
    cast(Any, stated).__signature__ = signature.replace(parameters=parameters)
    return stated


def _declared(parameter: inspect.Parameter, written: str, told: str) -> Any:
    """An argument or option, with its default."""
    names, metavar, bounds = list[str](), list[str](), dict[str, int | None]()
    for word in written.split():
        if found := BOUNDS.fullmatch(word):
            bounds = {"min": int(found[1]), "max": int(found[2]) if found[2] else None}
        else:
            (names if word.startswith("-") else metavar).append(word.rstrip(","))
    more: dict[str, Any] = {"help": told, "metavar": " ".join(metavar) or None, **bounds}
    default = ... if parameter.default is parameter.empty else parameter.default
    if metavar and not names:
        return Argument(default, autocompletion=library_names if parameter.name in MODELS else None, **more)
    names = names or [f"--{parameter.name.replace('_', '-')}"]
    return Option(default, *names, parser=named if "-o" in names else None, **more)
