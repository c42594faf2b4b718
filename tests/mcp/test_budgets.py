"""What the vault costs an agent, in tokens, as text and as fields; measured on the sample vault."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import bpe_openai
import pytest

from tests.mcp.conftest import Agents
from tests.support.daemons import REPOSITORY, daemon_home
from vaultrag.mcp.instructions import USE
from vaultrag.mcp.tools import TOOLS

QUERIES = [
    "how often must the pump be greased", "what was decided about the seal supplier", "alarm threshold", "bread",
    "who is on call in winter", "p-102", "rule for the night pump", "tag:#rules", "path:Meetings", "日本語",
]  # fmt: skip
TEN_HITS = 1500
VOCABULARIES = [bpe_openai.get_encoding(name) for name in ("cl100k_base", "o200k_base")]


def tokens(text: str) -> int:
    """What a text costs, by the dearer of two public vocabularies."""
    return max(len(vocabulary.encode(text)) for vocabulary in VOCABULARIES)


def as_fields(result: Any) -> int:
    """What the structured answer costs."""
    return tokens(json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":")))


@pytest.fixture(scope="module")
def sample() -> Iterator[Agents]:
    with daemon_home() as home:
        shutil.copytree(REPOSITORY / "sample-vault", home.vault, dirs_exist_ok=True)
        home.start().ready()
        yield Agents(home)


@pytest.mark.parametrize("query", QUERIES)
def test_ten_hits_cost_less_than_1500_tokens(sample: Agents, query: str) -> None:
    """A search with its ten hits leaves room for reading, whichever form the host hands on."""
    result = sample.call("search_notes", query=query, limit=10)
    text = tokens(result.content[0].text)
    fields = as_fields(result)
    print(f"{query}: {len(result.structured_content['notes'])} hits, {text} tokens as text, {fields} as fields")
    assert text < TEN_HITS
    assert fields < TEN_HITS


def test_related_notes_cost_no_more(sample: Agents) -> None:
    """Neither do ten neighbours of a note."""
    for path in ("Reference/Pump hall operating manual.md", "Projects/P-102 overhaul.md"):
        result = sample.call("related_notes", path=path)
        assert len(result.structured_content["notes"]) >= 5
        assert as_fields(result) < TEN_HITS


def test_a_small_reader_gets_little(sample: Agents) -> None:
    """For a model with little room a search brings five notes on a line each."""
    small = Agents(sample.home, "small")
    for query in QUERIES:
        result = small.call("search_notes", query=query)
        assert len(result.structured_content["notes"]) <= 5
        assert not any("\n" in note["preview"] for note in result.structured_content["notes"])
        assert as_fields(result) < 600


@pytest.mark.parametrize("budget", [200, 500, 1000])
def test_a_budget_is_kept(sample: Agents, budget: int) -> None:
    """What was asked for with max_tokens costs about that, and no less is said of what was left out."""
    for query in QUERIES:
        result = sample.call("search_notes", query=query, limit=10, max_tokens=budget)
        assert tokens(result.content[0].text) <= budget
    note = sample.call("read_note", path="Reference/Pump hall operating manual.md", max_tokens=budget)
    assert tokens(note.content[0].text) <= budget
    assert "left out to save tokens" in note.structured_content["remarks"][0]


def test_the_tools_themselves() -> None:
    """The instructions without the rules, and the descriptions of the tools, are short."""
    assert tokens(USE) < 300
    assert sum(tokens(tool.description) for tool in TOOLS.values()) < 300
