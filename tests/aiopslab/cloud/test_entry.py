"""Users enter by an ingress controller: what they and an operator see when all is well, and after each misconfiguration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud.environment import Environment
from aiopslab.orchestrator.preparation import get_baseline_key
from aiopslab.orchestrator.tasks import DetectionTask
from simcloud.world.copies import Copy

NAMESPACE = "test-hotel-reservation"
HOST = "hotel-reservation.example"
PATH = "/recommendations?require=price&lat=37.9&lon=-122.1"
URL = f"--resolve {HOST}:31443:172.18.0.3 'https://{HOST}:31443{PATH}'"
DAY_S = 86_400.0
LOGS = "kubectl -n ingress-nginx logs deploy/ingress-nginx-controller --tail=2000"

Shown = tuple[int, str]
"""Exit status and output."""


def enter(seed: int = 3) -> Environment:
    environment = Environment(HotelReservation(), seed, nodes=2, rate=10.0, entry="ingress")
    environment.settle()
    return environment


@pytest.fixture(scope="module")
def hotels() -> Iterator[Copy[Environment]]:
    with Copy.of(enter) as copy:
        yield copy


def run(environment: Environment, *lines: str) -> list[Shown]:
    """Type lines at the operator's terminal."""
    done = [environment.terminal().run(line) for line in lines]
    return [(result.status, (result.stdout + result.stderr).decode()) for result in done]


def replace_certificate(environment: Environment, name: str, begins_days: float, ends_days: float) -> None:
    """Put a certificate of the cluster's authority for a name into the Secret; it begins and ends so many days from now."""
    now_s = environment.cluster.api.now_s
    pair = environment.issue_certificate(name, now_s + begins_days * DAY_S, now_s + ends_days * DAY_S)
    for file, data in zip(("new.crt", "new.key"), pair, strict=True):
        environment.terminal().machine.host.files.put(f"/root/{file}", data)
    create = f"kubectl -n {NAMESPACE} create secret tls frontend-tls --cert=/root/new.crt --key=/root/new.key"
    run(environment, f"{create} --dry-run=client -o yaml | kubectl apply -f -")


def patch(path: str, value: str) -> str:
    operation = f'[{{"op":"replace","path":"{path}","value":{value}}}]'
    return f"kubectl -n {NAMESPACE} patch ingress frontend --type=json -p='{operation}'"


BACKEND = "/spec/rules/0/http/paths/0/backend/service"
FAKE = "SSL certificate problem: self-signed certificate"


class Symptom(NamedTuple):
    """A change, and what is seen after it: by users, by curl that verifies and one that does not, and in the log."""

    line: str
    users: str
    status: str
    log: str
    curl: str = ""
    certificate: tuple[str, float, float] | None = None


SYMPTOMS = {
    "wrong port": Symptom(
        patch(f"{BACKEND}/port/number", "8080"), "HTTP 503", "503", f"[{NAMESPACE}-frontend-8080] [] - - - - "
    ),
    "wrong service": Symptom(
        patch(f"{BACKEND}/name", '"frontnd"'),
        "HTTP 503",
        "503",
        f'Error obtaining Endpoints for Service "{NAMESPACE}/frontnd": no object matching key "{NAMESPACE}/frontnd" in local store',
    ),
    "another service": Symptom(
        patch(BACKEND, '{"name":"jaeger","port":{"number":16686}}'),
        "wrong answer",
        "200",
        f"[{NAMESPACE}-jaeger-16686] [] 10.244.",
    ),
    "port that refuses": Symptom(
        f"kubectl -n {NAMESPACE} patch service frontend --type=json "
        """-p='[{"op":"replace","path":"/spec/ports/0/targetPort","value":5001}]'""",
        "HTTP 502",
        "502",
        "connect() failed (111: Connection refused) while connecting to upstream",
    ),
    "no pods": Symptom(
        f"kubectl -n {NAMESPACE} scale deployment frontend --replicas=0",
        "HTTP 503",
        "503",
        f'Service "{NAMESPACE}/frontend" does not have any active Endpoint.',
    ),
    "wrong host": Symptom(
        patch("/spec/rules/0/host", '"hotels.example"'),
        f"connect: {FAKE}",
        "404",
        "[upstream-default-backend] [] 127.0.0.1:8181 146 0.000 404",
        FAKE,
    ),
    "wrong path": Symptom(
        patch("/spec/rules/0/http/paths/0/path", '"/api"'), "HTTP 404", "404", "upstream-default-backend"
    ),
    "unknown class": Symptom(
        patch("/spec/ingressClassName", '"ngnix"'),
        f"connect: {FAKE}",
        "404",
        f'"removing ingress because of unknown ingressclass" ingress="{NAMESPACE}/frontend"',
        FAKE,
    ),
    "missing secret": Symptom(
        f"kubectl -n {NAMESPACE} delete secret frontend-tls",
        f"connect: {FAKE}",
        "200",
        f'Error getting SSL certificate "{NAMESPACE}/frontend-tls": local SSL certificate {NAMESPACE}/frontend-tls was not '
        "found. Using default certificate",
        FAKE,
    ),
    "expired certificate": Symptom(
        "",
        "connect: SSL certificate problem: certificate has expired",
        "200",
        f'SSL certificate for server "{HOST}" expired (',
        "SSL certificate problem: certificate has expired",
        (HOST, -365.0, -1.0),
    ),
    "certificate of another host": Symptom(
        "",
        f"connect: {FAKE}",
        "200",
        f"x509: certificate is valid for shop.example, not {HOST}",
        FAKE,
        ("shop.example", -1.0, 364.0),
    ),
    "no permissions": Symptom(
        "kubectl delete clusterrolebinding ingress-nginx && kubectl -n ingress-nginx delete pod --all --grace-period=0 --force",
        "connect: Connection refused",
        "000",
        r'err="failed to list *v1.IngressClass: ingressclasses.networking.k8s.io is forbidden: User \"system:serviceaccount:',
        "Failed to connect to",
    ),
}


@pytest.mark.parametrize("name", SYMPTOMS)
@pytest.mark.slow(keep=3)
def test_each_misconfiguration_has_its_symptoms(hotels: Copy[Environment], name: str) -> None:
    symptom = SYMPTOMS[name]
    with hotels.branch() as episode:
        kinds, (status, error), insecure, found = episode.call(observe, symptom)
    assert kinds == [symptom.users]
    assert insecure == symptom.status
    assert found > 0
    if symptom.curl:
        assert symptom.curl in error and status == (60 if "SSL" in error else 7)
        assert ("curl failed to verify the legitimacy of the server" in error) == (status == 60)
    else:
        assert (status, error) == (0, "")


def observe(environment: Environment, symptom: Symptom) -> tuple[list[str], Shown, str, int]:
    """Make the change; a while later, return the users' errors, what curl shows with and without verifying, and a count of lines."""
    if symptom.certificate is not None:
        replace_certificate(environment, *symptom.certificate)
    if symptom.line:
        assert run(environment, symptom.line)[0][0] == 0
    environment.run_for(25.0)
    began_s = environment.now
    environment.run_for(10.0)
    kinds = environment.users.results.between(began_s, environment.now - 4.0).kinds
    curl, insecure, found = run(
        environment,
        f"curl -sS -o /dev/null {URL}",
        f"curl -sk -o /dev/null -w '%{{http_code}}' {URL}",
        f"{LOGS} | grep -cF -- '{symptom.log}'",
    )
    return sorted(kinds), curl, insecure[1], int(found[1])


def test_users_and_operators_are_served(hotels: Copy[Environment]) -> None:
    requests, errors, outside = hotels.call(measure)
    assert requests > 1_000 and errors == 0
    assert outside == 200
    with hotels.branch() as episode:
        ingress, curl, redirect, unknown, certificate, log, unverified = episode.call(
            run,
            "kubectl get ingress -A --no-headers",
            f"curl -sS {URL}",
            f"curl -sS -o /dev/null -w '%{{http_code}} %{{redirect_url}}' -H 'Host: {HOST}' http://172.18.0.2:31080/a",
            "curl -sk -o /dev/null -w '%{http_code}' https://172.18.0.2:31443/",
            f"openssl s_client -connect 172.18.0.2:31443 -servername {HOST} < /dev/null | openssl x509 -noout -subject -issuer",
            f"{LOGS} | grep -F '{PATH} '",
            f"curl -sS --cacert /root/.bash_history {URL}",
        )
    assert ingress[1].split()[:4] == [NAMESPACE, "frontend", "nginx", HOST] and "80, 443" in ingress[1]
    assert curl[0] == 0 and '"type":"FeatureCollection"' in curl[1]
    assert redirect[1] == f"308 https://{HOST}/a"
    assert unknown[1] == "404"
    assert certificate[1] == f"subject=CN = {HOST}\nissuer=CN = kubernetes\n"
    assert f'"GET {PATH} HTTP/1.1" 200 ' in log[1] and f"[{NAMESPACE}-frontend-5000] [] 10.244." in log[1]
    assert unverified[0] == 60 and "unable to get local issuer certificate" in unverified[1]


def measure(environment: Environment) -> tuple[int, int, int]:
    """Return the users' requests and errors, and the status that one outside the cluster gets."""
    line = f"curl -sk -o /dev/null -w '%{{http_code}}' {URL}"
    done = environment.world.shell("internet", line)
    users = environment.baseline.users
    return users.requests, users.errors, int(done.stdout)


def test_a_task_may_ask_for_it_and_then_has_its_own_baseline() -> None:
    usual, other = DetectionTask(HotelReservation()), DetectionTask(HotelReservation())
    other.entry = "ingress"
    assert get_baseline_key(usual, 1) != get_baseline_key(other, 1)
    assert f"https://{HOST}, by the ingress controller" in other.get_task_description()
    assert "ingress" not in usual.get_task_description()


@pytest.mark.slow
def test_one_seed_gives_one_run() -> None:
    first, second = (watch(enter(5)) for _ in range(2))
    assert first == second


def watch(environment: Environment) -> tuple[str, str, str]:
    observe(environment, SYMPTOMS["expired certificate"])
    log = run(environment, f"{LOGS} | sha256sum")[0][1]
    return log, environment.cluster.api.log.hash(), environment.world.fingerprint()
