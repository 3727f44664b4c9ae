"""``Shell`` of the public AIOpsLab release: commands on the agent's host of the current embedded cloud."""

from __future__ import annotations

import shlex
from typing import Final

from aiopslab.service.current import get_cloud
from aiopslab.utils import NotAvailable

TIMED_OUT: Final = 124


class Shell:
    """Runs commands on the agent's host, never on this one."""

    @staticmethod
    def exec(command: str, input_data: str | None = None, cwd: str | None = None, timeout: float = 30) -> str:
        """Run a command; return its output, or its error output if it failed. Raises ``RuntimeError`` after the timeout."""
        line = f"cd {shlex.quote(cwd)} && {command}" if cwd else command
        if input_data is not None:
            line = f"( {line} ) <<'END_OF_INPUT'\n{input_data}\nEND_OF_INPUT"
        done = get_cloud("Shell").run_in_session(line, timeout)
        if done.status == TIMED_OUT:
            raise RuntimeError(f"The command did not end within {timeout:g} simulated seconds: {command}")
        return str((done.stdout if done.status == 0 else done.stderr or done.stdout).decode(errors="replace"))

    @staticmethod
    def local_exec(
        command: str, input_data: str | None = None, cwd: str | None = None, timeout: float = 30
    ) -> str:
        """Run a command as ``exec`` does: the agent's host is the only one."""
        return Shell.exec(command, input_data, cwd, timeout)

    @staticmethod
    def ssh_exec(host: str, user: str, ssh_key_path: str, command: str, timeout: float = 30) -> str:
        """Run a command on a node; the user and the key are those of the agent's host."""
        return Shell.exec(f"ssh {shlex.quote(host)} {shlex.quote(command)}", timeout=timeout)

    @staticmethod
    def docker_exec(container_name: str, command: str, timeout: float = 30) -> str:
        """Raise ``NotAvailable``: there is no Docker."""
        raise NotAvailable(
            "There is no Docker here: run commands with Shell.exec, and in pods with 'kubectl exec'."
        )
