"""The ``kubernetes`` plugin: names of Services, of the pods behind them, and of pods by their address.

It follows Services and EndpointSlices, indexed by name and by address, and creates records according to Kubernetes'
DNS specification (1.1.0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Key, Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.network.coredns.settings import Kubernetes, below
from simcloud.kubernetes.network.rules import SERVICE_NAME
from simcloud.machine.network import dns, is_address

WATCHED: Final = (
    ("services", "", "*v1.Service"),
    ("endpointslices", "discovery.k8s.io", "*v1.EndpointSlice"),
    ("namespaces", "", "*v1.Namespace"),
)
"""What the plugin lists and watches, and what its log calls it."""

REVERSE: Final = ".in-addr.arpa"
SPECIFICATION: Final = "1.1.0"
SERIAL: Final = 1_767_603_600

ServiceName = tuple[str, str]


class Catalogue:
    """What one CoreDNS knows of the cluster."""

    def __init__(self, client: ComponentClient) -> None:
        self._client = client
        self._slices: dict[ServiceName, dict[str, Object]] = {}
        self._service_at: dict[str, ServiceName] = {}
        self._endpoint_at: dict[str, dict[tuple[ServiceName, str], str]] = {}
        self._stops: list[Callable[[], None]] = []

    def __len__(self) -> int:
        return len(self._service_at) + len(self._slices)

    def follow(self) -> None:
        """Read all there is, and keep up with it."""
        self._stops = [
            self._client.follow("services", self._service_changed),
            self._client.follow("endpointslices.discovery.k8s.io", self._slice_changed),
        ]

    def close(self) -> None:
        """Follow no more."""
        for stop in self._stops:
            stop()
        self._stops.clear()

    def service(self, namespace: str, name: str) -> Object | None:
        """A Service by its name."""
        return self._client.api.log.get(Key("", "services", namespace, name))

    def has_namespace(self, name: str) -> bool:
        """Whether there is a namespace."""
        return self._client.api.log.get(Key("", "namespaces", "", name)) is not None

    def slices(self, namespace: str, service: str) -> list[Object]:
        """The EndpointSlices of a Service."""
        found = self._slices.get((namespace, service), {})
        return [found[name] for name in sorted(found)]

    def service_at(self, address: str) -> ServiceName | None:
        """The Service with a cluster address."""
        return self._service_at.get(address)

    def endpoints_at(self, address: str) -> list[tuple[ServiceName, str]]:
        """The Services that have an endpoint with an address, each with the endpoint's own name."""
        return sorted({(name, host) for (name, _), host in self._endpoint_at.get(address, {}).items()})

    def has_pod(self, namespace: str, address: str) -> bool:
        """Whether a pod of a namespace has an address."""
        return any(
            (pod.get("status") or {}).get("podIP") == address for pod in self._client.list("pods", namespace)
        )

    def _service_changed(self, write: Revision) -> None:
        name = (write.key.namespace, write.key.name)
        for obj in (write.before, write.object):
            for address in (obj or {}).get("spec", {}).get("clusterIPs") or ():
                if obj is write.object and write.change != "DELETED":
                    self._service_at[address] = name
                elif self._service_at.get(address) == name:
                    del self._service_at[address]

    def _slice_changed(self, write: Revision) -> None:
        for obj in (write.before, write.object):
            service = ((obj or {}).get("metadata", {}).get("labels") or {}).get(SERVICE_NAME)
            if obj is None or service is None:
                continue
            name = (write.key.namespace, service)
            stays = obj is write.object and write.change != "DELETED"
            for endpoint in obj.get("endpoints") or ():
                for address in endpoint["addresses"]:
                    there = self._endpoint_at.setdefault(address, {})
                    if stays:
                        there[name, write.key.name] = host_name(endpoint, address)
                    else:
                        there.pop((name, write.key.name), None)
                        if not there:
                            del self._endpoint_at[address]
            slices = self._slices.setdefault(name, {})
            if stays:
                slices[write.key.name] = obj
            else:
                slices.pop(write.key.name, None)
                if not slices:
                    del self._slices[name]


def host_name(endpoint: Object, address: str, by_pod: bool = False) -> str:
    """The label of an endpoint under its Service."""
    if endpoint.get("hostname"):
        return str(endpoint["hostname"])
    if by_pod and (endpoint.get("targetRef") or {}).get("name"):
        return str(endpoint["targetRef"]["name"])
    return address.replace(".", "-").replace(":", "-")


class KubernetesRecords:
    """Answers questions about the zones of one ``kubernetes`` line; None where it has nothing to say."""

    def __init__(self, settings: Kubernetes, catalogue: Catalogue) -> None:
        self.settings = settings
        self._catalogue = catalogue

    def zone_of(self, name: str) -> str | None:
        """Which of the zones a name is in."""
        found = [zone for zone in self.settings.zones if below(name, zone)]
        return max(found, key=len) if found else None

    def answer(self, question: dns.Question) -> dns.Reply | None:
        """The answer, or None when the next plugin is to be asked."""
        zone = self.zone_of(question.name)
        if zone is None:
            return None
        records = self._records(question, zone)
        if records:
            additional = self._targets(records) if question.kind == "SRV" else ()
            return dns.Reply(
                question, dns.NOERROR, _share_weight(records), additional=additional, authoritative=True
            )
        exists = records is not None
        if not exists and any(below(question.name, each) for each in self.settings.fallthrough or ()):
            return None
        code = dns.NOERROR if exists else dns.NXDOMAIN
        return dns.Reply(question, code, authority=(self._soa(zone),), authoritative=True)

    def _targets(self, records: list[dns.Record]) -> tuple[dns.Record, ...]:
        """The addresses of what SRV records point to, for those who would ask for them next."""
        names = dict.fromkeys(record.data.rpartition(" ")[2].rstrip(".") for record in records)
        found: list[dns.Record] = []
        for name in names:
            zone = self.zone_of(name)
            found += (self._records(dns.Question(name, "A"), zone) or []) if zone is not None else []
        return tuple(found)

    def _records(self, question: dns.Question, zone: str) -> list[dns.Record] | None:
        """The records of a name: none of that kind is an empty list, no such name is None."""
        if question.name.endswith(REVERSE):
            return self._reverse(question)
        if question.name == zone:
            return self._apex(question, zone)
        labels = question.name.removesuffix(f".{zone}").split(".")
        if labels == ["dns-version"]:
            return self._if_kind(question, "TXT", [f'"{SPECIFICATION}"'])
        kind, rest = labels[-1], labels[:-1]
        if kind == "pod":
            return self._pod(question, rest)
        if kind != "svc":
            return None
        if len(rest) < 2:
            return [] if not rest or self._sees(rest[-1]) else None
        return self._service(question, zone, rest)

    def _apex(self, question: dns.Question, zone: str) -> list[dns.Record]:
        if question.kind == "SOA":
            return [self._soa(zone)]
        return self._if_kind(question, "NS", [f"ns.dns.{zone}."])

    def _sees(self, namespace: str) -> bool:
        only = self.settings.namespaces
        return (not only or namespace in only) and self._catalogue.has_namespace(namespace)

    def _pod(self, question: dns.Question, labels: list[str]) -> list[dns.Record] | None:
        if not labels or self.settings.pods == "disabled":
            return None
        namespace = labels[-1]
        if not self._sees(namespace):
            return None
        if len(labels) == 1:
            return []
        dashed = labels[0]
        address = dashed.replace("-", "." if dashed.count("-") == 3 and "--" not in dashed else ":")
        if len(labels) > 2 or not is_address(address):
            return None
        if self.settings.pods == "verified" and not self._catalogue.has_pod(namespace, address):
            return None
        return self._if_kind(question, "AAAA" if ":" in address else "A", [address])

    def _service(self, question: dns.Question, zone: str, labels: list[str]) -> list[dns.Record] | None:
        namespace, name, front = labels[-1], labels[-2], labels[:-2]
        service = self._catalogue.service(namespace, name) if self._sees(namespace) else None
        if service is None:
            return None
        spec, base = service["spec"], f"{name}.{namespace}.svc.{zone}"
        if spec.get("type") == "ExternalName":
            return None if front else [self._record(question.name, "CNAME", f"{spec['externalName']}.")]
        port, protocol, endpoint = _parse_port(front)
        if len(front) > 2:
            return None
        if endpoint or spec.get("clusterIP") == "None":
            found = list(self._endpoints(service, base, port, protocol, endpoint))
            if not found:
                return None
            return _once(
                self._of_kind(question, address, target, number) for address, target, number in found
            )
        if self.settings.ignore_empty and not any(self._endpoints(service, base, "", "", "")):
            return None
        ports = [
            each
            for each in spec.get("ports") or ()
            if port in ("", each.get("name")) and protocol in ("", each.get("protocol", "TCP").lower())
        ]
        if front and not ports:
            return None
        return _once(
            self._of_kind(question, address, base, each["port"])
            for address in spec.get("clusterIPs") or ()
            for each in ports
        )

    def _endpoints(
        self, service: Object, base: str, port: str, protocol: str, endpoint: str
    ) -> Iterator[tuple[str, str, int]]:
        """Address, name and port of the endpoints that a name stands for."""
        metadata = service["metadata"]
        if self.settings.without_endpoints:
            return
        for each in self._catalogue.slices(metadata["namespace"], metadata["name"]):
            ports = [
                entry.get("port") or 0
                for entry in each.get("ports") or ()
                if port in ("", entry.get("name")) and protocol in ("", entry.get("protocol", "TCP").lower())
            ]
            if not ports and not (port or protocol):
                ports = [0]
            for member in each.get("endpoints") or ():
                if (member.get("conditions") or {}).get("ready") is False:
                    continue
                for address in member["addresses"]:
                    own = host_name(member, address, self.settings.endpoint_pod_names)
                    if endpoint in ("", own):
                        yield from ((address, f"{own}.{base}", number) for number in ports)

    def _of_kind(self, question: dns.Question, address: str, target: str, port: int) -> dns.Record | None:
        if question.kind == "SRV" and port:
            return self._record(question.name, "SRV", f"{port} {target}.")
        if question.kind == ("AAAA" if ":" in address else "A"):
            return self._record(question.name, question.kind, address)
        return None

    def _reverse(self, question: dns.Question) -> list[dns.Record] | None:
        address = ".".join(reversed(question.name.removesuffix(REVERSE).split(".")))
        zone = self.settings.zone
        service = self._catalogue.service_at(address)
        if service is not None:
            return self._if_kind(question, "PTR", [f"{service[1]}.{service[0]}.svc.{zone}."])
        found = self._catalogue.endpoints_at(address)
        if not found:
            return None
        return self._if_kind(question, "PTR", [f"{own}.{name}.{ns}.svc.{zone}." for (ns, name), own in found])

    def _if_kind(self, question: dns.Question, kind: str, data: list[str]) -> list[dns.Record]:
        return [self._record(question.name, kind, each) for each in data] if question.kind == kind else []

    def _record(self, name: str, kind: str, data: str) -> dns.Record:
        return dns.Record(name, kind, data, self.settings.ttl_s)

    def _soa(self, zone: str) -> dns.Record:
        ttl_s = self.settings.ttl_s
        data = f"ns.dns.{zone}. hostmaster.{zone}. {SERIAL} 7200 1800 86400 {ttl_s}"
        return self._record(zone, "SOA", data)


def _parse_port(front: list[str]) -> tuple[str, str, str]:
    """The port, the protocol and the endpoint that the labels before a Service's name ask for."""
    if len(front) == 2 and front[0].startswith("_") and front[1].startswith("_"):
        return front[0][1:], front[1][1:], ""
    return "", "", front[0] if front else ""


def _once(records: Iterator[dns.Record | None]) -> list[dns.Record]:
    return list(dict.fromkeys(record for record in records if record is not None))


def _share_weight(records: list[dns.Record]) -> tuple[dns.Record, ...]:
    """SRV records share a weight of 100; the others stay as they are."""
    weight = 100 // len(records)
    return tuple(
        replace(record, data=f"0 {weight} {record.data}") if record.kind == "SRV" else record
        for record in records
    )
