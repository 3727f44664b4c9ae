"""Reviews: objects that are never stored, whose status answers a question about access.

``review`` takes a review as it was sent and returns it with its status: access reviews, rules reviews, self subject
reviews and token reviews.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.rbac import Authorizer
from simcloud.kubernetes.api.access.rules import Rule
from simcloud.kubernetes.api.access.tokens import TokenError, Tokens
from simcloud.kubernetes.api.access.users import User, node_of
from simcloud.kubernetes.api.errors import BadRequest, Invalid, join_messages
from simcloud.kubernetes.api.field_errors import FieldError, invalid
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.times import rfc3339

_AUTHENTICATION, _AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"


class Desk(Struct, frozen=True):
    """What a review is answered from."""

    user: User
    authorizer: Authorizer
    tokens: Tokens
    now_s: float
    namespace: str = ""
    """The namespace of the request's path; only a LocalSubjectAccessReview has one."""


def review(kind: str, obj: Object, desk: Desk) -> Object:
    """The review answered. Invalid and BadRequest: the question makes no sense."""
    group, answer = _REVIEWS[kind]
    asked = {**copy(obj), "kind": kind, "apiVersion": f"{group}/v1"}
    asked["metadata"] = asked.get("metadata") or {}
    asked["spec"] = asked.get("spec") or {}
    return answer(asked, desk)


def _subject_access(asked: Object, desk: Desk) -> Object:
    errors = _question_errors(asked["spec"], anyone=False) + _metadata_errors(
        asked["metadata"], "must be empty"
    )
    return _access(asked, _read_user(asked["spec"]), desk, errors)


def _self_subject_access(asked: Object, desk: Desk) -> Object:
    errors = _question_errors(asked["spec"], anyone=True) + _metadata_errors(
        asked["metadata"], "must be empty"
    )
    return _access(asked, desk.user, desk, errors)


def _local_subject_access(asked: Object, desk: Desk) -> Object:
    spec, metadata = asked["spec"], asked["metadata"]
    metadata.setdefault("namespace", desk.namespace)
    if metadata["namespace"] != desk.namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    rest = {key: value for key, value in metadata.items() if key != "namespace"}
    errors = _question_errors(spec, anyone=False)
    errors += _metadata_errors(rest, "must be empty except for namespace", metadata)
    if (on_resource := spec.get("resourceAttributes")) is not None:
        namespace = on_resource.get("namespace", "")
        if namespace != desk.namespace:
            errors.append(
                invalid("spec.resourceAttributes.namespace", namespace, "must match metadata.namespace")
            )
    if (on_path := spec.get("nonResourceAttributes")) is not None:
        errors.append(invalid("spec.nonResourceAttributes", on_path, "disallowed on this kind of request"))
    return _access(asked, _read_user(spec), desk, errors)


def _access(asked: Object, user: User, desk: Desk, errors: list[FieldError]) -> Object:
    if errors:
        raise Invalid(_AUTHORIZATION, asked["kind"], "", errors)
    decision = desk.authorizer.authorize(_wish(asked["spec"], user))
    asked["status"] = {"allowed": decision.allowed}
    if decision.reason:
        asked["status"]["reason"] = decision.reason
    return asked


def _wish(spec: Object, user: User) -> Attributes:
    on_path = spec.get("nonResourceAttributes")
    if on_path is not None:
        return Attributes(user, on_path.get("verb", ""), path=on_path.get("path", ""))
    attributes = spec["resourceAttributes"]
    return Attributes(
        user,
        attributes.get("verb", ""),
        attributes.get("group", ""),
        attributes.get("version", ""),
        attributes.get("resource", ""),
        attributes.get("subresource", ""),
        attributes.get("namespace", ""),
        attributes.get("name", ""),
    )


def _read_user(spec: Object) -> User:
    extra = {key.lower(): tuple(values or ()) for key, values in (spec.get("extra") or {}).items()}
    return User(spec.get("user", ""), spec.get("uid", ""), tuple(spec.get("groups") or ()), extra)


def _question_errors(spec: Object, *, anyone: bool) -> list[FieldError]:
    on_resource, on_path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    errors: list[FieldError] = []
    if on_resource is not None and on_path is not None:
        message = "cannot be specified in combination with resourceAttributes"
        errors.append(invalid("spec.nonResourceAttributes", on_path, message))
    if on_resource is None and on_path is None:
        message = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        errors.append(invalid("spec.resourceAttributes", None, message))
    if not anyone and not spec.get("user") and not spec.get("groups"):
        errors.append(invalid("spec.user", "", "at least one of user or group must be specified"))
    return errors


def _metadata_errors(metadata: Object, rule: str, shown: Object | None = None) -> list[FieldError]:
    filled = any(value for key, value in metadata.items() if key != "managedFields")
    return [invalid("metadata", shown or metadata, rule)] if filled else []


def _self_subject_rules(asked: Object, desk: Desk) -> Object:
    namespace = asked["spec"].get("namespace", "")
    if not namespace:
        raise BadRequest("no namespace on request")
    rules, errors = desk.authorizer.rules_for(desk.user, namespace)
    is_node = node_of(desk.user) is not None
    if is_node:
        errors.insert(0, "node authorizer does not support user rule resolution")
    status: Object = {
        "resourceRules": [_resource_rule(rule) for rule in rules if rule.resources],
        "nonResourceRules": [
            {"verbs": list(rule.verbs), "nonResourceURLs": list(rule.paths)} for rule in rules if rule.paths
        ],
        "incomplete": is_node,
    }
    if errors:
        status["evaluationError"] = join_messages(errors)
    return {
        "kind": asked["kind"],
        "apiVersion": asked["apiVersion"],
        "metadata": {},
        "spec": {},
        "status": status,
    }


def _resource_rule(rule: Rule) -> Object:
    listed: Object = {
        "verbs": list(rule.verbs),
        "apiGroups": list(rule.groups),
        "resources": list(rule.resources),
    }
    if rule.names:
        listed["resourceNames"] = list(rule.names)
    return listed


def _self_subject(asked: Object, desk: Desk) -> Object:
    return {
        "kind": asked["kind"],
        "apiVersion": asked["apiVersion"],
        "metadata": {"creationTimestamp": rfc3339(desk.now_s)},
        "status": {"userInfo": desk.user.info()},
    }


def _token(asked: Object, desk: Desk) -> Object:
    spec = asked["spec"]
    if not spec.get("token"):
        raise BadRequest("token is required for TokenReview in authentication")
    try:
        user, audiences = desk.tokens.verify(spec["token"], desk.now_s, spec.get("audiences") or ())
    except TokenError as error:
        asked["status"] = {"user": {}, "error": str(error)}
    else:
        asked["status"] = {"authenticated": True, "user": user.info(), "audiences": audiences}
    return asked


_REVIEWS: dict[str, tuple[str, Callable[[Object, Desk], Object]]] = {
    "SubjectAccessReview": (_AUTHORIZATION, _subject_access),
    "SelfSubjectAccessReview": (_AUTHORIZATION, _self_subject_access),
    "LocalSubjectAccessReview": (_AUTHORIZATION, _local_subject_access),
    "SelfSubjectRulesReview": (_AUTHORIZATION, _self_subject_rules),
    "SelfSubjectReview": (_AUTHENTICATION, _self_subject),
    "TokenReview": (_AUTHENTICATION, _token),
}
