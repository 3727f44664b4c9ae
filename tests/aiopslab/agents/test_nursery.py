"""Agents that a nursery forks: each starts as if it were executed, and none is affected by those before it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from ast import literal_eval
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiopslab.agents import make_process, start_nursery
from aiopslab.orchestrator import AgentGone, Limits, Nursery
from aiopslab.orchestrator.supervision import SupervisorLost
from aiopslab.orchestrator.supervision.family import find_descendants
from tests.aiopslab.agents.test_processes import ask
from tests.aiopslab.orchestrator.test_subprocess_agent import ends

OWN = '''
import atexit, os, random, resource, signal, sys
from pathlib import Path

import aiopslab.agents.floors as shared


def describe(state):
    """What a new interpreter would find."""
    left, shared.left_behind = getattr(shared, "left_behind", None), "something"
    capabilities = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines()
                    if line.startswith(("CapInh", "CapPrm", "CapEff", "CapBnd"))]
    return repr({
        "left": left,
        "argv": sys.argv[2:],
        "environment": sorted(os.environ),
        "files": len(os.listdir("/proc/self/fd")),
        "signals": [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGTERM)],
        "wakeup": signal.set_wakeup_fd(-1),
        "session": os.getsid(0) == os.getpid(),
        "folder": os.getcwd(),
        "limits": [resource.getrlimit(kind) for kind in (resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)],
        "capabilities": capabilities,
        "main": sorted(name for name in vars(sys.modules["__main__"]) if not name.startswith("__")),
    })


def draw(state):
    return str(random.random())


def say_goodbye(state):
    atexit.register(lambda: print("goodbye", file=sys.stderr))
    print("no newline at the end", end="")
    return "done"


def leave(state):
    sys.exit(f"code {state}")
'''


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    started = start_nursery()
    if started is None:
        pytest.skip("this kernel cannot protect a nursery")
    yield started
    assert started.is_alive
    started.close()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return path


def test_an_agent_finds_what_it_would_find_in_a_new_interpreter(
    own: Path, nursery: Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a key")
    limits = Limits(memory_mb=777, open_files=99)
    executed, *_ = ask(make_process(f"{own}:describe", limits=limits)[1], "now")[0]
    for _ in range(2):  # the first one leaves something behind in a module
        forked, *_ = ask(make_process(f"{own}:describe", limits=limits, nursery=nursery.link)[1], "now")[0]
        assert literal_eval(forked) == literal_eval(executed)
    assert "SOME_API_KEY" in forked


def test_keys_do_not_reach_the_nursery(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "planted")
    started = start_nursery()
    if started is None:
        pytest.skip("this kernel cannot protect a nursery")
    ask(make_process("noop", nursery=started.link)[1], "now")
    assert b"planted" not in Path(f"/proc/{started.link.pid}/environ").read_bytes()
    started.close()


def test_every_agent_draws_its_own_numbers(own: Path, nursery: Nursery) -> None:
    drawn = [ask(make_process(f"{own}:draw", nursery=nursery.link)[1], "now")[0] for _ in range(2)]
    assert drawn[0] != drawn[1]


def test_an_agent_ends_as_an_interpreter_does(own: Path, nursery: Nursery) -> None:
    printed: list[str] = []
    _, agent = make_process(f"{own}:say_goodbye", nursery=nursery.link)
    agent.on_output = printed.append
    ask(agent, "now")
    assert "".join(printed) == "goodbye\nno newline at the end"


def test_an_agent_that_exits_is_reported_in_the_same_way(own: Path, nursery: Nursery) -> None:
    seen = []
    for link in (None, nursery.link):
        with pytest.raises(AgentGone) as gone:
            ask(make_process(f"{own}:leave", nursery=link)[1], "seven")
        seen.append(str(gone.value))
    assert seen[0] == seen[1]
    assert "exited with code 1" in seen[0]
    assert "code seven" in seen[0]


def test_a_command_is_executed_under_a_forked_supervisor(tmp_path: Path, nursery: Nursery) -> None:
    file = tmp_path / "agent.py"
    file.write_text(
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "    if json.loads(line)['type'] == 'state':\n"
        "        streams = len(os.listdir('/proc/self/fd')) - 1\n"
        "        print(json.dumps({'action': f'{sys.argv} {len(sys.modules) < 100} {streams}'}), flush=True)\n"
    )
    _, agent = make_process(f"cmd:{sys.executable} {file} word", nursery=nursery.link)
    assert ask(agent, "now")[0] == [f"{[str(file), 'word']} True 3"]


def test_a_nursery_that_was_killed_is_an_error_of_the_harness() -> None:
    started = start_nursery()
    if started is None:
        pytest.skip("this kernel cannot protect a nursery")
    os.kill(started.link.pid, signal.SIGKILL)
    assert ends(started.link.pid)
    assert not started.is_alive
    with pytest.raises(SupervisorLost, match="the nursery of agents has ended"):
        ask(make_process("noop", nursery=started.link)[1], "now")
    started.close()


def test_a_nursery_ends_with_the_process_that_has_started_it() -> None:
    code = "import time; from aiopslab.agents import start_nursery; kept = start_nursery(); print('started', flush=True); time.sleep(1000)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        starter.stdout.readline()
        started = find_descendants(starter.pid)
        while not started and Nursery.is_supported():
            time.sleep(0.01)
            started = find_descendants(starter.pid)
        starter.kill()
    assert all(ends(process.pid) for process in started)
