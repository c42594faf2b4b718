"""The marks of Markdown as Obsidian, Logseq and Dataview write it, as patterns for ``rendered_text``."""

from __future__ import annotations

import re

from vaultrag.markdown.links import MARKDOWN_TAIL, WIKILINK_TAIL

# Each branch begins with a literal: then the search skips what cannot begin one. A line end counts where the next line
# may begin with layout.
TOKEN = re.compile(
    r"\n(?=[ \t]*+(?:[-*+>#|=_:`~\[^]|\d{1,9}[.)][ \t]))|``*|\*\**|__*|~~?|==(?!=)"
    r"|!\[|\[|\((?=[\w -]++::)|\\(?=[\n!-/:-@\[-`{-~])|<(?=[!%/A-Za-z])|&(?=#|[A-Za-z])|%%|\^|\||::(?=[ \t\n]|\Z)"
)
INDENT = re.compile(r"(?:[ \t]*+(>))*+[ \t]*+")
FENCE = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(```+|~~~+)[ \t]*([^\n]*)")
RULE = re.compile(r"(?:[-*_=|:+][ \t]*+){2,}+(?=\n|\Z)")
HEADING = re.compile(r"#{1,6}(?=[ \t\n]|\Z)[ \t]*")
CLOSING_HASHES = re.compile(r"[ \t]+#+[ \t]*(?=\n|\Z)")
ITEM = re.compile(
    r"(?:([-*+])|\d{1,9}[.)])(?:[ \t]+|(?=\n|\Z))((?:>[ \t]?)*)(?:\[([^\n\]])\](?:[ \t]+|(?=\n|\Z)))?(?:#{1,6}[ \t]+)?"
)
CALLOUT = re.compile(r"\[!([\w-]++)[^\]\n]*+\][-+]?[ \t]*")
FOOTNOTE = re.compile(r"\[(\^)[^\]\n]++\](:?)")
DEFINITION = re.compile(r"\[[^\]\n]++\]:[ \t]*+(?:<[^<>\n]*+>|[^\s<]\S*+)(?:[ \t]++[\"'(][^\n]*+)?[ \t]*+(?=\n|\Z)")
NAME = re.compile(r"\n\[([^\]\n]++)\]:")
ROW_RULE = re.compile(r"\n[ \t>]*+\|?[ \t]*+:?--*+:?[ \t]*+(?:\|[ \t]*+:?-*+:?[ \t]*+)++(?=\n|\Z)")
BARS = re.compile(r"[ \t]*(?:\|[ \t]*)+")
WIKILINK = re.compile(rf"!?\[{WIKILINK_TAIL}")
MARKDOWN = re.compile(rf"!?\[{MARKDOWN_TAIL}")
BADGE = re.compile(r"\[(!\[[^\[\]\n]*+\]\([^()\n]*+\))\]\([^()\n]*+\)")
BY_NAME = re.compile(r"\[([^\[\]\n]++)\]\[([^\[\]\n]*+)\]")
FIELD = re.compile(
    r"([\[(])([\w -]++)::[ \t]*((?:[^\[\]()\n]|\[\[[^\[\]\n]*+\]\]|\[[^\[\]\n]*+\]\([^()\n]*+\))*+)([\])])"
)
KEY = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?([\w][\w. -]*)")
MACHINE_KEYS = re.compile(r"id|collapsed|heading|background-color|(?:logseq|query|card|ls|hl)[.-].*", re.IGNORECASE)
AUTOLINK = re.compile(r"<((?:https?|ftp|mailto|file|obsidian):[^<>\s]*+|[\w.+-]++@[\w.-]++)>")
TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*+)((?:[\s/][^<>]{0,2000}+)?)>")
BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]++[ \t]*+(?=\n|\Z)")
SUBSCRIPT = re.compile(r"~[\w+-]{1,8}~(?!~)")
SIZE = re.compile(r"\|\d+(?:x\d+)?$")
DRAWING_HEADING = re.compile(r"\n#{1,2} Drawing\s*$")
