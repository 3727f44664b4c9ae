"""The permissions of kubelets: a simple form of the node authorizer.

Every node has the rules of ``system:node``; a Lease and a Node must be the node's own. Unlike the genuine authorizer
it does not check whether a Secret, ConfigMap or claim belongs to a pod of that node; it only requires that the
request names the object.
"""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.golang import quote
from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.rules import Rule

LEASE_NAMESPACE = "kube-node-lease"
_OWN_VERBS = ("get", "create", "update", "patch", "delete")
_NAMED_ONLY = ("secrets", "configmaps", "persistentvolumeclaims", "persistentvolumes")

Judgement = tuple[bool, str]
"""Allowed or not, and why not."""


def judge_node(node: str, wish: Attributes, rules: Sequence[Rule]) -> Judgement:
    """Whether the kubelet of a node is granted a wish by being one."""
    if not node:
        return False, f"unknown node for user {quote(wish.user.name)}"
    key = (wish.group, wish.plural) if wish.path is None else None
    if key == ("coordination.k8s.io", "leases"):
        return _own_lease(node, wish)
    if key == ("", "nodes") and wish.verb in ("get", "list", "watch") and wish.name != node:
        what = f"'{wish.name}'" if wish.name else "all nodes"
        return False, f"node '{node}' cannot read {what}, only its own Node object"
    if key is not None and key[0] == "" and key[1] in _NAMED_ONLY and not wish.name:
        return False, "No Object name found"
    return any(rule.allows(wish) for rule in rules), ""


def _own_lease(node: str, wish: Attributes) -> Judgement:
    if wish.verb not in _OWN_VERBS:
        return False, "can only get, create, update, patch, or delete a node lease"
    if wish.namespace != LEASE_NAMESPACE:
        return False, f"can only access leases in the {quote(LEASE_NAMESPACE)} system namespace"
    if wish.verb != "create" and wish.name != node:
        return False, "can only access node lease with the same name as the requesting node"
    return True, ""
