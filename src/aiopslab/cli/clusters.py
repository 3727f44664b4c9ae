"""Options of commands that may use a real cluster, and ``aiopslab cleanup``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aiopslab.cli.problems import DONE, UsageError

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions
    from aiopslab.orchestrator.problems import ProblemRegistry

EMBEDDED: Final = "embedded"
KUBERNETES: Final = "kubernetes"
DEFAULT_KUBECONFIG: Final = Path("~/.kube/config")
TEXTS: Final = ("front_door", "terminal_image")
SERVERS: Final = ("prometheus", "jaeger", "loki")
INSTALLABLE: Final = ("prometheus", "loki")
ADDRESS: Final = re.compile(r"https?://\S+|service:[\w.-]+/[\w.-]+:[\w-]+")
NUMBERS: Final = ("ready_s", "baseline_s", "soak_s", "timeout_s")
SWITCHES: Final = {f"{name}=yes": name for name in ("attach", "privileged", "dedicated")}
MAX_S: Final = 86_400.0


def parse_cloud(
    cloud: str, kubeconfig: Path | None, context: str | None, settings: Sequence[str] = ()
) -> KubernetesOptions | None:
    """Return the options of a real cluster, None for the embedded cloud; raises ``UsageError``."""
    if cloud == EMBEDDED:
        if context or settings:
            raise UsageError("--context and --cluster-option are for a real cluster: add --cloud kubernetes.")
        return None
    if cloud != KUBERNETES:
        raise UsageError(f"There is no cloud '{cloud}'. Choose one of: {EMBEDDED}, {KUBERNETES}.")
    from aiopslab.cloud.kubernetes import KubernetesOptions  # loads the cloud

    return KubernetesOptions(find_kubeconfig(kubeconfig), context, **_parse_settings(settings))


def find_kubeconfig(path: Path | None) -> Path:
    """Return the kubeconfig to use, the user's own by default."""
    return path or DEFAULT_KUBECONFIG.expanduser()


def _parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    images: dict[str, str] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        old, _, new = value.partition("=")
        if name in TEXTS and value:
            found[name] = value
        elif name == "image" and old and new:
            images[old] = new
        elif name in SERVERS:
            found[name] = _check_address(name, value)
        elif setting in SWITCHES:
            found[SWITCHES[setting]] = True
        elif name in NUMBERS and value.replace(".", "", 1).isdecimal() and float(value) <= MAX_S:
            found[name] = float(value)
        else:
            known = ", ".join((*TEXTS, *SERVERS, "image", *NUMBERS, *SWITCHES))
            raise UsageError(f"--cluster-option takes NAME=VALUE with one of {known}, not '{setting}'.")
    return found | ({"images": images} if images else {})


def _check_address(name: str, value: str) -> str:
    can_install = name in INSTALLABLE
    if not ADDRESS.fullmatch(value) and not (can_install and value == "install"):
        known = "a URL, service:NAMESPACE/NAME:PORT" + (" or install" if can_install else "")
        raise UsageError(f"--cluster-option {name} takes {known}, not '{value}'.")
    return value


def find_missing(
    problems: Sequence[str], registry: ProblemRegistry, cluster: KubernetesOptions
) -> dict[str, str]:
    """Return what each problem needs and the cluster lacks, as text; empty for one that can be posed there."""
    from aiopslab.orchestrator import explain_unavailable

    return {pid: explain_unavailable(registry.get_problem_instance(pid), cluster) for pid in problems}


def clean_up(kubeconfig: Path | None, context: str | None) -> int:
    """Remove from a cluster what earlier runs have left there; return the exit code."""
    from aiopslab.cli.output import Progress  # loads rich, which listing problems does not need
    from aiopslab.cloud.kubernetes import ClusterClient, read_access, remove_everything

    client = ClusterClient(read_access(find_kubeconfig(kubeconfig), context))
    try:
        with Progress() as progress:
            removed = remove_everything(client, tell=progress)
    finally:
        client.close()
    print("\n".join(f"{name} was removed." for name in removed) or "There was nothing to remove.")
    return DONE
