"""Other kinds of file, each made into a note: PDF, canvases, bases, org, documents of offices, books, pages, mail.

A reader is a function from bytes to ``SourceText``, and runs in a child process that can open nothing and write
nothing (``child``). What it returns becomes Markdown, so that everything that notes have works for it: a page, slide,
sheet or chapter is a heading. ``SourceProcess`` is the daemon's end of the pipe.
"""

from vaultrag.sources.process import SourceProcess
from vaultrag.sources.readers import READERS_VERSION, read_kinds

__all__ = ["READERS_VERSION", "SourceProcess", "read_kinds"]
