"""Homes for daemons that are ill-used, and the table at the end of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fault.ledger import LONG, Ledger, table
from tests.support.fixtures import home, ollama, ollama_home

__all__ = ["home", "ollama", "ollama_home"]


@pytest.fixture
def ledger(request: pytest.FixtureRequest) -> Ledger:
    return Ledger(request.node)


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
