"""The verbs get and list: objects in the requested version, with pagination."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from simcloud.kubernetes.api.context import ReadContext
from simcloud.kubernetes.api.conversion import convert
from simcloud.kubernetes.api.errors import ApiError, BadRequest, Expired, Invalid, NotFound
from simcloud.kubernetes.api.field_errors import FieldError, forbidden, invalid, not_supported
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.options import ListOptions
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.selectors import parse_fields, parse_labels
from simcloud.kubernetes.api.store import Key, RevisionLog

_STALE_TOKEN: Final = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list without the continue parameter."
)


class TooLargeVersion(ApiError):
    """A revision that has not come yet."""

    code, reason = 504, "Timeout"

    def __init__(self, asked: int, present: int) -> None:
        super().__init__(
            f"Timeout: Too large resource version: {asked}, current: {present}",
            {
                "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
                "retryAfterSeconds": 1,
            },
        )


class PolicyOf:
    """What the authorizer reads of an API: roles and bindings, straight from the log."""

    def __init__(self, log: RevisionLog) -> None:
        self._log = log
        self._changes = 0
        for plural in ("roles", "clusterroles", "rolebindings", "clusterrolebindings"):
            log.listen(_RBAC, plural, self._count_change)

    @property
    def revision(self) -> int:
        """Grows whenever a role or a binding changes."""
        return self._changes

    def get(self, plural: str, namespace: str, name: str) -> Object | None:
        """One role or binding."""
        return self._log.get(Key(_RBAC, plural, namespace, name))

    def list(self, plural: str, namespace: str) -> Iterable[Object]:
        """The roles or bindings of a namespace; cluster-wide ones if it is empty."""
        return self._log.objects(_RBAC, plural, namespace)

    def _count_change(self, _: object) -> None:
        self._changes += 1


class CoreOf:
    """What tokens are checked against: service accounts, pods, secrets and nodes."""

    def __init__(self, log: RevisionLog) -> None:
        self._log = log

    def get(self, plural: str, namespace: str, name: str) -> Object | None:
        """One object of the core group."""
        return self._log.get(Key("", plural, namespace, name))


_RBAC: Final = "rbac.authorization.k8s.io"


def get(api: ReadContext, resource: Resource, namespace: str, name: str) -> Object:
    """One object, in the version of the resource."""
    provider = api.providers.get(resource.key)
    if provider is not None:
        scope = namespace if resource.namespaced else None
        found = next((obj for obj in provider(scope) if obj["metadata"]["name"] == name), None)
    else:
        found = api.log.get(api.key(resource, namespace, name))
    if found is None:
        raise NotFound(resource, name)
    return convert(found, resource)


def list_objects(api: ReadContext, resource: Resource, namespace: str | None, options: ListOptions) -> Object:
    """A List. With a limit it is a page, and ``continue`` says where the next one starts."""
    revision, after = _start(api, options)
    candidates = _candidates(api, resource, namespace, revision)
    chosen = select(resource, candidates, options)
    metadata: Object = {"resourceVersion": str(revision)}
    if after is not None:
        chosen = [obj for obj in chosen if _place(obj) > after]
    if options.limit and len(chosen) > options.limit:
        left = len(chosen) - options.limit
        chosen = chosen[: options.limit]
        metadata["continue"] = _token(revision, _place(chosen[-1]))
        if not options.labels and not options.fields:
            metadata["remainingItemCount"] = left
    kept = api.storage_version(resource)
    if kept is not resource:
        chosen = [convert(obj, resource) for obj in chosen]
    return {
        "kind": resource.list_kind,
        "apiVersion": resource.api_version,
        "metadata": metadata,
        "items": chosen,
    }


def select(resource: Resource, candidates: list[Object], options: ListOptions) -> list[Object]:
    """Those that match the options' label and field selectors."""
    chosen = candidates
    if options.labels:
        labels = parse_labels(options.labels)
        chosen = [obj for obj in chosen if labels.matches(obj["metadata"].get("labels") or {})]
    if options.fields:
        fields = parse_fields(options.fields)
        fields.check(resource)
        chosen = fields.select(chosen, resource)
    return chosen


def _candidates(api: ReadContext, resource: Resource, namespace: str | None, revision: int) -> list[Object]:
    provider = api.providers.get(resource.key)
    if provider is not None:
        return provider(namespace)
    kept = api.storage_version(resource)
    scope = namespace if kept.namespaced else None
    if revision < api.log.revision:
        return api.log.list_at(kept.group, kept.plural, scope, revision)
    return api.log.objects(kept.group, kept.plural, scope)


def _start(api: ReadContext, options: ListOptions) -> tuple[int, tuple[str, str] | None]:
    """The revision to read at, and the place after which a page starts."""
    problems = _problems(options)
    if problems:
        raise Invalid("meta.k8s.io", "ListOptions", "", problems)
    if options.token:
        if options.resource_version not in ("", "0"):
            raise BadRequest("specifying resource version is not allowed when using continue")
        revision, after = _read_token(options.token)
        if revision < api.log.compacted:
            raise Expired(_STALE_TOKEN)
        return min(revision, api.log.revision), after
    if options.resource_version in ("", "0"):
        return api.log.revision, None
    asked = version_number(options.resource_version)
    if asked > api.log.revision:
        raise TooLargeVersion(asked, api.log.revision)
    if options.match == "Exact" or (options.limit and not options.match):
        if asked < api.log.compacted:
            raise Expired("The resourceVersion for the provided list is too old.")
        return asked, None
    return api.log.revision, None


def _problems(options: ListOptions) -> list[FieldError]:
    """What is wrong with a resourceVersionMatch."""
    match, field = options.match, "resourceVersionMatch"
    if not match:
        return []
    problems = []
    if not options.resource_version:
        problems.append(forbidden(field, f"{field} is forbidden unless resourceVersion is provided"))
    if options.token:
        problems.append(forbidden(field, f"{field} is forbidden when continue is provided"))
    if match not in ("Exact", "NotOlderThan"):
        problems.append(not_supported(field, match, ("Exact", "NotOlderThan", "")))
    if match == "Exact" and options.resource_version == "0":
        problems.append(forbidden(field, f'{field} "exact" is forbidden for resourceVersion "0"'))
    return problems


def version_number(text: str) -> int:
    """A resourceVersion as the number it is here."""
    if not text.isascii() or not text.isdigit() or len(text) > 19:
        error = invalid("resourceVersion", text, f'strconv.ParseUint: parsing "{text}": invalid syntax')
        raise Invalid("meta.k8s.io", "ListOptions", "", [error])
    return int(text)


def _place(obj: Object) -> tuple[str, str]:
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _token(revision: int, place: tuple[str, str]) -> str:
    content = {"v": "meta.k8s.io/v1", "rv": revision, "start": f"{place[0]}/{place[1]}\0"}
    return base64.urlsafe_b64encode(msgspec.json.encode(content)).decode().rstrip("=")


def _read_token(token: str) -> tuple[int, tuple[str, str]]:
    try:
        padded = token + "=" * (-len(token) % 4)
        content: Any = msgspec.json.decode(base64.urlsafe_b64decode(padded.encode()))
        namespace, _, name = content["start"].rstrip("\0").partition("/")
        return int(content["rv"]), (namespace, name)
    except (binascii.Error, msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadRequest("continue key is not valid: encoded continue token is not valid") from error
