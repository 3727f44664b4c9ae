"""The exporters as programs: kube-state-metrics, node exporter, and one for each kind of datastore."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from simcloud.kubernetes import Cluster
from simcloud.kubernetes.api import Api, Key, at
from simcloud.machine.network import (
    HttpRequest,
    HttpResponse,
    NameNotFound,
    NetworkError,
)
from simcloud.machine.process import Context, Program
from simcloud.telemetry.collectors import KubeState, MachineReadings
from simcloud.telemetry.scrape import Reading, Readings, Report
from simcloud.telemetry.stack.programs import (
    OwnMetrics,
    ask_process,
    make_answer,
    parse_target,
    respond_with,
    respond_with_metrics,
    serve_until_end,
    write_log,
)
from simcloud.telemetry.stack.store_metrics import StoreKind

KUBE_STATE_PORT: Final = 8080
NODE_PORT: Final = 9100
CONSUL_SERVER: Final = "--consul.server="


def make_kube_state_metrics(api: Api) -> Program:
    """Return the program that serves the objects of the API as metrics."""

    async def run(ctx: Context) -> int:
        state = KubeState(api)
        return await serve_until_end(ctx, KUBE_STATE_PORT, make_answer(state.read), state.read, 30)

    return run


def make_node_exporter(cluster: Cluster) -> Program:
    """Return the program that serves the metrics of its machine."""

    async def run(ctx: Context) -> int:
        machine = MachineReadings(cluster.kubelets[ctx.machine.name].node.machine)
        own = OwnMetrics(ctx, "node_exporter", "1.5.0")

        def read() -> Report:
            report = Report()
            report.add_readings(own.read())
            report.add_report(machine.read() or Report())
            return report

        write_log(
            ctx, "node_exporter.go:180", msg="Starting node_exporter", version="(version=1.5.0, branch=HEAD)"
        )
        return await serve_until_end(ctx, NODE_PORT, make_answer(read), read, 12)

    return run


class StoreExporter:
    """An exporter of datastores: reads what a server reports, if it can reach it."""

    def __init__(self, ctx: Context, api: Api, kind: StoreKind) -> None:
        self._source = ctx.container.namespace
        self._api = api
        self._kind = kind
        self._own = OwnMetrics(ctx, f"{kind.name}_exporter", kind.image.rpartition(":")[2].lstrip("v"))
        self._known: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], Reading]] = {}
        self._fixed = next((word.removeprefix(CONSUL_SERVER) for word in ctx.args if word.startswith(CONSUL_SERVER)), None)  # fmt: skip

    def read(self) -> Readings:
        """Return its own metrics, and those of the server that its arguments name."""
        return self._own.read() + ([] if self._fixed is None else self.probe(self._fixed))

    def probe(self, target: str) -> Readings:
        """Return the metrics of a server: ``redis://name.namespace.svc:6379``. ``redis_up`` is 0 if it cannot be reached."""
        up = f"{self._kind.name}_up"
        try:
            samples = [(up, (), 1.0), *self._kind.list_samples(self._ask(target))]
        except (
            NetworkError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ):  # or it is not such a server
            samples = [(up, (), 0.0)]
        known = self._known.setdefault(target, {})
        readings = []
        for name, labels, value in samples:
            reading = known.get((name, labels))
            if reading is None:
                reading = known[name, labels] = Reading(name, labels)
            reading.value = value
            readings.append(reading)
        return readings

    def _ask(self, target: str) -> dict[str, object]:
        url = urlsplit(target if "://" in target else f"//{target}")
        name, _, rest = (url.hostname or "").partition(".")
        service = self._api.log.get(Key("", "services", rest.partition(".")[0], name))
        address = at(service, "spec", "clusterIP", default="") if service is not None else url.hostname or ""
        if service is None and not address.replace(".", "").isdigit():
            raise NameNotFound(url.hostname or "")
        facts: dict[str, object] = ask_process(self._source, address, url.port or self._kind.store_port)
        return facts


def make_store_exporter(api: Api, kind: StoreKind) -> Program:
    """Return the program that serves the metrics of datastores of one kind."""

    async def run(ctx: Context) -> int:
        exporter = StoreExporter(ctx, api, kind)
        answer_others = make_answer(exporter.read)

        async def answer(request: HttpRequest) -> HttpResponse:
            path, parameters = parse_target(request)
            if path != "/scrape" or not kind.has_targets:
                return await answer_others(request)
            targets = parameters.get("target")
            if not targets:
                return respond_with(400, "'target' parameter must be specified\n")
            return respond_with_metrics(lambda: exporter.probe(targets[0]))

        write_log(ctx, "main.go:97", msg=f"Starting {kind.name}_exporter")
        return await serve_until_end(ctx, kind.port, answer, lambda: exporter, 12)

    return run
