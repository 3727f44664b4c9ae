"""What stands between a pod and a node: resources, selectors, taints, cordons, budgets."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.hotels.lines import AFTERMATH, DESCRIBE_DATABASE, PANICS, PENDING_DATABASE
from tests.incidents.hotels.needs import SERVICES, STORED
from tests.incidents.lines import EVENTS, RESTART, RUNNING, THROTTLED, UNDO, container
from tests.incidents.needs import everyone_fine, its_users_fail, its_users_lag
from tests.incidents.scene import alert, hides, metric, shows

BREAKAGES = (
    Breakage(
        "CPU limit too small",
        ("frontend", "profile", "rate", "reservation"),
        ("kubectl -n {ns} set resources deployment/{t} --limits=cpu=10m --requests=cpu=10m",),
        (
            RUNNING,
            everyone_fine(),
            its_users_lag(p99_s=0.1),
            metric(THROTTLED, least=0.15),
        ),
        (UNDO,),
    ),
    Breakage(
        "requests that fit no node",
        STORED,
        (
            "kubectl -n {ns} set resources deployment/mongodb-{t} --limits=cpu=64 --requests=cpu=64",
            RESTART,
        ),
        (
            its_users_fail(),
            PENDING_DATABASE,
            shows(
                DESCRIBE_DATABASE,
                r"FailedScheduling .*0/4 nodes are available: 1 node\(s\) had untolerated taint.*, 3 Insufficient cpu\.",
            ),
            PANICS,
            alert("KubePodNotReady"),
        ),
        AFTERMATH,
    ),
    Breakage(
        "node that tolerates nobody",
        ("kind-worker", "kind-worker2", "kind-worker3"),
        ("kubectl taint nodes {t} maintenance=now:NoExecute",),
        (
            shows(EVENTS, r"TaintManagerEviction .*Marking for deletion Pod {ns}/"),
            shows("kubectl describe node {t}", r"^Taints: +maintenance=now:NoExecute"),
            hides("kubectl -n {ns} get pods -o wide", r" {t} "),
            metric('kube_node_spec_taint{node="{t}",key="maintenance"}', least=1),
        ),
        (
            "kubectl taint nodes {t} maintenance-",
            # What has moved left its data on the node or its registrations behind: all begin again, in order.
            "kubectl -n {ns} rollout restart deployment/geo deployment/rate deployment/profile deployment/recommendation"
            " deployment/reservation deployment/user",
            "sleep 20",
            "kubectl -n {ns} rollout restart deployment/search",
            "sleep 10",
            "kubectl -n {ns} rollout restart deployment/frontend",
        ),
    ),
    Breakage(
        "local storage too small",
        SERVICES,
        (container("resources/limits/ephemeral-storage", '"1Ki"'),),
        (
            # Users notice only the seconds in which a pod is replaced.
            shows(
                EVENTS,
                r"Evicted +pod/{t}-\w+-\w+ +Pod ephemeral local storage usage exceeds the total limit of containers 1Ki\.",
            ),
            shows(
                "kubectl -n {ns} get pods -l io.kompose.service={t} -o jsonpath='{.items[*].status.reason}'",
                "^Evicted",
            ),
            metric('sum(kube_pod_status_reason{reason="Evicted",pod=~"{t}-.*"})', least=1),
        ),
        (UNDO, "kubectl -n {ns} delete pods -l io.kompose.service={t} --field-selector=status.phase=Failed"),
    ),
)
