"""What a real daemon shows of real notes: the place that matched, as a reader sees it, and its place in the file."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from tests.support.daemons import REPOSITORY, Home, RunningDaemon, daemon_home, until
from vaultrag.domain import Hit, Place
from vaultrag.markdown import file_text, read_body
from vaultrag.markdown.rendered_text import rendered
from vaultrag.retrieval.snippet import PREVIEW_CHARS
from vaultrag.text.normalize import folded
from vaultrag.text.stop_words import STOP_WORDS
from vaultrag.text.tokenize import unspaced

MARKUP = re.compile(
    r"\*\*\w|\w\*\*|\[\[[^\]]+\]\]|\]\(\S|\| ?-{3}|^> |\[![a-z]+\]|</?(?:div|span|br|img|p)\b|compressed-json|%%|<%|%>|"
    r"^\s*id:: |\s\^[\w-]+$|&(?:amp|nbsp|eacute);|[A-Za-z0-9+/]{200}|^\s*- \[.\] |<!--|~~\w|==\w+==",
    re.MULTILINE,
)
LONG = "Nothing to see in this sentence, so it goes on. "
CONSTRUCTS = [
    "**bold {}** and *thin {}*, ~~struck {}~~, ==marked {}==",
    "- [ ] open {} task ^block-7",
    "  - [x] done {} here",
    "> [!warning] Hot {}\n> **inside** {}",
    "> [!tip]\n> quoted {}",
    "| a {} | b |\n| --- | :-: |\n| [[Note\\|shown {}]] | c |",
    "[link {}](http://example.org/path_{}?q=1) and [[Some/Note#Part|alias {}]] ![[pic.png|300]]",
    '<div class="x">block {}</div><br>after &amp; &nbsp; Caf&eacute; {}',
    "%% a comment {} %% <!-- another --> seen {} <% tp.date.now() %>",
    "id:: 64b-{}\nauthor:: Jane {}\ncollapsed:: true",
    "```compressed-json\nN4Ig{}\n```\nafter {}",
    '%% kanban:settings\n```\n{{"kanban-plugin":"board"}}\n```\n%%',
    "![picture {}](data:image/png;base64,iVBORw0KGgo" + "Ab3/" * 120 + ")",
    "1. first {}\n2. second {}\n\n---\n\n## Heading **{}** ##",
    LONG * 30 + "At last **here** is {} [in](http://x.y/z) a long line. " + LONG * 30,
]


def _words(rng: random.Random) -> Iterator[str]:
    while True:
        yield "".join(rng.choice(("ba", "do", "ki", "lu", "mé", "nos", "ra", "ти", "vu", "zeß")) for _ in range(4))


@pytest.fixture(scope="module")
def served() -> Iterator[RunningDaemon]:
    """A daemon with the sample vault and a vault's worth of generated strange notes; meaning search is off."""
    rng = random.Random(3)
    words = _words(rng)
    with daemon_home({"embedder": {"provider": "off"}}) as home:
        for path in sorted((REPOSITORY / "sample-vault").rglob("*.md")):
            home.write(f"Sample/{path.relative_to(REPOSITORY / 'sample-vault')}", path.read_text("utf-8"))
        for number in range(120):
            chosen = rng.choices(CONSTRUCTS, k=rng.randint(2, 12))
            blocks = [
                re.sub(r"\{\}", lambda _: next(words), one).replace("{{", "{").replace("}}", "}") for one in chosen
            ]
            home.write(
                f"Strange/Note {number}.md", rng.choice(("", "---\ntags: [x]\n---\n")) + "\n\n".join(blocks) + "\n"
            )
        daemon = home.start()
        daemon.ready()
        yield daemon


def _text_at(path: Path, place: Place) -> str:
    return file_text(path.read_bytes()).split("\n")[place.line - 1][place.start : place.end]


def _check(home: Home, hit: Hit) -> None:
    """Check a hit's preview and its places against the file."""
    assert len(hit.preview) <= PREVIEW_CHARS
    code = hit.path.startswith("Sample/") and "```" in (home.vault / hit.path).read_text("utf-8")
    found = MARKUP.search(hit.preview)
    assert found is None or code, (hit.path, found, hit.preview)
    if hit.spans:
        assert len(hit.places) == len(hit.spans)
    for span, place in zip(hit.spans, hit.places, strict=False):
        rest = iter(unescape(_text_at(home.vault / hit.path, place)))  # perhaps with marks between
        assert all(sign in rest for sign in hit.preview[span.start : span.end]), (hit.path, hit.preview, place)
        assert hit.start_line - 20 <= place.line


def test_any_words_of_a_note_are_shown_where_they_stand(served: RunningDaemon) -> None:
    """A few words in a row, of any note as a reader sees it, are marked in its preview, and their places hold them."""
    client, rng = served.client, random.Random(3)
    notes = sorted(served.home.vault.rglob("*.md"))
    tried = 0
    for path in rng.sample(notes, 110):
        seen = rendered(read_body(path.read_bytes())[0]).text
        runs = [run for line in seen.split("\n") if len(run := re.findall(r"[^\W_]{4,}", line)) >= 3]
        if not runs:
            continue
        run = rng.choice(runs)
        start = rng.randrange(len(run) - 2)
        query = " ".join(run[start : start + 3])
        answer = client.search(query, mode="words", limit=20, include_weak=True)
        for hit in answer.hits:
            _check(served.home, hit)
        own = next((one for one in answer.hits if served.home.vault / one.path == path), None)
        if own is None:
            continue
        tried += 1
        marked = folded(" ".join(own.preview[span.start : span.end] for span in own.spans)).text
        telling = [folded(word).text for word in run[start : start + 3] if folded(word).text not in STOP_WORDS]
        # Without blanks the index says where words end; the stem of "stays" is "stai", that of "-ing" may be far off.
        telling = [word for word in telling if not unspaced(word) and not re.search(r"^\w{1,4}ys?$|ing$", word)]
        assert all(word[:4] in marked for word in telling), (path, query, marked, own.preview)
    assert tried > 60


def test_a_place_is_in_the_units_of_the_client(served: RunningDaemon) -> None:
    """In a line of one paragraph, columns count what the client counts."""
    served.home.write("Units.md", "😀 **Größe** " + LONG * 40 + "The **quinquereme** rows. " + LONG * 40 + "\n")
    (hit,) = until(lambda: served.client.search("quinquereme").hits, "the note is found")
    line = file_text((served.home.vault / "Units.md").read_bytes()).split("\n")[0]
    assert hit.places == (Place(1, line.index("quinquereme"), line.index("quinquereme") + 11),)
    assert "The quinquereme rows." in hit.preview
    assert hit.preview.startswith("The quinquereme")
    found = served.client.in_note("Units.md", "quinquereme")
    assert [match.places for match in found.matches] == [hit.places]
    assert "**" not in found.matches[0].text


def test_what_is_not_shown_still_leads_to_its_place(served: RunningDaemon) -> None:
    """A link's address is found and led to, and not shown."""
    text = LONG * 40 + "\n\nSee [the shop](https://wolframite.example/order) first.\n\n" + LONG * 40
    served.home.write("Hidden.md", text)
    (hit,) = until(lambda: served.client.search("wolframite").hits, "the note is found")
    assert "See the shop first." in hit.preview
    assert hit.spans == ()
    (place,) = hit.places
    assert place.line == hit.start_line == 3
    (match,) = served.client.in_note("Hidden.md", "wolframite").matches
    assert (match.line, match.text, match.spans) == (3, "See the shop first.", ())


def test_a_name_that_matches_is_marked(served: RunningDaemon) -> None:
    """A title is highlighted; where an alias fits better, the hit says which."""
    served.home.write("Preserves.md", "---\naliases: [Mirabelle jam]\n---\nStones go first.\n")

    def found() -> Hit | None:
        return next((hit for hit in served.client.search("mirabelle jam").hits if hit.path == "Preserves.md"), None)

    hit = until(found, "the note is found")
    assert (hit.name, hit.name_kind, hit.title_spans) == ("Mirabelle jam", "alias", ())
    assert [hit.name[span.start : span.end] for span in hit.name_spans] == ["Mirabelle", "jam"]
    (best,) = served.client.search("preserves", limit=1).hits
    assert [best.title[span.start : span.end] for span in best.title_spans] == ["Preserves"]
    assert best.name == ""
