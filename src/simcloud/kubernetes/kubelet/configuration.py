"""What a kubelet reads when it starts: its configuration and its credentials. Mistakes in them keep it from starting."""

from __future__ import annotations

from typing import Final

import yaml

from simcloud.kubernetes.api.objects import at
from simcloud.kubernetes.kubelet.services import SOCKET
from simcloud.machine.files import Files

CONFIG: Final = "/var/lib/kubelet/config.yaml"
KUBECONFIG: Final = "/etc/kubernetes/kubelet.conf"
CERTIFICATE: Final = "/var/lib/kubelet/pki/kubelet-client-current.pem"
NO_CREDENTIALS: Final = (
    "failed to run Kubelet: unable to load bootstrap kubeconfig: stat /etc/kubernetes/bootstrap-kubelet.conf: "
    "no such file or directory"
)


def find_mistake(files: Files) -> str:
    """Return why a kubelet with these files does not start, in its words, or an empty text."""
    if not files.exists(CONFIG):
        return ""  # a node without configuration files
    try:
        config = yaml.load(files.read(CONFIG), yaml.CSafeLoader)
    except yaml.YAMLError as error:
        return _describe_unreadable(str(error).splitlines()[0])
    if not isinstance(config, dict) or config.get("kind") != "KubeletConfiguration":
        return _describe_unreadable("Object 'Kind' is missing")
    authority = at(config, "authentication", "x509", "clientCAFile", default="")
    if authority and not files.exists(authority):
        return (
            f"failed to construct kubelet dependencies: unable to load client CA file {authority}: open {authority}: "
            "no such file or directory"
        )
    if not (files.exists(KUBECONFIG) and files.exists(CERTIFICATE)):
        return NO_CREDENTIALS
    endpoint = str(config.get("containerRuntimeEndpoint") or f"unix://{SOCKET}")
    path = endpoint.removeprefix("unix://")
    if path.removeprefix("/var") != SOCKET:
        return (
            f'failed to run Kubelet: validate service connection: validate CRI v1 runtime API for endpoint "{endpoint}": '
            'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix '
            f'{path}: connect: no such file or directory"'
        )
    return ""


def _describe_unreadable(why: str) -> str:
    return (
        f"failed to load kubelet config file, path: {CONFIG}, error: failed to load Kubelet config file {CONFIG}, error "
        f"failed to decode: {why}"
    )
