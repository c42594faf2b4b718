"""Which vault is meant, and which of its notes. Pure, but for looking whether a path exists."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from vaultrag.domain import VaultStatus
from vaultrag.errors import VaultUnknown

_CITED = re.compile(r"#L(\d+)(?:-L?(\d+))?$")


def chosen_vault(vaults: Sequence[VaultStatus], name: str, here: Path) -> VaultStatus | None:
    """Return the vault meant.

    Args:
        vaults: Those that are served.
        name: Its folder, name or id; empty: the only one, or the one around ``here``.
        here: Absolute, resolved.
    """
    if not name:
        around = [vault for vault in vaults if here.is_relative_to(vault.root)]
        if len(vaults) == 1:
            return vaults[0]
        return max(around, key=lambda vault: len(vault.root), default=None)
    folder = str(absolute(name))
    for matches in (
        [vault for vault in vaults if vault.id == name or vault.root in (folder, os.path.realpath(folder))],
        [vault for vault in vaults if vault.name == name],
    ):
        if len(matches) == 1:
            return matches[0]
    return None


def absolute(path: str) -> Path:
    """Return the path without ``~`` and relative parts; links are left for the daemon to follow."""
    return Path(os.path.abspath(_expanded(path)))  # noqa: PTH100 - Path.absolute() keeps ".."


def unclear(vaults: Sequence[VaultStatus]) -> VaultUnknown:
    """Return the error for when no vault is named and none is the obvious one."""
    if not vaults:
        return VaultUnknown("no vault is served", hint="vaultrag up ~/Notes")
    names = ", ".join(vault.name for vault in vaults)
    return VaultUnknown(f"several vaults are served ({names}): say which", hint="--vault NAME, or a folder inside it")


def near_vault(vaults: Sequence[VaultStatus], name: str) -> str:
    """Return the name of the vault that was probably meant; empty where none is near."""
    names = {vault.name.casefold(): vault.name for vault in vaults}
    near = difflib.get_close_matches(Path(name).name.casefold(), names, n=1)
    return names[near[0]] if near else ""


def not_served(name: str, near: str = "") -> VaultUnknown:
    """Return the error for a vault that is named and not served."""
    return VaultUnknown(f"no vault {name[:200]} is served", hint=f"did you mean {near}?" if near else "vaultrag vaults")


def note_path(path: str, chosen: VaultStatus | None, vaults: Sequence[VaultStatus]) -> tuple[str, str]:
    """Return a note's path as the daemon knows it, and the id of its vault (empty: not known from the path).

    A path inside the vault comes first. A file's own path, as shells complete it, is taken too, where it lies in a
    vault that is served.
    """
    file = Path(_expanded(path))
    inside = chosen is not None and not file.is_absolute() and os.path.lexists(Path(chosen.root, file))
    if inside or not os.path.lexists(file):
        return path, ""
    real = Path(os.path.realpath(file))
    for vault in sorted(vaults, key=lambda vault: len(vault.root), reverse=True):
        if real.is_relative_to(vault.root):
            return real.relative_to(vault.root).as_posix(), vault.id
    return path, ""


def cited_lines(path: str) -> tuple[str, int, int]:
    """``path#L3-L9`` as path, first and last line; 0, 0 for a path without lines."""
    cited = _CITED.search(path)
    if cited is None:
        return path, 0, 0
    first = int(cited[1])
    return path[: cited.start()], first, int(cited[2] or first)


def _expanded(path: str) -> str:
    return os.path.expanduser(path)  # noqa: PTH111 - Path.expanduser() raises where there is no such user
