"""Leader election of ingress-nginx, and the addresses that the leader writes to the status of Ingresses once a minute."""

from __future__ import annotations

from typing import Any, Final

from simcloud.golang import format_json
from simcloud.kubernetes.addons.activity_logs import Logger
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.times import micro, parse
from simcloud.kubernetes.client import ApiClient
from simcloud.kubernetes.klog import Raw
from simcloud.kubernetes.network.ingress.controller import INGRESSES, IngressController
from simcloud.machine.network import is_address

LEASES: Final = "leases.coordination.k8s.io"
LEASE_S: Final = 30
RETRY_S: Final = 7.5
UPDATE_S: Final = 60.0


class StatusWriter:
    """Holds the Lease of the controller if it can, and then writes addresses."""

    def __init__(
        self,
        access: ApiClient,
        log: Logger,
        controller: IngressController,
        options: dict[str, str],
        pod: Object,
    ) -> None:
        self._ctx = log.ctx
        self._access = access
        self._log = log
        self._controller = controller
        self._client = controller.client
        self._published = options.get("publish-status-address", "")
        self._lease = options["election-id"]
        self._pod = pod["metadata"]
        self._leads = False

    async def run(self) -> None:
        """Become the leader, and write addresses from then on."""
        chance, lock = self._ctx.random("leader election"), f"{self._pod['namespace']}/{self._lease}"
        self._log.write_text(f"leaderelection.go:257] attempting to acquire leader lease {lock}...")
        while not self._take_lease():
            await self._ctx.sleep(RETRY_S * chance.uniform(1.0, 2.2))
        self._log.write_text(f"leaderelection.go:271] successfully acquired lease {lock}")
        self._log.write("status.go:85", "New leader elected", identity=self._pod["name"])
        self._leads = True
        self._ctx.spawn(self._update_regularly(), "status")
        while True:
            await self._ctx.sleep(RETRY_S)
            self._take_lease()

    def clear(self) -> None:
        """Remove the addresses at the end of the last controller."""
        if self._leads and len(self._list_pods()) < 2:
            addresses = Raw(format_json(self._list_addresses()))
            self._log.write("status.go:140", "removing value from ingress status", address=addresses)
            self._write([])

    def _take_lease(self) -> bool:
        """Create, take over or renew the Lease; return whether it is held."""
        namespace, resource = self._pod["namespace"], self._client.resource(LEASES)
        found = self._client.get(LEASES, namespace, self._lease)
        now_s = self._access.now_s
        spec: dict[str, Any] = dict(found["spec"]) if found is not None else {"leaseTransitions": 0}
        holder = spec.get("holderIdentity")
        if holder and holder != self._pod["name"] and parse(spec["renewTime"]) + LEASE_S > now_s:
            return False
        if holder != self._pod["name"]:
            spec |= {"acquireTime": micro(now_s), "holderIdentity": self._pod["name"]}
            spec["leaseTransitions"] = (spec.get("leaseTransitions") or 0) + bool(holder)
        spec |= {"leaseDurationSeconds": LEASE_S, "renewTime": micro(now_s)}
        try:
            if found is None:
                self._access.check("create", resource, namespace)
                metadata = {"name": self._lease, "namespace": namespace}
                made = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata}
                self._client.create({**made, "spec": spec})
            else:
                self._access.check("update", resource, namespace, self._lease)
                self._client.update({**found, "spec": spec})
        except ApiError as error:
            text = f"leaderelection.go:436] error retrieving resource lock {namespace}/{self._lease}: {error}"
            self._log.write_text(text, "E")
            return False
        return True

    async def _update_regularly(self) -> None:
        while True:
            self._write(self._list_addresses())
            await self._ctx.sleep(UPDATE_S)

    def _list_pods(self) -> list[Object]:
        labels = {key: value for key, value in (self._pod.get("labels") or {}).items() if "hash" not in key}
        return [
            pod
            for pod in self._client.list("pods", self._pod["namespace"])
            if labels.items() <= (pod["metadata"].get("labels") or {}).items()
        ]

    def _list_addresses(self) -> list[Object]:
        """Return the published address, or those of the nodes on which ready controllers run."""
        if self._published:
            return [{"ip" if is_address(self._published) else "hostname": self._published}]
        found: dict[str, None] = {}
        for pod in self._list_pods():
            conditions = at(pod, "status", "conditions", default=[])
            is_ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
            node = self._client.get("nodes", "", at(pod, "spec", "nodeName", default=""))
            for address in (
                at(node, "status", "addresses", default=[]) if is_ready and node is not None else ()
            ):
                if address["type"] == "InternalIP":
                    found[address["address"]] = None
        return [{"ip": address} for address in sorted(found)]

    def _write(self, addresses: list[Object]) -> None:
        for ingress in self._controller.list_served():
            metadata = ingress["metadata"]
            present = at(ingress, "status", "loadBalancer", "ingress", default=[])
            if present == addresses:
                continue
            self._log.write(
                "status.go:309", "updating Ingress status", namespace=metadata["namespace"], ingress=metadata["name"],
                currentValue=Raw(format_json(present or None)), newValue=Raw(format_json(addresses)),
            )  # fmt: skip
            try:
                resource = self._client.resource(INGRESSES)
                self._access.check("update", resource, metadata["namespace"], metadata["name"], "status")
                status = {"loadBalancer": {"ingress": addresses} if addresses else {}}
                self._client.update_status({**ingress, "status": status})
            except ApiError as error:
                self._log.write_text(f"status.go:313] error updating ingress rule: {error}", "W")
