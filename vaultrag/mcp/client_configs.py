"""What to put into the settings of a program that runs agents, so that it starts ``vaultrag mcp``. Pure.

Such programs start their servers with a bare PATH and in a folder of their own, so every path is absolute.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vaultrag.client.settings_text import toml_value

Host = Literal["claude", "cursor", "vscode", "codex"]

WHERE: dict[Host, str] = {
    "claude": ".mcp.json in a project, or claude_desktop_config.json (Settings, Developer)",
    "cursor": "~/.cursor/mcp.json, or .cursor/mcp.json in a project",
    "vscode": ".vscode/mcp.json in a folder, or the user's (MCP: Open User Configuration)",
    "codex": "~/.codex/config.toml",
}
"""The file that the text goes into."""

_NAME = "vaultrag"


@dataclass(frozen=True, slots=True)
class Start:
    """The start of the server: an absolute program, its arguments, and its environment."""

    command: str
    args: Sequence[str]
    env: Mapping[str, str]


def config_for(host: Host, start: Start) -> str:
    """Return the text to put there: TOML for Codex, else JSON."""
    entry: dict[str, Any] = {"command": start.command, "args": list(start.args)}
    if start.env:
        entry["env"] = dict(start.env)
    if host == "codex":
        return _as_toml(entry)
    if host == "vscode":
        shown: dict[str, Any] = {"servers": {_NAME: {"type": "stdio", **entry}}}
    else:
        shown = {"mcpServers": {_NAME: entry}}
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


def _as_toml(entry: Mapping[str, Any]) -> str:
    lines = [f"[mcp_servers.{_NAME}]"]
    lines += [
        f"{key} = {toml_value(tuple(value) if isinstance(value, list) else value)}"
        for key, value in entry.items()
        if key != "env"
    ]
    if env := entry.get("env"):
        lines += ["", f"[mcp_servers.{_NAME}.env]", *(f"{key} = {toml_value(value)}" for key, value in env.items())]
    return "\n".join(lines) + "\n"
