"""Authorization: role-based access control, after system:masters and the node authorizer.

``Authorizer.authorize`` runs for every request, so bindings are indexed by subject, and the grants of a user in a
namespace are cached until the policy's ``revision`` changes. This module only reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct

from simcloud.golang import quote
from simcloud.kubernetes.api.access.attributes import Attributes, GroupResource
from simcloud.kubernetes.api.access.nodes import judge_node
from simcloud.kubernetes.api.access.rules import Rule, rules_of
from simcloud.kubernetes.api.access.users import MASTERS_GROUP, User, node_of, service_account_name
from simcloud.kubernetes.api.errors import ApiError, Forbidden, ForbiddenPath, NotFound, join_messages
from simcloud.kubernetes.api.objects import Object, at, name_of

GROUP = "rbac.authorization.k8s.io"
_REMEMBERED_USERS = 4096

Subject = tuple[str, str]
"""``("User", name)`` or ``("Group", name)``; a service account is the user of its name."""


class PolicyReader(Protocol):
    """Reads roles and bindings; ``plural`` is a resource of the RBAC group."""

    @property
    def revision(self) -> int:
        """A number that changes with every change of a role or a binding."""
        ...

    def get(self, plural: str, namespace: str, name: str) -> Object | None:
        """Return an object; the namespace is empty for cluster-wide ones."""
        ...

    def list(self, plural: str, namespace: str) -> Iterable[Object]:
        """Return the objects of a namespace, or the cluster-wide ones, sorted by name."""
        ...


class Decision(Struct, frozen=True):
    """The result of an authorization; ``reason`` is often empty."""

    allowed: bool
    reason: str = ""


_ROLE_PLURALS = {"Role": "roles", "ClusterRole": "clusterroles"}


class _Grant(Struct, frozen=True):
    """The rules that a binding grants to one of its subjects, or the error that prevents it."""

    binding: int
    subject: int
    source: str
    rules: tuple[Rule, ...]
    error: str = ""


def forbidden(wish: Attributes, reason: str = "") -> ApiError:
    """Return the error for a denied request; ``reason`` comes from the decision."""
    suffix = f": {reason}" if reason else ""
    if wish.path is None:
        return Forbidden(GroupResource(wish.plural, wish.group), wish.name, f"{wish.wish()}{suffix}")
    error = ForbiddenPath(wish.user.name, wish.verb, wish.path)
    error.message = f"forbidden: {wish.wish()}{suffix}"
    return error


class Authorizer:
    """Authorizes requests by the roles and bindings of a reader."""

    def __init__(self, reader: PolicyReader) -> None:
        self._reader = reader
        self._revision = reader.revision
        self._of_nodes: tuple[Rule, ...] | None = None
        self._bindings: dict[str, dict[Subject, list[_Grant]]] = {}
        self._grants: dict[tuple[str, tuple[str, ...], str], tuple[_Grant, ...]] = {}

    def authorize(self, wish: Attributes) -> Decision:
        """Decide whether a request is allowed."""
        user = wish.user
        if MASTERS_GROUP in user.groups:
            return Decision(True)
        node_reason = ""
        node = node_of(user)
        if node is not None:
            allowed, node_reason = judge_node(node, wish, self._node_rules())
            if allowed:
                return Decision(True)
        errors: list[str] = []
        for grant in self._grants_of(user, wish.namespace):
            if grant.error:
                errors.append(grant.error)
            for rule in grant.rules:
                if rule.allows(wish):
                    return Decision(True, f"RBAC: allowed by {grant.source}")
        reasons = [node_reason, f"RBAC: {join_messages(errors)}" if errors else ""]
        return Decision(False, "\n".join(reason for reason in reasons if reason))

    def check(self, wish: Attributes) -> None:
        """Raise ``Forbidden`` unless the request is allowed."""
        decision = self.authorize(wish)
        if not decision.allowed:
            raise forbidden(wish, decision.reason)

    def rules_for(self, user: User, namespace: str) -> tuple[list[Rule], list[str]]:
        """Return the rules that apply to a user in a namespace, and the errors of bindings that could not be resolved."""
        rules: list[Rule] = []
        errors: list[str] = []
        for grant in self._grants_of(user, namespace):
            rules.extend(grant.rules)
            if grant.error:
                errors.append(grant.error)
        return rules, errors

    def role_rules(self, role_ref: Object, namespace: str) -> tuple[Rule, ...]:
        """Return the rules of the role that a binding refers to; raises ``NotFound`` for a missing role."""
        kind, name = str(at(role_ref, "kind", default="")), str(at(role_ref, "name", default=""))
        plural = _ROLE_PLURALS.get(kind)
        if plural is None:
            raise ApiError(f"unsupported role reference kind: {quote(kind)}")
        role = self._reader.get(plural, namespace if kind == "Role" else "", name)
        if role is None:
            raise NotFound(GroupResource(kind.lower(), GROUP, kind), name)
        return rules_of(role)

    def _node_rules(self) -> tuple[Rule, ...]:
        self._forget_old_policy()
        if self._of_nodes is None:
            role = self._reader.get("clusterroles", "", "system:node")
            self._of_nodes = rules_of(role) if role is not None else ()
        return self._of_nodes

    def _forget_old_policy(self) -> None:
        if self._revision != self._reader.revision:
            self._revision = self._reader.revision
            self._of_nodes = None
            self._bindings.clear()
            self._grants.clear()

    def _grants_of(self, user: User, namespace: str) -> tuple[_Grant, ...]:
        """The grants of all bindings that name the user, cluster-wide ones first."""
        self._forget_old_policy()
        key = (user.name, user.groups, namespace)
        known = self._grants.get(key)
        if known is None:
            if len(self._grants) >= _REMEMBERED_USERS:
                self._grants.clear()
            known = (*self._find_grants(user, ""), *(self._find_grants(user, namespace) if namespace else ()))
            self._grants[key] = known
        return known

    def _find_grants(self, user: User, namespace: str) -> list[_Grant]:
        index = self._bindings.get(namespace)
        if index is None:
            index = self._bindings[namespace] = self._index(namespace)
        subjects: list[Subject] = [("User", user.name), *(("Group", group) for group in user.groups)]
        named = [grant for subject in subjects for grant in index.get(subject, ())]
        named.sort(key=lambda grant: (grant.binding, grant.subject))
        first: dict[int, _Grant] = {}
        for grant in named:
            first.setdefault(grant.binding, grant)
        return list(first.values())

    def _index(self, namespace: str) -> dict[Subject, list[_Grant]]:
        """The bindings of a namespace, or the cluster-wide ones, by subject."""
        index: dict[Subject, list[_Grant]] = {}
        plural = "rolebindings" if namespace else "clusterrolebindings"
        for place, binding in enumerate(self._reader.list(plural, namespace)):
            rules, error = self._resolve_rules(binding, namespace)
            for number, subject in enumerate(at(binding, "subjects", default=()) or ()):
                key = _subject_key(subject, namespace)
                if key is None:
                    continue
                source = _describe(binding, subject, namespace)
                index.setdefault(key, []).append(_Grant(place, number, source, rules, error))
        return index

    def _resolve_rules(self, binding: Object, namespace: str) -> tuple[tuple[Rule, ...], str]:
        try:
            return self.role_rules(at(binding, "roleRef", default={}), namespace), ""
        except ApiError as error:
            return (), error.message


def _subject_key(subject: Object, namespace: str) -> Subject | None:
    kind, name = at(subject, "kind"), at(subject, "name")
    if not isinstance(name, str):
        return None
    if kind in ("User", "Group"):
        return kind, name
    if kind == "ServiceAccount":
        home = at(subject, "namespace") or namespace
        return ("User", service_account_name(home, name)) if home else None
    return None


def _describe(binding: Object, subject: Object, namespace: str) -> str:
    ref = at(binding, "roleRef", default={})
    name = f"{name_of(binding)}/{namespace}" if namespace else name_of(binding)
    who = subject["name"]
    if subject["kind"] == "ServiceAccount":
        who = f"{who}/{at(subject, 'namespace') or namespace}"
    return (
        f"{'RoleBinding' if namespace else 'ClusterRoleBinding'} {quote(name)} "
        f"of {at(ref, 'kind', default='')} {quote(str(at(ref, 'name', default='')))} "
        f"to {subject['kind']} {quote(who)}"
    )
