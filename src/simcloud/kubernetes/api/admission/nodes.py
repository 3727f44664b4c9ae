"""TaintNodesByCondition and NodeRestriction: taint new nodes, and restrict kubelets to their own node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.access.users import node_of
from simcloud.kubernetes.api.admission.plugin import MIRROR, PODS, Quiet, creates, make_refusal
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Key

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

_NODES: Final = ("", "nodes")
_NOT_READY: Final = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
_RESTRICTED: Final = "node-restriction.kubernetes.io"
_KUBELET_LABELS: Final = frozenset({
    "kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type", "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/region", "topology.kubernetes.io/zone",
    "beta.kubernetes.io/arch", "beta.kubernetes.io/os",
})  # fmt: skip
_KUBELET_NAMESPACES: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")


class TaintNodes(Quiet):
    """A new node is not ready until somebody has seen that it is."""

    resources = (_NODES,)

    def admit(self, write: Write) -> None:
        if not creates(write, _NODES):
            return
        spec = write.new.setdefault("spec", {})
        taints = spec.get("taints") or []
        if not any({**taint, **_NOT_READY} == taint for taint in taints):
            spec["taints"] = [*taints, dict(_NOT_READY)]


class NodeRestriction(Quiet):
    """A kubelet writes its own Node and the pods that run there, and nothing else."""

    resources = (PODS, _NODES)

    def admit(self, write: Write) -> None:
        node = node_of(write.caller.user)
        if node is None:
            return
        if write.resource.key == PODS:
            self._pod(write, node)
        elif write.resource.key == _NODES:
            self._node(write, node)

    def _pod(self, write: Write, node: str) -> None:
        if write.subresource == "status":
            if write.before["spec"].get("nodeName") != node:
                raise make_refusal(
                    write,
                    f'node "{node}" can only update pod status for pods with spec.nodeName set to itself',
                )
            if (write.before["metadata"].get("labels") or {}) != (write.new["metadata"].get("labels") or {}):
                raise make_refusal(write, f'node "{node}" cannot update labels through pod status')
        elif write.subresource == "eviction":
            pod = write.api.log.get(write.key)
            if pod is not None and pod["spec"].get("nodeName") != node:
                raise make_refusal(write, f"node {node} can only evict pods with spec.nodeName set to itself")
        elif write.subresource:
            raise make_refusal(write, f"unexpected pod subresource {_quote(write.subresource)}, {_ONLY}")
        elif write.operation == "CREATE":
            _check_mirror(write, node)
        elif write.operation == "DELETE":
            if write.before["spec"].get("nodeName") != node:
                raise make_refusal(
                    write, f'node "{node}" can only delete pods with spec.nodeName set to itself'
                )
        else:
            raise make_refusal(
                write,
                f'unexpected operation "{write.operation}", node "{node}" can only create and delete mirror pods',
            )

    def _node(self, write: Write, node: str) -> None:
        if write.key.name != node:
            raise make_refusal(write, f'node "{node}" is not allowed to modify node "{write.key.name}"')
        if write.operation == "DELETE":
            return
        old = write.old or {}
        labels = _forbidden_labels(write.new["metadata"], old.get("metadata") or {})
        if write.operation == "CREATE":
            if labels:
                raise make_refusal(
                    write, f'node "{node}" is not allowed to set the following labels: {", ".join(labels)}'
                )
            return
        if _taints(write.new) != _taints(old):
            raise make_refusal(write, f'node "{node}" is not allowed to modify taints')
        if labels:
            raise make_refusal(write, f"is not allowed to modify labels: {', '.join(labels)}")


_ONLY: Final = 'only "status" and "eviction" are allowed'


def _quote(text: str) -> str:
    return f'"{text}"'


def _taints(node: Object) -> list[Object]:
    return (node.get("spec") or {}).get("taints") or []


def _check_mirror(write: Write, node: str) -> None:
    pod = write.new
    metadata, spec = pod["metadata"], pod["spec"]
    if MIRROR not in (metadata.get("annotations") or {}):
        why = f'pod does not have "{MIRROR}" annotation, node "{node}" can only create mirror pods'
        raise make_refusal(write, why)
    if spec.get("nodeName") != node:
        raise make_refusal(write, f'node "{node}" can only create pods with spec.nodeName set to itself')
    owners = metadata.get("ownerReferences") or []
    if len(owners) > 1:
        raise make_refusal(
            write, f'node "{node}" can only create pods with a single owner reference set to itself'
        )
    if not owners or not _is_node(owners[0], node):
        raise make_refusal(write, f'node "{node}" can only create pods with an owner reference set to itself')
    if not owners[0].get("controller"):
        raise make_refusal(
            write, f'node "{node}" can only create pods with a controller owner reference set to itself'
        )
    found = write.api.log.get(Key(*_NODES, "", node))
    if found is not None and owners[0].get("uid") != found["metadata"]["uid"]:
        uid, wanted = found["metadata"]["uid"], owners[0].get("uid")
        raise make_refusal(write, f"node {node} UID mismatch: expected {wanted} got {uid}")
    if spec.get("serviceAccountName"):
        raise make_refusal(write, f'node "{node}" can not create pods that reference a service account')


def _is_node(owner: Object, name: str) -> bool:
    return (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) == ("v1", "Node", name)


def _forbidden_labels(new: Object, old: Object) -> list[str]:
    labels, before = new.get("labels") or {}, old.get("labels") or {}
    changed = sorted(key for key in {**labels, **before} if labels.get(key) != before.get(key))
    return [key for key in changed if _forbidden(key)]


def _forbidden(label: str) -> bool:
    namespace = label.partition("/")[0] if "/" in label else ""
    if _within(namespace, _RESTRICTED):
        return True
    if label in _KUBELET_LABELS or any(_within(namespace, allowed) for allowed in _KUBELET_NAMESPACES):
        return False
    return _within(namespace, "kubernetes.io") or _within(namespace, "k8s.io")


def _within(namespace: str, parent: str) -> bool:
    return namespace == parent or namespace.endswith(f".{parent}")
