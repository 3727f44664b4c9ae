"""What is done to processes and files inside running containers."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.cases.registry import NEEDS
from tests.incidents.scene import for_target, metric, shows, users_fail, users_fine

EVERY = ("search", "recommend", "user", "reserve")
SERVICES = ("rate", "geo", "profile", "search", "recommendation", "user")
FOLDER = "/go/src/github.com/harlow/go-micro-services"
FIND_NODE = "kubectl -n {ns} get pod -l io.kompose.service={t} -o jsonpath='{.items[0].spec.nodeName}' > node"

BREAKAGES = (
    Breakage(
        "paused process",
        SERVICES,
        (FIND_NODE, "ssh $(cat node) pkill -STOP -x {t}"),
        (
            *(for_target(service, users_fail(*NEEDS[service], kind="timeout")) for service in SERVICES),
            shows("kubectl -n {ns} get pods", r"^{t}-\S+ +1/1 +Running +0 "),
            shows("ssh $(cat node) ps aux", r" T\S* .* {t}$"),
            metric('sum(rate(container_cpu_usage_seconds_total{pod=~"{t}-.*"}[30s]))', most=0.0001),
        ),
        ("ssh $(cat node) pkill -CONT -x {t}",),
    ),
    Breakage(
        "deleted configuration, back with a new container",
        SERVICES,
        (f"kubectl -n {{ns}} exec deploy/{{t}} -- rm {FOLDER}/config.json",),
        (
            users_fine(*EVERY),
            shows(
                f"kubectl -n {{ns}} exec deploy/{{t}} -- ls {FOLDER}/config.json", "No such file or directory"
            ),
            shows(
                "kubectl -n {ns} exec deploy/{t} -- kill 1; sleep 10; kubectl -n {ns} get pods",
                r"^{t}-\S+ +1/1 +Running +1 ",
            ),
            shows(f"kubectl -n {{ns}} exec deploy/{{t}} -- ls {FOLDER}/config.json", "config.json$"),
            metric('kube_pod_container_status_restarts_total{container="hotel-reserv-{t}"}', most=1),
        ),
        (),
    ),
)
