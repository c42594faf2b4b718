"""Keys and tokens that lie about in notes: masked in every answer to an agent, whole for a person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.daemons import Raw, RunningDaemon, daemon_home
from vaultrag.masking import SecretMasker

# Put together here, so that no scanner takes this file for one that leaks.
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SLACK = "xoxb-" + "123456789012-1234567890123-a1b2c3d4e5f6g7h8i9j0k1l2"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"
ANTHROPIC = "sk-ant-" + "api03-Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2"
GOOGLE = "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"
BLOCK = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx7\nQy8s9d8f7a6s5d4f\n-----END RSA " + "PRIVATE KEY-----"

NOTE = f"""---
always: true
when: '*.deploy'
type: rule
summary: The key {AWS} opens the store.
token: {GITHUB}
---
# Deploy with {SLACK}

The deploy key is {AWS}, and the hook answers at {SLACK}.

## Old hook {GITHUB}

- {JWT}
- password: hunter2isGood9x1
- postgres://ada:s3cretpass@db.example/x

{BLOCK}

The end of the deploy note.
"""
SECRETS = (AWS, GITHUB, SLACK, JWT, JWT.rpartition(".")[2], "hunter2isGood9x1", "s3cretpass", "QEAx7", "a6s5d4f")


@pytest.fixture(scope="module")
def served() -> Iterator[RunningDaemon]:
    with daemon_home() as home:
        home.write("Deploy.md", NOTE)
        home.write("Wide.md", f"# Wide\n\nThe wide deploy key {AWS}.".encode("utf-16"))
        home.write("Near.md", "# Near\n\nSee [[Deploy]], to deploy.\n")
        daemon = home.start()
        daemon.ready()
        yield daemon


ASKED: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "deploy key hook"}),
    ("search", {"query": "deploy key hook", "shape": "compact"}),
    ("search", {"query": "deploy key hook", "shape": "full"}),
    ("search", {"query": "deploy hook postgres", "max_tokens": 120}),
    ("explain", {"query": "deploy", "path": "Deploy.md"}),
    ("related", {"path": "Near.md"}),
    ("get", {"path": "Deploy.md"}),
    ("get", {"path": "Deploy.md", "shape": "compact"}),
    ("get", {"path": "Deploy.md", "first_line": 8, "last_line": 9}),
    ("get", {"path": "Wide.md"}),
    ("in_note", {"path": "Deploy.md", "query": "deploy key hook password"}),
    ("rules", {}),
    ("recent", {}),
    ("timeline", {}),
    ("timeline", {"query": "deploy"}),
    ("catalogue", {}),
    ("triggers", {"path": "x.deploy"}),
    ("tags", {}),
    ("status", {"full": True}),
]


@pytest.mark.parametrize(("method", "params"), ASKED, ids=str)
def test_no_answer_to_an_agent_holds_a_secret(served: RunningDaemon, method: str, params: dict[str, Any]) -> None:
    """Whatever an agent asks, what looks like a key or a token is a mark that names its kind."""
    with Raw(served.home.places, reader="agent") as raw:
        answer = raw.call(method, params)
    assert "result" in answer
    text = json.dumps(answer, ensure_ascii=False)
    assert not [secret for secret in SECRETS if secret in text]


def test_a_person_reads_what_is_written(served: RunningDaemon) -> None:
    """For a person nothing is masked."""
    assert served.client.get("Deploy.md").text == NOTE.rstrip("\n")
    assert AWS in served.client.search("deploy key").hits[0].preview


def test_lines_stay_where_they_are(served: RunningDaemon) -> None:
    """A masked note has the lines of the note: a citation leads to the same place, and a section is found."""
    with Raw(served.home.places, reader="agent") as raw:
        whole = raw.call("get", {"path": "Deploy.md"})["result"]
        assert whole["total_lines"] == NOTE.count("\n")
        assert whole["text"].split("\n")[-1] == "The end of the deploy note."
        assert "‹AWS Access Key masked›" in whole["text"]
        assert whole["properties"]["token"] == "‹GitHub Token masked›"
        hit = raw.call("search", {"query": "password postgres"})["result"]["hits"][0]
        for span in hit["spans"]:
            assert hit["preview"][span["start"] : span["end"]].casefold() in ("password", "postgres")


def test_it_can_be_switched_off() -> None:
    """The setting leaves texts as they are, for agents too."""
    with daemon_home({"privacy": {"mask_secrets": False}}) as home:
        home.write("Deploy.md", NOTE)
        home.start().ready()
        with Raw(home.places, reader="agent") as raw:
            assert AWS in raw.call("get", {"path": "Deploy.md"})["result"]["text"]


@pytest.mark.parametrize("secret", [AWS, GITHUB, SLACK, JWT, ANTHROPIC, GOOGLE], ids=lambda secret: str(secret)[:6])
def test_kinds_that_are_known(secret: str) -> None:
    """Each is masked in the midst of a sentence, in quotes, in a link and alone."""
    mask = SecretMasker().text
    for text in (f"It is {secret}, says Ada.", f'key = "{secret}"', f"[here](https://x.example/?t={secret})", secret):
        masked = mask(text)
        assert secret not in masked
        assert "masked›" in masked


@pytest.mark.parametrize(
    "text",
    [
        "The commit is 9fceb02d0ae598e95dc970b74767f19372d61af8.",
        "A token bucket holds 100 tokens; the password stands in the safe since 2026-01-04.",
        "secret: see-2024-plan",
        "[[2025-03-20 Seal supplier choice]] and WO-2291, ADR-016, 6313-C3",
        "https://example.org/a/b/2026/01/04/some-long-title-of-a-page.html",
        "d41d8cd98f00b204e9800998ecf8427e  empty.bin",
        "123e4567-e89b-12d3-a456-426614174000",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    """Hashes, dates, identifiers, addresses and talk of passwords are left alone."""
    assert SecretMasker().text(text) == text


def test_a_block_that_never_ends_is_masked_to_the_end() -> None:
    """A private key whose end was cut off hides all that follows, and the lines stay as many."""
    text = BLOCK.rpartition("\n")[0] + "\nmore"
    assert SecretMasker().text(f"a\n{text}") == "a\n‹Private Key masked›\n\n\n"


def test_bytes_that_are_no_text_come_back() -> None:
    """What cannot be decoded is passed on as it is, around what is masked."""
    masker = SecretMasker()
    assert masker.data(b"\xff\x00 plain \xe9") == b"\xff\x00 plain \xe9"
    masked = b"\xe9 " + "‹AWS Access Key masked›".encode() + b"\r\n\xe9"
    for _ in range(2):  # the second time from memory
        assert masker.data(b"\xe9 " + AWS.encode() + b"\r\n\xe9") == masked


def test_a_picture_in_a_note_costs_no_time() -> None:
    """Megabytes of base64 in one line are passed over; the test's own time limit is what would tell."""
    line = "![x](data:image/png;base64," + "iVBORw0KGgo1" * 200_000 + ")"
    assert SecretMasker().text(f"{line} {AWS}") == f"{line} ‹AWS Access Key masked›"
