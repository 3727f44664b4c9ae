"""A scripted engineer: knows one kind of trouble, and shows how such a session goes.

What is done next follows from what is seen (which service is refused, which port it listens at), but what to look at
is written down here. It is no measure of anything; it is what a good session looks like.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import Any

from aiopslab.agents.floors import Floor, Form, call
from aiopslab.agents.registry import agent

REFUSED = re.compile(r"Host: (\S+) Port: (\d+)>: Connection refused")
NAMESPACE = re.compile(r"\b(test-social-network)\b")
TARGET = re.compile(r"TargetPort: +(\d+)")
LISTENS = re.compile(r"LISTEN.*?:(\d+) ")


@agent("engineer")
class Engineer(Floor):
    """A scripted engineer who finds a Service that leads to a port where nobody listens, and corrects it."""

    def __init__(self) -> None:
        super().__init__()
        self.ns = "test-social-network"
        self._found: list[str] = []

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """Note where the application is."""
        super().init_context(problem, instructions, actions)
        found = NAMESPACE.search(problem)
        self.ns = found.group(1) if found else self.ns

    def work(self) -> Generator[str, str, None]:
        """Look from the front door inwards, follow the refusal, compare ports, correct one, watch."""
        yield self._shell("First, is everything running?", "kubectl get pods -n {ns}")
        seen = yield self._logs(
            "All pods run and none restarts, so Kubernetes is content and users may still not be. "
            "What does the front door say?",
            "nginx-thrift",
        )
        if "Connection refused" in seen:
            seen = yield self._logs(
                "Composing posts fails: somebody behind the front door is refused a connection. "
                "The service that composes posts calls many others; which one?",
                "compose-post-service",
            )
        refused = REFUSED.search(seen)
        if refused is None:
            yield self._submit(
                "Nobody is refused a connection. That is all I know to look for, so I stop here."
            )
            return
        service, port = refused.groups()
        seen = yield self._shell(
            f"It is {service} at port {port} that refuses. Its pod runs, so what is between them? The Service:",
            f"kubectl describe service {service} -n {{ns}} | grep -E 'Port|Endpoints|Selector'",
        )
        target = TARGET.search(seen)
        seen = yield self._shell(
            f"The Service sends port {port} on to {target.group(1) if target else 'somewhere'}. "
            "Where does the program listen?",
            f"kubectl exec deploy/{service} -n {{ns}} -- ss -tln",
        )
        listens = LISTENS.search(seen)
        if target is None or listens is None or target.group(1) == listens.group(1):
            yield self._submit("The ports agree, so it is not what I know to repair.")
            return
        self._found = [service]
        yield from self._act(service, target.group(1), listens.group(1))

    def _act(self, service: str, wrong: str, right: str) -> Generator[str, str, None]:
        cause = f"It listens at {right} and the Service leads to {wrong}: that is the cause."
        if self.form != "nothing":
            yield self._submit(cause)
            return
        patch = f'[{{"op": "replace", "path": "/spec/ports/0/targetPort", "value": {right}}}]'
        yield self._shell(
            f"{cause} The Service is wrong, not the program, so the Service is corrected:",
            f"kubectl patch service {service} -n {{ns}} --type=json -p '{patch}'",
        )
        yield self._shell(
            "Do users notice? Errors at the front door in the last twenty seconds:",
            "sleep 25; kubectl logs deploy/nginx-thrift -n {ns} --since=20s | grep error | wc -l",
        )
        yield self._submit("None. The cause is gone and users are served again.")

    def _shell(self, thought: str, line: str) -> str:
        return f"{thought}\n{call('exec_shell', line.replace('{ns}', self.ns))}"

    def _logs(self, thought: str, service: str) -> str:
        return f"{thought}\n{call('get_logs', self.ns, service)}"

    def _submit(self, thought: str) -> str:
        cause = {"system_level": "Virtualization", "fault_type": "Misconfiguration"}
        told: dict[Form, Any] = {
            "yes or no": "Yes" if self._found else "No",
            "components": self._found,
            "analysis": cause,
        }
        return f"{thought}\n{self.answer(told)}"
