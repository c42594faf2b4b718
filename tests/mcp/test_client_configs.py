"""``--print-config``: text that a host's own parser takes, with nothing left for its PATH to find."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Command
from vaultrag.mcp.client_configs import Start, config_for

START = Start(
    "/opt/my apps/vaultrag", ["mcp", "--vault", '/home/me/My "notes" ü'], {"VAULTRAG_HOME": "/home/me/x\x7fy"}
)


def entry_of(host: Any, text: str) -> Any:
    if host == "codex":
        return tomllib.loads(text)["mcp_servers"]["vaultrag"]
    read = json.loads(text)
    return read["servers" if host == "vscode" else "mcpServers"]["vaultrag"]


@pytest.mark.parametrize("host", ["claude", "cursor", "vscode", "codex"])
def test_each_host_reads_its_own_format(host: Any) -> None:
    """Quotes, blanks and other scripts come back from the host's format as they went in."""
    entry = entry_of(host, config_for(host, START))
    assert entry.pop("type", "stdio") == "stdio"
    assert entry == {"command": START.command, "args": START.args, "env": START.env}
    bare = entry_of(host, config_for(host, Start("/x", ["mcp"], {})))
    assert "env" not in bare


@pytest.mark.parametrize("host", ["claude", "cursor", "vscode", "codex"])
def test_the_command_prints_what_starts_it(command: Command, vault: Path, host: str) -> None:
    """Every path is absolute, and the program named there is this one."""
    done = command.run("mcp", "--print-config", host, "--vault", str(vault), "--reader", "small", code=0)
    entry = entry_of(host, done.stdout)
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-5:] == ["mcp", "--vault", str(vault), "--reader", "small"]
    assert entry["env"] == {"VAULTRAG_HOME": str(command.home)}
    assert "put this into" in done.stderr
    version = subprocess.run(
        [entry["command"], *entry["args"][: entry["args"].index("mcp")], "--version"],
        capture_output=True, text=True, check=True, env={"PATH": ""}, cwd=vault,
    )  # fmt: skip
    assert version.stdout.startswith("vaultrag ")


def test_a_vaults_name_is_left_a_name(command: Command) -> None:
    """A vault may be named by its name instead of its folder."""
    done = command.run("mcp", "--print-config", "claude", "--vault", "Work notes", code=0)
    assert entry_of("claude", done.stdout)["args"][-2:] == ["--vault", "Work notes"]


def test_the_missing_extra_is_named_with_its_command(command: Command) -> None:
    """Without the SDK the command says what works from a clone; it neither serves nor prints a configuration."""
    code = (
        "import sys\nsys.modules['mcp'] = None\nfrom importlib import util\nfind = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'mcp' else find(name, *rest)\n"
        "from vaultrag.cli import main\nmain()"
    )
    for args in (["mcp"], ["mcp", "--print-config", "claude"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *args], capture_output=True, text=True, env=command.environment, check=False
        )
        assert done.returncode == 2
        assert done.stdout == ""
        assert "needs the extra 'agents'" in done.stderr
        assert "try: pipx install --force '/path/to/clone[agents]'" in done.stderr
        assert "install vaultrag" not in done.stderr
        assert 'install "vaultrag' not in done.stderr
        assert "Traceback" not in done.stderr
