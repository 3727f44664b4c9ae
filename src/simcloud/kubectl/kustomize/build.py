"""Builds the objects of a folder's kustomization and of its bases."""

from __future__ import annotations

from posixpath import isabs, join, normpath
from typing import TYPE_CHECKING, Any, Final

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.input.documents import parse_documents
from simcloud.kubectl.input.yaml_text import BadYaml, read_yaml
from simcloud.kubectl.kustomize.generators import generate, name_with_hash
from simcloud.kubectl.kustomize.patches import patch_all
from simcloud.kubectl.kustomize.references import mend
from simcloud.kubectl.kustomize.resources import Res, check_object, in_order
from simcloud.kubectl.kustomize.transformers import (
    add_annotations,
    add_labels,
    set_images,
    set_names,
    set_namespace,
    set_replicas,
)
from simcloud.kubernetes.api import Catalogue, Object, copy
from simcloud.machine.files import FileError

if TYPE_CHECKING:
    from simcloud.kubectl.session import Kubectl

NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
KNOWN: Final = (
    "apiVersion", "kind", "metadata", "resources", "bases", "namePrefix", "nameSuffix", "namespace", "commonLabels",
    "labels", "commonAnnotations", "images", "replicas", "configMapGenerator", "secretGenerator", "generatorOptions",
    "patches", "patchesStrategicMerge", "patchesJson6902", "sortOptions", "buildMetadata",
)  # fmt: skip
REFUSED: Final = (
    "components", "replacements", "vars", "helmCharts", "helmGlobals", "helmChartInflationGenerator", "generators",
    "transformers", "validators", "crds", "openapi", "configurations", "inventory",
)  # fmt: skip
DEPRECATED: Final = (
    ("bases", "resources"),
    ("commonLabels", "labels"),
    ("patchesJson6902", "patches"),
    ("patchesStrategicMerge", "patches"),
)
TEXTS: Final = ("namePrefix", "nameSuffix", "namespace")
LISTS_OF_TEXTS: Final = ("resources", "bases", "patchesStrategicMerge")
MAPS: Final = ("commonLabels", "commonAnnotations", "generatorOptions")
LISTS_OF_MAPS: Final = (
    "labels", "images", "replicas", "configMapGenerator", "secretGenerator", "patches", "patchesJson6902",
)  # fmt: skip
MOST_LEVELS: Final = 32
NO_FILE: Final = "no such file or directory"


async def build(kubectl: Kubectl, folder: str) -> list[Object]:
    """The objects of a kustomization, in the order in which a cluster can take them."""
    builder = _Builder(kubectl, Catalogue())
    where = builder.absolute(folder)
    files = kubectl.ctx.files
    if not files.exists(where):
        raise KubectlError(
            f"must build at directory: not a valid directory: evalsymlink failure on '{folder}' : lstat {where}: "
            f"{NO_FILE}"
        )
    if not files.is_dir(where):
        raise KubectlError(f"must build at directory: '{folder}': file is not directory")
    try:
        resources = builder.level(where, 0)
    finally:
        for warning in builder.warnings:
            await kubectl.err(warning)
    for resource in resources:
        if resource.hashed:
            resource.rename(name_with_hash(resource))
    mend(resources)
    return [resource.obj for resource in in_order(resources)]


class _Builder:
    def __init__(self, kubectl: Kubectl, catalogue: Catalogue) -> None:
        self._files = kubectl.ctx.files
        self._here = kubectl.ctx.files.cwd
        self._catalogue = catalogue
        self.warnings: list[str] = []

    def absolute(self, path: str, folder: str = "") -> str:
        return normpath(path if isabs(path) else join(folder or self._here, path))

    def level(self, folder: str, depth: int) -> list[Res]:
        """The resources of one folder, worked on by its kustomization."""
        if depth > MOST_LEVELS:
            raise KubectlError(f"cycle detected: candidate root '{folder}' is visited again")
        kustomization = self._kustomization(folder)
        resources: list[Res] = []
        for path in [*(kustomization.get("resources") or ()), *(kustomization.get("bases") or ())]:
            self._accumulate(resources, str(path), folder, depth)
        common = kustomization.get("generatorOptions") or {}
        for field, kind in (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")):
            for entry in kustomization.get(field) or ():
                generate(resources, kind, entry, common, lambda path: self._inside(path, folder))
        self._transform(resources, kustomization, folder)
        mend(resources)
        return resources

    def _kustomization(self, folder: str) -> Object:
        found = [name for name in NAMES if self._files.exists(join(folder, name))]
        if not found:
            raise KubectlError(
                "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory "
                f"'{folder}'"
            )
        if len(found) > 1:
            raise KubectlError(f"Found multiple kustomization files: {folder}\n")
        text = self._read(join(folder, found[0]))
        if not text.strip():
            raise KubectlError(f"{found[0]} is empty")
        try:
            kustomization = read_yaml(text)
        except BadYaml as error:
            raise KubectlError(f"invalid Kustomization: yaml: {str(error).removeprefix('yaml: ')}") from None
        if not isinstance(kustomization, dict):
            raise KubectlError(f"{found[0]} is empty")
        for key in kustomization:
            if key in REFUSED:
                raise KubectlError(f"'{key}' of kustomizations is not served here")
            if key not in KNOWN:
                raise KubectlError(f'invalid Kustomization: json: unknown field "{key}"')
        _check_shapes(kustomization)
        self.warnings.extend(
            f"# Warning: '{old}' is deprecated. Please use '{new}' instead. Run 'kustomize edit fix' to update your "
            "Kustomization automatically.\n"
            for old, new in DEPRECATED
            if kustomization.get(old)
        )
        return kustomization

    def _accumulate(self, resources: list[Res], path: str, folder: str, depth: int) -> None:
        where = self.absolute(path, folder)
        if not self._files.exists(where):
            missing = f"evalsymlink failure on '{where}' : lstat {where}: {NO_FILE}"
            raise KubectlError(
                f"accumulating resources: accumulation err='accumulating resources from '{path}': {missing}': must "
                f"build at directory: not a valid directory: {missing}"
            )
        if self._files.is_dir(where):
            found = self.level(where, depth + 1)
        else:
            try:
                found = self._file(where, path, folder)
            except KubectlError as error:
                raise KubectlError(
                    _accumulating(f"accumulating resources from '{path}': {error.message}", where)
                ) from None
        for resource in found:
            if any(_same(resource, other) for other in resources):
                why = f"may not add resource with an already registered id: {resource.format_identity()}"
                raise KubectlError(_accumulating(f"merging resources from '{path}': {why}", where))
            resources.append(resource)

    def _file(self, where: str, path: str, folder: str) -> list[Res]:
        text = self._inside(path, folder)
        documents = [document for document in parse_documents(text, where) if document is not None]
        flat = [item for document in documents for item in _items(document)]
        return [Res(check_object(copy(document), path)) for document in flat]

    def _inside(self, path: str, folder: str) -> bytes:
        """A file that lies in or below the folder."""
        where = self.absolute(path, folder)
        if not where.startswith(f"{folder}/"):
            raise KubectlError(f"security; file '{where}' is not in or below '{folder}'")
        return self._read(where)

    def _read(self, where: str) -> bytes:
        try:
            return self._files.read(where)
        except FileError as error:
            raise KubectlError(f"open {where}: {error.strerror.lower()}") from None

    def _transform(self, resources: list[Res], kustomization: Object, folder: str) -> None:
        for said in kustomization.get("patchesStrategicMerge") or ():
            for patch in self._patches(str(said), folder):
                patch_all(resources, patch, None, self._catalogue)
        for entry in kustomization.get("patches") or ():
            self._patch(resources, entry, folder)
        if kustomization.get("namespace"):
            set_namespace(resources, str(kustomization["namespace"]), self._catalogue)
        if kustomization.get("namePrefix") or kustomization.get("nameSuffix"):
            set_names(
                resources,
                str(kustomization.get("namePrefix") or ""),
                str(kustomization.get("nameSuffix") or ""),
            )
        if kustomization.get("commonLabels"):
            add_labels(resources, kustomization["commonLabels"], selectors=True, templates=True)
        for entry in kustomization.get("labels") or ():
            add_labels(
                resources,
                entry.get("pairs") or {},
                selectors=bool(entry.get("includeSelectors")),
                templates=bool(entry.get("includeTemplates")),
            )
        if kustomization.get("commonAnnotations"):
            add_annotations(resources, kustomization["commonAnnotations"])
        for entry in kustomization.get("patchesJson6902") or ():
            self._patch(resources, entry, folder)
        set_replicas(resources, kustomization.get("replicas") or [])
        set_images(resources, kustomization.get("images") or [])

    def _patch(self, resources: list[Res], one: Object, folder: str) -> None:
        if one.get("path") and one.get("patch"):
            raise KubectlError("patch and path can't be set at the same time")
        text = one["patch"].encode() if one.get("patch") else self._inside(str(one.get("path", "")), folder)
        for patch in self._documents(text):
            patch_all(resources, patch, one.get("target"), self._catalogue)

    def _patches(self, said: str, folder: str) -> list[Any]:
        """Patches that a file holds, or that stand there themselves."""
        return self._documents(said.encode() if "\n" in said else self._inside(said, folder))

    def _documents(self, text: bytes) -> list[Any]:
        return [document for document in parse_documents(text, "patch") if document is not None]


def _check_shapes(kustomization: Object) -> None:
    """Refuse fields of other types than theirs; one that is null is as good as left out."""
    _check_fields(kustomization, TEXTS, str)
    _check_fields(kustomization, MAPS, dict)
    _check_fields(kustomization, (*LISTS_OF_TEXTS, *LISTS_OF_MAPS), list)
    for key in LISTS_OF_TEXTS:
        for item in kustomization.get(key) or ():
            _check_fields({key: item}, (key,), str)
    for key in LISTS_OF_MAPS:
        for item in kustomization.get(key) or ():
            if not isinstance(item, dict):
                raise _misshapen(key)
            _check_fields(item, ("name", "behavior", "patch", "path", "newName", "newTag", "digest"), str)
            _check_fields(item, ("literals", "files", "envs"), list)
            _check_fields(item, ("target", "options", "pairs"), dict)
    for key in ("commonLabels", "commonAnnotations"):
        _check_fields(kustomization.get(key) or {}, tuple(kustomization.get(key) or ()), str)


def _check_fields(kustomization: Object, keys: tuple[str, ...], kind: type) -> None:
    for key in keys:
        if kustomization.get(key) is not None and not isinstance(kustomization[key], kind):
            raise _misshapen(key)


def _misshapen(key: str) -> KubectlError:
    return KubectlError(f"invalid Kustomization: json: cannot unmarshal the value of Kustomization.{key}")


def _accumulating(why: str, where: str) -> str:
    return f"accumulating resources: accumulation err='{why}': must build at directory: '{where}': file is not directory"


def _same(one: Res, other: Res) -> bool:
    return (one.kind, one.name, one.namespace, one.obj["apiVersion"].rpartition("/")[0]) == (
        other.kind,
        other.name,
        other.namespace,
        other.obj["apiVersion"].rpartition("/")[0],
    )


def _items(document: Any) -> list[Any]:
    if (
        isinstance(document, dict)
        and str(document.get("kind", "")).endswith("List")
        and isinstance(document.get("items"), list)
    ):
        return list(document["items"])
    return [document]
