"""The API client: authentication, impersonation, authorization, warnings and deprecations of requests.

The built-in kubectl and helm, the HTTP server and the kubelet's server use an ``ApiClient``, and nothing else decides
about identity and permissions. ``ComponentClient`` is the counterpart for the cluster's own components.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Self, TypeAlias

from msgspec.structs import replace

from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.impersonation import impersonate
from simcloud.kubernetes.api.access.users import (
    ADMINISTRATORS_GROUP,
    ANONYMOUS,
    CLUSTER_ADMINISTRATOR,
    SYSTEM_MASTERS,
    User,
)
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import MethodNotAllowed, NoSuchPath, Unauthorized
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.options import Caller, DeleteOptions, ListOptions, WriteOptions
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.store import Key
from simcloud.kubernetes.api.tables import make_table
from simcloud.kubernetes.api.verbs.patches import Patch
from simcloud.kubernetes.api.verbs.watches import Watch, WatchOptions

NAMESPACES: Final = ("", "namespaces")
Objects: TypeAlias = list[Object]
Headers: TypeAlias = Mapping[str, list[str]]

_DEPRECATED = {
    ("", "v1", "ComponentStatus"): "v1 ComponentStatus is deprecated in v1.19+",
    ("", "v1", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}


def find_administrator(api: Api) -> User:
    """Return the administrator of a cluster: kubeadm's, if the cluster has its binding, or one whom no policy limits."""
    binding = api.log.get(Key("rbac.authorization.k8s.io", "clusterrolebindings", "", ADMINISTRATORS_GROUP))
    return SYSTEM_MASTERS if binding is None else CLUSTER_ADMINISTRATOR


def bearer_token(header: str) -> str:
    """Return the token of an Authorization header, or an empty string."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


class ApiClient:
    """Sends requests of one user to the API. Every verb raises ``ApiError`` with the server's message."""

    def __init__(self, api: Api, user: User, manager: str = "", impersonation: Headers | None = None) -> None:
        """``manager`` is the name in managedFields; ``impersonation`` holds the Impersonate headers."""
        self.api = api
        self.user = user
        """The user of the last request: the one impersonated, where headers name one."""
        self.manager = manager
        self._own = user
        self._impersonation = impersonation
        self.warnings: list[str] = []
        """Warnings of the server that the client has not shown yet."""

    @classmethod
    def authenticate(
        cls, api: Api, token: str, manager: str = "", impersonation: Headers | None = None
    ) -> Self:
        """Return the client of a bearer token, anonymous without one; raises ``Unauthorized`` for an unknown token."""
        user = api.tokens.authenticate(token, api.now_s) if token else ANONYMOUS
        if user is None:
            raise Unauthorized
        return cls(api, user, manager, impersonation)

    def authorize(
        self,
        verb: str,
        *,
        group: str = "",
        version: str = "",
        plural: str = "",
        subresource: str = "",
        namespace: str = "",
        name: str = "",
        path: str | None = None,
    ) -> None:
        """Raise ``Forbidden`` unless the user, or the one it impersonates, may do this; ``path`` is of no resource."""
        request = Attributes(self._own, verb, group, version, plural, subresource, namespace, name, path)
        if self._impersonation:
            self.user = impersonate(request, self._impersonation, self.api.authorizer)
            request = replace(request, user=self.user)
        self.api.authorizer.check(request)

    @property
    def now_s(self) -> float:
        """The time of day, from which ages are computed."""
        return self.api.now_s

    @property
    def catalogue(self) -> Catalogue:
        """Every resource served."""
        return self.api.catalogue

    def resource(self, name: str) -> Resource:
        """Return a resource by its full name: ``pods``, ``deployments.apps``."""
        plural, _, group = name.partition(".")
        return self.api.catalogue.find(plural, group)

    async def get(self, resource: Resource, namespace: str, name: str, subresource: str = "") -> Object:
        """Return an object, or a part of it; it is shared and must not be changed."""
        self.check("get", resource, namespace, name, subresource)
        if not subresource and "get" not in resource.verbs:
            raise MethodNotAllowed
        self.warn(resource)
        if subresource:
            return self.api.subresource("get", resource, namespace, name, subresource)
        return self.api.get(resource, namespace, name)

    async def list(
        self, resource: Resource, namespace: str | None, *, labels: str = "", fields: str = ""
    ) -> Objects:
        """Return the selected objects of a namespace, or of all namespaces."""
        items: Objects = (await self.get_list(resource, namespace, labels=labels, fields=fields))["items"]
        return items

    async def get_list(
        self, resource: Resource, namespace: str | None, *, labels: str = "", fields: str = ""
    ) -> Object:
        """Return the selected objects as a List object."""
        self.check("list", resource, namespace or "")
        if "list" not in resource.verbs:
            raise MethodNotAllowed
        self.warn(resource)
        return self.api.list(resource, namespace, ListOptions(labels=labels, fields=fields))

    def table(self, resource: Resource, items: Objects) -> Object:
        """Return objects as the server's Table, whose rows include the whole objects."""
        return make_table(resource, items, now_s=self.now_s, include_object="Object")

    async def watch(
        self, resource: Resource, namespace: str | None, options: WatchOptions, name: str = ""
    ) -> Watch:
        """Watch these objects from a revision on."""
        self.check("watch", resource, namespace or "", name)
        return self.api.watch(resource, namespace, options)

    async def create(
        self, resource: Resource, namespace: str, data: Any, options: WriteOptions | None = None
    ) -> Object:
        """Create an object and return it as stored."""
        self.check("create", resource, namespace)
        options = options or WriteOptions()
        stored = self.api.create(resource, namespace, data, self.caller, options)
        self.warn(resource, options.warnings)
        return stored

    async def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        data: Any,
        options: WriteOptions | None = None,
        subresource: str = "",
    ) -> Object:
        """Replace an object, or a part of it."""
        options = options or WriteOptions()
        if subresource:
            return await self.act(resource, namespace, name, subresource, data, "update", options)
        self.check("update", resource, namespace, name)
        stored = self.api.update(resource, namespace, name, data, self.caller, options)
        self.warn(resource, options.warnings)
        return stored

    async def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        patch: Patch,
        options: WriteOptions | None = None,
        subresource: str = "",
    ) -> Object:
        """Change an object, or a part of it, by a patch of any type."""
        options = options or WriteOptions()
        if subresource:
            return await self.act(resource, namespace, name, subresource, patch, "patch", options)
        self.check("patch", resource, namespace, name)
        stored = self.api.patch(resource, namespace, name, patch, self.caller, options)
        self.warn(resource, options.warnings)
        return stored

    async def delete(
        self, resource: Resource, namespace: str, name: str, options: DeleteOptions | None = None
    ) -> Object:
        """Delete an object; return the object, if it waits for its deletion, or a Status."""
        self.check("delete", resource, namespace, name)
        return self.api.delete(resource, namespace, name, options or DeleteOptions(), self.caller).answer

    async def act(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        action: str,
        data: Any,
        verb: str = "create",
        options: WriteOptions | None = None,
    ) -> Object:
        """Use a subresource of an object: ``scale``, ``eviction``, ``token`` …"""
        self.check(verb, resource, namespace, name, action)
        options = options or WriteOptions()
        answer = self.api.subresource(verb, resource, namespace, name, action, data, self.caller, options)
        self.warn(resource, options.warnings)
        return answer

    def check(
        self, verb: str, resource: Resource, namespace: str = "", name: str = "", subresource: str = ""
    ) -> None:
        """Raise an ``ApiError`` unless the user may do this to objects of a resource."""
        if resource.namespaced and not namespace and verb not in ("list", "watch", "deletecollection"):
            raise NoSuchPath
        self.authorize(
            verb,
            group=resource.group,
            version=resource.version,
            plural=resource.plural,
            subresource=subresource,
            # A Namespace object counts as inside itself.
            namespace=name if resource.key == NAMESPACES else namespace if resource.namespaced else "",
            name=name,
        )

    @property
    def caller(self) -> Caller:
        """The user and manager that writes are recorded under."""
        return Caller(self.user, self.manager)

    def warn(self, resource: Resource, warnings: Iterable[str] = ()) -> None:
        """Remember a request's warnings, each once, and whether its resource is deprecated."""
        for warning in (*warnings, deprecation_warning(resource)):
            if warning and warning not in self.warnings:
                self.warnings.append(warning)


def deprecation_warning(resource: Resource) -> str | None:
    """Return the warning for any use of a deprecated resource, or None."""
    return _DEPRECATED.get((resource.group, resource.version, resource.kind))
