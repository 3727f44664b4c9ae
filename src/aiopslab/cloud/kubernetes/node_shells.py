"""Root on the nodes of a real cluster: a privileged pod on each node runs what operators and the agent order.

An order is a ConfigMap with a line for a node. The node's pod watches for orders, enters the node, runs the line and adds its output. So
nodes are also reached while their kubelet or container runtime does not work, which ``kubectl exec`` needs. The pods are there before
the baseline, so nothing shows which node a fault struck.
"""

from __future__ import annotations

from shlex import quote
from typing import Any, Final

from aiopslab.cloud.kubernetes.mirror import make_path
from aiopslab.cloud.kubernetes.pod_terminal import NAMESPACE, RBAC
from simcloud.kubernetes.api import Object, at

NAME: Final = "node-shell"
LINE_S: Final = 110
"""How long a line may run on a node."""
SHOWN_BYTES: Final = 200_000
"""How much is shown of a line's output, and of its errors: a ConfigMap has at most 1 MiB."""
SERVE: Final = f"""
orders() {{ kubectl -n {NAMESPACE} "$@"; }}
carry_out() {{
  folder=$(mktemp -d)
  line=$(orders get "$1" -o 'jsonpath={{.data.line}}')
  orders get "$1" -o 'jsonpath={{.data.input}}' | timeout {LINE_S} nsenter -t 1 -m -u -i -n -p -- bash -c "$line" > "$folder/all" 2> "$folder/errors"
  status=$?
  head -c {SHOWN_BYTES} "$folder/all" > "$folder/output"
  tail -c {SHOWN_BYTES} "$folder/errors" > "$folder/last"
  orders patch "$1" --type=merge -p "$(jq -n --rawfile output "$folder/output" --rawfile errors "$folder/last" --arg status "$status" '{{data: {{output: $output, errors: $errors, status: $status}}}}')" > /dev/null
  rm -r "$folder"
}}
while true; do
  orders get configmaps -l "node=$NODE" -o name --watch 2> /dev/null | while read -r order; do
    [ "$(orders get "$order" -o 'jsonpath={{.metadata.labels.node}}' 2> /dev/null)" = "$NODE" ] || continue
    orders label "$order" node- > /dev/null
    carry_out "$order" &
  done
  sleep 1
done
"""
"""The program of a node's pod. The label goes before the line runs, so that it runs once."""
ORDER: Final = f"""
orders() {{ kubectl -n {NAMESPACE} "$@"; }}
if [ -z "$(orders get pods -l app={NAME} -o name --field-selector "spec.nodeName=$node")" ]; then
  echo "ssh: Could not resolve hostname $node: Name or service not known" >&2
  exit 255
fi
order=$(jq -n --arg node "$node" --arg line "$line" --arg input "$input" '{{apiVersion: "v1", kind: "ConfigMap", metadata: {{generateName: "order-", labels: {{node: $node}}}}, data: {{line: $line, input: $input}}}}' | orders create -f - -o name) || exit 255
trap 'orders delete "$order" > /dev/null 2>&1' EXIT
if ! orders wait "$order" '--for=jsonpath={{.data.status}}' --timeout={LINE_S + 10}s > /dev/null 2>&1; then
  echo "ssh: connect to host $node port 22: Connection timed out" >&2
  exit 255
fi
done=$(orders get "$order" -o json)
printf '%s' "$done" | jq -j .data.output
printf '%s' "$done" | jq -j .data.errors >&2
exit "$(printf '%s' "$done" | jq -r .data.status)"
"""
"""Has ``$line`` carried out on ``$node`` with the standard input ``$input``."""
SSH: Final = f"""#!/bin/bash
# ssh to the nodes of this cluster: the node's pod {NAME} carries out the command.
while [ "${{1#-}}" != "$1" ]; do
  case "$1" in -[bceFiJlmopRSW]) shift ;; esac
  shift
done
node="${{1##*@}}"
shift
line="$*"
input=
if [ -p /dev/stdin ] || [ -f /dev/stdin ]; then input=$(timeout 10 cat); fi
if [ -z "$line" ]; then line=bash; fi
{ORDER}"""
"""The program ``ssh`` of the agent's terminal."""


def build_node_shells(image: str, labels: dict[str, str]) -> list[tuple[str, Object]]:
    """Return the DaemonSet of the pods and the objects that give them their rights, each with the path at which it is created."""

    def build(group: str, plural: str, kind: str, **content: Any) -> tuple[str, Object]:
        version = f"{group}/v1" if group else "v1"
        metadata = {"name": NAME, "labels": labels}
        return make_path(group, plural, NAMESPACE), {
            "apiVersion": version, "kind": kind, "metadata": metadata, **content,
        }  # fmt: skip

    container = {
        "name": NAME,
        "image": image,
        "command": ["bash", "-c", SERVE],
        "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "securityContext": {"privileged": True},
    }
    spec = {
        "serviceAccountName": NAME,
        "hostNetwork": True,
        "hostPID": True,
        "priorityClassName": "system-node-critical",
        "terminationGracePeriodSeconds": 0,
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
    }
    template = {"metadata": {"labels": {"app": NAME}}, "spec": spec}
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "patch"]}
    return [
        build("", "serviceaccounts", "ServiceAccount"),
        build(RBAC, "roles", "Role", rules=[rule]),
        build(
            RBAC,
            "rolebindings",
            "RoleBinding",
            roleRef={"apiGroup": RBAC, "kind": "Role", "name": NAME},
            subjects=[{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
        ),
        build(
            "apps",
            "daemonsets",
            "DaemonSet",
            spec={"selector": {"matchLabels": {"app": NAME}}, "template": template},
        ),
    ]


def are_ready(daemon_set: Object) -> bool:
    """Return whether every node has its pod, and it runs."""
    wanted: int = at(daemon_set, "status", "desiredNumberScheduled", default=0)
    ready: int = at(daemon_set, "status", "numberReady", default=0)
    return 0 < wanted <= ready


def format_node_line(node: str, line: str) -> str:
    """Return a line of the operators' shell that runs another one on a node."""
    return f"node={quote(node)}\nline={quote(line)}\ninput=\n{ORDER}"
