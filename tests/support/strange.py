"""A vault of strange notes: every name, encoding, header, content and kind of file that has upset a tool like this one.

``make`` writes it, and returns what should become of each: found by its own word, listed with a reason, or passed over
in silence because the person, or the system, keeps it apart. All text is made up here.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_BYTES = 2_000_000
"""``notes.max_bytes`` for this vault."""

SETTINGS: dict[str, dict[str, Any]] = {"notes": {"max_bytes": MAX_BYTES}, "search": {"passages": False}}


@dataclass
class StrangeVault:
    """What should become of the files.

    Attributes:
        found: Path -> a word that is in this note and in no other.
        odd: Those among ``found`` that are listed as not quite as their writer meant, with a part of the reason.
        listed: Paths, as they are shown, that are not indexed -> a part of the reason.
        silent: Words that are in no answer, and whose files are in no list.
        untried: What could not be made here, with the reason.
    """

    root: Path
    found: dict[str, str] = field(default_factory=dict)
    odd: dict[str, str] = field(default_factory=dict)
    listed: dict[str, str] = field(default_factory=dict)
    silent: list[str] = field(default_factory=list)
    untried: dict[str, str] = field(default_factory=dict)

    def word(self) -> str:
        """The next word of its own."""
        self._words += 1
        return f"oddity{self._words:04d}"

    _words: int = 0

    def write(self, path: str | bytes, data: bytes) -> None:
        target = os.path.join(os.fsencode(self.root), os.fsencode(path))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(data)

    def note(self, path: str, before: str | bytes = b"", after: str | bytes = b"\n", *, odd: str = "") -> None:
        """A note that is found: its word, with something before and after it."""
        word = self.found[path] = self.word()
        first, last = (part.encode() if isinstance(part, str) else part for part in (before, after))
        self.write(path, first + word.encode() + last)
        if odd:
            self.odd[path] = odd

    def hidden(self, path: str) -> None:
        word = self.word()
        self.write(path, word.encode())
        self.silent.append(word)

    def list(self, path: str | bytes, data: bytes, reason: str, shown: str = "") -> None:
        """A file that is listed and not indexed."""
        word = self.word()
        self.silent.append(word)
        self.write(path, data + word.encode())
        self.listed[shown or str(path)] = reason


def make(root: Path, outside: Path) -> StrangeVault:
    """Write the vault.

    Args:
        outside: A folder that links lead to, out of the vault.
    """
    vault = StrangeVault(root)
    for part in (_names, _headers, _contents, _encodings, _kept_apart):
        part(vault)
    _special_files(vault, outside)
    _links(vault, outside)
    return vault


def _names(vault: StrangeVault) -> None:
    for name in (
        "°.md", "----=-.md", "{.md", "-.md", "--help.md", "=.md", "~.md", "%20.md", "a%2Fb.md", "$HOME.md", "*.md",
        "?.md",
        "quote'.md", 'double".md', "back`tick.md", "hash#tag.md", "caret^.md", "pipe|.md", "colon: a.md", "semi;.md",
        "back\\slash.md", "new\nline.md", "carriage\rreturn.md", "tab\t.md", "bell\a.md", "escape\x1b[31m.md",
        " leading space.md", "trailing space .md", "dots...md", "double..md", "[[link]].md", "<tag>.md",
        "&amp;.md", "comma, name.md", "(1).md", "CON.md", "nul.md", "Upper.MD",
        "\U0001f9ad.md", "\U0001f469‍\U0001f680.md",
        "日本語.md", "עברית.md", "‮rtl.md", "zero​width.md", "combining e\u0301.md", "ß.md", "İ.md", "ﬁ.md",
        "README.md", "readme.md", "under_score.md", "under score.md", "under-score.md", "a.b.c.md", "note.md.md",
        "Folder.md/inside.md", "folder #1/a^b|c.md", "trailing dot./note.md", "trailing space /note.md",
        "new\nfolder/x.md",
    ):  # fmt: skip
        vault.note(name)
    vault.note("n" * 252 + ".md")  # 255 bytes, the most that a name may have
    vault.note("ü" * 126 + ".md")  # 255 again, as bytes count
    vault.note("/".join(["deep folder"] * 60) + "/deep.md")
    vault.note("Caf\u00e9/composed.md")
    vault.note("Cafe\u0301/decomposed.md")
    vault.note("tw\u00efn.md")
    vault.note("twi\u0308n.md")
    vault.list(b"latin caf\xe9.md", b"", "not valid UTF-8", "latin caf\\udce9.md")
    vault.list(b"half \xf0\x9f.md", b"", "not valid UTF-8", "half \\udcf0\\udc9f.md")
    vault.list(b"folder \xff/note.md", b"", "not valid UTF-8", "folder \\udcff")
    vault.hidden("not a note.md ")  # its name ends in a space
    vault.hidden("not a note.md.")
    vault.hidden(".md")


def _headers(vault: StrangeVault) -> None:
    for name, header in (
        ("windows path", 'path: "C:\\new\\Users"'),
        ("italic", "title: *italic*"),
        ("link", "up: [[Some note]] and more"),
        ("tab", "a:\n\t- b"),
        ("open bracket", "title: [broken\n  key: : :"),
        ("at sign", "author: @somebody"),
        ("alias bomb", "a: &a [x, x]\nb: &b [*a, *a]\nc: *zzz"),
        ("no colon", "just some words"),
    ):
        vault.note(f"header/{name}.md", f"---\n{header}\n---\n")
    for name, header in (
        ("date", "date: 2026-02-30\nwhen: 2026-01-05\nat: 12:30:59\nthen: 2026-01-05T10:00:00Z"),
        ("numbers", "a: 1\nb: 0x1F\nc: 1e400\nd: .nan\ne: .inf\nf: 010\ng: 1_000"),
        ("yes and no", "a: yes\nb: no\nc: null\nd: ~\ne: true"),
        ("nested", "a:\n  b:\n    - c: [1, {d: e}]"),
        ("twice", "title: One\ntitle: Two"),
        ("odd keys", "1: a\n2026-01-01: b\n? [x, y]\n: c"),
        ("tags", "tags: [1, 2026-01-01, '#x', null]\naliases: 5\nalias: [a, [b]]"),
        ("empty", ""),
        ("comment", "# nothing"),
        ("surrogate", 'title: "\\uD83D"'),
        ("long", "text: " + "x" * 200_000),
        ("many", "\n".join(f"k{n}: {n}" for n in range(2_000))),
        ("deep", "a: " + "[" * 500 + "]" * 500),
    ):
        vault.note(f"header/{name}.md", f"---\n{header}\n---\n")
    vault.note("header/bom.md", "\ufeff---\ntags: [x]\n---\n")
    vault.note("header/crlf.md", "---\r\ntags: [x]\r\n---\r\n")
    vault.note("header/multi column.md", "--- start-multi-column: A\n")
    vault.note("header/four dashes.md", "----\n")
    vault.note("header/never closed.md", "---\ntitle: x\n")
    vault.note("header/closed by dots.md", "---\ntitle: x\n...\n")
    vault.note("header/twice over.md", "---\na: 1\n---\n---\nb: 2\n---\n")
    vault.note("header/conflict.md", "---\na: 1\n---\n<<<<<<< HEAD\nx\n=======\n---\n>>>>>>> theirs\n")
    vault.note("header/blank first.md", "\n---\ntitle: x\n---\n")
    vault.note("header/only dashes.md", "---\n---\n")


def _contents(vault: StrangeVault) -> None:
    for name in ("Empty", "Untitled", "Spaces"):
        word = vault.word()
        vault.write(f"content/{name} {word}.md", b" \n\t \n" if name == "Spaces" else b"")
        vault.found[f"content/{name} {word}.md"] = word
    vault.note("content/heading.md", "# ", "")
    vault.note("content/image.md", "![](data:image/png;base64," + "iVBORw0KGgo" * 100_000 + ")\n")
    vault.note("content/drawing.md", "---\nexcalidraw-plugin: parsed\n---\n# Text Elements\n",
               "\n%%\n# Drawing\n```compressed-json\n" + "N4IgLgngDgpiBcIYA8D" * 5_000 + "\n```\n%%\n")  # fmt: skip
    vault.note("content/one line.md", "x" * 60_000 + " ")
    vault.note("content/no space.md", "日本語" * 10_000 + " ")
    vault.note("content/many headings.md", "# a\n" * 3_000)
    vault.note("content/many links.md", "[[a]] " * 5_000)
    vault.note("content/many tags.md", "#a/b " * 5_000)
    vault.note("content/open fences.md", "```\n" * 3_001)
    vault.note("content/open comment.md", "", "\n%% never closed\n")
    vault.note("content/open math.md", "$$\n\\begin{x}\n")
    vault.note("content/brackets.md", "[" * 5_000 + "(" * 5_000)
    vault.note("content/quotes.md", ">" * 5_000 + " ")
    vault.note("content/template.md", "<%* tp.date.now() %> {{title}}\n```dataview\nTABLE x\n```\n")
    vault.note("content/html.md", "<script>alert(1)</script><!-- never closed\n\n")
    vault.note("content/emoji.md", "\U0001f469\u200d\U0001f469\u200d\U0001f467" * 2_000 + " ")
    vault.note("content/zalgo.md", "e" + "\u0301" * 2_000 + " ")
    vault.list("content/too large.md", b"word " * (MAX_BYTES // 4), "limit")


def _encodings(vault: StrangeVault) -> None:
    vault.note("encoding/latin.md", "café ".encode("latin-1"), odd="UTF-8")
    vault.note("encoding/cut emoji.md", "\U0001f9ad ".encode()[:2] + b" ", odd="UTF-8")
    vault.note("encoding/surrogate.md", b"\xed\xa0\xbd ", odd="UTF-8")
    vault.note("encoding/crlf.md", "a\r\nb\r\n")
    vault.note("encoding/cr.md", "a\rb\r")
    vault.note("encoding/separators.md", "a\u2028b\u2029c\x85d\x0c\x0b")
    vault.note("encoding/controls.md", "\x01\x02\x1b[31m\x7f\ufffe\ufeff ")
    for name, codec, mark in (("le", "utf-16-le", b"\xff\xfe"), ("be", "utf-16-be", b"\xfe\xff")):
        word = vault.found[f"encoding/utf16 {name}.md"] = vault.word()
        vault.write(f"encoding/utf16 {name}.md", mark + f"In sixteen bits {word}.\n".encode(codec))
    vault.list("encoding/binary.md", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "binary")
    vault.list("encoding/zeros.md", bytes(5_000), "binary")


def _kept_apart(vault: StrangeVault) -> None:
    for path in (
        ".obsidian/plugins/x/README.md", ".trash/gone.md", ".git/note.md", ".hidden.md", "folder/.hidden/note.md",
        "Excluded/note.md", "By Obsidian/note.md", "picture.zip", "script.js", "note.mdown", "note.md~",
        "note.md.tmp",
    ):  # fmt: skip
        vault.hidden(path)
    vault.write(".obsidian/app.json", b'{"userIgnoreFilters": ["By Obsidian/"]}')
    vault.write(".vaultragignore", b"Excluded/\n")
    for name in (
        "Plan.sync-conflict-20260101-120000-ABCDEFG.md",
        "Plan (conflicted copy 2026-01-01).md",
        "Plan (Case Conflict).md",
    ):
        vault.list(name, b"", "sync-conflict copy")


def _special_files(vault: StrangeVault, outside: Path) -> None:
    root = vault.root
    os.mkfifo(root / "pipe.md")
    vault.listed["pipe.md"] = "a named pipe"
    listener = socket.socket(socket.AF_UNIX)
    there = os.open(root, os.O_RDONLY)  # by way of the descriptor: the path may be too long for a socket's
    try:
        listener.bind(f"/proc/self/fd/{there}/socket.md" if Path("/proc/self/fd").exists() else str(root / "socket.md"))
        vault.listed["socket.md"] = "a socket"
    except OSError as error:
        vault.untried["a socket"] = str(error)
    finally:
        listener.close()
        os.close(there)
    try:
        os.mknod(root / "device.md", stat.S_IFCHR | 0o600, os.makedev(1, 5))
        vault.listed["device.md"] = "a device"
    except OSError as error:
        vault.untried["a device"] = str(error)
    for name, size in (("sparse.md", 100_000), ("sparse and large.md", MAX_BYTES * 1_000)):
        with (root / name).open("wb") as file:
            file.truncate(size)
    blocks = os.stat(root / "sparse.md").st_blocks
    vault.listed["sparse and large.md"] = "limit"
    vault.listed["sparse.md"] = "not downloaded" if blocks == 0 else "binary"
    vault.note("hard link one.md")
    os.link(root / "hard link one.md", root / "hard link two.md")
    os.link(root / "hard link one.md", outside / "hard link.md")
    (root / "empty folder.md").mkdir()


def _links(vault: StrangeVault, outside: Path) -> None:
    root = vault.root
    secret = vault.word()
    vault.silent.append(secret)
    (outside / "secret.md").write_text(secret)
    vault.note("links/target.md")
    for name, target, reason in (
        ("out.md", outside / "secret.md", "out of the vault"),
        ("out by dots.md", Path("../../outside/secret.md"), "out of the vault"),
        ("dangling.md", Path("nothing.md"), "does not exist"),
        ("loop.md", Path("loop.md"), "leads back to itself"),
        ("ping.md", Path("pong.md"), "leads back to itself"),
        ("pong.md", Path("ping.md"), "leads back to itself"),
        ("to hidden.md", Path("../.trash/gone.md"), "excluded file"),
        ("to a folder.md", Path("../header"), "a folder"),
        ("to a pipe.md", Path("../pipe.md"), "a named pipe"),
        ("folder out", outside, "linked folders are not followed"),
        ("folder in", Path("../header"), "linked folders are not followed"),
        ("folder loop", Path(".."), "linked folders are not followed"),
    ):
        (root / "links" / name).symlink_to(target)
        vault.listed[f"links/{name}"] = reason


def fingerprint(root: Path) -> dict[bytes, tuple[object, ...]]:
    """Everything a write to the vault would change: each entry's kind, mode, size, time, inode, links and content."""
    found: dict[bytes, tuple[object, ...]] = {}
    waiting = [os.fsencode(root)]
    while waiting:
        place = waiting.pop()
        at = os.lstat(place)
        content = b""
        if stat.S_ISREG(at.st_mode) and at.st_blocks:
            with open(place, "rb") as file:
                content = hashlib.blake2b(file.read()).digest()
        elif stat.S_ISLNK(at.st_mode):
            content = os.readlink(place)
        found[place] = (at.st_mode, at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_ino, at.st_nlink, content)
        if stat.S_ISDIR(at.st_mode):
            with suppress(PermissionError):
                waiting += [os.path.join(place, name) for name in os.listdir(place)]
    return found
