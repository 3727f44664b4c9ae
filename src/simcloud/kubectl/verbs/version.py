"""``kubectl version``."""

from __future__ import annotations

from typing import Any, Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.printing.yaml_form import as_yaml
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.transport import Unreachable
from simcloud.kubernetes.api import VERSION

KUSTOMIZE: Final = "v5.8.1"
CLIENT: Final = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.4",
    "gitCommit": VERSION["gitCommit"],
    "gitTreeState": "clean",
    "buildDate": "2026-08-20T03:09:25Z",
    "goVersion": "go1.26.5",
    "compiler": "gc",
    "platform": "linux/amd64",
}
EXAMPLES: Final = ("kubectl version", "kubectl version --client -o json")


@command("version", "Print the client and server versions", examples=EXAMPLES)
async def version(kubectl: Kubectl) -> None:
    """Print them in a few lines, or whole."""
    flags = kubectl.flags
    if kubectl.args:
        raise KubectlError(f"extra arguments: [{' '.join(kubectl.args)}]")
    if flags["output"] not in ("", "yaml", "json"):
        raise KubectlError("--output must be 'yaml' or 'json'")
    versions: dict[str, Any] = {"clientVersion": CLIENT, "kustomizeVersion": KUSTOMIZE}
    unreachable = None
    if not flags["client"]:
        try:
            await kubectl.connect()
            versions["serverVersion"] = VERSION
        except Unreachable as error:
            unreachable = error
    if flags["output"] == "json":
        await kubectl.out(_json(versions))
    elif flags["output"] == "yaml":
        await kubectl.out(as_yaml(versions) + "\n")
    else:
        names = {"clientVersion": "Client", "serverVersion": "Server"}
        lines = [f"Client Version: {CLIENT['gitVersion']}", f"Kustomize Version: {KUSTOMIZE}"]
        lines += [
            f"{names[key]} Version: {VERSION['gitVersion']}" for key in versions if key == "serverVersion"
        ]
        await kubectl.out("\n".join(lines) + "\n")
    if unreachable is not None:
        raise unreachable


def _json(versions: dict[str, Any]) -> str:
    import json

    return json.dumps(versions, indent=2) + "\n"
