"""What looks like a key or a token, masked: by detect-secrets' rules, and by those of ``secret_rules``.

Masking is on the safe side of reading, not of writing: it keeps a key that lies about in a note from a model's context,
and from whatever that model sends on. It is no promise. A password that is a plain word looks like a plain word.

The library is loaded when the first text that could hold a key is met, for it brings an HTTP client along.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from importlib import import_module
from itertools import pairwise
from typing import TypeAlias

from vaultrag.secret_rules import COMMANDS, KEY_WORDS, NO_SECRETS, PASSWORD_WORDS, TOKENS
from vaultrag.text.invisible import without_invisible

_PASSWORD, _KEY = "|".join(PASSWORD_WORDS), "|".join(KEY_WORDS)

# Each rule needs one of these in a line: a run with a digit in it, an address, a telling word, or a telling program.
_SUSPICIOUS = re.compile(
    rf"(?=[A-Za-z_+/=.~$-]*\d)[A-Za-z0-9_+/=.~$-]{{11,}}|://|(?i:{_PASSWORD}|{_KEY}|authorization|curl|wget|identified)"
    r"|-[pua] |sshpass|mysql|requirepass|masterauth|\bPIN\b"
)
_BLOCKS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.DOTALL))
    for kind, pattern in (
        ("Private Key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [^\n]*|\Z)"),
        ("Private Key", r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----.*?(?:---- END [^\n]*|\Z)"),
        ("Private Key", r"(?<=Private-Lines: )\d+\n.*?(?:Private-MAC: [^\n]*|\Z)"),  # PuTTY's
        ("Encoded Key", r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,}=*"),  # "-----BEGIN" in base64, as kubeconfig has it
    )
)
_BLOCK_SIGNS = ("PRIVATE KEY", "Private-Lines: ", "LS0tLS1CRUdJTi")

_TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:" + "|".join(f"(?P<t{number}>{pattern})" for number, (_, pattern) in enumerate(TOKENS)) + ")"
)
_COMMANDS = tuple((kind, re.compile(pattern)) for kind, pattern in COMMANDS)
_ANNOUNCED = re.compile(
    rf"(?i:(?P<password>{_PASSWORD})|(?P<key>{_KEY}))(?![A-Za-z])"
    r"(?P<suffix>[_-](?:prod|production|dev|test|staging|live|old|new|main|admin|root|user|\d{1,2})(?![A-Za-z0-9]))?"
    r"(?:[ ]?\([^()\n]{1,30}\))?[\"'`*_\]]{0,5}[ \t]*(?P<sign>:=|=>|->|→|::|[:=：]|(?:is|ist|was|lautet)(?=[ \t:]))"
    r"[ \t]*[*_]{0,3}[ \t]*"
    r"(?:\\?\"(?P<double>[^\"\n\\]{1,200})\\?\"|'(?P<single>[^'\n]{1,200})'|`(?P<code>[^`\n]{1,200})`"
    r"|(?P<bare>[^\s\"'`|]\S{0,400}))"
)
"""A word that announces a secret, a sign, and a value."""

_PIN = re.compile(r"\bPIN(?:[ -][Cc]ode)?[*_]{0,2}[ \t]*(?:[:=]|is\b)[*_]{0,2}[ \t]*(\d{4,12})(?!\d)(?![-.:/]\d)")
_TELLING = re.compile(
    rf"[\s*_`\"']*(?:[^\W\d_]+[ _-]){{0,2}}(?:(?P<password>{_PASSWORD})|(?:{_KEY}))[\s*_`\"':]*", re.IGNORECASE
)
"""A cell of a table that holds nothing but a telling word."""

_RULER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_CELLS = re.compile(r"(?<!\\)\|")
_NEXT_SETTING = re.compile(r"[;,&](?=\w[\w .-]*=)|;$")
_REFERENCE = re.compile(
    r"\$\{?\w.*|\{.*|<.*|%\(?\w+\)?s?%?|[*xX.…•_-]+|‹.*|\[.*|~/.*|\.{1,2}/.*|.*://.*|[A-Za-z_][\w.]*[(\[].*"
    r"|[a-z_]\w*(?:\.[a-z_]\w*)+|.*(?:your|example|placeholder|change.?me|xxxx|\.\.\.|…).*",
    re.IGNORECASE,
)
"""What stands for a value and is none: a variable, a placeholder, a link, a path, a call."""

_DATA = re.compile(r"([A-Za-z0-9+/=]{1000,})")
"""A picture, say; no key is so long, and every rule would take its time over it."""

_RUN = re.compile(r"[A-Za-z0-9_+/=.-]*")
_RULES = (
    "artifactory", "aws", "azure_storage_key", "basic_auth", "cloudant", "discord", "github_token", "gitlab_token",
    "ibm_cloud_iam", "ibm_cos_hmac", "jwt", "mailchimp", "npm", "openai", "pypi_token", "sendgrid", "slack",
    "softlayer", "square_oauth", "stripe", "telegram_token", "twilio",
)  # fmt: skip
"""Modules of the library. Not among them: what guesses by entropy, for it takes commit hashes for keys."""

_KEPT = 4096
_MIN_SECRET_CHARS = 6
_MIN_VALUE_CHARS = 3
_MIN_KEY_CHARS = 8
_MIN_REPEATED_CHARS = 8
_MIN_SLASHED_CHARS = 24
"""What begins with a slash is a path, unless it is long and of no words: base64 may begin so, too."""

_Span: TypeAlias = "tuple[int, int, str]"


class SecretMasker:
    """Masks keys and tokens, and takes out characters that nobody sees. Callable from any thread."""

    def __init__(self, secrets: bool = True) -> None:
        """Load the rules.

        Args:
            secrets: Mask secrets; without, only what nobody sees is taken out.
        """
        self._secrets = secrets
        self._patterns: tuple[tuple[str, re.Pattern[str]], ...] = ()
        self._loading = threading.Lock()
        self._known: OrderedDict[bytes, bytes | None] = OrderedDict()  # what became of a file; None: it is as it was
        self._lock = threading.Lock()

    def text(self, text: str) -> str:
        """Return the text with every secret replaced by a mark that names its kind; as many lines as before."""
        text = without_invisible(text)
        if not self._secrets:
            return text
        blocks = any(sign in text for sign in _BLOCK_SIGNS)
        if not blocks and not _SUSPICIOUS.search(text):
            return text
        for kind, pattern in _BLOCKS if blocks else ():
            text = pattern.sub(lambda block, kind=kind: _mark(kind) + "\n" * block[0].count("\n"), text)  # type: ignore[misc]
        lines = text.split("\n")
        _mask_tables(lines)
        for number, line in enumerate(lines):
            if _SUSPICIOUS.search(line):
                lines[number] = self._line(line)
        return "\n".join(lines)

    def data(self, data: bytes) -> bytes:
        """Return the same for a file's bytes; those of a text in UTF-16 come back as UTF-8 if something was masked."""
        name = blake2b(data, digest_size=16).digest()
        with self._lock:
            if name in self._known:
                self._known.move_to_end(name)
                return self._known[name] or data
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        text = data.decode("utf-16", "replace") if wide else data.decode("utf-8", "surrogateescape")
        masked = self.text(text)
        result = None if masked == text else masked.encode("utf-8", "surrogateescape")
        with self._lock:
            self._known[name] = result
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return result or data

    def _line(self, line: str) -> str:
        pieces = _DATA.split(line)
        pieces[::2] = [self._piece(piece) for piece in pieces[::2]]
        return "".join(pieces)

    def _piece(self, line: str) -> str:
        spans = [*self._by_library(line), *_by_rules(line)]
        # What was found once is masked wherever else it stands, unless it is so short that it could be a word's part.
        for start, end, kind in tuple(spans):
            secret = line[start:end]
            if len(secret) >= _MIN_REPEATED_CHARS:
                spans += [(at.start(), at.end(), kind) for at in re.finditer(re.escape(secret), line)]
        return _without(line, spans)

    def _by_library(self, line: str) -> Iterator[_Span]:
        for kind, pattern in self._loaded():
            for found in pattern.finditer(line):
                # A rule's groups are the secret itself, or only its prefix; then it is all that was matched.
                groups = [
                    number for number, group in enumerate(found.groups(), 1) if len(group or "") >= _MIN_SECRET_CHARS
                ]
                yield from ((*found.span(number), kind) for number in groups)
                if not groups and len(found[0]) >= _MIN_SECRET_CHARS:
                    rest = _RUN.match(line, found.end())  # some rules stop before the last part of a token
                    yield found.start(), rest.end() if rest is not None else found.end(), kind

    def _loaded(self) -> Sequence[tuple[str, re.Pattern[str]]]:
        with self._loading:
            if not self._patterns:
                self._patterns = tuple(_patterns())
            return self._patterns


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    from detect_secrets.plugins.base import RegexBasedDetector

    for name in _RULES:
        for member in vars(import_module(f"detect_secrets.plugins.{name}")).values():
            if isinstance(member, type) and issubclass(member, RegexBasedDetector) and member is not RegexBasedDetector:
                yield from ((str(member.secret_type), pattern) for pattern in member().denylist)


def _by_rules(line: str) -> Iterator[_Span]:
    for found in _TOKENS.finditer(line):
        yield *found.span(), TOKENS[int((found.lastgroup or "t0")[1:])][0]
    for kind, pattern in _COMMANDS:
        yield from ((*found.span(1), kind) for found in pattern.finditer(line) if not _REFERENCE.fullmatch(found[1]))
    yield from ((*found.span(1), "PIN") for found in _PIN.finditer(line))
    position = 0
    while (word := _ANNOUNCED.search(line, position)) is not None:
        position = word.end("sign")  # a value may announce another one: "token: secret=…"
        if (span := _announced(line, word)) is not None:
            yield *span, "Password" if word["password"] else "Secret"


def _announced(line: str, found: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value stands, if it is a secret."""
    quoted = found["bare"] is None
    group = "bare" if not quoted else next(name for name in ("double", "single", "code") if found[name] is not None)
    start, end = found.span(group)
    if not quoted:
        if (cut := _NEXT_SETTING.search(line, start, end)) is not None:
            end = cut.start()
        end = start + len(line[start:end].rstrip("*_.,:)]}>`\"'\\"))
    value = line[start:end]
    if len(value) < _MIN_VALUE_CHARS or _REFERENCE.fullmatch(value) or value.casefold() in NO_SECRETS:
        return None
    if value[0] == "/" and (len(value) < _MIN_SLASHED_CHARS or _is_wordy(value)):
        return None  # a path
    before = line[found.start() - 1 : found.start()]
    in_code = (
        before in ("_", "-") or before.isalnum() or (found["sign"] == "=" and line[found.end("sign")] not in " \t")
    )
    alone = quoted or in_code or not line[end:].strip(" \t*_.,;:!)]}>`\"'\\|#")
    is_secret = _is_password if found["password"] else _is_key
    said = found["sign"] not in (":", "=", ":=", "=>", "->", "→", "::", "：")
    return (start, end) if is_secret(value, alone=alone, in_code=in_code, said=said) else None


def _is_password(value: str, *, alone: bool, in_code: bool, said: bool) -> bool:
    """Return whether this is meant as a password: after a colon and alone, most things are; in a sentence, few."""
    if value.isdigit() or _DAY.fullmatch(value):
        return alone and not said and len(value) >= 4 and not _DAY.fullmatch(value)
    wordy = _is_wordy(value)
    if not alone:
        return not wordy and len(value) >= 6 and _is_mixed(value)
    return not (wordy and said) and (" " not in value or in_code or not said)


def _is_key(value: str, *, alone: bool, in_code: bool, said: bool) -> bool:
    """Return whether this is meant as a key or a token; words never are, but for a secret's in code."""
    if len(value) < _MIN_KEY_CHARS or " " in value or _is_wordy(value):
        return False
    if _FILE.fullmatch(value):
        return False
    return _is_no_word(value) or (alone and _is_mixed(value) and (in_code or len(value) >= 16))


_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}\.\d{1,2}\.(?:\d{2,4})?")
_FILE = re.compile(r"[\w./-]*\.(?:md|txt|pdf|ya?ml|json|toml|env|pem|key|py|js|ts|sh|png|csv)|id_\w+")
_PARTS = re.compile(r"[-_./:+'’ ]+")


def _is_wordy(value: str) -> bool:
    """Return whether all parts are words or numbers, as in ``see-2024-plan``."""
    return all(
        not part or part.isdigit() or (part.isalpha() and (part.islower() or part.isupper() or part.istitle()))
        or (part.isalpha() and not part.isascii())
        for part in _PARTS.split(value)
    )  # fmt: skip


def _is_mixed(value: str) -> bool:
    kinds = (any(map(str.isdigit, value)), any(map(str.isupper, value)), any(map(str.islower, value)))
    return sum(kinds) + any(not char.isalnum() and char not in "-_./" for char in value) >= 2


def _mask_tables(lines: list[str]) -> None:
    """Mask the cells under a header that announces passwords, and those beside a cell that does."""
    columns: dict[int, bool] = {}
    for number, line in enumerate(lines):
        if "|" not in line:
            columns = {}
            continue
        cells = _CELLS.split(line)
        if number + 1 < len(lines) and "-" in lines[number + 1] and _RULER.fullmatch(lines[number + 1]):
            lead = len(cells) > 1 and not cells[0].strip()
            columns = {at - lead: True for at, cell in enumerate(cells) if _TELLING.fullmatch(cell)}
            continue
        lead = len(cells) > 1 and not cells[0].strip()
        named = {at + 1 - lead for at, cell in enumerate(cells[:-1]) if _TELLING.fullmatch(cell)} - set(columns)
        for at in {*columns, *named}:
            place = at + lead
            if place < len(cells) and _is_cell_secret(value := cells[place].strip(" \t*_`\"'")):
                cells[place] = cells[place].replace(value, _mark("Password"))
        lines[number] = "|".join(cells)


def _is_cell_secret(value: str) -> bool:
    if len(value) < _MIN_VALUE_CHARS or value.casefold() in NO_SECRETS or _REFERENCE.fullmatch(value):
        return False
    return " " not in value and not _DAY.fullmatch(value) and not _RULER.fullmatch(value)


def _without(line: str, spans: list[_Span]) -> str:
    """Return the line with each of these replaced; of several that overlap, the first names the kind."""
    parts: list[str] = []
    position = 0
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= position:
            parts += (line[position:start], _mark(kind))
        position = max(position, end)
    return "".join((*parts, line[position:]))


def _is_no_word(text: str) -> bool:
    """Return whether letters and digits are mixed as in no word, day, version or name of a file."""
    letters = sum(char.isalpha() for char in text)
    digits = sum(char.isdigit() for char in text)
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(text))
    return letters >= 3 and digits >= 2 and changes >= 3 and len(set(text.lower())) >= 8 and "/" not in text[:2]


def _mark(kind: str) -> str:
    return f"‹{kind} masked›"
