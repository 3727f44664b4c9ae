"""``kubectl run``: creates a pod, and on request a Service for it."""

from __future__ import annotations

import re
from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, UsageError
from simcloud.kubectl.object_creation import create_built, overridden, selector_labels
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.pods.attached_run import run_attached
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Object

EXAMPLES: Final = (
    "kubectl run web --image=nginx:1.27 --port=80",
    'kubectl run probe --image=busybox --restart=Never --command -- sh -c "wget -qO- http://web"',
    "kubectl run probe --rm -i --image=busybox --restart=Never -- nslookup web",
)
RESTARTS: Final = ("Always", "OnFailure", "Never")
PULLS: Final = ("", "Always", "IfNotPresent", "Never")
_IMAGE: Final = re.compile(
    r"(?:[a-zA-Z0-9.-]+(?::[0-9]+)?/)?[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*)*"
    r"(?::[\w][\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)
_VARIABLE: Final = re.compile(r"([-._a-zA-Z][-._a-zA-Z0-9]*)=(.*)", re.DOTALL)


@command("run", "Run an image in a pod", examples=EXAMPLES, required=("image",))
async def run(kubectl: Kubectl) -> int | None:
    """Make the pod, and stay with it if it is attached to."""
    flags = kubectl.flags
    attach = _check(kubectl)
    name = kubectl.args[0]
    pod = _pod(kubectl, name)
    connection = await kubectl.connect()
    teller = Teller(kubectl, "created", keep_order=True)
    if flags["expose"]:
        await create_built(kubectl, "services", _service(kubectl, name, pod), teller=teller)
        if flags["output"] == "yaml":
            await kubectl.out("---\n")
    whole = overridden(kubectl, connection.resource("pods"), pod)
    if not attach:
        await create_built(kubectl, "pods", whole, teller=teller)
        return None
    return await run_attached(kubectl, whole)


def _check(kubectl: Kubectl) -> bool:
    """Whether the pod is attached to; refuses what does not go together."""
    flags, usage = kubectl.flags, kubectl.command.full
    if not kubectl.args:
        raise UsageError("NAME is required for run", usage)
    image = flags["image"]
    if not image:
        raise KubectlError("--image is required")
    if not _IMAGE.fullmatch(image):
        raise KubectlError(f'Invalid image name "{image}": invalid reference format')
    if flags["tty"] and not flags["stdin"]:
        raise UsageError("-i/--stdin is required for containers with -t/--tty=true", usage)
    if flags["expose"] and not flags["port"]:
        raise UsageError("--port must be set when exposing a service", usage)
    attach = bool(flags["attach"] if flags.is_given("attach") else flags["stdin"] or flags["tty"])
    if flags["rm"] and not attach:
        raise UsageError("--rm should only be used for attached containers", usage)
    if attach and dry_run(kubectl) is not DryRun.NONE:
        raise UsageError(
            "--dry-run=[server|client] can't be used with attached containers options (--attach, --stdin, or --tty)",
            usage,
        )
    if flags["image-pull-policy"] not in PULLS:
        raise UsageError(f"invalid image pull policy: {flags['image-pull-policy']}", usage)
    if flags["restart"] not in RESTARTS:
        raise UsageError(f"invalid restart policy: {flags['restart']}", usage)
    return attach


def _pod(kubectl: Kubectl, name: str) -> Object:
    flags = kubectl.flags
    labels = selector_labels(flags["labels"]) if flags["labels"] else {"run": name}
    metadata: Object = {"name": name, "labels": labels}
    if flags["annotations"]:
        metadata["annotations"] = dict(_annotation(said) for said in flags["annotations"])
    container: Object = {"name": name, "image": flags["image"]}
    words = kubectl.args[1:]
    if words:
        container["command" if flags["command"] else "args"] = words
    if flags["env"]:
        container["env"] = [_variable(said) for said in flags["env"]]
    if flags["port"]:
        container["ports"] = [{"containerPort": _port(flags["port"])}]
    if flags["image-pull-policy"]:
        container["imagePullPolicy"] = flags["image-pull-policy"]
    if flags["privileged"]:
        container["securityContext"] = {"privileged": True}
    if flags["stdin"]:
        container["stdin"] = True
        if not flags["leave-stdin-open"] and flags["restart"] == "Never":
            container["stdinOnce"] = True
    if flags["tty"]:
        container["tty"] = True
    spec = {"containers": [container], "restartPolicy": flags["restart"], "dnsPolicy": "ClusterFirst"}
    return {"metadata": metadata, "spec": spec}


def _annotation(said: str) -> tuple[str, str]:
    key, equals, value = said.partition("=")
    if not equals:
        raise KubectlError(f"unexpected annotation: {said}")
    return key, value


def _variable(said: str) -> Object:
    found = _VARIABLE.fullmatch(said)
    if found is None:
        raise KubectlError(f"invalid env: {said}")
    return {"name": found[1], **({"value": found[2]} if found[2] else {})}


def _port(said: str) -> int:
    if not re.fullmatch(r"[+-]?\d+", said):
        raise KubectlError(f'strconv.Atoi: parsing "{said}": invalid syntax')
    return int(said)


def _service(kubectl: Kubectl, name: str, pod: Object) -> Object:
    number = _port(kubectl.flags["port"])
    port = {"port": number, "targetPort": number, "protocol": "TCP"}
    return {
        "metadata": {"name": name},
        "spec": {"ports": [port], "selector": pod["metadata"]["labels"]},
    }
