"""Charts: folders or archives with metadata, values, templates and subcharts."""

from __future__ import annotations

import io
import re
import tarfile
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from simcloud.helm.errors import HelmError
from simcloud.helm.goyaml import YamlError, read_yaml
from simcloud.machine.files import FileError
from simcloud.machine.process import Context

MOST_BYTES: Final = 32 << 20
MOST_FILES: Final = 5000
DEEPEST: Final = 20
TOO_LARGE: Final = "chart is larger than this machine's helm reads"
DEPENDENCY: Final = (
    "name", "version", "repository", "condition", "tags", "enabled", "import-values", "alias",
)  # fmt: skip
Named = tuple[str, bytes]


@dataclass
class Chart:
    """A chart and those inside it. Names of files are relative to the chart."""

    metadata: dict[str, Any]
    values: dict[str, Any] = field(default_factory=dict)
    templates: list[Named] = field(default_factory=list)
    files: list[Named] = field(default_factory=list)
    raw: list[Named] = field(default_factory=list)
    schema: bytes = b""
    lock: dict[str, Any] | None = None
    dependencies: list[Chart] = field(default_factory=list)
    parent: Chart | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.metadata.get("name", ""))

    @property
    def version(self) -> str:
        """Its version."""
        return str(self.metadata.get("version", ""))

    @property
    def path(self) -> str:
        """Where it stands in the whole: ``shop/charts/redis``."""
        return f"{self.parent.path}/charts/{self.name}" if self.parent else self.name

    @property
    def value_path(self) -> str:
        """The same as values are named: ``shop.redis``."""
        return f"{self.parent.value_path}.{self.name}" if self.parent else self.name

    def crds(self) -> list[tuple[str, bytes]]:
        """Definitions of custom resources, its own before its subcharts'; named from the root."""
        own = [
            (f"{self.path}/{name}", data)
            for name, data in self.files
            if name.startswith("crds/") and name.endswith((".yaml", ".yml", ".json"))
        ]
        return own + [crd for dependency in self.dependencies for crd in dependency.crds()]


def locate_chart(ctx: Context, name: str, version: str = "") -> str:
    """The path that a name on the command line means; there are no repositories to look into."""
    name = name.strip()
    if ctx.files.exists(name):
        return name
    if name.startswith((".", "/")):
        raise HelmError(f'path "{name}" not found')
    if name.startswith("oci://"):
        host = name[6:].partition("/")[0]
        raise HelmError(
            f'failed to do request: Head "https://{name[6:]}": dial tcp: lookup {host}: no such host'
        )
    if "://" in name:
        host = name.partition("://")[2].partition("/")[0]
        raise HelmError(f'Get "{name}": dial tcp: lookup {host}: no such host')
    repository, slash, _ = name.partition("/")
    if slash:
        raise HelmError(f"repo {repository} not found")
    raise HelmError(f"non-absolute URLs should be in form of repo_name/path_to_chart, got: {name}")


def load_chart(ctx: Context, path: str) -> Chart:
    """The chart at a path, a folder or an archive; raises ``HelmError``."""
    try:
        if ctx.files.is_dir(path):
            return make_chart(_folder(ctx, path.rstrip("/")))
        return make_chart(_archive(ctx.files.read(path)))
    except FileError as error:
        raise HelmError(f"open {path}: {error.strerror.lower()}") from None


def _folder(ctx: Context, root: str) -> list[Named]:
    ignored = _read_ignore_patterns(ctx, root)
    found: list[Named] = []
    size = 0
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for entry in sorted(ctx.files.listdir(f"{root}/{folder}".rstrip("/"))):
            name = f"{folder}/{entry}".lstrip("/")
            is_folder = ctx.files.is_dir(f"{root}/{name}")
            if any(_matches(rule, name, is_folder) for rule in ignored):
                continue
            if is_folder:
                if name.count("/") < DEEPEST:
                    waiting.append(name)
                continue
            data = ctx.files.read(f"{root}/{name}")
            size += len(data)
            if size > MOST_BYTES or len(found) >= MOST_FILES:
                raise HelmError(TOO_LARGE)
            found.append((name, data.removeprefix(b"\xef\xbb\xbf")))
    return sorted(found)


def _read_ignore_patterns(ctx: Context, root: str) -> list[str]:
    try:
        text = ctx.files.read(f"{root}/.helmignore").decode(errors="replace")
    except FileError:
        text = ""
    rules = [line.strip() for line in text.splitlines()]
    return [rule for rule in rules if rule and rule[0] not in "#!"] + ["templates/.?*"]


def _matches(rule: str, name: str, is_folder: bool) -> bool:
    if rule.endswith("/"):
        if not is_folder:
            return False
        rule = rule[:-1]
    if "/" in rule:
        return fnmatchcase(name, rule.lstrip("/"))
    return fnmatchcase(name.rpartition("/")[2], rule)


def _archive(data: bytes) -> list[Named]:
    found: list[Named] = []
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as packed:
            for member in packed:
                if not member.isfile():
                    continue
                size += member.size
                if size > MOST_BYTES or len(found) >= MOST_FILES:
                    raise HelmError(TOO_LARGE)
                content = packed.extractfile(member)
                name = member.name.removeprefix("./").partition("/")[2]
                if content is not None and name:
                    found.append((name, content.read()))
    except (tarfile.TarError, OSError, EOFError, ValueError):
        raise HelmError(
            "file does not appear to be a gzipped archive; got 'application/octet-stream'"
        ) from None
    return found


def make_chart(files: list[Named], depth: int = 0) -> Chart:
    """A chart of files named from its own folder; raises ``HelmError``."""
    held = dict(files)
    if "Chart.yaml" not in held:
        raise HelmError("Chart.yaml file is missing")
    chart = Chart(_mapping(held["Chart.yaml"], "Chart.yaml"), raw=files)
    _order_dependencies(chart.metadata)
    inner: dict[str, list[Named]] = {}
    for name, data in files:
        if name == "values.yaml":
            chart.values = _mapping(data, "values.yaml")
        elif name == "values.schema.json":
            chart.schema = data
        elif name == "Chart.lock":
            chart.lock = _mapping(data, "Chart.lock")
        elif name.startswith("templates/"):
            chart.templates.append((name, data))
        elif name.startswith("charts/"):
            _, word, rest = name.split("/", 2) if name.count("/") > 1 else ("", name[7:], "")
            if word[0] not in "_.":
                inner.setdefault(word, []).append((rest, data))
            if name.endswith(".prov"):
                chart.files.append((name, data))
        elif name != "Chart.yaml":
            chart.files.append((name, data))
    for word, parts in inner.items():
        _add_inner(chart, word, parts, depth)
    _check(chart)
    return chart


def _order_dependencies(metadata: dict[str, Any]) -> None:
    """Write what a chart needs as the genuine tool does, which always names a repository."""
    declared = metadata.get("dependencies")
    if not isinstance(declared, list):
        return
    for place, entry in enumerate(declared):
        if isinstance(entry, dict):
            full = {"repository": "", **entry}
            known = {name: full[name] for name in DEPENDENCY if name in full}
            declared[place] = {**known, **full}


def _add_inner(chart: Chart, word: str, parts: list[Named], depth: int) -> None:
    if depth > DEEPEST:
        raise HelmError("charts are inside each other too deeply")
    if parts[0][0] == "":
        if not word.endswith(".tgz"):
            return
        parts = _archive(parts[0][1])
    try:
        one = make_chart(parts, depth + 1)
    except HelmError as error:
        raise HelmError(f"error unpacking subchart {word} in {chart.name}: {error}") from None
    one.parent = chart
    chart.dependencies.append(one)


def _mapping(data: bytes, name: str) -> dict[str, Any]:
    try:
        found = read_yaml(data)
    except YamlError as error:
        raise HelmError(f"cannot load {name}: error converting YAML to JSON: {error}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        kind = "array" if isinstance(found, list) else "string"
        message = f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        raise HelmError(f"cannot load {name}: error unmarshaling JSON: while decoding JSON: {message}")
    return found


def _check(chart: Chart) -> None:
    metadata = chart.metadata
    for name in ("apiVersion", "name", "version"):
        if not metadata.get(name):
            metadata_wants = f"validation: chart.metadata.{name} is required"
            raise HelmError(metadata_wants)
    for name in ("apiVersion", "name", "version", "appVersion", "description", "type", "kubeVersion"):
        if name in metadata and not isinstance(metadata[name], str):
            kind = "number" if isinstance(metadata[name], (int, float)) else "object"
            raise HelmError(
                "cannot load Chart.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
                f"{kind} into Go struct field Metadata.{name} of type string"
            )
    if not re.match(r"v?\d+(\.\d+){0,2}([-+].*)?\Z", chart.version):
        raise HelmError(f'validation: chart.metadata.version "{chart.version}" is invalid')
    if metadata.get("type", "") not in ("", "application", "library"):
        raise HelmError("validation: chart.metadata.type must be application or library")
