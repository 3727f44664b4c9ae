"""The body of a patch request: its type and its JSON."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from simcloud.kubernetes.api.errors import BadRequest, UnsupportedMediaType
from simcloud.kubernetes.api.schema.go_json import find_syntax_error


class PatchType(StrEnum):
    """The four kinds of patches by their media types, in the order in which the server lists them."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


def patch_type_of(content_type: str, *, custom: bool) -> PatchType:
    """The type that a Content-Type header names. Custom resources have no strategic merge patch."""
    accepted = [kind for kind in PatchType if not (custom and kind is PatchType.STRATEGIC)]
    named = content_type.partition(";")[0].strip()
    if named not in accepted:
        raise UnsupportedMediaType(
            "the body of the request was in an unknown format - accepted media types include: "
            + ", ".join(accepted)
        )
    return PatchType(named)


def read_patch(body: bytes, kind: PatchType) -> Any:
    """The JSON of a JSON patch, merge patch or strategic merge patch."""
    try:
        return msgspec.json.decode(body)
    except UnicodeDecodeError:
        # Go reads what is not UTF-8 as replacement characters.
        return read_patch(body.decode(errors="replace").encode(), kind)
    except (msgspec.DecodeError, RecursionError) as error:
        message = find_syntax_error(body) or (
            "exceeded max depth" if isinstance(error, RecursionError) else str(error)
        )
    raise BadRequest(message if kind is PatchType.STRATEGIC else f"error decoding patch: {message}")
