"""``kubectl set env``: sets, removes and lists environment variables of containers."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.environment import reference, resolve
from simcloud.kubectl.errors import Exit, KubectlError
from simcloud.kubectl.object_changes import (
    ALL_AND_SELECTOR,
    LOCAL_AND_SERVER,
    all_found,
    as_struct,
    change_all,
    pod_spec,
)
from simcloud.kubectl.output import DryRun, dry_run
from simcloud.kubectl.selection import Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Object

EXAMPLES: Final = (
    "kubectl set env deploy/web MODE=prod OLD-",
    "kubectl set env deploy/web --list",
    "kubectl set env deploy/web --from=configmap/settings --prefix=APP_",
)
SETTING: Final = re.compile(r".+=.*", re.DOTALL)
NAME: Final = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
BAD_NAME: Final = (
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not "
    "start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is "
    f"'{NAME.pattern}')"
)
NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_]")


@command("set env", "Set, remove or list environment variables of containers", examples=EXAMPLES)
async def set_env(kubectl: Kubectl) -> None:
    """Set, remove or list."""
    flags = kubectl.flags
    resources, words = _split(kubectl)
    if flags["local"] and dry_run(kubectl) is DryRun.SERVER:
        raise KubectlError(LOCAL_AND_SERVER)
    if not resources and not flags["filename"]:
        raise KubectlError(
            "one or more resources must be specified as <resource> <name> or <resource>/<name>"
        )
    if flags["list"] and flags["output"]:
        raise KubectlError("--list and --output may not be specified together")
    if flags["keys"] and not flags["from"]:
        raise KubectlError("when specifying --keys, a configmap or secret must be provided with --from")
    variables, removed = await _read(kubectl, [*flags["env"], *words])
    variables += await _from(kubectl)
    if flags["prefix"]:
        variables = [{**variable, "name": flags["prefix"] + variable["name"]} for variable in variables]
    infos = await all_found(kubectl, resources)
    if flags["list"]:
        await _list(kubectl, infos, variables, removed)
        return
    silent: list[str] = []

    def change(info: Info, obj: Object) -> None:
        containers = _containers(kubectl, info, obj)
        if not containers:
            silent.append(_no_container(kubectl, info))
        for container in containers:
            _update(kubectl, container, variables, removed)

    dry_run(kubectl)
    await change_all(kubectl, infos, "env", change, "failed to patch env update to pod template:")
    for warning in silent:
        await kubectl.err(warning)


def _split(kubectl: Kubectl) -> tuple[list[str], list[str]]:
    """The words that name objects, and those that name variables."""
    args = kubectl.args
    if kubectl.flags["all"] and kubectl.flags["selector"]:
        raise KubectlError(ALL_AND_SELECTOR)
    about = [bool(SETTING.search(word)) or word.endswith("-") for word in args]
    first = about.index(True) if True in about else len(args)
    if not all(about[first:]):
        raise KubectlError(f"all resources must be specified before environment changes: {' '.join(args)}")
    return args[:first], args[first:]


async def _read(kubectl: Kubectl, words: list[str]) -> tuple[list[Object], list[str]]:
    """Variables to set, and names to remove."""
    variables: list[Object] = []
    removed: list[str] = []
    given: list[str] = []
    for word in words:
        name, equals, value = word.partition("=")
        if word == "-":
            variables += _from_lines((await kubectl.input()).decode(errors="replace"))
        elif equals:
            if not NAME.fullmatch(name):
                raise KubectlError(f'"{name}" is not a valid key name: {BAD_NAME}')
            given.append(name)
            variables.append({"name": name, "value": value})
        elif word.endswith("-"):
            removed.append(word[:-1])
        else:
            raise KubectlError(f"unknown environment variable: {word}")
    if any(name in given for name in removed):
        raise KubectlError("can not both modify and remove the same environment variable in the same command")
    return variables, removed


def _from_lines(text: str) -> list[Object]:
    pairs = [line.partition("#")[0].partition("=") for line in text.splitlines()]
    return [{"name": name, "value": value} for name, equals, value in pairs if equals]


async def _from(kubectl: Kubectl) -> list[Object]:
    """Variables that take the values of a ConfigMap or Secret."""
    source, keys = kubectl.flags["from"], kubectl.flags["keys"]
    if not source:
        return []
    variables: list[Object] = []
    for info in await select(kubectl, [source]):
        kinds = {"Secret": "secretKeyRef", "ConfigMap": "configMapKeyRef"}
        if info.resource.kind not in kinds:
            raise KubectlError("unsupported resource specified in --from")
        for key in info.obj.get("data") or {}:
            if keys and key not in keys:
                continue
            name = NOT_IN_NAMES.sub("_", key).upper()
            if name != key:
                await kubectl.err(f"Warning: key {key} transferred to {name}\n")
            variables.append(
                {"name": name, "valueFrom": {kinds[info.resource.kind]: {"key": key, "name": info.name}}}
            )
    if kubectl.postponed:
        raise Exit(1)
    return variables


def _containers(kubectl: Kubectl, info: Info, obj: Object) -> list[Object]:
    spec, pattern = pod_spec(info.resource, obj), kubectl.flags["containers"]
    both = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return [container for container in both if fnmatchcase(str(container.get("name", "")), pattern)]


def _no_container(kubectl: Kubectl, info: Info) -> str:
    pattern = kubectl.flags["containers"]
    return f'Warning: {info.resource.kind}/{info.name} does not have any containers matching "{pattern}"\n'


def _update(kubectl: Kubectl, container: Object, variables: list[Object], removed: list[str]) -> None:
    """Set and remove variables of one container; those it has keep their place."""
    known: list[Object] = list(container.get("env") or ())
    if not kubectl.flags["overwrite"]:
        for new in variables:
            old = next((variable for variable in known if variable["name"] == new["name"]), None)
            if old is not None and old.get("value", "") != new.get("value", ""):
                raise KubectlError(
                    f"'{old['name']}' already has a value ({old.get('value', '')}), and --overwrite is false"
                )
    wanted: dict[str, Object] = {}
    for variable in variables:
        wanted.setdefault(variable["name"], {key: value for key, value in variable.items() if value})
    kept = [variable for variable in known if variable["name"] not in removed]
    names = [variable["name"] for variable in kept]
    env = [wanted.get(variable["name"], variable) for variable in kept]
    env += [variable for name, variable in wanted.items() if name not in names and name not in removed]
    if env:
        container["env"] = env
    else:
        container.pop("env", None)


async def _list(kubectl: Kubectl, infos: list[Info], variables: list[Object], removed: list[str]) -> None:
    """Print the environment as it is, with the changes asked for."""
    for info in infos:
        obj = as_struct(info.resource, info.obj)
        try:
            containers = _containers(kubectl, info, obj)
            if not containers:
                await kubectl.err(_no_container(kubectl, info))
            for container in containers:
                _update(kubectl, container, variables, removed)
                await _list_one(kubectl, info, container)
        except KubectlError:
            continue  # the genuine tool lists what it can and says nothing of the rest


async def _list_one(kubectl: Kubectl, info: Info, container: Object) -> None:
    await kubectl.out(f"# {info.resource.kind} {info.name}, container {container.get('name', '')}\n")
    faults: dict[str, list[str]] = {}
    for variable in container.get("env") or ():
        source = variable.get("valueFrom")
        if source is None:
            await kubectl.out(f"{variable['name']}={variable.get('value', '')}\n")
            continue
        if kubectl.flags["resolve"]:
            try:
                value = await resolve(kubectl, source, info.obj, container)
                await kubectl.out(f"{variable['name']}={value}\n")
                continue
            except KubectlError as error:
                faults.setdefault(error.message, []).append(variable["name"])
        await kubectl.out(f"# {variable['name']} from {reference(source)}\n")
    lines = [
        f"error retrieving reference for {', '.join(sorted(names))}: {why}" for why, names in faults.items()
    ]
    for line in sorted(lines):
        await kubectl.err(f"{line}\n")
    if lines:
        raise KubectlError("failed to retrieve valueFrom references")
