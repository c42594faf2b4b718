"""Which build this is: a digest of the package's own source, the same wherever it is installed.

Two checkouts, or a daemon that was started before an upgrade, may share a version. They do not share this.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


@cache
def build_id() -> str:
    """Twelve hex digits, made when first asked for: a daemon should ask at its start."""
    package = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()
