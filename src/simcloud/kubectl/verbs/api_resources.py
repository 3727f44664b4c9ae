"""``kubectl api-resources`` and ``kubectl api-versions``: what the server serves."""

from __future__ import annotations

from typing import Final

from simcloud.golang import TabWriter
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, UsageError
from simcloud.kubectl.output import printer_of
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.transport import Unreachable
from simcloud.kubernetes.api import Catalogue, Object, Resource, qualify

FORMATS: Final = ("json", "kyaml", "name", "wide", "yaml")
EXAMPLES: Final = ("kubectl api-resources", "kubectl api-resources --namespaced=false -o wide")


@command("api-resources", "Print the resources that the server serves", examples=EXAMPLES)
async def api_resources(kubectl: Kubectl) -> None:
    """A line for each resource."""
    flags = kubectl.flags
    if kubectl.args:
        raise UsageError(f"unexpected arguments: [{' '.join(kubectl.args)}]", kubectl.command.full)
    if flags["sort-by"] not in ("", "name", "kind"):
        raise KubectlError("--sort-by accepts only name or kind")
    output = flags["output"]
    printer = printer_of(kubectl, FORMATS, keep_order=True) if output != "name" else None
    connection = await kubectl.connect()
    chosen = [resource for resource in list_preferred(connection.catalogue) if _is_wanted(kubectl, resource)]
    if flags["sort-by"]:
        chosen.sort(key=lambda one: one.plural if flags["sort-by"] == "name" else one.kind)
    if printer is not None:
        await kubectl.out(printer.print(_make_resource_list(chosen)))
        return
    if output == "name":
        await kubectl.out("".join(f"{qualify(resource.plural, resource.group)}\n" for resource in chosen))
        return
    await kubectl.out(_table(chosen, wide=output == "wide", headers=not flags["no-headers"]))


def list_preferred(catalogue: Catalogue) -> list[Resource]:
    """Return each resource once, in its group's preferred version; groups by name, the core one first."""
    found = [
        resource
        for group in sorted(catalogue.groups)
        for resource in catalogue.of(group, catalogue.groups[group].versions[0])
    ]
    return sorted(found, key=lambda one: (one.group, one.plural))


def _is_wanted(kubectl: Kubectl, one: Resource) -> bool:
    flags = kubectl.flags
    if flags.is_given("api-group") and one.group != flags["api-group"]:
        return False
    if flags.is_given("namespaced") and one.namespaced != flags["namespaced"]:
        return False
    if any(verb not in one.verbs for verb in flags["verbs"]):
        return False
    return all(category in one.categories for category in flags["categories"])


def _table(resources: list[Resource], wide: bool, headers: bool) -> str:
    writer = TabWriter()
    if headers:
        columns = ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]
        writer.write("\t".join([*columns, *(("VERBS", "CATEGORIES") if wide else ())]) + "\n")
    for resource in resources:
        cells = [
            resource.plural, ",".join(resource.short_names), resource.api_version, str(resource.namespaced).lower(), resource.kind,
        ]  # fmt: skip
        if wide:
            cells += [",".join(resource.verbs), ",".join(resource.categories)]
        writer.write("\t".join(cells) + "\n")
    return writer.flush()


def _make_resource_list(resources: list[Resource]) -> Object:
    """The resources as an APIResourceList."""
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "",
        "resources": [
            {
                "name": resource.plural,
                "singularName": resource.singular,
                "namespaced": resource.namespaced,
                **({"group": resource.group} if resource.group else {}),
                "version": resource.version,
                "kind": resource.kind,
                "verbs": list(resource.verbs),
                **({"shortNames": list(resource.short_names)} if resource.short_names else {}),
                **({"categories": list(resource.categories)} if resource.categories else {}),
            }
            for resource in resources
        ],
    }


@command(
    "api-versions", "Print the groups and versions that the server serves", examples=("kubectl api-versions",)
)
async def api_versions(kubectl: Kubectl) -> None:
    """A line for each version of each group."""
    if kubectl.args:
        raise UsageError(f"unexpected arguments: [{' '.join(kubectl.args)}]", kubectl.command.full)
    try:
        catalogue = (await kubectl.connect()).catalogue
    except Unreachable as error:
        raise KubectlError(f"couldn't get available api versions from server: {error.request}") from None
    found = {
        f"{group.name}/{version}" if group.name else version
        for group in catalogue.groups.values()
        for version in group.versions
    }
    await kubectl.out("".join(f"{entry}\n" for entry in sorted(found)))
