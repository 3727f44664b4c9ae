"""What is true of the HTTP itself: media types, codes, headers and bodies, byte for byte where a client could see it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import yaml

from simcloud.kubernetes.cluster import Cluster
from simcloud.server.kubernetes import logs, protobuf
from simcloud.sim import Kernel
from simcloud.world import World, add_cluster
from tests.simcloud.server.kubernetes.in_process import Answer, Door

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
TABLE = f"{JSON};as=Table;g=meta.k8s.io;v=v1"
NAMESPACE = "/api/v1/namespaces/default"
NOT_ALLOWED = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "the server does not allow this method on the requested resource",
    "reason": "MethodNotAllowed",
    "details": {},
    "code": 405,
}


@pytest.fixture(scope="module")
def ask() -> Door:
    door = Door(Cluster(Kernel(1)).api)
    for name in ("a", "b", "c", "d", "e"):
        body = {"metadata": {"name": name, "labels": {"of": "test"}}, "data": {"sign": "<&>"}}
        assert door("POST", f"{NAMESPACE}/configmaps", body).code == 201
    return door


def status(answer: Answer) -> tuple[int, str, str]:
    reply = answer.json()
    assert (reply["kind"], reply["status"], reply["code"]) == ("Status", "Failure", answer.code)
    return answer.code, reply.get("reason", ""), reply["message"]


# Forms.


def test_an_object_in_every_form(ask: Door) -> None:
    plain = ask("GET", NAMESPACE)
    assert plain.header("content-type") == JSON
    assert plain.body.endswith(b"}\n")
    in_yaml = ask("GET", NAMESPACE, headers={"accept": YAML})
    assert in_yaml.header("content-type") == YAML
    assert yaml.safe_load(in_yaml.body) == plain.json()
    packed = ask("GET", NAMESPACE, headers={"accept": PROTOBUF})
    assert packed.header("content-type") == PROTOBUF
    assert protobuf.decode(packed.body) == plain.json()


def test_metadata_stands_in_gos_order_and_html_is_escaped(ask: Door) -> None:
    stored = ask("GET", f"{NAMESPACE}/configmaps/a")
    names = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "labels", "managedFields"]
    assert list(stored.json()["metadata"]) == names
    assert rb'"sign":"\u003c\u0026\u003e"' in stored.body


def test_items_of_a_list_do_not_repeat_their_kind(ask: Door) -> None:
    listed = ask("GET", f"{NAMESPACE}/configmaps").json()
    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    assert all(list(item) == ["metadata", "data"] for item in listed["items"])
    assert list(ask("GET", f"{NAMESPACE}/configmaps/a").json())[:2] == ["kind", "apiVersion"]


def test_a_table(ask: Door) -> None:
    table = ask("GET", "/api/v1/namespaces", headers={"accept": TABLE}).json()
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Status", "Age"]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    bare = ask("GET", "/api/v1/namespaces?includeObject=None", headers={"accept": TABLE}).json()
    assert bare["rows"][0]["object"] is None
    full = ask("GET", "/api/v1/namespaces?includeObject=Object", headers={"accept": TABLE}).json()
    assert full["rows"][0]["object"]["kind"] == "Namespace"
    assert status(ask("GET", "/api/v1/namespaces?includeObject=x", headers={"accept": TABLE})) == (
        400,
        "BadRequest",
        "Unable to convert to Table as requested: includeObject: Invalid value: \"x\": must be 'Metadata', 'Object', "
        "'None', or empty",
    )


def test_metadata_only(ask: Door) -> None:
    accept = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    one = ask("GET", NAMESPACE, headers={"accept": accept}).json()
    assert (one["kind"], sorted(one)) == ("PartialObjectMetadata", ["apiVersion", "kind", "metadata"])
    listed = ask(
        "GET", "/api/v1/namespaces", headers={"accept": accept.replace("Metadata;", "MetadataList;")}
    )
    assert listed.json()["kind"] == "PartialObjectMetadataList"
    assert status(ask("GET", "/api/v1/namespaces", headers={"accept": accept})) == (
        406,
        "NotAcceptable",
        "you requested PartialObjectMetadata, but the requested object is a list (*core.NamespaceList)",
    )


def test_the_most_wanted_form_wins(ask: Door) -> None:
    def chosen(accept: str) -> str:
        return ask("GET", NAMESPACE, headers={"accept": accept}).header("content-type")

    assert chosen(f"{JSON};q=0.1, {YAML}") == YAML
    assert chosen(f"text/html, {YAML}, */*") == YAML
    assert chosen("text/html, */*") == JSON
    assert chosen(f"{PROTOBUF};as=Table;g=meta.k8s.io;v=v1, {JSON}") == JSON
    assert status(ask("GET", NAMESPACE, headers={"accept": "text/html"})) == (
        406,
        "NotAcceptable",
        f"only the following media types are accepted: {JSON}, {YAML}, {PROTOBUF}",
    )


def test_answers_to_people_are_laid_out(ask: Door) -> None:
    shown = ask("GET", NAMESPACE, headers={"user-agent": "curl/8.5.0"}).body
    assert shown.startswith(b'{\n  "kind": "Namespace",\n') and shown.endswith(b"\n}")
    assert ask("GET", f"{NAMESPACE}?pretty=true").body == shown
    assert b"\n  " not in ask("GET", f"{NAMESPACE}?pretty=x").body
    assert b"\n  " not in ask("GET", f"{NAMESPACE}?pretty=false", headers={"user-agent": "curl/8.5.0"}).body


def test_refusals_come_in_the_form_asked_for(ask: Door) -> None:
    missing = f"{NAMESPACE}/configmaps/none"
    plain = ask("GET", missing).json()
    assert yaml.safe_load(ask("GET", missing, headers={"accept": YAML}).body) == plain
    assert protobuf.decode(ask("GET", missing, headers={"accept": PROTOBUF}).body) == plain
    assert ask("GET", missing, headers={"accept": TABLE}).json() == plain
    assert ask("GET", missing, headers={"user-agent": "curl/8"}).body == json.dumps(plain, indent=2).encode()


# Refusals, whole.


@pytest.mark.parametrize("path", ["/nosuch", "/debug", "/api/v1/nosuch", "/apis/no.such/v1/things", "/api/v2",
                                  f"{NAMESPACE}/pods/a/nosuch", f"{NAMESPACE}/nodes", f"{NAMESPACE}/namespaces/x"])  # fmt: skip
def test_paths_that_lead_nowhere(ask: Door, path: str) -> None:
    lost = ask("GET", path)
    assert (lost.code, lost.body) == (404, b"404 page not found\n")
    assert lost.header("content-type") == "text/plain; charset=utf-8"
    assert lost.header("x-content-type-options") == "nosniff"


def test_missing_objects(ask: Door) -> None:
    assert ask("GET", f"{NAMESPACE}/configmaps/none").body == (
        b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
        b'"message":"configmaps \\"none\\" not found","reason":"NotFound",'
        b'"details":{"name":"none","kind":"configmaps"},"code":404}\n'
    )
    assert ask("GET", "/apis/apps/v1/namespaces/default/deployments/none").json()["details"] == {
        "name": "none",
        "group": "apps",
        "kind": "deployments",
    }


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", NAMESPACE),
        ("PUT", f"{NAMESPACE}/configmaps"),
        ("PATCH", f"{NAMESPACE}/configmaps"),
        ("POST", "/api/v1/pods"),
        ("DELETE", "/api/v1/componentstatuses"),
        ("FROB", NAMESPACE),
        ("POST", "/healthz"),
    ],
)
def test_methods_that_are_not_offered(ask: Door, method: str, path: str) -> None:
    assert ask(method, path, b"{}").json() == NOT_ALLOWED


def test_nobody_known_and_nobody_allowed(ask: Door) -> None:
    assert ask("GET", NAMESPACE, headers={"authorization": "Bearer wrong"}).body == (
        b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized",'
        b'"reason":"Unauthorized","code":401}\n'
    )
    assert ask("GET", f"{NAMESPACE}/pods", headers={"authorization": ""}).body == (
        b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
        b'"message":"pods is forbidden: User \\"system:anonymous\\" cannot list resource \\"pods\\" in API group \\"\\" '
        b'in the namespace \\"default\\"","reason":"Forbidden","details":{"kind":"pods"},"code":403}\n'
    )
    assert ask("GET", "/metrics", headers={"authorization": ""}).body == (
        b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
        b'"message":"forbidden: User \\"system:anonymous\\" cannot get path \\"/metrics\\"","reason":"Forbidden",'
        b'"details":{},"code":403}\n'
    )


def test_bodies_that_are_not_read(ask: Door) -> None:
    assert ask("POST", "/api/v1/namespaces", b"x" * (3 * 1024 * 1024 + 1)).body == (
        b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
        b'"message":"Request entity too large: limit is 3145728","reason":"RequestEntityTooLarge","code":413}\n'
    )
    assert status(ask("POST", "/api/v1/namespaces", b"{}", headers={"content-type": "text/plain"})) == (
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        f"{JSON}, {YAML}, {PROTOBUF}",
    )
    assert status(ask("PATCH", NAMESPACE, b"{}", headers={"content-type": JSON}))[2].endswith(
        "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, "
        "application/apply-patch+yaml"
    )


def test_nothing_is_written_when_the_answer_cannot_be_told(ask: Door) -> None:
    before = ask.api.log.revision
    for accept in (
        "text/html",
        f"{PROTOBUF};as=Table;g=meta.k8s.io;v=v1",
        f"{JSON};as=Table;g=meta.k8s.io;v=v9",
    ):
        body = {"metadata": {"name": "never"}}
        assert ask("POST", f"{NAMESPACE}/configmaps", body, headers={"accept": accept}).code == 406
    assert ask.api.log.revision == before


# Headers.


def test_headers_of_every_answer(ask: Door) -> None:
    for path in (NAMESPACE, "/healthz", "/nosuch", f"{NAMESPACE}/configmaps/none"):
        assert ask("GET", path).header("cache-control") == "no-cache, private"


def test_warnings(ask: Door) -> None:
    listed = ask("GET", f"{NAMESPACE}/endpoints")
    assert listed.header("warning") == (
        '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
    )
    body = {"metadata": {"name": "warned"}, "datum": {}, "dato": {}}
    made = ask("POST", f"{NAMESPACE}/configmaps?dryRun=All", body)
    assert [value for name, value in made.headers if name == "warning"] == [
        '299 - "unknown field \\"datum\\""',
        '299 - "unknown field \\"dato\\""',
    ]


def test_head_has_the_code_and_the_headers_of_get(ask: Door) -> None:
    for path, code in ((NAMESPACE, 200), (f"{NAMESPACE}/configmaps/none", 404), ("/healthz", 200)):
        assert ask("HEAD", path).code == code


def test_aggregated_discovery_is_fetched_once(ask: Door) -> None:
    accept = f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    first = ask("GET", "/apis", headers={"accept": accept})
    assert first.header("content-type") == accept
    assert first.header("vary") == "Accept"
    tag = first.header("etag")
    again = ask("GET", "/apis", headers={"accept": accept, "if-none-match": tag})
    assert (again.code, again.body, again.header("etag")) == (304, b"", tag)
    definition = {
        "metadata": {"name": "gears.tag.example"},
        "spec": {
            "group": "tag.example",
            "scope": "Cluster",
            "names": {"plural": "gears", "kind": "Gear"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert ask("POST", path, definition).code == 201
    assert ask("GET", "/apis", headers={"accept": accept, "if-none-match": tag}).code == 200
    assert ask("DELETE", f"{path}/gears.tag.example").code == 200
    assert ask("GET", "/apis", headers={"accept": accept, "if-none-match": tag}).code == 304


# Paths that are no objects.


def test_health_and_version(ask: Door) -> None:
    for path in ("/healthz", "/livez", "/readyz", "/readyz/ping", "/livez/etcd"):
        assert (ask("GET", path).code, ask("GET", path).body) == (200, b"ok")
    verbose = ask("GET", "/readyz?verbose").body.decode().splitlines()
    assert verbose[0] == "[+]ping ok" and verbose[-1] == "readyz check passed"
    reply = ask("GET", "/version")
    assert reply.json()["gitVersion"] == "v1.36.4"
    assert reply.body.startswith(b'{\n  "major": "1",\n') and reply.body.endswith(b"\n}")
    paths = ask("GET", "/").json()["paths"]
    assert all(ask("GET", path).code == 200 for path in paths)


# Lists and watches.


def test_pages_of_a_list(ask: Door) -> None:
    path = f"{NAMESPACE}/configmaps?limit=2&labelSelector=of%3Dtest"
    names, token, pages = [], "", 0
    while True:
        page = ask("GET", f"{path}&continue={token}").json()
        names += [item["metadata"]["name"] for item in page["items"]]
        token, pages = page["metadata"].get("continue", ""), pages + 1
        if not token:
            break
    assert (names, pages) == (["a", "b", "c", "d", "e"], 3)
    first = ask("GET", f"{NAMESPACE}/configmaps?limit=2").json()["metadata"]
    assert first["remainingItemCount"] == 3


MATCH = "resourceVersionMatch"


@pytest.mark.parametrize(
    ("query", "code", "said"),
    [
        ("resourceVersionMatch=Exact", 422, f"{MATCH}: Forbidden: {MATCH} is forbidden unless resourceVersion is provided"),
        ("resourceVersionMatch=Foo&resourceVersion=1", 422,
         f'{MATCH}: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""'),
        ("resourceVersionMatch=Exact&resourceVersion=0", 422,
         f'{MATCH}: Forbidden: {MATCH} "exact" is forbidden for resourceVersion "0"'),
        ("resourceVersionMatch=NotOlderThan&resourceVersion=1&continue=x", 422,
         f"{MATCH}: Forbidden: {MATCH} is forbidden when continue is provided"),
        ("sendInitialEvents=true", 422, "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
        ("watch=1&resourceVersionMatch=NotOlderThan", 422,
         f"{MATCH}: Forbidden: {MATCH} is forbidden for watch unless sendInitialEvents is provided"),
        ("watch=1&sendInitialEvents=true", 422,
         f"{MATCH}: Forbidden: sendInitialEvents requires setting {MATCH} to NotOlderThan"),
        ("resourceVersion=999999999", 504, "Timeout: Too large resource version: 999999999, current: "),
        ("continue=x", 400, "continue key is not valid: "),
        ("continue=x&resourceVersion=5", 400, "specifying resource version is not allowed when using continue"),
        ("limit=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("labelSelector=a+in+(", 400, "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("fieldSelector=spec.x%3D1", 400, "field label not supported: spec.x"),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense(ask: Door, query: str, code: int, said: str) -> None:
    answer = ask("GET", f"/api/v1/namespaces?{query}")
    assert answer.code == code
    assert said in status(answer)[2]


def test_watches_by_parameter_and_by_the_old_paths(ask: Door) -> None:
    for path in (f"{NAMESPACE}/configmaps?watch=true", "/api/v1/watch/namespaces/default/configmaps"):
        watched = ask("GET", path)
        assert watched.header("content-type") == JSON
        events = [json.loads(line) for line in watched.body.splitlines()]
        assert [event["type"] for event in events] == ["ADDED"] * 5
        assert events[0]["object"]["kind"] == "ConfigMap"
    one = ask("GET", "/api/v1/watch/namespaces/default/configmaps/b").body.splitlines()
    assert [json.loads(line)["object"]["metadata"]["name"] for line in one] == ["b"]
    tables = ask("GET", f"{NAMESPACE}/configmaps?watch=true", headers={"accept": TABLE}).body.splitlines()
    assert [bool(json.loads(line)["object"]["columnDefinitions"]) for line in tables] == [True, *[False] * 4]


def test_watches_that_were_left_are_forgotten(ask: Door) -> None:
    before = ask.api.log.listeners
    for _ in range(30):
        assert ask("GET", f"{NAMESPACE}/configmaps?watch=true&timeoutSeconds=600").code == 200
        assert (
            ask("GET", f"{NAMESPACE}/configmaps?watch=true&resourceVersion=1&allowWatchBookmarks=true").code
            == 200
        )
    assert ask.api.log.listeners == before


def test_a_watch_in_protobuf(ask: Door) -> None:
    watched = ask("GET", f"{NAMESPACE}/configmaps?watch=true", headers={"accept": PROTOBUF})
    assert watched.header("content-type") == f"{PROTOBUF};stream=watch"
    length = int.from_bytes(watched.body[:4], "big")
    event = watched.body[4 : 4 + length]
    assert event[:7] == b"\n\x05ADDED"
    assert protobuf.decode(event[event.index(b"k8s\0") :])["metadata"]["name"] == "a"
    refused = ask("GET", f"{NAMESPACE}/configmaps?watch=true", headers={"accept": YAML})
    assert (refused.code, yaml.safe_load(refused.body)["message"]) == (
        406,
        f"only the following media types are accepted: {JSON};stream=watch, {PROTOBUF};stream=watch",
    )


def test_a_log_is_whole_although_time_passes_before_it_is_sent() -> None:
    world = World(1, telemetry=False)
    cluster = add_cluster(world, 3)
    cluster.start()
    world.run_for(40)
    door = Door(cluster.api, meanwhile=lambda: world.run_for(1))
    path = "/api/v1/namespaces/kube-system/pods"
    names = [item["metadata"]["name"] for item in door("GET", path).json()["items"]]
    pod = next(name for name in names if name.startswith("kube-proxy"))
    whole = door("GET", f"{path}/{pod}/log").body
    assert whole.count(b"\n") > 10
    assert door("GET", f"{path}/{pod}/log?follow=true").body == whole


class EndlessLog:
    """A log that is written to until nobody wants it any more."""

    def __init__(self) -> None:
        self.on_data: Callable[[bytes], None] | None = None
        self.on_end: Callable[[], None] | None = None
        self.is_stopped = False

    def write(self) -> None:
        while not self.is_stopped:
            assert self.on_data is not None
            self.on_data(b"x" * 1000)

    def stop(self) -> None:
        self.is_stopped = True


def test_a_log_that_nobody_reads_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = EndlessLog()
    monkeypatch.setattr(logs, "open_log", lambda *_: endless)
    monkeypatch.setattr(logs, "MAX_UNREAD_BYTES", 2500)
    door = Door(Cluster(Kernel(1)).api, meanwhile=endless.write)
    assert door("GET", f"{NAMESPACE}/pods/any/log?follow=true").body == b"x" * 3000


def test_a_path_is_what_the_request_line_says(ask: Door) -> None:
    assert status(ask("GET", f"{NAMESPACE}/configmaps/a%3Fwatch=1"))[2] == 'configmaps "a?watch=1" not found'
    assert ask("GET", "/healthz", headers={"host": "x/api/v1/secrets?"}).body == b"ok"
