"""The API server's /metrics: what was counted, and what follows from the cluster's age, its objects and its nodes.

Writes are counted as they happen. Reads are not, because the control loops of this process read the log where genuine
ones keep a cache by watching; they are computed from the usual rates when the page is read, as are durations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from re import sub
from typing import Final

from simcloud.golang import float_text
from simcloud.kubernetes.api import VERSION, Api, Resource, times
from simcloud.machine import Labels, Sample, format_samples, list_samples
from simcloud.machine.proc import vary

BOUNDS_S: Final = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip
SIZE_BOUNDS: Final = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
QUEUE_BOUNDS_S: Final = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
WATCH_S: Final = 450.0
"""A watch ends after five to ten minutes, and its client begins another."""
NODE_WATCHES: Final = {"nodes": (2, 5), "services": (2, 5), "endpointslices": (1, 5), "pods": (1, 6), "csidrivers": (1, 2),
                       "runtimeclasses": (1, 2), "servicecidrs": (1, 3)}  # fmt: skip
"""How many watch these on every node, kubelets and service proxies, and how many elsewhere."""
MOUNTED: Final = {"configMap": "configmaps", "secret": "secrets"}
GETS_PER_S: Final = {"leases": 1.0, "namespaces": 0.05, "endpoints": 0.1, "endpointslices": 0.1, "serviceaccounts": 0.02}  # fmt: skip
OPERATIONS: Final = {"POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete", "GET": "get", "LIST": "list"}  # fmt: skip
"""What etcd is asked for by each verb."""
QUEUES: Final = (
    "APIServiceRegistrationController", "AvailableConditionController", "DiscoveryController", "autoregister",
    "crdEstablishing", "crd_apiapproval_controller", "crd_autoregistration_controller", "crd_finalizer",
    "crd_naming_condition_controller", "crd_nonstructuralschema_condition_controller", "crd_openapi_controller",
    "crd_openapi_v3_controller", "open_api_aggregation_controller", "open_api_v3_aggregation_controller",
    "priority_and_fairness_config_queue", "DynamicCABundle-client-ca-bundle", "DynamicServingCertificateController",
    "DynamicCABundle-request-header", "cluster_authentication_trust_controller", "serviceCIDRs", "ipaddresses",
)  # fmt: skip
HELP: Final = {
    "apiserver_request_total": "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.",
    "apiserver_storage_objects": "[STABLE] Number of stored objects at the time of last check split by kind.",
    "etcd_request_duration_seconds": "[ALPHA] Etcd request latency in seconds for each operation and object type.",
    "workqueue_depth": "[ALPHA] Current depth of workqueue",
}  # fmt: skip


def format_page(api: Api) -> str:
    """The text of the page."""
    return format_samples(_list_samples(api), HELP)


def _list_samples(api: Api) -> Iterator[Sample]:
    first = api.log.objects("", "namespaces")
    age_s = max(
        (api.now_s - times.parse(each["metadata"]["creationTimestamp"]) for each in first), default=0.0
    )
    nodes = len(api.log.objects("", "nodes"))
    requests = dict(_list_reads(api, age_s, nodes))
    for _, labels, value in list_samples(api.requests.metrics):
        requests[labels] = requests.get(labels, 0.0) + value
    served: Counter[Labels] = Counter()
    for labels, count in requests.items():
        yield "apiserver_request_total", labels, count
        served[tuple(pair for pair in labels if pair[0] not in ("code", "dry_run"))] += int(count)
    for of, count in sorted(served.items()):
        if ("verb", "WATCH") in of:
            yield from _spread("apiserver_request_duration_seconds", of, count, WATCH_S, BOUNDS_S)
            yield "apiserver_longrunning_requests", of, float(round(count * WATCH_S / max(age_s, WATCH_S)))
        else:
            yield from _spread("apiserver_request_duration_seconds", of, count, 0.004, BOUNDS_S)
            yield from _spread("apiserver_request_sli_duration_seconds", of, count, 0.004, BOUNDS_S)
            yield from _spread("apiserver_response_sizes", of, count, 1900, SIZE_BOUNDS)
    yield from _list_storage(api, requests)
    yield from _list_own(api, age_s, sum(requests.values()))


def _list_reads(api: Api, age_s: float, nodes: int) -> Iterator[tuple[Labels, float]]:
    """The requests that are not counted: reads, and the reports of nodes in skipped time."""
    mounted = _count_mounted(api)
    for resource in api.catalogue:
        if "watch" not in resource.verbs:
            continue
        each_node, others = NODE_WATCHES.get(resource.plural, (0, 3))
        watchers = others + each_node * nodes
        busy_s = age_s * (0.95 + 0.1 * vary(resource.plural))
        yield _label(resource, "WATCH", "cluster"), float(watchers + int(busy_s * watchers / WATCH_S))
        yield _label(resource, "LIST", "cluster"), float(watchers + int(age_s / 86_400))
        if (single := mounted[resource.plural]) and not resource.group:
            yield _label(resource, "WATCH", "resource"), float(single + int(busy_s * single / WATCH_S))
        gets = int(busy_s * GETS_PER_S.get(resource.plural, 0.0))
        if gets:
            yield _label(resource, "GET", "resource"), float(gets)
    reports = int(age_s / 300) * nodes
    if reports:
        yield _label(api.catalogue.find("nodes"), "PATCH", "resource", "status"), float(reports)


def _count_mounted(api: Api) -> Counter[str]:
    """How many ConfigMaps and Secrets the kubelets watch: each those that its pods mount."""
    found: Counter[tuple[str, ...]] = Counter()
    for pod in api.log.objects("", "pods"):
        place = pod["spec"].get("nodeName", ""), pod["metadata"]["namespace"]
        for volume in pod["spec"].get("volumes") or ():
            for source in (volume, *(volume.get("projected") or {}).get("sources", ())):
                for kind in source.keys() & MOUNTED:
                    found[MOUNTED[kind], *place, str(source[kind])] = 1
    return Counter(key[0] for key in found)


def _label(resource: Resource, verb: str, scope: str, subresource: str = "") -> Labels:
    return (
        ("code", "200"), ("component", "apiserver"), ("dry_run", ""), ("group", resource.group), ("resource", resource.plural),
        ("scope", scope), ("subresource", subresource), ("verb", verb), ("version", resource.version),
    )  # fmt: skip


def _spread(
    name: str, labels: Labels, count: float, middle: float, bounds: tuple[float, ...]
) -> Iterator[Sample]:
    """A histogram of ``count`` values, half of them below the middle."""
    for bound in bounds:
        share = 1.0 - 1.0 / (1.0 + (bound / middle) ** 3)
        yield f"{name}_bucket", (*labels, ("le", float_text(bound))), float(round(count * share))
    yield f"{name}_bucket", (*labels, ("le", "+Inf")), count
    yield f"{name}_sum", labels, round(count * middle * 1.21, 9)
    yield f"{name}_count", labels, count


def _list_storage(api: Api, requests: dict[Labels, float]) -> Iterator[Sample]:
    kept = Counter((key.group, key.plural) for key in api.log.list_keys())
    for group, plural in dict.fromkeys(resource.key for resource in api.catalogue):
        name = f"{plural}.{group}" if group else plural
        yield "apiserver_storage_objects", (("resource", name),), float(kept[group, plural])
    yield "apiserver_storage_size_bytes", (("storage_cluster_id", "etcd-0"),), float(api.log.size_bytes)
    operations: Counter[Labels] = Counter()
    for labels, count in requests.items():
        of = dict(labels)
        if of["verb"] in OPERATIONS:
            key = (
                ("group", of["group"]),
                ("operation", OPERATIONS[of["verb"]]),
                ("resource", of["resource"]),
            )
            operations[key] += int(count)
    for labels, total in sorted(operations.items()):
        yield "etcd_requests_total", labels, float(total)
        yield from _spread("etcd_request_duration_seconds", labels, float(total), 0.0021, BOUNDS_S)


def _list_own(api: Api, age_s: float, requests: float) -> Iterator[Sample]:
    """The program itself: requests that are being served, its queues, its process."""
    for kind, used in (("mutating", 0.0), ("readOnly", 1.0)):
        yield "apiserver_current_inflight_requests", (("request_kind", kind),), used
    for place, queue in enumerate(QUEUES, 1):
        of = (("name", queue),)
        adds = float(4 + place * 3 + int(age_s / (20 + 9 * place)))
        yield "workqueue_adds_total", of, adds
        yield "workqueue_retries_total", of, float(int(adds / 97))
        for gauge in ("depth", "longest_running_processor_seconds", "unfinished_work_seconds"):
            yield f"workqueue_{gauge}", of, 0.0
        for part, middle in (("queue", 0.000_04), ("work", 0.000_3)):
            yield from _spread(f"workqueue_{part}_duration_seconds", of, adds, middle, QUEUE_BOUNDS_S)
    calls = (("code", "200"), ("host", "[::1]:6443"), ("method", "GET"))
    yield "rest_client_requests_total", calls, float(60 + int(age_s / 9))
    yield "apiserver_audit_event_total", (), 0.0
    yield "process_cpu_seconds_total", (), round(requests * 0.004 + age_s * 0.02, 2)
    yield "process_start_time_seconds", (), round(api.now_s - age_s + 0.37, 2)
    yield "process_resident_memory_bytes", (), 240.0 * 2**20 + len(api.log.objects("", "pods")) * 4096
    yield "process_open_fds", (), 96.0 + api.log.listeners // 8
    yield "go_goroutines", (), 1_200.0 + api.log.listeners * 2
    yield "go_info", (("version", str(VERSION["goVersion"])),), 1.0
    names = {key: sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", key) for key in VERSION}
    build = tuple((names[key], str(VERSION[key])) for key in VERSION if not key.startswith(("emul", "minC")))
    yield "kubernetes_build_info", build, 1.0
