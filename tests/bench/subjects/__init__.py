"""What is measured. A subject more: a module here, a function under ``@subject``, the module's name below."""

from __future__ import annotations

from importlib import import_module

MODULES = (
    "indexing",
    "starting",
    "searching",
    "beside",
    "crowding",
    "changing",
    "resting",
    "screen",
    "files",
    "vectors",
    "contest",
)
"""In the order of the run: the first makes the index that the others use."""


def load() -> None:
    """Enter every module's subjects."""
    for name in MODULES:
        import_module(f"{__name__}.{name}")
