"""Leader election: a component of the control plane works while it holds its Lease.

There is one instance of each component, so there is no contention; operators see the Lease, its renewal and the
event, and that the loops of a new control plane start after a moment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import micro
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
        made = self._client.create(lease)
        words = f"{self._identity} became leader"
        Recorder(self._client, self._component).event(made, "Normal", "LeaderElection", words)
        self._api.kernel.call_later(WARM_UP_S, lambda _: lead(), None)
        self._api.kernel.spawn(self._renew(), f"{self._component}.lease")

    async def _renew(self) -> None:
        while True:
            await self._api.kernel.sleep(RENEW_S)
            held = self._client.get("leases.coordination.k8s.io", NAMESPACE, self._component)
            if held is None:
                continue
            try:
                self._client.update({**held, "spec": {**held["spec"], "renewTime": micro(self._api.now_s)}})
            except ApiError:
                continue  # the next turn tries again
