"""Other kinds of file than Markdown."""
