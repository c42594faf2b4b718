"""The fault suite: what can go wrong around the daemon goes wrong, and no note is lost and no answer false.

Every test runs the real process on a real vault. ``pytest tests/fault`` is the short form; ``make fault`` the long one,
which ends with a table of what was tried and what became of it.
"""
