"""The session of a problem whose cluster is served: its task, and where an answer is submitted.

A person works with their own clients, so the session has no steps but the submissions. All that they change is in the API's log,
which the evaluation reads.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from aiopslab.agents import HUMAN
from aiopslab.cli.person import UNLIMITED
from aiopslab.cli.play import TIME_LIMIT_S
from aiopslab.cli.typed_calls import ANSWER_FORMS, add_fence, parse_line
from aiopslab.orchestrator import SUBMIT, Orchestrator, PreparedProblem, Usage, ignore_progress, to_json
from aiopslab.utils import AIOpsLabError
from simcloud.server import read_limited_body

BODY_BYTES: Final = 1 << 16
NODE_SHELL: Final = (
    "Instead of ssh NODE, use: kubectl debug node/NODE -it --image=busybox -- chroot /host bash"
)


class ServedSession:
    """The session of a prepared problem, and the ASGI application by which clients read its task and submit."""

    def __init__(self, problem: PreparedProblem, results: Path, kubeconfig: Path) -> None:
        """``kubeconfig`` is the file that leads clients here, which the task names."""
        self._problem = problem
        self._kubeconfig = kubeconfig
        self.token = secrets.token_urlsafe(32)
        """What clients identify themselves with."""
        self.policy = problem.terminal.policy
        """The rights of clients: those of an agent."""
        self._orchestrator = Orchestrator(
            results, problem.task.seed, thinking_s=0.0, time_limit_s=TIME_LIMIT_S, tell=ignore_progress
        )
        self._orchestrator.agent_name = HUMAN
        self._orchestrator.use_problem(problem)
        session = self._orchestrator.begin_session(UNLIMITED)
        session.agent_settings, session.usage = {"client": "cluster up"}, Usage(0, 0)
        self.result: dict[str, Any] | None = None
        """The result, once the session is over."""
        self.on_end: Callable[[], None] = lambda: None
        """Called when an answer was accepted and judged."""
        self.catch_up: Callable[[], None] = lambda: None
        """Brings the world to the present."""

    @property
    def task(self) -> str:
        """The description of the problem, and how to answer."""
        problem = self._problem
        node_shell = f"{NODE_SHELL}\n" if self.policy.has_ssh_key else ""
        form = ANSWER_FORMS.get(problem.task.task_type, SUBMIT)
        answer = form.replace("submit ", "aiopslab submit ").replace("submit,", "aiopslab submit,")
        return (
            f"{problem.prompt.description.rstrip()}\n{node_shell}"
            f"To answer, run in another terminal, with --kubeconfig {self._kubeconfig}: {answer}"
        )

    def finish(self) -> dict[str, Any]:
        """Judge and record the session as it stands, unless that is done; return its result."""
        if self.result is None:
            self.result = self._orchestrator.finish_problem("interrupted")
        return self.result

    def submit(self, words: str) -> str:
        """Take an answer, judge and record the session; return why the answer is refused, or an empty text."""
        self.catch_up()
        call = parse_line(f"{SUBMIT} {words}".strip(), (), self._problem.task.task_type)
        step, ending = self._orchestrator.take_step(add_fence(call), UNLIMITED)
        if ending is None:
            return step.observation
        self.result = self._orchestrator.finish_problem(ending)
        return ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, by ASGI's rules."""
        if scope["type"] == "http":
            response = await self._respond(Request(scope, receive))
            await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode()):
            return PlainTextResponse("Send the token of the kubeconfig as a bearer token.\n", 401)
        if request.method == "GET":
            return PlainTextResponse(self.task)
        if request.method != "POST":
            return PlainTextResponse("Method Not Allowed\n", 405)
        body = await read_limited_body(request, BODY_BYTES)
        if body is None:
            return PlainTextResponse("The answer is too long.\n", 413)
        if self.result is not None:
            return PlainTextResponse("The session is over.\n", 409)
        try:
            refusal = self.submit(body.decode(errors="replace"))
        except AIOpsLabError as error:
            return PlainTextResponse(f"{error}\n", 500)
        if refusal:
            return PlainTextResponse(f"{refusal}\n", 422)
        assert self.result is not None
        shown = {name: self.result[name] for name in ("ending", "why", "results", "record_error")}
        record = None if self.result["record"] is None else str(self.result["record"].absolute())
        return JSONResponse({**to_json(shown), "record": record}, background=BackgroundTask(self.on_end))
