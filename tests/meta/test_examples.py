"""Commands in the documents can be typed: each is known, and so is each option. (Those of the README are run.)"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.meta.test_documents import DOCUMENTS, ROOT
from vaultrag.cli.app import build

HELP = {"-h", "--help"}
GENERATED = {"COMMANDS.md"}
TEXTS = [path for path in DOCUMENTS if path.name not in GENERATED]


def code(path: Path) -> Iterator[str]:
    """Each line of the page's code blocks, and each piece of code in its sentences."""
    text = path.read_text("utf-8")
    for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL):
        yield from block.replace("\\\n", " ").splitlines()
    yield from re.findall(r"(?<!`)`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def commands(path: Path) -> Iterator[list[str]]:
    """The words of each ``vaultrag …`` in the page's code, without its comment and what follows it in the shell."""
    for line in code(path):
        for found in re.finditer(r"(?:^|[$(|'\s/:])vaultrag ((?:[a-z]|--)[^|#<>`]*)", line):
            if line[: found.start()].endswith("obsidian"):
                continue  # the app's own command line
            text = re.split(r" {2,}|\s&&|\s=\s|: |\)", found[1])[0].rstrip("'\";")
            try:
                yield shlex.split(text)
            except ValueError:  # a quote of the shell around it
                yield shlex.split(re.sub(r"[\"']", "", text))


def fault(command: Any, words: list[str]) -> str:
    """What is wrong with a command line; empty if it can be typed."""
    known = {option for param in command.params for option in [*param.opts, *param.secondary_opts]} | HELP
    below = getattr(command, "commands", {})
    for index, word in enumerate(words):
        if word.startswith("-") and len(word) > 1:
            if word.split("=")[0] not in known and not re.fullmatch(r"-[a-z]\d+|-\w{3,}", word):
                return f"no option {word}"
        elif below:
            names = word.split("|")
            if unknown := [name for name in names if name not in below]:
                return "" if word.isupper() or word == "…" else f"no command {unknown[0]}"
            return fault(below[names[0]], words[index + 1 :])
    return ""


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_can_be_typed(path: Path) -> None:
    """No page names a command or an option that is not there."""
    top = build()
    faults = [(" ".join(words), why) for words in commands(path) if (why := fault(top, words))]
    assert faults == []


def test_the_check_finds_something() -> None:
    """It sees the README's commands, and knows a wrong one."""
    assert len(list(commands(ROOT / "README.md"))) > 15
    top = build()
    assert fault(top, ["search", "--fromat", "tsv"]) == "no option --fromat"
    assert fault(top, ["serch", "x"]) == "no command serch"
    assert fault(top, ["config", "remove"]) == "no command remove"
    assert fault(top, ["search", "-n", "3", "--format=tsv", "pump", "-motor"]) == ""


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_targets_of_make_exist(path: Path) -> None:
    """Each ``make …`` in a page is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for line in code(path):
        if found := re.match(r"(?:\$ )?make ([a-z][a-z-]*)\b", line):
            assert found[1] in targets, line
