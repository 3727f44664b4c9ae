"""``kubectl wait``: waits until objects exist, are gone, or have a condition or a value."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

from simcloud.golang import sprint
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.input.files import Failures, fail
from simcloud.kubectl.jsonpath import JsonPath, JsonPathError
from simcloud.kubectl.jsonpath.parser import complete_path
from simcloud.kubectl.output import Teller
from simcloud.kubectl.selection import Info, Wanted, info_of, list_requests
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.delete import NOTHING_SAID
from simcloud.kubectl.wait_loop import WEEK_S, NotInTime, until, until_gone
from simcloud.kubernetes.api import ApiError, NotFound, Object, at

EXAMPLES: Final = (
    "kubectl wait --for=condition=Available deploy/web --timeout=60s",
    "kubectl wait --for=jsonpath='{.status.phase}'=Running pod/web-1",
    "kubectl wait --for=delete pod -l app=web",
)
POLL_S: Final = 1.0

Condition = Callable[[Kubectl, Info, float], Awaitable[Object | None]]


@command("wait", "Wait until resources are as wanted", examples=EXAMPLES)
async def wait(kubectl: Kubectl) -> None:
    """Wait for each object named."""
    flags = kubectl.flags
    purpose = flags["for"]
    if not kubectl.args and not flags["filename"]:
        raise KubectlError(NOTHING_SAID)
    if not purpose:
        raise KubectlError("unrecognized condition: []")
    condition = _condition(purpose[-1])
    teller = Teller(kubectl, "condition met")
    deleting, creating = (purpose[-1].lower() == word for word in ("delete", "create"))
    failures: Failures = []
    infos = await _infos(kubectl, deleting=deleting, creating=creating, failures=failures)
    if not infos and not failures and not deleting:
        raise KubectlError("no matching resources found")
    deadline = kubectl.ctx.kernel.now + _timeout_s(kubectl)
    for info in infos:
        try:
            if flags["timeout"] and kubectl.ctx.kernel.now >= deadline:
                raise NotInTime(info)  # the time is for all of them together
            seen = await condition(kubectl, info, max(deadline - kubectl.ctx.kernel.now, 0.0))
        except (ApiError, KubectlError) as error:
            failures.append(error)
            continue
        if seen is not None or not deleting:
            await teller.tell(info.resource, seen if seen is not None else info.obj)
    fail(kubectl, failures)


def _timeout_s(kubectl: Kubectl) -> float:
    said: float = kubectl.flags["timeout"]
    return WEEK_S if said < 0 else said


async def _infos(kubectl: Kubectl, *, deleting: bool, creating: bool, failures: Failures) -> list[Info]:
    wanted = await list_requests(kubectl)
    selected = kubectl.flags["all"] or kubectl.flags["selector"] or kubectl.flags["field-selector"]
    if not selected and any(not request.name for request in wanted):
        raise KubectlError("resource(s) were provided, but no name was specified")
    waited = 0.0
    while True:
        found, missing = await _find_infos(kubectl, wanted)
        complete = bool(found) and not missing
        if not creating or complete:
            break
        if waited >= _timeout_s(kubectl):
            raise KubectlError("timed out waiting for the condition")
        await kubectl.ctx.sleep(POLL_S)
        waited += POLL_S
    if not deleting:
        failures.extend(missing)
    return found


async def _find_infos(kubectl: Kubectl, wanted: list[Wanted]) -> tuple[list[Info], Failures]:
    connection = await kubectl.connect()
    flags = kubectl.flags
    found: list[Info] = []
    missing: Failures = []
    for request in wanted:
        try:
            if request.name:
                objects = [await connection.get(request.resource, request.namespace or "", request.name)]
            else:
                objects = await connection.list(
                    request.resource,
                    request.namespace,
                    labels=flags["selector"],
                    fields=flags["field-selector"],
                )
        except NotFound as error:
            missing.append(error)
            continue
        found.extend(info_of(request.resource, obj) for obj in objects)
    return found, missing


def _condition(purpose: str) -> Condition:
    """What ``--for`` asks for."""
    lowered = purpose.lower()
    if lowered == "delete":
        return _wait_until_deleted
    if lowered == "create":
        return _there
    if lowered.startswith("condition="):
        name, _, value = purpose[len("condition=") :].partition("=")
        return _make_condition(lambda obj: _has_condition(obj, name, value or "true"))
    if lowered.startswith("jsonpath="):
        return _make_condition(_path_condition(purpose[len("jsonpath=") :]))
    raise KubectlError(f'unrecognized condition: "{purpose}"')


async def _wait_until_deleted(kubectl: Kubectl, info: Info, left_s: float) -> Object | None:
    seen = await until_gone(kubectl, info, left_s, info.obj["metadata"].get("uid", ""))
    return seen or info.obj


async def _there(kubectl: Kubectl, info: Info, left_s: float) -> Object | None:
    return info.obj


def _make_condition(test: Callable[[Object], bool]) -> Condition:
    async def condition(kubectl: Kubectl, info: Info, left_s: float) -> Object | None:
        if kubectl.flags["timeout"] == 0:
            connection = await kubectl.connect()
            present = await connection.get(info.resource, info.namespace, info.name)
            if not test(present):
                raise KubectlError(f"condition not met for {info.resource.plural}/{info.name}")
            return present
        return await until(kubectl, info, lambda obj: obj is not None and test(obj), left_s)

    return condition


def _has_condition(obj: Object, name: str, value: str) -> bool:
    """Whether a condition has a value; one that speaks of an older generation does not count."""
    for condition in at(obj, "status", "conditions") or ():
        if str(condition.get("type", "")).lower() != name.lower():
            continue
        seen = condition.get("observedGeneration") or at(obj, "status", "observedGeneration")
        generation = obj["metadata"].get("generation")
        if generation and seen and seen < generation:
            return False
        return str(condition.get("status", "")).lower() == value.lower()
    return False


def _path_condition(said: str) -> Callable[[Object], bool]:
    """A JSONPath, and the value that it shall lead to, or any."""
    expression, value = _split(said)
    try:
        path = JsonPath(complete_path(expression))
    except (JsonPathError, ValueError) as error:
        raise KubectlError(str(error)) from None

    def holds(obj: Object) -> bool:
        found = [item for part in _find(path, obj) for item in part]
        if value is None:
            return bool(found)
        if len(found) > 1:
            raise KubectlError("given jsonpath expression matches more than one value")
        if not found:
            return False
        if isinstance(found[0], (dict, list)):
            raise KubectlError("jsonpath leads to a nested object or list which is not supported")
        return sprint(found[0]) == value

    return holds


def _find(path: JsonPath, obj: Object) -> list[list[Any]]:
    try:
        return path.find(obj)
    except JsonPathError:
        return []


def _split(said: str) -> tuple[str, str | None]:
    """Expression and value: an equals sign inside braces belongs to the expression."""
    found = re.fullmatch(r"(\{.*\})(?:=(.*))?", said, re.DOTALL)
    if found is not None:
        expression, value = found[1], found[2]
    else:
        expression, equals, rest = said.partition("=")
        value = rest if equals else None
    if value == "":
        raise KubectlError(
            "jsonpath wait has to have a value after equal sign, like --for=jsonpath='{.status.readyReplicas}'=3"
        )
    return expression, value.strip("\"'") if value is not None else None
