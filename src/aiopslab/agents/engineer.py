"""A scripted engineer that can diagnose and repair one kind of fault, to show what a good session looks like.

The places to look are fixed; each next step depends on what was found (which service refuses connections, which port it
listens on). It is not a baseline to measure against.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import Any

from aiopslab.agents.floors import Floor, Form, format_call
from aiopslab.agents.registry import agent

REFUSED = re.compile(r"Host: (\S+) Port: (\d+)>: Connection refused")
NAMESPACE = re.compile(r"\b(test-social-network)\b")
TARGET = re.compile(r"TargetPort: +(\d+)")
LISTENS = re.compile(r"\d: 0+:([0-9A-F]{4}) 0+:0000 0A ")


@agent("engineer")
class Engineer(Floor):
    """A scripted engineer that finds and corrects a Service with a wrong target port."""

    def __init__(self) -> None:
        super().__init__()
        self.ns = "test-social-network"
        self._found: list[str] = []
        self._diagnosis = ""

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """Read the form of the answer and the application's namespace."""
        super().init_context(problem, instructions, actions)
        found = NAMESPACE.search(problem)
        self.ns = found.group(1) if found else self.ns

    def work(self) -> Generator[str, str, None]:
        """Follow refused connections from the front end to a Service, compare its ports, and correct them."""
        yield self._shell("First, are all pods running?", "kubectl get pods -n {ns}")
        seen = yield self._logs(
            "All pods are running and none has restarted, but users may still see errors. "
            "What does the front end log?",
            "nginx-thrift",
        )
        if "Connection refused" in seen:
            seen = yield self._logs(
                "Composing posts fails: a connection behind the front end is refused. "
                "compose-post-service calls several services; which one refuses?",
                "compose-post-service",
            )
        refused = REFUSED.search(seen)
        if refused is None:
            yield self._submit(
                "I see no refused connection. That is the only fault I can diagnose, so I stop here."
            )
            return
        service, port = refused.groups()
        seen = yield self._shell(
            f"Connections to {service} on port {port} are refused. Its pod is running, so check the Service:",
            f"kubectl describe service {service} -n {{ns}} | grep -E 'Port|Endpoints|Selector'",
        )
        target = TARGET.search(seen)
        seen = yield self._shell(
            f"The Service forwards port {port} to {target.group(1) if target else 'an unknown port'}. "
            "Which port does the process listen on?",
            f"kubectl exec deploy/{service} -n {{ns}} -- sh -c \"grep -h ' 0A ' /proc/net/tcp*\"",
        )
        listens = LISTENS.search(seen)
        right = str(int(listens.group(1), 16)) if listens is not None else ""
        if target is None or not right or target.group(1) == right:
            yield self._submit("The ports match, so this is not a fault that I can repair.")
            return
        self._found = [service]
        yield from self._repair(service, target.group(1), right)

    def _repair(self, service: str, wrong: str, right: str) -> Generator[str, str, None]:
        cause = (
            f"The process listens on {right}, but the Service forwards to {wrong}: this is the root cause."
        )
        self._diagnosis = f"The target port of {service} is misconfigured. {cause}"
        if self.form not in ("nothing", "incident"):
            yield self._submit(cause)
            return
        patch = f'[{{"op": "replace", "path": "/spec/ports/0/targetPort", "value": {right}}}]'
        yield self._shell(
            f"{cause} Correct the Service:",
            f"kubectl patch service {service} -n {{ns}} --type=json -p '{patch}'",
        )
        seen = yield self._shell(
            "Do users still see errors? Count the front end's errors of the last 20 seconds:",
            "sleep 25; kubectl logs deploy/nginx-thrift -n {ns} --since=20s | grep error | wc -l",
        )
        if seen.partition("\n")[0] == "0":
            yield self._submit("None. The root cause is gone and users are served again.")
        else:
            yield self._submit("There are still errors, but this was the only fault I can repair.")

    def _shell(self, thought: str, line: str) -> str:
        return f"{thought}\n{format_call('exec_shell', line.replace('{ns}', self.ns))}"

    def _logs(self, thought: str, service: str) -> str:
        return f"{thought}\n{format_call('get_logs', self.ns, service)}"

    def _submit(self, thought: str) -> str:
        cause = {"system_level": "Virtualization", "fault_type": "Misconfiguration"}
        answers: dict[Form, Any] = {
            "yes or no": "Yes" if self._found else "No",
            "components": self._found,
            "analysis": cause,
        }
        return f"{thought}\n{self.submit(answers, self._diagnosis)}"
