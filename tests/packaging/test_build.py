"""The archives: what is in them, and that they can be made again, byte for byte."""

from __future__ import annotations

import email
import os
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

import vaultrag
from tests.packaging.building import build, copy
from tests.support.daemons import REPOSITORY

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.slow,
    pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="only a clone knows which files are its own"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Wheel and source archive."""
    base = tmp_path_factory.mktemp("built")
    wheel, sdist = build(copy(base / "source"), base / "out")
    return wheel, sdist


@pytest.mark.parametrize("epoch", [None, 1_700_000_000])
def test_the_build_can_be_made_again(tmp_path: Path, epoch: int | None) -> None:
    """Two builds, in two places, of files with other times, give the same bytes; SOURCE_DATE_EPOCH dates them."""
    first = build(copy(tmp_path / "one"), tmp_path / "out one", epoch=epoch)
    other = copy(tmp_path / "somewhere" / "else")
    long_ago = time.time() - 1e7
    for path in other.rglob("*"):
        os.utime(path, (long_ago, long_ago))
    second = build(other, tmp_path / "out two", epoch=epoch)
    for one, two in zip(first, second, strict=True):
        assert one.name == two.name
        assert one.read_bytes() == two.read_bytes(), one.name
    with zipfile.ZipFile(first[0]) as wheel:
        assert wheel.infolist()[0].date_time[0] == (2020 if epoch is None else 2023)


def test_the_wheel_holds_the_package_and_no_more(built: tuple[Path, Path]) -> None:
    """Code, its reference pages, the manual page; no tests, no vault, no cache."""
    with zipfile.ZipFile(built[0]) as wheel:
        names = set(wheel.namelist())
        metadata = email.message_from_bytes(wheel.read(next(name for name in names if name.endswith("/METADATA"))))
    info = f"vaultrag-{vaultrag.__version__}"
    assert {name.split("/")[0] for name in names} == {"vaultrag", f"{info}.dist-info", f"{info}.data"}
    code = {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "vaultrag").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == code
    assert "vaultrag/py.typed" in names
    assert [name for name in names if name.endswith("vaultrag.1")] == [f"{info}.data/data/share/man/man1/vaultrag.1"]
    assert metadata["Version"] == vaultrag.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"


def test_the_source_archive_is_whole(built: tuple[Path, Path], tmp_path: Path) -> None:
    """It holds all that a clone does but hidden files of git, and the wheel that is built from it is the same."""
    wheel, sdist = built
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (root,) = tmp_path.iterdir()
    inside = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    clone = {str(path.relative_to(wheel.parents[1] / "source")) for path in (wheel.parents[1] / "source").rglob("*")
             if path.is_file()}  # fmt: skip
    assert {name for name in clone - inside if not name.startswith(".git")} == set()
    assert inside - clone == {"PKG-INFO"}
    assert build(root, tmp_path / "out", "wheel")[0].read_bytes() == wheel.read_bytes()
