"""What is done to nodes."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.scene import metric, shows, users_slow
from tests.incidents.shared.nodes import NODES

BREAKAGES = (
    Breakage(
        "busy node",
        NODES,
        (
            "kubectl -n default create deployment batch --image=busybox --replicas=12 -- sh -c "
            "'for i in 1 2 3 4; do yes >/dev/null & done; wait'",
            """kubectl -n default patch deployment batch -p '{"spec": {"template": {"spec": {"nodeName": "{t}"}}}}'""",
        ),
        (
            shows("kubectl top nodes", r"^{t} +\d+m +(9\d|10\d)%"),
            shows("kubectl top pods -A --sort-by=cpu", r"^default +batch-\S+ +\d\d\d+m"),
            users_slow("search", p99_s=0.008),
            metric('sum(rate(container_cpu_usage_seconds_total{pod=~"batch-.*"}[30s]))', least=3),
        ),
        ("kubectl -n default delete deployment batch --grace-period=1",),
    ),
)
