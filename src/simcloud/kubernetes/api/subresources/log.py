"""``log``: the log of a container, as far as its node still has it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from simcloud.kubernetes.api.context import ReadContext
from simcloud.kubernetes.api.errors import ApiError, BadRequest, Invalid, NotFound
from simcloud.kubernetes.api.field_errors import FieldError, forbidden, invalid
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.runtime import LogOptions, LogStream, Runtime
from simcloud.sim import Kernel


def open_log(api: ReadContext, namespace: str, name: str, options: LogOptions) -> LogStream:
    """Begin to read a container's log."""
    problems = _problems(options)
    if problems:
        raise Invalid("", "PodLogOptions", name, problems)
    pod = running_pod(api, namespace, name)
    chosen = choose_container(pod, options.container)
    node = pod["spec"].get("nodeName")
    if not node:
        return NothingLogged(api.kernel)
    if api.log.get(api.key(api.catalogue.find("nodes"), "", node)) is None:
        raise NotFound(api.catalogue.find("pods"), node)
    return runtime_of(api, pod).logs(pod, replace(options, container=chosen))


class NothingLogged:
    """The log of a pod that no node has yet: it ends as soon as somebody reads it."""

    on_data: Callable[[bytes], None] | None = None

    def __init__(self, kernel: Kernel) -> None:
        self.on_end: Callable[[], None] | None = None
        kernel.call_later(0.0, lambda _: self._end())

    def _end(self) -> None:
        if self.on_end is not None:
            self.on_end()

    def stop(self) -> None:
        """The reader has gone."""
        self.on_end = None


def running_pod(api: ReadContext, namespace: str, name: str) -> Object:
    """A pod that has a node."""
    pods = api.catalogue.find("pods")
    pod = api.log.get(api.key(pods, namespace, name))
    if pod is None:
        raise NotFound(pods, name)
    return pod


def runtime_of(api: ReadContext, pod: Object) -> Runtime:
    """Return the runtime of the pod's containers. Raises ``ApiError`` if the pod has no node, or no kubelet runs."""
    if not pod["spec"].get("nodeName"):
        raise BadRequest(f"pod {pod['metadata']['name']} does not have a host assigned")
    if api.runtime is None:
        node = pod["spec"]["nodeName"]
        refusal = ApiError(f"error dialing backend: dial tcp: lookup {node}: no such host")
        refusal.reason = ""
        raise refusal
    return api.runtime


def choose_container(pod: Object, asked: str) -> str:
    """The container that is meant: the one asked for, or the only one."""
    spec, name = pod["spec"], pod["metadata"]["name"]
    parts = ("containers", "initContainers", "ephemeralContainers")
    known = [container["name"] for part in parts for container in spec.get(part, [])]
    if asked:
        if asked not in known:
            raise BadRequest(f"container {asked} is not valid for pod {name}")
        return asked
    plain = [container["name"] for container in spec.get("containers", [])]
    if len(plain) == 1:
        only: str = plain[0]
        return only
    default = (pod["metadata"].get("annotations") or {}).get("kubectl.kubernetes.io/default-container", "")
    if default in plain:
        return str(default)
    message = f"a container name must be specified for pod {name}, choose one of: [{' '.join(plain)}]"
    first = [container["name"] for container in spec.get("initContainers", [])]
    if first:
        message += f" or one of the init containers: [{' '.join(first)}]"
    raise BadRequest(message)


def _problems(options: LogOptions) -> list[FieldError]:
    found = []
    if options.tail_lines is not None and options.tail_lines < 0:
        found.append(invalid("tailLines", options.tail_lines, "must be greater than or equal to 0"))
    if options.limit_bytes is not None and options.limit_bytes < 1:
        found.append(invalid("limitBytes", options.limit_bytes, "must be greater than 0"))
    if options.since_s is not None and options.since_time:
        found.append(forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    elif options.since_s is not None and options.since_s < 1:
        found.append(invalid("sinceSeconds", options.since_s, "must be greater than 0"))
    return found
