"""The public AIOpsLab release's readers of logs, metrics and traces, which write CSV files on this host.

They read the current embedded cloud; addresses, users and passwords of servers are accepted and not used. Times are the cloud's: a
period that ends now on this host's clock is the period that ends now in the cloud.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

root_path: Final = Path(__file__).parent
monitor_config: Final[dict[str, Any]] = {
    "api": "",
    "username": "",
    "password": "",
    "prometheusApi": "",
    "namespace": "test-hotel-reservation",
}
"""The settings of the public release; only ``namespace`` is used, and may be changed."""


def get_pod_list(v1: Any, namespace: str = "default") -> list[str]:
    """Return the names of a namespace's pods; ``v1`` is ``KubeCtl().core_v1_api``."""
    return [pod.metadata.name for pod in v1.list_namespaced_pod(namespace).items]


def get_services_list(v1: Any, namespace: str = "default") -> list[str]:
    """Return the names of a namespace's Services; ``v1`` is ``KubeCtl().core_v1_api``."""
    return [service.metadata.name for service in v1.list_namespaced_service(namespace).items]
