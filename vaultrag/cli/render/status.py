"""The daemon's status, drawn: a block for the daemon, one for each vault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from vaultrag.domain import DaemonStatus, EmbedderStatus, FileCount, Skipped, VaultStatus
from vaultrag.wording import count, duration, one_line

_COLOURS = {
    "ready": "green",
    "idle": "green",
    "away": "red",
    "broken": "red",
    "refused": "red",
    "down": "red",
    "missing": "red",
}

MOST_KINDS = 6
"""Kinds of file named in one line."""

_NO_VECTORS = ("off", "down", "missing", "broken", "waiting")


def status_blocks(status: DaemonStatus, *, full: bool) -> Iterator[RenderableType]:
    """Everything, for a person. ``full`` lists skipped and odd notes."""
    yield Panel(
        Group(*_daemon_lines(status)),
        title=f"vaultrag {status.version}{f' (build {status.build})' if status.build else ''}",
        title_align="left",
    )
    for vault in status.vaults:
        lines = [*_vault_lines(vault), *(_listed(vault) if full else ())]
        yield Panel(Group(*lines), title=Text(one_line(vault.name)), title_align="left")
    if not status.vaults:
        yield Text("no vault is served; add one: vaultrag up ~/Notes")


def summary(status: DaemonStatus, vaults: Sequence[VaultStatus]) -> str:
    """Return the end of the output of ``up``: one or two lines a vault."""
    if not vaults:
        return f"vaultrag runs (process {status.pid}), but serves no vault yet; add one: vaultrag up ~/Notes\n"
    lines = []
    for vault in vaults:
        lines.append(vault_line(vault, status.embedder))
        if vault.skipped + vault.failed + vault.problems:
            lines.append(f"  {_oddities(vault)}: vaultrag status --full")
    return "\n".join(lines) + "\n"


def vault_line(vault: VaultStatus, embedder: EmbedderStatus | None = None) -> str:
    """Return the state of a vault in one line."""
    line = f"{one_line(vault.name)}: {count(vault.notes, 'note')}"
    if vault.state in ("away", "broken", "refused"):
        return f"{line}, {vault.state}: {_why(vault.why, vault.hint)}"
    if vault.state in ("starting", "indexing"):
        return f"{line} so far, being read; vaultrag status"
    if embedder is None:
        return line + (f", {vault.pending:,} without a vector yet" if vault.pending else ", up to date")
    if not vault.notes:
        return f"{line}; what you write there is found as soon as it is saved"
    if embedder.state in _NO_VECTORS:
        return f"{line}, searchable by words ({_why(embedder.why, embedder.hint) or embedder.state})"
    if vault.pending or not vault.embedded:
        left = f"{vault.pending:,} to go" if vault.pending else "at work"
        return f"{line}, searchable by words; meaning follows ({left}): vaultrag status"
    return f"{line}, searchable by words and meaning ({_embedder_name(embedder)})"


def vault_lines(vaults: Sequence[VaultStatus]) -> Iterator[Text]:
    """Return the list of vaults in columns. A folder stands whole at the end of its line, however long."""
    rows = [(Text(one_line(v.name), style="bold"), Text(count(v.notes, "note")), _coloured(v.state)) for v in vaults]
    widths = [max(row[column].cell_len for row in rows) for column in range(3)] if rows else []
    for row, vault in zip(rows, vaults, strict=True):
        line = Text(no_wrap=True, overflow="ignore")
        for cell, width in zip(row, widths, strict=True):
            line.append_text(cell).append(" " * (width - cell.cell_len + 2))
        yield line.append(one_line(vault.root), style="green")


def _daemon_lines(status: DaemonStatus) -> Iterator[Text]:
    yield _coloured(status.state).append(
        f" · process {status.pid} · up {duration(status.uptime_s)} · {count(status.notes, 'note')}", style="default"
    )
    embedder = status.embedder
    line = Text("meaning: ").append(_embedder_name(embedder) or "none")
    yield line.append(", ").append_text(_coloured(embedder.state))
    if embedder.languages:
        more = "; others are searched by words" if len(embedder.languages) == 1 else ""
        yield Text(f"languages: {', '.join(embedder.languages)}{more}")
    yield from _because(embedder.why, embedder.hint)


def _vault_lines(vault: VaultStatus) -> Iterator[Text]:
    yield Text(one_line(vault.root), style="green", overflow="fold")
    line = _coloured(vault.state).append(
        f" · {count(vault.notes, 'note')}, {vault.embedded:,} with a vector", style="default"
    )
    for number, left in (
        (vault.to_read, "{:,} to read"),
        (vault.files_waiting, "{:,} files of other kinds to read"),
        (vault.pending, "{:,} to embed"),
        (vault.passages_pending, "passages of {:,} to come"),
        (vault.multilingual_pending, "{:,} to embed for questions in other languages"),
    ):
        if number:
            line.append(f" · {left.format(number)}", style="default")
    if vault.eta_s is not None:
        line.append(f" · about {duration(vault.eta_s)} left", style="default")
    yield line
    if vault.watching:
        yield Text(f"watching: {one_line(vault.watching)}")
    if vault.identity:
        yield Text(f"index: identity {vault.identity}")
    if vault.files:
        yield Text(_files(vault.files))
    if vault.skipped + vault.failed + vault.problems:
        yield Text(_oddities(vault))
    yield from _because(vault.why, vault.hint)
    for event in vault.events:
        yield Text(one_line(event), style="yellow")


def _listed(vault: VaultStatus) -> Iterator[Text]:
    for title, notes in (("skipped", vault.skipped_notes), ("odd", vault.problem_notes)):
        if notes:
            yield Text(f"{title}:", style="bold")
            yield from map(_skipped_line, notes)
    for one in vault.files:
        if one.paths and one.fate != "skipped":  # these were listed above
            yield Text(f"{one.fate}: {one_line(one.why)} ({count(one.files, 'file')})", style="bold")
            yield from (Text(f"  {one_line(path)}", style="green") for path in one.paths)
            if one.files > len(one.paths):
                yield Text(f"  and {one.files - len(one.paths):,} more", style="dim")


def _files(counts: Sequence[FileCount]) -> str:
    """Everything in the vault in one line: ``files: 12 indexed, 3 excluded, 7 of other kinds (4 .pdf, 3 .txt)``."""
    fates: dict[str, list[FileCount]] = {}
    for one in counts:
        fates.setdefault(one.fate, []).append(one)
    parts = []
    for fate, ones in fates.items():
        told = f"{sum(one.files for one in ones):,} {'of other kinds' if fate == 'other' else fate}"
        kinds = [f"{one.files:,} {one_line(one.why)}" for one in ones[:MOST_KINDS] if one.why]
        if kinds and (fate == "other" or len(ones) > 1) and fate in ("indexed", "other"):
            told += f" ({', '.join([*kinds, *(['…'] if len(ones) > MOST_KINDS else [])])})"
        parts.append(told)
    return f"files: {', '.join(parts)}"


def _skipped_line(note: Skipped) -> Text:
    return Text("  ").append(one_line(note.path), style="green").append(f": {one_line(note.reason)}")


def _oddities(vault: VaultStatus) -> str:
    parts = (
        (vault.skipped, "skipped"),
        (vault.problems, "odd"),
        (vault.failed, "without a vector"),
    )
    return ", ".join(f"{number:,} {what}" for number, what in parts if number)


def _because(why: str, hint: str) -> Iterator[Text]:
    if why:
        yield Text(f"  {one_line(why)}")
    if hint:
        yield Text(f"  try: {one_line(hint)}", style="dim")


def _why(why: str, hint: str) -> str:
    return one_line(why) + (f"; try: {one_line(hint)}" if hint else "")


def _embedder_name(embedder: EmbedderStatus) -> str:
    return f"{embedder.provider} {embedder.model}".strip()


def _coloured(state: str) -> Text:
    return Text(state, style=_COLOURS.get(state, "yellow"))
