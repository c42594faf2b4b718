"""The one place that tells of failures."""

from __future__ import annotations

import json

import pytest

from vaultrag import errors
from vaultrag.cli.errors import Invocation, guarded
from vaultrag.errors import NoteNotFound, VaultragError


def fail(error: BaseException) -> object:
    raise error


def kinds() -> list[type[VaultragError]]:
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, VaultragError)]


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_every_failure_has_the_same_shape(kind: type[VaultragError], capsys: pytest.CaptureFixture[str]) -> None:
    """Each failure is a sentence for people and one object for scripts, and never a traceback."""
    error = kind("it went wrong", hint="do this")
    assert guarded(lambda: fail(error), Invocation()) == kind.exit_code == 2
    assert capsys.readouterr() == ("", "vaultrag: it went wrong\n  try: do this\n")
    assert guarded(lambda: fail(error), Invocation(json=True)) == 2
    out, err = capsys.readouterr()
    shown = {"kind": kind.__name__, "code": kind.code, "message": "it went wrong", "hint": "do this"}
    assert (json.loads(out), err) == ({"error": shown}, "")


def test_a_guess_is_not_offered_as_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    """A hint that asks is shown as a question."""
    guarded(lambda: fail(NoteNotFound("no note x", hint="did you mean y?")), Invocation())
    assert capsys.readouterr().err == "vaultrag: no note x\n  did you mean y?\n"


def test_an_unforeseen_fault_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """Without ``--debug`` there is no traceback, with it there is."""
    assert guarded(lambda: fail(KeyError("x")), Invocation()) == 2
    err = capsys.readouterr().err
    assert "unforeseen" in err
    assert "VAULTRAG_DEBUG=1" in err
    assert "Traceback" not in err
    assert guarded(lambda: fail(KeyError("x")), Invocation(debug=True)) == 2
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_ends_with_130(capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl+C is no failure to explain."""
    assert guarded(lambda: fail(KeyboardInterrupt()), Invocation()) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("code", "exit_code"), [(SystemExit(), 0), (SystemExit(1), 1), (SystemExit("text"), 2)], ids=["none", "1", "text"]
)
def test_an_exit_keeps_its_code(code: SystemExit, exit_code: int) -> None:
    """A command that ends by itself is taken at its word."""
    assert guarded(lambda: fail(code), Invocation()) == exit_code


def test_surrogates_in_a_message_do_not_hide_it(capsys: pytest.CaptureFixture[str]) -> None:
    """A path that is no UTF-8 can be named in a failure."""
    assert guarded(lambda: fail(NoteNotFound("no note \udcff")), Invocation()) == 2
    assert "no note" in capsys.readouterr().err
