"""The command line: the program `dalenius`, its commands in the order in which its help lists them, and examples of each."""

from __future__ import annotations

import errno
import functools
import os
import re
import signal
import sys
import threading
import warnings
from contextlib import nullcontext
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer import Option

from dalenius.cli.statuses import ExitStatus
from dalenius.errors import DaleniusError
from dalenius.search import Stop

__all__ = ["app", "main", "whole_command"]

app = typer.Typer(
    help="How much a randomised release can reveal about one person whose data are correlated with others', with a proof.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\n\n".join(["Exit statuses", *(f"{status.value}: {status.meaning}" for status in ExitStatus)]),
)
COMMANDS = {  # the function of each, in a module of this room: it is imported when it is called
    "audit": "auditing.audit",
    "init": "starting.init",
    "show": "describing.show",
    "solve": "solving.solve",
    "verify": "describing.verify",
    "measure": "measuring.measure",
    "noise": "noising.noise",
    "table": "tabling.table",
    "convert": "converting.convert",
    "compose": "converting.compose",
    "sweep": "curves.sweep",
    "frontier": "curves.frontier",
    "report": "describing.report",
    "release": "releasing.release",
    "export": "exchanging.export_program",
    "import-solution": "exchanging.import_solution",
    "compare": "comparing.compare",
    "audit-samples": "measuring.audit_samples",
    "sanitize": "sanitizing.sanitize",
    "list": "library.list_models",
    "schema": "starting.schema",
    "doctor": "installation.doctor",
    "library": "library.library_app",
}
RUN = """
audit --mechanism discrete_laplace:0.5 --people 1000000 --blocks 4
audit parity/laplace-n4 -o page.md
init count.toml --query count --mechanism 'geometric 0.5' --defaults
init most.toml --problem max_information --records 3 --query count --defaults
init design.toml --problem min_leakage --records 3 --query parity --defaults
show parity/laplace-n4
show count.toml --json
solve parity/laplace-n4 -o out
solve count.toml design.toml --gap 0.5 -o out
solve - --gap 0.5 --json < count.toml
verify parity/laplace-n4 out/laplace-n4.cert
verify parity/laplace-n4 out/laplace-n4.cert --at-most '0.7 bits' --arithmetic python
measure parity/laplace-n4
measure channel.csv --prior 0.5,0.5 --within 'kl 0.02'
table --people 1000000 --blocks 1,2,4
table --query mean --values 0,120 --people 20000 --epsilon 0.5,1 -o table
noise --noise discrete_laplace --people 20000 --blocks 4 --at-most '0.1 bits'
noise --noise laplace --sensitivity 1 --at-most '0.1 bits' -o noise
convert --from local_dp=1 --to mutual_information
convert --from 'local_dp=0.1' --to 'local_dp_delta(1)' --releases 20
convert --all -o conversions.png
compose parity/laplace-n4 out/laplace-n4.cert parity/laplace-n4 out/laplace-n4.cert
sweep parity/laplace-n4 --set mechanism.epsilon=0.5,1 --gap 0.01 -o grid
sweep parity/laplace-n4 --set adversary.entropy_at_least='0:1 max:2' --gap 0.1 -o curve
frontier design.toml --points 2 --gap 0.2 -o best
report out/laplace-n4.cert -o report.html
release design.toml --mechanism out/design.mechanism.json --data answers.csv
export parity/laplace-n4 --program list
export parity/laplace-n4 --program marginal -o marginal.cbf
import-solution parity/laplace-n4 marginal solution.json
compare parity/laplace-n4 --methods paper-aggregated --seeds 1 --budget 1
audit-samples runs.csv --records x1,x2 --outputs y --given-others
sanitize correlated --budgets 0.2 --converse -o learned
list --set minimal --json
schema -o dalenius.schema.json
doctor
doctor --json
library submit better.cert --by 'Ada' --folder models
library tighten parity/laplace-n4 --folder models
library index --folder models
"""  # lines that run as they stand, one after another in an empty folder
EXAMPLES = {  # of each command
    name: list(lines)
    for name, lines in groupby(
        RUN.split("\n")[1:-1], lambda line: " ".join(line.split(" ")[: 1 + line.startswith("library")])
    )
}


def epilog(command: str) -> str:
    """The end of a command's help."""
    return "\n\n".join(["Examples", *(f"dalenius {line}" for line in EXAMPLES[command])])


class Later(typer.core.TyperCommand):
    """A command that is imported when it is called, or when its own help is asked for."""

    @functools.cached_property
    def real(self) -> Any:
        """The command, or group of commands, itself."""
        name = str(self.name)
        module, function = COMMANDS[name].split(".")
        from dalenius.cli.options import Command, documented

        found = getattr(import_module(f"{__name__}.{module}"), function)
        if not isinstance(found, typer.Typer):
            alone = typer.Typer(add_completion=False)
            alone.command(name, cls=Command, epilog=epilog(name))(documented(found))
            found = alone
        return typer.main.get_command(found)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self.real.make_context(info_name, args, parent, **extra)


def whole_command() -> Any:
    """The program as its parser knows it, with all that is imported later."""
    group: Any = typer.main.get_command(app)
    group.commands = {name: later.real for name, later in group.commands.items()}
    return group


def _summary(module: str, function: str) -> str:
    """The first paragraph of a command's docstring, or its group's help, read where it stands."""
    text = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    places = rf'^def {function}\(.*?^    """|^{function} = typer\.Typer\(\s*help="'
    found = re.search(rf'(?:{places})(.*?)(?:\n\n|"""|",)', text, re.DOTALL | re.MULTILINE)
    return "" if found is None else found[1]


for name, place in COMMANDS.items():
    app.command(name, cls=Later, help=_summary(*place.split(".")))(lambda: None)

_command_of = functools.cache(typer.main.get_command)  # which reads the options of every function
COMPLETING = "_DALENIUS_COMPLETE"  # by which the scripts of --install-completion call
SIGNALS = (signal.SIGINT, signal.SIGTERM)
WORDS = {ExitStatus.INTERRUPTED: "interrupted", ExitStatus.TERMINATED: "terminated"}
MEANT = {("dalenius audit", "--epsilon"): "--mechanism discrete_laplace:0.5"}  # options that are tried first
UsageError = cast("type[Exception]", typer.BadParameter.__mro__[1])  # of click, or of typer's own copy of it


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from dalenius.version import __version__

        typer.echo(f"dalenius {__version__}")
        raise typer.Exit()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit()


def main() -> None:
    """Entry point: every command ends with an `ExitStatus`, and whatever goes wrong is one line on standard error.

    One stop listens to Ctrl-C and SIGTERM from here on, whatever is at work. A warning becomes a line, too.
    """
    warnings.showwarning = lambda message, *_, **__: _say(f"warning: {message}")
    stop = Stop(signal.default_int_handler)
    ours = threading.current_thread() is threading.main_thread()
    with stop.installed(SIGNALS) if ours else nullcontext():
        status = _run()
        if stop.number is not None and status not in (ExitStatus.UNUSABLE, ExitStatus.CLOSED):
            status = ExitStatus.of_signal(stop.number)
        if status in WORDS:
            _say(WORDS[ExitStatus(status)])
    raise SystemExit(int(status))


def _run() -> int:
    """The command of `sys.argv`, and its exit status."""
    try:
        command = _command_of(app)
        if COMPLETING in os.environ:  # a shell asks what could stand here
            command(prog_name="dalenius", standalone_mode=False)
        with command.make_context("dalenius", sys.argv[1:]) as context:
            command.invoke(context)
        _flush()
    except typer.Exit as done:
        return _flushed(done.exit_code)
    except UsageError as error:
        _say(_usage(error))
    except DaleniusError as error:
        _say(str(error))
        return error.exit_code
    except MemoryError:
        _say("out of memory; give the model, or the command, smaller limits")
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except OSError as error:  # standard output is full, or nobody reads it
        return _without_output(error)
    except SystemExit as ended:
        if isinstance(
            ended.__context__, BrokenPipeError
        ):  # so rich ends a program of which nobody reads what it prints
            return _without_output(ended.__context__)
        raise
    else:
        return ExitStatus.DONE
    return ExitStatus.UNUSABLE


def _flush() -> None:
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    sys.stdout.flush()


def _flushed(status: int) -> int:
    """The status, if all that was printed has left."""
    try:
        _flush()
    except OSError as error:
        return _without_output(error)
    return status


def _without_output(error: OSError) -> int:
    """The status where what was printed is lost; nobody to tell if it was a pipe that is closed."""
    sys.stdout = None  # so that nothing is flushed into it at exit
    if isinstance(error, BrokenPipeError):
        return ExitStatus.CLOSED
    _say(f"standard output: {error.strerror or error}")
    return ExitStatus.UNUSABLE


def _usage(error: Exception) -> str:
    """The option parser's message in one line, with what to do."""
    format_message, context = getattr(error, "format_message", error.__str__), getattr(error, "ctx", None)
    text = " ".join(str(format_message()).split()).rstrip(".")
    path = "dalenius" if context is None else context.command_path
    meant = MEANT.get((path, getattr(error, "option_name", "")))
    if meant is not None:
        said, *_ = re.split(r" \(| Did you mean ", text)  # the parser's own guess, as its versions write it
        text = f"{said}; write {meant}"
    return f"{text[:1].lower()}{text[1:]}; {path} --help says what there is"


def _say(text: str) -> None:
    try:
        sys.stderr.write(f"dalenius: {text}\n")
        sys.stderr.flush()
    except (OSError, AttributeError):  # it is full, or closed: the exit status has to do
        sys.stderr = None
