"""vaultrag: local search for the notes you keep.

A daemon watches an Obsidian vault, keeps a full-text and a vector index of whole notes beside it, and answers fused
queries on a local socket. Start reading in README.md beside this file.
"""

__version__ = "0.1.0"
