"""Homes for daemons that are ill-used, and the table at the end of the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault.ledger import LONG, Ledger, table
from tests.support.daemons import Home, OllamaProcess, daemon_home, ollama_process


@pytest.fixture
def ledger(request: pytest.FixtureRequest) -> Ledger:
    return Ledger(request.node)


@pytest.fixture
def home() -> Iterator[Home]:
    """Settings: no embedder, a short debounce."""
    with daemon_home() as home:
        yield home


@pytest.fixture
def ollama() -> Iterator[OllamaProcess]:
    with ollama_process() as server:
        yield server


@pytest.fixture
def ollama_home(ollama: OllamaProcess) -> Iterator[Home]:
    """A home whose daemon embeds through ``ollama``."""
    with daemon_home(ollama.settings) as home:
        yield home


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.slow)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(300))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    entries = [
        tuple(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, value in report.user_properties
        if name == "fault"
    ]
    if LONG and entries:
        terminalreporter.section("faults")
        for line in table(entries):
            terminalreporter.write_line(line)
