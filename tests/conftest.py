"""What all tests share: campaigns thin or whole, a clock that counts work, and the helper modules as fixtures.

pytest puts this folder on the path (`pythonpath` in pyproject.toml).
"""

import gc
import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

import campaigns
from clocks import WorkClock

# The background jobs of a shell inherit that Ctrl-C is ignored; tests interrupt themselves and others.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# How long a draw takes says how busy the machine is, and nothing of what is drawn.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="run whole campaigns, not a thin draw of each")
    parser.addoption(
        "--campaigns", action="store_true", help="run what is marked `campaign`, at full length, and nothing else"
    )


def pytest_configure(config: pytest.Config) -> None:
    campaigns.CAMPAIGNS = config.getoption("--campaigns")
    campaigns.THOROUGH = config.getoption("--thorough") or campaigns.CAMPAIGNS
    gc.disable()  # while tests are collected: nothing of it becomes garbage


def pytest_collection_finish() -> None:
    """Ten thousand tests and all modules stay to the end: looking at them for garbage again and again took an eighth of the run."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def wanted(item: pytest.Item) -> bool:
    """Whether the draw that is asked for has this test (tests/campaigns.py)."""
    campaign = item.get_closest_marker("campaign")
    if campaigns.CAMPAIGNS:
        return campaign is not None
    if campaign is not None and campaign.kwargs.get("only"):
        return False
    return campaigns.THOROUGH or item.get_closest_marker("thorough") is None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What the draw hasn't is deselected, not skipped, for nothing is missing."""
    left_out = [item for item in items if not wanted(item)]
    items[:] = [item for item in items if wanted(item)]
    config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Examples in docstrings are the package's: to look for some in all these files takes seconds of every run."""
    return [collector for collector in (yield) if type(collector) is pytest.Module]


@pytest.fixture(scope="session", autouse=True)
def work_clock() -> WorkClock:
    """Searches look at a clock that counts work, so that no answer depends on how busy the machine is."""
    return WorkClock.installed()


@pytest.fixture(scope="session", autouse=True)
def compiled_at_once() -> Generator[None]:
    """What numba has compiled solves an audit's row problems from the first on, not after half a second of them as elsewhere.

    Both find the same up to rounding (test_row_multipliers.py), and numpy alone took a twelfth of the suite's time. Where nothing was
    compiled yet numpy goes on: `make check` has it compiled before.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dalenius.audits.bounds.rows.LOADING", 0.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Generator[None]:
    """What a process wrote outlives it; only a machine that dies loses what is not on the disk yet, and no test ends one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture
def command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command line, or the checker's, in `tmp_path` and in this process: one of its own takes a second to import everything."""

    def run(*arguments: object, program: str = "dalenius.cli") -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [program, *map(str, arguments)])
        module = program if program == "dalenius.cli" else f"{program}.__main__"
        try:
            status = importlib.import_module(module).main() or 0
        except SystemExit as stopped:
            status = stopped.code or 0
        return subprocess.CompletedProcess(sys.argv, status, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def interrupted() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command line in a process of its own, with Ctrl-C after so many seconds of work (tests/interrupted.py)."""

    def run(seconds: float, *arguments: object, cwd: Path, once: object = "-") -> subprocess.CompletedProcess[str]:
        program = Path(__file__).parent / "interrupted.py"
        command = [sys.executable, *map(str, (program, seconds, once, *arguments))]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)

    return run


@pytest.fixture(scope="session")
def curves() -> ModuleType:
    """tests/curves.py: what a certificate claims of the whole curve, proved one claim at a time."""
    return importlib.import_module("curves")


@pytest.fixture(scope="session")
def support() -> ModuleType:
    """tests/support.py: problems in one line, and the same quantities computed in another way."""
    return importlib.import_module("support")


@pytest.fixture(scope="session")
def instances() -> ModuleType:
    """tests/instances.py: a small instance of every program."""
    return importlib.import_module("instances")


@pytest.fixture(scope="session")
def solver():
    """`solved` of tests/plain_clarabel.py."""
    return importlib.import_module("plain_clarabel").solved


@pytest.fixture(scope="session")
def clarabel_settings():
    """`settings` of tests/plain_clarabel.py."""
    return importlib.import_module("plain_clarabel").settings
