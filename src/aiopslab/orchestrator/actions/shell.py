"""Typing at the agent's own host."""

from __future__ import annotations

from typing import Final

from aiopslab.orchestrator.actions.base import ActionsBase
from aiopslab.orchestrator.actions.bounds import bounded
from aiopslab.orchestrator.actions.registry import action
from aiopslab.utils.status import InvalidActionError
from simcloud.machine.process import Completed

LONGEST_S: Final = 600
FEWER: Final = "to see the rest, filter it with grep, head or tail, or write it to a file (COMMAND > /tmp/out) and read that in parts"

HINTS: Final = {
    "failed tty get": "there is no screen here: use 'top -b -n 1', or 'kubectl top pods -A'",
    "Unable to use a TTY": "nobody sits at a keyboard here: give the command to run, without -i and -t: "
    "kubectl exec POD -- sh -c 'COMMAND'",
    "limit exceeded: more than": "one line may do only so much at once: ask for less (grep -m, head, a narrower query), do it "
    "in several calls, or sleep between rounds of a loop",
}
"""What to do instead, by what a command says when it wants a person before it."""


class ShellActions(ActionsBase):
    """What is done by commands."""

    @action
    def exec_shell(self, command: str, timeout: float = 30) -> str:
        """
        Runs one command line in your terminal: bash on a host beside the cluster, with kubectl, helm and the usual tools.
        Files last from one call to the next; a change of directory does not. There is no editor and nobody to answer
        questions: use `kubectl patch`, `kubectl set` or `kubectl apply -f` in place of `kubectl edit`.

        Args:
            command (str): The command line, for example "kubectl get pods -A".
            timeout (float): The seconds after which it is ended, at most 600. What never ends by itself
                (kubectl logs -f, kubectl get -w) runs that long, and what it has printed is shown.

        Returns:
            str: What it printed, then its errors, then its exit code if that is not 0.
        """
        if timeout <= 0:
            raise InvalidActionError(f"timeout is in seconds and above 0, not {timeout:g}.")
        return _told(self.terminal.run(command, min(timeout, LONGEST_S)))


def _told(done: Completed) -> str:
    """Output, errors and exit code, as a terminal's reader wants them."""
    stdout, stderr = (part.decode("utf-8", "replace").rstrip("\n") for part in (done.stdout, done.stderr))
    parts = [bounded(part, FEWER) for part in (stdout, stderr) if part]
    parts += [f"[{hint}]" for said, hint in HINTS.items() if said in stderr]
    if done.status != 0:
        parts.append(f"[exit code {done.status}]")
    return "\n".join(parts) or "[no output]"
