"""What is done to Services. Back ends find each other by them, and dial anew every ten seconds; nginx, and what has a
connection to a store, keep theirs: whoever breaks a Service sees it when they are restarted."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.lines import PUT_BACK, RUNNING, port, saved
from tests.incidents.needs import its_users_fail
from tests.incidents.scene import failing_spans, hides, logged, metric, shows
from tests.incidents.social.lines import LOOPS, RESTART_NGINX, RESTART_SERVICE, SERVICE_RUNS
from tests.incidents.social.needs import SERVICES, STEMS

REFUSED = logged(
    'pod=~".+"',
    r"<Host: {t} Port: 9090>: Connection refused|Could not connect to {t}\..*:9090 \(connection refused\)",
)
UNKNOWN = logged(
    'pod=~".+"',
    r"getaddrinfo\(\) <Host: {t} Port: 9090>Name or service not known|{t}\..* could not be resolved",
)
NO_CALLS = metric('sum(rate(thrift_server_requests_total{service="{t}"}[30s]))', most=0.0)

BREAKAGES = (
    Breakage(
        "wrong target port",
        SERVICES,
        (port("{t}", "targetPort", 9999), RESTART_NGINX),
        (
            its_users_fail(),
            RUNNING,
            shows("kubectl -n {ns} get endpoints {t}", r"10\.244\.\d+\.\d+:9999"),
            REFUSED,
            NO_CALLS,
            failing_spans("{web}"),
        ),
        (port("{t}", "targetPort", 9090),),
    ),
    Breakage(
        "deleted Service",
        SERVICES,
        (saved("service", "{t}"), "kubectl -n {ns} delete service {t}", RESTART_NGINX),
        (
            its_users_fail(),
            RUNNING,
            shows("kubectl -n {ns} get service {t}", r'services "{t}" not found'),
            shows("kubectl -n {ns} exec deploy/media-frontend -- getent hosts {t}", "exit code 2$"),
            UNKNOWN,
            failing_spans("{web}"),
        ),
        (PUT_BACK,),
    ),
    Breakage(
        "Service that selects nothing",
        SERVICES,
        ("kubectl -n {ns} set selector service {t} app={t}-v2", RESTART_NGINX),
        (
            its_users_fail(),
            RUNNING,
            shows("kubectl -n {ns} describe service {t}", r"^Selector: +app={t}-v2$", r"^Endpoints: +$"),
            REFUSED,
            NO_CALLS,
        ),
        ("kubectl -n {ns} set selector service {t} service={t}",),
    ),
    Breakage(
        "Service that selects another service",
        tuple(name for name in SERVICES if name != "media-service"),
        ("kubectl -n {ns} set selector service {t} service=media-service", RESTART_NGINX),
        (
            its_users_fail(),
            RUNNING,
            shows(
                "kubectl -n {ns} get endpoints {t} media-service --no-headers | awk '{print $2}' | sort -u | wc -l",
                r"^1$",
            ),
            logged('pod=~"nginx-thrift-.*"', "Invalid method name|failure"),
            failing_spans("{web}"),
        ),
        ("kubectl -n {ns} set selector service {t} service={t}",),
    ),
    Breakage(
        "wrong target port of a database",
        tuple(STEMS),
        (port("{t}-mongodb", "targetPort", 27018), RESTART_SERVICE),
        (
            its_users_fail(),
            SERVICE_RUNS,
            shows("kubectl -n {ns} get endpoints {t}-mongodb", r":27018"),
            LOOPS,
            logged('pod=~"{t}-service-.*"', "connection refused calling ismaster on '{t}-mongodb:27017'"),
        ),
        (port("{t}-mongodb", "targetPort", 27017),),
    ),
    Breakage(
        "deleted Service of a database",
        tuple(STEMS),
        (saved("service", "{t}-mongodb"), "kubectl -n {ns} delete service {t}-mongodb", RESTART_SERVICE),
        (
            its_users_fail(),
            SERVICE_RUNS,
            shows("kubectl -n {ns} get service {t}-mongodb", r'services "{t}-mongodb" not found'),
            LOOPS,
            hides("kubectl -n {ns} logs deploy/{t}-service", "Starting the {t}-service server"),
        ),
        (PUT_BACK,),
    ),
    Breakage(
        "deleted Service of Jaeger",
        SERVICES,
        (
            saved("service", "jaeger"),
            "kubectl -n {ns} delete service jaeger",
            "kubectl -n {ns} delete pod -l service={t}",
        ),
        (
            its_users_fail(),
            RUNNING,
            logged('pod=~"{t}-.*"', r"\(tracing.h:77:SetUpTracer\) Failed to connect to jaeger, retrying"),
            hides("kubectl -n {ns} logs deploy/{t}", "Starting the {t} server"),
        ),
        (PUT_BACK,),
    ),
)
