"""Incidents over HTTP: an ASGI application.

``ENDPOINTS`` is the whole interface; routes and the OpenAPI description are made from it. Every error is JSON with one sentence.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any, Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from aiopslab.orchestrator import NotARecord
from aiopslab.orchestrator.problems import UnknownProblem
from aiopslab.servers import fault_pages
from aiopslab.servers.http_api import stored
from aiopslab.servers.http_api.bodies import ActionCall, SessionOrder, Simulation, read_body
from aiopslab.servers.http_api.errors import HttpError
from aiopslab.servers.http_api.guard import SECURITY_HEADERS, Access, Guard
from aiopslab.servers.http_api.openapi import Endpoint, build_description
from aiopslab.servers.http_api.served_session import ServedSession
from aiopslab.servers.http_api.sessions import Sessions
from aiopslab.utils import AIOpsLabError
from aiopslab.web import STATIC

MAX_STREAMS: Final = 64
"""Event streams that are open at once, of all sessions."""
SIMULATED_STEPS: Final = 10
"""Steps of ``/simulate`` unless the client sets others, as in the public service."""


class Api:
    """The handlers. Each returns a response, or raises an error with a message for the client."""

    def __init__(self, sessions: Sessions, guard: Guard) -> None:
        self.sessions = sessions
        self.guard = guard
        self._catalog = sessions.catalog
        self._streams = 0

    async def show_page(self, request: Request) -> Response:
        """Log in by ``/?token=…``, or show the page."""
        response = self.guard.log_in(request)
        if response is not None:
            return response
        self.guard.authenticate(request)
        return FileResponse(STATIC / "index.html")

    async def describe_interface(self, _request: Request) -> Response:
        """Return the OpenAPI description."""
        return _respond(build_description(ENDPOINTS))

    async def list_problems(self, request: Request) -> Response:
        """List the problems of a suite, a task and an application."""
        return _respond(await self._run(self._catalog.list_problems, request.query_params))

    async def get_problem(self, request: Request) -> Response:
        """Describe a problem."""
        return _respond(self._catalog.get_problem(request.path_params["id"]))

    async def list_agents(self, _request: Request) -> Response:
        """List the agents that may work on sessions."""
        return _respond(await self._run(self._catalog.list_agents))

    async def list_faults(self, _request: Request) -> Response:
        """List the faults."""
        return _respond(await self._run(fault_pages.list_faults))

    async def get_fault(self, request: Request) -> Response:
        """Describe a fault: what happened, the right answers, the repair, and the problems with it."""
        described = await self._run(fault_pages.describe_fault, request.path_params["name"])
        if described is None:
            raise HttpError(404, "There is no such fault. GET /api/faults lists all.")
        return _respond(described)

    async def create_session(self, request: Request) -> Response:
        """Begin a session. Preparing a world takes seconds, a copy of a prepared one milliseconds."""
        order = await read_body(request, SessionOrder)
        session = await self.sessions.create(order)
        if order.wait:
            await asyncio.shield(session.prepare())
            if session.opening is None:
                raise HttpError(500, session.error or "The session failed. Begin a new one.")
        described = session.describe(for_agent=False) | session.describe_start() | {"token": session.token}
        return _respond(described, 201, {"location": f"/api/sessions/{session.id}"})

    async def list_sessions(self, _request: Request) -> Response:
        """List the sessions of this server."""
        return _respond([session.describe(for_agent=False) for session in self.sessions.list()])

    async def get_session(self, request: Request) -> Response:
        """Describe a session; its state is preparing, open or ended."""
        session = self._find_session(request)
        return _respond(session.describe(for_agent=_is_agent(request)) | session.describe_start())

    async def end_session(self, request: Request) -> Response:
        """Give a session up: it is judged as it stands, and its record is closed."""
        session = self._find_session(request)
        await session.end("interrupted", "The client gave the session up.")
        return _respond(session.describe(for_agent=False))

    async def list_actions(self, request: Request) -> Response:
        """List the actions of a session, as tools for function calling."""
        actions = self._find_session(request).describe_start()["actions"]
        if actions is None:
            raise HttpError(409, "The session is being prepared. Ask again when its state is 'open'.")
        return _respond(actions)

    async def act(self, request: Request) -> Response:
        """Take a step: an answer as agents write it, or an action's name and arguments."""
        session = self._find_session(request)
        if session.plan.agent is not None:
            raise HttpError(
                409, f"The agent {session.plan.agent} works on this session. Begin one of your own."
            )
        call = await read_body(request, ActionCall)
        reaction = await session.act(call.text)
        closing = session.closing if reaction.ending else None
        results = closing.results if closing and not _is_agent(request) else None
        answer = {
            "step": session.steps,
            "observation": reaction.observation,
            "ended": session.state == "ended",
        }
        return _respond({**answer, "results": results})

    async def get_record(self, request: Request) -> Response:
        """Return the record of a session; while it is open, without the answer."""
        return _respond(await self._run(self._find_session(request).read_record))

    async def follow_events(self, request: Request) -> Response:
        """Follow a session by server-sent events: open, step, severity, ended."""
        session = self._find_session(request)
        if self._streams >= MAX_STREAMS:
            raise HttpError(
                429, "Too many event streams are open. Close one, or ask for the session instead."
            )
        after = request.headers.get("last-event-id", "0")
        if not after.isdecimal() or len(after) > 18:
            raise HttpError(400, "Last-Event-ID is the number of the last event that you have.")
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._stream(session, int(after)), 200, headers, "text/event-stream")

    async def _stream(self, session: ServedSession, after: int) -> AsyncIterator[bytes]:
        self._streams += 1
        try:
            async for event in session.events.follow(after):
                yield event
        finally:
            self._streams -= 1

    async def show_view(self, request: Request) -> Response:
        """Show a view of a session, made in its process; of an ended one, only its course."""
        what = request.path_params["what"]
        session = self._find_session(request)
        status, document = await session.show_view(what, dict(request.query_params))
        return Response(document, status, media_type="application/json")

    async def list_records(self, _request: Request) -> Response:
        """List the latest records in the folder of the results."""
        return _respond(await self._run(stored.list_stored_records, self.sessions.results))

    async def get_stored_record(self, request: Request) -> Response:
        """Return a stored record."""
        name = request.path_params["name"]
        return _respond(await self._run(stored.read_stored_record, self.sessions.results, name))

    async def list_benchmarks(self, _request: Request) -> Response:
        """List the benchmarks below the folder of the results."""
        return _respond(await self._run(stored.list_benchmarks, self.sessions.results))

    async def report_benchmark(self, request: Request) -> Response:
        """Return the tables of a benchmark, also while it runs."""
        name = request.path_params["name"]
        return _respond(await self._run(stored.report_benchmark, self.sessions.results, name))

    async def list_episodes(self, request: Request) -> Response:
        """List episodes of a benchmark with their records, at most 200 at once."""
        name, query = request.path_params["name"], request.query_params
        wanted = (query.get("text", ""), query.get("offset", "0"))
        return _respond(await self._run(stored.list_stored_episodes, self.sessions.results, name, *wanted))

    async def simulate(self, request: Request) -> Response:
        """Let an agent work on a problem to the end, as the public AIOpsLab service does."""
        order = await read_body(request, Simulation)
        steps = order.max_steps or SIMULATED_STEPS
        session = await self.sessions.create(
            SessionOrder(problem=order.problem_id, agent=order.agent_name, model=order.model, max_steps=steps)
        )
        async for _event in session.events.follow(0):
            pass
        record = await self._run(session.read_record)
        fields = ("agent", "session_id", "problem_id", "start_time", "end_time", "trace", "results")
        return _respond({name: record[name] for name in fields})

    async def check_health(self, _request: Request) -> Response:
        """Say that the server runs."""
        return _respond({"status": "healthy", "service": "AIOpsLab"})

    async def list_problem_ids(self, _request: Request) -> Response:
        """List the ids of all problems, as the public AIOpsLab service does."""
        return _respond(self.sessions.registry.get_problem_ids())

    async def list_agent_names(self, _request: Request) -> Response:
        """List the names of all agents, as the public AIOpsLab service does."""
        return _respond([agent["name"] for agent in await self._run(self._catalog.list_agents)])

    def _find_session(self, request: Request) -> ServedSession:
        session = self.sessions.get(request.path_params["id"])
        session.touch()
        return session

    async def _run(self, function: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.sessions.threads, function, *args)


ENDPOINTS: Final = (
    Endpoint("GET", "/", Api.show_page, is_open=True, media="text/html"),
    Endpoint("GET", "/openapi.json", Api.describe_interface),
    Endpoint("GET", "/api/problems", Api.list_problems, query=("suite", "task", "app")),
    Endpoint("GET", "/api/problems/{id}", Api.get_problem),
    Endpoint("GET", "/api/agents", Api.list_agents),
    Endpoint("GET", "/api/faults", Api.list_faults),
    Endpoint("GET", "/api/faults/{name}", Api.get_fault),
    Endpoint("POST", "/api/sessions", Api.create_session, body=SessionOrder, status=201),
    Endpoint("GET", "/api/sessions", Api.list_sessions),
    Endpoint("GET", "/api/sessions/{id}", Api.get_session, is_for_agents=True),
    Endpoint("DELETE", "/api/sessions/{id}", Api.end_session),
    Endpoint("GET", "/api/sessions/{id}/actions", Api.list_actions, is_for_agents=True),
    Endpoint("POST", "/api/sessions/{id}/actions", Api.act, body=ActionCall, is_for_agents=True),
    Endpoint("GET", "/api/sessions/{id}/record", Api.get_record),
    Endpoint("GET", "/api/sessions/{id}/events", Api.follow_events, media="text/event-stream"),
    Endpoint("GET", "/api/sessions/{id}/view/{what}", Api.show_view),
    Endpoint("GET", "/api/records", Api.list_records),
    Endpoint("GET", "/api/records/{name:path}", Api.get_stored_record),
    Endpoint("GET", "/api/benchmarks", Api.list_benchmarks),
    Endpoint("GET", "/api/benchmarks/{name:path}/report", Api.report_benchmark),
    Endpoint("GET", "/api/benchmarks/{name:path}/episodes", Api.list_episodes, query=("text", "offset")),
    Endpoint("POST", "/simulate", Api.simulate, body=Simulation),
    Endpoint("GET", "/health", Api.check_health, is_open=True),
    Endpoint("GET", "/agents", Api.list_agent_names),
    Endpoint("GET", "/problems", Api.list_problem_ids),
)


_AGENT_ENDPOINTS: Final = tuple(
    (endpoint.method, endpoint.path) for endpoint in ENDPOINTS if endpoint.is_for_agents
)
_OPEN_PATHS: Final = frozenset(endpoint.path for endpoint in ENDPOINTS if endpoint.is_open)


class HttpApp:
    """The ASGI application: checks each request, and serves it."""

    def __init__(self, sessions: Sessions, guard: Guard) -> None:
        api = Api(sessions, guard)
        routes: list[BaseRoute] = [
            Route(endpoint.path, partial(endpoint.handle, api), methods=[endpoint.method])
            for endpoint in ENDPOINTS
        ]
        routes.append(Mount("/static", StaticFiles(directory=STATIC)))
        handlers = {
            HTTPException: _explain_status,
            AIOpsLabError: _explain_error,
            ClientDisconnect: _ignore_client,
            Exception: _explain_defect,
        }
        self._guard = guard
        self._app = Starlette(routes=routes, exception_handlers=handlers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            self._guard.check_source(request)
            if scope["path"] not in _OPEN_PATHS:
                scope["access"] = access = self._guard.authenticate(request)
                _check_access(access, request)
        except HttpError as error:
            await _explain_error(request, error)(scope, receive, send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)


def _check_access(access: Access, request: Request) -> None:
    """Raise ``HttpError`` if an agent asks for anything but its own session."""
    if access.session is None:
        return
    own = [(method, path.replace("{id}", access.session.id)) for method, path in _AGENT_ENDPOINTS]
    if (request.method, request.scope["path"]) not in own:
        raise HttpError(
            403, "This token opens one session, to read and to act. The server's token opens everything."
        )


def _is_agent(request: Request) -> bool:
    return isinstance(access := request.scope.get("access"), Access) and access.is_agent


def _respond(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(json.dumps(content).encode(), status, headers, "application/json")


def _explain_error(_request: Request, error: Exception) -> Response:
    """Return an error as JSON; ``detail`` is where clients of the public service look."""
    if isinstance(error, HttpError):
        status, headers = error.status, error.headers
    else:
        status, headers = (404 if isinstance(error, (UnknownProblem, NotARecord)) else 400), {}
    return _respond({"error": str(error), "detail": str(error)}, status, headers)


def _explain_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    known = {
        404: f"There is nothing at {request.scope['path'][:200]}. GET /openapi.json describes the interface.",
        405: f"{request.method} is not possible here. GET /openapi.json describes the interface.",
    }
    return _explain_error(
        request, HttpError(error.status_code, known.get(error.status_code, error.detail), error.headers)
    )


def _explain_defect(request: Request, _error: Exception) -> Response:
    return _explain_error(
        request, HttpError(500, "Internal error; your request was valid. The server's log says more.")
    )


def _ignore_client(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)  # nobody reads it
