"""Errors of the API. Each class owns the message that a genuine API server sends.

Raise ``NotFound(resource, "web")``; the server sends ``error.status()``, the Status object. Code inside the cluster
catches the class. A bad request may raise only ``ApiError``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from simcloud.golang import quote
from simcloud.kubernetes.api.field_errors import FieldError

if TYPE_CHECKING:
    from simcloud.kubernetes.api.objects import Object


class Named(Protocol):
    """The attributes of a resource that an error message uses."""

    @property
    def group(self) -> str: ...

    @property
    def plural(self) -> str: ...

    @property
    def kind(self) -> str: ...


def qualify(plural: str, group: str) -> str:
    """Return ``deployments.apps``, or ``pods`` for the core group."""
    return f"{plural}.{group}" if group else plural


class ApiError(Exception):
    """An error response: an HTTP code, a reason, a message and optional details."""

    code = 500
    reason = "InternalError"

    def __init__(self, message: str, details: Object | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def status(self) -> Object:
        """Return the Status object of this error, with keys in the order of the genuine one."""
        status: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status


def _details(resource: Named, name: str, **more: Any) -> Object:
    """Return the details of a Status. Empty fields are omitted, as in Go."""
    details = {"name": name, "group": resource.group, "kind": resource.plural, **more}
    return {key: value for key, value in details.items() if value}


class NotFound(ApiError):
    """No object of that name."""

    code, reason = 404, "NotFound"

    def __init__(self, resource: Named, name: str) -> None:
        what = qualify(resource.plural, resource.group)
        super().__init__(f'{what} "{name}" not found', _details(resource, name))


class NoSuchPath(ApiError):
    """An unknown URL path: no such resource, group or version."""

    code, reason = 404, "NotFound"

    def __init__(self) -> None:
        super().__init__("the server could not find the requested resource", {})


class AlreadyExists(ApiError):
    """An object of that name exists."""

    code, reason = 409, "AlreadyExists"

    def __init__(self, resource: Named, name: str) -> None:
        what = qualify(resource.plural, resource.group)
        super().__init__(f'{what} "{name}" already exists', _details(resource, name))


class Conflict(ApiError):
    """The object differs from what the caller expects: a stale version, a failed precondition, a lost race."""

    code, reason = 409, "Conflict"

    def __init__(
        self,
        resource: Named,
        name: str,
        why: str = "the object has been modified; please apply your changes to the latest version and try again",
    ) -> None:
        what = qualify(resource.plural, resource.group)
        super().__init__(f'Operation cannot be fulfilled on {what} "{name}": {why}', _details(resource, name))


class ApplyConflict(ApiError):
    """A server-side apply of fields that other managers own; ``causes`` lists them."""

    code, reason = 409, "Conflict"

    def __init__(self, message: str, causes: list[Object]) -> None:
        super().__init__(message, {"causes": causes})


class Invalid(ApiError):
    """The object is invalid; ``errors`` lists a field error for each violated rule."""

    code, reason = 422, "Invalid"

    def __init__(self, group: str, kind: str, name: str, errors: Sequence[FieldError]) -> None:
        sentences = list(dict.fromkeys(str(error) for error in errors))
        listed = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
        details = {"name": name, "group": group, "kind": kind, "causes": [error.cause() for error in errors]}
        super().__init__(
            f'{qualify(kind, group)} "{name}" is invalid: {listed}',
            {key: value for key, value in details.items() if value},
        )
        self.errors = list(errors)


class BadRequest(ApiError):
    """The request is malformed."""

    code, reason = 400, "BadRequest"


class Unauthorized(ApiError):
    """The request is not authenticated."""

    code, reason = 401, "Unauthorized"

    def __init__(self) -> None:
        super().__init__("Unauthorized")


class Forbidden(ApiError):
    """The caller is not allowed to do this. ``why`` follows ``is forbidden:`` in the message."""

    code, reason = 403, "Forbidden"

    def __init__(self, resource: Named, name: str, why: str) -> None:
        what = qualify(resource.plural, resource.group)
        subject = f'{what} "{name}"' if name else what
        super().__init__(f"{subject} is forbidden: {why}", _details(resource, name))


class ForbiddenPath(ApiError):
    """The caller is not allowed to use a non-resource path such as ``/metrics``."""

    code, reason = 403, "Forbidden"

    def __init__(self, user: str, verb: str, path: str) -> None:
        super().__init__(f'forbidden: User "{user}" cannot {verb} path "{path}"', {})


class Expired(ApiError):
    """The requested revision is older than the log's window."""

    code, reason = 410, "Expired"


class MethodNotAllowed(ApiError):
    """The resource does not support the verb."""

    code, reason = 405, "MethodNotAllowed"

    def __init__(self, resource: Named | None = None, verb: str = "") -> None:
        if resource is None:
            super().__init__("the server does not allow this method on the requested resource", {})
            return
        what = qualify(resource.plural, resource.group)
        super().__init__(f"{verb} is not supported on resources of kind {what!r}".replace("'", '"'), {})


class NotAcceptable(ApiError):
    """The server cannot produce any media type that the client accepts."""

    code, reason = 406, "NotAcceptable"


class UnsupportedMediaType(ApiError):
    """The server does not support the media type of the body."""

    code, reason = 415, "UnsupportedMediaType"


class TooLarge(ApiError):
    """The body is larger than the server's limit."""

    code, reason = 413, "RequestEntityTooLarge"


class TooManyRequests(ApiError):
    """Retry later: a disruption budget forbids an eviction, or the server is overloaded."""

    code, reason = 429, "TooManyRequests"

    def __init__(self, message: str, retry_after_s: int = 0, causes: list[Object] | None = None) -> None:
        details: Object = {}
        if causes:
            details["causes"] = causes
        if retry_after_s:
            details["retryAfterSeconds"] = retry_after_s
        super().__init__(message, details)
        self.retry_after_s = retry_after_s


class InternalError(ApiError):
    """A component behind the API failed: a webhook or a kubelet."""

    code, reason = 500, "InternalError"

    def __init__(self, why: str) -> None:
        super().__init__(f"Internal error occurred: {why}", {"causes": [{"message": why}]})


class ServiceUnavailable(ApiError):
    """The server behind this API does not respond."""

    code, reason = 503, "ServiceUnavailable"


def quote_list(texts: Iterable[str]) -> str:
    """Format texts as Go's ``%q`` formats a list: ``["a" "b"]``."""
    return f"[{' '.join(quote(text) for text in texts)}]"


def join_messages(sentences: Iterable[str]) -> str:
    """Join the messages of several errors without duplicates; more than one are put in brackets."""
    unique = list(dict.fromkeys(sentences))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
