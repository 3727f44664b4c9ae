"""Parts and actions of objects that have a path of their own, one module each.

Those that need a running container (log, exec, attach, portforward, proxy) are streams: the HTTP
server serves them through ``runtime``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aiopslab.cluster.api import patching, reading, writing
from aiopslab.cluster.api.errors import MethodNotAllowed, NoSuchPath
from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.api.options import Caller, WriteOptions
from aiopslab.cluster.api.patching import Patch
from aiopslab.cluster.api.resources import Resource
from aiopslab.cluster.api.subresources import binding, eviction, scale, token
from aiopslab.cluster.api.subresources.request import Request
from aiopslab.cluster.api.views import VIEWS

if TYPE_CHECKING:
    from aiopslab.cluster.api.api import Api

_OWN_KINDS: Final = {
    "scale": scale.serve,
    "eviction": eviction.serve,
    "binding": binding.serve,
    "token": token.serve,
}


def serve(
    api: Api,
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
            return reading.get(api, resource, namespace, name)
        if isinstance(data, Patch):
            return patching.patch(api, resource, namespace, name, data, caller, options, subresource)
        return writing.update(api, resource, namespace, name, data, caller, options, subresource)
    served = _OWN_KINDS.get(subresource)
    if served is None:
        raise MethodNotAllowed
    return served(Request(api, verb, resource, namespace, name, subresource, data, caller, options))
