"""An incident as a server of the Model Context Protocol (MCP), for agents such as Claude Code, Cursor or Codex.

Tools are the problem's actions, ``submit`` included; each call is a step of the session. Resources show what engineers look at first
(topology, alerts, runbooks); reading one is a step, too. The prompt ``incident`` is everything that an agent gets before it begins. The
server tells the client nothing about the verdict, which goes to the record.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
from collections.abc import Callable
from typing import Any, Final

from aiopslab.env import EnvironmentFailed, IncidentEnv
from aiopslab.orchestrator import get_version
from aiopslab.utils import AIOpsLabError

try:
    import uvicorn
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
    from mcp.shared.exceptions import MCPError
except ModuleNotFoundError as error:
    raise AIOpsLabError("The MCP SDK is missing: pip install 'aiopslab-in-a-box[mcp]'.") from error

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

RESOURCES: Final = {
    "topology": ("get_topology", "The services, and who calls whom"),
    "alerts": ("get_alerts", "The alerts that fire now"),
    "runbooks": ("get_runbook", "The names of the operators' runbooks"),
}
"""Resources by name: the action that each one performs, and its description."""
PREFIX: Final = "aiopslab://"
OVER: Final = "The session is over. Further calls have no effect."
INSTRUCTIONS: Final = "An incident in a cluster that only these tools reach. Read the prompt 'incident' first; it says what to submit."

OnEnd = Callable[[dict[str, Any]], None]
"""Receives the info of the last step."""


class IncidentServer:
    """One session on one incident, whatever number of clients there are."""

    def __init__(self, env: IncidentEnv, on_end: OnEnd) -> None:
        self._env = env
        self._on_end = on_end
        self._start: asyncio.Task[dict[str, Any]] | None = None
        """Prepares the incident, which takes seconds: it begins when the server does."""
        self._turn = asyncio.Lock()
        self._over = False
        self.protocol = Server(
            "aiopslab",
            version=get_version(),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    def prepare(self) -> None:
        """Begin to prepare the incident, in the running event loop."""
        self._start = asyncio.create_task(self._reset())

    async def close(self) -> None:
        """Judge and record the session if no submission did, and end its world."""
        async with self._turn:
            if self._start is not None and not self._over:
                await asyncio.wait([self._start])
                if self._start.exception() is None:
                    self._end(await asyncio.to_thread(self._env.finish))
            await asyncio.to_thread(self._env.close)

    async def _reset(self) -> dict[str, Any]:
        return (await self._env.reset_async())[1]

    async def _get_start(self) -> dict[str, Any]:
        assert self._start is not None, "the server was not prepared"
        try:
            return await asyncio.shield(self._start)
        except EnvironmentFailed as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from error

    async def _list_tools(self, _context: Any, _params: Any) -> types.ListToolsResult:
        start = await self._get_start()
        tools = [
            types.Tool(
                name=tool["name"], description=tool["description"], input_schema=dict(tool["parameters"])
            )
            for tool in start["tools"]
        ]
        return types.ListToolsResult(tools=tools)

    async def _call_tool(self, _context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text, valid = await self._take_step(params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=not valid)

    async def _list_resources(self, _context: Any, _params: Any) -> types.ListResourcesResult:
        actions = (await self._get_start())["actions"]
        resources = [
            types.Resource(
                uri=f"{PREFIX}{name}",
                name=name,
                description=f"{text}. Reading it is a step.",
                mime_type="text/plain",
            )
            for name, (action, text) in RESOURCES.items()
            if action in actions
        ]
        return types.ListResourcesResult(resources=resources)

    async def _read_resource(
        self, _context: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        name = str(params.uri).removeprefix(PREFIX).rstrip("/")
        if name not in RESOURCES:
            raise MCPError(
                types.INVALID_PARAMS,
                f"There is no resource '{params.uri}'. Choose one of: {', '.join(RESOURCES)}.",
            )
        action, start = RESOURCES[name][0], await self._get_start()
        known = next(
            (tool["parameters"]["properties"] for tool in start["tools"] if tool["name"] == action), ()
        )
        text, _ = await self._take_step(
            action, {"namespace": start["namespace"]} if "namespace" in known else {}
        )
        contents = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[contents])

    async def _list_prompts(self, _context: Any, _params: Any) -> types.ListPromptsResult:
        prompt = types.Prompt(name="incident", description="The incident, and what to submit.")
        return types.ListPromptsResult(prompts=[prompt])

    async def _get_prompt(self, _context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != "incident":
            raise MCPError(
                types.INVALID_PARAMS, f"There is no prompt '{params.name}'. The only one is 'incident'."
            )
        start = await self._get_start()
        content = types.TextContent(type="text", text=f"{start['description']}\n\n{start['instructions']}")
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    async def _take_step(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """Perform an action, one at a time; return the observation, and whether the call was valid."""
        await self._get_start()
        call = json.dumps({"name": name, "arguments": arguments})
        async with self._turn:
            if self._over:
                return OVER, False
            try:
                observation, _, terminated, truncated, info = await self._env.step_async(call)
            except EnvironmentFailed as error:
                self._over = True
                return str(error), False
            if terminated or truncated:
                self._end(info)
                if truncated:
                    observation = f"{observation}\n\nThis was the last step. {OVER}"
            return observation, info["valid"]

    def _end(self, info: dict[str, Any]) -> None:
        self._over = True
        self._on_end(info)


class RequireToken:
    """Refuses requests without the bearer token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                refusal = PlainTextResponse("Send the header 'Authorization: Bearer TOKEN'.", 401)
                return await refusal(scope, receive, send)
        return await self._app(scope, receive, send)


async def serve_stdio(env: IncidentEnv, on_end: OnEnd) -> None:
    """Serve one client on standard input and output, until it closes them."""
    server = IncidentServer(env, on_end)
    server.prepare()
    try:
        async with stdio_server() as (incoming, outgoing):
            await server.protocol.run(incoming, outgoing, server.protocol.create_initialization_options())
    finally:
        await server.close()


async def serve_http(env: IncidentEnv, on_end: OnEnd, listener: socket.socket, token: str) -> None:
    """Serve streamable HTTP at ``/mcp`` of a listening socket, until interrupted."""
    server = IncidentServer(env, on_end)
    server.prepare()
    app = RequireToken(server.protocol.streamable_http_app(), token)
    http = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    try:
        await http.serve([listener])
    finally:
        await server.close()
