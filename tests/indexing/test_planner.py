"""Plans: what differs is seen, and what cannot be seen is kept."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from vaultrag.domain import DiskEntry, IndexedEntry, NoteId, NotePath, Scan, Skipped
from vaultrag.indexing.planner import DELETE_FEW, DELETE_SHARE, Plan, plan, without_doubtful

PATHS = st.builds(
    lambda folders, name: NotePath("/".join([*folders, name])),
    st.lists(st.sampled_from(["a", "b", "a-b", "a0"]), max_size=2),
    st.sampled_from(["x.md", "y.md", "z.md", "X.md"]),
)
STATS = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 5))


def _disk(path: str, size: int = 1, mtime_ns: int = 1, inode: int = 1) -> DiskEntry:
    return DiskEntry(NotePath(path), size, mtime_ns, inode)


def _known(path: str, size: int = 1, mtime_ns: int = 1, inode: int = 1, note_id: int = 1) -> IndexedEntry:
    return IndexedEntry(NoteId(note_id), NotePath(path), size, mtime_ns, inode, "c", "t")


def _scan(*paths: str, scopes: tuple[str, ...] = (), unreadable: tuple[str, ...] = (), root_ok: bool = True) -> Scan:
    return Scan(
        {NotePath(p): _disk(p, inode=i + 1) for i, p in enumerate(paths)},
        unreadable={NotePath(p): "denied" for p in unreadable},
        scopes=tuple(NotePath(s) for s in scopes),
        root_ok=root_ok,
    )


def _index(*paths: str) -> dict[NotePath, IndexedEntry]:
    return {NotePath(p): _known(p, inode=i + 1, note_id=i + 1) for i, p in enumerate(paths)}


DISKS = st.dictionaries(PATHS, STATS, max_size=10).map(
    lambda found: {path: DiskEntry(path, *stats) for path, stats in found.items()}
)
INDEXES = st.dictionaries(PATHS, STATS, max_size=10).map(
    lambda found: {
        path: IndexedEntry(NoteId(n), path, *stats, "c", "t") for n, (path, stats) in enumerate(found.items(), 1)
    }
)
PLACES = st.lists(st.one_of(PATHS, st.sampled_from(["", "a", "b", "a/b"]).map(NotePath)), max_size=3)


@given(DISKS, INDEXES, PLACES)
def test_unreadable_is_never_gone(
    disk: dict[NotePath, DiskEntry], indexed: dict[NotePath, IndexedEntry], places: list[NotePath]
) -> None:
    """Nothing at or below a place that cannot be read is deleted, and all else that is missing is."""
    todo = plan(Scan(disk, unreadable=dict.fromkeys(places, "denied")), indexed)
    deleted = {entry.path for entry in todo.delete}
    for path in indexed:
        hidden = any(place == "" or path == place or path.startswith(f"{place}/") for place in places)
        assert (path in deleted) == (path not in disk and not hidden)
    assert todo.kept == len(indexed.keys() - disk.keys()) - len(deleted)


@given(DISKS, INDEXES)
def test_differences(disk: dict[NotePath, DiskEntry], indexed: dict[NotePath, IndexedEntry]) -> None:
    """A file is read when it is new or any part of its stat differs, and not otherwise."""
    read = {entry.path for entry in plan(Scan(disk), indexed).read}
    for path, entry in disk.items():
        known = indexed.get(path)
        same = known and (known.size, known.mtime_ns, known.inode) == (entry.size, entry.mtime_ns, entry.inode)
        assert (path in read) != bool(same)


@given(DISKS, INDEXES, PLACES)
def test_root_away(
    disk: dict[NotePath, DiskEntry], indexed: dict[NotePath, IndexedEntry], scopes: list[NotePath]
) -> None:
    """While the vault's own folder is away, nothing is done at all."""
    todo = plan(Scan(disk, scopes=tuple(scopes), root_ok=False), indexed)
    assert todo == Plan(away=True)
    assert not todo


@given(INDEXES, PLACES.filter(bool))
def test_scopes(indexed: dict[NotePath, IndexedEntry], scopes: list[NotePath]) -> None:
    """A look at a part of the vault deletes there only."""
    todo = plan(Scan({}, scopes=tuple(scopes)), indexed)
    for entry in todo.delete:
        assert any(s == "" or entry.path == s or entry.path.startswith(f"{s}/") for s in scopes)
    assert len({entry.path for entry in todo.delete}) == len(todo.delete)


@given(INDEXES)
def test_nothing_new(indexed: dict[NotePath, IndexedEntry]) -> None:
    """A disk that is as remembered asks for nothing."""
    disk = {path: DiskEntry(path, e.size, e.mtime_ns, e.inode) for path, e in indexed.items()}
    assert not plan(Scan(disk), indexed)


def test_named_files_are_read() -> None:
    """A file that an event named is read although its stat is as remembered; a folder's files are not."""
    indexed = _index("a/x.md", "a/y.md")
    disk = {path: _disk(path, inode=e.inode) for path, e in indexed.items()}
    named = plan(Scan(disk, scopes=(NotePath("a/x.md"),)), indexed)
    assert [entry.path for entry in named.read] == ["a/x.md"]
    assert not plan(Scan(disk, scopes=(NotePath("a"),)), indexed)


def test_passed_by_before() -> None:
    """A file that was read and is no note is not read again until it changes or is named."""
    skipped = {NotePath("bin.md"): Skipped(NotePath("bin.md"), "binary content", 1, 1)}
    assert not plan(_scan("bin.md"), {}, skipped=skipped)
    assert plan(_scan("bin.md", scopes=("bin.md",)), {}, skipped=skipped).read
    changed = Scan({NotePath("bin.md"): _disk("bin.md", mtime_ns=2)})
    assert plan(changed, {}, skipped=skipped).read
    assert plan(_scan("bin.md"), {}, skipped={NotePath("bin.md"): Skipped(NotePath("bin.md"), "no stat")}).read


def test_moves_are_recognised() -> None:
    """Files that stand elsewhere with the same stat have moved, and are no reason for doubt."""
    indexed = _index(*(f"old/{n}.md" for n in range(50)))
    moved = {NotePath(f"new/{n}.md"): replace(_disk(f"new/{n}.md"), inode=n + 1) for n in range(50)}
    todo = plan(Scan(moved), indexed)
    assert len(todo.moved) == len(todo.delete) == 50
    assert not todo.doubtful


def test_doubt() -> None:
    """More than a fifth of the notes at once is doubtful; a few are not, in a vault however small."""
    paths = [f"{n}.md" for n in range(100)]
    indexed = _index(*paths)
    for gone, doubtful in ((DELETE_FEW, False), (int(DELETE_SHARE * 100), False), (21, True), (99, True)):
        todo = plan(_scan(*paths), {**indexed, **_index(*(f"gone{n}.md" for n in range(gone)))}, known=100)
        assert bool(todo.doubtful) == doubtful, gone
    small = _index("a.md", "b.md", "c.md")
    assert not plan(_scan("a.md"), small).doubtful


def test_empty_vault_is_doubtful() -> None:
    """A vault that has lost every note is doubted, however few they were."""
    assert plan(_scan(), _index("a.md")).doubtful == "the vault's folder is empty"
    assert plan(_scan(), {}).doubtful == ""


def test_doubt_counts_the_whole_vault() -> None:
    """A folder that is deleted is measured against the whole vault."""
    indexed = _index(*(f"a/{n}.md" for n in range(10)))
    scan = _scan(scopes=("a",))
    assert not plan(scan, indexed, known=1_000).doubtful
    assert plan(scan, indexed, known=20).doubtful


def test_without_doubtful() -> None:
    """The part that can be done at once reads everything and deletes only what has moved."""
    todo = Plan((_disk("n.md"),), (_known("a.md"), _known("b.md")), "many", (_known("b.md"),), kept=1)
    certain = without_doubtful(todo)
    assert certain.read == todo.read
    assert certain.delete == todo.moved
    assert certain.kept == 2


def test_case_only_rename() -> None:
    """A name that changes its case only is one file that moved."""
    todo = plan(_scan("readme.md"), _index("README.md"))
    assert [entry.path for entry in todo.read] == ["readme.md"]
    assert todo.moved == todo.delete
    assert not todo.doubtful
