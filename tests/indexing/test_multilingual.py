"""The second model reads what is not English at once, all else when nothing is left to do, and hinders nobody."""

from __future__ import annotations

from tests.indexing.conftest import Build, House
from tests.support.embedders import HashEmbedder, TwoModelHashEmbedder
from vaultrag.domain import Scale
from vaultrag.errors import ModelBroken
from vaultrag.indexing.vector_state import VectorState

GERMAN = "# Pumpe\n\nDie Dichtung der Pumpe ist undicht und muss gewechselt werden.\n"
ENGLISH = "# Seal\n\nThe seal of the pump leaks and has to be changed.\n"


def _house(build: Build, embedder: HashEmbedder, **notes: str) -> House:
    house = build(embedder=embedder)
    for name, text in notes.items():
        house.vault.write(f"{name}.md", text)
    return house


def _lacking(house: House) -> set[str]:
    lacking = house.meaning.lacking(multilingual=True)
    return {path for path, note_id in house.ids().items() if note_id in lacking}


def test_other_languages_come_first(build: Build) -> None:
    """A note that is not English is read together with the notes of its batch; English ones follow."""
    embedder = TwoModelHashEmbedder()
    house = _house(build, embedder, English=ENGLISH, Deutsch=GERMAN, Zweite=GERMAN.replace("Pumpe", "Anlage"))
    house.start().settle()
    assert set(embedder.second_notes[:2]) == {"Deutsch", "Zweite"}
    assert embedder.second_notes[2:] == ["English"]
    assert not _lacking(house)
    assert house.meaning.multilingual_pending == 0


def test_a_query_meets_the_model_of_its_language(build: Build) -> None:
    """A query in German asks the second model only, one in English the first only; each finds notes by its vectors."""
    embedder = TwoModelHashEmbedder()
    house = _house(build, embedder, English=ENGLISH, Deutsch=GERMAN).start().settle()
    view = house.meaning.view
    german = view.compare(view.embed("Wie wird die Dichtung gewechselt?"))
    assert (german.multilingual, german.readable, german.scan.scale) == (True, 1.0, Scale(0.0, 0.5))
    assert german.scan.notes(1)[0][0] == house.ids()["Deutsch.md"]
    assert not embedder.queries
    english = view.compare(view.embed("how is the seal changed"))
    assert not english.multilingual
    assert english.scan.notes(1)[0][0] == house.ids()["English.md"]
    assert len(embedder.second_queries) == 1


def test_a_query_without_a_sign_is_of_the_notes_language(build: Build) -> None:
    """Two words that could be of any language are read as the language of most notes."""
    mostly_german = {"A": GERMAN, "B": ENGLISH, "C": f"{GERMAN}Und noch mehr.\n"}
    for folder, notes, multilingual in (("german", mostly_german, True), ("english", {"A": ENGLISH}, False)):
        house = build(folder, embedder=TwoModelHashEmbedder())
        for name, text in notes.items():
            house.vault.write(f"{name}.md", text)
        view = house.start().settle().meaning.view
        assert view.embed("Pumpe 4471").multilingual is multilingual


def test_a_second_model_that_fails_hinders_nobody(build: Build) -> None:
    """Where the second model is broken every note gets its own vector, the trouble is told, and what waits is kept."""
    embedder = TwoModelHashEmbedder()
    embedder.second_failure = ModelBroken("the multilingual model cannot be loaded", hint="pip install it")
    house = _house(build, embedder, English=ENGLISH, Deutsch=GERMAN).start()
    house.until(lambda: house.meaning.view.why, "the trouble is told")
    assert house.consistent()
    assert house.meaning.view.hint == "pip install it"
    view = house.meaning.view
    assert view.compare(view.embed("how is the seal changed")).scan.notes(1)
    assert len(_lacking(house)) == 2
    embedder.second_failure = None
    house.embedding.compare(retry_failed=True)
    house.settle()
    assert not _lacking(house)


def test_an_index_from_before_keeps_its_vectors(build: Build) -> None:
    """An index without the second model's vectors is searched as it is; they are added, and no text meets the first
    model again. Without a second model nothing of it is asked.
    """
    before = _house(build, HashEmbedder(), English=ENGLISH, Deutsch=GERMAN).start().settle()
    assert before.meaning.multilingual_pending == 0
    before.close()
    embedder = TwoModelHashEmbedder()
    house = build(embedder=embedder)
    house.vault.write("English.md", ENGLISH)
    house.vault.write("Deutsch.md", GERMAN)
    house.start().settle()
    assert not embedder.notes
    assert sorted(embedder.second_notes) == ["Deutsch", "English"]


def test_without_vectors_of_the_second_the_first_speaks(build: Build) -> None:
    """While the second model has read nothing, a German query is compared by the first, and said not to be read."""
    embedder = TwoModelHashEmbedder()
    house = _house(build, HashEmbedder(), Deutsch=GERMAN).start().settle()
    view = VectorState("ready", house.meaning.view.vectors, embedder)
    compared = view.compare(view.embed("Wie wird die Dichtung gewechselt?"))
    assert not compared.multilingual
    assert compared.scan.notes(1)


def test_an_edit_is_read_again(build: Build) -> None:
    """The second model reads a note's new text, and no other note."""
    embedder = TwoModelHashEmbedder()
    house = _house(build, embedder, English=ENGLISH, Deutsch=GERMAN).start().settle()
    embedder.second_notes.clear()
    house.vault.write("English.md", ENGLISH + "It is made of rubber.\n")
    house.look("English.md")
    assert embedder.second_notes == ["English"]
    assert not _lacking(house)
