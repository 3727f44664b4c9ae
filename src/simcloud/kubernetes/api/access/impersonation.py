"""User impersonation: the Impersonate headers and the permissions they require.

Constrained modes are tried first, in this order: a service account as its own node, arbitrary nodes, service
accounts, other users. Each requires the verb ``impersonate:MODE`` on the target user and ``impersonate-on:MODE:VERB``
on the requested resource. The plain verb ``impersonate``, tried last, grants impersonation for every request. If all
modes refuse, the error of the first one is returned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote_to_bytes

from msgspec.structs import replace

from simcloud.golang import quote
from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.rbac import Authorizer, forbidden
from simcloud.kubernetes.api.access.tokens import NODE_NAME_KEY
from simcloud.kubernetes.api.access.users import (
    ANONYMOUS_NAME,
    AUTHENTICATED_GROUP,
    MASTERS_GROUP,
    NODES_GROUP,
    UNAUTHENTICATED_GROUP,
    User,
    service_account_groups,
    split_service_account,
)
from simcloud.kubernetes.api.errors import ApiError, BadRequest
from simcloud.kubernetes.api.field_errors import FieldError, invalid

_GROUP = "authentication.k8s.io"
_EXTRA_PREFIX = "impersonate-extra-"
_NODE_PREFIX = "system:node:"
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_LONGEST_NAME = 253


def impersonate(wish: Attributes, headers: Mapping[str, list[str]], authorizer: Authorizer) -> User:
    """Return the user that a request acts as: the caller itself without Impersonate headers.

    ``wish`` holds the attributes of the request under the caller's own name. Raises ``BadRequest`` for groups, a uid or
    extras without a user, and ``Forbidden`` if the caller may not impersonate that user for this request.
    """
    wanted = _parse_headers(headers)
    if wanted is None:
        return wish.user
    refusal: ApiError | None = None
    for mode, applies in _MODES.items():
        if not applies(wanted, wish.user):
            continue
        try:
            return _resolve_user(mode, wanted, wish, authorizer)
        except ApiError as error:
            refusal = refusal or error
    assert refusal is not None  # the last mode applies to everybody
    raise refusal


def _parse_headers(headers: Mapping[str, list[str]]) -> User | None:
    """Return the user that the headers describe, or None without such headers."""
    values = {name.lower(): given for name, given in headers.items()}
    extra: dict[str, tuple[str, ...]] = {}
    for header in sorted(values):
        if header.startswith(_EXTRA_PREFIX) and values[header]:
            key = _unescape(header.removeprefix(_EXTRA_PREFIX))
            extra[key] = (*extra.get(key, ()), *values[header])
    name, uid = _first(values, "impersonate-user"), _first(values, "impersonate-uid")
    wanted = User(name, uid, tuple(values.get("impersonate-group", ())), extra)
    if name:
        return wanted
    if uid or wanted.groups or any(header.startswith(_EXTRA_PREFIX) for header in values):
        raise BadRequest(f"requested {_as_go_prints(wanted)} without impersonating a user name")
    return None


def _resolve_user(mode: str, wanted: User, wish: Attributes, authorizer: Authorizer) -> User:
    """Return the impersonated user with its groups, or raise ``Forbidden`` unless the mode grants every part of it."""
    if mode:
        authorizer.check(replace(wish, verb=f"impersonate-on:{mode}:{wish.verb}"))
    for part in _parts(mode, wanted, wish.user):
        authorizer.check(part)
    groups = list(wanted.groups)
    account = split_service_account(wanted.name)
    if not groups and account is not None:
        groups = list(service_account_groups(account[0]))
    if mode and _node_named(wanted.name) is not None:
        groups = [NODES_GROUP]
    if wanted.name == ANONYMOUS_NAME:
        if UNAUTHENTICATED_GROUP not in groups:
            groups.append(UNAUTHENTICATED_GROUP)
    elif AUTHENTICATED_GROUP not in groups and UNAUTHENTICATED_GROUP not in groups:
        groups.append(AUTHENTICATED_GROUP)
    return User(wanted.name, wanted.uid, tuple(groups), wanted.extra)


def _parts(mode: str, wanted: User, caller: User) -> Iterator[Attributes]:
    """Yield the permissions to check; raises ``Forbidden`` where a limit of the mode is reached."""
    verb = f"impersonate:{mode}" if mode else "impersonate"
    group = _GROUP if mode else ""
    account, node = split_service_account(wanted.name), _node_named(wanted.name)
    if account is not None:
        yield Attributes(caller, verb, group, "v1", "serviceaccounts", namespace=account[0], name=account[1])
    elif mode and node is not None:
        # The caller cannot choose its own node, so the permission is checked for any node.
        name = "*" if mode == "associated-node" else node
        yield Attributes(caller, verb, group, "v1", "nodes", name=name)
    else:
        yield Attributes(caller, verb, group, "v1", "users", name=wanted.name)
    if wanted.uid:
        yield Attributes(caller, verb, _GROUP, "v1", "uids", name=wanted.uid)
    if mode:
        _check_groups(wanted, Attributes(caller, verb, group, "v1", "groups"))
    for name in wanted.groups:
        yield Attributes(caller, verb, group, "v1", "groups", name=name)
    if mode:
        _check_extra(wanted, Attributes(caller, verb, _GROUP, "v1", "userextras"))
    for key, values in wanted.extra.items():
        for value in values:
            yield Attributes(caller, verb, _GROUP, "v1", "userextras", key, name=value)


def _check_groups(wanted: User, asked: Attributes) -> None:
    if "" in wanted.groups:
        raise forbidden(asked, "impersonating the empty string group is not allowed")
    if MASTERS_GROUP in wanted.groups:
        masters = replace(asked, name=MASTERS_GROUP)
        raise forbidden(masters, "impersonating the system:masters group is not allowed")


def _check_extra(wanted: User, asked: Attributes) -> None:
    for key, values in wanted.extra.items():
        if not key:
            raise forbidden(asked, "impersonating the empty string key in extra is not allowed")
        errors = _key_errors(key)
        if errors:
            messages = "[" + ", ".join(map(str, errors)) + "]" if len(errors) > 1 else str(errors[0])
            raise forbidden(asked, f"impersonating an invalid key in extra is not allowed: {messages}")
        if key != key.lower():
            raise forbidden(asked, f"impersonating a non-lowercase key in extra is not allowed: {quote(key)}")
        if "" in values:
            raise forbidden(asked, "impersonating the empty string value in extra is not allowed")


def _key_errors(key: str) -> list[FieldError]:
    """Return the errors of a key that is not a domain-prefixed path."""
    host, _, path = key.partition("/")
    if not host or not path:
        return [invalid("extra.key", key, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    errors = []
    if not _is_subdomain(host):
        message = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
            "and must start and end with an alphanumeric character "
            f"(e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
        )
        errors.append(invalid("extra.key", host, message))
    if not re.fullmatch(_PATH, path):
        errors.append(invalid("extra.key", path, f"Invalid path (regex used for validation is '{_PATH}')"))
    return errors


def _only_named(wanted: User) -> bool:
    return not (wanted.uid or wanted.groups or wanted.extra)


def _is_own_node(wanted: User, caller: User) -> bool:
    node = _node_named(wanted.name)
    own = caller.extra.get(NODE_NAME_KEY, ())
    return (
        node is not None
        and _only_named(wanted)
        and split_service_account(caller.name) is not None
        and tuple(own) == (node,)
    )


_MODES: dict[str, Callable[[User, User], bool]] = {
    "associated-node": _is_own_node,
    "arbitrary-node": lambda wanted, _: _only_named(wanted) and _node_named(wanted.name) is not None,
    "serviceaccount": lambda wanted, _: (
        _only_named(wanted) and split_service_account(wanted.name) is not None
    ),
    "user-info": lambda wanted, _: (
        _node_named(wanted.name) is None and split_service_account(wanted.name) is None
    ),
    "": lambda _, __: True,
}
"""The impersonation modes, each with its condition; the last one is the plain verb ``impersonate``."""


def _node_named(username: str) -> str | None:
    name = username.removeprefix(_NODE_PREFIX)
    return name if name != username and _is_subdomain(name) else None


def _is_subdomain(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and re.fullmatch(_SUBDOMAIN, name) is not None


def _first(values: Mapping[str, list[str]], header: str) -> str:
    given = values.get(header)
    return given[0] if given else ""


def _unescape(key: str) -> str:
    """Decode a percent-encoded key; a malformed one is returned unchanged."""
    if re.search(r"%(?![0-9a-f]{2})", key):
        return key
    return unquote_to_bytes(key).decode("utf-8", "replace")


def _as_go_prints(user: User) -> str:
    extra = ", ".join(f"{quote(key)}:{_go_texts(user.extra[key])}" for key in sorted(user.extra))
    return (
        f"&user.DefaultInfo{{Name:{quote(user.name)}, UID:{quote(user.uid)}, "
        f"Groups:{_go_texts(user.groups)}, Extra:map[string][]string{f'{{{extra}}}' if extra else '(nil)'}}}"
    )


def _go_texts(texts: tuple[str, ...]) -> str:
    return f"[]string{{{', '.join(map(quote, texts))}}}" if texts else "[]string(nil)"
