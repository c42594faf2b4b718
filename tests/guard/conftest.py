"""Two vaults that differ in their private notes only: one has them, the other never had."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.daemons import OllamaProcess, Raw, RunningDaemon, daemon_home, ollama_process

PRIVACY = {"paths": ["Diary/", "*.secret.md", "!Diary/Open.md"], "tags": ["#health", "client/confidential"]}

VISIBLE = {
    "Pump.md": "---\ntags: [plant, plant/hall]\naliases: [P-102]\n---\n# Pump\n\nThe seal of the pump leaks.\n\n"
    "## Repair\n\nChange the gasket first, see [[Valve]].\n",
    "Valve.md": "# Valve\n\nThe valve sticks in winter. See [[Pump]] and [[Doctor visit]].\n",
    "Lonely.md": "# Lonely\n\nNo link leads out of here, and a private note is the only one that links to it.\n",
    "Old plan.md": "# Old plan\n\nThe plan for the pump hall, as it was.\n",
    "New plan.md": "---\nsupersedes: '[[Ancient]]'\n---\n# New plan\n\nThe plan for the pump hall, as it is.\n",
    "Ancient.md": "---\nsuperseded_by: '[[Doctor visit]]'\n---\n# Ancient\n\nA plan from before the hall was built.\n",
    "Told.md": "---\nprivate: false\n---\n# Told\n\nThis note says that it is not private: winter, seal, plan.\n",
    "Rule.md": "---\nalways: true\nwhen: ['*.pump', open the valve]\n---\n# Rule\n\nNever open the valve in winter.\n",
    "Rests.md": "---\ndepends_on: '[[Offer]]'\nvalid_to: 2020-01-01\n---\n# Rests\n\nThe plan for the seal.\n",
    "Notes/Gasket list.md": "# Gasket list\n\n- EPDM for water\n- Viton for oil #plant/stock\n",
    "Notes/Winter.md": "# Winter\n\nDrain the valve before the frost, and wrap the pipe.\n",
}
# "zanzibar" stands in private notes only; "winter", "seal" and "plan" in both kinds. The lengths are much the same.
PRIVATE = {
    "Doctor visit.md": "---\nprivate: true\ntags: [plant, secrettag]\naliases: [Physician]\n---\n# Doctor visit\n\n"
    "The zanzibar seal of the pump, in winter. See [[Lonely]] and [[Pump]].\n\n## Zanzibar heading\n\nMore.\n",
    "Said twice.md": "---\nPrivate: Yes\nsupersedes: '[[Old plan]]'\n---\n# Said twice\n\n"
    "The plan of zanzibar for the pump.\n",
    "Broken.md": "---\ntitle: a: b\n  - [c\nprivate: true\n---\n# Broken\n\n"
    "The zanzibar header cannot be read. Winter.\n",
    "Open end.md": "---\nprivate: true\n# Open end\n\nThis zanzibar header is never closed, and the seal leaks.\n",
    "Diary/Monday.md": "# Monday\n\nOn Monday zanzibar. The valve was cold. [[Valve]]\n",
    "diary/deep/Tuesday.md": "# Tuesday\n\nOn Tuesday zanzibar again, in winter. Written with a small d.\n",
    "Diary/Open.md": "# Open\n\nA pattern took it back, but its folder is private: zanzibar.\n",
    "Notes/Key.SECRET.md": "# Key\n\nThe zanzibar key of the pump hall lies under the mat.\n",
    "Blood.md": "# Blood\n\nAll the zanzibar figures, and the plan. #Health/blood\n",
    "Offer.md": "---\ntags: [Client/Confidential/ACME]\ninvalidated_by: x\n---\n# Offer\n\n"
    "The zanzibar offer for a seal and a valve.\n",
    "Law.md": "---\nprivate: true\nalways: true\ncreated: 2020-01-01\nwhen: ['*.pump', open the valve]\n---\n# Law\n\n"
    "The zanzibar valve stays shut in winter.\n",
    "Pump repair.md": "---\nprivate: 1\n---\n# Pump repair\n\n"
    "The pump, the pump, zanzibar. The seal leaks. [[Winter]]\n",
}

NOW_S = 1_767_000_000


def fill(home_daemon: ExitStack, model: OllamaProcess, notes: dict[str, str]) -> RunningDaemon:
    home = home_daemon.enter_context(
        daemon_home({**model.settings, "privacy": PRIVACY, "search": {"links_weight": 0.2}})
    )
    for number, path in enumerate(sorted(VISIBLE | PRIVATE)):
        if path in notes:
            target = home.write(path, notes[path])
            os.utime(target, (NOW_S + number, NOW_S + number))
    daemon = home.start()
    daemon.ready()
    # Passages follow the notes' vectors; two vaults are compared when both have all of theirs.
    daemon.until(lambda: not daemon.status().passages_pending, "the passages are made", 30)
    return daemon


@pytest.fixture(scope="session")
def model() -> Iterator[OllamaProcess]:
    with ollama_process() as server:
        yield server


@pytest.fixture(scope="session")
def twins(model: OllamaProcess) -> Iterator[tuple[RunningDaemon, RunningDaemon]]:
    """A daemon whose vault holds private notes, and one whose vault does not."""
    with ExitStack() as stack:
        yield fill(stack, model, VISIBLE | PRIVATE), fill(stack, model, VISIBLE)


@pytest.fixture
def agent(twins: tuple[RunningDaemon, RunningDaemon]) -> Iterator[Raw]:
    """An agent at the vault with private notes."""
    with Raw(twins[0].home.places, reader="agent") as raw:
        yield raw


@pytest.fixture
def unknowing(twins: tuple[RunningDaemon, RunningDaemon]) -> Iterator[Raw]:
    """An agent at the vault without any."""
    with Raw(twins[1].home.places, reader="agent") as raw:
        yield raw


@pytest.fixture
def person(twins: tuple[RunningDaemon, RunningDaemon]) -> Iterator[Raw]:
    """A person at the vault with private notes."""
    with Raw(twins[0].home.places) as raw:
        yield raw
