"""How the settings are written out."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from vaultrag.client.settings_text import as_toml, explained
from vaultrag.config import EmbedderSettings, NoteSettings, Settings, parse

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(TEXTS, st.lists(TEXTS, max_size=3), st.none() | TEXTS, st.floats(0, 1e9))
def test_settings_written_out_read_back_as_they_were(
    host: str, ignore: list[str], prefix: str | None, seconds: float
) -> None:
    """What ``config`` prints is a settings file that means the same."""
    settings = Settings(
        embedder=EmbedderSettings(host=host, document_prefix=prefix, timeout_s=seconds),
        notes=NoteSettings(ignore=tuple(ignore), obsidian_excluded=False),
    )
    assert parse(tomllib.loads(as_toml(settings))) == settings


def test_a_commented_file_changes_nothing() -> None:
    """The file to begin with holds every setting, and sets none."""
    text = as_toml(Settings(), commented=True)
    assert parse(tomllib.loads(text)) == Settings()
    for name, table in tables():
        assert f"[{name}]" in text
        for setting in fields(table):
            assert is_dataclass(getattr(table, setting.name)) or f"# {setting.name} = " in text


def test_every_setting_is_explained() -> None:
    """No setting is printed without the sentence that stands below it in the source."""
    for _, table in tables():
        texts = explained()[type(table).__name__]
        for setting in fields(table):
            assert is_dataclass(getattr(table, setting.name)) or texts.get(setting.name), setting.name


def tables() -> Iterator[tuple[str, Any]]:
    """Every table of the settings file, those within others too."""
    for section in fields(Settings):
        table: Any = getattr(Settings(), section.name)
        yield section.name, table
        for inner in fields(table):
            if is_dataclass(below := getattr(table, inner.name)):
                yield f"{section.name}.{inner.name}", below
