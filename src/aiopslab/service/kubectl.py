"""``KubeCtl`` of the public AIOpsLab release, on the current embedded cloud.

Every method runs the built-in kubectl on the operators' host. Waiting passes simulated time. Files of this host are read only
where the author of a problem names them: in ``apply_configs``, and in commands while a problem is staged.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from aiopslab.service.current import get_cloud, is_author
from aiopslab.service.objects import ApiList, ApiObject, make_error, to_document, wrap
from aiopslab.utils import AIOpsLabError

if TYPE_CHECKING:
    from simcloud.machine.process import Completed

TIMEOUT_S: Final = 300.0
MAX_FILES: Final = 1000
"""Maximum number of files that are copied for one command."""
_CALL: Final = re.compile(
    r"(?P<verb>list|read|create|replace|patch|delete)_(?P<namespaced>namespaced_)?(?P<kind>\w+?)"
    r"(?P<all>_for_all_namespaces)?(?P<log>_log)?(_status|_scale)?"
)
_FILE_OPTIONS: Final = ("-f", "-Rf", "-R", "--filename", "-k", "--values", "--from-file")


class NotReadyInTime(AIOpsLabError):
    """Pods did not get ready, or a namespace was not deleted, in time."""


class KubeCtl:
    """kubectl on the current cloud; it may be created before there is one."""

    def __init__(self) -> None:
        self.core_v1_api = self.apps_v1_api = ApiClient(self)

    def exec_command(self, command: str, input_data: str | None = None) -> str:
        """Run a command line on the operators' host; return its output, or its error output if it failed."""
        done = self.run(command, input_data)
        return (done.stdout if done.status == 0 else done.stderr or done.stdout).decode(errors="replace")

    def run(self, command: str, input_data: str | None = None) -> Completed:
        """Run a command line on the operators' host; return how it ended."""
        cloud = get_cloud("KubeCtl")
        if is_author():
            for path in _find_files(command):
                copy_to_cloud(cloud, path)
        if input_data is not None:
            command = f"( {command} ) <<'END_OF_INPUT'\n{input_data}\nEND_OF_INPUT"
        return cast("Completed", cloud.attempt(command, TIMEOUT_S))

    def request(self, line: str, body: Any = None) -> Any:
        """Run kubectl with ``-o json``; return the object or the list, or raise what the genuine client would."""
        done = self.run(f"kubectl {line} -o json", None if body is None else json.dumps(to_document(body)))
        if done.status != 0:
            raise make_error(done.stderr.decode(errors="replace"))
        document = json.loads(done.stdout)
        return ApiList(document) if document["kind"].endswith("List") else wrap(document)

    def list_namespaces(self) -> ApiList:
        """Return all namespaces."""
        return cast(ApiList, self.request("get namespaces"))

    def list_pods(self, namespace: str) -> ApiList:
        """Return the pods of a namespace."""
        return cast(ApiList, self.request(f"get pods -n {namespace}"))

    def list_services(self, namespace: str) -> ApiList:
        """Return the Services of a namespace."""
        return cast(ApiList, self.request(f"get services -n {namespace}"))

    def get_cluster_ip(self, service_name: str, namespace: str) -> str:
        """Return the cluster IP of a Service."""
        return str(self.request(f"get service {service_name} -n {namespace}").spec.cluster_ip)

    def get_container_runtime(self, max_wait: int = 60, poll_interval: int = 2) -> str:
        """Return the container runtime of the first node."""
        return str(self.request("get nodes").items[0].status.node_info.container_runtime_version)

    def get_node_architectures(self) -> set[str]:
        """Return the CPU architectures of the nodes."""
        return {node.status.node_info.architecture for node in self.request("get nodes").items}

    def get_pod_name(self, namespace: str, label_selector: str) -> str:
        """Return the name of the first pod with these labels; raises ``IndexError`` if there is none."""
        pods = self.request(f"get pods -n {namespace} -l {shlex.quote(label_selector)}")
        return str(pods.items[0].metadata.name)

    def get_pod_logs(self, pod_name: str, namespace: str) -> str:
        """Return the logs of a pod."""
        return self.exec_command(f"kubectl logs {pod_name} -n {namespace}")

    def get_service_json(self, service_name: str, namespace: str, deserialize: bool = True) -> Any:
        """Return the JSON document of a Service, as a dictionary or as text."""
        text = self.exec_command(f"kubectl get service {service_name} -n {namespace} -o json")
        return json.loads(text) if deserialize else text

    def get_deployment(self, name: str, namespace: str) -> ApiObject:
        """Return a Deployment."""
        return cast(ApiObject, self.request(f"get deployment {name} -n {namespace}"))

    def update_deployment(self, name: str, namespace: str, deployment: Any) -> ApiObject:
        """Replace a Deployment by a changed one."""
        return cast(ApiObject, self.request(f"replace -n {namespace} -f -", deployment))

    def patch_service(self, name: str, namespace: str, body: Any) -> ApiObject:
        """Merge a change into a Service."""
        return cast(ApiObject, self.core_v1_api.patch_namespaced_service(name, namespace, body))

    def create_or_update_configmap(self, name: str, namespace: str, data: Mapping[str, str]) -> ApiObject:
        """Create a ConfigMap, or replace its data."""
        document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": dict(data)}
        return cast(ApiObject, self.request(f"apply -n {namespace} -f -", document))

    create_configmap = create_new_configmap = update_configmap = create_or_update_configmap

    def create_namespace_if_not_exist(self, namespace: str) -> None:
        """Create a namespace unless it exists."""
        self.exec_command(f"kubectl get namespace {namespace} || kubectl create namespace {namespace}")

    def delete_namespace(self, namespace: str) -> None:
        """Delete a namespace if it exists, and wait until it is gone."""
        self.exec_command(f"kubectl delete namespace {namespace} --ignore-not-found --wait=false")
        self.wait_for_namespace_deletion(namespace)

    def apply_configs(self, namespace: str, config_path: Path | str) -> None:
        """Apply the manifests of a file or folder of this host."""
        copy_to_cloud(get_cloud("KubeCtl"), Path(config_path))
        self.exec_command(f"kubectl apply -Rf {shlex.quote(str(config_path))} -n {namespace}")

    def delete_configs(self, namespace: str, config_path: Path | str) -> None:
        """Delete the objects of the manifests of a file or folder of this host."""
        copy_to_cloud(get_cloud("KubeCtl"), Path(config_path))
        where = shlex.quote(str(config_path))
        self.exec_command(f"kubectl delete -Rf {where} -n {namespace} --ignore-not-found --timeout=10s")

    def wait_for_ready(self, namespace: str, sleep: int = 2, max_wait: int = 300) -> None:
        """Wait until all pods of a namespace are ready or completed; raises ``NotReadyInTime``."""
        self._wait(
            sleep,
            max_wait,
            lambda: _are_ready(self.list_pods(namespace)),
            f"Not all pods in {namespace!r} were ready within {max_wait} simulated seconds. See: kubectl get pods -n {namespace}",
        )

    def wait_for_namespace_deletion(self, namespace: str, sleep: int = 2, max_wait: int = 300) -> None:
        """Wait until a namespace is gone; raises ``NotReadyInTime``."""
        self._wait(
            sleep,
            max_wait,
            lambda: self.run(f"kubectl get namespace {namespace}").status != 0,
            f"The namespace {namespace!r} was not deleted within {max_wait} simulated seconds.",
        )

    def _wait(self, sleep: int, max_wait: int, is_done: Callable[[], bool], message: str) -> None:
        for _ in range(0, max_wait, sleep):
            if is_done():
                return
            self.run(f"sleep {sleep}")
        raise NotReadyInTime(message)

    @staticmethod
    def _pod_is_ready_or_succeeded(pod: Any) -> bool:
        """Whether a pod has completed, or all its containers are ready."""
        if pod.status.phase == "Succeeded":
            return True
        statuses = pod.status.container_statuses
        return bool(statuses) and all(status.ready for status in statuses)


def _are_ready(pods: ApiList) -> bool:
    return bool(pods.items) and all(map(KubeCtl._pod_is_ready_or_succeeded, pods.items))


class ApiClient:
    """The genuine client's methods: ``list_namespaced_pod``, ``read_node``, ``patch_namespaced_service`` and their like."""

    def __init__(self, kubectl: KubeCtl) -> None:
        self._kubectl = kubectl

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found = _CALL.fullmatch(name)
        if found is None:
            raise AttributeError(f"The Kubernetes API has no method {name!r}.")
        kind = found["kind"].replace("_", "")

        def call(*args: Any, **options: Any) -> Any:
            given = list(args)
            named = found["verb"] not in ("list", "create")
            subject = options.get("name") or (given.pop(0) if named else "")
            space = options.get("namespace") or (given.pop(0) if found["namespaced"] else "")
            body = options.get("body", given[0] if given else None)
            where = f" -n {space}" if space else " -A" if found["all"] else ""
            if found["log"]:
                return self._read_logs(subject, where, options)
            return self._request(found["verb"], kind, subject, where, body, options)

        return call

    def _read_logs(self, pod: str, where: str, options: Mapping[str, Any]) -> str:
        line = f"kubectl logs {pod}{where}"
        for option, flag in (("container", "-c"), ("tail_lines", "--tail"), ("since_seconds", "--since")):
            if options.get(option):
                line += f" {flag}={options[option]}{'s' if option == 'since_seconds' else ''}"
        return self._kubectl.exec_command(line + (" -p" if options.get("previous") else ""))

    def _request(
        self, verb: str, kind: str, name: str, where: str, body: Any, options: Mapping[str, Any]
    ) -> Any:
        request = self._kubectl.request
        if verb in ("list", "read"):
            chosen = [
                ("-l", options.get("label_selector")),
                ("--field-selector", options.get("field_selector")),
            ]
            filters = "".join(f" {flag} {shlex.quote(value)}" for flag, value in chosen if value)
            return request(f"get {kind} {name}{where}{filters}")
        if verb == "delete":
            document = request(f"get {kind} {name}{where}")
            self._kubectl.exec_command(f"kubectl delete {kind} {name}{where} --wait=false")
            return document
        if verb == "patch":
            how = "json" if isinstance(body, list) else "strategic"
            change = shlex.quote(json.dumps(to_document(body)))
            return request(f"patch {kind} {name}{where} --type={how} -p {change}")
        return request(f"{verb}{where} -f -", {"apiVersion": "v1", **_name_kind(kind), **to_document(body)})


def _name_kind(kind: str) -> dict[str, str]:
    """Return the kind of a core object whose document may omit it."""
    kinds = ("ConfigMap", "Namespace", "Pod", "Secret", "Service", "ServiceAccount", "PersistentVolumeClaim")
    known = next((known for known in kinds if known.lower() == kind), None)
    return {} if known is None else {"kind": known}


def copy_to_cloud(cloud: Any, path: Path) -> None:
    """Copy a file or folder of this host to the same path on the operators' host."""
    files = [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if file.is_file()]
    if len(files) > MAX_FILES:
        raise AIOpsLabError(f"{path} has more than {MAX_FILES} files. Name a smaller folder.")
    for file in files:
        cloud.put_file(str(file), file.read_bytes())


def _find_files(command: str) -> list[Path]:
    """Return the files and folders of this host that options of a command name."""
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    named = [word for option, word in pairwise(words) if option in _FILE_OPTIONS]
    named += [word.rpartition("=")[2] for word in words if word.startswith(("--filename=", "--from-file="))]
    return [path for path in map(Path, named) if path.is_absolute() and path.exists()]
