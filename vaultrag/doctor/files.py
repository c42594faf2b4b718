"""Both database files of each vault, opened and read through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vaultrag.config import vault_id
from vaultrag.doctor.findings import Case, Finding, ok
from vaultrag.errors import StoreCorrupt, StoreError, StoreTooNew
from vaultrag.storage.inspection import NOTES_FILE, VECTORS_FILE, look


def check(case: Case) -> Iterator[Finding]:
    for root in case.roots:
        folder = case.places.vault_folder(vault_id(root))
        for name, unit in ((NOTES_FILE, "notes"), (VECTORS_FILE, "vectors")):
            yield _file(case, root, folder / name, unit)
        yield from _aside(case, root, folder)


def _file(case: Case, root: Path, path: Path, unit: str) -> Finding:
    check, whose = f"{unit} file", f"{root.name}: {path.name}"
    number = f"{case.number(root)}: {path.name}"
    try:
        found = look(path)
        if found is not None and found.schema > found.newest:
            raise StoreTooNew(f"its version {found.schema} is newer than this vaultrag ({found.newest})",
                              hint="pip install --upgrade vaultrag")  # fmt: skip
    except StoreCorrupt as error:
        # Whoever opens it next sets it aside and builds it again; nothing of the vault is lost.
        repair = "vaultrag stop && vaultrag up (it is built again; the notes themselves are safe)"
        return Finding(check, "fault", f"{whose} is damaged: {error.message}", f"{number} is damaged", repair)
    except StoreError as error:
        return Finding(check, "fault", f"{whose}: {error.message}", f"{number}: {type(error).__name__}", error.hint)
    if found is None:
        if unit == "vectors" and (case.settings.embedder.provider == "off" or case.status is not None):
            return ok(check, f"{whose}: none yet", f"{number}: none yet")
        return Finding(check, "warning", f"{whose} is not there", f"{number} is not there", f"vaultrag up '{root}'")
    facts = f"sound, {found.rows:,} {unit}, {found.bytes / 1e6:,.1f} MB, schema {found.schema}"
    if found.identity is not None:
        identity = found.identity
        facts += f", identity {identity.key} ({identity.provider} {identity.model}, {identity.dimension} numbers)"
    return ok(check, f"{whose}: {facts}", f"{number}: {facts}")


def _aside(case: Case, root: Path, folder: Path) -> Iterator[Finding]:
    aside = sorted(folder.glob("*.damaged-*"))
    if aside:
        took = sum(path.stat().st_size for path in aside) / 1e6
        text = f"{root.name}: {len(aside)} damaged files were set aside ({took:,.1f} MB), the last as {aside[-1].name}"
        plain = f"{case.number(root)}: {len(aside)} damaged files were set aside"
        yield Finding("set aside", "warning", text, plain, f"rm '{folder}'/*.damaged-*  (once you do not need them)")
