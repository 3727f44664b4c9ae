"""Root on the nodes of a real cluster: a privileged pod on each node, from which operators and the agent enter the node.

The pods are there before the baseline, so nothing shows which node a fault struck. They are reached by exec, and so only while the
node's kubelet works.
"""

from __future__ import annotations

from shlex import quote
from typing import Final

from aiopslab.cloud.kubernetes.pod_terminal import NAMESPACE
from simcloud.kubernetes.api import Object, at

NAME: Final = "node-shell"
ENTER: Final = "nsenter -t 1 -m -u -i -n -p --"
"""Enters the namespaces of the node's first process."""
FIND: Final = f"kubectl -n {NAMESPACE} get pods -l app={NAME} -o name --field-selector spec.nodeName="
SSH: Final = f"""#!/bin/sh
# ssh to the nodes of this cluster: runs a command in the node's pod {NAME}.
while [ "${{1#-}}" != "$1" ]; do
  case "$1" in -[bceFiJlmopRSW]) shift ;; esac
  shift
done
node="${{1##*@}}"
shift
pod=$({FIND}"$node")
if [ -z "$pod" ]; then
  echo "ssh: Could not resolve hostname $node: Name or service not known" >&2
  exit 255
fi
if [ $# = 0 ]; then set -- bash; fi
exec kubectl -n {NAMESPACE} exec -i "$pod" -- {ENTER} bash -c "$*"
"""
"""The program ``ssh`` of the agent's terminal."""


def build_node_shells(image: str, labels: dict[str, str]) -> Object:
    """Return the DaemonSet of the pods."""
    container = {
        "name": NAME,
        "image": image,
        "command": ["sleep", "infinity"],
        "securityContext": {"privileged": True},
    }
    spec = {
        "hostNetwork": True,
        "hostPID": True,
        "priorityClassName": "system-node-critical",
        "terminationGracePeriodSeconds": 0,
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
    }
    template = {"metadata": {"labels": {"app": NAME}}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": NAME, "labels": labels},
        "spec": {"selector": {"matchLabels": {"app": NAME}}, "template": template},
    }


def are_ready(daemon_set: Object) -> bool:
    """Return whether every node has its pod, and it runs."""
    wanted: int = at(daemon_set, "status", "desiredNumberScheduled", default=0)
    ready: int = at(daemon_set, "status", "numberReady", default=0)
    return 0 < wanted <= ready


def format_node_line(node: str, line: str) -> str:
    """Return a line of the operators' shell that runs another one on a node."""
    return f"kubectl -n {NAMESPACE} exec $({FIND}{quote(node)}) -- {ENTER} bash -c {quote(line)}"
