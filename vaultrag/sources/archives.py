"""Files that are ZIP archives of others, unpacked within bounds: what is too much for them is no document."""

from __future__ import annotations

import io
import zipfile

from vaultrag.sources.source_text import Unreadable

MAX_UNPACKED = 300 << 20
MAX_MEMBERS = 20_000
MAX_RATIO = 1000
"""A member that shrinks to less than a thousandth was made to."""

_ENCRYPTED = 1
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""What office programs wrap a document in that has a password."""


def opened(data: bytes) -> zipfile.ZipFile:
    """Return an archive whose members may be read.

    Raises:
        Unreadable: It is no archive, has a password, or would unpack to too much.
    """
    if data.startswith(_COMPOUND):
        raise Unreadable("protected by a password, or of an old format")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise Unreadable("damaged: it cannot be unpacked") from error
    members = archive.infolist()
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise Unreadable("protected by a password")
    if len(members) > MAX_MEMBERS or sum(member.file_size for member in members) > MAX_UNPACKED:
        raise Unreadable("it would unpack to more than a file may take")
    if any(member.file_size > MAX_RATIO * max(1000, member.compress_size) for member in members):
        raise Unreadable("it was made to unpack to very much")
    return archive


def member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of a member; never more than it says of itself.

    Raises:
        KeyError: There is none of this name.
        Unreadable: It is damaged.
    """
    info = archive.getinfo(name)
    try:
        with archive.open(info) as file:
            return file.read(info.file_size)
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable("damaged: it cannot be unpacked") from error
