"""Commands on the agent's host."""

from __future__ import annotations

from typing import Final

from aiopslab.orchestrator.actions.environment_actions import ActionsBase
from aiopslab.orchestrator.actions.observations import limit_text
from aiopslab.orchestrator.actions.registry import action
from aiopslab.utils import InvalidActionError
from simcloud.machine.process import Completed

MAX_TIMEOUT_S: Final = 600
LIMIT_HINT: Final = "to see the rest, filter it with grep, head or tail, or write it to a file (COMMAND > /tmp/out) and read that in parts"

HINTS: Final = {
    "failed tty get": "there is no terminal here: use 'top -b -n 1', or 'kubectl top pods -A'",
    "Unable to use a TTY": "there is no interactive terminal: pass the command to run, without -i and -t: "
    "kubectl exec POD -- sh -c 'COMMAND'",
    "Error opening terminal": "there is no terminal here: run the command itself, in a loop with sleep if need be",
    "problem with the editor": "there is no terminal to edit at: use 'kubectl patch', 'kubectl set' or 'kubectl apply -f FILE', or set "
    "KUBE_EDITOR to a command that changes the file, such as 'sed -i s/OLD/NEW/'",
    "limit exceeded: more than": "the work of one command line is limited: reduce it (grep -m, head, a narrower query), split it "
    "into several calls, or sleep between rounds of a loop",
}
"""Hints on what to do instead, by a text in the command's error output."""


class ShellActions(ActionsBase):
    """Actions on the agent's terminal."""

    @action
    def exec_shell(self, command: str, timeout: float = 30) -> str:
        """
        Runs one command line in your terminal: bash on a host next to the cluster, with kubectl, helm and common tools.
        Files persist from one call to the next; the working directory does not. The terminal is not interactive: use
        `kubectl patch`, `kubectl set` or `kubectl apply -f` instead of `kubectl edit`.

        Args:
            command (str): The command line, for example "kubectl get pods -A".
            timeout (float): Seconds after which it is stopped, at most 600. A command that never ends
                (kubectl logs -f, kubectl get -w) runs until then, and its output so far is returned.

        Returns:
            str: Its output, then its error output, then its exit code if it is not 0.
        """
        if timeout <= 0:
            raise InvalidActionError(f"timeout must be above 0 seconds, not {timeout:g}.")
        return _format_result(self.terminal.run(command, min(timeout, MAX_TIMEOUT_S)))


def _format_result(done: Completed) -> str:
    """Return output, error output, hints and exit code as one text."""
    stdout, stderr = (part.decode("utf-8", "replace").rstrip("\n") for part in (done.stdout, done.stderr))
    parts = [limit_text(part, LIMIT_HINT) for part in (stdout, stderr) if part]
    parts += [f"[{hint}]" for text, hint in HINTS.items() if text in stderr]
    if done.status != 0:
        parts.append(f"[exit code {done.status}]")
    return "\n".join(parts) or "[no output]"
