"""Prevention of privilege escalation: a user can only grant permissions that they have."""

from __future__ import annotations

from collections.abc import Iterable

from simcloud.golang import quote
from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.rbac import GROUP, Authorizer
from simcloud.kubernetes.api.access.rules import EVERYTHING, Rule, missing, rules_of
from simcloud.kubernetes.api.access.users import MASTERS_GROUP, User
from simcloud.kubernetes.api.errors import Forbidden, Named, join_messages, quote_list
from simcloud.kubernetes.api.objects import Object, at, name_of, namespace_of

_ROLES = ("roles", "clusterroles")
_BINDINGS = ("rolebindings", "clusterrolebindings")
_COLLECTOR_FIELDS = ("ownerReferences", "finalizers", "managedFields", "resourceVersion")


def check_escalation(
    authorizer: Authorizer, user: User, resource: Named, obj: Object, old: Object | None = None
) -> None:
    """Refuse a role or binding that would give more than its writer holds.

    Forbidden names what is missing. A binding to a role that is not there raises NotFound. Objects of
    other kinds pass.
    """
    if resource.group != GROUP or resource.plural not in (*_ROLES, *_BINDINGS):
        return
    if MASTERS_GROUP in user.groups or (old is not None and _only_collected(obj, old)):
        return
    if resource.plural in _ROLES:
        _check_role(authorizer, user, resource, obj, old)
    else:
        _check_binding(authorizer, user, resource, obj)


def _check_role(
    authorizer: Authorizer, user: User, resource: Named, role: Object, old: Object | None
) -> None:
    namespace, name = namespace_of(role), name_of(role)
    # While a role is being made, the request does not name it.
    checked_name = name if old is not None else ""
    escalate = Attributes(
        user, "escalate", GROUP, "*", resource.plural, namespace=namespace, name=checked_name
    )
    if authorizer.authorize(escalate).allowed:
        return
    _confirm(authorizer, user, resource, name, namespace, rules_of(role))
    if _aggregates(role) or (old is not None and _aggregates(old)):
        owned, _ = authorizer.rules_for(user, "")
        if missing(owned, EVERYTHING):
            raise Forbidden(resource, name, "must have cluster-admin privileges to use the aggregationRule")


def _check_binding(authorizer: Authorizer, user: User, resource: Named, binding: Object) -> None:
    namespace, name = namespace_of(binding), name_of(binding)
    ref = at(binding, "roleRef", default={})
    bind = Attributes(
        user,
        "bind",
        str(at(ref, "apiGroup", default="")),
        "*",
        "roles" if at(ref, "kind") == "Role" else "clusterroles",
        namespace=namespace,
        name=str(at(ref, "name", default="")),
    )
    if authorizer.authorize(bind).allowed:
        return
    _confirm(authorizer, user, resource, name, namespace, authorizer.role_rules(ref, namespace))


def _confirm(
    authorizer: Authorizer, user: User, resource: Named, name: str, namespace: str, rules: Iterable[Rule]
) -> None:
    owned, errors = authorizer.rules_for(user, namespace)
    lacking = missing(owned, rules)
    if not lacking:
        return
    missing_rules = "\n".join(sorted({str(rule) for rule in lacking}))
    unresolved = f"; resolution errors: [{join_messages(errors)}]" if errors else ""
    raise Forbidden(
        resource,
        name,
        f"user {quote(user.name)} (groups={quote_list(user.groups)}) "
        f"is attempting to grant RBAC permissions not currently held:\n{missing_rules}{unresolved}",
    )


def _aggregates(role: Object) -> bool:
    return bool(at(role, "aggregationRule", "clusterRoleSelectors"))


def _only_collected(obj: Object, old: Object) -> bool:
    """Whether a write changes only what garbage collection needs to change."""
    return _without_collected(obj) == _without_collected(old)


def _without_collected(obj: Object) -> Object:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _COLLECTOR_FIELDS}
    return {**obj, "metadata": metadata}
