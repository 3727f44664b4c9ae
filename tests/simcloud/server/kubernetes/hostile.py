"""Requests that nobody should send, drawn from a seed: wrong, huge, torn or merely odd in one place or in many.

Every request starts from something sound (a kind's example, a path that is served, a header that a client sends)
and is spoiled a little, because what is spoiled altogether is refused at the first door.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeAlias
from urllib.parse import quote

from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.schema import Schema
from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES
from tests.simcloud.kubernetes.api.validation.samples import SOUND

Data: TypeAlias = Any

SPACE = "default"
SOUND_OBJECTS: list[dict[str, Data]] = json.loads(
    json.dumps([*SOUND.values(), *EXAMPLES.values()]).replace(
        '"namespace": "demo"', f'"namespace": "{SPACE}"'
    )
)
DEFINITION: Data = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gizmos.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "gizmos", "kind": "Gizmo"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
                },
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "minimum": 1, "default": 1},
                                    "shape": {"type": "string", "pattern": "^[a-z]*$", "enum": ["a", "b"]},
                                    "parts": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["name"],
                                        "items": {
                                            "type": "object",
                                            "required": ["name"],
                                            "properties": {
                                                "name": {"type": "string"},
                                                "at": {"type": "string", "format": "date-time"},
                                            },
                                        },
                                    },
                                    "port": {"x-kubernetes-int-or-string": True},
                                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                },
                                "x-kubernetes-validations": [
                                    {"rule": "!has(self.shape) || self.size < 10 || self.shape == 'a'"}
                                ],
                            },
                            "status": {"type": "object", "properties": {"size": {"type": "integer"}}},
                        },
                    }
                },
            }
        ],
    },
}
SOUND_OBJECTS += [
    DEFINITION,
    {
        "apiVersion": "example.com/v1",
        "kind": "Gizmo",
        "metadata": {"name": "sound"},
        "spec": {
            "size": 2,
            "shape": "a",
            "parts": [{"name": "p"}],
            "port": "http",
            "free": {"a": {"b": [1]}},
        },
    },
] * 2
_RECORDED = [
    json.loads(line)
    for line in Path(__file__).with_name("test_protobuf_bodies.jsonl").read_text().splitlines()
]
PROTOBUFS = [(base64.b64decode(one["body"]), one["object"]) for one in _RECORDED]


def _deep(depth: int) -> Data:
    value: Data = "x"
    for number in range(depth):
        value = [value] if number % 2 else {"a": value}
    return value


VALUES: list[Data] = [
    None, True, False, 0, 1, -1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**30, 1.5, 1e300, -0.0,
    "", " ", "a", "A_b", "x" * 64, "x" * 254, "y" * 5000, "\0", "é", "\u202e", "😀", "../..", "a/b", "a\nb", "%", "%s",
    "true", "null", "0", "-1", "1e3", "1Gi", "0.1m", "9" * 40, "1.2.3.4", "::1", "::ffff:1.2.3.4", "10.0.0.0/8", "1/2",
    "2026-13-45T99:99:99Z", "2026-01-01T00:00:00Z", "$(HOME)", "$(", "{{.x}}", "=", "a=b", "[", "(", "a*", "*", "*/0 * * * *",
    "All", "Always", "None", "Foreground", "Orphan", "v1", "v2", "apps/v1", "a/b/c", "Pod", "kubernetes.io/x",
    [], {}, [None], [[]], [{}], [0], [""], {"": ""}, {"a": None}, {"a": {"b": {}}}, {"$patch": "replace"}, {"$patch": "delete"},
    {"matchLabels": {}}, {"key": "a", "operator": "Exists"}, ["a", "a"], [{"name": "a"}, {"name": "a"}], _deep(20), _deep(150),
    ["x"] * 2000, {str(number): number for number in range(1500)},
]  # fmt: skip
"""What stands where something else should."""

TEXTS = [value for value in VALUES if isinstance(value, str)]

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "FROB", ""]
WORDS = [
    "api", "apis", "v1", "apps", "namespaces", "default", "demo", "pods", "deployments", "configmaps", "status", "scale",
    "log", "exec", "proxy", "binding", "eviction", "token", "watch", "finalize", "approval", "ephemeralcontainers", "resize",
    "sound", "web", "nosuch", "..", ".", "", "%2e%2e", "%2F", "a%2Fb", "%00", "%FF", "é", "%C3%A9", "%3F", "%23", "x" * 3000, "*", "-",
    "http:web:80", "openapi", "v3", "v2", "healthz", "readyz", "livez", "version", "metrics", "logs", "debug", "ping", "UPPER", " ", "+",
]  # fmt: skip
PARAMETERS: dict[str, list[str]] = {
    "limit": ["0", "1", "-1", "x", "9" * 30, "1.5", ""],
    "continue": ["", "x", "e30", "bnVsbA", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYS9iIn0", "eyJydiI6MX0", "\U0001f600", "A" * 5000],
    "resourceVersion": ["", "0", "1", "-1", "x", "9" * 19, "9" * 40, "１"],
    "resourceVersionMatch": ["", "Exact", "NotOlderThan", "x"],
    "labelSelector": ["", "app=web", "app in (", "a,b,!c", "!", "a=b=c", "x in (a,b),y notin (c)", "a" * 500, "a>1", "a>x", "\0", "(" * 500, "a=" + "b" * 70],
    "fieldSelector": ["", "metadata.name=web", "metadata.name!=web", "spec.nodeName=", "nosuch=1", "a", "=", "metadata.name=a,metadata.name=b", "\\", "a=\\x"],
    "dryRun": ["", "All", "all", "None", "All,All"],
    "fieldValidation": ["", "Strict", "Warn", "Ignore", "strict", "x"],
    "fieldManager": ["", "me", "x" * 200, "a\tb", "é", "\0"],
    "propagationPolicy": ["", "Foreground", "Background", "Orphan", "x"],
    "gracePeriodSeconds": ["0", "-1", "30", "x", "9" * 30],
    "orphanDependents": ["true", "false", "x"],
    "force": ["true", "false", "x", ""],
    "watch": ["true", "1", "false", "x", ""],
    "allowWatchBookmarks": ["true", "x"],
    "sendInitialEvents": ["true", "false", "x"],
    "timeoutSeconds": ["1", "0", "-1", "x", "9" * 30],
    "pretty": ["true", "false", "x"],
    "includeObject": ["None", "Metadata", "Object", "x"],
    "container": ["", "app", "nosuch"],
    "follow": ["true", "x"],
    "tailLines": ["1", "-1", "x"],
    "sinceTime": ["x", "2026-01-01T00:00:00Z"],
    "sinceSeconds": ["0", "-5", "x"],
    "command": ["ls"],
    "timeout": ["1s", "x", "-1s"],
    "exact": ["true"],
    "export": ["true"],
    "nosuch": ["1"],
    "": ["", "x"],
}  # fmt: skip
ACCEPTS = [
    "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "*/*", "application/*", "text/html", "", ";", "a/b/c",
    "application/json;as=Table;g=meta.k8s.io;v=v1", "application/json;as=Table;g=meta.k8s.io;v=v9",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1", "application/json;as=Nosuch", "application/json;q=x", "," * 300,
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
]  # fmt: skip
CONTENT_TYPES = [
    "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "", "text/plain", "application/x-www-form-urlencoded",
    "application/json; charset=latin-1", "APPLICATION/JSON", ";", "application/cbor", "multipart/form-data; boundary=x",
]  # fmt: skip
PATCH_TYPES = [
    "application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
    "application/apply-patch+yaml", "application/apply-patch+cbor", "application/json", "",
]  # fmt: skip
HEADERS = [
    ("authorization", "Bearer nosuch"), ("authorization", "Bearer "), ("authorization", "Basic eDp5"), ("authorization", "Bearer a.b.c"),
    ("authorization", "Bearer " + "x" * 5000), ("authorization", "x"), ("authorization", "Bearer eyJhbGciOiJub25lIn0.e30."),
    ("impersonate-user", "jane"), ("impersonate-user", ""), ("impersonate-user", "system:serviceaccount:demo:robot"),
    ("impersonate-group", "system:masters"), ("impersonate-uid", "1"), ("impersonate-extra-scopes", "a"), ("impersonate-extra-%zz", "a"),
    ("impersonate-user", "system:serviceaccount:"), ("host", "a/b?c#d"), ("host", ""), ("content-length", "9" * 12), ("content-length", "x"),
    ("user-agent", "curl/8"), ("user-agent", ""), ("user-agent", "x" * 300), ("if-none-match", "*"), ("transfer-encoding", "chunked"),
    ("x-forwarded-for", "1.2.3.4"), ("upgrade", "websocket"), ("connection", "upgrade"), ("upgrade", "SPDY/3.1"), ("accept-encoding", "gzip"),
]  # fmt: skip


@dataclass(frozen=True)
class Hostile:
    """One request, whole."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def __str__(self) -> str:
        return f"{self.method} {self.target[:300]} {self.headers} {self.body[:2000]!r}"


class Chance:
    """Draws hostile requests; the same seed draws the same ones."""

    def __init__(self, seed: int, catalogue: Catalogue, token: str) -> None:
        self.rng = Random(seed)
        self.resources = list(catalogue)
        self.catalogue = catalogue
        self.token = token

    def request(self) -> Hostile:
        """The next request."""
        rng = self.rng
        draw: Callable[[], Hostile] = rng.choices(
            [self.write, self.patch, self.part, self.read, self.deletion, self.anything],
            weights=[34, 32, 13, 10, 3, 8],
        )[0]
        return draw()

    # Kinds of request.

    def write(self) -> Hostile:
        """A create or an update of an example, spoiled."""
        rng = self.rng
        if rng.random() < 0.25:
            body, obj = rng.choice(PROTOBUFS)
            resource = self.catalogue.of_kind(obj["apiVersion"], obj["kind"]) or rng.choice(self.resources)
            return self.sent(
                "POST", self.path(resource), self.torn(body), "application/vnd.kubernetes.protobuf"
            )
        obj, resource = self.example()
        fresh = rng.random() < 0.5
        if fresh:
            obj["metadata"]["name"] = f"n{rng.randrange(2000)}"
        name = obj["metadata"].get("name", "x")
        body, media = self.body(self.spoiled(obj, resource.schema))
        if fresh:
            return self.sent("POST", self.path(resource), body, media)
        return self.sent("PUT", self.path(resource, name), body, media)

    def patch(self) -> Hostile:
        """A patch of any type."""
        obj, resource = self.example()
        media = self.rng.choice(PATCH_TYPES[:4] if self.rng.random() < 0.95 else PATCH_TYPES)
        return self.patched(
            self.path(resource, obj["metadata"].get("name", "x")), media, obj, resource.schema
        )

    def part(self) -> Hostile:
        """A verb on a subresource."""
        rng = self.rng
        obj, resource = self.example()
        if resource.subresources:
            part = rng.choice([*resource.subresources, "status", "scale"])
        else:
            part = rng.choice(WORDS)
        path = f"{self.path(resource, obj['metadata'].get('name', 'x'))}/{part}"
        method = rng.choice(METHODS[:5])
        if method == "PATCH":
            schema = resource.schema if part == "status" else None
            return self.patched(path, rng.choice(PATCH_TYPES[:4]), obj, schema)
        shape: Data = obj
        if part == "status":
            self.grow(shape, resource.schema)
        if part == "scale":
            shape = {"metadata": {"name": "web", "namespace": SPACE}, "spec": {"replicas": 3}}
        elif part == "binding":
            shape = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "node-1"}}
        elif part == "eviction":
            shape = {"metadata": {"name": "web"}, "deleteOptions": {"gracePeriodSeconds": 0}}
        elif part == "token":
            shape = {"spec": {"audiences": ["x"], "expirationSeconds": 600}}
        return self.sent(method, path, *self.body(self.spoiled(shape)))

    def read(self) -> Hostile:
        """A get, a list or a watch with odd parameters."""
        rng = self.rng
        resource = rng.choice(self.resources)
        name = rng.choice(["", "", "web", "sound", rng.choice(WORDS)])
        path = self.path(resource, name)
        if rng.random() < 0.1:
            path = path.replace("/v1/", "/v1/watch/")
        return self.sent(rng.choice(["GET", "GET", "HEAD"]), path, b"", "")

    def deletion(self) -> Hostile:
        """A delete with odd options; collections are rarely emptied, so that there is something left to spoil."""
        rng = self.rng
        obj, resource = self.example()
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": 0,
            "propagationPolicy": "Background",
            "preconditions": {"uid": "x", "resourceVersion": "1"},
            "dryRun": ["All"],
        }
        body, media = self.body(self.spoiled(options)) if rng.random() < 0.8 else (b"", "")
        name = obj["metadata"].get("name", "x") if rng.random() < 0.95 else ""
        return self.sent("DELETE", self.path(resource, name), body, media)

    def anything(self) -> Hostile:
        """Any method at any path with any body."""
        rng = self.rng
        path = "/" + "/".join(rng.choice(WORDS) for _ in range(rng.randrange(9)))
        if rng.random() < 0.5:
            path = (
                rng.choice(["/api/v1", "/apis/apps/v1", "/apis", "/openapi/v3", "/apis/batch/v2", ""]) + path
            )
        body = rng.choice([b"", b"{}", b"null", b"[]", b"\xff\xfe", rng.randbytes(rng.randrange(200))])
        return self.sent(rng.choice(METHODS), path, body, rng.choice(CONTENT_TYPES + PATCH_TYPES))

    # Parts of a request.

    def example(self) -> tuple[dict[str, Data], Resource]:
        while True:
            obj: dict[str, Data] = copy(self.rng.choice(SOUND_OBJECTS))
            resource = self.catalogue.of_kind(obj["apiVersion"], obj["kind"])
            if resource is not None:
                break
        if self.rng.random() < 0.85:
            for field in ("uid", "resourceVersion", "namespace"):
                obj["metadata"].pop(field, None)
        if self.rng.random() < 0.1:
            obj["metadata"]["name"] = f"n{self.rng.randrange(40)}"
        return obj, resource

    def path(self, resource: Resource, name: str = "") -> str:
        root = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
        space = f"/namespaces/{SPACE}" if resource.namespaced and self.rng.random() < 0.97 else ""
        path = f"{root}{space}/{resource.plural}"
        return f"{path}/{name}" if name else path

    def sent(self, method: str, path: str, body: bytes, media: str) -> Hostile:
        rng = self.rng
        if rng.random() < 0.35:
            names = rng.choices(list(PARAMETERS), k=rng.randrange(1, 4))
            path += "?" + "&".join(f"{name}={quote(rng.choice(PARAMETERS[name]))}" for name in names)
        headers = [("content-type", media)] if media else []
        if rng.random() < 0.3:
            headers.append(("accept", rng.choice(ACCEPTS if rng.random() < 0.3 else ACCEPTS[:5])))
        if rng.random() < 0.05:
            headers[:1] = [("content-type", rng.choice(CONTENT_TYPES))]
        said = [rng.choice(HEADERS)] if rng.random() < 0.1 else []
        if not any(name == "authorization" for name, _ in said):
            headers.append(("authorization", f"Bearer {self.token}"))
        return Hostile(method, path, headers + said, body)

    def patched(self, path: str, media: str, obj: dict[str, Data], schema: Schema | None = None) -> Hostile:
        rng = self.rng
        body: Data
        if media == "application/json-patch+json":
            body = self.operations(obj)
        elif media == "application/apply-patch+yaml":
            path += "?fieldManager=me&force=true" if rng.random() < 0.8 else "?fieldManager=me"
            body = self.spoiled(obj, schema)
            if rng.random() < 0.1:
                return self.sent("PATCH", path, self.bomb(), media)
        else:
            kept = rng.choice(list(obj))
            body = self.spoiled({kept: obj[kept]}, schema)
            if rng.random() < 0.4 and isinstance(body, dict):
                self.direct(body)
        text = self.text(body)
        if "?" in path:
            headers = [("content-type", media), ("authorization", f"Bearer {self.token}")]
            return Hostile("PATCH", path, headers, text)
        return self.sent("PATCH", path, text, media)

    def operations(self, obj: dict[str, Data]) -> Data:
        rng = self.rng
        paths = ["/" + "/".join(_escaped(step) for step in place) for place in places(obj)]
        paths += [
            "",
            "/",
            "/metadata/labels/a~1b",
            "/spec/-",
            "/metadata/~2",
            "/spec/99999999999",
            "/spec/-1",
            "nosuch",
        ]
        count = rng.choice([1, 1, 2, 5, 20] if rng.random() < 0.97 else [3000, 10_001])
        made: list[Data] = [
            {
                "op": rng.choice(["add", "remove", "replace", "move", "copy", "test", "frob", None]),
                "path": rng.choice(paths),
                "from": rng.choice(paths),
                "value": rng.choice(VALUES[:60]) if count > 100 else rng.choice(VALUES),
            }
            for _ in range(count)
        ]
        if rng.random() < 0.02:
            made = [{"op": "copy", "from": "/metadata", "path": "/metadata/annotations"}] * 3000
        elif rng.random() < 0.02:
            made = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "x" * 1000}}]
            made += [
                {"op": "copy", "from": "/metadata/annotations", "path": f"/metadata/annotations/b{n}"}
                for n in range(40)
            ]
        return made if rng.random() < 0.9 else self.spoiled(made)

    def direct(self, body: dict[str, Data]) -> None:
        """Strategic merge directives where they may and may not stand."""
        rng = self.rng
        for holder in [body, *(value for value in body.values() if isinstance(value, dict))]:
            if rng.random() < 0.5:
                name = rng.choice(
                    [
                        "$patch",
                        "$retainKeys",
                        "$setElementOrder/containers",
                        "$deleteFromPrimitiveList/finalizers",
                    ]
                )
                holder[name] = rng.choice(
                    ["replace", "delete", "merge", "x", None, [], ["name"], [{"name": "app"}], {}, 5]
                )

    def spoiled(self, obj: Data, schema: Schema | None = None) -> Data:
        """The data with a few places changed. Now and then nothing is, so that something is written.

        With a schema, most changes are of the right type: they pass the decoder and meet the rules behind it.
        """
        rng = self.rng
        if schema is not None and isinstance(obj, dict) and rng.random() < 0.6:
            for _ in range(rng.choice([1, 1, 2, 4])):
                self.grow(obj, schema)
            return obj
        for _ in range(rng.choice([0, 0, 1, 1, 2, 8])):
            found = list(places(obj))
            if not found:
                return rng.choice(VALUES)
            obj = self.change(obj, rng.choice(found))
        return obj

    def grow(self, obj: dict[str, Data], schema: Schema) -> None:
        """Set a field that the schema has, somewhere in the object, to some value of its type."""
        rng = self.rng
        while schema.fields:
            name = rng.choice(sorted(schema.fields))
            inner, there = schema.fields[name], obj.get(name)
            if isinstance(there, list) and there and isinstance(there[0], dict) and rng.random() < 0.8:
                inner, there = inner.items, rng.choice(there)
            if isinstance(there, dict) and inner.fields and rng.random() < 0.9:
                obj, schema = there, inner
                continue
            obj[name] = self.typed(inner, 3)
            return

    def typed(self, schema: Schema, depth: int) -> Data:
        """Some value of a schema."""
        rng = self.rng
        match schema.shape:
            case "object" | "map" if depth == 0:
                return {}
            case "object":
                names = rng.sample(sorted(schema.fields), min(len(schema.fields), rng.randrange(4)))
                return {name: self.typed(schema.fields[name], depth - 1) for name in names}
            case "map":
                return {
                    rng.choice(TEXTS): self.typed(schema.items, depth - 1) for _ in range(rng.randrange(3))
                }
            case "list":
                return [self.typed(schema.items, depth - 1) for _ in range(rng.randrange(3))]
            case "integer":
                return rng.choice([0, 1, -1, 80, 65536, 2**31 - 1, -(2**31)])
            case "number":
                return rng.choice([0, 1.5, -2.5, 1e300])
            case "boolean":
                return rng.random() < 0.5
            case "bytes":
                return rng.choice(["", "YQ==", "AA" * 40])
            case "time" | "micro_time":
                return rng.choice(
                    ["2026-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59+14:00", None]
                )
            case "quantity":
                return rng.choice(["0", "1", "-1", "500m", "1Gi", "1e100", "0.000000001n", 5, "9" * 30])
            case "int_or_string":
                return rng.choice([0, -1, 8080, "http", "25%", "-5%", "", "x" * 70])
            case "any":
                return rng.choice(VALUES)
            case _:
                return rng.choice(TEXTS)

    def change(self, obj: Data, place: tuple[Any, ...]) -> Data:
        rng = self.rng
        holder = obj
        for step in place[:-1]:
            holder = holder[step]
        key, value = place[-1], rng.choice(VALUES)
        match rng.randrange(6):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[rng.choice([str(key) + "x", str(key).upper(), "nosuch", ""])] = holder[key]
            case 2 if isinstance(holder, list):
                holder.extend(copy(holder[:20]))
            case 3:
                holder[key] = [copy(holder[key])]
            case _:
                holder[key] = copy(value)
        return obj

    def body(self, data: Data) -> tuple[bytes, str]:
        """Data as bytes and the media type it is sent under."""
        rng = self.rng
        draw = rng.random()
        if draw < 0.04:
            return self.bomb(), "application/yaml"
        if draw < 0.08:
            return b"[" * 100_000, "application/json"
        if draw < 0.2:
            return self.torn(self.text(data)), rng.choice(["application/json", "application/yaml"])
        if draw < 0.3:
            return self.text(data), "application/yaml"
        return self.text(data), "application/json"

    def text(self, data: Data) -> bytes:
        rng = self.rng
        text = json.dumps(data).encode()
        draw = rng.random()
        if draw < 0.03:
            return text.replace(b"null", b"NaN").replace(b"true", b"Infinity")
        if draw < 0.06:
            return text.replace(b'"metadata"', b'"metadata":{},"metadata"', 1)
        if draw < 0.08:
            return text.replace(b'"name"', b'"name\xff\xfe"', 1)
        if draw < 0.1:
            return text.replace(b"1", b"1" * 400)
        return text

    def torn(self, body: bytes) -> bytes:
        """Bytes with a few of them changed, lost or doubled."""
        rng, held = self.rng, bytearray(body)
        for _ in range(rng.choice([0, 1, 2, 5])):
            if not held:
                break
            spot = rng.randrange(len(held))
            match rng.randrange(4):
                case 0:
                    held[spot] = rng.randrange(256)
                case 1:
                    del held[spot:]
                case 2:
                    held[spot:spot] = held[: rng.randrange(40)]
                case _:
                    del held[spot : spot + rng.randrange(1, 9)]
        return bytes(held)

    def bomb(self) -> bytes:
        """YAML whose aliases unfold to more than any memory holds, or that refers to itself."""
        if self.rng.random() < 0.3:
            return b"apiVersion: v1\nkind: ConfigMap\nmetadata: &a {name: x, labels: *a}\n"
        lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
        lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
        return "\n".join(["apiVersion: v1", "kind: ConfigMap", *lines]).encode()


def places(value: Data, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where there is something in the data: the ways to it, bounded."""
    found: list[tuple[Any, ...]] = []
    waiting = [(value, before)]
    while waiting and len(found) < 400:
        here, way = waiting.pop()
        steps = here.items() if isinstance(here, dict) else enumerate(here) if isinstance(here, list) else ()
        for step, inner in steps:
            found.append((*way, step))
            if isinstance(inner, dict | list):
                waiting.append((inner, (*way, step)))
    return found


def _escaped(step: Any) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")
