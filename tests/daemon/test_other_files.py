"""Files of other kinds than Markdown, through the real daemon: found, followed, private, damaged."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support import documents
from tests.support.daemons import Home, Raw, RunningDaemon, daemon_home

WORDS_ONLY: dict[str, dict[str, Any]] = {"embedder": {"provider": "off"}}

FILES = {
    "Boiler.pdf": documents.pdf("The boiler is serviced in May.", "Descaling takes citric acid.", title="The manual"),
    "Board.canvas": documents.canvas_of(
        [{"type": "text", "text": "a quokka smiles #marsupial"}, {"type": "file", "file": "Plan.md"}]
    ),
    "Shelf.base": b"views:\n  - type: table\n    name: Unread almanacs\n",
    "Jam.txt": b"Marmalade of bitter oranges.\nSecond line: quince.\n",
    "Letter.docx": documents.word(("Heading 1", "Offer"), "Gaskets of neoprene."),
    "Talk.pptx": documents.slides(("Costs", "up"), ("Outlook", "wombats everywhere")),
    "Money.xlsx": documents.sheet(Budget=[["item", "price"], ["trampoline", 99]]),
    "Novel.epub": documents.epub("A novel", "<h1>Dawn</h1><p>It rains on Uppsala.</p>"),
    "Page.html": b"<title>A page</title><h2>Part</h2><p>Sourdough needs patience.</p>",
    "Offer.eml": documents.mail("Offer", "Twelve zithers."),
    "Garden.org": b"#+TITLE: The garden\n* Roses :plants:\nPrune above a bud.\n",
}


@contextmanager
def vault(settings: dict[str, dict[str, Any]] | None = None) -> Iterator[tuple[Home, RunningDaemon]]:
    with daemon_home(settings or WORDS_ONLY) as home:
        home.write("Plan.md", "# Plan\nThe [[Boiler.pdf]] is to be read.\n")
        for path, data in FILES.items():
            home.write(path, data)
        daemon = home.start()
        daemon.ready()
        daemon.until(lambda: daemon.client.search("x").index.current, "all is read")
        yield home, daemon


def test_each_kind_is_found_by_what_it_says() -> None:
    """Words lead to the file, its kind and its page; links, tags and titles are those of any note."""
    with vault() as (_, daemon):
        for query, path, kind, citation in (
            ("citric acid", "Boiler.pdf", "pdf", "Boiler.pdf#page=2"),
            ("serviced in May", "Boiler.pdf", "pdf", "Boiler.pdf#page=1"),
            ("the manual", "Boiler.pdf", "pdf", "Boiler.pdf#page=1"),
            ("quokka", "Board.canvas", "canvas", "Board.canvas"),
            ("almanacs", "Shelf.base", "base", "Shelf.base#View Unread almanacs"),
            ("quince", "Jam.txt", "text", "Jam.txt#L2-L2"),
            ("neoprene", "Letter.docx", "word", "Letter.docx#Offer"),
            ("wombats", "Talk.pptx", "slides", "Talk.pptx#slide=2"),
            ("trampoline", "Money.xlsx", "sheet", "Money.xlsx#Sheet Budget"),
            ("Uppsala", "Novel.epub", "epub", "Novel.epub#Dawn"),
            ("sourdough", "Page.html", "html", "Page.html#Part"),
            ("zithers", "Offer.eml", "mail", "Offer.eml"),
            ("bud", "Garden.org", "org", "Garden.org#Roses #plants"),
        ):
            (hit, *_) = daemon.client.search(query).hits
            assert (hit.path, hit.kind, hit.citation) == (path, kind, citation), query
        assert daemon.client.search("Plan").hits[0].kind == "note"
        assert {hit.path for hit in daemon.client.search("tag:marsupial").hits} == {"Board.canvas"}
        linked = daemon.client.related("Plan.md")
        assert {hit.path for hit in linked.hits} == {"Boiler.pdf", "Board.canvas"}


def test_kind_narrows_a_search() -> None:
    """``kind:`` takes one kind, several, or all that are no notes; a word that is none is text."""
    with vault() as (_, daemon):

        def paths(query: str) -> set[str]:
            return {hit.path for hit in daemon.client.search(query).hits}

        assert paths("kind:pdf") == {"Boiler.pdf"}
        assert paths("kind:pdf,canvas") == {"Boiler.pdf", "Board.canvas"}
        assert paths("kind:file -kind:pdf") == set(FILES) - {"Boiler.pdf"}
        assert paths("-kind:file") == paths("kind:note") == {"Plan.md"}
        assert paths("boiler -kind:pdf") == {"Plan.md"}


def test_get_returns_a_page() -> None:
    """A file's text is had whole, by its name, and by the citation of a page."""
    with vault() as (_, daemon):
        assert "Descaling" in daemon.client.get("Boiler.pdf").text
        assert daemon.client.get("[[Boiler.pdf]]").path == "Boiler.pdf"
        page = daemon.client.get("Boiler.pdf#page=2").text
        assert "Descaling" in page
        assert "serviced" not in page
        assert "wombats" in daemon.client.get("Talk.pptx#slide=2").text
        assert daemon.client.get("Money.xlsx#Sheet Budget").text.startswith("## Sheet Budget")


def test_edits_renames_and_deletions_are_followed() -> None:
    """What a file said before it was changed is found until its new text is there; nothing is read twice."""
    with vault() as (home, daemon):
        home.write("Boiler.pdf", documents.pdf("The boiler was replaced by a heat pump."))
        daemon.found("heat pump", "Boiler.pdf", 10.0)
        daemon.lost("citric acid", "Boiler.pdf", 10.0)
        (home.vault / "Boiler.pdf").rename(home.vault / "Pump.pdf")
        daemon.found("heat pump", "Pump.pdf", 10.0)
        (home.vault / "Pump.pdf").unlink()
        daemon.lost("heat pump", "Pump.pdf", 10.0)


def test_the_index_is_built_anew_without_reading_the_files_again() -> None:
    """The texts made of files outlive the index, and a restart."""
    with vault() as (home, daemon):
        folder = home.places.vault_folder(daemon.status().id)
        texts = {path: path.stat().st_mtime_ns for path in (folder / "sources").iterdir()}
        assert len(texts) == len(FILES) - 1  # a text is read as it is
        daemon.stop()
        for path in folder.glob("*.db*"):
            path.unlink()
        daemon = home.start()
        daemon.ready()
        daemon.found("citric acid", "Boiler.pdf")
        assert {path: path.stat().st_mtime_ns for path in (folder / "sources").iterdir()} == texts


def test_what_cannot_be_read_is_listed_with_its_reason() -> None:
    """It is found by its name, counted as odd, and ``why`` tells; a kept text that is damaged is made again."""
    with vault() as (home, daemon):
        home.write("Locked report.pdf", documents.pdf("x", encrypt="pass"))
        home.write("Scan.pdf", documents.pdf_without_text())
        daemon.found("locked report", "Locked report.pdf", 10.0)

        def odd() -> dict[str, str]:
            return {one.path: one.reason for one in daemon.status(full=True).problem_notes}

        daemon.until(lambda: len(odd()) == 2, "both are listed")
        assert odd()["Locked report.pdf"] == "protected by a password"
        assert odd()["Scan.pdf"].startswith("no text layer on its one page")
        assert "protected by a password" in daemon.client.why("Locked report.pdf").why


def test_a_damaged_text_is_made_again() -> None:
    """Flipped bytes in what is kept are noticed, and the file is read again."""
    with vault() as (home, daemon):
        folder = home.places.vault_folder(daemon.status().id) / "sources"
        daemon.stop()
        for path in folder.iterdir():
            data = path.read_bytes()
            path.write_bytes(data.replace(b"citric", b"citrus"))
        for path in folder.parent.glob("*.db*"):
            path.unlink()
        daemon = home.start()
        daemon.ready()
        daemon.found("citric acid", "Boiler.pdf", 10.0)
        daemon.lost("citrus", "Boiler.pdf")


def test_rules_and_privacy_hold_for_files_too() -> None:
    """What is excluded is not read; what is private is hidden from agents, by its path."""
    settings = {**WORDS_ONLY, "privacy": {"paths": ["*.canvas"]}, "notes": {"ignore": ["*.txt"]}}
    with vault(settings) as (home, daemon):
        assert not daemon.client.search("quince").hits
        assert daemon.client.search("quokka").hits
        with Raw(home.places, reader="agent") as agent:
            assert not agent.call("search", {"query": "quokka"})["result"]["hits"]


@pytest.mark.parametrize("kinds", [[], ["pdf"]])
def test_settings_choose_the_kinds(kinds: list[str]) -> None:
    """A kind that is not wanted is left alone."""
    with daemon_home({**WORDS_ONLY, "sources": {"kinds": kinds}}) as home:
        home.write("Plan.md", "# Plan\n")
        for path, data in FILES.items():
            home.write(path, data)
        daemon = home.start()
        daemon.ready()
        daemon.until(lambda: not daemon.status().files_waiting, "all is read")
        daemon.until(lambda: daemon.status().notes == 1 + len(kinds), "they are in the index")


def test_a_deleted_file_leaves_no_text() -> None:
    """What was made of a file goes with it."""
    with daemon_home({**WORDS_ONLY, "watch": {"reconcile_s": 1.0}}) as home:
        home.write("Plan.md", "# Plan\n")
        file = home.write("Secret.pdf", documents.pdf("xylographquokka"))
        daemon = home.start()
        folder = home.places.vault_folder(daemon.ready().id) / "sources"
        daemon.found("xylographquokka", "Secret.pdf", 10.0)
        assert any(b"xylographquokka" in path.read_bytes() for path in folder.iterdir())
        file.unlink()
        daemon.until(lambda: not list(folder.iterdir()), "the text is gone", 20.0)
        shutil.rmtree(folder)


def test_a_file_is_as_private_as_the_notes_that_lead_to_it() -> None:
    """What only private notes link or embed is hidden from agents; what another note leads to as well is not."""
    with daemon_home(WORDS_ONLY) as home:
        home.write("Diary.md", "---\nprivate: true\n---\n![[Secret.pdf]] ![[Board.canvas]] ![[Shared.pdf]]\n")
        home.write("Plan.md", "See [[Shared.pdf]].\n")
        home.write("Board.canvas", documents.canvas_of([{"type": "file", "file": "Deeper.pdf"}]))
        for name in ("Secret", "Shared", "Deeper", "Unlinked"):
            home.write(f"{name}.pdf", documents.pdf(f"The quokka of {name}."))
        daemon = home.start()
        daemon.ready()
        daemon.until(lambda: daemon.client.search("quokka").index.current, "all is read")
        assert len(daemon.client.search("quokka").hits) == 4
        with Raw(home.places, reader="agent") as agent:
            hits = agent.call("search", {"query": "quokka"})["result"]["hits"]
        assert {hit["path"] for hit in hits} == {"Shared.pdf", "Unlinked.pdf"}
        assert daemon.client.why("Deeper.pdf").kept_from_agents == "only private notes lead to it"
        assert not daemon.client.why("Shared.pdf").kept_from_agents
