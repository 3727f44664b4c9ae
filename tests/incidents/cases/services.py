"""What is done to Services: their ports, their selectors, their being there at all.

The back ends find each other in Consul by the addresses of pods, so that only the Services of the front door, of databases and
caches, of Consul and of Jaeger matter, and most of them only to a process that has yet to connect.
"""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.lines import CRASHING, RESTART
from tests.incidents.needs import EVERYONE, SERVICES, STORED, everyone_fine, its_users_fail
from tests.incidents.scene import failing_spans, logged, metric, no_spans, shows, users_fail

SAVE = "kubectl -n {ns} get service %s -o json | jq 'del(.metadata.resourceVersion, .metadata.uid)' > /tmp/service.json"
RESTORE = "kubectl apply -f /tmp/service.json"
RESTARTS = metric('sum(kube_pod_container_status_restarts_total{container="hotel-reserv-{t}"})', least=1)


def port(service: str, field: str, value: int) -> str:
    """The line that changes the first port of a Service."""
    change = f'[{{"op":"replace","path":"/spec/ports/0/{field}","value":{value}}}]'
    return f"kubectl -n {{ns}} patch service {service} --type=json -p '{change}'"


BREAKAGES = (
    Breakage(
        "wrong target port of a database",
        STORED,
        (port("mongodb-{t}", "targetPort", 27018), RESTART),
        (
            its_users_fail(),
            CRASHING,
            shows("kubectl -n {ns} get endpoints mongodb-{t}", r":27018"),
            logged('pod=~"{t}-.*"', "no reachable servers"),
            RESTARTS,
            failing_spans("frontend"),
        ),
        (port("mongodb-{t}", "targetPort", 27017), RESTART),
    ),
    Breakage(
        "wrong target port of a cache",
        ("rate", "profile"),
        (port("memcached-{t}", "targetPort", 11311), RESTART),
        (
            its_users_fail(),
            shows(
                "kubectl -n {ns} get pods -l io.kompose.service={t}",
                r"(Error|CrashLoopBackOff|Running) +[1-9]",
            ),
            shows("kubectl -n {ns} get endpoints memcached-{t}", r":11311"),
            logged('pod=~"{t}-.*"', r"dial tcp 10\.96\.\d+\.\d+:11211: connect: connection refused"),
            RESTARTS,
            failing_spans("frontend"),
        ),
        (port("memcached-{t}", "targetPort", 11211), RESTART),
    ),
    Breakage(
        "wrong target port of the front door",
        ("frontend",),
        (port("{t}", "targetPort", 5001),),
        (
            users_fail(*EVERYONE, kind="refused"),
            shows("kubectl -n {ns} get pods -l io.kompose.service={t}", r"1/1 +Running +0"),
            shows("kubectl -n {ns} describe service {t}", r"^Endpoints: +10\.244\.\d+\.\d+:5001$"),
            no_spans("frontend"),
        ),
        (port("{t}", "targetPort", 5000),),
    ),
    Breakage(
        "front door no longer outside",
        ("frontend",),
        (
            'kubectl -n {ns} patch service {t} -p \'{"spec":{"type":"ClusterIP","ports":[{"port":5000,"nodePort":null}]}}\'',
        ),
        (
            users_fail(*EVERYONE, kind="refused"),
            shows("kubectl -n {ns} get service {t}", r"ClusterIP .* 5000/TCP"),
            shows(
                "kubectl -n {ns} exec deploy/jaeger -- wget -qO- 'http://frontend:5000/user?username=Cornell_1&password=1111111111'",
                "Login successfully!",
            ),
        ),
        (
            "kubectl -n {ns} patch service {t} -p"
            ' \'{"spec":{"type":"NodePort","ports":[{"port":5000,"nodePort":30500}]}}\'',
        ),
    ),
    Breakage(
        "wrong target port of Consul",
        SERVICES,
        (
            "kubectl -n {ns} get service consul -o yaml",
            'kubectl -n {ns} patch service consul -p \'{"spec":{"ports":[{"port":8500,"targetPort":8555}]}}\'',
            RESTART,
        ),
        (
            its_users_fail(),
            CRASHING,
            logged(
                'pod=~"{t}-.*"',
                r"failed register: Put .*consul:8500/v1/agent/service/register.*: dial tcp .*:8500: connect: connection refused",
            ),
            RESTARTS,
            failing_spans("frontend"),
        ),
        (
            'kubectl -n {ns} patch service consul -p \'{"spec":{"ports":[{"port":8500,"targetPort":8500}]}}\'',
            RESTART,
        ),
    ),
    Breakage(
        "wrong port of a Service that nobody uses",
        SERVICES,
        (port("{t}", "targetPort", 9999), "kubectl -n {ns} rollout restart deployment/frontend"),
        (
            everyone_fine(),
            shows("kubectl -n {ns} get endpoints {t}", r"10\.244\.\d+\.\d+:9999"),
            metric('sum(rate(grpc_server_requests_total{service="{t}"}[1m]))', least=0.1),
        ),
        (
            'kubectl -n {ns} patch service {t} --type=json -p \'[{"op":"remove","path":"/spec/ports/0/targetPort"}]\'',
        ),
    ),
    Breakage(
        "deleted Service of a database",
        STORED,
        (SAVE % "mongodb-{t}", "kubectl -n {ns} delete service mongodb-{t}", RESTART),
        (
            its_users_fail(),
            CRASHING,
            shows("kubectl -n {ns} get service mongodb-{t}", r'services "mongodb-{t}" not found'),
            shows("kubectl -n {ns} get pods -l io.kompose.service=mongodb-{t}", r"1/1 +Running +0"),
            shows("kubectl -n {ns} exec deploy/consul -- nslookup mongodb-{t}", "can't find|NXDOMAIN"),
            logged('pod=~"{t}-.*"', "panic: no reachable servers"),
            RESTARTS,
        ),
        (RESTORE, RESTART),
    ),
    Breakage(
        "deleted Service of a cache",
        ("rate", "profile"),
        (SAVE % "memcached-{t}", "kubectl -n {ns} delete service memcached-{t}", RESTART),
        (
            its_users_fail(),
            CRASHING,
            logged('pod=~"{t}-.*"', r"panic: .*lookup memcached-{t} on 10\.96\.0\.10:53: no such host"),
            shows("kubectl -n {ns} describe pods -l io.kompose.service={t}", "Exit Code: +2"),
            RESTARTS,
        ),
        (RESTORE, RESTART),
    ),
    Breakage(
        "deleted Service of Consul",
        SERVICES,
        (SAVE % "consul", "kubectl -n {ns} delete service consul", RESTART),
        (
            its_users_fail(),
            CRASHING,
            logged(
                'pod=~"{t}-.*"',
                r"failed register: Put .*: dial tcp: lookup consul on 10\.96\.0\.10:53: no such host",
            ),
            shows("kubectl -n {ns} describe pods -l io.kompose.service={t}", "Exit Code: +1"),
            RESTARTS,
        ),
        (RESTORE, RESTART),
    ),
    Breakage(
        "deleted Service of the front door",
        ("frontend",),
        (SAVE % "{t}", "kubectl -n {ns} delete service {t}"),
        (
            users_fail(*EVERYONE, kind="refused"),
            shows("kubectl -n {ns} get service {t}", r'services "{t}" not found'),
            shows("kubectl -n {ns} get pods -l io.kompose.service={t}", r"1/1 +Running +0"),
            no_spans("frontend"),
        ),
        (RESTORE,),
    ),
    Breakage(
        "deleted Service of Jaeger",
        SERVICES,
        (SAVE % "jaeger", "kubectl -n {ns} delete service jaeger", RESTART),
        (
            its_users_fail(),
            CRASHING,
            logged('pod=~"{t}-.*"', r"lookup jaeger on 10\.96\.0\.10:53: no such host"),
            RESTARTS,
        ),
        (RESTORE, RESTART),
    ),
    Breakage(
        "Service that selects nothing",
        STORED,
        ("kubectl -n {ns} set selector service mongodb-{t} app=mongodb-{t}", RESTART),
        (
            its_users_fail(),
            CRASHING,
            shows(
                "kubectl -n {ns} describe service mongodb-{t}",
                r"^Selector: +app=mongodb-{t}$",
                r"^Endpoints: +$",
            ),
            shows("kubectl -n {ns} get pods -l io.kompose.service=mongodb-{t}", r"1/1 +Running +0"),
            logged('pod=~"{t}-.*"', "panic: no reachable servers"),
            RESTARTS,
        ),
        ("kubectl -n {ns} set selector service mongodb-{t} io.kompose.service=mongodb-{t}", RESTART),
    ),
    Breakage(
        "front door that selects nothing",
        ("frontend",),
        ("kubectl -n {ns} set selector service {t} app={t}",),
        (
            users_fail(*EVERYONE, kind="refused"),
            shows("kubectl -n {ns} describe service {t}", r"^Endpoints: +$"),
            shows("kubectl -n {ns} get pods -l io.kompose.service={t}", r"1/1 +Running +0"),
            no_spans("frontend"),
        ),
        ("kubectl -n {ns} set selector service {t} io.kompose.service={t}",),
    ),
    Breakage(
        "Service that selects another database",
        ("geo", "rate"),
        ("kubectl -n {ns} set selector service mongodb-{t} io.kompose.service=mongodb-user", RESTART),
        (
            its_users_fail(),
            CRASHING,
            logged(
                'pod=~"{t}-.*"',
                "panic: server returned error on SASL authentication step: Authentication failed.",
            ),
            logged('pod=~"mongodb-user-.*"', "UserNotFound"),
            RESTARTS,
        ),
        ("kubectl -n {ns} set selector service mongodb-{t} io.kompose.service=mongodb-{t}", RESTART),
    ),
    Breakage(
        "front door that selects a back end",
        ("search", "geo", "user"),
        ("kubectl -n {ns} set selector service frontend io.kompose.service={t}",),
        (
            users_fail(*EVERYONE, kind="refused"),
            shows("kubectl -n {ns} describe service frontend", r"^Endpoints: +10\.244\.\d+\.\d+:5000$"),
            no_spans("frontend"),
        ),
        ("kubectl -n {ns} set selector service frontend io.kompose.service=frontend",),
    ),
)
