"""Agents of every kind, the well-behaved and the others."""

import asyncio
import contextvars
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from aiopslab.orchestrator import agent_runners
from aiopslab.orchestrator.agent import AgentFailed, AgentGone, AgentTimedOut, Usage, link
from aiopslab.orchestrator.models import Tool
from aiopslab.orchestrator.parser import ResponseParser
from aiopslab.utils.status import ResponseParsingError


def asked(agent: object, *states: str, timeout_s: float = 120.0, introduce: bool = False) -> list[str]:
    """What an agent answers to each state, from its introduction to its end."""

    async def session() -> list[str]:
        linked = link(agent, "somebody", timeout_s=timeout_s, introduce=introduce)
        try:
            await linked.init("A problem.", "Some instructions.", {"submit": "submit() ends the session."})
            return [await linked.get_action(state) for state in states]
        finally:
            await linked.close()

    return asyncio.run(session())


class Plain:
    def get_action(self, state: str) -> str:
        return f"plain {state}"


class Async:
    async def get_action(self, state: str) -> str:
        await asyncio.sleep(0)
        return f"async {state}"


class Called:
    async def __call__(self, state: str) -> str:
        return f"called {state}"


class Introduced:
    told = ""

    def init_context(self, problem: str, instructions: str, apis: dict[str, str]) -> None:
        self.told += f"{problem} {instructions} {sorted(apis)}"

    def get_action(self, state: str) -> str:
        return self.told


async def function(state: str) -> str:
    return f"function {state}"


@pytest.mark.parametrize(
    ("agent", "answer"),
    [
        (Plain(), "plain 1"),
        (Plain, "plain 1"),
        (Async(), "async 1"),
        (Async, "async 1"),
        (Called(), "called 1"),
        (function, "function 1"),
        (lambda state: f"lambda {state}", "lambda 1"),
    ],
)
def test_every_kind_is_asked_in_the_same_way(agent: object, answer: str) -> None:
    assert asked(agent, "1") == [answer]


def test_an_async_agent_keeps_its_loop_from_one_state_to_the_next() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def agent(state: str) -> str:
        loops.append(asyncio.get_running_loop())
        return state

    assert asked(agent, "a", "b") == ["a", "b"]
    assert loops[0] is loops[1]


def test_who_makes_an_agent_introduces_it() -> None:
    assert asked(Introduced, "1") == ["A problem. Some instructions. ['submit']"]
    assert asked(Introduced(), "1") == [""], "a script that made an object tells it the problem itself"
    assert asked(Introduced(), "1", introduce=True) == ["A problem. Some instructions. ['submit']"]


def test_what_is_no_agent_is_refused_with_what_would_be_one() -> None:
    with pytest.raises(AgentFailed, match=r"42 is not an agent.*get_action"):
        link(42, "somebody", timeout_s=1)


class Needy:
    def __init__(self, model: str) -> None:
        self.model = model

    def get_action(self, state: str) -> str:
        return state


def raising(error: BaseException) -> Callable[[str], str]:
    def agent(state: str) -> str:
        raise error

    return agent


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("agent", "error", "told"),
    [
        (raising(KeyError("model")), AgentFailed, "raised KeyError: 'model'"),
        (raising(StopIteration()), AgentFailed, "raised StopIteration"),
        (raising(GeneratorExit()), AgentFailed, "raised GeneratorExit"),
        (raising(asyncio.CancelledError()), AgentFailed, "cancelled from within"),
        (raising(Unspeakable()), AgentFailed, "raised Unspeakable: .its text cannot be shown"),
        (raising(SystemExit(3)), AgentGone, "exit code 3"),
        (lambda state: None, AgentFailed, r"nothing \(None\)"),
        (lambda state: {"action": "x"}, AgentFailed, "a dict"),
        (lambda state: b"submit()", AgentFailed, "a bytes"),
        (Needy, AgentFailed, "TypeError.*model"),
        (int, AgentFailed, "makes no agents"),
    ],
)
def test_nonsense_and_errors_become_a_sentence(agent: object, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        asked(agent, "1")


def test_the_text_of_an_error_is_bounded() -> None:
    with pytest.raises(AgentFailed) as failure:
        asked(raising(ValueError("x" * 10**7)), "1")
    assert len(str(failure.value)) < 3000


def test_a_keyboard_interrupt_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        asked(raising(KeyboardInterrupt()), "1")


async def hangs(state: str) -> str:
    await asyncio.sleep(10_000)
    return state


async def swallows_cancellation(state: str) -> str:
    while True:
        try:
            await asyncio.sleep(0.5)
        except asyncio.CancelledError:
            pass


async def answers_when_cancelled(state: str) -> str:
    try:
        await asyncio.sleep(10_000)
    except asyncio.CancelledError:
        return "too late"
    return state


async def blocks_its_loop(state: str) -> str:
    time.sleep(10_000)
    return state


def sleeps(state: str) -> str:
    time.sleep(10_000)
    return state


@pytest.mark.parametrize(
    "agent", [hangs, swallows_cancellation, answers_when_cancelled, blocks_its_loop, sleeps]
)
def test_a_hanging_agent_times_out_and_keeps_nobody(agent: Callable[[str], Awaitable[str]]) -> None:
    with pytest.raises(AgentTimedOut, match=r"somebody did not answer within 0.1 s"):
        asked(agent, "1", timeout_s=0.1)


STUCK = """
import asyncio, time
from aiopslab.orchestrator.agent import AgentTimedOut, link

async def agent(state):
    time.sleep(10_000)

async def session():
    linked = link(agent, "somebody", timeout_s=0.1)
    try:
        await linked.get_action("1")
    except AgentTimedOut as error:
        print(error)
    finally:
        await linked.close()

asyncio.run(session())
"""


def test_an_abandoned_agent_does_not_keep_the_process_from_exiting() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=300, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "did not answer" in ran.stdout


def test_a_stuck_agent_is_not_asked_again() -> None:
    async def session() -> None:
        linked = link(sleeps, "somebody", timeout_s=0.1)
        for _ in range(2):
            with pytest.raises(AgentTimedOut):
                await linked.get_action("1")
        await linked.close()

    asyncio.run(session())


@pytest.mark.parametrize("cancelled_after_s", [0.0, 0.2])
def test_an_interrupted_session_cancels_what_its_agent_does(cancelled_after_s: float) -> None:
    ended = threading.Event()

    async def waits() -> str:
        try:
            await asyncio.sleep(10_000)
        finally:
            ended.set()
        return ""

    def agent(state: str) -> Awaitable[str]:
        time.sleep(0.1)  # so that a cancellation comes before there is anything to cancel, or after
        return waits()

    async def session() -> None:
        linked = link(agent, "somebody", timeout_s=120)
        asking = asyncio.create_task(linked.get_action("1"))
        await asyncio.sleep(cancelled_after_s)
        await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await linked.close()

    asyncio.run(session())
    assert ended.wait(120)


def test_a_flood_is_cut_and_then_refused_as_too_long() -> None:
    [answer] = asked(lambda state: 'exec_shell("ls")\n' * 10**6, "1")
    assert len(answer) < 201_000
    with pytest.raises(ResponseParsingError, match="the limit is 200000"):
        ResponseParser().parse(answer)


def used(usage: Any) -> Usage | None:
    class Counting(Plain):
        pass

    Counting.usage = usage  # type: ignore[attr-defined]

    async def session() -> Usage | None:
        linked = link(Counting(), "somebody", timeout_s=120)
        assert linked.usage() is None
        await linked.get_action("1")
        await linked.close()
        return linked.usage()

    return asyncio.run(session())


@pytest.mark.parametrize(
    ("told", "understood"),
    [
        (Usage(3, 4, 0.5), Usage(3, 4, 0.5)),
        ({"in_tokens": 3, "out_tokens": 4, "cost_usd": 1}, Usage(3, 4, 1.0)),
        ({"prompt_tokens": 3, "completion_tokens": 4}, Usage(3, 4)),
        ({"in_tokens": 3}, Usage(3, 0)),
        (lambda self: {"in_tokens": 3, "out_tokens": 4}, Usage(3, 4)),
        (property(lambda self: 1 / 0), None),
        (lambda self, needs: None, None),
        ({"in_tokens": "many", "out_tokens": float("nan"), "cost_usd": -1}, None),
        ({"in_tokens": True, "out_tokens": 10**400}, None),
        (None, None),
        ("a lot", None),
    ],
)
def test_usage_is_read_as_attribute_or_method_and_never_harms(told: object, understood: Usage | None) -> None:
    assert used(told) == understood


def read_settings(settings: Any) -> dict[str, Any]:
    class Configured(Plain):
        pass

    Configured.settings = settings  # type: ignore[attr-defined]

    async def session() -> dict[str, Any]:
        linked = link(Configured(), "somebody", timeout_s=120)
        await linked.init("A problem.", "Some instructions.", {})
        await linked.close()
        return linked.settings()

    return asyncio.run(session())


@pytest.mark.parametrize(
    ("reported", "understood"),
    [
        (
            {"model": "small", "parameters": {"temperature": 0}},
            {"model": "small", "parameters": {"temperature": 0}},
        ),
        (lambda self: {"model": "small"}, {"model": "small"}),
        (property(lambda self: 1 / 0), {}),
        ({"model": object()}, {}),
        ({"notes": "x" * 30_000}, {}),
        ("small", {}),
    ],
)
def test_settings_are_read_as_attribute_or_method_and_never_harm(
    reported: object, understood: dict[str, Any]
) -> None:
    assert read_settings(reported) == understood


def test_an_agent_that_calls_functions_gets_the_actions_as_tools() -> None:
    class Calling(Plain):
        tools: Sequence[Tool] = ()

        def init_tools(self, tools: Sequence[Tool]) -> None:
            self.tools = tools

    agent, tool = Calling(), Tool("submit", "Ends it.", {"type": "object"})

    async def session() -> None:
        linked = link(agent, "somebody", timeout_s=120)
        await linked.init("A problem.", "Some instructions.", {}, [tool])
        await linked.close()

    asyncio.run(session())
    assert list(agent.tools) == [tool]


# -- where an agent is asked ---------------------------------------------------------------------


def test_an_async_agent_of_a_shared_loop_is_asked_on_that_loop() -> None:
    """As scripts do that open a session with a tool server first: its other end is a task of the same loop."""

    async def script() -> str:
        questions: asyncio.Queue[str] = asyncio.Queue()
        answers: asyncio.Queue[str] = asyncio.Queue()

        async def tool() -> None:
            while True:
                await answers.put(f"tool {await questions.get()}")

        async def agent(state: str) -> str:
            await questions.put(state)
            return await answers.get()

        serving = asyncio.create_task(tool())
        linked = link(agent, "somebody", timeout_s=30, shared_loop=True)
        try:
            return await linked.get_action("1") + " " + await linked.get_action("2")
        finally:
            await linked.close()
            serving.cancel()

    assert asyncio.run(script()) == "tool 1 tool 2"


def asked_here(agent: object, timeout_s: float = 30.0) -> str:
    linked = link(agent, "somebody", timeout_s=timeout_s, shared_loop=True)
    return asyncio.run(linked.get_action("1"))


async def exiting(state: str) -> str:
    raise SystemExit(4)


async def cancelling(state: str) -> str:
    raise asyncio.CancelledError


def test_an_agent_that_blocks_a_shared_loop_has_not_answered_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_runners, "GRACE_S", 0.01)

    async def blocking(state: str) -> str:
        time.sleep(0.1)
        return "late"

    with pytest.raises(AgentTimedOut, match=r"did not answer within 0\.01 s"):
        asked_here(blocking, timeout_s=0.01)
    assert asked_here(blocking) == "late"


async def hanging(state: str) -> str:
    await asyncio.sleep(3600)
    return state


@pytest.mark.parametrize(
    ("agent", "error", "told"),
    [
        (exiting, AgentGone, "exit code 4"),
        (cancelling, AgentFailed, "cancelled from within"),
        (hanging, AgentTimedOut, "did not answer within 0.2 s"),
    ],
)
def test_there_it_fails_as_anywhere_else(agent: object, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        asked_here(agent, timeout_s=0.2)


def test_there_an_agent_that_is_not_async_has_a_thread_of_its_own() -> None:
    assert asked_here(lambda state: threading.current_thread().name) == "agent somebody"
    assert asked_here(Async()) == "async 1"
    assert asked_here(Called()) == "called 1"


MODEL: contextvars.ContextVar[str] = contextvars.ContextVar("model", default="none")


def test_an_agent_finds_what_its_script_has_set_and_what_it_set_itself() -> None:
    async def agent(state: str) -> str:
        before = MODEL.get()
        MODEL.set(f"{before} {state}")
        return before

    def plain(state: str) -> str:
        return MODEL.get()

    MODEL.set("mine")
    try:
        assert asked(agent, "1", "2") == ["mine", "mine 1"]
        assert asked(plain, "1") == ["mine"]
        assert asked_here(agent) == "mine"
    finally:
        MODEL.set("none")
