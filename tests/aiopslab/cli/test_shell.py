"""A person at the operator's terminal: lines are edited and completed, and Ctrl-C ends the command, not the shell."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from aiopslab.cli.live_shell import Keyboard
from aiopslab.cli.shell import THINKING_S, _read_lines
from tests.aiopslab.cli.command_line import aiopslab

PATIENCE_S = 300.0
PAUSE_S = 0.5


class Person:
    """Types at a pseudo-terminal and reads what is shown."""

    def __init__(self, *args: str) -> None:
        command = [sys.executable, "-c", "from aiopslab.cli import main; main()", *args]
        self.pid, self._master = pty.fork()  # a terminal of its own, from which Control-C comes as a signal
        if self.pid == 0:
            os.execve(sys.executable, command, {**os.environ, "TERM": "dumb"})
        self._seen = ""

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def interrupt(self) -> None:
        """Press Control-C, not faster than people do: in the moment between two reads it would be taken for the other's."""
        time.sleep(PAUSE_S)
        self.type("\x03")

    def sees(self, wanted: str) -> str:
        """Read on until a text is there; all that came before and with it."""
        deadline = time.monotonic() + PATIENCE_S
        while wanted not in self._seen:
            left_s = deadline - time.monotonic()
            assert left_s > 0, f"no {wanted!r} in {self._seen!r}"
            if select.select([self._master], [], [], left_s)[0]:
                self._seen += os.read(self._master, 65536).decode(errors="replace")
        before, found, self._seen = self._seen.partition(wanted)
        return before + found

    def left_with(self) -> int:
        """The exit code of the shell once it has ended."""
        pid, self.pid = self.pid, 0
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._master)


@pytest.fixture
def person() -> Iterator[Person]:
    someone = Person("shell", "--nodes", "3")
    yield someone
    someone.close()


def test_control_c_while_a_moment_passes_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter(("kubectl get ns",))
    passed: list[float] = []

    class Interrupted:
        def run_for(self, seconds: float) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            passed.append(seconds)

    class Live:
        is_tty = False
        shell = SimpleNamespace(process=SimpleNamespace(alive=True), is_at_prompt=True)

        def __init__(self, _terminal: object) -> None: ...

        def format_prompt(self) -> str:
            return ""

        def begin_line(self) -> None: ...

        def type_keys(self) -> bool:
            return False

    def read(_prompt: str) -> str:
        for line in lines:
            return line
        raise EOFError

    monkeypatch.setattr("builtins.input", read)
    monkeypatch.setattr("aiopslab.cli.shell.LiveShell", Live)
    monkeypatch.setattr("aiopslab.cli.shell._run_line", lambda _terminal, _line, _keyboard: 3)
    keyboard = Keyboard()
    with keyboard.catch_interrupts():
        assert _read_lines(Interrupted(), object(), 3, keyboard) == 3  # type: ignore[arg-type]
    assert passed == [THINKING_S]


def test_one_line_and_its_code() -> None:
    done = aiopslab("shell", "-c", "kubectl get ns default -o name; kubectl get pod nosuch")
    assert (done.stdout, done.returncode) == ("namespace/default\n", 1)
    assert done.stderr == 'Error from server (NotFound): pods "nosuch" not found\n'


def test_a_person_types_completes_interrupts_and_leaves(person: Person) -> None:
    person.sees("'exit' to leave.")
    person.sees("# ")
    person.type("kubectl get ns -o na\x7f\x7fname\n")
    assert "namespace/kube-system" in person.sees("namespace/local-path-storage")
    person.sees("# ")
    person.type("kubectl descr\t")
    assert "describe" in person.sees("describe ")
    person.type("\x15kubectl get nodes -w\n")  # Control-U clears the line
    person.sees("kind-worker2")
    person.interrupt()
    person.sees("# ")
    person.type("echo still here $?\n")
    person.sees("still here")
    person.sees("# ")
    person.type("mkdir -p incident && cd incident\n")
    person.sees("root@bastion:~/incident# ")
    person.type("cat <<X > note\nkept\nX\n")
    person.type("cat note\n")
    person.sees("kept\r\n")
    person.sees("kept\r\n")
    person.sees("# ")
    person.type("vi note\n")
    person.sees('"note" 1L, 5B')
    person.type("A for good\x1b")
    person.type(":wq\r")
    person.sees("# ")
    person.type("cat note\n")
    person.sees("kept for good\r\n")
    person.type("exit 4\n")
    assert person.left_with() == 4
