"""The daemon's end of the pipe: starts the process that reads files, and ends it when it is idle, late or dead."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from vaultrag.domain.kinds import Kind
from vaultrag.domain.sources import Converted
from vaultrag.home import TELEMETRY_OFF
from vaultrag.sources.frames import Ended, Reply, Request, read_frame, write_frame
from vaultrag.sources.readers import RECOGNISE

log = logging.getLogger(__name__)

TIMEOUT_S = 60.0
MAX_REPLY = 64 << 20


class SourceProcess:
    """Reads files in a process of its own, which is started when there is one to read. For one thread at a time."""

    def __init__(self, folder: Path, timeout_s: float = TIMEOUT_S, *, recognise: bool = False) -> None:
        """Prepare; nothing is started.

        Args:
            folder: Where the process runs: one that nobody else can write to.
            timeout_s: How long one file may take, or one page that is recognised.
            recognise: Read the text in pictures, and nothing else.
        """
        self._recognise = recognise
        self._folder = folder
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    @property
    def running(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int:
        """Return the number of the process; 0 where none runs."""
        return self._process.pid if self._process is not None else 0

    def convert(self, kind: Kind, data: bytes, pages: int = 1) -> Converted:
        """Read a file. Never raises for what is in it: a file that ends its reader gives the reason.

        Args:
            kind: Of the file.
            data: Of the file.
            pages: How many of its pages are recognised.
        """
        limit_s = self._timeout_s * max(1, pages)
        process = self._process or self._start()
        if self._stopped:
            process.kill()
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(limit_s, end)
        timer.daemon = True
        timer.start()
        try:
            reply = _asked(process, kind, data)
        except (Ended, OSError, msgspec.DecodeError) as error:
            self.close()
            why = f"it took longer than {limit_s:g} s" if late.is_set() else _how_it_ended(process)
            log.warning("a file of kind %s ended its reader: %s (%s)", kind, why, type(error).__name__)
            return Converted("", why)
        finally:
            timer.cancel()
        return Converted(reply.text, reply.problem, reply.pictures)

    def stop(self) -> None:
        """Break off the file at hand, for good. Callable from any thread."""
        self._stopped = True
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """End the process, if it runs."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "vaultrag.sources.child", *([RECOGNISE] if self._recognise else [])]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env={**os.environ, **TELEMETRY_OFF},
            start_new_session=True,
        )
        return self._process


def _asked(process: subprocess.Popen[bytes], kind: Kind, data: bytes) -> Reply:
    assert process.stdin is not None
    assert process.stdout is not None
    pipe_in: BinaryIO = process.stdin  # type: ignore[assignment]
    pipe_out: BinaryIO = process.stdout  # type: ignore[assignment]
    write_frame(pipe_in, msgspec.json.encode(Request(kind)))
    write_frame(pipe_in, data)
    return msgspec.json.decode(read_frame(pipe_out, MAX_REPLY), type=Reply)


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    code = process.wait()
    if code < 0:
        with suppress(ValueError):
            return f"it ended its reader ({signal.Signals(-code).name})"
    return f"it ended its reader (exit code {code})"
