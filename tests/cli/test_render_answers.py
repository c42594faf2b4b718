"""How an answer looks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.cli.output import draw
from vaultrag.cli.render.answers import answer_lines, hit_lines, preview_lines, state_line, widening
from vaultrag.domain import Answer, Evidence, Hit, NotePath, Reason, Span, State
from vaultrag.wording import arms, count, duration, one_line, safe


def evidence(arm: str) -> Evidence:
    return Evidence(arm, 1, 1.0, 0.5, 0.5)


HIT = Hit(
    path=NotePath("Pumps/Seal [old].md"),
    title="Seal [bold]replacement[/bold] :pump:",
    score=0.873,
    start_line=12,
    preview="The seal comes off\nbefore the impeller.",
    spans=(Span(4, 8),),
    heading="Order",
    tags=("pump",),
    evidence=(evidence("words"), evidence("meaning"), evidence("passages")),
)


def test_a_hit_shows_rank_title_score_arms_place_heading_tags_and_preview() -> None:
    """A hit's first line says what and how sure, its second where, the rest shows the note."""
    first, place, preview = [line.plain for line in hit_lines(3, HIT, 80)]
    assert first.startswith(" 3 Seal [bold]replacement[/bold] :pump:")
    assert first.endswith("0.87  words+meaning")
    assert len(first) == 80
    assert place.strip() == "Pumps/Seal [old].md:12 · Order · #pump"
    assert preview.strip() == "The seal comes off before the impeller."


def test_matches_are_bold() -> None:
    """What matches in a preview is bold, and only that."""
    (line,) = preview_lines(HIT.preview, HIT.spans, 80)
    assert [line.plain[span.start : span.end] for span in line.spans] == ["seal"]


def test_a_passage_counts_as_meaning() -> None:
    """The arms are named once each, in a word that a person knows."""
    assert arms([evidence("passages"), evidence("names"), evidence("meaning")]) == "meaning+names"


def test_a_preview_has_three_lines_with_the_match_among_them() -> None:
    """A long preview is cut to three lines around the first match, with dots where more is."""
    text = "filler words " * 60 + "needle " + "more words " * 60
    at = text.index("needle")
    lines = preview_lines(text, (Span(at, at + 6),), 60)
    assert len(lines) == 3
    assert any("needle" in line.plain for line in lines)
    assert lines[0].plain.startswith("… ")
    assert lines[-1].plain.endswith(" …")


@given(st.text(max_size=300), st.integers(20, 120))
def test_no_preview_is_wider_than_the_window(text: str, width: int) -> None:
    """Whatever a note holds, its preview keeps to the width and cannot steer the terminal."""
    for line in preview_lines(text, (Span(0, min(3, len(text))),), width):
        assert line.cell_len <= max(width, 22)
        assert "\x1b" not in line.plain


def test_a_path_is_never_cut(capsys: pytest.CaptureFixture[str]) -> None:
    """A path stays whole on its line, however narrow the window, so that it can be copied."""
    hit = Hit(NotePath("a/" * 40 + "note.md"), "note", 1.0, start_line=7)
    draw(*hit_lines(1, hit, 40))
    assert f"   {hit.path}:7" in capsys.readouterr().out.splitlines()


def test_an_escape_sequence_in_a_title_is_defused() -> None:
    """A note cannot send commands to the terminal."""
    hit = Hit(NotePath("a.md"), "evil\x1b[2Jtitle", 1.0)
    assert "\x1b" not in "".join(line.plain for line in hit_lines(1, hit, 80))


@pytest.mark.parametrize(
    ("query", "mode", "advice"),
    [
        ("", "hybrid", 'vaultrag search "some words"'),
        ("pump tag:#x", "hybrid", "without the filters and exclusions"),
        ("pump -seal", "hybrid", "without the filters and exclusions"),
        ('"exact words"', "hybrid", "without the quotes"),
        ("pump", "words", "--mode hybrid"),
        ("pump seal", "hybrid", "fewer or other words"),
        ("pump", "hybrid", "another word"),
    ],
)
def test_an_empty_answer_says_what_could_widen_it(query: str, mode: str, advice: str) -> None:
    """Where nothing is found, what narrows the query most is named."""
    answer = Answer(query, State.FULL, mode=mode)  # type: ignore[arg-type]
    assert widening(answer) == advice
    lines = [line.plain for line in answer_lines(answer, 80)]
    assert lines[0].startswith("nothing found")
    assert advice in lines[1]


def test_an_answer_that_is_not_full_says_so_in_one_line_at_its_end() -> None:
    """State, reason and remedy stand in the last line."""
    reason = Reason(State.KEYWORD_ONLY, "Ollama does not answer", "ollama serve")
    answer = Answer("pump", State.KEYWORD_ONLY, (HIT,), (reason,))
    *_, last = answer_lines(answer, 80)
    assert last.plain == "words only: Ollama does not answer (try: ollama serve)"
    assert state_line(Answer("pump", State.FULL, (HIT,))) is None


def test_numbers_and_times_read_as_words() -> None:
    """Counts have their noun, times one unit."""
    assert [count(1, "note"), count(1234, "note")] == ["1 note", "1,234 notes"]
    assert [duration(s) for s in (0.2, 59, 60, 5400, 90_000)] == ["0 s", "59 s", "1 min", "2 h", "1 d"]


@given(st.text())
def test_making_text_safe_moves_nothing(text: str) -> None:
    """Positions in a text stay valid when it is made fit to print."""
    assert len(safe(text)) == len(text)
    assert len(one_line(text)) == len(text)
    assert "\n" not in one_line(text)
