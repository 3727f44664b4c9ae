"""``kubectl auth``: identity and permissions of the user."""

from __future__ import annotations

from typing import Final

from simcloud.golang import TabWriter
from simcloud.kubectl.command import command, group
from simcloud.kubectl.describe.rbac import rule_rows
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.output import printer_of
from simcloud.kubectl.printing.output import OBJECT_FORMATS
from simcloud.kubectl.selection import find_resource
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.transport import Unreachable
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import Object, qualify
from simcloud.kubernetes.api.access import Desk, review

group("auth", "Inspect authorization", silent=True)

CAN_I_EXAMPLES: Final = (
    "kubectl auth can-i create pods --all-namespaces",
    "kubectl auth can-i list deployments.apps --as=bob",
    "kubectl auth can-i --list -n shop",
)


VERBS: Final = (
    "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use", "bind",
    "impersonate", "*", "approve", "sign", "escalate", "attest",
)  # fmt: skip
PATH_VERBS: Final = ("get", "put", "post", "head", "options", "delete", "patch", "*")
UNSERVED: Final = ("users", "groups")
"""What can be asked about though no server has it."""


async def ask(kubectl: Kubectl, kind: str, plural: str, spec: Object | None = None) -> Object:
    """A review of oneself, answered."""
    connection = await kubectl.connect(discoveries=0)
    groups = "authentication.k8s.io" if kind == "SelfSubjectReview" else "authorization.k8s.io"
    connection.check("create", connection.resource(f"{plural}.{groups}"))
    desk = Desk(connection.user, connection.api.authorizer, connection.api.tokens, connection.now_s)
    return review(kind, {"spec": spec} if spec else {}, desk)


@command("auth whoami", "Show as whom the server sees you", examples=("kubectl auth whoami",))
async def whoami(kubectl: Kubectl) -> None:
    """Name, groups and more."""
    printer = printer_of(kubectl, OBJECT_FORMATS, keep_order=True)
    answer = await ask(kubectl, "SelfSubjectReview", "selfsubjectreviews")
    if printer is not None:
        shown = {key: answer[key] for key in ("kind", "apiVersion", "metadata", "status")}
        await kubectl.out(printer.print(shown))
        return
    who = answer["status"]["userInfo"]
    writer = TabWriter()
    rows = [("ATTRIBUTE", "VALUE"), ("Username", who["username"])]
    if who.get("uid"):
        rows.append(("UID", who["uid"]))
    if who.get("groups"):
        rows.append(("Groups", f"[{' '.join(who['groups'])}]"))
    for key in sorted(who.get("extra") or {}):
        rows.append((f"Extra: {key}", f"[{' '.join(who['extra'][key])}]"))
    for name, value in rows:
        writer.write(f"{name}\t{value}\n")
    await kubectl.out(writer.flush())


@command("auth can-i", "Ask whether an action is allowed", examples=CAN_I_EXAMPLES)
async def can_i(kubectl: Kubectl) -> int:
    """Yes or no; the exit code says it too."""
    flags, args = kubectl.flags, kubectl.args
    if flags["list"]:
        if args:
            raise KubectlError("list option must be specified with no arguments")
        if flags["quiet"] or flags["all-namespaces"] or flags["subresource"]:
            raise KubectlError(
                "list option can't be specified with neither quiet, all-namespaces nor subresource options"
            )
        await _list(kubectl)
        return 0
    if len(args) != 2:
        raise KubectlError(
            "you must specify two arguments: verb resource or verb resource/resourceName.\n"
            "See 'kubectl auth can-i -h' for help and examples."
        )
    path = args[1].startswith("/")
    try:
        connection = await kubectl.connect(discoveries=0 if path else 2)
    except Unreachable:
        if not path:
            await _warn(kubectl, f"the server doesn't have a resource type '{args[1].partition('/')[0]}'")
        raise
    spec = await _question(kubectl, connection)
    if flags["no-headers"]:
        raise KubectlError("--no-headers cannot be set without --list specified")
    answer = await ask(kubectl, "SelfSubjectAccessReview", "selfsubjectaccessreviews", spec)
    status = answer["status"]
    if not flags["quiet"]:
        verdict = "yes" if status["allowed"] else "no"
        if status.get("reason") and not status["allowed"]:
            verdict += f" - {status['reason']}"
        if status.get("evaluationError"):
            verdict += f" - {status['evaluationError']}"
        await kubectl.out(f"{verdict}\n")
    return 0 if status["allowed"] else 1


async def _question(kubectl: Kubectl, connection: ApiClient) -> Object:
    verb, what = kubectl.args
    if what.startswith("/"):
        if kubectl.flags["subresource"]:
            raise KubectlError("--subresource can not be used with NonResourceURL")
        await _check_verb(kubectl, verb, PATH_VERBS)
        return {"nonResourceAttributes": {"verb": verb, "path": what}}
    kind, _, name = what.partition("/")
    everywhere = kubectl.flags["all-namespaces"]
    place, plural = await _resource(kubectl, connection, kind)
    if not everywhere:
        await _check_verb(kubectl, verb, VERBS)
    return {
        "resourceAttributes": {
            "namespace": "" if everywhere else kubectl.namespace,
            "verb": verb,
            "group": place,
            "resource": plural,
            "subresource": kubectl.flags["subresource"],
            "name": name,
        }
    }


async def _resource(kubectl: Kubectl, connection: ApiClient, word: str) -> tuple[str, str]:
    """Group and plural of what is asked about, with a warning where it is not what it seems."""
    if word == "*":
        return "", word
    try:
        found = find_resource(connection.catalogue, word)
    except KubectlError:
        plural, _, place = word.lower().partition(".")
        if qualify(plural, place) not in UNSERVED:
            await _warn(kubectl, f"the server doesn't have a resource type '{plural}'{_in_group(place)}")
        return "", word
    if not found.namespaced and not kubectl.flags["all-namespaces"]:
        await _warn(kubectl, f"resource '{found.plural}' is not namespace scoped{_in_group(found.group)}")
    return found.group, found.plural


async def _check_verb(kubectl: Kubectl, verb: str, verbs: tuple[str, ...]) -> None:
    if verb not in verbs:
        await _warn(kubectl, f"verb '{verb}' is not a known verb")


async def _warn(kubectl: Kubectl, about: str) -> None:
    await kubectl.err(f"Warning: {about}\n\n")


def _in_group(name: str) -> str:
    return f" in group '{name}'" if name else ""


async def _list(kubectl: Kubectl) -> None:
    """Every rule that allows something in the namespace."""
    answer = await ask(
        kubectl, "SelfSubjectRulesReview", "selfsubjectrulesreviews", {"namespace": kubectl.namespace}
    )
    status = answer["status"]
    rules = [*(status.get("resourceRules") or ()), *(status.get("nonResourceRules") or ())]
    writer = TabWriter()
    if not kubectl.flags["no-headers"]:
        writer.write("Resources\tNon-Resource URLs\tResource Names\tVerbs\n")
    for row in rule_rows({"rules": rules}):
        writer.write("\t".join(row) + "\n")
    await kubectl.out(writer.flush())
