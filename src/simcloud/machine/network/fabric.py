"""The network as a whole: machines, the links between them, and who has which address."""

from __future__ import annotations

from simcloud.machine.network.datagram_flows import DatagramFlows
from simcloud.machine.network.link import LINK_DELAY_S, LOCAL_DELAY_S, Impairment, Link, Meter, Nic
from simcloud.machine.network.namespace import Namespace, Resolver
from simcloud.machine.network.packet_filter import Ways, ways_between
from simcloud.machine.network.path import Interface, Path, Router, Tap
from simcloud.machine.network.qdisc import Exit
from simcloud.machine.network.routing import HostsResolver, PlainRouter
from simcloud.machine.network.tables import FIRST_INTERFACE, NodeNetworking, host_interface
from simcloud.sim import Kernel


class Network:
    """All computers of a world and the wires between them.

    ``router`` and ``resolver`` may be replaced; new namespaces get the resolver of that moment.
    ``version`` grows with every change that may matter to a packet.
    """

    def __init__(
        self, kernel: Kernel, router: Router | None = None, resolver: Resolver | None = None
    ) -> None:
        self.kernel = kernel
        self.router: Router = router or PlainRouter()
        self.resolver: Resolver = resolver or HostsResolver()
        self.version = 0
        self.noise: tuple[float, ...] = ()
        """Factors by which delays vary, for paths used from now on; without any, they do not."""
        self.machines: dict[str, Nic] = {}
        self.taps: list[Tap] = []
        self.datagram_flows = DatagramFlows()
        self._links: dict[tuple[str, str], Link] = {}
        self.cluster: NodeNetworking | None = None
        self._paths: dict[tuple[Interface, Interface, str], Path] = {}
        self._addresses: dict[str, Namespace] = {}
        self._exits: dict[Interface | str, Exit] = {}
        self._hosts: dict[str, Namespace] = {}

    def add_machine(self, name: str, link_delay_s: float = LINK_DELAY_S) -> Nic:
        """A machine, with its one-way delay to the others (a distant one has more)."""
        if name in self.machines:
            raise ValueError(f"there is a machine '{name}' already; choose another name")
        nic = Nic(name, self.invalidate_paths, link_delay_s)
        self.machines[name] = nic
        return nic

    def link(self, a: str, b: str) -> Link:
        """The link between two machines, the same for both directions; of one machine, its bridge."""
        key = (a, b) if a <= b else (b, a)
        link = self._links.get(key)
        if link is None:
            nic_a, nic_b = self._nic(a), self._nic(b)
            delay_s = LOCAL_DELAY_S if a == b else max(nic_a.link_delay_s, nic_b.link_delay_s)
            link = self._links[key] = Link(self.invalidate_paths, key, delay_s)
        return link

    def namespace(self, name: str, address: str, machine: str) -> Namespace:
        """A new namespace with an address of its own, on a machine."""
        self._nic(machine)
        namespace = Namespace(self, name, address, machine)
        if name == machine:
            self._hosts[machine] = namespace
            self.machines[machine].next_interface = FIRST_INTERFACE
            namespace.number = host_interface(address)
        else:
            namespace.number = self._number_interface(machine)
        self.claim(address, namespace)
        return namespace

    def _number_interface(self, machine: str) -> int:
        nic, host = self._nic(machine), self._hosts.get(machine)
        nic.next_interface += 1
        if host is not None and host.number == nic.next_interface:
            nic.next_interface += 1
        return nic.next_interface

    def find(self, address: str) -> Namespace | None:
        """Return the namespace that has this address, or None."""
        namespace = self._addresses.get(address)
        return namespace if namespace is not None and namespace.is_up else None

    def set_tap(self, tap: Tap, is_on: bool) -> None:
        """Show all packets to a tap from now on, or no more."""
        self.taps = [*(each for each in self.taps if each != tap), *([tap] if is_on else [])]
        self.invalidate_paths()

    # -- called by the parts -------------------------------------------------------------------

    def host_of(self, machine: str) -> Namespace | None:
        """A machine's own namespace."""
        return self._hosts.get(machine)

    def namespaces(self) -> list[Namespace]:
        """All namespaces that have an address."""
        return list(self._addresses.values())

    def interfaces_on(self, machine: str) -> list[Namespace]:
        """All namespaces of a machine, in the order of their numbers."""
        found = [namespace for namespace in self._addresses.values() if namespace.machine == machine]
        return sorted(found, key=lambda namespace: namespace.number)

    def find_linked_machines(self, machine: str) -> list[str]:
        """The machines that this one has exchanged packets with."""
        return [
            b if a == machine else a
            for (a, b), link in self._links.items()
            if a != b and machine in (a, b) and link.packets
        ]

    def path(self, source: Interface, target: Interface, via: str = "") -> Path:
        """The way from one namespace to the other; always the same object.

        Traffic that a third machine forwards (``via``) is counted there, too; its delay is not simulated.
        """
        path = self._paths.get((source, target, via))
        if path is None:
            path = Path(self, source, target, via)
            if not (source.gone or target.gone):
                self._watch(path)
        return path

    def places_between(self, source: Interface, target: Interface) -> list[tuple[Impairment, int]]:
        """What a packet passes on its way, and in which direction."""
        link = self.link(source.machine, target.machine)
        wire: list[tuple[Impairment, int]] = [(link, link.direction_from(source.machine))]
        if source.machine != target.machine:
            leaves, enters = self.machines[source.machine].impairment, self.machines[target.machine].ingress
            wire = [*self._queue_at(source.machine), (leaves, 0), *wire, (enters, 0)]
        for end, other in ((source, target), (target, source)):
            if self._hosts.get(end.machine) not in (end, other):
                wire.append((self.machines[end.machine].forwarding, 0))
        return [*self._queue_at(source), (source.impairment, 0), *wire, (target.ingress, 0)]

    def exit_of(self, interface: Interface | str) -> Exit:
        """Where packets leave a namespace, or (by its name) a machine."""
        found = self._exits.get(interface)
        if found is None:
            if isinstance(interface, str):
                found = Exit(self.invalidate_paths, self._nic(interface).sent)
            else:  # numbers are given by the machine's kernel, to whichever namespace
                found = Exit(self.invalidate_paths, interface.sent, self.exit_of(interface.machine).handles)
            self._exits[interface] = found
        return found

    def _queue_at(self, interface: Interface | str) -> list[tuple[Impairment, int]]:
        found = self._exits.get(interface)
        return [(found.queueing.place, 0)] if found is not None and found.queueing is not None else []

    def filters_between(self, source: Interface, target: Interface, via: str) -> Ways | None:
        """The packet filters on the way, None when there are none: that of each end, and those of pods' machines."""
        hosts = self._hosts.get(source.machine), self._hosts.get(via), self._hosts.get(target.machine)
        return (
            ways_between(source, target, hosts)
            if source is not target
            else ways_between(source, target, (source, None, source))
        )

    def invalidate_paths(self) -> None:
        """Make every path check its route again, after a change of the network."""
        self.version += 1
        for path in self._paths.values():
            path.healthy = False

    def claim(self, address: str, namespace: Namespace) -> None:
        """Answer for an address from now on."""
        if address in self._addresses:
            holder = self._addresses[address].name
            raise ValueError(f"{address} belongs to '{holder}' already; addresses are unique")
        self._addresses[address] = namespace

    def forget(self, namespace: Namespace) -> None:
        """A namespace is no more: its address is free, its traffic stays counted."""
        del self._addresses[namespace.address]
        self._exits.pop(namespace, None)
        self.invalidate_paths()
        for pair in [pair for pair in self._paths if namespace in pair]:
            path = self._paths.pop(pair)
            for meter in self._meters(path):
                meter.forget(path)

    def _watch(self, path: Path) -> None:
        self._paths[path.source, path.target, path.via] = path
        for meter in self._meters(path):
            meter.watch(path)

    def _meters(self, path: Path) -> tuple[Meter, ...]:
        if path.source is path.target:
            return ()
        link = self.link(path.source.machine, path.target.machine)
        meters = path.source.sent, path.target.received, link.meter
        leaves, enters = self.machines[path.source.machine], self.machines[path.target.machine]
        if path.via:
            forwards = self.machines[path.via]
            return (*meters, leaves.sent, forwards.received, forwards.sent, enters.received)
        return (*meters, leaves.sent, enters.received) if leaves is not enters else meters

    def _nic(self, machine: str) -> Nic:
        if machine not in self.machines:
            raise ValueError(f"there is no machine '{machine}'; add_machine comes first")
        return self.machines[machine]
