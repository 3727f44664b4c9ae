"""Leader election: a component of the control plane works while it holds its Lease.

There is one instance of each component, so there is no contention; operators see the Lease, its renewal and the
event, and that the loops of a new control plane start after a moment. An instance whose process ends stops working; the
next one waits until the Lease has expired.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import micro, parse
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.events import Recorder

NAMESPACE: Final = "kube-system"
LEASE_S: Final = 15
RENEW_S: Final = 2.0
WARM_UP_S: Final = 4.5
"""From the Lease to the first turn of a loop: caches are filled first."""


class Leadership:
    """The Lease of one component, held by its instance on one host."""

    def __init__(self, api: Api, component: str, host: str) -> None:
        self._api = api
        self._component = component
        self._client = ComponentClient(api, f"system:{component}", component)
        self._identity = f"{host}_{api.new_uid()}"

    def start(self, lead: Callable[[], None]) -> None:
        """Take the Lease, say so, and lead once the caches are filled."""
        now = micro(self._api.now_s)
        lease: Object = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self._component, "namespace": NAMESPACE},
            "spec": {
                "holderIdentity": self._identity,
                "leaseDurationSeconds": LEASE_S,
                "acquireTime": now,
                "renewTime": now,
                "leaseTransitions": 0,
            },
        }
        self._announce(self._client.create(lease))
        self._api.kernel.call_later(WARM_UP_S, lambda _: lead(), None)
        self._api.kernel.spawn(self._renew(), f"{self._component}.lease")

    async def _renew(self) -> None:
        components = self._api.components
        while True:
            await self._api.kernel.sleep(RENEW_S)
            if not components.has_process(self._component):
                components.halt(self._component)
                continue
            held = self._client.get("leases.coordination.k8s.io", NAMESPACE, self._component)
            if held is None:
                continue
            try:
                if components.is_halted(self._component):
                    await self._succeed(held)
                else:
                    self._update(held)
            except ApiError:
                continue  # the next turn tries again

    async def _succeed(self, held: Object) -> None:
        """Lead as a new instance, once the Lease of the old one has expired."""
        if self._api.now_s < parse(held["spec"]["renewTime"]) + LEASE_S:
            return
        self._identity = f"{self._identity.partition('_')[0]}_{self._api.new_uid()}"
        now, transitions = micro(self._api.now_s), held["spec"].get("leaseTransitions", 0) + 1
        self._update(held, holderIdentity=self._identity, acquireTime=now, leaseTransitions=transitions)
        self._announce(held)
        await self._api.kernel.sleep(WARM_UP_S)
        self._api.components.resume(self._component)

    def _update(self, held: Object, **changes: object) -> None:
        spec = {**held["spec"], **changes, "renewTime": micro(self._api.now_s)}
        self._client.update({**held, "spec": spec})

    def _announce(self, lease: Object) -> None:
        words = f"{self._identity} became leader"
        Recorder(self._client, self._component).event(lease, "Normal", "LeaderElection", words)
