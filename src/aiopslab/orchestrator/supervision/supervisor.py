"""The supervisor of one agent: a process that starts it, limits it, and ends it with everything that it has started.

It stands between the harness and the agent. The agent talks to the harness by the standard streams, which the supervisor
passes on and does not read. The harness talks to the supervisor through a socket, by lines of JSON:

    harness     {"argv": […], "env": {…}, "folder": …, "limits": […], "isolation": […] or null}, once
    supervisor  {"started": PID} or {"refused": "why"}
    harness     {"journal": PATH, "draft": TEXT}: what to append to a session's journal if the harness is killed
    supervisor  {"exited": CODE} when the agent's first process ends; {"exceeded": "which limit"}
    harness     {"terminate": true} to ask the agent to exit; {"end": true}
    supervisor  {"ended": true}, then it exits

When the socket closes without ``end``, the harness was killed: the agent's processes end, and the journal gets its last line. The
supervisor holds no world and no judge; a draft names the problem, so its memory is closed to the agent (``kernel.shield_others``).
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NoReturn

from aiopslab.orchestrator.supervision import kernel
from aiopslab.orchestrator.supervision.family import (
    IS_LINUX,
    end_children,
    find_descendants,
    list_processes,
    send_signal,
)
from aiopslab.orchestrator.supervision.limits import MIB, Limits
from aiopslab.orchestrator.supervision.namespaces import (
    Isolation,
    NotIsolated,
    decode_exit,
    enter_namespaces,
)
from aiopslab.orchestrator.supervision.proxy import serve_endpoints

POLL_S: Final = 0.25
"""Interval at which the processes of the agent are counted."""
END_S: Final = 10.0
"""Maximum time for the agent's processes to end once they are killed."""
_IGNORED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
_PROXY_NAMES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")

Execute = Callable[[str, list[str], dict[str, str]], NoReturn]
"""Replaces this process by a program, as ``os.execvpe`` does: program, arguments, environment."""


class Supervisor:
    """Starts one agent and ends it."""

    def __init__(self, control: socket.socket, execute: Execute = os.execvpe) -> None:
        control.set_inheritable(False)  # the agent must not speak for its supervisor
        self._control = control
        self._execute = execute
        self._received = b""
        self._is_open = True
        self._is_ended = False
        self._agent = 0
        """Process id of the agent's first process, which leads a session and a group of its own."""
        self._has_exited = False
        self._limits = Limits()
        self._isolation: Isolation | None = None
        self._last_words: tuple[str, str] | None = None

    def run(self) -> None:
        """Start the agent, and return when it and all its processes have ended."""
        request = self._read_messages()
        if not request:
            return
        config = request[0]
        self._limits = Limits(*config["limits"])
        self._isolation = _parse_isolation(config["isolation"])
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        wake, self_pipe = os.pipe()
        os.set_blocking(self_pipe, False)
        signal.set_wakeup_fd(self_pipe)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        if IS_LINUX:
            kernel.set_process(kernel.PR_SET_CHILD_SUBREAPER)
        if not self._start(config):
            return
        self._watch(wake)
        end_children(self._agent, END_S)
        if self._is_ended:
            self._send({"ended": True})
        elif self._last_words is not None:
            _append(*self._last_words)

    def _start(self, config: dict[str, Any]) -> bool:
        failed, failing = os.pipe()
        own, channel = socket.socketpair()
        self._agent = os.fork()
        if not self._agent:
            os.close(failed)
            own.close()
            _become_agent(config, self._limits, self._isolation, failing, channel, self._execute)
        os.close(failing)
        channel.close()
        _release_streams()
        if IS_LINUX:
            kernel.set_process(kernel.PR_SET_DUMPABLE, 0)
        refusal = _read_all(failed)
        if refusal:
            end_children(self._agent, END_S)
            self._send({"refused": refusal.decode()})
            return False
        if self._isolation is not None and self._isolation.endpoints:
            _, (listener, *_), _, _ = socket.recv_fds(own, 1, 1)
            serve_endpoints(socket.socket(fileno=listener), self._isolation.endpoints)
        own.close()
        self._send({"started": self._agent})
        return True

    def _watch(self, wake: int) -> None:
        """Wait for the end: by a message, by a closed socket, or by a limit."""
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        while True:
            ready = {file for file, _ in poll.poll(POLL_S * 1000)}
            if wake in ready:
                os.read(wake, 4096)
                self._reap()
            if self._control.fileno() in ready:
                for message in self._read_messages():
                    self._obey(message)
            if self._is_ended or not self._is_open:
                return
            if not ready and self._count_tasks() > self._limits.processes:
                self._send({"exceeded": f"more than {self._limits.processes} processes"})
                end_children(self._agent, END_S)

    def _obey(self, message: dict[str, Any]) -> None:
        if "draft" in message:
            self._last_words = (message["journal"], message["draft"])
        elif "terminate" in message and not self._has_exited:
            send_signal(-self._agent, signal.SIGTERM)
        elif "end" in message:
            self._is_ended = True

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                if pid == self._agent and not self._has_exited:
                    self._has_exited = True
                    code = os.waitstatus_to_exitcode(status)
                    self._send({"exited": decode_exit(code) if self._isolation else code})

    def _count_tasks(self) -> int:
        return sum(process.threads for process in find_descendants(os.getpid()) if process.is_alive)

    def _read_messages(self) -> list[dict[str, Any]]:
        """Return the messages that have come, at least one unless the socket is closed."""
        while self._is_open:
            chunk = self._control.recv(1 << 20)
            self._is_open = bool(chunk)
            self._received += chunk
            *lines, self._received = self._received.split(b"\n")
            if lines:
                return [json.loads(line) for line in lines]
        return []

    def _send(self, message: dict[str, Any]) -> None:
        with suppress(OSError):
            self._control.sendall(json.dumps(message).encode() + b"\n")


def _parse_isolation(value: Any) -> Isolation | None:
    return None if value is None else Isolation(*map(tuple, value))


def _become_agent(
    config: dict[str, Any],
    limits: Limits,
    isolation: Isolation | None,
    failing: int,
    channel: socket.socket,
    execute: Execute,
) -> NoReturn:
    """Limit this process and execute the agent's program; write to ``failing`` if that is not possible."""

    def let_go() -> None:
        os.close(failing)
        channel.close()
        _release_streams()

    try:
        os.setsid()
        env = dict(config["env"])
        _set_limits(limits)
        if isolation is not None:
            if not IS_LINUX:
                raise NotIsolated("namespaces need Linux")
            port = enter_namespaces(isolation, let_go, channel)
            env |= dict.fromkeys(_PROXY_NAMES, f"http://127.0.0.1:{port}") if port is not None else {}
            env = {
                name: value for name, value in env.items() if name.lower() != "no_proxy" and name != "TMPDIR"
            }
        if IS_LINUX:
            kernel.set_process(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
            kernel.drop_capabilities(kept=kernel.FILE_CAPABILITIES)  # root may read any process otherwise
            kernel.set_process(kernel.PR_SET_NO_NEW_PRIVS)
            with suppress(OSError):  # an older kernel: docs/isolation.md says what is open there
                kernel.shield_others()
        for number in (*_IGNORED, signal.SIGCHLD, signal.SIGXFSZ):  # Python itself ignores the last one
            signal.signal(number, signal.SIG_DFL)
        os.chdir(config["folder"])
        execute(config["argv"][0], config["argv"], env)
    except NotIsolated as error:
        os.write(failing, f"isolation: {error}".encode())
    except Exception as error:
        os.write(failing, (getattr(error, "strerror", None) or str(error)).encode())
    finally:
        os._exit(127)


def _set_limits(limits: Limits) -> None:
    values = {
        resource.RLIMIT_DATA: limits.memory_mb * MIB,
        resource.RLIMIT_FSIZE: limits.file_mb * MIB,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
    }
    user = os.getuid()
    if (
        IS_LINUX and user
    ):  # it counts all processes of the user, not only the agent's; the kernel does not limit root's
        values[resource.RLIMIT_NPROC] = limits.processes + sum(
            process.threads for process in list_processes() if _get_owner(process.pid) == user
        )
    for kind, value in values.items():
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, hard))


def _get_owner(pid: int) -> int | None:
    try:
        return os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116
    except OSError:
        return None


def _release_streams() -> None:
    """Let go of the agent's standard streams, so that their ends are seen when the agent closes them."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    os.close(null)


def _read_all(file: int) -> bytes:
    with os.fdopen(file, "rb") as pipe:
        return pipe.read()


def _append(path: str, text: str) -> None:
    """Append a line to an existing file; one that the harness has removed meanwhile stays removed."""
    with suppress(OSError), os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as file:
        file.write(f"{text}\n".encode())


def main() -> None:
    """Run the supervisor on the socket whose file descriptor is the argument."""
    control = socket.socket(fileno=int(sys.argv[1]))
    Supervisor(control).run()


if __name__ == "__main__":
    main()
