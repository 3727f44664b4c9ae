"""The agent's terminal on a real cluster: a pod with kubectl and common tools, a service account and the rights of its policy.

Commands reach it by exec. The pod knows neither the harness nor its credentials: whatever the agent can read in the cluster, there is
nothing of the harness in it. Where network policies are enforced, it accepts no connections, and reaches private networks and the API
server only: no public code, and no cloud's metadata service.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from ipaddress import ip_network
from typing import Any, Final

from aiopslab.cloud.kubernetes.client import ClusterClient, ClusterFailed, Refused
from aiopslab.cloud.kubernetes.clock import ClusterClock
from aiopslab.cloud.kubernetes.mirror import make_path
from simcloud.kubernetes.api import Object, at
from simcloud.machine.files import SENTENCES, FileError
from simcloud.machine.process import Completed
from simcloud.world import TIMED_OUT, TIMEOUT_S, TOOLBOX, Policy

NAMESPACE: Final = "operations"
NAME: Final = "terminal"
SELECTOR: Final = {"app.kubernetes.io/name": NAME}
ACCOUNT: Final = "operator"
HOME: Final = "/root"
TOKEN: Final = "/var/run/secrets/kubernetes.io/serviceaccount/token"
READY_S: Final = 300.0
POLL_S: Final = 0.5
SHOWN_BYTES: Final = 64 << 10
GRACE_S: Final = 15.0
"""How much longer than its command an exec may take here."""
START: Final = 'cd "$0" && exec timeout -k 2 "$1" bash -c "$2"'
"""Runs a line in a folder, with a limit of seconds; both and the line are its arguments."""
OWN_PROCESSES: Final = 4
"""The processes of a terminal in which nothing runs: the pod's own, and those that count."""
RBAC: Final = "rbac.authorization.k8s.io"
NETWORKS: Final = ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
"""Private networks, in which pods, Services and nodes are."""


def build_account(policy: Policy, labels: dict[str, str], servers: Iterable[str]) -> list[tuple[str, Object]]:
    """Return the objects that give a session its rights, each with the path at which it is created.

    ``servers`` are the addresses of the API server, which may be public.
    """

    def build(path: str, version: str, kind: str, name: str, **content: Any) -> tuple[str, Object]:
        metadata = {"name": name, "labels": labels}
        return path, {"apiVersion": version, "kind": kind, "metadata": metadata, **content}

    def bind(role: str) -> tuple[str, Object]:
        subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}
        return build(
            make_path(RBAC, "clusterrolebindings"),
            f"{RBAC}/v1",
            "ClusterRoleBinding",
            f"session:{policy.name}:{role}",
            roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
            subjects=[subject],
        )

    own_role = f"session:{policy.name}"
    rules = [{key: list(value) for key, value in rule.items()} for rule in policy.rules]
    blocks = [*NETWORKS, *(str(ip_network(address)) for address in servers)]
    reach = {
        "podSelector": {"matchLabels": SELECTOR},
        "policyTypes": ["Ingress", "Egress"],
        "egress": [{"to": [{"ipBlock": {"cidr": block}} for block in blocks]}],
    }
    path = make_path("networking.k8s.io", "networkpolicies", NAMESPACE)
    objects = [
        build(make_path("", "namespaces"), "v1", "Namespace", NAMESPACE),
        build(path, "networking.k8s.io/v1", "NetworkPolicy", NAME, spec=reach),
        build(make_path("", "serviceaccounts", NAMESPACE), "v1", "ServiceAccount", ACCOUNT),
        bind(policy.role or "cluster-admin"),
    ]
    if rules:
        path = make_path(RBAC, "clusterroles")
        objects += [build(path, f"{RBAC}/v1", "ClusterRole", own_role, rules=rules), bind(own_role)]
    return objects


def build_pod(image: str, labels: dict[str, str]) -> Object:
    """Return the pod of a terminal."""
    container = {
        "name": NAME,
        "image": image,
        "command": ["sleep", "infinity"],
        "workingDir": HOME,
        "env": [{"name": "HOME", "value": HOME}],
    }
    spec = {"serviceAccountName": ACCOUNT, "terminationGracePeriodSeconds": 0, "containers": [container]}
    metadata = {"name": NAME, "labels": {**labels, **SELECTOR}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


class PodTerminal:
    """A pod for one session. ``run`` runs a line and waits for its end."""

    def __init__(
        self,
        client: ClusterClient,
        clock: ClusterClock,
        policy: Policy,
        sync: Callable[[], float],
        *,
        image: str = TOOLBOX,
        labels: dict[str, str],
    ) -> None:
        """Start the pod; ``admit`` has created its account. ``sync`` brings the site up to date, and returns its time.

        Raises ``ClusterFailed`` if the pod does not start.
        """
        self._client = client
        self._clock = clock
        self._sync = sync
        self.policy = policy
        self.closes_at_s = math.inf
        self._is_closed = False
        client.request("POST", make_path("", "pods", NAMESPACE), build_pod(image, labels))
        self._wait_until_ready(image)
        self.secrets: tuple[str, ...] = (self._read_token(),)

    @property
    def home(self) -> str:
        """The working directory of every line."""
        return HOME

    @property
    def has_jobs(self) -> bool:
        """Whether a program that was started here still runs."""
        if self._is_closed:
            return False
        done = self._exec(["sh", "-c", "ls -d /proc/[0-9]* | wc -l"], 10.0)
        return int(done.stdout or 0) > OWN_PROCESSES

    def run(self, line: str, timeout_s: float = TIMEOUT_S) -> Completed:
        """Run a line and return its result; after ``timeout_s`` seconds of the cluster it is killed, with status 124."""
        timeout_s = max(0.0, min(timeout_s, self.closes_at_s - self._sync()))
        if timeout_s == 0:
            return Completed(TIMED_OUT, b"", b"")
        began_s = time.monotonic()
        limit = f"{math.ceil(timeout_s)}"
        done = self._exec(["sh", "-c", START, HOME, limit, line], timeout_s)
        took_s = (time.monotonic() - began_s) * self._clock.speed
        self._sync()
        stdout, stderr = _limit(done.stdout), _limit(done.stderr)
        if done.status in (TIMED_OUT, 137) and took_s >= timeout_s:
            note = (
                f"[killed after {timeout_s:g} s, because it was still running. Use a longer timeout, or run it in the background: "
                "COMMAND > /tmp/out 2>&1 &]\n"
            )
            return Completed(TIMED_OUT, stdout, stderr + note.encode())
        return Completed(done.status, stdout, stderr)

    def read_file(self, path: str, limit_bytes: int) -> bytes:
        """Return the beginning of a file; raises ``FileError``."""
        return self._run_file_command(["head", "-c", str(limit_bytes), path])

    def write_file(self, path: str, data: bytes) -> None:
        """Write a file; raises ``FileError``."""
        folder = path.rpartition("/")[0] or "/"
        # Not every cluster can end the input of a command, so the command knows how much it reads.
        write = 'mkdir -p "$0" && head -c "$2" > "$1"'
        self._run_file_command(["sh", "-c", write, folder, path, str(len(data))], data)

    def install(self, path: str, script: str) -> None:
        """Write a program; raises ``FileError``."""
        self.write_file(path, script.encode())
        self._run_file_command(["chmod", "755", path])

    def list_folder(self, path: str) -> list[str] | None:
        """Return the names in a folder, None if it is a file; raises ``FileError``."""
        if self._exec(["test", "-d", path], 10.0).status != 0:
            return None
        return self._run_file_command(["ls", "-a", path]).decode(errors="replace").split()

    def _run_file_command(self, command: list[str], stdin: bytes = b"") -> bytes:
        done = self._exec(command, 30.0, stdin)
        if done.status != 0:
            said = done.stderr.decode(errors="replace")
            raise FileError(next((code for code, words in SENTENCES.items() if words in said), "EIO"))
        return done.stdout

    def _exec(self, command: list[str], timeout_s: float, stdin: bytes = b"") -> Completed:
        try:
            return self._client.exec(
                NAMESPACE, NAME, command, stdin, timeout_s=self._clock.to_wall(timeout_s) + GRACE_S
            )
        except ClusterFailed as error:  # the agent may have broken its own terminal, or the cluster
            return Completed(1, b"", f"The terminal cannot be reached: {error}\n".encode())

    def _read_token(self) -> str:
        return self._exec(["cat", TOKEN], 10.0).stdout.decode(errors="replace").strip()

    def _wait_until_ready(self, image: str) -> None:
        path, deadline_s = make_path("", "pods", NAMESPACE, NAME), time.monotonic() + READY_S
        while True:
            pod: Object = self._client.request("GET", path)
            status = at(pod, "status", "containerStatuses", 0, default={})
            if status.get("ready"):
                return
            if time.monotonic() > deadline_s:
                reason = at(status, "state", "waiting", "reason", default="") or at(
                    pod, "status", "phase", default=""
                )
                raise ClusterFailed(
                    f"The agent's terminal, a pod with the image {image}, did not start within {READY_S:g} s ({reason}). "
                    "Choose another image with --cluster-option terminal_image=IMAGE."
                )
            time.sleep(POLL_S)

    def close(self) -> None:
        """End the session and kill everything that it left running."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._client.request("DELETE", f"{make_path('', 'pods', NAMESPACE, NAME)}?gracePeriodSeconds=0")
        except Refused as error:
            if error.status != 404:
                raise


def _limit(data: bytes) -> bytes:
    if len(data) <= SHOWN_BYTES:
        return data
    note = (
        f"\n[cut: {SHOWN_BYTES} of {len(data)} bytes are shown. To see the rest, write the output to a file (COMMAND > /tmp/out) "
        "and read the file in parts with head, tail or grep]\n"
    )
    return data[:SHOWN_BYTES] + note.encode()
