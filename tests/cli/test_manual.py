"""The manual page: complete, and drawn without a complaint."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vaultrag.cli.app import build

PAGE = Path(__file__).parents[2] / "vaultrag/cli/vaultrag.1"
NO_MANDOC = "" if shutil.which("mandoc") else "mandoc is not installed"


def commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for below, inner in getattr(command, "commands", {}).items():
        yield from commands(f"{name} {below}", inner)


def test_every_command_and_option_is_in_it() -> None:
    """What can be typed can be read about."""
    text = PAGE.read_text("utf-8").replace("\\-", "-")
    every = list(commands("vaultrag", build()))
    assert len(every) > 15
    for name, command in every[1:]:
        section = re.search(rf'^\.SS "{name}[" ].*?(?=^\.S[SH])', text, re.MULTILINE | re.DOTALL)
        assert section, f"{name} is not in the page"
        for param in command.params:
            names = param.opts if param.param_type_name == "option" else [param.metavar or param.name.upper()]
            assert all(one in section[0] for one in names), f"{name} {names}"


@pytest.mark.skipif(bool(NO_MANDOC), reason=NO_MANDOC or "mandoc is there")
def test_it_is_drawn() -> None:
    """The page is sound for the strictest reader of such pages, and its lines begin as they should."""
    found = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", str(PAGE)], capture_output=True, text=True, timeout=60
    )
    assert [line for line in found.stdout.splitlines() if "missing date" not in line] == []
    drawn = subprocess.run(["mandoc", "-T", "utf8", str(PAGE)], capture_output=True, text=True, timeout=60, check=True)
    plain = re.sub(".\b", "", drawn.stdout)
    assert ".vaultragignore" in plain
    assert "[property:value]" in plain
    assert "\\" not in plain
