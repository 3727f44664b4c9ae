"""Selection of objects by arguments: ``pods``, ``po web``, ``deploy/web svc/web``, ``all``, or files.

``wanted`` parses the arguments without requesting objects; ``select`` fetches them. Missing objects are reported, and
the rest is processed, as in the genuine tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from simcloud.golang import quote
from simcloud.kubectl.errors import KubectlError, PlainError, sentence
from simcloud.kubectl.input.manifests import Document, read_manifests
from simcloud.kubectl.transport import Unreachable
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import ApiError, Catalogue, NotFound, Object, Resource

if TYPE_CHECKING:
    from simcloud.kubectl.session import Kubectl


NOTHING_NAMED: Final = (
    "You must provide one or more resources by argument or filename.\n"
    "Example resource specifications include:\n"
    "   '-f rsrc.yaml'\n"
    "   '--filename=rsrc.json'\n"
    "   '<resource> <name>'\n"
    "   '<resource>'"
)


class Wanted(Struct, frozen=True):
    """One request: an object by its name, or all of a kind if ``name`` is empty."""

    resource: Resource
    namespace: str | None
    name: str = ""


class Info(Struct):
    """An object with where it is and where it came from."""

    resource: Resource
    namespace: str
    name: str
    obj: Object
    source: str = ""
    """The file that named it; empty for one that was asked for by words."""

    @property
    def shown(self) -> str:
        """``deployment.apps/web``: how kubectl speaks of it."""
        group = f".{self.resource.group}" if self.resource.group else ""
        return f"{self.resource.singular or self.resource.kind.lower()}{group}/{self.name}"


def find_resource(catalogue: Catalogue, word: str) -> Resource:
    """The resource that a word means: a plural, singular, short name or kind, with group and version if given."""
    name, _, rest = word.lower().partition(".")
    found = None
    if not name:
        raise KubectlError(f'the server doesn\'t have a resource type "{word}"')
    if rest:
        version, dot, group = rest.partition(".")
        found = _match(catalogue, name, group, version) if dot else None
        found = found or _match(catalogue, name, rest)
    else:
        found = _match(catalogue, name, short=word)
    if found is None:
        raise KubectlError(f'the server doesn\'t have a resource type "{word.partition(".")[0]}"')
    return found


def _match(
    catalogue: Catalogue,
    name: str,
    group: str | None = None,
    version: str | None = None,
    short: str | None = None,
) -> Resource | None:
    """The first resource of that name, in its group's preferred version if none is given."""
    short = name if short is None else short
    by_short = None
    for resource in catalogue:
        if group is not None and not (
            resource.group == group or (version is None and resource.group.startswith(group))
        ):
            continue
        if version is not None and resource.version != version:
            continue
        if name in (resource.plural, resource.singular, resource.kind.lower()):
            return resource
        if by_short is None and short in resource.short_names:
            by_short = resource
    return by_short


def types(catalogue: Catalogue, words: str) -> list[Resource]:
    """The resources that a comma-separated word means, categories such as ``all`` spelled out."""
    found: dict[tuple[str, str], Resource] = {}
    for word in words.split(","):
        category = [
            entry for entry in catalogue if word and word in entry.categories and "list" in entry.verbs
        ]
        for resource in category or [find_resource(catalogue, word)]:
            found.setdefault(resource.key, resource)
    return list(found.values())


def parse_wanted(
    kubectl: Kubectl, catalogue: Catalogue, args: list[str], *, selected: bool, everywhere: bool = False
) -> list[Wanted]:
    """What the words ask for; ``selected`` says that a selector, or all of a kind, was asked for."""
    namespace: str | None = None if everywhere else kubectl.namespace
    slashed = [word for word in args if "/" in word]
    if slashed:
        return _pairs(kubectl, catalogue, args, slashed, selected, everywhere)
    resources = types(catalogue, args[0])
    names = list(args[1:])
    if not names:
        return [Wanted(resource, namespace if resource.namespaced else None) for resource in resources]
    if selected:
        raise KubectlError("name cannot be provided when a selector is specified")
    if everywhere and any(resource.namespaced for resource in resources):
        raise KubectlError("a resource cannot be retrieved by name across all namespaces")
    if any(not name for name in names):
        raise KubectlError("resource name may not be empty")
    return [
        Wanted(resource, namespace if resource.namespaced else "", name)
        for resource in resources
        for name in names
    ]


def _pairs(
    kubectl: Kubectl,
    catalogue: Catalogue,
    args: list[str],
    slashed: list[str],
    selected: bool,
    everywhere: bool,
) -> list[Wanted]:
    """Words of the form TYPE/NAME."""
    if len(slashed) < len(args):
        raise KubectlError(
            "there is no need to specify a resource type as a separate argument when passing arguments in "
            "resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource "
            "resource/<resource_name>'"
        )
    found = []
    for word in args:
        kind, _, name = word.partition("/")
        if "/" in name:
            raise KubectlError("arguments in resource/name form may not have more than one slash")
        if not kind or not name or "," in kind:
            raise KubectlError("arguments in resource/name form must have a single resource and name")
        if selected:
            raise KubectlError(
                "selectors and the all flag cannot be used when passing resource/name arguments"
            )
        resource = find_resource(catalogue, kind)
        if everywhere and resource.namespaced:
            raise KubectlError("a resource cannot be retrieved by name across all namespaces")
        found.append(Wanted(resource, kubectl.namespace if resource.namespaced else "", name))
    return found


async def list_requests(kubectl: Kubectl) -> list[Wanted]:
    """Return the requests of a command line, by words or by the names in files."""
    flags = kubectl.flags
    documents = await read_manifests(
        kubectl, flags.get("filename") or [], bool(flags.get("recursive")), flags.get("kustomize") or ""
    )
    connection = await _recognizing(kubectl, documents)
    if documents or flags.get("filename"):
        _no_words_beside_files(kubectl, kubectl.args)
        infos = [locate(kubectl, connection.catalogue, document) for document in documents]
        return [Wanted(info.resource, info.namespace, info.name) for info in infos]
    if not kubectl.args:
        return []
    selected = bool(flags.get("selector") or flags.get("field-selector") or flags.get("all"))
    return parse_wanted(
        kubectl,
        connection.catalogue,
        kubectl.args,
        selected=selected,
        everywhere=bool(flags.get("all-namespaces")),
    )


async def _recognizing(kubectl: Kubectl, documents: list[Document]) -> ApiClient:
    """The way to a server that is asked about the kinds of documents, if there are any."""
    try:
        return await kubectl.connect(discoveries=len(documents) or None)
    except Unreachable as error:
        if not documents:
            raise
        lines = [f'unable to recognize "{document.source}": {error.request}' for document in documents]
        raise PlainError("\n".join(lines)) from None


def _no_words_beside_files(kubectl: Kubectl, args: list[str]) -> None:
    if any("/" in word for word in args):
        raise KubectlError("resource/name arguments cannot be provided when a path is specified")
    if args:
        raise KubectlError(
            "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
        )


async def select(
    kubectl: Kubectl,
    args: list[str],
    *,
    everything: bool = False,
    ignore_missing: bool = False,
    fetch_files: bool = False,
) -> list[Info]:
    """The objects that the words, the selectors and the files of a command line mean.

    Reads the flags ``-f -k -R -l --field-selector -A --all`` as far as the command has them. Without
    ``fetch_files`` an object from a file is the file's own text, else it is fetched as it is stored.
    """
    flags = kubectl.flags
    documents = await read_manifests(
        kubectl, flags.get("filename") or [], bool(flags.get("recursive")), flags.get("kustomize") or ""
    )
    connection = await _recognizing(kubectl, documents)
    if documents:
        _no_words_beside_files(kubectl, args)
        infos = [locate(kubectl, connection.catalogue, document) for document in documents]
        if not fetch_files:
            return infos
        return await _fetch(
            kubectl, [Wanted(info.resource, info.namespace, info.name) for info in infos], ignore_missing
        )
    if not args:
        raise KubectlError(NOTHING_NAMED)
    labels, fields = flags.get("selector") or "", flags.get("field-selector") or ""
    selected, everyone = bool(labels or fields), bool(flags.get("all"))
    if everyone and any("/" in word for word in args):
        raise KubectlError("selectors and the all flag cannot be used when passing resource/name arguments")
    requests = parse_wanted(
        kubectl, connection.catalogue, args, selected=selected, everywhere=bool(flags.get("all-namespaces"))
    )
    if not selected and not everyone and not everything and any(not request.name for request in requests):
        raise KubectlError("resource(s) were provided, but no name was specified")
    return await _fetch(kubectl, requests, ignore_missing, labels, fields)


async def _fetch(
    kubectl: Kubectl, requests: list[Wanted], ignore_missing: bool, labels: str = "", fields: str = ""
) -> list[Info]:
    connection = await kubectl.connect()
    infos: list[Info] = []
    for request in requests:
        try:
            if request.name:
                found = [await fetch(connection, request)]
            else:
                found = await connection.list(
                    request.resource, request.namespace, labels=labels, fields=fields
                )
        except ApiError as error:
            if not (ignore_missing and error.reason == "NotFound"):
                kubectl.postpone(
                    sentence(error) if request.name else list_refused(error, request, labels, fields)
                )
            continue
        infos.extend(info_of(request.resource, obj) for obj in found)
    return infos


def list_refused(error: ApiError, one: Wanted, labels: str, fields: str) -> str:
    """The sentence for a list that was refused: it says what was looked for."""
    if error.reason not in ("BadRequest", "NotFound"):
        return sentence(error)
    what = f'"{one.resource.group}/{one.resource.version}, Resource={one.resource.plural}"'
    if not labels and not fields:
        return sentence(error, f"Unable to list {what}")
    chosen = f"label selector {quote(labels)}, field selector {quote(fields)}"
    return sentence(error, f"Unable to find {what} that match {chosen}")


async def fetch(connection: ApiClient, one: Wanted, subresource: str = "") -> Object:
    """Fetch one object by its name; if its namespace is missing, the error names the namespace."""
    namespace = one.namespace or ""
    try:
        return await connection.get(one.resource, namespace, one.name, subresource)
    except NotFound:
        if namespace not in ("", "default"):
            await connection.get(connection.resource("namespaces"), "", namespace)
        raise


def info_of(resource: Resource, obj: Object, source: str = "") -> Info:
    """An object of the server with its place."""
    metadata = obj["metadata"]
    return Info(resource, metadata.get("namespace", ""), metadata.get("name", ""), obj, source)


def locate(kubectl: Kubectl, catalogue: Catalogue, document: Document) -> Info:
    """The place of an object that a file describes."""
    obj = document.obj
    resource = catalogue.of_kind(obj["apiVersion"], obj["kind"])
    metadata = obj.get("metadata") or {}
    name, said = str(metadata.get("name") or ""), str(metadata.get("namespace") or "")
    if resource is None:
        raise KubectlError(
            f'resource mapping not found for name: "{name}" namespace: "{said}" from "{document.source}": '
            f'no matches for kind "{obj["kind"]}" in version "{obj["apiVersion"]}"\n'
            "ensure CRDs are installed first"
        )
    if not resource.namespaced:
        return Info(resource, "", name, obj, document.source)
    if said and kubectl.flags.is_given("namespace") and said != kubectl.namespace:
        raise KubectlError(
            f'the namespace from the provided object "{said}" does not match the namespace '
            f"\"{kubectl.namespace}\". You must pass '--namespace={said}' to perform this operation."
        )
    return Info(resource, said or kubectl.namespace, name, obj, document.source)
