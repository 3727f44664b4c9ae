"""What is done to Services: their ports, their selectors, their being there at all.

The back ends find each other in Consul by the addresses of pods, so that only the Services of the front door, of databases and
caches, of Consul and of Jaeger matter, and most of them only to a process that has yet to connect.
"""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.hotels.needs import SERVICES, STORED
from tests.incidents.lines import CRASHING, PUT_BACK, RESTART, UNDISTURBED, port, saved
from tests.incidents.needs import everyone_fails, everyone_fine, its_users_fail
from tests.incidents.scene import failing_spans, logged, metric, shows

RESTARTS = metric('sum(kube_pod_container_status_restarts_total{container="hotel-reserv-{t}"})', least=1)


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
        "front door no longer outside",
        ("frontend",),
        (
            'kubectl -n {ns} patch service {t} -p \'{"spec":{"type":"ClusterIP","ports":[{"port":5000,"nodePort":null}]}}\'',
        ),
        (
            everyone_fails("refused"),
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
        (saved("service", "mongodb-{t}"), "kubectl -n {ns} delete service mongodb-{t}", RESTART),
        (
            its_users_fail(),
            CRASHING,
            shows("kubectl -n {ns} get service mongodb-{t}", r'services "mongodb-{t}" not found'),
            shows(
                "kubectl -n {ns} get pods -l io.kompose.service=mongodb-{t}",
                UNDISTURBED,
            ),
            shows("kubectl -n {ns} exec deploy/consul -- nslookup mongodb-{t}", "can't find|NXDOMAIN"),
            logged('pod=~"{t}-.*"', "panic: no reachable servers"),
            RESTARTS,
        ),
        (PUT_BACK, RESTART),
    ),
    Breakage(
        "deleted Service of a cache",
        ("rate", "profile"),
        (saved("service", "memcached-{t}"), "kubectl -n {ns} delete service memcached-{t}", RESTART),
        (
            its_users_fail(),
            CRASHING,
            logged('pod=~"{t}-.*"', r"panic: .*lookup memcached-{t} on 10\.96\.0\.10:53: no such host"),
            shows("kubectl -n {ns} describe pods -l io.kompose.service={t}", "Exit Code: +2"),
            RESTARTS,
        ),
        (PUT_BACK, RESTART),
    ),
    Breakage(
        "deleted Service of Consul",
        SERVICES,
        (saved("service", "consul"), "kubectl -n {ns} delete service consul", RESTART),
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
        (PUT_BACK, RESTART),
    ),
    Breakage(
        "deleted Service of Jaeger",
        SERVICES,
        (saved("service", "jaeger"), "kubectl -n {ns} delete service jaeger", RESTART),
        (
            its_users_fail(),
            CRASHING,
            logged('pod=~"{t}-.*"', r"lookup jaeger on 10\.96\.0\.10:53: no such host"),
            RESTARTS,
        ),
        (PUT_BACK, RESTART),
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
            shows(
                "kubectl -n {ns} get pods -l io.kompose.service=mongodb-{t}",
                UNDISTURBED,
            ),
            logged('pod=~"{t}-.*"', "panic: no reachable servers"),
            RESTARTS,
        ),
        ("kubectl -n {ns} set selector service mongodb-{t} io.kompose.service=mongodb-{t}", RESTART),
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
)
