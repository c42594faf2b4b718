"""Whatever path is asked for, nothing outside the vault is read, and nothing inside it that is excluded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemons import Raw, RunningDaemon, daemon_home

SECRET = "okapi"
"""Stands in every file that must not be read, and in no note."""


@pytest.fixture(scope="module")
def fort() -> Iterator[RunningDaemon]:
    """A vault with secrets around it and excluded files inside; changes are not noticed while it is tried."""
    with daemon_home({"watch": {"debounce_ms": 600_000}, "privacy": {"paths": ["Locked/"]}}) as home:
        outside = home.base / "outside"
        outside.mkdir()
        (outside / "secret.md").write_text(f"{SECRET}\n")
        for name, text in {
            "Pump.md": "The seal leaks.\n",
            "Folder/Valve.md": "The valve sticks.\n",
            "Folder/Swapped.md": "To be swapped for a link.\n",
            "Later/Gone.md": "Its folder is to be swapped.\n",
            "Hidden/Out.md": f"{SECRET}\n",
            ".trash/Old.md": f"{SECRET}\n",
            ".obsidian/app.json": json.dumps({"userIgnoreFilters": ["Barred/"], "x": SECRET}),
            "Barred/In.md": f"{SECRET}\n",
            "data.json": SECRET,
            "Locked/Key.md": f"The key is under the {SECRET}.\n",
            ".vaultragignore": "Hidden/\n",
        }.items():
            home.write(name, text)
        (home.vault / "Out link.md").symlink_to(outside / "secret.md")
        (home.vault / "Relative link.md").symlink_to("../outside/secret.md")
        (home.vault / "Hidden link.md").symlink_to("Hidden/Out.md")
        (home.vault / "Folder link").symlink_to(outside)
        (home.vault / "Loop.md").symlink_to("Loop.md")
        (home.vault / "Locked link.md").symlink_to("Locked/Key.md")
        (home.vault / "Locked twin.md").hardlink_to(home.vault / "Locked/Key.md")
        os.mkfifo(home.vault / "Pipe.md")
        daemon = home.start()
        daemon.ready()
        yield daemon


@pytest.fixture(params=["person", "agent"])
def asker(fort: RunningDaemon, request: pytest.FixtureRequest) -> Iterator[Raw]:
    with Raw(fort.home.places, reader=request.param) as raw:
        yield raw


UPWARD = [
    "..", "../", "../outside/secret.md", "../../outside/secret.md", "Folder/../../outside/secret.md",
    "./../outside/secret.md",
    "Folder/..", "Pump.md/../../outside/secret.md", "..\\outside\\secret.md", "Folder\\..\\..\\outside\\secret.md",
    "{outside}/secret.md", "/etc/passwd", "//etc/passwd", "\\etc\\passwd", "\\\\?\\C:\\secret.md", "C:\\secret.md",
    "C:/secret.md",
    "~", "~/secret.md", "~root/.profile", "file://{outside}/secret.md", "file:{outside}/secret.md", "$HOME/secret.md",
    "Pump.md\0", "Pump.md\0/../../outside/secret.md", "\0", "../outside/secret.md#L1",
    "Pump.md#/../../outside/secret.md",
]  # fmt: skip
ALIKE = [
    "．．/outside/secret.md", "．．／outside／secret.md", "‥/outside/secret.md", "․․/outside/secret.md",
    "..∕outside∕secret.md",
    "..⁄outside⁄secret.md", "..／outside/secret.md", "。。/outside/secret.md", "%2e%2e/outside/secret.md",
    "..%2foutside%2fsecret.md",
    "..%c0%afoutside/secret.md", ".\u200b./outside/secret.md", "\u202e../outside/secret.md", "..\u0000/outside",
    "\ud800../secret.md",
    "／etc／passwd", "～/secret.md", "．/../outside/secret.md", "..;/outside/secret.md", "....//outside/secret.md",
]  # fmt: skip
INSIDE = [
    "Out link.md", "Out link", "Relative link.md", "Hidden link.md", "Folder link/secret.md", "Folder link", "Loop.md",
    "Hidden/Out.md", "hidden/out.md", "Hidden//Out.md", "./Hidden/Out.md", ".trash/Old.md", ".obsidian/app.json",
    "Barred/In.md",
    "data.json", ".vaultragignore", "Folder", "Folder/", ".", "./", "Pipe.md", "", " ", "*", "Pump.md/", "Pump.md/.",
]  # fmt: skip


@pytest.mark.parametrize("path", UPWARD + ALIKE + INSIDE, ids=ascii)
@pytest.mark.parametrize("method", ["get", "related", "explain"])
def test_no_path_leads_to_what_must_not_be_read(asker: Raw, fort: RunningDaemon, method: str, path: str) -> None:
    """Upward, absolute, disguised, linked, excluded: each is refused or unknown, and no word of it comes out."""
    asked = path.replace("{outside}", str(fort.home.base / "outside"))
    params = {"path": asked} | ({"query": "seal"} if method == "explain" else {})
    answer = asker.call(method, params)
    text = json.dumps(answer)
    assert SECRET not in text.replace(json.dumps(asked), "")
    if method == "explain":
        verdict = answer["result"]["asked"]["verdict"] if answer.get("result", {}).get("asked") else ""
        assert not verdict or verdict.startswith("not in the index"), verdict
        if verdict and asker.reader == "agent":  # which patterns leave files out is none of an agent's business
            assert verdict == "not in the index: there is no such note in the vault"
    elif "error" in answer:
        assert answer["error"]["data"]["kind"] in ("PathRefused", "NoteNotFound", "ParseFailed"), answer
    else:
        assert asked.startswith("Pump.md#"), f"{method} answered {asked!r}"


def test_what_is_there_is_handed_out(asker: Raw) -> None:
    """The notes beside all that can be had, so that refusing everything would be noticed."""
    for path in ("Pump.md", "Pump", "Folder/Valve.md", "Folder/Valve"):
        assert "result" in asker.call("get", {"path": path}), path


def test_a_search_never_finds_them(asker: Raw) -> None:
    """No word of an excluded or linked file outside is in the index."""
    for query in (SECRET, "secret", "userIgnoreFilters"):
        hits = asker.call("search", {"query": query, "mode": "words", "limit": 50})["result"]["hits"]
        private = [] if asker.reader == "agent" else ["Locked link.md", "Locked twin.md", "Locked/Key.md"]
        assert sorted(hit["path"] for hit in hits if query == SECRET) == (private if query == SECRET else [])


@pytest.mark.parametrize("path", ["Locked/Key.md", "Locked link.md", "Locked twin.md"])
def test_a_private_file_is_private_by_any_name(fort: RunningDaemon, path: str) -> None:
    """A link of either kind to a file in a private folder shows an agent nothing of it; a person reads it by each."""
    with Raw(fort.home.places) as person, Raw(fort.home.places, reader="agent") as agent:
        assert SECRET in person.call("get", {"path": path})["result"]["text"]
        assert agent.call("get", {"path": path})["error"]["data"]["kind"] == "NoteNotFound"


def swap(path: Path, target: Path) -> None:
    """Put a link in the place of a file or a folder."""
    path.rename(path.with_name("moved away"))
    path.symlink_to(target)


@pytest.mark.parametrize("path", ["Folder/Swapped.md", "Later/Gone.md"])
def test_a_note_swapped_for_a_link_is_not_followed(fort: RunningDaemon, path: str) -> None:
    """A note, or its folder, that has become a link out of the vault since it was indexed is not read through it."""
    vault, outside = fort.home.vault, fort.home.base / "outside"
    (outside / "Gone.md").write_text(SECRET)
    with Raw(fort.home.places) as raw:
        assert "result" in raw.call("get", {"path": path})
        if path.startswith("Later"):
            swap(vault / "Later", outside)
        else:
            swap(vault / path, outside / "secret.md")
        answer: Any = raw.call("get", {"path": path})
        assert answer["error"]["data"]["kind"] in ("NoteUnreadable", "NoteNotFound")
        hits = raw.call("search", {"query": "swapped", "mode": "words"})
        assert SECRET not in json.dumps([answer, hits])


def test_a_private_file_linked_to_later_is_not_shown(fort: RunningDaemon) -> None:
    """A visible note that has become a link to a private file since it was indexed shows an agent nothing of that."""
    vault = fort.home.vault
    (vault / "Pump.md").rename(vault / "moved pump")
    (vault / "Pump.md").symlink_to("Locked/Key.md")
    try:
        with Raw(fort.home.places, reader="agent") as agent:
            answers = [agent.call("get", {"path": "Pump.md"}), agent.call("search", {"query": "seal", "mode": "words"})]
            assert SECRET not in json.dumps(answers)
            assert "error" in answers[0]
    finally:
        (vault / "Pump.md").unlink()
        (vault / "moved pump").rename(vault / "Pump.md")
