"""Judged queries from disk: a vault with a JSON-lines file of queries, or a folder in the form of the BEIR benchmark.

BEIR (Thakur et al., NeurIPS 2021): ``corpus.jsonl[.gz]`` (``_id``, ``title``, ``text``), ``queries.jsonl[.gz]``
(``_id``, ``text``) and ``qrels/<split>.tsv`` (query-id, corpus-id, score). Its documents are laid out as notes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vaultrag.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Judged:
    """One query and what is right for it.

    Attributes:
        relevant: Vault-relative path to grade, kept as it is judged (0.5 is 0.5); higher is better, 0 and less is not
            relevant.
        answerable: Whether the vault holds an answer at all.
        without: Notes that are taken away for this query.
    """

    id: str
    query: str
    relevant: dict[str, float] = field(default_factory=dict)
    answerable: bool = True
    kind: str = ""
    without: frozenset[str] = frozenset()


def twins(judged: Iterable[Judged]) -> list[Judged]:
    """Each answerable query asked of the vault without the notes that answer it: the right answer is then none.

    Harder than questions of another field: what is left is of the same subject.
    """
    return [
        Judged(
            f"{one.id}-twin", one.query, answerable=False, kind="twin", without=one.without | frozenset(one.relevant)
        )
        for one in judged
        if one.answerable and one.relevant
    ]


def read_queries(path: Path) -> list[Judged]:
    """Read ``{"id", "query", "relevant", "answerable", "kind"}``, one JSON object a line.

    Raises:
        ConfigError: The file cannot be read, or a line or a grade in it, with its number.
    """
    judged = []
    for number, raw in _lines(path):
        try:
            judged.append(
                Judged(
                    id=str(raw["id"]),
                    query=str(raw["query"]),
                    relevant={str(name): _grade(grade) for name, grade in raw.get("relevant", {}).items()},
                    answerable=bool(raw.get("answerable", True)),
                    kind=str(raw.get("kind", "")),
                )
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"{path}, line {number}: no judged query ({error})") from error
    return judged


def read_beir(folder: Path, split: str, *, prefix: str = "") -> list[Judged]:
    """Return the judged queries of one split.

    Args:
        folder: Holds corpus, queries and qrels.
        split: Name of the file in ``qrels``, without ``.tsv``.
        prefix: Only documents whose id begins so are in the vault; judgements of others are dropped.

    Raises:
        ConfigError: There is no such split, or a line of it is no judgement, with its number.
    """
    texts = {str(raw["_id"]): raw for _, raw in _lines(_either(folder, "queries.jsonl"))}
    relevant: dict[str, dict[str, float]] = {}
    qrels = folder / "qrels" / f"{split}.tsv"
    try:
        rows = qrels.read_text("utf-8").splitlines()
    except OSError as error:
        names = ", ".join(sorted(path.stem for path in folder.glob("qrels/*.tsv"))) or "none"
        raise ConfigError(f"there is no split {split} in {folder}: {error}", hint=f"splits here: {names}") from error
    for number, row in enumerate(rows[1:], start=2):
        if not row.strip():
            continue
        try:
            query, document, written = row.split("\t")
            grade = _grade(written)
        except ValueError as error:
            raise ConfigError(f"{qrels}, line {number}: no judgement ({error})") from error
        if document.startswith(prefix):
            relevant.setdefault(query, {})[note_name(document)] = grade
    return [
        Judged(
            query,
            str(texts[query]["text"]),
            documents,
            bool(texts[query].get("metadata", {}).get("answerable", True)),
            split,
        )
        for query, documents in relevant.items()
        if query in texts
    ]


def read_foreign(path: Path) -> list[Judged]:
    """Return queries of another set, to which this vault has no answer.

    Args:
        path: A folder in the form of BEIR, or a file of queries in either form.
    """
    file = _either(path, "queries.jsonl") if path.is_dir() else path
    return [
        Judged(f"{raw.get('_id', raw.get('id', number))}-foreign", text, answerable=False, kind="foreign")
        for number, raw in _lines(file)
        if (text := str(raw.get("text", raw.get("query", ""))).strip())
    ]


def lay_out(folder: Path, vault: Path, *, prefix: str = "") -> int:
    """Write the documents of a BEIR folder as notes; returns how many. Files that are there already are kept."""
    vault.mkdir(parents=True, exist_ok=True)
    count = 0
    for _, raw in _lines(_either(folder, "corpus.jsonl")):
        identity = str(raw["_id"])
        if not identity.startswith(prefix):
            continue
        count += 1
        path = vault / note_name(identity)
        if not path.exists():
            title = " ".join(str(raw.get("title", "")).split())
            header = f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\n---\n" if title else ""
            path.write_text(f"{header}{raw['text']}\n", "utf-8")
    return count


def note_name(identity: str) -> str:
    """Return the file a document becomes."""
    plain = identity.replace("-", "").replace("_", "").isalnum() and identity.isascii() and len(identity) < 100
    return f"{identity if plain else hashlib.blake2b(identity.encode(), digest_size=12).hexdigest()}.md"


def _grade(written: object) -> float:
    """Read a grade, whole or not.

    Raises:
        ValueError: It is no finite number.
    """
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        raise ValueError(f"the grade {written!r} is no number")
    try:
        grade = float(written)
    except ValueError:
        grade = math.nan
    if not math.isfinite(grade):
        raise ValueError(f"the grade {written!r} is no number")
    return grade


def _either(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    raise ConfigError(
        f"{folder} has no {name} or {name}.gz", hint="a folder in the form of BEIR, or --vault and --queries"
    )


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        with io.StringIO(text.decode("utf-8")) as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, json.loads(line)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
