"""Objects of the Kubernetes API as its Python client shows them: fields are attributes in snake case, absent ones are None.

An object is also the dictionary of its JSON document, so that ``metadata.labels["app"]`` works as with the genuine client.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

_TIMES: Final = re.compile(r"(timestamp|_time|_at)$")
_STATUSES: Final = {"NotFound": 404, "AlreadyExists": 409, "Conflict": 409, "Forbidden": 403, "Invalid": 422}


class ApiObject(dict[str, Any]):
    """One object, or a part of one. Setting an attribute changes the document."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _show(name, self.get(self._find_key(name)))

    def __setattr__(self, name: str, value: Any) -> None:
        self[self._find_key(name)] = to_document(value)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document."""
        return dict(self)

    def _find_key(self, name: str) -> str:
        plain = name.replace("_", "").lower()
        first, *rest = name.split("_")
        return next((key for key in self if key.lower() == plain), first + "".join(map(str.capitalize, rest)))


class ApiList:
    """A list of objects, in ``items``."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.items: list[ApiObject] = [wrap(item) for item in document.get("items") or ()]
        self.metadata: ApiObject = wrap(document.get("metadata") or {})


def wrap(value: Any) -> Any:
    """Return a document, or a list of documents, with attributes."""
    if isinstance(value, dict):
        return ApiObject({key: wrap(member) for key, member in value.items()})
    return [wrap(member) for member in value] if isinstance(value, list) else value


def to_document(value: Any) -> Any:
    """Return the JSON document of an object, of ours or of the genuine client's."""
    if isinstance(value, Mapping):
        return wrap({key: to_document(member) for key, member in value.items()})
    if isinstance(value, list | tuple):
        return [to_document(member) for member in value]
    if isinstance(value, date):
        return value.isoformat()
    names: Mapping[str, str] | None = getattr(value, "attribute_map", None)
    if names is None:
        return value
    fields = {key: getattr(value, name) for name, key in names.items()}
    return wrap({key: to_document(member) for key, member in fields.items() if member is not None})


def _show(name: str, value: Any) -> Any:
    if isinstance(value, str) and _TIMES.search(name):
        return datetime.fromisoformat(value)
    return value


class ApiError(Exception):
    """The API refused a request; ``status`` is its HTTP status."""

    def __init__(self, status: int = 0, reason: str = "") -> None:
        super().__init__(f"({status})\nReason: {reason}")
        self.status = status
        self.reason = reason


def make_error(message: str) -> Exception:
    """Return the error for kubectl's message, as the genuine client's class if the caller has loaded it and may catch it."""
    found = re.search(r"\((\w+)\)", message)
    status = _STATUSES.get(found[1], 400) if found else 400
    genuine = sys.modules.get("kubernetes.client.exceptions")
    kind: type[Exception] = getattr(genuine, "ApiException", ApiError)
    return kind(status=status, reason=message.strip())  # type: ignore[call-arg]  # both classes take them
