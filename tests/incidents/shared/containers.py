"""What is done to processes inside running containers, and to the collector of traces."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.known import Known
from tests.incidents.lines import RUNNING
from tests.incidents.needs import everyone_fine, its_users_fail
from tests.incidents.scene import for_target, metric, no_spans, shows

FIND_NODE = "kubectl -n {ns} get pod -l {label}={t} -o jsonpath='{.items[0].spec.nodeName}' > node"
NO_COLLECTOR = "scale deployment/jaeger --replicas=0"
NO_IMAGE = "set image deployment/jaeger *=jaegertracing/all-in-one:1.5777"


def breakages(known: Known) -> tuple[Breakage, ...]:
    """Those of an application."""
    return (
        Breakage(
            "paused process",
            known.services,
            (FIND_NODE, "ssh $(cat node) pkill -STOP -x {process}"),
            (
                its_users_fail("timeout"),
                RUNNING,
                shows("ssh $(cat node) ps aux", r" T\S* .* {process}"),
                metric('sum(rate(container_cpu_usage_seconds_total{pod=~"{t}-.*"}[30s]))', most=0.0001),
            ),
            ("ssh $(cat node) pkill -CONT -x {process}",),
        ),
        Breakage(
            "traces not collected",
            (NO_COLLECTOR, NO_IMAGE),
            ("kubectl -n {ns} {t}",),
            (
                everyone_fine(),
                for_target(NO_COLLECTOR, no_spans("{web}")),
                for_target(NO_COLLECTOR, shows("kubectl -n {ns} get endpoints jaeger", r"^jaeger +<none>")),
                for_target(
                    NO_IMAGE,
                    shows("kubectl -n {ns} get pods", r"^jaeger-\S+ +0/1 +(ImagePullBackOff|ErrImagePull)"),
                ),
                metric(
                    'sum(increase(kube_pod_container_status_restarts_total{namespace="{ns}"}[2m]))', most=0
                ),
            ),
            (
                "kubectl -n {ns} rollout undo deployment/jaeger; kubectl -n {ns} scale deployment/jaeger --replicas=1",
            ),
        ),
    )
