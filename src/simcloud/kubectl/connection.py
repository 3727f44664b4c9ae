"""The API as the person at the terminal meets it: authenticated, authorized, with warnings told.

Reading and writing go to the API in process, at one instant of virtual time; before the first
request the server's address is dialled over the machine's own network, so that a server that is down
or cut off is met as in life.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from simcloud.kubectl.kubeconfig.config import ClientConfig
from simcloud.kubectl.transport import KEPT_S, exchange, reach
from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.impersonation import impersonate
from simcloud.kubernetes.api.access.users import ANONYMOUS, User
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import MethodNotAllowed, NoSuchPath, Unauthorized
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.options import Caller, DeleteOptions, ListOptions, WriteOptions
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.tables import make_table
from simcloud.kubernetes.api.validation.deprecations import deprecation_warning
from simcloud.kubernetes.api.verbs.patches import Patch
from simcloud.kubernetes.api.verbs.watches import Watch, WatchOptions
from simcloud.machine.network.http import HttpRequest, HttpResponse, respond
from simcloud.machine.process import Context
from simcloud.sim.kernel import Kernel

NAMESPACES: Final = ("", "namespaces")
Objects: TypeAlias = list[Object]
Headers: TypeAlias = Mapping[str, list[str]]


class Connection:
    """One user's way to the API. Every method raises ``ApiError`` in the server's words."""

    def __init__(self, api: Api, user: User, manager: str, acting: Headers | None = None) -> None:
        self.api = api
        self.user = user
        """Who asks; after the first request, whom it is asked as."""
        self.manager = manager
        self._own = user
        self._acting = acting
        self.warnings: list[str] = []
        """What the server warned of and nobody has printed yet."""

    @property
    def now_s(self) -> float:
        """The time of day: what ages are reckoned by."""
        return self.api.now_s

    @property
    def catalogue(self) -> Catalogue:
        """Every resource served."""
        return self.api.catalogue

    def resource(self, name: str) -> Resource:
        """A resource by its full name: ``pods``, ``deployments.apps``."""
        plural, _, group = name.partition(".")
        return self.api.catalogue.named(plural, group)

    async def get(self, resource: Resource, namespace: str, name: str, subresource: str = "") -> Object:
        """One object, or a part of it; shared, so not to be changed."""
        self.check("get", resource, namespace, name, subresource)
        if not subresource and "get" not in resource.verbs:
            raise MethodNotAllowed
        self._deprecated(resource)
        if subresource:
            return self.api.subresource("get", resource, namespace, name, subresource)
        return self.api.get(resource, namespace, name)

    async def list(
        self, resource: Resource, namespace: str | None, *, labels: str = "", fields: str = ""
    ) -> Objects:
        """The objects of a namespace, or of all of them, that the selectors choose."""
        items: Objects = (await self.listed(resource, namespace, labels=labels, fields=fields))["items"]
        return items

    async def listed(
        self, resource: Resource, namespace: str | None, *, labels: str = "", fields: str = ""
    ) -> Object:
        """The same as a List."""
        self.check("list", resource, namespace or "")
        if "list" not in resource.verbs:
            raise MethodNotAllowed
        self._deprecated(resource)
        return self.api.list(resource, namespace, ListOptions(labels=labels, fields=fields))

    def table(self, resource: Resource, items: Objects) -> Object:
        """Objects as the server's Table, rows with their whole objects."""
        return make_table(resource, items, now_s=self.now_s, include_object="Object")

    async def watch(
        self, resource: Resource, namespace: str | None, options: WatchOptions, name: str = ""
    ) -> Watch:
        """What happens to these objects from a revision on."""
        self.check("watch", resource, namespace or "", name)
        return self.api.watch(resource, namespace, options)

    async def create(
        self, resource: Resource, namespace: str, data: Any, options: WriteOptions | None = None
    ) -> Object:
        """Make an object; the answer is what is stored."""
        self.check("create", resource, namespace)
        options = options or WriteOptions()
        stored = self.api.create(resource, namespace, data, self.caller, options)
        self._warn(resource, options)
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
        self._warn(resource, options)
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
        self._warn(resource, options)
        return stored

    async def delete(
        self, resource: Resource, namespace: str, name: str, options: DeleteOptions | None = None
    ) -> Object:
        """Delete an object; the answer is the object as it was left, or a Status."""
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
        """A part or an action of an object that has a path of its own: ``scale``, ``eviction``, ``token`` …"""
        self.check(verb, resource, namespace, name, action)
        options = options or WriteOptions()
        answer = self.api.subresource(verb, resource, namespace, name, action, data, self.caller, options)
        self._warn(resource, options)
        return answer

    def check(
        self, verb: str, resource: Resource, namespace: str = "", name: str = "", subresource: str = ""
    ) -> None:
        """Refuse what the user may not do."""
        if resource.namespaced and not namespace and verb not in ("list", "watch", "deletecollection"):
            raise NoSuchPath
        wish = Attributes(
            self._own,
            verb,
            group=resource.group,
            version=resource.version,
            plural=resource.plural,
            subresource=subresource,
            # A namespace's own path lies in itself.
            namespace=name if resource.key == NAMESPACES else namespace if resource.namespaced else "",
            name=name,
        )
        if self._acting:
            self.user = impersonate(wish, self._acting, self.api.authorizer)
            wish = replace(wish, user=self.user)
        self.api.authorizer.check(wish)

    @property
    def caller(self) -> Caller:
        """Who writes."""
        return Caller(self.user, self.manager)

    def _deprecated(self, resource: Resource) -> None:
        warning = deprecation_warning(resource)
        if warning and warning not in self.warnings:
            self.warnings.append(warning)

    def _warn(self, resource: Resource, options: WriteOptions) -> None:
        self.warnings.extend(one for one in options.warnings if one not in self.warnings)
        self._deprecated(resource)


class Door:
    """Where kubectl's of a world reach its cluster."""

    def __init__(self, api: Api, *, dialled: bool = True) -> None:
        """``dialled`` says that the API is served by a machine of the world, which must be reached for it."""
        self._api = api
        self._dialled = dialled
        self._known: dict[tuple[str, str], float] = {}
        """When a machine last learned what a server serves."""

    @property
    def kernel(self) -> Kernel:
        """The world's clock and chance."""
        return self._api.kernel

    @property
    def now_s(self) -> float:
        """The time of day."""
        return self._api.now_s

    async def open(
        self, ctx: Context, config: ClientConfig, manager: str, discoveries: int = 0
    ) -> Connection:
        """Reach the server and show who is asking; raises ``KubectlError`` or ``ApiError``."""
        if self._dialled:
            known = (ctx.machine.name, config.server)
            fresh = ctx.now - self._known.get(known, -KEPT_S) < KEPT_S
            await reach(ctx, config.server, 0 if fresh else discoveries, config.timeout_s)
            if discoveries and not fresh:
                self._known[known] = ctx.now
        return Connection(self._api, self._authenticate(config.token), manager, config.impersonate)

    async def exchange(self, ctx: Context, config: ClientConfig, request: HttpRequest) -> HttpResponse:
        """A request as it is, over the network or, where no machine of the world serves the API, at its door."""
        if not self._dialled:
            answer = self._api.door
            return await answer(request) if answer is not None else respond(503, "service unavailable\n")
        return await exchange(ctx, config.server, request)

    def _authenticate(self, token: str) -> User:
        if not token:
            return ANONYMOUS
        user = self._api.tokens.authenticate(token, self._api.now_s)
        if user is None:
            raise Unauthorized
        return user
