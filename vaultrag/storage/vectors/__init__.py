"""``obsidian_notes.db``: vectors of notes and passages, on disk and in memory."""
