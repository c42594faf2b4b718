"""What looks like a key or a token, masked: the rules are detect-secrets', and a few for tokens that are newer than it.

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

# Each of the library's rules needs one of these in a line: a run with a digit in it, an address, or a telling word.
_SUSPICIOUS = re.compile(
    r"(?=[A-Za-z_+/=.~-]*\d)[A-Za-z0-9_+/=.~-]{11,}|://|(?i:passw|pwd|secret|token|api.?key|access.?key|credential)"
)
_KEY_BLOCK = re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [^\n]*|\Z)", re.DOTALL)
_SAID = re.compile(
    r"(?i:\b(?:api[ _-]?key|access[ _-]?key|auth[ _-]?token|token|secret(?:[ _-]?key)?|password|passwd|passwort|pwd"
    r"|bearer)"
    r"[\"'`*]*[ \t]*(?:[:=]|is\b|ist\b)?[ \t]*[\"'`*]*)([A-Za-z0-9+/_.~!$%&-]{10,}=*)"
)
_DATA = re.compile(r"([A-Za-z0-9+/=]{1000,})")
"""A picture, say; no key is so long, and every rule would take its time over it."""

_RUN = re.compile(r"[A-Za-z0-9_+/=.-]*")
_NEWER = {
    "GitHub Token": r"github_pat_[A-Za-z0-9_]{50,}",
    "Google API Key": r"AIza[A-Za-z0-9_-]{35}",
    "Anthropic Token": r"sk-ant-[A-Za-z0-9_-]{20,}",
    "OpenAI Token": r"sk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{40,}",
    "Hugging Face Token": r"hf_[A-Za-z0-9]{30,}",
}
_RULES = (
    "artifactory", "aws", "azure_storage_key", "basic_auth", "cloudant", "discord", "github_token", "gitlab_token",
    "ibm_cloud_iam", "ibm_cos_hmac", "jwt", "mailchimp", "npm", "openai", "pypi_token", "sendgrid", "slack",
    "softlayer", "square_oauth", "stripe", "telegram_token", "twilio",
)  # fmt: skip
"""Modules of the library. Not among them: what guesses by entropy, for it takes commit hashes for keys."""

_KEPT = 4096
_MIN_SECRET_CHARS = 6


class SecretMasker:
    """Masks keys and tokens. Callable from any thread."""

    def __init__(self) -> None:
        self._patterns: tuple[tuple[str, re.Pattern[str]], ...] = ()
        self._loading = threading.Lock()
        self._known: OrderedDict[bytes, bytes | None] = OrderedDict()  # what became of a file; None: it is as it was
        self._lock = threading.Lock()

    def text(self, text: str) -> str:
        """The text with every secret replaced by a mark that names its kind; as many lines as before."""
        if not _SUSPICIOUS.search(text) and "PRIVATE KEY" not in text:
            return text
        text = _KEY_BLOCK.sub(lambda block: _mark("Private Key") + "\n" * block[0].count("\n"), text)
        lines = text.split("\n")
        for number, line in enumerate(lines):
            if _SUSPICIOUS.search(line):
                lines[number] = self._line(line)
        return "\n".join(lines)

    def data(self, data: bytes) -> bytes:
        """The same for a file's bytes; those of a text in UTF-16 come back as UTF-8 if something was masked."""
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
        found: dict[str, str] = {}
        for kind, secret in self._secrets(line):
            if len(secret) >= _MIN_SECRET_CHARS:
                found.setdefault(secret, kind)
        # The longest first, so that a part of a secret does not break up the whole of it.
        for secret in sorted(found, key=len, reverse=True):
            line = line.replace(secret, _mark(found[secret]))
        return line

    def _secrets(self, line: str) -> Iterator[tuple[str, str]]:
        for kind, pattern in self._loaded():
            for found in pattern.finditer(line):
                # A rule's groups are the secret itself, or only its prefix; then it is all that was matched.
                said = [group for group in found.groups() if group and len(group) >= _MIN_SECRET_CHARS]
                yield from ((kind, group) for group in said)
                if not said:
                    rest = _RUN.match(line, found.end())  # some rules stop before the last part of a token
                    yield kind, found[0] + (rest[0] if rest is not None else "")
        for kind, newer in _NEWER.items():
            yield from ((kind, secret) for secret in re.findall(rf"\b{newer}", line))
        yield from (("Secret", secret) for secret in _SAID.findall(line) if _is_no_word(secret))

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


def _is_no_word(text: str) -> bool:
    """Whether letters and digits are mixed as in no word, day, version or name of a file."""
    letters = sum(char.isalpha() for char in text)
    digits = sum(char.isdigit() for char in text)
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(text))
    return letters >= 3 and digits >= 2 and changes >= 3 and len(set(text.lower())) >= 8 and "/" not in text[:2]


def _mark(kind: str) -> str:
    return f"‹{kind} masked›"
