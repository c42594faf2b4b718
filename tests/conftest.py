"""For all tests: no promise about time, children that can be interrupted, and what ``make quick`` leaves out."""

from __future__ import annotations

import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

# How long a test may take is no promise that is tested (and nothing about a busy machine is).
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# A shell starts what runs in the background (`make test &`, nohup) with SIGINT ignored, and children inherit that: a
# child that a test interrupts would never end. A handler is not inherited, so children start with the default; the run
# itself goes on ignoring the signal.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, lambda number, frame: None)

PROCESSES = (
    "subprocess",
    "tests.support.commands",
    "tests.support.daemons",
    "tests.support.ollama_server",
    "tests.tui.terminals",
    "tests.systemd",
)
"""Modules that start processes; a test module that uses one is not quick."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests whose module, or a conftest above it, uses what starts processes."""
    for item in items:
        package = item.path.parent.relative_to(item.config.rootpath).as_posix().replace("/", ".")
        modules = [getattr(item, "module", None), sys.modules.get(f"{package}.conftest")]
        sources = {
            getattr(value, "__module__", getattr(value, "__name__", ""))
            for module in modules
            for value in vars(module or object).values()
        }
        if any(str(source).startswith(PROCESSES) for source in sources):
            item.add_marker("process")
