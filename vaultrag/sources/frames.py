"""What goes through the pipe between the daemon and the process that reads files: a length, and so many bytes."""

from __future__ import annotations

import struct
from typing import BinaryIO

import msgspec

from vaultrag.domain.kinds import Kind

_LENGTH = struct.Struct(">Q")


class Request(msgspec.Struct, frozen=True):
    """A file to read; its bytes follow in a frame of their own."""

    kind: Kind


class Reply(msgspec.Struct, frozen=True):
    """The text made of a file.

    Attributes:
        text: The Markdown made of it; empty where it could not be read.
        problem: What could not be read, in words for a person; empty where all could.
        pictures: Pages that are pictures, and were not read.
    """

    text: str = ""
    problem: str = ""
    pictures: int = 0


class Ended(Exception):
    """The other end is closed."""


def write_frame(pipe: BinaryIO, data: bytes) -> None:
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def read_frame(pipe: BinaryIO, most: int) -> bytes:
    """Read one frame.

    Raises:
        Ended: The other end is closed, or sends more than ``most`` bytes.
    """
    length = pipe.read(_LENGTH.size)
    if len(length) < _LENGTH.size or (size := _LENGTH.unpack(length)[0]) > most:
        raise Ended
    data = pipe.read(size)
    if len(data) < size:
        raise Ended
    return data
