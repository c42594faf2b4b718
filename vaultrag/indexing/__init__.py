"""Keeping the index true: look at the disk, plan what differs, apply it, embed what has no vector yet.

``plan`` decides and is pure; ``apply`` carries out; ``meaning`` keeps the vectors; ``passages`` adds those of
passages where they come later; ``worker`` and ``embedding`` are the two threads that do all of this for a vault.
"""
