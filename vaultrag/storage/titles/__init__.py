"""The title retriever: titles, aliases, file names and headings."""
