"""ingress-nginx in a pod, with backends in other pods."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from cryptography import x509

from simcloud.kubernetes.host import Leaf, sign
from simcloud.kubernetes.network.ingress import ingress_image, ingress_objects
from simcloud.kubernetes.network.ingress.image import TOKEN
from simcloud.machine.computer import Machine
from simcloud.machine.network import Connection, ConnectionRefused, Namespace
from simcloud.machine.network.http import HttpRequest, HttpResponse, respond
from simcloud.machine.process import Container, Signal
from simcloud.userland.images import operator_image
from tests.simcloud.kubernetes.network.conftest import World

FAKE = "Kubernetes Ingress Controller Fake Certificate"
ANNOTATION = "nginx.ingress.kubernetes.io/"


class Site:
    """A world with the controller on node 1, and a user outside."""

    def __init__(self, *options: str, binding: bool = True) -> None:
        self.world = world = World()
        for obj in ingress_objects():
            if binding or obj["kind"] != "ClusterRoleBinding":
                world.client.create(obj)
        namespace = world.pod("controller", 1, "ingress-nginx")
        self.address = namespace.address
        self.container: Container = world.machines[1].create_container(
            "controller", ingress_image(world.api), namespace=namespace
        )
        account = world.client.get("serviceaccounts", "ingress-nginx", "ingress-nginx")
        assert account is not None
        token = world.api.tokens.issue(account, now_s=world.api.now_s, expires_s=3600, token_id="1")
        self.container.files.mkdir(TOKEN.rpartition("/")[0], parents=True)
        self.container.files.put(TOKEN, token.encode())
        self.process = self.container.start(
            ["nginx-ingress-controller", *options],
            env={"POD_NAME": "controller", "POD_NAMESPACE": "ingress-nginx"},
        )
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
        self.world.settle(4)

    def get(self, host: str, path: str = "/", protocol: str = "http", method: str = "GET") -> HttpResponse:
        async def work() -> HttpResponse:
            port = 443 if protocol == "https" else 80
            connection = await self.user.dial(self.address, port, protocol, 2.0)
            connection.send(HttpRequest(method, path, {"Host": host}))
            response: HttpResponse = await connection.receive(300.0)
            connection.close()
            return response

        return self.world.run(work())

    def change_ingress(self, name: str, **spec: Any) -> None:
        found = self.world.client.get("ingresses.networking.k8s.io", "demo", name)
        assert found is not None
        self.world.client.edit(found, lambda changed: changed["spec"].update(spec))
        self.world.settle(4)

    def shown(self, host: str) -> str:
        """The common name of the certificate for a host."""
        listener = self.container.namespace.listener_at(self.address, 443)
        assert listener is not None
        subject = x509.load_pem_x509_certificate(listener.get_certificate(host)).subject
        return str(subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)[0].value)

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
            "shop.test",
            ("/", "Prefix", "web"),
            ("/api", "Prefix", "api"),
            ("/api/exact", "Exact", "exact"),
            ("/v2", "ImplementationSpecific", "any"),
        ),
        rule("*.wild.test", ("/", "Prefix", "any")),
    )
    assert site.body("shop.test") == "web-0"
    assert site.body("shop.test", "/api/users?id=3") == "api-0"
    assert site.body("shop.test", "/apis") == "web-0"
    assert site.body("shop.test", "/v2beta") == "any-0"
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
    assert 'controller.go:1232] Service "demo/empty" does not have any active Endpoint.' in site.log()
    missing = (
        'Error obtaining Endpoints for Service "demo/gone": no object matching key "demo/gone" in local store'
    )
    assert missing in site.log()
    assert "[demo-gone-80] [] - - - - " in site.log().splitlines()[-1]


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
    assert 20.9 < site.world.kernel.now - before < 22
    assert "[demo-web-80] [] 10.244.2.2:8080, 10.244.2.2:8080, 10.244.2.2:8080 0, 0, 0 7.0" in site.log()
    assert "504, 504, 504" in site.log()


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


def test_the_ingress_gets_its_address_within_a_minute_and_an_event_for_every_change() -> None:
    site = Site("--publish-status-address=192.0.2.80")
    site.backend("web")
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")))
    assert [event["reason"] for event in site.world.client.list("events", "demo")] == ["Sync"]
    site.world.settle(60)
    found = site.world.client.get("ingresses.networking.k8s.io", "demo", "i")
    assert found is not None and found["status"] == {"loadBalancer": {"ingress": [{"ip": "192.0.2.80"}]}}
    event = site.world.client.list("events", "demo")[0]
    assert (event["message"], event["count"]) == ("Scheduled for sync", 2)
    lease = site.world.client.get("leases.coordination.k8s.io", "ingress-nginx", "ingress-controller-leader")
    assert lease is not None and lease["spec"]["holderIdentity"] == "controller"


def test_the_last_controller_removes_the_addresses() -> None:
    site = Site("--publish-status-address=192.0.2.80")
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")))
    site.world.settle(60)
    site.process.send(Signal.TERM)
    site.world.settle(12)
    found = site.world.client.get("ingresses.networking.k8s.io", "demo", "i")
    assert found is not None and found["status"] == {"loadBalancer": {}}
    assert not site.process.alive and site.process.status == 0


def test_nginx_is_reloaded_for_new_paths_but_not_for_new_endpoints(site: Site) -> None:
    def count_reloads() -> int:
        events = site.world.client.list("events", "ingress-nginx")
        return sum(event["count"] for event in events if event["reason"] == "RELOAD")

    site.world.service("web")
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")))
    assert (count_reloads(), site.get("a.test").status) == (2, 503)
    pod = site.world.pod("late", node=2)
    pod.listen(8080, "http").on_accept = site._answerer("late", False)
    site.world.endpoints("web", pod)
    site.world.settle(4)
    assert (count_reloads(), site.body("a.test")) == (2, "late")
    assert site.log().count('"Configuration changes detected, backend reload required"') == 2


def test_nothing_is_served_without_permissions() -> None:
    site = Site(binding=False)
    with pytest.raises(ConnectionRefused):
        site.get("a.test")
    refused = r"ingressclasses.networking.k8s.io is forbidden: User \"system:serviceaccount:ingress-nginx:ingress-nginx\""
    assert f'"Failed to watch" err="failed to list *v1.IngressClass: {refused}' in site.log()
    site.world.client.create(next(obj for obj in ingress_objects() if obj["kind"] == "ClusterRoleBinding"))
    site.world.settle(30)
    assert site.get("a.test").status == 404


def test_an_ingress_of_another_class_is_left_alone(site: Site) -> None:
    site.backend("web")
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")), ingressClassName="traefik")
    assert site.get("a.test").status == 404
    ignored = '"Ignoring ingress because of error while validating ingress class" ingress="demo/i"'
    assert rf'{ignored} error="no object matching key \"traefik\" in local store"' in site.log()
    site.change_ingress("i", ingressClassName="nginx")
    assert site.body("a.test") == "web-0"
    assert '"creating ingress" ingress="demo/i" ingressclass="nginx"' in site.log()
    site.change_ingress("i", ingressClassName="traefik")
    assert site.get("a.test").status == 404
    assert '"removing ingress because of unknown ingressclass" ingress="demo/i"' in site.log()


def issue(host: str, now_s: float, days: float = 365.0) -> dict[str, str]:
    """The data of a Secret with a certificate that ends in so many days."""
    made = sign(
        Leaf("", host, serves=True, names=(host,)),
        b"x" * 32,
        None,
        now_s - 400 * 86_400,
        now_s + days * 86_400,
    )
    return {
        name: b64encode(part).decode()
        for name, part in (("tls.crt", made.certificate), ("tls.key", made.key))
    }


def test_each_host_has_its_certificate_or_the_default_one(site: Site) -> None:
    now_s = site.world.api.now_s
    for name, data in (
        ("good", issue("good.test", now_s)),
        ("wrong", issue("other.test", now_s)),
        ("old", issue("old.test", now_s, -1)),
        ("soon", issue("soon.test", now_s, 3)),
        ("bad", {"tls.crt": "eHg=", "tls.key": "eHg="}),
    ):
        site.world.create("v1", "Secret", name, type="kubernetes.io/tls", data=data)
    names = ("good", "wrong", "old", "soon", "bad", "gone")
    site.ingress(
        "i",
        *(rule(f"{name}.test", ("/", "Prefix", "web")) for name in names),
        tls=[{"hosts": [f"{name}.test"], "secretName": name} for name in names],
    )
    shown = {name: site.shown(f"{name}.test") for name in names}
    assert shown == {"good": "good.test", "old": "old.test", "soon": "soon.test"} | dict.fromkeys(
        ("wrong", "bad", "gone"), FAKE
    )
    log = site.log()
    missing = "local SSL certificate demo/gone was not found. Using default certificate"
    assert f'Error getting SSL certificate "demo/gone": {missing}' in log
    assert 'Error obtaining X.509 certificate: no object matching key "demo/gone" in local store' in log
    assert "unexpected error creating SSL Cert: no valid PEM formatted block found" in log
    mismatch = "x509: certificate is valid for other.test, not wrong.test"
    assert (
        f'Unexpected error validating SSL certificate "demo/wrong" for server "wrong.test": {mismatch}' in log
    )
    assert 'SSL certificate for server "old.test" expired (20' in log
    assert 'SSL certificate for server "soon.test" is about to expire (20' in log


def test_a_secret_that_cannot_be_read_leaves_the_earlier_certificate_until_it_is_deleted(site: Site) -> None:
    site.world.create("v1", "Secret", "s", data=issue("a.test", site.world.api.now_s))
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")), tls=[{"hosts": ["a.test"], "secretName": "s"}])
    secret = site.world.client.get("secrets", "demo", "s")
    assert secret is not None and site.shown("a.test") == "a.test"
    site.world.client.edit(secret, lambda changed: changed.update(data={"tls.crt": "eHg="}))
    site.world.settle(4)
    assert site.shown("a.test") == "a.test"
    assert 'secret "demo/s" contains no keypair or CA certificate' in site.log()
    site.world.client.delete(secret)
    site.world.settle(4)
    assert site.shown("a.test") == FAKE
    assert '"secret was deleted and it is used in ingress annotations. Parsing" secret="demo/s"' in site.log()


def test_every_request_is_in_the_access_log(site: Site) -> None:
    site.backend("web")
    site.ingress("i", rule("a.test", ("/", "Prefix", "web")))
    site.body("a.test", "/page")
    line = site.log().splitlines()[-1]
    assert '"GET /page HTTP/1.1" 200 5 "-" "-"' in line and "[demo-web-80] [] 10.244.2.2:8080 5 " in line
