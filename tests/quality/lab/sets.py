"""Every judged set as a folder of notes with judged queries."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Literal

from tests.quality.buried.build import build
from tests.quality.lab.documentation import documentation
from tests.quality.lab.known_items import known_items
from tests.quality.lab.models import MODELS
from tests.quality.lab.real_vault import ARCHIVE, unpack
from vaultrag.config import EmbedderSettings, Settings
from vaultrag.errors import ConfigError
from vaultrag.evaluate.datasets import Judged, lay_out, read_beir, read_queries

QUALITY = Path(__file__).parents[1]
SAMPLE_VAULT = QUALITY.parents[1] / "sample-vault"
SEED = 13
FOREIGN = 100
"""Queries of another set that each English vault is asked as well."""

Language = Literal["english", "auto"]
Notes = tuple[Path, list[Judged]]


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """One set, laid out on disk.

    Attributes:
        vault: The folder of notes.
        home: Where its index is kept; sets with the same vault share it.
        foreign: Queries of another set, to which this vault has no answer.
        other: One of ``models.MODELS`` in place of the builtin ones.
    """

    name: str
    vault: Path
    home: Path
    judged: list[Judged]
    foreign: list[Judged]
    model: Language = "auto"
    other: str = ""

    @property
    def settings(self) -> Settings:
        """The builtin models, the same on every machine."""
        return Settings(embedder=EmbedderSettings(provider="builtin", builtin=self.model))


@dataclass(frozen=True, slots=True)
class _Beir:
    folder: str
    splits: tuple[str, ...]
    prefix: str = ""

    def __call__(self, data: Path, cache: Path) -> Notes:
        vault = cache / "vaults" / f"{self.folder}{'-' + self.prefix.strip('-') if self.prefix else ''}"
        judged = [one for split in self.splits for one in read_beir(data / self.folder, split, prefix=self.prefix)]
        lay_out(data / self.folder, vault, prefix=self.prefix)
        return vault, judged


def _own(data: Path, cache: Path) -> Notes:
    return SAMPLE_VAULT, read_queries(QUALITY / "sample-vault.jsonl")


def _natural(data: Path, cache: Path) -> Notes:
    return QUALITY / "natural" / "vault", read_queries(QUALITY / "natural" / "queries.jsonl")


def _buried(data: Path, cache: Path) -> Notes:
    folder = cache / "vaults" / "buried"
    if not (folder / "queries.jsonl").exists():
        queries = build(folder / "vault")
        (folder / "queries.jsonl").write_text("".join(f"{json.dumps(query)}\n" for query in queries), "utf-8")
    return folder / "vault", read_queries(folder / "queries.jsonl")


def _documentation(data: Path, cache: Path) -> Notes:
    vault = cache / "vaults" / "real"
    return vault, documentation(unpack(data, vault))


def _known_items(data: Path, cache: Path) -> Notes:
    vault = cache / "vaults" / "real"
    return vault, known_items(unpack(data, vault))


LOADERS: dict[str, Callable[[Path, Path], Notes]] = {
    "own": _own,
    "natural": _natural,
    "buried": _buried,
    "documentation": _documentation,
    "known-item": _known_items,
    "clapnq": _Beir("clapnq-dev", ("test", "near-miss")),
    "covidqa": _Beir("covidqa", ("test",)),
    "scifact": _Beir("scifact", ("test",)),
    "qmsum": _Beir("qmsum", ("test", "val")),
    "xquad-en": _Beir("xquad", ("en",), "en-"),
    "xquad-de": _Beir("xquad", ("de",), "de-"),
    "xquad-zh": _Beir("xquad", ("zh",), "zh-"),
    "xquad-ru": _Beir("xquad", ("ru",), "ru-"),
    **{f"xquad-{code}": _Beir("xquad", (code,), f"{code}-") for code in ("ar", "es", "th", "tr", "el", "hi", "vi")},
    "xquad-de-en": _Beir("xquad", ("de-to-en",), "en-"),
    "xquad-zh-en": _Beir("xquad", ("zh-to-en",), "en-"),
    "xquad-ru-en": _Beir("xquad", ("ru-to-en",), "en-"),
    "xquad-es-en": _Beir("xquad", ("es-to-en",), "en-"),
    "cmrc": _Beir("cmrc2018-dev", ("test",)),
}
"""Sets by name; ``NAME+e`` is the same set read by the English model alone."""

PUBLIC = ("clapnq", "covidqa", "scifact", "qmsum", "xquad-en", "xquad-de", "xquad-zh", "xquad-ru", "cmrc")
"""Sets that others made, for one macro average of their own."""

_SHARED = {
    **{f"xquad-{code}-en": "xquad-en" for code in ("de", "zh", "ru", "es")},
    "known-item": "documentation",
}
_COMMITTED = ("own", "natural", "buried")
_STRANGERS = {
    "clapnq": ("natural",),
    "xquad-en": ("natural",),
    "natural": ("xquad-de", "xquad-zh", "xquad-ru"),  # beside those of its own
    "xquad-zh": ("cmrc",),
    "cmrc": ("xquad-zh",),
}
"""The sets that foreign queries come from; CLAP-NQ where none is named and the notes are English."""


def load(name: str, data: Path | None, cache: Path) -> JudgedSet:
    """Lay a set out below ``cache`` and read its queries.

    Args:
        name: A key of ``LOADERS``, with ``+e`` for the English model alone, ``@MODEL`` for another one.
        data: The folder of the public sets; the committed ones need none.
        cache: Keeps vaults and indexes.

    Raises:
        ConfigError: There is no such set, or its data is not there.
    """
    named, _, other = name.partition("@")
    base, _, model = named.partition("+")
    if base not in LOADERS or model not in ("", "e") or other not in ("", *MODELS):
        raise ConfigError(f"there is no set {name}", hint=f"sets: {', '.join(LOADERS)}")
    if not available(name, data):
        raise ConfigError(f"the data of {name} is not there", hint="--data DIR, or VAULTRAG_JUDGED_DATA")
    folder = data or Path()
    vault, judged = LOADERS[base](folder, cache)
    if base == "natural":
        judged = [
            replace(one, answerable=one.answerable and one.kind not in ("near-miss", "foreign")) for one in judged
        ]
    language: Language = "english" if model else "auto"
    home = cache / "indexes" / (_SHARED.get(base, base) + (f"@{other}" if other else ""))
    return JudgedSet(name, vault, home, judged, _foreign(base, data, cache), language, other)


def available(name: str, data: Path | None) -> bool:
    """Whether the set is committed or its data is in the folder."""
    base = name.partition("@")[0].partition("+")[0]
    loader = LOADERS[base]
    if base in _COMMITTED:
        return True
    place = loader.folder if isinstance(loader, _Beir) else ARCHIVE
    return data is not None and (data / place).exists()


def _foreign(base: str, data: Path | None, cache: Path) -> list[Judged]:
    if base not in _STRANGERS and base.startswith("xquad-"):
        return []  # of these languages there are no others
    chosen: list[Judged] = []
    for stranger in _STRANGERS.get(base, ("clapnq",)):
        if available(stranger, data):
            pool = [one for one in LOADERS[stranger](data or Path(), cache)[1] if one.answerable and one.relevant]
            chosen += Random(SEED).sample(pool, min(FOREIGN, len(pool)))
    return [Judged(f"{one.id}-foreign", one.query, answerable=False, kind="foreign") for one in chosen]


def export(one: JudgedSet, more: list[Judged], path: Path) -> None:
    """Write a set's queries for a process that runs another version of the code, with the notes each goes without."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps({"id": judged.id, "query": judged.query, "without": sorted(judged.without)}, ensure_ascii=False)
        for judged in (*one.judged, *one.foreign, *more)
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
