"""What large work leaves behind in the process."""

from __future__ import annotations

import ctypes
import gc
import sys


def give_back_memory() -> None:
    """Return freed memory to the system, where the allocator keeps it otherwise (glibc)."""
    gc.collect()
    if sys.platform == "linux":
        try:
            ctypes.CDLL(None).malloc_trim(0)
        except (AttributeError, OSError):  # musl has no such call, and no such need
            return
