"""The identity of a dev agent: its node, its version, and whether it has elected itself yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from simcloud.datastores.consul.documents import agent_service_document
from simcloud.datastores.consul.state import DATACENTER, Node, State

VERSION: Final = "1.20.1"
REVISION: Final = "920cc7c6"
BUILD_DATE: Final = "2024-10-29T19:04:05Z"
ADDRESS: Final = "127.0.0.1"
SERVER_PORT: Final = 8300
SERF_PORT: Final = 8301


class Identity(Struct):
    """One agent, which is the only server of its data centre."""

    node_id: str
    node_name: str
    is_leader: bool = False

    @property
    def leader(self) -> str:
        """The leader's address, empty before the election."""
        return f"{ADDRESS}:{SERVER_PORT}" if self.is_leader else ""

    def node(self) -> Node:
        """Return the agent's own node in the catalogue."""
        meta = {"consul-network-segment": "", "consul-version": VERSION}
        return Node(self.node_name, self.node_id, ADDRESS, meta)

    def self_document(self, state: State) -> dict[str, Any]:
        """``/v1/agent/self``."""
        index, services = state.index, len(state.registrations())
        return {
            "Config": {
                "Datacenter": DATACENTER, "PrimaryDatacenter": DATACENTER, "NodeName": self.node_name,
                "NodeID": self.node_id, "Revision": REVISION, "Server": True, "Version": VERSION,
                "BuildDate": BUILD_DATE,
            },
            "Coord": {"Adjustment": 0, "Error": 1.5, "Height": 0.00001, "Vec": [0] * 8},
            "Member": self.member_document(),
            "Stats": {
                "agent": {"check_monitors": "0", "check_ttls": "0", "checks": "0", "services": str(services)},
                "build": {"prerelease": "", "revision": REVISION, "version": VERSION},
                "consul": {
                    "bootstrap": "false", "known_datacenters": "1", "leader": str(self.is_leader).lower(),
                    "leader_addr": self.leader, "server": "true",
                },
                "raft": {
                    "applied_index": str(index), "commit_index": str(index), "num_peers": "0",
                    "state": "Leader" if self.is_leader else "Follower", "term": "2",
                },
            },
            "Meta": {"consul-network-segment": "", "consul-version": VERSION},
        }  # fmt: skip

    def member_document(self) -> dict[str, Any]:
        """Return an entry of ``/v1/agent/members``."""
        return {
            "Name": self.node_name,
            "Addr": ADDRESS,
            "Port": SERF_PORT,
            "Tags": {
                "acls": "0", "ap": "default", "build": f"{VERSION}:{REVISION}", "dc": DATACENTER,
                "ft_fs": "1", "ft_si": "1", "grpc_port": "8502", "grpc_tls_port": "8503", "id": self.node_id,
                "port": str(SERVER_PORT), "raft_vsn": "3", "role": "consul", "segment": "", "vsn": "2",
                "vsn_max": "3", "vsn_min": "2", "wan_join_port": "8302",
            },
            "Status": 1, "ProtocolMin": 1, "ProtocolMax": 5, "ProtocolCur": 2, "DelegateMin": 2,
            "DelegateMax": 5, "DelegateCur": 4,
        }  # fmt: skip


AGENT_DOCUMENTS: Final[dict[str, Callable[[State, Identity], Any]]] = {
    "/v1/status/leader": lambda state, identity: identity.leader,
    "/v1/status/peers": lambda state, identity: [identity.leader] if identity.is_leader else [],
    "/v1/agent/self": lambda state, identity: identity.self_document(state),
    "/v1/agent/members": lambda state, identity: [identity.member_document()],
    "/v1/agent/services": lambda state, identity: {
        service.id: agent_service_document(service) for service in state.registrations()
    },
    "/v1/agent/checks": lambda state, identity: {},
    "/v1/catalog/datacenters": lambda state, identity: [DATACENTER],
}
"""Documents about the agent, by path."""
