"""The MCP server: the tables of tools, resources and prompts put behind the SDK's handlers, and failures into words."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from vaultrag import __version__
from vaultrag.errors import NoteNotFound, PathRefused, UsageError, VaultragError
from vaultrag.mcp import resources
from vaultrag.mcp.answers import sentence
from vaultrag.mcp.prompts import PROMPTS, text_of
from vaultrag.mcp.schemas import schema_of
from vaultrag.mcp.text_answers import Fence
from vaultrag.mcp.tools import TOOLS, Desk, Tool, arguments_of
from vaultrag.text.invisible import without_invisible

log = logging.getLogger(__name__)

NAME = "vaultrag"


class Handlers:
    """The callbacks of the SDK."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def list_tools(self, _: Any, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS.values()])

    async def call_tool(self, _: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise _unknown("tool", params.name, TOOLS)
        try:
            answer = await tool.run(self._desk, arguments_of(tool, params.arguments or {}))
            return types.CallToolResult(
                content=[types.TextContent(text=without_invisible(tool.text(answer, Fence())))],
                structured_content=visible(msgspec.to_builtins(answer)),
            )
        except Exception as error:  # whatever it is, the model reads a sentence and the session goes on
            return types.CallToolResult(content=[types.TextContent(text=told(error))], is_error=True)

    async def list_resources(self, _: Any, params: object) -> types.ListResourcesResult:
        try:
            recent = await self._desk.link.ask(lambda daemon: daemon.recent(limit=resources.LISTED))
        except Exception as error:
            raise _refused(error) from None
        rules = types.Resource(
            uri=resources.RULES,
            name="rules",
            title="Rules of the vault",
            description="The notes marked as rules, whole.",
            mime_type=resources.MARKDOWN,
        )
        notes = [
            types.Resource(
                uri=resources.uri_of(note.path), name=note.path, title=note.title, mime_type=resources.MARKDOWN
            )
            for note in recent.notes
        ]
        return types.ListResourcesResult(resources=[rules, *notes])

    async def list_templates(self, _: Any, params: object) -> types.ListResourceTemplatesResult:
        note = types.ResourceTemplate(
            uri_template=resources.TEMPLATE,
            name="note",
            title="A note",
            description="Any note of the vault, whole, by its path.",
            mime_type=resources.MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[note])

    async def read_resource(self, _: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text = await self._resource(uri)
        except Exception as error:
            raise _refused(error) from None
        content = types.TextResourceContents(uri=uri, mime_type=resources.MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[content])

    async def _resource(self, uri: str) -> str:
        if uri == resources.RULES:
            tool = TOOLS["vault_rules"]
            return without_invisible(tool.text(await tool.run(self._desk, tool.arguments()), Fence()))
        path = resources.path_of(uri)
        return Fence()(without_invisible((await self._desk.link.ask(lambda daemon: daemon.get(path))).text))

    async def list_prompts(self, _: Any, params: object) -> types.ListPromptsResult:
        listed = [
            types.Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.description,
                arguments=[
                    types.PromptArgument(name=arg.name, description=arg.description, required=arg.required)
                    for arg in prompt.arguments
                ],
            )
            for prompt in PROMPTS.values()
        ]
        return types.ListPromptsResult(prompts=listed)

    async def get_prompt(self, _: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = PROMPTS.get(params.name)
        if prompt is None:
            raise _unknown("prompt", params.name, PROMPTS)
        try:
            text = text_of(prompt, params.arguments or {})
        except UsageError as error:
            raise _refused(error) from None
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])


def server(desk: Desk, instructions: str) -> Server[Any]:
    """Make a server whose answers come from this desk."""
    handlers = Handlers(desk)
    return Server(
        NAME,
        version=__version__,
        title="Notes",
        instructions=instructions,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


def told(error: Exception) -> str:
    """Return a failure in one sentence, with what helps; of an unexpected one no more than its kind."""
    if isinstance(error, VaultragError):
        return without_invisible(sentence(error.message, error.agent_hint))
    log.error("an unforeseen fault (%s)", type(error).__name__)
    log.debug("it arose here", exc_info=error)
    return sentence(f"an unforeseen fault ({type(error).__name__})", "vault_status")


def visible(value: Any) -> Any:
    """Return the answer's values without invisible characters, as a path can have them."""
    if isinstance(value, str):
        return without_invisible(value)
    if isinstance(value, list):
        return [visible(part) for part in value]
    return {key: visible(part) for key, part in value.items()} if isinstance(value, dict) else value


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema_of(tool.arguments),
        output_schema=schema_of(tool.answer),
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def _refused(error: Exception) -> MCPError:
    asked_wrongly = isinstance(error, UsageError | NoteNotFound | PathRefused)
    return MCPError(code=types.INVALID_PARAMS if asked_wrongly else types.INTERNAL_ERROR, message=told(error))


def _unknown(kind: str, name: str, known: Iterable[str]) -> MCPError:
    near = difflib.get_close_matches(name[:100], list(known), n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    return MCPError(code=types.INVALID_PARAMS, message=f"there is no {kind} {name[:100]!r}; {hint}")
