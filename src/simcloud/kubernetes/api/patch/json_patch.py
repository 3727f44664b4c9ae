"""JSON patch (RFC 6902) as in the API server's library.

It is more lenient than the RFC: a negative index counts from the end, text before the first slash of a pointer is
ignored, an absent key can be replaced, and it counts as null when tested or copied. Every patch that does not apply
gives the same error, without a reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from simcloud.kubernetes.api.errors import ApiError, BadRequest, TooLarge
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.patch.errors import DoesNotApply, check_depth, json_type, plain_type, too_deep

MAX_OPERATIONS = 10_000
MAX_COPIED_BYTES = 3 * 1024 * 1024
"""What all copies of one patch may add up to; without a limit, copies of copies would fill the memory."""

_INDEX = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_ESCAPE = re.compile("~[01]")
_UNESCAPED = {"~1": "/", "~0": "~"}
_ABSENT = object()
_FIELDS = ("op", "path", "from")


def apply_json_patch(document: Any, operations: Any) -> Any:
    """The document after every operation; neither the document nor the operations are changed."""
    _check(operations)
    patch = _Patch(copy(document))
    try:
        for operation in operations or ():
            patch.apply(operation)
    except RecursionError:
        raise too_deep() from None
    check_depth(patch.root)
    return patch.root


def _check(operations: Any) -> None:
    """Refuse what is no list of operations."""
    if operations is None:
        return
    if not isinstance(operations, list):
        raise _wrong_type(operations, "[]handlers.jsonPatchOp")
    check_depth(operations)
    for operation in operations:
        if operation is not None and not isinstance(operation, dict):
            raise _wrong_type(operation, "handlers.jsonPatchOp")
        for name in _FIELDS:
            value = (operation or {}).get(name)
            if value is not None and not isinstance(value, str):
                raise _wrong_type(value, "string", f"jsonPatchOp.{name}")
    if len(operations) > MAX_OPERATIONS:
        raise TooLarge(
            f"Request entity too large: The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, "
            f"got {len(operations)}"
        )


def _wrong_type(value: Any, wanted: str, field: str = "") -> ApiError:
    where = f"Go struct field {field} of type {wanted}" if field else f"Go value of type {wanted}"
    return BadRequest(f"error decoding patch: json: cannot unmarshal {json_type(value)} into {where}")


class _Patch:
    """A document being patched."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.copied_bytes = 0

    def apply(self, operation: Object | None) -> None:
        """Carry out one operation."""
        act = _OPERATIONS.get((operation or {}).get("op") or "unknown")
        if act is None or operation is None:
            raise DoesNotApply
        act(self, operation)

    def add(self, operation: Object) -> None:
        parent, key = self._find(operation.get("path"))
        _add(parent, key, copy(operation.get("value")))

    def remove(self, operation: Object) -> None:
        _remove(*self._find(operation.get("path")))

    def replace(self, operation: Object) -> None:
        value = copy(operation.get("value"))
        if operation.get("path") == "":
            if not isinstance(value, dict | list):
                raise DoesNotApply
            self.root = value
            return
        parent, key = self._find(operation.get("path"))
        if isinstance(parent, list):
            parent[_index(key, len(parent))] = value
        else:
            parent[key] = value

    def move(self, operation: Object) -> None:
        parent, key = self._find(operation.get("from"))
        value = _get(parent, key)
        _remove(parent, key)
        _add(*self._find(operation.get("path")), value)

    def copy(self, operation: Object) -> None:
        value = self._value(operation.get("from"))
        parent, key = self._find(operation.get("path"))
        self.copied_bytes += len(msgspec.json.encode(value))
        if self.copied_bytes > MAX_COPIED_BYTES:
            raise DoesNotApply
        _add(parent, key, copy(value))

    def test(self, operation: Object) -> None:
        wanted = operation.get("value")
        found = self.root if operation.get("path") == "" else self._value(operation.get("path"))
        if not _same(found, wanted):
            raise DoesNotApply

    def _value(self, pointer: str | None) -> Any:
        """What a pointer names; null for a key that is not there."""
        parent, key = self._find(pointer)
        return parent.get(key) if isinstance(parent, dict) else _get(parent, key)

    def _find(self, pointer: str | None) -> tuple[Any, str]:
        """The object or list that holds what a pointer names, and the name in it."""
        parts = (pointer or "").split("/")
        if len(parts) < 2:
            raise DoesNotApply
        node = self.root
        for part in parts[1:-1]:
            node = _get(node, _decode_part(part))
        if not isinstance(node, dict | list):
            raise DoesNotApply
        return node, _decode_part(parts[-1])


_OPERATIONS: dict[str, Callable[[_Patch, Object], None]] = {
    "add": _Patch.add,
    "remove": _Patch.remove,
    "replace": _Patch.replace,
    "move": _Patch.move,
    "copy": _Patch.copy,
    "test": _Patch.test,
}


def _decode_part(part: str) -> str:
    return _ESCAPE.sub(lambda found: _UNESCAPED[found.group()], part) if "~" in part else part


def _index(key: str, size: int) -> int:
    """The place that a key names in a list of a size."""
    if _INDEX.fullmatch(key) is None:
        raise DoesNotApply
    index = int(key)
    if not -size <= index < size:
        raise DoesNotApply
    return index + size if index < 0 else index


def _get(parent: Any, key: str) -> Any:
    if isinstance(parent, dict):
        value = parent.get(key, _ABSENT)
    elif isinstance(parent, list):
        value = parent[_index(key, len(parent))]
    else:
        value = _ABSENT
    if value is _ABSENT:
        raise DoesNotApply
    return value


def _add(parent: Any, key: str, value: Any) -> None:
    if isinstance(parent, dict):
        parent[key] = value
    elif key == "-":
        parent.append(value)
    else:
        parent.insert(_index(key, len(parent) + 1), value)


def _remove(parent: Any, key: str) -> None:
    _get(parent, key)
    del parent[_index(key, len(parent)) if isinstance(parent, list) else key]


def _same(left: Any, right: Any) -> bool:
    """Equality of JSON: 1, 1.0 and true are three values."""
    if plain_type(left) is not plain_type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)
