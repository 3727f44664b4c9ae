"""Two machines on one network: one to type on, one where servers run."""

from __future__ import annotations

from simcloud.machine.computer import Machine
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.network.http import HttpHandler, HttpRequest, HttpResponse, respond, serve_http
from simcloud.machine.process import Completed, Context, Process
from simcloud.sim import Kernel
from simcloud.userland.images import operator_image
from tests.simcloud.conftest import WORK, type_line

ADDRESSES = {"web": "10.0.0.2", "dead": "10.0.0.9"}


class TwoMachines:
    """``here`` is where lines are typed, ``there`` is called web; nobody has the address of dead."""

    def __init__(self) -> None:
        self.kernel = Kernel(1)
        self.network = Network(self.kernel)
        resolver = HostsResolver(ADDRESSES)
        self.here, self.there = (
            Machine(self.kernel, self.network, name, address, operator_image(), resolver=resolver)
            for name, address in (("host-1", "10.0.0.1"), ("host-2", "10.0.0.2"))
        )
        for machine in (self.here, self.there):
            machine.host.files.mkdir(WORK)

    def type(self, line: str, stdin: bytes = b"") -> Completed:
        """Run a line here, to its end."""
        return type_line(self.here, line, stdin)

    def text(self, line: str) -> str:
        """What a line writes to stdout."""
        return self.type(line).stdout.decode()

    def timed(self, line: str) -> tuple[Completed, float]:
        """What a line did, and how much virtual time it took."""
        start = self.kernel.now
        done = self.type(line)
        return done, self.kernel.now - start

    def begin(self, line: str, machine: Machine | None = None) -> Process:
        """Start a line on a machine, there unless told otherwise, and leave it running."""
        on = machine or self.there
        process = on.host.start(["bash", "-c", line], env={"LC_ALL": "C"}, cwd=WORK)
        self.kernel.run_for(0.1)
        return process

    def serve(self, handler: HttpHandler, protocol: str = "http") -> Process:
        """Start a server on port 80 there, and wait until it listens."""
        process = self.launch(handler, protocol)
        self.kernel.run_for(0.1)
        return process

    def launch(self, handler: HttpHandler, protocol: str = "http") -> Process:
        """Start a server on port 80 there."""

        async def server(ctx: Context) -> int:
            serve_http(ctx, 80, handler, protocol)
            while True:
                await ctx.sleep(3600)

        return self.there.host.start(["server"], program=server)

    def listen(self, protocol: str, port: int = 80) -> Process:
        """Start a server of another protocol there, which answers nothing."""

        async def server(ctx: Context) -> int:
            listener = ctx.listen(port, protocol)
            while True:
                await listener.accept()

        process = self.there.host.start(["server"], program=server)
        self.kernel.run_for(0.1)
        return process

    def partition(self) -> None:
        """Nothing passes between the two any more."""
        self.network.link("host-1", "host-2").partitioned = True


async def website(request: HttpRequest) -> HttpResponse:
    """A few pages to ask for."""
    pages = {
        "/hello": respond(200, "hello\n", Content_Type="text/plain"),
        "/missing": respond(404, "not here\n", Content_Type="text/plain"),
        "/broken": respond(500, "boom\n", Content_Type="text/plain"),
        "/moved": respond(302, Location="/hello"),
        "/kept": respond(307, Location="/echo"),
        "/loop": respond(302, Location="/loop"),
        "/away": respond(301, Location="http://dead:8080/x"),
    }
    if request.path.startswith("/echo"):
        head = "".join(f"{name}: {value}\n" for name, value in request.headers.items())
        return respond(200, f"{request.method} {request.path}\n{head}\n".encode() + request.body)
    return pages.get(request.path) or respond(200, "index\n", Content_Type="text/html")
