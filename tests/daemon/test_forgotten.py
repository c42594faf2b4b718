"""What is deleted from the vault is deleted from the index: its words are not to be read in the files any more."""

from __future__ import annotations

from pathlib import Path

from tests.support.daemons import daemon_home

WORDS = ("xylographquokka", "zirconiumtapirs")
NOTE = f"""---
aliases: [{WORDS[0]} alias]
secret: {WORDS[0]} property
---
# {WORDS[0]} heading

The {WORDS[1]} is here, and a link to [[{WORDS[1]} note]].
"""


def holding(folder: Path) -> list[str]:
    """Return the files of the index that hold one of the words, log and all."""
    return sorted(
        path.name
        for path in folder.iterdir()
        if path.is_file() and any(word.encode() in path.read_bytes() for word in WORDS)
    )


def test_deleted_text_leaves_the_files() -> None:
    """Neither a deleted note nor an earlier text of a note can be read in the index once the daemon has had time."""
    with daemon_home({"watch": {"reconcile_s": 5.0}}) as home:
        for number in range(40):
            home.write(f"Others/{number}.md", f"Note {number} of the ordinary kind.\n")
        home.write("Secret.md", NOTE)
        daemon = home.start()
        folder = home.places.vault_folder(daemon.ready().id)
        daemon.found(WORDS[0], "Secret.md")
        assert holding(folder)  # or the test would see nothing
        home.write("Secret.md", "Something else altogether.\n")
        daemon.until(lambda: not holding(folder), "the earlier text is gone from the files", 30.0)
        daemon.found("altogether", "Secret.md")
        assert daemon.client.search("ordinary", limit=50, mode="words").total == 40


def test_a_restart_does_not_forget_what_is_to_be_purged() -> None:
    """What was deleted just before the daemon was killed is purged by the next one."""
    with daemon_home() as home:
        home.write("Other.md", "An ordinary note.\n")
        note = home.write("Secret.md", NOTE)
        daemon = home.start()
        folder = home.places.vault_folder(daemon.ready().id)
        note.unlink()
        daemon.lost(WORDS[0], "Secret.md")
        daemon.kill()
        daemon = home.start()
        daemon.ready()
        daemon.until(lambda: not holding(folder), "the deleted text is gone from the files", 20.0)


def test_a_file_that_is_mostly_empty_shrinks() -> None:
    """The index of a vault that lost most of its notes is written anew, small."""
    with daemon_home() as home:
        for number in range(60):
            home.write(f"{number}.md", " ".join(f"word{number}x{place}" for place in range(4_000)))
        home.write("Stays.md", "This one stays.\n")
        daemon = home.start()
        file = home.places.vault_folder(daemon.ready().id) / "hybrid-fts.db"
        before = file.stat().st_size
        for number in range(60):
            (home.vault / f"{number}.md").write_text("short now\n")
        daemon.until(lambda: file.stat().st_size < before / 3, "the file shrinks", 30.0)
        daemon.found("stays", "Stays.md")
