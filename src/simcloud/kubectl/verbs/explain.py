"""``kubectl explain``: documentation of the fields of a resource."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, PlainError
from simcloud.kubectl.explain.documents import new_edition
from simcloud.kubectl.explain.plaintext import Plaintext
from simcloud.kubectl.selection import find_resource
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Catalogue, Resource, qualify

NO_TYPE: Final = (
    'You must specify the type of resource to explain. Use "kubectl api-resources" for a complete list of '
    "supported resources."
)
EXAMPLES: Final = (
    "kubectl explain pods",
    "kubectl explain deployment.spec.strategy",
    "kubectl explain hpa --api-version=autoscaling/v1 --recursive",
)


@command("explain", "Show what the fields of a resource mean", examples=EXAMPLES)
async def explain(kubectl: Kubectl) -> None:
    """Tell of a resource, or of one field."""
    flags, args = kubectl.flags, kubectl.args
    if not args:
        raise KubectlError(NO_TYPE)
    if len(args) > 1:
        raise KubectlError("We accept only this format: explain RESOURCE")
    form = flags["output"]
    catalogue = (await kubectl.connect()).catalogue
    resource, path = _parse_request(catalogue, args[0])
    group, version = _version(flags["api-version"], resource)
    if form != "plaintext":
        raise KubectlError(f"unrecognized format: {form}")
    place = f"{group}/{version}, Resource={resource.plural}"
    document = new_edition(catalogue, group, version)
    if document is None:
        raise KubectlError(f'couldn\'t find resource for "{place}"')
    served = catalogue.at(group, version, resource.plural)
    schema = None if served is None else document.of(served)
    if served is None or schema is None:
        raise KubectlError(f"GVR ({place}) not found in OpenAPI schema")
    await kubectl.out(f"GROUP:      {group}\n" if group else "")
    await kubectl.out(f"KIND:       {served.kind}\nVERSION:    {version}\n\n")
    text = Plaintext(document, flags["recursive"]).explain(schema, path)
    if not text:
        raise KubectlError(f'field "{path[-1]}" does not exist')
    await kubectl.out(f"{text}\n")


def _parse_request(catalogue: Catalogue, word: str) -> tuple[Resource, list[str]]:
    """Parse a word into the resource and the path to a field; a group may stand between them."""
    word = word.removesuffix(".")
    name, *path = word.split(".")
    if not name:
        raise KubectlError("a resource must be present, got: /, Resource=")
    try:
        resource = find_resource(catalogue, name)
    except KubectlError as error:
        raise PlainError(error.message) from None
    full = qualify(resource.plural, resource.group)
    if word == full or word.startswith(f"{full}."):
        path = [part for part in word[len(full) :].split(".") if part]
    return resource, path


def _version(said: str, resource: Resource) -> tuple[str, str]:
    """Group and version that are asked for."""
    if not said:
        return resource.group, resource.version
    if said.count("/") > 1:
        raise KubectlError(f"unexpected GroupVersion string: {said}")
    group, _, version = said.rpartition("/")
    return group, version
