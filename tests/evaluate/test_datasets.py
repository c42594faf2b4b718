"""Judged sets on disk: both forms, and what is wrong in them said with the line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from vaultrag.errors import ConfigError
from vaultrag.evaluate.datasets import lay_out, note_name, read_beir, read_queries


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """A BEIR folder of two documents, one of them packed."""
    folder = tmp_path / "set"
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": "d/1", "title": 'A "title"', "text": "Some text."}, {"_id": "2", "title": "", "text": "Else."}]
    with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(json.dumps(document) for document in documents))
    queries = [{"_id": "q", "text": "what"}, {"_id": "r", "text": "not", "metadata": {"answerable": False}}]
    (folder / "queries.jsonl").write_text("\n".join(json.dumps(query) for query in queries), "utf-8")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td/1\t1\nr\t2\t1\n", "utf-8")
    return folder


def test_beir_documents_become_notes(beir: Path, tmp_path: Path) -> None:
    """Each document is a note with its title in the frontmatter, under a name that any disk takes."""
    vault = tmp_path / "vault"
    assert lay_out(beir, vault) == 2
    assert "/" not in note_name("d/1")
    assert (vault / note_name("d/1")).read_text("utf-8") == '---\ntitle: "A \\"title\\""\n---\nSome text.\n'
    assert (vault / "2.md").read_text("utf-8") == "Else.\n"


def test_beir_judgements_point_at_notes(beir: Path) -> None:
    """Judgements name the notes, and a query that has no answer is marked so."""
    answerable, unanswerable = read_beir(beir, "test")
    assert answerable.relevant == {note_name("d/1"): 1}
    assert answerable.answerable
    assert not unanswerable.answerable


def test_an_unknown_split_names_those_that_exist(beir: Path) -> None:
    """A split that is not there is an error that lists the splits."""
    with pytest.raises(ConfigError) as caught:
        read_beir(beir, "dev")
    assert "test" in caught.value.hint


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    """A line that is no judged query is an error with its number."""
    path = tmp_path / "queries.jsonl"
    path.write_text('{"id": "1", "query": "a"}\n{"id": "2"}\n', "utf-8")
    with pytest.raises(ConfigError, match="line 2"):
        read_queries(path)


def test_a_grade_stays_as_it_is_judged(beir: Path, tmp_path: Path) -> None:
    """Half a grade is half a grade, in both forms, and counts as half a gain."""
    path = tmp_path / "queries.jsonl"
    path.write_text('{"id": "1", "query": "a", "relevant": {"A.md": 0.5, "B.md": 2}}\n', "utf-8")
    assert read_queries(path)[0].relevant == {"A.md": 0.5, "B.md": 2.0}
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td/1\t0.5\n", "utf-8")
    assert read_beir(beir, "test")[0].relevant == {note_name("d/1"): 0.5}


@pytest.mark.parametrize("grade", ['"high"', "null", "true", "NaN", "[1]"])
def test_an_unreadable_grade_is_named(beir: Path, tmp_path: Path, grade: str) -> None:
    """A grade that is no number is an error with file and line, in both forms."""
    path = tmp_path / "queries.jsonl"
    path.write_text(
        f'{{"id": "1", "query": "a"}}\n{{"id": "2", "query": "b", "relevant": {{"A.md": {grade}}}}}\n', "utf-8"
    )
    with pytest.raises(ConfigError, match=r"queries\.jsonl, line 2"):
        read_queries(path)
    (beir / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\nq\td/1\t1\nq\t2\t{grade}\n", "utf-8")
    with pytest.raises(ConfigError, match=r"test\.tsv, line 3"):
        read_beir(beir, "test")
