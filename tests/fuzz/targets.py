"""What must hold for any bytes: no exception but those that are foreseen, and nothing that contradicts itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from vaultrag.domain import NotePath
from vaultrag.errors import InvalidParams, InvalidRequest, MessageTooLarge, VaultragError
from vaultrag.markdown import parse_note, read_body
from vaultrag.markdown.chunking import windows
from vaultrag.markdown.frontmatter import split
from vaultrag.markdown.private_flag import PrivateRules
from vaultrag.retrieval.clauses import clauses_of
from vaultrag.retrieval.query_parser import MAX_TERMS, parse_query
from vaultrag.rpc.methods import METHODS, convert
from vaultrag.rpc.protocol import Conversation, Lines, Reply, Request, decode, encode_error, encode_request, error_of

PATH = NotePath("Folder/A note.md")


def parser(data: bytes) -> None:
    """Any file is a note: the places it names lie in it, all of it is text, and it reads the same again."""
    note = parse_note(PATH, data)
    assert note == parse_note(PATH, data)
    assert note.title
    lines = note.body.count("\n") + note.body_line
    places = [heading.line for heading in note.headings] + [link.line for link in note.links]
    assert all(1 <= line <= lines for line in places), (places, lines)
    texts = [note.title, note.body, note.text.text, *note.tags, *note.aliases, *note.properties]
    for value in note.properties.values():
        texts.extend((value,) if isinstance(value, str) else value)
    for text in texts:
        text.encode()  # no half of a surrogate pair
    assert "\0" not in note.body
    if not note.problems or "binary" not in note.problems[0]:
        assert read_body(data) == (note.body, note.body_line)
    PrivateRules(("health",)).hides(PATH, note.properties, note.tags)
    pieces = "".join(piece.text for piece in windows(note.text.text, 200))
    assert "".join(pieces.split()) == "".join(note.text.text.split())
    header, body, line = split(note.body)
    assert line == (1 if header is None else 3 + header.count("\n"))
    assert note.body.endswith(body)
    assert PurePosixPath(note.path).suffix == ".md"


def protocol(data: bytes) -> None:
    """Any line is a message or a foreseen error, any parameters fit or are refused, and what is written can be read."""
    try:
        lines = list(Lines(4_096).feed(data))
    except MessageTooLarge:
        return
    for line in lines:
        try:
            message = decode(line)
        except InvalidRequest as error:
            _told(error)
            continue
        if isinstance(message, Request):
            again = decode(encode_request(message.method, message.params, message.id))
            assert isinstance(again, Request)
            assert (again.method, again.id) == (message.method, message.id)
            _call(message)
        elif message.error is not None:
            error_of(message.error)
    whole, cut = Conversation(), Conversation()
    assert _received(whole, [data]) == _received(cut, [data[start : start + 7] for start in range(0, len(data), 7)])


def _call(message: Request) -> None:
    for method in METHODS.values() if message.method not in METHODS else [METHODS[message.method]]:
        try:
            convert(method, message.params)
        except InvalidParams as error:
            _told(error)


def _told(error: VaultragError) -> None:
    """A refusal is short, on one line, and arrives as what it is."""
    refused = decode(encode_error(None, error))
    assert isinstance(refused, Reply)
    assert refused.error is not None
    assert type(error_of(refused.error)) is type(error)
    assert len(error.message) < 500
    assert "\n" not in error.message


def _received(conversation: Conversation, parts: list[bytes]) -> list[str]:
    found: list[str] = []
    for part in parts:
        try:
            found += [repr(message) for message in conversation.receive(part)]
        except InvalidRequest:
            return []  # the conversation ends there, wherever the stream was cut
    return found


def query(data: bytes) -> None:
    """Whatever is typed is a query: it is bounded, its clauses hold words, and its own words are a query again."""
    raw = data.decode("utf-8", "surrogateescape")
    asked = parse_query(raw)
    assert len(asked.terms) <= MAX_TERMS
    for typing in (False, True):
        for clause in clauses_of(asked.terms, typing=typing):
            assert clause.tokens
            assert all(clause.tokens)
    parse_query(asked.text)


TARGETS: dict[str, Callable[[bytes], None]] = {"parser": parser, "protocol": protocol, "query": query}
