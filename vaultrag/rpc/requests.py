"""The calls that both clients make: parameters in, the daemon's values out. Written once, for either."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from vaultrag.domain import (
    Answer,
    Capacity,
    Catalogue,
    DaemonStatus,
    Diagnosis,
    Explanation,
    InNote,
    Mode,
    NoteView,
    Recent,
    Rules,
    Shape,
    TagCount,
    Triggered,
    VaultStatus,
)
from vaultrag.errors import VaultragError
from vaultrag.rpc.protocol import Reply, error_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A method, its parameters, and the type of its result."""

    method: str
    params: dict[str, Any]
    result: Any

    def read(self, value: object) -> T:
        """The result, from plain JSON values.

        Raises:
            VaultragError: The daemon sent something else.
        """
        try:
            read: T = msgspec.convert(value, self.result)
        except msgspec.ValidationError as error:
            raise VaultragError(f"the daemon's answer to {self.method} cannot be read: {error}") from error
        return read


@dataclass(frozen=True, slots=True)
class Delivery:
    """How an answer is to be cut for its reader; what is not said is not sent, for daemons that know nothing of it."""

    shape: Shape | None = None
    reader: Capacity | None = None
    max_tokens: int = 0

    @property
    def params(self) -> dict[str, Any]:
        said = {"shape": self.shape, "reader": self.reader, "max_tokens": self.max_tokens}
        return {name: value for name, value in said.items() if value}


def search(
    query: str,
    limit: int,
    mode: Mode,
    typing: bool,
    preview_chars: int,
    partial: bool,
    vault: str,
    delivery: Delivery | None = None,
    include_weak: bool = False,
) -> Call[Answer]:
    params: dict[str, Any] = {
        "query": query,
        "limit": limit,
        "mode": mode,
        "typing": typing,
        "preview_chars": preview_chars,
        "partial": partial,
        "vault": vault,
    }
    if include_weak:
        params["include_weak"] = True
    return Call("search", params | (delivery.params if delivery is not None else {}), Answer)


def explain(query: str, path: str, limit: int, mode: Mode, vault: str) -> Call[Explanation]:
    params = {"query": query, "path": path, "limit": limit, "mode": mode, "vault": vault}
    return Call("explain", params, Explanation)


def why(path: str, vault: str) -> Call[Diagnosis]:
    return Call("why", {"path": path, "vault": vault}, Diagnosis)


def related(path: str, limit: int, linked: bool, vault: str, folder: str = "") -> Call[Answer]:
    params = {"path": path, "limit": limit, "linked": linked, "folder": folder, "vault": vault}
    return Call("related", params, Answer)


def in_note(path: str, query: str, limit: int, mode: Mode, vault: str) -> Call[InNote]:
    return Call("in_note", {"path": path, "query": query, "limit": limit, "mode": mode, "vault": vault}, InNote)


def get(
    path: str, first_line: int, last_line: int, heading: str, vault: str, delivery: Delivery | None = None
) -> Call[NoteView]:
    params = {"path": path, "first_line": first_line, "last_line": last_line, "heading": heading, "vault": vault}
    return Call("get", params | (delivery.params if delivery is not None else {}), NoteView)


def rules(max_tokens: int | None, vault: str) -> Call[Rules]:
    return Call("rules", {"max_tokens": max_tokens, "vault": vault}, Rules)


def recent(limit: int, folder: str, tag: str, max_tokens: int, vault: str) -> Call[Recent]:
    params = {"limit": limit, "folder": folder, "tag": tag, "max_tokens": max_tokens, "vault": vault}
    return Call("recent", params, Recent)


def catalogue(folder: str, tag: str, limit: int, max_tokens: int, vault: str) -> Call[Catalogue]:
    params = {"folder": folder, "tag": tag, "limit": limit, "max_tokens": max_tokens, "vault": vault}
    return Call("catalogue", params, Catalogue)


def triggers(tool: str, path: str, command: str, session: str, max_tokens: int | None, vault: str) -> Call[Triggered]:
    params = {"tool": tool, "path": path, "command": command, "session": session, "max_tokens": max_tokens}
    return Call("triggers", params | {"vault": vault}, Triggered)


def tags(vault: str) -> Call[list[TagCount]]:
    return Call("tags", {"vault": vault}, list[TagCount])


def status(full: bool, files: bool = False) -> Call[DaemonStatus]:
    return Call("status", {"full": full} | ({"files": True} if files else {}), DaemonStatus)


def reindex(vault: str) -> Call[VaultStatus]:
    return Call("reindex", {"vault": vault}, VaultStatus)


def add_vault(path: Path) -> Call[VaultStatus]:
    return Call("add_vault", {"path": str(path)}, VaultStatus)


def result_of(reply: Reply) -> Any:
    """The result, or the daemon's exception, raised."""
    if reply.error is not None:
        raise error_of(reply.error)
    return reply.result
