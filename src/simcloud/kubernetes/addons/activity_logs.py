"""What the system's programs log while they run: what happens in the cluster, in the words of each program.

The lines are those of a genuine cluster of kind, whose programs run with the default verbosity: an API server reports
new cluster addresses and kinds, a controller manager finished syncs and evictions, etcd its compactions. Healthy ones
also warn from time to time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha1
from random import Random
from typing import Any, Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.host.texts import network_config
from simcloud.kubernetes.klog import Klog, Raw, format_klog, format_message
from simcloud.kubernetes.nodes import KUBELET_VERSION
from simcloud.machine import HOUR_S, log_occasionally
from simcloud.machine.process import Context

COMPACTION_S: Final = 300.0
NETWORK_CONFIG: Final = "/etc/cni/net.d/10-kindnet.conflist"
ROUTES_S: Final = 60.0
_COUNTED: Final = (
    "serviceaccounts", "endpointslices.discovery.k8s.io", "deployments.apps", "daemonsets.apps", "replicasets.apps",
    "controllerrevisions.apps", "statefulsets.apps", "jobs.batch", "cronjobs.batch", "ingresses.networking.k8s.io",
    "networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy",
)  # fmt: skip
"""Kinds that count against quotas; the first object of each is reported."""
_READ_KEYS: Final = ("leases/kube-system/kube-scheduler", "leases/kube-system/kube-controller-manager",
                     "endpointslices/default/kubernetes", "services/specs/default/kubernetes")  # fmt: skip
_COMPACTED: Final = "watcher.go:332] watch chan error: etcdserver: mvcc: required revision has been compacted"
_STALE: Final = (
    'resource_quota_controller.go:460] "Error during resource discovery" err="unable to retrieve the complete list of server APIs: '
    'metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1" logger="resourcequota-controller.UnhandledError"'
)

Stops = list[Callable[[], None]]


class Logger:
    """Writes the log of one program: in klog's format, or in etcd's."""

    def __init__(self, ctx: Context, in_json: bool = False) -> None:
        self.ctx = ctx
        self.quiet = False
        """Write nothing: what is read now happened before the program started."""
        self._in_json = in_json
        self._klog = Klog(ctx.kernel, f"{ctx.container.name}/log")

    def write(self, source: str, message: str, level: str = "I", /, **values: Any) -> None:
        """A structured line."""
        self._write(level, source, format_message(message, values))

    def write_text(self, line: str, level: str = "I") -> None:
        """A line given as ``source] text``, or as the fields of a JSON object."""
        source, bracket, text = line.partition("] ")
        if self._in_json:
            written_s = self._klog.next_time(self.ctx.now)
            self.ctx.log(_format_json("info", written_s, line), written_s)
        elif bracket:
            self._write(level, source, text)
        else:
            self.ctx.log(line)

    def warn_occasionally(self, mean_s: float, make_line: Callable[[Random], str], level: str = "W") -> None:
        """Write a line like those of ``write_text`` from time to time; an empty one is not written."""

        def format_line(time_s: float, random: Random) -> str:
            line = make_line(random)
            source, _, text = line.partition("] ")
            if self._in_json:
                return _format_json("warn", time_s, line)
            return format_klog(level, time_s, self.ctx.process.pid, source, text) if line else ""

        log_occasionally(self.ctx, mean_s, format_line)

    def write_startup(self, lines: str) -> None:
        """The first lines, with the values of the node."""
        machine, address = self.ctx.machine, self.ctx.machine.host.namespace.address
        member, cluster = identify_member(address)
        values = {"$NODE_IP": address, "$NODE_NAME": machine.name, "$VERSION": KUBELET_VERSION}
        for name, value in (values | {"$MEMBER": member, "$CLUSTER": cluster}).items():
            lines = lines.replace(name, value)
        for line in lines.splitlines():
            if line.startswith("+"):
                self._klog.pass_time(float(line))
            else:
                self.write_text(line)

    def _write(self, level: str, source: str, text: str) -> None:
        if not self.quiet:
            written_s = self._klog.next_time(self.ctx.now)
            line = format_klog(level, written_s, self.ctx.process.pid, source, text)
            self.ctx.log(line, written_s)


def _format_json(level: str, time_s: float, fields: str) -> str:
    moment = datetime.fromtimestamp(time_s, UTC)
    return f'{{"level":"{level}","ts":"{moment:%Y-%m-%dT%H:%M:%S.%f}Z",{fields}}}'


def identify_member(address: str) -> tuple[str, str]:
    """The ids of the only member of an etcd and of its cluster: digests, as etcd makes them."""
    member = sha1(f"https://{address}:2380etcd-cluster".encode()).digest()[:8]
    cluster = sha1(member).digest()[:8]
    return f"{int.from_bytes(member):x}", f"{int.from_bytes(cluster):x}"


def follow_requests(log: Logger, api: Api) -> Stops:
    """The API server: addresses of new Services, the first objects of a kind, and watches that fell behind."""
    client = ComponentClient(api, "system:apiserver", "kube-apiserver")
    log.warn_occasionally(7 * HOUR_S, lambda _random: _COMPACTED)
    seen: dict[str, None] = {}

    def note_service(write: Revision) -> None:
        address = write.object["spec"].get("clusterIP") or "None"
        if write.change == "ADDED" and address != "None":
            addresses, name = Raw(f'{{"IPv4":"{address}"}}'), f"{write.key.namespace}/{write.key.name}"
            log.write("alloc.go:329", "allocated clusterIPs", service=name, clusterIPs=addresses)

    def note_kind(write: Revision) -> None:
        name = f"{write.key.plural}.{write.key.group}".rstrip(".")
        if name not in seen:
            seen[name] = None
            log.write_text(f"controller.go:667] quota admission added evaluator for: {name}")

    return [client.follow("services", note_service), *(client.follow(name, note_kind) for name in _COUNTED)]


def follow_controllers(log: Logger, api: Api) -> Stops:
    """The controller manager: evictions, a slow metrics server. It says no more without ``--v``."""
    client = ComponentClient(api, "system:kube-controller-manager", "kube-controller-manager")

    def note_event(write: Revision) -> None:
        about, reason = write.object.get("involvedObject") or {}, write.object.get("reason")
        if write.change == "ADDED" and reason == "TaintManagerEviction" and about.get("kind") == "Pod":
            name, controller = f"{about['namespace']}/{about['name']}", "taint-eviction-controller"
            log.write(
                "taint_eviction.go:111", "Deleting pod", logger=controller, controller=controller, pod=name
            )

    def note_stale_metrics(_random: Random) -> str:
        service = client.get("apiservices.apiregistration.k8s.io", "", "v1beta1.metrics.k8s.io")
        return _STALE if service is not None else ""

    log.warn_occasionally(16 * HOUR_S, note_stale_metrics, "E")
    return [client.follow("events", note_event)]


def follow_storage(log: Logger, api: Api) -> Stops:
    """etcd: every five minutes the API server has the old revisions compacted; now and then a request is slow."""
    ctx, random = log.ctx, log.ctx.kernel.random("etcd/compaction")

    async def compact() -> None:
        while True:
            revision = api.log.revision
            await ctx.sleep(COMPACTION_S)
            size = api.log.size_bytes
            took, used = f"{random.uniform(4.0, 19.0):.6f}ms", size * 61 // 100
            log.write_text(f'"caller":"mvcc/index.go:194","msg":"compact tree index","revision":{revision}')
            log.write_text(
                '"caller":"mvcc/kvstore_compaction.go:70","msg":"finished scheduled compaction",'
                f'"compact-revision":{revision},"took":"{took}","hash":{random.getrandbits(32)},'
                f'"current-db-size-bytes":{size},"current-db-size":"{size / 1e6:.1f} MB",'
                f'"current-db-size-in-use-bytes":{used},"current-db-size-in-use":"{used / 1e6:.1f} MB"'
            )

    ctx.spawn(compact(), "compaction")
    log.warn_occasionally(2.5 * HOUR_S, _describe_slow_request)
    return []


def _describe_slow_request(random: Random) -> str:
    key, took_ms = random.choice(_READ_KEYS), 100 + min(random.expovariate(1 / 35), 400)
    return (
        f'"caller":"txn/util.go:93","msg":"apply request took too long","took":"{took_ms:.6f}ms",'
        f'"expected-duration":"100ms","prefix":"read-only range ","request":"key:\\"/registry/{key}\\" limit:1 ",'
        f'"response":"range_response_count:1 size:{random.randrange(420, 780)}"'
    )


def follow_nodes(log: Logger, api: Api) -> Stops:
    """kindnet: the network plugin's configuration, and the routes to the other nodes, which it checks again and again."""
    ctx, client = log.ctx, ComponentClient(api, "system:kindnet", "kindnet")
    own_node = client.get("nodes", "", ctx.machine.name)
    pod_range = own_node["spec"].get("podCIDR") if own_node is not None else None
    files = ctx.machine.host.files  # its volume is that folder of the machine
    if pod_range and files.is_dir("/etc/cni/net.d") and not files.exists(NETWORK_CONFIG):
        files.put(NETWORK_CONFIG, network_config(pod_range).encode())

    async def check_routes() -> None:
        while True:
            for node in client.list("nodes"):
                addresses = (node.get("status") or {}).get("addresses") or ()
                address = next((each["address"] for each in addresses if each["type"] == "InternalIP"), "")
                name, ranges = node["metadata"]["name"], " ".join(node["spec"].get("podCIDRs") or ())
                log.write_text(f"main.go:297] Handling node with IPs: map[{address}:{{}}]")
                own = "main.go:301] handling current node"
                log.write_text(
                    own if name == ctx.machine.name else f"main.go:324] Node {name} has CIDR [{ranges}] "
                )
            await ctx.sleep(ROUTES_S)

    ctx.spawn(check_routes(), "routes")
    return []
