"""What is asked of the machine: which one it is, and what a process uses of it. Linux tells all of it, others less."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import apsw

from vaultrag import __version__

ROOT = Path(__file__).parents[2]

_VERSIONS_OF = ("numpy", "simsimd", "apsw", "sqlite-vec", "msgspec", "rapidfuzz", "watchdog", "vstash", "basic-memory")


def describe(command: list[str]) -> dict[str, Any]:
    """The machine, the versions and the command, as they are kept with the figures."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(command),
        "vaultrag": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "packages": {name: version for name in _VERSIONS_OF if (version := _version(name))},
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_mb": _memory_mb(),
        "load_at_start": [round(part, 2) for part in os.getloadavg()] if hasattr(os, "getloadavg") else [],
    }


def cpu_s(pid: int) -> float | None:
    """Seconds of processor time that another process has used, all its threads together; None where nobody says."""
    if sys.platform != "linux":
        return None
    # The clock that clock_getcpuclockid(3) names; Python has no call for another process's.
    return time.clock_gettime((~pid << 3) | 2)


def private_mb(pid: int) -> float | None:
    """Memory that is the process's own and cannot be dropped; None where nobody says.

    Mapped files count for nobody. (Clean pages of a database that no other process maps are called private, too, but
    they are the system's cache: it takes them back when it likes.)
    """
    if sys.platform != "linux":
        return None
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(("Private_Dirty", "Swap:"))) / 1024


def load() -> float:
    """How many processes wanted a processor in the last minute; 0 where nobody says."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _commit() -> str:
    """The commit that is measured, with ``+`` where files differ from it; nothing outside a repository."""
    try:
        command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--exclude=*"]
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _memory_mb() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1_048_576
    except (AttributeError, ValueError, OSError):
        return 0
