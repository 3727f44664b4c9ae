"""Objects from files, folders, URLs and standard input of the machine that kubectl runs on.

A file gives its objects up to its first error, and the error; other files are still read. Only the simulated machine
and its network can be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from simcloud.golang import format_json
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.input.documents import parse_documents
from simcloud.kubectl.input.downloads import download
from simcloud.kubectl.kustomize import build
from simcloud.kubernetes.api import Object
from simcloud.kubernetes.api.schema import ANYTHING, CannotDecode, decode_typed, schema_of
from simcloud.machine.files import FileError

if TYPE_CHECKING:
    from simcloud.kubectl.session import Kubectl

EXTENSIONS: Final = (".json", ".yaml", ".yml")
STDIN: Final = "STDIN"
MAX_LIST_DEPTH: Final = 20
BYTES_A_TURN: Final = 16
OBJECT_TURNS: Final = 20
"""What reading costs, and each object that is then asked about and sent: nobody writes ten thousand by hand."""


class Document(Struct):
    """An object that a file describes."""

    obj: Object
    source: str


class Manifests(Struct):
    """What files gave, and what was wrong with them."""

    documents: list[Document] = field(default_factory=list)
    errors: list[KubectlError] = field(default_factory=list)


async def read_manifests(
    kubectl: Kubectl, names: list[str], recursive: bool = False, kustomize: str = ""
) -> list[Document]:
    """All objects of the files named; lists are taken apart. The first mistake is raised."""
    found = await read_tolerantly(kubectl, names, recursive, kustomize)
    if found.errors:
        raise found.errors[0]
    return found.documents


async def read_tolerantly(
    kubectl: Kubectl,
    names: list[str],
    recursive: bool = False,
    kustomize: str = "",
    *,
    validate: bool = False,
) -> Manifests:
    """All objects that can be read, and the mistakes beside them. Paths that do not exist are raised.

    With ``validate`` an object without kind or version is reported as by the verbs that validate their objects.
    """
    if kustomize:
        if names:
            raise KubectlError("only one of -f or -k can be specified")
        return Manifests([Document(obj, kustomize) for obj in await build(kubectl, kustomize)])
    found = Manifests()
    for source, data in [text for name in names for text in await _texts(kubectl, name, recursive)]:
        kubectl.ctx.spend_turn(len(data) // BYTES_A_TURN)
        try:
            for document in _documents(data, source, validate):
                kubectl.ctx.spend_turn(OBJECT_TURNS)
                found.documents.append(document)
        except KubectlError as error:
            found.errors.append(error)
    return found


async def _texts(kubectl: Kubectl, name: str, recursive: bool) -> list[tuple[str, bytes]]:
    if name == "-":
        return [(STDIN, await kubectl.input())]
    if name.startswith(("http://", "https://")):
        return [(name, await download(kubectl.ctx, name))]
    found = []
    for path in _files(kubectl, name, recursive):
        try:
            found.append((path, await kubectl.ctx.read_file(path)))
        except FileError as error:
            raise KubectlError(f"open {path}: {error.strerror.lower()}") from None
    return found


def _files(kubectl: Kubectl, name: str, recursive: bool) -> list[str]:
    """The files that a name means: itself, or those of a folder that have a known ending."""
    files = kubectl.ctx.files
    try:
        if not files.is_dir(name):
            files.stat(name)
            return [name]
        paths = _in_folder(kubectl, name.rstrip("/") or "/", recursive)
    except FileError:
        raise KubectlError(f'the path "{name}" does not exist') from None
    if not paths:
        raise KubectlError(f"error reading [{name}]: recognized file extensions are [{' '.join(EXTENSIONS)}]")
    return paths


def _in_folder(kubectl: Kubectl, folder: str, recursive: bool) -> list[str]:
    files = kubectl.ctx.files
    found: list[str] = []
    for entry in sorted(files.listdir(folder)):
        path = f"{folder.rstrip('/')}/{entry}"
        if files.is_dir(path):
            if recursive and not _is_link(kubectl, path):
                found.extend(_in_folder(kubectl, path, recursive))
        elif entry.endswith(EXTENSIONS):
            found.append(path)
    return found


def _is_link(kubectl: Kubectl, path: str) -> bool:
    """Whether a folder is only a way to another: those are not entered, as they may lead in circles."""
    try:
        kubectl.ctx.files.readlink(path)
    except FileError:
        return False
    return True


def _documents(data: bytes, source: str, validate: bool) -> Iterator[Document]:
    for document in parse_documents(data, source):
        if document is not None:
            for obj in _flat(document, source, validate):
                yield Document(obj, source)


def _flat(document: Any, source: str, validate: bool, depth: int = 0) -> list[Object]:
    """An object, or those of a list."""
    _check_shape(document, source, validate)
    items = document.get("items")
    if str(document["kind"]).endswith("List") and isinstance(items, list) and depth < MAX_LIST_DEPTH:
        return [obj for item in items for obj in _flat(item, source, validate, depth + 1)]
    return [document]


def _check_shape(document: Any, source: str, validate: bool) -> None:
    if validate:
        if not isinstance(document, dict):
            raise _invalid(source, "invalid object to validate")
        missing = [f"{name} not set" for name in ("apiVersion", "kind") if not document.get(name)]
        if missing:
            raise _invalid(source, missing[0] if len(missing) == 1 else f"[{', '.join(missing)}]")
    if not isinstance(document, dict):
        raise KubectlError(
            f'unable to decode "{source}": json: cannot unmarshal {_json_kind(document)} into Go value of type '
            "unstructured.detector"
        )
    for name, field_name in (("kind", "Kind"), ("apiVersion", "apiVersion")):
        if not document.get(name):
            raise KubectlError(
                f"unable to decode \"{source}\": Object '{field_name}' is missing in '{format_json(document)}'"
            )
        if not isinstance(document[name], str):
            raise KubectlError(
                f'unable to decode "{source}": json: cannot unmarshal {_json_kind(document[name])} into Go struct field '
                f"detector.{name} of type string"
            )
    if (why := _metadata_fault(document)) is not None:
        raise KubectlError(f'unable to decode "{source}": {why}')


def _invalid(source: str, why: str) -> KubectlError:
    return KubectlError(
        f'error validating "{source}": error validating data: {why}; if you choose to ignore these errors, turn '
        "validation off with --validate=false"
    )


def _json_kind(document: Any) -> str:
    if isinstance(document, bool):
        return "bool"
    if isinstance(document, list):
        return "array"
    if isinstance(document, dict):
        return "object"
    return "string" if isinstance(document, str) else "number"


def _metadata_fault(document: Object) -> str | None:
    """What the reader of an object's metadata cannot take: a name or a label that is no text."""
    schema = schema_of("", "v1", "ConfigMap") or ANYTHING
    try:
        decode_typed({"metadata": document.get("metadata")}, schema, "ConfigMap", "v1")
    except CannotDecode as error:
        return error.why
    return None
