"""The images of the system pods, by reference."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.addons.metrics import IMAGE as METRICS_IMAGE, metrics_server_image
from simcloud.kubernetes.addons.programs import (
    API_SERVER,
    CONTROLLER_MANAGER,
    ETCD,
    KINDNET,
    SCHEDULER,
    component,
    kube_proxy,
    local_path,
)
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.network.coredns import IMAGE, coredns_image
from simcloud.kubernetes.network.pod_network import ClusterNetwork
from simcloud.kubernetes.network.services import ServiceProxies
from simcloud.kubernetes.nodes import KUBELET_VERSION
from simcloud.machine import Image
from simcloud.machine.network import HttpRequest, HttpResponse, respond
from simcloud.machine.process import Context, Program

SYSTEM_USERS: Final = {IMAGE: "nonroot:nonroot"}
"""The USER of images that do not start as root."""


def system_images(api: Api, pods: ClusterNetwork, services: ServiceProxies) -> dict[str, Image]:
    """Every image that ``system_objects`` names."""

    async def api_server(request: HttpRequest) -> HttpResponse:
        return await api.door(request) if api.door is not None else respond(503, "service unavailable\n")

    async def etcdctl(ctx: Context) -> int | None:
        from simcloud.kubernetes.addons.etcdctl import etcdctl  # rarely run

        return await etcdctl(api)(ctx)

    also: dict[str, dict[str, Program]] = {"etcd": {"etcdctl": etcdctl}}
    programs: dict[str, tuple[str, Program]] = {
        "registry.k8s.io/etcd:3.6.8-0": ("etcd", component(ETCD, api)),
        f"registry.k8s.io/kube-apiserver:{KUBELET_VERSION}": (
            "kube-apiserver",
            component(API_SERVER, api, api_server),
        ),
        f"registry.k8s.io/kube-controller-manager:{KUBELET_VERSION}": (
            "kube-controller-manager",
            component(CONTROLLER_MANAGER, api),
        ),
        f"registry.k8s.io/kube-scheduler:{KUBELET_VERSION}": ("kube-scheduler", component(SCHEDULER, api)),
        f"registry.k8s.io/kube-proxy:{KUBELET_VERSION}": ("kube-proxy", kube_proxy(api, services)),
        "docker.io/kindest/kindnetd:v20250512-df8de77b": ("kindnetd", component(KINDNET, api)),
        "docker.io/kindest/local-path-provisioner:v20250214-acbabc1a": (
            "local-path-provisioner",
            local_path(api),
        ),
    }
    images = {
        reference: Image(reference, {name: program, **also.get(name, {})}, entrypoint=[name])
        for reference, (name, program) in programs.items()
    }
    return {**images, IMAGE: coredns_image(api, pods), METRICS_IMAGE: metrics_server_image(api)}
