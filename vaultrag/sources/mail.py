"""Messages as mail programs save them: who wrote to whom, about what, and the text."""

from __future__ import annotations

import email
import email.policy
from email.message import EmailMessage
from email.utils import parsedate_to_datetime

from vaultrag.sources.html import parsed, text_of
from vaultrag.sources.source_text import Section, SourceText, Unreadable, one_line, plain

_PROPERTIES = {"From": "from", "To": "to", "Cc": "cc"}


def read_mail(data: bytes) -> SourceText:
    """Read a message; what is attached is named."""
    message = email.message_from_bytes(data, _class=EmailMessage, policy=email.policy.default)
    if not message.keys():
        raise Unreadable("damaged: it is no message")
    said = {called: value for name, called in _PROPERTIES.items() if (value := _header(message, name))}
    if date := _date(message):
        said["date"] = date
    lines = [_text(message)]
    attached = [one_line(part.get_filename() or "") for part in message.iter_attachments()]
    if named := [plain(name) for name in attached if name]:
        lines.append("Attached: " + ", ".join(named))
    return SourceText([Section("", "\n\n".join(filter(None, lines)))], _header(message, "Subject"), said)


def _text(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        content = part.get_content()
    except (LookupError, UnicodeError, ValueError):
        content = bytes(part.get_payload(decode=True) or b"").decode("latin-1")
    if part.get_content_subtype() == "html":
        root = parsed(str(content).encode())
        return text_of(root) if root is not None else ""
    return plain(str(content).replace("\r\n", "\n"))


def _header(message: EmailMessage, name: str) -> str:
    try:
        return one_line(str(message.get(name) or ""))
    except (ValueError, IndexError, AttributeError):  # what headers hold is beyond any grammar
        return ""


def _date(message: EmailMessage) -> str:
    try:
        return parsedate_to_datetime(_header(message, "Date")).date().isoformat()
    except (ValueError, TypeError, IndexError):
        return ""
