"""The application example-app: a web service that greets its users. Its objects are in ``manifests/``."""

from __future__ import annotations

from random import Random

from aiopslab.apps import Application, Component, FrontDoor, Journey, Objective, application
from simcloud.kubernetes.images import ImageRegistry
from simcloud.machine import Image
from simcloud.machine.network import HttpRequest, HttpResponse
from simcloud.machine.process import Context
from simcloud.services import SpanContext, Tracer
from simcloud.services.rpc import HttpServer
from simcloud.userland.commands import all_commands


async def run_web(ctx: Context) -> int:
    """Run the program ``web``. It is configured by its environment, as a real program is."""
    greeting = ctx.env.get("GREETING", "hello")
    server = HttpServer(ctx, Tracer(ctx, "web"), health="/healthz")

    async def greet(request: HttpRequest, span: SpanContext) -> HttpResponse:
        return HttpResponse(200, f"{greeting}\n".encode())

    server.route("/", greet, cpu_s=0.001)
    ctx.log("listening on port 8080")
    return await server.serve(8080)


def make_visit(random: Random) -> HttpRequest:
    """Return the request of one user."""
    return HttpRequest("GET", "/", {"Host": "example-app.example"})


def is_greeting(response: HttpResponse) -> bool:
    """Return whether a response is what the user expects."""
    return response.status == 200 and response.body == b"hello\n"


@application
class ExampleApp(Application):
    """A web service that greets its users."""

    name = "example-app"
    about = "Users are greeted by a web service."  # for the description of problems
    namespace = "example-app"
    front_door = FrontDoor("web", port=80, node_port=30808)
    components = (
        Component("web", owner="web-team"),
    )  # one for each Deployment; calls=(…) names those it needs
    journeys = (Journey("visit", 1.0, make_visit, is_greeting),)
    objectives = (Objective("visit", success=0.999, p99_s=0.050),)

    def publish(self, registry: ImageRegistry) -> None:
        """Add the images of the manifests to the cluster's registry."""
        image = Image("web", {**all_commands(), "web": run_web})
        registry.add("registry.example/example-app/web:1.0", image, args=("web",))
