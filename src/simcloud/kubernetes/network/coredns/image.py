"""The image of CoreDNS. Its program gets access to the API when the image is built.

This replaces the connection that a real CoreDNS opens with its token; permissions are still those of the pod's
service account, through ``user_of``.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.access.users import MASTERS_GROUP, User, service_account_user
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.store import Key
from simcloud.kubernetes.network.coredns.program import CoreDns
from simcloud.kubernetes.network.pod_network import ClusterNetwork
from simcloud.machine import Image
from simcloud.machine.process import Context, Program

IMAGE: Final = "registry.k8s.io/coredns/coredns:v1.14.2"
HOME: Final = "kube-system"


def coredns_image(api: Api, pods: ClusterNetwork) -> Image:
    """The image of CoreDNS for a cluster."""

    async def coredns(ctx: Context) -> int:
        return await CoreDns(ctx, api, _user_of(ctx, api, pods)).run()

    return Image(IMAGE, {"coredns": coredns}, entrypoint=["/coredns"])


def coredns_on_host(api: Api) -> Program:
    """CoreDNS as a process of a node, with an administrator's kubeconfig."""

    async def coredns(ctx: Context) -> int:
        return await CoreDns(ctx, api, User("kubernetes-admin", groups=(MASTERS_GROUP,))).run()

    return coredns


def _user_of(ctx: Context, api: Api, pods: ClusterNetwork) -> User:
    """The service account of the pod this program runs in; on the host's network, CoreDNS's own."""
    pod = pods.pod_at(ctx.container.namespace.address)
    if pod is None:
        return service_account_user(HOME, "coredns")
    found = api.log.get(Key("", "pods", pod.namespace, pod.name)) or {}
    account = found.get("spec", {}).get("serviceAccountName") or "default"
    return service_account_user(pod.namespace, account)
