"""Responses: objects, lists and errors in the requested format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec
import yaml
from starlette.responses import Response

from simcloud.kubernetes.api import ApiError, Object, Resource, TooManyRequests
from simcloud.kubernetes.api.tables import make_table
from simcloud.server.kubernetes.negotiation import PROTOBUF, YAML, Form
from simcloud.server.kubernetes.parameters import IncludeObject
from simcloud.server.kubernetes.protobuf import encode

_WIDTH: Final = 1 << 30
"""Go does not break lines."""


_ESCAPED: Final = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)


class _Yaml(yaml.CSafeDumper):
    """Writes shared values twice, because Kubernetes' YAML has no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def encode_body(data: Any, form: Form) -> bytes:
    """Encode data in the media type of a form."""
    if form.media == YAML:
        return yaml.dump(data, Dumper=_Yaml, allow_unicode=True, encoding="utf-8", width=_WIDTH)
    if form.media == PROTOBUF:
        return encode(data)
    packed = as_json(data)
    return msgspec.json.format(packed) if form.pretty else packed + b"\n"


def as_json(data: Any) -> bytes:
    """Encode as JSON like Go, with HTML characters escaped."""
    packed = msgspec.json.encode(data)
    for plain, escaped in _ESCAPED:
        if plain in packed:
            packed = packed.replace(plain, escaped)
    return packed


def answer(data: Any, form: Form | None = None, code: int = 200, warnings: Iterable[str] = ()) -> Response:
    """Make a response of data."""
    form = form or Form()
    response = Response(encode_body(data, form), code, media_type=form.media)
    for warning in dict.fromkeys(warnings):
        response.raw_headers.append((b"warning", _warning(warning)))
    return response


def refusal(error: ApiError, form: Form | None = None) -> Response:
    """Make a response of an error's Status."""
    response = answer(error.status(), form, error.code)
    if isinstance(error, TooManyRequests) and error.retry_after_s:
        response.headers["retry-after"] = str(error.retry_after_s)
    return response


def transform(
    data: Object, resource: Resource, form: Form, now_s: float, include: IncludeObject, headers: bool = True
) -> Object:
    """Convert an object or a list to a Table or to metadata only, if the client asks for that."""
    listed = "items" in data and data["kind"] == resource.list_kind
    if not form.transform:
        return _drop_item_kinds(data) if listed and resource.custom is None else data
    items: list[Object] = data["items"] if listed else [data]
    if form.transform == "Table":
        kept = ("resourceVersion", "continue", "remainingItemCount")
        list_fields = {key: value for key, value in data["metadata"].items() if key in kept}
        return make_table(
            resource, items, now_s=now_s, include_object=include, list_metadata=list_fields, headers=headers
        )
    version = f"meta.k8s.io/{form.version or 'v1'}"
    partial = [
        {"kind": "PartialObjectMetadata", "apiVersion": version, "metadata": item["metadata"]}
        for item in items
    ]
    if not listed:
        return partial[0]
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": version,
        "metadata": data["metadata"],
        "items": partial,
    }


def _drop_item_kinds(data: Object) -> Object:
    """Remove kind and apiVersion from the items of a list of a built-in kind."""
    items = [
        {key: value for key, value in item.items() if key not in ("kind", "apiVersion")}
        for item in data["items"]
    ]
    return {**data, "items": items}


def _warning(text: str) -> bytes:
    """Format a warning as an HTTP header: code 299, no agent, the text quoted and on one line."""
    quoted = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{quoted}"'.encode("utf-8", "replace")
