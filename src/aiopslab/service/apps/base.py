"""``Application`` of the public AIOpsLab release: described by a JSON file, deployed from a Helm chart or from manifests.

The keys of the JSON file are ``Name``, ``Namespace``, ``Desc``, ``Supported Operations``, ``Helm Config`` (``release_name``,
``chart_path``, ``namespace``), ``K8S Deploy Path``, ``frontend_service`` and ``frontend_port``; relative paths are relative to the file. If
the front end's Service has a node port, users request its page ``/`` all the time. The images are those that every cluster has, and the
datastores'; to run programs of your own, write an application for this package (``aiopslab new app``).
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from aiopslab.apps import Component, FrontDoor, Journey, Objective
from aiopslab.service.apps.deployable import Deployable
from aiopslab.service.current import find_cloud, open_cloud
from aiopslab.service.helm import Helm

if TYPE_CHECKING:
    from simcloud.kubernetes.images import ImageRegistry
    from simcloud.machine.network import HttpRequest


class Application(Deployable):
    """An application that a JSON file describes."""

    deploys_itself: ClassVar[bool] = True
    components = ()
    journeys = ()
    objectives = ()
    front_door = FrontDoor("", 0, 0)

    def __init__(self, config_file: Path | str) -> None:
        self.config_file = Path(config_file)
        self.k8s_deploy_path: Path | None = None
        self.load_app_json()

    @cached_property
    def helm_configs(self) -> dict[str, Any]:
        """The settings of the application's Helm release; ``load_app_json`` fills them."""
        return {}

    def load_app_json(self) -> None:
        """Read the JSON file into attributes."""
        known, folder = self.get_app_json(), self.config_file.parent
        door = FrontDoor(known.get("frontend_service", ""), known.get("frontend_port", 80), 0)
        self._set(
            name=known["Name"], namespace=known["Namespace"], about=known.get("Desc", ""), front_door=door
        )
        self.helm_configs.update(known.get("Helm Config", {}))
        if "chart_path" in self.helm_configs:
            self.helm_configs["chart_path"] = str(folder / self.helm_configs["chart_path"])
        if "K8S Deploy Path" in known:
            self.k8s_deploy_path = folder / known["K8S Deploy Path"]

    def _set(self, **facts: Any) -> None:
        """Set on this instance what other applications declare in their class."""
        vars(self).update(facts)

    def get_app_json(self) -> dict[str, Any]:
        """Return the content of the JSON file."""
        content: dict[str, Any] = json.loads(self.config_file.read_text())
        return content

    def deploy(self) -> None:
        """Deploy the chart or the manifests on the current cloud, or on a new one if there is none."""
        cloud = find_cloud()
        if cloud is None:
            self.cloud = open_cloud(self)
            return
        self.publish(cloud.cluster.registry)
        if self.helm_configs:
            Helm.install(**self.helm_configs)
        else:
            self.create_namespace()
            if self.k8s_deploy_path is not None:
                self.kubectl.apply_configs(self.namespace, self.k8s_deploy_path)
        self.kubectl.wait_for_ready(self.namespace)

    @property
    def host(self) -> str:
        """The public name of the application, which its users' requests are for."""
        return f"{self.namespace}.example"

    def find_parts(self) -> None:
        """Find the components and the front door in the cloud."""
        deployed = self.kubectl.request(f"get deployments -n {self.namespace}").items
        self._set(components=tuple(Component(found.metadata.name, owner="") for found in deployed))
        services = self.kubectl.list_services(self.namespace).items
        for service in services:
            port = service.spec.ports[0]
            if service.metadata.name == self.frontend_service and port.node_port:
                self._set(
                    front_door=FrontDoor(self.frontend_service, port.port, port.node_port),
                    journeys=(Journey("visit", 1.0, self._make_visit),),
                    objectives=(Objective("visit", success=0.99, p99_s=1.0),),
                )

    def _make_visit(self, _random: Random) -> HttpRequest:
        from simcloud.machine.network import HttpRequest  # loads the machines

        return HttpRequest("GET", "/", {"Host": self.host})

    def delete(self) -> None:
        """Uninstall the chart, or delete the namespace, if there is a cloud."""
        if self.helm_configs and find_cloud() is not None:
            Helm.uninstall(**self.helm_configs)
        else:
            super().delete()

    def publish(self, registry: ImageRegistry) -> None:
        """Add the images of datastores, which the charts of others use."""
        from simcloud.datastores.consul import add_consul
        from simcloud.datastores.memcached import add_memcached
        from simcloud.datastores.mongodb import image as mongodb
        from simcloud.datastores.redis import add_redis
        from simcloud.services.jaeger import add_jaeger

        for reference, image in mongodb.images().items():
            registry.add(reference, image, args=("mongod",), size_bytes=mongodb.SIZE_BYTES)
        for add in (add_consul, add_jaeger, add_memcached, add_redis):
            add(registry)
