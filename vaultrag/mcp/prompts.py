"""Two beginnings of a conversation that a person can choose in a host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vaultrag.errors import InvalidParams


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """``text`` makes the person's first message of the arguments."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    text: Callable[[Mapping[str, str]], str]


def _ask(given: Mapping[str, str]) -> str:
    return (
        "Answer this from my notes:\n\n"
        f"{given['question']}\n\n"
        "Search with search_notes, in other words too if the first ones find little. Read what you rely on with "
        "read_note. Answer briefly, and cite the note and its lines for each statement. Where a note no longer holds, "
        "follow the one that took its place. If the notes do not say it, tell me so."
    )


def _review(given: Mapping[str, str]) -> str:
    days = given.get("days", "").strip() or "7"
    if not days.isdecimal() or not 1 <= int(days) <= 366:
        raise InvalidParams(f"days is {days[:50]!r}", agent_hint="a number from 1 to 366")
    return (
        f"Review my notes of the last {days} days.\n\n"
        f"List them with recent_notes (days={days}), and read those that matter with read_note. Then tell me, with a "
        "citation for each point: what was decided, what is still open or waits for somebody, what contradicts another "
        "note or a rule of the vault (vault_rules), and which notes should be linked (related_notes). Change nothing."
    )


PROMPTS: dict[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt("ask_the_vault", "Ask the vault", "An answer from the notes, with citations, or none.",
               (Argument("question", "What you want to know.", required=True),), _ask),
        Prompt("weekly_review", "Weekly review", "What the latest notes decided, left open and contradict.",
               (Argument("days", "How many days back; 7 if left out."),), _review),
    )
}  # fmt: skip


def text_of(prompt: Prompt, given: Mapping[str, str]) -> str:
    """Return the prompt's message.

    Raises:
        InvalidParams
    """
    for argument in prompt.arguments:
        if argument.required and not given.get(argument.name, "").strip():
            raise InvalidParams(f"{prompt.name} wants {argument.name}: {argument.description}")
    return prompt.text(given)
