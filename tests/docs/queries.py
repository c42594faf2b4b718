"""The page of the query language, from the words that its reader begins with."""

from __future__ import annotations

import textwrap

from vaultrag.retrieval import query_parser

HEAD = """# The query language

The same in every client: commands, socket, editors.

"""


def page() -> str:
    text = (query_parser.__doc__ or "").strip()
    first, table, rest = text.split("\n\n", 2)
    return f"{HEAD}{first}\n\n```\n{textwrap.dedent(table)}\n```\n\n{rest}\n"
