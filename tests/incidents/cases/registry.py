"""What is done to the registry of services, and to the collector of traces."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.scene import (
    failing_spans,
    for_target,
    hides,
    metric,
    no_spans,
    shows,
    users_fail,
    users_fine,
)

EVERY = ("search", "recommend", "user", "reserve")
ON_CONSUL = "kubectl -n {ns} exec deploy/consul -- "
SERVICES = ("geo", "rate", "profile", "search", "recommendation", "reservation", "user")
NEEDS = {
    "geo": ("search",),
    "rate": ("search",),
    "search": ("search",),
    "profile": ("recommend",),
    "recommendation": ("recommend",),
    "reservation": ("search", "reserve"),
    "user": ("user", "reserve"),
}
RESTART = "kubectl -n {ns} delete pod -l io.kompose.service={t}"
FRONT = "curl -s \"http://$(kubectl get nodes -o jsonpath='{.items[1].status.addresses[0].address}'):$(kubectl -n {ns} get service frontend -o jsonpath='{.spec.ports[0].nodePort}')/"
HOTELS = FRONT + 'hotels?inDate=2015-04-09&outDate=2015-04-10&lat=38.0235&lon=-122.095"'
USER = FRONT + 'user?username=Cornell_1&password=1111111111"'
RECOMMENDATIONS = FRONT + 'recommendations?require=price&lat=38.0235&lon=-122.095"'
PAGES = {"search": HOTELS, "recommend": RECOMMENDATIONS, "user": USER, "reserve": USER}
RESTART_ALL = (
    "kubectl -n {ns} rollout restart deployment/geo deployment/rate deployment/profile deployment/search "
    "deployment/recommendation deployment/reservation deployment/user deployment/frontend"
)
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
            users_fail(*EVERY, kind="HTTP 500"),
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
            *(
                for_target(service, users_fail(*journeys, kind="HTTP 500"))
                for service, journeys in NEEDS.items()
            ),
            *(
                for_target(
                    service, shows(PAGES[journeys[-1] if service != "reservation" else "search"], NO_ADDRESS)
                )
                for service, journeys in NEEDS.items()
            ),
            hides(ON_CONSUL + "consul catalog services", "srv-{t}$"),
            shows("kubectl -n {ns} get pods", r"^{t}-\S+ +1/1 +Running +0 "),
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
            *(
                for_target(service, users_fail(*journeys, kind="HTTP 500"))
                for service, journeys in NEEDS.items()
            ),
            *(
                for_target(
                    service,
                    shows(PAGES[journeys[-1] if service != "reservation" else "search"], NO_CONNECTION),
                )
                for service, journeys in NEEDS.items()
            ),
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
    Breakage(
        "traces not collected",
        (
            "scale deployment/jaeger --replicas=0",
            "set image deployment/jaeger *=jaegertracing/all-in-one:1.5777",
        ),
        ("kubectl -n {ns} {t}",),
        (
            users_fine(*EVERY),
            for_target("scale deployment/jaeger --replicas=0", no_spans("frontend")),
            for_target(
                "scale deployment/jaeger --replicas=0",
                shows("kubectl -n {ns} get endpoints jaeger", r"^jaeger +<none>"),
            ),
            for_target(
                "set image deployment/jaeger *=jaegertracing/all-in-one:1.5777",
                shows("kubectl -n {ns} get pods", r"^jaeger-\S+ +0/1 +(ImagePullBackOff|ErrImagePull)"),
            ),
            metric('sum(increase(kube_pod_container_status_restarts_total{namespace="{ns}"}[2m]))', most=0),
        ),
        (
            "kubectl -n {ns} rollout undo deployment/jaeger; kubectl -n {ns} scale deployment/jaeger --replicas=1",
        ),
    ),
)
