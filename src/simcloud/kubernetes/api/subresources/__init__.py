"""Subresources: parts and actions of objects with their own path, one module each.

Those that need a running container (log, exec, attach, portforward, proxy) are streams, which the HTTP server serves
through ``runtime``.
"""

from __future__ import annotations

from typing import Any, Final

from simcloud.exports import export_lazily
from simcloud.kubernetes.api.errors import MethodNotAllowed, NoSuchPath
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.options import Caller, WriteOptions
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.subresources import binding, eviction, scale, token
from simcloud.kubernetes.api.subresources.request import Request, part_resource as part_resource
from simcloud.kubernetes.api.verbs import patches, reads, writes
from simcloud.kubernetes.api.verbs.patches import Patch
from simcloud.kubernetes.api.verbs.write_context import WriteContext
from simcloud.kubernetes.api.views import VIEWS

with export_lazily(globals()):
    from simcloud.kubernetes.api.subresources.log import (
        choose_container as choose_container,
        open_log as open_log,
        running_pod as running_pod,
        runtime_of as runtime_of,
    )


_OWN_KINDS: Final = {
    "scale": scale.serve,
    "eviction": eviction.serve,
    "binding": binding.serve,
    "token": token.serve,
}


def serve(
    api: WriteContext,
    verb: str,
    resource: Resource,
    namespace: str,
    name: str,
    subresource: str,
    data: Any,
    caller: Caller,
    options: WriteOptions,
) -> Object:
    """Get, create, update or patch a subresource; for a patch, ``data`` is the ``Patch``."""
    offered = resource.subresources.get(subresource)
    if offered is None:
        raise NoSuchPath
    if verb not in offered.verbs:
        raise MethodNotAllowed
    if subresource in VIEWS and subresource not in _OWN_KINDS:
        if verb == "get":
            return reads.get(api, resource, namespace, name)
        if isinstance(data, Patch):
            return patches.patch(api, resource, namespace, name, data, caller, options, subresource)
        return writes.update(api, resource, namespace, name, data, caller, options, subresource)
    served = _OWN_KINDS.get(subresource)
    if served is None:
        raise MethodNotAllowed
    return served(Request(api, verb, resource, namespace, name, subresource, data, caller, options))
