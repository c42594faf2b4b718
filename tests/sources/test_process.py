"""The process that reads files: what it may do, and what becomes of a file that ends it."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import documents
from vaultrag.sources import SourceProcess

DEEDS = {
    "open a file": "open('/etc/hostname')",
    "make a file": "open('made', 'w')",
    "look something up": "__import__('socket').getaddrinfo('localhost', 80)",
    "connect": "__import__('socket').socket()",
    "start a process": "__import__('subprocess').run(['true'])",
    "list a folder": "__import__('os').listdir('/')",
    "take much memory": "__import__('mmap').mmap(-1, 2 << 30)",
    "get its rights back": "__import__('resource').setrlimit(__import__('resource').RLIMIT_NOFILE, (64, 64))"
    " or open('/etc/hostname')",
}


@pytest.fixture
def process(tmp_path: Path) -> Iterator[SourceProcess]:
    process = SourceProcess(tmp_path, timeout_s=20.0)
    yield process
    process.close()


@pytest.mark.parametrize("deed", DEEDS)
def test_it_can_do_nothing_but_compute(deed: str, tmp_path: Path) -> None:
    """After it has given up its rights, everything but computing fails; before, the same works."""
    script = (
        "import os, resource, socket, subprocess, sys\n"
        "from vaultrag.sources.child import give_up_rights\n"
        "if sys.argv[1] == 'after':\n    os.getuid() == 0 and os.setuid(65534)\n    give_up_rights()\n"
        f"{DEEDS[deed]}\n"
    )
    codes = {
        when: subprocess.run(
            [sys.executable, "-c", script, when], cwd=tmp_path, capture_output=True, check=False
        ).returncode
        for when in ("before", "after")
    }
    assert codes["after"] != 0, deed
    if deed != "get its rights back":
        assert codes["before"] == 0, f"the test itself cannot {deed}"


def test_files_are_read_one_after_the_other(process: SourceProcess) -> None:
    """One process serves many files."""
    pages = [process.convert("pdf", documents.pdf(f"Page of file {number}.")).text for number in range(3)]
    assert all(f"Page of file {number}." in text for number, text in enumerate(pages))
    assert "hello" in process.convert("canvas", documents.canvas_of([{"type": "text", "text": "hello"}])).text


def test_encodings_and_strange_letters_need_no_file(process: SourceProcess) -> None:
    """Everything that is imported late elsewhere is there before the rights are given up."""
    text = "Grüße, Ђуро, 日本語"
    for encoding in ("utf-8", "utf-16", "latin-1", "shift_jis", "koi8-r", "cp1252"):
        answer = process.convert("org", text.encode(encoding, "replace"))
        assert answer.problem == "", encoding
    assert process.convert("base", "views:\n  - name: Größe\n".encode()).text == "## View Größe\n"


def test_a_file_that_takes_too_long_is_passed_by(tmp_path: Path) -> None:
    """The next file is read by a new process."""
    hasty = SourceProcess(tmp_path, timeout_s=0.001)
    assert hasty.convert("pdf", documents.pdf("x")).problem == "it took longer than 0.001 s"
    assert not hasty.running


def test_a_reader_that_dies_is_started_again(process: SourceProcess) -> None:
    """A file that ends its reader gives the reason; the next one is read."""
    process.convert("pdf", documents.pdf("x"))
    child = process._process
    assert child is not None
    child.kill()
    child.wait()
    assert process.convert("pdf", documents.pdf("lost")).problem == "it ended its reader (SIGKILL)"
    assert "found" in process.convert("pdf", documents.pdf("found")).text


def _with_entities(data: bytes) -> bytes:
    """Return the archive with entities that grow tenfold nine times, and one that names a file, in each XML member."""
    grown = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    declared = f'<!DOCTYPE x [<!ENTITY a0 "ha"><!ENTITY f SYSTEM "file:///etc/hostname">{grown}]>'.encode()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return documents.archive(
        {
            name: declared + text.partition(b"?>")[2] if text.startswith(b"<?xml") else declared + text
            for name, text in members.items()
        }
    )


HOSTILE = {
    "pdf bomb": ("pdf", documents.pdf_bomb),
    "pdf loop": ("pdf", documents.pdf_that_loops),
    "pdf with a password": ("pdf", lambda: documents.pdf("x", encrypt="p")),
    "pdf cut off": ("pdf", lambda: documents.pdf("x" * 1000)[:-500]),
    "pdf of nothing": ("pdf", lambda: b"%PDF-1.7\n" * 1_000_000),
    "canvas too deep": ("canvas", lambda: b"[" * 5_000_000),
    "canvas of many cards": ("canvas", lambda: documents.canvas_of([{"type": "text", "text": "x"}] * 20_000)),
    "canvas of many groups": ("canvas", lambda: documents.canvas_of([{"type": "group", "label": "x"}] * 3000)),
    "base of aliases": (
        "base",
        lambda: b"a: &a [x]\n" + b"".join(b"k%d: &k%d [*a, *a]\n" % (n, n) for n in range(200)),
    ),
    "base too deep": ("base", lambda: b"a: " + b"[" * 100_000),
    "document bomb": ("word", documents.zip_bomb),
    "document of many members": ("word", lambda: documents.archive({str(n): b"" for n in range(30_000)})),
    "document cut off": ("word", lambda: documents.word("x")[:-100]),
    "document of nothing": ("word", lambda: documents.archive({"word/document.xml": b"<a>"})),
    "slides that are a document": ("slides", lambda: documents.word("x")),
    "sheet of entities": ("sheet", lambda: _with_entities(documents.sheet(A=[["x"]]))),
    "book without a table of contents": ("epub", lambda: documents.archive({"mimetype": b"application/epub+zip"})),
    "book of entities": ("epub", lambda: _with_entities(documents.epub("x", "<p>&a9;</p>"))),
    "page of deep nesting": ("html", lambda: b"<div>" * 500_000 + b"x"),
    "page of one tag": ("html", lambda: b"<" * 5_000_000),
    "mail of many parts": ("mail", lambda: b"Content-Type: multipart/mixed; boundary=a\n\n" + b"--a\n\n" * 10_000),
    "mail of nonsense": ("mail", lambda: b"\xff\x00" * 100_000),
    "org of brackets": ("org", lambda: b"[[" * 2_000_000),
    "org of marks": ("org", lambda: b"/a *b_ " * 200_000),
    "org of one line": ("org", lambda: b"*" * 10_000_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_in_a_sentence(name: str, process: SourceProcess) -> None:
    """A bomb, a loop or nonsense gives a text or a reason, and the next file is read."""
    kind, make = HOSTILE[name]
    answer = process.convert(kind, make())  # type: ignore[arg-type]
    assert answer.text or answer.problem
    assert "unforeseen" not in answer.problem
    assert "after" in process.convert("org", b"after").text
