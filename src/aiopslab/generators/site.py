"""The site of faults and load: an application in a cluster, on machines, and the commands by which operators work on it.

A fault gets its site as an argument. The objects that the papers' problems create themselves (``VirtFaultInjector(ns)``,
``Wrk(…)``) do not: they act on the current site, which ``at_site`` sets.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, cast

from aiopslab.service import NoCloud, at_cloud, get_cloud
from simcloud.kubernetes.api import at

if TYPE_CHECKING:
    from aiopslab.apps import Application
    from aiopslab.generators.hardware import Hardware
    from simcloud.kubernetes.api import Object
    from simcloud.machine.process import Completed, Program


LINE_TIMEOUT_S: Final = 30.0
UNREADY_PODS: Final = ".items[] | select(any(.status.containerStatuses[]?; .ready | not)) | .metadata.name"
"""A jq filter."""
DEPLOYMENTS: Final = "deployments.apps"
SYSTEM: Final = "kube-system"
"""The namespace of the cluster's own workloads."""
SHELLS: Final = {
    "mongodb": "mongo admin {login} --quiet --eval {script}",
    "redis": "redis-cli {login} {words}",
    "memcached": "bash -c {script}",
}
"""The databases' own shells, by the role of their components."""
LONGEST_SLEEP_S: Final = 25
"""A line of an operator may take half a minute."""
OWN_METADATA: Final = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid")
"""Metadata that the cluster writes."""


class Site(ABC):
    """An application in a cluster, on machines, that faults are injected into.

    A site implements the abstract methods; the operators' commands are made from them. Objects are those of the application's
    namespace unless another is given, ``""`` for objects without one; resources are named as in ``deployments.apps``.
    """

    app: Application
    struck_nodes: dict[str, tuple[str, ...]]
    """The nodes that the pods of a faulty component ran on when the fault was injected."""

    @property
    def namespace(self) -> str:
        """The application's namespace."""
        return self.app.namespace

    @abstractmethod
    def hardware(self, node: str) -> Hardware:
        """Return the hardware of a node."""

    @abstractmethod
    def operate(self, line: str) -> Completed:
        """Run a line as an operator, on another host than the agent's; raises ``OperationFailed``."""

    def attempt(self, line: str, timeout_s: float = LINE_TIMEOUT_S) -> Completed:
        """Run a line as an operator, and return how it ended."""
        try:
            return self.operate(line)
        except OperationFailed as error:
            from simcloud.machine.process import (
                Completed,
            )  # loads the machines, which lists of faults do not need

            return Completed(1, b"", str(error).encode())

    def run_in_session(self, line: str, timeout_s: float = LINE_TIMEOUT_S) -> Completed:
        """Run a line on the agent's host, and return how it ended; at a site without agents, as an operator."""
        return self.attempt(line, timeout_s)

    def put_file(self, path: str, data: bytes) -> None:
        """Write a file on the operators' host."""
        folder = quote(path.rpartition("/")[0] or "/")
        text = b64encode(data).decode()
        self.operate(f"mkdir -p {folder} && base64 -d > {quote(path)} <<'EOF'\n{text}\nEOF")

    @abstractmethod
    def find(self, resource: str, name: str, namespace: str | None = None) -> Object | None:
        """Return an object, or None."""

    @abstractmethod
    def find_original(self, resource: str, name: str, namespace: str | None = None) -> Object | None:
        """Return a declared object as it was before the fault, or None."""

    @abstractmethod
    def is_as_injected(self, resource: str, name: str, namespace: str | None = None) -> bool:
        """Return whether a declared object still has everything that the fault did to it."""

    @abstractmethod
    def start_outside(self, name: str, program: Program) -> None:
        """Run a program outside the cluster, where the users are. It runs while the site's time passes."""

    @contextmanager
    def innocently(self) -> Iterator[None]:
        """Count what changes inside the ``with`` block as wanted: it is no part of a fault."""
        yield

    def run(self, line: str) -> str:
        """Run a line as an operator; return its output."""
        return self.operate(line).stdout.decode(errors="replace")

    def kubectl(self, line: str) -> str:
        """Run kubectl in the application's namespace; return its output."""
        return self.run(f"kubectl -n {self.namespace} {line}")

    def apply(self, *documents: Mapping[str, Any], namespace: str | None = None) -> None:
        """Apply documents, in the application's namespace unless they or the argument name another."""
        for document in documents:
            space = namespace or document["metadata"].get("namespace", self.namespace)
            self.run(f"kubectl -n {space} apply -f - <<'EOF'\n{json.dumps(document)}\nEOF")

    def add(
        self, version: str, kind: str, name: str, content: Mapping[str, Any], namespace: str | None = None
    ) -> None:
        """Apply a new object; ``content`` is all but its kind and its name, such as ``{"spec": …}``."""
        document = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **content}
        self.apply(document, namespace=namespace)

    def patch(
        self, resource: str, name: str, change: Any, how: str = "strategic", namespace: str | None = None
    ) -> None:
        """Merge a change into an object, or do a list of operations with ``how="json"``."""
        space = self.namespace if namespace is None else namespace
        self.run(f"kubectl -n {space} patch {resource} {name} --type={how} -p {quote(json.dumps(change))}")

    def get_deployment(self, workload: str) -> Object:
        """Return a Deployment; raises ``OperationFailed``."""
        found = self.find(DEPLOYMENTS, workload)
        if found is None:
            raise OperationFailed(f"There is no Deployment '{workload}'.")
        return found

    def get_container(self, workload: str) -> Object:
        """Return the first container of a Deployment; raises ``OperationFailed``."""
        container: Object = self.get_deployment(workload)["spec"]["template"]["spec"]["containers"][0]
        return container

    def set_pods(self, workload: str, **changes: Any) -> None:
        """Roll out changes of a Deployment's pods; None removes a field."""
        self.patch("deployment", workload, {"spec": {"template": {"spec": changes}}})

    def set_container(self, workload: str, **changes: Any) -> None:
        """Roll out changes of a Deployment's first container; None removes a field."""
        self.set_pods(workload, containers=[{"name": self.get_container(workload)["name"], **changes}])

    def add_volume(self, workload: str, name: str, source: Mapping[str, Any], path: str) -> None:
        """Roll out a volume, mounted in a Deployment's first container."""
        container = {
            "name": self.get_container(workload)["name"],
            "volumeMounts": [{"name": name, "mountPath": path}],
        }
        self.set_pods(workload, volumes=[{"name": name, **source}], containers=[container])

    def get_settings(self, config_map: str) -> Mapping[str, str]:
        """Return the files of a ConfigMap by name; empty if there is none."""
        settings: Mapping[str, str] = at(self.find("configmaps", config_map), "data", default={})
        return settings

    def get_selector(self, workload: str) -> str:
        """Return the labels of a Deployment's pods, as kubectl's ``-l`` takes them."""
        labels: Mapping[str, str] = self.get_deployment(workload)["spec"]["selector"]["matchLabels"]
        return ",".join(f"{name}={value}" for name, value in labels.items())

    def pods_of(self, workload: str) -> list[str]:
        """Return the names of a Deployment's pods."""
        listed = self.kubectl(f"get pods -l {self.get_selector(workload)} -o name")
        return [line.removeprefix("pod/") for line in listed.split()]

    def addresses_of(self, workload: str) -> list[str]:
        """Return the addresses of a Deployment's pods."""
        addresses = "jsonpath='{.items[*].status.podIP}'"
        return self.kubectl(f"get pods -l {self.get_selector(workload)} -o {addresses}").split()

    def nodes_of(self, workload: str) -> list[str]:
        """Return the nodes of a Deployment's pods."""
        nodes = "jsonpath='{.items[*].spec.nodeName}'"
        return list(
            dict.fromkeys(self.kubectl(f"get pods -l {self.get_selector(workload)} -o {nodes}").split())
        )

    def places_of(self, workload: str) -> list[tuple[str, str]]:
        """Return the running pods of a Deployment, each with its node."""
        places = '{range .items[*]}{.metadata.name} {.spec.nodeName}{"\\n"}{end}'
        selected = f"-l {self.get_selector(workload)} --field-selector status.phase=Running"
        listed = self.kubectl(f"get pods {selected} -o jsonpath={quote(places)}")
        return [(pod, node) for pod, node in map(str.split, listed.splitlines())]

    def list_nodes(self) -> list[str]:
        """Return the names of all nodes."""
        return self.run("kubectl get nodes -o name").replace("node/", "").split()

    def list_workers(self) -> list[str]:
        """Return the names of the nodes that run the applications."""
        listed = self.run("kubectl get nodes -l '!node-role.kubernetes.io/control-plane' -o name")
        return listed.replace("node/", "").split()

    def find_processes(self, workload: str) -> list[tuple[str, int]]:
        """Return the node and the process ID there of each main process of a Deployment's pods.

        A pod whose container is not started yet has none.
        """
        get = "jsonpath='{range .items[*]}{.spec.nodeName} {.status.containerStatuses[0].containerID}{\"\\n\"}{end}'"
        listed = self.kubectl(f"get pods -l {self.get_selector(workload)} -o {get}").replace(
            "containerd://", ""
        )
        found = []
        for node, container in (fields for line in listed.splitlines() if len(fields := line.split()) == 2):
            inspected = json.loads(self.node_shell(node, f"crictl inspect {container}"))
            found.append((node, int(inspected["info"]["pid"])))
        return found

    def restart(self, workload: str) -> None:
        """Delete the pods of a Deployment, so that it replaces them."""
        self.kubectl(f"delete pods -l {self.get_selector(workload)} --grace-period=10")

    def restart_callers(self, component: str) -> None:
        """Restart the components that call a component, whose open connections would outlive a change."""
        for caller in self.app.find_callers(component):
            self.restart(caller)

    def exec(self, workload: str, command: str) -> str:
        """Run a command in a pod of a Deployment; return its output."""
        return self.kubectl(f"exec --pod-running-timeout=1s deploy/{workload} -- {command}")

    def database(self, component: str, script: str) -> str:
        """Run a script in a database's own shell, as its administrator; return its output."""
        known = self.app.component(component)
        shell = SHELLS[known.role].format(login=known.login, script=quote(script), words=script)
        return self.exec(component, shell)

    def node_shell(self, node: str, line: str) -> str:
        """Run a line on a node as root; return its output."""
        return self.run(f"ssh {node} {quote(line)}")

    def run_in_networks(self, workload: str, line: str) -> list[str]:
        """Run a line in the network namespace of each running pod of a Deployment, on its node; return the outputs."""
        pid = "$(crictl inspectp $(crictl pods --name {} -q) | jq .info.pid)"
        return [
            self.node_shell(node, f"nsenter -t {pid.format(pod)} -n {line}")
            for pod, node in self.places_of(workload)
        ]

    def restore(self, resource: str, name: str, namespace: str | None = None) -> None:
        """Make a declared object as it was before the fault; delete it if there was none."""
        space = self.namespace if namespace is None else namespace
        kubectl = f"kubectl -n {space}" if space else "kubectl"
        original = self.find_original(resource, name, namespace)
        if original is None:
            self.operate(f"{kubectl} delete {resource} {name} --ignore-not-found")
            return
        metadata = {key: value for key, value in original["metadata"].items() if key not in OWN_METADATA}
        document = {key: value for key, value in original.items() if key != "status"} | {"metadata": metadata}
        verb = "create" if self.find(resource, name, namespace) is None else "replace"
        self.operate(f"{kubectl} {verb} -f - <<'EOF'\n{json.dumps(document)}\nEOF")

    def wait(self, seconds: int) -> None:
        """Let time pass."""
        for _ in range(seconds // LONGEST_SLEEP_S):
            self.run(f"sleep {LONGEST_SLEEP_S}")
        self.run(f"sleep {seconds % LONGEST_SLEEP_S}")

    def wait_until_ready(self, workload: str, timeout_s: int = LONGEST_SLEEP_S) -> None:
        """Wait until a Deployment has rolled out; raises ``OperationFailed``."""
        self._wait_for(f"kubectl -n {self.namespace} rollout status deployment/{workload}", timeout_s)

    def wait_until_gone(self, pods: str, namespace: str | None = None) -> None:
        """Wait until pods have ended, given by names or by ``-l`` and a label; raises ``OperationFailed`` after a minute."""
        self._wait_for(f"kubectl -n {namespace or self.namespace} wait --for=delete pod {pods}", 75)

    def _wait_for(self, line: str, timeout_s: int) -> None:
        """Run a line that waits, several times if the timeout is longer than a line may take."""
        line = f"{line} --timeout={LONGEST_SLEEP_S}s"
        for _ in range(timeout_s // LONGEST_SLEEP_S - 1):
            with suppress(OperationFailed):
                self.run(line)
                return
        self.run(line)

    def get_port(self, service: str) -> int:
        """Return the first target port of a Service, 0 if there is none."""
        port: int = at(self.find("services", service), "spec", "ports", 0, "targetPort", default=0)
        return port

    def set_port(self, service: str, **changes: Any) -> None:
        """Change fields of a Service's first port."""
        fields = [
            {"op": "replace", "path": f"/spec/ports/0/{name}", "value": value}
            for name, value in changes.items()
        ]
        self.patch("service", service, fields, "json")


BARE: Final = (
    "del(.status, .metadata.resourceVersion, .metadata.uid, .metadata.creationTimestamp, .metadata.managedFields, .metadata.generation,"
    ' .metadata.annotations["deployment.kubernetes.io/revision", "kubectl.kubernetes.io/last-applied-configuration"],'
    " .spec.clusterIP?, .spec.clusterIPs?)"
)
"""Filter of jq that leaves of an object what a team keeps in its manifests."""


NoSite: Final = NoCloud
"""An injector or a load generator needs a site, and there is no current one."""


class OperationFailed(Exception):
    """A line that ``operate`` ran failed."""


@contextmanager
def at_site(site: Site) -> Iterator[None]:
    """Make a site the current one, for injectors and load generators inside the ``with`` block."""
    with at_cloud(site):
        yield


def get_current_site(caller: str) -> Site:
    """Return the current site; raises ``NoSite`` with the name of the caller."""
    return cast(Site, get_cloud(caller))


def restart_unready_pods(site: Site, workloads: Iterable[str]) -> None:
    """Wait for workloads to roll out, then delete all pods that are not ready, so that they restart without back-off."""
    for workload in workloads:
        site.wait_until_ready(workload)
    ns = f"kubectl -n {site.namespace}"
    site.operate(
        f"{ns} get pods -o json | jq -r '{UNREADY_PODS}' | xargs -r {ns} delete pod --ignore-not-found --grace-period=10"
    )
