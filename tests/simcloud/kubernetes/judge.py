"""A small admission webhook in an image: refuses what is labelled ``forbidden``, labels what it lets pass."""

from __future__ import annotations

import base64
import json
from typing import Any

from simcloud.machine.image import Image
from simcloud.machine.network.http import HTTPS, HttpRequest, HttpResponse, respond, serve_http
from simcloud.machine.process import Context

JUDGE = "example.com/judge:1"
PORT = 8443


def judge_image() -> Image:
    """``judge [seconds]``: thinks for so long about every question."""
    return Image(JUDGE, {"judge": judge}, entrypoint=["judge"])


async def judge(ctx: Context) -> int:
    """Serve until somebody kills it, with the certificate of a mounted Secret."""
    thinks_s = float(ctx.args[1]) if ctx.args[1:] else 0.0

    async def answer(request: HttpRequest) -> HttpResponse:
        await ctx.sleep(thinks_s)
        review = json.loads(request.body)
        asked = review["request"]
        ctx.log(f"{request.path} {asked['operation']} {asked['kind']['kind']}")
        review["response"] = {"uid": asked["uid"], **opinion(request.path.partition("?")[0], asked)}
        del review["request"]
        return respond(200, json.dumps(review), Content_Type="application/json")

    listener = serve_http(ctx, PORT, answer, HTTPS)
    if ctx.files.exists("/certs/tls.crt"):
        listener.certificate = ctx.files.read("/certs/tls.crt")
    while True:
        await ctx.sleep(1e9)


def opinion(path: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What to say of a write."""
    metadata = (asked["object"] or {}).get("metadata") or {}
    labels = metadata.get("labels") or {}
    if path == "/validate":
        if "forbidden" not in labels:
            return {"allowed": True}
        return {
            "allowed": False,
            "status": {"message": f"the label forbidden={labels['forbidden']} is not liked"},
        }
    change = [{"op": "add", "path": "/metadata/labels", "value": {**labels, "judged": "yes"}}]
    return {
        "allowed": True,
        "patchType": "JSONPatch",
        "patch": base64.b64encode(json.dumps(change).encode()).decode(),
    }


def judge_pod(*args: str) -> dict[str, Any]:
    """A pod that judges."""
    container = {"name": "judge", "image": JUDGE, "args": list(args)}
    container["volumeMounts"] = [{"name": "certs", "mountPath": "/certs"}]
    volumes = [{"name": "certs", "secret": {"secretName": "judge", "optional": True}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "judge", "namespace": "default", "labels": {"app": "judge"}},
        "spec": {"containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 0},
    }


def judge_service() -> dict[str, Any]:
    """Its Service."""
    ports = [{"port": 443, "targetPort": PORT}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "judge", "namespace": "default"},
        "spec": {"selector": {"app": "judge"}, "ports": ports},
    }


def judge_secret(certificate: bytes) -> dict[str, Any]:
    """Its certificate."""
    encoded = base64.b64encode(certificate).decode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "judge", "namespace": "default"},
        "data": {"tls.crt": encoded},
    }


def configuration(kind: str, authority: bytes, resources: list[str], **more: Any) -> dict[str, Any]:
    """A ``Validating`` or ``Mutating`` configuration that asks it."""
    path = "/validate" if kind == "Validating" else "/mutate"
    service = {"name": "judge", "namespace": "default", "path": path}
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": resources}
    webhook = {
        "name": f"{kind.lower()}.example.com",
        "clientConfig": {"service": service, "caBundle": base64.b64encode(authority).decode()},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "objectSelector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["judge"]}]},
        **more,
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": kind.lower()},
        "webhooks": [webhook],
    }
