"""The process that reads files: one after the other, from its standard input to its standard output.

A file may be made to attack its reader, so this process can do nothing but compute. Before the first file it gives up
every way to open one: no descriptor can be had any more (which also means no socket), no byte can be written to a file,
no process started, and memory is bounded. These limits cannot be raised again. They are POSIX; where there are none the
process runs without.
"""

from __future__ import annotations

import encodings
import importlib
import os
import pkgutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import BinaryIO

import msgspec

from vaultrag.domain.kinds import Kind
from vaultrag.sources.frames import Ended, Reply, Request, read_frame, write_frame
from vaultrag.sources.readers import RECOGNISE, Reader, load, load_recognisers
from vaultrag.sources.source_text import Unreadable, markdown

MEMORY_BYTES = 1 << 30
RECOGNISING_BYTES = 3 << 30
"""Address space beyond what the libraries take."""

MAX_FILE = 1 << 30
NICE = 10

_LATE = ("_strptime", "email.contentmanager", "email.generator", "email.iterators", "stringprep")
"""Modules of the standard library that are imported by others at their first use."""

NO_TEXT = "no text in it"
_SOMETHING = 1000  # bytes of a file in which some text is to be expected

TOO_LARGE = "it needs more memory than a file may take"


def main() -> None:
    """Read files until the pipe ends."""
    pipe_in, pipe_out = sys.stdin.buffer, sys.stdout.buffer
    readers = load_recognisers() if RECOGNISE in sys.argv else load()
    _import_ahead(readers)
    give_up_rights()
    with suppress(Ended, BrokenPipeError):
        while True:
            _serve(pipe_in, pipe_out, readers)


def _serve(pipe_in: BinaryIO, pipe_out: BinaryIO, readers: Mapping[Kind, Reader]) -> None:
    request = msgspec.json.decode(read_frame(pipe_in, MAX_FILE), type=Request)
    data = read_frame(pipe_in, MAX_FILE)
    write_frame(pipe_out, msgspec.json.encode(_read(readers[request.kind], data)))


def _read(reader: Reader, data: bytes) -> Reply:
    try:
        source = reader(data)
        text = markdown(source)
        nothing = NO_TEXT if not text and len(data) > _SOMETHING and RECOGNISE not in sys.argv else ""
        return Reply(text, source.problem or nothing, source.pictures)
    except Unreadable as problem:
        return Reply("", str(problem))
    except MemoryError:
        return Reply("", TOO_LARGE)
    except RecursionError:
        return Reply("", "damaged: it is nested too deeply")
    except Exception as fault:  # a library's, about a file that nobody has seen
        return Reply("", f"damaged, or of a form that is not known ({type(fault).__name__})")


def _import_ahead(readers: Mapping[Kind, Reader]) -> None:
    """Import what is imported at the first use: nothing can be opened later."""
    for module in pkgutil.iter_modules(encodings.__path__):
        if module.name not in ("mbcs", "oem"):
            with suppress(ImportError):
                importlib.import_module(f"encodings.{module.name}")
    for name in _LATE:
        importlib.import_module(name)
    for reader in readers.values():
        _read(reader, b"")


def give_up_rights() -> None:
    """Give up files, sockets, processes and unbounded memory, for good."""
    with suppress(OSError):
        os.nice(NICE)
    try:
        import resource
    except ImportError:  # Windows
        return
    with suppress(OSError, ValueError):
        used = _address_space()
        more = RECOGNISING_BYTES if RECOGNISE in sys.argv else MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (used + more,) * 2)
    for name in ("RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_CORE"):
        if hasattr(resource, name):
            with suppress(OSError, ValueError):
                resource.setrlimit(getattr(resource, name), (0, 0))


def _address_space() -> int:
    """Return the bytes of address space in use; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - the last file that is opened
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


if __name__ == "__main__":
    main()
