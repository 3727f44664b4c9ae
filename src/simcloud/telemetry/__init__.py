"""Telemetry: metrics with PromQL, rules and alerts, logs with LogQL, traces, and exports of all of them.

It is above the cluster, because it collects from it, and below the applications, which only emit.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.telemetry.call_tree import AGAIN as AGAIN, build_call_tree as build_call_tree
    from simcloud.telemetry.monitoring import Monitoring as Monitoring
    from simcloud.telemetry.prometheus_api import (
        ApiRefusal as ApiRefusal,
        Parameters as Parameters,
        PrometheusApi as PrometheusApi,
    )
    from simcloud.telemetry.prometheus_paths import (
        NOT_FOUND as NOT_FOUND,
        Answer as Answer,
        PrometheusPaths as PrometheusPaths,
    )
    from simcloud.telemetry.scrape import Reading as Reading, Target as Target
    from simcloud.telemetry.sink import Telemetry as Telemetry
    from simcloud.telemetry.topology import Topology as Topology
    from simcloud.telemetry.workloads import (
        list_workloads as list_workloads,
        pods_by_workload as pods_by_workload,
    )
