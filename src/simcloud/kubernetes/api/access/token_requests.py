"""The ``token`` subresource of service accounts, which answers a TokenRequest."""

from __future__ import annotations

from simcloud.golang import quote
from simcloud.kubernetes.api.access.attributes import GroupResource
from simcloud.kubernetes.api.access.tokens import Bound, ObjectReader, Tokens
from simcloud.kubernetes.api.errors import BadRequest, Conflict, Invalid, NotFound
from simcloud.kubernetes.api.field_errors import FieldError, invalid
from simcloud.kubernetes.api.objects import Object, at, copy, name_of, namespace_of
from simcloud.kubernetes.api.times import rfc3339

_GROUP, _KIND = "authentication.k8s.io", "TokenRequest"
_DEFAULT_S = 3600
_SHORTEST_S = 600
_LONGEST_S = 1 << 32
_PROJECTED_S = 3607
"""The lifetime that mounted tokens ask for. They are honoured for a year; after it they are only old."""
_YEAR_S = 365 * 24 * 3600
_PLURALS = {"Pod": "pods", "Node": "nodes", "Secret": "secrets"}


def create_token_request(
    account: Object,
    request: Object,
    *,
    tokens: Tokens,
    reader: ObjectReader,
    now_s: float,
    token_id: str,
) -> Object:
    """The answer to a TokenRequest: the request with its defaults, and the token in its status.

    ``token_id`` is a fresh uuid of the caller's random stream. Invalid: a lifetime out of bounds, or
    another account's name. BadRequest, NotFound, Conflict: the object to bind to is of no use.
    """
    answer = _apply_defaults(account, request, tokens)
    answer["metadata"]["creationTimestamp"] = rfc3339(now_s)
    spec = answer["spec"]
    expires_s: int = spec["expirationSeconds"]
    errors = _lifetime_errors(expires_s)
    if errors:
        raise Invalid(_GROUP, _KIND, "", errors)
    bound = _resolve_bound_objects(account, spec["boundObjectRef"], reader)
    projected = (
        bound.pod is not None
        and expires_s == _PROJECTED_S
        and all(audience in tokens.audiences for audience in spec["audiences"])
    )
    token = tokens.issue(
        account,
        now_s=now_s,
        expires_s=_YEAR_S if projected else expires_s,
        token_id=token_id,
        audiences=spec["audiences"],
        bound=bound,
        warn_after_s=expires_s if projected else 0,
    )
    answer["status"] = {"token": token, "expirationTimestamp": rfc3339(int(now_s) + expires_s)}
    return answer


def _apply_defaults(account: Object, request: Object, tokens: Tokens) -> Object:
    """The request with what it leaves open filled in; its name and namespace must be the account's."""
    metadata = dict(request.get("metadata") or {})
    for key, own in (("name", name_of(account)), ("namespace", namespace_of(account))):
        given = metadata.setdefault(key, own) or own
        if given != own:
            error = invalid(f"metadata.{key}", given, f"must match the service account {key} if specified")
            raise Invalid(_GROUP, _KIND, name_of(account), [error])
        metadata[key] = own
    spec = request.get("spec") or {}
    expires_s = spec.get("expirationSeconds")
    return {
        "kind": _KIND,
        "apiVersion": f"{_GROUP}/v1",
        "metadata": metadata,
        "spec": {
            "audiences": list(spec.get("audiences") or tokens.audiences),
            "expirationSeconds": _DEFAULT_S if expires_s is None else expires_s,
            "boundObjectRef": copy(spec.get("boundObjectRef")),
        },
    }


def _lifetime_errors(expires_s: int) -> list[FieldError]:
    if expires_s < _SHORTEST_S:
        message = "may not specify a duration less than 10 minutes"
    elif expires_s > _LONGEST_S:
        message = "may not specify a duration larger than 2^32 seconds"
    else:
        return []
    return [invalid("spec.expirationSeconds", expires_s, message)]


def _resolve_bound_objects(account: Object, ref: Object | None, reader: ObjectReader) -> Bound:
    """The objects that a token is bound to, by the request's reference."""
    if not ref:
        return Bound()
    group, _, version = ref.get("apiVersion", "").rpartition("/")
    kind, name = ref.get("kind", ""), ref.get("name", "")
    plural = _PLURALS.get(kind) if not group else None
    if plural is None:
        raise BadRequest(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
    found = reader.get(plural, "" if kind == "Node" else namespace_of(account), name)
    if found is None:
        raise NotFound(GroupResource(plural), name)
    runs_as = at(found, "spec", "serviceAccountName", default="")
    if kind == "Pod" and runs_as != name_of(account):
        raise BadRequest(
            f"cannot bind token for serviceaccount {quote(name_of(account))} "
            "to pod running with different serviceaccount name."
        )
    uid = ref.get("uid", "")
    if uid and uid != at(found, "metadata", "uid", default=""):
        raise Conflict(
            GroupResource(kind),
            name,
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated",
        )
    if kind == "Pod":
        return Bound(pod=found, node=_node_of(found, reader))
    return Bound(node=found) if kind == "Node" else Bound(secret=found)


def _node_of(pod: Object, reader: ObjectReader) -> Object | None:
    name = at(pod, "spec", "nodeName", default="")
    return (reader.get("nodes", "", name) or {"metadata": {"name": name}}) if name else None
