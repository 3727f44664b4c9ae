"""Installs the monitoring stack on a cluster: images in its registry, and objects that a real cluster accepts."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from string import Template
from typing import Any, Final

import yaml

from simcloud.kubernetes import Cluster, ComponentClient
from simcloud.kubernetes.api import Object
from simcloud.kubernetes.images.busybox import busybox_image
from simcloud.machine import Image
from simcloud.machine.network import Namespace, NetworkError
from simcloud.machine.process import Program
from simcloud.telemetry.monitoring import Monitoring
from simcloud.telemetry.rules import read_default_text
from simcloud.telemetry.sink import Telemetry
from simcloud.telemetry.stack.alertmanager import Alertmanager, alertmanager, format_page
from simcloud.telemetry.stack.discovery import Discovery
from simcloud.telemetry.stack.exporters import (
    KUBE_STATE_PORT,
    make_kube_state_metrics,
    make_node_exporter,
    make_store_exporter,
)
from simcloud.telemetry.stack.programs import ask_process
from simcloud.telemetry.stack.prometheus import make_prometheus
from simcloud.telemetry.stack.store_metrics import STORES
from simcloud.telemetry.stack.tools import amtool, promtool

KUBE_STATE: Final = "kube-state-metrics"
PROMETHEUS_NODE_PORT: Final = 30090
ALERTMANAGER_NODE_PORT: Final = 30093
PROMETHEUS_IMAGE: Final = "quay.io/prometheus/prometheus:v2.42.0"
ALERTMANAGER_IMAGE: Final = "quay.io/prometheus/alertmanager:v0.25.0"
KUBE_STATE_IMAGE: Final = "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.8.2"
NODE_IMAGE: Final = "quay.io/prometheus/node-exporter:v1.5.0"
STORE_JOB: Final = """\
- job_name: $exporter
  metrics_path: /scrape
  kubernetes_sd_configs: [{role: service}]
  relabel_configs:
  - {source_labels: [__meta_kubernetes_service_port_number], action: keep, regex: "$store_port"}
  - {source_labels: [__address__], target_label: __param_target}
  - {source_labels: [__param_target], target_label: instance}
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_service_name], target_label: service}
  - {target_label: __address__, replacement: "$exporter.monitoring.svc:$port"}
"""
FIXED_JOB: Final = """\
- job_name: $exporter
  static_configs:
  - targets: ["$exporter.monitoring.svc:$port"]
"""


class MonitoringStack:
    """The monitoring of a cluster as pods. It collects samples into ``monitoring``, which must not be started otherwise."""

    def __init__(self, cluster: Cluster, monitoring: Monitoring, telemetry: Telemetry) -> None:
        self._cluster = cluster
        self._monitoring = monitoring
        self._discovery = Discovery(cluster, telemetry)

    def publish(self) -> None:
        """Publish the images that every cluster needs, as public registries have them."""
        prometheus = make_prometheus(self._monitoring, self._discovery)
        self._publish(PROMETHEUS_IMAGE, "prometheus", prometheus, 88, promtool=promtool)
        self._publish(ALERTMANAGER_IMAGE, "alertmanager", alertmanager, 27, amtool=amtool)
        self._publish(
            KUBE_STATE_IMAGE, KUBE_STATE, make_kube_state_metrics(self._cluster.api), 13, shell=False
        )
        self._publish(NODE_IMAGE, "node_exporter", make_node_exporter(self._cluster), 12)

    def install(self, application: str, stores: Iterable[str]) -> None:
        """Publish the images and create the objects; ``stores`` are the kinds of datastores in the application's namespace."""
        self.publish()
        kinds = [STORES[name] for name in stores]
        api, client = self._cluster.api, ComponentClient(self._cluster.api, "kubernetes-admin", "kubectl")
        interval = f"{self._monitoring.scraper.interval_s:g}s"
        objects = _read_manifest(
            "prometheus", image=PROMETHEUS_IMAGE, node_port=PROMETHEUS_NODE_PORT, interval=interval
        )
        config = next(obj for obj in objects if obj["kind"] == "ConfigMap")["data"]
        config["rules.yaml"] = read_default_text()
        objects += _read_manifest("alertmanager", image=ALERTMANAGER_IMAGE, node_port=ALERTMANAGER_NODE_PORT)
        objects += _read_manifest("node-exporter", image=NODE_IMAGE)
        objects += _read_manifest(KUBE_STATE)
        objects += _make_exporter(KUBE_STATE, KUBE_STATE_IMAGE, KUBE_STATE_PORT, KUBE_STATE)
        for kind in kinds:
            program = make_store_exporter(api, kind)
            self._publish(kind.image, f"{kind.name}_exporter", program, 10, shell="prometheus" in kind.image)
            job = Template(STORE_JOB if kind.has_targets else FIXED_JOB)
            values = {"exporter": kind.exporter, "port": kind.port, "store_port": kind.store_port}
            config["prometheus.yml"] += job.substitute(values)
            args = Template(kind.args).safe_substitute(application=application)
            objects += _make_exporter(kind.exporter, kind.image, kind.port, "default", args)
        for obj in objects:
            client.create(obj)

    def check_prometheus(self, source: Namespace) -> str:
        """Return why Prometheus does not answer at its node port from a host, or an empty text."""
        address = self._cluster.machines[0].host.namespace.address
        try:
            ask_process(source, address, PROMETHEUS_NODE_PORT)
        except NetworkError as error:
            return f"http://{address}:{PROMETHEUS_NODE_PORT}: {error}"
        return ""

    def read_page(self) -> str:
        """Return the page that Alertmanager would send now: its active alerts as text, empty if there are none."""
        node = self._cluster.machines[0].host.namespace
        try:
            state = ask_process(node, node.address, ALERTMANAGER_NODE_PORT)
        except NetworkError:
            return ""
        alerts = state.list_active() if isinstance(state, Alertmanager) else []
        return format_page([alert.document() for alert in alerts])

    def _publish(
        self, reference: str, name: str, program: Program, size_mb: int, shell: bool = True, **tools: Program
    ) -> None:
        programs = {**(busybox_image().programs if shell else {}), name: program, **tools}
        image = Image(reference, programs, entrypoint=[name])
        self._cluster.registry.add(reference, image, user="65534", size_bytes=size_mb * 1_000_000)


def _make_exporter(name: str, image: str, port: int, account: str, args: str = "[]") -> list[Object]:
    return _read_manifest("exporter", name=name, image=image, port=port, account=account, args=args)


def _read_manifest(file: str, **values: Any) -> list[Object]:
    text = (resources.files("simcloud.telemetry.stack") / "manifests" / f"{file}.yaml").read_text()
    return list(yaml.load_all(Template(text).substitute(**values), yaml.CSafeLoader))
