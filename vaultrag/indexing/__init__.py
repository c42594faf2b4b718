"""Keeping the index true: look at the disk, plan what differs, apply it, embed what has no vector yet.

``plan`` decides and is pure; ``apply`` carries out; ``meaning`` keeps the vectors; ``worker`` is the one thread that
does all of this for a vault.
"""
