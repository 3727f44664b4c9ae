"""Prometheus as a program in a pod: it scrapes, evaluates rules, sends alerts and answers queries while it runs.

Its samples are those of ``Monitoring``. They outlive the process on its volume: a Prometheus that starts on an empty one
starts without samples.
"""

from __future__ import annotations

from random import Random
from typing import Final
from urllib.parse import quote_plus

import yaml

from simcloud.machine import HOUR_S, log_occasionally
from simcloud.machine.files import FileError
from simcloud.machine.network import HttpRequest, HttpResponse, NetworkError, respond
from simcloud.machine.process import Context, Process, Program, Signal
from simcloud.telemetry.monitoring import Monitoring
from simcloud.telemetry.prometheus_api import VERSION
from simcloud.telemetry.prometheus_paths import PrometheusPaths
from simcloud.telemetry.promql.printer import format_query
from simcloud.telemetry.rules import AlertingRule, BadRules, RuleGroup, read_rules
from simcloud.telemetry.scrape import Reading, Readings
from simcloud.telemetry.stack.alertmanager import PORT as ALERTMANAGER_PORT, Alertmanager, ReceivedAlert
from simcloud.telemetry.stack.discovery import Discovery
from simcloud.telemetry.stack.programs import (
    OwnMetrics,
    format_log,
    parse_target,
    refuse_path,
    respond_with,
    respond_with_metrics,
    serve_until_end,
    write_log,
)

PORT: Final = 9090
CONFIG: Final = "/etc/prometheus/prometheus.yml"
DATA: Final = "/prometheus"
ALERTS_URL: Final = f"http://alertmanager.monitoring.svc:{ALERTMANAGER_PORT}/api/v2/alerts"
QUERY_CPU_S: Final = 0.001
DEPRECATED: Final = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
KEPT_MS: Final = 4 * 60_000
"""Time after which Alertmanager ends an alert that was not sent again."""


class BadConfig(ValueError):
    """The configuration cannot be used; the message says why."""


def read_text(ctx: Context, path: str) -> str:
    """Return the text of a file; raises ``BadConfig``."""
    try:
        return ctx.files.read(path).decode("utf-8", "replace")
    except FileError as error:
        raise BadConfig(f"open {path}: {str(error).lower()}") from None


def parse_config(text: str, path: str) -> tuple[frozenset[str], list[str]]:
    """Return the names of jobs and the files of rules in a configuration; raises ``BadConfig``."""
    try:
        config = yaml.load(text, yaml.CSafeLoader) or {}
        jobs = frozenset(str(job["job_name"]) for job in config.get("scrape_configs") or ())
        return jobs, [str(file) for file in config.get("rule_files") or ()]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else 1
        raise BadConfig(f"parsing YAML file {path}: yaml: line {line}: {error.problem}") from None
    except (yaml.YAMLError, AttributeError, KeyError, TypeError):
        raise BadConfig(f"parsing YAML file {path}: yaml: unmarshal errors") from None


class PrometheusServer:
    """One Prometheus process."""

    def __init__(self, ctx: Context, monitoring: Monitoring, discovery: Discovery) -> None:
        self._ctx = ctx
        self._monitoring = monitoring
        self._discovery = discovery
        self._paths = PrometheusPaths(monitoring.api)
        self._own = OwnMetrics(ctx, "prometheus", VERSION)
        self._counts = [Reading(f"prometheus_{name}", ()) for name in ("tsdb_head_series", "config_last_reload_successful", "notifications_errors_total")]  # fmt: skip
        self._counts[1].value = 1.0
        self.config_path = self._find_option("--config.file", CONFIG)
        self.data_path = self._find_option("--storage.tsdb.path", DATA)
        self._config = ""
        self._started = False

    def _find_option(self, name: str, default: str) -> str:
        return next(
            (word.partition("=")[2] for word in self._ctx.args if word.startswith(f"{name}=")), default
        )

    def load(self) -> None:
        """Read the configuration and the rules that it names; raises ``BadConfig``."""
        text = read_text(self._ctx, self.config_path)
        jobs, rule_files = parse_config(text, self.config_path)
        rules = self._monitoring.rules
        texts = {path: read_text(self._ctx, path) for path in rule_files}
        if texts != rules.texts:
            try:
                groups = [group for path, content in texts.items() for group in read_rules(content, path)]
            except BadRules as error:
                raise BadConfig(f"error loading rules, previous rule set restored: {error}") from None
            rules.groups, rules.texts = groups, texts
        self._config, self._discovery.jobs = text, jobs

    def open_storage(self) -> None:
        """Use the samples on the volume; a new volume has none. Raises ``FileError`` if it cannot be written."""
        files, wal = self._ctx.files, f"{self.data_path}/wal"
        if not files.is_dir(wal):
            files.mkdir(wal, parents=True)
            self._monitoring.store.clear()
        files.put(f"{self.data_path}/queries.active", b"")

    def start(self) -> None:
        """Scrape and evaluate, as tasks of the process."""
        self._started = True
        self._discovery.source = self._ctx.container.namespace
        self._monitoring.scraper.discover = self._discovery.find_targets
        self._monitoring.rules.notify = self._send_alerts
        self._monitoring.start(self._ctx.spawn)

    def read(self) -> Readings:
        """Return its own metrics."""
        self._counts[0].value = float(len(self._monitoring.store))
        return [*self._own.read(), *self._counts]

    def _send_alerts(self, group: RuleGroup, t_ms: int) -> None:
        """Send a group's firing alerts, and those that have just ended, to Alertmanager."""
        sent = []
        for rule in group.rules:
            for alert in rule.remembered if isinstance(rule, AlertingRule) else ():
                if alert.state == "firing" or alert.resolved_ms == t_ms:
                    ends_ms = t_ms + KEPT_MS if alert.state == "firing" else t_ms
                    query = quote_plus(format_query(rule.expression))
                    url = f"http://{self._ctx.container.hostname}:{PORT}/graph?g0.expr={query}&g0.tab=1"
                    sent.append(
                        ReceivedAlert(alert.labels, alert.annotations, alert.active_ms, ends_ms, t_ms, url)
                    )
        if not sent:
            return
        try:
            address = self._discovery.find_service_address("alertmanager")
            receiver = self._discovery.ask(address, ALERTMANAGER_PORT)
        except NetworkError as error:
            self._counts[2].value += len(sent)
            reason = f'Post "{ALERTS_URL}": {str(error).lower()}'
            write_log(self._ctx, "notifier.go:532", "error", component="notifier", alertmanager=ALERTS_URL, count=str(len(sent)), msg="Error sending alert", err=reason)  # fmt: skip
            return
        if isinstance(receiver, Alertmanager):
            receiver.receive(sent)

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """Answer an HTTP request."""
        path, parameters = parse_target(request)
        if path == "/metrics":
            return respond_with_metrics(self.read)
        if path == "/-/reload":
            return self._reload(request.method)
        if path == "/":
            return respond(302, '<a href="/graph">Found</a>.\n\n', Location="/graph")
        if path == "/api/v1/status/config":
            return respond_with(200, {"status": "success", "data": {"yaml": self._config}})
        if path == "/api/v1/alertmanagers":
            found = {"activeAlertmanagers": [{"url": ALERTS_URL}], "droppedAlertmanagers": []}
            return respond_with(200, {"status": "success", "data": found})
        if not self._paths.serves(path):
            return refuse_path()
        allowed = ("GET", "HEAD", "POST") if self._paths.takes_forms(path) else ("GET", "HEAD")
        if request.method not in allowed:
            return respond(405, "Method Not Allowed\n", Allow="GET, OPTIONS")
        await self._ctx.cpu(QUERY_CPU_S)
        return respond_with(*self._paths.answer(path, parameters))

    def _reload(self, method: str) -> HttpResponse:
        if method not in ("POST", "PUT"):
            return respond_with(405, "Only POST or PUT requests allowed")
        reason = self.reload()
        return respond_with(500, f"failed to reload config: {reason}\n") if reason else respond(200)

    def describe_deprecation(self, time_s: float, _random: Random) -> str:
        """Format the warning of the API about a kind that is discovered."""
        if "role: endpoints" not in self._config:
            return ""
        return format_log(
            time_s, "klog.go:96", "warn", component="k8s_client_runtime", func="Warning", msg=DEPRECATED
        )

    def handle_hangup(self, _signal: Signal) -> None:
        """Reload on SIGHUP."""
        self.reload()

    def reload(self) -> str:
        """Read the configuration again; return why it cannot be used, or an empty text."""
        ctx, path = self._ctx, self.config_path
        write_log(ctx, "main.go:1213", msg="Loading configuration file", filename=path)
        groups = self._monitoring.rules.groups
        try:
            self.load()
        except BadConfig as error:
            message = f"Error loading config (--config.file={path})"
            write_log(ctx, "main.go:965", "error", msg=message, file=path, err=str(error))
            self._counts[1].value = 0.0
            return f"couldn't load configuration (--config.file={path!r}): {error}"
        if self._started and self._monitoring.rules.groups is not groups:
            self._monitoring.start_rules(ctx.spawn)
        self._counts[1].value = 1.0
        write_log(ctx, "main.go:1250", msg="Completed loading of configuration file", filename=path)
        return ""


def make_prometheus(monitoring: Monitoring, discovery: Discovery) -> Program:
    """Return the program. Only one process at a time may use the samples of ``monitoring``."""
    holder: list[Process] = []

    async def run(ctx: Context) -> int:
        server = PrometheusServer(ctx, monitoring, discovery)
        write_log(ctx, "main.go:555", msg="Starting Prometheus Server", mode="server", version=f"(version={VERSION}, branch=HEAD)")  # fmt: skip
        try:
            if holder and holder[0].alive:
                raise BadConfig("lock DB directory: resource temporarily unavailable")
            server.open_storage()
        except (BadConfig, FileError) as error:
            write_log(ctx, "main.go:1077", "error", err=f"opening storage failed: {str(error).lower()}")
            return 1
        if server.reload():
            return 2
        holder[:] = [ctx.process]
        server.start()
        ctx.signals.on(Signal.HUP, server.handle_hangup)
        write_log(ctx, "main.go:1009", msg="Server is ready to receive web requests.")
        log_occasionally(ctx, 3 * HOUR_S, server.describe_deprecation)
        return await serve_until_end(ctx, PORT, server.answer, server.read, 160)

    return run
