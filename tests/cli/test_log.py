"""What a person looks on with: log, status --watch, tags; and config edit, completion, guesses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import Command, on_terminal
from tests.tui.terminals import script
from vaultrag.client.editor import editor_command
from vaultrag.errors import ConfigError

pytestmark = pytest.mark.timeout(180)


def test_the_log_is_printed_and_followed(command: Command, vault: Path) -> None:
    """The last lines come at once; with --follow what is added, also after the file was begun anew."""
    assert "there is no log yet" in command.run("log", code=1).stderr
    command.run("up", str(vault), code=0)
    assert "serves (process" in command.run("log", code=0).stdout
    assert command.run("log", "-n", "0", code=0).stdout == ""
    log = command.places.log
    with command.start("log", "-n", "1", "--follow") as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        with log.open("a") as file:
            file.write("a line that is added\n")
        assert process.stdout.readline() == "a line that is added\n"
        os.truncate(log, 0)
        log.write_text("begun anew\n")
        assert process.stdout.readline() == "begun anew\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_the_status_is_watched(command: Command, vault: Path) -> None:
    """Every change is a line of JSON: the vault, the daemon's going, and its coming back."""
    assert command.run("status", "--watch", code=2).stderr.startswith("vaultrag: no daemon is running")
    command.run("up", str(vault), code=0)
    with command.start("status", "--watch", "--json") as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        assert first["vaults"][0]["notes"] == 4
        command.run("stop", code=0)
        while (state := json.loads(process.stdout.readline())["state"]) != "gone":
            assert state in ("ready", "idle", "starting", "indexing")
        command.run("up", code=0)
        assert json.loads(process.stdout.readline())["state"] != "gone"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_the_watched_panel_is_drawn_in_place(command: Command, vault: Path) -> None:
    """On a terminal the panel is drawn over itself with every change; an interrupted watch leaves it standing."""
    command.run("up", str(vault), code=0)
    live = Command(command.home, {"TERM": "xterm-256color"})
    master, slave = os.openpty()
    with live.start("status", "--watch", stdout=slave, stderr=subprocess.PIPE) as process:
        os.close(slave)
        shown = b""
        while b"4 notes" not in shown:
            shown += os.read(master, 65536)
        (vault / "New.md").write_text("A new note.\n", "utf-8")
        while b"5 notes" not in shown:
            shown += os.read(master, 65536)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    os.close(master)
    assert b"\x1b[1A" in shown  # the cursor goes up instead of the screen down


def test_tags_are_counted(served: Command) -> None:
    """The commonest first, with a part of the name, as text and as JSON; none is 1."""
    assert served.run("tags", code=0).stdout == "1  #howto\n1  #pump\n"
    assert served.run("tags", "#PU", code=0).stdout == "1  #pump\n"
    assert served.json("tags", "how") == [{"tag": "howto", "notes": 1}]
    assert "no tag has zz in it" in served.run("tags", "zz", code=1).stderr


def test_the_settings_are_edited(command: Command, tmp_path: Path) -> None:
    """The file is begun where there is none, opened in the editor, and checked afterwards."""
    file = command.places.config_file
    file.unlink()
    editor = script(tmp_path / "my editor", 'printf "%s\\n" "$@" >> "$0.args"')
    command.extra["VISUAL"] = f"'{editor}' --wait"
    assert "is as it was" in command.run("config", "edit", code=0).stdout
    assert (tmp_path / "my editor.args").read_text() == f"--wait\n{file}\n"
    assert "[tui.keys]" in file.read_text()
    script(editor, 'printf "[tui.keys]\\nmode = [\\"f5\\"]\\n" > "$2"')
    assert "can be read" in command.run("config", "edit", code=0).stdout
    assert 'mode = ["f5"]' in command.run("config", "show", code=0).stdout
    script(editor, 'printf "[tui.keys]\\nmoed = []\\n" > "$2"')
    failed = command.run("config", "edit", code=2).stderr
    assert "unknown setting tui.keys.moed" in failed
    assert "did you mean mode?" in failed
    command.extra["VISUAL"] = "no-such-editor"
    assert "the editor no-such-editor is not there" in command.run("config", "edit", code=2).stderr


def test_slips_are_guessed(served: Command) -> None:
    """A mistyped command, option, note or vault is answered with the one that was probably meant."""
    for args, guess in (
        (("staus",), "'status'"),
        (("config", "edti"), "'edit'"),
        (("search", "x", "--formt", "tsv"), "--format"),
        (("get", "Garden/Tomatos.md"), "did you mean Garden/Tomatoes.md?"),
        (("search", "x", "--vault", "My note"), "did you mean My notes?"),
        (("get", "x.md", "--vault", "My note"), "did you mean My notes?"),
        (("vaults", "remove", "My note"), "did you mean My notes?"),
    ):
        result = served.run(*args, code=2)
        assert guess in result.stderr, (args, result.stderr)
        assert result.stdout == ""


@pytest.mark.parametrize(("words", "wanted"), [("vaultrag sea", "search"), ("vaultrag search --for", "--format"),
                                               ("vaultrag search --format vim", "vimgrep")])  # fmt: skip
def test_shells_complete(served: Command, words: str, wanted: str) -> None:
    """Commands, options and their values are completed with Tab."""
    count = str(len(words.split()) - 1)
    asking = {"_VAULTRAG_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": count}
    assert wanted in Command(served.home, asking).run(code=0).stdout.split()


def test_plain_vaultrag_without_a_terminal_prints_its_help(served: Command) -> None:
    """In a pipe, or on a terminal that cannot place its cursor, it is the help."""
    assert "Usage: vaultrag" in served.run(code=0).stdout
    code, shown = on_terminal(Command(served.home, {"TERM": "dumb"}), ("stdin", "stdout", "stderr"))
    assert (code, "Usage: vaultrag" in shown) == (0, True)
    refused = served.run("tui", code=2)
    assert "stderr is none" in refused.stderr
    assert "vaultrag search QUERY" in refused.stderr


def test_editors_get_file_and_line() -> None:
    """Most editors take +LINE; some want it otherwise."""
    files = [Path("/v/a b.md"), Path("/v/c.md")]
    anything = {"PATH": os.environ["PATH"]}
    assert editor_command("sh -x", {}, files, 7) == ["sh", "-x", "+7", "/v/a b.md", "/v/c.md"]
    told = {**anything, "VISUAL": "env code", "EDITOR": "no"}
    assert editor_command("", told, files, 0) == ["env", "code", "/v/a b.md", "/v/c.md"]
    with pytest.raises(ConfigError, match="is not there"):
        editor_command("no-such-editor", {}, files, 1)
    with pytest.raises(ConfigError, match="cannot be read"):
        editor_command("vi 'x", {}, files, 1)
    with pytest.raises(ConfigError, match="no editor"):
        editor_command("", {"PATH": "/nowhere"}, files, 1)


def test_editors_with_windows(tmp_path: Path) -> None:
    """VS Code and its like want --goto FILE:LINE, others FILE:LINE; each gets the column in its own way, or none."""
    for name, args, with_column in (
        ("code", ["--goto", "/v/a.md:3"], ["--goto", "/v/a.md:3:5"]),
        ("hx", ["/v/a.md:3"], ["/v/a.md:3:5"]),
        ("nvim", ["+3", "/v/a.md"], ["+normal! 3G04l", "/v/a.md"]),
        ("nano", ["+3", "/v/a.md"], ["+3,5", "/v/a.md"]),
        ("ed", ["+3", "/v/a.md"], ["+3", "/v/a.md"]),
    ):
        editor = script(tmp_path / name, "")
        assert editor_command(f"{editor} --wait", {}, [Path("/v/a.md")], 3) == [str(editor), "--wait", *args]
        assert editor_command(str(editor), {}, [Path("/v/a.md")], 3, 5) == [str(editor), *with_column]
