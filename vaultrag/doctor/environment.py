"""Where vaultrag keeps its own files: settings, modes, room on the disk; and the clock."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from vaultrag.doctor.findings import Case, Finding, ok

LOW_BYTES, SCARCE_BYTES = 1_000_000_000, 100_000_000
AHEAD_S = 86_400

_OURS = ("*.db", "*.db-wal", "*.db-shm", "*.json", "*.log", "history", "token", "daemon.lock")


def check(case: Case) -> Iterator[Finding]:
    yield _settings(case)
    yield from _modes(case)
    yield _room(case)
    yield _clock(case)


def _settings(case: Case) -> Finding:
    file = case.places.config_file
    if not file.exists():
        return ok("settings", f"there is no {file}: the defaults hold", "no settings file: the defaults hold")
    return ok("settings", f"{file} can be read", "the settings file can be read", "vaultrag config")


def _modes(case: Case) -> Iterator[Finding]:
    """Everything of vaultrag's own is its user's own."""
    if not hasattr(os, "getuid"):
        return
    open_to_others = [(path, mode) for path, mode in _private(case) if stat.S_IMODE(path.lstat().st_mode) & 0o077]
    foreign = [path for path, _ in _private(case) if path.lstat().st_uid not in (os.getuid(), 0)]
    for path in foreign:
        yield Finding("modes", "fault", f"{path} belongs to another user", "a file of vaultrag's is another user's",
                      f"sudo chown -R $(id -u) '{path}'")  # fmt: skip
    for path, mode in open_to_others:
        text = f"{path} is open to other users ({stat.filemode(path.lstat().st_mode)})"
        plain = f"a {'folder' if path.is_dir() else 'file'} of vaultrag's is open to other users"
        repair = f"chmod {mode:o} '{path}'"
        yield Finding("modes", "warning", text, plain, repair, partial(path.chmod, mode))
    if not open_to_others and not foreign:
        yield ok("modes", "index, settings and socket are open to nobody else")


def _private(case: Case) -> Iterator[tuple[Path, int]]:
    places = case.places
    folders = [places.data, places.socket.parent]
    if places.data.is_dir():
        folders += [path for path in sorted(places.data.iterdir()) if path.is_dir() and not path.is_symlink()]
    for folder in dict.fromkeys(folders):
        if folder.is_dir():
            yield folder, 0o700
            for pattern in _OURS:
                yield from ((path, 0o600) for path in sorted(folder.glob(pattern)) if path.is_file())
    if places.socket.is_socket():
        yield places.socket, 0o600


def _room(case: Case) -> Finding:
    folder = next(path for path in (case.places.data, *case.places.data.parents) if path.exists())
    free = shutil.disk_usage(folder).free
    used = sum(path.stat().st_size for path in case.places.data.rglob("*.db") if path.is_file())
    plain = f"{free / 1e9:,.1f} GB free, the index takes {used / 1e6:,.1f} MB"
    text = f"{plain} ({folder})"
    repair = f"make room on the disk of {folder}"
    if free < SCARCE_BYTES:
        return Finding("disk", "fault", f"hardly any room is left: {text}", f"hardly any room is left: {plain}", repair)
    if free < max(LOW_BYTES, 2 * used):  # vectors of another model are made beside the old ones
        return Finding("disk", "warning", f"little room is left: {text}", f"little room is left: {plain}", repair)
    return ok("disk", text, plain)


def _clock(case: Case) -> Finding:
    """Dates decide what is new: files from the future stay so until the clock has passed them."""
    newest = max(
        (path.stat().st_mtime_ns for path in case.places.data.rglob("*") if path.is_file()),
        default=0,
    )
    ahead_s = (newest - case.now_ns) / 1e9
    now = datetime.fromtimestamp(case.now_ns / 1e9, UTC)
    if ahead_s > AHEAD_S or now.year < 2025:
        text = f"it says {now:%Y-%m-%d %H:%M} UTC, which is before the index was last written"
        return Finding("clock", "warning", text, text, "timedatectl set-ntp true")
    return ok("clock", f"{now:%Y-%m-%d %H:%M} UTC")
