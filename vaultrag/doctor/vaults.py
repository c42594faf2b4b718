"""Each vault: that it can be read, how it is watched, what is left out of it and why, and the plugin in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from vaultrag import __version__
from vaultrag.config import vault_id
from vaultrag.daemon.vaults import check_root
from vaultrag.doctor.findings import Case, Finding, ok
from vaultrag.domain import Scan, Skipped, VaultStatus
from vaultrag.errors import StoreError, VaultError
from vaultrag.install.plugin import ENABLED, installed_version, is_enabled
from vaultrag.sources import read_kinds
from vaultrag.storage.inspection import NOTES_FILE, NotesFile
from vaultrag.watcher import DiskReader
from vaultrag.watcher.file_fates import excluded_notes
from vaultrag.watcher.limits import obstacle, watch_limit, watches_in_use

SHOWN = 5

_MORE_WATCHES = "sudo sysctl fs.inotify.max_user_watches=524288  (and into /etc/sysctl.d, to stay)"
_MORE_INSTANCES = "sudo sysctl fs.inotify.max_user_instances=1024  (and into /etc/sysctl.d, to stay)"


def check(case: Case) -> Iterator[Finding]:
    if not case.roots:
        yield Finding("vaults", "warning", "none is served", "none is served", "vaultrag up ~/Notes")
    for root in case.roots:
        served = _status_of(case, root)
        try:
            check_root(root, case.places)
        except VaultError as error:
            text = f"{error.message}; what is known of it can still be searched"
            yield Finding("vault", "fault", text, f"{case.number(root)}: {type(error).__name__}", error.hint)
            continue
        reader = DiskReader(root, case.settings.notes, kinds=read_kinds(case.settings.sources))
        scan = reader.scan()
        yield _readable(case, root, scan)
        yield from _filters(case, root, reader)
        yield _excluded(case, root, reader)
        yield from _skipped(case, root, served, scan)
        yield _watches(case, root, served)
        yield _plugin(case, root)


def _status_of(case: Case, root: Path) -> VaultStatus | None:
    vaults = case.status.vaults if case.status is not None else ()
    return next((vault for vault in vaults if vault.root == str(root)), None)


def _readable(case: Case, root: Path, scan: Scan) -> Finding:
    number = case.number(root)
    if not scan.root_ok:
        text, plain = f"{root} cannot be listed as a whole", f"{number} cannot be listed"
        return Finding("vault", "fault", text, plain, f"ls -la '{root}'")
    if scan.unreadable:
        path, why = next(iter(sorted(scan.unreadable.items())))
        many = f"{len(scan.unreadable):,} notes or folders cannot be read"
        text = f"{root}: {many}, such as {path}: {why}"
        repair = "wait for your sync service, then: vaultrag reindex"
        if "permission" in why:
            repair = f"chmod -R u+rX '{root}'"
        return Finding("vault", "warning", text, f"{number}: {many}", repair)
    return ok("vault", f"{root}: {len(scan.entries):,} notes can be read", f"{number}: {len(scan.entries):,} notes")


def _filters(case: Case, root: Path, reader: DiskReader) -> Iterator[Finding]:
    for problem in reader.filter_problems:
        plain = f"{case.number(root)}: a rule or a file of rules is passed over"
        yield Finding("rules", "warning", f"{root.name}: {problem}", plain, "repair that line or file")


def _excluded(case: Case, root: Path, reader: DiskReader) -> Finding:
    found = excluded_notes(reader)
    counts = Counter(_source(reason) for reason in found.values())
    told = ", ".join(f"{count:,} {source}" for source, count in counts.most_common())
    text = f"{root.name}: {told or 'no note is left out by a rule'}"
    return ok("excluded", text, f"{case.number(root)}: {told or 'none'}", "vaultrag why NOTE" if found else "")


def _source(reason: str) -> str:
    """Return the rule's place without the rule, which may name what it hides."""
    return reason.partition(": ")[0]


def _skipped(case: Case, root: Path, served: VaultStatus | None, scan: Scan) -> Iterator[Finding]:
    if served is not None:
        listed = [*served.skipped_notes, *served.problem_notes]
    else:
        listed = _remembered(case, root) or list(scan.skipped.values())
    if not listed:
        yield ok("skipped", f"{root.name}: no note is skipped or odd", f"{case.number(root)}: none")
        return
    shown = "; ".join(f"{note.path}: {note.reason}" for note in listed[:SHOWN])
    more = f"; and {len(listed) - SHOWN:,} more" if len(listed) > SHOWN else ""
    text = f"{root.name}: {len(listed):,} notes are skipped or odd: {shown}{more}"
    plain = f"{case.number(root)}: {len(listed):,} notes are skipped or odd"
    yield Finding("skipped", "warning", text, plain, "vaultrag status --full")


def _remembered(case: Case, root: Path) -> list[Skipped]:
    folder = case.places.vault_folder(vault_id(root))
    if not (folder / NOTES_FILE).exists():
        return []
    notes = NotesFile(folder)
    try:
        return [*notes.skipped().values(), *notes.problems()]
    except StoreError:
        return []  # told of by the check of the files
    finally:
        notes.close()


def _watches(case: Case, root: Path, served: VaultStatus | None) -> Finding:
    number, limit = case.number(root), watch_limit(case.proc)
    if served is not None and served.watching.startswith("polling"):
        text = f"{root.name}: {served.watching}"
        more = _MORE_INSTANCES if "max_user_instances" in served.watching else _MORE_WATCHES
        return Finding("watching", "warning", text, f"{number}: polling", more)
    why = obstacle(str(root), case.proc) if served is None else None
    if why:
        text = f"{root.name}: {why}; until then the folder is polled"
        return Finding("watching", "warning", text, f"{number}: too few watches", _MORE_WATCHES)
    how = served.watching if served is not None and served.watching else "native events will do"
    if limit is None:
        return ok("watching", f"{root.name}: {how}", f"{number}: {how.partition(':')[0]}")
    used = watches_in_use(case.proc)
    facts = f"{used:,} of {limit:,} watches in use"
    if used * 10 > limit * 9:
        text = f"{how}, but {facts}: new folders may get none"
        return Finding("watching", "warning", f"{root.name}: {text}", f"{number}: {facts}", _MORE_WATCHES)
    return ok("watching", f"{root.name}: {how}; {facts}", f"{number}: {how.partition(':')[0]}; {facts}")


def _plugin(case: Case, root: Path) -> Finding:
    number = case.number(root)
    version = installed_version(root)
    again = f"vaultrag init --plugin --vault '{root}'"
    if version is None:
        return ok("plugin", f"{root.name}: not installed", f"{number}: not installed", again)
    if not version:
        text = "its files are incomplete or cannot be read"
        return Finding("plugin", "fault", f"{root.name}: {text}", f"{number}: {text}", again)
    if version != __version__:
        text = f"version {version}, and vaultrag is {__version__}"
        return Finding("plugin", "warning", f"{root.name}: {text}", f"{number}: {text}", again)
    if not is_enabled(root):
        text = f"version {version}, but not switched on"
        return Finding("plugin", "warning", f"{root.name}: {text}", f"{number}: {text}", ENABLED)
    return ok("plugin", f"{root.name}: version {version}", f"{number}: version {version}")
