"""A request for a subresource, and the steps that all subresources share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from simcloud.kubernetes.api.context import Write
from simcloud.kubernetes.api.defaults import apply_defaults
from simcloud.kubernetes.api.errors import BadRequest, NotFound
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.options import Caller, WriteOptions
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.schema import Schema, schema_of
from simcloud.kubernetes.api.schema.decoding import decode
from simcloud.kubernetes.api.store import Key
from simcloud.kubernetes.api.verbs.patches import Patch, apply_patch
from simcloud.kubernetes.api.verbs.write_context import WriteContext
from simcloud.kubernetes.api.verbs.writes import admit, check, replace


class Request(Struct):
    """A request for a subresource of an object. ``data`` is a body, or a ``Patch`` for the verb patch."""

    api: WriteContext
    verb: str
    resource: Resource
    namespace: str
    name: str
    subresource: str
    data: Any
    caller: Caller
    options: WriteOptions

    @property
    def key(self) -> Key:
        """Where the object lives."""
        return self.api.key(self.resource, self.namespace, self.name)

    def present(self) -> Object:
        """The object as it is; not to be changed."""
        found = self.api.log.get(self.key)
        if found is None:
            raise NotFound(self.resource, self.name)
        return found

    def body(self, group: str, version: str, kind: str, shown: Object | None = None) -> Object:
        """The body as an object of the subresource's own kind; a patch is applied to what is ``shown``."""
        face = part_resource(self.resource, group, version, kind)
        data = self.data
        if isinstance(data, Patch):
            data = apply_patch(face, shown or {}, data)
        if not isinstance(data, dict):
            raise BadRequest(f"expected an object of kind {kind}")
        data = {"apiVersion": face.api_version, "kind": kind, **data}
        return decode(data, face).obj

    def admit(self, obj: Object) -> None:
        """Ask admission about an action: to the server it is the creation of an object of the action's kind."""
        kept = self.api.storage_version(self.resource)
        write = Write(
            self.api, "CREATE", kept, self.key, obj, None, self.caller, self.options, self.subresource
        )
        admit(self.api, write)
        check(self.api, write)

    def change(self, edit: Callable[[Object], None], noted: bool = True) -> Object:
        """Change the object itself in place of a part of it, ``noted`` with who manages what was changed."""
        old = self.present()
        new: Object = copy(old)
        edit(new)
        apply_defaults(self.api.storage_version(self.resource), new)
        managed = None if noted else list(old["metadata"].get("managedFields") or ())
        return replace(
            self.api, self.resource, new, old, self.caller, self.options, self.subresource, managed
        )


def part_resource(resource: Resource, group: str, version: str, kind: str) -> Resource:
    """A subresource's own kind, in the shape of a resource."""
    schema: Schema | None = schema_of(group, version, kind)
    return Resource(
        group,
        version,
        resource.plural,
        resource.singular,
        kind,
        resource.namespaced,
        (),
        schema=schema or resource.schema,
    )
