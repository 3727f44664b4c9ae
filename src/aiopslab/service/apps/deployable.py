"""What scripts for the public AIOpsLab release do with an application: deploy it, delete it, deploy it again.

``deploy`` opens a cloud with the application if there is none; the orchestrator does the same for a problem, with users and a
baseline.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from aiopslab.apps import Application
from aiopslab.service.current import find_cloud, open_cloud
from aiopslab.service.kubectl import KubeCtl


class Deployable(Application):
    """An application whose methods deploy and delete it on the current cloud."""

    cloud: Any = None
    """The cloud that ``deploy`` has opened."""

    @cached_property
    def kubectl(self) -> KubeCtl:
        """A client of the current cloud."""
        return KubeCtl()

    @cached_property
    def helm_configs(self) -> dict[str, Any]:
        """The settings of the application's Helm release; empty if it is deployed from manifests."""
        return {"release_name": self.name, "namespace": self.namespace} if self.chart_files else {}

    @property
    def helm_deploy(self) -> bool:
        """Whether it is deployed with Helm."""
        return bool(self.helm_configs)

    def deploy(self) -> None:
        """Open a cloud with the application if there is none; deploy it again if it was deleted from the current one."""
        cloud = find_cloud()
        if cloud is None:
            self.cloud = open_cloud(self)
            return
        if self.kubectl.run(f"kubectl get namespace {self.namespace}").status == 0:
            return
        self.publish(cloud.cluster.registry)
        folder = f"/root/{self.name}"
        for name, text in (self.chart_files or self.manifest_files).items():
            cloud.put_file(f"{folder}/{name}", text.encode())
        values = "".join(f" -f {folder}/{name}" for name in self.chart_values)
        line = f"helm install {self.name} {folder} -n {self.namespace} --create-namespace{values}"
        self.kubectl.exec_command(line if self.chart_files else f"kubectl apply -f {folder}")
        self.kubectl.wait_for_ready(self.namespace)

    def create_namespace(self) -> None:
        """Create the namespace unless it exists."""
        self.kubectl.create_namespace_if_not_exist(self.namespace)

    def delete(self) -> None:
        """Delete the application's namespace from the current cloud, if there is one."""
        if find_cloud() is not None:
            self.kubectl.delete_namespace(self.namespace)

    def cleanup(self) -> None:
        """Delete the application, as ``delete`` does."""
        self.delete()
