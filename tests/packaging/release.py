"""``python -m tests.packaging.release`` (``make release-check``): whether what is here may be released.

It changes nothing and uploads nothing. Each condition is a function of the folder that gives sentences for what is
wrong.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

from tests.docs import FILES, GENERATED, PAGES
from tests.packaging import building, versions
from tests.support.daemons import REPOSITORY

Condition = Callable[[Path], list[str]]


def changelog(root: Path) -> list[str]:
    """The newest section is of this version, has a date and something in it, and nothing waits above it."""
    text = (root / "CHANGELOG.md").read_text("utf-8")
    (version,) = versions.said(root)[versions.SOURCE]
    sections = re.findall(r"^## \[([^\]]+)\](.*)\n((?:(?!## ).*\n?)*)", text, re.MULTILINE)
    names = [name for name, _, _ in sections]
    if names[:1] != ["Unreleased"]:
        return ["CHANGELOG.md does not begin with ## [Unreleased]"]
    faults = []
    if re.search(r"^- ", sections[0][2], re.MULTILINE):
        faults.append(f"CHANGELOG.md still has entries under Unreleased: move them below ## [{version}] - DATE")
    if names[1:2] != [version]:
        return [*faults, f"the newest release in CHANGELOG.md is {(names[1:2] or ['none'])[0]}, not {version}"]
    _, rest, entries = sections[1]
    dated = re.fullmatch(r" - (\d{4}-\d{2}-\d{2})", rest)
    try:
        date.fromisoformat(dated[1] if dated else "")
    except ValueError:
        faults.append(f"CHANGELOG.md gives {version} no date: ## [{version}] - 2026-01-31")
    if not re.search(r"^- ", entries, re.MULTILINE):
        faults.append(f"CHANGELOG.md says nothing of {version}")
    return faults


def generated(root: Path) -> list[str]:
    """The reference pages are what the code says."""
    wanted = {path: GENERATED + page() for path, page in PAGES.items()} | {path: text() for path, text in FILES.items()}
    stale = [path.relative_to(REPOSITORY) for path, text in wanted.items() if _read(root, path) != text]
    return [f"{path} is stale: make docs" for path in stale]


def _read(root: Path, path: Path) -> str:
    return (root / path.relative_to(REPOSITORY)).read_text("utf-8")


def committed(root: Path) -> list[str]:
    """What is released is what is committed, and its tag, if there is one already, stands on it."""
    changed = _git(root, "status", "--porcelain").splitlines()
    faults = [f"{len(changed)} files are not committed, among them {changed[0][3:]}"] if changed else []
    (version,) = versions.said(root)[versions.SOURCE]
    tag = f"v{version}"
    tagged = _git(root, "rev-parse", f"{tag}^{{commit}}") if _git(root, "tag", "--list", tag) else ""
    if tagged and tagged != _git(root, "rev-parse", "HEAD"):
        faults.append(f"the tag {tag} stands on another commit: a version is released once")
    return faults


def _git(root: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=root, capture_output=True, text=True, check=True).stdout.rstrip()


def builds(root: Path) -> list[str]:
    """Both archives can be built, and are named by the version."""
    (version,) = versions.said(root)[versions.SOURCE]
    with tempfile.TemporaryDirectory() as folder:
        try:
            archives = building.build(building.copy(Path(folder) / "source"), Path(folder) / "out")
        except RuntimeError as trouble:
            return [str(trouble)]
    return [f"{path.name} is not named {version}" for path in archives if f"-{version}" not in path.name]


CONDITIONS: dict[str, Condition] = {
    "one version everywhere": versions.disagreements,
    "changelog": changelog,
    "generated pages": generated,
    "committed and tagged": committed,
    "the archives": builds,
}


def main() -> int:
    faults = 0
    for name, condition in CONDITIONS.items():
        found = condition(REPOSITORY)
        print(f"{'refused' if found else 'ok':8} {name}", *(f"         {fault}" for fault in found), sep="\n")
        faults += len(found)
    print("not to be released" if faults else "may be released")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
