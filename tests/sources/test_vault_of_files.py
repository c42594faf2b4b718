"""A vault with many files, each page, slide, sheet and card with a phrase of its own: all are found, in their place."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.fault.ledger import times
from tests.support import documents
from tests.support.daemons import Home, RunningDaemon, daemon_home

NOTES, PDFS, PAGES, OTHERS = times((60, 12, 4, 3), (1000, 100, 5, 20))
SCANS, SCREENSHOTS = times((3, 6), (20, 60))

SYLLABLES = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu", "fa", "gi", "ho", "ju", "pe"]
FILLER = "The minutes of the meeting were read and agreed to without any further remark by those who were there."


class Phrases:
    """Phrases of three made-up words that stand nowhere else, and where each of them is."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.places: dict[str, str] = {}
        self.pictured: dict[str, str] = {}
        """Those whose letters must be recognised."""

    def at(self, place: str, *, pictured: bool = False) -> str:
        """Return a new phrase that stands at this place (a citation)."""
        words = ("".join(self._random.choice(SYLLABLES) for _ in range(4)) for _ in range(3))
        phrase = " ".join(words)
        (self.pictured if pictured else self.places)[phrase] = place
        return phrase


def write_vault(home: Home, phrases: Phrases) -> None:
    for number in range(NOTES):
        home.write(f"Notes/{number}.md", f"# Note {number}\n{FILLER}\n{phrases.at(f'Notes/{number}.md')}\n{FILLER}\n")
    for number in range(PDFS):
        path = f"Papers/{number}.pdf"
        texts = [[FILLER, phrases.at(f"{path}#page={page}"), FILLER] for page in range(1, PAGES + 1)]
        home.write(path, documents.pdf(*texts))
    for number in range(OTHERS):
        path = f"Files/{number}"
        home.write(f"{path}.canvas", documents.canvas_of([{"type": "text", "text": phrases.at(f"{path}.canvas")}]))
        home.write(f"{path}.base", f"views:\n  - type: table\n    name: {phrases.at(f'{path}.base')}\n")
        home.write(f"{path}.txt", f"{FILLER}\n{phrases.at(f'{path}.txt#L2-L2')}\n")
        home.write(f"{path}.org", f"* Part\n{FILLER}\n{phrases.at(f'{path}.org#Part')}\n")
        home.write(f"{path}.docx", documents.word(("Heading 1", "Part"), phrases.at(f"{path}.docx#Part")))
        home.write(f"{path}.pptx", documents.slides(("One", FILLER), ("Two", phrases.at(f"{path}.pptx#slide=2"))))
        home.write(f"{path}.xlsx", documents.sheet(Costs=[["a", phrases.at(f"{path}.xlsx#Sheet Costs")]]))
        home.write(f"{path}.epub", documents.epub("A book", f"<h1>Dawn</h1><p>{phrases.at(f'{path}.epub#Dawn')}</p>"))
        home.write(f"{path}.html", f"<h2>Part</h2><p>{phrases.at(f'{path}.html#Part')}</p>")
        home.write(f"{path}.eml", documents.mail("Offer", phrases.at(f"{path}.eml")))


def write_pictures(home: Home, phrases: Phrases) -> None:
    for number in range(SCANS):
        path = f"Scans/{number}.pdf"
        pages = [["Minutes of the meeting", phrases.at(f"{path}#page={page}", pictured=True)] for page in (1, 2)]
        home.write(path, documents.scan(*pages, dpi=(150, 200, 300)[number % 3]))
    for number in range(SCREENSHOTS):
        path = f"Pictures/{number}.{'jpg' if number % 3 == 2 else 'png'}"
        lines = ["File  Edit  View", phrases.at(path, pictured=True)]
        form = "JPEG" if number % 3 == 2 else "PNG"
        home.write(path, documents.picture(lines, size=(16, 22, 30)[number % 3], dark=number % 2 == 0, form=form))


@pytest.fixture(scope="module")
def vault() -> Iterator[tuple[RunningDaemon, Phrases]]:
    phrases = Phrases(7)
    with daemon_home({"embedder": {"provider": "off"}}) as home:
        write_vault(home, phrases)
        write_pictures(home, phrases)
        daemon = home.start()
        daemon.ready(120)
        daemon.until(lambda: daemon.client.search("x").index.current, "all is read", 600)
        yield daemon, phrases


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_phrase_is_found_in_its_place(vault: tuple[RunningDaemon, Phrases]) -> None:
    """The first hit for a phrase is the file that holds it, cited by its page."""
    daemon, phrases = vault
    wrong = misplaced(daemon, phrases.places)
    assert not wrong, f"{len(wrong)} of {len(phrases.places)}"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_phrases_in_pictures_are_found(vault: tuple[RunningDaemon, Phrases]) -> None:
    """Nineteen of twenty scanned pages and screenshots are found by a phrase on them, though it is of no language."""
    daemon, phrases = vault
    wrong = misplaced(daemon, phrases.pictured)
    assert len(wrong) <= len(phrases.pictured) // 20, f"{wrong} of {len(phrases.pictured)}"


def misplaced(daemon: RunningDaemon, places: dict[str, str]) -> dict[str, str]:
    """Return the places that a search for their phrase does not lead to, and where it leads."""
    wrong = {}
    for phrase, place in places.items():
        hits = daemon.client.search(f'"{phrase}"', limit=1).hits
        found = hits[0].citation if hits else "nothing"
        if found != place and not (place.endswith((".md", ".base")) and found.partition("#")[0] == place):
            wrong[place] = found
    return wrong
