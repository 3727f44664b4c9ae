"""``kubectl create role``, ``clusterrole``, ``rolebinding``, ``clusterrolebinding``, ``serviceaccount``, ``token``."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, PlainError
from simcloud.kubectl.object_creation import create_built, selector_labels, the_name
from simcloud.kubectl.output import printer_of
from simcloud.kubectl.printing.output import OBJECT_FORMATS
from simcloud.kubectl.selection import find_resource
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, Catalogue, Object

GROUP: Final = "rbac.authorization.k8s.io"
RESOURCE_VERBS: Final = (
    "*", "get", "delete", "list", "create", "update", "patch", "watch", "proxy", "deletecollection",
    "use", "bind", "escalate", "impersonate",
)  # fmt: skip
PATH_VERBS: Final = ("*", "get", "post", "put", "delete", "patch", "head", "options")
SPECIAL: Final = {
    "use": (("policy", "podsecuritypolicies"), ("extensions", "podsecuritypolicies")),
    "bind": ((GROUP, "roles"), (GROUP, "clusterroles")),
    "escalate": ((GROUP, "roles"), (GROUP, "clusterroles")),
    "impersonate": (
        ("", "users"), ("", "serviceaccounts"), ("", "groups"), ("authentication.k8s.io", "userextras"),
    ),
}  # fmt: skip
BOUND_KINDS: Final = {"Node": "v1", "Pod": "v1", "Secret": "v1"}


@command(
    "create role",
    "Create a role with one set of rights",
    examples=("kubectl create role reader --verb=get,list,watch --resource=pods,pods/log",),
)
async def role(kubectl: Kubectl) -> None:
    """Make a Role."""
    name, verbs = the_name(kubectl), _verbs(kubectl)
    if not verbs:
        raise KubectlError("at least one verb must be specified")
    if not kubectl.flags["resource"]:
        raise KubectlError("at least one resource must be specified")
    rules = await _resource_rules(kubectl, verbs)
    await create_built(kubectl, f"roles.{GROUP}", {"metadata": {"name": name}, "rules": rules})


@command(
    "create clusterrole",
    "Create a role for the whole cluster",
    examples=(
        "kubectl create clusterrole node-reader --verb=get,list --resource=nodes",
        "kubectl create clusterrole prober --verb=get --non-resource-url=/healthz",
    ),
)
async def cluster_role(kubectl: Kubectl) -> None:
    """Make a ClusterRole."""
    name, flags, verbs = the_name(kubectl), kubectl.flags, _verbs(kubectl)
    paths = list(dict.fromkeys(flags["non-resource-url"]))
    obj: Object = {"metadata": {"name": name}}
    if flags["aggregation-rule"]:
        if paths or verbs or flags["resource"]:
            raise KubectlError(
                "aggregation rule must be specified without nonResourceURLs, resources and verbs"
            )
        labels = selector_labels(flags["aggregation-rule"])
        obj["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": labels}]}
        await create_built(kubectl, f"clusterroles.{GROUP}", obj)
        return
    if not verbs:
        raise KubectlError("at least one verb must be specified")
    if not flags["resource"] and not paths:
        raise KubectlError("one of resource or nonResourceURL must be specified")
    if paths:
        for verb in verbs:
            if verb not in PATH_VERBS:
                raise KubectlError(f"invalid verb: '{verb}' for nonResourceURL")
        for path in paths:
            if path != "*" and not path.startswith("/"):
                raise KubectlError(f"nonResourceURL should start with /: {path}")
    rules = await _resource_rules(kubectl, verbs) if flags["resource"] else []
    if paths:
        rules.append({"verbs": verbs, "nonResourceURLs": paths})
    await create_built(kubectl, f"clusterroles.{GROUP}", {**obj, "rules": rules})


def _verbs(kubectl: Kubectl) -> list[str]:
    said = list(dict.fromkeys(kubectl.flags["verb"]))
    return ["*"] if "*" in said else said


async def _resource_rules(kubectl: Kubectl, verbs: list[str]) -> list[Object]:
    """One rule for each group that the resources belong to."""
    for verb in verbs:
        if verb not in RESOURCE_VERBS:
            await kubectl.err(f"Warning: '{verb}' is not a standard resource verb\n")
    connection = await kubectl.connect()
    groups: dict[str, list[str]] = {}
    for said in kubectl.flags["resource"]:
        word, _, part = said.partition("/")
        group, plural = _resource(connection.catalogue, word, verbs)
        listed = groups.setdefault(group, [])
        full = f"{plural}/{part}" if part else plural
        if full not in listed:
            listed.append(full)
    names = list(dict.fromkeys(kubectl.flags["resource-name"]))
    return [
        {
            "verbs": verbs,
            "apiGroups": [group],
            "resources": groups[group],
            **({"resourceNames": names} if names else {}),
        }
        for group in sorted(groups)
    ]


def _resource(catalogue: Catalogue, word: str, verbs: list[str]) -> tuple[str, str]:
    """Group and plural of a word."""
    plural, _, group = word.partition(".")
    if not plural:
        raise KubectlError("resource must be specified if apiGroup/subresource specified")
    if plural == "*":
        return group, "*"
    try:
        found = find_resource(catalogue, word)
        key = found.key
    except KubectlError as error:
        key = group, plural
        if not any(key in SPECIAL.get(verb, ()) for verb in verbs):
            raise PlainError(error.message) from None
    for verb in verbs:
        if verb in SPECIAL and key not in SPECIAL[verb]:
            raise KubectlError(f"can not perform '{verb}' on '{key[1]}' in group '{key[0]}'")
    return key


@command(
    "create rolebinding",
    "Give a role to users, groups and service accounts of a namespace",
    examples=("kubectl create rolebinding readers --role=reader --user=ann --serviceaccount=shop:web",),
)
async def role_binding(kubectl: Kubectl) -> None:
    """Make a RoleBinding."""
    name, flags = the_name(kubectl), kubectl.flags
    if bool(flags["clusterrole"]) == bool(flags["role"]):
        raise KubectlError("exactly one of clusterrole or role must be specified")
    kind = "Role" if flags["role"] else "ClusterRole"
    obj = _binding(kubectl, name, kind, flags["role"] or flags["clusterrole"])
    await create_built(kubectl, f"rolebindings.{GROUP}", obj, "failed to create rolebinding:")


@command(
    "create clusterrolebinding",
    "Give a cluster role to users, groups and service accounts everywhere",
    examples=("kubectl create clusterrolebinding admins --clusterrole=cluster-admin --group=ops",),
    required=("clusterrole",),
)
async def cluster_role_binding(kubectl: Kubectl) -> None:
    """Make a ClusterRoleBinding."""
    name = the_name(kubectl)
    obj = _binding(kubectl, name, "ClusterRole", kubectl.flags["clusterrole"])
    await create_built(kubectl, f"clusterrolebindings.{GROUP}", obj, "failed to create clusterrolebinding:")


def _binding(kubectl: Kubectl, name: str, kind: str, of: str) -> Object:
    flags = kubectl.flags
    subjects: list[Object] = [
        {"kind": what, "apiGroup": GROUP, "name": who}
        for what, flag in (("User", "user"), ("Group", "group"))
        for who in flags[flag]
    ]
    for account in flags["serviceaccount"]:
        namespace, colon, who = account.partition(":")
        if not namespace or not colon or not who or ":" in who:
            raise KubectlError("serviceaccount must be <namespace>:<name>")
        subjects.append({"kind": "ServiceAccount", "name": who, "namespace": namespace})
    obj: Object = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": of},
    }
    return {**obj, "subjects": subjects} if subjects else obj


@command(
    "create serviceaccount",
    "Create a service account",
    examples=("kubectl create serviceaccount robot",),
    aliases=("sa",),
)
async def service_account(kubectl: Kubectl) -> None:
    """Make a ServiceAccount."""
    obj = {"metadata": {"name": the_name(kubectl)}}
    await create_built(kubectl, "serviceaccounts", obj, "failed to create serviceaccount:")


@command(
    "create token",
    "Ask for a token of a service account",
    examples=("kubectl create token robot --duration=10m",),
)
async def token(kubectl: Kubectl) -> None:
    """Ask for a token, and print it."""
    name, flags = the_name(kubectl), kubectl.flags
    if not name:
        raise KubectlError("service account name cannot be empty")
    if flags["duration"] < 0:
        raise KubectlError("duration must be greater than or equal to 0")
    kind = _parse_bound_kind(kubectl)
    printer = printer_of(kubectl, OBJECT_FORMATS)
    spec: Object = {"audiences": flags["audience"]}
    if flags["duration"]:
        spec["expirationSeconds"] = int(flags["duration"])
    if kind:
        spec["boundObjectRef"] = {
            "kind": kind,
            "apiVersion": BOUND_KINDS[kind],
            "name": flags["bound-object-name"],
            **({"uid": flags["bound-object-uid"]} if flags["bound-object-uid"] else {}),
        }
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {}, "spec": spec}
    connection = await kubectl.connect()
    try:
        response = await connection.act(
            connection.resource("serviceaccounts"), kubectl.namespace, name, "token", request
        )
    except ApiError as error:
        raise KubectlError(f"failed to create token: {error.message}") from None
    await kubectl.out(response["status"]["token"] + "\n" if printer is None else printer.print(response))


def _parse_bound_kind(kubectl: Kubectl) -> str:
    flags = kubectl.flags
    kind: str = flags["bound-object-kind"]
    if not kind:
        for part in ("name", "uid"):
            if flags[f"bound-object-{part}"]:
                raise KubectlError(
                    f"--bound-object-{part} can only be set if --bound-object-kind is provided"
                )
        return ""
    if kind not in BOUND_KINDS:
        raise KubectlError(f"supported --bound-object-kind values are {', '.join(sorted(BOUND_KINDS))}")
    if not flags["bound-object-name"]:
        raise KubectlError("--bound-object-name is required if --bound-object-kind is provided")
    return kind
