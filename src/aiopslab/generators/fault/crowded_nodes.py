"""A batch workload of another team takes all CPU of the nodes, so the target finds no room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.blocked_pods import BlockedPods, Occasion, list_namespace
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import DEPLOYMENTS, Site

SPARE = 50
"""What the batch pods leave of each node, in thousandths of a core: enough for a target that asks for less."""
ALLOCATED = "awk '/^Allocated resources/ {seen = 1} seen && $1 == \"cpu\" {print $2}'"


@fault
@dataclass(frozen=True)
class CrowdedNodes(BlockedPods):
    """A team stops a workload for a moment; the pods of another team, which waited for room, take its place."""

    occasion: Occasion = draw_from("scaling")
    cpu: int = draw_from(600, 700, 800)
    """The target's request, in thousandths of a core."""
    pods_per_node: int = draw_from(3, 2, 4)
    batch: str = draw_from("risk-simulation", "model-training", "log-compaction", "price-forecast")
    space: str = draw_from("research", "data-platform", "quant")
    name: ClassVar[str] = "crowded_nodes"
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Dependency Problem")

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The batch workload, and the target, which may ask for less."""
        return (DEPLOYMENTS, self.batch, self.space), (DEPLOYMENTS, self.target)

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """Both workloads, and the namespace of the batch workload."""
        return (*self.causes, *list_namespace(self.space))

    def release(self, site: Site) -> None:
        """Let the target request what it needs, then deploy as many batch pods as fit without the target."""
        before = " ".join(site.pods_of(self.target))
        requests = {"requests": {"cpu": f"{self.cpu}m"}}
        site.set_container(self.target, resources=requests)
        site.wait_until_ready(self.target, timeout_s=75)
        site.wait_until_gone(before)
        workers = site.list_workers()
        target_nodes = site.nodes_of(self.target)
        free = [get_free_cpu(site, node) + self.cpu * (node in target_nodes) for node in workers]
        size = (min(free) - SPARE) // self.pods_per_node // 50 * 50
        self.deploy(site, len(workers) * self.pods_per_node, f"{size}m")

    def deploy(self, site: Site, replicas: int, cpu: str, **pod: Any) -> None:
        """Deploy the batch workload."""
        site.run(f"kubectl create namespace {self.space}")
        container = {
            "name": "worker",
            "image": "busybox:1.36",
            "command": ["sh", "-c", "while true; do sleep 20; done"],
            "resources": {"requests": {"cpu": cpu}},
        }
        labels = {"app": self.batch}
        spec = {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"terminationGracePeriodSeconds": 5, "containers": [container], **pod},
            },
        }
        metadata = {"name": self.batch, "namespace": self.space}
        site.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})

    def inject(self, site: Site) -> None:
        """Fill the nodes, and some time later stop the target for a moment."""
        self.release(site)
        site.wait(self.delay_s)
        replicas = site.get_deployment(self.target)["spec"]["replicas"]
        site.kubectl(f"scale deployment/{self.target} --replicas=0")
        site.wait_until_gone(f"-l {site.get_selector(self.target)}")
        site.run("sleep 12")
        site.kubectl(f"scale deployment/{self.target} --replicas={replicas}")


def get_free_cpu(site: Site, node: str) -> int:
    """Return the CPU of a node that no pod requests, in thousandths of a core."""
    allocatable = site.run(f"kubectl get node {node} -o jsonpath={{.status.allocatable.cpu}}")
    return _parse_cpu(allocatable) - _parse_cpu(site.run(f"kubectl describe node {node} | {ALLOCATED}"))


def _parse_cpu(text: str) -> int:
    number = text.strip()
    return int(number[:-1]) if number.endswith("m") else 1000 * int(number)
