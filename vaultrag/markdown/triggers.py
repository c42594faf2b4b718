"""What a note is to be shown for: its property ``when``, held against what somebody is about to do. Pure.

    when: "*.sql"                        a file of that name, in whatever folder
    when: ["src/**/*.py", git push]      one of several: a file below src, or a command with these words
    when: /rm\\s+-rf?\\b/                   a regular expression, for the command
    when:                                all of these
      tool: Bash
      path: migrations/**
      command: [psql, pg_restore]

Regular expressions and globs are run by RE2, which takes time in proportion to the text, whatever the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from vaultrag.markdown.property_flags import key_of, texts

MAX_PATTERN_CHARS = 500
MAX_TEXT_CHARS = 20_000
"""Of a command no more is looked at, nor of a path."""

_GLOB_SIGNS = re.compile(r"[*?]|\[.+\]")
_FILE = re.compile(r"^[\w.@+~-]*\.\w{1,8}$|/")


class WhenProblem(ValueError):
    """A ``when`` that cannot be read, with the reason."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An action that is about to be done; empty where it is not known."""

    tool: str = ""
    path: str = ""
    command: str = ""


def called_by(properties: Mapping[str, str | Sequence[str]], deed: Deed) -> str:
    """Return which condition fits what is done; empty where none does.

    Raises:
        WhenProblem
    """
    parts: dict[str, list[str]] = {}
    for name, value in properties.items():
        key = key_of(name)
        if key == "when" or key.startswith("when."):
            parts.setdefault(key.removeprefix("when").removeprefix("."), []).extend(filter(None, texts(value)))
    plain = parts.pop("", [])
    for condition in plain:
        if _fits(condition, deed):
            return condition
    if parts:
        fitting = [next((f"{kind}: {one}" for one in wanted if _fits_as(kind, one, deed)), "")
                   for kind, wanted in parts.items()]  # fmt: skip
        if all(fitting):
            return ", ".join(fitting)
    return ""


def _fits(condition: str, deed: Deed) -> bool:
    kind, colon, rest = condition.partition(":")
    if colon and kind.strip().casefold() in _KINDS:
        return _fits_as(kind.strip().casefold(), rest.strip(), deed)
    if len(condition) > 2 and condition[0] == condition[-1] == "/":
        return _fits_as("command", condition, deed)
    if " " not in condition and (_GLOB_SIGNS.search(condition) or _FILE.search(condition)):
        return _fits_as("path", condition, deed)
    return _fits_as("command", condition, deed) or condition.casefold() == deed.tool.casefold() != ""


def _fits_as(kind: str, condition: str, deed: Deed) -> bool:
    test = _KINDS.get(kind)
    if test is None:
        raise WhenProblem(f"when.{kind[:50]} is unknown; known: {', '.join(_KINDS)}")
    return test(condition, deed)


def _tool(condition: str, deed: Deed) -> bool:
    return condition.casefold() == deed.tool.casefold() != ""


def _path(condition: str, deed: Deed) -> bool:
    path = deed.path.replace("\\", "/")[:MAX_TEXT_CHARS]
    return bool(path) and _matches(_from_glob(condition), path)


def _command(condition: str, deed: Deed) -> bool:
    command = deed.command[:MAX_TEXT_CHARS]
    if not command:
        return False
    if len(condition) > 2 and condition[0] == condition[-1] == "/":
        return _matches(condition[1:-1], command)
    words = r"\s+".join(re.escape(word) for word in condition.split())
    return re.search(rf"(?<![\w-]){words}(?![\w-])", command, re.IGNORECASE) is not None


_KINDS: dict[str, Callable[[str, Deed], bool]] = {"tool": _tool, "path": _path, "command": _command}


def _matches(pattern: str, text: str) -> bool:
    return _compiled(pattern).search(text) is not None


@lru_cache(maxsize=1000)
def _compiled(pattern: str) -> Any:
    """Return the pattern, ready to run.

    Raises:
        WhenProblem
    """
    import re2  # a library of its own, for the few vaults that need it

    if len(pattern) > MAX_PATTERN_CHARS:
        raise WhenProblem(f"a pattern of more than {MAX_PATTERN_CHARS} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        told = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        raise WhenProblem(f"not a regular expression that can be used: {told[:200]}") from error


def _from_glob(glob: str) -> str:
    """Return a glob as a regular expression, for a path or its end; one that begins with ``/`` only for the whole."""
    begin = "^" if glob.startswith("/") else "(?:^|/)"
    return f"(?s){begin}{''.join(_pieces(glob.removeprefix('./')))}$"


def _pieces(glob: str) -> Iterator[str]:
    position = 0
    while position < len(glob):
        if glob.startswith("**/", position):
            yield "(?:.*/)?"
            position += 3
        elif glob.startswith("**", position):
            yield ".*"
            position += 2
        elif glob[position] == "*":
            yield "[^/]*"
            position += 1
        elif glob[position] == "?":
            yield "[^/]"
            position += 1
        elif glob[position] == "[" and (end := glob.find("]", position + 2)) > 0:
            inner = glob[position + 1 : end].replace("\\", "\\\\")
            yield f"[{'^' + inner[1:] if inner[0] in '!^' else inner}]"
            position = end + 1
        else:
            yield re.escape(glob[position])
            position += 1
