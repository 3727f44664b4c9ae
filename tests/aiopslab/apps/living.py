"""An application on a living cluster, with a user outside it and an operator at a terminal."""

from __future__ import annotations

from aiopslab.apps.base import Application
from aiopslab.cloud.apps import deploy
from simcloud.machine.network.http import HttpRequest, HttpResponse
from simcloud.machine.process import Context
from simcloud.services.rpc.http import HttpClient, HttpError
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

OUTSIDE = "172.18.0.200"


class LivingApplication:
    """``typed`` is the operator's terminal, ``asked`` a user's browser."""

    def __init__(self, app: Application, seed: int, nodes: int) -> None:
        self.world = World(seed)
        self.cluster = add_cluster(self.world, nodes)
        self.cluster.start()
        self.world.run_for(30)
        self.app = app
        self.took_s = deploy(self.world, self.cluster, app)
        self.terminal = Terminal(self.world, self.cluster)
        self._outside = self.world.add_machine("laptop", address=OUTSIDE)

    def typed(self, line: str) -> str:
        """Type a line in the application's namespace, ``k`` being kubectl there, and return what it prints."""
        done = self.terminal.run(f'k() {{ kubectl -n {self.app.ns} "$@"; }}\n{line}', 120.0)
        return (done.stdout + done.stderr).decode()

    def asked(self, path: str, method: str = "GET") -> tuple[int, str]:
        """What a user outside the cluster gets; without an answer 0 and the client's words."""
        response = self.sent(HttpRequest(method, path))
        return response.status, response.body.decode()

    def sent(self, request: HttpRequest) -> HttpResponse:
        """Send a request from outside, and wait for its answer."""
        answers: list[HttpResponse] = []

        async def browser(ctx: Context) -> int:
            client = HttpClient(ctx, timeout_s=20.0)
            url = self.app.frontend_url + request.path
            try:
                answers.append(
                    await client.request(request.method, url, body=request.body, headers=request.headers)
                )
            except HttpError as error:
                answers.append(HttpResponse(0, str(error).encode()))
            return 0

        process = self._outside.host.start(["browser"], program=browser)
        self.world.kernel.run_task(self.world.kernel.spawn(process.wait(), "a user waits"), 60.0)
        return answers[0]
