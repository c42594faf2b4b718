"""A newer daemon takes up what an older one has left; an older one leaves alone what a newer one has written."""

from __future__ import annotations

import apsw
import pytest

from tests import data
from tests.support.daemons import Home, OllamaProcess, until
from vaultrag import errors
from vaultrag.storage.folder import NOTES_FILE, VECTORS_FILE
from vaultrag.storage.schema import NOTE_STEPS
from vaultrag.storage.sqlite import connect
from vaultrag.storage.vectors.vector_store import stored_identity


@pytest.mark.parametrize("name", data.earlier())
def test_an_index_of_an_earlier_version_goes_on(name: str, ollama_home: Home, ollama: OllamaProcess) -> None:
    """Words are found at once, all notes are read once more, and only vectors of another kind are made again."""
    home = ollama_home
    data.fill(home)
    folder = data.index_folder(home)
    data.unpack(name, folder)
    before = stored_identity(folder / VECTORS_FILE)
    daemon = home.start()
    daemon.found("impeller", "Pumps/Seal replacement.md")
    status = daemon.ready()
    assert status.notes == len(data.NOTES)
    assert status.counters["notes_written"] == len(data.NOTES)
    assert status.counters["notes_deleted"] == status.counters["notes_moved"] == 0
    assert daemon.client.search("grease for the pump").state == "full"
    same = stored_identity(folder / VECTORS_FILE) == before
    assert (ollama.documents() == []) == same
    assert status.counters["texts_embedded"] == (0 if same else status.embedded)
    daemon.stop()

    daemon = home.start()
    assert daemon.ready().counters["files_read"] == 0
    assert not list(folder.glob("*.damaged-*"))


def of_tomorrow(home: Home, file: str) -> None:
    connection: apsw.Connection = connect(data.index_folder(home) / file)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def test_notes_of_a_newer_version_are_refused(home: Home) -> None:
    """The vault is not served, with which file and what helps; the daemon goes on, and the file stays as it is."""
    data.fill(home)
    home.start().ready()
    home.clean_up()
    of_tomorrow(home, NOTES_FILE)
    kept = (data.index_folder(home) / NOTES_FILE).read_bytes()
    daemon = home.spawn(home.vault)
    until(home.places.socket.exists, "the daemon listens")
    with daemon.connect() as client:
        with pytest.raises(errors.StoreTooNew) as told:
            client.add_vault(str(home.vault))
        known = f"(its version 99, known here: {len(NOTE_STEPS)})"
        assert f"hybrid-fts.db was written by a newer vaultrag {known}" in told.value.message
        assert told.value.hint.startswith("pip install --upgrade vaultrag, or remove ")
        other = home.base / "other"
        other.mkdir()
        (other / "A.md").write_text("words")
        assert client.add_vault(str(other)).state != "broken"
    daemon.stop()
    assert (data.index_folder(home) / NOTES_FILE).read_bytes() == kept


def test_vectors_of_a_newer_version_are_left_alone(ollama_home: Home) -> None:
    """Words go on; why there is no meaning is said; the vectors stay, and removing them has them made again."""
    home = ollama_home
    data.fill(home)
    home.start().ready()
    home.clean_up()
    of_tomorrow(home, VECTORS_FILE)
    file = data.index_folder(home) / VECTORS_FILE
    kept = file.read_bytes()
    daemon = home.start()
    daemon.found("impeller", "Pumps/Seal replacement.md")
    answer = daemon.until(
        lambda: found if (found := daemon.client.search("impeller")).state == "keyword_only" else None,
        "words go on",
        20,
    )
    assert "obsidian_notes.db was written by a newer vaultrag" in answer.reasons[0].why
    daemon.stop()
    assert file.read_bytes() == kept
    file.unlink()
    assert home.start().ready().embedded > 0
