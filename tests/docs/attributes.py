"""The docstrings that stand below a class's attributes, which Python itself forgets."""

from __future__ import annotations

import ast
import inspect
import textwrap


def attribute_docs(kind: type) -> dict[str, str]:
    """Attribute name to the string below it."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    definition = tree.body[0]
    assert isinstance(definition, ast.ClassDef)
    docs: dict[str, str] = {}
    for node, following in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(following, ast.Expr):
            value = following.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                docs[node.target.id] = " ".join(value.value.split())
    return docs
