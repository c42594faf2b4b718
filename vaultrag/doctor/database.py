"""Python, and the database with its extension, both really used."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator

from vaultrag import __version__
from vaultrag.build import build_id
from vaultrag.doctor.findings import Case, Finding, ok
from vaultrag.errors import StoreError
from vaultrag.storage.inspection import try_engine


def check(case: Case) -> Iterator[Finding]:
    """Yield the program, then what it stands on."""
    text = f"vaultrag {__version__}, build {build_id()}, Python {platform.python_version()}"
    yield ok("program", f"{text} ({sys.prefix})", text)
    try:
        engine = try_engine()
    except StoreError as error:
        yield Finding("database engine", "fault", error.message, "the database engine cannot be used", error.hint)
        return
    yield ok("database engine", f"SQLite {engine.sqlite}, apsw {engine.apsw}, sqlite-vec {engine.vec}: both ways found")
