"""Non-resource URLs: discovery, OpenAPI, version, health."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from simcloud.kubernetes.api import VERSION, MethodNotAllowed, Object, ServiceUnavailable
from simcloud.kubernetes.api.schema import openapi
from simcloud.server.kubernetes import discovery, gnostic
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.negotiation import JSON, Form, choose
from simcloud.server.kubernetes.paths import Target
from simcloud.server.kubernetes.responses import answer

HEALTH: Final = ("/healthz", "/livez", "/readyz")
_HOOKS: Final = (
    "start-apiserver-admission-initializer", "generic-apiserver-start-informers", "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter", "storage-object-count-tracker-hook", "start-apiextensions-informers",
    "start-apiextensions-controllers", "crd-informer-synced", "start-system-namespaces-controller",
    "peer-endpoint-reconciler-controller", "start-cluster-authentication-info-controller", "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector", "storage-readiness", "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers", "rbac/bootstrap-roles", "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer", "bootstrap-controller", "start-kubernetes-service-cidr-controller",
    "aggregator-reload-proxy-client-cert", "start-kube-aggregator-informers", "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller", "apiservice-registration-controller", "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
)  # fmt: skip
_LAST_HOOKS: Final = ("apiservice-openapi-controller", "apiservice-openapiv3-controller")


def serve(app: AppContext, request: Request, target: Target) -> Response | None:
    """Return the document at a path, or None."""
    path = request.scope["path"].rstrip("/") or "/"
    found = _find(app, request, path)
    if found is not None and request.method not in ("GET", "HEAD"):
        raise MethodNotAllowed
    return found


def _find(app: AppContext, request: Request, path: str) -> Response | None:
    if path.startswith(HEALTH):
        return _health(request, path)
    if path in ("/api", "/apis"):
        return _discovery(app, request, path)
    parts = path.split("/")[1:]
    catalogue = app.api.catalogue
    if parts[:2] == ["openapi", "v3"]:
        return _openapi(app, request, "/".join(parts[2:]))
    if parts[0] == "api" and len(parts) == 2 and parts[1] in catalogue.groups[""].versions:
        return answer(discovery.resource_list(catalogue, "", parts[1]))
    if parts[0] == "apis" and len(parts) in (2, 3) and parts[1] in catalogue.groups:
        if len(parts) == 2:
            return answer(discovery.group(catalogue, parts[1]))
        if (parts[1], parts[2]) in catalogue.stale:
            raise ServiceUnavailable("service unavailable")
        if parts[2] in catalogue.groups[parts[1]].versions:
            return answer(discovery.resource_list(catalogue, parts[1], parts[2]))
        return None
    if path == "/openapi/v2":
        if gnostic.is_wanted(request.headers.get("accept", "")):
            return Response(gnostic.from_json(openapi.v2(catalogue)), media_type=gnostic.MEDIA)
        return Response(openapi.v2(catalogue), media_type=JSON)
    if path == "/metrics":
        return _metrics(app)
    if path == "/version":
        return answer(VERSION, Form(pretty=True))
    return answer(_root(app), Form(pretty=True)) if path == "/" else None


def _health(request: Request, path: str) -> Response | None:
    if path not in HEALTH:
        start, _, check = path[1:].partition("/")
        return PlainTextResponse("ok") if check in _list_checks(start) else None
    excluded = request.query_params.getlist("exclude")
    if "verbose" not in request.query_params:
        return PlainTextResponse("ok")
    checks = _list_checks(path[1:])
    lines = [f"[+]{check} {'excluded: ' if check in excluded else ''}ok" for check in checks]
    return PlainTextResponse("\n".join([*lines, f"{path[1:]} check passed", ""]))


def _list_checks(path: str) -> list[str]:
    """The names of the checks behind /healthz, /livez or /readyz, in their order."""
    ready = path == "readyz"
    first = ["ping", "log", "etcd", *(["etcd-readiness", "informer-sync"] if ready else [])]
    hooks = [f"poststarthook/{name}" for name in _HOOKS]
    last = [f"poststarthook/{name}" for name in _LAST_HOOKS]
    return [*first, *hooks, "autoregister-completion", *last, *(["shutdown"] if ready else [])]


def _metrics(app: AppContext) -> Response:
    from simcloud.server.kubernetes.metrics_page import format_page  # rarely asked for

    return PlainTextResponse(format_page(app.api), media_type="text/plain; version=0.0.4")


def _discovery(app: AppContext, request: Request, path: str) -> Response:
    catalogue = app.api.catalogue
    accept = request.headers.get("accept", "")
    for clause in accept.split(","):
        if "as=APIGroupDiscoveryList" not in clause:
            continue
        version = "v2" if "v=v2;" in f"{clause.strip()};".replace(" ", "") else "v2beta1"
        document = discovery.aggregate(catalogue, path == "/api", version)
        return _answer_with_etag(
            request, document, f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
        )
    choose(accept, transforms=False, protobuf=True)
    if path == "/api":
        return answer(discovery.core_versions(app.address))
    return answer(discovery.group_list(catalogue))


def _answer_with_etag(request: Request, document: Object, media: str) -> Response:
    tag = f'"{discovery.etag(document)}"'
    headers = {"etag": tag, "vary": "Accept", "cache-control": "public"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    response = answer(document)
    response.headers.update(headers)
    response.headers["content-type"] = media
    return response


def _openapi(app: AppContext, request: Request, path: str) -> Response | None:
    catalogue = app.api.catalogue
    if not path:
        return answer(openapi.index(catalogue))
    document = openapi.document(catalogue, path)
    if document is None:
        return None
    kept = "public, immutable" if "hash" in request.query_params else "no-cache"
    return Response(document, media_type=JSON, headers={"cache-control": kept})


def _root(app: AppContext) -> Object:
    groups = app.api.catalogue.groups.values()
    named = [group for group in groups if group.name]
    paths = ["/api", "/api/v1", "/apis"]
    for group in sorted(named, key=lambda group: group.name):
        paths.append(f"/apis/{group.name}")
        paths.extend(f"/apis/{group.name}/{version}" for version in sorted(group.versions))
    paths.extend(HEALTH)
    paths.extend(["/metrics", "/openapi/v2", "/openapi/v3", "/version"])
    return {"paths": paths}
