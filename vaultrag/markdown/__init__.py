"""Text into notes, pure: no clock, no files, no environment.

``parse_note`` reads a file's bytes; ``passages`` and ``windows`` cut a note's cleaned text for a model. The modules
behind them: ``frontmatter`` (properties), ``lifting`` (code and comments out of the way), ``links``, ``outline``
(headings, tags, aliases), ``cleaning`` (what a model reads), ``sentences`` and ``windows``.
"""

from __future__ import annotations

from vaultrag.markdown.chunking import CountTokens, passages, windows
from vaultrag.markdown.cleaning import CLEANING_VERSION, clean
from vaultrag.markdown.parse import file_text, looks_binary, parse_note, read_body
from vaultrag.markdown.titles import file_title

__all__ = [
    "parse_note",
    "read_body",
    "looks_binary",
    "file_title",
    "file_text",
    "clean",
    "CLEANING_VERSION",
    "passages",
    "windows",
    "CountTokens",
]
