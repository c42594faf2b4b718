"""search, related and get as processes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import NOTES, Command, make_vault, on_terminal

pytestmark = pytest.mark.timeout(180)

SEAL = "Pumps/Seal replacement.md"


def test_search_prints_what_it_found_and_ends_with_0(served: Command) -> None:
    """A hit shows title, place, arms, tags and the passage; on a pipe without colours."""
    out = served.run("search", "mechanical", "seal", code=0).stdout
    assert " 1 Seal replacement" in out
    assert f"{SEAL}:" in out
    assert "words" in out.splitlines()[0]
    assert "#pump" in out
    assert "mechanical seal comes off" in " ".join(out.split())
    assert "words only: meaning search is switched off (try: vaultrag config)" in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_search_that_finds_nothing_ends_with_1(served: Command) -> None:
    """Nothing found is an answer of its own, for people and for scripts."""
    result = served.run("search", "zyzzyva", code=1)
    assert result.stdout.startswith("nothing found for zyzzyva")
    assert result.stderr == ""
    assert served.json("search", "zyzzyva", code=1)["hits"] == []


def test_search_prints_an_answer_as_json(served: Command) -> None:
    """``--json`` is the daemon's own answer, whole."""
    answer = served.json("search", "tomatoes", "-n", "1")
    assert answer["state"] == "keyword_only"
    (hit,) = answer["hits"]
    assert hit["path"] == "Garden/Tomatoes.md"
    assert {"title", "score", "start_line", "preview", "spans", "citation", "evidence"} <= set(hit)
    again = json.loads(served.run("search", "tomatoes", "-n", "1", "--format", "json", code=0).stdout)
    assert again["hits"][0]["path"] == hit["path"]


def test_search_prints_lines_for_other_programs(served: Command) -> None:
    """jsonl is a note a line, paths is a file that exists a line."""
    hits = [json.loads(line) for line in served.run("search", "pump", "--format", "jsonl").stdout.splitlines()]
    paths = served.run("search", "pump", "--format", "paths").stdout.splitlines()
    assert hits
    assert len(hits) == len(paths)
    assert all(Path(path).is_absolute() and Path(path).exists() for path in paths)


def test_a_query_may_leave_words_out(served: Command) -> None:
    """``-word`` on the command line leaves notes out, also where it looks like an option."""
    paths = served.run("search", "pump", "-impeller", "--format", "paths", code=0).stdout
    assert "Bearings" in paths
    assert "Seal" not in paths
    served.run("search", "pump", "-notes", code=0)


def test_other_scripts_are_found(served: Command) -> None:
    """A Japanese query needs no setting."""
    assert "日本語.md" in served.run("search", "水道", code=0).stdout


@pytest.mark.parametrize(
    "args", [("search",), ("search", "x", "--mode", "guess"), ("search", "x", "-n", "0"), ("serch",)]
)
def test_wrong_usage_ends_with_2(served: Command, args: tuple[str, ...]) -> None:
    """Usage that cannot be read is an error with a way to the help."""
    result = served.run(*args, code=2)
    assert result.stdout == ""
    assert "--help" in result.stderr


def test_a_mistyped_command_is_guessed(served: Command) -> None:
    """A command that does not exist is answered with the one that does."""
    assert "Did you mean 'search'" in served.run("serch", "x", code=2).stderr


def test_a_reader_that_stops_reading_is_fine(served: Command) -> None:
    """A closed pipe ends a command quietly with 0."""
    for args in (["search", "pump"], ["search", "pump", "--json"], ["config"], ["--help"], ["get", SEAL]):
        read, write = os.pipe()
        os.close(read)
        with served.start(*args, stdout=write) as process:
            os.close(write)
            _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, ""), args


def test_colours_are_for_terminals(served: Command) -> None:
    """On a terminal matches are bold, and NO_COLOR takes the colours away."""
    for extra, coloured in (({"TERM": "xterm-256color"}, True), ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False)):
        shown = on_terminal(Command(served.home, extra), ("stdout",), "search", "mechanical seal")[1]
        assert "\x1b[1m" in shown
        assert ("\x1b[32m" in shown) == coloured


def test_get_prints_the_note_as_it_is(served: Command) -> None:
    """A note comes out as it went in, whole, in part, or as a record."""
    assert served.run("get", SEAL, code=0).stdout == NOTES[SEAL]
    assert served.run("get", SEAL, "--lines", "5-5", code=0).stdout == "# Seal replacement\n"
    assert served.run("get", f"{SEAL}#L5-L7", code=0).stdout == "# Seal replacement\n\nDrain the casing first.\n"
    assert served.run("get", SEAL, "--heading", "Order", code=0).stdout.startswith("## Order\n\nThe mechanical")
    view = served.json("get", SEAL)
    assert (view["path"], view["tags"], view["start_line"]) == (SEAL, ["pump", "howto"], 1)


def test_get_takes_a_file(served: Command) -> None:
    """A path that a shell has completed is understood."""
    root = Path(served.json("vaults")[0]["root"])
    assert served.run("get", str(root / SEAL), code=0).stdout == NOTES[SEAL]
    assert served.run("get", "Bearings.md", cwd=root / "Pumps", code=0).stdout == NOTES["Pumps/Bearings.md"]


@pytest.mark.parametrize(
    ("args", "kind"),
    [
        (("get", "Nope.md"), "NoteNotFound"),
        (("get", "../../etc/passwd"), "PathRefused"),
        (("get", SEAL, "--heading", "Nope"), "InvalidParams"),
        (("get", SEAL, "--lines", "x"), "InvalidParams"),
        (("get", SEAL, "--lines", "900-901"), "InvalidParams"),
        (("related", "Nope.md"), "NoteNotFound"),
        (("search", "x", "--vault", "/nowhere/at/all"), "VaultMissing"),
        (("get", SEAL, "--vault", "nope"), "VaultUnknown"),
    ],
)
def test_what_is_not_there_is_an_error(served: Command, args: tuple[str, ...], kind: str) -> None:
    """Errors end with 2, as a sentence, and with ``--json`` as an object."""
    assert served.run(*args, code=2).stderr.startswith("vaultrag: ")
    error = served.json(*args, code=2)["error"]
    assert error["kind"] == kind
    assert set(error) == {"kind", "code", "message", "hint"}


def test_related_names_linked_notes(served: Command) -> None:
    """A note's neighbours are found by links where there are no vectors."""
    assert [hit["path"] for hit in served.json("related", SEAL)["hits"]] == ["Pumps/Bearings.md"]
    assert "Bearings" in served.run("related", SEAL, code=0).stdout
    assert served.json("related", SEAL, "--unlinked", code=1)["hits"] == []


def test_search_starts_the_daemon_unless_told_not_to(command: Command, vault: Path) -> None:
    """A search brings the daemon up by itself; ``--no-start`` forbids it."""
    assert command.json("search", "seal", "--no-start", code=2)["error"]["kind"] == "DaemonNotRunning"
    assert command.daemon_pid() == 0
    refused = command.run("search", "seal", code=2).stderr
    assert "no vault is served" in refused
    assert "vaultrag up ~/Notes" in refused
    assert SEAL in command.run("search", "seal", "--vault", str(vault), code=0).stdout
    command.run("stop", code=0)
    assert SEAL in command.run("search", "seal", code=0).stdout


def test_with_several_vaults_the_one_around_is_searched(command: Command, vault: Path, tmp_path: Path) -> None:
    """Inside a vault no name is needed; elsewhere it is asked for."""
    other = make_vault(tmp_path / "Other", {"x.md": "quinces"})
    command.run("up", str(vault), code=0)
    command.run("up", str(other), code=0)
    assert "x.md" in command.run("search", "quinces", cwd=other, code=0).stdout
    assert "x.md" in command.run("search", "quinces", "--vault", "Other", cwd=vault, code=0).stdout
    result = command.run("search", "quinces", cwd=tmp_path, code=2)
    assert "several vaults are served (My notes, Other)" in result.stderr
    assert "--vault" in result.stderr


def test_a_terminal_that_knows_only_ascii_still_gets_its_answer(served: Command) -> None:
    """What the encoding lacks is written as an escape, not refused."""
    poor = Command(served.home, {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    with poor.start("get", "Garden/Tomatoes.md", stdout=subprocess.PIPE) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "\\U0001f345" in out
