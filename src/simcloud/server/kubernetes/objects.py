"""Requests on objects: every verb, from the URL and the body to the API and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import (
    Api,
    Invalid,
    MethodNotAllowed,
    NoSuchPath,
    NotAcceptable,
    Object,
    Resource,
    ResponsePending,
    WriteOptions,
    WriteRetry,
    at,
    field_errors,
)
from simcloud.kubernetes.api.access import Desk, User, review
from simcloud.kubernetes.api.apply import manager_name
from simcloud.kubernetes.api.patch import PatchType, patch_type_of
from simcloud.kubernetes.api.schema import ANYTHING, check_kind, decode, schema_of
from simcloud.kubernetes.api.subresources import part_resource
from simcloud.kubernetes.api.verbs import Patch, read_options
from simcloud.server.kubernetes import bodies, logs, streams, watches
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.negotiation import Form, choose, wants_pretty
from simcloud.server.kubernetes.parameters import delete_options, include_object, list_options, write_options
from simcloud.server.kubernetes.paths import Target
from simcloud.server.kubernetes.responses import answer, transform

T = TypeVar("T")

DELETE_OPTIONS: Final = Resource(
    "", "v1", "", "", "DeleteOptions", False, (), schema=schema_of("", "v1", "DeleteOptions") or ANYTHING
)


REVIEWS: Final = frozenset({
    "localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectreviews", "selfsubjectrulesreviews",
    "subjectaccessreviews", "tokenreviews",
})  # fmt: skip


async def serve(app: AppContext, request: Request, target: Target, client: ApiClient) -> Response:
    """Answer a request about objects."""
    resource = app.resource(target)
    pretty = wants_pretty(request.query_params, request.headers.get("user-agent", ""))
    # Aggregated groups have no published messages here, so they are sent as JSON.
    packed = resource.custom is None and resource.schema.shape != "any"
    form = choose(request.headers.get("accept", ""), protobuf=packed, pretty=pretty)
    _check_shape(form, target, resource)
    call = _Call(app, request, target, client, resource, form)
    if target.subresource:
        return await call.part()
    if target.verb == "watch":
        return watches.serve(app, request, target, client, resource, form)
    if resource.namespaced and not target.namespace and target.verb not in ("list", "deletecollection"):
        raise NoSuchPath if target.name else MethodNotAllowed
    if target.verb in ("update", "patch") and not target.name:
        raise MethodNotAllowed
    return await call.whole()


def _check_shape(form: Form, target: Target, resource: Resource) -> None:
    """Check that a request for metadata only names the form that fits: object or list."""
    listed = target.verb in ("list", "deletecollection")
    if form.transform not in ("PartialObjectMetadata", "PartialObjectMetadataList"):
        return
    if listed == form.transform.endswith("List"):
        return
    kind = resource.list_kind if listed else resource.kind
    package = (resource.group.partition(".")[0] or "core") if resource.custom is None else "unstructured"
    if resource.custom is not None:
        kind = "UnstructuredList" if listed else "Unstructured"
    problem = "is a list" if listed else "is not a list"
    raise NotAcceptable(
        f"you requested {form.transform}, but the requested object {problem} (*{package}.{kind})"
    )


class _Call:
    """A request with its target, client, resource and format."""

    def __init__(
        self,
        app: AppContext,
        request: Request,
        target: Target,
        client: ApiClient,
        resource: Resource,
        form: Form,
    ) -> None:
        self.app, self.api = app, app.api
        self.request, self.target, self.client = request, target, client
        said = request.query_params.get("fieldManager", "")
        client.manager = manager_name(said, request.headers.get("user-agent", ""))
        self.resource, self.form = resource, form
        self.include = include_object(request.query_params, form)

    async def whole(self) -> Response:
        """Serve a verb on whole objects."""
        target, api, resource = self.target, self.api, self.resource
        match target.verb:
            case "get":
                return self._answer(api.get(resource, target.namespace, target.name))
            case "list":
                scope = target.namespace or None
                return self._answer(api.list(resource, scope, list_options(self.request.query_params)))
            case "create":
                return await self._create()
            case "update":
                data, options = await self._body("UpdateOptions")
                stored = await self._write_settling(
                    lambda: api.update(
                        resource, target.namespace, target.name, data, self.client.caller, options
                    )
                )
                return self._answer_write(stored, options)
            case "patch":
                change, options = await self._patch()
                stored = await self._write_settling(
                    lambda: api.patch(
                        resource, target.namespace, target.name, change, self.client.caller, options
                    )
                )
                return self._answer_write(stored, options)
            case _:
                return await self._delete()

    async def part(self) -> Response:
        """Serve a verb on a subresource of an object."""
        target, verb = self.target, self.target.verb
        if target.subresource == "log":
            return logs.serve(self.app, self.request, target)
        if target.subresource in streams.NAMES:
            raise streams.needs_websocket(self.request, self.app)
        if target.subresource == "proxy":
            return await streams.proxy(self.app, self.request, target)
        options, data = WriteOptions(), None
        if verb == "patch":
            data, options = await self._patch()
        elif verb in ("create", "update"):
            data, options = await self._body("CreateOptions" if verb == "create" else "UpdateOptions")
        elif verb != "get":
            raise MethodNotAllowed
        answered = await self._write_settling(
            lambda: self.api.subresource(
                verb,
                self.resource,
                target.namespace,
                target.name,
                target.subresource,
                data,
                self.client.caller,
                options,
            )
        )
        options.created = verb == "create"
        return self._answer_write(answered, options)

    async def _create(self) -> Response:
        target, resource = self.target, self.resource
        if target.name:
            raise MethodNotAllowed
        data, options = await self._body("CreateOptions")
        if resource.plural in REVIEWS:
            return answer(_review(self.api, resource, target, data, self.client.user), self.form, 201)
        if resource.key == ("", "bindings"):
            name = at(data, "metadata", "name", default="")
            pods = self.api.catalogue.find("pods")
            bound = await self._write_settling(
                lambda: self.api.subresource(
                    "create", pods, target.namespace, name, "binding", data, self.client.caller, options
                )
            )
            return answer(bound, self.form, 201)
        stored = await self._write_settling(
            lambda: self.api.create(resource, target.namespace, data, self.client.caller, options)
        )
        return self._answer_write(stored, options)

    async def _delete(self) -> Response:
        target, resource = self.target, self.resource
        body = await bodies.read(self.request)
        if body:
            said = bodies.understand(body, bodies.media_type(self.request), DELETE_OPTIONS)[0]
            options = read_options(decode(said, DELETE_OPTIONS).obj)
        else:
            options = delete_options(self.request.query_params)
        caller = self.client.caller
        if target.verb == "delete":
            outcome = await self._write_settling(
                lambda: self.api.delete(resource, target.namespace, target.name, options, caller)
            )
            return self._answer(outcome.answer)
        selection = list_options(self.request.query_params)
        deleted = await self._write_settling(
            lambda: self.api.delete_collection(resource, target.namespace or None, selection, options, caller)
        )
        return self._answer(deleted)

    async def _write_settling(self, write: Callable[[], T]) -> T:
        """Run a write, waiting for webhooks as often as needed."""
        retry = WriteRetry()
        while True:
            try:
                return retry.attempt(self.api, write)
            except ResponsePending as waiting:
                await self.app.wait_for(waiting.pending)

    async def _body(self, kind: str) -> tuple[Any, WriteOptions]:
        body = await bodies.read(self.request)
        data, duplicates = bodies.understand(body, bodies.media_type(self.request), self._body_kind())
        return data, write_options(self.request.query_params, kind, duplicates)

    async def _patch(self) -> tuple[Patch, WriteOptions]:
        said = self.request.headers.get("content-type", "")
        kind = patch_type_of(said, custom=self.resource.custom is not None)
        body = await bodies.read(self.request)
        data, duplicates = bodies.understand_patch(body, kind, self.resource)
        options = write_options(self.request.query_params, "PatchOptions", duplicates)
        if kind is PatchType.APPLY and not self.request.query_params.get("fieldManager"):
            problem = field_errors.required("fieldManager", "is required for apply patch")
            raise Invalid("meta.k8s.io", "PatchOptions", "", [problem])
        if kind is not PatchType.APPLY and options.force:
            problem = field_errors.forbidden("force", "may not be specified for non-apply patch")
            raise Invalid("meta.k8s.io", "PatchOptions", "", [problem])
        return Patch(kind, data), options

    def _body_kind(self) -> Resource:
        """Return the expected kind of the body."""
        part = self.resource.subresources.get(self.target.subresource)
        if part is None or part.kind == self.resource.kind:
            return self.resource
        return part_resource(self.resource, part.group, part.version, part.kind)

    def _answer_write(self, stored: Object, options: WriteOptions) -> Response:
        code = 201 if options.created else 200
        return self._answer(stored, code, options.warnings)

    def _answer(self, data: Object, code: int = 200, warnings: Iterable[str] = ()) -> Response:
        self.app.live.poke()
        self.client.warn(self.resource, warnings)
        if data.get("kind") == "Status":
            return answer(data, self.form, code, self.client.warnings)
        shown = transform(data, self.resource, self.form, self.api.now_s, self.include)
        return answer(shown, self.form, code, self.client.warnings)


def _review(api: Api, resource: Resource, target: Target, data: Any, user: User) -> Object:
    """Answer a review, which is not stored."""
    check_kind(data, resource)
    question = decode(data, resource).obj
    desk = Desk(user, api.authorizer, api.tokens, api.now_s, target.namespace)
    return review(resource.kind, question, desk)
