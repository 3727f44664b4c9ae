"""What is done to the registry of services."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.hotels.needs import RESTART_ALL, SERVICES
from tests.incidents.lines import RESTART, UNDISTURBED
from tests.incidents.needs import everyone_fails, its_users_fail
from tests.incidents.scene import failing_spans, for_target, hides, metric, shows

ON_CONSUL = "kubectl -n {ns} exec deploy/consul -- "
FRONT = "curl -s \"http://$(kubectl get nodes -o jsonpath='{.items[1].status.addresses[0].address}'):$(kubectl -n {ns} get service frontend -o jsonpath='{.spec.ports[0].nodePort}')/"
HOTELS = FRONT + 'hotels?inDate=2015-04-09&outDate=2015-04-10&lat=38.0235&lon=-122.095"'
USER = FRONT + 'user?username=Cornell_1&password=1111111111"'
RECOMMENDATIONS = FRONT + 'recommendations?require=price&lat=38.0235&lon=-122.095"'
PAGES = {
    "geo": HOTELS,
    "rate": HOTELS,
    "search": HOTELS,
    "reservation": HOTELS,
    "profile": RECOMMENDATIONS,
    "recommendation": RECOMMENDATIONS,
    "user": USER,
}
NO_ADDRESS = "rpc error: code = Unavailable desc = there is no address available"
NO_CONNECTION = "rpc error: code = Unavailable desc = there is no connection available"

BREAKAGES = (
    Breakage(
        "Consul restarted",
        (
            "delete pod -l io.kompose.service=consul",
            "rollout restart deployment/consul",
            "exec deploy/consul -- kill 1",
        ),
        ("kubectl -n {ns} {t}",),
        (
            everyone_fails("HTTP 500"),
            shows(HOTELS, NO_ADDRESS),
            hides(ON_CONSUL + "consul catalog services", "srv-"),
            shows(
                "kubectl -n {ns} logs deploy/frontend",
                "grpc/lb/consul: error retrieving instances from Consul: ",
            ),
            failing_spans("frontend"),
            shows("kubectl -n {ns} get deployments", "^geo +1/1"),
        ),
        (RESTART_ALL,),
        soak_s=420.0,
    ),
    Breakage(
        "deregistered service",
        SERVICES,
        (
            ON_CONSUL
            + "curl -s localhost:8500/v1/agent/services | jq -r '.[] | select(.Service == \"srv-{t}\") | .ID' > ids",
            ON_CONSUL + "consul services deregister -id=$(cat ids)",
        ),
        (
            its_users_fail(),
            *(for_target(service, shows(page, NO_ADDRESS)) for service, page in PAGES.items()),
            hides(ON_CONSUL + "consul catalog services", "srv-{t}$"),
            shows("kubectl -n {ns} get pods", r"^{t}-\S+ +" + UNDISTURBED),
            hides("kubectl -n {ns} logs deploy/{t}", "ERR|FTL|PNC"),
            failing_spans("frontend"),
        ),
        (RESTART,),
    ),
    Breakage(
        "registry gone when a service restarts",
        SERVICES,
        ("kubectl -n {ns} scale deployment/consul --replicas=0", RESTART),
        (
            its_users_fail(),
            *(for_target(service, shows(page, NO_CONNECTION)) for service, page in PAGES.items()),
            shows(
                "kubectl -n {ns} logs deploy/{t}",
                r"FTL .*failed register: Put \"?http://consul:8500/v1/agent/service/register\"?: dial tcp [0-9.]+:8500: connect: connection refused",
            ),
            shows("kubectl -n {ns} get pods", r"^{t}-\S+ +0/1 +(Error|CrashLoopBackOff) +[1-9]"),
            metric('kube_deployment_status_replicas_available{deployment="consul"}', most=0),
            metric('kube_pod_container_status_restarts_total{container="hotel-reserv-{t}"}', least=1),
        ),
        ("kubectl -n {ns} scale deployment/consul --replicas=1", "sleep 15", RESTART_ALL),
    ),
)
