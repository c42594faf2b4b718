"""The recipes of CONTRIBUTING.md, followed to the letter in a copy of the package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemons import REPOSITORY, Home, Raw

RECIPES = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8").partition("## Recipes\n")[2].partition("\n## ")[0]
STEP = re.compile(r"^`([^`]+)`, (?:before `([^`]+)`|new)[^`]*?(?:`[^`]*`[^`]*?)*:\n\n```python\n(.*?)```$", re.M | re.S)


def steps() -> Iterator[tuple[str, str, str]]:
    """Yield each step of the recipes: the file, the line above which the code goes (empty: a new file), the code."""
    yield from STEP.findall(RECIPES)


def follow(root: Path) -> None:
    """Take every step in the copy below ``root``."""
    for file, anchor, code in steps():
        path = root / file
        if not anchor:
            assert not path.exists(), f"{file} is not new"
            path.write_text(code, "utf-8")
            continue
        text = path.read_text("utf-8")
        assert text.count(f"\n{anchor}\n") == 1, f"{anchor!r} stands {text.count(anchor)} times in {file}"
        path.write_text(text.replace(f"\n{anchor}\n", f"\n{code}{anchor}\n"), "utf-8")


@pytest.mark.timeout(180)
def test_a_method_and_a_command_made_by_the_recipes_work(home: Home, tmp_path: Path) -> None:
    """Both answer, are in the reference pages that are generated, and pass the linter."""
    assert len(RECIPES.split("```python")) - 1 == len(list(steps())) == 9
    for folder in ("vaultrag", "plugin-bridge/protocol", "systemd"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests").symlink_to(REPOSITORY / "tests")
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    follow(tmp_path)
    home.write("Pump.md", "#common #alone\n")
    home.write("Valve.md", "#common\n")

    daemon = home.start(env={"PYTHONPATH": str(tmp_path)})
    daemon.ready()
    with Raw(home.places) as raw:
        assert raw.call("rare_tags", {})["result"] == [{"tag": "alone", "notes": 1}]
    with Raw(home.places, reader="agent") as raw:
        assert raw.call("rare_tags", {})["error"]["data"]["kind"] == "NotForAgents"

    environment = home.environment(PYTHONPATH=str(tmp_path))

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert run("vaultrag", "rare") == "#alone\n"
    assert json.loads(run("vaultrag", "rare", "--json")) == [{"tag": "alone", "notes": 1}]
    run("tests.docs")
    assert "rare_tags" in (tmp_path / "vaultrag/rpc/METHODS.md").read_text("utf-8")
    assert "Print the tags that one note alone has." in (tmp_path / "vaultrag/cli/COMMANDS.md").read_text("utf-8")
    run("ruff", "check", "vaultrag")
    run("ruff", "format", "--check", "vaultrag")


def test_the_recipes_name_files_that_exist() -> None:
    """Each file that a recipe sends a reader to is there, but for the one that is to be made."""
    named = set(re.findall(r"`((?:vaultrag|tests)/[\w/.]+)`", RECIPES))
    assert len(named) > 25
    new = {file for file, anchor, _ in steps() if not anchor}
    assert {name for name in named if not (REPOSITORY / name).exists()} == new
