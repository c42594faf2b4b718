"""Keys and tokens in notes, as an agent over MCP sees them: not at all."""

from __future__ import annotations

import json
from typing import Any

from mcp.client.client import Client

from tests.guard.test_secrets import NOTE, SECRETS
from tests.mcp.conftest import Agents
from tests.support.daemons import daemon_home


def test_no_way_of_asking_shows_a_secret() -> None:
    """Tools, text, resources, instructions and failures name the kind of a secret and do not hold it."""
    with daemon_home() as home:
        home.write("Deploy.md", NOTE)
        home.write("Near.md", "# Near\n\nSee [[Deploy]], to deploy.\n")
        home.start().ready()

        async def talk(client: Client) -> list[Any]:
            said: list[Any] = [client.instructions]
            calls: list[tuple[str, dict[str, Any]]] = [
                ("search_notes", {"query": "deploy key hook"}), ("search_notes", {"query": "deploy", "max_tokens": 60}),
                ("read_note", {"path": "Deploy.md"}), ("read_note", {"path": "Deploy.md", "shape": "compact"}),
                ("read_note", {"path": "Deploy.md", "first_line": 8, "last_line": 9}),
                ("read_note", {"path": "Deploy.md", "heading": "Nope"}), ("related_notes", {"path": "Near.md"}),
                ("recent_notes", {}), ("vault_rules", {}), ("vault_status", {}),
            ]  # fmt: skip
            for name, given in calls:
                said.append((await client.call_tool(name, given)).model_dump(mode="json"))
            said += [resource.model_dump(mode="json") for resource in (await client.list_resources()).resources]
            for uri in ("note:///Deploy.md", "vault:///rules"):
                said.append((await client.read_resource(uri)).model_dump(mode="json"))
            return said

        text = json.dumps(Agents(home).run(talk), ensure_ascii=False)
        assert not [secret for secret in SECRETS if secret in text]
        assert text.count("masked›") > 10
