"""``explain --output=plaintext-openapiv2``: the form of older kubectls, from edition 2 of the documents."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.explain.documents import Document, held, reference
from simcloud.kubectl.explain.line_breaks import filled
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource

WIDTH: Final = 80
TEXT: Final = 5
FIELD: Final = 3
BELOW_FIELD: Final = 2


class Older:
    """Tells one resource's fields."""

    def __init__(self, document: Document, resource: Resource, recursive: bool) -> None:
        self._document = document
        self._resource = resource
        self._recursive = recursive

    def explain(self, schema: Object, path: list[str]) -> str:
        """What a path leads to; raises ``KubectlError`` if it leads nowhere."""
        found = schema
        for name in path:
            found = self._step(found, name)
        descriptions = [found["description"]] if found.get("description") else []
        inner = found
        while (reference(inner) or inner.get("items") or held(inner)) and not inner.get("properties"):
            following = (
                self._document.resolve(inner) if reference(inner) else inner.get("items") or held(inner)
            )
            if following is None or following is inner:
                break
            inner = following
            if inner.get("description"):
                descriptions.append(inner["description"])
        lines = [f"KIND:     {self._resource.kind}", f"VERSION:  {self._resource.api_version}", ""]
        properties = inner.get("properties")
        if path:
            word = "RESOURCE:" if properties else "FIELD:   "
            lines += [f"{word} {path[-1]} <{self.type_of(found)}>", ""]
        lines += ["DESCRIPTION:", *_described(descriptions)]
        if properties:
            lines += ["", "FIELDS:", *self._fields(inner, FIELD)]
        return "".join(f"{line}\n" for line in lines)

    def _step(self, schema: Object, name: str) -> Object:
        while not schema.get("properties"):
            following = (
                self._document.resolve(schema) if reference(schema) else schema.get("items") or held(schema)
            )
            if not following or following is schema:
                break
            schema = following
        found: Object | None = (schema.get("properties") or {}).get(name)
        if found is None:
            raise KubectlError(f'field "{name}" does not exist')
        return found

    def _fields(self, schema: Object, indent: int) -> list[str]:
        if self._recursive:
            return self._tree(schema, indent, ())
        lines = []
        for name in sorted(schema["properties"]):
            field = schema["properties"][name]
            required = " -required-" if name in (schema.get("required") or ()) else ""
            lines.append(f"{' ' * indent}{name}\t<{self.type_of(field)}>{required}")
            below = indent + BELOW_FIELD
            lines += [_padded(line, below) for line in filled(field.get("description") or "", WIDTH - below)]
            lines.append("")
        return lines

    def _tree(self, schema: Object, indent: int, seen: tuple[str, ...]) -> list[str]:
        name = reference(schema)
        if name:
            if name in seen or name not in self._document.schemas:
                return []
            return self._tree(self._document.schemas[name], indent, (*seen, name))
        inner = schema.get("items") or held(schema)
        if inner:
            return self._tree(inner, indent, seen)
        lines = []
        properties = schema.get("properties") or {}
        for field in sorted(properties):
            lines.append(f"{' ' * indent}{field}\t<{self.type_of(properties[field])}>")
            lines += self._tree(properties[field], indent + FIELD, seen)
        return lines

    def type_of(self, schema: Object) -> str:
        """``Object``, ``[]Object``, ``map[string]string``, ``integer`` …"""
        name = reference(schema)
        if name:
            return self.type_of(self._document.schemas.get(name, {}))
        if schema.get("items"):
            return f"[]{self.type_of(schema['items'])}"
        within = held(schema)
        if within:
            return f"map[string]{self.type_of(within)}"
        kind = schema.get("type") or "object"
        return "Object" if kind == "object" else str(kind)


def _described(descriptions: list[str]) -> list[str]:
    lines: list[str] = []
    for place, text in enumerate(descriptions or ["<empty>"]):
        lines += [""] if place else []
        lines += [_padded(line, TEXT) for line in filled(text, WIDTH - TEXT)]
    return lines


def _padded(line: str, indent: int) -> str:
    return f"{' ' * indent}{line}" if line else ""
