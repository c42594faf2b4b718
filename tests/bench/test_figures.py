"""What the benchmark says of its measurements, and the vaults it measures."""

from __future__ import annotations

import json
import random
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from tests.bench import comparing, growth, subjects, vaults
from tests.bench.hashing import PASSAGE_WORDS, HashVectors
from tests.bench.queries import KINDS, some
from tests.bench.rows import Report, Row, rows_of
from tests.bench.stage import SUBJECTS
from tests.bench.statistics import exponent, last_exponent, quantiles
from vaultrag.domain import EmbeddedNote, NoteText


def test_quantiles() -> None:
    """The median and the tail are values that were measured, or lie between two."""
    figures = quantiles([float(value) for value in range(1, 102)])
    assert figures == pytest.approx({"p50": 51.0, "p95": 96.0, "p99": 100.0}, abs=1.0)


def test_an_exponent_is_that_of_the_power_law() -> None:
    """What grows as the square of the vault has exponent 2, what does not grow has 0, and one size tells nothing."""
    sizes = (1_000, 10_000, 100_000)
    assert exponent({notes: 3e-6 * notes**2 for notes in sizes}) == pytest.approx(2.0)
    assert exponent(dict.fromkeys(sizes, 7.0)) == pytest.approx(0.0)
    assert exponent({1_000: 1.0}) is None


def test_a_constant_cost_does_not_hide_growth() -> None:
    """The last step shows what the line through all sizes smooths over."""
    points = {notes: 50.0 + 1e-8 * notes**2 for notes in (1_000, 10_000, 100_000)}
    fitted, last = exponent(points), last_exponent(points)
    assert fitted is not None
    assert last is not None
    assert fitted < 0.3 < last


def test_what_grows_faster_than_the_vault_is_flagged() -> None:
    """A figure above linear stands out in the table, and one below it does not."""
    rows = [Row(notes, "steep", {"p50": notes**1.2}, "ms") for notes in (1_000, 10_000)]
    rows += [Row(notes, "flat", {"value": notes**0.5}, "s") for notes in (1_000, 10_000)]
    rows += [Row(notes, "a ratio", {"value": notes}, "times", grows=False) for notes in (1_000, 10_000)]
    rows += [Row(1_000, "absent", {}, "", cannot="not installed")]
    found = {one.name: one.steep for one in growth.growths(rows)}
    assert found == {"steep": True, "flat": False}
    assert growth.table(rows).count("ABOVE LINEAR") == 1


def test_two_runs_are_compared(tmp_path: Path) -> None:
    """The table says by how much a row changed, what is missing, and in what the two runs are not alike."""
    machine = {"processor": "one", "cores": 2, "system": "s", "python": "3", "sqlite": "3"}
    old, new = Report(), Report()
    old.rows = [Row(10, "search", {"p50": 4.0, "p95": 8.0}, "ms"), Row(10, "gone", {"value": 1.0}, "s")]
    new.rows = [Row(10, "search", {"p50": 2.0, "p95": 6.0}, "ms"), Row(10, "none", {}, "", cannot="no")]
    files = []
    for name, report, cores in (("old", old, 2), ("new", new, 4)):
        file = tmp_path / f"{name}.json"
        kept = {"machine": {**machine, "cores": cores}, "options": {"dimension": 384}, "rows": report.plain()}
        file.write_text(json.dumps(kept), "utf-8")
        files.append(file)
    text = comparing.compare(*files)
    assert " 0.50   0.75 ms" in text
    assert "gone" in text
    assert "cores was 2, and is 4 now" in text


def test_rows_survive_their_file() -> None:
    """A row that is written and read again is the same row."""
    report = Report([Row(10, "search", {"p50": 1.0}, "ms", count=9, cpu=0.5, bound=0.1, bound_is="memory"),
                     Row(0, "peer", {}, "", cannot="not installed")])  # fmt: skip
    assert rows_of(json.loads(json.dumps({"rows": report.plain()}))) == report.rows


def test_lengths_are_as_promised() -> None:
    """The median note has 250 words, and one in twenty more than 2,000."""
    source = random.Random(1)
    lengths = [vaults.length(source) for _ in range(40_000)]
    assert median(lengths) == pytest.approx(250, rel=0.03)
    assert sum(length > 2_000 for length in lengths) / len(lengths) == pytest.approx(0.05, abs=0.005)


def test_a_note_has_the_words_that_were_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Headings, links and ends of sentences are among the words that were drawn, not beside them."""
    monkeypatch.setattr(vaults, "length", lambda source: source.choice((5, 250, 2_001)))
    counts = {
        len(vaults.body(text).replace("## ", "").replace("[[note ", "[[").split())
        for number, text in enumerate(vaults.texts(60))
        if number % vaults.FOREIGN_EVERY != vaults.FOREIGN_EVERY - 1
    }
    assert counts == {5, 250, 2_001}


def test_a_vault_is_the_same_each_time(tmp_path: Path) -> None:
    """One seed makes one vault, with frontmatter, tags, links and notes in other scripts."""
    first, second = list(vaults.texts(70)), list(vaults.texts(70))
    assert first == second
    assert all(text.startswith("---\ntitle: ") and "\ntags: [" in text for text in first)
    assert any("\u4e00" <= char <= "\u9fff" for char in first[vaults.FOREIGN_EVERY - 1])
    paths = vaults.build(tmp_path, 70)
    assert [(tmp_path / path).read_text("utf-8") for path in paths] == first


@pytest.mark.parametrize("kind", KINDS)
def test_queries_of_each_kind(kind: str) -> None:
    """Every kind makes queries, the same ones each time, and hardly any twice."""
    asked = some(kind, 100, 40)
    assert asked == some(kind, 100, 40)
    assert all(one.text.strip() for one in asked)
    assert len({one.text for one in asked}) > 20


def test_hashed_vectors() -> None:
    """Vectors are of length 1, one a passage and one for the note, and near texts have near ones."""
    vectors = HashVectors(96)
    words = [f"word{number}" for number in range(2 * PASSAGE_WORDS + 5)]
    made = vectors.embed_notes([NoteText("t", " ".join(words)), NoteText("", "")])
    assert all(isinstance(one, EmbeddedNote) for one in made)
    first = made[0]
    assert isinstance(first, EmbeddedNote)
    assert first.passage_vectors is not None
    assert first.passage_vectors.shape == (3, 96)
    assert np.linalg.norm(first.passage_vectors, axis=1) == pytest.approx(1.0)
    near, far = vectors.embed_query(" ".join(words[:20])), vectors.embed_query("something else altogether")
    assert near @ first.passage_vectors[0] > 0.4 > abs(far @ first.passage_vectors[0])


def test_every_subject_says_what_it_is() -> None:
    """Each subject has a sentence for the help, and its name is its own."""
    subjects.load()
    assert len(SUBJECTS) >= 10
    assert all(subject.about.endswith((".", ":")) or len(subject.about) > 30 for subject in SUBJECTS.values())
