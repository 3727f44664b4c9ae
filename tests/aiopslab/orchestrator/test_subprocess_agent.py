"""Agents that are programs of their own: what they are told, and what becomes of those that misbehave."""

import asyncio
import os
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aiopslab.orchestrator.agent import (
    AgentFailed,
    AgentGone,
    AgentLink,
    AgentTimedOut,
    SubprocessAgent,
    Usage,
    link,
)
from aiopslab.orchestrator.models import Tool

PRELUDE = "import json, os, signal, sys, time\n"

ECHO = """
    for line in sys.stdin:
        told = json.loads(line)
        if told["type"] == "state":
            print(json.dumps({"action": "I heard " + told["state"]}), flush=True)
"""


def program(tmp_path: Path, source: str, env: dict[str, str] | None = None) -> SubprocessAgent:
    file = tmp_path / "agent.py"
    file.write_text(PRELUDE + textwrap.dedent(source))
    return SubprocessAgent([sys.executable, str(file)], env)


def asked(
    agent: SubprocessAgent,
    *states: str,
    timeout_s: float = 120.0,
    then: Callable[[AgentLink], None] = lambda _: None,
) -> list[str]:
    async def session() -> list[str]:
        linked = link(agent, "somebody", timeout_s=timeout_s)
        try:
            docs, tool = (
                {"submit": "submit() ends the session."},
                Tool("submit", "Ends it.", {"type": "object"}),
            )
            await linked.init("A problem.", "Some instructions.", docs, [tool])
            answers = [await linked.get_action(state) for state in states]
            then(linked)
            return answers
        finally:
            await linked.close()
            await linked.close()

    return asyncio.run(session())


def alive(pid: int) -> bool:
    """Whether a process still runs; one that nobody has waited for yet runs no more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def ends(pid: int) -> bool:
    """Whether a process runs no more: one that was killed does when it next gets a processor."""
    deadline = time.monotonic() + 120
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


def test_it_hears_the_problem_the_states_and_the_end(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    agent = program(
        tmp_path,
        f"""
        with open({str(heard)!r}, "w") as heard:
            for line in sys.stdin:
                heard.write(line)
                if json.loads(line)["type"] == "state":
                    print('{{"action": "submit()"}}', flush=True)
        """,
    )
    assert asked(agent, "one\nline", "two “ü”") == ["submit()", "submit()"]
    assert heard.read_text().splitlines() == [
        '{"type": "problem", "description": "A problem.", "instructions": "Some instructions.", '
        '"actions": {"submit": "submit() ends the session."}, '
        '"tools": [{"name": "submit", "description": "Ends it.", "parameters": {"type": "object"}}]}',
        '{"type": "state", "state": "one\\nline"}',
        '{"type": "state", "state": "two \\u201c\\u00fc\\u201d"}',
        '{"type": "end"}',
    ]


def test_usage_stays_what_was_last_told(tmp_path: Path) -> None:
    agent = program(
        tmp_path,
        """
        answers = ['{"action": "a", "usage": {"in_tokens": 5, "out_tokens": 2, "cost_usd": 0.25}}', '{"action": "b"}']
        for line in sys.stdin:
            if json.loads(line)["type"] == "state":
                print(answers.pop(0), flush=True)
        """,
    )
    seen: list[Usage | None] = []
    asked(agent, "1", "2", then=lambda linked: seen.append(linked.usage()))
    assert seen == [Usage(5, 2, 0.25)]


def test_settings_are_what_it_reported_last(tmp_path: Path) -> None:
    agent = program(
        tmp_path,
        """
        answers = ['{"action": "a", "settings": {"model": "small"}}', '{"action": "b", "settings": 3}']
        for line in sys.stdin:
            if json.loads(line)["type"] == "state":
                print(answers.pop(0), flush=True)
        """,
    )
    seen: list[dict[str, object]] = []
    asked(agent, "1", "2", then=lambda linked: seen.append(linked.settings()))
    assert seen == [{"model": "small"}]


def test_it_gets_only_the_environment_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEBODYS_API_KEY", "secret")
    agent = program(
        tmp_path,
        """
        for line in sys.stdin:
            print(json.dumps({"action": " ".join(sorted(os.environ))}), flush=True)
        """,
        env={"MODEL": "small"},
    )
    [names] = asked(agent, "1")
    assert "MODEL" in names.split()
    assert "PATH" in names.split()
    assert "SOMEBODYS_API_KEY" not in names


@pytest.mark.parametrize(
    ("source", "error", "told"),
    [
        ("sys.exit(7)", AgentGone, "exited with code 7 before it answered"),
        ("print('no key given', file=sys.stderr); sys.exit(1)", AgentGone, "no key given"),
        ("sys.stdin.readline(); sys.stdin.readline(); raise ValueError('oh dear')", AgentGone, "ValueError: oh dear"),
        ("sys.stdin.readline(); os.kill(os.getpid(), signal.SIGKILL)", AgentGone, "ended by signal 9"),
        ("os.close(1); time.sleep(10000)", AgentGone, "closed its standard output"),
        ("print('hello', flush=True); time.sleep(10000)", AgentFailed, "'hello' where a line"),
        ("print('[1]', flush=True); time.sleep(10000)", AgentFailed, "standard error"),
        ("print('[' * 100000, flush=True); time.sleep(10000)", AgentFailed, "was expected"),
        ("os.write(1, b'\\xff\\xfe\\n'); time.sleep(10000)", AgentFailed, "was expected"),
        ("""print('{"action": 3}', flush=True); time.sleep(10000)""", AgentFailed, "an int"),
        ("while True: os.write(1, b'x' * 65536)", AgentFailed, "more than 2097152 bytes"),
    ],
)  # fmt: skip
def test_a_program_that_misbehaves_becomes_a_sentence(
    tmp_path: Path, source: str, error: type[AgentFailed], told: str
) -> None:
    with pytest.raises(error, match=told) as failure:
        asked(program(tmp_path, source), "1")
    assert len(str(failure.value)) < 8000


def test_a_flood_to_standard_error_is_kept_in_part(tmp_path: Path) -> None:
    agent = program(tmp_path, "for n in range(100_000): print('noise', n, file=sys.stderr)\nsys.exit(1)")
    with pytest.raises(AgentGone, match="noise 99999") as failure:
        asked(agent, "1")
    assert len(str(failure.value)) < 5000


@pytest.mark.parametrize(
    "source",
    [
        "time.sleep(10000)",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(10000)",
        "print('half a li', end='', flush=True)\ntime.sleep(10000)",
    ],
)
def test_a_program_that_hangs_is_ended(tmp_path: Path, source: str) -> None:
    with pytest.raises(AgentTimedOut, match=r"did not answer within 0.5 s"):
        asked(program(tmp_path, source), "x" * 10**6, timeout_s=0.5)


def test_it_goes_with_all_that_it_started(tmp_path: Path) -> None:
    agent = program(
        tmp_path,
        """
        import subprocess
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(10000)"])
        for line in sys.stdin:
            if json.loads(line)["type"] == "state":
                print(json.dumps({"action": f"{os.getpid()} {child.pid}"}), flush=True)
        time.sleep(10000)
        """,
    )
    [pids] = asked(agent, "1")
    assert all(ends(int(pid)) for pid in pids.split())


def test_a_child_that_holds_the_pipe_does_not_hide_the_end(tmp_path: Path) -> None:
    agent = program(
        tmp_path,
        """
        if os.fork():
            os._exit(5)
        time.sleep(10000)
        """,
    )
    with pytest.raises(AgentGone, match="exited with code 5"):
        asked(agent, "1")


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AgentFailed, match=r"cannot be started: ./nowhere: No such file or directory\. Check"):
        asked(SubprocessAgent(["./nowhere"]), "1")
    with pytest.raises(AgentFailed, match="a list of words"):
        SubprocessAgent("python agent.py")


def test_an_interrupted_session_leaves_no_process(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    agent = program(tmp_path, f"open({str(started)!r}, 'w').write(str(os.getpid()))\ntime.sleep(10000)")

    async def session() -> None:
        linked = link(agent, "somebody", timeout_s=120)
        asking = asyncio.create_task(linked.get_action("1"))
        while not (started.exists() and started.read_text()):
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await linked.close()

    asyncio.run(session())
    assert ends(int(started.read_text()))


def test_two_sessions_of_one_agent_are_two_processes(tmp_path: Path) -> None:
    agent = program(tmp_path, ECHO)
    assert asked(agent, "you", "again") == ["I heard you", "I heard again"]
    assert asked(agent, os.sep) == ["I heard /"]
