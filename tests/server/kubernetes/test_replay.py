"""A recorded session at a genuine Kubernetes v1.36.4, typed again at ours.

The recording has two nodes and controllers at work. What needs a control loop (pods that come up,
endpoints, events, the status of a Deployment) is not typed here, with the reason beside its number;
the rest is typed in its order and must print the same, under the recording's own normaliser.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.server.kubernetes.golden.normalise import lines, same
from tests.server.kubernetes.served import CLIENTS, PATIENCE_S, Served, cluster

pytestmark = pytest.mark.differential("kubectl")

GOLDEN = Path(__file__).parent / "golden"
PORT = 37443

_ROLLOUT = "waits for pods, or shows revisions that a controller makes"
_STATUS = "shows a status, or revisions, that controllers write"
_PODS = "shows pods that controllers make and kubelets run"
_ENDPOINTS = "shows endpoints that a controller makes"
_EVENTS = "shows events that controllers and the scheduler write"
_SERVICE_ACCOUNT = "needs what the service account and root certificate controllers make in a namespace"
_NAMESPACE = "waits for the namespace controller to empty a namespace"

NEEDS_A_LOOP = {
    number + 1: why
    for why, numbers in {
        _ROLLOUT: (23, 68, 84, 88, 89, 90, 91, 92, 93, 94, 102, 107, 111, 112),
        _STATUS: (25, 26, 36, 37, 38, 39, 57, 69, 96, 109, 135, 174),
        _PODS: (
            *(27, 28, 29, 30, 31, 40, 41, 43, 45, 46, 48, 49, 50, 51, 52, 56, 58, 59, 72, 95, 108, 110, 140),
            *(154, 155, 156, 157, 160, 161, 173),
        ),
        _ENDPOINTS: (34, 35, 44, 60, 62, 141),
        _EVENTS: (10, 63, 64, 65, 66, 162, 183),
        _SERVICE_ACCOUNT: (146, 153, 159, 175),
        _NAMESPACE: (184, 185, 186),
    }.items()
    for number in numbers
}

RECORDED = [json.loads(line) for line in (GOLDEN / "control-plane.jsonl").read_text().splitlines()]

NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: {name}
  annotations: {{node.alpha.kubernetes.io/ttl: "0"}}
  labels:
    beta.kubernetes.io/arch: amd64
    beta.kubernetes.io/os: linux
    kubernetes.io/arch: amd64
    kubernetes.io/hostname: {name}
    kubernetes.io/os: linux
spec: {{podCIDR: 10.244.{number}.0/24, podCIDRs: [10.244.{number}.0/24]}}
status:
  addresses:
  - {{type: InternalIP, address: 172.18.0.{last}}}
  - {{type: Hostname, address: {name}}}
  capacity: &amounts {{cpu: "8", ephemeral-storage: 100Gi, hugepages-2Mi: "0", memory: 32Gi, pods: "110"}}
  allocatable: *amounts
  conditions:
  - {{type: MemoryPressure, status: "False", reason: KubeletHasSufficientMemory, message: kubelet has sufficient memory available, lastHeartbeatTime: "2026-01-05T09:00:00Z", lastTransitionTime: "2026-01-05T09:00:00Z"}}
  - {{type: DiskPressure, status: "False", reason: KubeletHasNoDiskPressure, message: kubelet has no disk pressure, lastHeartbeatTime: "2026-01-05T09:00:00Z", lastTransitionTime: "2026-01-05T09:00:00Z"}}
  - {{type: PIDPressure, status: "False", reason: KubeletHasSufficientPID, message: kubelet has sufficient PID available, lastHeartbeatTime: "2026-01-05T09:00:00Z", lastTransitionTime: "2026-01-05T09:00:00Z"}}
  - {{type: Ready, status: "True", reason: KubeletReady, message: kubelet is posting ready status, lastHeartbeatTime: "2026-01-05T09:00:00Z", lastTransitionTime: "2026-01-05T09:00:00Z"}}
  nodeInfo:
    architecture: amd64
    bootID: 00000000-0000-0000-0000-000000000011
    containerRuntimeVersion: containerd://2.1.9
    kernelVersion: 6.1.0
    kubeProxyVersion: v1.36.4
    kubeletVersion: v1.36.4
    machineID: "00000000000000000000000000000001"
    operatingSystem: linux
    osImage: Debian GNU/Linux 12 (bookworm)
    systemUUID: 00000000-0000-0000-0000-000000000001
"""


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A cluster at the recording's address, with the recording's nodes and kubeconfig."""
    with cluster(
        tmp_path_factory.mktemp("replay"), "--nodes", "1", "--port", str(PORT), "--api-only"
    ) as served:
        served.ok("delete", "node", "kind-control-plane")
        for number, name in enumerate(("kind-control-plane", "kind-worker")):
            served.ok("create", "-f", "-", stdin=NODE.format(name=name, number=number, last=number + 2))
        served.ok("label", "node", "kind-control-plane", "node-role.kubernetes.io/control-plane=")
        rename_context(served.kubeconfig)
        yield served


def rename_context(kubeconfig: Path) -> None:
    """The kubeconfig in the words of the recording: a certificate file, and kubeadm's names."""
    told = yaml.safe_load(kubeconfig.read_text())
    authority = kubeconfig.parent / "work" / "pki" / "ca.crt"
    authority.parent.mkdir(parents=True)
    authority.write_bytes(base64.b64decode(told["clusters"][0]["cluster"].pop("certificate-authority-data")))
    told["clusters"][0]["name"] = told["contexts"][0]["context"]["cluster"] = "kubernetes"
    told["clusters"][0]["cluster"]["certificate-authority"] = "work/pki/ca.crt"
    told["contexts"][0]["name"] = told["current-context"] = "kubernetes-admin@kubernetes"
    kubeconfig.write_text(yaml.safe_dump(told))


def typed(served: Served, recorded: dict[str, str]) -> dict[str, str | int]:
    """One recorded line, typed at our cluster in the recording's folder."""
    line = f'kubectl() {{ {CLIENTS}/kubectl-{served.version} "$@"; }}\n{recorded["cmd"]}'
    done = subprocess.run(
        ["bash", "-c", line],
        input=recorded["stdin"] or "",
        env={"PATH": "/usr/bin:/bin", "HOME": str(served.home), "KUBECONFIG": str(served.kubeconfig)},
        cwd=GOLDEN / "manifests",
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return {"stdout": done.stdout, "stderr": done.stderr, "exit": done.returncode}


def test_the_recorded_session_prints_the_same(replayed: Served) -> None:
    differing = []
    for recorded in RECORDED:
        if recorded["n"] in NEEDS_A_LOOP:
            continue
        ours = typed(replayed, recorded)
        if not same(recorded, ours):
            differing.append(difference(recorded, ours))
    assert not differing, f"{len(differing)} lines differ\n" + "\n".join(differing)


def difference(recorded: dict[str, str], ours: dict[str, str | int]) -> str:
    """What the recording prints and we do not, and the other way round."""
    told = [f"--- {recorded['n']}: {recorded['cmd']} (exit {recorded['exit']}, ours {ours['exit']})"]
    for name in ("stdout", "stderr"):
        theirs, mine = lines(recorded[name]), lines(str(ours[name]))
        told.extend(f"-{line}" for line in theirs if line not in mine)
        told.extend(f"+{line}" for line in mine if line not in theirs)
    return "\n".join(told)
