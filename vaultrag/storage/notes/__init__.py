"""The note index: ``hybrid-fts.db``, its tables and its readers."""
