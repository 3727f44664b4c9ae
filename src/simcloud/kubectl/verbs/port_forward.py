"""``kubectl port-forward``: forwards ports of the machine that kubectl runs on to a pod."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final

from msgspec import Struct

from simcloud.golang import quote
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, UsageError, klog
from simcloud.kubectl.pods.ports import PortPair, pod_ports, read_pairs, service_ports
from simcloud.kubectl.pods.streams import Incoming, reach
from simcloud.kubectl.pods.targets import find_target, pod_to_run_in, running_timeout_s
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import ApiError, Object, Splice, at
from simcloud.kubernetes.api.subresources import runtime_of
from simcloud.machine.network import Connection as Socket, NetworkError
from simcloud.machine.process import Context, Signal

EXAMPLES: Final = (
    "kubectl port-forward pod/web-1 8080:80",
    "kubectl port-forward svc/web 8080:http &",
    "kubectl port-forward deploy/web :80 --address 0.0.0.0",
)
LOCALHOST: Final = ("127.0.0.1", "::1")


@command("port-forward", "Forward local ports to a pod", examples=EXAMPLES)
async def port_forward(kubectl: Kubectl) -> None:
    """Listen, and let every connection go on in the pod, until one of them fails."""
    if len(kubectl.args) < 2:
        raise UsageError("TYPE/NAME and list of ports are required for port-forward", kubectl.command.full)
    running_timeout_s(kubectl, tells_usage=True)
    word, *ports = kubectl.args
    info = await find_target(kubectl, word)
    pod = await pod_to_run_in(kubectl, info)
    if info.resource.key == ("", "services"):
        ports = service_ports(ports, info.obj, pod)
    else:
        ports = pod_ports(ports, pod)
    phase = at(pod, "status", "phase", default="")
    if phase != "Running":
        raise KubectlError(f"unable to forward port because pod is not running. Current status={phase}")
    addresses = read_addresses(kubectl.flags["address"])
    pairs = read_pairs(ports)
    connection = await kubectl.connect()
    try:
        pod = reach(connection, pod, "portforward")
        runtime_of(connection.api, pod)
    except KubectlError as error:
        raise KubectlError(f"error upgrading connection: {error.message}") from None
    await Forwarder(kubectl, connection, pod).run(addresses, pairs)


def read_addresses(words: list[str]) -> dict[str, bool]:
    """Where to listen, in order; whether a failure there is a failure, or another place will do."""
    found: dict[str, bool] = {}
    for word in words:
        if word == "localhost":
            found.update({address: False for address in LOCALHOST if address not in found})
            continue
        try:
            ip_address(word)
        except ValueError:
            raise KubectlError(f"{word} is not a valid IP") from None
        found[word] = True
    return dict(sorted(found.items()))


class Arrival(Struct, frozen=True):
    """A connection that was taken at a port, or why one was lost there."""

    pair: PortPair
    socket: Socket | None
    why: str = ""


class Forwarder:
    """Takes connections and leads them to one pod."""

    def __init__(self, kubectl: Kubectl, connection: ApiClient, pod: Object) -> None:
        self._kubectl = kubectl
        self._ctx: Context = kubectl.ctx
        self._connection = connection
        self._pod = pod
        self._arrivals: Incoming[Arrival] = Incoming(kubectl.ctx, None)
        self._splices: dict[Socket, Splice] = {}

    async def run(self, addresses: dict[str, bool], pairs: list[PortPair]) -> None:
        """Forward until the pod is lost."""
        listening = [await self._listen(pair, addresses) for pair in pairs]
        if not any(listening):
            ports = " ".join(f"{{{pair.local} {pair.remote}}}" for pair in pairs)
            raise KubectlError(f"unable to listen on any of the requested ports: [{ports}]")
        self._ctx.signals.on(Signal.INT, lambda _: self._arrivals.end())
        try:
            async for arrival in self._arrivals:
                await self._handle(arrival)
        finally:
            for splice in list(self._splices.values()):
                splice.close()

    async def _listen(self, pair: PortPair, addresses: dict[str, bool]) -> bool:
        """Take connections at every address; a port of none is chosen once."""
        failures, failed, taken = [], False, 0
        for address, required in addresses.items():
            shown = f"[{address}]" if ":" in address else address
            try:
                listener = self._ctx.listen(pair.local, "raw", address)
            except NetworkError as error:
                version = 6 if ":" in address else 4
                failures.append(
                    f"unable to create listener: Error listen tcp{version} {shown}:{pair.local}: bind: "
                    f"{str(error).lower()}"
                )
                failed = failed or required
                continue
            taken += not required
            pair.local = listener.port
            listener.on_accept = lambda socket: self._arrivals.put(Arrival(pair, socket), 0)
            await self._kubectl.out(f"Forwarding from {shown}:{pair.local} -> {pair.remote}\n")
        if failures and (failed or not taken):
            await self._kubectl.err(
                f"Unable to listen on port {pair.local}: Listeners failed to create with the following errors: "
                f"[{' '.join(failures)}]\n"
            )
            return False
        return True

    async def _handle(self, arrival: Arrival) -> None:
        pair, socket = arrival.pair, arrival.socket
        if socket is None:
            await self._give_up(pair, arrival.why)
            return
        await self._kubectl.out(f"Handling connection for {pair.local}\n")
        try:
            runtime = runtime_of(self._connection.api, self._pod)
            splice = runtime.splice(self._pod, pair.remote, socket, lambda why: self._end(pair, socket, why))
        except ApiError as error:
            socket.close()
            await self._give_up(pair, error.message)
            return
        self._splices[socket] = splice

    def _end(self, pair: PortPair, socket: Socket, why: str) -> None:
        self._splices.pop(socket, None)
        if why:
            self._arrivals.put(Arrival(pair, None, why), 0)

    async def _give_up(self, pair: PortPair, why: str) -> None:
        message = quote(f"an error occurred forwarding {pair.local} -> {pair.remote}: {why}")
        line = klog(self._ctx, "E", "portforward.go:522", f'"Unhandled Error" err={message}')
        await self._kubectl.err(line)
        raise KubectlError("lost connection to pod")
