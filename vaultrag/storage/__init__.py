"""SQLite, and nothing but SQLite: the two database files and the vectors held in memory.

``NoteIndex`` is ``hybrid-fts.db``, the authority on what exists. ``Vectors`` is ``obsidian_notes.db``, derived from it.
No apsw object and no apsw exception leaves this package.
"""
