"""Dependencies: bounded on both sides, each bound with its reason, and a lock file that fits them."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.daemons import REPOSITORY

PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
NEEDED = [Requirement(one) for one in PROJECT["dependencies"]]
EXTRA = {name: [Requirement(one) for one in some] for name, some in PROJECT["optional-dependencies"].items()}
EVERY = [*NEEDED, *(one for some in EXTRA.values() for one in some if one.name != PROJECT["name"])]
LOCK = REPOSITORY / "requirements-dev.txt"


@pytest.mark.parametrize("requirement", EVERY, ids=str)
def test_every_dependency_is_bounded(requirement: Requirement) -> None:
    """Neither a version that is too old nor one that nobody has seen is taken."""
    signs = {specifier.operator for specifier in requirement.specifier}
    assert signs == {"=="} or (">=" in signs and "<" in signs), f"{requirement} is open at one side"


@pytest.mark.parametrize("requirement", NEEDED, ids=lambda requirement: str(requirement.name))
def test_every_bound_has_its_reason(requirement: Requirement) -> None:
    """CONTRIBUTING.md says what each dependency is for, and why its bounds are what they are."""
    text = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]*) \|$", text, re.MULTILINE)
    mine = [(use, why) for names, use, why in rows if requirement.name in re.split(r"[, ]+", names)]
    assert len(mine) == 1, f"{requirement.name} has {len(mine)} rows"
    assert all(part.strip() for part in mine[0]), f"{requirement.name}: {mine[0]}"


def pins() -> dict[str, list[Requirement]]:
    lines = [line for line in LOCK.read_text("utf-8").splitlines() if line and not line.lstrip().startswith("#")]
    found: dict[str, list[Requirement]] = {}
    for pin in map(Requirement, lines):
        found.setdefault(canonicalize_name(pin.name), []).append(pin)
    return found


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_lock_fits(python: str) -> None:
    """Each dependency, also of development, is pinned once for each Python, within its bounds."""
    where = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    locked = pins()
    wanted = [*NEEDED, *(one for one in [*EXTRA["dev"], *EXTRA["fuzz"]] if one.name != PROJECT["name"])]
    for requirement in wanted:
        if requirement.marker is not None and not requirement.marker.evaluate(where):
            continue
        mine = [pin for pin in locked.get(canonicalize_name(requirement.name), [])
                if pin.marker is None or pin.marker.evaluate(where)]  # fmt: skip
        assert len(mine) == 1, f"{requirement.name} is pinned {len(mine)} times for Python {python}: make lock"
        (specifier,) = mine[0].specifier
        assert specifier.operator == "=="
        assert requirement.specifier.contains(Version(specifier.version)), f"{mine[0]} is not {requirement}: make lock"
