"""``kubectl debug``: a debugging container in a pod, in a copy of it, or on a node."""

from __future__ import annotations

from typing import Any, Final

from simcloud.golang import quote
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import FlagError, KubectlError
from simcloud.kubectl.input.yaml_text import BadYaml, read_yaml
from simcloud.kubectl.pods.profiles import Keep, Style, lighten, open_node, profile_named, secure
from simcloud.kubectl.pods.streams import read_log
from simcloud.kubectl.pods.targets import find_container, find_target
from simcloud.kubectl.selection import Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.attach import attach_to
from simcloud.kubernetes.api import ApiError, DeleteOptions, LogOptions, NotFound, Object, at, copy
from simcloud.kubernetes.api.patch import PatchType, strategic_merge
from simcloud.kubernetes.api.verbs import Patch, WatchOptions
from simcloud.kubernetes.images import InvalidReference, references
from simcloud.machine.files import FileError

EXAMPLES: Final = (
    "kubectl debug web-1 -it --image=busybox --target=nginx",
    "kubectl debug web-1 --copy-to=web-1-debug --set-image=*=busybox",
    "kubectl debug node/kind-worker --image=busybox -- ls /host",
)
LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
POLICIES: Final = ("Always", "IfNotPresent", "Never", "")
FIXED: Final = ("name", "command", "image", "lifecycle", "volumeDevices")
STATUSES: Final = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")


@command("debug", "Create debugging containers for workloads and nodes", examples=EXAMPLES)
async def debug(kubectl: Kubectl) -> None:
    """Make the container, and attach to it if asked for."""
    await Debugger(kubectl).run()


class Debugger:
    """One debugging container, by the flags."""

    def __init__(self, kubectl: Kubectl) -> None:
        self._kubectl = kubectl
        self._flags = flags = kubectl.flags
        dash_at = flags.dash_at if flags.dash_at is not None else len(kubectl.args)
        self._names, self._command = kubectl.args[:dash_at], kubectl.args[dash_at:]
        self._profile = profile_named(flags["profile"])
        self._env = [{"name": name, "value": value} for name, value in _pairs(flags["env"], "env")]
        self._images = dict(_pairs(flags["set-image"], "set-image"))
        self._custom = _custom(kubectl)
        self._attaches = flags["attach"] if flags.is_given("attach") else flags["stdin"]

    async def run(self) -> None:
        """Debug everything that is named."""
        await self._check()
        for info in await self._targets():
            if info.resource.key == ("", "nodes"):
                pod, container = await self._on_node(info)
            elif info.resource.key != ("", "pods"):
                kind = f"{info.resource.group}/{info.resource.version}, Kind={info.resource.kind}"
                raise KubectlError(f"{quote(kind)} not supported by debug")
            elif self._flags["copy-to"]:
                pod, container = await self._in_copy(info)
            else:
                pod, container = await self._in_pod(info)
            if self._attaches and container:
                await self._attach(pod, container)

    # -- what is asked for ---------------------------------------------------------------------

    async def _check(self) -> None:
        flags = self._flags
        if flags.is_given("attach") and flags["attach"] and not flags["image"] and not flags["container"]:
            raise KubectlError(
                "you must specify --container or create a new container using --image in order to attach."
            )
        self._check_style()
        for image, of in [(flags["image"], ""), *((image, name) for name, image in self._images.items())]:
            _check_image(image, of)
        if not self._names and not flags["filename"]:
            raise KubectlError("NAME or filename is required for debug")
        if flags["image-pull-policy"] not in POLICIES:
            raise KubectlError(f"invalid image pull policy: {flags['image-pull-policy']}")
        if flags["target"]:
            if flags["copy-to"]:
                raise KubectlError("--target is incompatible with --copy-to. Use --share-processes instead.")
            await self._say(
                f"Targeting container {quote(flags['target'])}. If you don't see processes from this container "
                "it may be because the container runtime doesn't support this feature."
            )
        if flags["tty"] and not flags["stdin"]:
            raise KubectlError("-i/--stdin is required for containers with -t/--tty=true")
        if any(self._custom.get(field) for field in FIXED):
            raise KubectlError(
                "name, command, image, lifecycle and volume devices are not modifiable via custom profile"
            )
        if flags["profile"] == "legacy":
            await self._kubectl.err(
                "--profile=legacy is deprecated and planned to be removed in v1.39. It is recommended to "
                'specify other profile, for example "--profile=general".\n'
            )

    def _check_style(self) -> None:
        flags = self._flags
        if flags["copy-to"]:
            if not flags["image"] and not self._images and not self._command:
                raise KubectlError("you must specify --image, --set-image or command arguments.")
            if self._command and not flags["container"] and not flags["image"]:
                raise KubectlError(
                    "you must specify an existing container or a new image when specifying args."
                )
            return
        for name, said in (
            ("replace", flags["replace"]),
            ("same-node", flags["same-node"]),
            ("set-image", bool(self._images)),
        ):
            if said:
                raise KubectlError(f"--{name} may only be used with --copy-to.")
        if not flags["image"]:
            raise KubectlError("you must specify --image when not using --copy-to.")

    async def _targets(self) -> list[Info]:
        if self._flags["filename"]:
            return await select(self._kubectl, [], fetch_files=True)
        return [await find_target(self._kubectl, word) for word in self._names]

    # -- the three ways ------------------------------------------------------------------------

    async def _in_pod(self, info: Info) -> tuple[Object, str]:
        container = self._container(await self._name(info.obj))
        if self._flags["target"]:
            container["targetContainerName"] = self._flags["target"]
        secure(self._profile, container, Style.EPHEMERAL)
        await self._customise(container)
        connection = await self._kubectl.connect()
        before = [{"name": entry["name"]} for entry in info.obj["spec"].get("ephemeralContainers") or ()]
        change = {
            "$setElementOrder/ephemeralContainers": [*before, {"name": container["name"]}],
            "ephemeralContainers": [container],
        }
        patch = Patch(PatchType.STRATEGIC, {"spec": change})
        pod = await connection.patch(
            info.resource, info.namespace, info.name, patch, subresource="ephemeralcontainers"
        )
        return pod, container["name"]

    async def _in_copy(self, info: Info) -> tuple[Object, str]:
        flags, original = self._flags, copy(info.obj)
        pod: Object = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": flags["copy-to"], "namespace": info.namespace},
            "spec": original["spec"],
        }
        for field in ("labels", "annotations"):
            if original["metadata"].get(field):
                pod["metadata"][field] = original["metadata"][field]
        spec = pod["spec"]
        spec.pop("ephemeralContainers", None)
        if flags.is_given("share-processes"):
            spec["shareProcessNamespace"] = flags["share-processes"]
        if not flags["same-node"]:
            spec.pop("nodeName", None)
        for entry in spec["containers"]:
            entry["image"] = self._images.get(entry["name"]) or self._images.get("*") or entry["image"]
        container = await self._change_container(pod)
        if container is not None:
            secure(self._profile, container, Style.COPY)
            await self._customise(container)
            lighten(self._profile, pod, self._keep())
        connection = await self._kubectl.connect()
        made = await connection.create(info.resource, info.namespace, pod)
        if flags["replace"]:
            now = DeleteOptions(grace_s=0)
            await connection.delete(info.resource, info.namespace, info.name, now)
        return made, container["name"] if container is not None else ""

    async def _change_container(self, pod: Object) -> Object | None:
        """The container of a copy to debug in: one that it has, or a new one; None if only images changed."""
        flags = self._flags
        container = find_container(pod, flags["container"]) if flags["container"] else None
        if container is None:
            if not flags["image"]:
                if self._images:
                    return None
                raise KubectlError("you must specify image when creating new container")
            container = {"name": await self._name(pod), "terminationMessagePolicy": "File"}
            pod["spec"]["containers"].append(container)
        wanted = self._container(container["name"])
        if self._command and not flags["arguments-only"]:
            container.pop("args", None)
        for field in ("stdin", "tty"):
            container.pop(field, None)
        container.update(wanted)
        return container

    async def _on_node(self, info: Info) -> tuple[Object, str]:
        name = f"node-debugger-{info.name}-{self._suffix()}"
        container = self._container(self._flags["container"] or "debugger")
        await self._say(
            f"Creating debugging pod {name} with container {container['name']} on node {info.name}."
        )
        pod: Object = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "kubectl-debug"}},
            "spec": {
                "containers": [container],
                "nodeName": info.name,
                "restartPolicy": "Never",
                "tolerations": [{"operator": "Exists"}],
            },
        }
        secure(self._profile, container, Style.NODE)
        open_node(self._profile, pod)
        await self._customise(container)
        connection = await self._kubectl.connect()
        made = await connection.create(connection.resource("pods"), self._kubectl.namespace, pod)
        return made, container["name"]

    async def _customise(self, container: Object) -> None:
        """Change a container as the file of ``--custom`` says."""
        if not self._custom:
            return
        connection = await self._kubectl.connect()
        change = {"spec": {"containers": [{**self._custom, "name": container["name"]}]}}
        schema = connection.resource("pods").schema
        try:
            merged = strategic_merge({"spec": {"containers": [container]}}, change, schema)
        except ApiError as error:
            raise KubectlError(
                f"error creating three way patch to add debug container: {error.message}"
            ) from None
        container.update(merged["spec"]["containers"][0])

    # -- its parts -----------------------------------------------------------------------------

    def _container(self, name: str) -> Object:
        flags = self._flags
        container: Object = {"name": name, "terminationMessagePolicy": "File"}
        if self._env:
            container["env"] = self._env
        if flags["image"]:
            container["image"] = flags["image"]
        if flags["image-pull-policy"]:
            container["imagePullPolicy"] = flags["image-pull-policy"]
        if self._command:
            container["args" if flags["arguments-only"] else "command"] = self._command
        for field in ("stdin", "tty"):
            if flags[field]:
                container[field] = True
        return container

    def _keep(self) -> Keep:
        flags = self._flags
        probes = tuple(name for name in ("liveness", "readiness", "startup") if flags[f"keep-{name}"])
        return Keep(flags["keep-labels"], flags["keep-annotations"], flags["keep-init-containers"], probes)

    async def _name(self, pod: Object) -> str:
        if self._flags["container"]:
            return str(self._flags["container"])
        name = f"debugger-{self._suffix()}"
        while find_container(pod, name) is not None:
            name = f"debugger-{self._suffix()}"
        await self._say(f"Defaulting debug container name to {name}.")
        return name

    def _suffix(self) -> str:
        chance = self._kubectl.ctx.random("kubectl debug")
        return "".join(chance.choice(LETTERS) for _ in range(5))

    async def _say(self, text: str) -> None:
        if not self._flags["quiet"]:
            await self._kubectl.out(f"{text}\n")

    # -- attaching -----------------------------------------------------------------------------

    async def _attach(self, pod: Object, container: str) -> None:
        pod, state = await self._wait_until_started(pod, container)
        if "terminated" not in state:
            try:
                await attach_to(self._kubectl, pod, container)
                return
            except KubectlError as error:
                await self._kubectl.err(
                    f"warning: couldn't attach to pod/{pod['metadata']['name']}, falling back to streaming "
                    f"logs: {error.message}\n"
                )
        metadata, connection = pod["metadata"], await self._kubectl.connect()
        options = LogOptions(container)
        async for line in read_log(
            self._kubectl.ctx, connection, metadata["namespace"], metadata["name"], options
        ):
            await self._kubectl.ctx.stdout.write(line)

    async def _wait_until_started(self, pod: Object, container: str) -> tuple[Object, Object]:
        """Wait until the container runs or has run; return the pod and the status."""
        connection = await self._kubectl.connect()
        resource, metadata = connection.resource("pods"), pod["metadata"]
        one = f"metadata.name={metadata['name']}"
        options = WatchOptions(fields=one, resource_version=metadata["resourceVersion"])
        watch = await connection.watch(resource, metadata["namespace"], options, metadata["name"])
        try:
            while True:
                for status in (
                    container_status
                    for part in STATUSES
                    for container_status in at(pod, "status", part, default=())
                ):
                    if status["name"] != container:
                        continue
                    state = status["state"]
                    if "running" in state or "terminated" in state:
                        return pod, state
                    message = at(state, "waiting", "message", default="")
                    if message and not self._flags["quiet"]:
                        await self._kubectl.err(f"Warning: container {container}: {message}\n")
                event = await watch.next()
                if event is None or event.type == "DELETED":
                    raise NotFound(resource, "")
                pod = event.object
        finally:
            watch.stop()


def _custom(kubectl: Kubectl) -> Object:
    """The part of a container that the file of ``--custom`` describes."""
    name = kubectl.flags["custom"]
    if not name:
        return {}
    try:
        custom = read_yaml(kubectl.ctx.files.read(name))
    except FileError as error:
        why = f"open {name}: {error.strerror.lower()}"
        raise KubectlError(f"must pass a container spec json file for custom profile: {why}") from None
    except BadYaml as error:
        raise KubectlError(f"{name} does not contain a valid container spec: {error}") from None
    if not isinstance(custom, dict):
        raise KubectlError(f"{name} does not contain a valid container spec: it is no object")
    return custom


def _pairs(words: list[str], flag: str) -> list[tuple[str, str]]:
    found = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            message = f'invalid argument "{word}" for "--{flag}" flag: {word} must be formatted as key=value'
            raise FlagError(message, "kubectl debug")
        found.append((name, value))
    return found


def _check_image(image: Any, of: str) -> None:
    if not image:
        return
    try:
        references.parse(image)
    except InvalidReference as error:
        where = f" for container {quote(of)}" if of else ""
        raise KubectlError(f"invalid image name {quote(image)}{where}: {error}") from None
