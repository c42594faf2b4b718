"""What each action of the screen does. A key stands for an action in the settings; see ``config.KeySettings``."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from vaultrag.client.editor import editor_command, in_foreground
from vaultrag.client.lines import hit_as_line, link_to
from vaultrag.client.settings_text import explained
from vaultrag.domain import Hit
from vaultrag.domain.kinds import opens_in_editor
from vaultrag.errors import VaultragError
from vaultrag.tui import state
from vaultrag.tui.key_bindings import sentences
from vaultrag.tui.launch_options import INTERRUPTED, NOTHING_CHOSEN, Outcome
from vaultrag.tui.obsidian import obsidian_url, open_file, open_url
from vaultrag.wording import because, count

if TYPE_CHECKING:
    from vaultrag.tui.app import SearchApp

PANE_STEP = 3
"""Lines that the preview moves by."""


def _open(app: SearchApp) -> None:
    if app.view.waiting and not (app.view.moved or app.view.marked):
        app.hold("open")  # who types fast means the best note for all of the words, not the one that still stands there
        return
    chosen = app.view.chosen
    if not chosen:
        app.say("there is no note to open")
        return
    _remember(app)
    if app.errand.printing:
        app.work("leave", _print, app, chosen)
    else:
        _edit(app, chosen)


async def _print(app: SearchApp, chosen: tuple[Hit, ...]) -> None:
    root, lines = _root(app), []
    for hit in chosen:
        text = ""
        if app.errand.form == "vimgrep" and hit.start_line:
            try:
                text = (await app.link.note(hit.path, hit.start_line, 0)).text
            except VaultragError:
                text = ""  # the passage itself will do
        lines.append(hit_as_line(hit, app.errand.form, root, text))
    app.exit(Outcome(0, tuple(lines)))


def _edit(app: SearchApp, chosen: tuple[Hit, ...]) -> None:
    files = [_root(app) / hit.path for hit in chosen]
    gone = next((file for file in files if not file.is_file()), None)
    if gone is not None:  # an editor would make it anew
        app.say(f"{gone.name} is not there any more")
        app.ask_again()
        return
    if not opens_in_editor(chosen[0].path):
        _remember(app)
        app.work("open", _elsewhere, app, files[0])
        return
    try:
        first = chosen[0]
        line, column = (first.places[0].line, first.places[0].start + 1) if first.places else (first.start_line, 0)
        command = editor_command(app.errand.settings.editor, os.environ, files, line, column)
    except VaultragError as error:
        app.say(because(error.message, error.hint))
        return
    try:
        with app.suspend():
            failure = in_foreground(command)
    except SuspendNotSupported:
        failure = "this terminal cannot be handed to an editor"
    app.view = state.unmarked(app.view)
    app.pane.forget()
    app.repaint()
    app.say(failure)
    app.ask_again()


async def _elsewhere(app: SearchApp, file: Path) -> None:
    """Open a file that is no text with the program that the system has for it."""
    if await asyncio.to_thread(open_file, str(file)):
        app.say(f"opening {file.name}")
    else:
        app.say(f"no program opens {file.suffix} files here; it is {file}")


def _obsidian(app: SearchApp) -> None:
    hit = app.view.current
    if hit is not None:
        _remember(app)
        app.work("obsidian", _in_obsidian, app, hit)


async def _in_obsidian(app: SearchApp, hit: Hit) -> None:
    url = obsidian_url(_root(app), hit.path, Path.home(), os.environ)
    if await asyncio.to_thread(open_url, url):
        app.say(f"opening {hit.title} in Obsidian")
    else:
        app.say(f"no program opens obsidian:// here; the note is {_root(app) / hit.path}")


def _link(app: SearchApp) -> None:
    chosen = app.view.chosen
    if not chosen:
        return
    _remember(app)
    links = [link_to(hit.path) for hit in chosen]
    if app.errand.printing:
        app.exit(Outcome(0, tuple(links)))
        return
    app.copy_to_clipboard("\n".join(links))
    app.say(f"copied {links[0]}" if len(links) == 1 else f"copied {count(len(links), 'link')}")


def _related(app: SearchApp) -> None:
    hit = app.view.current
    if hit is not None:
        _remember(app)
        app.update(state.related_asked(app.view, hit.path))


def _explain(app: SearchApp) -> None:
    if app.view.current is None:
        return
    if app.view.related_to:
        app.say("related notes are not ranked by a query")
        return
    app.pane.explaining = not (app.pane.explaining and app.pane_open)
    app.open_pane()
    app.redraw()


def _preview(app: SearchApp) -> None:
    if app.pane.explaining and app.pane_open:
        app.pane.explaining = False
        app.redraw()
    else:
        app.toggle_pane()


def _tags(app: SearchApp) -> None:
    app.work("pick", _pick_tag, app)


async def _pick_tag(app: SearchApp) -> None:
    from vaultrag.tui.widgets.dialogs import PickDialog

    try:
        tags = await app.link.tags()
    except VaultragError as error:
        app.say(error.message)
        return
    entries = [(f"#{tag.tag}", count(tag.notes, "note")) for tag in sorted(tags, key=lambda tag: (-tag.notes, tag.tag))]
    picked = await app.push_screen_wait(PickDialog("Search in a tag", entries, app.keys))
    if picked is not None:
        app.type(state.with_tag(app.view.query, picked.removeprefix("#")))


def _vault(app: SearchApp) -> None:
    app.work("pick", _pick_vault, app)


async def _pick_vault(app: SearchApp) -> None:
    from vaultrag.tui.widgets.dialogs import PickDialog

    vaults = app.view.status.vaults if app.view.status is not None else ()
    if len(vaults) < 2:
        app.say("one vault is served" if vaults else "no vault is served; add one: vaultrag up ~/Notes")
        return
    entries = {vault.root: (vault.root, f"{vault.name}, {count(vault.notes, 'note')}") for vault in vaults}
    picked = await app.push_screen_wait(PickDialog("Search in a vault", list(entries.values()), app.keys))
    for vault in vaults:
        if vault.root == picked:
            app.link.pick(vault.id)


def _earlier(app: SearchApp) -> None:
    _recall(app, app.history.earlier)


def _later(app: SearchApp) -> None:
    _recall(app, app.history.later)


def _recall(app: SearchApp, step: Callable[[str], str]) -> None:
    app.type(step(app.view.query))


def _help(app: SearchApp) -> None:
    from vaultrag.tui.widgets.dialogs import KeysDialog

    app.push_screen(KeysDialog(sentences(explained()["KeySettings"], app.errand.settings.keys)))


def _leave(app: SearchApp) -> None:
    before = app.view
    app.update(state.back(before))
    if app.view is before:
        app.exit(Outcome(NOTHING_CHOSEN if app.errand.printing else 0))


def _abort(app: SearchApp) -> None:
    app.exit(Outcome(INTERRUPTED))


def _mode(app: SearchApp) -> None:
    app.update(state.mode_switched(app.view))


def _mark(app: SearchApp) -> None:
    app.update(state.mark_switched(app.view))


def _suspend(app: SearchApp) -> None:
    app.action_suspend_process()


def _by(step: Callable[[SearchApp], int]) -> Callable[[SearchApp], None]:
    return lambda app: app.select(app.view.selected + step(app))


def _scrolled(lines: int) -> Callable[[SearchApp], None]:
    return lambda app: app.preview.scroll_relative(y=lines, animate=False)


def _root(app: SearchApp) -> Path:
    vault = app.view.vault
    return Path(vault.root) if vault is not None else Path()


def _remember(app: SearchApp) -> None:
    app.history.add(app.view.query)


ACTIONS: dict[str, Callable[[SearchApp], None]] = {
    "open": _open,
    "mark": _mark,
    "obsidian": _obsidian,
    "link": _link,
    "mode": _mode,
    "related": _related,
    "explain": _explain,
    "preview": _preview,
    "tags": _tags,
    "vault": _vault,
    "earlier": _earlier,
    "later": _later,
    "up": _by(lambda app: -1),
    "down": _by(lambda app: 1),
    "page_up": _by(lambda app: -app.hits.page),
    "page_down": _by(lambda app: app.hits.page),
    "preview_up": _scrolled(-PANE_STEP),
    "preview_down": _scrolled(PANE_STEP),
    "help": _help,
    "suspend": _suspend,
    "leave": _leave,
    "abort": _abort,
}
