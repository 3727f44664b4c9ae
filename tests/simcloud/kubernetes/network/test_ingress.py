"""ingress-nginx on a node's ports, with backends in pods."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.network.ingress import ingress_image, ingress_objects
from simcloud.machine.computer import Machine
from simcloud.machine.network import Connection, Namespace
from simcloud.machine.network.http import HttpRequest, HttpResponse, respond
from simcloud.machine.process import Container
from simcloud.userland.images import operator_image
from tests.simcloud.kubernetes.network.conftest import World

ANNOTATION = "nginx.ingress.kubernetes.io/"


class Site:
    """A world with the controller on node 1, and a user outside."""

    def __init__(self) -> None:
        self.world = world = World()
        for obj in ingress_objects():
            world.client.create(obj)
        deployment = world.client.get("deployments.apps", "ingress-nginx", "ingress-nginx-controller")
        assert deployment is not None
        spec = deployment["spec"]["template"]["spec"]
        namespace = world.pod("controller", 1, "ingress-nginx", containers=copy(spec["containers"]))
        self.container: Container = world.machines[1].create_container(
            "controller", ingress_image(world.api), namespace=namespace
        )
        self.process = self.container.start(["nginx-ingress-controller", *spec["containers"][0]["args"]])
        machine = Machine(world.kernel, world.network, "user", "192.0.2.1", operator_image())
        self.user: Namespace = machine.host.namespace
        self.seen: list[HttpRequest] = []
        world.settle()

    def backend(self, name: str, pods: int = 1, address: str = "", silent: bool = False) -> list[Namespace]:
        made = []
        for number in range(pods):
            pod = self.world.pod(f"{name}-{number}", node=2)
            pod.listen(8080, "http").on_accept = self._answerer(f"{name}-{number}", silent)
            made.append(pod)
        self.world.service(name, address or f"10.96.50.{len(self.world.client.list('services'))}")
        self.world.endpoints(name, *made)
        return made

    def _answerer(self, name: str, silent: bool) -> Any:
        def accept(connection: Connection) -> None:
            def answer(request: HttpRequest) -> None:
                self.seen.append(request)
                if not silent:
                    connection.send(respond(200, name))

            connection.on_message = answer

        return accept

    def ingress(self, name: str, *rules: Any, annotations: dict[str, str] | None = None, **spec: Any) -> None:
        told = {f"{ANNOTATION}{key}": value for key, value in (annotations or {}).items()}
        self.world.create(
            "networking.k8s.io/v1",
            "Ingress",
            name,
            metadata={"annotations": told},
            spec={"ingressClassName": "nginx", "rules": list(rules), **spec},
        )
        self.world.settle(3)

    def get(self, host: str, path: str = "/", protocol: str = "http", method: str = "GET") -> HttpResponse:
        async def work() -> HttpResponse:
            port = 443 if protocol == "https" else 80
            connection = await self.user.dial("172.18.0.3", port, protocol, 2.0)
            connection.send(HttpRequest(method, path, {"Host": host}))
            response: HttpResponse = await connection.receive(300.0)
            connection.close()
            return response

        return self.world.run(work())

    def body(self, host: str, path: str = "/") -> str:
        return self.get(host, path).body.decode()

    def log(self) -> str:
        return self.world.machines[1].host.files.read("/var/log/containers/controller.log").decode()


def rule(host: str, *paths: tuple[str, str, str]) -> dict[str, Any]:
    """Paths as (path, type, service)."""
    return {
        **({"host": host} if host else {}),
        "http": {
            "paths": [
                {
                    "path": path,
                    "pathType": kind,
                    "backend": {"service": {"name": service, "port": {"number": 80}}},
                }
                for path, kind, service in paths
            ]
        },
    }


@pytest.fixture
def site() -> Site:
    return Site()


def test_hosts_and_paths_choose_the_backend(site: Site) -> None:
    for name in ("web", "api", "exact", "any"):
        site.backend(name)
    site.ingress(
        "shop",
        rule(
            "shop.test", ("/", "Prefix", "web"), ("/api", "Prefix", "api"), ("/api/exact", "Exact", "exact")
        ),
        rule("*.wild.test", ("/", "Prefix", "any")),
    )
    assert site.body("shop.test") == "web-0"
    assert site.body("shop.test", "/api/users?id=3") == "api-0"
    assert site.body("shop.test", "/apis") == "web-0"
    assert site.body("shop.test", "/api/exact") == "exact-0"
    assert site.body("shop.test", "/api/exact/more") == "api-0"
    assert site.body("SHOP.test:80") == "web-0"
    assert site.body("a.wild.test") == "any-0"
    assert site.seen[1].path == "/api/users?id=3"
    assert site.seen[1].header("x-forwarded-for") == "192.0.2.1"


def test_what_no_rule_knows_is_404(site: Site) -> None:
    response = site.get("nobody.test")
    assert (response.status, response.body.decode()) == (
        404,
        "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n"
        "<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n",
    )


def test_a_default_backend_takes_the_rest(site: Site) -> None:
    site.backend("rest")
    site.ingress("all", defaultBackend={"service": {"name": "rest", "port": {"number": 80}}})
    assert site.body("nobody.test") == "rest-0"


def test_a_service_without_endpoints_or_that_is_missing_is_503(site: Site) -> None:
    site.world.service("empty")
    site.ingress("i", rule("a.test", ("/", "Prefix", "empty"), ("/gone", "Prefix", "gone")))
    response = site.get("a.test")
    assert response.status == 503 and b"503 Service Temporarily Unavailable" in response.body
    assert site.get("a.test", "/gone").status == 503


def test_backends_that_refuse_are_502_and_tried_in_turn(site: Site) -> None:
    pods = site.backend("web", pods=2)
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")))
    pods[0].listener_at(pods[0].address, 8080).close()
    assert {site.body("a.test") for _ in range(4)} == {"web-1"}
    pods[1].destroy()
    pods[1].network.namespace("again", pods[1].address, pods[1].machine)
    response = site.get("a.test")
    assert response.status == 502 and b"502 Bad Gateway" in response.body
    assert "connect() failed (111: Connection refused) while connecting to upstream" in site.log()


def test_a_backend_that_says_nothing_is_504(site: Site) -> None:
    site.backend("web", silent=True)
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")), annotations={"proxy-read-timeout": "7"})
    before = site.world.kernel.now
    assert site.get("a.test").status == 504
    assert 6.9 < site.world.kernel.now - before < 8


def test_requests_are_spread_over_the_endpoints(site: Site) -> None:
    site.backend("web", pods=3)
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")))
    assert sorted(site.body("a.test") for _ in range(6)) == [
        "web-0",
        "web-0",
        "web-1",
        "web-1",
        "web-2",
        "web-2",
    ]


def test_paths_are_rewritten(site: Site) -> None:
    site.backend("web")
    site.ingress(
        "i",
        rule("a.test", ("/app(/|$)(.*)", "ImplementationSpecific", "web")),
        annotations={"rewrite-target": "/$2", "use-regex": "true"},
    )
    site.body("a.test", "/app/page?x=1")
    assert site.seen[-1].path == "/page?x=1"


def test_tls_hosts_are_redirected(site: Site) -> None:
    site.backend("web")
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")), tls=[{"hosts": ["a.test"], "secretName": "s"}])
    response = site.get("a.test", "/x")
    assert (response.status, response.header("location")) == (308, "https://a.test/x")
    assert site.get("a.test", "/x", "https").body == b"web-0"


def test_the_ingress_gets_its_address_and_an_event(site: Site) -> None:
    site.backend("web")
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")))
    found = site.world.client.get("ingresses.networking.k8s.io", "demo", "i")
    assert found is not None
    assert [each["hostname"] for each in found["status"]["loadBalancer"]["ingress"]] == ["localhost"]
    events = site.world.client.list("events", "demo")
    assert [(event["reason"], event["message"]) for event in events] == [("Sync", "Scheduled for sync")]


def test_an_ingress_of_another_class_is_left_alone(site: Site) -> None:
    site.backend("web")
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")), ingressClassName="traefik")
    assert site.get("a.test").status == 404


def test_every_request_is_in_the_access_log(site: Site) -> None:
    site.backend("web")
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")))
    site.body("a.test", "/page")
    line = site.log().splitlines()[-1]
    assert '"GET /page HTTP/1.1" 200 5 "-" "-"' in line and "[demo-web-80] [] 10.244.2.2:8080 5 " in line
