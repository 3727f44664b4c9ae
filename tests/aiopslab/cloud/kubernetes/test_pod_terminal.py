"""The network of an agent's terminal: it works in the cluster, reaches nothing outside, and nothing reaches it."""

from __future__ import annotations

import json

from aiopslab.cloud import ADMIN, Environment, start_outside
from aiopslab.cloud.kubernetes.pod_terminal import NAMESPACE, build_account, build_pod
from simcloud.machine.network import HttpRequest, HttpResponse, serve_http
from simcloud.machine.process import Context
from simcloud.world import TOOLBOX, Copy, publish_toolbox

PORT = 8080


async def serve_page(ctx: Context) -> int:
    """A page on the internet."""

    async def answer(_request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, body=b"the answers")

    serve_http(ctx, PORT, answer)
    await ctx.sleep(1e6)
    return 0


def test_a_terminal_reaches_the_cluster_only_and_is_not_reached(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        copy.call(check_terminal)


def check_terminal(environment: Environment) -> None:
    publish_toolbox(environment.cluster)
    outside = start_outside(environment.world, "web", serve_page).namespace.address
    server = environment.run(
        "kubectl get endpointslice kubernetes -o jsonpath='{.endpoints[0].addresses[0]}'"
    )

    def apply(obj: object) -> None:
        environment.run(f"kubectl -n {NAMESPACE} create -f - <<< '{json.dumps(obj)}'")

    for _, obj in build_account(ADMIN, {}, [server.strip()]):
        apply(obj)
    apply(build_pod(TOOLBOX, {}))
    environment.run_for(60)

    def type_line(line: str) -> str:
        return environment.run(f"kubectl -n {NAMESPACE} exec terminal -- sh -c '{line}' 2>&1 || true")

    assert "frontend" in type_line(f"kubectl -n {environment.namespace} get pods")
    assert "<html" in type_line(f"curl -sm 3 http://frontend.{environment.namespace}:5000/")
    assert "exit code 28" in type_line(f"curl -sm 3 http://{outside}:{PORT}")  # no connection in time
    address = environment.run(f"kubectl -n {NAMESPACE} get pod terminal -o jsonpath='{{.status.podIP}}'")
    type_line(f"nc -lk -p {PORT} > /dev/null 2>&1 &")
    reach = f"nc -zw 2 {address} {PORT} && echo reached; true"
    from_pod = f"kubectl -n {environment.namespace} exec deploy/consul -- sh -c '{reach}' 2>&1"
    assert "reached" not in environment.run(from_pod)
    environment.run(f"kubectl -n {NAMESPACE} delete networkpolicy terminal")
    assert type_line(f"curl -sm 3 http://{outside}:{PORT}") == "the answers"
    assert "reached" in environment.run(from_pod)
