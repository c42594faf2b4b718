"""The lexical retriever: FTS5, posting lists and their cache."""
