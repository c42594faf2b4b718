"""Which folders are vaults, and which vaults are served."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.daemons import Home
from vaultrag.daemon.vaults import Registry, check_root
from vaultrag.errors import (
    ConfigError,
    NoteUnreadable,
    VaultMissing,
    VaultUnknown,
    VaultUnreadable,
    VaultUnsuitable,
)


def folder(home: Home, name: str, note: str = "") -> Path:
    path = home.base / name
    path.mkdir(parents=True)
    if note:
        (path / "Note.md").write_text(note)
    return path


# -- check_root ------------------------------------------------------------------------------------------------------


def test_a_folder_that_is_not_there_is_missing(home: Home) -> None:
    """A folder that does not exist, or lies below a file, is missing."""
    (home.base / "file").write_text("")
    for path in (home.base / "nothing", home.base / "file" / "below", Path("~nobody-of-that-name/x")):
        with pytest.raises((VaultMissing, VaultUnreadable)):
            check_root(path, home.places)


def test_an_empty_folder_is_no_vault(home: Home) -> None:
    """An empty folder is most likely a slip, or a disk that is not mounted."""
    with pytest.raises(VaultUnsuitable, match="is empty"):
        check_root(folder(home, "empty"), home.places)


def test_a_folder_without_notes_is_no_vault(home: Home) -> None:
    """A folder of other files is refused, and so is one whose only notes are in hidden folders."""
    other = folder(home, "music")
    (other / "song.mp3").write_bytes(b"")
    (other / ".hidden").mkdir()
    (other / ".hidden" / "Note.md").write_text("x")
    with pytest.raises(VaultUnsuitable, match="no Markdown notes"):
        check_root(other, home.places)


def test_a_file_is_no_vault(home: Home) -> None:
    """A note instead of its folder is refused with the reason."""
    with pytest.raises(VaultUnsuitable, match="is a file"):
        check_root(home.write("Note.md", "x"), home.places)


def test_a_new_vault_of_obsidian_is_a_vault(home: Home) -> None:
    """A vault that Obsidian has just made holds no note yet."""
    new = folder(home, "new/.obsidian").parent
    assert check_root(new, home.places) == new


def test_a_note_deep_below_makes_a_vault(home: Home) -> None:
    """Notes may lie in folders of folders, with an ending in capitals."""
    deep = folder(home, "outer/a/b")
    (deep / "NOTE.MD").write_text("x")
    assert check_root(home.base / "outer", home.places) == home.base / "outer"


def test_a_whole_home_is_no_vault(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder, and the root of the file system, are refused even if notes lie in them."""
    whole = folder(home, "me", "x")
    monkeypatch.setenv("HOME", str(whole))
    for path in (whole, Path("/"), Path("~")):
        with pytest.raises(VaultUnsuitable):
            check_root(path, home.places)


def test_the_index_never_lies_inside_a_vault(home: Home) -> None:
    """A vault around the data folder, or inside it, is refused: an index must not index itself."""
    home.places.data.mkdir()
    (home.places.data / "inner").mkdir()
    (home.places.data / "inner" / "Note.md").write_text("x")
    (home.base / "Note.md").write_text("x")
    for path in (home.base, home.path, home.places.data, home.places.data / "inner"):
        with pytest.raises(VaultUnsuitable, match="keeps its index"):
            check_root(path, home.places)


def test_a_link_leads_to_the_vault_itself(home: Home) -> None:
    """A vault reached through a link is the folder that the link leads to."""
    home.write("Note.md", "x")
    link = home.base / "link"
    link.symlink_to(home.vault)
    assert check_root(link, home.places) == home.vault
    loop = home.base / "loop"
    loop.symlink_to(loop)
    with pytest.raises((VaultMissing, VaultUnreadable)):
        check_root(loop, home.places)


def test_a_name_that_is_not_text_is_refused(home: Home) -> None:
    """A folder that no client could be told of is refused when it is added, not when it is asked for."""
    strange = home.base / "vault-\udcff"
    strange.mkdir()
    (strange / "Note.md").write_text("x")
    with pytest.raises(VaultUnsuitable, match="not text"):
        check_root(strange, home.places)


# -- the registry ----------------------------------------------------------------------------------------------------


def test_the_list_keeps_its_order(tmp_path: Path) -> None:
    """Vaults stay in the order they were added, each once."""
    registry = Registry(tmp_path / "deep" / "vaults.json")
    for name in ("/b", "/a", "/b", "/ü"):
        registry.add(Path(name))
    registry.remove(Path("/a"))
    assert Registry(tmp_path / "deep" / "vaults.json").roots() == [Path("/b"), Path("/ü")]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"vaults": 3}', '{"vaults": [3]}'])
def test_a_damaged_list_is_never_taken_for_an_empty_one(tmp_path: Path, text: str) -> None:
    """A list that cannot be read, and has no copy, is an error with the file's name in the hint."""
    (tmp_path / "vaults.json").write_text(text)
    with pytest.raises(ConfigError) as caught:
        Registry(tmp_path / "vaults.json").add(Path("/a"))
    assert "vaults.json" in caught.value.hint


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"vaults": 3}', "\x00" * 40])
def test_a_damaged_list_heals(tmp_path: Path, text: str) -> None:
    """A list that cannot be read is restored from its copy, in the same order, and stays so."""
    path = tmp_path / "vaults.json"
    for name in ("/b", "/a"):
        Registry(path).add(Path(name))
    healthy = path.read_text()
    path.write_text(text)
    assert Registry(path).roots() == [Path("/b"), Path("/a")]
    assert path.read_text() == healthy


# -- the daemon ------------------------------------------------------------------------------------------------------


def test_two_vaults_are_kept_apart(home: Home) -> None:
    """Two vaults at once: each is found by id, folder and name, and neither answers for the other."""
    home.write("Note.md", "the pump of the first\n")
    second = folder(home, "second", "the pump of the second\n")
    daemon = home.start(home.vault, second)
    daemon.ready()
    client = daemon.client
    with pytest.raises(VaultUnknown, match="several vaults"):
        client.search("pump")
    ids = {vault.name: vault.id for vault in client.status().vaults}
    for name in ("second", str(second), ids["second"], f"{second}/", f"{second}/deeper/Note.md"):
        (hit,) = client.search("pump", vault=name).hits
        assert "second" in hit.preview
    assert client.status().notes == 2
    with daemon.connect() as other:
        other.call("hello", {"client": "test", "vault": "second"})
        assert "second" in other.search("pump").hits[0].preview


def test_vaults_come_and_go_and_are_remembered(home: Home) -> None:
    """A vault that was added is served after a restart without being named; one removed is not, and keeps its index."""
    home.write("Note.md", "one\n")
    second = folder(home, "second", "the pump of the second\n")
    daemon = home.start()
    added = daemon.client.add_vault(str(second))
    assert daemon.client.add_vault(str(second)).id == added.id
    daemon.ready()
    assert daemon.client.search("pump", vault="second").hits
    daemon.stop()

    daemon = home.start()
    assert [vault.name for vault in daemon.client.status().vaults] == ["vault", "second"]
    daemon.client.remove_vault("second")
    with pytest.raises(VaultUnknown):
        daemon.client.search("pump", vault="second")
    assert (home.places.vault_folder(added.id) / "hybrid-fts.db").exists()
    assert str(second) not in home.places.discovery.read_text()
    daemon.stop()

    daemon = home.start()
    assert [vault.name for vault in daemon.client.status().vaults] == ["vault"]


def test_a_vault_comes_back_with_what_it_had(home: Home) -> None:
    """A vault that is removed and added again reads none of its notes anew."""
    home.write("Note.md", "one\n")
    second = folder(home, "second", "the pump of the second\n")
    daemon = home.start(home.vault, second)
    daemon.ready()
    daemon.client.remove_vault("second")
    daemon.client.add_vault(str(second))
    daemon.ready()
    vault = next(vault for vault in daemon.client.status().vaults if vault.name == "second")
    assert (vault.notes, vault.counters["files_read"]) == (1, 0)


def test_a_linked_vault_is_served_once(home: Home) -> None:
    """A vault added by its folder and by a link to it is one vault."""
    home.write("Note.md", "the pump\n")
    link = home.base / "link"
    link.symlink_to(home.vault)
    daemon = home.start(link)
    daemon.found("pump", "Note.md")
    daemon.client.add_vault(str(home.vault))
    assert [vault.root for vault in daemon.client.status().vaults] == [str(home.vault)]


def test_a_vault_that_is_away_keeps_its_index(home: Home) -> None:
    """With its folder away at the start, a vault still answers from what is known, says so, and wakes up by itself."""
    for number in range(10):
        home.write(f"Pump {number}.md", f"the pump {number}\n")
    daemon = home.start()
    daemon.ready()
    daemon.stop()
    away = home.vault.rename(home.base / "elsewhere")

    daemon = home.spawn()
    daemon.until(home.places.discovery.exists, "it serves")
    status = daemon.until(
        lambda: next((v for v in daemon.client.status().vaults if v.state == "away"), None), "the vault is away"
    )
    assert status.notes == 10
    assert status.why
    assert status.hint
    answer = daemon.client.search("pump", limit=20)
    assert len(answer.hits) == 10
    assert all(hit.stale for hit in answer.hits)
    assert "partial" in {reason.state for reason in answer.reasons}
    with pytest.raises(NoteUnreadable):
        daemon.client.get("Pump 1.md")

    away.rename(home.vault)
    daemon.until(lambda: daemon.status().state == "ready" or None, "the vault is back")
    assert daemon.counters["notes_written"] == 0
    daemon.found("pump", "Pump 1.md")


def test_a_folder_that_is_empty_for_a_moment_empties_nothing(home: Home) -> None:
    """A mount point without its disk looks like a vault without notes; the index is kept until a person says so."""
    for number in range(10):
        home.write(f"Pump {number}.md", f"the pump {number}\n")
    daemon = home.start()
    daemon.ready()
    daemon.stop()
    away = home.vault.rename(home.base / "elsewhere")
    (home.vault / ".obsidian").mkdir(parents=True)

    daemon = home.start()
    daemon.until(lambda: daemon.status().state == "away" or None, "the vault looks empty")
    assert daemon.status().notes == 10

    shutil.rmtree(home.vault)
    away.rename(home.vault)
    daemon.until(lambda: daemon.status().state == "ready" or None, "the notes are back")
    assert daemon.status().notes == 10
    assert daemon.counters["notes_deleted"] == 0


def test_notes_deleted_on_purpose_go_when_a_person_says_so(home: Home) -> None:
    """A vault that loses all its notes keeps what is known of them until ``reindex`` says that they are gone."""
    for number in range(40):  # where they are missed in two portions, one of them is more than a few
        home.write(f"Pump {number}.md", f"the pump {number}\n")
    (home.vault / ".obsidian").mkdir()
    daemon = home.start()
    daemon.ready()
    for note in home.vault.glob("*.md"):
        note.unlink()
    daemon.until(lambda: daemon.status().state == "away" or None, "it looks twice")
    assert daemon.status().notes >= 20  # the first of them may have gone before the others were missed
    daemon.client.reindex()
    daemon.until(lambda: daemon.status().notes == 0 or None, "the notes are forgotten")
    assert daemon.client.search("pump").hits == ()


def test_a_vault_that_cannot_be_opened_hides_no_other(home: Home) -> None:
    """A vault whose index folder cannot be made is told in the log; the others are served."""
    home.write("Note.md", "the pump\n")
    second = folder(home, "second", "x")
    daemon = home.start(home.vault, second)
    ids = {vault.name: vault.id for vault in daemon.client.status().vaults}
    daemon.stop()
    shutil.rmtree(home.places.vault_folder(ids["second"]))
    home.places.vault_folder(ids["second"]).write_text("in the way")
    daemon = home.spawn()
    daemon.until(lambda: "second is not served" in home.log or None, "the fault is told", 20)
    daemon.found("pump", "Note.md")
    assert "Traceback" not in home.log
