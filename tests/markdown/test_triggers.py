"""What a note is to be shown for: its conditions, held against a deed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.markdown.frontmatter import parse
from vaultrag.markdown.triggers import Deed, WhenProblem, called_by


def called(header: str, **deed: str) -> str:
    return called_by(parse(header)[0], Deed(**deed))


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.sql", "schema.sql", True),
        ("*.sql", "/project/db/schema.sql", True),
        ("*.sql", "C:\\work\\schema.sql", True),
        ("*.sql", "schema.sql.bak", False),
        ("src/**/*.py", "/project/x/src/a/b/c.py", True),
        ("src/**/*.py", "src/c.py", True),
        ("src/**/*.py", "mysrc/c.py", False),
        ("src/*.py", "src/a/c.py", False),
        ("migrations/**", "/project/migrations/0001.py", True),
        ("/etc/*.conf", "/etc/ssh.conf", True),
        ("/etc/*.conf", "/mnt/etc/ssh.conf", False),
        ("config.toml", "/project/config.toml", True),
        ("config.toml", "/project/myconfig.toml", False),
        ("file[0-9].txt", "file7.txt", True),
        ("file[!0-9].txt", "file7.txt", False),
        ("Notiz?.md", "Notizü.md", True),
        ("a+b.md", "a+b.md", True),
    ],
)
def test_globs(glob: str, path: str, fits: bool) -> None:
    """A glob fits a path or its end, at the border of a folder; one that begins with a slash fits the whole only."""
    assert bool(called(f"when: '{glob}'", path=path)) is fits
    assert bool(called(f"when:\n  path: '{glob}'", path=path)) is fits


@pytest.mark.parametrize(
    ("condition", "command", "fits"),
    [
        ("git push", "git push --force", True),
        ("git push", "cd x && GIT  PUSH", True),
        ("git push", "git pushed", False),
        ("push", "git stash push", True),
        ("push", "git no-push", False),
        ("/rm\\s+-rf?\\b/", "sudo rm -rf /tmp/x", True),
        ("/^rm/", "sudo rm x", False),
        ("/(?i)DROP TABLE/", "psql -c 'drop table x'", True),
        ("command: git push", "git push", True),
        ("tool: Bash", "anything", True),
        ("Bash", "anything", True),
        ("tool: Edit", "anything", False),
    ],
)
def test_words_and_expressions(condition: str, command: str, fits: bool) -> None:
    """Words fit a command as whole words in a row, case aside; what stands between slashes is a regular expression."""
    assert bool(called(f'when: ["{condition}"]'.replace("\\", "\\\\"), command=command, tool="bash")) is fits


def test_kinds_must_all_fit_and_one_of_each_is_enough() -> None:
    """With several kinds of condition each must fit; of several conditions of one kind one is enough."""
    header = "when:\n  tool: [Bash, Shell]\n  command: [psql, pg_restore]\n"
    assert called(header, tool="Shell", command="psql -l") == "tool: Shell, command: psql"
    assert not called(header, tool="Shell", command="ls")
    assert not called(header, tool="Read", command="psql")
    assert not called(header)


@pytest.mark.parametrize("header", ["when:", "when: ''", "when: []", "whenever: '*'", "title: x"])
def test_without_a_condition_nothing_is_called(header: str) -> None:
    """An empty condition fits nothing, and neither does another property."""
    assert not called(header, path="a.sql", command="git push", tool="Bash")


@pytest.mark.parametrize(
    "header", ["when: /(?=x)y/", "when: /(/", "when: '/a{5000}/'", "when:\n  weather: rain", f"when: /{'a' * 600}/"]
)
def test_what_cannot_be_read_is_a_problem_with_a_reason(header: str) -> None:
    """A pattern that is none, that is too much, or a kind that is unknown is said, and raises nothing else."""
    with pytest.raises(WhenProblem) as problem:
        called(header, command="x", path="x")
    assert str(problem.value)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*a){20}b", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_no_pattern_hangs(pattern: str) -> None:
    """Patterns that keep a backtracking matcher busy for years end at once; the test's time limit would tell."""
    assert not called(f"when: '/{pattern}/'", command="a" * 19_000 + "!")
    assert not called(f"when: '{'*a' * 60}.b'", path="a" * 10_000)


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_no_condition_raises_anything_else(condition: str, path: str, command: str) -> None:
    """Whatever stands in ``when``, it fits, it does not, or it is a problem with words."""
    for properties in ({"when": condition}, {"when.path": condition}, {"when.command": (condition, condition)}):
        try:
            called_by(properties, Deed("Bash", path, command))
        except WhenProblem as problem:
            assert str(problem)  # noqa: PT017
