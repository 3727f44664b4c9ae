"""What the system's programs log while they run: what happens in the cluster, in the words of each program.

The lines are those of a genuine cluster of kind, whose programs run with the default verbosity: an API server reports
new cluster addresses and kinds, a controller manager finished syncs and evictions, etcd its compactions.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha1
from typing import Any, Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.host.texts import network_config
from simcloud.kubernetes.klog import Klog, Raw, format_klog, format_message
from simcloud.kubernetes.nodes import KUBELET_VERSION
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
            moment = datetime.fromtimestamp(written_s, UTC)
            self.ctx.log(f'{{"level":"info","ts":"{moment:%Y-%m-%dT%H:%M:%S.%f}Z",{line}}}', written_s)
        elif bracket:
            self._write(level, source, text)
        else:
            self.ctx.log(line)

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


def identify_member(address: str) -> tuple[str, str]:
    """The ids of the only member of an etcd and of its cluster: digests, as etcd makes them."""
    member = sha1(f"https://{address}:2380etcd-cluster".encode()).digest()[:8]
    cluster = sha1(member).digest()[:8]
    return f"{int.from_bytes(member):x}", f"{int.from_bytes(cluster):x}"


def follow_requests(log: Logger, api: Api) -> Stops:
    """The API server: addresses of new Services, and the first objects of a kind."""
    client = ComponentClient(api, "system:apiserver", "kube-apiserver")
    seen: dict[str, None] = {}

    def note_service(write: Revision) -> None:
        address = write.object["spec"].get("clusterIP") or "None"
        if write.change == "ADDED" and address != "None":
            addresses, name = Raw(f'{{"IPv4":"{address}"}}'), f"{write.key.namespace}/{write.key.name}"
            log.write("alloc.go:328", "allocated clusterIPs", service=name, clusterIPs=addresses)

    def note_kind(write: Revision) -> None:
        name = f"{write.key.plural}.{write.key.group}".rstrip(".")
        if name not in seen:
            seen[name] = None
            log.write_text(f"controller.go:667] quota admission added evaluator for: {name}")

    return [client.follow("services", note_service), *(client.follow(name, note_kind) for name in _COUNTED)]


def follow_controllers(log: Logger, api: Api) -> Stops:
    """The controller manager: syncs of ReplicaSets, nodes that do not answer, evictions."""
    client = ComponentClient(api, "system:kube-controller-manager", "kube-controller-manager")
    random = log.ctx.kernel.random("kube-controller-manager/durations")
    ready: dict[str, bool] = {}

    def note_replica_set(write: Revision) -> None:
        if write.change == "MODIFIED":
            key, took = f"{write.key.namespace}/{write.key.name}", f"{random.uniform(1.1, 28.0):.6f}ms"
            values = {"logger": "replicaset-controller", "kind": "ReplicaSet", "key": key, "duration": took}
            log.write("replica_set.go:628", "Finished syncing", **values)

    def note_node(write: Revision) -> None:
        name = write.key.name
        conditions = (write.object.get("status") or {}).get("conditions") or ()
        is_ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
        if ready.get(name) and not is_ready:
            what = "Node is unresponsive. Adding it to the Taint queue"
            log.write("node_lifecycle_controller.go:822", what, logger="node-lifecycle-controller", node=name)
        ready[name] = is_ready

    def note_event(write: Revision) -> None:
        about, reason = write.object.get("involvedObject") or {}, write.object.get("reason")
        if write.change == "ADDED" and reason == "TaintManagerEviction" and about.get("kind") == "Pod":
            name, controller = f"{about['namespace']}/{about['name']}", "taint-eviction-controller"
            log.write(
                "taint_eviction.go:113", "Deleting pod", logger=controller, controller=controller, pod=name
            )

    return [
        client.follow("replicasets.apps", note_replica_set),
        client.follow("nodes", note_node),
        client.follow("events", note_event),
    ]


def follow_storage(log: Logger, api: Api) -> Stops:
    """etcd: every five minutes the API server has the old revisions compacted."""
    ctx, random = log.ctx, log.ctx.kernel.random("etcd/compaction")

    async def compact() -> None:
        while True:
            revision = api.log.revision
            await ctx.sleep(COMPACTION_S)
            size = api.log.size_bytes
            took, used = f"{random.uniform(4.0, 19.0):.6f}ms", size * 61 // 100
            log.write_text(f'"caller":"mvcc/index.go:194","msg":"compact tree index","revision":{revision}')
            log.write_text(
                '"caller":"mvcc/kvstore_compaction.go:71","msg":"finished scheduled compaction",'
                f'"compact-revision":{revision},"took":"{took}","hash":{random.getrandbits(32)},'
                f'"current-db-size-bytes":{size},"current-db-size":"{size / 1e6:.1f} MB",'
                f'"current-db-size-in-use-bytes":{used},"current-db-size-in-use":"{used / 1e6:.1f} MB"'
            )

    ctx.spawn(compact(), "compaction")
    return []


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
