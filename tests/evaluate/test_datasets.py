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
