"""Docstrings say what is done, with a verb; the rest of their form is ruff's to check."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemons import REPOSITORY

QUESTIONS = ("What ", "Which ", "Whether ", "How ", "Why ", "Where ")
MODULES = sorted((REPOSITORY / "vaultrag").rglob("*.py"))


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """The name and docstring of every class and function in a file."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            text := ast.get_docstring(node)
        ):
            yield node.name, text


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_no_docstring_begins_with_a_question_word(path: Path) -> None:
    """A docstring is no question without a verb: it says what a function does, or what a class is."""
    assert [name for name, text in docstrings(path) if text.startswith(QUESTIONS)] == []
