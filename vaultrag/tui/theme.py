"""How the screen looks: its layout and colours, and the two lines that speak for it."""

from __future__ import annotations

from rich.text import Text

from vaultrag.tui.key_bindings import shown
from vaultrag.tui.launch_options import Errand
from vaultrag.tui.status_text import StatusLine, bar

CSS = """
Screen { layout: vertical; }
#top { height: 1; }
#sign { width: 2; color: ansi_cyan; text-style: bold; }
#prompt { width: 1fr; background: transparent; }
#prompt:focus { background-tint: transparent; }
#prompt>.input--cursor { text-style: reverse; background: transparent; color: ansi_default; }
#mode { width: 16; text-style: dim; }
#state, #hints { height: 1; }
#hints { text-style: dim; }
#body { height: 1fr; layout: horizontal; }
#hits { width: 1fr; height: 1fr; scrollbar-gutter: stable; background: transparent; }
#preview { width: 1fr; height: 1fr; scrollbar-gutter: stable; background: transparent;
           border-left: solid ansi_bright_black; display: none; }
.-pane #preview { display: block; }
.-stacked #body { layout: vertical; }
.-stacked #preview { border-left: none; border-top: solid ansi_bright_black; }
.-short #hints { display: none; }
HitList, Preview, OptionList, VerticalScroll {
    scrollbar-color: ansi_bright_black; scrollbar-background: ansi_default;
    scrollbar-color-hover: ansi_white; scrollbar-color-active: ansi_white; scrollbar-size-vertical: 1;
    scrollbar-background-hover: ansi_default; scrollbar-background-active: ansi_default; }
#entries > .option-list--option-highlighted { text-style: reverse; }
PickDialog, KeysDialog { align: center middle; }
#dialog { width: 90%; max-width: 90; height: 90%; border: round ansi_cyan; padding: 0 1; }
#dialog #entries { height: 1fr; border: none; }
"""

_TONES = {"plain": "dim", "warn": "yellow", "bad": "bold red"}
THEMES = {"terminal": "ansi-dark", "dark": "textual-dark", "light": "textual-light"}
_HINTS = (("open", "open"), ("help", "all keys"), ("leave", "leave"), ("mark", "mark"), ("mode", "mode"),
          ("related", "related"), ("explain", "why"), ("preview", "preview"), ("tags", "tags"))  # fmt: skip


def hints(errand: Errand, width: int) -> Text:
    """Return the keys that fit, the most important first."""
    line = Text()
    names = dict(_HINTS) | ({"open": "print"} if errand.printing else {})
    for action, name in names.items():
        key = shown(errand.settings.keys, action)
        part = f"{key} {name}"
        if key and line.cell_len + len(part) + 2 <= width:
            line.append("  " if line else "").append(key, style="bold").append(f" {name}")
    return line


def state_line(told: StatusLine, right: str, width: int) -> Text:
    """Return the state, and at the right the number of hits."""
    left = Text(style=_TONES[told.tone], no_wrap=True)
    if told.share is not None and width >= 60:
        left.append(f"{bar(told.share)} ")
    left.append(told.text)
    if told.left:
        left.append(f" · {told.left}")
    room = width - len(right) - 2
    if right and room >= 20:
        left.truncate(room, overflow="ellipsis")
        return Text(no_wrap=True).append_text(left).append(" " * (width - left.cell_len - len(right))).append(right)
    left.truncate(width, overflow="ellipsis")
    return left
